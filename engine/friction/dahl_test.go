package friction

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// strides cuts a path into n uneven parts, steps the law along them and returns work and last state.
func strides(law Law, z []float64, dx float64, n int) (work float64) {
	total := float64(n*(n+1)) / 2
	for k := 1; k <= n; k++ {
		part := dx * float64(k) / total
		work += law.Step(z, Input{Dt: 1e-3, V: part / 1e-3}) * part
	}
	return work
}

// Closed forms of theory §3 for i = 1, to 1e-9 N however the path is cut: virgin curve FC(1 − e^{−σA/FC}), reversal
// −FC + (F1 + FC)e^{−2σA/FC}, peak of the steady loop FC·tanh(σA/FC), its work 4FC·A − 4(FC²/σ)·tanh(σA/FC).
func TestDahlClosedForms(t *testing.T) {
	for _, c := range []struct{ sigma, fc float64 }{{1e3, 1}, {1e5, 1}, {2e6, 40}} {
		for _, ratio := range []float64{1e-3, 0.3, 1, 4, 50} { // A in units of FC/σ
			for _, n := range []int{1, 7, 400} {
				p := &Dahl{Sigma0: c.sigma, Fc: c.fc, Exponent: 1}
				a := ratio * c.fc / c.sigma
				z := []float64{0}
				strides(p, z, a, n)
				f1 := c.fc * -math.Expm1(-ratio)
				if got := c.sigma * z[0]; math.Abs(got-f1) > 1e-9 {
					t.Errorf("virgin curve, σA/FC=%g in %d: %.12g N, want %.12g N", ratio, n, got, f1)
				}
				strides(p, z, -2*a, n)
				if got, want := c.sigma*z[0], -c.fc+(f1+c.fc)*math.Exp(-2*ratio); math.Abs(got-want) > 1e-9 {
					t.Errorf("reversal, σA/FC=%g in %d: %.12g N, want %.12g N", ratio, n, got, want)
				}
				// start on the steady loop, which small cycles approach slowly
				peak := c.fc * math.Tanh(ratio)
				z[0] = -peak / c.sigma
				work := strides(p, z, 2*a, n)
				if got := c.sigma * z[0]; math.Abs(got-peak) > 1e-9 {
					t.Errorf("steady loop, σA/FC=%g in %d: peak %.12g N, want %.12g N", ratio, n, got, peak)
				}
				work += strides(p, z, -2*a, n)
				want := 4*c.fc*a - 4*c.fc*c.fc/c.sigma*math.Tanh(ratio)
				if math.Abs(work-want) > 1e-9*4*a { // 1e-9 N along the path
					t.Errorf("steady loop, σA/FC=%g in %d: work %.12g J, want %.12g J", ratio, n, work, want)
				}
			}
		}
	}
}

// From anywhere the loop becomes the steady one.
func TestDahlSettles(t *testing.T) {
	p := &Dahl{Sigma0: 1e3, Fc: 1, Exponent: 1}
	z := []float64{0}
	for range 40 {
		strides(p, z, 1e-3, 3)
		strides(p, z, -1e-3, 3)
	}
	strides(p, z, 1e-3, 3)
	hi := z[0]
	strides(p, z, -1e-3, 3)
	// the loop between x = 0 and 1 mm has A = 0.5 mm
	if want := math.Tanh(0.5) / 1e3; math.Abs(hi-want) > 1e-12 || math.Abs(z[0]+want) > 1e-12 {
		t.Errorf("loop between %g and %g m, want ±%g m", z[0], hi, want)
	}
}

// For every exponent, end and mean of a step equal the integration of the differential form. Below 1 the form is not smooth
// where sliding begins; there the path is measured instead, FC/σ/(1−i)·y^{1−i}.
func TestDahlExponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Dahl{Sigma0: 1e3, Fc: 2, Exponent: rapid.Float64Range(0, 4).Draw(t, "i")}
		if rapid.Bool().Draw(t, "round") {
			p.Exponent = rapid.SampledFrom([]float64{0, 0.5, 1, 1.5, 2, 3, 1 + 1e-9, 2 - 1e-10}).Draw(t, "round i")
		}
		y := rapid.Float64Range(0.01, 2).Draw(t, "y")
		s := rapid.SampledFrom([]float64{-1, 1}).Draw(t, "direction")
		q := math.Exp(rapid.Float64Range(-12, 2).Draw(t, "log q"))
		z0 := s * (1 - y) * 2e-3
		in := Input{Dt: 1e-2, V: s * q * 2e-3 / 1e-2}
		z := []float64{z0}
		f := p.Step(z, in)
		if p.Exponent < 1 {
			m := 1 - p.Exponent
			if left := math.Pow(y, m) - m*q; left <= 0.05 {
				if left <= 0 && math.Abs(z[0]-s*2e-3) > 1e-17 {
					t.Fatalf("sliding has begun, deflection %g, want %g", z[0], s*2e-3)
				}
				// ∫Y^{1−i}dY from the end to y over q
				end := math.Pow(max(left, 0), 1/m)
				mean := (math.Pow(y, 1+m) - math.Pow(end, 1+m)) / (1 + m) / q
				if want := s * 2 * (1 - mean); math.Abs(f-want) > 1e-11 {
					t.Fatalf("mean %.15g N, want %.15g N", f, want)
				}
				return
			}
		}
		ref := []float64{z0}
		want := byFlow(p, ref, in, 2000)
		// 2000 steps of fourth order: (q·i·y^{i−1}/2000)⁴ of FC, at most (30·8/2000)⁴/120 near the start of steep sets
		steep := q * max(1, p.Exponent) * math.Pow(y, max(0, p.Exponent-1)) / 2000
		if p.Exponent < 1 {
			steep = q * math.Pow(0.05, -p.Exponent/(1-p.Exponent)) / 2000
			if steep > 0.05 {
				return
			}
		}
		tol := 1e-11 + math.Pow(steep, 4)
		if math.Abs(z[0]-ref[0]) > tol*2e-3 || math.Abs(f-want) > 2*tol {
			t.Fatalf("i=%g y=%g q=%g: (%.15g m, %.15g N), integrated (%.15g m, %.15g N), tolerance %g", p.Exponent, y, q, z[0], f, ref[0], want, tol)
		}
	})
}

// Two parts of a path are the whole path, work included, for every exponent and also from beyond the Coulomb level.
func TestDahlSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Dahl{Sigma0: 1e3, Fc: 1, Exponent: rapid.Float64Range(0, 5).Draw(t, "i")}
		z0 := rapid.Float64Range(-1.5, 1.5).Draw(t, "z") * 1e-3
		dx := 1e-3 * math.Exp(rapid.Float64Range(-15, 4).Draw(t, "dx")) * rapid.SampledFrom([]float64{-1, 1}).Draw(t, "direction")
		part := rapid.Float64Range(0, 1).Draw(t, "part")
		zn, mean := p.StepDx(z0, dx)
		z1, m1 := p.StepDx(z0, dx*part)
		z2, m2 := p.StepDx(z1, dx*(1-part))
		if math.Abs(z2-zn) > 1e-11*1e-3 || math.Abs(m1*part+m2*(1-part)-mean) > 1e-11*1e-3 {
			t.Fatalf("i=%g: whole (%.15g, %.15g), in parts (%.15g, %.15g)", p.Exponent, zn, mean, z2, m1*part+m2*(1-part))
		}
	})
}

func TestDahlSlopes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Dahl{Sigma0: 1e3, Fc: 1, Exponent: rapid.Float64Range(0, 4).Draw(t, "i")}
		z := []float64{rapid.Float64Range(-1, 1).Draw(t, "z") * 1e-3}
		v := math.Exp(rapid.Float64Range(-8, 2).Draw(t, "v")) * rapid.SampledFrom([]float64{-1, 1}).Draw(t, "direction")
		slopeByDifferences(t, p, rapid.SampledFrom([]Scheme{Midpoint, Implicit}).Draw(t, "scheme"), z, Input{Dt: 1e-3, V: v}, 1, 1e-3)
	})
}

// An exponent of zero is the presliding spring.
func TestDahlOfExponentZero(t *testing.T) {
	d, s := &Dahl{Sigma0: 1e3, Fc: 1, Exponent: 0}, &PreslidingSpring{Fb: 1, Xb: 1e-3}
	zd, zs := []float64{0}, []float64{0}
	for k := range 1000 {
		in := Input{Dt: 1e-3, V: 0.5 * math.Sin(0.1*float64(k))}
		if fd, fs := d.Step(zd, in), s.Step(zs, in); math.Abs(fd-fs) > 1e-12 {
			t.Fatalf("step %d: Dahl %.15g N, spring %.15g N", k, fd, fs)
		}
	}
}
