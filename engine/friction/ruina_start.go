package friction

import "math"

// start is where the search for the speed of a step begins: the w with
//
//	c·(w − v) + N·f(w, θ) = u
//
// for the θ of the beginning of the step. A step of a creeping contact changes its speed by powers of ten, and in w the
// force is a logarithm there: Newton's method from w = v would run over zero and back for thirty evaluations. With
// y = asinh(κ·w), κ = exp((μ0 + θ)/A)/(2v0), G = N·A and r = c·v + u the equation is
//
//	c·w + G·asinh(κ·w) = r    or    (c/κ)·sinh y + G·y = r,
//
// concave in w and convex in y. If w1 = (r − G·asinh(κ·r/c))/c is positive, it lies below the root, and Newton's method in w
// climbs to it; if not, friction dominates, y = r/G lies above the root by no more than about ln(r/G), and Newton's method in
// y falls to it.
func (p *StateVariable) start(z []float64, c, v, u float64, in Input) float64 {
	a, n := p.direct(), p.normal(in.N)
	r := c*v + u
	g := n * a
	if !(c > 0) || r == 0 || g == 0 {
		return v
	}
	side := math.Copysign(1, r)
	r *= side
	lnk := (p.Mu0+z[0])/a - math.Log(2*p.V0)
	y := asinhExp(lnk + math.Log(r/c))
	if w := (r - g*y) / c; w > 0 {
		for range 8 {
			y = asinhExp(lnk + math.Log(w))
			step := (r - c*w - g*y) / (c + g*math.Tanh(y)/w)
			w += step
			if step <= 1e-4*w {
				break
			}
		}
		return side * w
	}
	// in y; t is the part of the inertia, with t' = t·coth y
	y = min(y, r/g)
	t := 0.0
	for range 12 {
		t = c * math.Exp(lnSinh(y)-lnk)
		step := (t + g*y - r) / (t/math.Tanh(y) + g)
		y -= step
		if math.Abs(step) <= 1e-4 || y <= 0 {
			break
		}
	}
	w := math.Exp(lnSinh(max(y, 1e-300)) - lnk)
	if w < creepSpeed { // on the chord
		w = r / (c + g*asinhExp(lnk+math.Log(creepSpeed))/creepSpeed)
	}
	return side * w
}

// asinhExp is asinh(e^y).
func asinhExp(y float64) float64 {
	switch {
	case y > 18:
		return y + math.Ln2
	case y > 0:
		e := math.Exp(-y)
		return y + math.Log(1+math.Sqrt(1+e*e))
	}
	return math.Asinh(math.Exp(y))
}

// lnSinh is ln(sinh y) for y > 0.
func lnSinh(y float64) float64 {
	if y > 18 {
		return y - math.Ln2
	}
	return math.Log(math.Sinh(y))
}
