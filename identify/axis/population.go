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
// are zero then. x0 and v0, the state at the first sample, have to be fixed; missing, they are zero. vd, N0 and lag are
// understood if they are fixed at zero: the kernels know none of them. An error says why a Model has to do it.
//
// The scheme is friction.ExplicitPade, which has a limit of stability. The sampling interval is divided so that the whole
// box stays below it, or, where that would take more than a few parts, the start with some distance; members beyond the
// limit count as failed, with large finite residuals. Its error, of first order, is a bias of the estimates (σ0 by 1 % at
// σ0/M = 1e4 s⁻² and 1 ms): what is found here is the start of a fit of a Model with the midpoint scheme.
func PopulationProblem(rec *record.Record, out Output, params []fit.Param) (*fit.Problem, error) {
	tr := population.Trace{Dt: rec.Dt, U: rec.Force, Y: rec.Position, Output: population.Position}
	e := &populationEvaluator{quantity: "position", dt: rec.Dt}
	unit := "m"
	if out == Velocity {
		tr.Y, tr.Output, e.quantity, unit = rec.Velocity, population.Velocity, "velocity", "m/s"
	}
	if out == Command || len(tr.Y) == 0 {
		return nil, fmt.Errorf("population: nothing to compare: no %s was recorded, or a command is asked for", e.quantity)
	}
	box, err := newPopulationBox(params, &tr)
	if err != nil {
		return nil, err
	}
	if tr.Substeps = box.substeps(tr.Dt); tr.Substeps > populationStartSteps {
		return nil, fmt.Errorf("population: the contact is so stiff at the start that steps of %.4g s would have to be divided into %d parts, "+
			"at most %d are", tr.Dt, tr.Substeps, populationStartSteps)
	}
	kernel, err := population.New(tr)
	if err != nil {
		return nil, err
	}
	e.memberPlaces, e.y = box.memberPlaces, tr.Y
	if slices.ContainsFunc(box.freeParams, func(p fit.Param) bool { return p.Name == "J" || strings.Contains(p.Unit, "rad") }) {
		unit = strings.Replace(unit, "m", "rad", 1)
	}
	return &fit.Problem{Params: box.freeParams, Rows: kernel.Rows(), Unit: unit, NewEvaluator: func() fit.Evaluator {
		own := *e
		own.kernel, own.singleMember, own.singleResidual = kernel.Fork(), make([][]float64, 1), make([][]float64, 1)
		for range kernel.Width() {
			own.members = append(own.members, slices.Clone(box.value))
		}
		return &own
	}}, nil
}

// populationBox are the parameters, those of a member in the order of population.Names.
type populationBox struct {
	freeParams   []fit.Param
	memberPlaces []int // places of the free parameters in a member
	value        []float64
	lo, hi       []float64
}

// newPopulationBox sorts the parameters, and takes the first state of the trace from them.
func newPopulationBox(params []fit.Param, t *population.Trace) (*populationBox, error) {
	if err := fit.Check(params); err != nil {
		return nil, err
	}
	n := len(population.Names)
	b, given := &populationBox{value: make([]float64, n), lo: make([]float64, n), hi: make([]float64, n)}, make([]bool, n)
	for _, q := range params {
		name := q.Name
		if name == "J" {
			name = "M"
		}
		i := slices.Index(population.Names[:], name)
		switch {
		case i >= 0:
			given[i], b.value[i], b.lo[i], b.hi[i] = true, q.Value, q.Value, q.Value
			if !q.Fixed {
				b.freeParams, b.memberPlaces = append(b.freeParams, q), append(b.memberPlaces, i)
				b.lo[i], b.hi[i] = q.Lo, q.Hi
			}
			if low := b.lo[i]; name != "offset" && (low < 0 || low == 0 && name != "sigma1" && name != "sigma2") {
				return nil, fmt.Errorf("population: %s: values from %g %s on are asked for, but it has to be above zero", q.Name, low, q.Unit)
			}
		case name == "x0" && q.Fixed:
			t.X0 = q.Value
		case name == "v0" && q.Fixed:
			t.V0 = q.Value
		case slices.Contains([]string{"vd", "N0", "lag"}, name) && q.Fixed && q.Value == 0:
		default:
			return nil, fmt.Errorf("population: %s is not one of %v", q.Name, population.Names)
		}
	}
	for i, name := range population.Names {
		if !given[i] && !slices.Contains([]string{"sigma1", "sigma2", "offset"}, name) {
			return nil, fmt.Errorf("population: %s is missing", name)
		}
	}
	return b, nil
}

// substeps is the number of parts of a sampling interval h: h²σ0/M + 2h(σ1 + σ2)/M ≤ 2, half of the limit of stability, with
// the worst of the box, or with the start.
func (b *populationBox) substeps(h float64) int {
	need := func(m, s0, c float64) int {
		a, b := h*h*s0/m, 2*h*c/m // a/n² + b/n ≤ 2
		return int(math.Ceil(min(1e6, (b+math.Sqrt(b*b+8*a))/4)))
	}
	lo, hi, v := b.lo, b.hi, b.value
	start := max(1, need(v[0], v[1], v[2]+v[3]))
	return max(start, min(populationBoxSteps, need(lo[0], hi[1], hi[2]+hi[3])))
}

// populationEvaluator runs members of a problem.
type populationEvaluator struct {
	kernel         *population.Kernel
	memberPlaces   []int       // places of the free parameters in a member
	members        [][]float64 // members in the order of population.Names
	singleMember   [][]float64 // a single one
	singleResidual [][]float64
	y              []float64 // what is compared
	quantity       string
	dt             float64 // s
}

// fill completes members by what is fixed.
func (e *populationEvaluator) fill(theta [][]float64) [][]float64 {
	for i, th := range theta {
		for j, at := range e.memberPlaces {
			e.members[i][at] = th[j]
		}
	}
	return e.members[:len(theta)]
}

// Residuals is one member.
func (e *populationEvaluator) Residuals(theta, r []float64) engine.Status {
	e.singleMember[0], e.singleResidual[0] = theta, r
	return e.kernel.Residuals(e.fill(e.singleMember), e.singleResidual)
}

// Width is the number of members that fill a batch.
func (e *populationEvaluator) Width() int { return e.kernel.Width() }

// Costs are the sums of squares of some members, as many as fill a batch at most.
func (e *populationEvaluator) Costs(theta [][]float64, limit, cost []float64) {
	e.kernel.Costs(e.fill(theta), limit, cost)
}

// Measured tells what was compared.
func (e *populationEvaluator) Measured() (y []float64, quantity string, pieces []int, dt float64) {
	return e.y, e.quantity, nil, e.dt
}
