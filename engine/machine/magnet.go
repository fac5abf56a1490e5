package machine

import "fmt"

// magnetic is a part with electromagnets: a circuit.
type magnetic interface {
	GapOutOfRange(q []float64) (name string, x, x0 float64, beyond bool)
}

// magnetOutOfRange says which electromagnet has left the range of its inductance at the positions q of a state; "": none.
func (m *Machine) magnetOutOfRange(q []float64) string {
	for _, p := range m.Parts {
		c, ok := p.(magnetic)
		if !ok {
			continue
		}
		for k := range m.axes {
			if a := &m.axes[k]; a.cutIndex < 0 {
				m.q[k] = q[a.iq]
			}
		}
		if name, x, x0, is := c.GapOutOfRange(m.q); is {
			return fmt.Sprintf("magnet %s: the gap x = %.6g is below −x0/2 = %.6g, where L(x) does not hold; give it a seat, a stop that is "+
				"stiffer, or a larger x0", name, x, -x0/2)
		}
	}
	return ""
}
