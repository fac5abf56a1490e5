package axis

import (
	"math"

	"hilrig/engine/plant"
	"hilrig/estimator"
)

// signs compares what voltage, current and position say about one another:
//
//	u = R·i + drop + K·ω
//
// The balance is that of the winding alone: no load, gravity or hand on the shaft enters it. With the sign of drive, encoder or
// current sensor turned round it is broken by twice a term, and kept once that sign is turned back: wrong direction. Where the
// position hardly moves and the current leaves voltage over, the axis turns unseen, or the drive does nothing: frozen position.
//
// All three are means over the same short time, so that the delay of a sample and the inductance hardly count. Tolerated are half of
// R·i and K·ω, twice the drop of the brushes and 5 % of the largest command: a hot winding or a poor data sheet is no wrong sign.
//
// A current that is the same number in every sample while u − K·ω changes by more than twice the drop and 2 % of the largest command is
// frozen: it no longer guards anything.
//
// Without a measured current the acceleration stands in for it, i = J·ω'/K, and five times the break-away torque is tolerated
// beside the rest. With the sign of drive or encoder turned round, speed and acceleration both change sign. That tells a wrong sign
// from a load: one that drives the axis back does not do so with the acceleration that belongs to the voltage.
type signs struct {
	motor   plant.Motor
	current bool // is measured
	dt, tau float64
	floor   float64 // V
	fixed   float64 // V  a current that stays the same number bears no more change of the voltage

	on        bool       // means are those of an energised axis
	last      [2]float64 // rad, A  position and current taken last
	sum, part float64    // V·s, s  voltage since then, and how long
	u, i, w   float64    // V, A, rad/s  means
	u2, w2    float64    // V, rad/s  means of the means, for the acceleration
	since     float64    // s  since energised
	weight    float64    // of a sample in the means …
	after     float64    // s  … that comes so long after another
	bad, hint lasting

	same   float64 // s  the current has been the same number for so long …
	lo, hi float64 // V  … while u − K·ω went from here to there
}

// lasting is a verdict and how long it has been the same.
type lasting struct {
	Finding
	time float64 // s
}

func (l *lasting) add(f Finding, dt float64) {
	if f.Fault != l.Fault {
		l.time = 0
	}
	l.Finding = f
	l.time += dt
}

const (
	signsFor = 20e-3 // s  a balance must be broken for so long: longer than any transient of a drive
	hintFor  = 5e-3  // s  … to name what a limit of the motion has found first
	sameFor  = 0.2   // s  a current may be the same number for so long; ten samples at least
)

func newSigns(s Spec) *signs {
	n := &signs{motor: s.Motor, current: s.measured(estimator.Current), dt: s.Tick,
		tau: max(10e-3, 5*s.Every), floor: 2*s.Motor.BrushDrop + 0.05*s.TopCommand, fixed: 2*s.Motor.BrushDrop + 0.02*s.TopCommand}
	if !n.current && n.floor > 0 {
		n.floor += stallFs * s.levels().Top() * s.Motor.R / s.Motor.K
	}
	return n
}

// step takes position and current as the filter took them last, whether the position is new, whether to doubt what the rig reads, and the
// voltage of the tick before as the device says it applied it, else as it was sent. Only samples count: while none comes there is nothing to compare, and the voltage is summed up. bad is
// a balance that is broken beyond doubt; hint is one that is broken enough to be the cause when the axis leaves its limits.
func (s *signs) step(k Tick, fresh, doubtful bool, u float64, taken [2]float64) (bad, hint Finding) {
	if s.floor == 0 {
		return
	}
	if !k.On {
		s.on = false
		return
	}
	dt := s.dt * (1 + float64(k.Skip))
	if any := u + taken[0] + taken[1]; !s.on || any-any != 0 || doubtful {
		// begin anew behind a gap or a reading that is not believed
		*s = signs{motor: s.motor, current: s.current, dt: s.dt, tau: s.tau, floor: s.floor, fixed: s.fixed}
		s.on, s.last, s.u, s.i, s.u2 = any-any == 0, taken, u, taken[1], u
		return
	}
	s.sum += dt * u
	s.part += dt
	if !fresh {
		return s.verdict()
	}
	dt, u = s.part, s.sum/s.part
	omega := (taken[0] - s.last[0]) / dt
	if dt != s.after {
		s.after, s.weight = dt, -math.Expm1(-dt/s.tau)
	}
	w := s.weight
	s.u += w * (u - s.u)
	s.i += w * (0.5*(taken[1]+s.last[1]) - s.i)
	s.w += w * (omega - s.w)
	s.u2 += w * (s.u - s.u2)
	s.w2 += w * (s.w - s.w2)
	left := s.u - s.motor.K*s.w
	if s.same += dt; taken[1] != s.last[1] {
		s.same = 0
	}
	if s.same == 0 || s.since < 3*s.tau {
		s.same, s.lo, s.hi = 0, left, left
	}
	s.lo, s.hi = min(s.lo, left), max(s.hi, left)
	s.last, s.sum, s.part = taken, 0, 0
	if s.since += dt; s.since < 3*s.tau {
		return
	}
	mean, speed := s.i, s.w
	if u = s.u; !s.current {
		u, mean, speed = s.u2, s.motor.J/s.motor.K*(s.w-s.w2)/s.tau, s.w2
	}
	ri := s.winding(mean)
	s.bad.add(s.balance(u, ri, speed, 0.5, s.floor), dt)
	s.hint.add(s.balance(u, ri, speed, 0.25, s.floor/8), dt)
	return s.verdict()
}

// verdict is what has lasted long enough.
func (s *signs) verdict() (bad, hint Finding) {
	if s.bad.Fault != Fine && s.bad.time >= signsFor {
		bad = s.bad.Finding
	} else if s.current && s.same >= max(sameFor, s.tau) && s.hi-s.lo > s.fixed {
		bad = Finding{FrozenCurrent, estimator.Current, s.hi - s.lo, s.fixed}
	}
	if s.hint.time >= hintFor {
		hint = s.hint.Finding
	}
	return bad, hint
}

// winding is the voltage (V) that drives the current i (A) through it and the brushes.
func (s *signs) winding(i float64) float64 { return s.motor.R*i + s.motor.Drop(i) }

// balance judges means of voltage (V), that of the winding (V), and speed (rad/s); tolerated are floor (V) and a share of the terms.
func (s *signs) balance(u, ri, omega, share, floor float64) Finding {
	emf := s.motor.K * omega
	over := u - ri - emf // what is left over if all signs are right
	limit := floor + share*(math.Abs(ri)+math.Abs(emf))
	if !(math.Abs(over) > limit) {
		return Finding{}
	}
	turned := min(math.Abs(over+2*emf), math.Abs(over-2*u), math.Abs(over+2*ri)) // encoder, drive or current the other way round
	if !s.current {
		turned = math.Abs(over - 2*u) // an encoder turns speed and acceleration
	}
	switch {
	case turned < math.Abs(over)/3:
		return Finding{Direction, estimator.Position, over, limit}
	case !s.current: // a frozen position is one of a blocked shaft
	case math.Abs(emf) < math.Abs(over)/10:
		return Finding{Frozen, estimator.Position, over, limit}
	}
	return Finding{}
}
