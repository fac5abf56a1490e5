package friction

import "math"

// start is where the search for the speed of a step begins: the w with
//
//	c·(w − v) + N·f(w, θ) = u
//
// for the θ of the beginning of the step. A step of a creeping contact changes its speed by powers of ten, and in w the
// force is a logarithm there: Newton's method from w = v would run over zero and back for thirty evaluations. With
// y = asinh(w/(2v0)·e^μ), μ = (μ0 + θ)/A, G = N·A and r = c·v + u the equation is
//
//	c·w + G·y = r,   w = 2v0·e^{−μ}·sinh y,
//
// concave in w and convex in y, and y = r/G lies above the root. If the inertia has little to say there, Newton's method in y
// falls to it: nearly at once, as a body that creeps has none. If not, and a step of Newton's method in w leads to a positive
// speed, that lies below the root, and further ones climb to it. It begins at the old velocity if that is not far below r/c,
// where the root would be without friction, and otherwise, or if that leads nowhere, at r/c. If that leads nowhere either,
// friction has the larger part, and y is left to fall from r/c.
func (p *StateVariable) start(z []float64, c, v, u float64, in Input) float64 {
	a, n := p.direct(), p.normal(in.N)
	r := c*v + u
	g := n * a
	switch {
	case !(c > 0) || g == 0:
		return v
	case math.Abs(r) < 1e-290*g: // the last trace of a motion: the logarithms would run out of numbers
		return 0
	}
	side := math.Copysign(1, r)
	r *= side
	mu := (p.Mu0 + z[0]) / a
	y := r / g
	w, coth := p.speedAt(y, mu)
	if !(c*w <= 4*g) {
		if 2*c*side*v > r {
			if w = p.climb(side*v, mu, c, g, r); w > 0 {
				return side * w
			}
		}
		if w = p.climb(r/c, mu, c, g, r); w > 0 {
			return side * w
		}
		y = min(y, asinhExp(mu+p.lnOf(r/c)))
		w, coth = p.speedAt(y, mu)
	}
	for range 12 {
		t := c * w // the part of the inertia
		step := (t + g*y - r) / (t*coth + g)
		if math.Abs(step) < 1e-2 && step*step*t <= 2e-10*(t+g) { // what is left of y; w by sinh(y − step)
			w -= w * step * (coth*(1+step*step/6) - step/2)
			break
		}
		y = max(y-step, 1e-300)
		w, coth = p.speedAt(y, mu)
	}
	if w < creepSpeed { // on the chord
		w = r / (c + g*asinhExp(mu+p.lnOf(creepSpeed))/creepSpeed)
	}
	return side * w
}

// creeps tells whether the slope of friction at the speed w outweighs the inertia of a step, c (kg/s), ten times.
func (p *StateVariable) creeps(w, c, n float64) bool {
	return 10*c*math.Abs(w) < p.normal(n)*p.direct()
}

// speedAt is w = 2v0·e^{−μ}·sinh y and coth y, for y > 0.
func (p *StateVariable) speedAt(y, mu float64) (w, coth float64) {
	e := p.V0 * expNeg(mu-y)
	if y > 18 {
		return e, 1
	}
	left, gone := decay(2 * y)
	return e * gone, (1 + left) / gone
}

// climb is Newton's method in w, from w > 0; the result is not positive if it leads nowhere.
func (p *StateVariable) climb(w, mu, c, g, r float64) float64 {
	for range 8 {
		y := asinhExp(mu + p.lnOf(w))
		tanh := 1.0
		if y < 18 {
			tanh = math.Tanh(y)
		}
		step := (r - c*w - g*y) / (c + g*tanh/w)
		low := min(w, w+step)
		w += step
		// what is left is ½·(step/low)²·g/(c·low + g) of w; the state moves the root by more
		if !(low > 0) || step*step*g <= 1e-6*low*low*(c*low+g) {
			break
		}
	}
	return w
}

// asinhExp is asinh(e^y).
func asinhExp(y float64) float64 {
	switch {
	case y > 18:
		return y + math.Ln2
	case y > 0:
		e := expNeg(y)
		return y + ln(1+math.Sqrt(1+e*e))
	}
	return math.Asinh(expNeg(-y))
}
