package pose

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// MotionSpec describes a Motion.
type MotionSpec struct {
	Jerk    float64 // rad/s³/√Hz  white noise of the derivative of α
	Thrust  float64 // m/s³/√Hz    … and of that of a
	Speed   float64 // rad/s       standard deviation of ω before the first frame
	Alpha   float64 // rad/s²      … of α
	Linear  float64 // m/s         … of v
	Accel   float64 // m/s²        … of a
	Gate    float64 // standard deviations beyond which a pose is refused; 0: none is
	MaxRest float64 // s           a longer gap is a new beginning; 0: none is
}

// Validate tells what is wrong with the description.
func (s *MotionSpec) Validate() error {
	var errs []error
	for _, c := range []struct {
		name, unit string
		v          float64
		zero       bool
	}{
		{"angular jerk noise", "rad/s³/√Hz", s.Jerk, false}, {"jerk noise", "m/s³/√Hz", s.Thrust, false},
		{"prior of the angular velocity", "rad/s", s.Speed, false}, {"prior of the angular acceleration", "rad/s²", s.Alpha, false},
		{"prior of the velocity", "m/s", s.Linear, false}, {"prior of the acceleration", "m/s²", s.Accel, false},
		{"gate", "σ", s.Gate, true}, {"longest gap", "s", s.MaxRest, true},
	} {
		if !(c.v > 0 || c.zero && c.v == 0) || math.IsInf(c.v, 0) {
			errs = append(errs, fmt.Errorf("motion filter: %s: %g %s, want > 0", c.name, c.v, c.unit))
		}
	}
	return errors.Join(errs...)
}

// Sample is a measured pose.
type Sample struct {
	T     float64         // s
	R     quat.Number     // body → world
	P     r3.Vec          // m   of the origin of the body, world axes
	Turn  rotation.Matrix // rad²  covariance of R, body axes
	Place rotation.Matrix // m²    covariance of P, world axes; not correlated with R
}

// State is a motion at a time with its covariances.
type State struct {
	T            float64
	R            quat.Number
	Omega, Alpha r3.Vec // rad/s, rad/s²  body axes
	P, V, A      r3.Vec // m, m/s, m/s²   world axes

	turn  square // of (δ, ω, α), 9×9
	place square // of (p, v, a), 9×9
}

// Errors are the standard errors of a state, axis by axis.
func (s *State) Errors() (turn, omega, alpha, p, v, a r3.Vec) {
	d := func(m *square, i int) r3.Vec {
		return r3.Vec{X: math.Sqrt(m[i][i]), Y: math.Sqrt(m[i+1][i+1]), Z: math.Sqrt(m[i+2][i+2])}
	}
	return d(&s.turn, 0), d(&s.turn, 3), d(&s.turn, 6), d(&s.place, 0), d(&s.place, 3), d(&s.place, 6)
}

// Motion is the Kalman filter of a free motion. Its zero value is not of use; make one with NewMotion.
type Motion struct {
	spec    MotionSpec
	x       State
	begun   bool
	nis     float64 // of the last pose, 6 degrees of freedom
	refused int
}

const nMotion = 9

// NewMotion checks the description.
func NewMotion(s MotionSpec) (*Motion, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &Motion{spec: s}, nil
}

// Reset forgets everything.
func (m *Motion) Reset() { m.begun, m.refused, m.nis = false, 0, 0 }

// State is the estimate at the time of the last step.
func (m *Motion) State() State { return m.x }

// NIS is the normalised innovation squared of the last pose: χ² of 6 degrees of freedom where all noise levels are right.
func (m *Motion) NIS() float64 { return m.nis }

// Refused counts the poses beyond the gate.
func (m *Motion) Refused() int { return m.refused }

// Step predicts to the time of z and corrects; it says whether the pose was used.
func (m *Motion) Step(z *Sample) bool {
	if !m.begun || m.spec.MaxRest > 0 && z.T-m.x.T > m.spec.MaxRest {
		m.begin(z)
		return true
	}
	m.Predict(z.T)
	return m.Correct(z)
}

func (m *Motion) begin(z *Sample) {
	m.begun = true
	m.x = State{T: z.T, R: z.R, P: z.P}
	for i := range 3 {
		for j := range 3 {
			m.x.turn[i][j], m.x.place[i][j] = z.Turn[i][j], z.Place[i][j]
		}
		m.x.turn[3+i][3+i], m.x.turn[6+i][6+i] = m.spec.Speed*m.spec.Speed, m.spec.Alpha*m.spec.Alpha
		m.x.place[3+i][3+i], m.x.place[6+i][6+i] = m.spec.Linear*m.spec.Linear, m.spec.Accel*m.spec.Accel
	}
	m.nis = 0
}

// Predict carries the state to a time (s).
func (m *Motion) Predict(t float64) {
	var phi square
	h := t - m.x.T
	turn := m.x.transition(h, &phi)
	propagate(&m.x.turn, &phi, nMotion-3, nMotion)
	jerk(&m.x.turn, h, m.spec.Jerk*m.spec.Jerk)
	phi = square{}
	kinematic(&phi, h)
	propagate(&m.x.place, &phi, nMotion-3, nMotion)
	jerk(&m.x.place, h, m.spec.Thrust*m.spec.Thrust)
	m.x.carry(h, turn)
}

// transition writes the matrix of (δ, ω, α) over h (s) and returns the turn of the body in that time: Magnus' series to third order in h.
func (x *State) transition(h float64, phi *square) (turn r3.Vec) {
	// ω = ω0 + α·h:  turn = ω0·h + α·h²/2 + (ω0×α)·h³/12 for dR/dt = R·[ω]×
	turn = r3.Add(r3.Add(r3.Scale(h, x.Omega), r3.Scale(h*h/2, x.Alpha)), r3.Scale(h*h*h/12, r3.Cross(x.Omega, x.Alpha)))
	kinematic(phi, h)
	// δ' = exp(−turn)·δ + Jr(turn)·(δω·h + δα·h²/2 + …)
	back := rotation.MatrixOf(rotation.Exp(r3.Scale(-1, turn)))
	jr := rotation.RightJacobian(turn)
	byOmega := jr.Mul(rotation.Eye.Scale(h).Add(-h*h*h/12, rotation.Skew(x.Alpha)))
	byAlpha := jr.Mul(rotation.Eye.Scale(h*h/2).Add(h*h*h/12, rotation.Skew(x.Omega)))
	for i := range 3 {
		for j := range 3 {
			phi[i][j], phi[i][3+j], phi[i][6+j] = back[i][j], byOmega[i][j], byAlpha[i][j]
		}
	}
	return turn
}

// carry moves the means over h (s).
func (x *State) carry(h float64, turn r3.Vec) {
	x.R, _ = rotation.Unit(quat.Mul(x.R, rotation.Exp(turn)))
	x.Omega = r3.Add(x.Omega, r3.Scale(h, x.Alpha))
	x.P = r3.Add(x.P, r3.Add(r3.Scale(h, x.V), r3.Scale(h*h/2, x.A)))
	x.V = r3.Add(x.V, r3.Scale(h, x.A))
	x.T += h
}

// kinematic is the matrix of three coordinates with two derivatives.
func kinematic(phi *square, h float64) {
	for i := range 3 {
		phi[i][i], phi[3+i][3+i], phi[6+i][6+i] = 1, 1, 1
		phi[i][3+i], phi[3+i][6+i], phi[i][6+i] = h, h, h*h/2
	}
}

// jerk adds the covariance that white noise of strength q gives in h (s).
func jerk(p *square, h, q float64) {
	h2 := h * h
	c := [3][3]float64{
		{q * h2 * h2 * h / 20, q * h2 * h2 / 8, q * h2 * h / 6},
		{q * h2 * h2 / 8, q * h2 * h / 3, q * h2 / 2},
		{q * h2 * h / 6, q * h2 / 2, q * h},
	}
	for i := range 3 {
		for a := range 3 {
			for b := range 3 {
				p[3*a+i][3*b+i] += c[a][b]
			}
		}
	}
}

// Correct takes a pose at the time of the state. One beyond the gate, or whose covariance is not positive definite, is counted and not
// used.
func (m *Motion) Correct(z *Sample) bool {
	turn, place := m.x.turn, m.x.place
	var dt, dp [most]float64
	angle := rotation.Between(m.x.R, z.R)
	off := r3.Sub(z.P, m.x.P)
	nis := correct3(&turn, &dt, [3]float64{angle.X, angle.Y, angle.Z}, &z.Turn)
	nis += correct3(&place, &dp, [3]float64{off.X, off.Y, off.Z}, &z.Place)
	m.nis = nis
	if g := m.spec.Gate; math.IsInf(nis, 1) || g > 0 && nis > 6*g*g {
		m.refused++
		return false
	}
	m.x.turn, m.x.place = turn, place
	m.x.add(&dt, &dp) // the covariance stays about the old R: a term of second order in δ
	return true
}

// correct3 takes a measurement of the first three states with a full covariance.
func correct3(p *square, dx *[most]float64, z [3]float64, r *rotation.Matrix) (nis float64) {
	w, ok := whitened(r)
	if !ok {
		return math.Inf(1)
	}
	for i := range 3 {
		var h measured
		y := 0.0
		for k := range i + 1 {
			h.add(k, w[i][k])
			y += w[i][k] * z[k]
		}
		e := correct(p, dx, &h, nMotion, y, 1)
		nis += e * e
	}
	p.mirror(nMotion)
	return nis
}

// add puts corrections on the means.
func (x *State) add(dt, dp *[most]float64) {
	at := func(d *[most]float64, i int) r3.Vec { return r3.Vec{X: d[i], Y: d[i+1], Z: d[i+2]} }
	x.R, _ = rotation.Unit(quat.Mul(x.R, rotation.Exp(at(dt, 0))))
	x.Omega, x.Alpha = r3.Add(x.Omega, at(dt, 3)), r3.Add(x.Alpha, at(dt, 6))
	x.P, x.V, x.A = r3.Add(x.P, at(dp, 0)), r3.Add(x.V, at(dp, 3)), r3.Add(x.A, at(dp, 6))
}
