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
	a.came = o.Taken[estimator.Position]
	a.ray.step(a.dt*(1+float64(skip)), a.came, o.Jumped, &in.Position, a.taken[0], x[estimator.XVel])
	if a.came {
		a.taken[0] = in.Position.Value
	}
	if c := &in.Current; o.Taken[estimator.Current] || c.Fresh && !a.current && numeric.Finite(c.Value) { // it says nothing to the filter
		a.taken[1] = in.Current.Value
	}
	a.resting = a.gap.step(a.dt*(1+float64(skip)), &in.Position, a.s.Every)
	if a.resting {
		a.stuck = Finding{}
	}
	if o.Came {
		if a.stall != nil && a.resting {
			a.stall.forget()
		} else if a.stall != nil {
			var s [4]float64
			a.est.State(s[:])
			a.stuck = a.stall.step(in.Driven, a.came, in.Position.Value, a.push(s[:], in), s[a.at.friction], o.Passed)
		}
		a.learnt(x)
	}
	if st == engine.NonFinite {
		return st
	}
	return engine.OK
}

// push is the effort (N·m) of the drive at the time of the newest sample.
func (a *Axis) push(s []float64, in *estimator.Inputs) float64 {
	switch {
	case a.at.current >= 0:
		return a.s.Motor.K * s[a.at.current]
	case in.Effort.Fresh:
		return in.Effort.Value
	case in.Current.Fresh:
		return a.s.Motor.K * in.Current.Value
	}
	return a.s.effort(in.Command)
}

// read is the effort (N·m) that a reading tells the filter; NaN: none does.
func (a *Axis) read(in *estimator.Inputs) float64 {
	switch {
	case a.current && a.s.Motor.K > 0:
		return a.s.Motor.K * a.taken[1]
	case a.s.measured(estimator.Effort):
		return in.Effort.Value
	}
	return math.NaN()
}

// learnt puts what the least squares found into the block.
func (a *Axis) learnt(x []float64) {
	l := a.est.RLS()
	if l == nil {
		return
	}
	if k := l.Windows(); k != a.windows || k == 0 {
		a.windows = k
		at := a.at.rls
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
	Of           estimator.Quantity
	Value, Limit float64
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
	Found    Finding // what is wrong
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
	m.Position, m.Speed, m.Residual, m.Heating = x[estimator.XPos], x[estimator.XVel], a.residual, a.taken[1]
	m.Diverged, m.Unsound = a.diverged, !a.est.Sound()
	if a.at.err >= 0 {
		m.Error = y[a.at.err]
	}
	jumped := a.est.Outcome().Jumped
	acts := sent // as the device says that it was
	if a.applied && numeric.Finite(in.Voltage.Value) {
		acts = in.Voltage.Value
	}
	var bad Finding
	m.Hint = Finding{}
	drives := k.On
	k.On = k.On && !a.resting // behind a gap all begin anew
	if a.signs != nil {
		bad, m.Hint = a.signs.step(k, a.came, doubtful || jumped, acts, sent, a.taken)
	}
	if a.frozen != nil {
		a.frozen.balance = a.signs.windingBalance()
	}
	if a.pushes != nil {
		if _, hint := a.pushes.step(k, a.came, doubtful || jumped, a.taken[1], a.taken[1], a.taken); m.Hint.Fault == Fine {
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
		if a.at.friction >= 0 && a.at.fric >= 0 {
			load = x[a.at.friction] - y[a.at.fric]
		}
		if drives && a.resting {
			a.frozen.forget()
		} else if dead, hint = a.frozen.step(k, &in.Position, sent, a.taken[1], load); hint.Fault != Fine {
			m.Hint = hint
		}
		switch {
		case a.momentum == nil:
		case drives && a.resting:
			a.runaway.forget()
			a.momentum.forget()
		default:
			command := smaller(sent, acts)
			full := a.limited != 0 || math.Abs(sent) >= nearPeak*a.s.TopCommand
			lost, early := a.runaway.step(k, a.came, full, &in.Position, command, a.read(in), a.momentum.emf.speed(), a.carried())
			a.momentum.turned = a.runaway.grown
			part, hint := a.momentum.step(k, a.came, doubtful, &in.Position, command, a.taken[1], load, a.carried())
			if !a.signs.current && !a.signs.swing.against() { // a winding tells it by itself
				part, hint = a.signs.late.orLate(part), a.signs.late.orLate(hint)
				for _, found := range [...]*Finding{&part, &hint, &lost, &early, &dead} {
					*found = a.signs.swing.named(*found, a.s.Every)
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
	if leap := a.leap.step(a.dt*(1+float64(k.Skip)), &in.Position, a.s.Every, a.s.topSpeed(), count); leap.Fault != Fine {
		m.Hint = leap
	}
	m.Measured = a.readings.speed()
	times, quiet := a.est.Noise()
	switch {
	case jumped:
		if m.Found = (Finding{Fault: Jump, Of: estimator.Position}); a.ray.turned {
			m.Found.Fault = Direction
		}
	case !quiet && (m.Hint.Fault == Frozen || m.Hint.Fault >= FrozenReading):
		m.Found = m.Hint
	case !quiet:
		m.Found = Finding{Noise, estimator.Position, times, estimator.MaxNoise}
	case odd.Fault != Fine:
		m.Found = odd
	case bad.Fault != Fine && suspect.Fault != Fine && suspect.Of == estimator.Voltage: // the signs were judged by it
		m.Found = suspect
	case bad.Fault != Fine:
		m.Found = bad
	case dead.Fault != Fine:
		m.Found = dead
	default:
		m.Found = a.stuck
	}
}
