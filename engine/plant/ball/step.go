package ball

import (
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
)

// Tolerance is the error that a step of a new Model may have, by the difference of orders 5 and 4: in rad of the orientation, in rad/s
// of ω, in radii of the centre. The result is that of order 5, a good deal better.
const Tolerance = 1e-12

// SetTolerance changes it: 1e-8 lets steps of 5 ms stand undivided at the speeds of the source.
func (m *Model) SetTolerance(tol float64) { m.tol = tol }

// State is where the ball is and how it moves.
type State struct {
	Q      quat.Number // orientation, from body to the frame of the plane, of length 1
	X, Y   float64     // m      centre, in the frame of the plane
	W      r3.Vec      // rad/s  in body axes
	VX, VY float64     // m/s    of the centre, in the frame of the plane; R·ω×γ while it rolls
	Mode   Mode
}

// Frame is that of its orientation.
func (s *State) Frame() Frame { return FrameOf(s.Q) }

// Place makes a state consistent: Q gets length 1, and Mode and, of a contact that rolls, the velocity of the centre follow from the
// rest. A contact that may slip slips if it moves.
func (m *Model) Place(s *State) {
	if n := quat.Abs(s.Q); n > 0 {
		s.Q = quat.Scale(1/n, s.Q)
	} else {
		s.Q = quat.Number{Real: 1}
	}
	f := s.Frame()
	s.Mode = Mode{}
	if ux, uy := m.contact(&f, s); m.slips && math.Hypot(ux, uy) > rest*m.radius {
		s.Mode.Slip = true
	} else {
		m.Constrain(s)
	}
	m.setMode(s)
}

// contact is the velocity of the contact (m/s), in the frame of the plane.
func (m *Model) contact(f *Frame, s *State) (x, y float64) {
	return s.VX - m.radius*r3.Dot(f.B, s.W), s.VY + m.radius*r3.Dot(f.A, s.W)
}

// Constrain takes away what the mode excludes: the speeds that friction holds, exactly, and the slip of a contact that rolls.
func (m *Model) Constrain(s *State) {
	f := s.Frame()
	switch wn := r3.Dot(s.W, f.C); {
	case s.Mode.RollHeld && s.Mode.SpinHeld:
		s.W = r3.Vec{}
	case s.Mode.RollHeld:
		s.W = r3.Scale(wn, f.C)
	case s.Mode.SpinHeld:
		s.W = axpy(-wn, f.C, s.W)
	}
	if !s.Mode.Slip {
		s.VX, s.VY = m.radius*r3.Dot(f.B, s.W), -m.radius*r3.Dot(f.A, s.W)
	}
}

// Accel is what the equations of motion say of s.
func (m *Model) Accel(s *State) Accel {
	f := s.Frame()
	var u r3.Vec
	if s.Mode.Slip {
		u.X, u.Y = m.contact(&f, s)
	}
	return m.accelerate(&f, s.W, u, s.Mode)
}

// The integration is that of Munthe-Kaas [MK99]: within a step the orientation is Q0·exp(θ), and the rotation vector θ (body axes) obeys
//
//	dθ/dt = ω + θ×ω/2 + g(|θ|)·θ×(θ×ω),   g = (1 − (|θ|/2)·cot(|θ|/2))/|θ|² = 1/12 + |θ|²/720 + |θ|⁴/30240 + …
//
// an ordinary equation in a vector space, on which the pair of Dormand and Prince keeps its orders while the orientation stays one.
const (
	iTheta = iota * 3
	iOmega
	iCentre     // x, y
	iSpeed  = 8 // vx, vy of a contact that slips
	nVector = iSpeed + 2
)

type vector [nVector]float64

func (v *vector) at(k int) r3.Vec { return r3.Vec{X: v[k], Y: v[k+1], Z: v[k+2]} }
func (v *vector) set(k int, a r3.Vec) {
	v[k], v[k+1], v[k+2] = a.X, a.Y, a.Z
}

// exp is the unit quaternion of a rotation vector with |θ| < 1 rad, to rounding.
func exp(t r3.Vec) quat.Number {
	x := r3.Norm2(t) / 4 // (|θ|/2)²
	c := 1 - x/2*(1-x/12*(1-x/30*(1-x/56*(1-x/90*(1-x/132)))))
	s := 0.5 * (1 - x/6*(1-x/20*(1-x/42*(1-x/72*(1-x/110*(1-x/156))))))
	return quat.Number{Real: c, Imag: s * t.X, Jmag: s * t.Y, Kmag: s * t.Z}
}

// slope is the derivative of the vector of a step that began at s.
func (m *Model) slope(s *State, v *vector, dv *vector) (a Accel) {
	t, w := v.at(iTheta), v.at(iOmega)
	f := FrameOf(quat.Mul(s.Q, exp(t)))
	tw := r3.Cross(t, w)
	n := r3.Norm2(t)
	g := 1.0/12 + n*(1.0/720+n*(1.0/30240+n*(1.0/1209600+n/47900160)))
	dv.set(iTheta, r3.Add(axpy(0.5, tw, w), r3.Scale(g, r3.Cross(t, tw))))

	bw, aw := m.radius*r3.Dot(f.B, w), -m.radius*r3.Dot(f.A, w)
	if s.Mode.Slip {
		a = m.accelerate(&f, w, r3.Vec{X: v[iSpeed] - bw, Y: v[iSpeed+1] - aw}, s.Mode)
		dv[iCentre], dv[iCentre+1] = v[iSpeed], v[iSpeed+1]
		dv[iSpeed], dv[iSpeed+1] = a.VX, a.VY
	} else {
		a = m.accelerate(&f, w, r3.Vec{}, s.Mode)
		dv[iCentre], dv[iCentre+1] = bw, aw
		dv[iSpeed], dv[iSpeed+1] = 0, 0
	}
	dv.set(iOmega, a.W)
	return a
}

// trial is one step of order 5 over h (s) from s in its mode. k0 is the slope at s, which the caller has.
// The slope at the end is left in end and a. err is the estimate of the error over Tolerance's units.
func (m *Model) trial(s *State, h float64, k0 *vector, to *State, end *vector, a *Accel) (err float64) {
	var k [7]vector
	var v vector
	var from vector
	from.set(iOmega, s.W)
	from[iCentre], from[iCentre+1], from[iSpeed], from[iSpeed+1] = s.X, s.Y, s.VX, s.VY
	k[0] = *k0
	for i := 1; i < 7; i++ {
		v = from
		for j := range i {
			if c := h * engine.DormandPrinceA[i][j]; c != 0 {
				kj := &k[j]
				for n := range v {
					v[n] += c * kj[n]
				}
			}
		}
		*a = m.slope(s, &v, &k[i])
	}
	*end = k[6]
	end.set(iTheta, v.at(iOmega)) // the next step counts θ from its own beginning
	for n := range v {
		e := 0.0
		for i := range k {
			e += engine.DormandPrinceE[i] * k[i][n]
		}
		e = math.Abs(e * h)
		if n >= iCentre {
			e /= m.radius
		}
		err = max(err, e) // NaN stays
	}
	*to = *s
	to.Q = quat.Mul(s.Q, exp(v.at(iTheta)))
	// length 1 but for rounding
	to.Q = quat.Scale(1.5-0.5*(to.Q.Real*to.Q.Real+to.Q.Imag*to.Q.Imag+to.Q.Jmag*to.Q.Jmag+to.Q.Kmag*to.Q.Kmag), to.Q)
	to.W, to.X, to.Y = v.at(iOmega), v[iCentre], v[iCentre+1]
	to.VX, to.VY = v[iSpeed], v[iSpeed+1]
	m.Constrain(to)
	return err
}

const (
	maxParts = 1_000_000 // of a step; a slip hardly beyond what friction holds takes 200 000, see TestHardlySlipping
	longest  = 0.5       // rad  by which the ball may turn in a part
)

// Step advances s by dt (s) and returns what the equations say of its end. It divides the step until its parts are within the
// tolerance, and at the times when friction begins or ceases to hold (see events.go). A state that becomes no number is left as it was.
func (m *Model) Step(dt float64, s *State) (a Accel, st engine.Status) {
	begin := *s
	h, left := dt, dt
	var k0, k6, fresh vector
	a = m.begin(s, &k0)
	for part := 0; left > 0; part++ {
		if part == maxParts {
			return a, engine.NotConverged
		}
		h = min(h, left, m.reach(s, &a), longest/r3.Norm(s.W))
		if left-h < 1e-9*dt {
			h = left
		}
		var to State
		var end Accel
		err := m.trial(s, h, &k0, &to, &k6, &end)
		if math.IsNaN(err) || math.IsInf(err, 0) {
			if h > 1e-9*dt { // a part that was far too long, from a state that hardly moves
				h *= 0.1
				continue
			}
			*s = begin
			return a, engine.NonFinite
		}
		if err > m.tol && h > 1e-9*dt {
			h *= max(0.1, 0.9*math.Pow(m.tol/err, 0.2))
			continue
		}
		// does what held break away, or what moved come to rest?
		if m.breaks(&to, &end) {
			h = m.breakAway(s, h, &k0, &to, &k6, &end)
		}
		*s, a, k0 = to, end, k6
		st = max(st, a.status())
		left -= h
		if m.event(s, &a) {
			a = m.begin(s, &fresh)
			k0 = fresh
		}
		if err < m.tol/64 {
			h *= 2
		}
	}
	return a, st
}

// begin is the slope at s, and what the equations say of it.
func (m *Model) begin(s *State, k0 *vector) Accel {
	var v vector
	v.set(iOmega, s.W)
	v[iSpeed], v[iSpeed+1] = s.VX, s.VY
	return m.slope(s, &v, k0)
}
