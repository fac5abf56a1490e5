package pose

import (
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// Soundness says whether the coefficients of a Rolling mean anything.
type Soundness uint8

const (
	Sound       Soundness = iota // they do
	Waiting                      // the first frames are gathered
	Learning                     // the motion so far says little more than the prior
	Slow                         // the ball moves too slowly to begin
	Fast                         // the ball turns too fast for the frames
	Slips                        // the contact moves
	NoGrip                       // rolling would take more tangential force than the contact has
	Lifts                        // the plane would have to pull
	Contradicts                  // the poses lie further from the model than their noise allows
	Settling                     // one of the last four held within the last second
)

var soundness = [...]string{
	Sound:    "sound",
	Waiting:  "waiting for the first frames",
	Learning: "learning: the motion so far does not tell the friction",
	Slow:     "the ball rolls too slowly: its speed is less than ten times the error of its measurement",
	Fast:     "the ball turns by half a turn or more within the first frames",
	Slips:    "the contact slips: its velocity is more than 4 standard deviations from zero",
	NoGrip:   "the contact force leans further from the normal than the stated sliding friction allows",
	Lifts: "the normal force is not above zero: the ball leaves the plane, or mass, inertia or centre of mass are not those of " +
		"this ball",
	Contradicts: "the poses contradict the model: residuals are more than half as large again as the stated noise",
	Settling:    "it slipped, or the model did not hold, within the last second",
}

func (s Soundness) String() string { return soundness[s] }

// Limits of the verdict.
const (
	sigmaFactor     = 4.0  // standard deviations of the contact velocity
	misfit          = 1.5  // rms of the normalised innovations
	averagingFrames = 50.0 // frames over which they are averaged
	probation       = 1.0  // s  without a doubt before a value is shown again
	recoveryTime    = 0.1  // s  without a doubt that ends it
	giveUp          = 0.3  // s  of doubt upon doubt after which the estimate is begun anew
	learnedRatio    = 0.5  // standard deviation over that of the prior
)

// verdictState is what judge remembers.
type verdictState struct {
	verdict    Soundness // of the last frame, without Settling
	lastDoubt  Soundness // the last doubt; Sound: there has been none
	doubt      float64   // s  its time
	doubtStart float64   // s  time since which doubt followed doubt
	stale      bool      // the estimate lived through a doubt

	nis, mean float64 // of the last frame; slow mean over 6 degrees of freedom
	slip      float64 // velocity of the contact in standard deviations

	frames, badFrames, gaps, restarts int
}

// judge looks at the frame just taken in.
func (f *Rolling) judge(nis float64) {
	v := &f.verdicts
	v.frames++
	v.nis = nis
	v.mean += (nis/6 - v.mean) / averagingFrames

	radius := f.spec.RadiusError * f.spec.Ball.Radius * r3.Norm(f.rollingOmega())
	v.slip = f.slipOver(radius * radius)
	if v.verdict = f.doubt(); v.verdict == Sound {
		if f.p[iRoll][iRoll] > learnedRatio*learnedRatio*f.spec.Prior.Roll*f.spec.Prior.Roll {
			v.verdict = Learning
		}
		if v.stale && f.t-v.doubt > recoveryTime {
			f.renew()
		}
		return
	}
	// an estimate that lived through a doubt is not trusted again
	if v.lastDoubt == Sound || f.t-v.doubt > recoveryTime {
		v.doubtStart = f.t
	}
	v.lastDoubt, v.doubt, v.stale = v.verdict, f.t, true
	if f.t-v.doubtStart > giveUp {
		v.doubtStart = f.t
		f.renew()
	}
}

// renew begins the estimate anew after a doubt.
func (f *Rolling) renew() {
	f.verdicts.restarts++
	f.verdicts.stale = false
	f.restart()
}

// doubt is what is wrong with the last frame, or Sound.
func (f *Rolling) doubt() Soundness {
	v := &f.verdicts
	n, t := f.force.Z, math.Hypot(f.force.X, f.force.Y)
	switch {
	case !(v.mean <= misfit*misfit):
		return Contradicts
	case !(v.slip <= sigmaFactor):
		return Slips
	case !(n > 0):
		return Lifts
	case f.spec.Sliding > 0 && t > f.spec.Sliding*n:
		return NoGrip
	}
	return Sound
}

// slipOver is the size of the contact velocity over its standard deviation in its own direction, with a variance added.
func (f *Rolling) slipOver(more float64) float64 {
	a, b, c := f.p[iSlip][iSlip]+more, f.p[iSlip][iSlip+1], f.p[iSlip+1][iSlip+1]+more
	det := a*c - b*b
	x, y := f.u[0], f.u[1]
	return math.Sqrt(math.Max(0, (c*x*x-2*b*x*y+a*y*y)/det))
}

// Value is a number with its standard error.
type Value struct{ Mean, Sd float64 }

// Rolled is what a Rolling says after a frame.
type Rolled struct {
	T         float64
	Soundness Soundness
	Doubt     Soundness // the last of Slips, NoGrip, Lifts and Contradicts; Sound: there has been none

	Roll, Spin, Quadratic Value // N·m·s, N·m·s, N·m·s²; NaN unless Soundness is Sound
	SpinKnown             bool  // the motion has told the spinning friction: else Spin is little more than the prior
	QuadraticKnown        bool

	R     quat.Number // body → world
	Omega r3.Vec      // rad/s  body axes
	P     r3.Vec      // m      centre
	Force r3.Vec      // N      of the plane on the ball

	Slip     r3.Vec  // m/s  velocity of the contact
	SlipOver float64 // … in standard deviations
	Noise    float64 // rms of the normalised innovations, slow: 1 where the stated noise is right
	NIS      float64 // of the last frame, χ² of 6 degrees of freedom
}

// Result is the estimate after the last frame.
func (f *Rolling) Result() Rolled {
	v := &f.verdicts
	nan := Value{math.NaN(), math.NaN()}
	r := Rolled{Soundness: Waiting, Doubt: v.lastDoubt, Roll: nan, Spin: nan, Quadratic: nan, R: rotation.Identity, Noise: math.Sqrt(v.mean),
		NIS: v.nis}
	switch {
	case f.running:
		r.T, r.R, r.Omega, r.P, r.Force = f.t, f.q, f.w, f.x, f.force
		r.Slip, r.SlipOver = r3.Vec{X: f.u[0], Y: f.u[1]}, v.slip
		r.Soundness = v.verdict
	case f.count > 0:
		r.T, r.R, r.P = f.times[f.count-1], f.turns[f.count-1], f.places[f.count-1]
		if v.verdict == Slow || v.verdict == Fast {
			r.Soundness = v.verdict
		}
	}
	if v.lastDoubt != Sound && r.T-v.doubt < probation && r.Soundness <= Learning {
		r.Soundness = Settling
	}
	if r.Soundness != Sound {
		return r
	}
	value := func(mean float64, i int) Value { return Value{mean, math.Sqrt(f.p[i][i])} }
	r.Roll, r.Spin = value(f.mu.Roll, iRoll), value(f.mu.Spin, iSpin)
	r.SpinKnown = r.Spin.Sd < learnedRatio*f.spec.Prior.Spin
	if f.n > iQuadratic {
		r.Quadratic = value(f.mu.Quadratic, iQuadratic)
		r.QuadraticKnown = r.Quadratic.Sd < learnedRatio*f.spec.Prior.Quadratic
	}
	return r
}

// RollingCounts is what a Rolling has met.
type RollingCounts struct {
	Frames    int // taken in
	BadFrames int // left out: no numbers, not after the last one, or a covariance that is none
	Gaps      int // longer than the filter bridges
	Restarts  int // after a doubt
}

// Counts is what the filter has met so far.
func (f *Rolling) Counts() RollingCounts {
	v := &f.verdicts
	return RollingCounts{v.frames, v.badFrames, v.gaps, v.restarts}
}
