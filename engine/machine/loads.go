package machine

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/multibody"
)

// The friction of a joint with a Lever is s·(its law) with s = Lever·N, and the forces of all joints are linear in all s, but for the
// kink where a force N passes through zero:
//
//	s_k = Lever_k·|f_k + Σ_l A_kl·s_l|.
//
// Repetition finds s where friction changes the loads by less than itself, which is nearly always. Where it does not, f and A are
// measured, by one evaluation for each joint, and Newton's method goes along the solution from a machine without friction to the one with
// all of it.

const (
	repetitions = 40    // of the loads, before their dependence is measured
	measured    = 3     // times
	pressRel    = 1e-13 // of the largest force in a joint: to this loads are met
	pressRound  = 1e-10 // and to this at least, where rounding keeps them from it
	shares      = 32    // of friction, on the way to all of it
)

// loadSolver is the workspace of Newton's method.
type loadSolver struct {
	s, trial, rest []float64
	f              []r3.Vec // forces without friction
	a              []r3.Vec // loads×loads
	lu             engine.LU
}

func (m *Machine) roomOfLoads() {
	n := len(m.loads)
	m.solver = loadSolver{s: make([]float64, n), trial: make([]float64, n), rest: make([]float64, n), f: make([]r3.Vec, n),
		a: make([]r3.Vec, n*n), lu: engine.NewLU(n)}
}

// carry finds QDD and Lambda under all that acts on the machine, with the loads of joints that go with them, after Dynamics.
func (m *Machine) carry(t float64, q, v, z, dz []float64) multibody.Status {
	act := func() multibody.Status {
		st := m.act(t, q, v, z, dz)
		if (st == multibody.OK || st == multibody.Singular) && len(m.loads) > 0 && !m.frozen {
			for _, k := range m.cuts {
				m.Model.RubCut(m.Data, m.axes[k].cutIndex, -m.force[k])
			}
			multibody.Loads(m.Model, m.Data, v)
		}
		return st
	}
	for round := 1; ; round++ {
		st := act()
		if st != multibody.OK && st != multibody.Singular || len(m.loads) == 0 || m.frozen {
			return st
		}
		change := m.press()
		if change <= pressRel || round >= repetitions && change <= pressRound {
			return st
		}
		if round < repetitions {
			continue
		}
		if round == repetitions+measured || !(change < math.Inf(1)) {
			m.fault = "friction of joints grows with the loads that it makes, without a limit: the machine is jammed"
			return multibody.NonFinite
		}
		if st := m.measure(act); st != multibody.OK && st != multibody.Singular {
			return st
		}
		m.solver.solve(m.loads)
		for k, l := range m.loads {
			l.set(m.solver.s[k])
		}
	}
}

// press finds the forces that the joints with loaded friction carry, after Loads, and returns by how much their friction changed, by the
// largest force in a joint.
func (m *Machine) press() (change float64) {
	size := m.Model.LargestLoad(m.Data)
	for _, l := range m.loads {
		m.weigh(l)
		was := l.scale
		if l.set(l.lever * l.force); l.scale != was {
			change = max(change, math.Abs(l.scale-was)/(l.lever*size))
		}
	}
	return change
}

// weigh reads the force of a joint.
func (m *Machine) weigh(l *loaded) {
	if a := &m.axes[l.axis]; a.cutIndex < 0 {
		l.pressed = m.Model.NormalForce(m.Data, l.body)
	} else {
		_, l.pressed = m.Model.CutForce(m.Data, a.cutIndex)
	}
	l.force = math.Sqrt(r3.Norm2(l.pressed))
}

// measure finds f and A; the factors are lost.
func (m *Machine) measure(act func() multibody.Status) multibody.Status {
	w := &m.solver
	n := len(m.loads)
	unit := 1.0
	for _, l := range m.loads {
		unit = max(unit, l.scale)
	}
	for k := range n + 1 {
		for i, l := range m.loads {
			l.set(0)
			if i == k-1 {
				l.set(unit)
			}
		}
		if st := act(); st != multibody.OK && st != multibody.Singular {
			return st
		}
		for i, l := range m.loads {
			m.weigh(l)
			if k == 0 {
				w.f[i] = l.pressed
			} else {
				w.a[i*n+k-1] = r3.Scale(1/unit, r3.Sub(l.pressed, w.f[i]))
			}
		}
	}
	return multibody.OK
}

// solve finds s.
func (w *loadSolver) solve(loads []*loaded) {
	clear(w.s)
	for k := range shares {
		w.newton(loads, float64(k+1)/shares)
	}
}

// newton goes from s to where a share of the friction is met.
func (w *loadSolver) newton(loads []*loaded, share float64) {
	n := len(loads)
	left := w.miss(loads, share, w.s)
	for range 30 {
		for i, l := range loads {
			f := w.force(i, w.s)
			size := r3.Norm(f)
			w.rest[i] = share*l.lever*size - w.s[i]
			for j := range n {
				x := 0.0
				if size > 0 {
					x = share * l.lever * r3.Dot(f, w.a[i*n+j]) / size
				}
				if w.lu.A[i*n+j] = -x; i == j {
					w.lu.A[i*n+j]++
				}
			}
		}
		if !w.lu.Factor() {
			return
		}
		w.lu.Solve(w.rest)
		better := left
		for step := 1.0; step > 1e-3; step /= 2 {
			for i := range n {
				w.trial[i] = max(0, w.s[i]+step*w.rest[i])
			}
			if better = w.miss(loads, share, w.trial); better < left {
				break
			}
		}
		if !(better < left) {
			return
		}
		copy(w.s, w.trial)
		left = better
	}
}

// force is that of joint i under the factors s.
func (w *loadSolver) force(i int, s []float64) r3.Vec {
	f := w.f[i]
	for j, x := range s {
		f = r3.Add(f, r3.Scale(x, w.a[i*len(s)+j]))
	}
	return f
}

// miss is the largest force (N) by which factors are not met.
func (w *loadSolver) miss(loads []*loaded, share float64, s []float64) (miss float64) {
	for i, l := range loads {
		miss = max(miss, math.Abs(share*r3.Norm(w.force(i, s))-s[i]/l.lever))
	}
	return miss
}
