package friction

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func drawDahlModified(t *rapid.T) *DahlModified {
	log := func(name string, lo, hi float64) float64 {
		return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(t, name))
	}
	p := &DahlModified{Alpha0: log("alpha0", 1e-2, 10), Alpha2: log("alpha2", 1e-4, 10), V0: log("v0", 1e-3, 1), D0: log("d0", 1e-6, 1e-2)}
	p.Alpha1 = p.Alpha0 * rapid.Float64Range(-0.9, 2).Draw(t, "alpha1")
	return p
}

// A step equals the integration of the differential form at constant velocity.
func TestDahlModifiedFlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawDahlModified(t)
		top := []float64{0}
		p.Bounds(top)
		z0 := rapid.Float64Range(-1, 1).Draw(t, "z") * top[0]
		v := p.V0 * rapid.Float64Range(-3, 3).Draw(t, "v")
		in := Input{Dt: p.D0 / p.V0 * rapid.Float64Range(0.01, 2).Draw(t, "h"), V: v}
		z, ref := []float64{z0}, []float64{z0}
		f, want := p.Step(z, in), byFlow(p, ref, in, 1000)
		// a ≤ 6 in 1000 steps of fourth order: 6·0.006⁴/120 < 1e-10
		if scale := top[0] + p.Alpha2*math.Abs(v); math.Abs(z[0]-ref[0]) > 1e-10*scale || math.Abs(f-want) > 1e-10*scale {
			t.Fatalf("(%.15g, %.15g) N, integrated (%.15g, %.15g) N", z[0], f, ref[0], want)
		}
		slopeByDifferences(t, p, rapid.SampledFrom([]Scheme{Midpoint, Implicit}).Draw(t, "scheme"), []float64{z0}, in, top[0], 1e-3)
	})
}

// Without a Stribeck increment and viscous friction it is the law of Dahl.
func TestDahlModifiedWithoutStribeckIsDahl(t *testing.T) {
	d, m := &Dahl{Sigma0: 2e3, Fc: 3, Exponent: 1}, &DahlModified{Alpha0: 3, V0: 0.1, D0: 3 / 2e3}
	zd, zm := []float64{0}, []float64{0}
	for k := range 2000 {
		in := Input{Dt: 1e-3, V: 0.5 * math.Sin(0.01*float64(k)) * math.Sin(0.37*float64(k))}
		if fd, fm := d.Step(zd, in), m.Step(zm, in); math.Abs(fd-fm) > 1e-13*3*10 {
			t.Fatalf("step %d: Dahl %.17g N, modified Dahl %.17g N", k, fd, fm)
		}
	}
}

// rounds loads to force z at speed u and unloads at speed v, n times in small steps between z and z − dz, and returns the
// total work including the first loading and the last unloading.
func rounds(p *DahlModified, z, dz, u, v float64, n int) (work float64) {
	s := []float64{0}
	// paths of the exact relaxation between two levels: up ln((g−a)/(g−b)), down ln((g+b)/(g+a))
	up := func(a, b float64) {
		dx := p.D0 * math.Log((p.g(u)-a)/(p.g(u)-b))
		work += p.Step(s, Input{Dt: dx / u, V: u}) * dx
	}
	down := func(b, a float64) {
		dx := p.D0 * math.Log((p.g(v)+b)/(p.g(v)+a))
		work -= p.Step(s, Input{Dt: dx / v, V: -v}) * dx
	}
	up(0, z)
	for range n {
		down(z, z-dz)
		up(z-dz, z)
	}
	down(z, 0)
	return work
}

// The verdict of Passive is sharp: viscous friction a little below the limit lets a small cycle, loaded slowly and unloaded
// at the critical speed, give out work for ever; a little above no such cycle of a dense search does.
func TestDahlModifiedPassive(t *testing.T) {
	for _, alpha1 := range []float64{0.5, -0.4} {
		set := func(alpha2 float64) *DahlModified {
			return &DahlModified{Alpha0: 1, Alpha1: alpha1, Alpha2: alpha2, V0: 0.05, D0: 1.5e-3}
		}
		lo, hi := 1e-6, 10.0
		for hi/lo > 1+1e-9 {
			mid := math.Sqrt(lo * hi)
			if ok, _ := set(mid).Passive(); ok {
				hi = mid
			} else {
				lo = mid
			}
		}
		t.Logf("alpha1 = %g N: passive from alpha2 = %.4f N·s/m", alpha1, hi)
		least := func(p *DahlModified) float64 {
			gain := math.Inf(1)
			for v := 0.01; v < 0.5; v *= 1.03 {
				for z := 0.005; z < 0.3; z += 0.0025 {
					dz := 0.002
					slow, fast := 1e-7, v
					if alpha1 < 0 {
						slow, fast = v, 1e-7
					}
					one := rounds(p, z, dz, slow, fast, 1) - rounds(p, z, dz, slow, fast, 0)
					gain = min(gain, one)
				}
			}
			return gain
		}
		if w := least(set(0.9 * hi)); !(w < 0) {
			t.Errorf("alpha1 = %g: below the limit the best small cycle costs %g J, want a gain", alpha1, w)
		}
		if w := least(set(1.05 * hi)); !(w > 0) {
			t.Errorf("alpha1 = %g: above the limit a small cycle gains %g J", alpha1, -w)
		}
		if ok, v := set(0.5 * hi).Passive(); ok || !(v > 0 && v < 0.2) {
			t.Errorf("alpha1 = %g, half the limit: passive %v from %g m/s", alpha1, ok, v)
		}
	}
	// the public set has enough of it
	if ok, _ := publicLaw(t, "dahl-modified").Passive(); !ok {
		t.Error("public set: not passive")
	}
	// without viscous friction a single load and unload from rest gains, and cycling gains without end
	p := &DahlModified{Alpha0: 1, Alpha1: 0.5, V0: 0.05, D0: 1.5e-3}
	if ok, v := p.Passive(); ok || v != 0 {
		t.Errorf("no viscous friction: passive %v from %g m/s, want a violation at any speed", ok, v)
	}
	one := rounds(p, 0.2, 0.01, 1e-7, 0.5, 0)
	// closed form: d0·(in − out), in = −z − gS·ln(1 − z/gS), out = z − gC·ln(1 + z/gC)
	want := 1.5e-3 * (-0.2 - 1.5*math.Log(1-0.2/1.5) - (0.2 - math.Log(1.2)))
	if math.Abs(one-want) > 1e-9*1.5e-3 || !(one < 0) {
		t.Errorf("loaded slowly, unloaded fast: work %g J, want %g J", one, want)
	}
}

// The storage bounds what can be had back, for every passive set and any motion, and the bounds of the state hold.
func TestDahlModifiedStorage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawDahlModified(t)
		if ok, _ := p.Passive(); !ok {
			p.Alpha2 *= 1e3
			if ok, _ := p.Passive(); !ok {
				t.Skip()
			}
		}
		top := []float64{0}
		p.Bounds(top)
		z, work, size := []float64{0}, 0.0, 0.0
		h := p.D0 / p.V0 * math.Exp(rapid.Float64Range(-6, 1).Draw(t, "h"))
		for range 100 {
			v := p.V0 * math.Exp(rapid.Float64Range(-8, 2).Draw(t, "v")) * rapid.SampledFrom([]float64{-1, 1}).Draw(t, "direction")
			e0 := p.Energy(z)
			w := p.Step(z, Input{Dt: h, V: v}) * v * h
			work, size = work+w, size+math.Abs(w)
			if w < p.Energy(z)-e0-1e-12*(size+e0) {
				t.Fatalf("work of the step %g J, stored %g J", w, p.Energy(z)-e0)
			}
			if math.Abs(z[0]) > top[0]*(1+1e-12) {
				t.Fatalf("|z| = %g N above %g N", math.Abs(z[0]), top[0])
			}
		}
	})
}
