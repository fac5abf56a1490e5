package axis

import (
	"math"

	"hilrig/engine/numeric"
	"hilrig/estimator"
)

// runaway finds an axis that goes faster and faster against its effort while the effort grows: an encoder or a drive of the wrong sign, at
// rates of sampling too where the means of signs and of momentum are long. The load of such an axis seems to be twice its effort at any
// moment, so the load that momentum expects grows with it, and explains it.
//
// What a load does is different:
//
//	J·a = effort − load   a weight, a brake that lets go, an end stop: the more effort, the less acceleration against it
//	J·a = −effort         a wrong sign: both grow together
//	J·a = effort − k·x    a spring: both grow together on the way out only, where the motion is not against the effort
//
// So the effort must have grown by Fs since the motion against it began, and be above what friction takes (frozenFs·Fs); acceleration and
// effort must both be within nearPeak of the largest that they had. The inertia of the file may be a guess: a tenth of the effort is
// enough of an acceleration. A drive that is thrown back by a growing load does the same; it has lost its axis, too. So has one that gives
// all that it can while the axis goes faster and faster against it, for twice the time: there the effort cannot grow.
//
// Beside another axis that may throw it, as the links of an arm without a mechanism do each other, nothing is told here.
//
// A position that the filter refuses is no gap: an axis that runs away is what it refuses. The next one that it takes tells the way.
type runaway struct {
	f *frozen

	sum, pending      float64 // of command times time since the newest position, and how long
	unseen            float64 // s    since a position came, believed or not
	gap               bool    // … it was long
	hasPosition       bool    // there is a newest position
	lastPosition, age float64 // rad, s  … it, and its age
	primed            bool    // there is a speed
	startEffort       float64 // N·m     effort when the motion against it began
	weight            average // of a sample in the means
	speed, slowSpeed  float64 // rad/s   means of the speed, and the mean of that
	effort            float64 // N·m     … of the effort
	// s       so long the change from a motion with the effort is in the means: a sign that turns is no acceleration
	turning                 float64
	topEffort               float64 // N·m     largest of both since then
	topAgainst              float64 // N·m     … of what lasted for peakTime
	minAgainst, againstTime float64 // N·m, s  smallest acceleration against the effort of so long
	time, travel            float64 // s, rad  it has lasted
	maxEffortTime           float64 // s       … at the largest effort
	hint                    Finding // of the newest position: what an axis is that leaves its limits before the next one
	grown                   bool    // it lasts, and the effort has grown by Fs since the motion against it began, or cannot grow
}

const (
	nearPeak    = 0.9   // of the largest
	runawayMean = 10e-3 // s  of effort and speed
	peakTime    = 20e-3 // s  and two samples: what is shorter is a wild sample
	turnTime    = 30e-3 // s  and four samples: so long a sign that turns is in the means
	turnSamples = 4
)

func (r *runaway) forget() { *r = runaway{f: r.f, weight: r.weight} }

// step takes a tick: whether the filter believes the sample p, the command of the tick before, the effort (N·m) that a reading tells,
// NaN: none, the speed (rad/s) that voltage and current tell, 0: none, what the mechanism takes of the effort (N·m), and whether the
// command is the largest there is. It is the verdict so far, and what it will be if the axis leaves its limits sooner. An effort that is
// read is as late as the position: the command of now would be the larger one while it grows.
//
// The acceleration is that of the positions at their own times: samples that a host asks for are not as evenly spaced as the estimate takes
// them to be, and at speed a millisecond is more than all of it.
func (r *runaway) step(k Tick, taken, full bool, p *estimator.Sample, command, read, told, carried float64) (bad, hint Finding) {
	f := r.f
	if !k.Energised || f.s.UnmodelledCoupling || !numeric.IsFinite(command+carried) {
		r.forget()
		return
	}
	dt := f.s.Tick * (1 + float64(k.Skip))
	r.sum += dt * command
	r.pending += dt
	if r.unseen += dt; p.Updated && numeric.IsFinite(p.Value) {
		r.gap = r.gap || r.unseen > longSpan*f.s.SamplePeriod*(1+1e-9)
		r.unseen = 0
	}
	if !taken {
		return Finding{}, r.hint
	}
	r.hint = Finding{}
	dt, command = r.pending, r.sum/r.pending
	if !r.hasPosition || r.gap { // what happened in a gap is not known
		r.forget()
		r.hasPosition, r.lastPosition, r.age = true, p.Value, max(0, p.Age)
		return
	}
	effort := f.effortAt(command, r.speed)
	if numeric.IsFinite(read) {
		effort = smaller(effort, read)
	}
	effort -= carried
	moved, span := p.Value-r.lastPosition, max(dt+r.age-max(0, p.Age), f.s.SamplePeriod/4)
	r.lastPosition, r.age, r.sum, r.pending = p.Value, max(0, p.Age), 0, 0
	w := r.weight.weightFor(span, runawayMean)
	if !r.primed { // the first speed is no change of one
		r.primed, r.speed, r.slowSpeed, r.effort = true, moved/span, moved/span, effort
	}
	r.effort += w * (effort - r.effort)
	r.speed += w * (moved/span - r.speed)
	change := w * (r.speed - r.slowSpeed) // no division by 1−w: that is 0 where samples are far apart
	r.slowSpeed += change
	side := math.Copysign(1, r.effort)
	u, a := math.Abs(r.effort), -f.axisModel.j*change/span*side
	slowest := patientWay * f.counts / patientTime
	if r.turning = max(0, r.turning-min(dt, f.s.SamplePeriod)); r.speed*side > slowest {
		r.turning = max(turnTime, turnSamples*f.s.SamplePeriod)
	}
	if -r.speed*side < slowest || u < r.startEffort { // it does not move against the effort
		r.startEffort, r.topEffort, r.topAgainst, r.minAgainst, r.againstTime, r.time, r.travel = u, u, 0, a, 0, 0, 0
	}
	r.topEffort, r.minAgainst = max(r.topEffort, u), min(r.minAgainst, a)
	if r.turning > 0 {
		r.againstTime = 0
	} else if r.againstTime += min(dt, f.s.SamplePeriod); r.againstTime >= max(peakTime, f.s.SamplePeriod)*(1-1e-9) {
		r.topAgainst, r.minAgainst, r.againstTime = max(r.topAgainst, r.minAgainst), a, 0
	}
	if told*r.speed > 0 || a < motionShare/3*u || a < nearPeak*r.topAgainst || u < nearPeak*r.topEffort {
		r.time, r.travel, r.maxEffortTime, r.grown = 0, 0, 0, false
		return
	}
	r.time += dt
	r.travel -= moved * side
	if r.maxEffortTime += dt; !full {
		r.maxEffortTime = 0
	}
	least, grows := max(patientTime, minSamples*f.s.SamplePeriod), u >= r.startEffort+f.rest/frozenFs
	if !grows {
		least *= 2
	}
	r.grown = grows || r.maxEffortTime >= least/2
	if !r.grown || u < f.hold || r.time < max(hintFor, minBrokenSamples*f.s.SamplePeriod) || r.travel < partWay*f.counts {
		return
	}
	hint = Finding{Direction, estimator.Position, f.asCommand(side*r.travel, r.time), f.asCommand(partWay*f.counts, r.time)}
	r.hint = hint
	if r.time >= least+max(0, p.Age) && (grows || r.maxEffortTime >= least) {
		bad = hint
	}
	return bad, hint
}
