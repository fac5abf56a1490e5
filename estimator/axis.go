package estimator

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/plant"
)

// Sample is what a tick knows of a measured quantity. One that is not there is never fresh.
type Sample struct {
	Value   float64
	Age     float64 // s     since the newest sample of its group was taken
	Updated bool    // it came since the tick before, and is not outside its declared range
}

// Quantity is what an axis can measure. The first three correct the estimate; the others, and the current of a mechanical axis, are
// inputs of the model.
type Quantity uint8

const (
	Position   Quantity = iota // rad or m
	Current                    // A
	Velocity                   // rad/s or m/s
	Effort                     // N·m or N
	Voltage                    // V
	Quantities                 // how many there are
)

var quantityNames = [Quantities]string{"position", "current", "velocity", "effort", "voltage"}

// Inputs are what a tick brings.
type Inputs struct {
	Position, Velocity, Current, Effort, Voltage Sample
	Command                                      float64 // what was sent in the tick before: V, A, N·m, N …
	DriveActive                                  bool    // the drive acts on commands
}

// Of is the sample of a quantity.
func (in *Inputs) Of(q Quantity) *Sample {
	return [Quantities]*Sample{Position: &in.Position, Current: &in.Current, Velocity: &in.Velocity, Effort: &in.Effort,
		Voltage: &in.Voltage}[q]
}

// Group are samples that are taken at the same time: one kind of frame or reply.
type Group struct {
	SamplePeriod float64 // s  from sample to sample
	Quantities   []Quantity
}

// AxisSpec describes how an axis is sampled.
type AxisSpec struct {
	Tick       float64 // s  of the loop
	Linear     bool    // m and N in place of rad and N·m
	Groups     []Group
	PerCommand float64  // mechanical: effort per unit of command, K of a drive of currents, 1 of a drive of efforts; 0: a command is no effort
	PerAmpere  float64  // mechanical: effort per ampere of a measured current
	RLS        *RLSSpec // K is that of the motor, PerAmpere, or 1 of a measured effort; nil: off
	FreeTiming bool     // the device may take a command as it comes, or one a sample, at any time: the least squares find it
}

// Axis estimates the motion of one degree of freedom, tick by tick, in the time of its samples. A sample acts at its own time: one that
// is older than a sample of another group takes the filter back to what it knew then, and forward again over all that came since.
// Step allocates nothing.
type Axis struct {
	kf            *Kalman
	s             AxisSpec
	electrical    bool
	group         [Quantities]int // of each quantity; −1: not measured
	input         Quantity        // measured input of the model
	times         []raster        // of each group
	fastestPeriod float64         // s  of the fastest group
	commands      commands
	history       past

	driveActive bool
	newestTime  int64  // ns  time of the newest sample, of a single group
	tickState   vector // state at the newest tick
	age         float64
	rls         *RLS
	rlsInput    lessons
	timing      *commandTiming // nil: commands act as they are sent
	outcome     Outcome
}

// Outcome is what became of the samples of a tick.
type Outcome struct {
	Accepted  [Quantities]bool // by Quantity
	Rejected  [Quantities]bool // fresh numbers that no axis can have, without a time, or older than all that is kept
	HasSample bool             // a sample came that the filter went to
	TimeStep  float64          // s  by which the time of the newest sample moved on
	Jumped    bool             // the position is another, and taken anew
}

const (
	maxAge         = 100 // s        age beyond which the time of a sample is not believed
	farthest       = 20  // periods  of age beyond which the estimate is left at the time of its sample
	maxPeriodRatio = 32  // between the periods of two groups
	maxGroups      = 4
)

// Timed tells whether a sample with this age (s) has a time that can be believed.
func Timed(age float64) bool { return -maxAge < age && age < maxAge }

// NewElectrical is an axis with a voltage drive: a brushed motor, of which position and perhaps current are measured. The period of the
// filter is that of the fastest group.
func NewElectrical(k KalmanSpec, s AxisSpec) (*Axis, error) {
	a, err := newAxis(s, true)
	if err != nil {
		return nil, err
	}
	k.Dt, a.input = a.fastestPeriod, Voltage
	if a.kf, err = NewKalman(k); err != nil {
		return nil, err
	}
	return a, a.setUpRLS(k.Motor, Current, k.CurrentNoise)
}

// NewMechanical is an axis of which an effort is known, or none: the input is what is measured of effort or current, else the command
// times PerCommand. The period of the filter is that of the slowest group.
func NewMechanical(m MechanicalSpec, s AxisSpec) (*Axis, error) {
	a, err := newAxis(s, false)
	if err != nil {
		return nil, err
	}
	a.input = Effort
	if a.group[Effort] < 0 {
		a.input = Current
	}
	if m.Inertia > 0 && a.group[a.input] < 0 && s.PerCommand == 0 {
		return nil, errors.New("axis: an inertia, but no effort, no current and no command that is an effort: leave out the inertia")
	}
	m.Dt = a.slowest()
	if a.kf, err = NewMechanicalKalman(m); err != nil {
		return nil, err
	}
	a.kf.s.inputNoise = a.inputNoise(&m)
	return a, a.setUpRLS(plant.Motor{J: m.Inertia, K: a.effort(1)}, a.input, m.EffortNoise/math.Abs(a.effort(1)))
}

// slowest is the period (s) of the slowest group.
func (a *Axis) slowest() (dt float64) {
	for _, g := range a.s.Groups {
		dt = max(dt, g.SamplePeriod)
	}
	return dt
}

// inputNoise is the strength of the noise of an effort: it is fresh with every sample of it, or every command.
func (a *Axis) inputNoise(m *MechanicalSpec) float64 {
	period := a.s.Tick
	if g := a.group[a.input]; g >= 0 {
		period = a.s.Groups[g].SamplePeriod
	}
	return m.EffortNoise * m.EffortNoise * period
}

// setUpRLS finds samples that say nothing to the model, and builds the least squares for an inertia and a torque constant, which are
// fed with the position and another sample, of so much noise.
func (a *Axis) setUpRLS(m plant.Motor, input Quantity, noise float64) (err error) {
	for q, g := range a.group {
		row, acts := q < nY && a.kf.s.r[q] > 0, Quantity(q) == a.input && m.J*m.K != 0
		if g >= 0 && !row && !acts {
			err = errors.Join(err, fmt.Errorf("axis: the %s says nothing to the model: leave it out of the groups, or give its noise, the inertia "+
				"or the effort per ampere", quantityNames[q]))
		}
	}
	if a.s.RLS == nil || err != nil {
		return err
	}
	if a.group[input] != a.group[Position] || m.J == 0 {
		return errors.New("axis: least squares need position and current or effort of one group, and an inertia to begin with")
	}
	spec := *a.s.RLS
	spec.K, a.rlsInput.motor, a.rlsInput.input = m.K, m, input
	if a.s.FreeTiming {
		a.timing = newCommandTiming(spec.Dt, a.s.Tick, spec.Memory, noise, m)
		spec.Bows, spec.Emf, spec.Mixes, spec.Prior = len(a.timing.bows), a.timing.accelerated(), a.timing.mixes(), a.timing.prior
		spec.Noise = a.timing.variance
	}
	if a.rls, err = NewRLS(spec); err == nil {
		a.rlsInput.path = make([]vector, 1+min(bridgedPeriods, max(1, a.rls.n/bridgedShare)))
	}
	return err
}

func newAxis(s AxisSpec, electrical bool) (*Axis, error) {
	a := &Axis{s: s, electrical: electrical, times: make([]raster, len(s.Groups)), commands: commands{tick: s.Tick},
		fastestPeriod: math.Inf(1), age: math.Inf(1), history: past{ring: make([]moment, 2)}}
	errs := []error{above0("axis: tick", s.Tick, "s"), atLeast0("axis: effort per ampere", math.Abs(s.PerAmpere), ""),
		atLeast0("axis: effort per command", math.Abs(s.PerCommand), "")}
	for q := range a.group {
		a.group[q] = -1
	}
	slowest := 0.0
	for g, group := range s.Groups {
		errs = append(errs, above0("axis: period of samples", group.SamplePeriod, "s"))
		if len(s.Groups) > 1 {
			a.times[g].fitted, a.history.ring = 1, make([]moment, maxEvents)
		}
		a.fastestPeriod, slowest = min(a.fastestPeriod, group.SamplePeriod), max(slowest, group.SamplePeriod)
		for _, q := range group.Quantities {
			if q >= Quantities {
				errs = append(errs, fmt.Errorf("axis: quantity %d is not known", q))
				continue
			}
			if a.group[q] >= 0 {
				errs = append(errs, fmt.Errorf("axis: the %s stands in two groups", quantityNames[q]))
			}
			a.group[q] = g
		}
	}
	if a.group[Position] < 0 {
		errs = append(errs, errors.New("axis: no group has the position"))
	}
	if len(s.Groups) > maxGroups || slowest > maxPeriodRatio*a.fastestPeriod {
		errs = append(errs, fmt.Errorf("axis: %d groups from %g to %g s, want at most %d, and periods within a factor of %d", len(s.Groups),
			a.fastestPeriod, slowest, maxGroups, maxPeriodRatio))
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
	a.history.n = 0
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

// Primed, Usable, Noise and PositionNoise are those of the filter.
func (a *Axis) Primed() bool                       { return a.kf.Primed() }
func (a *Axis) Usable() bool                       { return a.kf.Usable() }
func (a *Axis) Noise() (times float64, sound bool) { return a.kf.Noise() }
func (a *Axis) PositionNoise() float64             { return a.kf.PositionNoise() }
