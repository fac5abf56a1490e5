package machine

import (
	"math"

	"hilrig/engine/friction"
	"hilrig/engine/multibody"
)

// dry is friction that sticks.
type dry struct {
	axis  int
	law   friction.Model
	rest  friction.ByDirection // N·m  break-away levels
	load  *loaded              // nil: the law as it is
	dir   float64              // direction of slip; 0: it sticks
	force float64              // N·m  on the joint, at the last Flow
	drift float64              // rad/s²  acceleration of a cut joint without that of the velocities
}

// scale is the factor of the law.
func (d *dry) scale() float64 {
	if d.load == nil {
		return 1
	}
	return d.load.scale
}

// slide is the friction on a joint that slips with the speed v. Just after release it is that of the least speed.
func (d *dry) slide(v float64) float64 {
	const least = 1e-12 // rad/s
	return -d.law.Steady(d.dir*max(d.dir*v, least)) * d.scale()
}

// level is how much can hold the joint against what the force of friction opposes.
func (d *dry) level() float64 {
	if d.force < 0 {
		return d.rest.Forward * d.scale()
	}
	return d.rest.Backward * d.scale()
}

// ridge is the mobility, as a share of its own, that a joint has at least: where two joints that stick do the same work they share it, and one that
// cannot be held, as a rocker in its dead point, asks for a force beyond any level.
const ridge = 1e-10

// hold finds the forces that keep all joints that stick without acceleration, and adds them to tau: the accelerations are linear in
// them. It follows Dynamics, at the same q, v.
func (m *Machine) hold(q, v []float64) multibody.Status {
	stuck := m.stuck[:0]
	for k := range m.dry {
		if m.dry[k].dir == 0 {
			stuck = append(stuck, k)
		}
	}
	n, nv := len(stuck), m.Model.NV()
	if n == 0 {
		return multibody.OK
	}
	if st := multibody.Again(m.Model, m.Data, q, v, m.tau); st != multibody.OK && st != multibody.Singular {
		return st
	}
	at := func(k int) *axis { return &m.axes[m.dry[k].axis] }
	lu := &m.holds[n]
	rhs := m.held[:n]
	for i, k := range stuck {
		rhs[i] = -at(k).along(m.Data.QDD) - m.dry[k].drift
		a := m.answer[i*nv : i*nv+nv]
		clear(a)
		at(k).push(1, a)
		multibody.Answer(m.Model, m.Data, a)
		for j, l := range stuck {
			lu.A[j*n+i] = at(l).along(a)
		}
		lu.A[i*n+i] += ridge * m.loosest(at(k))
	}
	if !lu.Factor() {
		return multibody.NotPositive
	}
	lu.Solve(rhs)
	for i, k := range stuck {
		m.dry[k].force = rhs[i]
		m.force[m.dry[k].axis] += rhs[i]
		at(k).push(rhs[i], m.tau)
	}
	return multibody.OK
}

// loosest is the mobility (1/kg·m²) that an axis has without constraints, but for a factor of a few.
func (m *Machine) loosest(a *axis) (sum float64) {
	n := m.Model.NV()
	if a.cut < 0 {
		return 1 / m.Data.H[a.iv*n+a.iv]
	}
	for i, x := range a.row {
		sum += x * x / m.Data.H[i*n+i]
	}
	return sum
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

const rests = 1e-12 // rad/s, m/s  below which a joint of the start rests

// begin finds which joints stick at the start.
func (m *Machine) begin(t float64, x, dx []float64) multibody.Status {
	q, v, _ := m.cut(x)
	if len(m.cuts) > 0 {
		multibody.Positions(m.Model, m.Data, q)
		m.direct()
	}
	for k := range m.dry {
		d := &m.dry[k]
		d.dir = 0
		if w := m.axes[d.axis].along(v); math.Abs(w) > rests {
			d.dir = math.Copysign(1, w)
		}
	}
	return m.release(t, x, dx)
}

// turning finds the first instant of the last step, which began at from (s), at which a joint that slips comes to rest, or one that sticks breaks away.
func (r *runner) turning(d multibody.Integrator, from float64) (t float64, which int) {
	m := r.m
	end, _ := d.Reached()
	t, which = math.Inf(1), -1
	for k := range m.dry {
		b := &m.dry[k]
		margin := func(at float64) float64 {
			d.At(at, r.show)
			if b.dir != 0 {
				return b.dir * m.speed(b.axis, r.show)
			}
			m.Flow(at, r.show[:r.n], r.before)
			return b.level() - math.Abs(b.force)
		}
		if margin(end) >= 0 || b.dir == 0 && margin(end) > -1e-9*b.level() {
			continue
		}
		lo, hi := from, end
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
		if a := &m.axes[b.axis]; a.cut < 0 {
			y[m.Model.NQ()+a.iv] = 0
		}
	}
	if st := r.project(t, y); st != multibody.OK {
		return st
	}
	return m.release(t, y[:r.n], r.before)
}

// speed is that of an axis in the state x.
func (m *Machine) speed(axis int, x []float64) float64 {
	q, v, _ := m.cut(x)
	if m.axes[axis].cut >= 0 {
		multibody.Positions(m.Model, m.Data, q)
		m.direct()
	}
	return m.axes[axis].along(v)
}

// rest takes away what speed the integration has left of loops that stick; it follows Project.
func (m *Machine) rest(v []float64) {
	if len(m.cuts) == 0 {
		return
	}
	m.direct()
	answer := m.answer[:len(v)]
	for k := range m.dry {
		a := &m.axes[m.dry[k].axis]
		if m.dry[k].dir != 0 || a.cut < 0 {
			continue
		}
		copy(answer, a.row)
		multibody.Answer(m.Model, m.Data, answer)
		if yields := a.along(answer); yields > held*m.loosest(a) {
			x := a.along(v) / yields
			for i := range v {
				v[i] -= x * answer[i]
			}
		}
	}
}
