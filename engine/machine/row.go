package machine

import (
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/circuit/drivetrain"
	"hilrig/engine/circuit/servo"
	"hilrig/engine/multibody"
	"hilrig/engine/reference"
)

// Row is the electromechanical constraint of [TZ02] (21), x·z′ = −φ(ξ, ξ′, ξ″), linear in its arguments: speeds follow charges
// ξ, currents ξ′ and their rates ξ″,
//
//	Σ X_k·v_k + Σ (Charge·ξ + Current·ξ′ + Rate·ξ″) + Offset(t) = 0.
//
// As in the source the multiplier λ acts on the mechanics alone, along X: the circuit does not feel it. So the row is a source or sink of
// energy, Input of the audit. Where the field is known, a motor or a magnet says more: torque and back-emf from one co-energy.
//
// The row is kept at positions too, through the state σ′ = −φ of its name: Σ X_k·q_k = σ. Rates ξ″ make its acceleration depend
// on those of the machine through the circuit; both are solved together, the second derivatives by differences along the motion, good to
// some 1e-9.
type Row struct {
	Name   string
	X      []multibody.Term
	Terms  []RowTerm
	Offset reference.Generator // rad/s, m/s; nil: 0
}

// RowTerm is one electrical quantity: of a capacitor Charge, of a winding Current and Rate.
type RowTerm struct {
	State                 string // in the circuit
	Charge, Current, Rate float64
}

// row is a Row in its machine.
type row struct {
	Row
	x          []float64 // nv
	place      []int     // of each term in the states of the circuit
	factor     []float64 // of each term: that of its state
	sigmaIndex int       // of σ in z
	line       int       // of the audit
	eq         int       // among the constraints
	sigma      float64   // rad, m
	phi, rate  float64   // φ and dφ/dt but for what the accelerations of the machine do to it
	accelGain  []float64 // nv  ∂(dφ/dt)/∂(dv/dt)
	lastBias   float64   // bias of the fixed step before
}

// rows are all of them, with the circuit that they look at.
type rows struct {
	list     []*row
	part     int // of the circuit; −1: none
	network  *circuit.Circuit
	dz, d1   []float64 // of the part
	z1       []float64
	q1, v1   []float64 // of the axes
	tau      []float64
	lu       engine.LU
	rhs      []float64
	rated    []*row
	nextJump func(t float64) float64 // first jump of a source after t (s)
}

// Relate writes the equations of the row as it was looked at last.
func (r *row) Relate(_ *multibody.Model, _ *multibody.Data, q, v []float64, to multibody.Equations) {
	copy(to.Jac, r.x)
	to.G[0], to.Rate[0], to.Bias[0] = -r.sigma, r.phi, r.rate
	for i, x := range r.x {
		if x != 0 {
			to.G[0] += x * q[r.iq(i)]
		}
	}
}

// iq is where the position of velocity iv stands; rows speak of joints with one coordinate.
func (r *row) iq(iv int) int { return r.place[len(r.Terms)+iv] }

// relate makes relations of the rows, for multibody.
func relate(list []Row) (rel []multibody.Relation, out []*row) {
	for _, s := range list {
		r := &row{Row: s}
		out = append(out, r)
		rel = append(rel, multibody.Relation{Name: s.Name, Rows: []string{""}, Relater: r})
	}
	return rel, out
}

// tied lays the rows out, behind the states of the parts.
func (m *Machine) tied(list []*row) error {
	t := &m.rows
	if t.part = -1; len(list) == 0 {
		return nil
	}
	for k, p := range m.Parts {
		if c := network(p); c != nil {
			t.part, t.network = k, c
		}
	}
	for _, r := range list {
		r.eq = m.row(r.Name)
		r.sigmaIndex = len(m.states)
		unit := "rad"
		for _, x := range r.X {
			k, err := m.Axis(x.Joint)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name, err)
			}
			a := &m.axes[k]
			r.x[a.iv] += x.Factor
			r.place[len(r.Terms)+a.iv] = a.iq
			if a.linear {
				unit = "m"
			}
		}
		m.states = append(m.states, engine.Signal{Name: r.Name + ".sigma", Unit: unit})
		rated := false
		for k, p := range r.Terms {
			at := -1
			if t.network != nil {
				at = t.network.Place(p.State)
			}
			if at < 0 || p.Charge != 0 && t.network.Capacitance(at) == 0 || (p.Current != 0 || p.Rate != 0) && at >= t.network.Windings() {
				return fmt.Errorf("%s: no %s in the circuit: a charge is that of a capacitor, current and rate are those of a winding", r.Name, p.State)
			}
			r.place[k], r.factor = at, append(r.factor, p.Charge*t.network.Capacitance(at)+p.Current)
			rated = rated || p.Rate != 0
		}
		if rated {
			t.rated = append(t.rated, r)
		}
	}
	t.list, t.nextJump = list, m.jump
	if t.part >= 0 {
		n := len(m.Parts[t.part].States())
		t.dz, t.d1, t.z1 = make([]float64, n), make([]float64, n), make([]float64, n)
	}
	n := len(m.axes)
	t.q1, t.v1, t.tau = make([]float64, n), make([]float64, n), make([]float64, n)
	t.lu, t.rhs = engine.NewLU(len(t.rated)), make([]float64, len(t.rated))
	return nil
}

// network is the circuit of a part; nil: it has none.
func network(p drivetrain.Part) *circuit.Circuit {
	switch p := p.(type) {
	case *circuit.Circuit:
		return p
	case *servo.Part:
		return p.Circuit
	}
	return nil
}

// room makes the workspace that Relate needs, before the machine is there.
func (r *row) room(nv int) {
	r.x, r.accelGain, r.place = make([]float64, nv), make([]float64, nv), make([]int, len(r.Terms)+nv)
}

// tie looks at the circuit for the rows, at the state x and the time t (s).
func (m *Machine) tie(t float64, x []float64) {
	r := &m.rows
	if len(r.list) == 0 {
		return
	}
	q, v, z := m.split(x)
	for k := range m.axes {
		if a := &m.axes[k]; a.cutIndex < 0 {
			m.q[k], m.v[k] = q[a.iq], v[a.iv]
		}
	}
	if r.part >= 0 {
		m.Parts[r.part].Flow(t, m.q, m.v, m.partStates(r.part, z), r.dz, r.tau)
	}
	for _, w := range r.list {
		w.sigma = z[w.sigmaIndex]
		w.phi, w.rate = 0, 0
		if w.Offset != nil {
			w.phi, w.rate, _ = w.Offset.At(t)
		}
		own := z
		if r.part >= 0 {
			own = m.partStates(r.part, z)
		}
		for k, p := range w.Terms {
			w.phi += w.factor[k]*own[w.place[k]] + p.Rate*r.dz[w.place[k]]
			w.rate += w.factor[k] * r.dz[w.place[k]]
		}
	}
	if len(r.rated) > 0 {
		m.addSecondDerivatives(t, m.partStates(r.part, z))
	}
}

// addSecondDerivatives adds what second derivatives of currents do: along the motion, and by the accelerations of the machine.
func (m *Machine) addSecondDerivatives(t float64, z []float64) {
	r := &m.rows
	part := m.Parts[r.part]
	for _, w := range r.rated {
		clear(w.accelGain)
	}
	apart, weight := circuit.Difference(t, r.nextJump)
	for i, d := range apart {
		if weight[i] == 0 {
			continue
		}
		for k := range r.z1 {
			r.z1[k] = z[k] + d*r.dz[k]
		}
		for k := range r.q1 {
			r.q1[k] = m.q[k] + d*m.v[k]
		}
		part.Flow(t+d, r.q1, m.v, r.z1, r.d1, r.tau)
		for _, w := range r.rated {
			for k, p := range w.Terms {
				w.rate += weight[i] * p.Rate * r.d1[w.place[k]]
			}
		}
	}
	for a := range m.axes {
		if m.axes[a].cutIndex >= 0 {
			continue
		}
		copy(r.v1, m.v)
		r.v1[a]++
		part.Flow(t, m.q, r.v1, z, r.d1, r.tau)
		for _, w := range r.rated {
			for k, p := range w.Terms {
				w.accelGain[m.axes[a].iv] += p.Rate * (r.d1[w.place[k]] - r.dz[w.place[k]])
			}
		}
	}
	part.Flow(t, m.q, m.v, z, r.d1, r.tau) // as it was
}

// rated finds the accelerations of rows whose rates depend on those of the machine. again solves the equations of motion with the Bias of
// Data anew; it has done so before.
func (m *Machine) rated(again func() multibody.Status) multibody.Status {
	r := &m.rows
	n := len(r.rated)
	if n == 0 {
		return multibody.OK
	}
	for i, w := range r.rated {
		r.rhs[i] = dot(w.accelGain, m.Data.QDD) // what the bias lacks
	}
	for j, u := range r.rated {
		m.Data.Bias[u.eq]++
		if st := again(); st != multibody.OK && st != multibody.Singular {
			return st
		}
		m.Data.Bias[u.eq]--
		for i, w := range r.rated {
			r.lu.A[i*n+j] = r.rhs[i] - dot(w.accelGain, m.Data.QDD)
			if i == j {
				r.lu.A[i*n+j]++
			}
		}
	}
	if !r.lu.Factor() {
		m.fault = "rows: their rates say nothing of the accelerations: the equations are singular"
		return multibody.NotPositive
	}
	r.lu.Solve(r.rhs)
	for i, w := range r.rated {
		m.Data.Bias[w.eq] += r.rhs[i]
	}
	return again()
}

// pull writes the rates of the rows' states, and their powers, after a solution.
func (m *Machine) pull(v, dz []float64) {
	for _, w := range m.rows.list {
		if dz != nil {
			dz[w.sigmaIndex] = -w.phi
		}
		out := m.Data.Lambda[w.eq] * dot(w.x, v)
		m.powers[w.line] = circuit.Power{Input: out, Output: out}
	}
}

// startRows puts the rows where the positions of a state are.
func (m *Machine) startRows(x []float64) {
	q, _, z := m.split(x)
	for _, w := range m.rows.list {
		z[w.sigmaIndex] = 0
		for i, f := range w.x {
			if f != 0 {
				z[w.sigmaIndex] += f * q[w.iq(i)]
			}
		}
	}
}

// tieStep takes φ of the means and of the end of a step of h (s) from t, whose states at the end are z1, and tells the bias of the rows;
// change is by how much the speeds of the rows move with it.
func (s *Stepper) tieStep(t, h float64, q, v, z []float64) (change float64) {
	m := s.M
	r := &m.rows
	if len(r.list) == 0 {
		return 0
	}
	rated := len(r.rated) > 0
	if rated { // rates at the end
		for k := range m.axes {
			if a := &m.axes[k]; a.cutIndex < 0 {
				r.q1[k], r.v1[k] = q[a.iq]+h*s.w[a.iv], 2*s.w[a.iv]-v[a.iv]
			}
		}
		m.Parts[r.part].Flow(t+h, r.q1, r.v1, m.partStates(r.part, s.z1), r.dz, r.tau)
	}
	for _, w := range r.list {
		mean, end := 0.0, 0.0
		if w.Offset != nil {
			mean, _, _ = w.Offset.At(t + h/2)
			end, _, _ = w.Offset.At(t + h)
		}
		for k, p := range w.Terms {
			at := w.place[k]
			x, _ := r.network.Mean(at, 0)
			x1 := m.partStates(r.part, s.z1)[at]
			mean += w.factor[k]*x + p.Rate*(x1-m.partStates(r.part, z)[at])/h
			end += w.factor[k]*x1 + p.Rate*r.dz[at]
		}
		bias := (end + dot(w.x, v)) / h
		change = max(change, math.Abs(bias-w.lastBias)*h)
		w.lastBias = bias
		w.rate, w.phi, w.sigma = bias, end, z[w.sigmaIndex]-h*mean
		s.z1[w.sigmaIndex] = w.sigma
	}
	return change
}
