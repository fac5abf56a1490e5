// Package hil is the loop: a fixed-step tick that reads a rig, estimates its state, runs the friction-compensated model,
// guards the command and sends it. Everything else in the program feeds this loop or is fed by it.
//
// One sample travels: device bytes → Poll → estimator → controller (model, compensation) → guard → Send → row. The tick
// takes no lock, allocates nothing, logs nothing; trouble is a flag bit and the guard decides. The same loop runs a rig
// (controller role), acts as the plant for somebody else's controller (plant role, the virtual rig) and replays a
// recording (virtual clock).
package hil

import (
	"context"

	"hilrig/engine"
)

// Clock paces the loop. Wait blocks until the next deadline and returns it (ns on the clock's own time base) with the
// lateness of the wake-up; ok is false when there are no more ticks. Now reads the same time base.
type Clock interface {
	Wait() (t, late int64, ok bool)
	Now() int64
}

// Device is the far side of the loop. Nothing here ever blocks the tick: Poll copies what has arrived (newest value of
// each measured signal into y, a bit per signal that is new since the last Poll), Send leaves the command for the
// sending thread, newest wins.
type Device interface {
	Signals() (meas, cmd []engine.Signal)
	Start(ctx context.Context) error
	Poll(now int64, y []float64) Fresh
	Send(u []float64)
	Close() error
}
