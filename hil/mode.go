package hil

import (
	"fmt"
	"strings"
)

// Mode is the state of the guard: INIT → SELFTEST → READY → ARMED → RUN → HOLD | TRIP | ESTOP.
type Mode uint8

const (
	Init Mode = iota
	SelfTest
	Ready
	Armed
	Run
	Hold
	Trip
	Estop
)

var modeNames = [...]string{"init", "selftest", "ready", "armed", "run", "hold", "trip", "estop"}

func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return "unknown"
}

// Request is what somebody asks of the guard.
type Request uint8

const (
	ReqNone  Request = iota
	ReqArm           // ready → armed
	ReqRun           // armed, hold → run
	ReqHold          // run → hold
	ReqStop          // armed, run, hold → ready; always accepted
	ReqEstop         // any → estop
	ReqReset         // trip, estop → selftest, once the cause is gone
	ReqSet           // new parameter block; the mode stays
	ReqAdopt         // the same, with the model of an axis
)

var requestNames = [...]string{"none", "arm", "run", "hold", "stop", "estop", "reset", "set", "adopt"}

func (q Request) String() string {
	if int(q) < len(requestNames) {
		return requestNames[q]
	}
	return "unknown"
}

// ParseRequest turns the name of a command topic into a request; false if there is none of that name.
func ParseRequest(name string) (Request, bool) {
	for i, n := range requestNames {
		if i > 0 && n == name {
			return Request(i), true
		}
	}
	return ReqNone, false
}

// Safer tells whether a request takes energy out of the rig. Such a request is taken from whoever can reach the daemon, late,
// repeated or with a payload that cannot be read.
func (q Request) Safer() bool { return q == ReqStop || q == ReqHold || q == ReqEstop }

// Cause says why the guard is where it is.
type Cause uint8

const (
	CauseNone          Cause = iota
	CauseStart               // the program just started
	CauseCommand             // somebody asked for it
	CauseEstop               // emergency stop
	CauseStale               // a sensor was older than its limit
	CauseRange               // a sensor was outside its range
	CauseNonFinite           // a measurement or a command was not finite
	CauseLink                // the port went away
	CauseDevice              // the device reported a fault
	CauseSupervisor          // the supervisor died
	CauseStarved             // the supervisor lives but gave no beat for too long
	CauseOverrun             // the loop woke too late once
	CauseLateTicks           // the loop woke late too often
	CauseSpeed               // the estimated speed was above its limit
	CauseError               // the tracking error was above its limit
	CauseCurrent             // the measured current was above its limit
	CauseTemperature         // a temperature was above its limit
	CauseThermal             // i²t
	CauseResidual            // the model explains the motion no longer
	CauseDiverged            // estimator or model is not finite, or absurd
	CauseDirection           // the axis runs against its command
	CauseFrozen              // the position does not move, though the axis must
	CauseJump                // the position jumped as no axis can
	CauseEstimate            // the estimate of the motion is not sound
	CauseBlocked             // the axis stands although its torque must move it
	CauseFrozenCurrent       // the measured current stays the same number, though the voltage changes
	CauseTravel              // the axis left its travel
	CauseNotOff              // the drive should be off and is not
	CauseRefused             // a device does not take commands
	CauseArmed               // armed for too long without a run
	CauseFrozenReading       // a reading stays the same number, though what it is compared with changes
	CauseDisagree            // a reading does not fit the command or another reading
	CauseScale               // voltage, current and speed do not fit, whatever the signs
	CauseDelay               // command and motion fit with a delay between them
	CauseSaturated           // the command runs from limit to limit
)

// causes: the name, the unit of value and limit where it is not that of the signal, and what to look at.
var causes = [...]struct{ name, unit, hint string }{
	CauseNone:        {"none", "", ""},
	CauseStart:       {"start", "", ""},
	CauseCommand:     {"command", "", ""},
	CauseEstop:       {"emergency stop", "", ""},
	CauseStale:       {"stale sensor", "s", ""},
	CauseRange:       {"out of range", "", ""},
	CauseNonFinite:   {"non-finite number", "", ""},
	CauseLink:        {"link down", "", ""},
	CauseDevice:      {"device fault", "", ""},
	CauseSupervisor:  {"supervisor lost", "", ""},
	CauseStarved:     {"supervisor starved", "s", ""},
	CauseOverrun:     {"overrun", "s", ""},
	CauseLateTicks:   {"late ticks", "of 100", ""},
	CauseSpeed:       {"speed", "", ""},
	CauseError:       {"tracking error", "", ""},
	CauseCurrent:     {"current", "", ""},
	CauseTemperature: {"temperature", "", ""},
	CauseThermal:     {"i2t", "of the budget", ""},
	CauseResidual:    {"model residual", "", "torque that the friction model does not explain: blocked shaft, collision, wrong model"},
	CauseDiverged:    {"divergence", "", "the estimate is not finite or absurd"},
	CauseDirection: {"wrong direction", "command", "the axis runs against its command: check the signs of drive, encoder and current; " +
		"without a measured current also a load that throws it back"},
	CauseFrozen: {"frozen position", "", "so far the axis must have gone, the position shows nothing of it: sensor, coupling; or the " +
		"shaft is blocked, or the drive does nothing or acts late"},
	CauseJump: {"position jump", "", "the counter was reset, counts were lost or a coupling slipped"},
	CauseEstimate: {"estimate", "× position_noise", "the position is missing or refused, or noisier or coarser than " +
		"estimator.position_noise says"},
	CauseFrozenCurrent: {"frozen current", "V", "the voltage changes by this much, the measured current not at all: sensor, wiring"},
	CauseTravel:        {"travel", "", ""},
	CauseNotOff: {"drive not off", "", "it should be off, and draws a current, applies a voltage, or the axis goes on moving: a " +
		"drive that is on, or a load that pulls the axis. Take the energy off at the rig, then look at its enable line and its watchdog"},
	CauseRefused: {"commands not taken", "s", "the device refuses them or does not answer: what the drive does is not known; take the " +
		"energy off at the rig, then look at its registers, its mode, its address"},
	CauseArmed:         {"armed too long", "s", ""},
	CauseFrozenReading: {"frozen reading", "", "what it is compared with changes by this much, the reading not at all: sensor, wiring"},
	CauseDisagree: {"readings disagree", "", "the reading is off by this much from the command or from another reading: its offset, " +
		"scale, sign, or the drive. Of a position: or something holds the axis, or moves it"},
	CauseScale: {"wrong scale", "command", "voltage, current and speed do not fit, whatever the signs: check the scale of encoder, " +
		"current and drive, and R and K of the motor"},
	CauseDelay: {"delay", "s", "the motion fits a command that is so much older: check the delay of the drive, and the times of the " +
		"samples"},
	CauseSaturated: {"command saturated", "Hz", "the command runs from one limit to the other and back so often: a gain of the " +
		"controller is far too high, or a reading too noisy for it"},
	CauseBlocked: {"blocked shaft", "N·m", "the torque must move the axis, and it stands, or goes the other way: something holds it " +
		"or moves it; else position sensor, coupling; without a measured current also the drive"},
}

// CauseNamed is the cause with a name; CauseStart where there is none of it.
func CauseNamed(name string) Cause {
	for c := range causes {
		if causes[c].name == name {
			return Cause(c)
		}
	}
	return CauseStart
}

func (c Cause) String() string {
	if int(c) < len(causes) {
		return causes[c].name
	}
	return "unknown"
}

// CauseText is the cause in words: what, which signal, value, limit.
//
//	stale sensor motor.angle: 0.0214 s, limit 0.02 s
//	tracking error: -0.523 rad, limit 0.349 rad
func (r *Row) CauseText(s *Schema) string {
	text, unit, hint := r.Cause.String(), "", ""
	if int(r.Cause) < len(causes) {
		unit, hint = causes[r.Cause].unit, causes[r.Cause].hint
	}
	if all := s.Channels(); r.CauseSignal > 0 && int(r.CauseSignal) <= len(all) {
		ch := all[r.CauseSignal-1]
		if text += " " + ch.Name; r.Cause == CauseLink || r.Cause == CauseRefused {
			text = r.Cause.String() + " " + ch.Owner
		}
		switch {
		case unit == "":
			unit = ch.Unit
		case unit == "command":
			if unit = ""; s.Find(Commanded, ch.Axis, RoleCommand) >= 0 {
				unit = all[s.Find(Commanded, ch.Axis, RoleCommand)].Unit
			}
		case unit == "N·m" && ch.Unit == "m":
			unit = "N"
		}
	}
	if unit != "" {
		unit = " " + unit
	}
	switch {
	case r.Cause == CauseStale && r.Value == 0:
		text = strings.Replace(text, r.Cause.String(), "waiting for", 1) + ": never sent"
	case r.Value != 0 || r.Limit != 0:
		text += fmt.Sprintf(": %.4g%s, limit %.4g%s", r.Value, unit, r.Limit, unit)
	}
	if hint != "" {
		text += "; " + hint
	}
	return text
}
