package linear

import (
	"errors"
	"fmt"
	"hilrig/engine/numeric"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// zeroColumns refuses columns that vanish: nothing in the data excites their parameter.
func zeroColumns(columns []column, length []float64) error {
	e := &Unidentifiable{Condition: math.Inf(1), Limit: MaxCondition}
	for j, c := range columns {
		if !(length[j] > 0) {
			e.Combinations = append(e.Combinations, Combination{Terms: []Term{c.term}, Weights: []float64{1}, Advice: unexcited(c.term)})
		}
	}
	if e.Combinations == nil {
		return nil
	}
	return e
}

func unexcited(t Term) string {
	switch t {
	case ViscousPlus, CoulombPlus:
		return "The axis never moves forward: record motion in both directions, or remove the term."
	case ViscousMinus, CoulombMinus:
		return "The axis never moves backward: record motion in both directions, or remove the term."
	}
	return "The axis does not move as this term needs: is it the right column? Record more motion, or remove the term."
}

// checkRank takes the triangular factor rs of the column-scaled regressor apart by singular values. Every right singular vector whose
// value is below largest/MaxCondition is a combination of columns that vanishes; its large entries name the terms concerned.
func checkRank(columns []column, rs *mat.Dense, length []float64) error {
	var svd mat.SVD
	if !svd.Factorize(rs, mat.SVDThin) {
		return &Unidentifiable{Condition: math.Inf(1), Limit: MaxCondition}
	}
	sv := svd.Values(nil)
	p := len(sv)
	cond := sv[0] / sv[p-1]
	if cond <= MaxCondition {
		return nil
	}
	var v mat.Dense
	svd.VTo(&v)
	e := &Unidentifiable{Condition: cond, Limit: MaxCondition}
	for i := p - 1; i >= 0 && sv[0] > MaxCondition*sv[i]; i-- {
		e.Combinations = append(e.Combinations, combination(columns, v.ColView(i), length, sv[i]))
	}
	return e
}

// combination reads a null vector of the scaled columns: entries below a twentieth of the largest are left out, the rest
// is brought back to the units of the columns.
func combination(columns []column, v mat.Vector, length []float64, sv float64) Combination {
	largest := mat.Norm(v, math.Inf(1))
	c := Combination{Residue: sv / largest}
	for j, col := range columns {
		if math.Abs(v.AtVec(j)) > 0.05*largest {
			c.Terms = append(c.Terms, col.term)
			c.Weights = append(c.Weights, v.AtVec(j)/length[j])
		}
	}
	// the largest weight becomes 1, the first one positive
	scale := math.Copysign(floats.Norm(c.Weights, math.Inf(1)), c.Weights[0])
	for i := range c.Weights {
		c.Weights[i] /= scale
	}
	c.Advice = advice(c.Terms)
	return c
}

// advice says what to do about columns that depend on each other.
func advice(terms []Term) string {
	has := func(want ...Term) bool {
		return !slices.ContainsFunc(want, func(t Term) bool { return !slices.Contains(terms, t) })
	}
	switch {
	case has(CoulombPlus, CoulombMinus, Offset):
		return "In motion, coulomb+ minus coulomb- is the constant 1: a constant force and a difference of Coulomb friction between the " +
			"directions look the same. Keep coulomb+ and coulomb- without offset, or coulomb with offset."
	case has(Coulomb, CoulombPlus) || has(Coulomb, CoulombMinus):
		return "coulomb is the sum of coulomb+ and coulomb-: keep one of the two forms."
	case has(Viscous, ViscousPlus) || has(Viscous, ViscousMinus):
		return "viscous is the sum of viscous+ and viscous-: keep one of the two forms."
	case has(Offset) && (has(Coulomb) || has(CoulombPlus) || has(CoulombMinus)):
		return "All motion in the record is in one direction, where friction and a constant force look the same: record both directions, or " +
			"remove offset."
	case has(Offset, GravityCos):
		return "The axis moves over too small an angle for gravity to change: record a wider motion, or remove one of the terms."
	case has(Inertia, Stiffness) || has(Inertia, GravitySin):
		return "With a single sine the acceleration is proportional to the position: record several frequencies, or remove one of the terms."
	}
	return "Record a motion that tells them apart (several speeds and accelerations), or remove one of the terms."
}

// SpecError lists what is wrong with the settings of a fit.
type SpecError struct{ Problems []string }

func (e *SpecError) Error() string { return strings.Join(e.Problems, "\n") }

// Unidentifiable refuses a fit because the data cannot tell some of the wanted parameters apart. No numbers are given
// with it: those of a singular fit look like results and are noise.
type Unidentifiable struct {
	Condition    float64       // of the regressor with columns scaled to length one; +Inf for a column that is zero
	Limit        float64       // largest condition number that is accepted
	Combinations []Combination // what cannot be told apart, worst first
}

// Combination is a weighted sum of regressor columns that vanishes on this data, to the precision Residue.
type Combination struct {
	Terms   []Term
	Weights []float64 // per term, in the units of the columns, largest in magnitude is 1
	Residue float64   // length of the weighted sum relative to its longest part
	Advice  string
}

func (e *Unidentifiable) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "not identifiable from this data: condition number %.2g of the scaled regressor, at most %.2g is accepted", e.Condition,
		e.Limit)
	for _, c := range e.Combinations {
		fmt.Fprintf(&b, "\n     %s\n     %s", c, c.Advice)
	}
	return b.String()
}

// String writes the combination as an equation between columns.
func (c Combination) String() string {
	if len(c.Terms) == 1 {
		return fmt.Sprintf("the column of %s is zero throughout", c.Terms[0])
	}
	var b strings.Builder
	b.WriteString("columns depend on each other: ")
	for i, t := range c.Terms {
		w, sign := c.Weights[i], " + "
		if w < 0 {
			w, sign = -w, " − "
		}
		if i == 0 {
			sign = strings.TrimPrefix(strings.TrimSpace(sign), "+")
		}
		b.WriteString(sign)
		if w < 0.9995 || w > 1.0005 {
			fmt.Fprintf(&b, "%.3g·", w)
		}
		b.WriteString(string(t))
	}
	fmt.Fprintf(&b, " = 0 (to %.1g)", c.Residue)
	return b.String()
}

// solution is what linear least squares says about W·θ = y + e. A change δ of y moves θ by (XᵀX)⁻¹·Xᵀδ.
type solution struct {
	theta       []float64
	turn        []float64   // X = Z·turn, row-major, Z the instruments or else W; nil: X = Z
	rows        *regression // that were fitted; nil: those that are kept
	removedBias []float64   // by which noise of the position had drawn theta, and which was taken out; nil: nothing
	noise       float64     // share of what is left over that noise of the position makes; 0: not known
	drowned     bool        // noise of the position is more of a direction of the columns than can be taken out …
	lagDrowned  bool        // … but not without the lag
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
	if by != Total && !r.form.undriven {
		var left float64
		if s.theta, s.turn, left, err = r.solveLS(); err == nil && by != Instrumental && o.Unattenuated {
			r.unattenuated(s, left)
			s.lagDrowned = s.drowned && r.slope != nil && !r.drownedWithoutLag()
		}
		return s, err
	}
	if s.rows = r.fittedRegression(true); r.form.undriven {
		s.rows.evenNoise()
	} else {
		s.rows.spread(o.NoiseRatio)
	}
	return s, s.rows.totalLeastSquares(s)
}

// solveLS solves the kept rows by least squares or, where there are instruments, by those, and gives the sum of squares that is left.
//
// With [Z W y] = Q·R, the part of the columns that the p instruments explain is in the first p rows of R: with T and c what stands
// there of W and y, and S what stands there of Z, T·θ = c and Z·(ZᵀZ)⁻¹·Zᵀ·W = Z·S⁻¹·T. No column is needed twice, or as
// a whole.
func (r *regression) solveLS() (theta, turn []float64, left float64, err error) {
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
	theta, _, _, err := r.solveLS()
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
