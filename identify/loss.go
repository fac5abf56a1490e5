package identify

import (
	"math"
	"slices"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// lossNoise is the scale of a robust loss in standard deviations of the noise: well above it, so that the solution is that
// of least squares where nothing is wrong.
const lossNoise = 20

// loss is that of the plan. Without a scale it is lossNoise times the noise of what is explained.
func (j *job) loss(p *fit.Problem) fit.Loss {
	l := j.plan.LM.Loss
	if l.Scale == 0 && l.Kind != fit.Squares {
		if e, ok := p.New().(fit.Measuring); ok {
			y, _, pieces, _ := e.Measured()
			l.Scale = lossNoise * noiseOf(y, pieces)
		}
	}
	return l
}

// lossOf is the loss with which a solution was found.
func lossOf(s *fit.Solution) fit.Loss {
	name, _ := s.Extra["loss"].(string)
	scale, _ := s.Extra["loss_scale"].(float64)
	return fit.Loss{Kind: fit.LossKind(max(0, slices.Index(fit.Squares.Words(), name))), Scale: scale}
}

// leastNoise is what a series without any noise is taken to have, of its range.
const leastNoise = 1e-6

// noiseOf is the standard deviation of white noise on a smooth series in pieces.
func noiseOf(y []float64, pieces []int) float64 {
	if pieces == nil {
		pieces = []int{0}
	}
	var each [][]float64
	ends := append(slices.Clone(pieces), len(y))
	for i, from := range pieces {
		each = append(each, y[from:ends[i+1]])
	}
	return math.Max(numeric.Noise(each...), leastNoise*(slices.Max(y)-slices.Min(y)))
}
