package ball

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// Numbers of the file that are known with an uncertainty u are searched together with the parameters θ, with what the file says of
// them, a₀, as so many more observations:
//
//	|r(θ, a)|²/σ² + Σ ((a − a₀)/u)²   least,
//
// by Gauss and Newton: θ and a from the linear model, then θ at these a by its own descent, until a moves θ no more. σ is the noise of
// the markers, whose places on the ball are among a: it is told again with the moved ones. What the uncertainty of a adds to that of θ
// is the covariance of the whole less that of θ alone [GCSDVR, 14.8].

// adjustment is what the linear model says of parameters and assumed numbers together.
type adjustment struct {
	file     *setup // as it was given
	numbers  []fixed
	columns  [][]float64 // by number: what a unit of it does to the rows, without weights
	theta    []float64   // moves of the parameters of the solution
	shift    []float64   // moves of the numbers, in their uncertainties
	residual float64     // root mean square of what is left over then
	harmful  bool        // a parameter moves by more than adjustTol
}

const (
	adjustRounds = 4
	adjustTol    = 0.1  // standard uncertainties of a parameter, by which assumed numbers may still move it
	matters      = 0.5  // of its standard uncertainty
	conflictP    = 0.05 // probability below which recording and file contradict each other
)

// adjust moves the numbers of the file that have an uncertainty to where recording and file together want them, and the parameters with
// them. A motion that they do not explain even so is left as it is.
func (r *Result) adjust(ctx context.Context, c *Spec, s *shooting, sol *fit.Solution, p *poses, watch *progress) (*fit.Solution, error) {
	given := s.base.clone()
	for round := 0; ; round++ {
		a := r.lacking(c, s, sol, &given)
		if a == nil || round == adjustRounds || r.Slip.Lasting > lasting || !a.harmful && overNoise(sol, p.sigma) <= residual ||
			a.residual > nearNoise*p.sigma {
			return sol, nil
		}
		watch.begin("markers, with numbers of the file moved", "")
		a.apply(s)
		if c.Noise == 0 {
			if q, err := posesOf(p.cleanRecording, s.base.markers, s.base.body.Radius); err == nil {
				p.sigma, r.Noise = q.sigma, q.sigma
			}
		}
		next, err := s.fit(ctx, *c, p.sigma, watch, lastSteps, false)
		if err != nil {
			return nil, fmt.Errorf("shooting on the markers: %w", err)
		}
		next.Count(sol)
		sol = next
		s.adopt(sol)
	}
}

// apply moves base and starts of s.
func (a *adjustment) apply(s *shooting) {
	for k := range a.numbers {
		f := &a.numbers[k]
		*f.field(&s.base) += f.uncertainty * a.shift[k]
	}
	ps, _ := s.params()
	for j := range ps {
		ps[j].Value = min(max(ps[j].Value+a.theta[j], ps[j].Lo), ps[j].Hi)
	}
	s.adopt(&fit.Solution{Params: ps})
}

// solve fills a from a solution of s, and says in r what it finds; false: the recording does not tell the parameters apart.
func (a *adjustment) solve(r *Result, s *shooting, sol *fit.Solution) bool {
	n, p, m := len(sol.Residual), len(sol.FreeParams), len(sol.FreeParams)+len(a.numbers)
	moved := *sol
	moved.Params, moved.FreeParams, moved.Jac = slices.Clone(sol.Params), slices.Clone(sol.FreeParams), make([]float64, n*m)
	before, unit := make([]float64, m), slices.Repeat([]float64{1}, m) // numbers in their uncertainties, by which they were moved already
	var x [][]float64
	for k := range a.numbers {
		f := &a.numbers[k]
		unit[p+k], before[p+k] = f.uncertainty, (*f.field(&s.base)-*f.field(a.file))/f.uncertainty
		moved.FreeParams = append(moved.FreeParams, len(moved.Params))
		moved.Params = append(moved.Params, f.fitParam(&s.base))
		for row, v := range sol.Weigh(a.columns[k]) {
			moved.Jac[row*m+p+k] = v
		}
	}
	for row := range n {
		copy(moved.Jac[row*m:], sol.Jac[row*p:row*p+p])
	}
	for j := range m {
		x = append(x, make([]float64, n))
		for row := range n {
			x[j][row] = unit[j] * moved.Jac[row*m+j]
		}
	}
	gram, along := mat.NewSymDense(m, nil), make([]float64, m)
	for i := range x {
		for j := range i + 1 {
			gram.SetSym(i, j, floats.Dot(x[i], x[j]))
		}
		along[i] = floats.Dot(x[i], sol.Residual)
	}
	sigma := min(overNoise(sol, 1), s.poses.sigma)
	move, cov := priorSolve(gram, along, before, a.priorInformation(true), sigma)
	_, own := priorSolve(gram.SliceSym(0, p), along[:p], before[:p], nil, sigma)
	apart, apartCov := priorSolve(gram, along, before, a.priorInformation(false), sigma)
	if cov == nil || own == nil || apartCov == nil {
		return false
	}
	a.theta, a.shift = move[:p], move[p:]
	r.Spread = map[string]float64{}
	for j, i := range sol.FreeParams {
		q := &sol.Params[i]
		r.Spread[q.Name] = math.Sqrt(max(0, cov.At(j, j)-own.At(j, j)))
		a.harmful = a.harmful || !fit.IsState(q.Name) && math.Abs(move[j]) > adjustTol*math.Sqrt(cov.At(j, j))
	}
	moved.Residual = slices.Clone(sol.Residual)
	for k, v := range move {
		floats.AddScaled(moved.Residual, -v, x[k])
	}
	a.residual, r.MovedSolution = numeric.RMS(moved.Residual), &moved
	a.addPriorRows(&moved, unit[p:], before[p:], sigma)
	for k := range a.numbers {
		r.Assumed = append(r.Assumed, a.assumption(sol, k, before[p+k]+a.shift[k], func(j int) (move float64) { // by one of its uncertainties
			for l := range p {
				move -= own.At(j, l) * gram.At(l, p+k) / (sigma * sigma)
			}
			return move
		}))
	}
	floats.Add(apart, before)
	floats.Add(before, move)
	a.findConflict(r, sol, apart[p:], before[p:], apartCov, cov)
	return true
}

// addPriorRows adds to a solution that holds the numbers, after its parameters, the rows of what the file says of them: without those they
// would take whatever looks like them without a limit. Each stands as often as one of it is among the rows that are looked at.
func (a *adjustment) addPriorRows(s *fit.Solution, unit, before []float64, sigma float64) {
	var root mat.Cholesky
	if !root.Factorize(a.priorInformation(true)) {
		panic("ball: what the file says of its numbers is no covariance")
	}
	upper := root.RawU()
	m, n, every := len(s.FreeParams), len(s.Residual), 0
	for step := 1; every != step; step = s.Looked()[1] {
		every = step
		s.Residual = append(s.Residual[:n], make([]float64, every*len(a.numbers))...)
	}
	s.Pieces, s.Measured = slices.Clone(s.Pieces), append(slices.Clone(s.Measured), s.Residual[n:]...)
	size := sigma / math.Sqrt(float64(every))
	for i := range a.numbers {
		row, left := make([]float64, m), 0.0
		for k := i; k < len(a.numbers); k++ {
			row[m-len(a.numbers)+k] = size * upper.At(i, k) / unit[k]
			left -= size * upper.At(i, k) * (before[k] + a.shift[k])
		}
		s.Pieces = append(s.Pieces, n+i*every)
		for j := range every {
			s.Jac, s.Residual[n+i*every+j] = append(s.Jac, row...), left
		}
	}
}

// assumption says what was assumed of number k, by how many uncertainties the recording moves it in all, and how free parameter j moves
// with it.
func (a *adjustment) assumption(sol *fit.Solution, k int, shift float64, move func(j int) float64) Assumption {
	f := &a.numbers[k]
	out := Assumption{Name: f.name, Unit: f.unit, Value: *f.field(a.file), Uncertainty: f.uncertainty, Shift: f.uncertainty * shift,
		ParamMoves: map[string]float64{}}
	for j, i := range sol.FreeParams {
		if name := sol.Params[i].Name; !fit.IsState(name) {
			out.ParamMoves[name] = move(j)
		}
	}
	return out
}

// moments are those of the numbers that are principal moments of inertia.
func (a *adjustment) moments() (list []int) {
	for k := range a.numbers {
		if IsMoment(a.numbers[k].name) {
			list = append(list, k)
		}
	}
	return list
}

// priorInformation is the inverse of the covariance of numbers before the recording, in their uncertainties. How much the errors of moments
// of inertia have in common nobody says. They are shared for intervals, by half of the variance, ½·(I + 1·1ᵀ): all follow from one mass, one
// radius and one model of the body, the recording tells their ratios well and their size hardly, and an error of all would be √3 times smaller
// than that of each if they had nothing in common. They are not shared where recording and file are compared: their ratios may be off, too.
func (a *adjustment) priorInformation(shared bool) *mat.SymDense {
	p := mat.NewSymDense(len(a.numbers), nil)
	for i := range a.numbers {
		p.SetSym(i, i, 1)
	}
	var moments []int
	if shared {
		moments = a.moments()
	}
	for k, i := range moments {
		for _, j := range moments[:k] {
			p.SetSym(i, j, -2/float64(1+len(moments)))
		}
		p.SetSym(i, i, 2-2/float64(1+len(moments)))
	}
	return p
}

// priorSolve solves gram·θ = along for moves θ with residuals of size sigma; of the last of them it was known before that θ + before = 0,
// with this information, nil of none. It gives θ and its covariance; nil where they are not told.
func priorSolve(gram mat.Symmetric, along, before []float64, information *mat.SymDense, sigma float64) (theta []float64, cov *mat.SymDense) {
	m := len(along)
	free := m
	if information != nil {
		free -= information.SymmetricDim()
	}
	size, g, b := make([]float64, m), mat.NewSymDense(m, nil), mat.NewVecDense(m, nil)
	for i := range m {
		if size[i] = math.Sqrt(gram.At(i, i)); size[i] == 0 {
			size[i] = 1
		}
		for j := range i + 1 {
			g.SetSym(i, j, gram.At(i, j)/(size[i]*size[j]))
		}
		b.SetVec(i, along[i]/size[i])
		for j := free; j < m && i >= free; j++ {
			v := information.At(i-free, j-free) * sigma * sigma / size[i]
			b.SetVec(i, b.AtVec(i)-v*before[j])
			if j <= i {
				g.SetSym(i, j, g.At(i, j)+v/size[j])
			}
		}
	}
	var chol mat.Cholesky
	var t mat.VecDense
	cov = mat.NewSymDense(m, nil)
	if !chol.Factorize(g) || chol.InverseTo(cov) != nil || chol.SolveVecTo(&t, b) != nil {
		return nil, nil
	}
	for i := range m {
		theta = append(theta, t.AtVec(i)/size[i])
		for j := range i + 1 {
			cov.SetSym(i, j, sigma*sigma*cov.At(i, j)/(size[i]*size[j]))
		}
	}
	return theta, cov
}

// conflict is what the recording moves farther than is expected of it.
type conflict struct {
	number string
	shift  float64  // in its uncertainty
	chance float64  // of as much, of the farthest of all that are looked at
	params []string // to which it matters
}

// compare looks at some of the numbers of the file together. Where the file is right, the sum of their shifts in their uncertainties has
// the variance that it had before, less what cov, of the parameters and then of the numbers, leaves. ratio is the shift over what is
// expected. params are the coefficients of friction that a move by one uncertainty of these numbers changes by more than matters, in the
// standard uncertainty of that; none: it does not matter.
func (a *adjustment) compare(r *Result, sol *fit.Solution, which []int, shifts []float64, before float64,
	cov *mat.SymDense) (c conflict, ratio float64) {
	first := len(sol.FreeParams)
	for j, i := range sol.FreeParams {
		name, moves := sol.Params[i].Name, 0.0
		for _, k := range which {
			moves += r.Assumed[k].ParamMoves[name]
		}
		if IsFriction(name) && math.Abs(moves) > matters*math.Sqrt(cov.At(j, j)) {
			c.params = append(c.params, name)
		}
	}
	for _, k := range which {
		c.number = a.numbers[k].name
		c.shift += shifts[k]
		for _, l := range which {
			before -= cov.At(first+k, first+l)
		}
	}
	if ratio = math.Abs(c.shift) / math.Sqrt(before); !(before > 0) {
		c.params = nil
	}
	c.shift /= float64(len(which))
	c.chance = 2 * distuv.UnitNormal.Survival(ratio)
	return c, ratio
}

// findConflict looks for what the recording moves farthest: one number, apart from all others, or all moments of inertia together, against
// the mass, which friction goes with and a recording tells least. Each has half of what chance may do. Where recording and file part by
// more than is expected, what is known of the moments was said too good by that ratio [PDG24].
func (a *adjustment) findConflict(r *Result, sol *fit.Solution, apart, together []float64, apartCov, cov *mat.SymDense) {
	worst, count := conflict{chance: 1}, 0.0
	for k := range a.numbers {
		c, _ := a.compare(r, sol, []int{k}, apart, 1, apartCov)
		if c.params != nil {
			count++
			if c.chance < worst.chance {
				worst = c
			}
		}
	}
	worst.chance = math.Min(1, 2*worst.chance*count)
	if moments := a.moments(); len(moments) > 1 {
		n := float64(len(moments))
		c, ratio := a.compare(r, sol, moments, together, n*(1+n)/2, cov) // as priorInformation shares them
		for _, name := range c.params {
			r.Spread[name] *= math.Max(1, ratio)
		}
		if c.chance *= 2; c.params != nil && c.chance < worst.chance {
			worst, worst.number = c, "the moments of inertia together"
		}
	}
	r.conflict = worst
}
