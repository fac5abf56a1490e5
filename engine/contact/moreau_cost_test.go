package contact_test

import (
	"testing"

	"hilrig/engine/contact"
	"hilrig/engine/lcp"
)

// still costs next to nothing itself: 11 coordinates, two contacts that slide for ever. What a step of it takes beyond
// Frictional.Solve is the engine.
type still struct{}

func (still) DOF() int                                            { return 11 }
func (still) Mass(_ float64, _, _ []float64)                      {}
func (still) Force(_ float64, _, _, _ []float64)                  {}
func (still) Project(*contact.Set, []int32, []float64, []float64) {}

func (still) Accelerate(_ float64, _, _, _ []float64) bool { return false }

func (still) Free(_, _, _ float64, _, u, ufree []float64) bool {
	copy(ufree, u)
	ufree[1] -= 1e-4
	return true
}

// first is a still that fills its contacts and D once.
type first struct {
	still
	n int
}

func (s *first) Contacts(_ float64, _, _ []float64, _ float64, set *contact.Set) {
	if set.N > 0 {
		return
	}
	for k := range s.n {
		i := set.Add(uint32(k), contact.Law{Mu: 0.2, EpsN: 0.3}, 0)
		copy(set.RowN(i), []float64{0, 1, float64(k), 0, 1})
		copy(set.RowT(i), []float64{1, 0, 1, 1})
		set.VT[i] = 3
	}
}

func (s *first) Project(_ *contact.Set, chosen []int32, x, d []float64) {
	for i := range 2 * len(chosen) {
		d[i*2*len(chosen)+i] = 1
		x[i*11] = 0
	}
}

// The engine around a problem of two contacts; Solve alone for comparison.
func BenchmarkMoreauStep(b *testing.B) {
	for _, n := range []int{0, 1, 2, 6} {
		sys := &first{n: n}
		m, err := contact.NewMoreau(sys, contact.MoreauOptions{Step: 20e-6})
		if err != nil {
			b.Fatal(err)
		}
		q, u := make([]float64, 11), make([]float64, 11)
		u[0] = 1
		name := string(rune('0' + n))
		b.Run("step/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Step(0, q, u)
			}
		})
		if n == 0 {
			continue
		}
		d, bb, mu := make([]float64, 4*n*n), make([]float64, 2*n), make([]float64, n)
		st, p := make([]lcp.State, n), make([]float64, 2*n)
		for i := range 2 * n {
			d[i*2*n+i] = 1
		}
		for k := range n {
			bb[2*k], bb[2*k+1], mu[k] = -1e-4, 3, 0.2
		}
		f := lcp.NewFrictional(24)
		b.Run("solve/"+name, func(b *testing.B) {
			for b.Loop() {
				f.Solve(d, bb, mu, st, p)
			}
		})
	}
}
