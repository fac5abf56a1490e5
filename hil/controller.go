package hil

import (
	"fmt"
	"slices"

	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/estimator"
	"hilrig/hil/axis"
)

// ControllerSpec is a configured controller: everything in SI, indices into the measured and commanded signals.
type ControllerSpec struct {
	Rig       string
	Owners    []Owner
	Rate      float64 // Hz
	Meas, Cmd []Channel
	Ages      []int // of each measured signal: index of the age (s) of its samples in Meas, −1: none; nil: no device tells ages
	Axes      []AxisSpec
	Guard     GuardSpec
	Mechanism *MechanismSpec // joins the axes; nil: each moves by itself
	Models    []ModelSpec    // beside the rig
}

// AxisSpec is an axis and where its signals are.
type AxisSpec struct {
	Name string
	axis.Spec
	Delay    float64                   // s  age of a sample beyond what its device tells: what every sample takes at least
	Measured [estimator.Quantities]int // index in Meas, by estimator.Quantity; −1: not measured
	Command  int                       // index in Cmd; −1: nothing drives it
	Limits   AxisLimits
}

// wired is an axis of the controller with its share of the blocks.
type wired struct {
	*axis.Axis
	s          *AxisSpec
	est, model span
	inputs     estimator.Inputs
	samples    []wire  // of in, that are measured
	unused     float64 // command of an axis that nothing drives
	paramSpan  span    // in Params.V
}

// wire leads from a measured signal to a sample.
type wire struct {
	to         *estimator.Sample
	index, age int // in Meas; age −1: none
}

// span is a part of a block.
type span struct{ from, to int }

func (s span) of(x []float64) []float64 { return x[s.from:s.to:s.to] }

// roles of the signals of an axis, by the name behind that of the axis.
var roles = map[string]ChannelRole{
	"est.position": RolePosition, "est.velocity": RoleVelocity, "est.acceleration": RoleAcceleration, "est.current": RoleCurrent,
	"est.friction": RoleFriction,
	"rls.J":        RoleParameter, "rls.M": RoleParameter, "rls.Fv": RoleParameter, "rls.Fc": RoleParameter, "rls.offset": RoleParameter,
	"rls.J_se": RoleStdErr, "rls.M_se": RoleStdErr, "rls.Fv_se": RoleStdErr, "rls.Fc_se": RoleStdErr, "rls.offset_se": RoleStdErr,
	"rls.windows":  RoleCount,
	"ref.position": RolePosition, "ref.velocity": RoleVelocity, "ref.acceleration": RoleAcceleration, "ref.effort": RoleEffort,
	"ctl.error": RoleError, "ctl.effort": RoleCommand, "comp.friction": RoleEffort, "comp.mechanism": RoleEffort, "comp.left": RoleLeft,
	"model.friction": RoleFriction, "heat": RoleHeat,
}

// ofAxis are these signals as channels of an axis.
func ofAxis(name string, signals []engine.Signal) []Channel {
	out := make([]Channel, len(signals))
	for i, s := range signals {
		out[i] = Channel{Signal: engine.Signal{Name: name + "." + s.Name, Unit: s.Unit}, Owner: name, Axis: name, Role: roles[s.Name]}
	}
	return out
}

// Controller is the role that runs a rig: estimate, reference and friction-compensated control of each axis, and the guard of all.
type Controller struct {
	s            ControllerSpec
	schema       Schema
	guard        *Guard
	axes         []wired
	states       []axis.State
	joined       *mechanism  // nil: none
	sideModels   *sideModels // models
	liveParams   []axis.Param
	previousMode Mode
	cause        Cause // of it

	// touched by Prepare and Discard alone
	changes     [MaxAxes]*axis.Changes
	changePool  [3]Change // in turn, as those of an axis
	nextChange  int
	prepared    [MaxAxes]axis.Block // last …
	preparedOld [MaxAxes]axis.Block // … and before that
}

// NewController checks the specification and builds a controller in its initial state.
func NewController(s ControllerSpec) (*Controller, error) {
	c := &Controller{s: s, axes: make([]wired, len(s.Axes)), states: make([]axis.State, len(s.Axes))}
	schema := Schema{Rig: s.Rig, Rate: s.Rate, Owners: s.Owners, Meas: s.Meas, Cmd: s.Cmd}
	for i := range s.Axes {
		spec, w := &s.Axes[i], &c.axes[i]
		spec.Tick, spec.Stop, spec.Coupled = 1/s.Rate, spec.Limits.Stop, s.Mechanism.includes(i)
		spec.UnmodelledCoupling = len(s.Axes) > 1 && !spec.Coupled
		spec.Approach, spec.MaxSpeed, spec.MaxInertia = spec.Limits.Approach, spec.Limits.MaxSpeed, spec.Limits.MaxInertia
		for q, at := range spec.Measured {
			spec.Channels[q] = at >= 0
		}
		spec.MaxLimitCycle = spec.Limits.MaxLimitCycle
		a, err := axis.New(spec.Spec)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", spec.Name, err)
		}
		w.Axis, w.s = a, spec
		c.changes[i] = axis.NewChanges(&spec.Spec, a)
		for q, at := range spec.Measured {
			if at >= 0 {
				l := wire{to: w.inputs.Of(estimator.Quantity(q)), index: at, age: -1}
				if s.Ages != nil {
					l.age = s.Ages[at]
				}
				w.samples = append(w.samples, l)
			}
		}
		w.est.from, w.model.from, w.paramSpan.from = len(schema.Est), len(schema.Model), len(c.liveParams)
		schema.Est = append(schema.Est, ofAxis(spec.Name, a.Estimated())...)
		schema.Model = append(schema.Model, ofAxis(spec.Name, a.Modelled())...)
		for _, p := range spec.LiveParams() {
			p.Name = spec.Name + "." + p.Name
			c.liveParams = append(c.liveParams, p)
		}
		w.est.to, w.model.to, w.paramSpan.to = len(schema.Est), len(schema.Model), len(c.liveParams)
	}
	if len(c.liveParams) > MaxParams {
		return nil, fmt.Errorf("%d parameters that may change while running, there is room for %d", len(c.liveParams), MaxParams)
	}
	var beside []Channel
	var err error
	if c.joined, err = newMechanism(s.Mechanism, len(s.Axes)); err != nil {
		return nil, err
	}
	if c.sideModels, beside, err = newSideModels(s.Models, 1/s.Rate, len(s.Axes), len(schema.Model)); err != nil {
		return nil, err
	}
	schema.Model = append(schema.Model, beside...)
	c.schema = schema
	if n := schema.Len(); n > MaxSignals {
		return nil, fmt.Errorf("%d signals, a row holds %d: declare fewer measurements%s", n, MaxSignals, instead(s.Models, beside))
	}
	c.guard = NewGuard(c.watched())
	return c, nil
}

// watched is what the guard has to know of the axes.
func (c *Controller) watched() GuardSpec {
	g := c.s.Guard
	g.Dt, g.Ages, g.CmdAt = 1/c.s.Rate, c.s.Ages, len(c.s.Meas)+len(c.schema.Est)+len(c.schema.Model)
	g.Axes = nil
	for i := range c.axes {
		w := &c.axes[i]
		name := func(b Block, r ChannelRole) uint16 { return uint16(c.schema.Find(b, w.s.Name, r) + 1) }
		g.Axes = append(g.Axes, AxisGuard{AxisLimits: w.s.Limits, MaxResidual: w.Unexplained(), Measured: w.s.Measured,
			Position: name(Estimated, RolePosition), Speed: name(Estimated, RoleVelocity), Error: name(Modelled, RoleError),
			Residual: name(Estimated, RoleFriction), Heat: name(Modelled, RoleHeat)})
		if w.s.Command >= 0 {
			own := &g.Axes[i]
			ends := slices.ContainsFunc(g.Cmd, func(c CmdLimit) bool { return c.Enable }) || g.Cmd[w.s.Command].Safe == 0 &&
				w.s.Drive != plant.VelocityDrive
			own.HasDrive, own.OffLimits = true, w.s.OffLimits(ends, w.Filter().PositionNoise(), w.s.Limits.MaxCurrent, w.s.Limits.RatedI)
			for _, g := range w.s.Sampling.Groups {
				own.SamplePeriod = max(own.SamplePeriod, g.SamplePeriod)
			}
			if w.s.Drive == plant.VelocityDrive {
				own.DriveStopTime = offIdle
			}
			g.Axes[i].Command = uint16(g.CmdAt + w.s.Command + 1)
			g.Cmd = slices.Clone(g.Cmd)
			g.Cmd[w.s.Command].Drives, g.Cmd[w.s.Command].Hold = true, axis.HoldOf(w.s.Drive)
		}
	}
	return g
}

// LiveParams are the parameters that may change while it runs, in the order of Params.V: shaft.control.kp …
func (c *Controller) LiveParams() []axis.Param { return slices.Clone(c.liveParams) }

// Params is the configured parameter block, generation 0.
func (c *Controller) Params() (p Params) {
	for i, l := range c.liveParams {
		p.V[i] = l.Start
	}
	return p
}

func (c *Controller) Schema() Schema { return c.schema }

// Check refuses a parameter block that the rig cannot run.
func (c *Controller) Check(p *Params) error {
	for i, l := range c.liveParams {
		if err := l.Check(p.V[i]); err != nil {
			return err
		}
	}
	for i := range c.s.Axes {
		if err := c.s.Axes[i].Check(p.Sets[i].Set()); err != nil {
			return fmt.Errorf("%s: %w", c.s.Axes[i].Name, err)
		}
	}
	return nil
}

// Prepare makes a parameter block ready to be adopted that Check has passed. Models are made where they differ from those prepared last,
// which are in force when this change is adopted, or were discarded.
func (c *Controller) Prepare(p *Params) (*Change, error) {
	ch := &c.changePool[c.nextChange]
	*ch = Change{Gen: p.Gen, v: p.V}
	for i := range c.s.Axes {
		if p.Sets[i] == c.prepared[i] {
			continue
		}
		var err error
		if ch.axes[i], err = c.changes[i].Prepare(&p.Sets[i]); err != nil {
			ch.axes[i] = nil
			c.discard(ch)
			return nil, fmt.Errorf("%s: %w", c.s.Axes[i].Name, err)
		}
	}
	c.preparedOld, c.prepared = c.prepared, p.Sets
	c.nextChange = (c.nextChange + 1) % len(c.changePool)
	return ch, nil
}

// Discard takes the block back that was prepared last: it is not adopted.
func (c *Controller) Discard() {
	c.nextChange = (c.nextChange + len(c.changePool) - 1) % len(c.changePool)
	c.prepared = c.preparedOld
	c.discard(&c.changePool[c.nextChange])
}

func (c *Controller) discard(ch *Change) {
	for i := range ch.axes {
		if ch.axes[i] != nil {
			c.changes[i].Discard()
		}
	}
}

// FadeComplete tells whether every change has faded in.
func (c *Controller) FadeComplete() bool {
	for i := range c.axes {
		if c.axes[i].Fades() {
			return false
		}
	}
	return true
}

// Inherit hands on what was latched before the first tick, and the heat of the windings.
func (c *Controller) Inherit(b Before) { c.guard.Inherit(b) }

// Adopt takes a new parameter block at the edge of a tick.
func (c *Controller) Adopt(ch *Change) {
	for i := range c.axes {
		w := &c.axes[i]
		w.Set(w.paramSpan.of(ch.v[:]), c.previousMode.Energised())
		if made := ch.axes[i]; made != nil {
			w.Adopt(made, c.previousMode.Energised())
			c.guard.s.Axes[i].MaxResidual = w.Unexplained()
		}
	}
}

// Decide estimates the state and lets the guard settle the mode of this tick: it refuses READY without a sound estimate.
func (c *Controller) Decide(r *Row, b *Blocks) {
	c.estimate(r, b)
	c.guard.Decide(r, b.Meas)
	if r.Mode == SelfTest && (c.previousMode == Trip || c.previousMode == Estop) { // a reset
		for i := range c.axes {
			c.axes[i].Reset()
		}
	}
}

// estimate runs that of every axis.
func (c *Controller) estimate(r *Row, b *Blocks) {
	c.guard.rejectedSamples = Fresh{}
	for i := range c.axes {
		c.sense(&c.axes[i], r, b)
	}
	if c.guard.rejectedSamples != (Fresh{}) {
		r.Flags |= FlagRefused
	}
}

// sense gives an axis its samples, without what the declaration calls impossible. b.Cmd still holds the command of the tick before.
func (c *Controller) sense(w *wired, r *Row, b *Blocks) {
	for i := range w.samples {
		l := &w.samples[i]
		s, came := l.to, IsFresh(&r.FreshSignals, l.index)
		s.Value, s.Age, s.Updated = b.Meas[l.index], w.s.Delay, came && !c.guard.outOfRange(l.index, b.Meas[l.index])
		if l.age >= 0 {
			s.Age += b.Meas[l.age]
		}
		if came != s.Updated {
			r.Flags |= FlagRefused
		}
		if came && !estimator.Timed(s.Age) {
			SetFresh(&c.guard.rejectedSamples, l.index)
		}
	}
	w.inputs.DriveActive = c.previousMode.Energised()
	if w.s.Command >= 0 {
		w.inputs.Command = b.Cmd[w.s.Command]
	}
	if w.Estimate(r.T, r.Skip, &w.inputs, w.est.of(b.Est)) == engine.NonFinite {
		r.Flags |= FlagEstimator
	}
	o := w.Outcome()
	for q := range o.Rejected {
		if o.Rejected[q] {
			SetFresh(&c.guard.rejectedSamples, w.s.Measured[q])
		}
	}
	if o.Jumped {
		r.Flags |= FlagJump
	}
	if w.Unexcited() {
		r.Flags |= FlagUnexcited
	}
}

// Compute advances reference and model of each axis, and forms the wanted commands.
func (c *Controller) Compute(r *Row, b *Blocks) {
	k := axis.Tick{Energised: r.Mode.Energised(), Skip: r.Skip}
	for i := range c.axes {
		w := &c.axes[i]
		x := w.est.of(b.Est)
		if r.Mode != c.previousMode || r.Cause != c.cause {
			switch {
			case r.Mode == c.previousMode && r.Mode != Hold:
			case r.Mode == Run && c.previousMode != Hold:
				w.Start(x)
			case r.Mode == Run:
				w.Resume(x)
			case r.Mode == Hold && holdRequested(c.previousMode, c.cause): // stands already
			case holdRequested(r.Mode, r.Cause):
				w.Pause(x) // the HOLD for a sick sensor is short: the reference runs on, and so does the axis
			}
		}
		c.joined.setReference(i, w.Refer(k, x))
	}
	if c.joined.effort() == engine.NonFinite {
		r.Flags |= FlagEstimator
	}
	for i := range c.axes {
		w := &c.axes[i]
		w.Load(c.joined.load(i))
		x := w.est.of(b.Est)
		u := &w.unused
		if w.s.Command >= 0 {
			u = &b.Cmd[w.s.Command]
		}
		if w.Compute(k, x, w.model.of(b.Model), u) == engine.NonFinite {
			r.Flags |= FlagEstimator
		}
	}
}

// holdRequested tells whether a HOLD was asked for: the axis stands still in it.
func holdRequested(m Mode, c Cause) bool {
	return m == Hold && (c == CauseCommand || c == CauseLateTicks)
}

// Guard has the last word on the commands.
func (c *Controller) Guard(r *Row, b *Blocks) {
	k := axis.Tick{Energised: r.Mode.Energised(), Skip: r.Skip}
	doubtful := r.Flags&(FlagStale|FlagRange) != 0
	for i := range c.axes {
		w, sent := &c.axes[i], 0.0
		if w.s.Command >= 0 {
			sent = c.guard.lastCommand[w.s.Command]
		}
		w.Watch(k, doubtful, &w.inputs, sent, w.est.of(b.Est), w.model.of(b.Model), &c.states[i])
		if at := w.s.Command; at >= 0 {
			w.Saturation(k, b.Cmd[at], c.guard.s.Cmd[at].Lo, c.guard.s.Cmd[at].Hi, &c.states[i])
		}
	}
	c.guard.Watch(r, c.states, b.Meas)
	c.guard.Limit(r, b.Cmd)
	c.previousMode, c.cause = r.Mode, r.Cause // a trip of this tick too: the reset may follow in the next
	for i := range c.axes {
		w := &c.axes[i]
		if r.Flags&(FlagClamped|FlagSlewed) != 0 {
			w.HoldLearning()
		}
		if at := w.Heat(); at >= 0 {
			w.model.of(b.Model)[at] = c.guard.Heat(i)
		}
	}
}

// FollowUp runs the models beside the rig when the command has left: nothing that they do delays or changes one.
func (c *Controller) FollowUp(r *Row, b *Blocks, watch Stopwatch) {
	for i := range c.axes {
		w, m := &c.axes[i], &c.sideModels.input.Axes[i]
		x := w.est.of(b.Est)
		*m = Motion{Position: x[estimator.XPos], Velocity: x[estimator.XVel], Energised: r.Mode.Energised()}
		m.Acceleration, m.Friction = w.Dynamics(&w.inputs, x)
		m.Lag = w.Lag()
		if at := w.s.Measured[estimator.Current]; at >= 0 {
			m.Current = b.Meas[at]
		}
		if at := w.s.Measured[estimator.Effort]; at >= 0 {
			m.Effort = b.Meas[at]
		}
		if w.s.Command >= 0 {
			m.Command = b.Cmd[w.s.Command]
		}
	}
	c.sideModels.input.Meas = b.Meas
	c.sideModels.step(r, b.Model, watch)
}

// Follows tells whether there is anything to do after the command.
func (c *Controller) Follows() bool { return len(c.sideModels.list) > 0 }
