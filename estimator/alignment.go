package estimator

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine/numeric"
)

// AlignmentSpec describes how a second measurement of a position is compared with the first.
type AlignmentSpec struct {
	Dt     float64 // s  between two calls of Motion, on average
	Memory float64 // s  after which a sample weighs 1/e; 0: no forgetting
	Period float64 // rad or m  after which the reading begins anew, 2π for a heading; 0: it never does
	Depth  float64 // s  of motion that is kept: a sample may be so old, shift included
}

// Alignment finds how a second sensor sees the position θ of an axis that is known already,
//
//	y(t) = offset + gain·θ(t − shift) + noise,
//
// by least squares over the samples y. shift is what the second sensor is late by beyond the age it states. The position is kept for a
// while, so that a sample is compared with the position at its own time, and the equation is made linear there,
//
//	y = offset + gain·θ(t − s) − gain·(shift − s)·ω(t − s),
//
// about a time s that follows the estimate; when it moves, the sums begin anew. Without motion the three cannot be told apart, and none is
// given.
type Alignment struct {
	s            AlignmentSpec
	motion       []instant // ring; the newest is at newestMotion
	newestMotion int
	motionCount  int

	pending      []pendingSample // ring of samples of a time that the motion has not reached, the oldest at first
	firstPending int
	pendingCount int

	lin    float64 // s  the time about which the equation is linear
	info   *numeric.Factor
	w1, w2 float64 // sums of weights and their squares
	theta  [3]float64
	se     [3]float64
	cond   float64
	solved bool

	residual          float64 // of the newest sample
	bend, bendSquares float64 // what the straight line misses alignBend periods away at the newest sample; weighted sum of its squares
	ss, sw            float64 // weighted squares of residuals and their weights
	sLag              float64 // … products of neighbours
	lastResidual      float64 // before it
	row               [3]float64
	inARow            int
	lastSample        float64 // s

	counts AlignmentCounts
}

// AlignmentCounts are samples that did not enter.
type AlignmentCounts struct {
	LateSamples    int // older than the motion that is kept, or of the future
	OutlierSamples int // more than six times the noise away
	Restart        int // the sums began anew, since 25 samples in a row were outside: the sensor or its mount moved
}

type instant struct{ t, position, velocity float64 }

type pendingSample struct{ t, y float64 }

// Aligned is what is known.
type Aligned struct {
	Offset, OffsetSE float64 // in the unit of y
	Shift, ShiftSE   float64 // s
	Gain, GainSE     float64
	Noise            float64 // standard deviation of what remains, in the unit of y
	Difference       float64 // the newest of what remains; before anything is known the reading less the position
	Valid            bool    // else offset, shift and gain are NaN
}

const (
	alignCond    = 30   // of the scaled equations, above which they do not tell the three apart
	alignGain    = 0.02 // largest standard error of the gain, of itself, with which anything is said
	alignSamples = 50   // before anything is said or left out
	alignBend    = 10   // periods of the loop away from lin where the straight line is compared with the motion
	alignBias    = 0.5  // standard errors that the bend of the motion may move a value, above which none is said
)

// NewAlignment checks the description.
func NewAlignment(s AlignmentSpec) (*Alignment, error) {
	errs := []error{
		above0("alignment: period of the loop", s.Dt, "s"), atLeast0("alignment: memory", s.Memory, "s"),
		atLeast0("alignment: period of the reading", s.Period, ""),
		above0("alignment: depth", s.Depth, "s"),
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	n := int(s.Depth/s.Dt) + 2
	if n > 1<<20 {
		return nil, fmt.Errorf("alignment: %g s of motion every %g s are %d samples, at most %d", s.Depth, s.Dt, n, 1<<20)
	}
	a := &Alignment{s: s, motion: make([]instant, n), pending: make([]pendingSample, n), info: numeric.NewFactorBlock(3, 1)}
	a.restart()
	return a, nil
}

// restart forgets the sums, not the motion nor the time about which they are linear.
func (a *Alignment) restart() {
	a.info.Reset()
	a.w1, a.w2, a.bendSquares, a.ss, a.sw, a.sLag, a.lastResidual, a.inARow = 0, 0, 0, 0, 0, 0, 0, 0
	a.solved, a.cond = false, math.Inf(1)
}

// Motion takes position and velocity at time t (s), which grows.
func (a *Alignment) Motion(t, position, velocity float64) {
	if !numeric.IsFinite(position + velocity) {
		a.counts.LateSamples += a.pendingCount
		a.motionCount, a.pendingCount = 0, 0 // what came before belongs to another motion
		return
	}
	a.newestMotion = (a.newestMotion + 1) % len(a.motion)
	a.motion[a.newestMotion] = instant{t, position, velocity}
	a.motionCount = min(a.motionCount+1, len(a.motion))
	a.catchUp()
}

// catchUp compares the samples whose time the motion has reached.
func (a *Alignment) catchUp() {
	for a.pendingCount > 0 && !a.beyondMotion(a.pending[a.firstPending].t) {
		r := a.pending[a.firstPending]
		a.firstPending, a.pendingCount = (a.firstPending+1)%len(a.pending), a.pendingCount-1
		a.compare(r.t, r.y)
	}
}

// beyondMotion tells whether the motion that a sample of time t is compared with is not there yet.
func (a *Alignment) beyondMotion(t float64) bool { return t-a.lin > a.motion[a.newestMotion].t+a.s.Dt }

// at is the motion at time t, between two moments that are kept (cubic), or up to one period after the newest.
func (a *Alignment) at(t float64) (m instant, ok bool) {
	if a.motionCount < 2 {
		return m, false
	}
	after := a.motion[a.newestMotion]
	if ahead := t - after.t; ahead > 0 {
		return instant{t, after.position + after.velocity*ahead, after.velocity}, ahead <= a.s.Dt
	}
	for k := 1; k < a.motionCount; k++ {
		before := a.motion[(a.newestMotion-k+len(a.motion))%len(a.motion)]
		if before.t <= t {
			return interpolate(before, after, t), true
		}
		after = before
	}
	return m, false
}

// interpolate is the cubic through two moments and their velocities.
func interpolate(p, q instant, t float64) instant {
	h := q.t - p.t
	x := (t - p.t) / h
	d := q.position - p.position
	// Hermite: position = p + x·(h·vp) + x²·(3d − h(2vp+vq)) + x³·(h(vp+vq) − 2d)
	b, c := 3*d-h*(2*p.velocity+q.velocity), h*(p.velocity+q.velocity)-2*d
	return instant{t, p.position + x*(h*p.velocity+x*(b+x*c)), p.velocity + x*(2*b+3*x*c)/h}
}

// Sample takes a reading of the second sensor at time t (s), its stated age taken off, and reports whether it entered, or will: that of a
// sensor that is early waits for its motion.
func (a *Alignment) Sample(t, y float64) bool {
	if a.motionCount < 2 || !a.beyondMotion(t) {
		return a.compare(t, y)
	}
	if a.pendingCount == len(a.pending) || t-a.lin > a.motion[a.newestMotion].t+a.s.Depth || !numeric.IsFinite(y) {
		a.counts.LateSamples++
		return false
	}
	a.pending[(a.firstPending+a.pendingCount)%len(a.pending)] = pendingSample{t, y}
	a.pendingCount++
	return true
}

// compare takes in a reading whose motion is there.
func (a *Alignment) compare(t, y float64) bool {
	m, ok := a.at(t - a.lin)
	if !ok || !numeric.IsFinite(y) {
		a.counts.LateSamples++
		return false
	}
	a.row = [3]float64{1, m.position, -m.velocity}
	a.bend = 0
	away := alignBend * a.s.Dt
	if p, ok := a.at(t - a.lin - away); ok {
		a.bend = p.position - (m.position - away*m.velocity)
	}
	e := y - m.position
	if a.solved {
		e = y - a.predict()
	}
	if p := a.s.Period; p > 0 && a.w1 > 0 {
		// the reading continues the one before; without a gain yet, that of one turn for one turn
		centre := a.residualBefore()
		turns := math.Round((e - centre) / p)
		e, y = e-turns*p, y-turns*p
	}
	a.residual = e
	if a.solved && a.w1 > 0 {
		if noise := a.noise(); math.Abs(e) > 6*noise {
			a.counts.OutlierSamples++
			if a.inARow++; a.inARow >= 25 {
				a.counts.Restart++
				a.restart()
			}
			return false
		}
		a.inARow = 0
	}
	a.addSample(t, y, e)
	return true
}

func (a *Alignment) predict() float64 {
	return a.theta[0]*a.row[0] + a.theta[1]*a.row[1] + a.theta[2]*a.row[2]
}

// residualBefore is about what the next residual is near to.
func (a *Alignment) residualBefore() float64 {
	if a.solved {
		return 0
	}
	return a.residual
}

func (a *Alignment) addSample(t, y, e float64) {
	w := 1.0
	if a.s.Memory > 0 && a.w1 > 0 {
		w = math.Exp(-math.Max(t-a.lastSample, 0) / a.s.Memory)
	}
	a.lastSample = t
	a.info.Scale(math.Sqrt(w))
	a.info.Add(a.row[:], y)
	a.w1, a.w2 = w*a.w1+1, w*w*a.w2+1
	a.bendSquares = w*a.bendSquares + a.bend*a.bend
	if a.solved {
		a.ss, a.sw, a.sLag = w*a.ss+e*e, w*a.sw+1, w*a.sLag+e*a.lastResidual
		a.lastResidual = e
	}
	if a.info.Rows() < alignSamples {
		return
	}
	a.cond = a.info.Errors(a.se[:])
	if !(a.cond <= alignCond) || a.info.Solve(a.theta[:]) != nil {
		a.solved = false
		return
	}
	a.solved = true
	d, noise := a.theta[2]/a.theta[1], a.noise()
	if certain(a.theta[1], a.se[1]*noise) && certain(a.theta[2], a.se[2]*noise) && a.bias(d, noise) > alignBias/2 {
		a.lin = max(-a.s.Depth, min(a.lin+d, a.s.Depth))
		a.restart()
	}
}

// noise is that of the residuals, by the sums of the equations.
func (a *Alignment) noise() float64 {
	free := a.w1 - 3*a.w2/a.w1
	if !(free > 0) {
		return math.Inf(1)
	}
	return math.Sqrt(a.info.SumSquares() / free)
}

// certain tells whether a value is not zero by chance.
func certain(value, se float64) bool { return math.Abs(value) > 4*se }

// bias bounds how many standard errors a value is off because the equation is straight about a time that is d (s) from the shift: what is
// missed grows with d², and at worst lies along the value.
func (a *Alignment) bias(d, noise float64) float64 {
	x := d / (alignBend * a.s.Dt)
	return math.Abs(a.theta[1]) * x * x * math.Sqrt(a.bendSquares) / noise
}

// Result is what is known now. The standard errors reckon with residuals that depend on their neighbour.
func (a *Alignment) Result() Aligned {
	nan := math.NaN()
	r := Aligned{
		Offset: nan, OffsetSE: nan, Shift: nan, ShiftSE: nan, Gain: nan, GainSE: nan, Noise: nan, Difference: a.residual, Valid: a.solved,
	}
	if !a.solved {
		return r
	}
	noise := a.noise()
	scale := noise * math.Sqrt(a.w2/a.w1)
	if a.sw > alignSamples {
		if rho := a.sLag / a.ss; rho > 0 {
			rho = math.Min(rho, 0.98)
			scale *= math.Sqrt((1 + rho) / (1 - rho))
		}
	}
	g := a.theta[1]
	d, dSE := a.theta[2]/g, scale*a.se[2]/math.Abs(g)
	// a wide gain: what moves is the noise of the first sensor
	if scale*a.se[1] > alignGain*math.Abs(g) || a.bias(math.Abs(d)+2*dSE, noise) > alignBias {
		r.Valid = false
		return r
	}
	r.Noise = noise
	r.Offset, r.OffsetSE = a.theta[0], scale*a.se[0]
	if p := a.s.Period; p > 0 {
		r.Offset -= p * math.Round(r.Offset/p)
	}
	r.Gain, r.GainSE = g, scale*a.se[1]
	r.Shift, r.ShiftSE = a.lin+d, dSE
	return r
}

// Counts are those since the start.
func (a *Alignment) Counts() AlignmentCounts { return a.counts }
