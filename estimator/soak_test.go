//go:build soak

package estimator

import "testing"

func TestSoakRLSOnMotor(t *testing.T) { onMotor(t, 20) }

// Every kind of axis at every rate.
func TestSoakAxisAgainstIdeal(t *testing.T) {
	againstIdeal(t, []stream{{}, {loss: 0.1}, {loss: 0.3}, {loss: 0.5}, {loss: 0.5, more: 1.5}, {burst: 3}, {burst: 8},
		{burst: 8, more: 1.5}}, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
}
