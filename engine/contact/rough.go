package contact

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Random profiles: the same parameters and seed give the same bits. There is a source PCG(seed, stream) for each purpose, and one
// NormFloat64 per point in order of increasing arc length. One stream for each kind of draw: a profile does not move when another one is
// added or left out.
const (
	streamRing = 0x52494e47 // roughness round a commutator
	streamFace = 0x46414345 // roughness of a brush face
	streamBars = 0x42415253 // heights of the bars
)

// samplingLength is the length over which Rz of a commutator is evaluated.
const samplingLength = 0.8e-3 // m

// RoughRing draws the roughness of a closed contour: n heights (m) spaced by dx, with mean 0 and autocorrelation exp(−(x/l)²).
// White Gaussian noise on the points is folded round the ring with exp(−2·(x/l)²), then scaled until RzRing equals rz.
func RoughRing(n int, dx, l, rz float64, seed uint64) ([]float64, error) {
	if rz > 0 && dx > samplingLength {
		return nil, fmt.Errorf("roughness of a ring: spacing %g m is wider than a sampling length of %g m", dx, samplingLength)
	}
	h, err := roughHeights(n, false, dx, l, rz, streamRing, seed, func(h []float64) float64 { return RzRing(h, dx) })
	if err != nil {
		return nil, fmt.Errorf("roughness of a ring: %w", err)
	}
	return h, nil
}

// roughHeights draws n heights whose depth is rz. Those of an open line are a piece of a ring that is longer by twice the reach of the
// kernel.
func roughHeights(n int, open bool, dx, l, rz float64, stream, seed uint64, depth func(h []float64) float64) ([]float64, error) {
	if err := checkRough(n, dx, l, rz); err != nil {
		return nil, err
	}
	if rz == 0 {
		return make([]float64, n), nil
	}
	ring := n
	if open {
		ring += 2 * kernelReach(dx, l)
	}
	h := make([]float64, ring)
	foldNoise(whiteNoise(ring, stream, seed), h, dx, l)
	h = h[:n]
	mean := 0.0
	for _, v := range h {
		mean += v
	}
	floats.AddConst(-mean/float64(n), h)
	have := depth(h)
	if !(have > 0) {
		return nil, fmt.Errorf("the profile is flat over its sampling lengths: Rz = %g m cannot be reached", rz)
	}
	floats.Scale(rz/have, h)
	return h, nil
}

// RzRing is the mean of max − min (m) over all whole sampling lengths of 0.8 mm from the first point on. A point belongs to length j
// when its arc length is in [j·0.8 mm, (j+1)·0.8 mm). A ring shorter than one length counts as one.
func RzRing(h []float64, dx float64) float64 {
	whole := int(float64(len(h))*dx/samplingLength + 1e-9)
	if whole < 1 {
		return peakToValley(h)
	}
	return meanPeakToValley(h, dx, samplingLength, whole)
}

// RoughProfile is a rough line over [X0, X0 + (len(H) − 1)·Dx].
type RoughProfile struct {
	X0, Dx float64   // m
	H      []float64 // m, mean 0
}

// FaceProfile draws the roughness of a brush face over [−width/2, width/2], spaced by at most dx (0: the smaller of 25 µm and l/20).
// Noise and folding are those of RoughRing, on a ring that is longer than the face by twice the reach of the kernel: the two ends of the
// face do not know of each other. Mean and Rz are those of the face alone, Rz over five lengths of width/5.
func FaceProfile(width, dx, l, rz float64, seed uint64) (*RoughProfile, error) {
	fail := func(err error) (*RoughProfile, error) { return nil, fmt.Errorf("roughness of a face: %w", err) }
	if !(width > 0) || math.IsInf(width, 0) {
		return fail(fmt.Errorf("width %g m, want > 0", width))
	}
	if dx == 0 {
		dx = defaultSpacing(l)
	}
	if !(dx > 0 && width/dx < maxPoints) {
		return fail(fmt.Errorf("spacing %g m for a width of %g m, want > 0 and at most %d points", dx, width, maxPoints))
	}
	n := max(5, int(math.Ceil(width/dx*(1-1e-12))))
	dx = width / float64(n)
	h, err := roughHeights(n+1, true, dx, l, rz, streamFace, seed, RzFace)
	if err != nil {
		return fail(err)
	}
	return &RoughProfile{X0: -width / 2, Dx: dx, H: h}, nil
}

// RzFace is the mean of max − min (m) over five equal lengths of a line of evenly spaced heights. A point on a border counts for the
// length that begins there, the last point for the last length.
func RzFace(h []float64) float64 {
	if len(h) < 6 {
		return peakToValley(h)
	}
	return meanPeakToValley(h, 1, float64(len(h)-1)/5, 5)
}

// At is the height (m) at x, straight between points and level beyond the ends.
func (p *RoughProfile) At(x float64) float64 {
	s := (x - p.X0) / p.Dx
	last := len(p.H) - 1
	switch {
	case !(s > 0):
		return p.H[0]
	case s >= float64(last):
		return p.H[last]
	}
	k := int(s)
	s -= float64(k)
	return p.H[k] + s*(p.H[k+1]-p.H[k])
}

// maxPoints bounds the length of an outline, so that a wrong unit is an error and not a day of work.
const maxPoints = 1 << 22

// defaultSpacing is the default distance of vertices for the correlation length l (m).
func defaultSpacing(l float64) float64 {
	if l > 0 {
		return min(25e-6, l/20)
	}
	return 25e-6
}

func checkRough(n int, dx, l, rz float64) error {
	switch {
	case n < 3 || n > maxPoints:
		return fmt.Errorf("%d points, want 3 to %d", n, maxPoints)
	case !(dx > 0) || math.IsInf(dx, 0):
		return fmt.Errorf("spacing %g m, want > 0", dx)
	case !(rz >= 0) || math.IsInf(rz, 0):
		return fmt.Errorf("depth Rz %g m, want ≥ 0", rz)
	case rz > 0 && (!(l > 0) || math.IsInf(l, 0)):
		return fmt.Errorf("correlation length %g m, want > 0", l)
	case rz > 0 && l > float64(n)*dx:
		return fmt.Errorf("correlation length %g m is longer than the outline, %g m", l, float64(n)*dx)
	case rz > 0 && dx > l/20*(1+1e-9):
		return fmt.Errorf("spacing %g m is coarser than a twentieth of the correlation length %g m", dx, l)
	}
	return nil
}

// whiteNoise is n draws of variance 1.
func whiteNoise(n int, stream, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, stream))
	w := make([]float64, n)
	for i := range w {
		w[i] = r.NormFloat64()
	}
	return w
}

// kernelReach is the number of points after which exp(−2·(x/l)²) is below half a rounding error of 1.
func kernelReach(dx, l float64) int { return int(math.Ceil(4.3 * l / dx)) }

// foldNoise writes the circular convolution of w with exp(−2·(x/l)²) to h.
func foldNoise(w, h []float64, dx, l float64) {
	n, m := len(w), kernelReach(dx, l)
	kernel := make([]float64, m+1)
	for k := range kernel {
		x := float64(k) * dx / l
		kernel[k] = math.Exp(-2 * x * x)
	}
	// the noise, wrapped round as far as the kernel reaches
	ext := make([]float64, n+2*m)
	for i := range ext {
		j := (i - m) % n
		if j < 0 {
			j += n
		}
		ext[i] = w[j]
	}
	for i := range h {
		c := ext[i : i+2*m+1]
		s := kernel[0] * c[m]
		for k := 1; k <= m; k++ {
			s += kernel[k] * (c[m-k] + c[m+k])
		}
		h[i] = s
	}
}

func peakToValley(h []float64) float64 { return slices.Max(h) - slices.Min(h) }

// meanPeakToValley is the mean of max − min over count lengths; what is left over behind them is not looked at, except one last point that
// falls on the end of the last length of an open line.
func meanPeakToValley(h []float64, dx, length float64, count int) float64 {
	sum, from := 0.0, 0
	for j := range count {
		to := int(math.Ceil(float64(j+1)*length/dx - 1e-9))
		if j == count-1 && to == len(h)-1 {
			to = len(h)
		}
		to = min(max(to, from+1), len(h))
		sum += peakToValley(h[from:to])
		from = to
	}
	return sum / float64(count)
}
