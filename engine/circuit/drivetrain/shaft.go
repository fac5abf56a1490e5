package drivetrain

import (
	"errors"

	"hilrig/engine"
	"hilrig/engine/circuit"
)

// Shaft is a torsion spring with a damper between two coordinates, behind a gear with losses if it has one:
//
//	T = K·δ + C·δ′,   δ = q_A/Ratio − q_B.
//
// Source: theory of torsional systems, [DH56] 1.
type Shaft struct {
	stateless
	Label string
	Twist
	K    float64 // N·m/rad, on the side of B
	C    float64 // N·m·s/rad
	Mesh *Mesh   // losses of the gear on the side of A; nil: none
}

// Name is the label.
func (s *Shaft) Name() string { return s.Label }

func (s *Shaft) check(n int) error {
	return errors.Join(s.checkTwist(n), atLeast("K", s.K, "N·m/rad", false), atLeast("C", s.C, "N·m·s/rad", false), s.Mesh.check())
}

// Flow adds the torque.
func (s *Shaft) Flow(t float64, q, v, z, dz, tau []float64) (circuit.Power, engine.Status) {
	rate := s.of(v)
	torque := s.K*s.of(q) + s.C*rate
	p := circuit.Power{Loss: s.C * rate * rate, Output: s.exert(torque, v, tau)}
	if s.Mesh != nil && s.A >= 0 {
		drag, _, _ := s.Mesh.drag(torque/s.ratio(), v[s.A])
		tau[s.A] -= drag
		p.Output -= drag * v[s.A]
		p.Loss += s.Mesh.lossPower(torque/s.ratio(), v[s.A])
	}
	return p, engine.OK
}

// Trial adds the mean of the spring along the way and the damper at the mean speed.
func (s *Shaft) Trial(t, h float64, q, v, w, z, zn, tau, slope []float64) (circuit.Power, engine.Status) {
	rate := s.of(w)
	torque := s.K*(s.of(q)+h/2*rate) + s.C*rate
	k := s.K*h/2 + s.C
	p := circuit.Power{Loss: s.C * rate * rate, Output: s.exert(torque, w, tau)}
	n := len(w)
	s.steepen(k, n, slope)
	if s.Mesh != nil && s.A >= 0 {
		r := s.ratio()
		drag, dt, dw := s.Mesh.drag(torque/r, w[s.A])
		tau[s.A] -= drag
		slope[s.A*n+s.A] -= dw + dt*k/r/r
		if s.B >= 0 {
			slope[s.A*n+s.B] += dt * k / r
		}
		p.Output -= drag * w[s.A]
		p.Loss += s.Mesh.lossPower(torque/r, w[s.A])
	}
	return p, engine.OK
}

// StoredEnergy is that of the spring.
func (s *Shaft) StoredEnergy(q, z []float64) float64 {
	d := s.of(q)
	return s.K * d * d / 2
}
