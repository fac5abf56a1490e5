package hil

import (
	"math"

	"hilrig/estimator"
	"hilrig/hil/axis"
)

// offWatch tells whether the drive of an axis is off that should be. A motor that coasts has no current; one whose winding is shorted has a
// current against its motion; a hand or a load moves an axis that has come to rest. None of them is a drive that is on: that is a current
// that drives or holds, a voltage beyond the back-emf, or an axis that goes on as it went while it was driven, or speeds up, though
// friction alone should have stopped it long ago.
//
// Commands need time to leave, currents to die away, and after a time without sight (a stop of the machine, stale samples, many old ones at
// once) the estimate needs time to settle. So each reading counts from offTime after the order, and after every gap anew.
type offWatch struct {
	sightTime float64 // s     since the order, or since the position is in sight again
	current   offMean // A     beyond what braking makes
	voltage   offMean // V     beyond the back-emf
	speed     offMean // rad/s
	went      float64 // rad/s when its drive was switched off; 0: it was at rest, or has come to rest since
	lastSpeed float64 // rad/s when the position was last in sight
	orderTime int64   // ns    time of the order or of the gap: a sample from before tells nothing

	startSpeed   float64 // rad/s at the beginning of a stretch in which friction must slow it down; 0: none has begun
	slowdownTime float64 // s     … and the time since
	minSpeed     float64 // rad/s the slowest since the first of them
	speedUpTime  float64 // s     so long it has been faster than that
}

// offMean is a mean over a short time of what is in sight.
type offMean struct{ x, time float64 }

const (
	offTime = 0.2  // s  from the order, or from a gap, to the verdict
	offMost = 0.05 // s  time of a mean, and the longest pause of the loop that is no gap
	offStop = 3    // times as long as friction takes to stop it may the axis move on
	offIdle = 1.0  // s  the same for a velocity drive whose friction is not known
	offUp   = 0.3  // s  an axis that swings is faster for a moment
)

// add takes a number of a tick of dt (s); NaN: there is none, and what was before it does not count.
func (m *offMean) add(x, dt float64) {
	if math.IsNaN(x) {
		*m = offMean{}
		return
	}
	m.time += dt
	m.x -= (m.x - x) * -math.Expm1(-dt/offMost)
}

// exceeds tells whether the mean is one, and beyond the limit.
func (m *offMean) exceeds(limit float64) bool { return m.time > offTime && math.Abs(m.x) > limit }

// excess is the part of x outside lo … hi.
func excess(x, lo, hi float64) float64 { return x - min(hi, max(lo, x)) }

// record keeps what the axis does while its drive is on.
func (w *offWatch) record(l *axis.OffLimits, speed float64, sight bool) {
	if !sight {
		speed = w.lastSpeed
	}
	if *w = (offWatch{lastSpeed: speed}); l.RestSpeed > 0 && math.Abs(speed) > l.RestSpeed {
		w.went = speed
	}
}

// braking is what a winding may draw at a speed, as a range.
func braking(l *axis.OffLimits, speed float64) (lo, hi float64) {
	natural := -l.Braking * speed
	if math.IsNaN(natural) || math.Abs(speed) < l.MinBrakingSpeed && math.IsInf(l.Braking, 0) {
		natural = 0
	}
	return min(0, natural), max(0, natural)
}

// step looks at a tick of dt (s) with the drive off. current and voltage are NaN where there is none to believe; sight: there is a
// position; gap: the loop stood still before this tick.
func (w *offWatch) step(l *axis.OffLimits, speed, current, voltage float64, sight, gap bool, dt float64) {
	if gap { // the loop stood still: nothing from before counts, and this tick may see what is old
		current, voltage, sight = math.NaN(), math.NaN(), false
	}
	if sight {
		w.lastSpeed = speed
	}
	lo, hi := braking(l, w.lastSpeed)
	emf := [2]float64{min(0, l.BackEMF*w.lastSpeed), max(0, l.BackEMF*w.lastSpeed)}
	if !sight { // it may turn to either side, as fast as it did
		lo, hi = min(lo, -hi), max(hi, -lo)
		emf = [2]float64{min(emf[0], -emf[1]), max(emf[1], -emf[0])}
	}
	w.current.add(excess(current, lo, hi), dt)
	w.voltage.add(excess(voltage, emf[0], emf[1]), dt)
	if !sight {
		w.speed, w.sightTime, w.startSpeed = offMean{}, 0, 0
		return
	}
	w.sightTime += dt
	w.speed.add(speed, dt)
	w.slows(l, dt)
}

// slows follows the speed of an axis that friction slows down.
func (w *offWatch) slows(l *axis.OffLimits, dt float64) {
	if v := math.Abs(w.speed.x); w.went == 0 || w.sightTime < offTime {
		return
	} else if v < l.RestSpeed || w.speed.x*w.went < 0 {
		w.went, w.startSpeed = 0, 0 // it rests, or is thrown back: what moves it from now on need not be its drive
	} else if w.startSpeed == 0 {
		w.startSpeed, w.slowdownTime, w.minSpeed, w.speedUpTime = w.speed.x, 0, v, 0
	} else {
		w.slowdownTime += dt
		w.minSpeed = min(w.minSpeed, v)
		if w.speedUpTime += dt; v < w.speedUpLimit(l) {
			w.speedUpTime = 0
		}
	}
}

// speedUpLimit is the speed of an axis that speeds up.
func (w *offWatch) speedUpLimit(l *axis.OffLimits) float64 { return 1.5*w.minSpeed + 2*l.RestSpeed }

// goesOn tells whether the axis moves on though it should have come to rest, and the speed that it must not have.
func (w *offWatch) goesOn(l *axis.OffLimits, idle float64) (limit float64, on bool) {
	if w.startSpeed == 0 {
		return 0, false
	}
	patience := idle
	if l.Slows > 0 {
		patience = offStop * math.Abs(w.startSpeed) / l.Slows
	}
	v := math.Abs(w.speed.x)
	switch {
	case !l.Loaded && w.speedUpTime > offUp:
		return w.speedUpLimit(l), true
	case patience <= 0 || w.slowdownTime <= max(offTime, patience):
	case v > math.Abs(w.startSpeed)/2:
		return math.Abs(w.startSpeed) / 2, true
	default: // it slows down
		w.startSpeed, w.slowdownTime = w.speed.x, 0
	}
	return 0, false
}

// notOff is what tells that the drive of axis i is not off; the zero reason: nothing does.
func (g *Guard) notOff(r *Row, i int, m *axis.State, meas []float64) reason {
	a, w := &g.s.Axes[i], &g.offs[i]
	if !a.HasDrive || r.Flags&FlagDryRun != 0 { // somebody else may drive it
		return reason{}
	}
	since := func(times []int64, q estimator.Quantity) bool { // whatever the file bears: what is old need not be so any more
		at := a.Measured[q]
		return at >= 0 && r.Flags&FlagLinkDown == 0 && times[at] > w.orderTime && float64(r.T-times[at])*1e-9 <= max(offMost, 3*a.SamplePeriod)
	}
	l, gap := &a.OffLimits, g.gap(r)
	sound := !gap && !m.Unsound && !m.Diverged
	if g.mode.Energised() {
		w.record(l, m.Speed, sound && g.recent(r, a.Measured[estimator.Position]))
		w.orderTime = r.T
		return reason{}
	}
	if gap {
		w.orderTime = r.T
	}
	read := func(q estimator.Quantity, limit float64) float64 {
		if limit > 0 && since(g.inRange, q) { // a filter that refuses a current says that it is none of its model
			return g.lastValue[a.Measured[q]]
		}
		return math.NaN()
	}
	sight := sound && g.recent(r, a.Measured[estimator.Position]) && since(g.believed, estimator.Position)
	w.step(l, m.Speed, read(estimator.Current, l.Current), read(estimator.Voltage, l.Voltage), sight, gap, g.elapsed(r))
	switch {
	case l.Current > 0 && w.current.exceeds(l.Current):
		return reason{CauseNotOff, uint16(a.Measured[estimator.Current] + 1), w.current.x, l.Current}
	case l.Voltage > 0 && w.voltage.exceeds(l.Voltage):
		return reason{CauseNotOff, uint16(a.Measured[estimator.Voltage] + 1), w.voltage.x, l.Voltage}
	}
	if limit, on := w.goesOn(l, a.DriveStopTime); on {
		return reason{CauseNotOff, a.Speed, w.speed.x, limit}
	}
	return reason{}
}

// gap tells whether the loop stood still before this tick.
func (g *Guard) gap(r *Row) bool { return r.Skip > 0 && g.elapsed(r) > offMost }

// Patience with a device that says no to commands, and with one that says nothing (s).
const (
	refusedTime    = 0.2
	unansweredTime = 0.5
)

// confirmed is what is wrong with what the devices say to commands. One that refuses some and leaves others unanswered refuses. After a
// stop of the machine that counts anew: what was not answered in it could not be.
func (g *Guard) confirmed(r *Row) reason {
	if r.Flags&(FlagCommandRefused|FlagCommandLost) == 0 || g.gap(r) {
		g.notTaken, g.refuses = 0, false
	}
	if r.Flags&(FlagCommandRefused|FlagCommandLost) == 0 {
		return reason{}
	}
	g.notTaken += g.s.Dt // a tick that was left out saw nothing
	g.refuses = g.refuses || r.Flags&FlagCommandRefused != 0
	limit := unansweredTime
	if g.refuses {
		limit = refusedTime
	}
	if g.notTaken > limit {
		return reason{CauseRefused, r.CauseSignal, g.notTaken, limit}
	}
	return reason{}
}
