package axis

import (
	"math"

	"hilrig/engine/numeric"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// momentum holds the change of speed that the position shows against the one that the effort makes at least. It finds a coupling that
// slips, an encoder of a wrong sign or of a scale far too small, and a drive that does not do what it is told.
//
// A twin has the smallest change of speed that effort, friction and load leave. To the one side
//
//	J·d' = push − resist   while d > 0, or push > resist
//	resist = frozenFs·(Fs + viscous friction at the speed shown), and what is not known of the effort of a command
//
// and to the other side the same. The push is the effort at the speed shown, less what the mechanism takes, beyond the declared offset or
// beyond the load that the axis carried lately: whichever makes less of d. Friction and load of a sound axis take resist at most, so its
// own change of speed since d left zero is d/n at least, where its inertia is n times that of the file. It is so however d came about, in
// motion as from rest.
//
// The inertia of the file may be a guess: n is unknownInertia at most, or what the file declares, until the motion tells a smaller one.
// Whatever the friction and the load, the acceleration a that is shown keeps
//
//	−resist ≤ J·n·a − push ≤ resist
//
// all three as the same means, so an axis that changes its speed fast is no heavy one. A change of less than d/n, of motionShare·d at
// most, is that of no axis: a coupling that slips in motion takes speed away faster than a heavy axis loses it, and then gains it more
// slowly than a light one. What was told stays known until a reset: the load of an axis may be another one then.
//
// The load is what the estimate finds beside the friction of the law. Only an axis that shows its motion tells it. What it was at rest is
// known within what holds the axis, so resist has frozenFs·Fs more then. It is never less than what the load walks, by the file, while
// its mean is formed.
//
// A position that counts the wrong way looks like a load of twice the effort. So no load is learned while it may be that, and the first
// moments do not excuse it: see runaway.
//
// With a voltage and a measured current the speed itself is known, whatever the inertia: see backEMF.
type momentum struct {
	f      *frozen
	tau    float64 // s    of the means of the speed
	weight average // … of a sample in them
	walk   float64 // N·m  that a load changes by before it is known
	unsure float64 // N·m  what brushes that the file does not know take of the effort of a voltage

	// the effort since the newest sample
	pending             float64               // s    how long …
	commands            [maxParts]sentCommand // … and what was sent …
	parts               int                   // … in so many parts
	emf                 backEMF
	current             float64 // A    newest …
	constantCurrentTime float64 // s    … that has been the same number for so long

	// the speed shown
	hasPosition   bool
	lastPosition  float64 // rad    newest position …
	age           float64 // s      … and its age
	stay          float64 // rad    within a count of which it has been …
	stayTime      float64 // s      … for so long
	averagingTime float64 // s      since the means began …
	evenTime      float64 // s      … and since samples were missing
	omega         float64 // rad/s  newest speed …
	shownSpeed    float64 // rad/s  … its mean …
	mean          float64 // rad/s  … and the mean of that

	// the load
	load          [2]float64 // N·m  its mean, and the mean of that
	loadWeight    average    // of a sample in it
	movingShare   float64    // share of it that was seen in motion
	odd           float64    // s    the newest loads are far from it
	energisedTime float64    // s    since energised
	turned        bool       // it may be that of a wrong sign: see runaway

	// the inertia
	heaviest float64  // kg·m²  that the motion leaves, until a reset; +Inf: it has told nothing yet
	scales   [2]scale // … over a short time and a longer one

	// the twin
	startSpeed, startSpeedMean float64   // rad/s  speed when d left zero, and what its mean would be had it stayed
	d, must                    float64   // rad/s  change of speed, and its mean
	twinExcursion              excursion // of the twin
	unseen                     excursion // of the back-emf
	slipping                   slipping  // the same in another way, whatever the load
	hint                       Finding   // of the newest position: see runaway
}

// scale weighs the axis: it holds the acceleration shown against what there is to make it, as means of means over the same time.
type scale struct {
	tau              float64    // s
	weight           average    // of a sample
	omega, slowOmega float64    // rad/s  mean of the speed, and the mean of that
	net, slowNet     [2]float64 // N·m    of the smallest and of the largest effort that friction and load leave
}

// sentCommand is a mean of the commands that were sent for about a sampling period.
type sentCommand struct{ sum, time float64 } // … times s, s

// excursion is a motion that the position shows too little of.
type excursion struct {
	time                        float64 // s
	expectedTravel, shownTravel float64 // rad  that it went at least beyond what the speed before makes; that was shown of it
	baseTravel                  float64 // rad  what the speed before makes
	share                       float64 // of the way that must be seen
}

const (
	motionShare    = 0.3 // of the motion at least is shown: inertia, or K, may be so far from that of the file
	unknownInertia = 10  // times that of the file: of an axis that has not shown a smaller one

	unsureVoltage = 0.05  // of the largest: brushes that the file does not know
	unsureBrushes = 0.03  // … and of the largest effort
	partWay       = 100   // counts  that are missing
	partTime      = 50e-3 // s  of a motion of quickWay: an elastic joint above 5 Hz shows its motion sooner
	lateLoad      = 0.1   // s  of the means of the load
	oddTime       = 0.1   // s  a load that jumped is not believed for so long
	longSpan      = 3     // sampling periods: in a longer time samples are missing
	maxParts      = 50    // of such a time
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
	tau := max(10e-3, 5*s.SamplePeriod)
	return &momentum{f: f, unsure: unsure, heaviest: math.Inf(1), scales: [2]scale{{tau: tau}, {tau: 3 * tau}},
		walk: walk * math.Sqrt(lateLoad), tau: tau,
		slipping: newSlipping(f), emf: backEMF{m: &s.Motor, brushes: &f.brushes,
			floor: 2*s.Motor.BrushDrop + unsureVoltage*s.TopCommand, share: 0.5}}
}

// forget begins anew, but for the load.
func (m *momentum) forget() {
	m.hasPosition, m.averagingTime, m.evenTime, m.d, m.must = false, 0, 0, 0, 0
	m.drop()
	for i := range m.scales {
		m.scales[i] = scale{tau: m.scales[i].tau}
	}
	m.twinExcursion, m.unseen, m.hint = excursion{}, excursion{}, Finding{}
	m.emf.forget()
	m.slipping.forget()
}

// step takes a tick: whether the filter believes the sample p, whether another reading is not believed, the command of the tick before,
// the current (A) where it is measured, the load that the estimate tells beside the law, and what of it the mechanism takes (N·m). It is
// the verdict so far, and what it will be if the axis leaves its limits sooner.
func (m *momentum) step(k Tick, taken, doubtful bool, p *estimator.Sample, command, current, load, carried float64) (bad, hint Finding) {
	f := m.f
	if !k.Energised || !numeric.IsFinite(command) {
		m.forget()
		m.load, m.movingShare, m.odd, m.energisedTime = [2]float64{}, 0, 0, 0
		return
	}
	dt := f.s.Tick * (1 + float64(k.Skip))
	m.send(command, dt)
	if m.constantCurrentTime += dt; current != m.current {
		m.current, m.constantCurrentTime = current, 0
	}
	if f.current {
		m.emf.add(command, current, dt)
	}
	if !taken {
		return Finding{}, m.hint
	}
	m.hint = Finding{}
	dt = m.pending
	if m.stayTime += dt; !m.hasPosition || math.Abs(p.Value-m.stay) > f.counts {
		m.stay, m.stayTime = p.Value, 0
	}
	speed, span := m.show(p, dt)
	if span == 0 {
		return
	}
	slope := 0.0 // rad/s²
	longest := longSpan * f.s.SamplePeriod * (1 + 1e-9)
	between := max(dt, span) > longest
	if between { // samples are missing: a straight line from the speed before, and what was sent meanwhile
		slope, m.evenTime = 2*(speed-(2*m.shownSpeed-m.mean))/span, 0
	} else {
		for _, c := range m.commands[1:m.parts] {
			m.commands[0].sum, m.commands[0].time = m.commands[0].sum+c.sum, m.commands[0].time+c.time
		}
		m.parts = 1
	}
	m.slipping.interpolated = between && max(dt, span) > m.slipping.tau
	from := -span / 2
	for _, c := range m.commands[:m.parts] {
		part := span * c.time / dt
		m.omega = speed + slope*(from+part/2)
		from += part
		x := momentumSample{c.sum / c.time, load, carried, c.time, part, max(0, dt-longest) * c.time / dt, doubtful}
		if bad, hint = m.sample(&x, between); bad.Fault != Fine {
			break
		}
	}
	m.drop()
	m.hint = hint
	return bad, hint
}

// send takes a command that is sent for dt (s).
func (m *momentum) send(command, dt float64) {
	every := m.f.s.SamplePeriod
	long := max(every, longGap(every)/maxParts)
	for m.pending += dt; dt > 1e-9*long; {
		if m.parts == 0 || m.parts < maxParts && m.commands[m.parts-1].time > long*(1-1e-9) {
			m.commands[m.parts] = sentCommand{}
			m.parts++
		}
		at, part := &m.commands[m.parts-1], dt
		if m.parts < maxParts {
			part = min(dt, long-at.time)
		}
		at.sum, at.time = at.sum+part*command, at.time+part
		dt -= part
	}
}

func (m *momentum) drop() { m.parts, m.pending = 0, 0 }

// momentumSample is what belongs to a position, or to a part of the time before it.
type momentumSample struct {
	command, load, mechanism float64 // … in its unit, N·m, N·m
	dt, span                 float64 // s  since the one before, as it came and as it was taken
	unseen                   float64 // s  of it that counts for no verdict: it is longer than a few samples
	doubtful                 bool    // a reading is not believed
}

// sample takes a speed shown, and whether it is one between samples.
func (m *momentum) sample(x *momentumSample, between bool) (bad, hint Finding) {
	f, dt, span := m.f, x.dt, x.span
	w := m.weight.weightFor(span, m.tau)
	m.averagingTime += dt
	m.shownSpeed += w * (m.omega - m.shownSpeed)
	m.mean += w * (m.shownSpeed - m.mean)
	net := m.netEffort(x.command, x.mechanism)
	if !between {
		m.weigh(net, dt, span)
	}
	share := min(motionShare, f.axisModel.j/min(m.heaviest, m.possible()))
	slips, slipsHint := m.slipping.step(m.omega, x.command, x.mechanism, span, m.age, share)
	if m.averagingTime < 3*m.tau {
		return
	}
	m.turn(net, dt, w)
	m.twinExcursion.add(m.must, m.shownSpeed-m.startSpeedMean, m.startSpeed, dt, x.unseen, share)
	if m.stayTime >= minSamples*f.s.SamplePeriod { // a number that stays the same is that of frozen and of stall
		m.twinExcursion, m.unseen = excursion{}, excursion{}
	}
	if m.unseen.add(m.emf.speed(), m.shownSpeed, 0, dt, x.unseen, motionShare); x.doubtful ||
		m.constantCurrentTime >= max(signsFor, minSamples*f.s.SamplePeriod) {
		m.unseen = excursion{} // a current that does not tell
	}
	m.energisedTime += dt
	if m.energisedTime <= loadMean && !m.turned { // what it carries is not known yet
		m.d, m.must, m.twinExcursion = 0, 0, excursion{}
	}
	if m.twinExcursion.time == 0 && m.unseen.time == 0 && !m.turned && numeric.IsFinite(x.load) {
		m.learn(x.load-x.mechanism, dt)
	}
	if bad, hint = m.twinExcursion.judge(f, m.age, true); bad.Fault == Fine {
		if b, h := m.unseen.judge(f, m.age, false); b.Fault != Fine || hint.Fault == Fine {
			bad, hint = b, h
		}
	}
	if bad.Fault == Fine {
		bad = slips
	}
	if hint.Fault == Fine {
		hint = slipsHint
	}
	return bad, hint
}

// show takes a position, dt (s) after the one before, and gives the mean speed (rad/s) and the time (s) between the samples. Behind a long
// gap all begins anew: what happened in it is not known, and the time is 0.
func (m *momentum) show(p *estimator.Sample, dt float64) (speed, span float64) {
	every := m.f.s.SamplePeriod
	age := max(0, p.Age)
	span = dt + m.age - age // between the samples: they do not come as evenly as they are taken
	gap := !m.hasPosition || max(dt, span) > longGap(every)*(1+1e-9)
	if m.age = age; gap {
		m.forget()
		m.hasPosition, m.lastPosition = true, p.Value
		return 0, 0
	}
	span = max(span, every/4)
	speed = (p.Value - m.lastPosition) / span
	if m.lastPosition = p.Value; m.averagingTime == 0 {
		m.shownSpeed, m.mean = speed, speed
	}
	return speed, span
}

// weigh lets a motion tell how heavy the axis is at most, from the efforts that are left to accelerate it (N·m). It begins anew where
// samples were missing: a line between them tells no acceleration.
func (m *momentum) weigh(net [2]float64, dt, span float64) {
	for i := range m.scales {
		s := &m.scales[i]
		if m.evenTime == 0 {
			*s = scale{tau: s.tau, weight: s.weight, omega: m.omega, slowOmega: m.omega}
		}
		s.add(m.omega, net, span)
		m.heaviest = min(m.heaviest, max(0, s.weigh(m.f.counts, m.f.s.SamplePeriod)))
	}
	m.evenTime += dt
}

// possible is the largest inertia (kg·m²) that the axis may have: as declared, or unknownInertia times that of the file.
func (m *momentum) possible() float64 {
	if declared := m.f.s.MaxInertia; declared > 0 {
		return declared
	}
	return unknownInertia * m.f.axisModel.j
}

// carries is the load (N·m) that is expected now: one that rises at a steady rate, as of a spring or a pendulum, is ahead of its mean by
// as much as that is ahead of its own.
func (m *momentum) carries() float64 { return 2*m.load[0] - m.load[1] }

// learn takes a load (N·m) of dt (s). One that is far from what was expected is looked at for a while before it is believed: the
// position may show too little.
func (m *momentum) learn(load, dt float64) {
	begins := m.energisedTime <= loadMean
	if m.odd += dt; math.Abs(load-m.carries()) <= m.f.hold {
		m.odd = 0
	}
	if !begins && m.odd > 0 && m.odd < oddTime {
		rises := m.movingShare * (m.load[0] - m.load[1]) * dt / lateLoad
		m.load[0], m.load[1] = m.load[0]+rises, m.load[1]+rises // it goes on as it did in motion
		return
	}
	w := m.loadWeight.weightFor(dt, lateLoad)
	if begins {
		w = -math.Expm1(-dt / (lateLoad / 5))
	}
	m.load[0] += (load - m.load[0]) * w
	m.load[1] += (m.load[0] - m.load[1]) * w
	moves := 0.0
	if math.Abs(m.shownSpeed) > patientWay*m.f.counts/patientTime {
		moves = 1
	}
	m.movingShare += (moves - m.movingShare) * w
}

// netEffort is the smallest and the largest effort (N·m) of a command that friction and load leave to accelerate a sound axis.
func (m *momentum) netEffort(command, carried float64) (net [2]float64) {
	f := m.f
	effort := f.effortAt(command, m.shownSpeed)
	if f.current { // what brushes take shows in it
		effort = smaller(effort, f.s.Motor.K*m.current)
	}
	effort -= carried
	resist := max(m.walk, f.hold+f.rest*(1-m.movingShare)) + m.unsure
	load := m.carries()
	lo := min(effort-f.axisModel.offset, effort-load) - resist
	hi := max(effort-f.axisModel.offset, effort-load) + resist
	if f.s.hasLaw() {
		v := frozenFs * f.s.Law.Viscous(m.shownSpeed)
		lo, hi = lo-max(0, v), hi-min(0, v)
	}
	return [2]float64{lo, hi}
}

// acceleration (rad/s²) that is shown.
func (s *scale) acceleration() float64 { return (s.omega - s.slowOmega) / s.tau }

// add takes dt (s) of a speed (rad/s), and of the efforts that are left to accelerate a sound axis (N·m).
func (s *scale) add(omega float64, net [2]float64, dt float64) {
	w := s.weight.weightFor(dt, s.tau)
	s.omega += w * (omega - s.omega)
	s.slowOmega += w * (s.omega - s.slowOmega)
	for i, x := range net {
		s.net[i] += w * (x - s.net[i])
		s.slowNet[i] += w * (s.net[i] - s.slowNet[i])
	}
}

// weigh is the largest inertia that keeps the balance, +Inf where nothing tells. A count, and a sample that is off by half a period, make
// no acceleration.
func (s *scale) weigh(counts, every float64) float64 {
	a, unsure := s.acceleration(), (2*counts+math.Abs(s.omega)*every/2)/(s.tau*s.tau)
	switch {
	case a > unsure:
		return s.slowNet[1] / (a - unsure)
	case a < -unsure:
		return s.slowNet[0] / (a + unsure)
	}
	return math.Inf(1)
}

// turn moves the twin on by dt (s) of the efforts that are left; w is the share of a sample in its mean.
func (m *momentum) turn(net [2]float64, dt, w float64) {
	f, lo, hi := m.f, net[0], net[1]
	if m.d == 0 {
		m.startSpeed, m.startSpeedMean, m.must = 2*m.shownSpeed-m.mean, m.shownSpeed, 0 // the mean of a ramp lags by the time of the mean
	}
	m.startSpeedMean += w * (m.startSpeed - m.startSpeedMean)
	switch {
	case m.d > 0 || m.d == 0 && lo > 0:
		m.d = max(0, m.d+dt/f.axisModel.j*lo)
	case m.d < 0 || hi < 0:
		m.d = min(0, m.d+dt/f.axisModel.j*hi)
	}
	if m.must += w * (m.d - m.must); m.d == 0 {
		m.must = 0
	}
}

// add takes dt (s), unseen of which count for no verdict, of a change of speed that there must be, of the one that is shown, the speed
// before both, and the share that must be shown.
func (e *excursion) add(must, shown, before, dt, unseen, share float64) {
	if must == 0 || must*e.expectedTravel < 0 || shown*must >= share*must*must {
		*e = excursion{}
		return
	}
	e.share = share
	e.time += dt - unseen
	e.expectedTravel += dt * must
	e.shownTravel += dt * shown
	e.baseTravel += dt * before
}

// judge tells what the excursion is, and what it will be if the axis leaves its limits sooner. A load may be what keeps the axis from its
// motion, other than from the speed that a winding shows.
func (e *excursion) judge(f *frozen, age float64, load bool) (bad, hint Finding) {
	missing := math.Abs(e.expectedTravel - e.shownTravel)
	if e.time == 0 || missing < partWay*f.counts {
		return
	}
	hint = Finding{Disagree, estimator.Position, e.expectedTravel - e.shownTravel, (1 - e.share) * math.Abs(e.expectedTravel)}
	from := e.baseTravel
	if from*e.expectedTravel < 0 { // it slows down: what is shown of the speed tells nothing
		from = 0
	}
	switch part := (e.shownTravel + from) / (e.expectedTravel + from); {
	case load && f.positionIsRight(missing/e.time):
		hint = Finding{Blocked, estimator.Position, f.hold + f.s.Motor.J*(e.expectedTravel-e.shownTravel)/(e.time*e.time), f.hold}
	case part < -motionShare:
		hint.Fault = Direction
		hint.Value, hint.Limit = f.asCommand(hint.Value, e.time), f.asCommand(hint.Limit, e.time)
	case f.current && math.Abs(part) >= shownShare:
		hint.Fault = Scale
		hint.Value, hint.Limit = f.asCommand(hint.Value, e.time), f.asCommand(hint.Limit, e.time)
	case math.Abs(part) < shownShare:
		hint = Finding{Frozen, estimator.Position, e.expectedTravel - e.shownTravel, partWay * f.counts}
	}
	quick, least := partTime, minSamples*f.s.SamplePeriod
	if e.shownTravel/e.expectedTravel < shownShare {
		quick = quickTime
	}
	switch {
	case e.time >= max(patientTime, least)+age, missing > quickWay*f.counts && e.time >= max(quick, least)+age:
		return hint, hint
	case e.time >= minBrokenSamples*f.s.SamplePeriod:
		return Finding{}, hint
	}
	return Finding{}, Finding{}
}

// asCommand is the command that belongs to a way (rad) that is missing after a time (s): the back-emf of its speed, or the effort that
// takes it.
func (f *frozen) asCommand(way, time float64) float64 {
	switch m := &f.s.Motor; f.s.Drive {
	case plant.VoltageDrive:
		return m.K * way / time
	case plant.CurrentDrive:
		return m.J * way / (time * time) / m.K
	}
	return f.s.Motor.J * way / (time * time)
}
