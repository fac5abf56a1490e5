package linear

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
)

// A force that is rounded to whole steps is off by up to half a step, and not by chance: the same force is off by the same amount each
// time. What the motion says of the force tells by how much.

// rounded is by how much rounding moves the recorded force at the kept rows, for the force that the model makes with theta; nil: the
// force has no step that shows.
func (r *regression) rounded(theta []float64) []float64 {
	steps, any := make([]float64, len(r.recs)), false
	for _, i := range r.of {
		if d := r.recs[i]; d.ForceStep > 0 {
			steps[i] = d.ForceStep
		} else {
			steps[i] = numeric.EncoderStep(d.Force)
		}
		any = any || steps[i] > 0
	}
	if !any {
		return nil
	}
	all := r.right(func(p part) []float64 {
		of := r.form.quiet(p.rec, p.from, p.to)
		out := make([]float64, len(of.v))
		for j, c := range r.columns {
			if x := of.column(c.term, of.v); x != nil {
				floats.AddScaled(out, theta[j], x)
			}
		}
		for k, f := range out {
			out[k] = 0
			if step := steps[p.rec]; step > 0 {
				out[k] = step*math.Round(f/step) - f
			}
		}
		return out
	})
	kept := make([]float64, 0, len(all))
	r.runs(func(from, to int) { kept = append(kept, all[from:to]...) })
	return kept
}
