package axis

import "math"

// feedForward regresses the effort of the feedback on that which the equations of the machine give: where those are right, the feedback
// knows nothing of it, and the slope is 0. A gravity of the wrong sign leaves twice itself to the feedback, −2; a mass that is half the
// true one as much again, 1.
type feedForward struct {
	// s, (N·m)², (N·m)²  means of the squares of what is given, and of its product with the feedback
	duration, meanSquare, meanProduct float64
}

const (
	feedMean  = 5.0 // s
	feedLeast = 2.0 // s  to tell
)

// add takes what is given and the feedback (N·m) of a tick of dt (s).
func (f *feedForward) add(given, feedback, dt float64) {
	f.duration += dt
	w := max(dt/f.duration, dt/feedMean)
	f.meanSquare += w * (given*given - f.meanSquare)
	f.meanProduct += w * (given*feedback - f.meanProduct)
}

// slope is the slope, where the feedback that belongs to it is more than least (N·m, rms); else 0.
func (f *feedForward) slope(least float64) float64 {
	if !(f.meanSquare > 0) || f.duration < feedLeast || !(math.Abs(f.meanProduct) > least*math.Sqrt(f.meanSquare)) {
		return 0
	}
	return f.meanProduct / f.meanSquare
}
