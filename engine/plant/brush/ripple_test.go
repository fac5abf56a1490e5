package brush

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/plant"
)

// goertzel is the amplitude of the k-th multiple of the fundamental of x.
func goertzel(x []float64, k int) float64 {
	w := 2 * math.Pi * float64(k) / float64(len(x))
	c := 2 * math.Cos(w)
	a, b := 0.0, 0.0
	for _, v := range x {
		a, b = v+c*a-b, a
	}
	return 2 / float64(len(x)) * math.Sqrt(a*a+b*b-c*a*b)
}

func TestGoertzelFindsATone(t *testing.T) {
	x := make([]float64, 5000)
	for i := range x {
		p := 2 * math.Pi * float64(i) / float64(len(x))
		x[i] = 7 + 3*math.Cos(24*p+0.4) + 2*math.Sin(480*p)
	}
	for _, c := range []struct {
		k    int
		want float64
	}{{24, 3}, {480, 2}, {25, 0}} {
		if a := goertzel(x, c.k); math.Abs(a-c.want) > 1e-9 {
			t.Errorf("multiple %d: %g, want %g", c.k, a, c.want)
		}
	}
}

// spectra adds up the power of face force and current at the multiples of a turn up to top, over whole turns at 3000 rpm.
func spectra(t testing.TB, seeds, turns, top int) (force, current []float64) {
	t.Helper()
	force, current = make([]float64, top+1), make([]float64, top+1)
	const perTurn = 1000 // 20 µs
	for seed := range seeds {
		s := bench()
		s.LoadJ = 1e6
		s.Params.Commutator.Seed, s.Params.Face.Seed = float64(1+seed), float64(101+seed)
		m := machine(t, s)
		x, y := m.NewState(), make([]float64, outputs)
		x[plant.Omega] = 100 * math.Pi
		u := []float64{18, 1}
		n := turns * perTurn
		f, i := make([]float64, n), make([]float64, n)
		for k := -10 * perTurn; k < n; k++ {
			if st := m.Step(20e-6, x, u, y); st == engine.NonFinite {
				t.Fatal(st)
			}
			if k >= 0 {
				f[k], i[k] = m.side[0].subForce, y[plant.OutCurrent]
			}
		}
		for k := 1; k <= top; k++ {
			a, b := goertzel(f, k*turns), goertzel(i, k*turns)
			force[k] += a * a / float64(seeds)
			current[k] += b * b / float64(seeds)
		}
	}
	return force, current
}

// stands is the amplitude at k against the root mean square of its eight neighbours.
func stands(power []float64, k int) float64 {
	sum := 0.0
	for j := k - 4; j <= k+4; j++ {
		if j != k {
			sum += power[j] / 8
		}
	}
	return math.Sqrt(power[k] / sum)
}

// above is the amplitude at k against the root mean square of 20 … 28 without 24: the level that the theory compares with.
func above(power []float64, k int) float64 {
	sum := 0.0
	for j := 20; j <= 28; j++ {
		if j != 24 {
			sum += power[j] / 8
		}
	}
	return math.Sqrt(power[k] / sum)
}

// The passing of bars shows in the force and in the current against the neighbouring multiples of the revolution.
func TestSlotRippleStandsOut(t *testing.T) {
	force, current := spectra(t, 4, 10, 52)
	t.Logf("24th and 48th against four neighbours on either side: force %.2f, %.2f; current %.2f, %.2f (24th: %.3g A); force against 20 … "+
		"28: %.2f, %.2f",
		stands(force, 24), stands(force, 48), stands(current, 24), stands(current, 48), math.Sqrt(current[24]), above(force, 24),
		above(force, 48))
	if stands(force, 24) < 1.7 || above(force, 48) < 2.5 || stands(current, 24) < 1.3 {
		t.Errorf("force %.2f at the 24th, %.2f at the 48th, current %.2f; want 1.7, 2.5, 1.3", stands(force, 24), above(force, 48),
			stands(current, 24))
	}
}
