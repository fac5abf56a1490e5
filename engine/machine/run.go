package machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/multibody"
)

// Options say how Run integrates.
type Options struct {
	Rtol, Atol     float64 // of each state and energy; 0: 1e-10, 1e-12
	SampleInterval float64 // s  time between samples; 0: none but the first and the last
	MaxSteps       int     // 0: 10⁷

	Formulation string // of multibody.Formulations; "": multibody.ByProjection

	Reached func(t float64) // is told the time after each step (s); nil: nobody
}

// Result is what Run did and found.
type Result struct {
	Audit              *circuit.Audit
	Accepted, Rejected int
	Residual, Rate     float64 // largest |g| (m, rad) and |dg/dt| that was left after a step
	Drift              float64 // rad, m  largest change of a coordinate by which a step was brought back
	Turns              int     // how often a joint with dry friction stuck or broke away
	Kick               float64 // rad/s, m/s  largest change of a velocity by which a step was brought back
	Leaps              int     // over singular positions
	Choices            int     // of other dependent coordinates, by partition
	Singular           int     // steps that ended in a singular position
	SingularAt         float64 // s  the first of them
	StiffFrom          float64 // s  where it turned to an implicit method, which it keeps; NaN: nowhere
	StiffReason        string  // what made the explicit steps so short
}

// maxTurns end a run that sticks and slips without end.
const maxTurns = 100000

// Failure says when and where a machine could not go on.
type Failure struct {
	T        float64 // s
	Problem  string
	Position string // positions of the joints
	Reason   error  // nil, or what the integrator says
}

func (e *Failure) Error() string {
	s := fmt.Sprintf("stopped at t = %.9g s: %s", e.T, e.Problem)
	if e.Position != "" {
		s += "; there " + e.Position
	}
	return s
}

// Unwrap is what the integrator says.
func (e *Failure) Unwrap() error { return e.Reason }

// Sample is the machine at one time. Its slices are overwritten by the next.
type Sample struct {
	T                  float64
	X                  []float64
	Kinetic, Potential float64 // J
	Input, Loss        float64 // J  since the start
	Residual, Rate     float64 // |g| and |dg/dt|
	Lambda             []float64
}

// Run carries x from t to end (s) and tells each sample, the first at t and the last at end. x is the state at the end, or where the
// error, a *Failure or that of the context or of each, stopped it. Sources that jump are gone through in pieces.
func (m *Machine) Run(ctx context.Context, x []float64, t, end float64, o Options, each func(*Sample) error) (Result, error) {
	r := runner{Result: Result{StiffFrom: math.NaN()}, m: m, n: m.Size(), visit: each, sample: Sample{X: make([]float64, m.Size())}}
	width := r.n + 3*len(m.lines)
	r.show = make([]float64, width)
	last := multibody.OK
	flow := func(t float64, y, dy []float64) {
		if last = m.Flow(t, y[:r.n], dy[:r.n]); last != multibody.OK && last != multibody.Singular {
			dy[0] = math.NaN()
		}
		for k, p := range m.powers {
			dy[r.n+3*k], dy[r.n+3*k+1], dy[r.n+3*k+2] = p.Input, p.Loss, p.Output
		}
	}
	rtol, atol, steps := 1e-10, 1e-12, cmp.Or(o.MaxSteps, 1e7)
	if o.Rtol > 0 {
		rtol, atol = o.Rtol, o.Atol
	}
	d, err := m.integrator(o.Formulation, width, flow, rtol, atol, steps)
	if err != nil {
		return r.Result, err
	}
	y := make([]float64, width)
	copy(y, x)
	r.begin(x)
	at := t // s  reached
	fail := func(what string, reason error) error {
		return &Failure{T: at, Problem: what, Position: m.positionText(x), Reason: reason}
	}
	m.sample(t, 0, x)
	copy(y, x)
	sampled := t
	if st := m.begin(t, x, r.slope); st != multibody.OK {
		return r.Result, fail(m.named(st), nil)
	}
	if err := r.emitSample(t, y); err != nil {
		return r.Result, err
	}
	k := 1
	for at < end {
		if err := d.Start(at, y); err != nil {
			return r.Result, fail(m.stopReason(err, last), err)
		}
		next := min(end, m.jump(at))
		turned, which, kept := false, 0, d.Stats()
		for at < next && !turned {
			if err := ctx.Err(); err != nil {
				return r.Result, err
			}
			from := at
			if err := d.Step(next); err != nil {
				r.addCounts(d.Stats())
				return r.Result, fail(m.stopReason(err, last), err)
			}
			r.noteSingular(d)
			reached, now := d.Reached()
			if o.Reached != nil {
				o.Reached(reached)
			}
			var when float64
			if when, which = r.turning(d, from); which >= 0 {
				reached, turned = when, true
			} else {
				kept = d.Stats()
			}
			// a row at the instant of a sample is that before it, however both are rounded
			for slack := 1e-15 * math.Abs(reached); o.SampleInterval > 0 && t+float64(k)*o.SampleInterval <= reached+slack &&
				t+float64(k)*o.SampleInterval < end-1e-9*o.SampleInterval; {
				show := min(reached, t+float64(k)*o.SampleInterval)
				d.At(show, r.show)
				if err := r.emitSample(show, r.show); err != nil {
					return r.Result, err
				}
				k++
			}
			if copy(y, now); turned {
				d.At(reached, y)
			}
			at = reached
			copy(x, y[:r.n])
			if what := m.magnetOutOfRange(x); what != "" {
				return r.Result, fail(what, nil)
			}
		}
		done := d.Stats()
		if r.StiffFrom != r.StiffFrom && done.StiffFrom == done.StiffFrom {
			r.StiffFrom, r.StiffReason = done.StiffFrom, m.stiffest(at, x)
		}
		if turned { // what the step did beyond the turn is left
			done.Gap, done.Rate, done.Drift, done.Kick = kept.Gap, kept.Rate, kept.Drift, kept.Kick
		}
		if r.addCounts(done); turned {
			if r.Turns++; r.Turns > maxTurns {
				return r.Result, fail(fmt.Sprintf("joints stuck or broke away %d times: too many to follow", maxTurns), nil)
			}
			if st := r.turn(at, which, y); st != multibody.OK {
				return r.Result, fail(m.open(st), nil)
			}
			copy(x, y[:r.n])
		}
		if at != sampled && at < end && m.nextSample(math.Nextafter(at, math.Inf(-1))) == at {
			m.sample(at, 0, x)
			copy(y, x)
			if sampled = at; len(m.dryJoints) > 0 {
				if st := m.release(at, x, r.slope); st != multibody.OK {
					return r.Result, fail(m.named(st), nil)
				}
			}
		}
	}
	if err := r.emitSample(end, y); err != nil {
		return r.Result, err
	}
	r.close(y)
	return r.Result, nil
}

// integrator is that of a formulation; flow writes the slope of all numbers.
func (m *Machine) integrator(formulation string, width int, flow engine.RHS, rtol, atol float64, steps int) (multibody.Integrator, error) {
	var drives []func(t float64) multibody.Motion
	for k := range m.motions {
		by := m.motions[k].generator
		drives = append(drives, func(t float64) multibody.Motion {
			x, v, a := by.At(t)
			return multibody.Motion{X: x, V: v, A: a}
		})
	}
	if formulation == "" || formulation == multibody.ByProjection || formulation == multibody.ByPartition {
		return multibody.NewProjected(formulation, m.Model, m.Data, width, m.Size(), flow, drives, rtol, atol, steps), nil
	}
	n := m.Model.NQ() + m.Model.NV()
	y, dy := make([]float64, width), make([]float64, width)
	forces := func(t float64, q, v, z, tau, dz []float64) {
		copy(y, q)
		copy(y[len(q):], v)
		copy(y[n:], z)
		flow(t, y, dy)
		copy(tau, m.tau)
		copy(dz, dy[n:])
		if dy[0]-dy[0] != 0 {
			tau[0] = math.NaN()
		}
	}
	return multibody.NewIntegrator(formulation, m.Model, m.Data, width-n, forces, drives, rtol, atol)
}

// jump is the first jump of a source after t (s).
func (m *Machine) jump(t float64) float64 {
	at := math.Inf(1)
	look := func(s any) {
		if j, ok := s.(circuit.Jumping); ok {
			at = min(at, j.Next(t))
		}
	}
	for _, p := range m.Parts {
		look(p)
	}
	for _, e := range m.efforts {
		look(e.generator)
	}
	for k := range m.forces {
		look(m.forces[k].Force.Force)
		look(m.forces[k].Torque)
	}
	return at
}

// runner is a Run under way.
type runner struct {
	Result
	m      *Machine
	n      int
	visit  func(*Sample) error
	show   []float64
	slope  []float64
	sample Sample
	start  []float64 // J  stored in each line at the start
}

// begin starts the audit at the state x.
func (r *runner) begin(x []float64) {
	r.slope = make([]float64, r.n)
	r.start = r.lineEnergies(x)
}

// lineEnergies is the energy of each part and, last, of the bodies.
func (r *runner) lineEnergies(x []float64) []float64 {
	m := r.m
	out := make([]float64, len(m.lines)+1)
	q, v, z := m.split(x)
	m.setAxes(q, v)
	for k, p := range m.Parts {
		out[k] = p.StoredEnergy(m.q, m.partStates(k, z))
	}
	multibody.Velocities(m.Model, m.Data, q, v)
	kinetic, potential := m.energy(x)
	out[len(m.lines)] = kinetic + potential
	return out
}

// noteSingular notes a singular position at the end of a step.
func (r *runner) noteSingular(d multibody.Integrator) {
	if m := r.m; m.Model.NC() > 0 && m.Data.Rank < m.Data.FullRank {
		if r.Singular++; r.Singular == 1 {
			r.SingularAt, _ = d.Reached()
		}
	}
}

// addCounts adds what an integrator did since its start.
func (r *runner) addCounts(k multibody.IntegratorStats) {
	r.Accepted, r.Rejected, r.Leaps, r.Choices = r.Accepted+k.Accepted, r.Rejected+k.Rejected, r.Leaps+k.Leaps, r.Choices+k.Choices
	r.Residual, r.Rate = max(r.Residual, k.Gap), max(r.Rate, k.Rate)
	r.Drift, r.Kick = max(r.Drift, k.Drift), max(r.Kick, k.Kick)
}

// project makes quaternions of length one and meets the constraints.
func (r *runner) project(t float64, y []float64) (st multibody.Status) {
	m := r.m
	q, v, _ := m.split(y)
	multibody.Normalise(m.Model, q)
	if m.Model.NC() == 0 {
		return multibody.OK
	}
	m.drive(t)
	m.tie(t, y)
	if st = multibody.Project(m.Model, m.Data, q, v); st == multibody.OK {
		m.rest(v)
	}
	return st
}

// emitSample shows the state y at t (s), which is brought to the constraints first.
func (r *runner) emitSample(t float64, y []float64) error {
	if r.visit == nil {
		return nil
	}
	m, s := r.m, &r.sample
	copy(s.X, y[:r.n])
	if st := r.project(t, s.X); st != multibody.OK {
		return &Failure{T: t, Problem: m.open(st), Position: m.positionText(s.X)}
	}
	s.T, s.Input, s.Loss = t, 0, 0
	for k := range m.lines {
		s.Input += y[r.n+3*k]
		s.Loss += y[r.n+3*k+1]
	}
	if st := m.Flow(t, s.X, r.slope); st != multibody.OK && st != multibody.Singular {
		return &Failure{T: t, Problem: m.named(st), Position: m.positionText(s.X)}
	}
	s.Residual, s.Rate = m.Data.Residual()
	s.Lambda = m.Data.Lambda
	s.Kinetic, s.Potential = m.energy(s.X)
	return r.visit(s)
}

// storedRounding is the share of what a part stores below which a change is no measure of a balance: where little happens all is rounding.
const storedRounding = 1e-9

// close ends the audit at the state y.
func (r *runner) close(y []float64) {
	end := r.lineEnergies(y[:r.n])
	a := &circuit.Audit{}
	bodies := circuit.Energies{Name: mechanicsLine, StoredChange: end[len(end)-1] - r.start[len(end)-1]}
	for k, name := range r.m.lines {
		e := circuit.Energies{Name: name, Input: y[r.n+3*k], Loss: y[r.n+3*k+1], Output: y[r.n+3*k+2], StoredChange: end[k] - r.start[k]}
		bodies.Output -= e.Output
		if k >= len(r.m.Parts) && e == (circuit.Energies{Name: name}) {
			continue
		}
		e.Gross = storedRounding * math.Abs(r.start[k])
		a.Lines = append(a.Lines, e)
	}
	a.Lines = append(a.Lines, bodies)
	r.Audit = a
}

// named is a status in words, with the part that has it.
func (m *Machine) named(st multibody.Status) string {
	if m.fault != "" {
		return m.fault
	}
	if st == multibody.OK {
		return "the motion grows beyond all numbers"
	}
	return "equations of motion: " + st.String()
}

// stopReason says what stopped the integrator.
func (m *Machine) stopReason(err error, last multibody.Status) string {
	var stop *engine.Stop
	if g, _ := m.Data.Residual(); g > openGap {
		return m.open(multibody.NotConverged)
	}
	switch {
	case errors.Is(err, engine.ErrNonFinite) || last != multibody.OK && last != multibody.Singular:
		return m.named(last)
	case errors.As(err, &stop):
		what := fmt.Sprintf("%v, %d steps were taken, the last try was %.3g s", stop.Cause, stop.Steps, stop.H)
		for _, p := range m.Parts {
			if c := network(p); c != nil {
				what += c.StiffnessHint()
			}
		}
		return what
	}
	return err.Error()
}

const openGap = 1e-9 // m, rad  of a constraint that is not met

// open names the constraint that is missed most.
func (m *Machine) open(st multibody.Status) string {
	if st == multibody.NotConverged {
		worst := 0
		for k, g := range m.Data.G {
			if math.Abs(g) > math.Abs(m.Data.G[worst]) {
				worst = k
			}
		}
		return fmt.Sprintf("%v: %s is off by %.3g", st, m.Model.Constraints()[worst].Name, m.Data.G[worst])
	}
	return m.named(st)
}

// positionText lists the positions of the first axes.
func (m *Machine) positionText(x []float64) string {
	const most = 6
	q, _, _ := m.split(x)
	var list []string
	for k, a := range m.axes[:len(m.axes)-len(m.cuts)] {
		if k == most {
			list = append(list, "…")
			break
		}
		unit := "rad"
		if a.linear {
			unit = "m"
		}
		list = append(list, fmt.Sprintf("%s = %.6g %s", a.name, q[a.iq], unit))
	}
	return strings.Join(list, ", ")
}
