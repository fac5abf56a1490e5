package identify

import (
	"math"
	"slices"

	"hilrig/identify/axis"
	"hilrig/identify/fit"
)

// lossNoise is the scale of a robust loss in standard deviations of the noise: well above it, so that the solution is that
// of least squares where nothing is wrong.
const lossNoise = 20

// loss is that of the plan. Without a scale it is lossNoise times the noise of what is explained.
func (j *job) loss(m *axis.Model, params []fit.Param) (fit.Loss, error) {
	scale := j.plan.LossScale
	if scale == 0 && j.plan.Loss != "" && j.plan.Loss != fit.Squares.String() {
		p, err := m.Problem(params)
		if err != nil {
			return fit.Loss{}, err
		}
		if e, ok := p.New().(fit.Measuring); ok {
			y, _, pieces, _ := e.Measured()
			scale = lossNoise * noiseOf(y, pieces)
		}
	}
	l, err := fit.ParseLoss(j.plan.Loss, scale)
	if err != nil {
		return l, &fit.ParamError{Problems: []string{"lm: " + err.Error()}}
	}
	return l, nil
}

// lossOf is the loss with which a solution was found.
func lossOf(s *fit.Solution) fit.Loss {
	name, _ := s.Extra["loss"].(string)
	scale, _ := s.Extra["loss_scale"].(float64)
	l, err := fit.ParseLoss(name, scale)
	if err != nil {
		return fit.Loss{}
	}
	return l
}

// noiseOf is the standard deviation of white noise on a smooth series, by the median of its third differences, which have 20
// times its variance. Where most of them are zero, as on coarse steps, their mean square serves; a series without any noise
// is taken to have a millionth of its range.
func noiseOf(y []float64, pieces []int) float64 {
	if len(pieces) == 0 {
		pieces = []int{0}
	}
	var d []float64
	sum := 0.0
	for i, from := range pieces {
		to := len(y)
		if i+1 < len(pieces) {
			to = pieces[i+1]
		}
		for k := from; k+3 < to; k++ {
			x := y[k+3] - 3*y[k+2] + 3*y[k+1] - y[k]
			d = append(d, math.Abs(x))
			sum += x * x
		}
	}
	if len(d) == 0 {
		return 0
	}
	least := 1e-6 * (slices.Max(y) - slices.Min(y))
	slices.Sort(d)
	if m := d[len(d)/2]; m > 0 {
		return math.Max(m/0.6745/math.Sqrt(20), least)
	}
	return math.Max(math.Sqrt(sum/float64(len(d))/20), least)
}
