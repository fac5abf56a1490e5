package circuit

import (
	"fmt"
	"math"

	"hilrig/engine"
)

// Place is where a state stands in x, by its name as in States; −1: there is none.
func (c *Circuit) Place(name string) int {
	for k, s := range c.signals {
		if s.Name == name {
			return k
		}
	}
	return -1
}

// Windings is the number of currents, the first states; voltages of capacitors follow.
func (c *Circuit) Windings() int { return len(c.windings) }

// Capacitance is that of the capacitor whose voltage is state k (F); 0: it is another state.
func (c *Circuit) Capacitance(k int) float64 {
	if k -= len(c.windings); k >= 0 && k < len(c.capacitors) {
		return c.capacitors[k].c
	}
	return 0
}

// Mean is that of state k, a current or the voltage of a capacitor, over the last Trial, and its derivative by the mean speed of an axis.
func (c *Circuit) Mean(k, axis int) (mean, slope float64) {
	s := &c.step
	for i, a := range s.coupledAxes {
		if a == axis {
			slope = s.dmean[i*s.lin+k]
		}
	}
	return s.stepMean[k], slope
}

// End is that of state k after the last Trial, and its derivative by the mean speed of an axis.
func (c *Circuit) End(k, axis int) (end, slope float64) {
	s := &c.step
	for i, a := range s.coupledAxes {
		if a == axis {
			slope = s.dx[i*s.lin+k]
		}
	}
	return s.x[k], slope
}

// DerivedSignals are the currents of windings without inductance, which are no states.
func (c *Circuit) DerivedSignals() (list []engine.Signal) {
	for _, l := range c.step.spin {
		list = append(list, engine.Signal{Name: c.leads[l].name + ".i", Unit: "A"})
	}
	return list
}

// Show writes them as Flow found them last, or the means of the last Trial, and returns how many there are.
func (c *Circuit) Show(y []float64) (n int) {
	for i, l := range c.step.spin {
		y[i] = c.solution.y[len(c.windings)+len(c.nodes)+l]
	}
	return len(c.step.spin)
}

// Difference are three instants (s) about t = 0 and what a first derivative there weighs what is found at them (1/s): by the middle, or by
// what comes after where time begins or a source jumps just before t, or by what went before where one jumps just after. next is the first
// jump after an instant.
func Difference(t float64, next func(t float64) float64) (at, weight [3]float64) {
	const s = 1e-6 // s
	switch {
	case t < s || next(t-s) <= t:
		return [3]float64{0, s, 2 * s}, [3]float64{-1.5 / s, 2 / s, -0.5 / s}
	case next(t) <= t+s:
		return [3]float64{0, -s, -2 * s}, [3]float64{1.5 / s, -2 / s, 0.5 / s}
	}
	return [3]float64{0, s, -s}, [3]float64{0, 0.5 / s, -0.5 / s}
}

// SecondDerivative writes the second derivative of the state, d²x/dt² = change + Σ_k by_k·v_k′, for a machine that is at q with the speeds
// v and whose circuit changes by dx (of Flow). change is taken by a difference along the motion, by (one slice of the length of x for each
// axis) exactly: the equations are linear in the speeds. work has room for 2·len(x) + 2·axes numbers.
func (c *Circuit) SecondDerivative(t float64, q, v, x, dx, change, by, work []float64) engine.Status {
	n := len(x)
	y, dy := work[:n], work[n:2*n]
	p, tau := work[2*n:2*n+c.axes], work[2*n+c.axes:2*n+2*c.axes]
	worst := engine.OK
	at := func(d float64, out []float64) {
		for k := range y {
			y[k] = x[k] + d*dx[k]
		}
		for k := range p {
			p[k] = q[k] + d*v[k]
		}
		if _, st := c.Flow(t+d, p, v, y, out, tau); st != engine.OK {
			worst = st
		}
	}
	clear(change)
	apart, weight := Difference(t, c.Next)
	for i, d := range apart {
		if weight[i] == 0 {
			continue
		}
		at(d, dy)
		for k := range change {
			change[k] += weight[i] * dy[k]
		}
	}
	for axis := range c.axes {
		copy(p, v)
		p[axis]++
		if _, st := c.Flow(t, q, p, x, dy, tau); st != engine.OK {
			worst = st
		}
		for k := range n {
			by[axis*n+k] = dy[k] - dx[k]
		}
	}
	return worst
}

// StiffnessHint says of a run that takes too many steps which winding is likely behind it; "": none is that fast.
func (c *Circuit) StiffnessHint() string {
	name, tau := c.Fastest()
	if !(tau < 1e-4) {
		return ""
	}
	return fmt.Sprintf("; the winding %s settles in L/R = %.2g s, which the adaptive integrator has to follow: leave its inductance out",
		name, tau)
}

// Fastest is the winding that follows its voltage soonest if nothing else holds it back: its name and L/R (s), +Inf where no winding
// has a resistance. L is the diagonal at the position of the last call.
func (c *Circuit) Fastest() (name string, tau float64) {
	tau = math.Inf(1)
	for g := range c.groups {
		p := &c.groups[g]
		for k := range p.m {
			w := &c.windings[p.firstWinding+k]
			if t := p.mag.L[k*p.m+k] / w.r; t < tau {
				name, tau = w.name, t
			}
		}
	}
	return name, tau
}
