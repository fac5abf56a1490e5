package drivetrain

import (
	"errors"
	"fmt"
	"math"

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
	p := circuit.Power{Loss: s.C * rate * rate, Out: s.exert(torque, v, tau)}
	if s.Mesh != nil && s.A >= 0 {
		drag, _, _ := s.Mesh.drag(torque/s.ratio(), v[s.A])
		tau[s.A] -= drag
		p.Out -= drag * v[s.A]
		p.Loss += s.Mesh.lost(torque/s.ratio(), v[s.A])
	}
	return p, engine.OK
}

// Trial adds the mean of the spring along the way and the damper at the mean speed.
func (s *Shaft) Trial(t, h float64, q, v, w, z, zn, tau, slope []float64) (circuit.Power, engine.Status) {
	rate := s.of(w)
	torque := s.K*(s.of(q)+h/2*rate) + s.C*rate
	k := s.K*h/2 + s.C
	p := circuit.Power{Loss: s.C * rate * rate, Out: s.exert(torque, w, tau)}
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
		p.Out -= drag * w[s.A]
		p.Loss += s.Mesh.lost(torque/r, w[s.A])
	}
	return p, engine.OK
}

// Stored is that of the spring.
func (s *Shaft) Stored(q, z []float64) float64 {
	d := s.of(q)
	return s.K * d * d / 2
}

// Bar is a shaft of which the own inertia counts: a bar of constant section in torsion, cut into N springs in series with N − 1 discs
// between them and half a disc at each end. Its frequencies come out low by (ω·l·√(ρ/G)/N)²/24, relative, for the lower modes.
type Bar struct {
	K float64 // N·m/rad  of the whole, G·Jp/l
	C float64 // N·m·s/rad  of the whole
	J float64 // kg·m²  of the whole, ρ·Jp·l
	N int     // springs
}

// Validate reports what is out of range.
func (b *Bar) Validate() error {
	errs := []error{atLeast("K", b.K, "N·m/rad", true), atLeast("C", b.C, "N·m·s/rad", false), atLeast("J", b.J, "kg·m²", true)}
	if b.N < 1 {
		errs = append(errs, fmt.Errorf("springs N: %d, want at least 1", b.N))
	}
	return errors.Join(errs...)
}

// Split gives the springs and discs. The bar begins at coordinate a, which belongs to the caller, as b does where it ends; its inner
// coordinates are first, first+1, … Inner is the inertia (kg·m²) of each of them, end what is to be added to those of a and b.
func (b *Bar) Split(label string, a, end, first int) (springs []*Shaft, inner []float64, atEnds float64) {
	n := float64(b.N)
	at := a
	for k := range b.N {
		next := end
		if k < b.N-1 {
			next = first + k
			inner = append(inner, b.J/n)
		}
		springs = append(springs, &Shaft{Label: fmt.Sprintf("%s.%d", label, k+1), Twist: Twist{A: at, B: next}, K: b.K * n, C: b.C * n})
		at = next
	}
	return springs, inner, b.J / n / 2
}

// Frequency is the lowest (rad/s) of the bar alone, one end held and the other free, π/2·√(K/J): a model of one spring is good for
// motions well below it.
func (b *Bar) Frequency() float64 { return math.Pi / 2 * math.Sqrt(b.K/b.J) }
