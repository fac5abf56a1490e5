package axis

import (
	"math"

	"hilrig/engine/numeric"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// momentum holds the change of speed that the position shows against the one that the effort makes at least. It finds a coupling that slips, an
// encoder of a wrong sign or of a scale far too small, and a drive that does not do what it is told.
//
// A twin has the smallest change of speed that effort, friction and load leave. To the one side
//
//	J·d' = push − resist   while d > 0, or push > resist
//	resist = frozenFs·(Fs + viscous friction at the speed shown), and what is not known of the effort of a command
//
// and to the other side the same. The push is the effort at the speed shown, less what the mechanism takes, beyond the declared offset or beyond the
// load that the axis carried lately: whichever makes less of d. Friction and load of a sound axis take resist at most, so its own change of
// speed since d left zero is d/n at least, where its inertia is n times that of the file. A change of less than motionShare·d is that of
// no axis. It is so however d came about, in motion as from rest.
//
// The load is what the estimate finds beside the friction of the law. Only an axis that shows its motion tells it. What it was at rest is known within
// what holds the axis, so resist is twice as much then. It is never less than what the load walks, by the file, while its mean is formed.
//
// With a voltage and a measured current the speed itself is known, whatever the inertia: see backEMF.
type momentum struct {
	f      *frozen
	tau    float64 // s    of the means of the speed
	walk   float64 // N·m  that a load changes by before it is known
	unsure float64 // N·m  what brushes that the file does not know take of the effort of a voltage

	// the effort since the newest sample
	sum     float64 // of command times time …
	pending float64 // s    … and how long
	emf     backEMF
	current float64 // A    newest …
	same    float64 // s    … that has been the same number for so long

	// the speed shown
	on      bool
	last    float64 // rad    newest position …
	age     float64 // s      … and its age
	stay    float64 // rad    within a count of which it has been …
	still   float64 // s      … for so long
	settled float64 // s      since the means began
	shown   float64 // rad/s  mean of the speed …
	mean    float64 // rad/s  … and the mean of that

	// the load
	load  [2]float64 // N·m  its mean, and the mean of that
	moved float64    // share of it that was seen in motion
	odd   float64    // s    the newest loads are far from it
	seen  float64    // s    since energised

	// the twin
	from, before float64   // rad/s  speed when d left zero, and what its mean would be had it stayed
	d, must      float64   // rad/s  change of speed, and its mean
	missing      excursion // of the twin
	unseen       excursion // of the back-emf
}

// excursion is a motion that the position shows too little of.
type excursion struct {
	time      float64 // s
	way, seen float64 // rad  that it went at least beyond what the speed before makes; that was shown of it
	from      float64 // rad  what the speed before makes
}

const (
	motionShare = 0.3 // of the motion at least is shown: inertia, or K, may be so far from that of the file

	unsureVoltage = 0.05  // of the largest: brushes that the file does not know
	unsureBrushes = 0.03  // … and of the largest effort
	partWay       = 100   // counts  that are missing
	partTime      = 50e-3 // s  of a motion of quickWay: an elastic joint above 5 Hz shows its motion sooner
	lateLoad      = 0.1   // s  of the means of the load
	oddTime       = 0.1   // s  a load that jumped is not believed for so long
	longSpan      = 3     // sampling periods
)

func newMomentum(f *frozen) *momentum {
	s, walk := f.s, f.s.Mechanical.Walk
	if s.Drive == plant.VoltageDrive {
		walk = s.Kalman.TorqueWalk
	}
	unsure := 0.0
	if s.Drive == plant.VoltageDrive && !f.current {
		unsure = (unsureBrushes - unsureEffort) * f.effort(s.TopCommand)
	}
	return &momentum{f: f, unsure: unsure, walk: walk * math.Sqrt(lateLoad), tau: max(10e-3, 5*s.Every),
		emf: backEMF{m: &s.Motor, floor: 2*s.Motor.BrushDrop + unsureVoltage*s.TopCommand, share: 0.5}}
}

// forget begins anew, but for the load.
func (m *momentum) forget() {
	m.on, m.sum, m.pending, m.settled, m.d, m.must = false, 0, 0, 0, 0, 0
	m.missing, m.unseen = excursion{}, excursion{}
	m.emf.forget()
}

// step takes a tick: whether the filter believes the sample p, whether another reading is not believed, the command of the tick before, the current
// (A) where it is measured, the load that the estimate tells beside the law, and what of it the mechanism takes (N·m). It is the verdict so
// far, and what it will be if the axis leaves its limits sooner.
func (m *momentum) step(k Tick, taken, doubtful bool, p *estimator.Sample, command, current, load, carried float64) (bad, hint Finding) {
	f := m.f
	if !k.On || !numeric.Finite(command) {
		m.forget()
		m.load, m.moved, m.odd, m.seen = [2]float64{}, 0, 0, 0
		return
	}
	dt := f.s.Tick * (1 + float64(k.Skip))
	m.sum += dt * command
	m.pending += dt
	if m.same += dt; current != m.current {
		m.current, m.same = current, 0
	}
	if f.current {
		m.emf.add(command, current, dt)
	}
	if !taken {
		return
	}
	dt, command = m.pending, m.sum/m.pending
	m.sum, m.pending = 0, 0
	if m.still += dt; !m.on || math.Abs(p.Value-m.stay) > f.counts {
		m.stay, m.still = p.Value, 0
	}
	w := m.show(p, dt)
	if m.settled < 3*m.tau {
		return
	}
	m.turn(command, carried, dt, w)
	m.missing.add(m.must, m.shown-m.before, m.from, dt)
	if m.still >= leastSamples*f.s.Every { // a number that stays the same is that of frozen and of stall
		m.missing, m.unseen = excursion{}, excursion{}
	}
	if m.unseen.add(m.emf.speed(), m.shown, 0, dt); doubtful || m.same >= max(signsFor, leastSamples*f.s.Every) {
		m.unseen = excursion{} // a current that does not tell
	}
	if m.seen += dt; m.seen <= loadMean { // what it carries is not known yet
		m.d, m.must, m.missing = 0, 0, excursion{}
	}
	if m.missing.time == 0 && m.unseen.time == 0 && numeric.Finite(load) {
		m.learn(load-carried, dt)
	}
	if bad, hint = m.missing.judge(f, m.age); bad.Fault == Fine {
		if b, h := m.unseen.judge(f, m.age); b.Fault != Fine || hint.Fault == Fine {
			bad, hint = b, h
		}
	}
	return bad, hint
}

// show takes a position, dt (s) after the one before, and gives the share that it has in the means. Behind a gap all begins anew: what happened
// in it is not known.
func (m *momentum) show(p *estimator.Sample, dt float64) (w float64) {
	every := m.f.s.Every
	age := max(0, p.Age)
	span := dt + m.age - age // between the samples: they do not come as evenly as they are taken
	gap := !m.on || max(dt, span) > longSpan*every*(1+1e-9)
	if m.age = age; gap {
		m.forget()
		m.on, m.last = true, p.Value
		return 0
	}
	span = max(span, every/4)
	omega := (p.Value - m.last) / span
	if m.last = p.Value; m.settled == 0 {
		m.shown, m.mean = omega, omega
	}
	m.settled += dt
	w = -math.Expm1(-span / m.tau)
	m.shown += w * (omega - m.shown)
	m.mean += w * (m.shown - m.mean)
	return w
}

// carries is the load (N·m) that is expected now: one that rises at a steady rate, as of a spring or a pendulum, is ahead of its mean by as much as
// that is ahead of its own.
func (m *momentum) carries() float64 { return 2*m.load[0] - m.load[1] }

// learn takes a load (N·m) of dt (s). One that is far from what was expected is looked at for a while before it is believed: the position may show
// too little.
func (m *momentum) learn(load, dt float64) {
	mean, begins := lateLoad, m.seen <= loadMean
	if begins {
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
	m.moved += (moves - m.moved) * w
}

// turn moves the twin on by dt (s) of a command; w is the share of a sample in its mean.
func (m *momentum) turn(command, carried, dt, w float64) {
	f := m.f
	effort := f.effortAt(command, m.shown)
	if f.current { // what brushes take shows in it
		effort = smaller(effort, f.s.Motor.K*m.current)
	}
	effort -= carried
	resist := max(m.walk, f.hold*(2-m.moved)) + m.unsure
	load := m.carries()
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
		hint.Value, hint.Limit = f.asCommand(hint.Value, e.time), f.asCommand(hint.Limit, e.time)
	case f.current && math.Abs(part) >= shownShare:
		hint.Fault = Scale
		hint.Value, hint.Limit = f.asCommand(hint.Value, e.time), f.asCommand(hint.Limit, e.time)
	case math.Abs(part) < shownShare:
		hint = Finding{Frozen, estimator.Position, e.way - e.seen, partWay * f.counts}
	}
	quick, least := partTime, leastSamples*f.s.Every
	if e.seen/e.way < shownShare {
		quick = quickTime
	}
	switch {
	case e.time >= max(patientTime, least)+age, missing > quickWay*f.counts && e.time >= max(quick, least)+age:
		return hint, hint
	case e.time >= leastBroken*f.s.Every:
		return Finding{}, hint
	}
	return Finding{}, Finding{}
}

// asCommand is the command that belongs to a way (rad) that is missing after a time (s): the back-emf of its speed, or the effort that takes it.
func (f *frozen) asCommand(way, time float64) float64 {
	switch m := &f.s.Motor; f.s.Drive {
	case plant.VoltageDrive:
		return m.K * way / time
	case plant.CurrentDrive:
		return m.J * way / (time * time) / m.K
	}
	return f.s.Motor.J * way / (time * time)
}
