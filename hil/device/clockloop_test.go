package device

import (
	"fmt"
	"math"
	"testing"

	"hilrig/estimator"
	"hilrig/hil/wire"
)

// clockLoop is a shaft with friction behind a drive of efforts, closed over a board whose clock runs as the test says, in virtual time: the
// frames are dated as those of a line are, and the estimate sees nothing but these dates.
type clockLoop struct {
	board       *boardClock
	rig         *Rig
	axis        *estimator.Axis
	kp, kd      float64
	theta       float64 // rad
	omega       float64 // rad/s
	drive, u    float64 // N·m  what acts, and what is asked for
	moved, tick float64 // s    true time of the plant and of the loop
	due         []clockFrame
	x           [3]float64
}

type clockFrame struct {
	raw, h int64
	angle  float64
}

const (
	clockInertia  = 7e-5  // kg·m²
	clockFriction = 0.015 // N·m
	clockTick     = 2e-3  // s
)

func newClockLoop(t *testing.T, hz, kp, kd float64) *clockLoop {
	t.Helper()
	l := &clockLoop{board: newBoardClock(hz, 21), kp: kp, kd: kd}
	l.board.dev = 0
	fields := []wire.Field{{Name: "angle", Type: wire.F32, Scale: 1}}
	var err error
	if l.rig, err = NewRig(Options{Name: "x", Measure: fields, Command: fields, Safe: []float64{0}}); err != nil {
		t.Fatal(err)
	}
	l.axis, err = estimator.NewMechanical(estimator.MechanicalSpec{Inertia: clockInertia, PositionNoise: 1e-4, Walk: 0.1, TopEffort: 0.4},
		estimator.AxisSpec{Tick: clockTick, Groups: []estimator.Group{{SamplePeriod: 1 / hz,
			Quantities: []estimator.Quantity{estimator.Position}}}, PerCommand: 1})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// move brings the plant to a true time.
func (l *clockLoop) move(to float64) {
	for l.moved < to {
		h := min(50e-6, to-l.moved)
		l.moved += h
		l.drive += h / 1e-3 * (l.u - l.drive)
		l.omega += h / clockInertia * (l.drive - clockFriction*math.Tanh(l.omega/0.5) - 1.5e-4*l.omega)
		l.theta += h * l.omega
	}
}

// run goes on to a true time (s) and tells the largest tracking error (rad) and the largest age (s) that was told.
func (l *clockLoop) run(until float64) (off, oldest float64) {
	for ; l.tick < until; l.tick += clockTick {
		for l.board.t+1/l.board.hz < l.tick {
			l.move(l.board.t + 1/l.board.hz)
			raw, h := l.board.next()
			l.due = append(l.due, clockFrame{raw, h, math.Round(l.theta/1e-4) * 1e-4})
		}
		l.move(l.tick)
		now, in := int64(1e15)+int64(l.tick*1e9), estimator.Inputs{Command: l.u, DriveActive: true}
		for len(l.due) > 0 && l.due[0].h <= now {
			f := l.due[0]
			l.due = l.due[1:]
			l.rig.frame = wire.Frame{Header: wire.Header{Kind: wire.Measurement, HasTime: true, Time: f.raw, FreshFields: 1}}
			l.rig.frame.V[0] = f.angle
			l.rig.accept(f.h)
			in.Position = estimator.Sample{Value: f.angle, Updated: true}
		}
		in.Position.Age = float64(now-l.rig.news.Group[0].Time) * 1e-9
		l.axis.Step(now, 0, &in, l.x[:])
		const w = math.Pi
		want, rate := 3*math.Sin(w*l.tick), 3*w*math.Cos(w*l.tick)
		l.u = max(-0.4, min(0.4, l.kp*(want-l.x[0])+l.kd*(rate-l.x[1])))
		off, oldest = max(off, math.Abs(want-l.theta)), max(oldest, in.Position.Age)
	}
	return off, oldest
}

// A clock that goes over to another rate and back under a drive that is fast against the time this takes: the axis follows as it does with
// a good clock, and no sample is told to be older than two periods more.
func TestClockOfClosedLoop(t *testing.T) {
	for _, hz := range []float64{200, 500, 1000} {
		kp, kd := 0.1, 0.004
		if hz == 1000 {
			kp, kd = 0.4, 0.012
		}
		right := newClockLoop(t, hz, kp, kd)
		right.run(3)
		usual, age := right.run(20)
		for _, drift := range []float64{0.02, -0.02, 0.004, -0.004} {
			l := newClockLoop(t, hz, kp, kd)
			l.board.rate = func(at float64) float64 {
				if at >= 5 && at < 10 {
					return 1 + drift
				}
				return 1 + 40e-6
			}
			l.run(3)
			off, oldest := l.run(20)
			where := fmt.Sprintf("%g Hz, %+g", hz, drift)
			t.Logf("%s: off by %.3g rad (a right clock: %.3g), oldest %.3g ms (%.3g)", where, off, usual, oldest*1e3, age*1e3)
			if off > 1.5*usual+0.02 || oldest > age+2/hz {
				t.Errorf("%s: off by %.3g rad, with a right clock %.3g; told to be %.3g ms old, with a right clock %.3g", where, off, usual,
					oldest*1e3, age*1e3)
			}
			if c := &l.rig.clock; c.rates < 1 || c.jumps != 0 {
				t.Errorf("%s: %d changes of the rate, %d jumps", where, c.rates, c.jumps)
			}
		}
	}
}
