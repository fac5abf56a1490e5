package plant

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hilrig/engine"
)

// Kind is a kind of plant: what its axes are and how they hang together.
type Kind struct {
	Name, Title string
	Linear      bool // m and N instead of rad and N·m
	Axes        int  // number of them; 0: any, each by itself
	Posture     bool // what an axis carries depends on where the plant stands: no constant inertia and load
}

// Kinds are the plants of this package.
var Kinds = []Kind{
	{"motor", "shafts on motors, with cogging and a constant load", false, 0, false},
	{"stage", "slides on a line, with end stops", true, 0, false},
	{"pendulum", "rods that swing about a bearing under gravity", false, 0, true},
	{"two-link", "planar arm of two links", false, 2, true},
}

// MostAxes is the number of axes that a plant may have.
const MostAxes = 4

// Find is the kind of a name; nil: there is none.
func Find(name string) *Kind {
	if i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name }); i >= 0 {
		return &Kinds[i]
	}
	return nil
}

// Spec describes a plant.
type Spec struct {
	Kind    string
	Axes    []AxisSpec
	TwoLink TwoLink // of the arm
}

// Plant is one or several axes as an engine.System: x = [q | v | current, temperature and friction law of each axis], inputs
// u = [command, enable] of each, outputs those of each axis, Outputs by Outputs. Not for concurrent use.
type Plant struct {
	axes         []*Axis
	arm          *arm        // nil: each axis by itself
	stateOffsets []int       // where the rest of each axis begins in x
	x            [][]float64 // the state of each axis
}

// New checks the description.
func New(s Spec) (*Plant, error) {
	k := Find(s.Kind)
	switch {
	case k == nil:
		var names []string
		for _, k := range Kinds {
			names = append(names, k.Name)
		}
		return nil, fmt.Errorf("plant: no kind %q, there are %s", s.Kind, strings.Join(names, ", "))
	case k.Axes > 0 && len(s.Axes) != k.Axes:
		return nil, fmt.Errorf("plant: %s has %d axes, got %d", k.Name, k.Axes, len(s.Axes))
	case len(s.Axes) == 0 || len(s.Axes) > MostAxes:
		return nil, fmt.Errorf("plant: %s: %d axes, want 1 to %d", k.Name, len(s.Axes), MostAxes)
	}
	p := &Plant{}
	var errs []error
	if k.Name == "two-link" {
		p.arm = s.TwoLink.arm()
		errs = append(errs, s.TwoLink.Validate())
	}
	at := 2 * len(s.Axes)
	for _, a := range s.Axes {
		a.Linear = k.Linear
		axis, err := NewAxis(a)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.axes, p.stateOffsets, p.x = append(p.axes, axis), append(p.stateOffsets, at), append(p.x, axis.NewState())
		at += axis.states() - 2
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return p, nil
}

// Axis is one of the axes.
func (p *Plant) Axis(k int) *Axis { return p.axes[k] }

// NewState is the plant at rest at zero, relaxed, at ambient temperature.
func (p *Plant) NewState() []float64 {
	last := len(p.axes) - 1
	x := make([]float64, p.stateOffsets[last]+p.axes[last].states()-2)
	for k, a := range p.axes {
		copy(p.x[k], a.NewState())
	}
	p.scatter(x)
	return x
}

// Layout names states, inputs and outputs.
func (p *Plant) Layout() engine.Layout {
	n := len(p.axes)
	l := engine.Layout{NQ: n, NV: n}
	var rest []engine.Signal
	l.States = make([]engine.Signal, 2*n)
	for k, a := range p.axes {
		own := a.Layout()
		l.States[k], l.States[n+k] = own.States[Theta], own.States[Omega]
		rest = append(rest, own.States[Current:]...)
		l.Inputs, l.Outputs = append(l.Inputs, own.Inputs...), append(l.Outputs, own.Outputs...)
	}
	l.States, l.NA = append(l.States, rest...), len(rest)
	return l
}

// Step advances x by dt (s) with u held. A non-finite input or state leaves its axis, of an arm both, untouched and says so.
func (p *Plant) Step(dt float64, x, u, y []float64) engine.Status {
	p.gather(x)
	status := engine.OK
	if p.arm != nil {
		one, two := p.axes[0], p.axes[1]
		if first, second := one.begin(dt, p.x[0], u[:2]), two.begin(dt, p.x[1], u[2:]); !first || !second {
			one.outputs(p.x[0], y[:Outputs])
			two.outputs(p.x[1], y[Outputs:])
			return engine.NonFinite
		}
		status = p.arm.step(dt, [2]*Axis{one, two}, p.x[0], p.x[1], y[:Outputs], y[Outputs:])
	} else {
		for k, a := range p.axes {
			status = max(status, a.Step(dt, p.x[k], u[2*k:2*k+2], y[Outputs*k:Outputs*(k+1)]))
		}
	}
	p.scatter(x)
	return status
}

// gather cuts x into the states of the axes.
func (p *Plant) gather(x []float64) {
	n := len(p.axes)
	for k, own := range p.x {
		own[Theta], own[Omega] = x[k], x[n+k]
		copy(own[Current:], x[p.stateOffsets[k]:])
	}
}

// scatter puts them together again.
func (p *Plant) scatter(x []float64) {
	n := len(p.axes)
	for k, own := range p.x {
		x[k], x[n+k] = own[Theta], own[Omega]
		copy(x[p.stateOffsets[k]:], own[Current:])
	}
}
