package hil

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/engine"
	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// ControllerSpec is a configured controller: everything in SI, indices into the measured and commanded signals.
type ControllerSpec struct {
	Rig       string
	Axis      string // its name
	Owners    []Owner
	Rate      float64 // Hz
	Meas, Cmd []Channel
	Position  int      // index of the position in Meas
	Current   int      // index of the current in Meas; −1: not measured
	Drive     int      // index of the drive voltage in Cmd
	Age       int      // index of the samples' age (s) in Meas; −1: none, samples are as old as Delay
	Delay     float64  // s  age of a sample beyond Age: what every sample takes at least
	Applied   int      // index of the applied voltage in Meas; −1: the command of the tick before is taken for it
	Every     float64  // s  from sample to sample; 0: one tick
	Sources   []Source // how the samples of each measured signal come; nil: all as those of the position

	Motor  plant.Motor    // as the model knows it
	Law    friction.LuGre // as the model knows it
	Kalman estimator.KalmanSpec
	RLS    *estimator.RLSSpec // nil: off
	Ref    reference.Generator
	Fade   float64 // s  every start and every change of the reference blends over this time
	PID    control.PID
	Comp   CompSpec
	Guard  GuardSpec
	Beside *BesideSpec // brush model beside the rig; nil: none
}

// Source is how the samples of a signal come. Those of one age are of one frame.
type Source struct {
	Age   int     // index of their age (s) in Meas
	Every float64 // s  from sample to sample
}

// source is that of measured signal i.
func (s *ControllerSpec) source(i int) Source {
	if s.Sources != nil {
		return s.Sources[i]
	}
	return Source{s.Age, s.Every}
}

// Channels of the estimated and the modelled block, in order, without their owner.
var (
	estChannels = []Channel{
		{Signal: engine.Signal{Name: "est.position", Unit: "rad"}, Role: RolePosition}, {Signal: engine.Signal{Name: "est.velocity", Unit: "rad/s"}, Role: RoleVelocity},
		{Signal: engine.Signal{Name: "est.current", Unit: "A"}, Role: RoleCurrent}, {Signal: engine.Signal{Name: "est.friction", Unit: "N·m"}, Role: RoleFriction},
	}
	rlsChannels = []Channel{
		{Signal: engine.Signal{Name: "rls.J", Unit: "kg·m²"}, Role: RoleParameter}, {Signal: engine.Signal{Name: "rls.Fv", Unit: "N·m·s/rad"}, Role: RoleParameter},
		{Signal: engine.Signal{Name: "rls.Fc", Unit: "N·m"}, Role: RoleParameter}, {Signal: engine.Signal{Name: "rls.offset", Unit: "N·m"}, Role: RoleParameter},
		{Signal: engine.Signal{Name: "rls.J_se", Unit: "kg·m²"}, Role: RoleStdErr}, {Signal: engine.Signal{Name: "rls.Fv_se", Unit: "N·m·s/rad"}, Role: RoleStdErr},
		{Signal: engine.Signal{Name: "rls.Fc_se", Unit: "N·m"}, Role: RoleStdErr}, {Signal: engine.Signal{Name: "rls.offset_se", Unit: "N·m"}, Role: RoleStdErr},
		{Signal: engine.Signal{Name: "rls.windows"}, Role: RoleCount}, {Signal: engine.Signal{Name: "rls.cond"}},
	}
	modelChannels = []Channel{
		{Signal: engine.Signal{Name: "ref.position", Unit: "rad"}, Role: RolePosition}, {Signal: engine.Signal{Name: "ref.velocity", Unit: "rad/s"}, Role: RoleVelocity},
		{Signal: engine.Signal{Name: "ref.acceleration", Unit: "rad/s²"}, Role: RoleAcceleration}, {Signal: engine.Signal{Name: "ctl.error", Unit: "rad"}, Role: RoleError},
		{Signal: engine.Signal{Name: "ctl.torque", Unit: "N·m"}, Role: RoleCommand}, {Signal: engine.Signal{Name: "comp.friction", Unit: "N·m"}, Role: RoleEffort},
		{Signal: engine.Signal{Name: "model.friction", Unit: "N·m"}, Role: RoleFriction}, {Signal: engine.Signal{Name: "model.bristle", Unit: "rad"}},
		{Signal: engine.Signal{Name: "heat"}, Role: RoleHeat},
	}
)

// ofAxis are these channels as those of an axis.
func ofAxis(axis string, channels []Channel) []Channel {
	out := slices.Clone(channels)
	for i := range out {
		out[i].Name, out[i].Owner, out[i].Axis = axis+"."+out[i].Name, axis, axis
	}
	return out
}

const (
	ePos = iota
	eVel
	eCur
	eFric
	eRLS  // four values, then their four standard errors
	eWin  = eRLS + 8
	eCond = eWin + 1
)

const (
	mRef = iota // position, velocity, acceleration
	mErr = iota + 2
	mTau
	mComp
	mFric
	mBristle
	mHeat
	mLearned // factors of a learning compensation, then the signals of a brush
)

// ParamsOf are the names of the parameters of an axis that may change while it runs, in the order of Params.V: shaft.control.kp …
func ParamsOf(axis string) []string {
	names := slices.Clone(paramNames)
	for i := range names {
		names[i] = axis + "." + names[i]
	}
	return names
}

var paramNames = []string{"control.kp", "control.ki", "control.kd", "compensation.scale", "compensation.gain", "reference.scale", "reference.offset"}

const (
	pKp = iota
	pKi
	pKd
	pScale
	pGain
	pRefScale
	pRefOffset
)

// CheckParam refuses a value that makes no sense for a parameter of an axis.
func CheckParam(name string, v float64) error {
	lo, hi, unit := 0.0, math.Inf(1), ""
	switch _, of, _ := strings.Cut(name, "."); of {
	case "control.kp":
		unit = "N·m/rad"
	case "control.ki":
		unit = "N·m/(rad·s)"
	case "control.kd":
		unit = "N·m·s/rad"
	case "compensation.scale":
		hi = 1
	case "compensation.gain":
		unit = "1/s"
	case "reference.scale":
		hi = 10
	case "reference.offset":
		lo, unit = math.Inf(-1), "rad"
	}
	if !numeric.Finite(v) || v < lo || v > hi {
		return fmt.Errorf("%s: %g %s, want a number from %g to %g", name, v, unit, lo, hi)
	}
	return nil
}

// Controller is the role that runs a rig: estimate, reference, friction-compensated control, guard.
type Controller struct {
	s      ControllerSpec
	dt     float64
	schema Schema
	guard  *Guard
	signs  *signs
	stall  *stall
	stuck  reason // what it found in the newest sample
	est    *estimator.Axis
	ages   [3]int     // of position, current and applied voltage: index of the age in Meas; −1: none
	taken  [2]float64 // position and current that the filter took last
	came   bool       // … a position in this tick
	ref    motion
	pid    control.Loop
	comp   *compensator
	model  *estimator.Observer // LuGre driven by the estimated motion: the open-loop model beside the rig
	brush  *beside             // nil: none
	shown  int                 // where its signals begin in the model block
	busy   int32               // ns  the tick before
	p      Params
	learns estimator.Learning // the compensation, if it learns
	asked  float64            // N·m  torque of the tick before
	held   bool               // … did not reach the shaft as asked

	age      float64 // s    of the newest position that was taken
	residual float64 // N·m  slow mean of estimated minus modelled friction
	before   Mode
	upd      uint64 // RLS windows
}

// NewController checks the specification and builds a controller in its initial state.
func NewController(s ControllerSpec) (*Controller, error) {
	if s.Every == 0 {
		s.Every = 1 / s.Rate
	}
	est, err := s.axis()
	if err != nil {
		return nil, fmt.Errorf("estimator: %w", err)
	}
	c := &Controller{s: s, dt: 1 / s.Rate, est: est, ages: [3]int{-1, -1, -1}}
	for k, i := range [3]int{s.Position, s.Current, s.Applied} {
		if i >= 0 {
			c.ages[k] = s.source(i).Age
		}
	}
	if c.comp, err = newCompensator(s.Comp, s.Law, s.Motor.J, s.PID); err != nil {
		return nil, fmt.Errorf("compensation: %w", err)
	}
	c.learns, _ = c.comp.law.(estimator.Learning)
	estimated, model := estChannels, slices.Concat(modelChannels, c.comp.channels())
	if est.RLS() != nil {
		estimated = slices.Concat(estChannels, rlsChannels)
	}
	estimated, model = ofAxis(s.Axis, estimated), ofAxis(s.Axis, model)
	if c.brush, err = newBeside(s.Beside, c.dt); err != nil {
		return nil, fmt.Errorf("brush: %w", err)
	}
	c.shown = len(model)
	model = append(model, c.brush.channels(s.Beside)...)
	c.schema = Schema{Rig: s.Rig, Rate: s.Rate, Owners: s.Owners, Meas: s.Meas, Est: estimated, Model: model, Cmd: s.Cmd}
	g := s.Guard
	for i := range s.Sources {
		g.Ages = append(g.Ages, s.Sources[i].Age)
	}
	g.Dt, g.CmdAt, g.Current, g.MaxResidual = c.dt, len(s.Meas)+len(estimated)+len(model), s.Current, unexplained*s.Law.Fs
	c.guard = NewGuard(g)
	c.signs = newSigns(s)
	c.stall = newStall(s.Motor.J, s.Law, est.PositionNoise())
	if n := c.schema.Len(); n > MaxSignals {
		return nil, fmt.Errorf("%d signals, a row holds %d: declare fewer measurements%s", n, MaxSignals, c.brush.instead())
	}
	c.ref = motion{gen: s.Ref, fade: s.Fade}
	c.pid = control.Loop{PID: s.PID}
	if c.model, err = estimator.NewObserver(estimator.ObserverSpec{Law: s.Law}); err != nil {
		return nil, fmt.Errorf("friction: %w", err)
	}
	c.p = s.Params()
	c.adopt()
	return c, nil
}

// Params is the configured parameter block, generation 0.
func (s *ControllerSpec) Params() (p Params) {
	p.V[pKp], p.V[pKi], p.V[pKd] = s.PID.Kp, s.PID.Ki, s.PID.Kd
	p.V[pScale], p.V[pGain] = s.Comp.Scale, s.Comp.Gain
	p.V[pRefScale] = 1
	return p
}

func (c *Controller) Schema() Schema { return c.schema }

// Adopt takes a new parameter block at the edge of a tick. Gains act at once; reference and compensation move there
// smoothly.
func (c *Controller) Adopt(p *Params) {
	c.p = *p
	c.adopt()
}

func (c *Controller) adopt() {
	c.pid.Kp, c.pid.Ki, c.pid.Kd = c.p.V[pKp], c.p.V[pKi], c.p.V[pKd]
	c.comp.adopt(c.p.V[pScale], c.p.V[pGain], c.pid.PID)
	c.ref.wantScale, c.ref.wantOffset = c.p.V[pRefScale], c.p.V[pRefOffset]
}

// Decide estimates the state and lets the guard settle the mode of this tick: it refuses READY without a sound estimate.
func (c *Controller) Decide(r *Row, b *Blocks) {
	c.busy = r.Busy // still that of the tick before
	c.estimate(r, b)
	c.guard.Decide(r, b.Meas)
	if r.Mode == SelfTest && (c.before == Trip || c.before == Estop) { // a reset
		c.est.Reset()
	}
}

const (
	longestGap = 20 // ticks of time that reference and model make up for at once after a stop of the host
	tooOld     = 5  // sampling periods of age beyond which the last command stands: a prediction that far is a guess
)

// Compute advances reference and model, and forms the wanted command.
func (c *Controller) Compute(r *Row, b *Blocks) {
	x := b.Est

	// start, pause and end of the motion
	on := r.Mode.Energised()
	if r.Mode != c.before {
		switch {
		case r.Mode == Run && c.before != Hold:
			c.ref.start(x[ePos], false)
			c.pid.Reset()
			c.comp.reset()
			c.asked, c.held = 0, false
		case r.Mode == Run && c.ref.paused:
			c.ref.start(x[ePos], true)
		case r.Mode == Hold && (r.Cause == CauseCommand || r.Cause == CauseLateTicks):
			c.ref.pause(x[ePos]) // the HOLD for a sick sensor is short: the reference runs on, and so does the axis
		}
		c.before = r.Mode
	}
	pos, vel, acc := x[ePos], 0.0, 0.0
	if on {
		pos, vel, acc = c.ref.step(c.dt * float64(1+min(r.Skip, longestGap)))
	}
	b.Model[mRef], b.Model[mRef+1], b.Model[mRef+2] = pos, vel, acc
	e := pos - x[ePos]
	b.Model[mErr] = e

	// the model beside the rig: LuGre under the estimated motion
	dt := c.dt * float64(1+min(r.Skip, longestGap))
	var st engine.Status
	if b.Model[mFric], st = c.model.Step(dt, x[eVel]*dt, 0); st == engine.NonFinite {
		r.Flags |= FlagEstimator
	}
	b.Model[mBristle] = c.model.Bristle()
	c.explain(r, x[eFric]-b.Model[mFric], dt)

	// feedback, inertia, friction
	tau, fric := 0.0, 0.0
	if on {
		tau = c.pid.Step(e, vel-x[eVel], c.dt)
		if c.s.Comp.Inertia {
			tau += c.s.Motor.J * acc
		}
		m := estimator.Motion{V: x[eVel], E: -e, Vd: vel, Ad: acc, U: c.asked, Held: c.held || r.Skip > 0 || c.stale()}
		if fric, st = c.comp.step(m, dt); st == engine.NonFinite {
			r.Flags |= FlagEstimator
		}
		tau += fric
		tau += c.comp.shake(m, tau, dt)
		c.held = false
		if lim := c.s.PID.Limit; lim > 0 && math.Abs(tau) > lim {
			tau, c.held = math.Copysign(lim, tau), true
		}
		c.asked = tau
	}
	b.Model[mTau], b.Model[mComp] = tau, fric
	if c.learns != nil {
		c.learns.Thetas(b.Model[mLearned:])
	}
	switch {
	case !on:
		b.Cmd[c.s.Drive] = 0
	case !c.stale():
		b.Cmd[c.s.Drive] = c.s.Motor.Voltage(tau, vel)
	}
}

// current is the measured one; 0 where none is.
func (c *Controller) current(b *Blocks) float64 {
	if c.s.Current < 0 {
		return 0
	}
	return b.Meas[c.s.Current]
}

// stale tells whether the newest sample is too old to act on.
func (c *Controller) stale() bool { return !(c.age <= tooOld*c.s.Every) }

// unexplained times break-away for half a second is no friction.
const unexplained = 10

// explain keeps the slow mean of the torque that the model cannot explain, while energised.
func (c *Controller) explain(r *Row, residual, dt float64) {
	const tau = 0.5 // s
	if !r.Mode.Energised() {
		c.residual = 0
	} else {
		c.residual += (residual - c.residual) * -math.Expm1(-dt/tau)
	}
	if !numeric.Finite(residual) {
		r.Flags |= FlagDiverged
	}
}

// Guard has the last word on the command.
func (c *Controller) Guard(r *Row, b *Blocks) {
	m := Motion{Speed: b.Est[eVel], Error: b.Model[mErr], Current: c.current(b), Heating: c.taken[1], Residual: c.residual, Unsound: !c.est.Sound(), Noise: c.noise(), Stuck: c.stuck}
	m.Signs, m.Hint = c.signs.step(r, c.came, b.Meas, c.taken, c.guard.last)
	if r.Flags&FlagJump != 0 {
		m.Jump = reason{CauseJump, uint16(c.s.Position + 1), 0, 0}
	}
	c.guard.Watch(r, m)
	c.guard.Limit(r, b.Cmd)
	c.held = c.held || r.Flags&(FlagClamped|FlagSlewed) != 0
	b.Model[mHeat] = c.guard.Heat()
}

// After runs the brush beside the rig when the command has left: nothing that it does delays or changes one.
func (c *Controller) After(r *Row, b *Blocks) {
	c.brush.step(r, c.busy, b.Est, c.current(b), b.Model[c.shown:])
}

// Follows tells whether there is anything to do after the command.
func (c *Controller) Follows() bool { return c.brush != nil }
