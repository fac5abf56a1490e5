package axis

import (
	"math"
	"testing"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// Along a motion that was integrated apart, the true parameters leave next to nothing of the force, away from reversals; wrong ones
// leave what they are wrong by.
func TestInverseLeavesWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		law      string
		terms    []string
		friction independent.Friction
		params   map[string]float64
	}{
		{"coulomb", []string{"viscous", "offset"}, independent.Friction{Fc: 2, Sigma2: 3}, map[string]float64{"Fc": 2, "Fv": 3}},
		{"lugre", []string{"offset"}, independent.Friction{Sigma0: 2e4, Sigma1: 100, Sigma2: 3, Fc: 2, Fs: 3, Vs: 0.02},
			map[string]float64{"sigma0": 2e4, "sigma1": 100, "sigma2": 3, "Fc": 2, "Fs": 3, "vs": 0.02}},
	} {
		const load = 0.5
		ref := independent.Sines(3, []float64{0.05, 0.02}, []float64{0.6, 1.7})
		from := ref(0)
		a := independent.Axis{M: 1.5, Friction: c.friction, Load: func(_, _, _ float64) float64 { return load }}
		tr := a.Simulate(independent.Run{Dt: 1e-3, N: 4000, Sampled: independent.Cascade(30, 200, 0, 1e-3,
			func(t float64) float64 { return ref(t) - from })})
		rec := tr.Record(independent.Sensors{Position: 1e-8, Velocity: -1}, nil)
		m, err := New(Spec{Law: c.law, Terms: c.terms, Drive: Force, Output: Position}, []*record.Record{rec})
		if err != nil {
			t.Fatal(err)
		}
		left := func(m0 float64) float64 {
			params := m.Params()
			for i := range params {
				p := &params[i]
				x, ok := c.params[p.Name]
				switch {
				case ok:
					p.Value = x
				case p.Name == "M":
					p.Value = m0
				case p.Name == "offset":
					p.Value = load
				}
				p.Lo, p.Hi = math.Min(p.Lo, p.Value), math.Max(p.Hi, p.Value)
			}
			s, err := m.Inverse(params)
			if err != nil || s == nil {
				t.Fatalf("%s: %v %v", c.law, s, err)
			}
			return medianOf(s)
		}
		right := left(1.5)
		wrong := left(1.8)
		if right > 0.03 || wrong < 5*right {
			t.Errorf("%s: %.3g N are left with the truth, %.3g N with a mass that is a fifth too large", c.law, right, wrong)
		}
	}
}

// medianOf is the median size of the residual: reversals are few.
func medianOf(s *fit.Solution) float64 {
	size := make([]float64, len(s.Residual))
	for k, e := range s.Residual {
		size[k] = math.Abs(e)
	}
	return numeric.Median(size)
}
