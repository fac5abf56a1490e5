package machine

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/multibody"
)

// Coarseness is what steps of a length miss.
type Coarseness struct {
	Error  float64 // largest of any number of the state, divided by one plus its size
	Signal string  // that number
	T      float64 // s  when
	Reason string  // a step that failed; "": none did
}

// coarseOrder is that of the step: its error is 4/3 of the difference to two half steps.
const coarseOrder = 2

// MeasureCoarseness compares n steps of h (s) from the start of a machine with steps of h/2. make gives a machine of its own each time.
// Joints of kicks that rest at the start are given a speed of 1 rad/s or 0.1 m/s, as far as the loops let them: without it a machine that
// is at rest says nothing.
func MeasureCoarseness(make func() (*Stepper, []float64, error), kicks []string, h float64, n int) (c Coarseness, err error) {
	a, x, err := make()
	if err != nil {
		return c, err
	}
	b, y, err := make()
	if err != nil {
		return c, err
	}
	for _, joint := range kicks {
		k, err := a.M.Axis(joint)
		if err != nil {
			return c, err
		}
		axis := &a.M.axes[k]
		speed := 1.0
		if axis.linear {
			speed = 0.1
		}
		if v := &x[a.M.Model.NQ()+axis.iv]; *v == 0 {
			*v = speed
		}
	}
	if _, err := a.Begin(0, x, multibody.Assembly{}); err != nil {
		return c, err
	}
	copy(y, x)
	b.Resume(0, y)
	names := a.M.Columns()
	for k := range n {
		t := float64(k) * h
		whole := a.Step(t, h, x)
		half := b.Step(t, h/2, y)
		if half == engine.OK {
			half = b.Step(t+h/2, h/2, y)
		}
		for i := range x {
			e := math.Abs(x[i]-y[i]) * (1 << coarseOrder) / (1<<coarseOrder - 1) / (1 + math.Abs(y[i]))
			if e > c.Error {
				c.Error, c.Signal, c.T = e, names[i].Name, t+h
			}
		}
		if whole != engine.OK || half != engine.OK {
			if c.Reason = a.StatusText(); whole == engine.OK {
				c.Reason = b.StatusText()
			}
			c.T = t + h
			return c, nil
		}
	}
	return c, nil
}
