package device

import (
	"errors"
	"fmt"
	"time"

	"hilrig/hil/protocol"
	"hilrig/hil/wire"
)

// Options describe a serial rig.
type Options struct {
	Name        string           // of the rig, for messages
	Port        string           // as for OpenPort
	Baud        int              // 0: DefaultBaud, and no dating back and no pacing: the speed of the line is not known
	Protocol    protocol.Section // nil: the binary link
	Measure     []wire.Field     // what the rig sends, in the order of the frame
	MaxAges     []float64        // s  age beyond which each says nothing about now, 0: ten of its own intervals, 1 to 60 s; nil: all so
	Command     []wire.Field     // what it takes
	Safe        []float64        // its safe state, one value per command, in the command's unit
	Rate        float64          // Hz  of what the rig sends or is asked for; used where it is asked
	Loop        float64          // Hz  of the commands; used where they wait for their turn
	DryRun      bool             // no command is ever written; questions are
	WaitForPort bool             // a port that is missing at the start is waited for, as one that goes away later

	TxCPU        int             // processor of the sending thread, that of the tick; −1: any
	WriteTimeout time.Duration   // longest write; 0: 20 ms
	Backoff      []time.Duration // between two tries to open the port again; nil: 0.1, 0.2, 0.5, 1, 1, … s

	Opened func(fd int) // told the descriptor of every opening, and −1 after a closing; see HandOver

	OpenPort func() (Port, error) // instead of Port, for tests; may be called again after an unplug
	HostTime func() int64         // ns, instead of rt.Now
}

// plan is how to speak with a device that has these tables.
func plan(s protocol.Section, t *protocol.Table) (*protocol.Plan, error) {
	if s == nil {
		s = protocol.Link{}
	}
	return s.Plan(t)
}

// Rig is a serial rig as the loop's device.
type Rig struct {
	line
	plan *protocol.Plan
}

// NewRig checks the options, naming all problems at once; nothing is opened before Start.
func NewRig(o Options) (*Rig, error) {
	var errs []error
	t := protocol.Table{Measure: o.Measure, Command: o.Command, Safe: o.Safe, Baud: o.Baud, Rate: o.Rate, Loop: o.Loop}
	if len(o.Safe) != len(o.Command) {
		errs = append(errs, fmt.Errorf("safe state: %d values for %d commands", len(o.Safe), len(o.Command)))
		t.Safe = nil
	}
	if o.Baud < 0 {
		errs = append(errs, fmt.Errorf("baud %d, want > 0, or 0 where the speed is only a name", o.Baud))
	}
	p, err := plan(o.Protocol, &t)
	errs = append(errs, err)
	if o.MaxAges != nil && len(o.MaxAges) != len(o.Measure) {
		errs = append(errs, fmt.Errorf("%d ages for %d measurements", len(o.MaxAges), len(o.Measure)))
	}
	groups := 1
	if err == nil {
		groups = len(p.Groups)
	}
	if len(o.Measure)+groups > wire.MaxFields { // ages take the last bits of the fresh word
		errs = append(errs, fmt.Errorf("measure: %d fields, at most %d beside the ages of their groups", len(o.Measure), wire.MaxFields-groups))
	}
	if groups > MaxGroups {
		errs = append(errs, fmt.Errorf("measure: the fields come in %d groups, at most %d", groups, MaxGroups))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("rig %s: %w", o.Name, err)
	}
	open, words := o.OpenPort, func(err error) error { return err }
	if open == nil {
		spec := p.Port
		if spec.Baud == 0 {
			spec.Baud = DefaultBaud
		}
		open = func() (Port, error) { return openPort(o.Port, spec) }
		words = func(err error) error { return explain(o.Port, err) }
	}
	r := &Rig{plan: p, line: line{
		name: "rig " + o.Name, recvFields: o.Measure, sendFields: o.Command, groups: p.Groups, dec: p.Decoder, enc: p.Encoder,
		kind: wire.Command, hostTime: o.HostTime, openPort: open, explain: words,
		opened: o.Opened, waitForPort: o.WaitForPort, backoff: o.Backoff, writeTimeout: o.WriteTimeout, mute: o.DryRun || len(o.Command) == 0,
		opens: p.Opens, txCPU: o.TxCPU, safe: p.Safe, clocked: true,
		turns: p.Turns, silence: int64(p.Silence), device: func(now int64) int64 { return now },
	}}
	for _, s := range o.MaxAges {
		r.maxAges = append(r.maxAges, int64(s*1e9))
	}
	r.expecter, _ = p.Decoder.(wire.TurnDecoder)
	r.echoes, _ = p.Decoder.(wire.EchoDecoder)
	if p.Streams {
		r.streamer = p.Decoder.(wire.StreamDecoder)
	}
	r.init(p.Port)
	return r, nil
}

// SafeFrames are those that bring the rig into its safe state, for who has to write them when it cannot.
func (r *Rig) SafeFrames() protocol.SafeFrames { return r.plan.Safe }
