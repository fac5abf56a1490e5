// Package linkage is the plant of a virtual rig whose axes are joints of a machine: bodies on joints, loops, springs, shafts and belts of
// package machine.
//
// Each axis is a plant.Joint: its drive, its friction, any law with a stick mode or without, its stops and its load make its step as in the
// other plants, as a mass that has the mobility of the joint with all loops closed. The fixed step of machine.Stepper brings them together:
// order two.
package linkage

import (
	"errors"
	"fmt"
	"slices"

	"hilrig/engine"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
	"hilrig/engine/plant"
)

// Spec describes a machine whose axes are driven.
type Spec struct {
	// Stepper makes the machine with a fixed step, and its state at the start.
	Stepper func(o machine.StepOptions) (*machine.Stepper, []float64, error)
	Axes    []plant.AxisSpec // by the names of their joints
	Watch   []string         // numbers of the machine that stand behind those of the axes
}

// Plant is a machine as an engine.System: x = [state of the machine | current, temperature and friction law of each axis | time], inputs
// u = [command, enable] of each axis, outputs those of each axis and the numbers that are watched. Not for concurrent use.
type Plant struct {
	s          *machine.Stepper
	watch      *machine.Watch
	joints     []joint
	start      []float64
	savedState []float64 // the state before a step that is cut
	size       int       // of the state of the machine
}

// joint is one of the axes: where position and velocity stand in the state of the machine, and the rest of its state in that of the plant.
type joint struct {
	*plant.Joint
	name     string
	q, v     int
	ownRange [2]int
}

// New checks the description. Stepper is asked with the axes as movers; the inertia of their rotors has to be in the machine already.
func New(s Spec) (*Plant, error) {
	p := &Plant{}
	if len(s.Axes) == 0 || len(s.Axes) > plant.MostAxes {
		return nil, fmt.Errorf("plant: machine: %d axes, want 1 to %d", len(s.Axes), plant.MostAxes)
	}
	movers := map[string]machine.Mover{}
	var errs []error
	for _, a := range s.Axes {
		j, err := plant.NewJoint(a)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		movers[a.Name] = j
		p.joints = append(p.joints, joint{Joint: j, name: a.Name})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var x []float64
	var err error
	if p.s, x, err = s.Stepper(machine.StepOptions{Movers: movers}); err != nil {
		return nil, err
	}
	p.size = len(x)
	p.start = append(p.start, x...)
	for k := range p.joints {
		j := &p.joints[k]
		if j.q, j.v, err = p.s.At(j.name); err != nil {
			return nil, err
		}
		j.ownRange = [2]int{len(p.start), len(p.start) + j.OwnStates()}
		p.start = append(p.start, j.NewState()[plant.Current:]...)
	}
	p.start = append(p.start, 0)
	p.savedState = make([]float64, len(p.start))
	if len(s.Watch) > 0 {
		if p.watch, err = p.s.Watch(s.Watch...); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// NewState is the machine at its start, every axis relaxed and at ambient temperature.
func (p *Plant) NewState() []float64 { return slices.Clone(p.start) }

// Layout names states, inputs and outputs.
func (p *Plant) Layout() engine.Layout {
	m := p.s.M
	l := engine.Layout{NQ: m.Model.NQ(), NV: m.Model.NV(), States: m.Columns()[:p.size]}
	for k := range p.joints {
		own := p.joints[k].Axis.Layout()
		l.States = append(l.States, own.States[plant.Current:]...)
		l.Inputs, l.Outputs = append(l.Inputs, own.Inputs...), append(l.Outputs, own.Outputs...)
	}
	l.States = append(l.States, engine.Signal{Name: "time", Unit: "s"})
	l.NA = len(l.States) - l.NQ - l.NV
	if p.watch != nil {
		l.Outputs = append(l.Outputs, p.watch.Signals...)
	}
	return l
}

// Step advances x by dt (s) with u held. Where something is not finite, or the loops cannot be closed, x stays as it was and the status
// says so.
func (p *Plant) Step(dt float64, x, u, y []float64) (st engine.Status) {
	// controllers of the machine sample at their own instants
	if p.s.SubStep(x[len(x)-1], dt) < dt {
		copy(p.savedState, x)
		defer func() {
			if st == engine.NonFinite {
				copy(x, p.savedState)
			}
		}()
	}
	for left, now := dt, &x[len(x)-1]; ; {
		d := p.s.SubStep(*now, left)
		before := *now
		if one := p.stride(d, x, u, y); one != engine.OK {
			st = one
		}
		if d == left || *now == before {
			return st
		}
		left -= d
	}
}

// stride is a Step without samples inside.
func (p *Plant) stride(dt float64, x, u, y []float64) engine.Status {
	own, now := x[:p.size], &x[len(x)-1]
	ready := true
	for k := range p.joints {
		j := &p.joints[k]
		ready = j.Begin(dt, own[j.q], own[j.v], x[j.ownRange[0]:j.ownRange[1]], u[2*k:2*k+2]) && ready
	}
	st := engine.NonFinite
	if ready {
		st = p.s.Step(*now, dt, own)
	}
	gone := st != engine.NonFinite && (p.s.LastStatus == multibody.OK || p.s.LastStatus == multibody.Singular)
	for k := range p.joints {
		j, out := &p.joints[k], y[plant.Outputs*k:plant.Outputs*(k+1)]
		if gone {
			j.Finish(own[j.q], own[j.v], x[j.ownRange[0]:j.ownRange[1]], out)
		} else {
			j.Leave(out)
		}
	}
	if gone {
		*now += dt
	}
	if p.watch != nil {
		if p.watch.Forces && gone {
			p.s.Forces(*now, dt, own)
		}
		p.watch.Read(p.s, own, y[plant.Outputs*len(p.joints):])
	}
	return st
}

// StatusText says what the last step has met.
func (p *Plant) StatusText() string { return p.s.StatusText() }

// Settings are the supply, and load and temperature of each axis.
func (p *Plant) Settings() (all []engine.Signal) {
	all = plant.Settings(false)
	for k := range p.joints {
		all = append(all, p.joints[k].Settings()...)
	}
	return all
}

// Set changes a setting and returns what it was.
func (p *Plant) Set(k int, x []float64, v float64) (was float64) {
	if k == 0 {
		for i := range p.joints {
			was = p.joints[i].Supply(v)
		}
		return was
	}
	j := &p.joints[(k-1)/2]
	if k%2 == 1 {
		return j.Load(v)
	}
	at := &x[j.ownRange[0]+plant.Temperature-plant.Current]
	was, *at = *at, v
	return was
}
