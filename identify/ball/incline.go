package ball

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"hilrig/identify/fit"
)

// Polynomial is a fit y = c0 + c1·t + c2·t²/2 … to samples at any times, by least squares. The standard errors hold for residuals that
// depend on their neighbours [NW87].
type Polynomial struct {
	C, StdErr []float64 // per s, s² … at t = 0
	RMS       float64   // of the residual
	From, To  float64   // s, the times
	Lags      int       // samples over which the residuals depend on each other
}

// Accelerated fits the motion with constant acceleration to distances x (m): C = x0 (m), v0 (m/s), a (m/s²).
func Accelerated(t, x []float64) (Polynomial, error) { return fitPolynomial(t, x, 2) }

// SpinDown fits a speed (rad/s) that falls evenly, as under friction that does not depend on speed: C = ω0 (rad/s), dω/dt (rad/s²).
func SpinDown(t, omega []float64) (Polynomial, error) { return fitPolynomial(t, omega, 1) }

// fitPolynomial fits by Householder's QR with time counted from the middle in half lengths of the record.
func fitPolynomial(t, y []float64, degree int) (Polynomial, error) {
	n, p := len(t), degree+1
	if len(y) != n {
		panic("ball: times and samples differ in number")
	}
	if n < 4*p {
		return Polynomial{}, fmt.Errorf("%d samples for %d unknowns, want at least %d", n, p, 4*p)
	}
	for k := range t {
		if t[k]-t[k] != 0 || y[k]-y[k] != 0 || k > 0 && !(t[k] > t[k-1]) {
			return Polynomial{}, fmt.Errorf("sample %d: time %g s, value %g; want numbers, and times that rise", k+1, t[k], y[k])
		}
	}
	out := Polynomial{From: t[0], To: t[n-1], C: make([]float64, p), StdErr: make([]float64, p)}
	middle, half := (t[0]+t[n-1])/2, (t[n-1]-t[0])/2
	design := mat.NewDense(n, p, nil)
	for k := range t {
		for j, x := 0, 1.0; j < p; j, x = j+1, x*(t[k]-middle)/half {
			design.Set(k, j, x)
		}
	}
	var qr mat.QR
	qr.Factorize(design)
	var c mat.VecDense
	if err := qr.SolveVecTo(&c, false, mat.NewVecDense(n, y)); err != nil {
		return out, fmt.Errorf("the times do not tell %d unknowns: %w", p, err)
	}
	scores, sum := make([][]float64, p), 0.0
	for j := range scores {
		scores[j] = make([]float64, n)
	}
	for k := range t {
		r := y[k]
		for j := range p {
			r -= design.At(k, j) * c.AtVec(j)
		}
		sum += r * r
		for j := range p {
			scores[j][k] = design.At(k, j) * r
		}
	}
	out.RMS = math.Sqrt(sum / float64(n-p))

	// covariance (XᵀX)⁻¹·S·(XᵀX)⁻¹, then the polynomial about t = 0: C = T·c with t − middle expanded
	s, lags := fit.LongRun(scores, nil)
	out.Lags = lags
	var gram, inverse, cov mat.Dense
	gram.Mul(design.T(), design)
	if err := inverse.Inverse(&gram); err != nil {
		return out, err
	}
	cov.Product(&inverse, mat.NewDense(p, p, s), &inverse)
	shift := mat.NewDense(p, p, nil)
	for j := range p {
		for i := 0; i <= j; i++ { // ((t − m)/h)^j = Σ binomial·t^i·(−m)^(j−i)/h^j, and C_i = i!·coefficient
			shift.Set(i, j, math.Gamma(float64(j+1))/math.Gamma(float64(j-i+1))*math.Pow(-middle, float64(j-i))/math.Pow(half, float64(j)))
		}
	}
	var moved mat.Dense
	moved.Product(shift, &cov, shift.T())
	freedom := float64(n) / float64(n-p)
	for i := range p {
		for j := range p {
			out.C[i] += shift.At(i, j) * c.AtVec(j)
		}
		out.StdErr[i] = math.Sqrt(freedom * moved.At(i, i))
	}
	return out, nil
}

// Incline is a plane down which a ball rolls, and the ball.
type Incline struct {
	Angle    float64 // rad, of the plane against the horizontal
	AngleErr float64 // rad, its standard error; 0: not known
	Gravity  float64 // m/s²
	Inertia  float64 // moment of inertia over m·R²: 2/5 of a homogeneous ball
}

// Rolling is a coefficient of rolling friction: the moment against rolling over normal force and radius.
type Rolling struct {
	Coefficient, StdErr float64
	Free                float64 // rad, angle at which the ball would have this acceleration without friction
}

// ErrAngle says that the angle of a plane does not tell a coefficient.
var ErrAngle = errors.New("no coefficient of rolling friction")

// Rolling finds the coefficient of rolling friction μ from the acceleration a (m/s²) of a ball that rolls down without slipping. With the
// moment μ·N·R against rolling, the force of the plane along it eliminated from m·a = m·g·sin θ − F and k·m·R²·a/R = F·R − μ·N·R:
//
//	(1 + k)·a = g·(sin θ − μ·cos θ)
//
// A ball that slides as a point has k = 0, which is not its motion. The coefficient is a small difference of two large numbers: an error of
// the angle goes into it in full. Where the angle does not support it the error is an ErrAngle with the reason, and the numbers are given
// all the same.
func (p Incline) Rolling(a, aErr float64) (Rolling, error) {
	if !(p.Gravity > 0) || !(p.Inertia >= 0) || !(math.Abs(p.Angle) < math.Pi/2) || !(p.AngleErr >= 0) || !(aErr >= 0) {
		return Rolling{}, fmt.Errorf("an incline of %g ± %g rad with gravity %g m/s² and inertia %g m·R²", p.Angle, p.AngleErr, p.Gravity, p.Inertia)
	}
	pull := (1 + p.Inertia) / p.Gravity
	tan, cos := math.Tan(p.Angle), math.Cos(p.Angle)
	r := Rolling{Coefficient: tan - pull*a/cos, Free: math.Asin(math.Max(-1, math.Min(1, pull*a)))}
	r.StdErr = math.Hypot(pull*aErr/cos, p.AngleErr*(1-pull*a*math.Sin(p.Angle))/(cos*cos))
	const degree = math.Pi / 180
	switch {
	case r.Coefficient < -2*r.StdErr:
		return r, fmt.Errorf("%w: at %.3g° it would be %.2g, and drive the ball. Without friction a ball that rolls has this acceleration, %.4g m/s², at %.3g° already: the angle is larger than stated, or the ball does not roll",
			ErrAngle, p.Angle/degree, r.Coefficient, a, r.Free/degree)
	case p.AngleErr == 0:
		return r, fmt.Errorf("%w: at %.3g° it would be %.2g, but the error of the angle is not known, and 0.1° of it are %.2g. Measure the angle with its error; the acceleration, %.4g m/s², is sound",
			ErrAngle, p.Angle/degree, r.Coefficient, 0.1*degree, a)
	case r.Coefficient < 2*r.StdErr:
		return r, fmt.Errorf("%w: %.2g ± %.2g at %.3g° is not told from none. The angle has to be known better than to %.2g°",
			ErrAngle, r.Coefficient, r.StdErr, p.Angle/degree, math.Abs(r.Coefficient)/2/degree)
	}
	return r, nil
}
