package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine"
)

// loop is an axis whose controller answers to noise of its force sensor a few rows later: y = 2·a + missing·d²a/dt² + e, in rows behind a
// moving average of 11, twice.
func loop(missing float64, blur float64, seed uint64) (*Solution, []Suspect) {
	const n, dt, reach = 30000, 0.01, 5
	rng := rand.New(rand.NewPCG(seed, 3))
	e, a := make([]float64, n), make([]float64, n)
	for k := range e {
		e[k] = 0.3 * rng.NormFloat64()
	}
	for k := range a {
		t := dt * float64(k)
		a[k] = math.Sin(5*t) + 0.5*math.Sin(20*t+1) + 0.4*math.Sin(31*t+2)
		for j := 4; j <= 9 && j <= k; j++ {
			a[k] -= e[k-j]
		}
	}
	smooth := func(x []float64) []float64 {
		out := make([]float64, n)
		for k := range out {
			for i := max(k-reach, 0); i <= min(k+reach, n-1); i++ {
				out[k] += x[i] / (2*reach + 1)
			}
		}
		return out
	}
	a, e = smooth(smooth(a)), smooth(smooth(e))
	bend := make([]float64, n)
	for k := 1; k < n-1; k++ {
		bend[k] = (a[k+1] - 2*a[k] + a[k-1]) / (dt * dt)
	}
	up, down := 0.0, 0.0
	y := make([]float64, n)
	for k := range y {
		y[k] = 2*a[k] + missing*bend[k] + e[k]
		up, down = up+y[k]*a[k], down+a[k]*a[k]
	}
	s := &Solution{Params: []Param{{Param: engine.Param{Name: "J", Value: up / down}}}, FreeParams: []int{0}, Jac: a, Measured: y,
		Residual: make([]float64, n), Unit: "N", Dt: dt, Blur: blur}
	for k := range y {
		s.Residual[k] = y[k] - up/down*a[k]
	}
	return s, []Suspect{{Kind: LowPass, JudgedAlone: true, Columns: []func(k int) float64{func(k int) float64 { return bend[k] }}}}
}

// Noise that a controller feeds back is no effect that the model lacks, and one that it lacks is found all the same.
func TestNoiseFedBack(t *testing.T) {
	wrong, shown := 0, 0
	for seed := range uint64(20) {
		s, suspects := loop(0, 0, seed)
		found, _ := Unmodelled(s, suspects, nil)
		wrong += len(found)
		s, suspects = loop(0, 0.05, seed)
		found, possible := Unmodelled(s, suspects, nil)
		shown += len(found)
		for _, l := range possible {
			shown += len(found)
			if math.Abs(l.ParamMoves["J"]) > 0.1 {
				t.Errorf("seed %d: J may move by %g", seed, l.ParamMoves["J"])
			}
		}
		for _, missing := range []float64{1.5e-3, -1.5e-3} {
			s, suspects = loop(missing, 0.05, seed)
			if found, _ = Unmodelled(s, suspects, nil); len(found) != 1 {
				t.Errorf("seed %d: missing %g is not found", seed, missing)
			}
		}
	}
	if wrong < 15 {
		t.Errorf("without a word of the filters the noise looks like an effect in %d of 20 only: the test shows nothing", wrong)
	}
	if shown > 1 {
		t.Errorf("noise that is fed back is an effect in %d of 20", shown)
	}
}
