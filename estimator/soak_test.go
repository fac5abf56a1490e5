//go:build soak

package estimator

import "testing"

func TestSoakRLSOnMotor(t *testing.T) { onMotor(t, 20) }

// Every kind of axis at every rate.
func TestSoakAxisAgainstIdeal(t *testing.T) {
	againstIdeal(t, []stream{{}, {loss: 0.1}, {loss: 0.3}, {loss: 0.5}, {loss: 0.5, more: 1.5}, {burst: 3}, {burst: 8},
		{burst: 8, more: 1.5}}, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
}

// Every kind of gap, of axis and of guess.
func TestSoakLeastSquaresAcrossGaps(t *testing.T) {
	acrossGaps(t, 20, 5.5, []float64{0.7, 1.3}, [][2]float64{{1, 20}, {1, 100}, {12, 100}, {30, 50}, {49, 100}, {100, 100}})
}

// Every rate, with LuGre's friction and Coulomb's. Of 250 intervals of 95 % fewer than 225 hold once in 2600 by chance, of 100 fewer than
// 90 once in 87, and there are 32 counts.
func TestSoakRLSCoverage(t *testing.T) {
	rlsCoverage(t, 250, []float64{50, 200, 500, 1000}, []bool{false, true}, 0.8, 1.2)
}
