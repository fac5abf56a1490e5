package linear

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

const (
	widestDip   = 2.0  // Stribeck speed that is tried, of the top speed: a wider dip is a straight line there
	dipShare    = 0.2  // of the squares of all rows, which a dip has to explain: bristles and noise look like less of one
	dipMoves    = 0.02 // of a value, by which a dip may move it without a word
	dipExcluded = 10.0 // twice the logarithm of the likelihood by which the rows exclude a dip
)

// wideDip looks at the rows that r holds and the final regression leaves out for their misfit. A Stribeck dip that is over where the others
// begin is right to leave out. One that goes on among them bends friction there so evenly that a straight line explains them, with a
// friction that is too large by most of the dip. So where a dip beside the columns of the model explains all rows as well as the line
// explains the fast ones, and moves friction by more than it may, that is a doubt. Of dips of several widths those that explain as much
// are as likely. nil: there is none.
func (r *regression) wideDip(final *regression) *fit.Reason {
	line, err := final.theta()
	slowest := final.slowest[0]
	if err != nil || r.form.joints || r.form.undriven || slowest <= r.slowest[0] {
		return nil
	}
	columns, _ := r.regressor()
	n, dry := len(columns), make([]float64, len(r.y))
	coulomb, names := []int(nil), []string(nil)
	for j, c := range r.columns {
		if c.term.jumpsAtReversal() {
			coulomb = append(coulomb, j)
			floats.Add(dry, r.w[j])
		}
		if c.term.jumpsAtReversal() || c.term == Viscous || c.term == ViscousPlus || c.term == ViscousMinus {
			names = append(names, c.name)
		}
	}
	type width struct {
		speed, sumSquares, largestMove float64
		column                         int
		theta                          []float64
	}
	var tried []width
	least, dip := math.Inf(1), make([]float64, len(r.y))
	top := numeric.QuantileOf(len(r.v), 0.98, func(k int) float64 { return math.Abs(r.v[k]) })
	for vs := slowest / 4; vs <= widestDip*top; vs *= math.Sqrt2 {
		for k, v := range r.v { // friction passed the filters, and the dip is smooth but for its sign
			dip[k] = dry[k] * math.Exp(-v*v/(vs*vs))
		}
		w := width{speed: vs, theta: make([]float64, n+1)}
		f := r.factor(append(columns[:n:n], dip))
		if f.Solve(w.theta) != nil {
			continue
		}
		w.sumSquares = f.SumSquares()
		least = math.Min(least, w.sumSquares)
		for _, j := range coulomb {
			if by := math.Abs(w.theta[j]-line[j]) / math.Abs(line[j]); by > w.largestMove {
				w.largestMove, w.column = by, j
			}
		}
		tried = append(tried, w)
	}
	square, rows := 0.0, float64(r.rowsKept())
	e := final.misfit(line)
	final.eachFittedRow(0, func(k int) { square += e[k] * e[k] })
	if least > (1-dipShare)*r.withoutDip(columns) || least/rows > slowWorse*square/float64(final.rowsKept()) {
		return nil // something else is wrong with the slow rows, or nothing
	}
	worst := width{largestMove: dipMoves}
	for _, w := range tried {
		if rows*math.Log(w.sumSquares/least) <= dipExcluded && w.largestMove > worst.largestMove {
			worst = w
		}
	}
	if worst.theta == nil {
		return nil
	}
	c, unit := r.columns[worst.column], r.spec.unit("m/s")
	d := fit.Doubt(fit.CodeOf("Stribeck"), "rows below %.3g %s are left out, and a Stribeck dip of %.2g %s explains them as well as the "+
		"others: with it %s would be %.4g instead of %.4g %s. Fit a law with a Stribeck dip, or record faster motion", slowest, unit,
		worst.speed, unit,
		c.name, worst.theta[worst.column], line[worst.column], c.unit)
	d.Params = names
	return &d
}

// withoutDip is the sum of squares that the columns leave, with a drag where one explains more.
func (r *regression) withoutDip(columns [][]float64) float64 {
	n, drag := len(columns), make([]float64, len(r.y))
	for k, v := range r.v {
		drag[k] = v * math.Abs(v)
	}
	plain, f := r.factor(columns).SumSquares(), r.factor(append(columns[:n:n], drag))
	if theta := make([]float64, n+1); f.Solve(theta) == nil && theta[n] > 0 {
		return f.SumSquares()
	}
	return plain
}
