package hil

import (
	"math"

	"hilrig/estimator"
	"hilrig/hil/axis"
)

// offWatch tells whether the drive of an axis is off that should be. A motor that coasts has no current; one whose winding is shorted has a
// current against its motion; a hand or a load moves an axis that has come to rest. None of them is a drive that is on: that is a current
// that drives or holds, a voltage beyond the back-emf, or an axis that goes on as it went while it was driven, though friction alone should have
// stopped it long ago.
type offWatch struct {
	off     float64 // s     since the drive was switched off
	current float64 // A     mean beyond what braking makes
	voltage float64 // V     mean beyond the back-emf
	speed   float64 // rad/s when it was switched off; 0: it was not driven, or has come to rest since
}

const (
	offTime = 0.2  // s  from the order to the verdict: a command has left, a current has died away
	offMean = 0.05 // s
	offStop = 3    // times as long as friction takes to stop it may the axis move on
	offIdle = 1.0  // s  the same for a velocity drive whose friction is not known
)

// beyond is the part of x outside 0 … natural.
func beyond(x, natural float64) float64 {
	lo, hi := min(0, natural), max(0, natural)
	return x - min(hi, max(lo, x))
}

// driven keeps what the axis does while its drive is on.
func (w *offWatch) driven(speed float64) { *w = offWatch{speed: speed} }

// step looks at a tick of dt (s) with the drive off. current and voltage are NaN where there is none to believe.
func (w *offWatch) step(l *axis.OffLimits, speed, current, voltage, dt float64) {
	w.off += dt
	share := -math.Expm1(-dt / offMean)
	if !math.IsNaN(current) {
		natural := -l.Braking * speed
		if math.IsNaN(natural) || math.Abs(speed) < l.Fast && math.IsInf(l.Braking, 0) {
			natural = 0
		}
		w.current += (beyond(current, natural) - w.current) * share
	}
	if !math.IsNaN(voltage) {
		w.voltage += (beyond(voltage, l.BackEMF*speed) - w.voltage) * share
	}
	if math.Abs(speed) < max(l.Fast, math.Abs(w.speed)/10) || speed*w.speed <= 0 {
		w.speed = 0
	}
}

// goesOn tells whether the axis moves on though it should have come to rest.
func (w *offWatch) goesOn(l *axis.OffLimits, speed, idle float64) bool {
	patience := idle
	if l.Slows > 0 {
		patience = offStop * math.Abs(w.speed) / l.Slows
	}
	return patience > 0 && l.Fast > 0 && math.Abs(w.speed) > 2*l.Fast && w.off > offTime+patience && math.Abs(speed) > math.Abs(w.speed)/2
}

// notOff is what tells that the drive of axis i is not off; the zero reason: nothing does.
func (g *Guard) notOff(r *Row, i int, m *axis.State, meas []float64) reason {
	a, w := &g.s.Axes[i], &g.offs[i]
	if !a.Driven || r.Flags&FlagDryRun != 0 { // somebody else may drive it
		return reason{}
	}
	if g.mode.Energised() {
		w.driven(m.Speed)
		return reason{}
	}
	read := func(q estimator.Quantity, limit float64) float64 {
		if at := a.Measured[q]; limit > 0 && g.recent(r, at) {
			return g.newest[at]
		}
		return math.NaN()
	}
	l := &a.Off
	w.step(l, m.Speed, read(estimator.Current, l.Current), read(estimator.Voltage, l.Voltage), g.elapsed(r))
	switch {
	case w.off < offTime:
	case l.Current > 0 && math.Abs(w.current) > l.Current:
		return reason{CauseNotOff, uint16(a.Measured[estimator.Current] + 1), w.current, l.Current}
	case l.Voltage > 0 && math.Abs(w.voltage) > l.Voltage:
		return reason{CauseNotOff, uint16(a.Measured[estimator.Voltage] + 1), w.voltage, l.Voltage}
	case w.goesOn(l, m.Speed, a.Idle):
		return reason{CauseNotOff, a.Speed, m.Speed, math.Abs(w.speed) / 2}
	}
	return reason{}
}

// Patience with a device that says no to commands, and with one that says nothing (s).
const (
	refusedTime    = 0.2
	unansweredTime = 0.5
)

// confirmed is what is wrong with what the devices say to commands.
func (g *Guard) confirmed(r *Row) reason {
	count := func(sum *float64, flag Flags) bool {
		if r.Flags&flag == 0 {
			*sum = 0
			return false
		}
		*sum += g.elapsed(r)
		return true
	}
	if count(&g.denied, FlagCommandRefused) && g.denied > refusedTime {
		return reason{CauseRefused, r.Where, g.denied, refusedTime}
	}
	if count(&g.unanswered, FlagCommandLost) && g.unanswered > unansweredTime {
		return reason{CauseRefused, r.Where, g.unanswered, unansweredTime}
	}
	return reason{}
}
