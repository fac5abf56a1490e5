package hil

import (
	"context"
	"math"

	"hilrig/engine"
)

// Replay feeds recorded rows back through a loop: it is the clock, the device and the outside at once, so that every
// input of a tick is the recorded one and the outputs must come out bit for bit (on the same build).
//
//	rp := hil.NewReplay(schema, next)        // next yields the recorded rows of one epoch in order
//	loop := hil.NewLoop(rp, rp, rp, role, epoch)
//	loop.Run()
type Replay struct {
	schema  Schema
	nextRow func(*Row) bool      // the next recorded row; false at the end
	change  func(uint32) *Change // the parameter block of a generation
	heat    []int                // places in X of the heat of each axis; −1: none

	rec          Row // the row being repeated
	b            Blocks
	gen          uint32
	N            uint64 // rows repeated
	Diff         uint64 // rows that differ
	DiffRecorded Row    // the first recorded row that differs, and what replay made of it
	DiffReplayed Row
	Tap          func(*Row) // receives every repeated row; may be nil
}

// NewReplay repeats the rows that next yields; change prepares a generation of the parameters, nil if there is none of it.
func NewReplay(schema Schema, next func(*Row) bool, change func(gen uint32) *Change) *Replay {
	rp := &Replay{schema: schema, nextRow: next, change: change}
	rp.b.Meas, rp.b.Est, rp.b.Model, rp.b.Cmd = schema.Blocks(&rp.rec)
	for _, name := range schema.Axes() {
		rp.heat = append(rp.heat, schema.Find(Modelled, name, RoleHeat))
	}
	return rp
}

// Wait gives the recorded deadline and lateness of the next row.
func (rp *Replay) Wait() (t, late int64, ok bool) {
	if !rp.nextRow(&rp.rec) {
		return 0, 0, false
	}
	return rp.rec.T, int64(rp.rec.Lateness), true
}

// Now is the recorded end of the tick.
func (rp *Replay) Now() int64 { return rp.rec.T + int64(rp.rec.Lateness) + int64(rp.rec.BusyTime) }

// Begin and Took repeat how long the parts of a tick took.
func (rp *Replay) Begin()              {}
func (rp *Replay) Took(at int) float64 { return rp.b.Model[at] }

// DeviceLate repeats the recorded verdict.
func (rp *Replay) DeviceLate() bool { return rp.rec.Flags&FlagLateDevice != 0 }

func (rp *Replay) Signals() (meas, cmd []engine.Signal) {
	return Signals(rp.schema.Meas), Signals(rp.schema.Cmd)
}
func (rp *Replay) Start(context.Context) error { return nil }
func (rp *Replay) Send([]float64)              {}
func (rp *Replay) Close() error                { return nil }

// Poll gives the recorded samples.
func (rp *Replay) Poll(now int64, y []float64) Fresh {
	copy(y, rp.b.Meas)
	return rp.rec.FreshSignals
}

// outsideFlags are the bits that are raised outside the tick and are therefore inputs of a replay.
const outsideFlags = FlagLinkDown | FlagSupLost | FlagDryRun | FlagUnprivileged | FlagTripIn | FlagLateHost | FlagLocked | FlagCommandRefused | FlagCommandLost

func (rp *Replay) Flags() Flags { return rp.rec.Flags & outsideFlags }

// Silence repeats the recorded one.
func (rp *Replay) Silence() float64 {
	if rp.rec.Cause == CauseStarved {
		return rp.rec.Value
	}
	return 0
}

// AbsentDevice repeats the recorded device.
func (rp *Replay) AbsentDevice() int {
	if rp.rec.Cause == CauseLink || rp.rec.Cause == CauseRefused {
		return int(rp.rec.CauseSignal) - 1
	}
	return -1
}

// PreviousRun is what the first row shows of it: nothing but what was handed on is in its heat, and a latched mode is that of its first
// tick.
func (rp *Replay) PreviousRun() (b Before) {
	r := &rp.rec
	for i, at := range rp.heat {
		if at >= 0 {
			b.Heat[i] = r.X[at]
		}
	}
	if r.Flags&FlagLatched != 0 {
		b.Mode, b.Cause, b.CauseSignal, b.Value, b.Limit = r.Mode, r.Cause, r.CauseSignal, r.Value, r.Limit
	}
	return b
}

// Order repeats the request taken in this tick.
func (rp *Replay) Order() (uint32, Request) { return rp.rec.Cmd, Request(rp.rec.Req) }

// Change prepares the recorded block when the generation changes.
func (rp *Replay) Change() *Change {
	if rp.rec.Gen == rp.gen {
		return nil
	}
	rp.gen = rp.rec.Gen
	return rp.change(rp.gen)
}

// OnRow compares the repeated row with the recorded one, every bit of it.
func (rp *Replay) OnRow(r *Row) {
	rp.N++
	if !SameRow(r, &rp.rec) {
		if rp.Diff == 0 {
			rp.DiffRecorded, rp.DiffReplayed = rp.rec, *r
		}
		rp.Diff++
	}
	if rp.Tap != nil {
		rp.Tap(r)
	}
}

// SameRow compares two rows bit for bit; numbers that are not a number are equal to one another whatever their payload.
func SameRow(a, b *Row) bool {
	x, y := *a, *b
	for i := range x.X {
		p, q := x.X[i], y.X[i]
		if math.Float64bits(p) != math.Float64bits(q) && !(p != p && q != q) {
			return false
		}
		x.X[i], y.X[i] = 0, 0
	}
	return x == y
}
