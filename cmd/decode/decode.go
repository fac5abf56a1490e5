// Package decode shows what stands in bytes that came over a line: hil decode. One JSON object for each frame, with names and units; the
// counters and the pieces that are no frame at the end.
package decode

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/spelling"
	"hilrig/hil/protocol"
	"hilrig/hil/wire/tracker"
)

// Options are what the user chose.
type Options struct {
	protocol, form string
	rig, device    string
	items          string
	length         string
	pieces         int
}

// Flags are those of hil decode.
func (o *Options) Flags(fl *pflag.FlagSet) {
	fl.StringVarP(&o.protocol, "protocol", "p", "", "what the bytes are: "+strings.Join(Protocols(), ", ")+"; default: that of the device")
	fl.StringVar(&o.form, "input", "auto", "how the bytes are written: hex, binary, or auto, which takes text of hexadecimal digits for hex")
	fl.StringVar(&o.rig, "rig", "", "rig file that has the table of the device: names and units for link, line and modbus")
	fl.StringVar(&o.device, "device", "", "which device of it; default: its only one")
	fl.StringVar(&o.items, "items", "", "polhemus, fastrak: the items of the command O, such as 9,8,2,4,1; default: guessed from each record")
	fl.StringVar(&o.length, "length", "inch", "polhemus, fastrak: unit of positions, inch or cm")
	report.AlwaysJSON(fl)
	fl.IntVar(&o.pieces, "pieces", 20, "how many pieces that are no frame are shown")
}

// Forms are the words of --input.
func Forms() []string { return []string{"auto", "hex", "binary"} }

// Protocols are the words of --protocol.
func Protocols() (names []string) {
	for i := range protocol.Kinds {
		names = append(names, protocol.Kinds[i].Name)
	}
	for i := range tracker.Kinds {
		if !slices.Contains(names, tracker.Kinds[i].Name) {
			names = append(names, tracker.Kinds[i].Name)
		}
	}
	return names
}

// others are names by which a protocol is known too.
var others = map[string]string{
	"polaris": "ndi", "aurora": "ndi", "mti": "xsens", "xbus": "xsens", "mtdata2": "xsens", "vn100": "vectornav", "vn-100": "vectornav",
	"vn200":   "vectornav",
	"liberty": "polhemus", "patriot": "polhemus", "latus": "polhemus", "wit": "witmotion", "wt901": "witmotion", "jy901": "witmotion",
	"bno080": "bno08x", "bno085": "bno08x", "bno086": "bno08x", "rvc": "bno08x", "bno08x-rvc": "bno08x", "uart-rvc": "bno08x",
}

// source finds frames in all the bytes, in their order, and hands each to w. It returns the counters, in words.
type source interface {
	decode(b []byte, w *writer) (counters string)
}

// Run decodes a file; - is the standard input.
func Run(path string, o Options, stdin io.Reader, stdout, stderr io.Writer) error {
	s, err := o.source()
	if err != nil {
		return err
	}
	if !slices.Contains(Forms(), o.form) {
		return report.ExitWith(report.Usage, fmt.Errorf("decode: --input %q: %s", o.form,
			spelling.Hint(o.form, Forms(), "want "+strings.Join(Forms(), ", "))))
	}
	var raw []byte
	if path == "-" {
		raw, err = io.ReadAll(stdin)
	} else {
		raw, err = os.ReadFile(path)
	}
	if err != nil {
		return report.ExitWith(report.Invalid, fmt.Errorf("decode: %w", err))
	}
	b, form, err := o.bytes(raw)
	if err != nil {
		return report.ExitWith(report.Invalid, fmt.Errorf("decode: %s: %w", path, err))
	}
	if len(b) == 0 {
		return report.ExitWith(report.Invalid, fmt.Errorf("decode: %s: no bytes", path))
	}
	out := bufio.NewWriter(stdout)
	w := &writer{output: out}
	counters := s.decode(b, w)
	if err := out.Flush(); err != nil {
		return report.ExitWith(report.Unavailable, fmt.Errorf("decode: %w", err))
	}
	w.finish(b)
	fmt.Fprintf(stderr, "%d bytes (%s), %d frames; %s\n", len(b), form, w.frames, counters)
	for i, g := range w.gaps {
		if i == o.pieces {
			fmt.Fprintf(stderr, "… and %d more pieces\n", len(w.gaps)-i)
			break
		}
		fmt.Fprintf(stderr, "no frame: bytes %d to %d: %s\n", g.at, g.at+g.n-1, sample(b[g.at:g.at+g.n]))
	}
	if w.frames == 0 {
		return report.ExitWith(report.Invalid, fmt.Errorf("decode: %s: no frame of %s in %d bytes", path, o.protocol, len(b)))
	}
	return nil
}

// sample is the beginning of a piece.
func sample(b []byte) string {
	const most = 24
	if len(b) > most {
		return fmt.Sprintf("% x …", b[:most])
	}
	return fmt.Sprintf("% x", b)
}

// source is what the flags choose.
func (o *Options) source() (source, error) {
	usage := func(format string, a ...any) (source, error) {
		return nil, report.ExitWith(report.Usage, fmt.Errorf("decode: "+format, a...))
	}
	var plan *protocol.Plan
	if o.rig != "" {
		cfg, d, err := o.find()
		if err != nil {
			return nil, err
		}
		if plan, err = cfg.Plan(d); err != nil {
			return nil, report.ExitWith(report.Invalid, fmt.Errorf("decode: %s: %w", o.rig, err))
		}
		if o.protocol == "" {
			o.protocol = d.Protocol.String()
		}
		o.fromSection(d)
		if o.protocol != d.Protocol.String() {
			return usage("--protocol %s, but %s of %s speaks %s; leave --protocol out", o.protocol, d.Name, o.rig, d.Protocol)
		}
	} else if o.device != "" {
		return usage("--device %s is looked for in a rig file: give --rig FILE", o.device)
	}
	if name, known := others[strings.ToLower(o.protocol)]; known {
		o.protocol = name
	}
	if o.protocol == "" {
		return usage("--protocol is missing: one of %s; or --rig FILE --device NAME", strings.Join(Protocols(), ", "))
	}
	if !slices.Contains(Protocols(), o.protocol) {
		return usage("--protocol %q: there is no such protocol; %s", o.protocol,
			spelling.Hint(o.protocol, Protocols(), "there are "+strings.Join(Protocols(), ", ")))
	}
	if (o.items != "" || o.length != "inch") && o.protocol != "polhemus" && o.protocol != "fastrak" {
		return usage("--items and --length are for polhemus and fastrak, not for %s", o.protocol)
	}
	for i := range tracker.Kinds {
		if k := &tracker.Kinds[i]; k.Name == o.protocol {
			d, err := o.tracker(k)
			if err != nil {
				return usage("%w", err)
			}
			return &trackerSource{k, d}, nil
		}
	}
	switch o.protocol {
	case "link":
		return &linkSource{plan}, nil
	case "line":
		return &lineSource{plan}, nil
	}
	return &modbusSource{plan}, nil
}

// fromSection takes the items and the unit of a Polhemus from its section, where the flags do not say them.
func (o *Options) fromSection(d *configs.Device) {
	var p *protocol.Polhemus
	switch s := d.Protocol.Kind().Section(&d.Sections).(type) {
	case *protocol.Liberty:
		p = (*protocol.Polhemus)(s)
	case *protocol.Fastrak:
		p = (*protocol.Polhemus)(s)
	default:
		return
	}
	if o.items != "" || o.length != "inch" {
		return
	}
	var words []string
	for _, i := range p.Items {
		words = append(words, strconv.Itoa(i))
	}
	o.items, o.length = strings.Join(words, ","), p.Unit.Words()[p.Unit]
}

// find is the device in the rig file.
func (o *Options) find() (*configs.Config, *configs.Device, error) {
	cfg, err := configs.Load(o.rig)
	if err != nil {
		return nil, nil, report.ExitWith(report.Invalid, fmt.Errorf("decode: %w", err))
	}
	var names []string
	for i := range cfg.Devices {
		names = append(names, cfg.Devices[i].Name)
	}
	if o.device == "" && len(names) == 1 {
		return cfg, &cfg.Devices[0], nil
	}
	if i := slices.Index(names, o.device); i >= 0 {
		return cfg, &cfg.Devices[i], nil
	}
	hint := spelling.Hint(o.device, names, "there are "+strings.Join(names, ", "))
	if o.device == "" {
		return nil, nil, report.ExitWith(report.Usage, fmt.Errorf("decode: %s has %d devices: give --device; %s", o.rig, len(names), hint))
	}
	return nil, nil, report.ExitWith(report.Usage, fmt.Errorf("decode: --device %q: %s has no such device; %s", o.device, o.rig, hint))
}

// Help is that of hil decode.
const Help = `Decodes bytes that came over a line, binary or in hexadecimal, and prints one JSON object for each frame with names, values in SI and
units. The counters and the pieces that are no frame follow on standard error. docs/reference/decode.md says what the keys mean.

Exit codes: 0 frames were found; 2 wrong usage; 3 no frame, or no such file; 4 the output cannot be written.`
