package contact

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hilrig/engine/numeric"
)

// Profile is a measured surface, straight between its points. Heights are Y (m); X is the angle (rad) round a commutator, whose
// heights are radii, or the place (m) along a face.
type Profile struct {
	X, Y []float64

	// Correlation (m) is the distance over which the autocorrelation of the heights falls to 1/e: l of exp(−(x/l)²). Of a
	// ring the mean and the first harmonic, its eccentricity, are left out first, of a line the mean. +Inf: the surface is flat.
	Correlation float64
}

// perLength is the least number of points within the correlation length: with fewer a record does not show the surface.
const perLength = 3

// minRoughness (m) is less than any instrument sees: an atom is a hundred times as large.
const minRoughness = 1e-12

// RingProfile is the profile round a commutator: radii (m) over rising angles (rad) of one turn. A last point a whole turn behind the
// first one closes the ring and has to agree with it.
func RingProfile(angle, radius []float64) (*Profile, error) {
	n := len(angle)
	if err := checkHeights(angle, radius, "angle", "rad"); err != nil {
		return nil, err
	}
	if lo := slices.Min(radius); !(lo > 0) {
		return nil, fmt.Errorf("radius: %g m, want > 0", lo)
	}
	const turn = 2 * math.Pi
	switch span := angle[n-1] - angle[0]; {
	case span > turn*(1+1e-6):
		return nil, fmt.Errorf("angle: from %g to %g rad is more than one turn; give one", angle[0], angle[n-1])
	case span > turn*(1-1e-6):
		if d := math.Abs(radius[n-1] - radius[0]); d > 0.1*peakToValley(radius) {
			return nil, fmt.Errorf("radius: the ring does not close, its ends differ by %.3g m of %.3g m between lowest and highest point: take "+
				"out the drift of the instrument", d, peakToValley(radius))
		}
		n--
	}
	mean := turn / float64(n)
	// into [0, 2π), then one point beyond on either side
	type point struct{ a, r float64 }
	ps := make([]point, n)
	for i := range ps {
		ps[i] = point{angle[i] - turn*math.Floor(angle[i]/turn), radius[i]}
	}
	slices.SortFunc(ps, func(a, b point) int { return cmp.Compare(a.a, b.a) })
	p := &Profile{X: []float64{ps[n-1].a - turn}, Y: []float64{ps[n-1].r}}
	for i, q := range append(ps, point{ps[0].a + turn, ps[0].r}) {
		if gap := q.a - p.X[i]; gap > 5*mean {
			return nil, fmt.Errorf("angle: nothing from %.4g to %.4g rad, where other points lie %.2g rad apart; want a whole turn", p.X[i], q.a,
				mean)
		}
		p.X, p.Y = append(p.X, q.a), append(p.Y, q.r)
	}
	// evenly, without mean and eccentricity
	h := make([]float64, n)
	var m, c, s float64
	for k := range h {
		h[k] = p.At(mean * float64(k))
		sin, cos := math.Sincos(mean * float64(k))
		m, c, s = m+h[k]/float64(n), c+2*h[k]*cos/float64(n), s+2*h[k]*sin/float64(n)
	}
	for k := range h {
		sin, cos := math.Sincos(mean * float64(k))
		h[k] -= m + c*cos + s*sin
	}
	return p, p.resolve(append(h, h...), n, mean*m)
}

// LineProfile is the profile of a face: heights (m) over rising places (m). Its mean is taken out.
func LineProfile(x, height []float64) (*Profile, error) {
	n := len(x)
	if err := checkHeights(x, height, "x", "m"); err != nil {
		return nil, err
	}
	dx := (x[n-1] - x[0]) / float64(n-1)
	p := &Profile{X: slices.Clone(x), Y: slices.Clone(height)}
	h := make([]float64, n)
	for k := range h {
		h[k] = p.At(x[0] + dx*float64(k))
	}
	mean := stat.Mean(h, nil)
	floats.AddConst(-mean, h)
	floats.AddConst(-mean, p.Y)
	return p, p.resolve(h, n, dx)
}

// At is the height (m) at x; beyond the ends that of the nearest end.
func (p *Profile) At(x float64) float64 { return numeric.Interpolate(p.X, p.Y, x) }

// checkHeights wants as many finite heights as rising places.
func checkHeights(x, y []float64, name, unit string) error {
	const least = 8
	if len(x) != len(y) {
		return fmt.Errorf("%d points and %d heights, want as many of each", len(x), len(y))
	} else if len(x) < least {
		return fmt.Errorf("%d points, want at least %d", len(x), least)
	}
	for i := range x {
		switch {
		case !numeric.IsFinite(x[i]) || !numeric.IsFinite(y[i]):
			return fmt.Errorf("point %d: not a finite number", i+1)
		case i > 0 && x[i] <= x[i-1]:
			return fmt.Errorf("point %d: %s %g %s after %g %s, want rising ones", i+1, name, x[i], unit, x[i-1], unit)
		}
	}
	return nil
}

// resolve finds the correlation length of n heights h that are dx (m) apart, of a ring followed by themselves, and refuses points
// that are too far apart to show it.
func (p *Profile) resolve(h []float64, n int, dx float64) error {
	ring := len(h) > n
	p.Correlation = math.Inf(1)
	sum := 0.0
	for _, v := range h[:n] {
		sum += v * v
	}
	if math.Sqrt(sum/float64(n)) < minRoughness {
		return nil
	}
	before := 1.0
	for lag := 1; lag < n; lag++ {
		last, r := n, 0.0
		if !ring {
			last = n - lag
		}
		for k := range last {
			r += h[k] * h[k+lag]
		}
		r *= float64(n) / float64(last) / sum
		if r < 1/math.E {
			p.Correlation = dx * (float64(lag-1) + (before-1/math.E)/(before-r))
			break
		}
		before = r
	}
	if p.Correlation < perLength*dx {
		return fmt.Errorf("points lie %.3g m apart, and the heights keep to each other over %.3g m only (their correlation length): noise, or "+
			"too few points; want at least %d in that length", dx, p.Correlation, perLength)
	}
	return nil
}
