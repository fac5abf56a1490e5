package response

import (
	"fmt"
	"slices"

	"hilrig/engine/numeric"
	"hilrig/identify/filter"
	"hilrig/identify/fit"
)

// suspects are what may be wrong with the machine and the records, for fit.Unmodelled: numbers of the machine that are not searched,
// gains and zeros of inputs and outputs, outputs that are late. Each is what a little of it does to the simulated outputs.
func (p *problem) suspects(theta []float64) (list []fit.Suspect, gains []Gain) {
	base := make([]float64, p.rows)
	if h := (&hand{p: p}); !h.simulate(theta, 0, len(p.recs), base, false) {
		return nil, nil
	}
	add := func(kind, what, advice string, c []float64) {
		list = append(list, fit.Suspect{Kind: kind, What: what, Advice: advice,
			Columns: []func(int) float64{func(k int) float64 { return c[k] }}})
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
		for _, s := range []struct {
			kind, description string
			change            func(u float64) float64
		}{{"gain", "another gain", func(u float64) float64 { return u * (1 + difference) }},
			{"zero", "another zero", func(u float64) float64 { return u + difference*size }}} {
			q := *p
			q.recs = slices.Clone(p.recs)
			for r := range q.recs {
				rec := &q.recs[r]
				rec.Inputs = slices.Clone(rec.Inputs)
				rec.Inputs[i] = make([]float64, len(p.recs[r].Inputs[i]))
				for k, u := range p.recs[r].Inputs[i] {
					rec.Inputs[i][k] = s.change(u)
				}
			}
			if c := differing(q, difference); c != nil {
				if s.kind == "gain" {
					gains = append(gains, Gain{name, c})
				}
				add(s.kind+" of an input", fmt.Sprintf("what %s of %s makes", s.description, name), "Check this column.", c)
			}
		}
	}
	for j, o := range p.spec.Outputs {
		gain, zero, late := make([]float64, p.rows), make([]float64, p.rows), make([]float64, p.rows)
		for r := range p.recs {
			from := p.firstRow[r][j]
			to := from + p.recs[r].Len()
			copy(gain[from:to], base[from:to])
			copy(late[from:to], filter.Derivative(base[from:to], p.recs[r].Dt))
			for k := from; k < to; k++ {
				zero[k] = 1
			}
		}
		gains = append(gains, Gain{o.Name, gain})
		add("gain of an output", "what another gain of "+o.Name+" makes", "Check this column.", gain)
		add("zero of an output", "what another zero of "+o.Name+" makes", "Check this column.", zero)
		add("late output", "what "+o.Name+" makes that is late, or early", "Give delay of this column.", late)
	}
	return list, gains
}
