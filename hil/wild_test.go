package hil

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// spoiledDevice is a line on which some samples are wrong.
type spoiledDevice struct {
	Device
	spoil func(y []float64) // nil: as it came
}

func (d *spoiledDevice) Poll(now int64, y []float64) Fresh {
	fresh := d.Device.Poll(now, y)
	if d.spoil != nil {
		d.spoil(y)
	}
	return fresh
}

// spoiledBench is the bench with such a line and a range of ±100 rad for the position.
func spoiledBench(t *testing.T, seed uint64) (*bench, *spoiledDevice) {
	b := newBench(t, benchOptions{seed: seed, comp: observer, ref: slowSine, fade: 0.5})
	b.controller.guard.s.Meas[0].Lo, b.controller.guard.s.Meas[0].Hi = -100, 100
	d := &spoiledDevice{Device: b.ctl.dev}
	b.ctl.dev = d
	return b, d
}

// One wild sample in RUN, either sensor and sign, in and out of the declared range, neither number nor finite: it moves neither
// estimate nor command nor heat by more than a missing sample does, and the rig runs on.
func TestOneWildSample(t *testing.T) {
	run := func(signal int, value float64, wild bool) (b *bench, worst float64) {
		b, d := spoiledBench(t, 3)
		b.energise(t)
		for range 1000 {
			b.step()
		}
		if wild {
			d.spoil = func(y []float64) { y[signal] = value }
		}
		b.step()
		d.spoil = nil
		for range 1000 {
			b.step()
			worst = max(worst, math.Abs(b.ctl.row.X[b.controller.schema.Index("shaft.est.velocity")]-b.plant.x[plant.Omega]))
		}
		return b, worst
	}
	_, usual := run(0, 0, false)
	for signal, values := range [][]float64{{3, -3, 99, -99, 101, -101, 1e9, -1e9, math.NaN(), math.Inf(1), math.Inf(-1)},
		{21, -21, 1e6, -1e6, math.NaN(), math.Inf(-1)}} {
		for _, v := range values {
			b, worst := run(signal, v, true)
			r := &b.ctl.row
			if signal == 1 && math.Abs(v) > 15 {
				if r.Mode != Trip { // above max_current: a short circuit looks the same
					t.Errorf("current %g A: %v (%v)", v, r.Mode, r.Cause)
				}
			} else if r.Mode != Run {
				t.Errorf("signal %d, %g: %v (%s)", signal, v, r.Mode, r.CauseText(&b.controller.schema))
			}
			if heat := b.controller.guard.Heat(0); !(heat < 0.05) {
				t.Errorf("signal %d, %g: heat %g", signal, v, heat)
			}
			if !(worst < usual+0.5) {
				t.Errorf("signal %d, %g: the speed was %g rad/s off, %g without", signal, v, worst, usual)
			}
		}
	}
}

// After one wild sample that trips, and in any mode, the rig runs again within a second.
func TestRecoveryFromWildSample(t *testing.T) {
	for signal, values := range [][]float64{{1e9, -1e9, math.NaN()}, {1e6, -1e6, math.NaN()}} {
		for _, v := range values {
			for _, running := range []bool{false, true} {
				b, d := spoiledBench(t, 4)
				if running {
					b.energise(t)
				}
				for range 500 {
					b.step()
				}
				d.spoil = func(y []float64) { y[signal] = v }
				b.step()
				d.spoil = nil
				ms := 0
				for ; ms < 2000 && b.ctl.row.Mode != Ready && b.ctl.row.Mode != Run; ms++ {
					if b.ctl.row.Mode == Trip {
						b.out.req = ReqReset
					}
					b.step()
				}
				if ms > 1000 {
					t.Errorf("signal %d, %g, running %v: %d ms to %v", signal, v, running, ms, b.ctl.row.Mode)
				}
			}
		}
	}
}

// A jump that stays trips a running rig within five samples, and is the new position of one that does not run; a reset brings both
// to READY within a second.
func TestPositionJump(t *testing.T) {
	for _, off := range []float64{2, -2, 50, -50} {
		for _, running := range []bool{true, false} {
			b, d := spoiledBench(t, 5)
			for range 150 {
				b.step()
			}
			if running {
				b.energise(t)
				for range 300 {
					b.step()
				}
			}
			d.spoil = func(y []float64) { y[0] += off }
			jumps, at := 0, 0
			for k := range 400 {
				b.step()
				if b.ctl.row.Flags&FlagJump != 0 {
					jumps++
					at = k + 1
				}
			}
			if jumps != 1 || at != 5 {
				t.Errorf("%g rad, running %v: %d jumps, at sample %d; want one at the fifth", off, running, jumps, at)
			}
			r := &b.ctl.row
			if running {
				if r.Mode != Trip || r.Cause != CauseJump || r.CauseSignal != 1 {
					t.Fatalf("%g rad: %v (%s), want a trip for the jump of the position", off, r.Mode, r.CauseText(&b.controller.schema))
				}
				b.out.req = ReqReset
				for range 400 {
					b.step()
				}
			}
			if r.Mode != Ready {
				t.Errorf("%g rad, running %v: %v (%s)", off, running, r.Mode, r.CauseText(&b.controller.schema))
			}
			if p := r.X[b.controller.schema.Index("shaft.est.position")]; math.Abs(p-b.plant.x[plant.Theta]-off) > 0.01 {
				t.Errorf("%g rad, running %v: estimated at %g, is %g", off, running, p, b.plant.x[plant.Theta]+off)
			}
		}
	}
}

// The edge of the declared range is still good, on both sides: what is beyond heats nothing.
func TestRangeEdgeOfBelief(t *testing.T) {
	for _, c := range []struct {
		signal int
		y      float64
		want   bool
	}{{0, 100, true}, {0, -100, true}, {0, 100.0001, false}, {0, -100.0001, false}, {1, 20, true}, {1, -20, true}, {1, 20.0001, false},
		{1, -20.0001, false}} {
		b, d := spoiledBench(t, 2)
		d.spoil = func(y []float64) { y[c.signal] = c.y } // from the first sample on: no jump
		b.step()
		b.step() // the first tick shows the heat that was handed on
		d.spoil = nil
		if got := b.controller.axes[0].Outcome().Accepted[c.signal]; got != c.want {
			t.Errorf("signal %d, %g: taken %v", c.signal, c.y, got)
		}
		if heated := b.controller.guard.Heat(0) > 0; c.signal == 1 && heated != c.want {
			t.Errorf("%g A: heated %v", c.y, heated)
		}
	}
}

// READY waits for a sound estimate, and leaves when it is lost: an encoder that flickers by 30 standard deviations.
func TestReadyNeedsASoundEstimate(t *testing.T) {
	b, d := spoiledBench(t, 6)
	n := 0
	d.spoil = func(y []float64) { n++; y[0] += 1.5e-3 * float64(1-2*(n%2)) }
	for range 1000 {
		b.step()
	}
	if r := &b.ctl.row; r.Mode != SelfTest || r.Cause != CauseEstimate {
		t.Fatalf("%v (%s) with a flickering encoder", r.Mode, r.CauseText(&b.controller.schema))
	}
	flicker := d.spoil
	d.spoil = nil
	for range 1000 {
		b.step()
	}
	if b.ctl.row.Mode != Ready {
		t.Fatalf("%v (%s) after the flicker ended", b.ctl.row.Mode, b.ctl.row.CauseText(&b.controller.schema))
	}
	d.spoil = flicker
	for range 500 {
		b.step()
	}
	if b.ctl.row.Mode != SelfTest {
		t.Errorf("%v with a flickering encoder", b.ctl.row.Mode)
	}
}

// A reset forgets what the filter had.
func TestResetForgets(t *testing.T) {
	b, _ := spoiledBench(t, 7)
	b.energise(t)
	for range 500 {
		b.step()
	}
	b.out.req = ReqEstop
	b.step()
	b.out.req = ReqReset
	b.step()
	if b.ctl.row.Mode != SelfTest || !b.controller.states[0].Unsound || b.controller.states[0].Residual != 0 {
		t.Errorf("%v after a reset: primed %v, residual %g", b.ctl.row.Mode, !b.controller.states[0].Unsound, b.controller.states[0].Residual)
	}
}

// Samples whose time is nonsense are refused and do not count as fresh.
func TestWildAge(t *testing.T) {
	for _, age := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e3, -1e3} {
		b, _ := spoiledBench(t, 8)
		s := b.controller.s
		s.Meas = append(s.Meas[:2:2], Of("drive", engine.Signal{Name: "age", Unit: "s"})...)
		s.Guard.Meas = append(s.Guard.Meas[:2:2], MeasLimit{})
		s.Ages = []int{2, 2, 2}
		c, err := NewController(s)
		if err != nil {
			t.Fatal(err)
		}
		var r Row
		var k Blocks
		schema := c.Schema()
		k.Meas, k.Est, k.Model, k.Cmd = schema.Blocks(&r)
		for n := range 100 {
			r.T, r.FreshSignals, r.Flags = int64(5e9)+int64(n)*1e6, Fresh{7}, 0
			k.Meas[0], k.Meas[2] = 0.5, 1e-4
			if n == 50 {
				k.Meas[0], k.Meas[2] = 77, age
			}
			c.estimate(&r, &k)
			if wild := n == 50; (r.Flags&FlagRefused != 0) != wild || (c.guard.rejectedSamples != (Fresh{})) != wild {
				t.Errorf("age %g, tick %d: flags %b, refused %b", age, n, r.Flags, c.guard.rejectedSamples)
			}
			if n > 5 && n != 50 && (math.Abs(k.Est[estimator.XPos]-0.5) > 1e-3 || math.Abs(k.Est[estimator.XVel]) > 1) {
				t.Fatalf("age %g, tick %d: estimate %v", age, n, k.Est[:4])
			}
		}
	}
}
