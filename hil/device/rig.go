package device

import (
	"errors"
	"fmt"
	"time"

	"hilrig/hil/wire"
)

// Options describe a serial rig.
type Options struct {
	Name     string // of the rig, for messages
	Port     string // as for OpenPort
	Baud     int    // 0: DefaultBaud, and no dating back and no pacing: the speed of the line is not known
	Protocol Protocol
	Measure  []wire.Field // what the rig sends, in the order of the frame
	Command  []wire.Field // what it takes
	Safe     []float64    // its safe state, one value per command, in the command's unit
	DryRun   bool         // listen only: nothing is ever written, the sending thread does not exist
	Patient  bool         // a port that is missing at the start is waited for, as one that goes away later

	TxCPU   int             // processor of the sending thread, that of the tick; −1: any
	Within  time.Duration   // longest write; 0: 20 ms
	Backoff []time.Duration // between two tries to open the port again; nil: 0.1, 0.2, 0.5, 1, 1, … s

	Opened func(fd int) // told the descriptor of every opening, and −1 after a closing; see HandOver

	Open func() (Port, error) // instead of Port, for tests; may be called again after an unplug
	Now  func() int64         // ns, instead of rt.Now
}

// Rig is a serial rig as the loop's device.
type Rig struct{ line }

// NewRig checks the options, naming all problems at once; nothing is opened before Start.
func NewRig(o Options) (*Rig, error) {
	var errs []error
	if len(o.Measure) >= wire.MaxFields { // age takes the last bit of the fresh word
		errs = append(errs, fmt.Errorf("measure: %d fields, at most %d beside their age", len(o.Measure), wire.MaxFields-1))
	}
	dec, err := o.Protocol.receiver(o.Measure, wire.Measurement)
	if err != nil {
		errs = append(errs, fmt.Errorf("measure: %w", err))
	}
	enc, err := o.Protocol.sender(o.Command, wire.Command)
	if err != nil {
		errs = append(errs, fmt.Errorf("command: %w", err))
	}
	safe, err := SafeFrame(o.Protocol, o.Command, o.Safe)
	if err != nil && enc != nil {
		errs = append(errs, err)
	}
	if o.Baud < 0 {
		errs = append(errs, fmt.Errorf("baud %d, want > 0, or 0 where the speed is only a name", o.Baud))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("rig %s: %w", o.Name, err)
	}
	open, words := o.Open, func(err error) error { return err }
	if open == nil {
		baud := o.Baud
		if baud == 0 {
			baud = DefaultBaud
		}
		open = func() (Port, error) { return openPort(o.Port, baud) }
		words = func(err error) error { return explain(o.Port, err) }
	}
	r := &Rig{line{
		name: "rig " + o.Name, in: o.Measure, out: o.Command, dec: dec, enc: enc, kind: wire.Command, now: o.Now, open: open, explain: words, opened: o.Opened, patient: o.Patient,
		backoff: o.Backoff, within: o.Within, mute: o.DryRun || len(o.Command) == 0, opens: o.Protocol.Kind.Info().opens, txCPU: o.TxCPU, safe: safe, clocked: true,
		device: func(now int64) int64 { return now },
	}}
	r.init(o.Baud)
	return r, nil
}
