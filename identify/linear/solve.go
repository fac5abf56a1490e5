package linear

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine/numeric"
)

// solution is what linear least squares says about W·θ = y + e.
type solution struct {
	rows      *regression // that were fitted, with the lag among the columns
	theta     []float64
	influence [][]float64 // X, a slice per column: a change δ of y moves θ by (XᵀX)⁻¹Xᵀδ. W itself but for noisy columns
	condition float64     // of W as it stands, in SI
	scaled    float64     // of W with its columns scaled to length one
}

// MaxCondition is where a fit is refused: beyond it the digits of a parameter are made of noise. It bounds
// the condition number of the column-scaled regressor, which does not depend on units.
const MaxCondition = 1e4

// solve fits the kept rows by the triangular factor of the regressor. Dependent columns are found on the factor with its
// columns scaled to length one, whose singular values are those of the scaled W, before anything is solved; they come back as
// *Unidentifiable.
func (r *regression) solve(by Form, o Options) (*solution, error) {
	rows := r.only()
	s := &solution{rows: rows, influence: rows.w}
	if err := rows.examine(s); err != nil {
		return nil, err
	}
	var err error
	switch {
	case by == Total && !r.form.free:
		rows.spread(o.NoiseRatio)
		err = rows.totalLeastSquares(s)
	case r.form.free:
		rows.evenNoise()
		err = rows.totalLeastSquares(s)
	default:
		s.theta, s.influence, err = rows.linear()
	}
	return s, err
}

// linear solves by least squares or, where there are instruments, by those.
func (r *regression) linear() (theta []float64, influence [][]float64, err error) {
	influence = r.w
	if r.z != nil {
		if influence, err = project(r.z, r.w); err != nil {
			return nil, nil, err
		}
	}
	if theta, err = leastSquares(influence, r.y); err != nil && r.z != nil {
		err = unlikeMotion
	}
	return theta, influence, err
}

// theta is the solution of the kept rows.
func (r *regression) theta() ([]float64, error) {
	theta, _, err := r.only().linear()
	return theta, err
}

// cost is the sum of squares that the kept rows leave.
func (r *regression) cost() float64 {
	rows := r.only()
	theta, _, err := rows.linear()
	if err != nil {
		return math.Inf(1)
	}
	e := rows.misfit(theta)
	return dot(e, e)
}

// examine finds the condition of W and refuses dependent columns.
func (r *regression) examine(s *solution) error {
	w, columns := r.regressor()
	p := len(w)
	tri, _ := r.factor().Triangle()
	scaled := mat.NewDense(p, p, slices.Clone(tri))
	length := make([]float64, p)
	for j := range p {
		length[j] = mat.Norm(scaled.ColView(j), 2)
	}
	if err := zeroColumns(columns, length); err != nil {
		return err
	}
	own := len(r.w) - indicator(r.columns[len(r.columns)-1].term == lagTerm) // that of the lag is in another unit
	s.condition = mat.Cond(scaled.Slice(0, own, 0, own), 2)
	scaled.Apply(func(_, j int, v float64) float64 { return v / length[j] }, scaled)
	var err error
	s.scaled, err = checkRank(columns, scaled, length)
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
	e := slices.Clone(r.y)
	w, _ := r.regressor()
	for j, col := range w {
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
