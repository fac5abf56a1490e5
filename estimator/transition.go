package estimator

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// transition is the motor model over a fixed time with the voltage held: x⁺ = Φ·x + Γ·(u − drop), noise covariance Q.
// All matrices are n×n row-major.
type transition struct {
	dt  float64 // s
	phi [nMax * nMax]float64
	gam [nMax]float64 // per V
	q   [nMax * nMax]float64
}

// discretise gives the transition of the model over dt, by the exponential of the augmented matrix [A B; 0 0].
func discretise(s *KalmanSpec, n int, dt float64) transition {
	t := transition{dt: dt}
	a, b := continuous(s, n)
	aug := mat.NewDense(n+1, n+1, nil)
	for i := range n {
		for j := range n {
			aug.Set(i, j, a.At(i, j)*dt)
		}
		aug.Set(i, n, b[i]*dt)
	}
	var e mat.Dense
	e.Exp(aug)
	for i := range n {
		for j := range n {
			t.phi[i*n+j] = e.At(i, j)
		}
		t.gam[i] = e.At(i, n)
	}
	q := walkNoise(s, n, a, dt)
	for i := range n {
		for j := range n {
			t.q[i*n+j] = q.At(i, j) + s.VoltageNoise*s.VoltageNoise*t.gam[i]*t.gam[j]
		}
	}
	return t
}

// continuous is the model x' = A·x + B·(u − drop).
func continuous(s *KalmanSpec, n int) (*mat.Dense, []float64) {
	m := &s.Motor
	a, b := mat.NewDense(n, n, nil), make([]float64, n)
	a.Set(XPos, XVel, 1)
	a.Set(XVel, XCur, m.K/m.J)
	a.Set(XVel, XTorque, -1/m.J)
	a.Set(XCur, XVel, -m.K/m.L)
	a.Set(XCur, XCur, -m.R/m.L)
	b[XCur] = 1 / m.L
	return a, b
}

// walkNoise is the covariance that the random walks of torque and offset build up over dt, ∫ e^{As}·W·e^{Aᵀs} ds. A short
// piece by three-point Gauss–Legendre, then doubled: Q(2h) = Q(h) + Φ(h)·Q(h)·Φ(h)ᵀ. Van Loan's block exponential [VL78]
// would overflow for a winding much faster than the tick.
func walkNoise(s *KalmanSpec, n int, a *mat.Dense, dt float64) *mat.Dense {
	w := mat.NewDense(n, n, nil)
	w.Set(XTorque, XTorque, s.TorqueWalk*s.TorqueWalk)
	if n > XBias {
		w.Set(XBias, XBias, s.BiasWalk*s.BiasWalk)
	}
	expm := func(h float64) *mat.Dense {
		var ah, e mat.Dense
		ah.Scale(h, a)
		e.Exp(&ah)
		return &e
	}
	congruent := func(f, m *mat.Dense) *mat.Dense {
		var r mat.Dense
		r.Product(f, m, f.T())
		return &r
	}
	pieces := 0
	h := dt
	for mat.Norm(a, 1)*h > 0.1 && pieces < 60 {
		h, pieces = h/2, pieces+1
	}
	q := mat.NewDense(n, n, nil)
	root := math.Sqrt(0.6)
	for _, g := range [3][2]float64{{0.5 * (1 - root), 5.0 / 18}, {0.5, 8.0 / 18}, {0.5 * (1 + root), 5.0 / 18}} {
		part := congruent(expm(g[0]*h), w)
		part.Scale(g[1]*h, part)
		q.Add(q, part)
	}
	for range pieces {
		q.Add(q, congruent(expm(h), q))
		h *= 2
	}
	return q
}

// step carries a state over the transition under the voltage u (V).
func (t *transition) step(k *Kalman, x *[nMax]float64, u float64) {
	if t.dt == 0 {
		return
	}
	n := k.n
	var y [nMax]float64
	for i := range n {
		s := t.gam[i] * u
		for j, f := range t.phi[i*n : i*n+n] {
			s += f * x[j]
		}
		y[i] = s
	}
	// brush drop at the end of the step: i = c − Γi·drop(i)
	if m := &k.s.Motor; m.BrushDrop > 0 {
		d := brushDrop(y[XCur], t.gam[XCur], m.BrushDrop, m.DropScale)
		for i := range n {
			y[i] -= t.gam[i] * d
		}
	}
	*x = y
}

// brushDrop solves i + g·drop·tanh(i/i0) = c for i (A) and returns drop·tanh(i/i0) (V). For c > 0 the left-hand side rises
// and is concave: Newton's method from below climbs to the root without overshoot.
func brushDrop(c, g, drop, i0 float64) float64 {
	b := math.Abs(c)
	slope := g * drop / i0
	x := max(b-g*drop, b/(1+slope))
	th := 0.0
	for range 12 {
		th = math.Tanh(x / i0)
		step := (b - x - g*drop*th) / (1 + slope*(1-th*th))
		x += step
		if !(step > 1e-9*i0) {
			break
		}
	}
	return math.Copysign(drop*math.Tanh(x/i0), c)
}
