package estimator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// lossPattern says which samples of a cycle come.
type lossPattern struct {
	name  string
	comes []bool
}

func lossPatterns() []lossPattern {
	every := func(n, lost int) (c []bool) {
		for j := range n {
			c = append(c, j >= lost)
		}
		return c
	}
	rng := rand.New(rand.NewPCG(8, 15))
	var random []bool
	for range 64 {
		random = append(random, rng.IntN(2) == 0)
	}
	return []lossPattern{{"none", every(1, 0)}, {"1 of 10", every(10, 1)}, {"1 of 2", every(2, 1)}, {"2 of 4", every(4, 2)}, {"4 of 8", every(8, 4)}, {"8 of 16", every(16, 8)},
		{"8 of 40", every(40, 8)}, {"8 of 9", every(9, 8)}, {"half, random", random}}
}

// growth is the factor by which a small error of the estimate grows per sampling period once the covariance has settled to the
// pattern: the spectral radius of the filter over a cycle, to the power of one over its length.
func growth(t *testing.T, s KalmanSpec, p lossPattern) float64 {
	k := newKalman(t, s)
	cycle := func(k *Kalman) {
		for _, c := range p.comes {
			k.Predict(s.Dt, 0, 0)
			k.Correct([3]float64{}, [3]bool{c, c})
		}
	}
	k.begin(0)
	for range 4000/len(p.comes) + 20 {
		cycle(k)
	}
	m := mat.NewDense(nX, nX, nil)
	for j := range nX {
		c := *k
		size := 1e-3 * math.Sqrt(k.p[j][j]) // small against the nonlinearity of the brush drop
		c.x = vector{}
		c.x[j] = size
		cycle(&c)
		for i := range nX {
			m.Set(i, j, c.x[i]/size)
		}
	}
	var e mat.Eigen
	if !e.Factorize(m, mat.EigenNone) {
		t.Fatal("no eigenvalues")
	}
	r := 0.0
	for _, l := range e.Values(nil) {
		r = max(r, math.Hypot(real(l), imag(l)))
	}
	return math.Pow(r, 1/float64(len(p.comes)))
}

// An error of the estimate dies out at every rate under every loss of samples, with and without a brush drop.
func TestKalmanStability(t *testing.T) {
	var w strings.Builder
	for _, p := range lossPatterns() {
		fmt.Fprintf(&w, "| %s", p.name)
		for _, rate := range []float64{50, 100, 200, 500, 1000, 2000, 5000, 10000} {
			var r [2]float64
			for j, motor := range []float64{0, 0.6} {
				s := demoKalman()
				s.Dt, s.PositionNoise, s.TorqueWalk, s.Motor.BrushDrop = 1/rate, 1e-4, 0.1, motor
				if r[j] = growth(t, s, p); !(r[j] < 0.99) {
					t.Errorf("%g Hz, lost %s, brush drop %g V: an error grows by %.4f per period, want below 0.99", rate, p.name, motor, r[j])
				}
			}
			fmt.Fprintf(&w, " | %.2f", max(r[0], r[1]))
		}
		w.WriteString(" |\n")
	}
	t.Log("\n" + w.String())
}
