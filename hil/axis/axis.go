// Package axis runs one degree of freedom of a rig: what is estimated of its motion, where it should go, and the command that brings
// it there against friction. Numbers come in and numbers go out; rows, modes and limits are those of package hil.
//
// Units in comments are those of a rotary axis; a linear one has m for rad, N for N·m and kg for kg·m².
package axis

import (
	"fmt"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// Spec is a configured axis: everything in SI.
type Spec struct {
	Linear       bool // m and N in place of rad and N·m
	Drive        plant.DriveKind
	Tick         float64 // s  period of the loop
	SamplePeriod float64 // s  from position to position; 0: one tick

	Channels [estimator.Quantities]bool // what the rig measures of it, whether the filter uses it or not

	// as the model knows it; J includes the load. All but voltage drives: J and K (N·m/A) alone, 0 where not known
	Motor      plant.Motor
	Law        friction.Model           // as the model knows it, its numbers constant from here on; nil: none is known
	Sampling   estimator.AxisSpec       // how it is sampled
	Kalman     estimator.KalmanSpec     // of a voltage drive
	Mechanical estimator.MechanicalSpec // of the others
	MaxInertia float64                  // kg·m²  that it may truly have; 0: not declared
	TopCommand float64                  // the largest command to either side, in its unit; 0: not known

	Ref                reference.Generator
	RefKind            ReferenceOf
	Fade               float64    // s  every start and every change of the reference blends over this time
	Approach, MaxSpeed float64    // rad/s  speed of the way to the reference, 0: from the largest speed; and that, 0: not declared
	Stop               [2]float64 // rad  the reference stays within it; [0, 0]: no limit
	PID                control.PID
	MaxLimitCycle      float64 // Hz  of a command from limit to limit and back; 0: not watched
	Gain               float64 // 1/s  of a velocity drive: speed per error
	Comp               CompSpec

	Coupled            bool // the wanted motion takes the torque that Load gives, not inertia times acceleration
	UnmodelledCoupling bool // another axis of the rig may throw it, and no mechanism says how
}

// Axis estimates and controls. None of its methods allocates but New.
type Axis struct {
	s      Spec
	dt     float64
	est    *estimator.Axis
	layout layout

	acceptedSamples  [2]float64 // position and current that the filter took last
	positionAccepted bool       // … a position in this tick
	signs            *signs     // nil: nothing to compare
	pushes           *signs     // the measured current of a voltage drive against the motion; nil: none
	stall            *stall     // nil: no effort is known
	frozen           *frozen    // nil: no command that must move it
	momentum         *momentum  // nil: no inertia is known
	runaway          *runaway   // nil: no inertia is known
	gap              gap
	ray              ray
	leap             leap
	checksSuspended  bool     // behind a gap nothing counts
	readings         readings // of all channels
	current, applied bool     // are measured, and say something to the filter
	stallFinding     Finding  // what it found in the newest sample
	ref              motion
	pid              control.Loop
	activePath       path
	previousPath     path               // the one before, while the new one fades in; else its compensator is nil
	faded            float64            // s  so long
	pathEfforts      [2]float64         // N·m  effort of the old path and of the new one
	desiredMotion    [3]float64         // what is followed, and its derivatives
	load             float64            // N·m  that the machine takes for it
	feed             feedForward        // what that leaves to the feedback
	model            *estimator.Contact // the law driven by the estimated motion: the open-loop model beside the rig; nil: no law
	learns           estimator.Learning // the compensation, if it learns
	gains            [nGains]float64    // as wanted
	gliding          [nGains]glide      // as they are
	glides           bool
	liveParams       []Param
	gain             float64 // 1/s  of a velocity drive
	scale, injected  float64 // of the compensation, as wanted: share, and gain (1/s)
	requestedEffort  float64 // N·m  effort of the tick before
	learningHeld     bool    // … did not reach the shaft as asked
	limited          int8    // … was cut at this limit of the controller: −1, 1; 0: it was not
	saturated        saturation

	age           float64 // s    of the newest position that was taken
	residual      float64 // N·m  slow mean of estimated minus modelled friction
	share         float64 // of it that a tick replaces
	residualLimit float64 // N·m  of it that no friction explains
	diverged      bool    // … it was no number
	windows       uint64  // RLS windows
}

// layout says where the signals stand in the estimated and the modelled block of the axis; −1: there is none.
type layout struct {
	est, model          []engine.Signal
	current, friction   int // estimated
	rls                 int // four values, four standard errors, windows, condition
	ref, err, tau, comp int // modelled
	load                int
	fric, bristle       int
	heat, learned       int
}

// Tick is what a tick of the loop tells an axis.
type Tick struct {
	Energised bool   // energised
	Skip      uint32 // ticks left out before this one
}

const (
	longestGap    = 20 // ticks of time that reference and model make up for at once after a stop of the host
	maxAgePeriods = 5  // sampling periods of age beyond which the last command stands: a prediction that far is a guess
)

// New checks the specification and builds an axis in its initial state.
func New(s Spec) (*Axis, error) {
	if int(s.Drive) >= len(s.Drive.Words()) {
		return nil, fmt.Errorf("drive kind %d is unknown", s.Drive)
	}
	if s.SamplePeriod == 0 {
		s.SamplePeriod = s.Tick
	}
	a := &Axis{s: s, dt: s.Tick, age: math.Inf(1), share: -math.Expm1(-s.Tick / residualTime)}
	var err error
	if a.est, err = s.estimate(); err != nil {
		return nil, fmt.Errorf("estimator: %w", err)
	}
	if s.compensates() {
		if a.activePath.comp, err = newCompensator(s.Comp, s.Law, s.Motor.J, s.PID); err != nil {
			return nil, fmt.Errorf("compensation: %w", err)
		}
		a.learns, _ = a.activePath.comp.law.(estimator.Learning)
	}
	if s.hasLaw() {
		if a.model, err = estimator.NewContact(s.Law); err != nil {
			return nil, fmt.Errorf("friction: %w", err)
		}
		a.residualLimit = unexplained * s.Law.Levels().Rest.Max()
	}
	a.arrange()
	a.current, a.applied = s.measured(estimator.Current), s.measured(estimator.Voltage)
	if s.hasDrive() {
		if s.Drive == plant.VoltageDrive && s.measured(estimator.Current) {
			a.pushes = newSigns(&a.s, plant.CurrentDrive, s.TopCommand/s.Motor.R)
			a.pushes.period = judgePeriod
		}
		a.signs, a.frozen = newSigns(&a.s, s.Drive, s.TopCommand), newFrozen(&a.s, a.est.PositionNoise())
		a.signs.period = judgePeriod
		if a.frozen != nil {
			a.signs.brushes = &a.frozen.brushes
		}
		if a.frozen != nil && s.Drive != plant.VelocityDrive {
			a.momentum, a.runaway = newMomentum(a.frozen), &runaway{f: a.frozen}
		}
	}
	a.readings = newReadings(&a.s)
	if s.hasDrive() && s.hasLaw() && a.layout.friction >= 0 {
		a.stall = newStall(s.Motor.J, s.Law, a.est.PositionNoise())
	}
	a.activePath.motor = s.Motor
	a.ref = motion{gen: s.Ref, fade: s.Fade, approach: s.approach()}
	a.pid = control.Loop{PID: s.PID}
	a.saturated.maxCycle = s.MaxLimitCycle
	a.liveParams = s.LiveParams()
	start := make([]float64, len(a.liveParams))
	for i := range a.liveParams {
		start[i] = a.liveParams[i].Start
	}
	a.Set(start, false)
	return a, nil
}

// hasDrive tells whether there is a drive.
func (s *Spec) hasDrive() bool { return s.Drive != plant.NoDrive }

// hasLaw tells whether a friction law is known.
func (s *Spec) hasLaw() bool { return s.Law != nil }

// levels are those of the friction law; 0 where none is known.
func (s *Spec) levels() friction.Levels {
	if s.Law == nil {
		return friction.Levels{}
	}
	return s.Law.Levels()
}

// estimate is the filter of the kind of drive.
func (s *Spec) estimate() (*estimator.Axis, error) {
	o := s.Sampling
	o.Tick, o.Linear = s.Tick, s.Linear
	if s.Drive == plant.VoltageDrive {
		return estimator.NewElectrical(s.kalman(), o)
	}
	o.PerAmpere, o.PerCommand = s.Motor.K, s.effort(1)
	return estimator.NewMechanical(s.mechanical(), o)
}

// kalman and mechanical describe the filter of a voltage drive, and of the others.
func (s *Spec) kalman() estimator.KalmanSpec {
	k := s.Kalman
	k.TopVoltage = s.TopCommand
	return k
}

func (s *Spec) mechanical() estimator.MechanicalSpec {
	m := s.Mechanical
	m.TopEffort = s.effort(s.TopCommand)
	return m
}

// arrange lays out the signals.
func (a *Axis) arrange() {
	s, l := &a.s, layout{current: -1, friction: -1, rls: -1, ref: -1, err: -1, tau: -1, comp: -1, load: -1, fric: -1, bristle: -1, heat: -1,
		learned: -1}
	for i, sig := range a.est.Signals() {
		switch sig.Name {
		case "current":
			l.current = i
		case "friction":
			l.friction = i
		}
		l.est = append(l.est, engine.Signal{Name: "est." + sig.Name, Unit: sig.Unit})
	}
	if a.est.RLS() != nil {
		l.rls = len(l.est)
		inertia := "J"
		if s.Linear {
			inertia = "M"
		}
		values := []engine.Signal{{Name: "rls." + inertia, Unit: "kg"}, {Name: "rls.Fv", Unit: "N·s/m"}, {Name: "rls.Fc", Unit: "N"},
			{Name: "rls.offset", Unit: "N"}}
		for i := range values {
			values[i].Unit = s.unit(values[i].Unit)
		}
		l.est = append(l.est, values...)
		for _, v := range values {
			l.est = append(l.est, engine.Signal{Name: v.Name + "_se", Unit: v.Unit})
		}
		l.est = append(l.est, engine.Signal{Name: "rls.windows"}, engine.Signal{Name: "rls.cond"})
	}
	add := func(at *int, signals ...engine.Signal) {
		*at = len(l.model)
		for _, sig := range signals {
			l.model = append(l.model, engine.Signal{Name: sig.Name, Unit: s.unit(sig.Unit)})
		}
	}
	if s.hasDrive() {
		add(&l.ref, s.RefKind.signals(s.Drive)...)
		if s.RefKind == OfPosition {
			add(&l.err, engine.Signal{Name: "ctl.error", Unit: "m"})
		}
		if s.Drive.Forces() && s.RefKind != OfCommand {
			add(&l.tau, engine.Signal{Name: "ctl.effort", Unit: "N"})
		}
		if s.compensates() {
			add(&l.comp, engine.Signal{Name: "comp.friction", Unit: "N"})
			if s.Coupled {
				add(&l.load, engine.Signal{Name: "comp.mechanism", Unit: "N"}, engine.Signal{Name: "comp.left"})
			}
		}
	}
	if s.hasLaw() {
		add(&l.fric, engine.Signal{Name: "model.friction", Unit: "N"})
		if a.model.Bends() {
			add(&l.bristle, engine.Signal{Name: "model.bristle", Unit: "m"})
		}
	}
	if s.hasDrive() {
		add(&l.heat, engine.Signal{Name: "heat"})
	}
	if s.compensates() {
		learned := make([]engine.Signal, 0, 3)
		for _, name := range a.activePath.comp.Kind.Info().Learns {
			learned = append(learned, engine.Signal{Name: name})
		}
		add(&l.learned, learned...)
	}
	a.layout = l
}

// compensates tells whether friction is compensated: the command is an effort, or becomes one, and follows a position.
func (s *Spec) compensates() bool {
	return s.Drive.Forces() && s.RefKind == OfPosition
}

// unit is that of the axis for the unit of a linear one.
func (s *Spec) unit(linear string) string {
	if s.Linear {
		return engine.LinearUnit(linear)
	}
	return engine.RotaryUnit(linear)
}

// Estimated are the signals that Estimate writes, Modelled those of Compute, without the name of the axis.
func (a *Axis) Estimated() []engine.Signal { return slices.Clone(a.layout.est) }
func (a *Axis) Modelled() []engine.Signal  { return slices.Clone(a.layout.model) }

// Heat is the place of the used share of the i²t budget in the modelled block, which whoever keeps that budget fills; −1: none.
func (a *Axis) Heat() int { return a.layout.heat }

// Filter is the estimate behind it.
func (a *Axis) Filter() *estimator.Axis { return a.est }

// Reset forgets the estimate, and the inertia that the motion told.
func (a *Axis) Reset() {
	a.est.Reset()
	if a.momentum != nil {
		a.momentum.heaviest = math.Inf(1)
	}
}

// Start begins the motion where the axis is, x as estimated.
func (a *Axis) Start(x []float64) {
	if !a.s.hasDrive() {
		return
	}
	a.ref.start(a.s.RefKind.base(x), false)
	a.pid.Reset()
	if a.previousPath.comp = nil; a.activePath.comp != nil {
		a.activePath.comp.reset()
	}
	a.requestedEffort, a.learningHeld, a.feed = 0, false, feedForward{}
}

// Resume goes on with a motion that was paused; Pause lets the axis stand where it is.
func (a *Axis) Resume(x []float64) {
	if a.ref.paused {
		a.ref.start(a.s.RefKind.base(x), true)
	}
}
func (a *Axis) Pause(x []float64) { a.ref.pause(a.s.RefKind.base(x)) }

// Refer advances the reference and gives what is wanted: where RefKind is a position, that, its velocity and its acceleration. Compute
// follows.
func (a *Axis) Refer(k Tick, x []float64) (ref [3]float64) {
	if k.Energised && a.s.hasDrive() {
		ref[0], ref[1], ref[2] = a.ref.step(a.elapsed(k))
		a.stop(&ref, x[estimator.XPos])
	} else {
		ref[0] = a.s.RefKind.base(x)
	}
	a.desiredMotion = ref
	return ref
}

// Load is the torque (N·m) that the wanted motion takes by the equations of the whole machine, in place of inertia times acceleration.
func (a *Axis) Load(effort float64) { a.load = effort }

// mechanismLoad is what the machine adds to the estimated friction where the axis moves as it is wanted to: gravity and coupling (N·m).
func (a *Axis) mechanismLoad() float64 {
	if !a.s.Coupled {
		return 0
	}
	return a.load - a.activePath.motor.J*a.desiredMotion[2]
}

// elapsed is the time (s) since the tick before.
func (a *Axis) elapsed(k Tick) float64 { return a.dt * float64(1+min(k.Skip, longestGap)) }

// Compute advances the model under the estimate x, writes the modelled block, and forms the wanted command u for what Refer gave, in place:
// the last one stands where the newest sample is too old to act on.
func (a *Axis) Compute(k Tick, x, y []float64, u *float64) (st engine.Status) {
	dt := a.elapsed(k)
	if a.glides {
		a.glide(dt)
	}
	ref, on := a.desiredMotion, k.Energised && a.s.hasDrive()
	if a.layout.ref >= 0 {
		copy(y[a.layout.ref:], ref[:a.s.RefKind.derivatives()])
	}
	e := 0.0
	if a.layout.err >= 0 {
		e = ref[0] - x[estimator.XPos]
		y[a.layout.err] = e
	}

	// the model beside the rig: the law under the estimated motion
	a.diverged = false
	if a.model != nil {
		f, s := a.model.Step(dt, x[estimator.XVel]*dt)
		if s == engine.NonFinite {
			st = s
		}
		y[a.layout.fric] = f
		if a.layout.bristle >= 0 {
			y[a.layout.bristle] = a.model.Bristle()
		}
		if a.layout.friction >= 0 {
			a.explain(k.Energised, x[a.layout.friction]-f-a.mechanismLoad(), dt)
		}
	}
	if a.layout.heat < 0 {
		return st
	}
	if s := a.effort(k, on, ref, e, dt, x, y); s == engine.NonFinite {
		st = s
	}
	switch {
	case !on:
		*u, a.previousPath.comp = 0, nil
	case !a.stale():
		*u = a.command(&a.activePath.motor, a.pathEfforts[1], e, ref)
		if a.Fades() {
			old := a.command(&a.previousPath.motor, a.pathEfforts[0], e, ref)
			*u = old + a.weight()*(*u-old)
		}
	}
	if a.Fades() {
		if a.faded += dt; a.faded >= a.activePath.comp.Ramp {
			a.previousPath.comp = nil
		}
	}
	return st
}

// stop keeps the reference within its limits, and at them lets no effort or command push the axis further out.
func (a *Axis) stop(ref *[3]float64, position float64) {
	lo, hi := a.s.Stop[0], a.s.Stop[1]
	switch {
	case lo >= hi:
	case a.s.RefKind == OfPosition && (ref[0] < lo || ref[0] > hi):
		*ref = [3]float64{min(hi, max(lo, ref[0]))}
	case a.s.RefKind != OfPosition && (position >= hi && ref[0] > 0 || position <= lo && ref[0] < 0):
		*ref = [3]float64{}
	}
}

// effort is what the controller asks for: feedback, inertia, friction.
func (a *Axis) effort(k Tick, on bool, ref [3]float64, e, dt float64, x, y []float64) (st engine.Status) {
	tau, fric := 0.0, 0.0
	a.limited = 0
	switch {
	case !on:
	case a.s.RefKind == OfEffort:
		tau = ref[0]
		a.pathEfforts[1] = tau
	case a.s.compensates():
		v := x[estimator.XVel]
		back := a.pid.Step(e, ref[1]-v, a.dt)
		if a.s.Coupled {
			a.feed.add(a.load, back, dt)
		}
		m := estimator.Motion{V: v, E: -e, Vd: ref[1], Ad: ref[2], U: a.requestedEffort, LearningHeld: a.learningHeld || k.Skip > 0 ||
			a.stale() || a.Fades()}
		a.learningHeld = false
		tau, fric, st = a.follow(&a.activePath, back, m, dt)
		a.pathEfforts = [2]float64{tau, tau}
		if a.Fades() {
			old, f, s := a.follow(&a.previousPath, back, m, dt)
			if s != engine.OK {
				st = s
			}
			w := a.weight()
			a.pathEfforts[0], tau, fric = old, old+w*(tau-old), f+w*(fric-f)
		}
		a.requestedEffort = tau
	}
	if a.layout.tau >= 0 {
		y[a.layout.tau] = tau
	}
	if a.layout.comp >= 0 {
		y[a.layout.comp] = fric
	}
	if a.layout.load >= 0 {
		y[a.layout.load] = 0
		if on {
			y[a.layout.load] = a.load
		}
		y[a.layout.load+1] = a.feed.slope(frozenFs * a.s.levels().Max())
	}
	if a.learns != nil {
		a.learns.Thetas(y[a.layout.learned:])
	}
	return st
}

// follow is the effort by which a path follows the motion m with the feedback back, the compensation in it, and whether something was not
// finite.
func (a *Axis) follow(p *path, back float64, m estimator.Motion, dt float64) (tau, fric float64, st engine.Status) {
	tau = back
	switch {
	case a.s.Coupled:
		tau += a.load
	case a.s.Comp.Inertia:
		tau += p.motor.J * m.Ad
	}
	fric, st = p.comp.step(m, dt)
	tau += fric
	tau += p.comp.shake(m, tau, dt)
	if lim := a.s.PID.Limit; lim > 0 && math.Abs(tau) > lim {
		tau, a.learningHeld, a.limited = math.Copysign(lim, tau), true, signOf(tau)
	}
	return tau, fric, st
}

// HoldLearning tells that the command did not leave as it was wanted: the compensation does not learn from it.
func (a *Axis) HoldLearning() { a.learningHeld = true }

// Age is that (s) of the newest position that was taken.
func (a *Axis) Age() float64 { return a.age }

// stale tells whether the newest sample is too old to act on.
func (a *Axis) stale() bool { return !(a.age <= maxAgePeriods*a.s.SamplePeriod) }

// Unexplained times break-away for half a second is no friction: the limit (N·m) of the residual; 0: there is none to tell.
func (a *Axis) Unexplained() float64 {
	if a.model == nil || a.layout.friction < 0 {
		return 0
	}
	return a.residualLimit
}

const unexplained = 10

const residualTime = 0.5 // s  over which the residual is averaged

// explain keeps the slow mean of the torque that the model cannot explain, while energised.
func (a *Axis) explain(on bool, residual, dt float64) {
	if !on {
		a.residual = 0
	} else {
		share := a.share
		if dt != a.dt {
			share = -math.Expm1(-dt / residualTime)
		}
		a.residual += (residual - a.residual) * share
	}
	a.diverged = !numeric.IsFinite(residual)
}
