package hil

import (
	"math"
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// An encoder that counts the wrong way from before RUN on, with the axis at rest away from its reference: told as a wrong direction within
// 0.25 s and 5 rad (the stage: 30 mm) from the first moment at which the effort can move the axis; beside a velocity drive within 0.3 s. On
// every kind of drive, with and without a current, to both sides, at 1000, 500 and 200 samples a second.
func TestTurnedRoundFromRest(t *testing.T) {
	for _, kind := range shopKinds {
		for _, tick := range []int{1, 2, 5} {
			worst, far := 0, 0.0
			for _, side := range []float64{1, -1} {
				for _, asked := range []float64{0.3, 0.9, 1.8} {
					p := kind.p()
					scale, most, within := side, 5.0, 250
					if p.drive == plant.VelocityDrive {
						within = 300 // the command changes its sign on the way
					}
					pid := &control.PID{Kp: 0.1, Kd: 4e-3, Limit: 0.4}
					if p.linear {
						scale, most = side*20e-3, 30e-3
						pid = &control.PID{Kp: 100e3, Kd: 5e3, Limit: 300}
					}
					ref := reference.Spec{Kind: "sine", Amplitude: 3 * math.Abs(scale), Frequency: 0.5}
					s := newShop(t, p, shopOptions{measured: kind.measured, ref: ref, fade: 0.3, tick: tick, pid: pid})
					p.x = asked * scale
					from := p.x
					s.fault = func(y []float64, _ [5]int) { y[0] = p.count * math.Round((2*from-p.x)/p.count) }
					s.start(t)
					ms, on := 0, -1
					for ; s.row.Mode.Energised() && ms < 2000; ms += tick {
						if s.step(); on < 0 && math.Abs(p.effort) > p.fs {
							on = ms
						}
					}
					way := math.Abs(p.x - from)
					worst, far = max(worst, ms-on), max(far, way)
					if s.row.Mode != Trip || s.row.Cause != CauseDirection || ms-on > within || way > most {
						t.Errorf("%s, every %d ms, %g asked: %v after %d ms and %.3g: %s",
							kind.name, tick, asked*scale, s.row.Mode, ms-on, way, s.row.CauseText(&s.ctl.schema))
					}
				}
			}
			t.Logf("%-18s every %d ms: %3d ms, %.3g", kind.name, tick, worst, far)
		}
	}
}

// A brake lets go of a weight at the moment of RUN, and the axis begins to fall against an effort that grows: no wrong sign. Nor is an axis
// on a spring that pulls it back, or a pendulum, moved below its own frequency: effort and acceleration are opposed in all that it does.
func TestWeightAndSpringAreNoWrongSign(t *testing.T) {
	for _, kind := range shopKinds {
		if kind.p().drive == plant.VelocityDrive {
			continue
		}
		for _, c := range []struct {
			name      string
			frequency float64
			amplitude float64
			brake     bool
			load      func(p *shop, size float64) func(t, x float64) float64
		}{
			{"weight", 0.5, 1, true, func(p *shop, _ float64) func(t, x float64) float64 {
				return func(_, _ float64) float64 { return 4 * p.fs }
			}},
			{"weight the other way", 0.5, 1, true, func(p *shop, _ float64) func(t, x float64) float64 {
				return func(_, _ float64) float64 { return -6 * p.fs }
			}},
			{"spring", 4, 0.3, false, func(p *shop, size float64) func(t, x float64) float64 {
				return func(_, x float64) float64 { return 6 * p.fs * x / size }
			}},
			{"pendulum that stands", 1.5, 1, false, func(p *shop, size float64) func(t, x float64) float64 {
				return func(_, x float64) float64 { return -5 * p.fs * math.Sin(x/size) }
			}},
		} {
			for _, side := range []float64{1, -1} {
				p := kind.p()
				size := 1.0
				pid := &control.PID{Kp: 0.25, Kd: 6e-3, Limit: 0.4}
				if p.linear {
					size, pid = 20e-3, &control.PID{Kp: 200e3, Kd: 7e3, Limit: 300}
				}
				p.brake, p.load = c.brake, c.load(p, size)
				ref := reference.Spec{Kind: "sine", Amplitude: side * c.amplitude * size, Frequency: c.frequency}
				s := newShop(t, p, shopOptions{measured: kind.measured, ref: ref, fade: 0.2, pid: pid})
				s.start(t)
				for k := range 2000 {
					if s.step(); !s.row.Mode.Energised() {
						t.Errorf("%s, %s, %+g: after %d ms %s", kind.name, c.name, side, k, s.row.CauseText(&s.ctl.schema))
						break
					}
				}
			}
		}
	}
}
