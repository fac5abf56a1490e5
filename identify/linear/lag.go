package linear

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/identify/filter"
	"hilrig/identify/fit"
)

// The force of a record is seldom that of its stamp: a command is held until the next one, drives and filters take their time,
// channels are read one after the other. The lag λ is the time by which the force acts later than it is stamped; with it the
// model says
//
//	y(t − λ) = W(t)·θ
//
// which is linear in θ for every λ. First the sum of squares is searched over whole samples, up to lagReach to either side:
// with R the factor of W it is |y_λ|² − |R⁻ᵀ·Wᵀ·y_λ|². Then λ is a parameter as the others, by Gauss and Newton with the
// column dy/dt, and its error is in the covariance. The slope of the recorded force is mostly noise; the slope of what the model makes of
// the motion is its instrument, see freeLag.

// LagMode says what is done about the lag of the force.
type LagMode string

const (
	LagFixed LagMode = "fixed" // there is none; the zero value too
	LagFree  LagMode = "free"  // it is a parameter
	LagAuto  LagMode = "auto"  // a parameter wherever the record can tell it
)

// Words are the ways.
func (LagMode) Words() []string { return words([]LagMode{LagAuto, LagFixed, LagFree}) }

// Between says what the force of a record does between two samples.
type Between string

const (
	BetweenAuto Between = "auto" // what explains the record better; the zero value too
	BetweenHold Between = "hold" // it stays as it is, as the command of a computer
	BetweenLine Between = "line" // it changes evenly, as what was measured behind a filter
)

// Words are the ways.
func (Between) Words() []string { return words([]Between{BetweenAuto, BetweenHold, BetweenLine}) }

// Lag is the column of the lag.
const Lag Term = "lag"

const (
	lagReach  = 20 // samples to either side that are searched
	delayTaps = 24 // of the interpolation between samples
)

// Delayed is x later by the given number of samples; averaged: the mean over a sample around that, of a force that is held until
// the next one. Between samples it is interpolated by a sine cardinal in a Kaiser window of 24 points, which is exact to 2e-5
// up to 70 % of the band; beyond the ends x keeps its last value.
func Delayed(x []float64, samples float64, averaged bool) []float64 {
	if samples == 0 && !averaged {
		return x
	}
	out := make([]float64, len(x))
	delay(out, x, samples, averaged)
	return out
}

// delay writes Delayed to out.
func delay(out, x []float64, samples float64, averaged bool) {
	if samples == 0 && !averaged {
		copy(out, x)
		return
	}
	whole := math.Floor(samples)
	frac := samples - whole
	points, weights := []float64{0}, []float64{1}
	if averaged { // by Gauss' rule of three points, exact to (ω·dt)⁶/2e6
		const a = 0.3872983346207417 // √0.6/2
		points, weights = []float64{-a, 0, a}, []float64{5. / 18, 8. / 18, 5. / 18}
	}
	var h, one [delayTaps]float64
	for j, off := range points {
		sum := 0.0
		for i := range one {
			t := float64(i-delayTaps/2+1) - frac - off // samples from the point that is wanted
			one[i] = kaiser(t / (delayTaps / 2))
			if t != 0 {
				one[i] *= math.Sin(math.Pi*t) / (math.Pi * t)
			}
			sum += one[i]
		}
		for i, x := range one {
			h[i] += weights[j] * x / sum
		}
	}
	back := h // from the oldest sample on
	slices.Reverse(back[:])
	// y_k = Σ h_i·x_{k − whole − (i − 11)}
	shift, last := int(whole)-delayTaps/2+1, len(x)-1
	from, to := min(max(shift+delayTaps-1, 0), len(x)), min(len(x), len(x)+shift) // whose taps are all within x
	edge := func(k int) {
		out[k] = 0
		for i, c := range &back {
			out[k] += c * x[min(max(k-shift-delayTaps+1+i, 0), last)]
		}
	}
	for k := range from {
		edge(k)
	}
	for k := max(from, to); k < len(x); k++ {
		edge(k)
	}
	const block = 512 // samples, which stay in the nearest cache while one tap follows the other
	for ; from < to; from += block {
		some := out[from:min(from+block, to)]
		clear(some)
		for i, c := range &back {
			floats.AddScaled(some, c, x[from-shift-delayTaps+1+i:][:len(some)])
		}
	}
}

// kaiser is the window of Kaiser with β = 10 for −1 < t < 1, but for a factor.
func kaiser(t float64) float64 {
	if t <= -1 || t >= 1 {
		return 0
	}
	x := 5 * math.Sqrt(1-t*t) // β/2·√…
	sum, term := 1.0, 1.0     // I0 by its series
	for i := 1.0; i < 30; i++ {
		term *= x / i
		sum += term * term
	}
	return sum
}

// searchLag is the lag (s) with the least sum of squares over the kept rows, within the reach. All samples count, and the
// columns have been examined.
func (r *regression) searchLag() float64 {
	const grid = 2*lagReach + 1
	p := len(r.w)
	type products struct {
		wy [grid][]float64
		yy [grid]float64
	}
	sums := make([]products, len(r.parts))
	fit.Parallel(len(r.parts), func(i int) {
		t, s := r.parts[i], &sums[i]
		y, force := make([]float64, t.n), r.recs[t.rec].Force[t.start:t.stop]
		all := make([]float64, (t.n-1)*t.rowStep+grid) // from lagReach samples before the first row to as many behind the last
		r.form.side(force, nil, places{t.firstSample - lagReach, 1, len(all)}, all)
		for l := range grid {
			for k := range y {
				if y[k] = 0; r.fittedRows[t.row+k] {
					y[k] = all[k*t.rowStep-l+2*lagReach]
				}
			}
			s.yy[l], s.wy[l] = floats.Dot(y, y), make([]float64, p)
			for j, col := range r.w {
				s.wy[l][j] = floats.Dot(y, col[t.row:t.row+t.n])
			}
		}
	})
	var cost [grid]float64
	var wy [grid][]float64
	for l := range grid {
		wy[l] = make([]float64, p)
		for i := range sums {
			cost[l] += sums[i].yy[l]
			floats.Add(wy[l], sums[i].wy[l])
		}
	}
	tri, _ := r.factor(r.w).Triangle()
	now := forward(tri, wy[lagReach]) // Rᵀ·c = Wᵀ·y
	tri, _ = r.noiseless(tri, now, cost[lagReach]-floats.Dot(now, now))
	for l := range grid {
		c := forward(tri, wy[l])
		cost[l] -= floats.Dot(c, c)
	}
	best := 0
	for l, c := range cost {
		if c < cost[best] || c == cost[best] && max(l-lagReach, lagReach-l) < max(best-lagReach, lagReach-best) {
			best = l
		}
	}
	if best == 0 || best == grid-1 {
		return float64(best-lagReach) * r.form.f.dt
	}
	// top of the parabola
	a, b, c := cost[best-1], cost[best], cost[best+1]
	off := 0.0
	if d := a - 2*b + c; d > 0 {
		off = (a - c) / d / 2
	}
	return (float64(best-lagReach) + off) * r.form.f.dt
}

// asGoodAsNone is how far a lag may be from zero (s), either way, where none leaves as little as the one that was found; 0: that leaves
// less, by more than chance does. Sums of squares are without what noise of the position makes of them: where the slope of the force says
// little beside the motion, that noise leads the search far away.
func (r *regression) asGoodAsNone() float64 {
	at := *r
	var tri []float64 // of the columns, which no lag changes
	left := func(lag float64) float64 {
		at.push(lag, r.zeroOrderHold)
		f := at.factor(at.w)
		own, c := f.Triangle()
		if tri == nil {
			tri, _ = at.noiseless(own, c, f.SumSquares())
		}
		products := make([]float64, len(c)) // Wᵀy
		for i, x := range c {
			floats.AddScaled(products, x, own[i*len(c):(i+1)*len(c)])
		}
		explained := forward(tri, products)
		return f.SumSquares() + floats.Dot(c, c) - floats.Dot(explained, explained)
	}
	none, dt := left(0), r.form.f.dt
	asGood := func(x float64) bool { return x <= none*(1+moreByChance/float64(r.rowsKept())) }
	if none > left(r.lag)*(1+moreByChance/float64(r.rowsKept())) {
		return 0
	}
	within := 1.0
	for within < lagReach && (asGood(left(within*dt)) || asGood(left(-within*dt))) {
		within++
	}
	return within * dt
}

// moreByChance is what chance adds to a sum of squares at most, in squares of what a row leaves.
const moreByChance = 10

// forward solves Rᵀ·x = b, with the triangle R row-major.
func forward(tri, b []float64) []float64 {
	p, x := len(b), slices.Clone(b)
	for j := range x {
		for i := range j {
			x[j] -= tri[i*p+j] * x[i]
		}
		x[j] /= tri[j*p+j]
	}
	return x
}

// refineLag makes the lag a parameter and takes it from where it is to the least sum of squares, which is left. theta has the lag
// last.
func (r *regression) refineLag(from float64, held bool) (theta []float64, left float64, err error) {
	for range 8 {
		r.pushSlope(from, held)
		if theta, err = r.theta(); err != nil {
			return nil, 0, err
		}
		r.freeLag(r.w)
		r.z = append(r.z, r.turning(theta))
		if theta, _, left, err = r.solveLS(); err != nil {
			return nil, 0, err
		}
		r.unattenuated(&solution{theta: theta}, left)
		step := theta[len(r.w)]
		theta[len(r.w)] += r.lag
		from = r.lag + math.Max(-1, math.Min(1, step/r.form.f.dt))*r.form.f.dt
		if !(math.Abs(step) > 1e-3*r.form.f.dt) { // what is left is linear
			break
		}
	}
	return theta, left, nil
}

// freeLag makes the lag a parameter. Its column is the slope of the recorded force, with the noise of that; its instrument is
// the slope of what the model makes of the motion, which knows nothing of that noise. The other columns have instruments z.
func (r *regression) freeLag(z [][]float64) {
	r.slope, r.z = r.rate, slices.Clone(z)
}

// turn puts the slopes of the columns of a part, whose directions are those of a track, into turns.
func (r *regression) turn(p part, of track) {
	room := filter.Borrow(len(of.v))
	defer filter.Return(room)
	for j, c := range r.columns {
		if !c.changes() {
			continue
		}
		if x := of.column(room, c.term, of.v); x != nil {
			r.fillRaw(p, func(slope []float64) { filter.DerivativeTo(slope, x, r.form.f.dt) }, r.turns[j])
		}
	}
}

// turning is the slope at the rows of what the model with coefficients theta makes of the motion.
func (r *regression) turning(theta []float64) []float64 {
	out := make([]float64, len(r.y))
	for j, x := range r.turns {
		if x != nil {
			floats.AddScaled(out, theta[j], x)
		}
	}
	return out
}

// bend is what a filter of first order does beside a delay to what the model makes of the motion, at the kept rows. rounded is by how much
// rounding to steps moves the force, there too; nil: no steps are given.
func (r *regression) bend(theta, steps []float64) (bend, rounded []float64) {
	out := [][]float64{make([]float64, len(r.y))}
	if steps != nil {
		out = append(out, make([]float64, len(r.y)))
	}
	fit.Parallel(len(r.parts), func(i int) {
		p := r.parts[i]
		of := r.form.directionTrack(p.rec, p.start, p.stop)
		r.fillRaw(p, func(x []float64) { r.filterEffect(x, of, theta) }, out[0])
		if steps != nil {
			r.fillRaw(p, func(x []float64) { r.form.rounding(x, of, theta, steps[p.rec]) }, out[1])
		}
		r.form.release(of)
	})
	for i, all := range out {
		kept := all[:0]
		r.runs(func(from, to int) { kept = append(kept, all[from:to]...) })
		out[i] = kept
	}
	return out[0], append(out, nil)[1]
}

// filterEffect writes to x what a filter of first order does to a force beside a delay: with T for the lag, and s = d/dt,
//
//	recorded before it   e^−Ts·(1 + Ts) − 1 = −T²s²/2 + …      recorded behind it   e^Ts/(1 + Ts) − 1 = T²s²/2 + …
//
// over ∓T²/2. Motion may be as quick as the filter: the first terms alone tell a part of what it does to the inertia. A lag of less than a
// sample leaves the second derivative, of what does not jump.
func (r *regression) filterEffect(x []float64, of track, theta []float64) {
	dt, time := r.form.f.dt, math.Abs(r.lag)
	slope := filter.Borrow(len(x))
	defer filter.Return(slope)
	r.form.force(x, of, theta, time >= dt)
	switch filter.DerivativeTo(slope, x, dt); {
	case time < dt:
		filter.DerivativeTo(x, slope, dt)
		return
	case r.lag > 0:
		before := floats.AddScaledTo(slope, x, time, slope)
		floats.Sub(x, Delayed(before, time/dt, false))
	default:
		floats.SubTo(x, Delayed(filter.FirstOrder(x, time, dt), -time/dt, false), x)
	}
	floats.Scale(2/(time*time), x)
}
