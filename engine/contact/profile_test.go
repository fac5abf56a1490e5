package contact

import (
	"math"
	"strings"
	"testing"
)

// ring samples r(α) at n angles of one turn, from the given one on.
func ring(n int, from float64, r func(a float64) float64) (angle, radius []float64) {
	for k := range n {
		a := from + 2*math.Pi*float64(k)/float64(n)
		angle, radius = append(angle, a), append(radius, r(a))
	}
	return angle, radius
}

// The autocorrelation of a sine of N waves round a ring is cos(N·x/R): it falls to 1/e at x = R·acos(1/e)/N. Eccentricity has no
// part in it, nor where the record begins.
func TestRingProfileOfASine(t *testing.T) {
	const R, waves = 0.011, 20
	for _, from := range []float64{0, -math.Pi, 1} {
		for _, e := range []float64{0, 100e-6} {
			a, r := ring(4000, from, func(a float64) float64 { return R + 2e-6*math.Sin(waves*a+0.3) + e*math.Cos(a-1) })
			p, err := RingProfile(a, r)
			if err != nil {
				t.Fatal(err)
			}
			if want := R * math.Acos(1/math.E) / waves; math.Abs(p.Correlation/want-1) > 1e-3 {
				t.Errorf("from %g, e = %g m: correlation length %g m, want %g", from, e, p.Correlation, want)
			}
			for _, at := range []float64{0, 1e-9, 3, 2*math.Pi - 1e-9, 2 * math.Pi} {
				if want := R + 2e-6*math.Sin(waves*at+0.3) + e*math.Cos(at-1); math.Abs(p.At(at)-want) > 2e-9 {
					t.Errorf("from %g: at %g rad %g m, want %g", from, at, p.At(at), want)
				}
			}
		}
	}
}

// A drawn surface has the correlation length that it was drawn with, as far as one ring can tell; a flat one has none.
func TestCorrelationOfDrawnSurfaces(t *testing.T) {
	const R, n = 0.011, 2765
	dx := 2 * math.Pi * R / n
	sum := 0.0
	for seed := range uint64(8) {
		h, err := RoughRing(n, dx, 5e-4, 5e-6, seed)
		if err != nil {
			t.Fatal(err)
		}
		k := -1
		a, r := ring(n, 0, func(float64) float64 { k++; return R + h[k] })
		p, err := RingProfile(a, r)
		if err != nil {
			t.Fatal(err)
		}
		sum += p.Correlation / 8
	}
	if math.Abs(sum/5e-4-1) > 0.1 {
		t.Errorf("mean correlation length %g m, want 0.5 mm", sum)
	}
	var x, h []float64
	for k := range 100 {
		x, h = append(x, 1e-5*float64(k-30)), append(h, 3e-6)
	}
	if p, err := LineProfile(x, h); err != nil || !math.IsInf(p.Correlation, 1) || math.Abs(p.At(3e-4)) > 1e-20 {
		t.Errorf("flat: %v", err)
	}
	for k := range h {
		h[k] = 1e-6 * math.Sin(2*math.Pi*x[k]/2e-4)
	}
	if p, err := LineProfile(x, h); err != nil || math.Abs(p.Correlation/(2e-4/(2*math.Pi)*math.Acos(1/math.E))-1) > 0.05 {
		t.Errorf("line: %+v, %v", p.Correlation, err)
	}
}

func TestProfilesRefused(t *testing.T) {
	smooth := func(a float64) float64 { return 0.011 + 1e-6*math.Sin(10*a) }
	for _, c := range []struct {
		name, want string
		change     func(a, r []float64) ([]float64, []float64)
	}{
		{"falling angles", "want rising", func(a, r []float64) ([]float64, []float64) { a[5] = a[4]; return a, r }},
		{"no number", "not a finite number", func(a, r []float64) ([]float64, []float64) { r[7] = math.NaN(); return a, r }},
		{"as many of each", "as many of each", func(a, r []float64) ([]float64, []float64) { return a[1:], r }},
		{"more than a turn", "more than one turn", func(a, r []float64) ([]float64, []float64) { return append(a, 7), append(r, 0.011) }},
		{"half a turn", "want a whole turn", func(a, r []float64) ([]float64, []float64) { return a[:1000], r[:1000] }},
		{"drift", "does not close", func(a, r []float64) ([]float64, []float64) { return append(a, 2*math.Pi), append(r, r[0]+5e-7) }},
		{"no radius", "want > 0", func(a, r []float64) ([]float64, []float64) { r[3] = 0; return a, r }},
		{"noise", "noise, or too few points", func(a, r []float64) ([]float64, []float64) {
			for k := range r {
				r[k] = 0.011 + 1e-6*float64(k*7919%101)
			}
			return a, r
		}},
	} {
		a, r := ring(2000, 0, smooth)
		if _, err := RingProfile(c.change(a, r)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	// a hole of up to five spacings is bridged, ends that differ by up to a tenth of the height range are joined
	for hole, ok := range map[int]bool{3: true, 4: true, 5: false} {
		a, r := ring(2000, 0, smooth)
		a, r = append(a[:700:700], a[700+hole:]...), append(r[:700:700], r[700+hole:]...)
		if _, err := RingProfile(a, r); (err == nil) != ok {
			t.Errorf("%d points are missing: %v", hole, err)
		}
	}
	for share, ok := range map[float64]bool{0.09: true, -0.09: true, 0.11: false, -0.11: false} {
		a, r := ring(2000, 0, smooth)
		if _, err := RingProfile(append(a, 2*math.Pi), append(r, r[0]+2e-6*share)); (err == nil) != ok {
			t.Errorf("the ends differ by %g of the range: %v", share, err)
		}
	}
	// three points in the correlation length are enough, two are not
	for n, ok := range map[int]bool{10 * 20: true, 10 * 14: false} {
		a, r := ring(n, 0, smooth)
		if _, err := RingProfile(a, r); (err == nil) != ok {
			t.Errorf("%d points for ten waves: %v", n, err)
		}
	}
}

// The vertices of a drawn outline, taken for a measured one, give the same outline, slots and bar steps included.
func TestCommutatorFromItsOwnProfile(t *testing.T) {
	spec := CommutatorSpec{Radius: 0.011, Eccentricity: 5e-6, Bars: 24, Rz: 5e-6, Corr: 5e-4, SlotWidth: 5e-4, DipDepth: 1e-5,
		EdgeLength: 3e-4, BarStep: 1e-6, Spacing: 25e-6, Seed: 3}
	drawn, err := NewCommutator(spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := RingProfile(drawn.angle, drawn.r)
	if err != nil {
		t.Fatal(err)
	}
	same, err := NewCommutator(CommutatorSpec{Radius: 0.011, Bars: 24, SlotWidth: 5e-4, Spacing: 25e-6, Profile: p})
	if err != nil {
		t.Fatal(err)
	}
	for k := range drawn.r {
		if math.Abs(drawn.r[k]-same.r[k]) > 1e-15 {
			t.Fatalf("vertex %d: %g m, want %g", k, same.r[k], drawn.r[k])
		}
	}
}
