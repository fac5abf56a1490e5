package manipulator

import (
	"fmt"
	"math"

	"hilrig/engine"
)

// Motion is a state of chain and beam: joints, driven ones included, deflections and slopes of the beam (beam.Beam.Node tells which).
type Motion struct {
	Q, V   []float64 // rad, rad/s; m, m/s of prismatic joints
	QC, VC []float64 // m, rad; m/s, rad/s
	Z      []float64 // of the friction law
	Lambda float64   // N
}

// Equilibrium is the state at rest in which springs, weight, contact and beam balance, the driven joints where their drives start. Newton's
// method begins where the springs are relaxed. Errors: beam.ErrLoose, a *beam.LeftError, or that none was found.
func (m *Model) Equilibrium() (*Motion, error) {
	w := m.newWork()
	s := w.newState()
	for i, j := range m.p.Joints {
		if s.q[i] = j.Rest; j.Drive != nil {
			s.q[i] = j.Drive.Start
		}
	}
	nf := len(m.freeJoints)
	n := nf + 1
	unit := make([]float64, m.beam.N)
	// residual at joints x[:nf] and λ = x[nf], deflection in s.qc
	residual := func(x, r []float64) error {
		for k, i := range m.freeJoints {
			s.q[i] = x[k]
		}
		w.place(s, 0, true)
		last := m.p.Beam.Elements - 1
		e := int(math.Max(0, math.Min(float64(last), w.pose.tip.X/m.beam.Element())))
		at := m.beam.PlaceIn(e, w.pose.tip.X)
		copy(s.qc, m.weight)
		at.Add(-x[nf], s.qc)
		if err := m.beam.Static(s.qc); err != nil {
			return err
		}
		w.place(s, e, true)
		for k, i := range m.freeJoints {
			r[k] = w.pose.h[i] + w.jr[i]*x[nf]
		}
		r[nf] = w.c.Phi
		return nil
	}
	// the size of a residual: its parts have different units, so each is taken to how far Newton's step would go
	size := func(step []float64) (top float64) {
		for _, v := range step[:nf] {
			top = math.Max(top, math.Abs(v))
		}
		return math.Max(top, math.Abs(step[nf])*m.softness(unit))
	}
	x, r, d, trial := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for k, i := range m.freeJoints {
		x[k] = s.q[i]
	}
	lu := engine.NewLU(n)
	jacobian := func(x []float64) error {
		const h = 1e-6
		up, down := make([]float64, n), make([]float64, n)
		for c := range n {
			copy(trial, x)
			trial[c] = x[c] + h
			if err := residual(trial, up); err != nil {
				return err
			}
			trial[c] = x[c] - h
			if err := residual(trial, down); err != nil {
				return err
			}
			for r := range n {
				lu.A[r*n+c] = (up[r] - down[r]) / (2 * h)
			}
		}
		if !lu.Factor() {
			return fmt.Errorf("manipulator: no equilibrium: a joint gives way without resistance; give every free joint a spring, or weight that " +
				"holds it")
		}
		return nil
	}
	for range 200 {
		if err := jacobian(x); err != nil {
			return nil, err
		}
		if err := residual(x, r); err != nil {
			return nil, err
		}
		copy(d, r)
		lu.Solve(d)
		far := size(d)
		if math.IsNaN(far) {
			break
		}
		if far < 1e-13 {
			return m.equilibriumMotion(w, s, x)
		}
		// natural monotonicity test: the next simplified step has to be shorter
		step := math.Min(1, 0.3/far)
		for ; step > 1e-4; step /= 2 {
			for k := range x {
				trial[k] = x[k] - step*d[k]
			}
			if err := residual(trial, r); err != nil {
				return nil, err
			}
			lu.Solve(r)
			if next := size(r); next < far || next < 1e-12 {
				break
			}
		}
		for k := range x {
			x[k] -= step * d[k]
		}
		if far < 1e-12 { // as near as rounding lets it
			return m.equilibriumMotion(w, s, x)
		}
	}
	return nil, fmt.Errorf("manipulator: no equilibrium was found from the relaxed springs: the chain may not reach the beam, or the drive " +
		"starts too far from it")
}

// softness is the deflection of the beam's middle under a unit force (m/N), to weigh forces against lengths.
func (m *Model) softness(unit []float64) float64 {
	if unit[0] == 0 {
		at := m.beam.PlaceIn((m.p.Beam.Elements-1)/2, m.p.Beam.Length/2)
		at.Add(1, unit)
		if m.beam.Static(unit) != nil {
			return 0
		}
		unit[0] = math.Max(math.Abs(at.Of(&at.N, unit)), math.SmallestNonzeroFloat64)
	}
	return unit[0]
}

// equilibriumMotion is the motion of the equilibrium at x, if its tip stands on the beam.
func (m *Model) equilibriumMotion(w *work, s *state, x []float64) (*Motion, error) {
	if _, err := m.beam.ElementAt(w.pose.tip.X); err != nil {
		return nil, fmt.Errorf("manipulator: the equilibrium lies beside the beam: %w", err)
	}
	lambda := x[len(m.freeJoints)]
	if m.p.Unilateral && lambda < 0 {
		return nil, fmt.Errorf("manipulator: in equilibrium the contact would have to pull with %.4g N, which a unilateral one cannot: let the "+
			"drive press the tip on the beam", -lambda)
	}
	return &Motion{Q: append([]float64(nil), s.q[:m.n]...), V: make([]float64, m.n), QC: append([]float64(nil), s.qc...),
		VC: make([]float64, m.beam.N), Z: append([]float64(nil), s.z...), Lambda: lambda}, nil
}

// newState is at zero, with a relaxed friction law.
func (w *work) newState() *state {
	n := w.m.beam.N
	s := &state{qc: make([]float64, n), vc: make([]float64, n)}
	if law := w.m.p.Friction; law != nil {
		s.z = make([]float64, law.StateDim())
		law.Reset(s.z)
	}
	return s
}

// setMotion makes s the state of a motion: positions, speeds, and what the friction of the tip remembers.
func (s *state) setMotion(at *Motion) {
	copy(s.q[:], at.Q)
	copy(s.v[:], at.V)
	copy(s.qc, at.QC)
	copy(s.vc, at.VC)
	copy(s.z, at.Z)
}

// impulse changes the velocities so that the contact does not separate or penetrate and driven joints move as their drives do, with the
// least kinetic energy of the change: what a blow does. It returns the impulse of the contact (N·s). Masses must have been placed.
func (w *work) impulse(s *state, drive *joints) (float64, error) {
	if err := w.elimination.factor(w, true); err != nil {
		return 0, err
	}
	m := w.m
	var rf joints
	rate := w.c.Rate
	for _, d := range m.drivenJoints {
		change := drive[d] - s.v[d]
		rate += w.jr[d] * change
		for k, i := range m.freeJoints {
			rf[k] -= w.pose.m[i][d] * change
		}
		s.v[d] = drive[d]
	}
	dv := w.load
	clear(dv)
	p := w.elimination.solve(w, true, &rf, dv, -rate)
	for k, i := range m.freeJoints {
		s.v[i] += rf[k]
	}
	for i := range dv {
		s.vc[i] += dv[i]
	}
	return p, nil
}

// energy of everything at a placed state (J).
func (w *work) energy(s *state) float64 {
	motion, stored := w.m.energy(&s.q, &s.v, &w.pose)
	bend, move := w.m.beam.Energy(s.qc, s.vc)
	for i, f := range w.m.weight {
		stored -= f * s.qc[i]
	}
	return motion + stored + bend + move
}
