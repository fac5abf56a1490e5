package fit

import "math"

// coordinates are those in which LM works: s = ln θ for Log parameters, s = θ for the others.
type coordinates struct {
	params []Param
	lo, hi []float64
	scale  []float64 // by which a linear parameter typically changes; 1 for logarithms
	given  []bool    // the scale is the user's
	clip   []float64 // the longest step
}

func newCoordinates(params []Param, scale map[string]float64) *coordinates {
	n := len(params)
	c := &coordinates{
		params: params, lo: make([]float64, n), hi: make([]float64, n),
		scale: make([]float64, n), given: make([]bool, n), clip: make([]float64, n),
	}
	for j, p := range params {
		c.lo[j], c.hi[j] = p.Lo, p.Hi
		width := p.Hi - p.Lo
		s, given := scale[p.Name]
		switch {
		case p.Log:
			c.lo[j], c.hi[j] = math.Log(p.Lo), math.Log(p.Hi)
			c.scale[j], c.given[j], c.clip[j] = 1, true, longestStep
		case given:
			c.scale[j], c.given[j], c.clip[j] = s, true, longestStep*s
		case !math.IsInf(width, 0):
			c.scale[j], c.clip[j] = width/10, width/4
		default:
			c.clip[j] = math.Inf(1)
			if c.scale[j] = math.Abs(p.Value); p.Value == 0 {
				c.scale[j] = 1
			}
		}
	}
	return c
}

// from writes the coordinates of theta, pulled into the bounds.
func (c *coordinates) from(theta, s []float64) {
	for j, p := range c.params {
		v := theta[j]
		if p.Log {
			v = math.Log(v)
		}
		s[j] = min(max(v, c.lo[j]), c.hi[j])
	}
}

// theta writes the parameters at s; on a bound, the bound to the last bit.
func (c *coordinates) theta(s, theta []float64) {
	for j, p := range c.params {
		switch {
		case s[j] <= c.lo[j]:
			theta[j] = p.Lo
		case s[j] >= c.hi[j]:
			theta[j] = p.Hi
		case p.Log:
			theta[j] = min(max(math.Exp(s[j]), p.Lo), p.Hi)
		default:
			theta[j] = s[j]
		}
	}
}

// slope is dθ/ds.
func (c *coordinates) slope(j int, theta float64) float64 {
	if c.params[j].Log {
		return theta
	}
	return 1
}
