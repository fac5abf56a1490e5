package hil

import (
	"math"
	"math/bits"
	"slices"

	"hilrig/engine/numeric"
	"hilrig/estimator"
	"hilrig/hil/axis"
)

// reason is a cause with what the event tells about it. Value and limit are finite; both 0: nothing to tell.
type reason struct {
	cause        Cause
	signal       uint16 // index of the signal in Row.X plus 1; 0: none
	value, limit float64
}

// Guard has the last word: it decides the mode (Decide), then limits or replaces the command (Limit). It keeps the
// actuator inside its limits whatever the controller says.
type Guard struct {
	s      GuardSpec
	mode   Mode
	reason reason
	age    []int // of each measured signal: index of the age of its samples; −1: none

	sampled         []int64             // ns  time of the newest sample of each measured signal
	hasSample       []bool              // … has it ever been seen
	lastValue       []float64           // … its value: meas holds NaN instead once it is too old
	believed        []int64             // ns  time of the newest sample of each measured signal that is a believable number
	inRange         []int64             // ns  … of the newest number in its range, whether the filter takes it or not
	healthy         float64             // s   time since everything watched was last sick
	blindness       blindTime           // in HOLD with a sick sensor, of the last second
	sick            bool                // HOLD with a sick sensor in this tick
	byFault         bool                // HOLD was entered for a sick sensor, and nobody has asked for it since
	armed           float64             // s   time in ARMED
	activeCause     Cause               // what is wrong in this tick, CauseNone if nothing
	motion          reason              // what Watch found wrong in the tick before
	lastCommand     []float64           // commands of the tick before
	budgets         []budget            // of each axis
	holdCommand     []float64           // commands when HOLD began
	misses          [2]uint64           // bits: was the tick late, newest first
	energised       float64             // s   time since RUN was entered from a de-energised mode
	rejectedSamples Fresh               // new samples that count as none
	previousRun     Before              // what was handed on to the first tick
	firstTick       bool                // this is that tick
	offs            []offWatch          // of each axis
	notTaken        float64             // s  so long a device refuses commands or does not answer them …
	refuses         bool                // … and has refused one since
	onTransition    func(Mode, trigger) // told every transition, by tests; nil: nobody asks
}

// NewGuard checks lengths once; the tick trusts them.
func NewGuard(s GuardSpec) *Guard {
	g := &Guard{s: s, reason: reason{cause: CauseStart}, age: make([]int, len(s.Meas)), sampled: make([]int64, len(s.Meas)),
		lastValue: make([]float64, len(s.Meas)), believed: make([]int64, len(s.Meas)), inRange: make([]int64, len(s.Meas)),
		hasSample: make([]bool, len(s.Meas)), blindness: newBlindTime(nanoseconds(s.HoldTime)), lastCommand: make([]float64, len(s.Cmd)),
		holdCommand: make([]float64, len(s.Cmd)), budgets: make([]budget, len(s.Axes)), offs: make([]offWatch, len(s.Axes))}
	for i, at := len(s.Meas)-1, -1; i >= 0; i-- { // the age of a device stands behind its signals
		if s.Meas[i].Age {
			at = i
		}
		g.age[i] = at
	}
	if s.Ages != nil {
		g.age = s.Ages
	}
	for i, c := range s.Cmd {
		g.lastCommand[i] = c.Safe
	}
	for i := range s.Axes {
		g.budgets[i].share = -math.Expm1(-s.Dt / s.Axes[i].Thermal)
	}
	return g
}

// nanoseconds of a time in s.
func nanoseconds(s float64) int64 { return int64(math.Round(s * 1e9)) }

// Inherit hands on what was latched before the first tick.
func (g *Guard) Inherit(b Before) {
	g.previousRun = b
	for i := range g.budgets {
		g.budgets[i].heat = b.Heat[i]
		g.budgets[i].cooling = b.Heat[i] > 1 || b.Cause == CauseThermal && b.Heat[i] >= coolShare
	}
}

// begin leaves INIT in the first tick, for the mode that was latched before if there is one.
func (g *Guard) begin(r *Row) {
	b := &g.previousRun
	g.firstTick = true
	switch b.Mode {
	case Trip:
		g.move(onTripBefore, reason{b.Cause, b.CauseSignal, b.Value, b.Limit})
	case Estop:
		g.move(onEstopBefore, reason{b.Cause, b.CauseSignal, b.Value, b.Limit})
	default:
		g.move(onBegin, g.reason)
	}
	if b.Mode.Latched() {
		r.Flags |= FlagLatched
	}
}

// Mode is the present mode.
func (g *Guard) Mode() Mode { return g.mode }

// Heat is the used share of the i²t budget of an axis.
func (g *Guard) Heat(axis int) float64 { return g.budgets[axis].heat }

// Decide settles the mode of this tick from the state of the sensors, the flags raised outside and the request in
// r.Req. It writes mode, cause, result and flag bits.
func (g *Guard) Decide(r *Row, meas []float64) {
	if g.firstTick = false; g.mode == Init {
		g.begin(r)
	}
	sick, fault := g.sensors(r, meas)
	if deaf := g.confirmed(r); deaf.cause != CauseNone {
		if g.mode.Energised() {
			fault = deaf
		} else {
			r.Flags |= FlagNotOff
			sick = deaf
		}
	}
	if f := g.faults(r); f.cause != CauseNone {
		fault = f
	}
	if sick.cause == CauseNone {
		sick = g.motion // de-energised: an axis that breaks a limit, or an absurd estimate, is not ready
	}
	g.activeCause = sick.cause
	if fault.cause != CauseNone {
		g.activeCause = fault.cause
	}

	// faults first, then sensors, then requests: nobody can ask a sick rig to run
	if fault.cause != CauseNone {
		g.move(onFault, fault)
	}
	if g.sick = false; sick.cause != CauseNone {
		g.healthy = 0
		g.move(onSick, sick)
		switch g.mode {
		case SelfTest:
			g.reason = sick // what it waits for
		case Hold:
			g.sick = true
			if g.blindness.add(r.T, nanoseconds(g.elapsed(r))) > nanoseconds(g.s.HoldTime) {
				g.move(onExpire, sick)
			}
		}
	} else {
		g.healthy += g.s.Dt
		if g.mode == SelfTest && g.healthy >= g.s.SelfTest {
			g.move(onHealthy, reason{})
		}
		if g.mode == Hold && g.byFault {
			g.move(onWell, reason{})
		}
	}
	if g.mode.Energised() {
		g.energised += g.elapsed(r)
	} else {
		g.energised = 0
	}
	g.request(r)
	if g.mode == Armed {
		if g.armed += g.elapsed(r); g.s.Armed > 0 && g.armed > g.s.Armed {
			g.move(onExpire, reason{CauseArmed, 0, g.armed, g.s.Armed})
		}
	}
	g.writeMode(r)
}

// elapsed is the time since the tick before, in s.
func (g *Guard) elapsed(r *Row) float64 { return g.s.Dt * (1 + float64(r.Skip)) }

// writeMode writes mode and cause into the row.
func (g *Guard) writeMode(r *Row) {
	r.Mode, r.Cause, r.CauseSignal, r.Value, r.Limit = g.mode, g.reason.cause, g.reason.signal, g.reason.value, g.reason.limit
}

// move follows the table; where it has no entry nothing happens.
func (g *Guard) move(on trigger, why reason) bool {
	to := next[g.mode][on]
	if to == nowhere {
		return false
	}
	if g.onTransition != nil {
		g.onTransition(g.mode, on)
	}
	if to == Hold {
		g.byFault = on == onSick
	}
	if to == g.mode {
		if to == Hold { // asked for, in one that a sick sensor had begun
			g.reason = why
		}
		return true
	}
	if to == Hold {
		copy(g.holdCommand, g.lastCommand)
	}
	switch to {
	case SelfTest:
		g.healthy = 0
	case Armed:
		g.armed = 0
	}
	g.mode, g.reason = to, why
	return true
}

// sensors looks at the line, then at age, finiteness and range of every measurement, and at temperatures. Number before
// range before age: the first of the worst kind is told.
func (g *Guard) sensors(r *Row, meas []float64) (sick, fault reason) {
	kind := func(c Cause) int { // a reading that is wrong says more than one that is missing
		switch c {
		case CauseTemperature:
			return 4
		case CauseNonFinite:
			return 3
		case CauseRange:
			return 2
		case CauseStale:
			return 1
		}
		return 0
	}
	worse := func(c Cause, i int, value, limit float64) {
		if kind(c) > kind(sick.cause) {
			sick = reason{c, uint16(i + 1), value, limit}
		}
	}
	for i := range g.s.Meas {
		m := &g.s.Meas[i]
		if IsFresh(&r.FreshSignals, i) {
			g.lastValue[i] = meas[i]
		}
		y := g.lastValue[i]
		if IsFresh(&r.FreshSignals, i) {
			late := 0.0 // s  age that a sample has when it comes
			if at := g.age[i]; at >= 0 {
				late = meas[at]
			}
			at, believable := r.T-int64(max(0, late)*1e9), numeric.IsFinite(y) && !g.outOfRange(i, y)
			timed := estimator.Timed(late) // a sample without a time is none
			if timed && believable {
				g.inRange[i] = at
			}
			if timed && !IsFresh(&g.rejectedSamples, i) {
				if g.sampled[i], g.hasSample[i] = at, true; believable {
					g.believed[i] = at
				}
			}
		}
		age := float64(r.T-g.sampled[i]) * 1e-9
		if m.Stale > 0 && (!g.hasSample[i] || age > m.Stale) {
			r.Flags |= FlagStale
			if !g.hasSample[i] {
				age = 0 // never seen
			}
			worse(CauseStale, i, age, m.Stale)
			continue
		}
		switch {
		case !g.hasSample[i]:
			if m.RequiredForReady {
				r.Flags |= FlagStale
				worse(CauseStale, i, 0, 0)
			}
		case !numeric.IsFinite(y):
			r.Flags |= FlagNonFinite
			worse(CauseNonFinite, i, 0, 0)
		case m.Hot != 0 && y > m.Hot:
			r.Flags |= FlagRange
			if hot := (reason{CauseTemperature, uint16(i + 1), y, m.Hot}); g.mode.Energised() {
				fault = hot
			} else {
				sick = hot
			}
		case g.outOfRange(i, y):
			r.Flags |= FlagRange
			edge := m.Hi
			if y < m.Lo {
				edge = m.Lo
			}
			worse(CauseRange, i, y, edge)
		}
	}
	if r.Flags&FlagLinkDown != 0 {
		sick = reason{cause: CauseLink, signal: r.CauseSignal}
	}
	return sick, fault
}

// outOfRange tells whether a reading is beyond its declared range.
func (g *Guard) outOfRange(i int, y float64) bool {
	m := &g.s.Meas[i]
	return m.Hi > m.Lo && (y < m.Lo || y > m.Hi)
}

// faults are the conditions that trip at once.
func (g *Guard) faults(r *Row) reason {
	switch {
	case r.Flags&FlagSupLost != 0:
		if r.Value > g.s.Beat { // the loop puts the silence here
			return reason{CauseStarved, 0, r.Value, g.s.Beat}
		}
		return reason{cause: CauseSupervisor}
	case r.Flags&FlagTripIn != 0:
		return reason{cause: CauseCommand}
	case r.Flags&FlagLinkDown != 0 && g.mode.Energised():
		return reason{cause: CauseLink, signal: r.CauseSignal}
	}
	// the device's own status, once it has had time to notice that it is enabled
	if g.mode.Energised() && g.energised > 0.1 {
		for i := range g.s.Meas {
			if g.s.Meas[i].Status && g.hasSample[i] && g.lastValue[i] != 0 {
				return reason{CauseDevice, uint16(i + 1), numeric.OrZero(g.lastValue[i]), 0}
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
	if g.s.OverrunLimit > 0 && int64(r.Lateness) > g.s.OverrunLimit && g.mode.Energised() {
		return reason{CauseOverrun, 0, float64(r.Lateness) * 1e-9, float64(g.s.OverrunLimit) * 1e-9}
	}
	if n := bits.OnesCount64(g.misses[0]) + bits.OnesCount64(g.misses[1]&(1<<36-1)); late && g.s.Overrun >= OverrunHold && n > g.s.OverrunMax {
		why := reason{CauseLateTicks, 0, float64(n), float64(g.s.OverrunMax)}
		if g.s.Overrun == OverrunTrip {
			if g.mode.Energised() {
				return why
			}
		} else if g.mode == Run {
			g.move(onHold, why)
		}
	}
	for i := range g.budgets {
		if b := &g.budgets[i]; b.cooling {
			return reason{CauseThermal, g.s.Axes[i].Heat, b.heat, coolShare}
		}
	}
	return reason{}
}

// requestTrigger maps a request to the table's trigger.
var requestTrigger = [...]trigger{ReqArm: onArm, ReqRun: onRun, ReqHold: onHold, ReqStop: onStop, ReqEstop: onEstop, ReqReset: onReset}

// request takes or refuses what somebody asked for.
func (g *Guard) request(r *Row) {
	q := Request(r.Req)
	if q == ReqNone || int(q) >= len(requestTrigger) { // nothing, or parameters
		return
	}
	if q == ReqArm && r.Flags&(FlagDryRun|FlagLocked) != 0 {
		r.Res = NotAllowed
		if r.Flags&FlagDryRun != 0 {
			r.Res = DryRunOnly
		}
		return
	}
	if q == ReqArm {
		if !slices.ContainsFunc(g.s.Cmd, func(c CmdLimit) bool { return c.Drives }) {
			r.Res = NoDrive
			return
		}
		for i := range g.s.Meas {
			if m := &g.s.Meas[i]; m.Needed && m.Stale <= 0 {
				r.Res = Unwatched
				return
			}
		}
	}
	if (q == ReqReset || q == ReqArm || q == ReqRun) && (g.activeCause != CauseNone || g.firstTick) {
		if r.Res = TooEarly; g.activeCause != CauseNone {
			r.Res = StillWrong(g.activeCause)
		}
		return
	}
	why := CauseCommand
	if q == ReqEstop {
		why = CauseEstop
	}
	if !g.move(requestTrigger[q], reason{cause: why}) {
		r.Res = WrongMode
	}
}

// recent tells whether a measured signal has a believable sample that is not stale.
func (g *Guard) recent(r *Row, i int) bool {
	if i < 0 || g.believed[i] == 0 {
		return false
	}
	patience := g.s.Meas[i].Stale
	if patience <= 0 {
		patience = 0.1
	}
	return r.Flags&FlagLinkDown == 0 && float64(r.T-g.believed[i])*1e-9 <= patience
}

// Limit is the last word on the command, in place: safe values unless energised, then finite, range and slew.
func (g *Guard) Limit(r *Row, u []float64) {
	for i := range g.s.Cmd {
		if c := &g.s.Cmd[i]; !c.Enable && !numeric.IsFinite(u[i]) && g.mode.Energised() {
			r.Flags |= FlagNonFinite
			g.move(onFault, reason{CauseNonFinite, uint16(g.s.CmdAt + i + 1), 0, 0})
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
		case g.mode == Hold && g.sick:
			u[i] = g.blind(r, i)
		default:
			if u[i] < c.Lo || u[i] > c.Hi {
				r.Flags |= FlagClamped
				u[i] = min(c.Hi, max(c.Lo, u[i]))
			}
			if c.Slew > 0 {
				if d, most := u[i]-g.lastCommand[i], c.Slew*g.s.Dt; math.Abs(d) > most {
					r.Flags |= FlagSlewed
					u[i] = g.lastCommand[i] + math.Copysign(most, d)
				}
			}
		}
		g.lastCommand[i] = u[i]
	}
	g.writeMode(r)
}

// blind is the command while a sensor is sick, for the few ticks that HOLD may last.
func (g *Guard) blind(r *Row, i int) float64 {
	c := &g.s.Cmd[i]
	most := 0.0
	switch c.Hold {
	case axis.HoldZero: // a straight line, at its end with the time of HOLD
		if most = math.Inf(1); g.s.HoldTime > 0 {
			most = math.Abs(g.holdCommand[i]) * g.elapsed(r) / g.s.HoldTime
		}
	case axis.HoldSlew:
		if most = math.Inf(1); c.Slew > 0 {
			most = c.Slew * g.s.Dt
		}
	}
	return math.Copysign(max(0, math.Abs(g.lastCommand[i])-most), g.lastCommand[i])
}
