package machine

import (
	"fmt"
	"slices"
	"strings"

	"hilrig/engine"
	"hilrig/engine/spelling"
)

// Watch reads chosen numbers of a machine that is stepped.
type Watch struct {
	Signals []engine.Signal
	Forces  bool // some are accelerations or forces of constraints: they want Stepper.Forces before
	places  []place
}

// place is where a number stands.
type place struct {
	quantity quantity
	index    int
}

type quantity uint8

const (
	ofState quantity = iota // position, velocity, current, bristle
	ofConstraint
	ofAcceleration
	ofMover
	ofLoad
	ofShown
	ofResidual
)

// allSignals are all numbers that a stepper shows, as Machine.Columns names them, and the accelerations of joints with one coordinate.
func (s *Stepper) allSignals() (signals []engine.Signal, from []place) {
	m := s.M
	n := m.Size()
	for i, c := range m.Columns()[:n+m.Model.NC()] {
		p := place{ofState, i}
		if i >= n {
			p = place{ofConstraint, i - n}
		}
		signals, from = append(signals, c), append(from, p)
	}
	for i := range m.axes {
		a := &m.axes[i]
		if a.cutIndex < 0 {
			unit := "rad/s²"
			if a.linear {
				unit = "m/s²"
			}
			signals, from = append(signals, engine.Signal{Name: a.name + ".a", Unit: unit}), append(from, place{ofAcceleration, a.iv})
		}
	}
	for k := range s.movers {
		if b := &s.movers[k]; b.isFriction {
			signals, from = append(signals, engine.Signal{Name: b.name + frictionSuffix, Unit: m.axes[b.axis].unit()}),
				append(from, place{ofMover, k})
		}
	}
	for k, l := range m.loads {
		signals, from = append(signals, engine.Signal{Name: m.axes[l.axis].name + loadSuffix, Unit: "N"}), append(from, place{ofLoad, k})
	}
	for k, p := range m.Parts {
		if by, ok := p.(shower); ok {
			for i, g := range by.DerivedSignals() {
				signals, from = append(signals, g), append(from, place{ofShown, k<<8 | i})
			}
		}
	}
	if m.Model.NC() > 0 {
		signals, from = append(signals, engine.Signal{Name: "residual"}), append(from, place{quantity: ofResidual})
	}
	return signals, from
}

// Watch chooses numbers by their names: crank.q, pin.x. The name of a body, loop, coupling or motor alone stands for all of it. Without
// names it is all there is.
func (s *Stepper) Watch(names ...string) (*Watch, error) {
	signals, from := s.allSignals()
	w := &Watch{}
	take := func(i int) {
		if !slices.Contains(w.Signals, signals[i]) {
			w.Signals, w.places = append(w.Signals, signals[i]), append(w.places, from[i])
			w.Forces = w.Forces || from[i].quantity == ofConstraint || from[i].quantity == ofAcceleration
		}
	}
	if len(names) == 0 {
		for i := range signals {
			take(i)
		}
	}
	for _, name := range names {
		found := false
		for i, g := range signals {
			if g.Name == name || strings.HasPrefix(g.Name, name+".") {
				take(i)
				found = true
			}
		}
		if !found {
			var all []string
			for _, g := range signals {
				all = append(all, g.Name)
			}
			return nil, fmt.Errorf("no number %q%s; there are %s", name, spelling.DidYouMean(name, all), strings.Join(all, ", "))
		}
	}
	return w, nil
}

// Read writes the numbers for the state x, the end of the last step.
func (w *Watch) Read(s *Stepper, x, y []float64) {
	for i, p := range w.places {
		switch p.quantity {
		case ofState:
			y[i] = x[p.index]
		case ofConstraint:
			y[i] = s.M.Data.Lambda[p.index]
		case ofAcceleration:
			y[i] = s.M.Data.QDD[p.index]
		case ofMover:
			y[i] = -s.movers[p.index].f
		case ofLoad:
			y[i] = s.M.loads[p.index].force
		case ofShown:
			m := s.M
			m.Parts[p.index>>8].(shower).Show(m.partValues)
			y[i] = m.partValues[p.index&255]
		case ofResidual:
			y[i], _ = s.M.Data.Residual()
		}
	}
}

// At is where position and velocity of a joint with one coordinate stand in a state.
func (s *Stepper) At(joint string) (position, velocity int, err error) {
	k, err := s.M.Axis(joint)
	if err != nil {
		return 0, 0, err
	}
	a := &s.M.axes[k]
	return a.iq, s.M.Model.NQ() + a.iv, nil
}
