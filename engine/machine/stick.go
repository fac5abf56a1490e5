package machine

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/multibody"
)

// Dry is friction with a stick mode on a joint with one coordinate. While the joint sticks, friction is the torque that keeps its
// acceleration zero; beyond the break-away level of the law it slips, and friction is that of the steady curve in the direction of slip. The
// instants of arrest and release are located, and the integration begins anew there.
type Dry struct {
	Joint string
	Law   friction.Model
}

// Sticks tells whether a law can be Dry: a level and a curve without states.
func Sticks(law friction.Model) bool {
	_, smooth := law.(friction.Smooth)
	_, switched := law.(friction.Switched)
	_, sided := law.(*friction.TwoSidedStick)
	return (switched || sided) && !smooth && law.StateDim() == 0
}

// dry is a Dry in a machine.
type dry struct {
	axis  int
	law   friction.Model
	rest  friction.ByDirection // N·m  break-away levels
	dir   float64              // direction of slip; 0: it sticks
	force float64              // N·m  on the joint, at the last Flow
}

// slide is the friction on a joint that slips with the speed v. Just after release it is that of the least speed.
func (d *dry) slide(v float64) float64 {
	const least = 1e-12 // rad/s
	return -d.law.Steady(d.dir * max(d.dir*v, least))
}

// level is how much can hold the joint against what the force of friction opposes.
func (d *dry) level() float64 {
	if d.force < 0 {
		return d.rest.Forward
	}
	return d.rest.Backward
}

// ridge is the mobility, as a share of its own, that a joint has at least: where two joints that stick do the same work they share it, and one that
// cannot be held, as a rocker in its dead point, asks for a force beyond any level.
const ridge = 1e-10

// hold finds the forces that keep all joints that stick without acceleration, and adds them to tau: the accelerations are linear in
// them.
func (m *Machine) hold(q, v []float64) multibody.Status {
	stuck := m.stuck[:0]
	for k := range m.dry {
		if m.dry[k].dir == 0 {
			stuck = append(stuck, k)
		}
	}
	n := len(stuck)
	if n == 0 {
		return multibody.OK
	}
	st := multibody.Dynamics(m.Model, m.Data, q, v, m.tau)
	if st != multibody.OK && st != multibody.Singular {
		return st
	}
	at := func(k int) int { return m.axes[m.dry[k].axis].iv }
	lu := &m.holds[n]
	rhs := m.held[:n]
	for i, k := range stuck {
		rhs[i] = -m.Data.QDD[at(k)]
	}
	for j, k := range stuck {
		m.tau[at(k)]++
		if st := multibody.Dynamics(m.Model, m.Data, q, v, m.tau); st != multibody.OK && st != multibody.Singular {
			return st
		}
		m.tau[at(k)]--
		for i, l := range stuck {
			lu.A[i*n+j] = m.Data.QDD[at(l)] + rhs[i]
		}
	}
	for i, k := range stuck {
		lu.A[i*n+i] += ridge / m.Data.H[at(k)*m.Model.NV()+at(k)]
	}
	if !lu.Factor() {
		return multibody.NotPositive
	}
	lu.Solve(rhs)
	for i, k := range stuck {
		m.dry[k].force = rhs[i]
		m.tau[at(k)] += rhs[i]
	}
	return multibody.OK
}

// release lets joints slip that stick beyond their level at the state y, one after the other.
func (m *Machine) release(t float64, x, dx []float64) multibody.Status {
	for range len(m.dry) + 1 {
		st := m.Flow(t, x, dx)
		if st != multibody.OK && st != multibody.Singular {
			return st
		}
		worst, most := -1, 1+1e-9
		for k := range m.dry {
			if d := &m.dry[k]; d.dir == 0 && math.Abs(d.force) > most*d.level() {
				worst, most = k, math.Abs(d.force)/max(d.level(), math.SmallestNonzeroFloat64)
			}
		}
		if worst < 0 {
			return multibody.OK
		}
		m.dry[worst].dir = -math.Copysign(1, m.dry[worst].force)
	}
	return multibody.OK
}

// begin finds which joints stick at the start.
func (m *Machine) begin(t float64, x, dx []float64) multibody.Status {
	_, v, _ := m.cut(x)
	for k := range m.dry {
		d := &m.dry[k]
		d.dir = 0
		if w := v[m.axes[d.axis].iv]; w != 0 {
			d.dir = math.Copysign(1, w)
		}
	}
	return m.release(t, x, dx)
}

// turning finds the first instant of the last step at which a joint that slips comes to rest, or one that sticks breaks away.
func (r *runner) turning(d *engine.DormandPrince) (t float64, which int) {
	m := r.m
	t, which = math.Inf(1), -1
	for k := range m.dry {
		b := &m.dry[k]
		iv := m.Model.NQ() + m.axes[b.axis].iv
		margin := func(at float64) float64 {
			d.At(at, r.show)
			if b.dir != 0 {
				return b.dir * r.show[iv]
			}
			m.Flow(at, r.show[:r.n], r.before)
			return b.level() - math.Abs(b.force)
		}
		if margin(d.T) >= 0 || b.dir == 0 && margin(d.T) > -1e-9*b.level() {
			continue
		}
		lo, hi := d.Old, d.T
		for range 60 {
			mid := lo + (hi-lo)/2
			if mid <= lo || mid >= hi {
				break
			}
			if margin(mid) >= 0 {
				lo = mid
			} else {
				hi = mid
			}
		}
		if hi < t {
			t, which = hi, k
		}
	}
	return t, which
}

// turn changes the mode of a joint at the state y.
func (r *runner) turn(t float64, which int, y []float64) multibody.Status {
	m := r.m
	b := &m.dry[which]
	if b.dir == 0 {
		m.Flow(t, y[:r.n], r.before)
		b.dir = -math.Copysign(1, b.force)
	} else {
		b.dir = 0
		y[m.Model.NQ()+m.axes[b.axis].iv] = 0
	}
	if _, st := r.project(t, y); st != multibody.OK {
		return st
	}
	return m.release(t, y[:r.n], r.before)
}
