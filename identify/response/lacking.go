package response

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
	"hilrig/identify/filter"
	"hilrig/identify/fit"
)

const (
	checkColumn = "Check this column."
	numberKind  = "number of the machine"
)

// course is the time of sample k of n, from −1 to 1: a zero that drifts.
func course(k, n int) float64 { return 2*float64(k)/float64(max(1, n-1)) - 1 }

// Of a force that is pushed on a joint to see what it does.
const (
	pushAim         = 0.1 // times the noise of the outputs, by which these should change …
	minPushedChange = 1e-3
	maxPushedChange = 1 // … and these the limits within which they go with it
	pushTries       = 6
)

// forceKinds are the forces that are tried of every machine, by their places among those of their kind. Where more than noise is left over
// the first of every other kind is tried too.
var forceKinds = map[string][]int{"drag": {0}, "viscous friction": {0}, "dry friction": {0}, "direction": {0}, "Stribeck": {1, 3},
	"gravity": {0}, "stiffness": {0}, fit.ConstantForce: {0}, "drift": {0}}

// forces are suspects of forces that the machine does not have at its joints: friction that is not straight in the velocity, what depends on
// the position and what happens behind a reversal, along the simulated motion. What a parameter of sol or a number does already is none.
func (s *faultSearch) forces(sol *fit.Solution, aboveNoise bool) (list []fit.Suspect) {
	p, theta, base := s.problem, s.theta, s.base
	m, err := p.spec.Build(theta[:len(p.spec.Params)])
	if err != nil {
		return nil
	}
	for i, joint := range m.Joints {
		q, spec := *p, *p.spec
		spec.Outputs = []Output{{Name: joint.Name + ".q"}, {Name: joint.Name + ".v"}}
		q.spec, q.scale = &spec, []float64{1, 1}
		q.layout()
		at, motion := make([]float64, q.rows), fit.Motion{Rotary: joint.Rotary, Dt: p.recs[0].Dt, RowTime: p.recs[0].Dt}
		if h := (&hand{p: &q}); !h.simulate(theta, 0, len(q.recs), at, false) {
			continue
		}
		for r := range q.recs {
			if r > 0 {
				motion.Pieces = append(motion.Pieces, len(motion.X))
			}
			n := q.recs[r].Len()
			motion.X = append(motion.X, at[q.firstRow[r][0]:][:n]...)
			motion.V = append(motion.V, at[q.firstRow[r][1]:][:n]...)
		}
		var own []fit.Suspect
		count := map[string]int{}
		for _, sp := range motion.Suspects() {
			n, wanted := count[sp.Kind], forceKinds[sp.Kind]
			if wanted == nil && aboveNoise {
				wanted = []int{0}
			}
			if slices.Contains(wanted, n) {
				own = append(own, sp)
			}
			count[sp.Kind]++
		}
		own = append(own, wideDip(motion.V))
		size, keep := 1e-3, make([]bool, len(own))
		if first := p.pushColumns(theta, base, i, own[:min(1, len(own))], &size); first == nil {
			continue // it does not move
		}
		fit.Parallel(len(own), func(k int) {
			by := size
			moved := p.pushColumns(theta, base, i, own[k:k+1], &by)
			if keep[k] = moved != nil && !(len(moved) == 1 && s.known(sol, moved[0])); !keep[k] {
				return
			}
			for c := range moved {
				own[k].Columns[c] = func(row int) float64 { return moved[c][row] }
			}
		})
		for k, sp := range own {
			if !keep[k] {
				continue
			}
			if sp.Joint = joint.Name; len(m.Joints) > 1 {
				sp.What += ", at joint " + joint.Name
			}
			sp.JumpsAtTurns = false
			list = append(list, sp)
		}
	}
	return list
}

// widestDip is the speed, relative to the top speed, below which a wide dip is.
const widestDip = 0.6

// wideDip is friction that differs over most of the speeds. Dry and viscous friction take nearly all of it: as much as the outputs do not
// exclude counts. What is found may be a part of it, as a drag that pushes on is: so it is as large as before anything was found, for which
// Unmodelled wants Bounds.
func wideDip(v []float64) fit.Suspect {
	speed := make([]float64, len(v))
	for k := range v {
		speed[k] = math.Abs(v[k])
	}
	slices.Sort(speed)
	vs := widestDip * speed[len(speed)*99/100]
	return fit.Suspect{Kind: "wide Stribeck dip", Advice: "Record faster motion, or fit a law with a Stribeck dip.", Expected: true,
		Bounds:  [2]float64{0, math.SmallestNonzeroFloat64},
		What:    fmt.Sprintf("a friction that differs below %g of the top speed (a wide Stribeck dip)", widestDip),
		Columns: []func(k int) float64{func(k int) float64 { return numeric.Sign(v[k]) * math.Exp(-v[k]*v[k]/(vs*vs)) }}}
}

// asParameter is the square of the correlation from which on a column is that of a parameter.
const asParameter = 0.9999

// known tells whether a parameter of the solution, or a number of the machine, does what a column does.
func (s *faultSearch) known(sol *fit.Solution, column []float64) bool {
	n, square := len(sol.FreeParams), floats.Dot(column, column)
	same := func(other func(k int) float64) bool {
		own, both := 0.0, 0.0
		for k, x := range column {
			d := other(k)
			own, both = own+d*d, both+d*x
		}
		return both*both > asParameter*own*square
	}
	for j := range n {
		if same(func(k int) float64 { return sol.Jac[k*n+j] }) {
			return true
		}
	}
	return slices.ContainsFunc(s.list, func(sp fit.Suspect) bool { return sp.Kind == numberKind && same(sp.Columns[0]) })
}

// pushColumns is what the columns of a suspect, friction of joint i, do to the outputs, by one unit of each; nil: it moves nothing. size
// (N·m, N) is that of a force that can be seen, and is improved.
func (p *problem) pushColumns(theta, base []float64, i int, suspects []fit.Suspect, size *float64) (columns [][]float64) {
	for _, sp := range suspects {
		for _, c := range sp.Columns {
			var push [][]float64
			k, sum := 0, 0.0
			for r := range p.recs {
				var f []float64
				for range p.recs[r].Len() {
					f = append(f, -c(k))
					sum += f[len(f)-1] * f[len(f)-1]
					k++
				}
				push = append(push, f)
			}
			rms := math.Sqrt(sum / float64(k))
			if !(rms > 0) {
				return nil
			}
			column, done := make([]float64, p.rows), false
			for range pushTries {
				by := make([][]float64, len(push))
				for r, f := range push {
					for _, x := range f {
						by[r] = append(by[r], *size/rms*x)
					}
				}
				h := &hand{p: p, pushedJoint: i, push: by}
				if !h.simulate(theta, 0, len(p.recs), column, false) {
					*size /= 100
					continue
				}
				floats.Sub(column, base)
				change := numeric.RMS(column)
				if done = change > minPushedChange && change < maxPushedChange; done {
					floats.Scale(rms / *size, column)
					break
				}
				*size *= math.Min(math.Max(pushAim/math.Max(change, math.SmallestNonzeroFloat64), 1e-4), 1e4)
			}
			if !done {
				return nil
			}
			columns = append(columns, column)
		}
	}
	return columns
}

// A faultSearch finds what faults of the machine and the records do to the simulated outputs, each by a little of it.
type faultSearch struct {
	*problem
	theta, base []float64 // of the solution, and what the machine makes of it
	list        []fit.Suspect
	gains       []Gain // of columns, and of the clock
}

// suspects are what may be wrong with the machine and the records, for fit.Unmodelled: numbers of the machine that are not searched,
// gains of inputs and outputs, zeros that are wrong or drift, outputs that are late. aboveNoise: more than the noise of an output is left
// over.
func (p *problem) suspects(sol *fit.Solution, aboveNoise bool) (list, forces []fit.Suspect, gains []Gain) {
	s := faultSearch{problem: p, theta: fit.Values(sol.Params), base: make([]float64, p.rows)}
	if h := (&hand{p: p}); !h.simulate(s.theta, 0, len(p.recs), s.base, false) {
		return nil, nil, nil
	}
	s.clock()
	for i := range p.spec.Inputs {
		s.input(i)
	}
	for j := range p.spec.Outputs {
		s.output(j)
	}
	s.numbers()
	return s.list, s.forces(sol, aboveNoise), s.gains
}

func (s *faultSearch) add(kind, what, advice string, columns ...[]float64) {
	sp := fit.Suspect{Kind: kind, What: what, Advice: advice, Exact: true}
	for _, c := range columns {
		sp.Columns = append(sp.Columns, func(k int) float64 { return c[k] })
	}
	s.list = append(s.list, sp)
}

// slope is what a change of machine or recordings makes of the outputs, by its size, as a central difference: what a gain does is often
// within a thousandth of what parameters do. nil: it cannot be simulated.
func (s *faultSearch) slope(change func(q *problem, by float64)) []float64 {
	side := func(by float64) []float64 {
		q, c := *s.problem, make([]float64, s.rows)
		change(&q, by)
		if h := (&hand{p: &q}); !h.simulate(s.theta, 0, len(s.recs), c, false) {
			return nil
		}
		return c
	}
	c, other := side(difference), side(-difference)
	if c == nil || other == nil {
		return nil
	}
	floats.Sub(c, other)
	floats.Scale(0.5/difference, c)
	return c
}

// numbers are those of the machine that are not searched.
func (s *faultSearch) numbers() {
	columns := make([][]float64, len(s.spec.Others))
	fit.Parallel(len(columns), func(i int) {
		o := &s.spec.Others[i]
		columns[i] = s.slope(func(q *problem, by float64) {
			spec := *s.spec
			spec.Build = func(theta []float64) (*Machine, error) { return o.Build(theta, o.Value*(1+by)) }
			q.spec = &spec
		})
	})
	for i, c := range columns {
		if o := &s.spec.Others[i]; c != nil {
			s.add(numberKind, fmt.Sprintf("what %s makes that is not %s", o.Path, o.Text),
				"Search it too, or mend it in the file of the machine.", c)
		}
	}
}

func (s *faultSearch) clock() {
	c := s.slope(func(q *problem, by float64) {
		q.recs = slices.Clone(s.recs)
		for r := range q.recs {
			q.recs[r].Dt *= 1 + by
		}
	})
	if c != nil {
		s.gains = append(s.gains, Gain{"", c})
	}
}

func (s *faultSearch) input(i int) {
	size := 0.0
	for r := range s.recs {
		size = max(size, numeric.RMS(s.recs[r].Inputs[i]))
	}
	if size == 0 {
		return
	}
	with := func(change func(u, course float64) float64) []float64 {
		return s.slope(func(q *problem, by float64) {
			q.recs = slices.Clone(s.recs)
			for r := range q.recs {
				rec := &q.recs[r]
				rec.Inputs = slices.Clone(rec.Inputs)
				rec.Inputs[i] = slices.Clone(rec.Inputs[i])
				for k, u := range rec.Inputs[i] {
					rec.Inputs[i][k] += by * change(u, course(k, rec.Len()))
				}
			}
		})
	}
	gain := with(func(u, _ float64) float64 { return u })
	zero := with(func(_, _ float64) float64 { return size })
	drift := with(func(_, course float64) float64 { return size * course })
	if gain == nil || zero == nil || drift == nil {
		return
	}
	name := s.spec.Inputs[i]
	s.gains = append(s.gains, Gain{name, gain})
	s.add("gain of an input", "what another gain of "+name+" makes", checkColumn, gain)
	s.add("zero of an input", "what another zero of "+name+" makes, or one that drifts", checkColumn, zero, drift)
}

func (s *faultSearch) output(j int) {
	gain, zero, drift, late := make([]float64, s.rows), make([]float64, s.rows), make([]float64, s.rows), make([]float64, s.rows)
	for r := range s.recs {
		from := s.firstRow[r][j]
		to := from + s.recs[r].Len()
		copy(gain[from:to], s.base[from:to])
		copy(late[from:to], filter.Derivative(s.base[from:to], s.recs[r].Dt))
		for k := from; k < to; k++ {
			zero[k], drift[k] = 1, course(k-from, to-from)
		}
	}
	name := s.spec.Outputs[j].Name
	s.gains = append(s.gains, Gain{name, gain})
	s.add("gain of an output", "what another gain of "+name+" makes", checkColumn, gain)
	s.add("zero of an output", "what another zero of "+name+" makes, or one that drifts", checkColumn, zero, drift)
	s.add("late output", "what "+name+" makes that is late, or early", "Give delay of this column.", late)
}
