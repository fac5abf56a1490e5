package estimator

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/engine/plant"
)

// Sample is what a tick knows of a measured quantity. One that is not there is never fresh.
type Sample struct {
	Value float64
	Age   float64 // s     since the newest sample was taken
	Fresh bool    // it came since the tick before, and is not outside its declared range
}

// Quantity is what an axis can measure. The first three correct the estimate; the others, and the current of a mechanical axis, are
// inputs of the model.
type Quantity uint8

const (
	Position Quantity = iota // rad or m
	Current                  // A
	Velocity                 // rad/s or m/s
	Effort                   // N·m or N
	Voltage                  // V
	nQuantities
)

// Inputs are what a tick brings.
type Inputs struct {
	Position, Velocity, Current, Effort, Voltage Sample
	Command                                      float64 // what was sent in the tick before: V, A, N·m, N …
	Driven                                       bool    // the drive acts on commands
}

// Group are samples that are taken at the same time: one kind of frame or reply.
type Group struct {
	Every float64 // s  from sample to sample
	Of    []Quantity
}

// AxisSpec describes how an axis is sampled.
type AxisSpec struct {
	Tick       float64 // s  of the loop
	Linear     bool    // m and N in place of rad and N·m
	Groups     []Group
	PerCommand float64  // mechanical: effort per unit of command, K of a drive of currents, 1 of a drive of efforts; 0: a command is no effort
	PerAmpere  float64  // mechanical: effort per ampere of a measured current
	RLS        *RLSSpec // K is that of the motor, PerAmpere, or 1 of a measured effort; nil: off
}

// Axis estimates the motion of one degree of freedom, tick by tick, in the time of its samples. A sample acts at its own time: one that
// is older than a sample of another group takes the filter back to what it knew then, and forward again over all that came since.
// Step allocates nothing.
type Axis struct {
	kf         *Kalman
	s          AxisSpec
	electrical bool
	group      [nQuantities]int // of each quantity; −1: not measured
	input      Quantity         // measured input of the model
	times      []raster         // of each group
	every      float64          // s  of the fastest group
	sent       commands
	past       past

	in      [nQuantities]Sample
	driven  bool
	out     vector // state at the newest tick
	age     float64
	rls     *RLS
	lessons lessons
	outcome Outcome
}

// Outcome is what became of the samples of a tick.
type Outcome struct {
	Taken   [nQuantities]bool // by Quantity
	Refused [nQuantities]bool // fresh numbers that no axis can have, without a time, or older than all that is kept
	Came    bool              // a sample came that the filter went to
	Passed  float64           // s  by which the time of the newest sample moved on
	Jumped  bool              // the position is another, and taken anew
}

const (
	Oldest     = 100 // s        age beyond which the time of a sample is not believed
	farthest   = 20  // periods  of age beyond which the estimate is left at the time of its sample
	mostRatio  = 32  // between the periods of two groups
	mostGroups = 4
)

// NewElectrical is an axis with a voltage drive: a brushed motor, of which position and perhaps current are measured. The period of the
// filter is that of the fastest group.
func NewElectrical(k KalmanSpec, s AxisSpec) (*Axis, error) {
	a, err := newAxis(s, true)
	if err != nil {
		return nil, err
	}
	k.Dt, a.input = a.every, Voltage
	if a.kf, err = NewKalman(k); err != nil {
		return nil, err
	}
	return a, a.teach(k.Motor, Current)
}

// NewMechanical is an axis of which an effort is known, or none: the input is what is measured of effort or current, else the command
// times PerCommand. The period of the filter is that of the slowest group.
func NewMechanical(m MechanicalSpec, s AxisSpec) (*Axis, error) {
	a, err := newAxis(s, false)
	if err != nil {
		return nil, err
	}
	for _, g := range s.Groups {
		m.Dt = max(m.Dt, g.Every)
	}
	a.input = Effort
	if a.group[Effort] < 0 {
		a.input = Current
	}
	if m.Inertia > 0 && a.group[a.input] < 0 && s.PerCommand == 0 {
		return nil, errors.New("axis: an inertia, but no effort, no current and no command that is an effort: leave out the inertia")
	}
	if a.kf, err = NewMechanicalKalman(m); err != nil {
		return nil, err
	}
	// the noise of an effort is fresh with every sample of it, or every command
	period := s.Tick
	if g := a.group[a.input]; g >= 0 {
		period = s.Groups[g].Every
	}
	a.kf.s.white = m.EffortNoise * m.EffortNoise * period
	return a, a.teach(plant.Motor{J: m.Inertia, K: a.effort(1)}, a.input)
}

// teach builds the least squares for an inertia and a torque constant, which are fed with the position and another sample.
func (a *Axis) teach(m plant.Motor, input Quantity) (err error) {
	if a.s.RLS == nil {
		return nil
	}
	if a.group[input] != a.group[Position] || m.J == 0 {
		return errors.New("axis: least squares need position and current or effort of one group, and an inertia to begin with")
	}
	spec := *a.s.RLS
	spec.K, a.lessons.motor, a.lessons.input = m.K, m, input
	a.rls, err = NewRLS(spec)
	return err
}

func newAxis(s AxisSpec, electrical bool) (*Axis, error) {
	a := &Axis{s: s, electrical: electrical, times: make([]raster, len(s.Groups)), sent: commands{tick: s.Tick}, every: math.Inf(1), age: math.Inf(1), past: past{ring: make([]moment, 2)}}
	errs := []error{above0("axis: tick", s.Tick, "s"), atLeast0("axis: effort per ampere", math.Abs(s.PerAmpere), ""), atLeast0("axis: effort per command", math.Abs(s.PerCommand), "")}
	for q := range a.group {
		a.group[q] = -1
	}
	slowest := 0.0
	for g, group := range s.Groups {
		errs = append(errs, above0("axis: period of samples", group.Every, "s"))
		if len(s.Groups) > 1 {
			a.times[g].fitted, a.past.ring = 1, make([]moment, kept)
		}
		a.every, slowest = min(a.every, group.Every), max(slowest, group.Every)
		for _, q := range group.Of {
			if q >= nQuantities || a.group[q] >= 0 {
				errs = append(errs, fmt.Errorf("axis: quantity %d is not known, or stands in two groups", q))
				continue
			}
			a.group[q] = g
		}
	}
	if a.group[Position] < 0 {
		errs = append(errs, errors.New("axis: no group has the position"))
	}
	if len(s.Groups) > mostGroups || slowest > mostRatio*a.every {
		errs = append(errs, fmt.Errorf("axis: %d groups from %g to %g s, want at most %d, and periods within a factor of %d", len(s.Groups), a.every, slowest, mostGroups, mostRatio))
	}
	return a, errors.Join(errs...)
}

// Signals are the names and units of x, without the name of the axis.
func (a *Axis) Signals() []engine.Signal {
	rad, effort := "rad", "N·m"
	if a.s.Linear {
		rad, effort = "m", "N"
	}
	s := []engine.Signal{{Name: "position", Unit: rad}, {Name: "velocity", Unit: rad + "/s"}}
	if a.electrical {
		s = append(s, engine.Signal{Name: "current", Unit: "A"})
	}
	if m, ok := a.kf.model.(*mechanical); ok && m.input == 0 {
		return append(s, engine.Signal{Name: "acceleration", Unit: rad + "/s²"})
	}
	return append(s, engine.Signal{Name: "friction", Unit: effort})
}

// Step takes the samples of the tick with the deadline t (ns), before which skip ticks were left out, and writes the estimate for t to x,
// in the order of Signals. engine.NotConverged: the estimate may not be acted on, see Sound; engine.NonFinite: it was no number any
// more, and begins anew.
func (a *Axis) Step(t int64, skip uint32, in *Inputs, x []float64) (st engine.Status) {
	a.in = [nQuantities]Sample{Position: in.Position, Current: in.Current, Velocity: in.Velocity, Effort: in.Effort, Voltage: in.Voltage}
	a.driven = in.Driven
	a.sent.add(in.Command, 1+skip)
	a.outcome = Outcome{}
	for g := range a.times {
		if s := a.sample(t, g); s != engine.OK {
			st = s
		}
	}
	if st == engine.OK && !a.kf.Sound() {
		st = engine.NotConverged
	}

	// from the newest sample to now
	now := a.in[Position].Age // of one group, the device's own word
	if len(a.times) > 1 {
		now = a.past.age(t)
	}
	a.age = now + a.kf.Unseen()
	a.out = a.kf.x
	if a.kf.Primed() && now < farthest*a.every {
		a.carry(a.out[:], now, 0, a.emf(&a.out))
	}
	for _, v := range a.out {
		if !numeric.Finite(v) { // a command that is no number
			st, a.out = engine.NonFinite, a.kf.x
		}
	}
	a.write(&a.out, x)
	return st
}

// sample takes what came of a group.
func (a *Axis) sample(t int64, g int) engine.Status {
	e := event{group: g}
	fresh := false
	for q := range a.in {
		s := &a.in[q]
		if a.group[q] != g || !s.Fresh {
			continue
		}
		if !(math.Abs(s.Age) < Oldest) {
			a.outcome.Refused[q] = true
			continue
		}
		switch q := Quantity(q); {
		case q == a.input:
			if e.measured = a.bearable(s.Value); e.measured {
				e.u = a.effort(s.Value)
				a.outcome.Taken[q] = true
			}
			a.outcome.Refused[q] = !e.measured && numeric.Finite(s.Value)
			fresh = fresh || !a.electrical || len(a.times) > 1 // in a single frame it comes with the position
		case q < nY && a.kf.s.r[q] > 0:
			e.y[q], e.fresh[q] = s.Value, true
			fresh = true
		}
		e.age = s.Age
	}
	if !fresh {
		return engine.OK
	}
	return a.take(t, &e)
}

// bearable tells whether a measured input can be: a number, and of an effort at most twice what the drive gives.
func (a *Axis) bearable(v float64) bool {
	m, ok := a.kf.model.(*mechanical)
	return numeric.Finite(v) && (!ok || m.top == 0 || math.Abs(a.effort(v)) <= 2*m.top+sure*m.noise)
}

// effort is the input that a sample of it means.
func (a *Axis) effort(v float64) float64 {
	if a.input == Current {
		return a.s.PerAmpere * v
	}
	return v
}

// take brings the filter to an event and corrects it there.
func (a *Axis) take(t int64, e *event) (st engine.Status) {
	times, several := &a.times[e.group], len(a.times) > 1
	first := times.period == 0
	e.dt, e.lost = times.advance(t-int64(e.age*1e9), a.s.Groups[e.group].Every)
	e.at, e.idle, e.emf = times.t, !a.driven, a.emf(&a.out)
	if e.dt <= 0 && !(several && first) { // the clock of the samples jumped back
		a.Reset()
	}
	if e.fresh[Position] {
		a.kf.SetTiming(math.Sqrt(times.off2) * 1e-9)
	}
	before := a.past.newest()
	i, ok := a.past.insert(e)
	if !ok {
		for q, came := range e.fresh {
			a.outcome.Refused[q] = a.outcome.Refused[q] || came
		}
		return engine.OK
	}
	// a measured input says what acted since the one before
	from := i
	if several && e.measured {
		for from > 0 && !a.past.at(from-1).measured {
			from--
		}
		if from == 0 && a.past.full() { // none is kept
			from = i
		}
	}
	if several && from < a.past.n-1 {
		a.kf.belief = belief{}
		if from > 0 {
			a.kf.belief = a.past.at(from - 1).then
		}
	}
	for j := from; j < a.past.n; j++ {
		p := a.past.at(j)
		a.predict(t, j)
		taken, jumped, s := a.kf.Correct(p.y, p.fresh)
		if several {
			p.then = a.kf.belief
		}
		if s != engine.OK {
			st = s
		}
		a.outcome.Jumped = a.outcome.Jumped || jumped
		if j == i {
			for q := range taken {
				a.outcome.Taken[q] = a.outcome.Taken[q] || taken[q]
				a.outcome.Refused[q] = p.fresh[q] && !taken[q] && numeric.Finite(p.y[q]) && (a.kf.primed || !several)
			}
		}
	}
	a.outcome.Came = true
	if passed := (a.past.newest() - before) * 1e-9; several && before > 0 {
		a.outcome.Passed += max(0, passed)
	} else if !several {
		a.outcome.Passed = e.dt
	}
	if e.group == a.group[Position] {
		x := &a.kf.x
		if several {
			x = &a.past.at(i).then.x
		}
		a.regress(e, x)
	}
	return st
}

// predict carries the filter to event j of the past, under the input that acted since the one before.
func (a *Axis) predict(t int64, j int) {
	e := &a.past.at(j).event
	from, to, dt := e.age+e.dt, e.age, e.dt
	if len(a.times) > 1 {
		if j == 0 {
			return // nothing is known before
		}
		before := a.past.at(j - 1)
		from, to = (float64(t)-before.at)*1e-9, (float64(t)-e.at)*1e-9
		if dt = from - to; dt == 0 {
			return
		}
	}
	if e.idle && a.electrical {
		a.kf.Predict(dt, e.emf, math.Abs(e.emf))
		return
	}
	var next, last *event
	if a.group[a.input] >= 0 {
		next, last = a.past.measured(j)
	}
	switch {
	case next != nil && !next.lost && a.electrical: // the device's own word
		a.kf.Predict(dt, next.u, 0)
	case next != nil && last != nil && !a.electrical && !(next.lost && a.commanded(e)):
		u := func(at float64) float64 { return last.u + (next.u-last.u)*(at-last.at)/(next.at-last.at) }
		u0, u1 := u(e.at-dt*1e9), u(e.at)
		a.kf.predictRamp(dt, (u0+u1)/2, u1-u0, 0)
	case a.electrical || a.commanded(e):
		doubt := 0.0
		if next != nil && a.electrical {
			doubt = a.sent.beyond(next.u, from)
		}
		a.sent.between(from, to, a.every, func(dt, u float64) { a.kf.Predict(dt, a.scale()*u, doubt) })
	default:
		a.kf.Predict(dt, a.held(next, last), 0)
	}
}

// commanded tells whether the effort is that of the commands.
func (a *Axis) commanded(e *event) bool { return a.s.PerCommand != 0 && !e.idle }

// held is a measured effort that is all that is known; 0 where none is.
func (a *Axis) held(next, last *event) float64 {
	switch {
	case last != nil:
		return last.u
	case next != nil:
		return next.u
	}
	return 0
}

// scale is the input per unit of command.
func (a *Axis) scale() float64 {
	if a.electrical {
		return 1
	}
	return a.s.PerCommand
}

// emf is the voltage (V) of a winding that nothing drives. It may be open, as it is with most drives, or shorted: then it is zero.
func (a *Axis) emf(x *vector) float64 {
	if m, ok := a.kf.model.(*electrical); ok {
		return m.motor.K * x[XVel]
	}
	return 0
}

// carry takes a state from one time to a later one, both in s ago, under the input that acted; emf (V) is that of a winding that
// nothing drives.
func (a *Axis) carry(x []float64, from, to, emf float64) {
	switch {
	case a.driven && (a.electrical || a.s.PerCommand != 0): // a tick that woke late may have a sample from after its time
		a.sent.between(from, to, a.every, func(dt, u float64) { a.kf.Ahead(x, dt, a.scale()*u) })
	case a.electrical:
		a.kf.Ahead(x, from-to, emf)
	default:
		a.kf.Ahead(x, from-to, a.held(nil, a.past.lastMeasured()))
	}
}

// write puts a state in the order of Signals.
func (a *Axis) write(s *vector, x []float64) {
	if a.electrical {
		copy(x, s[:])
		return
	}
	x[0], x[1], x[2] = s[XPos], s[XVel], s[XTorque]
}

// Reset forgets everything but the raster of the samples; the next position is taken as it comes.
func (a *Axis) Reset() {
	a.kf.Reset()
	a.past.n = 0
}

// State writes the estimate at the time of the newest sample, in the order of Signals.
func (a *Axis) State(x []float64) { a.write(&a.kf.x, x) }

// StdDevs writes the standard deviations of State.
func (a *Axis) StdDevs(x []float64) {
	var sd vector
	a.kf.StdDevs(sd[:])
	a.write(&sd, x)
}

// Outcome is what became of the samples of the newest Step.
func (a *Axis) Outcome() *Outcome { return &a.outcome }

// Age is that (s) of the newest position that was taken.
func (a *Axis) Age() float64 { return a.age }

// RLS are the least squares; nil: off.
func (a *Axis) RLS() *RLS { return a.rls }

// Primed, Sound, Noise and PositionNoise are those of the filter.
func (a *Axis) Primed() bool                       { return a.kf.Primed() }
func (a *Axis) Sound() bool                        { return a.kf.Sound() }
func (a *Axis) Noise() (times float64, sound bool) { return a.kf.Noise() }
func (a *Axis) PositionNoise() float64             { return a.kf.PositionNoise() }
