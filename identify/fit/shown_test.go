package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A drag of 3.3 standard errors is not beyond chance among many suspects, and by itself it is: intervals hold it. None is none.
func TestDragThatHardlyShows(t *testing.T) {
	const n, noise = 800, 0.1
	for _, drag := range []float64{0, 1} {
		held := 0
		for seed := range uint64(40) {
			rng := rand.New(rand.NewPCG(seed, 5))
			s := &Solution{Unit: "N", Dt: 0.01}
			column := make([]float64, n) // without what one viscous parameter makes of it
			v, up, down, size := make([]float64, n), 0.0, 0.0, 0.0
			for k := range v {
				v[k] = (1.5 + 1.5*rng.Float64()) * math.Copysign(1, math.Sin(0.3*float64(k)))
				up, down = up+v[k]*v[k]*math.Abs(v[k]), down+v[k]*v[k]
			}
			for k := range v {
				column[k] = v[k]*math.Abs(v[k]) - up/down*v[k]
				size += column[k] * column[k]
			}
			dot := 0.0
			for k := range v {
				s.Residual = append(s.Residual, noise*rng.NormFloat64()+drag*3.3*noise/math.Sqrt(size)*column[k])
				dot += s.Residual[k] * v[k]
			}
			for k := range v {
				s.Residual[k] -= dot / down * v[k]
			}
			s.Jac, s.FreeParams, s.Measured = v, []int{0}, s.Residual
			s.Params = make([]Param, 1)
			s.Params[0].Name = "Fv"
			list := []Suspect{{Kind: "drag", Expected: true, JudgedAlone: true,
				Columns: []func(int) float64{func(k int) float64 { return v[k] * math.Abs(v[k]) }}}}
			for range 40 { // others, of which nothing is there
				x := make([]float64, n)
				for k := range x {
					x[k] = rng.NormFloat64()
				}
				list = append(list, Suspect{Kind: "other", Columns: []func(int) float64{func(k int) float64 { return x[k] }}})
			}
			found, possible := Unmodelled(s, list, nil)
			for _, l := range append(found, possible...) {
				if l.Kind == "drag" && !l.Expected {
					held++
				}
			}
		}
		t.Logf("drag %g: in %d of 40", drag, held)
		if drag > 0 && held < 24 || drag == 0 && held > 3 {
			t.Errorf("drag of %g: held in %d of 40", drag, held)
		}
	}
}
