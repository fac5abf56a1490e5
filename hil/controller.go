package hil

import (
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// ControllerSpec is a configured controller: everything in SI, indices into the measured and commanded signals.
type ControllerSpec struct {
	Rig       string
	Rate      float64 // Hz
	Meas, Cmd []engine.Signal
	Position  int // index of the position in Meas
	Current   int // index of the current in Meas
	Drive     int // index of the drive voltage in Cmd

	Motor  plant.Motor    // as the model knows it
	Law    friction.LuGre // as the model knows it
	Kalman estimator.KalmanSpec
	RLS    *estimator.RLSSpec // nil: off
	Ref    reference.Generator
	Fade   float64 // s  every start and every change of the reference blends over this time
	PID    PIDSpec
	Comp   CompSpec
	Guard  GuardSpec
}

// Signals of the estimated and the modelled block, in order.
var (
	estSignals = []engine.Signal{
		{Name: "est.position", Unit: "rad"}, {Name: "est.velocity", Unit: "rad/s"}, {Name: "est.current", Unit: "A"}, {Name: "est.friction", Unit: "N·m"},
		{Name: "rls.J", Unit: "kg·m²"}, {Name: "rls.Fv", Unit: "N·m·s/rad"}, {Name: "rls.Fc", Unit: "N·m"}, {Name: "rls.off", Unit: "N·m"},
		{Name: "rls.J_se", Unit: "kg·m²"}, {Name: "rls.Fv_se", Unit: "N·m·s/rad"}, {Name: "rls.Fc_se", Unit: "N·m"}, {Name: "rls.off_se", Unit: "N·m"},
		{Name: "rls.windows"}, {Name: "rls.cond"},
	}
	modelSignals = []engine.Signal{
		{Name: "ref.position", Unit: "rad"}, {Name: "ref.velocity", Unit: "rad/s"}, {Name: "ref.acceleration", Unit: "rad/s²"},
		{Name: "ctl.error", Unit: "rad"}, {Name: "ctl.torque", Unit: "N·m"}, {Name: "comp.friction", Unit: "N·m"},
		{Name: "model.friction", Unit: "N·m"}, {Name: "model.bristle", Unit: "rad"}, {Name: "guard.i2t"},
	}
)

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
)

// ParamNames are the parameters of a controller that may change while it runs, in the order of Params.V.
var ParamNames = []string{"control.kp", "control.ki", "control.kd", "compensation.scale", "compensation.gain", "reference.scale", "reference.offset"}

const (
	pKp = iota
	pKi
	pKd
	pScale
	pGain
	pRefScale
	pRefOffset
)

// CheckParam refuses a value that makes no sense for the named parameter.
func CheckParam(name string, v float64) error {
	lo, hi, unit := 0.0, math.Inf(1), ""
	switch name {
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
	if math.IsNaN(v) || math.IsInf(v, 0) || v < lo || v > hi {
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
	kf     *estimator.Kalman
	rls    *estimator.RLS
	ref    motion
	pid    pid
	comp   *compensator
	model  bristle // LuGre driven by the estimated motion: the open-loop model beside the rig
	p      Params

	primed   bool    // the filter has been set to the first sample
	residual float64 // N·m  slow mean of estimated minus modelled friction
	before   Mode
	upd      uint64 // RLS windows
}

// NewController checks the specification and builds a controller in its initial state.
func NewController(s ControllerSpec) (*Controller, error) {
	kf, err := estimator.NewKalman(s.Kalman)
	if err != nil {
		return nil, fmt.Errorf("estimator: %w", err)
	}
	c := &Controller{s: s, dt: 1 / s.Rate, kf: kf}
	if s.RLS != nil {
		if c.rls, err = estimator.NewRLS(*s.RLS); err != nil {
			return nil, fmt.Errorf("estimator.rls: %w", err)
		}
	}
	s.Guard.Dt = c.dt
	c.guard = NewGuard(s.Guard)
	c.schema = Schema{Rig: s.Rig, Rate: s.Rate, Meas: s.Meas, Est: estSignals, Model: modelSignals, Cmd: s.Cmd}
	if n := c.schema.Len(); n > MaxSignals {
		return nil, fmt.Errorf("%d signals, a row holds %d: declare fewer measurements", n, MaxSignals)
	}
	c.ref = motion{gen: s.Ref, fade: s.Fade}
	c.pid = pid{PIDSpec: s.PID}
	c.comp = newCompensator(s.Comp, s.Law)
	c.model = bristle{law: s.Law}
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
	c.comp.wanted, c.comp.gain = c.p.V[pScale], c.p.V[pGain]
	c.ref.wantScale, c.ref.wantOffset = c.p.V[pRefScale], c.p.V[pRefOffset]
}

// Decide lets the guard settle the mode of this tick.
func (c *Controller) Decide(r *Row, b *Blocks) { c.guard.Decide(r, b.Meas) }

// longest gap, in ticks, that the filter predicts across; after a longer one it starts again from the sensors.
const longestGap = 20

// Compute estimates the state, advances reference and model, and forms the wanted command.
func (c *Controller) Compute(r *Row, b *Blocks) {
	c.estimate(r, b)
	x := b.Est

	// start, pause and end of the motion
	on := r.Mode.Energised()
	if r.Mode != c.before {
		switch {
		case r.Mode == Run:
			c.ref.start(x[ePos], c.before == Hold)
			if c.before != Hold {
				c.pid.reset()
				c.comp.reset()
			}
		case r.Mode == Hold:
			c.ref.pause(x[ePos])
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
	b.Model[mFric] = c.model.step(x[eVel], dt)
	b.Model[mBristle] = c.model.z
	c.diverging(r, x[eFric]-b.Model[mFric])

	// feedback, inertia, friction
	tau, fric := 0.0, 0.0
	if on {
		tau = c.pid.step(e, vel-x[eVel], c.dt)
		if c.s.Comp.Inertia {
			tau += c.s.Motor.J * acc
		}
		fric = c.comp.step(x[eVel], vel, e, dt)
		tau += fric
		if lim := c.s.PID.Limit; lim > 0 {
			tau = min(lim, max(-lim, tau))
		}
	}
	b.Model[mTau], b.Model[mComp] = tau, fric
	b.Cmd[c.s.Drive] = 0
	if on {
		b.Cmd[c.s.Drive] = c.s.Motor.Voltage(tau, vel)
	}
}

// estimate runs the filter and the recursive least squares on this tick's samples. b.Cmd still holds the command of the
// tick before: the voltage that was applied since.
func (c *Controller) estimate(r *Row, b *Blocks) {
	x := b.Est
	y, fresh := [2]float64{b.Meas[c.s.Position], b.Meas[c.s.Current]}, [2]bool{r.Fresh&(1<<c.s.Position) != 0, r.Fresh&(1<<c.s.Current) != 0}
	u := b.Cmd[c.s.Drive]
	switch {
	case !fresh[0] && !c.primed, !finite(y[0]):
		fresh[0] = false
	case !c.primed || r.Skip > longestGap:
		c.kf.Reset(y[0])
		c.primed = true
	}
	for range min(r.Skip, longestGap) {
		c.kf.Step(y, [2]bool{}, u, x[:4]) // ticks that were missed: predict only
	}
	if c.kf.Step(y, fresh, u, x[:4]) != engine.OK {
		r.Flags |= FlagEstimator
	}
	if c.rls == nil {
		return
	}
	if r.Skip > 0 {
		c.rls.Gap() // the windows of the weak form need an unbroken raster
	}
	c.rls.Step(y[0], x[eVel], y[1], fresh[0] && fresh[1])
	if n := c.rls.Windows(); n != c.upd || n == 0 {
		c.upd = n
		c.rls.Values(x[eRLS : eRLS+4])
		c.rls.StdErrs(x[eRLS+4 : eRLS+8])
		x[eWin], x[eCond] = float64(n), c.rls.Cond()
	}
	if !c.rls.Excited() {
		r.Flags |= FlagUnexcited
	}
}

// diverging watches the slow mean of what the model cannot explain: ten times break-away for half a second is no friction.
func (c *Controller) diverging(r *Row, residual float64) {
	const tau = 0.5 // s
	if !finite(residual) {
		r.Flags |= FlagDiverged
		return
	}
	c.residual += (residual - c.residual) * c.dt / tau
	if math.Abs(c.residual) > 10*c.s.Law.Fs && r.Mode.Energised() {
		r.Flags |= FlagDiverged
	}
}

// Guard has the last word on the command.
func (c *Controller) Guard(r *Row, b *Blocks) {
	c.guard.Watch(r, b.Est[eVel], b.Model[mErr], b.Meas[c.s.Current])
	c.guard.Limit(r, b.Cmd)
	b.Model[mHeat] = c.guard.Heat()
}
