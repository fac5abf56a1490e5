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
	return []lossPattern{{"none", every(1, 0)}, {"1 of 10", every(10, 1)}, {"1 of 2", every(2, 1)}, {"2 of 4", every(4, 2)},
		{"4 of 8", every(8, 4)}, {"8 of 16", every(16, 8)},
		{"8 of 40", every(40, 8)}, {"8 of 9", every(9, 8)}, {"half, random", random}}
}

// growth is the factor by which a small error of the estimate grows per sampling period once the covariance has settled to the
// pattern: the spectral radius of the filter over a cycle, to the power of one over its length.
func growth(t *testing.T, k *Kalman, p lossPattern) float64 {
	cycle := func(k *Kalman) {
		for _, c := range p.comes {
			k.Predict(k.s.dt, 0, 0)
			k.Correct(&[3]float64{}, &[3]bool{c, c})
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
		if size == 0 {
			continue // an axis without a current
		}
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

// An error of the estimate dies out at every rate under every loss of samples: of a motor with and without a brush drop, of an axis under
// an effort, and of one that nothing drives.
func TestKalmanStability(t *testing.T) {
	var w [2]strings.Builder
	for _, p := range lossPatterns() {
		for j := range w {
			fmt.Fprintf(&w[j], "| %s", p.name)
		}
		for _, rate := range []float64{50, 100, 200, 500, 1000, 2000, 5000, 10000} {
			var r [4]float64
			for j := range r {
				var k *Kalman
				var err error
				if j < 2 {
					s := demoKalman()
					s.Dt, s.PositionNoise, s.TorqueWalk, s.Motor.BrushDrop = 1/rate, 1e-4, 0.1, 0.6*float64(j)
					k, err = NewKalman(s)
				} else {
					k, err = NewMechanicalKalman(MechanicalSpec{Dt: 1 / rate, PositionNoise: 1e-4, Inertia: 7e-5 * float64(3-j),
						Walk: [4]float64{2: 0.1, 3: 40}[j], EffortNoise: 1e-3})
				}
				if err != nil {
					t.Fatal(err)
				}
				if r[j] = growth(t, k, p); !(r[j] < 0.99) {
					t.Errorf("%g Hz, lost %s, axis %d: an error grows by %.4f per period, want below 0.99", rate, p.name, j, r[j])
				}
			}
			fmt.Fprintf(&w[0], " | %.2f", max(r[0], r[1]))
			fmt.Fprintf(&w[1], " | %.2f", max(r[2], r[3]))
		}
		for j := range w {
			w[j].WriteString(" |\n")
		}
	}
	t.Log("\nmotor\n" + w[0].String() + "effort, and none\n" + w[1].String())
}
