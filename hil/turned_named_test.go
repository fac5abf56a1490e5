package hil

import (
	"math"
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// An encoder turned round is named so where the filter refuses its positions (a stage that moves a thousand counts in five samples), and
// where the axis leaves its speed before anything is sure (readings and commands one tick late at 200 samples a second). To both sides,
// from rest and in motion. At 200 samples a second, with and without limits, stiff and soft: within 0.25 s and 5 rad of the moment at which
// the effort can move the axis, on every drive that gives one.
func TestTurnedEncoderIsNamed(t *testing.T) {
	type turnedCase struct {
		name string
		p    *shop
		o    shopOptions
	}
	cases := []turnedCase{
		{"stage", linearShop(plant.CurrentDrive), shopOptions{tick: 2, limits: AxisLimits{MaxSpeed: 1, MaxError: 0.15},
			pid: &control.PID{Kp: 100e3, Kd: 5e3, Limit: 300}, ref: reference.Spec{Kind: "sine", Amplitude: 0.04, Frequency: 0.5}}},
		{"200 Hz", rotaryShop(plant.CurrentDrive), shopOptions{tick: 5, late: 1, limits: AxisLimits{MaxSpeed: 100, MaxError: 10},
			pid: &control.PID{Kp: 0.1, Kd: 4e-3, Limit: 0.4}, ref: reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.5}}},
	}
	for _, kind := range shopKinds[:4] {
		for _, gain := range []float64{1, 0.5} {
			cases = append(cases, turnedCase{kind.name + ", no limits", kind.p(), shopOptions{tick: 5, late: 1, measured: kind.measured,
				pid: &control.PID{Kp: 0.1 * gain, Kd: 4e-3 * gain * gain, Limit: 0.4},
				ref: reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.5}}})
		}
	}
	for _, c := range cases {
		for place := -1.0; place <= 1; place += 0.2 { // from rest, then in motion at a moment of the period
			for _, motion := range []bool{false, true} {
				p, at := *c.p, math.NaN()
				turns := !motion
				o := c.o
				if o.fade = 0.3; c.o.limits.MaxSpeed > 0 {
					o.measured = []estimator.Quantity{estimator.Current}
				}
				s := newShop(t, &p, o)
				s.lateCommands = make([]float64, o.late)
				s.fault = func(y []float64, _ [estimator.Quantities]int) {
					if turns && math.IsNaN(at) {
						at = y[0]
					}
					if turns {
						y[0] = 2*at - y[0]
					}
				}
				moments := 0
				if motion {
					moments = int((1.2 + place) * 1000 / float64(o.tick))
				} else {
					p.x = 0.6 * place * o.ref.Amplitude
				}
				s.start(t)
				for range moments {
					s.step()
				}
				turns = true
				ms, on, from := 0, -1, p.x
				for ; ms < 1000 && s.row.Mode.Energised(); ms += o.tick {
					if s.step(); on < 0 && math.Abs(p.effort) > p.fs {
						on = ms
					}
				}
				if s.row.Cause != CauseDirection || ms-on > 250 || math.Abs(p.x-from) > 5 {
					t.Errorf("%s, %.1f, in motion %v: after %d ms and %.3g %s", c.name, place, motion, ms-on, p.x-from, s.row.CauseText(&s.ctl.schema))
				}
			}
		}
	}
}
