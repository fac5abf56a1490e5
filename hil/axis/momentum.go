package axis

import (
	"math"

	"hilrig/engine/numeric"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// momentum holds the change of speed that the position shows against the one that the effort makes at least: a coupling that slips, an encoder of a
// wrong sign or of a scale far too small, a drive that does not do what it is told.
//
// A twin has the change of speed that is the smallest which effort, friction and load leave. To the one side
//
//	J·d' = push − resist while d > 0 or push > resist;   resist = frozenFs·(Fs + viscous friction at the speed shown) and what is not known of the
//	effort of a command; twice the first where the load was seen at rest alone
//
// and to the other side the same. The push is the effort at the speed shown, less what the mechanism takes, beyond the declared offset or beyond the
// load that the axis carried lately: whichever is worse. Friction and load of a sound axis take resist at most, so that the change of its
// own speed, since d left zero, is d/n at least where its inertia is n times that of the file. Less than motionShare·d is that of no
// axis. It is so however d came about, in motion as from rest, to both sides. Only an axis that shows its motion tells a load.
//
// With a voltage and a measured current the speed itself is known, whatever the inertia: see backEMF.
type momentum struct {
	walk float64 // N·m  that a load changes by before it is known, by the file
	f    *frozen
	tau  float64 // s  of the means

	on      bool
	last    float64    // rad  newest position
	load    [2]float64 // N·m  mean of what opposed the motion beside friction and mechanism, and the mean of that
	odd     float64    // s  the newest loads are far from it
	moves   float64    // share of it that was seen in motion
	seen    float64    // s    since energised
	sum     float64    // of command times time …
	pending float64    // s    … since the newest sample
	age     float64    // s  of that
	settled float64    // s    since the means began
	shown   float64    // rad/s  mean of the speed shown …
	mean    float64    // rad/s  … and the mean of that
	from    float64    // rad/s  speed when d left zero …
	before  float64    // rad/s  … and what its mean would be had it stayed
	d, must float64    // rad/s  change of speed of the twin, and its mean
	emf     backEMF
	newest  float64   // A  newest current …
	same    float64   // s  … that has been the same number for so long
	missing excursion // of the twin
	unseen  excursion // of the back-emf
}

// excursion is a motion that the position shows too little of.
type excursion struct {
	time      float64 // s
	way, seen float64 // rad  that it went at least beyond what the speed before makes; that was shown of it
	from      float64 // rad  what the speed before makes
}

const (
	motionShare = 0.3   // of the motion at least is shown: inertia, or K, may be so far from that of the file
	partWay     = 100   // counts  that are missing
	lateLoad    = 0.1   // s
	longSpan    = 3     // sampling periods
	oddTime     = 0.1   // s
	partTime    = 50e-3 // s  of a motion of quickWay: an elastic joint above 5 Hz shows its motion sooner
)

func newMomentum(f *frozen) *momentum {
	walk := f.s.Mechanical.Walk
	if f.s.Drive == plant.VoltageDrive {
		walk = f.s.Kalman.TorqueWalk
	}
	return &momentum{f: f, walk: walk * math.Sqrt(lateLoad), tau: max(10e-3, 5*f.s.Every), emf: backEMF{m: &f.s.Motor, floor: f.s.Motor.BrushDrop + unsureEffort*f.s.TopCommand, share: 0.5}}
}

// forget begins anew, but for the load.
func (m *momentum) forget() {
	m.on, m.d, m.must, m.sum, m.pending = false, 0, 0, 0, 0
	m.missing, m.unseen = excursion{}, excursion{}
	m.emf.volts, m.emf.unseen, m.emf.unsure = 0, 0, 0
}

// step takes a tick as frozen does: taken tells whether the filter believes the sample, doubtful whether another reading is not believed; carried is what the mechanism takes (N·m).
func (m *momentum) step(k Tick, taken, doubtful bool, p *estimator.Sample, command, current, load, carried float64) (bad, hint Finding) {
	f := m.f
	if !k.On || !numeric.Finite(command) {
		m.forget()
		m.load, m.moves, m.seen = [2]float64{}, 0, 0
		return
	}
	dt := f.s.Tick * (1 + float64(k.Skip))
	m.sum += dt * command
	m.pending += dt
	if m.same += dt; current != m.newest {
		m.newest, m.same = current, 0
	}
	if f.current {
		m.emf.add(command, current, dt)
	}
	if !taken {
		return
	}
	dt, command = m.pending, m.sum/m.pending
	m.sum, m.pending = 0, 0
	age := max(0, p.Age)
	span := dt + m.age - age
	gap := !m.on || max(dt, span) > longSpan*f.s.Every*(1+1e-9)
	if m.age = age; gap { // what happened in it is not known
		m.forget()
		m.on, m.last, m.settled = true, p.Value, 0
		return
	}
	span = max(span, f.s.Every/4)
	omega, w := (p.Value-m.last)/span, -math.Expm1(-span/m.tau)
	if m.last = p.Value; m.settled == 0 {
		m.shown, m.mean = omega, omega
	}
	m.shown += w * (omega - m.shown)
	m.mean += w * (m.shown - m.mean)
	if m.settled += dt; m.settled < 3*m.tau {
		return
	}
	m.turn(command, carried, dt, w)
	m.missing.add(m.must, m.shown-m.before, m.from, dt)
	if f.current {
		m.unseen.add(m.emf.speed(), m.shown, 0, dt)
	}
	if doubtful || m.same >= max(signsFor, leastSamples*f.s.Every) { // a current that does not tell
		m.unseen = excursion{}
	}
	begins := m.seen < loadMean
	m.seen += dt
	if (begins || m.missing.time == 0 && m.unseen.time == 0) && numeric.Finite(load) {
		m.learn(load-carried, begins, dt)
	}
	if begins {
		m.d, m.must, m.missing = 0, 0, excursion{}
	}
	if bad, hint = m.missing.judge(f, age); bad.Fault == Fine {
		if b, h := m.unseen.judge(f, age); b.Fault != Fine || hint.Fault == Fine {
			bad, hint = b, h
		}
	}
	return bad, hint
}

// carries is the load (N·m) that is expected now: one that rises at a steady rate, as of a spring or a pendulum, is ahead of its mean by as much as
// that is ahead of its own.
func (m *momentum) carries() float64 { return 2*m.load[0] - m.load[1] }

// learn takes a load (N·m). One that is far from what was expected is looked at for a while before it is believed: the position may show too little.
func (m *momentum) learn(load float64, begins bool, dt float64) {
	mean := lateLoad
	if begins { // what it carries at the start is not known
		mean /= 5
	}
	if m.odd += dt; math.Abs(load-m.carries()) <= m.f.hold {
		m.odd = 0
	}
	if !begins && m.odd > 0 && m.odd < oddTime {
		return
	}
	w := -math.Expm1(-dt / mean)
	m.load[0] += (load - m.load[0]) * w
	m.load[1] += (m.load[0] - m.load[1]) * w
	moves := 0.0
	if math.Abs(m.shown) > patientWay*m.f.counts/patientTime {
		moves = 1
	}
	m.moves += (moves - m.moves) * w
}

// turn moves the twin on by dt (s) of a command; w is the share of a sample in its mean.
func (m *momentum) turn(command, carried, dt, w float64) {
	f := m.f
	effort := f.effortAt(command, m.shown) - carried
	resist := max(m.walk, f.hold*(2-m.moves)) // the load that an axis at rest carries is known within what holds it
	load := 2*m.load[0] - m.load[1]           // one that rises at a steady rate, as of a spring or a pendulum: the mean lags by the time of the mean
	lo := min(effort-f.known.offset, effort-load) - resist
	hi := max(effort-f.known.offset, effort-load) + resist
	if f.s.hasLaw() {
		v := frozenFs * f.s.Law.Viscous(m.shown)
		lo, hi = lo-max(0, v), hi-min(0, v)
	}
	if m.d == 0 {
		m.from, m.before, m.must = 2*m.shown-m.mean, m.shown, 0 // the mean of a ramp lags by the time of the mean
	}
	m.before += w * (m.from - m.before)
	switch {
	case m.d > 0 || m.d == 0 && lo > 0:
		m.d = max(0, m.d+dt/f.known.j*lo)
	case m.d < 0 || hi < 0:
		m.d = min(0, m.d+dt/f.known.j*hi)
	}
	if m.must += w * (m.d - m.must); m.d == 0 {
		m.must = 0
	}
}

// add takes dt (s) of a change of speed that there must be, of the one that is shown, and the speed before both.
func (e *excursion) add(must, shown, before, dt float64) {
	if must == 0 || must*e.way < 0 || shown*must >= motionShare*must*must {
		*e = excursion{}
		return
	}
	e.time += dt
	e.way += dt * must
	e.seen += dt * shown
	e.from += dt * before
}

// judge tells what the excursion is, and what it will be if the axis leaves its limits sooner.
func (e *excursion) judge(f *frozen, age float64) (bad, hint Finding) {
	missing := math.Abs(e.way - e.seen)
	if e.time == 0 || missing < partWay*f.counts {
		return
	}
	hint = Finding{Disagree, estimator.Position, e.way - e.seen, (1 - motionShare) * math.Abs(e.way)}
	from := e.from
	if from*e.way < 0 { // it slows down: what is shown of the speed tells nothing
		from = 0
	}
	switch part := (e.seen + from) / (e.way + from); {
	case part < -motionShare:
		hint.Fault = Direction
	case f.current && math.Abs(part) >= shownShare:
		hint.Fault = Scale
	case math.Abs(part) < shownShare:
		hint = Finding{Frozen, estimator.Position, e.way, partWay * f.counts}
	}
	quick, least := partTime, leastSamples*f.s.Every
	if e.seen/e.way < shownShare {
		quick = quickTime
	}
	switch {
	case e.time >= max(patientTime, least)+age, missing > quickWay*f.counts && e.time >= max(quick, least)+age:
		return hint, hint
	case e.time >= least:
		return Finding{}, hint
	}
	return Finding{}, Finding{}
}
