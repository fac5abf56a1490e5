package identify

import (
	"math"
	"testing"

	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// Pulses that were added to the command are in the recorded force already; a force besides the drive is not. Methods that know
// one force get what acts on the axis in both cases.
func TestDrivenForce(t *testing.T) {
	push := func(t float64) float64 { return 3 * math.Copysign(1, math.Sin(9*t)) }
	ref := independent.Sines(1, []float64{0.05, 0.02}, []float64{0.6, 1.7})
	for _, inCommand := range []bool{true, false} {
		control := independent.Cascade(30, 300, 0, 1e-3, ref)
		a := independent.Axis{M: 2, Friction: independent.Friction{Fc: 1, Sigma2: 4}}
		if !inCommand {
			a.Load = func(t, _, _ float64) float64 { return -push(t) }
		}
		tr := a.Simulate(independent.Run{Dt: 1e-3, N: 4000, X0: ref(0), Sampled: func(k int, x []float64) float64 {
			u := control(k, x)
			if inCommand {
				u += push(float64(k) * 1e-3)
			}
			return u
		}})
		d := tr.Record(independent.Sensors{Velocity: -1}, ref)
		for k := range d.Force {
			d.Disturbance = append(d.Disturbance, push(tr.T[k]))
		}
		got := (Records{Fit: []*record.Record{d}}).withTotalForce().Fit[0]
		for k := range d.Force {
			want := tr.U[k]
			if !inCommand {
				want += push(tr.T[k])
			}
			if math.Abs(got.Force[k]-want) > 1e-9 {
				t.Fatalf("in the command %v: %g N at sample %d, want %g", inCommand, got.Force[k], k, want)
			}
		}
	}
}
