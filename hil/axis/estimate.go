package axis

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/estimator"
)

// Estimate takes the samples of the tick with the deadline t (ns) and writes the estimated block x.
func (a *Axis) Estimate(t int64, skip uint32, in *estimator.Inputs, x []float64) engine.Status {
	st := a.est.Step(t, skip, in, x)
	o := a.est.Outcome()
	a.age = a.est.Age()
	a.positionAccepted = o.Accepted[estimator.Position]
	a.ray.step(a.dt*(1+float64(skip)), a.positionAccepted, o.Jumped, &in.Position, a.acceptedSamples[0], x[estimator.XVel])
	if a.positionAccepted {
		a.acceptedSamples[0] = in.Position.Value
	}
	// it says nothing to the filter
	if c := &in.Current; o.Accepted[estimator.Current] || c.Updated && !a.current && numeric.IsFinite(c.Value) {
		a.acceptedSamples[1] = in.Current.Value
	}
	a.checksSuspended = a.gap.step(a.dt*(1+float64(skip)), &in.Position, a.s.SamplePeriod)
	if a.checksSuspended {
		a.stallFinding = Finding{}
	}
	if o.HasSample {
		if a.stall != nil && a.checksSuspended {
			a.stall.forget()
		} else if a.stall != nil {
			var s [4]float64
			a.est.State(s[:])
			a.stallFinding = a.stall.step(in.DriveActive, a.positionAccepted, in.Position.Value, a.push(s[:], in), s[a.layout.friction], o.TimeStep)
		}
		a.writeRLS(x)
	}
	if st == engine.NonFinite {
		return st
	}
	return engine.OK
}

// push is the effort (N·m) of the drive at the time of the newest sample.
func (a *Axis) push(s []float64, in *estimator.Inputs) float64 {
	switch {
	case a.layout.current >= 0:
		return a.s.Motor.K * s[a.layout.current]
	case in.Effort.Updated:
		return in.Effort.Value
	case in.Current.Updated:
		return a.s.Motor.K * in.Current.Value
	}
	return a.s.effort(in.Command)
}

// read is the effort (N·m) that a reading tells the filter; NaN: none does.
func (a *Axis) read(in *estimator.Inputs) float64 {
	switch {
	case a.current && a.s.Motor.K > 0:
		return a.s.Motor.K * a.acceptedSamples[1]
	case a.s.measured(estimator.Effort):
		return in.Effort.Value
	}
	return math.NaN()
}

// writeRLS puts what the least squares found into the block.
func (a *Axis) writeRLS(x []float64) {
	l := a.est.RLS()
	if l == nil {
		return
	}
	if k := l.Windows(); k != a.windows || k == 0 {
		a.windows = k
		at := a.layout.rls
		l.Values(x[at : at+4])
		l.StdErrs(x[at+4 : at+8])
		x[at+8], x[at+9] = float64(k), l.Cond()
	}
}

// Outcome is what became of the samples of the tick.
func (a *Axis) Outcome() *estimator.Outcome { return a.est.Outcome() }

// Unexcited tells whether the least squares rest for lack of excitation.
func (a *Axis) Unexcited() bool {
	l := a.est.RLS()
	return l != nil && !l.Excited()
}

// Fault is what an axis can find wrong with itself.
type Fault uint8

const (
	Fine          Fault = iota
	Jump                // the position jumped as no axis can
	Noise               // the position is far noisier, or coarser, than declared
	Direction           // the axis runs against its command
	Frozen              // the position does not move, though the axis must
	FrozenCurrent       // the current stays the same number, though the voltage changes
	Blocked             // the axis stands although its effort must move it
	FrozenReading       // another reading stays the same number, though what it is compared with changes
	Disagree            // a reading does not fit the command or another reading
	Scale               // voltage, current and speed do not fit, whatever the signs
	Delay               // command and motion fit with a delay between them
	Saturated           // the command runs from limit to limit, and the wanted motion does not need it
)

// Finding is a fault with what is told about it: the quantity, its value and its limit, both 0: nothing to tell.
type Finding struct {
	Fault        Fault
	Quantity     estimator.Quantity
	Value, Limit float64
}

// explainsNoise tells a finding that makes a position look noisy, or coarse, beside what the filter expects of it. A scale or a speed that
// does not fit is none where the position itself has no speed.
func (f Finding) explainsNoise() bool {
	switch f.Fault {
	case Frozen, Delay:
		return true
	case FrozenReading, Disagree, Scale:
		return f.Quantity != estimator.Position
	}
	return false
}

// State is what an axis knows about itself in a tick.
type State struct {
	Position float64 // rad    estimated
	Speed    float64 // rad/s  estimated
	Error    float64 // rad    tracking error
	Residual float64 // N·m    slow mean of what the friction model leaves unexplained
	Heating  float64 // A      the newest current that was believed
	Measured float64 // rad/s  of the last three measured velocities the one nearest to zero
	Diverged bool    // a number is none any more
	Unsound  bool    // the estimate must not be acted on
	Finding  Finding // what is wrong
	Hint     Finding // what it would be put down to if the axis left its limits
}

// smaller is of two voltages the one that does less: a drive may apply less than it is told, and what it tells may be wrong.
func smaller(sent, applied float64) float64 {
	if sent*applied <= 0 {
		return 0
	}
	return math.Copysign(min(math.Abs(sent), math.Abs(applied)), sent)
}

// Watch compares what the command and all readings say about one another, and tells the state m: x and y are its blocks, sent the last
// command, doubtful: a reading of the rig is missing or not believed.
func (a *Axis) Watch(k Tick, doubtful bool, in *estimator.Inputs, sent float64, x, y []float64, m *State) {
	m.Position, m.Speed, m.Residual, m.Heating = x[estimator.XPos], x[estimator.XVel], a.residual, a.acceptedSamples[1]
	m.Diverged, m.Unsound = a.diverged, !a.est.Usable()
	if a.layout.err >= 0 {
		m.Error = y[a.layout.err]
	}
	jumped := a.est.Outcome().Jumped
	acts := sent // as the device says that it was
	if a.applied && numeric.IsFinite(in.Voltage.Value) {
		acts = in.Voltage.Value
	}
	var bad Finding
	m.Hint = Finding{}
	drives := k.Energised
	k.Energised = k.Energised && !a.checksSuspended // behind a gap all begin anew
	if a.signs != nil {
		bad, m.Hint = a.signs.step(k, a.positionAccepted, doubtful || jumped, acts, sent, a.acceptedSamples)
	}
	if a.frozen != nil {
		a.frozen.balance = a.signs.windingBalance()
	}
	if a.pushes != nil {
		if _, hint := a.pushes.step(k, a.positionAccepted, doubtful || jumped, a.acceptedSamples[1], a.acceptedSamples[1],
			a.acceptedSamples); m.Hint.Fault == Fine {
			m.Hint = hint
		}
	}
	first := func(to *Finding, found Finding) {
		if to.Fault == Fine {
			*to = found
		}
	}
	var dead Finding // position
	if a.frozen != nil {
		load, hint := 0.0, Finding{}
		if a.layout.friction >= 0 && a.layout.fric >= 0 {
			load = x[a.layout.friction] - y[a.layout.fric]
		}
		if drives && a.checksSuspended {
			a.frozen.forget()
		} else if dead, hint = a.frozen.step(k, &in.Position, sent, a.acceptedSamples[1], load); hint.Fault != Fine {
			m.Hint = hint
		}
		switch {
		case a.momentum == nil:
		case drives && a.checksSuspended:
			a.runaway.forget()
			a.momentum.forget()
		default:
			command := smaller(sent, acts)
			full := a.limited != 0 || math.Abs(sent) >= nearPeak*a.s.TopCommand
			lost, early := a.runaway.step(k, a.positionAccepted, full, &in.Position, command, a.read(in), a.momentum.emf.speed(), a.mechanismLoad())
			a.momentum.turned = a.runaway.grown
			part, hint := a.momentum.step(k, a.positionAccepted, doubtful, &in.Position, command, a.acceptedSamples[1], load, a.mechanismLoad())
			if !a.signs.current && !a.signs.swing.against() { // a winding tells it by itself
				part, hint = a.signs.delays.orLate(part), a.signs.delays.orLate(hint)
				for _, found := range [...]*Finding{&part, &hint, &lost, &early, &dead} {
					*found = a.signs.swing.named(*found, a.s.SamplePeriod)
				}
			}
			first(&m.Hint, hint)
			first(&m.Hint, early)
			first(&dead, part)
			first(&dead, lost)
		}
	}
	odd := a.readings.step(k, in, sent, a.frozen)
	suspect := a.readings.suspect()
	first(&m.Hint, suspect)
	count := max(a.s.Kalman.Count, a.s.Mechanical.Count)
	if leap := a.leap.step(a.dt*(1+float64(k.Skip)), &in.Position, a.s.SamplePeriod, a.s.topSpeed(), count); leap.Fault != Fine {
		m.Hint = leap
	}
	m.Measured = a.readings.speed()
	times, quiet := a.est.Noise()
	switch {
	case jumped:
		if m.Finding = (Finding{Fault: Jump, Quantity: estimator.Position}); a.ray.turned {
			m.Finding.Fault = Direction
		}
	case !quiet && m.Hint.explainsNoise():
		m.Finding = m.Hint
	case !quiet:
		m.Finding = Finding{Noise, estimator.Position, times, estimator.MaxNoise}
	case odd.Fault != Fine:
		m.Finding = odd
	case bad.Fault != Fine && suspect.Fault != Fine && suspect.Quantity == estimator.Voltage: // the signs were judged by it
		m.Finding = suspect
	case bad.Fault != Fine:
		m.Finding = bad
	case dead.Fault != Fine:
		m.Finding = dead
	default:
		m.Finding = a.stallFinding
	}
}
