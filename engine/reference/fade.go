package reference

// Fade leads from rest at a given position into another motion g:
//
//	pos = startPos + w·(g − startPos),   w(x) = x³(10 − 15x + 6x²),  x = t/duration
//
// w rises from 0 to 1 with first and second derivative zero at both ends, so position, velocity and acceleration are
// continuous where the fade begins and where it ends; the derivatives follow the product rule, they are not scaled.
type Fade struct {
	g        Generator
	duration float64 // s
	startPos float64 // rad
}

// NewFade wraps g by a start of the given duration (s, > 0) from rest at from (rad).
func NewFade(g Generator, duration, from float64) *Fade {
	return &Fade{g: g, duration: duration, startPos: from}
}

// Finished tells whether the motion at t (s) is that of g.
func (f *Fade) Finished(t float64) bool { return t >= f.duration }

// At returns the motion at t (s).
func (f *Fade) At(t float64) (pos, vel, acc float64) {
	if t <= 0 {
		return f.startPos, 0, 0
	}
	p, v, a := f.g.At(t)
	if t >= f.duration {
		return p, v, a
	}
	x := t / f.duration
	w := x * x * x * (10 + x*(6*x-15))
	dw := 30 * x * x * (1 - x) * (1 - x) / f.duration
	ddw := 60 * x * (1 - x) * (1 - 2*x) / (f.duration * f.duration)

	p -= f.startPos
	return f.startPos + w*p, dw*p + w*v, ddw*p + 2*dw*v + w*a
}
