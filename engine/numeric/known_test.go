package numeric

import (
	"math/rand/v2"
	"testing"
)

// An answer belongs to the numbers, not to the place where they stand: numbers that change in place get another one, in pieces or whole.
func TestAnswersFollowTheNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 2000)
	for k := range x {
		x[k] = rng.NormFloat64()
	}
	before := Noise(x)
	if again := Noise(x); again != before {
		t.Errorf("%g, then %g", before, again)
	}
	for k := range x {
		x[k] *= 3
	}
	if after := Noise(x); !(after > 2.9*before && after < 3.1*before) {
		t.Errorf("three times the noise is %g, was %g", after, before)
	}
	if printOf([][]float64{x}) == printOf([][]float64{x[:1000], x[1000:]}) {
		t.Error("pieces have the print of the whole")
	}
	var a answers
	asked := 0
	for i := range 3 * keptAnswers {
		a.get([][]float64{{float64(i)}}, func() float64 { asked++; return 0 })
	}
	if asked != 3*keptAnswers || len(a.byKey) != keptAnswers || len(a.order) != keptAnswers {
		t.Errorf("asked %d times, %d answers are kept", asked, len(a.byKey))
	}
}
