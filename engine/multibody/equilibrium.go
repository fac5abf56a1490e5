package multibody

import (
	"errors"
	"fmt"
	"math"
)

// ErrEquilibrium is what Equilibrium does not find.
var ErrEquilibrium = errors.New("no static equilibrium found")

// Equilibrium moves q, the machine at rest, to a static equilibrium under the torques tau and the external wrenches, with the constraints
// met: Newton's method for the forces along the independent coordinates, f(u) = Rᵀ(τ − h) = 0, with a slope of differences. Where
// the machine is not stable the inertia is added to the slope until every step goes with the forces, so that it ends, as a machine
// would, in a stable equilibrium. The error, an ErrEquilibrium, says how much force is left; q is then unchanged.
func Equilibrium(m *Model, d *Data, q, tau []float64) error {
	m.check("Equilibrium", q, nil, tau)
	return EquilibriumUnder(m, d, q, func(_, g []float64) Status {
		copy(g, tau)
		return OK
	})
}

// EquilibriumUnder is Equilibrium under torques that depend on the position: act writes those at q, which it may use Data for.
func EquilibriumUnder(m *Model, d *Data, q []float64, act func(q, tau []float64) Status) error {
	m.check("EquilibriumUnder", q, nil, nil)
	s := statics{m: m, d: d, act: act, q: append([]float64(nil), q...), v: make([]float64, m.nv), p: NewPartition(m)}
	if err := s.search(); err != nil {
		return err
	}
	copy(q, s.q)
	return nil
}

// statics is the workspace of Equilibrium.
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

// along is q moved by x along the independent coordinates, closed.
func (s *statics) along(q, x []float64) []float64 {
	m, p := s.m, s.p
	dq := make([]float64, m.nv)
	clear(p.dv)
	copy(p.dv, x)
	p.spread(dq)
	to := make([]float64, m.nq)
	Integrate(m, q, dq, 1, to)
	return to
}

// search is Newton's method; it leaves the equilibrium in q.
func (s *statics) search() error {
	const (
		most = 200
		step = 1e-5 // rad, m  of the differences
		near = 1e-11
		far  = 0.3 // rad, m  the longest step
	)
	p := s.p
	left := math.Inf(1)
	for range most {
		p.Dependent, p.Independent = p.Dependent[:0], p.Independent[:0]
		f, inertia, size, ok := s.forces(s.q, true)
		if !ok {
			return fmt.Errorf("%w: the constraints are not met or singular on the way", ErrEquilibrium)
		}
		ni := len(f)
		if left = largestOf(f); left <= near*size || size == 0 {
			return nil
		}
		// stiffness −∂f/∂u, symmetric part
		k := make([]float64, ni*ni)
		base := append([]float64(nil), s.q...)
		for c := range ni {
			var side [2][]float64
			for e, h := range [2]float64{step, -step} {
				x := make([]float64, ni)
				x[c] = h
				s.forces(base, false) // R at the base
				if side[e], _, _, ok = s.forces(s.along(base, x), false); !ok {
					return fmt.Errorf("%w: the constraints cannot be met near the position reached", ErrEquilibrium)
				}
			}
			for i := range ni {
				k[i*ni+c] = -(side[0][i] - side[1][i]) / (2 * step)
			}
		}
		// a step with the forces: stiffness plus µ·inertia positive definite
		var x []float64
		for mu := 0.0; ; {
			a := make([]float64, ni*ni)
			for i := range ni {
				for e := range i + 1 {
					a[i*ni+e] = 0.5*(k[i*ni+e]+k[e*ni+i]) + mu*inertia[i*ni+e]
				}
			}
			x = append([]float64(nil), f...)
			if choleskySolve(a, ni, x) {
				break
			}
			trace, weight := 0.0, 0.0
			for i := range ni {
				trace, weight = trace+math.Abs(k[i*ni+i]), weight+inertia[i*ni+i]
			}
			if mu = math.Max(4*mu, 1e-3*(trace+left)/weight); !(mu < 1e15*(trace+left)/weight) {
				return fmt.Errorf("%w: the stiffness of the machine is no finite number", ErrEquilibrium)
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
			to := s.along(base, x)
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
	return fmt.Errorf("%w in %d steps: %.3g N or N·m are left", ErrEquilibrium, most, left)
}
