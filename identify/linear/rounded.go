package linear

import (
	"math"

	"hilrig/engine/numeric"
)

// A force that is rounded to whole steps is off by up to half a step, and not by chance: the same force is off by the same amount each
// time. What the motion says of the force tells by how much.

// forceSteps are the steps of the recorded force by record, 0 where none shows; nil: none shows anywhere.
func (r *regression) forceSteps() []float64 {
	steps, any := make([]float64, len(r.recs)), false
	for _, i := range r.pieceRecord {
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
	return steps
}

// rounding writes to out by how much rounding to steps moves the force that the model with coefficients theta makes of a track.
func (m *form) rounding(out []float64, of track, theta []float64, step float64) {
	if !(step > 0) {
		clear(out)
		return
	}
	m.force(out, of, theta, true)
	for k, f := range out {
		out[k] = step*math.Round(f/step) - f
	}
}
