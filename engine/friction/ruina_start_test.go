package friction

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Where the search begins is the root of c·(w − v) + N·f(w, θ) = u for the θ of the beginning, found here by bisection: whatever
// the old velocity, the load, and the share of friction in the balance.
func TestStateVariableStart(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := func(name string, lo, hi float64) float64 {
			return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(rt, name))
		}
		signed := func(name string, lo, hi float64) float64 {
			return math.Copysign(log(name, lo, hi), rapid.Float64Range(-1, 1).Draw(rt, "sign of "+name))
		}
		p := &StateVariable{Mu0: log("mu0", 1e-2, 1), V0: log("v0", 1e-6, 0.1), A: log("A", 1e-4, 0.1), B: 0.01, L: 1e-5,
			N0: log("N0", 0.1, 100), Veps: 1e-9}
		theta := rapid.Float64Range(-0.1, 0.2).Draw(rt, "theta")
		c, v, u := log("c", 1e-1, 1e6), signed("v", 1e-12, 1), signed("u", 1e-3, 100)
		r := c*v + u
		if r == 0 {
			rt.Skip()
		}
		rest := func(w float64) float64 {
			f, _, _ := p.coefficient(w, theta)
			return c*w + p.N0*f - math.Abs(r)
		}
		// in the logarithm of w, which lies below r/c
		lo, hi := math.Log(1e-40), math.Log(math.Abs(r)/c)
		for range 200 {
			if mid := (lo + hi) / 2; rest(math.Exp(mid)) > 0 {
				hi = mid
			} else {
				lo = mid
			}
		}
		want := math.Copysign(math.Exp(lo), r)
		got := p.start([]float64{theta}, c, v, u, Input{})
		// 5e-7 of the last step of Newton's method in w; in y less. Rounding of r shows up in w by |r|/G
		tol := 1e-6 + 1e-14*math.Abs(r)/(p.N0*p.A)
		if !(math.Abs(got/want-1) <= tol) {
			rt.Fatalf("starts at %g m/s, the root is %g m/s", got, want)
		}
	})
}
