package estimator

import (
	"math"

	"hilrig/engine/plant"
)

// fractions is the number of halvings of a period for which transitions are kept. What is left of an interval is at most
// 1/512 of a period, 2 µs at 1 kHz: the acceleration stays as it is meanwhile.
const fractions = 8

// transition is the motor model over a fixed time with the voltage held: x⁺ = Φ·x + Γ·(u − drop).
type transition struct {
	dt  float64 // s
	phi matrix
	gam vector // per V
	q   matrix // covariance that the walk of the torque builds up
}

// electrical is the model of a motor under a voltage, x = [θ ω i T], discretised exactly for a voltage held over the interval:
//
//	θ' = ω,  ω' = (K·i − T)/J,  i' = (u − drop(i) − R·i − K·ω)/L,  T' = noise
//
// The brush drop is a known nonlinear input. Taken from the old current it would oscillate (its slope near zero current is
// ten times R), so it belongs to the current at the end of the step, found from a scalar equation that always has exactly
// one root; the covariance takes the slope there.
//
// Noise: T is a random walk; the voltage has an error that is constant within a period.
type electrical struct {
	motor       plant.Motor
	stallTorque float64                   // N·m  torque of the motor at rest under the top voltage
	dt          float64                   // s    of a whole step
	steps       [1 + fractions]transition // dt, dt/2, dt/4 …
}

// set discretises the model, in place: a running filter changes its motor without garbage.
func (m *electrical) set(s *KalmanSpec) {
	m.motor, m.dt, m.stallTorque = s.Motor, s.Dt, s.Motor.K*s.TopVoltage/s.Motor.R
	for j := range m.steps {
		m.steps[j].set(s, math.Ldexp(s.Dt, -j))
	}
}

func (m *electrical) extrapolate(x *vector, dt, u float64) { m.predict(x, nil, dt, u, 0, 0) }

// acceleration by the full torque of the motor and all of the load.
func (m *electrical) acceleration(x *vector) float64 {
	return (m.stallTorque + math.Abs(x[XTorque])) / m.motor.J
}

// predict carries a state, and its covariance if there is one, over dt (s) in whole periods and halves, quarters … of one. What is left,
// at most half of the shortest piece, either sign, moves angle and speed: a command of a fast loop takes few pieces of the period of a slow
// device, and what each left of the speed made 1.5 % at 50 Hz. The pieces are chosen by branches, which the processor foresees: an index
// would keep the state waiting for the division.
func (m *electrical) predict(x *vector, p *matrix, dt, u, _, white float64) {
	const whole = 1 << fractions
	pieces := int(math.Round(dt / m.dt * whole))
	for range pieces / whole {
		m.steps[0].step(&m.motor, x, p, u, white)
	}
	for j, left := 1, pieces%whole; left > 0; j++ {
		if piece := whole >> j; left >= piece {
			m.steps[j].step(&m.motor, x, p, u, white)
			left -= piece
		}
	}
	rest := dt - float64(pieces)*m.dt/whole
	speed := rest * (m.motor.K*x[XCur] - x[XTorque]) / m.motor.J
	x[XPos] += rest * (x[XVel] + speed/2)
	x[XVel] += speed
}

// set makes the transition of the model over dt, by the exponential of the augmented matrix [A B; 0 0].
func (t *transition) set(s *KalmanSpec, dt float64) {
	m := &s.Motor
	var a, e square
	a[XPos][XVel] = 1
	a[XVel][XCur], a[XVel][XTorque] = m.K/m.J, -1/m.J
	a[XCur][XVel], a[XCur][XCur] = -m.K/m.L, -m.R/m.L
	a[XCur][nX] = 1 / m.L
	e.exp(&a, dt)
	q := walkNoise(&a, s.TorqueWalk, dt)
	t.dt = dt
	for i := range nX {
		for j := range nX {
			t.phi[i][j], t.q[i][j] = e[i][j], q[i][j]
		}
		t.gam[i] = e[i][nX]
	}
}

// walkNoise is the covariance that the random walk of the torque builds up over dt, ∫ e^{As}·W·e^{Aᵀs} ds. A short piece by
// three-point Gauss–Legendre, then doubled: Q(2h) = Q(h) + Φ(h)·Q(h)·Φ(h)ᵀ. Van Loan's block exponential [VL78] would
// overflow for a winding much faster than the tick. The input, the last row and column of a, is left out.
func walkNoise(augmented *square, walk, dt float64) (q square) {
	a := *augmented
	for i := range a {
		a[i][nX] = 0
	}
	var w, part, e square
	w[XTorque][XTorque] = walk * walk
	pieces := 0
	h := dt
	for norm := a.norm(); norm*h > 0.1 && pieces < 60; pieces++ {
		h /= 2
	}
	root := math.Sqrt(0.6)
	for _, g := range [3][2]float64{{0.5 * (1 - root), 5.0 / 18}, {0.5, 8.0 / 18}, {0.5 * (1 + root), 5.0 / 18}} {
		e.exp(&a, g[0]*h)
		part.congruent(&e, &w)
		q.add(&part, g[1]*h)
	}
	for range pieces {
		e.exp(&a, h)
		part.congruent(&e, &q)
		q.add(&part, 1)
		h *= 2
	}
	return q
}

// step carries a state, and its covariance if there is one, over the transition under the voltage u (V).
func (t *transition) step(m *plant.Motor, x *vector, p *matrix, u, white float64) {
	slope := 0.0 // Ω  of the brush drop
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	for i := range x {
		f := &t.phi[i]
		x[i] = t.gam[i]*u + f[0]*x0 + f[1]*x1 + f[2]*x2 + f[3]*x3
	}
	// brush drop at the end of the step: i = c − Γi·drop(i)
	if m.BrushDrop > 0 {
		d := brushDrop(x[XCur], t.gam[XCur], m.BrushDrop, m.DropScale)
		for i := range x {
			x[i] -= t.gam[i] * d
		}
		slope = (m.BrushDrop - d*d/m.BrushDrop) / m.DropScale
	}
	if p != nil {
		t.spread(p, slope, white)
	}
}

// spread makes M·(Φ·P·Φᵀ + Q)·Mᵀ of P, with Q from the walk of the torque and from a voltage of the white strength (V²·s). M belongs to
// a brush drop of this slope (Ω) at the end of the step, dx⁺ = Φ·dx − Γ·slope·di⁺: M = I − Γ·slope/(1 + slope·Γi)·eiᵀ.
func (t *transition) spread(p *matrix, slope, white float64) {
	var a matrix
	for i := range a {
		f := &t.phi[i]
		for j := range a {
			a[i][j] = f[0]*p[0][j] + f[1]*p[1][j] + f[2]*p[2][j] + f[3]*p[3][j]
		}
	}
	white /= t.dt
	for i := range a {
		for j := range i + 1 {
			f := &t.phi[j]
			s := t.q[i][j] + white*t.gam[i]*t.gam[j] + a[i][0]*f[0] + a[i][1]*f[1] + a[i][2]*f[2] + a[i][3]*f[3]
			p[i][j], p[j][i] = s, s
		}
	}
	if slope == 0 {
		return
	}
	f, c := slope/(1+slope*t.gam[XCur]), p[XCur]
	for i := range p {
		gi := f * t.gam[i]
		for j := range i + 1 {
			gj := f * t.gam[j]
			v := p[i][j] - gi*c[j] - c[i]*gj + gi*c[XCur]*gj
			p[i][j], p[j][i] = v, v
		}
	}
}

// brushDrop solves i + g·drop·tanh(i/i0) = c for i (A) and returns drop·tanh(i/i0) (V). For c > 0 the left-hand side rises and is concave:
// Newton's method, in units of i0, climbs to the root from below without overshoot. The tangent of a small step needs no exponential: it is
// that of a sum. What a step d leaves is at most that share of the slope, times d².
func brushDrop(c, g, drop, i0 float64) float64 {
	slope, b := g*drop/i0, math.Abs(c)/i0
	y := max(b-slope, b/(1+slope))
	th := math.Tanh(y)
	for range 40 { // half a unit each where the brushes take nearly all; a few elsewhere
		rise := slope * (1 - th*th)
		d := (b - y - slope*th) / (1 + rise)
		if y += d; d > 1e-3 {
			th = math.Tanh(y)
			continue
		}
		d -= d * d * d / 3
		if th = (th + d) / (1 + th*d); !(rise*d*d >= 1e-13) {
			break
		}
	}
	return math.Copysign(drop*th, c)
}
