package curve

import (
	"slices"

	"hilrig/identify/fit"
)

// StaticAt is what a static map with the given parameters leaves over of other points, each point with the same
// weight. Nothing is fitted.
func StaticAt(points []Point, params []fit.Param, o StaticOptions) (*fit.Solution, error) {
	o.Equal = true
	e, err := newStatic(points, params, o)
	if err != nil {
		return nil, err
	}
	n := len(e.y)
	s := &fit.Solution{Params: slices.Clone(params), Residual: make([]float64, n), Measured: slices.Clone(e.y), Unit: e.unit, Quantity: e.turns.quantity("force at constant velocity"), Converged: true, Notes: e.notes}
	e.m.at(fit.Values(params), s.Residual, nil)
	for k, f := range s.Residual {
		s.Residual[k] = e.y[k] - f
	}
	return s, nil
}
