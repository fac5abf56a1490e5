package engine

import (
	"math"

	"hilrig/engine/numeric"
)

// DormandPrince integrates with the embedded pair of orders 5 and 4 [DP80], a PI control of the step size and a
// continuous solution of fourth order between the steps, both after DOPRI5 [HNW93 II.4–II.6]. It is for
// problems that are not stiff: on stiff ones the step shrinks to the limit of stability (about 3.3/|λ|) and the integration
// ends with ErrSteps, or is slow, unless StiffAfter lets it go on with an implicit method.
//
//	d := engine.NewDormandPrince(f, n)
//	d.Start(0, x0)
//	for d.T < 10 {
//		if err := d.Step(10); err != nil { … }
//		d.At(t, y)        // anywhere in the last step, d.StepStart ≤ t ≤ d.T
//	}
type DormandPrince struct {
	Rtol, Atol float64 // error of a step per component: ≤ Atol + Rtol·|x_i|, root mean square; default 1e-6, 1e-9
	MaxStep    float64 // s  0: no limit
	FirstStep  float64 // s  first step after Start; 0: chosen from the slope
	MaxSteps   int     // tried steps after Start; default 1e6

	// StiffAfter is the number of steps, over all Starts, whose length stability and not the error has limited, after which it goes on with
	// the linearly implicit method of stiff.go; 0: never. Depends are the first states, on which alone the slope depends; 0: all.
	StiffAfter, Depends int
	StiffFrom           float64 // s  where it did; NaN: it has not

	T         float64   // s  time reached
	StepStart float64   // s  time before the last step
	X         []float64 // state at T, to be read only, but see StateChanged

	Accepted, Rejected int // steps since Start

	f             RHS
	n             int
	h, dir        float64
	prev          float64 // error of the last accepted step
	retry         bool    // the last step was a rejection
	slopeStale    bool    // k1 has to be taken again
	limit         int     // steps that stability has limited, in all …
	inRow         [2]int  // … in a row, and those in a row that it has not
	implicit      *stiffMethod
	span          float64 // s  length of the last step
	k             [7][]float64
	y, stageState []float64
	cont          [5][]float64 // continuous solution of the last step
}

// Coefficients of [DP80] table 2, RK5(4)7M, and of the continuous solution, [HNW93] II.6. The stages and the error estimate
// are also taken by laws that integrate inside a step.
var (
	dpC = [7]float64{0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1}
	// DormandPrinceA are the stages; the last row is the solution of order 5.
	DormandPrinceA = [7][6]float64{
		{},
		{1.0 / 5},
		{3.0 / 40, 9.0 / 40},
		{44.0 / 45, -56.0 / 15, 32.0 / 9},
		{19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
		{9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
		{35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
	}
	// DormandPrinceE are the weights of order 5 minus those of order 4.
	DormandPrinceE = [7]float64{71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40}
	dpD            = [7]float64{-12715105075.0 / 11282082432, 0, 87487479700.0 / 32700410799, -10690763975.0 / 1880347072,
		701980252875.0 / 199316789632, -1453857185.0 / 822651844, 69997945.0 / 29380423}
)

// Step size control: h⁺ = h·0.9·err^{−(1/5 − 0.75β)}·err_old^β, kept between a fifth and ten times h.
const (
	dpBeta   = 0.04
	dpSafety = 0.9
	dpShrink = 0.2
	dpGrow   = 10
)

// NewDormandPrince makes an integrator of f with n states.
func NewDormandPrince(f RHS, n int) *DormandPrince {
	d := &DormandPrince{Rtol: 1e-6, Atol: 1e-9, MaxSteps: 1e6, StiffFrom: math.NaN(), f: f, n: n}
	v := make([]float64, 15*n)
	cut := func() (part []float64) { part, v = v[:n:n], v[n:]; return part }
	for i := range d.k {
		d.k[i] = cut()
	}
	for i := range d.cont {
		d.cont[i] = cut()
	}
	d.X, d.y, d.stageState = cut(), cut(), cut()
	return d
}

// Start begins at t (s) with the state x, which is copied.
func (d *DormandPrince) Start(t float64, x []float64) {
	if len(x) != d.n {
		panic("engine: DormandPrince.Start: state of another length")
	}
	copy(d.X, x)
	d.T, d.StepStart, d.span = t, t, 0
	d.h, d.prev, d.retry, d.slopeStale = 0, 1e-4, false, true
	d.Accepted, d.Rejected = 0, 0
	for i := range d.cont {
		clear(d.cont[i])
	}
	copy(d.cont[0], x)
}

// Step makes one step towards end (s), and not beyond it. After the last step
// T is end exactly. The error is a *Stop; the state is then that of the last good step.
func (d *DormandPrince) Step(end float64) error {
	d.dir = math.Copysign(1, end-d.T)
	if end == d.T {
		d.StepStart = d.T
		return nil
	}
	if d.slopeStale {
		d.f(d.T, d.X, d.k[0])
		if !numeric.AllFinite(d.k[0]...) || !numeric.AllFinite(d.X...) {
			return d.stop(ErrNonFinite)
		}
		d.slopeStale = false
	}
	if d.h == 0 {
		d.h = d.first(end)
	}
	if d.implicit != nil {
		return d.stiffStep(end)
	}
	cause := ErrStepSize
	for {
		if d.Accepted+d.Rejected >= d.MaxSteps {
			return d.stop(ErrSteps)
		}
		h, last, ok := d.clip(end)
		if !ok {
			return d.stop(cause)
		}
		err := d.try(h)
		if math.IsNaN(err) {
			// a stage left the domain: come back with a shorter step
			d.Rejected++
			cause, d.retry, d.h = ErrNonFinite, true, 0.1*h
			continue
		}
		q := math.Pow(err, 0.2-0.75*dpBeta)
		if err > 1 {
			d.Rejected++
			cause, d.retry = ErrStepSize, true
			d.h = h * max(dpShrink, dpSafety/q)
			continue
		}
		grow := min(dpGrow, max(dpShrink, dpSafety*math.Pow(d.prev, dpBeta)/q))
		if d.retry {
			grow = min(grow, 1)
		}
		d.retry = false
		d.prev = max(err, 1e-4)
		d.Accepted++
		d.watchStability(h)
		d.accept(h, end, last)
		// a step that was cut short says nothing against the one proposed
		if next := math.Abs(h) * grow; math.Abs(h) < math.Abs(d.h) {
			d.h = max(next, math.Abs(d.h))
		} else {
			d.h = next
		}
		return nil
	}
}

// clip is the next step (s) towards end; last tells that it ends there. ok is false where it would be too short for the time.
func (d *DormandPrince) clip(end float64) (h float64, last, ok bool) {
	h = math.Abs(d.h)
	if d.MaxStep > 0 {
		h = min(h, d.MaxStep)
	}
	// a last step that would leave a crumb is stretched to the end, or halved
	switch left := math.Abs(end - d.T); {
	case h >= left*(1-1e-12):
		h, last = left, true
	case h > 0.5*left:
		h = 0.5 * left
	}
	ok = h != 0 && (last || h > 4*(math.Nextafter(math.Abs(d.T), math.Inf(1))-math.Abs(d.T)))
	return h * d.dir, last, ok
}

// watchStability counts the steps that stability has limited, as [HW96] IV.2 tells them, and turns to the implicit method. The stages of
// the step of h (s) are there, the last but one in bad.
func (d *DormandPrince) watchStability(h float64) {
	if d.StiffAfter == 0 {
		return
	}
	slope, way := 0.0, 0.0
	for i, y := range d.y {
		a, b := d.k[6][i]-d.k[5][i], y-d.stageState[i]
		slope, way = slope+a*a, way+b*b
	}
	const border, inRow, again = 3.25, 15, 6 // |h·λ| at the border of stability; steps in a row
	if h*h*slope > border*border*way {
		d.inRow[1] = 0
		if d.inRow[0]++; d.inRow[0] >= inRow {
			d.limit++
		}
	} else if d.inRow[1]++; d.inRow[1] >= again {
		d.inRow[0] = 0
	}
	if d.limit < d.StiffAfter {
		return
	}
	own := d.Depends
	if own == 0 {
		own = d.n
	}
	d.implicit, d.StiffFrom, d.slopeStale = newStiffMethod(d.f, d.n, own), d.T+h, true
}

// StateChanged tells that the caller has changed X a little after a step, to meet a constraint: its slope is taken anew, the step size
// stays.
func (d *DormandPrince) StateChanged() { d.slopeStale = true }

// At writes the continuous solution at t to x; t lies in the last step.
func (d *DormandPrince) At(t float64, x []float64) {
	if d.span == 0 {
		copy(x, d.X)
		return
	}
	if d.implicit != nil && d.implicit.row > 0 {
		d.implicit.at(d.StepStart, d.T, t, x)
		return
	}
	d.theta((t-d.StepStart)/d.span, x)
}

// theta writes the continuous solution at the share th of the last step:
// x = r0 + θ(r1 + (1−θ)(r2 + θ(r3 + (1−θ)r4))).
func (d *DormandPrince) theta(th float64, x []float64) {
	r0, r1, r2, r3, r4 := d.cont[0], d.cont[1], d.cont[2], d.cont[3], d.cont[4]
	up := 1 - th
	for i := range x {
		x[i] = r0[i] + th*(r1[i]+up*(r2[i]+th*(r3[i]+up*r4[i])))
	}
}

// try computes the stages of a step of h; its result is in y, its slope there in k[6]. It returns the error relative to
// the tolerance, NaN when something is not finite.
func (d *DormandPrince) try(h float64) float64 {
	for s := 1; s < 7; s++ {
		a := &DormandPrinceA[s]
		for i := range d.y {
			sum := 0.0
			for j := range s {
				sum += a[j] * d.k[j][i]
			}
			d.y[i] = d.X[i] + h*sum
		}
		if s == 5 {
			copy(d.stageState, d.y)
		}
		d.f(d.T+dpC[s]*h, d.y, d.k[s])
	}
	sum := 0.0
	for i := range d.y {
		e := 0.0
		for s, w := range DormandPrinceE {
			e += w * d.k[s][i]
		}
		e *= h / d.scale(max(math.Abs(d.X[i]), math.Abs(d.y[i])))
		sum += e * e
	}
	if math.IsInf(sum, 0) || !numeric.AllFinite(d.y...) || !numeric.AllFinite(d.k[6]...) {
		return math.NaN()
	}
	return math.Sqrt(sum / float64(d.n))
}

// scale is the error that a component of size x may have.
func (d *DormandPrince) scale(x float64) float64 {
	return max(d.Atol+d.Rtol*x, math.SmallestNonzeroFloat64)
}

// accept takes over the step of h: continuous solution, state, slope, time.
func (d *DormandPrince) accept(h, end float64, last bool) {
	for i, x := range d.X {
		dx := d.y[i] - x
		b := h*d.k[0][i] - dx
		r := 0.0
		for s, w := range dpD {
			r += w * d.k[s][i]
		}
		d.cont[0][i], d.cont[1][i], d.cont[2][i] = x, dx, b
		d.cont[3][i] = dx - h*d.k[6][i] - b
		d.cont[4][i] = h * r
	}
	copy(d.X, d.y)
	d.k[0], d.k[6] = d.k[6], d.k[0]
	d.StepStart, d.span = d.T, h
	if d.T += h; last {
		d.T = end
	}
}

// first chooses a step (s) from the first two derivatives, as in [HNW93] II.4 (4.14).
func (d *DormandPrince) first(end float64) float64 {
	if d.FirstStep > 0 {
		return d.dir * d.FirstStep
	}
	norm := func(v []float64) float64 {
		sum := 0.0
		for i, x := range d.X {
			q := v[i] / d.scale(math.Abs(x))
			sum += q * q
		}
		return math.Sqrt(sum / float64(d.n))
	}
	reach := math.Abs(end - d.T)
	d0, d1 := norm(d.X), norm(d.k[0])
	h := 1e-6
	if d0 > 1e-5 && d1 > 1e-5 {
		h = 0.01 * d0 / d1
	}
	h = min(h, reach)
	for i, x := range d.X {
		d.y[i] = x + d.dir*h*d.k[0][i]
	}
	d.f(d.T+d.dir*h, d.y, d.k[1])
	for i := range d.stageState {
		d.stageState[i] = (d.k[1][i] - d.k[0][i]) / h
	}
	d2 := norm(d.stageState)
	h1 := max(1e-6, h*1e-3)
	if top := max(d1, d2); top > 1e-15 {
		h1 = math.Pow(0.01/top, 0.2)
	}
	h = min(100*h, h1)
	if math.IsNaN(h) || h == 0 {
		h = 1e-6
	}
	return d.dir * min(h, reach)
}

// stop is the error at the present place.
func (d *DormandPrince) stop(cause error) error {
	return &Stop{T: d.T, H: d.h, Steps: d.Accepted, Cause: cause}
}
