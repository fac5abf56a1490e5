package machine

import "math"

const (
	guessOrders = 4    // differences that a guess takes at most
	guessEvery  = 16   // steps after which the contraction is measured again
	guessSlack  = 10   // times the contraction that was measured last is reckoned with
	guessLeast  = 1e-4 // of a contraction: below it rounding is measured
)

// guess is where the accelerations of the steps before lead to: on the polynomial through the last of them that would have led to the last one best.
type guess struct {
	steps       int // that it goes by
	order       int // points of the polynomial
	differences [guessOrders][]float64
	// contraction is by how much the second evaluation of a step changed the speeds, as a share of the first; measured so many steps ago.
	contraction float64
	measured    int
}

func newGuess(n int) (g guess) {
	for k := range g.differences {
		g.differences[k] = make([]float64, n)
	}
	g.clear()
	return g
}

// clear forgets what came before.
func (g *guess) clear() { g.steps, g.order, g.contraction = 0, 0, math.Inf(1) }

// means writes the means of the speeds over a step of h (s) from v.
func (g *guess) means(h float64, v, w []float64) {
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

// watch takes by how much the first two evaluations of a step changed the speeds.
func (g *guess) watch(first, second float64) {
	g.contraction, g.measured = max(guessLeast, second/first), 0
}

// near tells whether a step whose first evaluation changed the speeds by change is within tolerance of where the next one would lead.
func (g *guess) near(change, tolerance float64) bool {
	if g.measured++; g.measured >= guessEvery {
		return false
	}
	return guessSlack*g.contraction*change <= tolerance
}
