package machine

import (
	"math"

	"gonum.org/v1/gonum/mat"

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
	return -d.law.SteadyForce(d.dir*max(d.dir*v, least)) * d.scale()
}

// level is how much can hold the joint against what the force of friction opposes.
func (d *dry) level() float64 {
	if d.force < 0 {
		return d.rest.Forward * d.scale()
	}
	return d.rest.Backward * d.scale()
}

const (
	// minSharedMobility is the part of the largest mobility, each joint's by its own without constraints, below which joints that stick do the
	// same work, and share it with the least forces, or one cannot be held, as a rocker in its dead point: what asks for it then is a force
	// beyond any level.
	minSharedMobility = 1e-9
	// ridge is the part that such a joint is taken to yield.
	ridge = 1e-10
)

// hold finds the forces that keep all joints that stick without acceleration, and adds them to tau: the accelerations are linear in
// them. It follows Dynamics, at the same q, v.
func (m *Machine) hold(q, v []float64) multibody.Status {
	stuck := m.stickingJoints[:0]
	for k := range m.dryJoints {
		if m.dryJoints[k].dir == 0 {
			stuck = append(stuck, k)
		}
	}
	n, nv := len(stuck), m.Model.NV()
	if n == 0 || m.slippery {
		return multibody.OK
	}
	if st := multibody.Reaccelerate(m.Model, m.Data, q, v, m.tau); st != multibody.OK && st != multibody.Singular {
		return st
	}
	at := func(k int) *axis { return &m.axes[m.dryJoints[k].axis] }
	rhs, scale := m.holdRHS[:n], m.loose[:n]
	mobility := mat.NewSymDense(n, nil)
	for i, k := range stuck {
		a := m.answer[i*nv : i*nv+nv]
		clear(a)
		at(k).push(1, a)
		multibody.Answer(m.Model, m.Data, a)
		scale[i] = 1 / math.Sqrt(m.loosest(at(k)))
		rhs[i] = scale[i] * (-at(k).velocity(m.Data.QDD) - m.dryJoints[k].drift)
		for j, l := range stuck[:i+1] {
			mobility.SetSym(i, j, scale[i]*scale[j]*at(l).velocity(a))
		}
	}
	if !minNormForces(mobility, rhs) {
		m.fault = "friction: no finite forces hold the joints that stick, as in a singular position"
		return multibody.NonFinite
	}
	for i := range rhs {
		rhs[i] *= scale[i]
	}
	for i, k := range stuck {
		m.dryJoints[k].force = rhs[i]
		m.force[m.dryJoints[k].axis] += rhs[i]
		at(k).push(rhs[i], m.tau)
	}
	return multibody.OK
}

// minNormForces replaces b by the least x with A·x = b, A positive semidefinite with diagonals up to 1.
func minNormForces(a *mat.SymDense, b []float64) bool {
	if len(b) == 1 {
		if x := a.At(0, 0); x > minSharedMobility {
			b[0] /= x
			return true
		}
	}
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return false
	}
	var u mat.Dense
	e.VectorsTo(&u)
	values, size := e.Values(nil), 0.0
	for _, x := range b {
		size = max(size, math.Abs(x))
	}
	out := make([]float64, len(b))
	for k, v := range values {
		c := 0.0
		for i, x := range b {
			c += u.At(i, k) * x
		}
		switch {
		case v > minSharedMobility*max(values[len(values)-1], minSharedMobility):
			c /= v
		case math.Abs(c) <= minSharedMobility*size:
			continue // rounding
		default:
			c /= ridge
		}
		for i := range out {
			out[i] += c * u.At(i, k)
		}
	}
	copy(b, out)
	return true
}

// loosest is the mobility (1/kg·m²) that an axis has without constraints, but for a factor of a few.
func (m *Machine) loosest(a *axis) (sum float64) {
	n := m.Model.NV()
	if a.cutIndex < 0 {
		return 1 / m.Data.H[a.iv*n+a.iv]
	}
	for i, x := range a.row {
		sum += x * x / m.Data.H[i*n+i]
	}
	return sum
}

// release lets joints slip that stick beyond their level at the state y, one after the other: first with the loads of joints as they are,
// since a joint that cannot be held, as in a dead point, would load the others with a force that is never there.
func (m *Machine) release(t float64, x, dx []float64) multibody.Status {
	m.frozen = len(m.loads) > 0
	for turns := 2 * len(m.dryJoints); ; turns-- {
		st := m.Flow(t, x, dx)
		if st != multibody.OK && st != multibody.Singular {
			m.frozen = false
			return st
		}
		worst, most := -1, 1+1e-9
		for k := range m.dryJoints {
			if d := &m.dryJoints[k]; d.dir == 0 && math.Abs(d.force) > most*d.level() {
				worst, most = k, math.Abs(d.force)/max(d.level(), math.SmallestNonzeroFloat64)
			}
		}
		switch {
		case worst >= 0 && turns > 0:
			m.dryJoints[worst].dir = -math.Copysign(1, m.dryJoints[worst].force)
		case m.frozen:
			m.frozen = false
		default:
			return multibody.OK
		}
	}
}

const rests = 1e-12 // rad/s, m/s  below which a joint is at rest

// begin finds which joints stick at the start.
func (m *Machine) begin(t float64, x, dx []float64) multibody.Status {
	q, v, _ := m.split(x)
	if len(m.cuts) > 0 {
		multibody.Positions(m.Model, m.Data, q)
		m.direct()
	}
	for k := range m.dryJoints {
		d := &m.dryJoints[k]
		d.dir = 0
		if w := m.axes[d.axis].velocity(v); math.Abs(w) > rests {
			d.dir = math.Copysign(1, w)
		}
	}
	// the loads of a machine without friction are a beginning
	for _, l := range m.loads {
		l.set(0)
	}
	if len(m.loads) > 0 {
		m.frozen = true
		st := m.Flow(t, x, dx)
		if m.frozen = false; st != multibody.OK && st != multibody.Singular {
			return st
		}
		multibody.Loads(m.Model, m.Data, v)
		m.press()
	}
	return m.release(t, x, dx)
}

// turning finds the first instant of the last step, which began at from (s), at which a joint that slips comes to rest, or one that sticks
// breaks away.
func (r *runner) turning(d multibody.Integrator, from float64) (t float64, which int) {
	m := r.m
	end, _ := d.Reached()
	t, which = math.Inf(1), -1
	for k := range m.dryJoints {
		b := &m.dryJoints[k]
		margin := func(at float64) float64 {
			d.At(at, r.show)
			if b.dir != 0 {
				return b.dir*m.speed(b.axis, r.show) + rests
			}
			m.Flow(at, r.show[:r.n], r.slope)
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

// turn changes the mode of a joint at the state y. Joints that come to rest with it, as all those of a linkage do, stick with it.
func (r *runner) turn(t float64, which int, y []float64) multibody.Status {
	m := r.m
	b := &m.dryJoints[which]
	if b.dir == 0 {
		m.Flow(t, y[:r.n], r.slope)
		b.dir = -math.Copysign(1, b.force)
	} else {
		for k := range m.dryJoints {
			if d := &m.dryJoints[k]; k == which || math.Abs(m.speed(d.axis, y)) <= rests {
				d.dir = 0
				if a := &m.axes[d.axis]; a.cutIndex < 0 {
					y[m.Model.NQ()+a.iv] = 0
				}
			}
		}
	}
	if st := r.project(t, y); st != multibody.OK {
		return st
	}
	return m.release(t, y[:r.n], r.slope)
}

// speed is that of an axis in the state x.
func (m *Machine) speed(axis int, x []float64) float64 {
	q, v, _ := m.split(x)
	if m.axes[axis].cutIndex >= 0 {
		multibody.Positions(m.Model, m.Data, q)
		m.direct()
	}
	return m.axes[axis].velocity(v)
}

// rest takes away what speed the integration has left of loops that stick; it follows Project.
func (m *Machine) rest(v []float64) {
	if len(m.cuts) == 0 {
		return
	}
	m.direct()
	answer := m.answer[:len(v)]
	for k := range m.dryJoints {
		a := &m.axes[m.dryJoints[k].axis]
		if m.dryJoints[k].dir != 0 || a.cutIndex < 0 {
			continue
		}
		copy(answer, a.row)
		multibody.Answer(m.Model, m.Data, answer)
		if yields := a.velocity(answer); yields > minMobility*m.loosest(a) {
			x := a.velocity(v) / yields
			for i := range v {
				v[i] -= x * answer[i]
			}
		}
	}
}
