package axis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/engine"
	"hilrig/engine/population"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Substeps of a population: enough for the stiffest member of the box where that is this few, and for the start anyway.
const (
	populationBoxSteps   = 4
	populationStartSteps = 64
)

// PopulationProblem is the output error of a mass on LuGre friction, driven by the recorded force, as a problem on the batch
// kernels of package population: one piece, one law, tens of times faster than a Model, so that a search with a population
// or a fit of six parameters takes a fraction of a second. The output is Position or Velocity.
//
// params are named as in population.Names, J standing for M on a rotary axis; sigma1, sigma2 and offset may be missing and
// are zero then. x0 and v0, the state at the first sample, may be given as fixed parameters; otherwise the record says what
// they are. vd, N0 and lag are understood if they are fixed at zero: the kernels know none of them.
//
// The scheme is friction.ExplicitPade, which has a limit of stability. The sampling interval is divided so that the whole
// box stays below it, or, where that would take more than a few parts, the start with some distance; members beyond the
// limit count as failed, with large finite residuals. Its error, of first order, is a bias of the estimates (σ0 by 1 % at
// σ0/M = 1e4 s⁻² and 1 ms): what is found here is the start of a fit of a Model with the midpoint scheme.
func PopulationProblem(rec *record.Record, out Output, params []fit.Param) (*fit.Problem, error) {
	tr, err := populationTrace(rec, out)
	if err != nil {
		return nil, err
	}
	p, err := newPopulationPlan(params, tr)
	if err != nil {
		return nil, err
	}
	tr.Substeps = p.substeps(tr.Dt)
	if tr.Substeps > populationStartSteps {
		return nil, &fit.ParamError{Problems: []string{fmt.Sprintf(
			"at the start the contact is so stiff (sigma0 %.4g, sigma1 %.4g, inertia %.4g) that steps of %.4g s would have to be divided into %d parts, at most %d are: start from a softer contact, or use the model with the midpoint scheme",
			p.value[1], p.value[2], p.value[0], tr.Dt, tr.Substeps, populationStartSteps)}}
	}
	p.kernel, err = population.New(*tr)
	if err != nil {
		return nil, rec.Fail(0, "", "%v", err)
	}
	p.y, p.dt, p.out = tr.Y, tr.Dt, out
	return p.problem(), nil
}

// populationTrace takes from the record what the kernels need.
func populationTrace(rec *record.Record, out Output) (*population.Trace, error) {
	t := &population.Trace{Dt: rec.Dt, U: rec.Force}
	name := "position"
	switch out {
	case Position:
		t.Y, t.Output = rec.Position, population.Position
	case Velocity:
		t.Y, t.Output, name = rec.Velocity, population.Velocity, "velocity"
	default:
		return nil, rec.Fail(0, "Choose position or velocity as the output, or a model of the axis in its controller.", "a population of open-loop simulations has no command to compare")
	}
	switch n := rec.Len(); {
	case len(rec.Force) != n || n == 0:
		return nil, rec.Fail(0, "Map the column of the drive force or current.", "no force was recorded, which drives the simulation")
	case len(t.Y) != n:
		return nil, rec.Fail(0, "Map its column, or compare the other of position and velocity.", "no %s was recorded, which is to be compared", name)
	case n < 10:
		return nil, rec.Fail(0, "Use a longer record.", "%d samples are too few for a simulation to be compared with", n)
	}
	for k, u := range rec.Force {
		if v := t.Y[k]; math.IsNaN(u-u) || math.IsNaN(v-v) {
			return nil, rec.Fail(0, "Cut the record there, or repair the sample.", "sample %d: force %g, %s %g: want finite numbers", k, u, name, v)
		}
	}
	// the first velocity from the record, else from a parabola through the first positions
	if len(rec.Position) > 0 {
		t.X0 = rec.Position[0]
	}
	switch x := rec.Position; {
	case len(rec.Velocity) > 0:
		t.V0 = rec.Velocity[0]
	case len(x) > 0:
		t.V0 = (4*x[1] - x[2] - 3*x[0]) / (2 * rec.Dt)
	}
	return t, nil
}

// populationPlan is what the evaluators of a problem share.
type populationPlan struct {
	kernel *population.Kernel
	free   []fit.Param
	value  []float64 // of a member, in the order of population.Names: those that are fixed
	box    [2][]float64
	at     []int // places of the free parameters there
	y      []float64
	dt     float64
	out    Output
}

// newPopulationPlan sorts the parameters, and sets the first state of the trace where parameters give it.
func newPopulationPlan(params []fit.Param, t *population.Trace) (*populationPlan, error) {
	var bad []string
	add := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	if err := fit.Check(params); err != nil {
		bad = append(bad, err.(*fit.ParamError).Problems...)
	}
	n := len(population.Names)
	p := &populationPlan{value: make([]float64, n)}
	p.box[0], p.box[1] = make([]float64, n), make([]float64, n)
	given := make([]bool, n)
	for _, q := range params {
		name := q.Name
		if name == "J" {
			name = "M"
		}
		i := slices.Index(population.Names[:], name)
		switch {
		case i >= 0:
			given[i], p.value[i], p.box[0][i], p.box[1][i] = true, q.Value, q.Value, q.Value
			if !q.Fixed {
				p.free, p.at = append(p.free, q), append(p.at, i)
				p.box[0][i], p.box[1][i] = q.Lo, q.Hi
			}
			if low := q.Value; name != "offset" {
				if !q.Fixed {
					low = q.Lo
				}
				if low < 0 || low == 0 && name != "sigma1" && name != "sigma2" {
					add("%s: values from %g %s on are asked for, but it has to be above zero", q.Name, low, q.Unit)
				}
			}
		case name == "x0" && q.Fixed:
			t.X0 = q.Value
		case name == "v0" && q.Fixed:
			t.V0 = q.Value
		case slices.Contains([]string{"vd", "N0", "lag"}, name) && q.Fixed && q.Value == 0:
		default:
			add("%s: a population knows %s, and x0, v0 fixed: fix it at zero, or use a model of the axis", q.Name, strings.Join(population.Names[:], ", "))
		}
	}
	for i, name := range population.Names {
		if !given[i] && !slices.Contains([]string{"sigma1", "sigma2", "offset"}, name) {
			add("%s is missing", name)
		}
	}
	if bad != nil {
		return nil, &fit.ParamError{Problems: bad}
	}
	return p, nil
}

// substeps is the number of parts of a sampling interval h: h²σ0/M + 2h(σ1 + σ2)/M ≤ 2, half of the limit of stability, with
// the worst of the box, or with the start.
func (p *populationPlan) substeps(h float64) int {
	need := func(m, s0, c float64) int {
		a, b := h*h*s0/m, 2*h*c/m // a/n² + b/n ≤ 2
		return int(math.Ceil(min(1e6, (b+math.Sqrt(b*b+8*a))/4)))
	}
	lo, hi, v := p.box[0], p.box[1], p.value
	start := max(1, need(v[0], v[1], v[2]+v[3]))
	return max(start, min(populationBoxSteps, need(lo[0], hi[1], hi[2]+hi[3])))
}

// problem is that of the evaluators.
func (p *populationPlan) problem() *fit.Problem {
	q := &fit.Problem{Params: p.free, Rows: p.kernel.Rows(), Unit: "m"}
	if p.out == Velocity {
		q.Unit = "m/s"
	}
	if i := slices.IndexFunc(p.free, func(f fit.Param) bool { return f.Name == "J" || strings.Contains(f.Unit, "rad") }); i >= 0 {
		q.Unit = strings.Replace(q.Unit, "m", "rad", 1)
	}
	q.New = func() fit.Evaluator {
		e := &populationEvaluator{populationPlan: p, kernel: p.kernel.Fork()}
		e.members(e.kernel.Width())
		e.one, e.oneR, e.limit, e.cost = make([][]float64, 1), make([][]float64, 1), make([]float64, 1), make([]float64, 1)
		return e
	}
	return q
}

// populationEvaluator runs members of a problem.
type populationEvaluator struct {
	*populationPlan
	kernel *population.Kernel
	full   [][]float64 // members in the order of population.Names
	one    [][]float64 // a single one, for the methods that take no batch
	oneR   [][]float64
	limit  []float64
	cost   []float64
}

// members makes sure of room for n.
func (e *populationEvaluator) members(n int) [][]float64 {
	for len(e.full) < n {
		e.full = append(e.full, slices.Clone(e.value))
	}
	return e.full[:n]
}

// fill completes members by what is fixed.
func (e *populationEvaluator) fill(theta [][]float64) [][]float64 {
	full := e.members(len(theta))
	for i, th := range theta {
		for j, at := range e.at {
			full[i][at] = th[j]
		}
	}
	return full
}

// Residuals is one member.
func (e *populationEvaluator) Residuals(theta, r []float64) engine.Status {
	e.one[0], e.oneR[0] = theta, r
	return e.kernel.Residuals(e.fill(e.one), e.oneR)
}

// Cost is one member, given up when it exceeds limit.
func (e *populationEvaluator) Cost(theta []float64, limit float64) float64 {
	e.one[0], e.limit[0] = theta, limit
	e.kernel.Costs(e.fill(e.one), e.limit, e.cost)
	return e.cost[0]
}

// Width is the number of members that fill a batch.
func (e *populationEvaluator) Width() int { return e.kernel.Width() }

// Costs is Cost for many.
func (e *populationEvaluator) Costs(theta [][]float64, limit, cost []float64) {
	e.kernel.Costs(e.fill(theta), limit, cost)
}

// Measured tells what was compared.
func (e *populationEvaluator) Measured() (y []float64, quantity string, pieces []int, dt float64) {
	quantity = "position"
	if e.out == Velocity {
		quantity = "velocity"
	}
	return e.y, quantity, nil, e.dt
}
