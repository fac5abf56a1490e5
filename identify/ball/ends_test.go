package ball

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
	"hilrig/identify/fit"
)

// A ball that slides for 12 ms after it is let go, or before it is caught, is refused: with a constant force between ball and plane the
// way of the contact is D·(1 − t/T)², of which a solid sphere moves by two sevenths and turns by five.
func TestSlipAtAnEnd(t *testing.T) {
	const duration, radius = 0.012, 0.035
	whole := scipy(t, "spun", 1)
	for _, c := range []struct {
		way  float64 // m
		last bool
		slip bool
	}{{0, false, false}, {5e-5, false, false}, {8e-4, false, true}, {-8e-4, false, true}, {-8e-4, true, true}} {
		m := track{t: whole.t, p: slices.Clone(whole.p)}
		for k := range m.p {
			since := m.t[k] - m.t[0]
			if c.last {
				since = m.t[len(m.t)-1] - m.t[k]
			}
			if part := 1 - since/duration; part > 0 {
				way := c.way * part * part
				m.p[k].x -= way * 2 / 7
				m.p[k].q = quat.Mul(rotation.Exp(r3.Vec{Y: way * 5 / 7 / radius}), m.p[k].q)
			}
		}
		r := mustFit(t, Spec{FreeParams: []string{"mu_roll", "mu_spin", "height"}}, recorded(m, 1e-4, 3))
		found := slices.ContainsFunc(r.Reasons, func(x fit.Reason) bool { return x.Code == fit.Slip })
		if found != c.slip || r.Accepted == c.slip {
			t.Errorf("%g m, at the end %v: %+v", c.way, c.last, r.Reasons)
		}
	}
}

// What is known of three moments of inertia together: the sum of three errors of variance 1, half of it common to all, has a variance of
// 3·1 + 6·½ = 6, and the difference of two 1 + 1 − 2·½ = 1.
func TestMomentsOfInertiaShareTheirErrors(t *testing.T) {
	numbers := []fixed{{parameter: parameter{name: "mass"}}}
	for _, name := range []string{"Ixx", "Iyy", "Izz"} {
		numbers = append(numbers, fixed{parameter: parameter{name: name}})
	}
	information := (&adjustment{numbers: numbers}).priorInformation(true)
	for _, c := range []struct {
		along []float64 // an eigenvector of the covariance
		value float64
	}{{[]float64{0, 1, 1, 1}, 2}, {[]float64{0, 1, -1, 0}, 0.5}, {[]float64{1, 0, 0, 0}, 1}} {
		for i, want := range c.along {
			got := 0.0
			for j, v := range c.along {
				got += information.At(i, j) * v
			}
			if math.Abs(got-want/c.value) > 1e-12 {
				t.Errorf("along %v, row %d: %g, want %g", c.along, i, got, want/c.value)
			}
		}
	}
}
