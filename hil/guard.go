package hil

import (
	"math"

	"hilrig/engine/numeric"
)

// GuardSpec is what the guard watches. Lengths follow the schema: Meas the measured signals, Cmd the commands.
type GuardSpec struct {
	Dt       float64 // s
	Meas     []MeasLimit
	Cmd      []CmdLimit
	HoldTime float64 // s  HOLD for a sick sensor becomes TRIP
	SelfTest float64 // s  health needed before READY

	MaxSpeed   float64 // rad/s  0: none
	MaxError   float64 // rad    0: none
	MaxCurrent float64 // A      0: none
	RatedI     float64 // A      0: no i²t budget
	Thermal    float64 // s      time constant of the budget

	Overrun      OverrunPolicy
	OverrunMax   int   // misses tolerated in a window of 100 ticks (hold, trip)
	OverrunLimit int64 // ns  a single miss longer than this trips; 0: none
}

// MeasLimit bounds one measured signal. Stale 0: its age is not watched. Lo ≥ Hi: any finite value will do.
type MeasLimit struct {
	Stale  float64 // s
	Lo, Hi float64
	Status bool // a device status word: anything but 0 is a fault of the device once the drive is on
}

// CmdLimit bounds one command.
type CmdLimit struct {
	Lo, Hi float64
	Slew   float64 // units per second; 0: none
	Safe   float64
	Enable bool // the drive's enable line: 1 in RUN and HOLD, else 0
}

// OverrunPolicy says what missed deadlines mean; skipping and catching up is the clock's part.
type OverrunPolicy uint8

const (
	OverrunCount OverrunPolicy = iota // skip, catch-up: counted only
	OverrunHold
	OverrunTrip
)

// Refusal is why a request was not taken; 0 means it was.
type Refusal = uint8

const (
	Taken        Refusal = iota
	WrongMode            // the table has no such transition from here
	CauseRemains         // the fault is still there
	DryRunOnly           // nothing may be armed in a dry run
	NotAllowed           // started without --arm
)

// RefusalText explains a refusal.
func RefusalText(r Refusal, q Request, m Mode) string {
	switch r {
	case Taken:
		return ""
	case WrongMode:
		return q.String() + " is not possible in mode " + m.String()
	case CauseRemains:
		return "the cause of the trip is still there"
	case DryRunOnly:
		return "this is a dry run: nothing is sent to the device; start with --arm to drive it"
	case NotAllowed:
		return "the daemon was started without --arm: it may not drive this rig"
	}
	return "refused"
}

// Guard has the last word: it decides the mode (Decide), then limits or replaces the command (Limit). It keeps the
// actuator inside its limits whatever the controller says.
type Guard struct {
	s     GuardSpec
	mode  Mode
	cause Cause

	lastFresh []int64   // ns  T of the newest sample of each measured signal
	seenFresh []bool    // … has it ever been seen
	healthy   float64   // s   time since everything watched was last sick
	sick      float64   // s   time in HOLD with a sick sensor
	byFault   bool      // HOLD was entered for a sick sensor
	now       Cause     // what is wrong in this tick, CauseNone if nothing
	last      []float64 // commands of the tick before
	heat      float64   // i²t budget used, 0…1
	cooling   bool      // the budget was used up; it must fall below one half before a reset
	misses    [2]uint64 // bits: was the tick late, newest first
	energised float64   // s   time since RUN was entered from a de-energised mode
}

// NewGuard checks lengths once; the tick trusts them.
func NewGuard(s GuardSpec) *Guard {
	g := &Guard{s: s, cause: CauseStart, lastFresh: make([]int64, len(s.Meas)), seenFresh: make([]bool, len(s.Meas)), last: make([]float64, len(s.Cmd))}
	for i, c := range s.Cmd {
		g.last[i] = c.Safe
	}
	return g
}

// Mode is the present mode.
func (g *Guard) Mode() Mode { return g.mode }

// Heat is the used share of the i²t budget.
func (g *Guard) Heat() float64 { return g.heat }

// Decide settles the mode of this tick from the state of the sensors, the flags raised outside and the request in
// r.Req. It writes r.Mode, r.Cause, r.Res and flag bits.
func (g *Guard) Decide(r *Row, meas []float64) {
	if g.mode == Init {
		g.move(onBegin, g.cause)
	}
	sick, fault := g.sensors(r, meas), g.faults(r, meas)
	g.now = sick
	if fault != CauseNone {
		g.now = fault
	}

	// faults first, then sensors, then requests: nobody can ask a sick rig to run
	if fault != CauseNone {
		g.move(onFault, fault)
	}
	if sick != CauseNone {
		g.healthy = 0
		g.move(onSick, sick)
		if g.mode == Hold {
			if g.sick += g.s.Dt; g.sick > g.s.HoldTime {
				g.move(onExpire, sick)
			}
		}
	} else {
		g.healthy += g.s.Dt
		g.sick = 0
		if g.mode == SelfTest && g.healthy >= g.s.SelfTest {
			g.move(onHealthy, CauseNone)
		}
		if g.mode == Hold && g.byFault {
			g.move(onWell, CauseNone)
		}
	}
	if g.mode.Energised() {
		g.energised += g.s.Dt
	} else {
		g.energised = 0
	}
	g.request(r)
	r.Mode, r.Cause = g.mode, g.cause
}

// move follows the table; where it has no entry nothing happens.
func (g *Guard) move(on trigger, why Cause) bool {
	to := next[g.mode][on]
	if to == nowhere {
		return false
	}
	if to == g.mode {
		return true
	}
	if to == Hold {
		g.byFault, g.sick = on == onSick, 0
	}
	if to == SelfTest {
		g.healthy = 0
	}
	g.mode, g.cause = to, why
	return true
}

// sensors looks at age, finiteness and range of every measurement, in this order.
func (g *Guard) sensors(r *Row, meas []float64) Cause {
	worst := CauseNone
	for i := range g.s.Meas {
		m := &g.s.Meas[i]
		if r.Fresh&(1<<i) != 0 {
			g.lastFresh[i], g.seenFresh[i] = r.T, true
		}
		if m.Stale > 0 && (!g.seenFresh[i] || float64(r.T-g.lastFresh[i]) > m.Stale*1e9) {
			r.Flags |= FlagStale
			if worst == CauseNone {
				worst = CauseStale
			}
			continue
		}
		if !g.seenFresh[i] {
			continue
		}
		y := meas[i]
		if !numeric.Finite(y) {
			r.Flags |= FlagNonFinite
			worst = CauseNonFinite
		} else if m.Hi > m.Lo && (y < m.Lo || y > m.Hi) {
			r.Flags |= FlagRange
			if worst == CauseNone {
				worst = CauseRange
			}
		}
	}
	if worst == CauseStale && r.Flags&FlagLinkDown != 0 {
		worst = CauseLink
	}
	return worst
}

// faults are the conditions that trip at once.
func (g *Guard) faults(r *Row, meas []float64) Cause {
	switch {
	case r.Flags&FlagSupLost != 0:
		return CauseSupervisor
	case r.Flags&FlagTripIn != 0:
		return CauseCommand
	}
	// the device's own status, once it has had time to notice that it is enabled
	if g.mode.Energised() && g.energised > 0.1 {
		for i := range g.s.Meas {
			if g.s.Meas[i].Status && g.seenFresh[i] && meas[i] != 0 {
				return CauseDevice
			}
		}
	}
	// missed deadlines, newest bit first
	late := r.Flags&(FlagLate|FlagSkipped) != 0
	g.misses[1] = g.misses[1]<<1 | g.misses[0]>>63
	g.misses[0] <<= 1
	if late {
		g.misses[0] |= 1
	}
	if g.s.OverrunLimit > 0 && int64(r.Late) > g.s.OverrunLimit && g.mode.Energised() {
		return CauseOverrun
	}
	if late && g.s.Overrun != OverrunCount && ones(g.misses[0])+ones(g.misses[1]&(1<<36-1)) > g.s.OverrunMax {
		if g.s.Overrun == OverrunTrip {
			if g.mode.Energised() {
				return CauseOverrun
			}
		} else if g.mode == Run {
			g.move(onHold, CauseOverrun)
		}
	}
	if g.cooling {
		return CauseThermal
	}
	return CauseNone
}

func ones(x uint64) (n int) {
	for ; x != 0; x &= x - 1 {
		n++
	}
	return n
}

// requestTrigger maps a request to the table's trigger.
var requestTrigger = [...]trigger{ReqArm: onArm, ReqRun: onRun, ReqHold: onHold, ReqStop: onStop, ReqTrip: onTrip, ReqEstop: onEstop, ReqReset: onReset}

// request takes or refuses what somebody asked for.
func (g *Guard) request(r *Row) {
	q := Request(r.Req)
	if q == ReqNone || q == ReqSet || int(q) >= len(requestTrigger) {
		return
	}
	if q == ReqArm && r.Flags&(FlagDryRun|FlagLocked) != 0 {
		r.Res = NotAllowed
		if r.Flags&FlagDryRun != 0 {
			r.Res = DryRunOnly
		}
		return
	}
	if (q == ReqReset || q == ReqArm || q == ReqRun) && g.now != CauseNone {
		r.Res = CauseRemains
		return
	}
	why := CauseCommand
	if q == ReqEstop {
		why = CauseEstop
	}
	if !g.move(requestTrigger[q], why) {
		r.Res = WrongMode
	}
}

// Watch looks at the motion of this tick: estimated speed in rad/s, tracking error in rad, measured current in A. A violated
// bound trips before the command leaves. (A current that is no number is the sensor's affair: see sensors.)
func (g *Guard) Watch(r *Row, speed, trackErr, current float64) {
	bad := CauseNone
	switch {
	case !numeric.Finite(speed) || !numeric.Finite(trackErr):
		r.Flags |= FlagNonFinite
		bad = CauseNonFinite
	case g.s.MaxSpeed > 0 && math.Abs(speed) > g.s.MaxSpeed,
		g.s.MaxError > 0 && math.Abs(trackErr) > g.s.MaxError:
		r.Flags |= FlagDiverged
		bad = CauseDiverged
	case g.s.MaxCurrent > 0 && math.Abs(current) > g.s.MaxCurrent:
		r.Flags |= FlagRange
		bad = CauseRange
	case r.Flags&FlagDiverged != 0:
		bad = CauseDiverged
	}
	if bad != CauseNone && g.mode.Energised() {
		g.move(onFault, bad)
	}
	// i²t as a first-order image of the winding's temperature rise: 1 is the rise at rated current
	if g.s.RatedI > 0 && g.s.Thermal > 0 && numeric.Finite(current) {
		p := current / g.s.RatedI
		g.heat += (p*p - g.heat) * -math.Expm1(-g.s.Dt/g.s.Thermal)
		if g.heat > 1 {
			g.cooling = true
			r.Flags |= FlagThermal
			if g.mode.Energised() {
				g.move(onFault, CauseThermal)
			}
		} else if g.heat < 0.5 {
			g.cooling = false
		}
	}
	r.Mode, r.Cause = g.mode, g.cause
}

// Limit is the last word on the command, in place: safe values unless energised, then finite, range and slew.
func (g *Guard) Limit(r *Row, u []float64) {
	for i := range g.s.Cmd {
		if c := &g.s.Cmd[i]; !c.Enable && !numeric.Finite(u[i]) && g.mode.Energised() {
			r.Flags |= FlagNonFinite
			g.move(onFault, CauseNonFinite)
		}
	}
	on := g.mode.Energised()
	for i := range g.s.Cmd {
		c := &g.s.Cmd[i]
		switch {
		case c.Enable:
			u[i] = 0
			if on {
				u[i] = 1
			}
		case !on:
			u[i] = c.Safe
		case g.mode == Hold && g.sick > 0:
			u[i] = g.last[i] // blind: keep the last command for the few ticks that HOLD may last
		default:
			if u[i] < c.Lo || u[i] > c.Hi {
				r.Flags |= FlagClamped
				u[i] = min(c.Hi, max(c.Lo, u[i]))
			}
			if c.Slew > 0 {
				if d, most := u[i]-g.last[i], c.Slew*g.s.Dt; math.Abs(d) > most {
					r.Flags |= FlagSlewed
					u[i] = g.last[i] + math.Copysign(most, d)
				}
			}
		}
		g.last[i] = u[i]
	}
	r.Mode, r.Cause = g.mode, g.cause
}
