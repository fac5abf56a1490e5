package protocol

import (
	"errors"
	"sync/atomic"

	"hilrig/engine"
	"hilrig/hil/wire"
	"hilrig/hil/wire/tracker"
)

// Xsens is the section of an Xsens MTi. Which items it sends it was told by its manufacturer's program, and keeps.
type Xsens struct {
	Start bool `yaml:"start" doc:"the device is sent to its configuration and then to measure, at the start and after it has started anew; no: nothing is ever sent"`
}

// SetDefaults starts the device.
func (x *Xsens) SetDefaults() { *x = Xsens{Start: true} }

func (s *Sections) xsens() *Xsens {
	if s.Xsens == nil {
		s.Xsens = new(Xsens)
		s.Xsens.SetDefaults()
	}
	return s.Xsens
}

// Check finds nothing.
func (x *Xsens) Check() []engine.Problem { return nil }

// Acknowledgements have the number of their message and one.
var xsensStart = [...]struct {
	name    string
	message byte
}{{"GoToConfig", tracker.XsensGoToConfig}, {"GoToMeasurement", tracker.XsensGoToMeasurement}}

// Plan is the start, and then what the device sends.
func (x *Xsens) Plan(t *Table) (*Plan, error) {
	list, bad := slots(t, "xsens", nil, 0)
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	p := streaming(t, tracker.NewXsens(), list, nil, 20+4*len(list))
	p.Clocked = true
	if x.Start {
		for _, s := range xsensStart {
			p.Turns = append(p.Turns, startTurn(p, s.name, tracker.AppendXsens(nil, s.message), 5, 1))
		}
		p.Decoder.(*samples).ends = func(turn int, f *tracker.Frame) end {
			switch {
			case f.Role == tracker.Began:
				return anew
			case turn < 0:
				return notYet
			case f.Role == tracker.Answer && f.Code == int(xsensStart[turn].message)+1:
				return answered
			case f.Role == tracker.Refusal:
				return denied
			}
			return notYet
		}
	}
	p.FarEnd = func() Far {
		f := &xsensFar{d: tracker.NewXsens()}
		f.measuring.Store(!x.Start)
		e := &poses{slots: list, parts: []int{0}, write: (&tracker.XsensEncoder{}).Append, max: 600, running: &f.measuring}
		return Far{Decoder: f, Encoder: e, Restart: f.Restart}
	}
	return p, nil
}

// xsensFar is the device: silent until it is told to measure.
type xsensFar struct {
	d         *tracker.Xsens
	frame     tracker.Frame
	measuring atomic.Bool
	ack       byte
}

// Restart is what the device says after it was switched on: it does not measure.
func (x *xsensFar) Restart() []byte {
	x.measuring.Store(false)
	return tracker.AppendXsens(nil, tracker.XsensWakeUp)
}

func (x *xsensFar) Reset()                   { x.d.Reset() }
func (x *xsensFar) Counters() *wire.Counters { return x.d.Counters() }
func (x *xsensFar) Misfit() *wire.Misfit     { return x.d.Misfit() }
func (x *xsensFar) Wrap() int64              { return 0 }

// Next reads one message; see wire.Decoder.
func (x *xsensFar) Next(buf []byte, f *wire.Frame) (n int, st wire.Status) {
	for {
		k, st := x.d.Next(buf[n:], &x.frame)
		if n += k; st != wire.Good {
			return n, st
		}
		f.Header = wire.Header{Kind: wire.Command}
		x.ack = byte(x.frame.Code) + 1
		switch x.frame.Code {
		case tracker.XsensGoToConfig:
			x.measuring.Store(false)
			return n, wire.Good
		case tracker.XsensGoToMeasurement:
			x.measuring.Store(true)
			return n, wire.Good
		case tracker.XsensWakeUpAck:
			continue
		}
		x.ack = tracker.XsensError
		return n, wire.Good
	}
}

// Answer acknowledges the newest message; see wire.Responder.
func (x *xsensFar) Answer(dst []byte, _ []float64) []byte {
	if x.ack == tracker.XsensError {
		return append(dst, tracker.AppendXsens(nil, x.ack, 0x04)...)
	}
	return append(dst, tracker.AppendXsens(nil, x.ack)...)
}
