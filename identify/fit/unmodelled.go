package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/engine/numeric"
)

// Suspect is something that the model may lack: columns that a richer model would have, one row per residual.
type Suspect struct {
	Kind    string                // drag, late force, drift …
	Joint   string                // of which joint; "": of the axis, or of the whole machine
	What    string                // for people, after "the residual holds"
	Advice  string                // the model or experiment that takes it
	Columns []func(k int) float64 // at row k, one of Looked

	Wave      *Wave // that Columns, as they were made, are the sine and cosine of; nil: of none
	WaveOrder int

	// DriftParam is set where the column is that of parameter FreeParams[DriftParam] times a course of time between −1 and 1: the parameter
	// itself changes, and by how much it does is what counts.
	DriftParam int
	Drift      bool
	BothSides  bool // of Drift: the parameter has values to both sides of that of the fit, and the interval holds them

	Exact        bool // its columns are exact: so little of them beside the model counts as minExactShare says
	Turn         bool // it lives where the motion turns
	JumpsAtTurns bool // it jumps where the motion turns: columns of samples pass the low-passes of the force before they are rows

	// Expected is set for what every axis has a little of, with a positive coefficient: what of it the residual does not exclude
	// counts too. So does what lies between Bounds, which hold zero, where something else tells that it may be there.
	Expected       bool
	OneSpeed       bool    // of Expected: next to all of the motion has one speed, at which it looks like another term
	MaxCoefficient float64 // of what is usual: the largest coefficient that it can have; 0: any
	Bounds         [2]float64
	Granted        float64                // of its coefficient: as much, either way, is there without being a fault; 0: none is
	Named          func(b float64) string // What, if the coefficient is b; nil: What
	JudgedAlone    bool                   // it is possible where it is beyond chance by itself, though not as one of all suspects
	Uncertainty    float64                // share by which what it does is uncertain beside chance
	Ranked         int                    // of how many it explains most of something else than what it is tried on; 0: it stands for itself
}

// Shares of a column beside the model from which on it counts.
const (
	minColumnShare = 1e-3
	minExactShare  = 1e-5
)

func (sp *Suspect) minColumnShare() float64 {
	if sp.Exact {
		return minExactShare
	}
	return minColumnShare
}

// tries are the suspects that may show by chance: those that others were preferred to count too.
func tries(suspects []Suspect) (n float64) {
	for i := range suspects {
		n += float64(max(1, suspects[i].Ranked))
	}
	return n
}

// Effect is something that a fit left in its residual, or may have left there.
type Effect struct {
	Kind   string `json:"kind"`
	What   string `json:"what"`
	Advice string `json:"advice"`

	Share      float64            `json:"share_percent"` // of the squared residual that it explains
	PValue     float64            `json:"p"`             // probability of as much without any such structure, of the best of all suspects
	Values     map[string]float64 `json:"values"`        // the parameters with it in the model; where one drifts, its extreme
	ParamMoves map[string]float64 `json:"-"`             // by which each parameter moves
	// share of the moves by which they are uncertain at 95 %, since the size of the effect is
	Uncertainty float64 `json:"-"`
	Worst       string  `json:"worst"` // the parameter that moves most, measured by its tolerance

	Or    []string              `json:"or,omitempty"` // what else explains as much: the residual does not tell which of them it is
	Range map[string][2]float64 `json:"-"`            // of the moves with any of them in the model

	Possible bool `json:"possible,omitempty"` // it does not show: values and moves are those of as much of it as the residual does not exclude
	Expected bool `json:"-"`                  // every axis has a little of it
	OneSpeed bool `json:"-"`                  // of Expected: the motion has one speed, at which it looks like another term
}

// Limits of the search for structure.
const (
	unmodelledRows   = 4096 // that are looked at, evenly spaced
	unmodelledPieces = 33   // of many, at least
	unmodelledRounds = 6    // structures at most
	unmodelledP      = 0.01 // by chance, over all suspects together
	sameShare        = 1e-3 // relative: shares that are one
	sameGain         = 1e-6 // the same of gains: of two that differ by rounding the first is taken, whatever the order of the parameters
	notExcluded      = 10.0 // twice the logarithm of the likelihood by which a suspect explains less and may be it all the same
)

// Looked are the rows at which Unmodelled looks, evenly spaced; of many pieces those of some. With EveryRow it is all of them.
func (s *Solution) Looked() (rows []int) {
	n := len(s.Residual)
	limit := unmodelledRows
	if s.EveryRow {
		limit = max(limit, n)
	}
	stride := max(1, min(len(s.Pieces)/unmodelledPieces, n/(2*limit))) // of pieces
	if stride == 1 {
		for k, by := 0, (n+limit-1)/limit; k < n; k += by {
			rows = append(rows, k)
		}
		return rows
	}
	by := (n/stride + limit - 1) / limit
	for i := 0; i < len(s.Pieces); i += stride {
		to := n
		if i+1 < len(s.Pieces) {
			to = s.Pieces[i+1]
		}
		for k := s.Pieces[i]; k < to; k += by {
			rows = append(rows, k)
		}
	}
	return rows
}

// Unmodelled looks for suspects in the residual: each is added to the model, to first order, and what that does is measured. A
// suspect counts if what it explains is beyond chance at 1 % over all suspects, with a covariance that knows how residuals
// depend on their neighbours [NW87] and on the motion: where that repeats itself, errors of an encoder or of the way do too, and
// a thousand rounds tell no more of them than one. So rows in one cell of position and velocity count as one cluster [LZ86]. The
// suspect that explains most is added for good, and the others are tried again.
//
// With Q an orthonormal basis of the Jacobian X and c a column, c⊥ = c − Q·Qᵀc, b = c⊥ᵀe/c⊥ᵀc⊥, the parameters move by
// −b·X⁺c: the theorem of Frisch, Waugh and Lovell [FW33].
//
// Filters bend what is next to a reversal, where friction jumps. Suspects that do not live there are therefore looked for in
// the other rows, and those that do afterwards, in all of them.
//
// harm is by how much each parameter may move without harm; Worst is set for structures that do more. possible are those that are
// usual, do not show, and are as large as the residual allows.
//
// Where the columns of model and suspects carry noise, noisier are the same with as much noise again: by as much as coefficients differ
// there, on average, the noise itself makes them, and that is taken off [CS94].
func Unmodelled(s *Solution, suspects []Suspect, harm map[string]float64, noisier ...Noisier) (found, possible []Effect) {
	n, p := len(s.Residual), len(s.FreeParams)
	if p == 0 || n == 0 || len(suspects) == 0 {
		return nil, nil
	}
	from := s
	s, suspects, noisier, shift := withoutRivalled(s, suspects, noisier)
	if shift != nil {
		defer func() {
			if len(found) > 0 { // the others come on top of it
				found[0].from(from, shift, harm)
			}
		}()
	}
	all, away := s.rowsAway()
	whole := s.explained(all)
	var columns []func(k int) float64
	for _, turn := range []bool{false, true} {
		rows := away
		if turn {
			rows = all
		}
		x := s.explained(rows)
		if x.q == nil || 2*x.columns() >= len(x.e) {
			break
		}
		x.extend(columns, rows, minColumnShare)
		for i := range noisier {
			x.noisier = append(x.noisier, noisier[i].begin(turn, suspects))
		}
		left, may, more := x.search(s, whole, all, suspects, turn, rows, harm)
		found, possible, columns = append(found, left...), append(possible, may...), append(columns, more...)
	}
	return found, possible
}

// rowsAway are the rows that are looked at, and those of them that no filter mixes with a reversal.
func (s *Solution) rowsAway() (all, away []int) {
	turned := turning(s)
	all = s.Looked()
	for _, k := range all {
		if !turned[k] {
			away = append(away, k)
		}
	}
	if 2*len(away) < len(all) {
		away = all
	}
	return all, away
}

// turning marks the rows that filters mix with a reversal.
func turning(s *Solution) []bool {
	n := len(s.Residual)
	out := make([]bool, n)
	if len(s.Velocity) != n || s.Dt <= 0 {
		return out
	}
	reach := 1 + int(math.Min(s.Blur/s.Dt, float64(n)))
	eachPiece(n, s.Pieces, func(from, to int) {
		until := from - 1
		for k := from + 1; k < to; k++ {
			if s.Velocity[k]*s.Velocity[k-1] > 0 {
				continue
			}
			for i := max(k-1-reach, from, until); i < min(k+reach+1, to); i++ {
				out[i] = true
			}
			until = min(k+reach+1, to) - 1
		}
	})
	return out
}

// columnAt are the rows of a column.
func columnAt(c func(k int) float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for i, k := range rows {
		out[i] = c(k)
	}
	return out
}

// explained is the model on some of the rows.
func (s *Solution) explained(rows []int) *explained { return s.explainedBut(rows, -1) }

// explainedBut is the model without parameter lag of the free ones, as if that were 0; −1: with all.
func (s *Solution) explainedBut(rows []int, lag int) *explained {
	p := len(s.FreeParams)
	x := &explained{trialRoom: new(room), series: s.Dt > 0, solution: s, rows: rows}
	x.e = columnAt(func(k int) float64 { return s.Residual[k] }, rows)
	x.pieces = PiecesOf(rows, s.Pieces)
	x.findLocalBases(s, rows)
	x.free(x.e)
	for j := range p {
		column := func(k int) float64 { return s.Jac[k*p+j] }
		if j == lag {
			floats.AddScaled(x.e, s.Params[s.FreeParams[j]].Value, x.columnWithoutLocal(column, rows))
			continue
		}
		x.add(x.columnWithoutLocal(column, rows), 1e-6)
		x.functions = append(x.functions, column)
	}
	for _, q := range x.q { // what these rows alone would have said
		floats.AddScaled(x.e, -floats.Dot(q, x.e), q)
	}
	x.cells, x.clusters = s.cells(rows)
	return x
}

// findLocalBases finds the bases of the local parameters on some of the rows.
func (x *explained) findLocalBases(s *Solution, rows []int) {
	x.localLeverage = make([]float64, len(rows))
	for _, block := range s.Local {
		var b basis
		b.firstRow, _ = slices.BinarySearch(rows, block.FirstRow)
		b.endRow, _ = slices.BinarySearch(rows, block.FirstRow+len(block.Jac[0]))
		for _, column := range block.Jac {
			b.add(columnAt(func(k int) float64 { return column[k-block.FirstRow] }, rows[b.firstRow:b.endRow]), 1e-6)
		}
		x.local = append(x.local, b)
		for _, q := range b.q {
			for k, v := range q {
				x.localLeverage[b.firstRow+k] += v * v
			}
		}
	}
}

// columns is the number of those that explain the rows.
func (x *explained) columns() int {
	n := len(x.q)
	for i := range x.local {
		n += len(x.local[i].q)
	}
	return n
}

// free takes the local parameters out of a column; nothing is left of one that they make up.
func (x *explained) free(column []float64) []float64 {
	if len(x.local) == 0 {
		return column
	}
	whole := numeric.Length(column)
	for i := range x.local {
		x.local[i].projectOut(column)
	}
	if !(numeric.Length(column) > 1e-6*whole) {
		clear(column)
	}
	return column
}

// columnWithoutLocal are the rows of a column without what local parameters do of it.
func (x *explained) columnWithoutLocal(c func(k int) float64, rows []int) []float64 {
	return x.free(columnAt(c, rows))
}

// cellsAcross is the number of cells in the range of the position, and in that of the velocity.
const cellsAcross = 64

// cells numbers the cells of position and velocity in which the rows are; nil: the motion is not known.
func (s *Solution) cells(rows []int) (cell []int, count int) {
	n := len(s.Residual)
	if len(s.Position) != n || len(s.Velocity) != n {
		return nil, 0
	}
	place := func(x []float64) func(k int) int {
		lo, hi := slices.Min(x), slices.Max(x)
		return func(k int) int { return int(cellsAcross * (x[k] - lo) / math.Max(hi-lo, math.SmallestNonzeroFloat64)) }
	}
	at, fast, number := place(s.Position), place(s.Velocity), map[[2]int]int{}
	for _, k := range rows {
		c := [2]int{at(k), fast(k)}
		if _, seen := number[c]; !seen {
			number[c] = len(number)
		}
		cell = append(cell, number[c])
	}
	return cell, len(number)
}

// clustered is the covariance of the sum of the scores g with the cells as the sample.
func (x *explained) clustered(g [][]float64) []float64 {
	m := len(g)
	sums, s := x.trialRoom.of(m*x.clusters), make([]float64, m*m)
	clear(sums)
	for i, col := range g {
		for k, v := range col {
			sums[x.cells[k]*m+i] += v
		}
	}
	for c := range x.clusters {
		of := sums[c*m : c*m+m]
		for i, a := range of {
			for j, b := range of {
				s[i*m+j] += a * b
			}
		}
	}
	return s
}

// jointCovariance is the covariance of the sum of the scores g that depend on their neighbours in time, by cov, and on those of their
// cell [CGM11]: the sum of both, less that of independent rows, which each of them has.
func (x *explained) jointCovariance(g [][]float64, cov []float64) []float64 {
	s := x.clustered(g)
	for i, a := range g {
		for j, b := range g {
			s[i*len(g)+j] += cov[i*len(g)+j] - floats.Dot(a, b)
		}
	}
	return s
}

// extend adds what was found before.
func (x *explained) extend(columns []func(k int) float64, rows []int, least float64) {
	for _, column := range columns {
		x.functions = append(x.functions, column)
		if x.add(x.columnWithoutLocal(column, rows), least) {
			z := x.q[len(x.q)-1]
			floats.AddScaled(x.e, -floats.Dot(z, x.e), z)
		}
	}
}

// search accepts suspects, one of a kind but for what may come in several, until none is left that explains anything. What is
// usual and was not accepted is possible.
func (x *explained) search(s *Solution, whole *explained, all []int, suspects []Suspect, turn bool, rows []int,
	harm map[string]float64) (out, possible []Effect, columns []func(k int) float64) {
	of := make([][]*trial, len(suspects))
	used := make([]bool, len(suspects))
	for i, sp := range suspects {
		used[i] = sp.Turn != turn
	}
	ParallelOn(max(1, s.Workers), len(suspects), func(i int) {
		if !used[i] {
			of[i] = x.trials(&suspects[i], rows)
		}
	})
	tries := tries(suspects)
	for i := range suspects {
		if sp := &suspects[i]; !used[i] && sp.Granted > 0 {
			if b, ok := x.grant(i, sp, of[i][0], rows); ok {
				e := sp.effect(s, finding{b: []float64{b}, p: 1}, whole.moveWith(sp, []float64{b}, all), harm, tries)
				e.Possible, used[i] = true, true
				possible, columns = append(possible, e), append(columns, sp.Columns...)
			}
		}
	}
	first := make([]finding, len(suspects)) // as much as is possible before anything was found
	for i := range suspects {
		if !used[i] && suspects[i].Bounds != [2]float64{} {
			first[i] = x.allowed(i, &suspects[i], of[i][0])
		}
	}
	for range unmodelledRounds {
		x.independent = x.count()
		best, found := -1, finding{}
		tried := x.tryAll(suspects, used, of)
		for i := range tried {
			f := &tried[i]
			if f.b == nil || f.p*tries >= unmodelledP {
				f.b = nil
			} else if f.gain > (1+sameGain)*found.gain {
				best, found = i, *f
			}
		}
		if best < 0 {
			break
		}
		likeliest := found.gain
		for i, f := range tried { // of those that are as likely, what explains most
			if f.b != nil && likeliest-f.gain < notExcluded && f.share > (1+sameShare)*found.share {
				best, found = i, f
			}
		}
		sp := &suspects[best]
		l := sp.effect(s, found, whole.moveWith(sp, found.b, all), harm, tries)
		for i, f := range tried {
			if f.b != nil && i != best && likeliest-f.gain < notExcluded {
				l.or(suspects[i].effect(s, f, whole.moveWith(&suspects[i], f.b, all), harm, tries), harm)
			}
		}
		for i := range suspects {
			used[i] = used[i] || i == best || !sp.Drift && sp.Kind == suspects[i].Kind && sp.Joint == suspects[i].Joint && sp.Kind != "cogging"
		}
		x.extend(sp.Columns, rows, sp.minColumnShare())
		for _, r := range x.noisier {
			r.accept(best)
		}
		columns = append(columns, sp.Columns...)
		out = append(out, l)
	}
	for i := range suspects {
		if sp := &suspects[i]; (sp.Expected || sp.JudgedAlone || sp.Bounds != [2]float64{}) && !used[i] {
			f, usual := x.allowed(i, sp, of[i][0]), sp.Expected
			if sp.JudgedAlone {
				if shown, ok := x.try(i, of[i]); ok {
					if shown = x.foretold(sp, shown); shown.p < unmodelledP && (usual ||
						math.Abs(shown.firstCoefficient()) > math.Abs(f.firstCoefficient())) {
						f, usual = shown, false
					}
				}
			}
			if math.Abs(first[i].firstCoefficient()) > math.Abs(f.firstCoefficient()) {
				f = first[i]
			}
			if f.firstCoefficient() != 0 {
				e := sp.effect(s, f, whole.moveWith(sp, f.b, all), harm, tries)
				if e.Possible, e.Expected, e.OneSpeed = true, usual, usual && sp.OneSpeed; !usual || e.Worst != "" {
					possible = append(possible, e)
				}
			}
		}
	}
	return out, possible, columns
}

// grant takes in a suspect of which the residual holds no more than is granted, with its coefficient. Nothing else is blamed for it then.
func (x *explained) grant(i int, sp *Suspect, c *trial, rows []int) (b float64, ok bool) {
	b, err, ok := x.coefficient(i, c)
	if !ok || math.Abs(b) > sp.Granted+boundsApart*err {
		return 0, false
	}
	x.extend(sp.Columns, rows, sp.minColumnShare())
	return b, true
}

// moveWith is by how much the parameters move if a suspect with coefficients b is in the model, and no more taken for its columns.
func (x *explained) moveWith(sp *Suspect, b []float64, rows []int) []float64 {
	bias := make([]float64, len(rows))
	for j, c := range sp.Columns {
		floats.AddScaled(bias, b[j], x.columnWithoutLocal(c, rows))
	}
	products := make([]float64, len(x.q))
	for i, q := range x.q {
		products[i] = -floats.Dot(q, bias)
	}
	return x.solve(products)
}

// effect says what a suspect does.
func (sp *Suspect) effect(s *Solution, f finding, move []float64, harm map[string]float64, tries float64) Effect {
	l := Effect{Kind: sp.Kind, What: sp.What, Advice: sp.Advice, Share: 100 * f.share, PValue: math.Min(f.p*tries, 1),
		Values: map[string]float64{}, ParamMoves: map[string]float64{}}
	if f.waldStatistic > 0 {
		l.Uncertainty = sp.Uncertainty + distuv.UnitNormal.Quantile(0.975)/math.Sqrt(f.waldStatistic)
	}
	if sp.Named != nil && f.b[0] != 0 {
		l.What = sp.Named(f.b[0])
	}
	worst := 1.0
	for j, i := range s.FreeParams {
		m := move[j]
		name := s.Params[i].Name
		if sp.Drift && j == sp.DriftParam {
			size := math.Abs(f.b[0])
			if sp.BothSides {
				l.Range = map[string][2]float64{name: {math.Min(m-size, 0), math.Max(m+size, 0)}}
			}
			m += math.Copysign(size, m)
		}
		l.Values[name], l.ParamMoves[name] = s.Params[i].Value+m, m
		if h := harm[name]; h > 0 && !IsState(name) && math.Abs(m)/h > worst {
			worst, l.Worst = math.Abs(m)/h, name
		}
	}
	return l
}

// or takes in something else that explains as much as l.
func (l *Effect) or(other Effect, harm map[string]float64) {
	if l.Range == nil {
		l.Range = map[string][2]float64{}
	}
	for name, m := range l.ParamMoves {
		r := l.Range[name]
		l.Range[name] = [2]float64{math.Min(m, r[0]), math.Max(m, r[1])}
	}
	if other.What != l.What && !slices.Contains(l.Or, other.What) {
		l.Or = append(l.Or, other.What)
	}
	for name, m := range other.ParamMoves {
		r, o := l.Range[name], other.Range[name]
		l.Range[name] = [2]float64{min(m, r[0], o[0]), max(m, r[1], o[1])}
	}
	if l.Worst == "" { // it does harm, and what explains as much does not
		l.Worst, l.Values = other.Worst, other.Values
	}
}
