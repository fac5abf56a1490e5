package models

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"hilrig/engine"
	"hilrig/engine/plant/manipulator"
	"hilrig/engine/reference"
	"hilrig/engine/spelling"
	"hilrig/hil"
)

// ChainSpec is a chain whose tip slides on a beam, for a model of kind machine.
type ChainSpec struct {
	Model   *manipulator.Model
	Joints  []ChainJoint // all that are driven
	Outputs []string     // numbers of the chain by name; none: all of them
}

// ChainJoint is a driven joint that goes where an axis goes.
type ChainJoint struct {
	Joint         int // of the chain
	Axis          int
	Ratio, Offset float64 // position of the joint = Ratio·position of the axis + Offset (rad, m)
}

// MachineLeft is the status of a chain whose tip has left its beam: it stays there until a drive is switched on.
const MachineLeft = 6

// Chain is a chain on a beam beside the rig: its driven joints are led along the estimated motion of axes, the others and the beam move by
// themselves, and what the drives have to give is shown.
//
// It begins in the equilibrium of its file. From there the driven joints go to where the axes are, by a polynomial, at placeSpeed or
// slower.
type Chain struct {
	s                      ChainSpec
	m                      *manipulator.Machine
	start                  []float64
	x, outputs             []float64
	outputIndex            []int // of outputs
	signals                []engine.Signal
	axes                   []heading
	t                      float64 // s  on the way to the axes
	initialised, energised bool
	status                 int
}

const (
	placeSpeed = 0.5 // rad/s, m/s  on the way to where the axes are, on average
	placeLeast = 1.0 // s
)

// heading is the motion of an axis as the joint has it, and the way from the start into it.
type heading struct {
	q, v, a float64
	fade    reference.Fade
}

// At is the motion of this tick.
func (h *heading) At(float64) (pos, vel, acc float64) { return h.q, h.v, h.a }

// NewChain checks the description.
func NewChain(s *ChainSpec) (*Chain, error) {
	m, err := s.Model.NewMachine()
	if err != nil {
		return nil, err
	}
	c := &Chain{s: *s, m: m, start: m.NewState(), axes: make([]heading, len(s.Joints))}
	c.x = m.NewState()
	for _, j := range s.Joints {
		if err := m.FollowMotion(j.Joint, manipulator.Drawn{Q: c.start[j.Joint]}); err != nil {
			return nil, err
		}
		if j.Ratio == 0 || j.Ratio-j.Ratio != 0 || j.Offset-j.Offset != 0 {
			return nil, fmt.Errorf("machine: joint q%d: ratio %g and offset %g, want finite numbers, the first not 0", j.Joint+1, j.Ratio, j.Offset)
		}
	}
	all := m.Layout().Outputs
	c.outputs = make([]float64, len(all))
	if st := m.Step(0, c.x, nil, c.outputs); st != engine.OK {
		return nil, errors.New("machine: the chain does not stand still in its equilibrium")
	}
	c.signals = append(c.signals, engine.Signal{Name: "status"})
	names := make([]string, len(all))
	for i, g := range all {
		names[i] = g.Name
	}
	choose := s.Outputs
	if len(choose) == 0 {
		choose = names
	}
	for _, name := range choose {
		found := false
		for i, g := range all {
			if g.Name == name || strings.HasPrefix(g.Name, name+".") {
				c.outputIndex, c.signals, found = append(c.outputIndex, i), append(c.signals, g), true
			}
		}
		if !found {
			return nil, fmt.Errorf("machine: outputs: the chain has no %q%s", name, spelling.DidYouMean(name, names))
		}
	}
	return c, nil
}

// Signals are status, then the numbers that were chosen.
func (c *Chain) Signals() []engine.Signal { return c.signals }

// Roles are theirs.
func (c *Chain) Roles() (roles []hil.ChannelRole) {
	for _, g := range c.signals {
		roles = append(roles, roleOf[g.Unit])
	}
	roles[0] = hil.RoleStatus
	return roles
}

// Step moves the chain by a tick.
func (c *Chain) Step(in *hil.ModelInput, y []float64) (engine.Status, uint8) {
	on := false
	for k := range c.s.Joints {
		j, h := &c.s.Joints[k], &c.axes[k]
		a := &in.Axes[j.Axis]
		on = on || a.Energised
		h.q, h.v, h.a = j.Ratio*a.Position+j.Offset, j.Ratio*a.Velocity, j.Ratio*a.Acceleration
		if s := h.q + h.v + h.a; s-s != 0 {
			y[0] = MachineNonFinite
			return engine.NonFinite, 0
		}
	}
	if on && !c.energised && c.status >= MachineLost || in.Skip > stepsMost {
		c.initialised = false
	}
	if c.energised = on; !c.initialised {
		c.begin()
	} else if c.status == MachineLost || c.status == MachineLeft {
		y[0] = float64(c.status)
		return engine.OK, 0
	}
	dt := in.Dt * float64(1+in.Skip)
	c.t += dt
	arrived := true
	for k := range c.axes {
		h := &c.axes[k]
		q, v, a := h.fade.At(c.t)
		c.m.FollowMotion(c.s.Joints[k].Joint, manipulator.Drawn{Q: q, V: v, A: a})
		arrived = arrived && h.fade.Finished(c.t)
	}
	st := c.m.Step(dt, c.x, nil, c.outputs)
	switch {
	case st == engine.Limited:
		c.status = MachineLeft
	case st != engine.OK:
		c.status = MachineLost
	case !arrived:
		c.status = MachinePlaced
	default:
		c.status = MachineOK
	}
	y[0] = float64(c.status)
	if c.status == MachineLost {
		return st, 0
	}
	for i, at := range c.outputIndex {
		y[1+i] = c.outputs[at]
	}
	return engine.OK, 0
}

// begin puts the chain in its equilibrium, and lays out the way from there to the axes.
func (c *Chain) begin() {
	copy(c.x, c.start)
	c.t, c.initialised, c.status = 0, true, MachinePlaced
	for k := range c.axes {
		h := &c.axes[k]
		from := c.start[c.s.Joints[k].Joint]
		h.fade = *reference.NewFade(h, math.Max(placeLeast, math.Abs(h.q-from)/placeSpeed), from)
	}
}
