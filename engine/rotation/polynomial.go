package rotation

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// What a local polynomial refuses.
var (
	ErrFewSamples = errors.New("rotation: too few samples at different times in the window for the order of the polynomial")
	ErrTurn       = errors.New("rotation: the body turns by half a turn or more within the window: shorten it")
)

const (
	maxOrder = 6
	halfTurn = 3.0   // rad  just below π, where the logarithm becomes ambiguous
	rankTol  = 1e-12 // part of a pivot that rounding leaves of columns that depend on each other
)

// Polynomial is a fit over the samples of a window, which may lie at uneven times and have gaps: the value and its derivatives are
// those of the polynomial of least squares about the time asked for. Samples that are no numbers are left out.
type Polynomial struct {
	HalfWindow float64 // s  half the length of the window; samples at its ends belong to it
	Order      int     // 1 … 6; 2 or more for accelerations
	Noise      float64 // rad or m  standard deviation of each coordinate of a sample; 0: from the residuals, axis by axis
}

// Motion is the rotation of a body at a time. The standard errors do not count what the polynomial cannot follow.
type Motion struct {
	R                                 quat.Number // body → world
	Omega                             r3.Vec      // rad/s   body axes
	Alpha                             r3.Vec      // rad/s²  dω/dt, body axes; the same vector in world axes is R·Alpha
	TurnError, OmegaError, AlphaError r3.Vec      // rad, rad/s, rad/s²  standard errors, body axes; AlphaError is +Inf for order 1
	Rms                               r3.Vec      // rad     of the residuals about each body axis
	Count                             int         // samples in the window
}

// Point is the motion of a point at a time.
type Point struct {
	P, V, A                r3.Vec // m, m/s, m/s²
	PError, VError, AError r3.Vec // standard errors; AError is +Inf for order 1
	Rms                    r3.Vec // m  of the residuals
	Count                  int    // samples in the window
}

// Validate says what is wrong with the window.
func (p Polynomial) Validate() error {
	var errs []error
	if !(p.HalfWindow > 0) || math.IsInf(p.HalfWindow, 0) {
		errs = append(errs, fmt.Errorf("half window: %g s, want > 0", p.HalfWindow))
	}
	if p.Order < 1 || p.Order > maxOrder {
		errs = append(errs, fmt.Errorf("order of the polynomial: %d, want 1 to %d", p.Order, maxOrder))
	}
	if !(p.Noise >= 0) || math.IsInf(p.Noise, 0) {
		errs = append(errs, fmt.Errorf("noise of a sample: %g, want ≥ 0", p.Noise))
	}
	return errors.Join(errs...)
}

// Turn fits the rotations q at times (s, rising) about t (s):
//
//	log(R̂ᵀ·R(t+τ)) = a1·τ + a2·τ² + …,   ω = a1,   dω/dt = 2·a2
//
// in body axes. The fit is repeated about its own R̂, until the constant term is zero: then the Jacobian of the logarithm and its
// derivative along the motion drop out of ω and dω/dt.
func (p Polynomial) Turn(t float64, times []float64, q []quat.Number) (Motion, error) {
	lo, hi := window(times, t, p.HalfWindow)
	base, nearest := Identity, math.Inf(1)
	for k := lo; k < hi; k++ {
		if d := math.Abs(times[k] - t); d < nearest && !quat.IsNaN(q[k]) {
			base, nearest = q[k], d
		}
	}
	f := newLocal(p.Order)
	for k := lo; k < hi; k++ {
		if !quat.IsNaN(q[k]) {
			f.time((times[k] - t) / p.HalfWindow)
		}
	}
	if !f.factor(p.Noise > 0) {
		return Motion{R: base, Count: f.count}, ErrFewSamples
	}
	for range 8 { // the constant term falls with the square of the angle within the window: 3 to 5
		f.reset()
		for k := lo; k < hi; k++ {
			if quat.IsNaN(q[k]) {
				continue
			}
			phi := Difference(base, q[k])
			if r3.Norm2(phi) > halfTurn*halfTurn {
				return Motion{R: base, Count: f.count}, ErrTurn
			}
			f.value((times[k]-t)/p.HalfWindow, phi)
		}
		f.solve()
		base, _ = Unit(quat.Mul(base, Exp(f.a[0])))
		if r3.Norm2(f.a[0]) < 1e-28 {
			break
		}
	}
	for k := lo; k < hi; k++ {
		if !quat.IsNaN(q[k]) {
			f.residual((times[k]-t)/p.HalfWindow, Difference(base, q[k]))
		}
	}
	m := Motion{R: base, Count: f.count}
	_, m.Omega, m.Alpha = f.derivatives(p.HalfWindow)
	m.TurnError, m.OmegaError, m.AlphaError, m.Rms = f.errors(p.HalfWindow, p.Noise)
	return m, nil
}

// Point fits the positions x (m) at times (s, rising) about t (s).
func (p Polynomial) Point(t float64, times []float64, x []r3.Vec) (Point, error) {
	lo, hi := window(times, t, p.HalfWindow)
	f := newLocal(p.Order)
	for k := lo; k < hi; k++ {
		if !isNaN(x[k]) {
			f.time((times[k] - t) / p.HalfWindow)
		}
	}
	if !f.factor(p.Noise > 0) {
		return Point{Count: f.count}, ErrFewSamples
	}
	for k := lo; k < hi; k++ {
		if !isNaN(x[k]) {
			f.value((times[k]-t)/p.HalfWindow, x[k])
		}
	}
	f.solve()
	for k := lo; k < hi; k++ {
		if !isNaN(x[k]) {
			f.residual((times[k]-t)/p.HalfWindow, x[k])
		}
	}
	r := Point{Count: f.count}
	r.P, r.V, r.A = f.derivatives(p.HalfWindow)
	r.PError, r.VError, r.AError, r.Rms = f.errors(p.HalfWindow, p.Noise)
	return r, nil
}

func isNaN(v r3.Vec) bool { return v.X != v.X || v.Y != v.Y || v.Z != v.Z }

// window is the range of the times within half of t; one part in 1e9 more, so that samples at its ends do not depend on rounding.
func window(times []float64, t, half float64) (lo, hi int) {
	reach := half * (1 + 1e-9)
	lo = sort.SearchFloat64s(times, t-reach)
	for hi = lo; hi < len(times) && times[hi] <= t+reach; hi++ {
	}
	return lo, hi
}

// local is the least-squares polynomial of vectors over scaled times τ in −1 … 1, whose normal equations are well conditioned for
// the orders allowed.
type local struct {
	n     int // coefficients
	count int
	sums  [2*maxOrder + 1]float64             // Σ τ^k
	g     [maxOrder + 1][maxOrder + 1]float64 // L of the matrix Σ τ^(i+j) = L·Lᵀ
	a     [maxOrder + 1]r3.Vec                // right-hand side, then coefficients
	sum   r3.Vec                              // of squared residuals
}

func newLocal(order int) local { return local{n: min(max(order, 0), maxOrder) + 1} }

// time counts a sample in.
func (f *local) time(tau float64) {
	f.count++
	p := 1.0
	for k := range 2*f.n - 1 {
		f.sums[k] += p
		p *= tau
	}
}

// factor makes L; known tells that the noise need not come from the residuals.
func (f *local) factor(known bool) bool {
	if need := f.n + 1; f.count < need && !(known && f.count == f.n) {
		return false
	}
	for i := range f.n {
		for j := 0; j <= i; j++ {
			s := f.sums[i+j]
			for k := range j {
				s -= f.g[i][k] * f.g[j][k]
			}
			if i > j {
				f.g[i][j] = s / f.g[j][j]
				continue
			}
			if !(s > rankTol*f.sums[2*i]) {
				return false
			}
			f.g[i][i] = math.Sqrt(s)
		}
	}
	return true
}

func (f *local) reset() { f.a, f.sum = [maxOrder + 1]r3.Vec{}, r3.Vec{} }

func (f *local) value(tau float64, y r3.Vec) {
	p := 1.0
	for i := range f.n {
		f.a[i] = r3.Add(f.a[i], r3.Scale(p, y))
		p *= tau
	}
}

func (f *local) solve() {
	for i := range f.n {
		for k := range i {
			f.a[i] = r3.Sub(f.a[i], r3.Scale(f.g[i][k], f.a[k]))
		}
		f.a[i] = r3.Scale(1/f.g[i][i], f.a[i])
	}
	for i := f.n - 1; i >= 0; i-- {
		for k := i + 1; k < f.n; k++ {
			f.a[i] = r3.Sub(f.a[i], r3.Scale(f.g[k][i], f.a[k]))
		}
		f.a[i] = r3.Scale(1/f.g[i][i], f.a[i])
	}
}

// residual adds the squares of y − Σ a·τ^i to the sum.
func (f *local) residual(tau float64, y r3.Vec) {
	v := f.a[f.n-1]
	for i := f.n - 2; i >= 0; i-- {
		v = r3.Add(r3.Scale(tau, v), f.a[i])
	}
	d := r3.Sub(y, v)
	f.sum = r3.Add(f.sum, r3.Vec{X: d.X * d.X, Y: d.Y * d.Y, Z: d.Z * d.Z})
}

func (f *local) derivatives(half float64) (x, v, a r3.Vec) {
	x, v = f.a[0], r3.Scale(1/half, f.a[1])
	if f.n > 2 {
		a = r3.Scale(2/(half*half), f.a[2])
	}
	return x, v, a
}

// errors are the standard errors of value, first and second derivative, and the root mean square of the residuals.
func (f *local) errors(half, noise float64) (x, v, a, rms r3.Vec) {
	n := float64(f.count)
	rms = r3.Vec{X: math.Sqrt(f.sum.X / n), Y: math.Sqrt(f.sum.Y / n), Z: math.Sqrt(f.sum.Z / n)}
	sigma := r3.Scale(math.Sqrt(n/float64(f.count-f.n)), rms)
	if noise > 0 {
		sigma = r3.Vec{X: noise, Y: noise, Z: noise}
	}
	x = r3.Scale(f.spread(0), sigma)
	v = r3.Scale(f.spread(1)/half, sigma)
	if f.n > 2 {
		return x, v, r3.Scale(2*f.spread(2)/(half*half), sigma), rms
	}
	return x, v, r3.Vec{X: math.Inf(1), Y: math.Inf(1), Z: math.Inf(1)}, rms
}

// spread is the root of element i of the diagonal of the inverse matrix: the length of column i of L⁻¹.
func (f *local) spread(i int) float64 {
	var c [maxOrder + 1]float64
	c[i] = 1
	sum := 0.0
	for r := i; r < f.n; r++ {
		for k := i; k < r; k++ {
			c[r] -= f.g[r][k] * c[k]
		}
		c[r] /= f.g[r][r]
		sum += c[r] * c[r]
	}
	return math.Sqrt(sum)
}
