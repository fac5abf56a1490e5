package friction

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func drawM2(t *rapid.T) *M2 {
	log := func(name string, lo, hi float64) float64 {
		return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(t, name))
	}
	p := &M2{Alpha0: log("alpha0", 0.1, 10), Alpha2: log("alpha2", 1e-3, 10), TauS: log("taus", 1e-3, 0.1), TauR: log("taur", 1e-3, 0.1),
		V0: log("v0", 1e-3, 1), Ks: log("ks", 10, 1e5), Ds: log("ds", 0.1, 100), Veps: log("veps", 1e-6, 1e-3)}
	p.Alpha1 = p.Alpha0 * rapid.Float64Range(-0.9, 2).Draw(t, "alpha1")
	return p
}

// At constant velocity the share of sliding is exact for any step; displacement and force are of second order: halving the
// step divides their distance from the integrated differential form by four.
func TestM2Order(t *testing.T) {
	// Alpha1 large: the sticking part does not saturate, so that the force is smooth
	p := &M2{Alpha0: 1, Alpha1: 100, Alpha2: 0.4, TauS: 0.02, TauR: 0.05, V0: 0.05, Ks: 1e3, Ds: 30, Veps: 1e-4}
	const dur, v = 0.05, 0.04
	ref := []float64{0.1, -1e-3}
	want := byFlow(p, ref, Input{Dt: dur, V: v}, 20000)
	miss := func(n int) (s, r, f float64) {
		z := []float64{0.1, -1e-3}
		for range n {
			f += p.Step(z, Input{Dt: dur / float64(n), V: v}) / float64(n)
		}
		return math.Abs(z[0] - ref[0]), math.Abs(z[1] - ref[1]), math.Abs(f - want)
	}
	for _, n := range []int{1, 3, 20} {
		if s, _, _ := miss(n); s > 1e-13 {
			t.Errorf("%d steps: share of sliding off by %g", n, s)
		}
	}
	_, r1, f1 := miss(50)
	_, r2, f2 := miss(100)
	if a, b := math.Log2(r1/r2), math.Log2(f1/f2); a < 1.8 || b < 1.8 {
		t.Errorf("orders %.2f (displacement), %.2f (force), want ≥ 1.8; errors %g m, %g N", a, b, r1, f1)
	}
	if f1 > 1e-4*math.Abs(want) {
		t.Errorf("force off by %g of %g N at 1 ms", f1, want)
	}
}

// A small enough step follows the differential form for any parameters, saturation and reversal included.
func TestM2Flow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawM2(t)
		z0 := []float64{rapid.Float64Range(0, 1).Draw(t, "s"), rapid.Float64Range(-3, 3).Draw(t, "r") * (p.Alpha0 + p.Alpha1) / p.Ks}
		v := p.V0 * rapid.Float64Range(-3, 3).Draw(t, "v")
		dur := 0.1 * min(p.TauS, p.TauR)
		z, ref := []float64{z0[0], z0[1]}, []float64{z0[0], z0[1]}
		const n = 100
		f := 0.0
		for range n {
			f += p.Step(z, Input{Dt: dur / n, V: v}) / n
		}
		want := byFlow(p, ref, Input{Dt: dur, V: v}, n)
		// second order in h/τ = 1e-3, and in one step the kink of the saturation, which costs at most what the spring gains in
		// the step
		scale := p.Alpha0 + max(0, p.Alpha1) + p.Alpha2*math.Abs(v)
		tol := 1e-5*scale + min(scale, p.Ks*math.Abs(v)*dur/n)/n
		if math.Abs(z[0]-ref[0]) > 1e-9 || math.Abs(z[1]-ref[1]) > 1e-6*(math.Abs(z0[1])+dur*math.Abs(v)) || math.Abs(f-want) > tol {
			t.Fatalf("%+v from %v at %g m/s: %v, %g N; integrated %v, %g N", p, z0, v, z, f, ref, want)
		}
		in := Input{Dt: dur, V: v}
		slopeByDifferences(t, p, rapid.SampledFrom([]Scheme{Midpoint, Implicit}).Draw(t, "scheme"), z0, in, scale+p.Ks*math.Abs(z0[1]), 1e-2)
	})
}

// Where the sticking part saturates, long sliding is on the common Stribeck curve α0 + α1·exp(−(v/v0)²) + s·α2·v; where
// ks·τr is too small, it lies below.
func TestM2Steady(t *testing.T) {
	p := publicLaw(t, "m2").(*M2)
	soft := *p
	soft.Ks, soft.Ds = 5, 0
	for v := 2e-3; v < 1; v *= 1.3 {
		bell := math.Exp(-v * v / (0.05 * 0.05))
		want := 1 + 0.5*bell + (1-bell)*0.4*v
		if got := p.SteadyForce(v); math.Abs(got-want) > 1e-12 {
			t.Errorf("%g m/s: %.15g N, want %.15g N", v, got, want)
		}
		if got := soft.SteadyForce(v); got > want+1e-12 {
			t.Errorf("soft contact at %g m/s: %g N, above the Stribeck curve %g N", v, got, want)
		}
	}
	if got := soft.SteadyForce(0.05); !(got < 1.1) {
		t.Errorf("soft contact at v0: %g N, want a dip well below 1.18 N", got)
	}
	// the dip makes the curve fall more steeply than the Gaussian does
	if a, b := soft.Stiffness().Fall, p.Stiffness().Fall; !(a >= b) || math.Abs(b-math.Sqrt(2/math.E)*0.5/0.05) > 1e-9 {
		t.Errorf("fall %g (soft) and %g N·s/m, want the first larger and the second 8.58", a, b)
	}
}

// The law is not passive: with a contact that forgets slowly, a short fast slide that ends in sticking costs the sliding
// force and is given back with the sticking force.
func TestM2IsNotPassive(t *testing.T) {
	p := &M2{Alpha0: 1, Alpha1: 0.5, TauS: 0.005, TauR: 10, V0: 0.05, Ks: 1e3, Ds: 0, Veps: 1e-4}
	z, work := []float64{0, 0}, 0.0
	move := func(v, dur float64, n int) {
		for range n {
			f := p.Step(z, Input{Dt: dur / float64(n), V: v})
			work += f * v * dur / float64(n)
		}
	}
	move(1, 0.05, 2000)   // out by 50 mm, s → 1
	move(0, 0.05, 200)    // s dies away
	move(-0.005, 8, 4000) // back by 40 mm at s = 0.01
	if !(work < 0) {
		t.Errorf("the cycle costs %g J, want a gain", work)
	}
	if ok, _ := p.Passive(); ok {
		t.Error("Passive, want not")
	}
}
