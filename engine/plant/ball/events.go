package ball

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// Friction of Coulomb's type has no direction at rest. Three speeds can be at rest: ω_h of rolling, ω_n of spinning and u of the contact.
//
// Coming to rest: a part of a step is at most half the time in which the present acceleration would change the speed by itself, so the
// direction of friction is resolved however small the speed becomes, and no part crosses rest. A speed that falls below rest
// (1e-9 rad/s, for the contact times the radius) is set to zero: it is held if friction suffices for that, and the ball then
// stays where it is exactly. Else it starts again with the speed rest in the direction in which the excess drives it.
//
// Breaking away: what is held is looked at after each part of a step. The time at which sticking ends is found by bisection.
//
// Where friction is hardly overcome the speed stays small for long, and the direction of friction follows it within the time
// speed/strength, which an explicit method has to resolve. So what is hardly overcome starts with the speed minSlipSpeed, and what comes
// to rest with hardly any deceleration is at rest from minSlipSpeed on: each such event changes a speed by minSlipSpeed, for better or
// worse.
const (
	rest         = 1e-9 // rad/s
	minSlipSpeed = 1e-5 // rad/s
	minExcess    = 5e-4 // of the strength of friction
	portion      = 0.5  // of the time in which a speed changes by itself
)

// speeds are those that friction of Coulomb's type opposes and that are not at rest, with their rates: v, dv/dt as vectors of the body
// for rolling and spinning, of the plane for the contact.
type speed struct {
	v, rate  r3.Vec
	active   bool
	scale    float64 // of rest and minSlipSpeed
	strength float64 // of friction, about: the acceleration that it makes
}

func (m *Model) speeds(s *State, a *Accel) (all [3]speed) {
	if !m.roll.holdsAtRest() && !m.spin.holdsAtRest() && !(s.Mode.Slip && m.slide > 0) {
		return all
	}
	f := s.Frame()
	wn, an := r3.Dot(s.W, f.C), r3.Dot(a.W, f.C)
	n, inertia := max(0, a.Force.Z), m.mass*m.radius*m.radius
	if m.roll.holdsAtRest() && !s.Mode.RollHeld {
		all[0] = speed{axpy(-wn, f.C, s.W), axpy(-an, f.C, a.W), true, 1, (m.roll.Moment + m.roll.Arm*n) / inertia}
	}
	if m.spin.holdsAtRest() && !s.Mode.SpinHeld {
		all[1] = speed{r3.Scale(wn, f.C), r3.Scale(an, f.C), true, 1, 0}
	}
	if s.Mode.Slip && m.slide > 0 {
		ux, uy := m.contact(&f, s)
		bx, by := m.radius*r3.Dot(f.B, a.W), -m.radius*r3.Dot(f.A, a.W)
		all[2] = speed{r3.Vec{X: ux, Y: uy}, r3.Vec{X: a.VX - bx, Y: a.VY - by}, true, m.radius, m.slide * n / m.mass}
	}
	return all
}

// reach is the longest part of a step (s) that resolves the directions of friction.
func (m *Model) reach(s *State, a *Accel) float64 {
	h := math.Inf(1)
	for _, v := range m.speeds(s, a) {
		if v.active {
			h = min(h, portion*max(r3.Norm(v.v), rest*v.scale)/r3.Norm(v.rate))
		}
	}
	return h
}

// event brings to rest what has become slow enough. It tells whether the state or its mode changed.
func (m *Model) event(s *State, a *Accel) bool {
	changed := false
	for k, v := range m.speeds(s, a) {
		least := rest
		if r3.Norm(v.rate) < minExcess*v.strength {
			least = minSlipSpeed
		}
		if !v.active || r3.Norm(v.v) > least*v.scale || r3.Dot(v.v, v.rate) >= 0 {
			continue
		}
		changed = true
		switch k {
		case 0:
			s.Mode.RollHeld = true
		case 1:
			s.Mode.SpinHeld = true
		case 2:
			s.Mode.Slip = false
		}
	}
	if changed {
		m.Constrain(s)
		m.release(s)
	}
	return changed || m.holdsAny(s) && m.release(s)
}

// holdsAny tells whether friction holds anything, or may begin to.
func (m *Model) holdsAny(s *State) bool {
	return s.Mode.RollHeld || s.Mode.SpinHeld || m.slips && !s.Mode.Slip
}

// setMode gives a state its mode: what is at rest is held if friction can do so.
func (m *Model) setMode(s *State) {
	f := s.Frame()
	wn := r3.Dot(s.W, f.C)
	s.Mode.RollHeld = m.roll.holdsAtRest() && r3.Norm(axpy(-wn, f.C, s.W)) <= rest
	s.Mode.SpinHeld = m.spin.holdsAtRest() && math.Abs(wn) <= rest
	m.Constrain(s)
	m.release(s)
}

// release lets go what friction cannot hold, one after the other, each with the speed rest or minSlipSpeed. It tells whether there was any.
func (m *Model) release(s *State) (any bool) {
	for range 3 {
		a := m.Accel(s)
		k, towards, over := m.excess(s, &a)
		if k < 0 {
			return any
		}
		any = true
		start := rest
		if over < minExcess && k != 1 {
			start = minSlipSpeed
		}
		switch k {
		case 0:
			s.Mode.RollHeld = false
			s.W = axpy(start, towards, s.W)
		case 1:
			s.Mode.SpinHeld = false
			s.W = axpy(start, towards, s.W)
		case 2:
			s.Mode.Slip = true
		}
		if m.Constrain(s); k == 2 {
			s.VX, s.VY = s.VX+start*m.radius*towards.X, s.VY+start*m.radius*towards.Y
		}
	}
	return any
}

// excess is which of the three is driven more than friction can hold, where to, and by how much over what it can hold; −1: none.
func (m *Model) excess(s *State, a *Accel) (k int, towards r3.Vec, over float64) {
	n := max(0, a.Force.Z)
	if s.Mode.RollHeld || s.Mode.SpinHeld {
		f := s.Frame()
		hn := r3.Dot(a.Hold, f.C)
		hh := axpy(-hn, f.C, a.Hold)
		if h, most := r3.Norm(hh), m.roll.Moment+m.roll.Arm*n; s.Mode.RollHeld && h > most {
			return 0, r3.Scale(-1/h, hh), h/most - 1
		}
		if most := m.spin.Moment + m.spin.Arm*n; s.Mode.SpinHeld && math.Abs(hn) > most {
			return 1, r3.Scale(-math.Copysign(1, hn), f.C), math.Abs(hn)/most - 1
		}
	}
	if m.slips && !s.Mode.Slip {
		if t, most := math.Hypot(a.Force.X, a.Force.Y), m.slide*n; t > most {
			return 2, r3.Vec{X: -a.Force.X / t, Y: -a.Force.Y / t}, t/most - 1
		}
	}
	return -1, r3.Vec{}, 0
}

// breaks tells whether something is held beyond what friction can.
func (m *Model) breaks(s *State, a *Accel) bool {
	if !m.holdsAny(s) {
		return false
	}
	k, _, _ := m.excess(s, a)
	return k >= 0
}

// breakAway shortens a step of h (s) from s, which holds, to the time at which it does no longer, within 1e-6 of the step.
func (m *Model) breakAway(s *State, h float64, k0 *vector, to *State, end *vector, a *Accel) float64 {
	lo, hi := 0.0, h
	for range 20 {
		mid := (lo + hi) / 2
		m.trial(s, mid, k0, to, end, a)
		if m.breaks(to, a) {
			hi = mid
		} else {
			lo = mid
		}
	}
	m.trial(s, hi, k0, to, end, a)
	return hi
}
