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

// modelPast is what the past of the functions of a model tells at some rows: no suspect has a part in it.
type modelPast struct {
	count              int // of the functions
	rows, pieces       []int
	pastRows           int         // rows, see pastRows
	pastSpan           span        // of the functions at the times before
	rowSpan            span        // and at the rows
	e                  []float64   // residual at the rows
	columns, predicted [][]float64 // the functions there, and as their past tells them
}

// pastOfModel is the past of the functions so far.
func (x *explained) pastOfModel() *modelPast {
	if x.modelPast != nil && x.modelPast.count == len(x.functions) {
		return x.modelPast
	}
	m := &modelPast{count: len(x.functions)}
	x.modelPast = m
	if m.rows, m.pieces, m.pastRows = x.pastRows(); m.rows == nil {
		return m
	}
	m.e = columnAt(func(k int) float64 { return x.solution.Residual[k] }, m.rows)
	for _, c := range x.functions {
		m.add(c, &m.pastSpan)
		m.columns = append(m.columns, columnAt(c, m.rows))
	}
	for _, c := range m.columns {
		m.predicted = append(m.predicted, addProjection(make([]float64, len(c)), c, m.pastSpan.q))
		m.rowSpan.add(c, minPart)
	}
	return m
}

// add takes the past of a function into a basis.
func (m *modelPast) add(c func(k int) float64, before *span) {
	for _, step := range pastSteps {
		by := int(math.Ceil(step * float64(m.pastRows)))
		before.add(columnAt(func(k int) float64 { return c(k - by) }, m.rows), 1e-3)
	}
}

// addProjection adds to sum what orthonormal columns hold of c.
func addProjection(sum, c []float64, q [][]float64) []float64 {
	for _, q := range q {
		floats.AddScaled(sum, floats.Dot(q, c), q)
	}
	return sum
}

// foretold is a finding of a suspect of one column as its past tells it, where noise that is fed back makes another one of it.
func (x *explained) foretold(sp *Suspect, f finding) finding {
	if len(sp.Columns) != 1 || f.p >= unmodelledP {
		return f
	}
	m := x.pastOfModel()
	if m.rows == nil {
		return f
	}
	past, functions := m.pastSpan.clipped(), m.count+1
	m.add(sp.Columns[0], &past)
	columns, told := append(slices.Clip(m.columns), columnAt(sp.Columns[0], m.rows)), make([][]float64, functions)
	for i, c := range m.predicted {
		told[i] = addProjection(slices.Clone(c), columns[i], past.q[len(m.pastSpan.q):])
	}
	told[m.count] = addProjection(make([]float64, len(m.rows)), columns[m.count], past.q)
	plain, _, plainErrors, ok := lastOf(m.rowSpan.clipped(), columns, columns, m.e)
	other, left, otherErrors, ok2 := lastOf(span{}, told, columns, m.e)
	if !ok || !ok2 || !x.unknown(past.q, left, len(past.q)-functions) {
		return f
	}
	apart := slices.Clone(otherErrors)
	floats.Sub(apart, plainErrors)
	cov, _ := LongRun([][]float64{apart, otherErrors}, m.pieces)
	if by := other - plain; !(by*by > fedBackAt*cov[0]) {
		return f
	}
	f.share *= math.Min(1, other*other/(plain*plain))
	f.b = []float64{other}
	f.waldStatistic = other * other / cov[3]
	n := math.Max(x.independent, 1)
	f.gain = n * math.Log1p(f.waldStatistic/n)
	f.p = distuv.F{D1: 1, D2: math.Max(float64(len(m.rows)-functions)/4, 1)}.Survival(f.waldStatistic)
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

// minPart is the share of a column that the others must not hold.
const minPart = 1e-4

// lastOf is the coefficient of the last column with instruments, the first of which are in z, what is left over then, and the error of the
// coefficient by row: they add up to it.
func lastOf(z span, instruments, columns [][]float64, e []float64) (b float64, left, errors []float64, ok bool) {
	for _, c := range instruments[z.count:] {
		z.add(c, minPart)
	}
	if len(z.q) < len(instruments) {
		return 0, nil, nil, false
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
