package multibody

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// ErrEquilibrium is what EquilibriumUnder does not find.
var ErrEquilibrium = errors.New("no static equilibrium found")

// EquilibriumUnder moves q, the machine at rest, to a static equilibrium under the external wrenches and torques that depend on the
// position, with the constraints met: act writes those at q, which it may use Data for. Newton's method for the forces along the
// independent coordinates, f(u) = Rᵀ(τ − h) = 0, with a slope of differences. Where the machine is not stable the inertia is added to
// the slope until every step goes with the forces, so that it ends, as a machine would, in a stable equilibrium, unless it begins in one
// that is not. It tells whether a small push brings the machine off for good: unstable. The error, an ErrEquilibrium, says how much force
// is left; q is then unchanged.
func EquilibriumUnder(m *Model, d *Data, q []float64, act func(q, tau []float64) Status) (unstable bool, err error) {
	m.check("EquilibriumUnder", q, nil, nil)
	s := statics{m: m, d: d, act: act, q: append([]float64(nil), q...), v: make([]float64, m.nv), p: NewPartition(m)}
	if unstable, err = s.search(); err != nil {
		return false, err
	}
	copy(q, s.q)
	return unstable, nil
}

// statics is the workspace of EquilibriumUnder.
type statics struct {
	m    *Model
	d    *Data
	act  func(q, tau []float64) Status
	q, v []float64
	p    *Partition
}

// forces are those along the independent coordinates at q, which it closes first; mass is their inertia.
func (s *statics) forces(q []float64, mass bool) (f, inertia []float64, size float64, ok bool) {
	m, d, p := s.m, s.d, s.p
	if len(p.Dependent) > 0 {
		if st := p.Close(d, q, s.v); st != OK {
			return nil, nil, 0, false
		}
	}
	clear(s.v)
	g := make([]float64, m.nv)
	if st := s.act(q, g); st != OK && st != Singular {
		return nil, nil, 0, false
	}
	if m.prepare(d, q, s.v) != OK {
		return nil, nil, 0, false
	}
	if len(p.Dependent)+len(p.Independent) == 0 {
		p.Choose(d)
	}
	if !p.solveBlock(d, d.Bias) {
		return nil, nil, 0, false
	}
	n, ni := m.nv, len(p.Independent)
	m.losses(q, s.v, g, -1)
	for i := range g {
		size = math.Max(size, math.Max(math.Abs(g[i]), math.Abs(d.Tau[i])))
		g[i] -= d.Tau[i]
	}
	column := func(c int) []float64 {
		x := make([]float64, n)
		clear(p.dv)
		p.dv[c] = 1
		p.spread(x)
		return x
	}
	f = make([]float64, ni)
	inertia = make([]float64, ni*ni)
	r := make([][]float64, ni)
	for c := range f {
		r[c] = column(c)
		for i, x := range r[c] {
			f[c] += x * g[i]
		}
	}
	for c := range f {
		for e := range c + 1 {
			if !mass {
				break
			}
			x := 0.0
			for i := range n {
				for k := range n {
					h := d.H[max(i, k)*n+min(i, k)]
					x += r[c][i] * h * r[e][k]
				}
			}
			inertia[c*ni+e] = x
		}
	}
	return f, inertia, size, finiteStatus(f) == OK
}

// displaced is q moved by x along the independent coordinates, closed.
func (s *statics) displaced(q, x []float64) []float64 {
	m, p := s.m, s.p
	dq := make([]float64, m.nv)
	clear(p.dv)
	copy(p.dv, x)
	p.spread(dq)
	to := make([]float64, m.nq)
	Integrate(m, q, dq, 1, to)
	return to
}

// balanced tells forces that are rounding: of those that balance, size the largest that is known and along a coordinate of the inertia I at
// most Σ m·g·v ≤ g·√(Σ m·I) of gravity, or of the position.
func (s *statics) balanced(f, k, inertia []float64, size float64) bool {
	const near = 1e-11
	mass := 0.0
	for i := range s.m.body {
		mass += s.m.body[i].inertia.Mass
	}
	for i, x := range f {
		at := i*len(f) + i
		if !(math.Abs(x) <= near*math.Max(math.Abs(k[at]), size+r3.Norm(s.m.gravity)*math.Sqrt(mass*inertia[at]))) {
			return false
		}
	}
	return true
}

// stiffness is −∂f/∂u at the position base, by differences.
func (s *statics) stiffness(base []float64, ni int) (k []float64, ok bool) {
	const step = 1e-5 // rad, m
	k = make([]float64, ni*ni)
	for c := range ni {
		var side [2][]float64
		for e, h := range [2]float64{step, -step} {
			x := make([]float64, ni)
			x[c] = h
			s.forces(base, false) // R at the base
			if side[e], _, _, ok = s.forces(s.displaced(base, x), false); !ok {
				return nil, false
			}
		}
		for i := range ni {
			k[i*ni+c] = -(side[0][i] - side[1][i]) / (2 * step)
		}
	}
	return k, true
}

// stiffened is the symmetric part of a stiffness, and mu times the inertia.
func stiffened(k, inertia []float64, ni int, mu float64) []float64 {
	a := make([]float64, ni*ni)
	for i := range ni {
		for e := range i + 1 {
			a[i*ni+e] = 0.5*(k[i*ni+e]+k[e*ni+i]) + mu*inertia[i*ni+e]
		}
	}
	return a
}

// search is Newton's method; it leaves the equilibrium in q.
func (s *statics) search() (unstable bool, err error) {
	const (
		most   = 200
		far    = 0.3  // rad, m  the longest step
		yields = 1e-6 // of the stiffness: less is none
		slow   = 1e-8 // 1/s²  −stiffness/inertia: a smaller one takes hours to grow, or is rounding of none
	)
	p := s.p
	for range most {
		p.Dependent, p.Independent = p.Dependent[:0], p.Independent[:0]
		f, inertia, size, ok := s.forces(s.q, true)
		if !ok {
			return false, fmt.Errorf("%w: the constraints are not met or singular on the way", ErrEquilibrium)
		}
		ni := len(f)
		base := append([]float64(nil), s.q...)
		k, ok := s.stiffness(base, ni)
		if !ok {
			return false, fmt.Errorf("%w: the constraints cannot be met near the position reached", ErrEquilibrium)
		}
		trace, inert := 0.0, 0.0
		for i := range ni {
			trace, inert = trace+math.Abs(k[i*ni+i]), inert+inertia[i*ni+i]
		}
		left := largestOf(f)
		if s.balanced(f, k, inertia, size) {
			a := stiffened(k, inertia, ni, math.Max(yields*trace/inert, slow))
			return !choleskySolve(a, ni, make([]float64, ni)), nil
		}
		// a step with the forces: stiffness plus µ·inertia positive definite
		var x []float64
		for mu := 0.0; ; {
			x = append([]float64(nil), f...)
			if choleskySolve(stiffened(k, inertia, ni, mu), ni, x) {
				break
			}
			if mu = math.Max(4*mu, 1e-3*(trace+left)/inert); !(mu < 1e15*(trace+left)/inert) {
				return false, fmt.Errorf("%w: the stiffness of the machine is no finite number", ErrEquilibrium)
			}
		}
		if top := largestOf(x); top > far {
			for i := range x {
				x[i] *= far / top
			}
		}
		// halve it until the forces work on the way
		for range 40 {
			s.forces(base, false)
			to := s.displaced(base, x)
			if g, _, _, ok := s.forces(to, false); ok {
				work, gain := 0.0, largestOf(g)
				for i := range g {
					work += (f[i] + g[i]) * x[i]
				}
				if work > 0 || gain < 0.5*left {
					s.q = to
					break
				}
			}
			for i := range x {
				x[i] *= 0.5
			}
		}
	}
	return false, fmt.Errorf("%w in %d steps: %s", ErrEquilibrium, most, s.unbalanced())
}

// unbalanced names the joint that has the farthest to go: its force at q by the stiffness against it.
func (s *statics) unbalanced() string {
	f, _, _, ok := s.forces(s.q, false)
	if !ok || len(f) == 0 {
		return "the constraints cannot be met there"
	}
	k, ok := s.stiffness(s.q, len(f))
	if !ok {
		return "the constraints cannot be met near there"
	}
	at, farthest := 0, -1.0
	for i, x := range f {
		if x != 0 && !(math.Abs(x) <= farthest*math.Abs(k[i*len(f)+i])) {
			at, farthest = i, math.Abs(x/k[i*len(f)+i])
		}
	}
	j, bends := s.m.BodyOfVelocity(s.p.Independent[at])
	name, kind, _, _ := s.m.JointOf(j)
	along, unit, slope := "joint", "N·m", "N·m/rad"
	switch {
	case bends:
		along, unit, slope = "the bending of", "N", "N/m"
	case kind == Prismatic:
		unit, slope = "N", "N/m"
	case kind == Free:
		unit, slope = "N or N·m", "N/m or N·m/rad"
	}
	return fmt.Sprintf("%.3g %s are left along %s %q, where the stiffness against it is %.3g %s",
		f[at], unit, along, name, k[at*len(f)+at], slope)
}
