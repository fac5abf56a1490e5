package servo

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/circuit/drivetrain"
)

// Part is a circuit with the controllers that measure or supply it, or controllers of joints alone. Not for concurrent use.
type Part struct {
	Circuit *circuit.Circuit // nil: none

	label       string
	list        []*Controller // those that set the references of others come first
	signals     []engine.Signal
	size        int // states of the circuit, which come first
	axes        int
	coupledAxes []int
	instant     view
	outputs     []float64 // of all controllers, as they were asked last
	step        stepper
}

var _ drivetrain.Part = (*Part)(nil)

// New checks controllers around a circuit (nil: none) of a machine with so many axes. The error joins all that is wrong.
func New(label string, c *circuit.Circuit, axes int, list []Controller) (*Part, error) {
	p := &Part{Circuit: c, label: label, axes: axes}
	var errs []error
	if c != nil {
		p.signals, p.size = append(p.signals, c.States()...), len(c.States())
		p.coupledAxes = append(p.coupledAxes, c.CoupledAxes()...)
	}
	taken := map[Target]string{}
	for i := range list {
		k := &list[i]
		if err := k.check(axes); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", k.Name, err))
			continue
		}
		for j := range k.Channels {
			ch := &k.Channels[j]
			if ch.Quantity == State {
				if ch.stateIndex = p.place(ch.State); ch.stateIndex < 0 {
					errs = append(errs, fmt.Errorf("%s: feedback: no current or voltage of a capacitor %q in the circuit", k.Name, ch.State))
				}
			} else {
				p.add(ch.Axis)
			}
			if ch.To.Source == nil {
				p.add(ch.To.Axis)
			}
			if by := taken[ch.To]; by != "" {
				errs = append(errs, fmt.Errorf("%s: sets what %s sets already", k.Name, by))
			}
			taken[ch.To] = k.Name
		}
		if k.Rotor != nil {
			p.add(k.Axis)
		}
		p.list = append(p.list, k)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := p.order(); err != nil {
		return nil, err
	}
	p.layout()
	return p, nil
}

func (p *Part) add(axis int) {
	if !slices.Contains(p.coupledAxes, axis) {
		p.coupledAxes = append(p.coupledAxes, axis)
	}
}

// place is where a current or the voltage of a capacitor stands; −1: there is none.
func (p *Part) place(name string) int {
	if p.Circuit == nil {
		return -1
	}
	k := p.Circuit.Place(name)
	if k >= p.Circuit.Windings() && p.Circuit.Capacitance(k) == 0 {
		return -1
	}
	return k
}

// refers tells whether a sets a reference of b.
func refers(a, b *Controller) bool {
	for i := range a.Channels {
		for j := range b.Channels {
			if by, ok := b.Channels[j].Reference.(*circuit.Held); ok && a.Channels[i].To.Source == by {
				return true
			}
		}
	}
	return false
}

// order puts controllers before those whose references they set.
func (p *Part) order() error {
	var done []*Controller
	left := p.list
	for len(left) > 0 {
		k := slices.IndexFunc(left, func(b *Controller) bool {
			return !slices.ContainsFunc(left, func(a *Controller) bool { return refers(a, b) })
		})
		if k < 0 {
			return fmt.Errorf("%s: controllers set each other's references in a ring", left[0].Name)
		}
		done, left = append(done, left[k]), slices.Delete(slices.Clone(left), k, k+1)
	}
	p.list = done
	return nil
}

// layout places the states and the workspace.
func (p *Part) layout() {
	at, outs := p.size, 0
	for _, c := range p.list {
		n := len(c.Channels)
		c.stateOffset, c.origin = at, outs
		outs += n
		numbers := []string{".integral"}
		if c.sampled() {
			numbers = append(numbers, ".output")
		}
		for _, what := range numbers {
			for k := range c.Channels {
				ch := &c.Channels[k]
				name := c.Name
				if ch.Name != "" {
					name += "." + ch.Name
				}
				p.signals = append(p.signals, engine.Signal{Name: name + what, Unit: ch.Unit})
				at++
			}
		}
	}
	p.outputs = make([]float64, outs)
	p.step = newStepper(p)
}

// Name is the line of the audit.
func (p *Part) Name() string { return p.label }

// States are those of the circuit, then integrals and outputs that are held.
func (p *Part) States() []engine.Signal { return p.signals }

// CoupledAxes are the axes that the part acts on or looks at.
func (p *Part) CoupledAxes() []int { return p.coupledAxes }

// Audit makes Trial return energies.
func (p *Part) Audit(on bool) {
	if p.Circuit != nil {
		p.Circuit.Audited = on
	}
}

// GapOutOfRange is the answer of the circuit; false: there is no circuit.
func (p *Part) GapOutOfRange(q []float64) (name string, x, x0 float64, beyond bool) {
	if p.Circuit == nil {
		return "", 0, 0, false
	}
	return p.Circuit.GapOutOfRange(q)
}

// Reset writes the state in which all begins: integrals empty, nothing set.
func (p *Part) Reset(z []float64) {
	clear(z)
	if p.Circuit != nil {
		p.Circuit.Reset(z[:p.size])
	}
	clear(p.outputs)
	clear(p.step.u)
}

// StoredEnergy is the energy (J) of the circuit.
func (p *Part) StoredEnergy(q, z []float64) float64 {
	if p.Circuit == nil {
		return 0
	}
	return p.Circuit.StoredEnergy(q, z[:p.size])
}

// DerivedSignals are what the circuit shows, and the outputs of continuous controllers, which are no states; Show writes them as they were
// asked last.
func (p *Part) DerivedSignals() (list []engine.Signal) {
	if p.Circuit != nil {
		list = p.Circuit.DerivedSignals()
	}
	for _, c := range p.list {
		for k := range c.Channels {
			if ch := &c.Channels[k]; !c.sampled() {
				name := c.Name
				if ch.Name != "" {
					name += "." + ch.Name
				}
				list = append(list, engine.Signal{Name: name + ".output", Unit: ch.Unit})
			}
		}
	}
	return list
}

// Show writes the numbers of DerivedSignals and returns how many there are.
func (p *Part) Show(y []float64) (n int) {
	if p.Circuit != nil {
		n = p.Circuit.Show(y)
	}
	for _, c := range p.list {
		if !c.sampled() {
			n += copy(y[n:], p.outputs[c.origin:c.origin+len(c.Channels)])
		}
	}
	return n
}

// Next is the first instant after t (s) at which a source or a reference jumps, or a controller samples.
func (p *Part) Next(t float64) float64 {
	next := p.NextSample(t)
	if p.Circuit != nil {
		next = min(next, p.Circuit.Next(t))
	}
	for _, c := range p.list {
		for k := range c.Channels {
			if j, ok := c.Channels[k].Reference.(circuit.Jumping); ok && !c.sampled() {
				next = min(next, j.Next(t))
			}
		}
	}
	return next
}

// NextSample is the first sample after t (s).
func (p *Part) NextSample(t float64) float64 {
	next := math.Inf(1)
	for _, c := range p.list {
		if c.sampled() {
			next = min(next, c.next(t))
		}
	}
	return next
}

// Sample lets every controller sample whose instant is t (s), to slack (s): 0 where t is what NextSample said, or the start.
func (p *Part) Sample(t, slack float64, q, v, z []float64) {
	s := &p.instant
	s.t, s.q, s.v, s.x = t, q, v, z[:p.size]
	for _, c := range p.list {
		n := len(c.Channels)
		own, out := z[c.stateOffset:], p.outputs[c.origin:c.origin+n]
		if !c.sampled() {
			c.act(s, own, out)
		} else {
			if k := math.Round(t / c.SamplePeriod); math.Abs(k*c.SamplePeriod-t) <= slack {
				c.sample(s, own)
			}
			copy(out, own[n:2*n])
		}
		c.applyOutput(out, nil)
	}
}

// Flow writes dz/dt and adds the forces of the instant to tau.
func (p *Part) Flow(t float64, q, v, z, dz, tau []float64) (power circuit.Power, st engine.Status) {
	s := &p.instant
	s.t, s.q, s.v, s.x = t, q, v, z[:p.size]
	in := 0.0
	for _, c := range p.list {
		n := len(c.Channels)
		own, d, out := z[c.stateOffset:], dz[c.stateOffset:], p.outputs[c.origin:c.origin+n]
		if c.sampled() {
			copy(out, own[n:2*n])
			clear(d[:2*n])
		} else {
			c.act(s, own, out)
			for k := range n {
				d[k] = c.growth(k, own[k], s)
			}
		}
		c.applyOutput(out, tau)
		for k := range n {
			if to := &c.Channels[k].To; to.Source == nil {
				in += out[k] * v[to.Axis]
			}
		}
	}
	if p.Circuit != nil {
		power, st = p.Circuit.Flow(t, q, v, z[:p.size], dz[:p.size], tau)
	}
	power.Input += in
	power.Output += in
	return power, st
}
