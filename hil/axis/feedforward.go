package axis

import "math"

// feedForward regresses the effort of the feedback on that which the equations of the machine give: where those are right, the feedback knows
// nothing of it, and the slope is 0. A gravity of the wrong sign leaves twice itself to the feedback, −2; a mass that is half the true one as
// much again, 1.
type feedForward struct {
	seen, given, both float64 // s, (N·m)², (N·m)²  means of the squares of what is given, and of its product with the feedback
}

const (
	feedMean  = 5.0 // s
	feedLeast = 2.0 // s  to tell
)

// add takes what is given and the feedback (N·m) of a tick of dt (s).
func (f *feedForward) add(given, feedback, dt float64) {
	f.seen += dt
	w := max(dt/f.seen, dt/feedMean)
	f.given += w * (given*given - f.given)
	f.both += w * (given*feedback - f.both)
}

// left is the slope, where the feedback that belongs to it is more than least (N·m, rms); else 0.
func (f *feedForward) left(least float64) float64 {
	if !(f.given > 0) || f.seen < feedLeast || !(math.Abs(f.both) > least*math.Sqrt(f.given)) {
		return 0
	}
	return f.both / f.given
}
