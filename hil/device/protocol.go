package device

import (
	"fmt"

	"hilrig/hil/wire"
)

// ProtocolKind is a form of frames: its place in Protocols.
type ProtocolKind uint8

const (
	Link ProtocolKind = iota // binary frames
	Line                     // text lines
)

// ProtocolInfo is what the program knows of a form of frames.
type ProtocolInfo struct {
	Name     string
	Text     bool   // fields are columns of text
	Section  string // of the device, that describes it; "" there is none
	opens    bool   // frames have a mark that can also stand before them
	clocked  func(f *wire.Format) bool
	receiver func(f wire.Format, fields []wire.Field, kinds []wire.Kind) (wire.Decoder, error)
	sender   func(f wire.Format, fields []wire.Field) (wire.Encoder, error)
	bytes    func(f *wire.Format, types []wire.Type) (data, head int)
}

// Protocols are all forms of frames, by ProtocolKind.
var Protocols = [...]ProtocolInfo{
	Link: {
		Name: "link", opens: true, clocked: func(*wire.Format) bool { return true }, bytes: linkBytes,
		receiver: func(_ wire.Format, fields []wire.Field, kinds []wire.Kind) (wire.Decoder, error) {
			return wire.NewLinkDecoder(fields, kinds...)
		},
		sender: func(_ wire.Format, fields []wire.Field) (wire.Encoder, error) { return wire.NewLinkEncoder(fields) },
	},
	Line: {
		Name: "line", Text: true, Section: "line", clocked: func(f *wire.Format) bool { return f.Time != "" }, bytes: lineBytes,
		receiver: func(f wire.Format, fields []wire.Field, kinds []wire.Kind) (wire.Decoder, error) {
			return wire.NewLineDecoder(fields, f, kinds[0]) // a text line has no kind: it gets the first
		},
		sender: func(f wire.Format, fields []wire.Field) (wire.Encoder, error) { return wire.NewLineEncoder(fields, f) },
	},
}

// Words are the names of the forms.
func (ProtocolKind) Words() []string {
	names := make([]string, len(Protocols))
	for i, p := range Protocols {
		names[i] = p.Name
	}
	return names
}

func (k ProtocolKind) String() string { return Protocols[k].Name }

// Info describes the form.
func (k ProtocolKind) Info() *ProtocolInfo { return &Protocols[k] }

// Protocol is the form of the frames on a port.
type Protocol struct {
	Kind ProtocolKind
	Line wire.Format // of text lines
}

// Clocked tells whether measurements carry the time of the device.
func (p *Protocol) Clocked() bool { return p.Kind.Info().clocked(&p.Line) }

// Bytes is the length of a frame with fields of these types, and how much of it are the fields. Of text it is an estimate.
func (p *Protocol) Bytes(types []wire.Type, kind wire.Kind) (data, frame int) {
	f := p.format(kind)
	data, head := p.Kind.Info().bytes(&f, types)
	return data, data + head
}

// linkBytes counts the opening zero 1, kind 1, sequence 1, time 4, CRC 2, COBS and its zero 2 bytes, and one more for COBS in
// every 254.
func linkBytes(_ *wire.Format, types []wire.Type) (data, head int) {
	for _, t := range types {
		data += t.Size()
	}
	head = 1 + 1 + 1 + 4 + 2 + 2
	return data, head + (data+head-2)/254
}

// lineBytes takes twelve bytes for a column and its separator: sign, six digits, point, exponent.
func lineBytes(f *wire.Format, types []wire.Type) (data, head int) {
	const column = 12
	data = column * len(types)
	if f.Time != "" {
		data += column
	}
	if f.End == "crlf" { // the other ends take the place of the last separator
		head++
	}
	if f.Checksum == "xor" {
		head += 3
	}
	return data, head
}

// receiver makes the decoder of one side: frames of the given kinds with these fields.
func (p *Protocol) receiver(fields []wire.Field, kinds ...wire.Kind) (wire.Decoder, error) {
	if int(p.Kind) >= len(Protocols) {
		return nil, p.unknown()
	}
	return p.Kind.Info().receiver(p.format(kinds[0]), fields, kinds)
}

// sender makes the encoder of one side for frames of this kind.
func (p *Protocol) sender(fields []wire.Field, kind wire.Kind) (wire.Encoder, error) {
	if int(p.Kind) >= len(Protocols) {
		return nil, p.unknown()
	}
	return p.Kind.Info().sender(p.format(kind), fields)
}

// format is the text format in one direction: the time column belongs to measurements.
func (p *Protocol) format(kind wire.Kind) wire.Format {
	f := p.Line
	if kind != wire.Measurement {
		f.Time = ""
	}
	return f
}

func (p *Protocol) unknown() error { return fmt.Errorf("protocol %d is unknown", p.Kind) }

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
