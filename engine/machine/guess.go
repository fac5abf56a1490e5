package machine

import "math"

const (
	guessOrders = 4    // differences that a guess takes at most
	guessEvery  = 16   // steps after which the contraction is measured again
	guessSlack  = 10   // times a contraction that was measured in another step is reckoned with
	guessOwn    = 4    // times one of the same step
	guessKeeps  = 0.8  // share of a contraction that the next one has at least: what the errors shrink by depends on their direction
	guessLeast  = 1e-4 // of a contraction: below it rounding is measured
)

// guess is where the accelerations of the steps before lead to: on the polynomial through the last of them that would have led to the
// last one best.
type guess struct {
	steps       int // that it goes by
	order       int // points of the polynomial
	differences [guessOrders][]float64
	// contraction is by how much an evaluation changes the speeds, as a share of the one before; measured so many steps ago.
	contraction float64
	measured    int
	// stiffSpring: a spring between frames is so stiffSpring that the speeds may turn round in every step. A guess may be on the far side of
	// it then, where the equations of the step have another solution: a step begins at the position that is known.
	stiffSpring bool
	span        float64 // s  the last step: the polynomial knows steps of one length
}

func newGuess(n int) (g guess) {
	for k := range g.differences {
		g.differences[k] = make([]float64, n)
	}
	g.forget()
	return g
}

// forget forgets what came before.
func (g *guess) forget() { g.steps, g.order, g.contraction, g.stiffSpring = 0, 0, math.Inf(1), false }

// means writes the means of the speeds over a step of h (s) from v.
func (g *guess) means(h float64, v, w []float64) {
	if h != g.span {
		g.steps, g.order, g.span = min(g.steps, 1), min(g.order, 1), h
	}
	if g.stiffSpring {
		clear(w)
		return
	}
	copy(w, v)
	for _, d := range g.differences[:g.order] {
		for i, x := range d {
			w[i] += h / 2 * x
		}
	}
}

// learn takes the accelerations of a step.
func (g *guess) learn(a []float64) {
	var missed [guessOrders + 1]float64 // by the polynomials of 1, 2, … points
	known := min(g.steps, guessOrders)
	for i, x := range a {
		for k := range known {
			d := &g.differences[k][i]
			x, *d = x-*d, x
			missed[k+1] = max(missed[k+1], math.Abs(x))
		}
		if known < guessOrders {
			g.differences[known][i] = x
		}
	}
	if g.steps++; g.steps <= 2 {
		g.order = g.steps
		return
	}
	g.order = 1
	for k := 2; k <= known; k++ {
		if missed[k] < missed[g.order] {
			g.order = k
		}
	}
}

// watch takes by how much an evaluation and the one before it changed the speeds.
func (g *guess) watch(before, change float64) {
	share := max(guessLeast, change/before)
	if g.contraction < math.Inf(1) {
		share = max(share, guessKeeps*g.contraction)
	}
	g.contraction, g.measured = share, 0
}

// converged tells whether a step whose evaluations, so many of them, changed the speeds last by change is within tolerance of where the
// next one would lead.
func (g *guess) converged(evaluations int, change, tolerance float64) bool {
	if evaluations > 1 {
		return guessOwn*g.contraction*change <= tolerance
	}
	if g.measured++; g.measured >= guessEvery {
		return false
	}
	return guessSlack*g.contraction*change <= tolerance
}
