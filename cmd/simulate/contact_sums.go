package simulate

import (
	"math"
	"slices"

	"hilrig/engine"
)

// coordSums gathers what is said about coordinates and their speeds: means over time, extremes, the end.
type coordSums struct {
	time         float64 // s
	lo, hi       []float64
	mean         []float64
	speed, swing []float64 // mean and largest |u|
	final        []float64
	q, u         [3][]float64 // three places of a span
}

func (c *coordSums) start(n int) {
	f := func(v float64) []float64 { return slices.Repeat([]float64{v}, n) }
	c.lo, c.hi, c.mean, c.speed, c.swing, c.final = f(math.Inf(1)), f(math.Inf(-1)), f(0), f(0), f(0), f(0)
	for k := range c.q {
		c.q[k], c.u[k] = f(0), f(0)
	}
}

// extend widens the extremes to a state, which becomes the end.
func (c *coordSums) extend(q, u []float64) {
	for i, x := range q {
		c.lo[i], c.hi[i] = min(c.lo[i], x), max(c.hi[i], x)
		c.swing[i] = max(c.swing[i], math.Abs(u[i]))
		c.final[i] = x
	}
}

// weigh adds a state that stands for h (s).
func (c *coordSums) weigh(q, u []float64, h float64) {
	c.time += h
	for i, x := range q {
		c.mean[i] += h * x
		c.speed[i] += h * math.Abs(u[i])
	}
}

// span adds a smooth motion that at gives from a to b (s): Simpson's rule over short parts, extremes where a speed is zero.
func (c *coordSums) span(a, b float64, at func(t float64, q, u []float64)) {
	const parts = 16
	h := (b - a) / parts
	at(a, c.q[0], c.u[0])
	c.extend(c.q[0], c.u[0])
	for k := range parts {
		t0, t1 := a+float64(k)*h, a+float64(k+1)*h
		if k == parts-1 {
			t1 = b
		}
		at(t0+0.5*h, c.q[1], c.u[1])
		at(t1, c.q[2], c.u[2])
		for i, w := range [3]float64{1. / 6, 4. / 6, 1. / 6} {
			c.weigh(c.q[i], c.u[i], w*h)
		}
		c.extend(c.q[2], c.u[2])
		c.turns(t0, t1, at)
		c.q[0], c.q[2], c.u[0], c.u[2] = c.q[2], c.q[0], c.u[2], c.u[0]
	}
}

// turns widens the extremes of coordinates that turn back between two places.
func (c *coordSums) turns(t0, t1 float64, at func(t float64, q, u []float64)) {
	for i := range c.lo {
		if c.u[0][i]*c.u[2][i] >= 0 {
			continue
		}
		sign := math.Copysign(1, c.u[0][i])
		lo, hi := t0, t1
		for range 24 {
			mid := 0.5 * (lo + hi)
			at(mid, c.q[1], c.u[1])
			if sign*c.u[1][i] > 0 {
				lo = mid
			} else {
				hi = mid
			}
		}
		c.lo[i], c.hi[i] = min(c.lo[i], c.q[1][i]), max(c.hi[i], c.q[1][i])
	}
}

func (c *coordSums) metrics(coords []engine.Signal) (out []Metric) {
	if c.time == 0 {
		return nil
	}
	for i, s := range coords {
		out = append(out,
			Metric{s.Name + "_end", s.Unit, c.final[i]}, Metric{s.Name + "_min", s.Unit, c.lo[i]}, Metric{s.Name + "_max", s.Unit, c.hi[i]},
			Metric{s.Name + "_mean", s.Unit, c.mean[i] / c.time},
			Metric{"mean_abs_" + s.Name + "_dot", perSecond(s.Unit), c.speed[i] / c.time},
			Metric{"max_abs_" + s.Name + "_dot", perSecond(s.Unit), c.swing[i]})
	}
	return out
}
