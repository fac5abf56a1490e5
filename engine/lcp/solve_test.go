package lcp

import (
	"math"
	"testing"
)

func TestSmoke(t *testing.T) {
	z := make([]float64, 2)
	r := NewSolver(2).Solve([]float64{2, 1, 1, 2}, []float64{-5, -6}, z)
	if r.Status != Solved || math.Abs(z[0]-4.0/3) > 1e-15 || math.Abs(z[1]-7.0/3) > 1e-15 {
		t.Error(r, z)
	}
}
