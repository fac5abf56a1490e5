package linear

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine/numeric"
)

// solution is what linear least squares says about W·θ = y + e.
type solution struct {
	theta     []float64
	influence [][]float64 // X, a slice per column: a change δ of y moves θ by (XᵀX)⁻¹Xᵀδ. W itself but for noisy columns
	condition float64     // of W as it stands, in SI
	scaled    float64     // of W with its columns scaled to length one
}

// MaxCondition is where a fit is refused: beyond it the digits of a parameter are made of noise. It bounds
// the condition number of the column-scaled regressor, which does not depend on units.
const MaxCondition = 1e4

// solve fits by the triangular factor of the regressor. Dependent columns are found on the factor with its columns scaled to
// length one, whose singular values are those of the scaled W, before anything is solved; they come back as *Unidentifiable.
func (r *regression) solve() (*solution, error) {
	s := &solution{influence: r.w}
	if err := r.examine(s); err != nil {
		return nil, err
	}
	switch {
	case r.z != nil:
		var err error
		if s.influence, err = project(r.z, r.w); err != nil {
			return nil, err
		}
		if s.theta, err = leastSquares(s.influence, r.y); err != nil {
			return nil, unlikeMotion
		}
	case r.noise != nil:
		if err := r.totalLeastSquares(s); err != nil {
			return nil, err
		}
	default:
		var err error
		if s.theta, err = leastSquares(r.w, r.y); err != nil {
			return nil, err // not reached: the condition was checked
		}
	}
	return s, nil
}

// examine finds the condition of W and refuses dependent columns.
func (r *regression) examine(s *solution) error {
	p := len(r.w)
	f := numeric.NewFactor(p)
	f.AddColumns(r.w, r.y)
	tri, _ := f.Triangle()
	scaled := mat.NewDense(p, p, slices.Clone(tri))
	length := make([]float64, p)
	for j := range p {
		length[j] = mat.Norm(scaled.ColView(j), 2)
	}
	if err := zeroColumns(r.columns, length); err != nil {
		return err
	}
	s.condition = mat.Cond(scaled, 2)
	scaled.Apply(func(_, j int, v float64) float64 { return v / length[j] }, scaled)
	var err error
	s.scaled, err = checkRank(r.columns, scaled, length)
	return err
}

// leastSquares makes ‖x·θ − y‖ least.
func leastSquares(x [][]float64, y []float64) ([]float64, error) {
	f := numeric.NewFactor(len(x))
	f.AddColumns(x, y)
	theta := make([]float64, len(x))
	return theta, f.Solve(theta)
}

// misfit is y − W·θ.
func (r *regression) misfit(theta []float64) []float64 {
	e := append([]float64(nil), r.y...)
	for j, col := range r.w {
		for k, c := range col {
			e[k] -= theta[j] * c
		}
	}
	return e
}

func dot(a, b []float64) float64 {
	s := 0.0
	for k, x := range a {
		s += x * b[k]
	}
	return s
}
