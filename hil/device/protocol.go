package device

import (
	"fmt"

	"hilrig/hil/wire"
)

// Protocol names the format on the line: Kind "link" (binary, the default) or "line" (text, described by Line).
type Protocol struct {
	Kind string
	Line wire.Format
}

// receiver makes the decoder of one side: frames of the given kinds with these fields. A text line has no kind; it gets
// the first.
func (p Protocol) receiver(fields []wire.Field, kinds ...wire.Kind) (wire.Decoder, error) {
	switch p.Kind {
	case "", "link":
		return wire.NewLinkDecoder(fields, kinds...)
	case "line":
		return wire.NewLineDecoder(fields, p.format(kinds[0]), kinds[0])
	}
	return nil, p.unknown()
}

// sender makes the encoder of one side for frames of this kind.
func (p Protocol) sender(fields []wire.Field, kind wire.Kind) (wire.Encoder, error) {
	switch p.Kind {
	case "", "link":
		return wire.NewLinkEncoder(fields)
	case "line":
		return wire.NewLineEncoder(fields, p.format(kind))
	}
	return nil, p.unknown()
}

// format is the text format in one direction: the time column belongs to measurements.
func (p Protocol) format(kind wire.Kind) wire.Format {
	f := p.Line
	if kind != wire.Measurement {
		f.Time = ""
	}
	return f
}

// opens tells whether frames have a mark that can also stand before them.
func (p Protocol) opens() bool { return p.Kind == "" || p.Kind == "link" }

func (p Protocol) unknown() error { return fmt.Errorf("protocol %q, want link or line", p.Kind) }

// SafeFrame is the frame that puts the rig into its safe state, preceded by what ends a torn frame: bytes to keep for the
// moment when nobody is left to encode them. It may be written any number of times.
func SafeFrame(p Protocol, command []wire.Field, safe []float64) ([]byte, error) {
	enc, err := p.sender(command, wire.Safe)
	if err != nil {
		return nil, err
	}
	if len(safe) != len(command) {
		return nil, fmt.Errorf("safe state: %d values for %d commands", len(safe), len(command))
	}
	b, ok := enc.Append(enc.Resync(nil), wire.Header{Kind: wire.Safe, HasTime: true, Fresh: wire.All(len(command))}, safe)
	if !ok {
		return nil, fmt.Errorf("safe state %v: every value must be finite", safe)
	}
	return b, nil
}
