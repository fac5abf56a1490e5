package linear

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hilrig/engine/numeric"
)

// solution is what linear least squares says about W·θ = y + e. A change δ of y moves θ by (XᵀX)⁻¹·Xᵀδ.
type solution struct {
	theta []float64
	turn  []float64   // X = Z·turn, row-major, Z the instruments or else W; nil: X = Z
	rows  *regression // that were fitted; nil: those that are kept
}

// MaxCondition is where a fit is refused: beyond it the digits of a parameter are made of noise. It bounds
// the condition number of the column-scaled regressor, which does not depend on units.
const MaxCondition = 1e4

// solve fits the kept rows by the triangular factor of the regressor. Dependent columns are found on the factor with its
// columns scaled to length one, whose singular values are those of the scaled W, before anything is solved; they come back as
// *Unidentifiable.
func (r *regression) solve(by Form, o Options) (*solution, error) {
	s := &solution{}
	if err := r.examine(); err != nil {
		return nil, err
	}
	var err error
	if by != Total && !r.form.free {
		s.theta, s.turn, _, err = r.least()
		return s, err
	}
	if s.rows = r.only(true); r.form.free {
		s.rows.evenNoise()
	} else {
		s.rows.spread(o.NoiseRatio)
	}
	return s, s.rows.totalLeastSquares(s)
}

// least solves the kept rows by least squares or, where there are instruments, by those, and gives the sum of squares that is left.
//
// With [Z W y] = Q·R, the part of the columns that the p instruments explain is in the first p rows of R: with T and c what stands
// there of W and y, and S what stands there of Z, T·θ = c and Z·(ZᵀZ)⁻¹·Zᵀ·W = Z·S⁻¹·T. No column is needed twice, or as a whole.
func (r *regression) least() (theta, turn []float64, left float64, err error) {
	w, _ := r.regressor()
	p := len(w)
	theta = make([]float64, p)
	if r.z == nil {
		f := r.factor(w)
		err = f.Solve(theta)
		return theta, nil, f.SumSquares(), err
	}
	columns, at := slices.Clone(r.z), make([]int, p)
	for j, col := range w {
		if at[j] = place(columns, col); at[j] < 0 {
			at[j], columns = len(columns), append(columns, col)
		}
	}
	f := r.factor(columns)
	all, c := f.Triangle()
	n := len(columns)
	of := func(i int) []float64 { // row i of R in the columns of W
		row := make([]float64, p)
		for j, k := range at {
			row[j] = all[i*n+k]
		}
		return row
	}
	own := numeric.NewFactor(p)
	for i := range p {
		own.Add(of(i), c[i])
	}
	err = own.Solve(theta)
	left, turn = f.SumSquares(), make([]float64, p*p)
	for i := p; i < n; i++ {
		e := c[i] - floats.Dot(of(i), theta)
		left += e * e
	}
	x := make([]float64, p)
	for j := range p {
		s := numeric.NewFactor(p)
		for i := range p {
			s.Add(all[i*n:i*n+p], of(i)[j])
		}
		err = errors.Join(err, s.Solve(x))
		for i, v := range x {
			turn[i*p+j] = v
		}
	}
	if err != nil {
		err = unlikeMotion
	}
	return theta, turn, left, err
}

// place is where among columns one stands; −1: nowhere.
func place(columns [][]float64, col []float64) int {
	return slices.IndexFunc(columns, func(c []float64) bool { return &c[0] == &col[0] })
}

// theta is the solution of the kept rows.
func (r *regression) theta() ([]float64, error) {
	theta, _, _, err := r.least()
	return theta, err
}

// examine refuses dependent columns.
func (r *regression) examine() error {
	w, columns := r.regressor()
	p := len(w)
	tri, _ := r.factor(w).Triangle()
	scaled := mat.NewDense(p, p, slices.Clone(tri))
	length := make([]float64, p)
	for j := range p {
		length[j] = mat.Norm(scaled.ColView(j), 2)
	}
	if err := zeroColumns(columns, length); err != nil {
		return err
	}
	scaled.Apply(func(_, j int, v float64) float64 { return v / length[j] }, scaled)
	return checkRank(columns, scaled, length)
}

// misfit is y − W·θ.
func (r *regression) misfit(theta []float64) []float64 {
	e := slices.Clone(r.y)
	w, _ := r.regressor()
	for j, col := range w {
		floats.AddScaled(e, -theta[j], col)
	}
	return e
}
