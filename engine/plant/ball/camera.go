package ball

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/rotation"
)

// MaxMarkers is the most markers that a Camera follows.
const MaxMarkers = 16

// Camera is a motion-capture system that follows the markers of a ball. In each frame it sees them with noise, misses some, exchanges
// labels, and fits the pose of the body to those that it saw.
type Camera struct {
	Markers  [][3]float64 `yaml:"markers" unit:"m" doc:"of the ball, from its geometric centre in axes of the body; at least three that do not lie on a line. Left out: five on its surface"`
	Noise    float64      `yaml:"noise" unit:"m" want:">=0 <=1" doc:"standard deviation of each coordinate of a marker"`
	Hidden   float64      `yaml:"hidden" want:">=0 <=1" doc:"share of frames in which a marker is not seen, of each marker by itself"`
	Dropout  float64      `yaml:"lost" want:">=0 <=1" doc:"share of frames in which nothing is seen"`
	Swapped  float64      `yaml:"swapped" want:">=0 <=1" doc:"share of frames in which two of the markers seen have each other's label"`
	MaxError float64      `yaml:"most_error" unit:"m" want:">=0" doc:"a pose that leaves a larger root mean square distance of the markers is not reported; 0: every pose is"`
}

// OnSurface are five markers on a sphere, no two pairs of them equally far apart.
func OnSurface(radius float64) (at [][3]float64) {
	for _, d := range []r3.Vec{{X: 1, Y: 0.1, Z: 0.2}, {X: -0.3, Y: 1, Z: -0.2}, {X: -0.8, Y: -0.7, Z: 0.3}, {X: 0.2, Y: -0.4, Z: 1},
		{X: 0.4, Y: 0.2, Z: -1}} {
		u := r3.Scale(radius/r3.Norm(d), d)
		at = append(at, [3]float64{u.X, u.Y, u.Z})
	}
	return at
}

// Check tells what is wrong with the camera of a ball of this radius (m).
func (c *Camera) Check(radius float64) []engine.Problem {
	var errs []error
	body := make([]r3.Vec, len(c.Markers))
	for k, a := range c.Markers {
		body[k] = vec(a)
		if d := r3.Norm(body[k]); !(d <= 2*radius) {
			errs = append(errs, engine.Problemf(fmt.Sprintf("markers[%d]", k), "%.4g m from the centre of a ball of radius %.4g m, want at most "+
				"twice that: lengths are metres", d, radius))
		}
	}
	if n := len(body); n < 3 || n > MaxMarkers {
		errs = append(errs, engine.Problemf("markers", "%d, want 3 to %d", n, MaxMarkers))
	} else if _, err := rotation.Align(body, body, nil); err != nil && len(errs) == 0 {
		errs = append(errs, engine.Problemf("markers", "they lie on a line, so the turn about it is not seen"))
	}
	for _, s := range []struct {
		path  string
		v     float64
		limit float64
	}{{"noise", c.Noise, 1}, {"hidden", c.Hidden, 1}, {"lost", c.Dropout, 1}, {"swapped", c.Swapped, 1},
		{"most_error", c.MaxError, math.MaxFloat64}} {
		if !(s.v >= 0 && s.v <= s.limit) {
			errs = append(errs, engine.Problemf(s.path, "%g, want 0 to %g", s.v, s.limit))
		}
	}
	return engine.Problems(errors.Join(errs...))
}

// picture is what a camera makes of one frame.
type picture struct {
	R      quat.Number // body → plane; NaN: there is no pose
	P      r3.Vec      // m  geometric centre
	Error  float64     // m  root mean square of the fit
	NoPose bool        // there is no pose
}

// lens is a camera at work.
type lens struct {
	c        Camera
	rng      *rand.Rand
	body     []r3.Vec
	observed []r3.Vec // in the order of the labels; NaN: not seen
	weight   []float64
}

func newLens(c Camera, seed uint64) *lens {
	n := len(c.Markers)
	l := &lens{c: c, rng: rand.New(rand.NewPCG(seed, 0x62616c6c)), body: make([]r3.Vec, n), observed: make([]r3.Vec, n),
		weight: make([]float64, n)}
	for k := range l.body {
		l.body[k] = vec(c.Markers[k])
	}
	return l
}

// gone is a marker that is not seen.
var gone = r3.Vec{X: math.NaN(), Y: math.NaN(), Z: math.NaN()}

// none is a frame without a pose.
var none = picture{R: quat.NaN(), P: gone, Error: math.NaN(), NoPose: true}

// capture takes a frame of a ball whose centre is at p (m). The same random numbers are drawn whatever is seen.
func (l *lens) capture(r quat.Number, p r3.Vec, covered bool) picture {
	c := &l.c
	lost := l.rng.Float64() < c.Dropout || covered
	seen := 0
	for k, b := range l.body {
		noise := r3.Vec{X: l.rng.NormFloat64(), Y: l.rng.NormFloat64(), Z: l.rng.NormFloat64()}
		hidden := l.rng.Float64() < c.Hidden
		if l.observed[k], l.weight[k] = gone, 0; !hidden && !lost {
			l.observed[k], l.weight[k] = axpy(c.Noise, noise, r3.Add(p, rotation.Rotate(r, b))), 1
			seen++
		}
	}
	if swap, i, j := l.rng.Float64() < c.Swapped, l.rng.Uint64(), l.rng.Uint64(); swap && seen >= 2 {
		a := int(i % uint64(seen))
		b := (a + 1 + int(j%uint64(seen-1))) % seen
		at, of := l.nth(a), l.nth(b)
		l.observed[at], l.observed[of] = l.observed[of], l.observed[at]
	}
	f, err := rotation.Align(l.body, l.observed, l.weight)
	if err != nil || c.MaxError > 0 && f.Rms > c.MaxError {
		return none
	}
	return picture{R: f.R, P: f.P, Error: f.Rms}
}

// nth is the place of the nth marker that is seen.
func (l *lens) nth(n int) int {
	for k, w := range l.weight {
		if w == 0 {
			continue
		}
		if n == 0 {
			return k
		}
		n--
	}
	return -1
}
