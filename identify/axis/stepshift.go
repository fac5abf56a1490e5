package axis

import (
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/identify/fit"

	"gonum.org/v1/gonum/mat"
)

// StepShift is by how much the free parameters of a solution on Problem would move if the simulation took steps half as
// long, to first order:
//
//	Δθ = −J⁺·(y_{h/2} − y_h),   J = ∂y/∂θ,
//
// in the order of s.Free. Where one exceeds the standard error of its parameter, the simulator sets the interval, not the
// data: refine Substeps. params are those that Problem was given; rows of a robust fit are taken as they are weighted.
func (m *Model) StepShift(params []fit.Param, s *fit.Solution) ([]float64, error) {
	at := map[string]float64{}
	for _, p := range s.Params {
		at[p.Name] = p.Value
	}
	all, err := m.merge(params)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if v, ok := at[all[i].Name]; ok && !all[i].Fixed {
			all[i].Value = v
		}
	}
	q, err := m.plan(all)
	if err != nil {
		return nil, err
	}
	// the steps of the fit are those of the start, not of the estimate
	begin, err := m.merge(params)
	if err != nil {
		return nil, err
	}
	first, err := m.plan(begin)
	if err != nil {
		return nil, err
	}
	copy(q.parts, first.parts)

	pr := q.problem(1)
	n, w := pr.Rows, len(s.Free)
	if len(s.Residual) != n || len(s.Jac) != n*w || w != len(pr.Params) {
		return nil, fmt.Errorf("axis: the solution has %d rows of %d parameters, the problem %d of %d: it is not one of this problem", len(s.Residual), w, n, len(pr.Params))
	}
	theta := make([]float64, w)
	for j, p := range pr.Params {
		theta[j] = p.Value
	}
	var y [2][]float64
	for i := range y {
		y[i] = make([]float64, n)
		if st := q.evaluator(1).Residuals(theta, y[i]); st == engine.NonFinite {
			return nil, fmt.Errorf("axis: the simulation fails at the estimate: %v", st)
		}
		for k := range q.parts {
			q.parts[k] *= 2
		}
	}

	// columns of length one
	a, b := mat.NewDense(n, w, nil), mat.NewVecDense(n, nil)
	size := make([]float64, w)
	for j := range w {
		for k := range n {
			size[j] += s.Jac[k*w+j] * s.Jac[k*w+j]
		}
		if size[j] = math.Sqrt(size[j]); size[j] == 0 {
			return nil, fmt.Errorf("axis: %s has no effect on the record, so a step has none on it", pr.Params[j].Name)
		}
		for k := range n {
			a.Set(k, j, s.Jac[k*w+j]/size[j])
		}
	}
	for k := range n {
		b.SetVec(k, y[0][k]-y[1][k])
	}
	var qr mat.QR
	qr.Factorize(a)
	var d mat.VecDense
	if err := qr.SolveVecTo(&d, false, b); err != nil {
		return nil, fmt.Errorf("axis: the parameters cannot be told apart: %w", err)
	}
	shift := make([]float64, w)
	for j := range shift {
		shift[j] = d.AtVec(j) / size[j]
	}
	return shift, nil
}
