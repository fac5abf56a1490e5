package identify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hilrig/engine/numeric"
	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Parameters that were not searched are known, if the user says so, or assumed: values of the rig file, of a law, of the program. What is
// assumed may be wrong. If the record shows that, the reason says so, as of anything that the model lacks. If it does not, a value lies
// anywhere within half of itself, as far as the record allows that, and the intervals hold what that makes. Zero says that the model has no
// such thing, as a model without drag has none: that counts where the record shows it.

// assumedDoubt is by how much of its value a number may be wrong that nobody measured.
const assumedDoubt = 0.5

// assumed are the parameters of a solution that nobody gave.
func (j *job) assumed(s *fit.Solution) (list []*fit.Param) {
	for i := range s.Params {
		p := &s.Params[i]
		given := slices.ContainsFunc(j.plan.GivenParams, func(g Given) bool { return g.Name == p.Name && g.isKnown() })
		if p.Fixed && !given && !fit.IsState(p.Name) && !fit.MayBeZero(p.Name) {
			list = append(list, p)
		}
	}
	return list
}

// findAssumed looks for what other values of assumed parameters would do.
func (r *Result) findAssumed(j *job, st *stage) {
	var suspects []fit.Suspect
	var moves [][]float64 // of the rows, by the suspects
	l := fit.NewLinear(st.sol)
	for _, p := range j.assumed(st.sol) {
		own, ok := r.Param(p.Name)
		if !ok {
			continue
		}
		step := assumedDoubt * math.Abs(p.Value)
		if own.assumption = true; step == 0 {
			step = r.fadesAt(p.Name)
		}
		if r.Interrupted || !(step > 0) {
			continue
		}
		moved := st.rowMoves(l, p, step)
		if moved == nil && p.Value != 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("the doubt in %s, which was assumed, is not in the intervals: %s does not tell what another "+
				"value would do", p.Name, st.method.Name))
		}
		if floats.Norm(moved, 2) == 0 {
			continue
		}
		bounds := [2]float64{-1, 1}
		if p.Value == 0 {
			bounds[0] = 0
		}
		moves = append(moves, moved)
		suspects = append(suspects, fit.Suspect{Kind: "assumed value", Bounds: bounds,
			Columns: []func(int) float64{func(k int) float64 { return moved[k] }},
			What:    fmt.Sprintf("what another %s makes than %.4g %s, which was assumed", p.Name, p.Value, p.Unit),
			Advice:  fmt.Sprintf("Search it: parameters: {%s: {start: %.4g}}; or measure it, and give it.", p.Name, p.Value+step)})
	}
	if suspects == nil {
		return
	}
	found, _ := fit.Unmodelled(st.sol, suspects, r.tolerance)
	var doubtful [][]float64
	var shown []bool
	for i, sp := range suspects {
		at := slices.IndexFunc(found, func(l fit.Effect) bool { return l.What == sp.What })
		switch {
		case sp.Bounds[0] < 0:
			doubtful, shown = append(doubtful, moves[i]), append(shown, at >= 0)
			if at >= 0 { // the doubt holds what it does
				r.Unmodelled = append(r.Unmodelled, found[at])
			}
		case at >= 0:
			r.addEffect(found[at])
		}
	}
	if doubtful != nil {
		r.addDoubts(st.sol, doubtful, shown)
	}
}

// rowMoves is by how much the rows of the model move for a step of a parameter that was not searched, to first order but from zero; nil:
// not known. What of it the searched parameters do not make up for is what the record tells of that one. It is measured with their move:
// derivatives that were found one by one do not cancel well enough.
func (st *stage) rowMoves(l *fit.Linear, p *fit.Param, step float64) []float64 {
	if st.changed == nil {
		return nil
	}
	if p.Value == 0 {
		return st.changed(found{p.Name: step})
	}
	little := littleError / 100 // what the others can make up for is that to first order alone, and a swing turns its phase for long
	both := func(move []float64) []float64 {
		values := [2]found{{}, {}}
		for side, by := range []float64{little, -little} {
			values[side][p.Name] = p.Value + by*step
			for k, i := range st.sol.Searched()[:len(move)] {
				values[side][st.sol.Params[i].Name] = st.sol.Params[i].Value + by*move[k]
			}
		}
		up, down := st.changed(values[0]), st.changed(values[1])
		if up == nil || down == nil {
			return nil
		}
		floats.Sub(up, down) // the second order is the same on both sides
		floats.Scale(1/(2*little), up)
		return up
	}
	moved := both(nil)
	if moved == nil {
		return nil
	}
	move := l.Move(moved)
	if together := both(move); together != nil {
		return l.Less(together, move)
	}
	return moved
}

// addDoubts takes in what is left of the doubt in assumed values, the largest errors of which move the rows of the model by moved; shown:
// the residual shows an error of that one, however large.
func (r *Result) addDoubts(s *fit.Solution, moved [][]float64, shown []bool) {
	l := fit.NewLinear(s)
	var moves [][]float64 // of the parameters
	for _, m := range moved {
		moves = append(moves, l.Move(m))
	}
	left := leftOf(l.RobustFactors(moved, moves), shown)
	for k, i := range s.Searched() {
		if q, ok := r.Param(s.Params[i].Name); ok {
			by := make([]float64, len(moves))
			for i := range moves {
				by[i] = moves[i][k]
			}
			if floats.Norm(by, 2) > 0 {
				q.doubt = left(by)
			}
		}
	}
}

// leftOf is what is left of the doubt in numbers that lie anywhere within ±1, in units of the largest error of each, before the record says
// where they lie: the error of a value that they move by so much each. Where an error shows, nothing is cut off.
func leftOf(f fit.Factors, shown []bool) func(by []float64) *spread {
	n := len(shown)
	reach, known, sum := slices.Repeat([]float64{1}, n), mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for j, axis := range f.Axes {
		weight := 1 / math.Max(f.Err[j]*f.Err[j], minDoubtErr*minDoubtErr)
		known.SymRankOne(known, weight, mat.NewVecDense(n, axis))
		sum.AddScaledVec(sum, weight*f.Values[j], mat.NewVecDense(n, axis))
	}
	for i := range shown { // the others lie about zero
		prior := 1 / (uniform * uniform)
		if shown[i] {
			prior = minDoubtErr
		}
		known.SetSym(i, i, known.At(i, i)+prior)
	}
	var chol mat.Cholesky
	if slices.Contains(shown, true) && chol.Factorize(known) {
		var cov mat.SymDense
		var mean mat.VecDense
		if chol.InverseTo(&cov) == nil && chol.SolveVecTo(&mean, sum) == nil {
			for i := range shown {
				if shown[i] {
					reach[i] = math.Abs(mean.AtVec(i)) + contradicted*math.Sqrt(cov.At(i, i))
				}
			}
		}
	}
	if n == 1 {
		one := doubt{f.Values[0] * f.Axes[0][0], f.Err[0]}.cutOff(-reach[0], reach[0])
		return func(by []float64) *spread { return one.scaled(by[0]) }
	}
	draws := doubtDraws(f, reach)
	return func(by []float64) *spread { return spreadOf(draws, by) }
}

// minDoubtErr is the standard error, in largest errors, to which an assumed value is known at best.
const minDoubtErr = 1e-12

// doubtDraws are draws of numbers within ±reach by Gibbs' method, along one axis after the other [GCSDVR, 11.1].
func doubtDraws(f fit.Factors, reach []float64) (draws [][]float64) {
	const idle, count = 64, 4096
	rng, x := rand.New(rand.NewPCG(1, 1)), make([]float64, len(reach))
	for k := range idle + count {
		for j, axis := range f.Axes {
			at, lo, hi := floats.Dot(axis, x), math.Inf(-1), math.Inf(1)
			for i, a := range axis {
				if a != 0 {
					down, up := at+(-reach[i]-x[i])/a, at+(reach[i]-x[i])/a
					lo, hi = math.Max(lo, math.Min(down, up)), math.Min(hi, math.Max(down, up))
				}
			}
			if !(hi > lo) { // in a corner
				continue
			}
			floats.AddScaled(x, doubt{f.Values[j], f.Err[j]}.cutOff(lo, hi).draw(rng)-at, axis)
		}
		if k >= idle {
			draws = append(draws, slices.Clone(x))
		}
	}
	return draws
}

// doubt is what is known of how far a number is from what was assumed of it, in units of the largest error: the best, with its standard
// error.
type doubt struct{ best, err float64 }

// doubtPoints are the values at which the density of a doubt is summed.
const doubtPoints = 64

// spread is how an error is distributed: values a step apart, and their probabilities.
type spread struct {
	x, p [doubtPoints]float64
	step float64
}

// cutOff is what is left where the number lies between lo and hi: a normal distribution that is cut off there.
func (d doubt) cutOff(lo, hi float64) *spread {
	err, s := math.Max(d.err, minDoubtErr), new(spread)
	nearest := min(max(d.best, lo), hi)
	reach := math.Hypot(nearest-d.best, 6*err) // beyond, the density is below e⁻¹⁸ of the largest
	lo, hi = math.Max(lo, d.best-reach), math.Min(hi, d.best+reach)
	s.step = (hi - lo) / doubtPoints
	for i := range s.x {
		s.x[i] = lo + (float64(i)+0.5)*s.step
		s.p[i] = math.Exp((nearest - s.x[i]) / err * ((nearest - d.best + s.x[i] - d.best) / (2 * err)))
	}
	floats.Scale(1/floats.Sum(s.p[:]), s.p[:])
	return s
}

// spreadOf is how the sum of draws, which move it by so much each, is distributed.
func spreadOf(draws [][]float64, by []float64) *spread {
	y := make([]float64, len(draws))
	for k, x := range draws {
		y[k] = floats.Dot(by, x)
	}
	lo, hi := slices.Min(y), slices.Max(y)
	s := &spread{step: (hi - lo) / doubtPoints}
	for i := range s.x {
		s.x[i] = lo + (float64(i)+0.5)*s.step
	}
	for _, y := range y {
		s.p[min(int((y-lo)/math.Max(s.step, math.SmallestNonzeroFloat64)), doubtPoints-1)] += 1 / float64(len(draws))
	}
	return s
}

// draw is a value that has the distribution.
func (s *spread) draw(rng *rand.Rand) float64 {
	u, i := rng.Float64(), 0
	for ; i < doubtPoints-1 && u > s.p[i]; i++ {
		u -= s.p[i]
	}
	return s.x[i] + (rng.Float64()-0.5)*s.step
}

// scaled is the distribution of a multiple of the error; nil of nil.
func (s *spread) scaled(by float64) *spread {
	if s == nil {
		return nil
	}
	out := *s
	floats.Scale(by, out.x[:])
	out.step *= math.Abs(by)
	return &out
}

// rms is the root mean square of the error; 0 of nil.
func (s *spread) rms() float64 {
	square := 0.0
	if s != nil {
		for i, x := range s.x {
			square += s.p[i] * x * x
		}
	}
	return math.Sqrt(square)
}

// halfInterval is half of the interval about zero that holds 95 % of the sum of the error and a normal one of standard deviation se: 0.95
// of the largest where the record says nothing and the rest is small, 1.96 standard deviations where chance is most of it [GUM, G.1.4].
func (s *spread) halfInterval(se float64) float64 {
	if s == nil {
		return normal95 * se
	}
	se = math.Max(se, s.step/2) // the density is a sum of steps
	lo, hi := 0.0, math.Max(math.Abs(s.x[0]), math.Abs(s.x[doubtPoints-1]))+s.step+normal95*se
	for hi-lo > 1e-4*hi {
		half, within := (lo+hi)/2, 0.0
		for i, x := range s.x {
			within += s.p[i] * (math.Erf((half-x)/se/math.Sqrt2) + math.Erf((half+x)/se/math.Sqrt2)) / 2
		}
		if within < 0.95 {
			lo = half
		} else {
			hi = half
		}
	}
	return hi
}

// findRounded takes in what rounding of a force, which depends on the force and is no noise, does to the values: along the rows of a
// regression, or through the motion that follows from the force.
func (r *Result) findRounded(j *job, st *stage) {
	s, by := st.sol, st.sol.Rounded
	if by == nil {
		s, by = st.rounded(forceStep(j.recs.Fit))
	}
	if by == nil || len(s.FreeParams) == 0 {
		return
	}
	l := fit.NewLinear(s)
	for k, by := range l.Move(by) {
		if p, ok := r.Param(s.Params[s.Searched()[k]].Name); ok {
			p.rounded = math.Max(p.rounded, math.Abs(by))
		}
	}
}

// forceStep is the step of the force of records, N or N·m; 0: it has none that matters.
func forceStep(recs []*record.Record) (step float64) {
	for _, d := range recs {
		own := d.ForceStep
		if own == 0 {
			own = numeric.EncoderStep(d.Force)
		}
		if own > finestStep*numeric.RMS(d.Force) {
			step = math.Max(step, own)
		}
	}
	return step
}

// finestStep is the step of a force, in its rms, below which rounding is noise: it passes over hundreds of steps.
const finestStep = 2e-3

// rounded is what a stage that explains a motion makes of a force that is rounded to steps, with the solution whose rows it moves. The
// force before it was rounded is what the model makes of the motion. Where nothing tells what a force does to the motion, it is taken for
// the force that the model leaves over along it. nil: there is no step, or it is not known.
func (st *stage) rounded(step float64) (s *fit.Solution, by []float64) {
	if step == 0 || st.inverse == nil {
		return nil, nil
	}
	inverse := st.inverse()
	if inverse == nil {
		return nil, nil
	}
	for k, f := range inverse.Measured {
		f -= inverse.Residual[k]
		by = append(by, step*math.Round(f/step)-f)
	}
	if st.pushResponse == nil {
		return inverse, by
	}
	rows := make([]int, len(st.sol.Residual))
	for k := range rows {
		rows[k] = k
	}
	size := pushShare * numeric.RMS(inverse.Measured) / numeric.RMS(by)
	moved := st.pushResponse([]fit.Course{{At: func(k int) float64 { return by[k] }}}, func(int) float64 { return size }, rows)
	if len(moved) != 1 || len(moved[0]) != len(rows) {
		return inverse, by
	}
	return st.sol, moved[0]
}

// fadesAt is the value beside zero of a parameter that is zero where something is left out: the speed at which the damping of a bristle
// fades.
func (r *Result) fadesAt(name string) float64 {
	if vs, ok := r.Param("vs"); ok && name == "vd" {
		return 10 * vs.Value
	}
	return 0
}

// findKnownErrors tells what errors of known values make: of parameters that were given with one, and of the gain of the force, in
// proportion to which all forces and inertias are found.
func (r *Result) findKnownErrors(j *job, st *stage) {
	if r.givenNumbers == nil { // else those of a machine
		r.givenNumbers, r.givenKeys = j.givenNumbers(st.sol), "as gain_error, or as error of a parameter"
	}
	r.scaledByUnits(j.plan.Model.Rotary, j.byVelocity(), j.setBy())
	square := make([]float64, len(r.Parameters))
	scaled := func(share float64) { // all that is in proportion to the force
		for i := range r.Parameters {
			if p := &r.Parameters[i]; !p.Fixed && inForce(p.Unit) {
				square[i] += math.Pow(share*p.Value, 2)
			}
		}
	}
	for _, g := range j.plan.GivenParams {
		k := fit.Index(st.sol.Params, g.Name)
		if g.Err == nil || k < 0 || st.changed == nil {
			if g.Err != nil {
				r.Warnings = append(r.Warnings, fmt.Sprintf("the error of %s is not in the intervals: %s does not tell what another value would do",
					g.Name, st.method.Name))
			}
			continue
		}
		if g.Name == j.setBy() {
			scaled(*g.Err / st.sol.Params[k].Value)
			continue
		}
		moved := st.changed(found{g.Name: st.sol.Params[k].Value + littleError**g.Err})
		if moved == nil {
			continue
		}
		l := fit.NewLinear(st.sol)
		for i, by := range l.Move(moved) {
			square[st.sol.Searched()[i]] += math.Pow(by/littleError, 2)
		}
	}
	if j.plan.GainErr > 0 {
		scaled(j.plan.GainErr)
	}
	for i := range r.Parameters {
		r.Parameters[i].givenErr = math.Hypot(math.Sqrt(square[i]), j.plan.Unsure[r.Parameters[i].Name])
	}
}

// givenNumbers are the numbers that an axis rests on, and how well they are known: scales of force and position, what the records were
// reckoned by, controller, known parameters.
func (j *job) givenNumbers(s *fit.Solution) (list []fit.GivenNumber) {
	if j.plan.Model.Drive.Recorded() {
		list = append(list, fit.GivenNumber{Name: fit.ForceGain, Uncertainty: 100 * j.plan.GainErr, Unit: "%"})
	}
	motion := map[bool]string{true: "velocity", false: "position"}[j.byVelocity()]
	list = append(list, fit.GivenNumber{Name: "gain of the " + motion}, fit.GivenNumber{Name: fit.Clock})
	for _, name := range j.plan.ExactNumbers {
		list = append(list, fit.GivenNumber{Name: name})
	}
	if j.plan.Model.Drive == axis.Servo {
		list = append(list, fit.GivenNumber{Name: controllerGains})
	}
	for _, g := range j.plan.GivenParams {
		i := fit.Index(s.Params, g.Name)
		if i < 0 || !g.isKnown() || fit.IsState(g.Name) {
			continue
		}
		known := fit.GivenNumber{Name: g.Name, Unit: s.Params[i].Unit}
		if g.Err != nil {
			known.Uncertainty = *g.Err
		}
		list = append(list, known)
	}
	return list
}

// byVelocity tells that the motion is known by a recorded velocity.
func (j *job) byVelocity() bool {
	return j.lastStage.method.Simulates && j.plan.Model.Output == axis.Velocity ||
		!slices.ContainsFunc(j.recs.Fit, func(d *record.Record) bool { return len(d.Position) > 0 })
}

// setBy is the known parameter that sets the scale of all forces, because none was recorded: the inertia of free motion, the spring that
// draws; "": a force was.
func (j *job) setBy() string {
	switch j.plan.Model.Drive {
	case axis.Coast:
		return map[bool]string{false: "M", true: "J"}[j.plan.Model.Rotary]
	case axis.Spring:
		return "kd"
	}
	return ""
}

// littleError is the share of an error by which its effect is found: a frequency that is off by much is a motion of another phase.
const littleError = 1e-3

// inForce tells that a unit is that of a force or torque over something of the motion, so that the number is in proportion to the
// recorded force.
func inForce(unit string) bool { return strings.HasPrefix(unit, "N") || strings.HasPrefix(unit, "kg") }
