package response

import (
	"fmt"
	"slices"

	"hilrig/engine/numeric"
	"hilrig/identify/filter"
	"hilrig/identify/fit"
)

const checkColumn = "Check this column."

// course is the time of sample k of n, from −1 to 1: a zero that drifts.
func course(k, n int) float64 { return 2*float64(k)/float64(max(1, n-1)) - 1 }

// suspects are what may be wrong with the machine and the records, for fit.Unmodelled: numbers of the machine that are not searched,
// gains of inputs and outputs, zeros that are wrong or drift, outputs that are late. Each is what a little of it does to the simulated
// outputs.
func (p *problem) suspects(theta []float64) (list []fit.Suspect, gains []Gain) {
	base := make([]float64, p.rows)
	if h := (&hand{p: p}); !h.simulate(theta, 0, len(p.recs), base, false) {
		return nil, nil
	}
	add := func(kind, what, advice string, columns ...[]float64) {
		sp := fit.Suspect{Kind: kind, What: what, Advice: advice}
		for _, c := range columns {
			sp.Columns = append(sp.Columns, func(k int) float64 { return c[k] })
		}
		list = append(list, sp)
	}
	// what a machine or recordings that differ by d make of the outputs; nil: it cannot be simulated
	differing := func(q problem, d float64) []float64 {
		c := make([]float64, p.rows)
		if h := (&hand{p: &q}); !h.simulate(theta, 0, len(p.recs), c, false) {
			return nil
		}
		for k := range c {
			c[k] = (c[k] - base[k]) / d
		}
		return c
	}
	others := make([][]float64, len(p.spec.Others))
	fit.Parallel(len(others), func(i int) {
		o, q, spec := &p.spec.Others[i], *p, *p.spec
		x := o.Value * (1 + difference)
		spec.Build = func(theta []float64) (*Machine, error) { return o.Build(theta, x) }
		q.spec = &spec
		others[i] = differing(q, difference)
	})
	for i, c := range others {
		if o := &p.spec.Others[i]; c != nil {
			add("number of the machine", fmt.Sprintf("what %s makes that is not %s", o.Path, o.Text),
				"Search it too, or mend it in the file of the machine.", c)
		}
	}
	for i, name := range p.spec.Inputs {
		size := 0.0
		for r := range p.recs {
			size = max(size, numeric.RMS(p.recs[r].Inputs[i]))
		}
		if size == 0 {
			continue
		}
		changed := func(change func(u, course float64) float64) []float64 {
			q := *p
			q.recs = slices.Clone(p.recs)
			for r := range q.recs {
				rec := &q.recs[r]
				rec.Inputs = slices.Clone(rec.Inputs)
				rec.Inputs[i] = make([]float64, len(p.recs[r].Inputs[i]))
				for k, u := range p.recs[r].Inputs[i] {
					rec.Inputs[i][k] = change(u, course(k, rec.Len()))
				}
			}
			return differing(q, difference)
		}
		gain := changed(func(u, _ float64) float64 { return u * (1 + difference) })
		zero := changed(func(u, _ float64) float64 { return u + difference*size })
		drift := changed(func(u, course float64) float64 { return u + difference*size*course })
		if gain == nil || zero == nil || drift == nil {
			continue
		}
		gains = append(gains, Gain{name, gain})
		add("gain of an input", "what another gain of "+name+" makes", checkColumn, gain)
		add("zero of an input", "what another zero of "+name+" makes, or one that drifts", checkColumn, zero, drift)
	}
	for j, o := range p.spec.Outputs {
		gain, zero, drift, late := make([]float64, p.rows), make([]float64, p.rows), make([]float64, p.rows), make([]float64, p.rows)
		for r := range p.recs {
			from := p.firstRow[r][j]
			to := from + p.recs[r].Len()
			copy(gain[from:to], base[from:to])
			copy(late[from:to], filter.Derivative(base[from:to], p.recs[r].Dt))
			for k := from; k < to; k++ {
				zero[k], drift[k] = 1, course(k-from, to-from)
			}
		}
		gains = append(gains, Gain{o.Name, gain})
		add("gain of an output", "what another gain of "+o.Name+" makes", checkColumn, gain)
		add("zero of an output", "what another zero of "+o.Name+" makes, or one that drifts", checkColumn, zero, drift)
		add("late output", "what "+o.Name+" makes that is late, or early", "Give delay of this column.", late)
	}
	return list, gains
}
