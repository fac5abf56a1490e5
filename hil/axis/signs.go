package axis

import (
	"math"

	"hilrig/engine/plant"
	"hilrig/estimator"
)

// signs compares what command, current and position say about one another. Of a voltage drive:
//
//	u = R·i + L·di/dt + drop + K·ω
//
// The balance is that of the winding alone: no load, gravity or hand on the shaft enters it. With the sign of drive, encoder or
// current sensor turned round it is broken by twice a term, and kept once that sign is turned back: wrong direction. Where the
// position hardly moves and the current leaves voltage over, the axis turns unseen, or the drive does nothing: frozen position. A current
// that takes more than voltage and motion together is that of a bad sensor. What is left of broken balances is a wrong scale.
//
// All are means over the same short time, so that the delay of a sample hardly counts. Tolerated are half of
// R·i and K·ω, twice the drop of the brushes and 5 % of the largest command: a hot winding or a poor data sheet is no wrong sign.
//
// A current that is the same number in every sample while u − K·ω changes by more than twice the drop and 2 % of the largest command is
// frozen: it no longer guards anything.
//
// Without a measured current the acceleration stands in for it, i = J·ω'/K, and five times the break-away torque is tolerated
// beside the rest. With the sign of drive or encoder turned round, speed and acceleration both change sign. That tells a wrong sign
// from a load: one that drives the axis back does not do so with the acceleration that belongs to the voltage.
//
// A current or an effort that is commanded, and a current that is measured, are compared with the acceleration alone, a commanded
// velocity with the speed. A load enters there, so a broken balance is a hint only: it names the cause when the axis leaves its limits.
//
// Small currents do not break a balance. Over a second of motion the voltage is regressed on what current and speed take of it: a
// slope that is negative, or far from 1, is a current sensor or an encoder of another sign or scale.
//
// A balance that is kept once the command is taken from 20 to 160 ms before shows a delay, and no wrong sign. There the command counts as
// it was sent: a voltage that the device tells may come as late as all that it tells.
type signs struct {
	s           *Spec
	drive       plant.DriveKind // what the command is
	current     bool            // is measured, and the command is a voltage
	tau         float64
	floor       float64    // in the unit of the command, as all balances
	rest        float64    // … what friction, and what is not known of the effort of a command, may take
	frozenLimit float64    // V  a current that stays the same number bears no more change of the voltage
	period      float64    // s  the means are judged so often; 0: at every sample
	brushes     *brushDrop // of the motor; nil: computed anew

	primed                    bool                      // means are those of an energised axis
	lastSamples               [2]float64                // rad, A  position and current taken last
	sum, part                 float64                   // of command times time since then, and how long
	sentSum                   float64                   // … of the command as it was sent
	u, i, w                   float64                   // command, A, rad/s  means
	di                        float64                   // A/s  change of the mean current
	drop, lastDrop            float64                   // V  mean of what the brushes take, and that of the newest current
	u2, w2                    float64                   // command, rad/s  means of the means, for the acceleration
	c, c2                     float64                   // command as it was sent, mean and mean of the mean
	energisedTime             float64                   // s  since energised
	commandHistory            [1 + delaySamples]float64 // u or u2 at the newest sample and at those before
	weight                    average                   // of a sample in the means
	unjudged                  float64                   // s  of samples since they were judged …
	longestPart               float64                   // s  … and the longest between two of them
	verdictFault, verdictHint Finding                   // by that
	newestBalance             float64                   // command  what the balance of the newest sample leaves
	brokenBalance, hint       lasting                   // the first of a voltage alone
	showsMotion               bool                      // the position shows a motion, however slow
	older                     lasting                   // the balance of the command as it was sent

	constantCurrentTime float64 // s  the current has been the same number for so long …
	lo, hi              float64 // V  … while u − K·ω went from here to there

	delays delays
	swing  swing
	scale  scaling
	slope  lasting
}

// lasting is a verdict and how long it has been the same.
type lasting struct {
	Finding
	time float64 // s
}

func (l *lasting) add(f Finding, dt float64) {
	if f.Fault != l.Fault {
		l.time = 0
	}
	l.Finding = f
	l.time += dt
}

// samples are how many must be broken alike, at least: a mean of the current that changes its sign passes by what a position that tells
// nothing leaves over.
func (l *lasting) samples() float64 {
	if l.Fault == Frozen || l.Fault == Scale {
		return minSamples
	}
	return minBrokenSamples
}

const (
	signsFor = 20e-3 // s  a balance must be broken for so long: longer than any transient of a drive
	slopeFor = 0.3   // s  … and a slope

	judgePeriod = 2e-3 // s  means over 10 ms at least are judged so often at most

	minBrokenSamples = 2    // samples with a broken balance, at least
	delaySamples     = 3    // so many samples a command may need to show
	hintFor          = 5e-3 // s  … to name what a limit of the motion has found first
	sameFor          = 0.2  // s  a current may be the same number for so long; ten samples at least
)

func newSigns(s *Spec, drive plant.DriveKind, top float64) *signs {
	n := &signs{s: s, drive: drive, current: drive == plant.VoltageDrive && s.measured(estimator.Current), tau: max(10e-3, 5*s.SamplePeriod),
		floor: 0.05 * top}
	if drive == plant.VoltageDrive {
		n.floor, n.frozenLimit = n.floor+2*s.Motor.BrushDrop, 2*s.Motor.BrushDrop+0.02*top
	}
	n.rest = n.floor
	if per := n.perEffort(); !n.current && n.floor > 0 {
		n.rest = frozenFs*s.levels().Max()*per + n.frozenLimit
		if drive != plant.VoltageDrive {
			n.rest += unsureEffort * top
		}
		n.floor += stallFs * s.levels().Max() * per
	}
	return n
}

// perEffort is the command that an effort of 1 N·m takes of an axis that stands; 0 of a velocity drive.
func (s *signs) perEffort() float64 {
	switch m := &s.s.Motor; s.drive {
	case plant.VoltageDrive:
		return m.R / m.K
	case plant.CurrentDrive:
		return 1 / m.K
	case plant.EffortDrive:
		return 1
	}
	return 0
}

// step takes position and current as the filter took them last, whether the position is new, whether to doubt what the rig reads, and the
// command of the tick before, as it acts (a voltage as the device says it applied it) and as it was sent. Only samples count: while none
// comes there is nothing to compare, and the command is summed up. bad is a balance that is broken beyond doubt; hint is one that is
// broken enough to be the cause when the axis leaves its limits.
func (s *signs) step(k Tick, fresh, doubtful bool, u, sent float64, taken [2]float64) (bad, hint Finding) {
	if s.floor == 0 {
		return
	}
	if !k.Energised {
		s.primed = false
		return
	}
	dt := s.s.Tick * (1 + float64(k.Skip))
	if any := u + sent + taken[0] + taken[1]; !s.primed || any-any != 0 || doubtful {
		// begin anew behind a gap or a reading that is not believed
		*s = signs{s: s.s, drive: s.drive, current: s.current, tau: s.tau, floor: s.floor, frozenLimit: s.frozenLimit, rest: s.rest,
			period: s.period, brushes: s.brushes}
		s.primed, s.lastSamples, s.u, s.i, s.u2, s.commandHistory = any-any == 0, taken, u, taken[1], u, [1 + delaySamples]float64{u, u, u, u}
		s.c, s.c2 = sent, sent
		if s.current && s.primed {
			s.lastDrop = s.brushes.at(&s.s.Motor, taken[1])
			s.drop = s.lastDrop
		}
		return
	}
	s.sum += dt * u
	s.sentSum += dt * sent
	s.part += dt
	if !fresh {
		return s.verdictFault, s.verdictHint
	}
	dt, u, sent = s.part, s.sum/s.part, s.sentSum/s.part
	omega := (taken[0] - s.lastSamples[0]) / dt
	w := s.weight.weightFor(dt, s.tau)
	s.u += w * (u - s.u)
	s.di = w * (0.5*(taken[1]+s.lastSamples[1]) - s.i)
	s.i += s.di
	s.di /= dt
	if s.current { // a current that changes its sign from sample to sample has another drop than its mean
		drop := s.brushes.at(&s.s.Motor, taken[1])
		s.drop += w * (0.5*(drop+s.lastDrop) - s.drop)
		s.lastDrop = drop
	}
	s.w += w * (omega - s.w)
	s.u2 += w * (s.u - s.u2)
	s.c += w * (sent - s.c)
	s.c2 += w * (s.c - s.c2)
	s.w2 += w * (s.w - s.w2)
	left := s.u - s.s.Motor.K*s.w
	if s.constantCurrentTime += dt; taken[1] != s.lastSamples[1] {
		s.constantCurrentTime = 0
	}
	if s.constantCurrentTime == 0 || s.energisedTime < 3*s.tau {
		s.constantCurrentTime, s.lo, s.hi = 0, left, left
	}
	s.lo, s.hi = min(s.lo, left), max(s.hi, left)
	s.lastSamples, s.sum, s.sentSum, s.part = taken, 0, 0, 0
	if s.energisedTime += dt; s.energisedTime < 3*s.tau {
		return
	}
	s.longestPart = max(s.longestPart, dt)
	s.showsMotion = math.Abs(s.w) > patientWay/patientTime*max(s.s.Kalman.Count, s.s.Mechanical.Count)
	if s.unjudged += dt; s.drive == plant.VoltageDrive {
		s.remember()
	}
	if s.unjudged >= s.period-s.s.SamplePeriod/2 {
		s.judge()
		s.verdictFault, s.verdictHint = s.verdict()
	}
	return s.verdictFault, s.verdictHint
}

// judge looks at the means.
func (s *signs) judge() {
	dt, longest := s.unjudged, s.longestPart
	s.unjudged, s.longestPart = 0, 0
	u, ri, emf := s.terms()
	s.newestBalance = u - ri - emf
	if longest <= 3*s.s.SamplePeriod { // what happened in a gap is not known
		sent := s.c2
		if s.current {
			sent = s.c
			s.scale.add(u, ri, emf, dt)
		}
		s.older.add(s.balance(sent, ri, emf, 0.25, s.floor/8), dt)
		s.delays.add(sent, ri, emf, dt, max(delaySpacing, s.s.SamplePeriod), s.older.Fault != Fine)
		if s.drive != plant.VelocityDrive {
			s.swing.add(sent, ri+emf, dt, max(delaySpacing, s.s.SamplePeriod), s.rest)
		}
	}
	if s.current {
		f := s.scale.judge(s.floor / 8)
		if f.Fault == Disagree {
			f.Value, f.Limit = f.Value/s.s.Motor.R, f.Limit/s.s.Motor.R
		}
		s.slope.add(f, dt)
	}
	if s.drive == plant.VoltageDrive {
		s.brokenBalance.add(s.balance(s.meant(ri+emf), ri, emf, 0.5, s.floor), dt)
	}
	if s.hint.add(s.balance(u, ri, emf, 0.25, s.floor/8), dt); longest > gapSamples*s.s.SamplePeriod*(1+1e-9) {
		s.hint.time = 0 // samples that come so rarely name no cause
	}
}

// remember keeps the mean of the command at a sample.
func (s *signs) remember() {
	u := s.u2
	if s.current {
		u = s.u
	}
	copy(s.commandHistory[1:], s.commandHistory[:])
	s.commandHistory[0] = u
}

// meant is, of the means of the command now and at the samples before, and all between, the one that comes nearest to the rest of the
// balance: a command may need so long to show in the samples.
func (s *signs) meant(rest float64) float64 {
	lo, hi := s.commandHistory[0], s.commandHistory[0]
	for _, b := range s.commandHistory[1:] {
		lo, hi = min(lo, b), max(hi, b)
	}
	return min(max(rest, lo), hi)
}

// terms are the command, what of it drives current or acceleration, and what the speed takes.
func (s *signs) terms() (u, ri, emf float64) {
	m := &s.s.Motor
	if s.current {
		return s.u, m.R*s.i + s.drop + m.L*s.di, m.K * s.w
	}
	effort := m.J * (s.w - s.w2) / s.tau
	switch s.drive {
	case plant.VoltageDrive:
		return s.u2, s.winding(effort / m.K), m.K * s.w2
	case plant.VelocityDrive:
		return s.u2, s.w2, 0
	}
	return s.u2, s.perEffort() * effort, 0
}

// verdict is what has lasted long enough.
func (s *signs) verdict() (bad, hint Finding) {
	broken := s.brokenBalance.Finding
	swung := s.swing.judge(s.s.SamplePeriod)
	switch {
	case swung.Fault != Fine:
		bad, broken = swung, swung
	case s.brokenBalance.Fault != Fine && s.brokenBalance.time >= max(signsFor, s.brokenBalance.samples()*s.s.SamplePeriod):
		bad = s.named(broken)
	case s.slope.Fault != Fine && s.slope.time >= slopeFor:
		bad, broken = s.slope.Finding, s.slope.Finding
	case s.current && s.constantCurrentTime >= max(sameFor, s.tau) && s.hi-s.lo > s.frozenLimit:
		return Finding{FrozenCurrent, estimator.Current, s.hi - s.lo, s.frozenLimit}, hint
	}
	if bad.Fault != Fine && s.current && s.constantCurrentTime >= max(signsFor, minSamples*s.s.SamplePeriod) { // whatever it looks like
		volts := s.volts(broken)
		bad = Finding{FrozenCurrent, estimator.Current, broken.Value * volts, broken.Limit * volts}
	}
	if s.hint.Fault != Fine && s.hint.time >= hintFor {
		hint = s.named(s.hint.Finding)
	} else if s.older.time >= hintFor { // the voltage that is told is as old as all that is told
		if hint = s.delays.orLate(s.older.Finding); hint.Fault != Delay {
			hint = Finding{}
		}
	}
	return bad, hint
}

// named is a broken balance, or the delay that explains it.
func (s *signs) named(f Finding) Finding {
	if f.Fault == Direction && s.swing.against() {
		return f
	}
	return s.delays.named(f, s.current)
}

// windingBalance is what the balance of a winding leaves over (V), NaN: not known.
func (s *signs) windingBalance() float64 {
	if !s.current || !s.primed || s.energisedTime < 3*s.tau {
		return math.NaN()
	}
	return s.newestBalance
}

// volts are those of the unit in which a broken balance is told.
func (s *signs) volts(f Finding) float64 {
	switch {
	case f.Quantity == estimator.Current:
		return s.s.Motor.R
	case f.Fault == Frozen:
		return s.s.Motor.K / signsFor
	}
	return 1
}

// winding is the voltage (V) that drives the current i (A) through it and the brushes.
func (s *signs) winding(i float64) float64 { return s.s.Motor.R*i + s.s.Motor.Drop(i) }

// balance judges means of the command, of what drives current or acceleration, and of what the speed takes; tolerated are floor and a share
// of the terms. A share of a quarter is that of hints: there the scale counts too.
func (s *signs) balance(u, ri, emf, share, floor float64) Finding {
	over := u - ri - emf // what is left over if all signs are right
	limit := floor + share*(math.Abs(ri)+math.Abs(emf))
	if !(math.Abs(over) > limit) {
		return Finding{}
	}
	turned := min(math.Abs(over+2*emf), math.Abs(over-2*u), math.Abs(over+2*ri)) // encoder, drive or current the other way round
	if !s.current {
		turned = math.Abs(over - 2*u) // an encoder turns speed and acceleration
	}
	m := &s.s.Motor
	switch {
	case turned < math.Abs(over)/3:
		return Finding{Direction, estimator.Position, over, limit}
	case !s.current: // a load explains the rest, and frozen a position
	case math.Abs(ri) > math.Abs(u)+math.Abs(emf)+limit:
		return Finding{Disagree, estimator.Current, over / m.R, limit / m.R}
	case math.Abs(emf) < math.Abs(over)/10 && over*u > 0 && math.Abs(over) < math.Abs(u)+limit: // the way that does not show
		if s.showsMotion { // it is no position that stands: the current, or the drive, may as well be another one
			return Finding{Scale, estimator.Position, over, limit}
		}
		return Finding{Frozen, estimator.Position, signsFor * over / m.K, signsFor * limit / m.K}
	case share < 0.5:
		return Finding{Scale, estimator.Position, over, limit}
	}
	return Finding{}
}

// scaling regresses the voltage on what the measured current and the speed take of it, u = a·ri + b·emf, over scalingMean.
type scaling struct {
	duration               float64 // s
	uu, ur, ue, rr, re, ee float64 // V²  means of products
}

const (
	scalingMean = 1.0 // s
	minSlope    = 0.4
	maxSlope    = 2.5
)

// add takes a balance, dt (s) after the one before.
func (s *scaling) add(u, ri, emf, dt float64) {
	s.duration += dt
	w := max(dt/s.duration, min(1, dt/scalingMean))
	for _, m := range [6]struct {
		mean *float64
		x    float64
	}{{&s.uu, u * u}, {&s.ur, u * ri}, {&s.ue, u * emf}, {&s.rr, ri * ri}, {&s.re, ri * emf}, {&s.ee, emf * emf}} {
		*m.mean += w * (m.x - *m.mean)
	}
}

// judge tells a slope that is negative, below 0.4 or above 2.5: where what it belongs to has least (V, rms) of its own, and a slope of 1
// would leave over more than twice what is left with that slope. The value is the voltage (V, rms) that makes the difference.
func (s *scaling) judge(least float64) Finding {
	det := s.rr*s.ee - s.re*s.re
	if s.duration < scalingMean || !(det > 0) {
		return Finding{}
	}
	a, b := (s.ur*s.ee-s.ue*s.re)/det, (s.ue*s.rr-s.ur*s.re)/det
	limit := max(least, 2*math.Sqrt(max(0, s.uu-a*s.ur-b*s.ue)))
	for _, c := range [2]struct {
		slope, residualSquare float64 // V²  what the other does not explain
		finding               Finding
	}{{a, det / s.ee, Finding{Fault: Disagree, Quantity: estimator.Current}},
		{b, det / s.rr, Finding{Fault: Scale, Quantity: estimator.Position}}} {
		wrong := math.Abs(1-c.slope) * math.Sqrt(c.residualSquare)
		if c.slope >= minSlope && c.slope <= maxSlope || !(c.residualSquare > least*least) || !(wrong > limit) {
			continue
		}
		if c.finding.Fault == Scale && c.slope < -minSlope {
			c.finding.Fault = Direction
		}
		c.finding.Value, c.finding.Limit = wrong, limit
		return c.finding
	}
	return Finding{}
}

// delays compares a balance with that under the command of some time before: mean squares of what is left over.
type delays struct {
	ring         [1 + delaySteps*delayStep]float64 // commands, spaced
	head         int
	filled       int
	part         float64             // s  since the newest
	spacing      float64             // s
	termSquare   float64             // mean square of what current and speed take
	samples      int                 // broken ones, up to minSamples
	time         float64             // s  broken, less the time that it was not: a loop that swings crosses zero all the time
	signSquares  [4]float64          // mean squares as it is, and with one sign turned round
	delaySquares [delaySteps]float64 // … and under the commands of 20, 40 … ms before
}

const (
	delaySpacing = 2.5e-3 // s
	delaySteps   = 8
	delayStep    = 8   // spacings: 20 ms; fewer where samples are further apart
	delayMean    = 0.1 // s
)

// add takes the terms of a balance, dt (s) after those before. Only those of a broken one are compared.
func (d *delays) add(u, ri, emf, dt, spacing float64, broken bool) {
	d.spacing = spacing
	if d.part += dt; d.part >= spacing*(1-1e-9) || d.filled == 0 {
		d.part = max(0, d.part-spacing)
		d.head = (d.head + 1) % len(d.ring)
		d.ring[d.head], d.filled = u, min(d.filled+1, len(d.ring))
	}
	if d.time += dt; !broken {
		d.time = max(0, d.time-2*dt)
		return
	}
	w := min(1, dt/delayMean)
	square := func(mean *float64, left float64) { *mean += w * (left*left - *mean) }
	square(&d.termSquare, ri+emf)
	d.samples = min(d.samples+1, minSamples)
	for i, left := range [4]float64{u - ri - emf, u - ri + emf, u + ri + emf, u + ri - emf} {
		square(&d.signSquares[i], left)
	}
	for i := range d.delaySquares {
		if at := (i + 1) * d.step(); at < d.filled {
			square(&d.delaySquares[i], d.ring[(d.head+len(d.ring)-at)%len(d.ring)]-ri-emf)
		} else {
			d.delaySquares[i] = d.signSquares[0] // not known yet
		}
	}
}

// orLate is a finding, or the delay that leaves a tenth of what the command of now does, less than any turned sign, and less than the
// longest delay: where that is the best, any command of long ago is.
func (d *delays) orLate(f Finding) Finding {
	if f.Fault == Fine || d.spacing == 0 || !d.hasEvidence() {
		return f
	}
	best := d.bestDelay()
	least := min(d.signSquares[0]/10, d.signSquares[1], d.signSquares[2], d.signSquares[3])
	if best == delaySteps-1 || !(d.delaySquares[best] < least) {
		return f
	}
	return Finding{Delay, f.Quantity, float64((best+1)*d.step()) * d.spacing, float64(d.step()) * d.spacing / 2}
}

// step is what lies between two delays, in spacings.
func (d *delays) step() int { return max(1, int(math.Round(delayStep*delaySpacing/d.spacing))) }

// hasEvidence tells whether a delay may be told at all: from enough samples, and where current and speed take something, so that it matters
// which command they belong to.
func (d *delays) hasEvidence() bool {
	return d.samples >= minSamples && d.termSquare > d.signSquares[0]/10
}

// leaves is the share of what the command of now leaves that a delay may leave: of 0.2 at most. The delays are compared 20 ms apart, so
// that of half a step beside another leaves (half a step/delay)² of it; one that is longer and leaves as much is none.
func (d *delays) leaves(best int) float64 {
	apart := 0.5 / float64(best+1)
	return min(0.2, 0.05+1.5*apart*apart)
}

// bestDelay is the place of the delay that leaves the least.
func (d *delays) bestDelay() (best int) {
	for i := range d.delaySquares {
		if d.delaySquares[i] < d.delaySquares[best] {
			best = i
		}
	}
	return best
}

// named is a finding, or the delay that explains it better by far; with a measured current a direction is one where turning a sign helps.
func (d *delays) named(f Finding, current bool) Finding {
	if f.Fault == Fine || d.spacing == 0 {
		return f
	}
	best := d.bestDelay()
	turned := min(d.signSquares[1], d.signSquares[2], d.signSquares[3])
	switch {
	case d.hasEvidence() && d.delaySquares[best] < d.leaves(best)*min(d.signSquares[0], turned):
		return Finding{Delay, f.Quantity, float64((best+1)*d.step()) * d.spacing, float64(d.step()) * d.spacing / 2}
	case f.Fault == Direction && current && turned > d.signSquares[0]/1.5:
		f.Fault = Scale
	}
	return f
}
