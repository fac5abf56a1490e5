package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// A controller answers to noise of its sensors, and so the motion holds noise that the residual held a little before: least squares takes
// that for something that the model lacks. What was long before the noise knows nothing of it. So the columns are foretold from
// what they all were before, as far back as the filters of the rows reach, and the coefficient of a suspect is found with these as
// instruments [HAU78]. Where both ways differ by more than chance, the instruments are right.

// fedBackAt is what the squared difference of the two coefficients over its variance passes once in twenty times by chance.
const fedBackAt = 3.84

// pastP is the probability by chance, below which the past knows something of what is left over.
const pastP = 0.05

// pastReach is how far filters of the rows reach to either side, in the Blur of a solution: what is left beyond is a hundredth.
const pastReach = 2

// pastSteps are the times before a row that foretell it, in those that the filters of two rows reach.
var pastSteps = []float64{1, 1.5, 2, 3}

// pastLeast is the share of the rows that have such a past, below which nothing is told.
const pastLeast = 0.5

// foretold is a finding of a suspect of one column as its past tells it, where noise that is fed back makes another one of it.
func (x *explained) foretold(sp *Suspect, f finding) finding {
	rows, pieces, back := x.pastRows()
	if len(sp.Columns) != 1 || f.p >= unmodelledP || rows == nil {
		return f
	}
	functions := append(slices.Clip(x.functions), sp.Columns[0])
	var past span
	for _, c := range functions {
		for _, step := range pastSteps {
			by := int(math.Ceil(step * float64(back)))
			past.add(columnAt(func(k int) float64 { return c(k - by) }, rows), 1e-3)
		}
	}
	e := columnAt(func(k int) float64 { return x.solution.Residual[k] }, rows)
	columns, told := make([][]float64, len(functions)), make([][]float64, len(functions))
	for i, c := range functions {
		columns[i], told[i] = columnAt(c, rows), make([]float64, len(rows))
		for _, q := range past.q {
			floats.AddScaled(told[i], floats.Dot(q, columns[i]), q)
		}
	}
	plain, _, plainErrors, ok := lastOf(columns, columns, e)
	other, left, otherErrors, ok2 := lastOf(told, columns, e)
	if !ok || !ok2 || !x.unknown(past.q, left, len(past.q)-len(functions)) {
		return f
	}
	apart := slices.Clone(otherErrors)
	floats.Sub(apart, plainErrors)
	cov, _ := LongRun([][]float64{apart, otherErrors}, pieces)
	if by := other - plain; !(by*by > fedBackAt*cov[0]) {
		return f
	}
	f.share *= math.Min(1, other*other/(plain*plain))
	f.b = []float64{other}
	f.waldStatistic = other * other / cov[3]
	n := math.Max(x.independent, 1)
	f.gain = n * math.Log1p(f.waldStatistic/n)
	f.p = distuv.F{D1: 1, D2: math.Max(float64(len(rows)-len(functions))/4, 1)}.Survival(f.waldStatistic)
	return f
}

// unknown tells whether the past knows nothing of what is left over with it as instruments (a test of the restrictions beyond those that
// are needed): else the model lacks something more, and the difference of two coefficients tells of that.
func (x *explained) unknown(past [][]float64, left []float64, more int) bool {
	if more < 1 {
		return true
	}
	size := 0.0
	for _, q := range past {
		a := floats.Dot(q, left)
		size += a * a
	}
	rows := math.Max(1, x.independent) * float64(len(left)) / float64(len(x.e))
	return distuv.ChiSquared{K: float64(more)}.Survival(rows*size/floats.Dot(left, left)) > pastP
}

// lastOf is the coefficient of the last column with instruments, what is left over then, and the error of the coefficient by row: they add
// up to it.
func lastOf(instruments, columns [][]float64, e []float64) (b float64, left, errors []float64, ok bool) {
	z := span{}
	for _, c := range instruments {
		if !z.add(c, 1e-4) {
			return 0, nil, nil, false
		}
	}
	theta := z.solve(z.columnProducts(productsOf(instruments, e)))
	left = slices.Clone(e)
	for j, c := range columns {
		floats.AddScaled(left, -theta[j], c)
	}
	last := len(columns) - 1
	errors = floats.MulTo(slices.Clone(left), left, z.q[last])
	floats.Scale(1/z.r[last][last], errors)
	return theta[last], left, errors, true
}

func productsOf(columns [][]float64, e []float64) (out []float64) {
	for _, c := range columns {
		out = append(out, floats.Dot(c, e))
	}
	return out
}

// pastRows are the rows whose past is in the same piece, and by how many rows that begins before them; nil: there are too few, or no filter
// is known.
func (x *explained) pastRows() (rows, pieces []int, back int) {
	s := x.solution
	if !x.series || !(s.Blur > 0) || len(s.Local) > 0 {
		return nil, nil, 0
	}
	back = int(math.Ceil(2 * pastReach * s.Blur / s.Dt))
	reach := int(math.Ceil(pastSteps[len(pastSteps)-1] * float64(back)))
	begin := 0
	for i, next := 0, s.Pieces; i < len(x.rows); i++ {
		k := x.rows[i]
		for len(next) > 0 && next[0] <= k {
			begin, next = next[0], next[1:]
		}
		if k-reach >= begin {
			rows = append(rows, k)
		}
	}
	if float64(len(rows)) < pastLeast*float64(len(x.rows)) {
		return nil, nil, 0
	}
	return rows, PiecesOf(rows, s.Pieces), back
}
