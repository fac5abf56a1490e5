package hil

import (
	"fmt"
	"math"
	"testing"

	"hilrig/engine/reference"
)

// A position that gets far noisier than declared, or coarser, in motion: it would shake an axis, whatever its limits of speed. The
// noise of samplingSpec is 0.1 mrad. What is ten times as large or less runs on, and shakes nothing.
func TestNoiseInMotion(t *testing.T) {
	for _, rate := range []float64{200, 500, 1000, 5000} {
		for _, c := range []struct {
			name  string
			size  float64 // rad
			steps bool
			trips bool
		}{
			{"noise", 0.5e-3, false, false},
			{"noise", 20e-3, false, true},
			{"steps", 1e-3, true, false},
			{"steps", 50e-3, true, true},
		} {
			t.Run(fmt.Sprintf("%g Hz %s of %g mrad", rate, c.name, 1e3*c.size), func(t *testing.T) {
				b := &freeBoard{rate: rate}
				f := newFree(t, b, 3, false, reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.5})
				f.drive(t)
				f.seconds(1)
				usual := 3 * 2 * math.Pi * 0.5 * 1.5 // rad/s
				b.top = 0
				b.shape = func(angle float64) float64 {
					if c.steps {
						return math.Floor(angle/c.size) * c.size
					}
					return angle + c.size*b.rng.NormFloat64()
				}
				begin := f.row.T
				for f.row.Mode == Run && f.row.T-begin < 3e9 {
					f.step()
				}
				took := float64(f.row.T-begin) * 1e-9
				t.Logf("%v after %.3f s, %s, at most %.3g rad/s", f.row.Mode, took, f.row.CauseText(&f.ctl.schema), b.top)
				switch {
				case !c.trips && (f.row.Mode != Run || b.top > usual):
					t.Errorf("%v after %.3g s, %.3g rad/s: %s", f.row.Mode, took, b.top, f.row.CauseText(&f.ctl.schema))
				case c.trips && (f.row.Mode != Trip || took > 0.5 || b.top > 5*usual):
					t.Errorf("%v after %.3g s, %.3g rad/s", f.row.Mode, took, b.top)
				case c.trips && f.row.Cause == CauseJump: // steps that no axis makes
				case c.trips && (f.row.Cause != CauseEstimate || f.row.CauseSignal != 1 || !(f.row.Value > 10) || f.row.Limit != 10):
					t.Errorf("%s", f.row.CauseText(&f.ctl.schema))
				}
			})
		}
	}
}

// The same noise at rest keeps the rig from READY, and the cause tells how large it is.
func TestNoiseAtRest(t *testing.T) {
	for size, ready := range map[float64]bool{0.5e-3: true, 20e-3: false} {
		b := &freeBoard{rate: 1000}
		f := newFree(t, b, 3, false, slowSine)
		b.shape = func(angle float64) float64 { return angle + size*b.rng.NormFloat64() }
		f.seconds(2)
		if r := &f.row; (r.Mode == Ready) != ready || !ready &&
			(r.Mode != SelfTest || r.Cause != CauseEstimate || r.CauseSignal != 1 || r.Value < 50 || r.Value > 250 || r.Limit != 10) {
			t.Errorf("%g rad: %v (%s)", size, r.Mode, r.CauseText(&f.ctl.schema))
		}
	}
}

// noiseless runs rigs whose position is as declared for so many seconds each, or the samples that are enough, at every rate, with losses,
// bursts, knocks on the shaft, with a clock of the device and without one: none may be found noisy.
func noiseless(t *testing.T, seconds float64) {
	const enough = 1.2e6
	knocks := func(t float64) float64 { // seven times break-away for 10 ms
		if math.Mod(t, 0.37) < 0.01 {
			return 0.15
		}
		return 0
	}
	for _, rate := range []float64{50, 100, 200, 500, 1000, 2000, 5000, 10000} {
		for _, p := range []struct {
			name      string
			loss      float64
			burst     int
			load      func(t float64) float64
			unclocked bool
		}{
			{name: "none lost"}, {name: "half lost", loss: 0.5}, {name: "8 of 40 lost", burst: 8}, {name: "knocks", load: knocks},
			{name: "no clock", unclocked: true}, {name: "no clock, 30 % lost", loss: 0.3, unclocked: true},
		} {
			if p.unclocked && rate > 2000 {
				continue // delays of half a period and more by turns: no raster can be found
			}
			t.Run(fmt.Sprintf("%g Hz, %s", rate, p.name), func(t *testing.T) {
				t.Parallel()
				b := &freeBoard{rate: rate, loss: p.loss, burst: p.burst, load: p.load}
				if p.unclocked { // 0.1 ms on the way, exponentially distributed; twice a second the host takes at once what came in 5 ms
					b.delay = func(t float64) float64 { return max(1e-4*b.rng.ExpFloat64(), 5e-3-math.Mod(t, 0.5)) }
				}
				f := newFree(t, b, 1, false, reference.Spec{Kind: "multisine",
					Tones: []reference.Tone{{Amplitude: 3, Frequency: 0.4}, {Amplitude: 0.6, Frequency: 2.3}}})
				f.drive(t)
				worst := 0.0
				for begin := f.row.T; f.row.Mode.Energised() && f.row.T-begin < int64(min(seconds, enough/rate)*1e9); {
					f.step()
					times, _ := f.ctl.axes[0].Filter().Noise()
					worst = max(worst, times)
				}
				t.Logf("noise at most %.2f times what is declared, speed %.3g rad/s", worst, b.top)
				if f.row.Mode != Run {
					t.Errorf("%v (%s)", f.row.Mode, f.row.CauseText(&f.ctl.schema))
				}
			})
		}
	}
}

func TestNoiselessRuns(t *testing.T) { noiseless(t, 3) }
