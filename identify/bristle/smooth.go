package bristle

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"
)

// smoother removes the noise of the encoder from a position: the x that minimises
//
//	Σ (y_k − x_k)² + λ·Σ (Δᵖx)_k²,    Δᵖ the p-th difference.
//
// With D the matrix of the differences the normal equations (1 + λDᵀD)·x = y are solved in their dual form,
//
//	(1 + λDDᵀ)·w = D·y,    x = y − λDᵀ·w,
//
// whose matrix is the same band everywhere and whose right-hand side is small: what is lost to rounding is relative to the
// correction, not to the position. Banded Cholesky, O(N·p²).
type smoother struct {
	p int
	c []float64 // row of DDᵀ from the diagonal on, (−1)ʲ·C(2p, p+j)
	d []float64 // row of D, (−1)ʲ·C(p, j), the newest sample first
	l []float64 // Cholesky factor, p+1 numbers per row, the diagonal last
	w []float64
}

// lambdaTop is the largest penalty: the band has entries up to C(8,4)·λ, and the digits of a double end at 1e16.
const lambdaTop = 1e12

// newSmoother is one for signals of n samples at most.
func newSmoother(order, n int) *smoother {
	s := &smoother{p: order, l: make([]float64, (n-order)*(order+1)), w: make([]float64, n-order)}
	for j := range order + 1 {
		sign := float64(1 - 2*(j&1))
		s.c = append(s.c, sign*float64(combin.Binomial(2*order, order+j)))
		s.d = append(s.d, sign*float64(combin.Binomial(order, j)))
	}
	return s
}

// smoothPieces smooths every piece of the data and returns the rms of y − x.
func (s *smoother) smoothPieces(d *data, y []float64, lambda float64, x []float64) (rms float64) {
	sum := 0.0
	for _, p := range d.spans {
		sum += s.run(y[p.start:p.stop], lambda, x[p.start:p.stop])
	}
	return math.Sqrt(sum / float64(len(y)))
}

// run smooths y with the penalty lambda to x and returns the sum of squares of y − x.
func (s *smoother) run(y []float64, lambda float64, x []float64) (total float64) {
	p, n := s.p, len(y)-s.p
	w := s.w[:n]
	// differences of the data
	for i := range n {
		sum := 0.0
		for j, d := range s.d {
			sum += d * y[i+p-j]
		}
		w[i] = sum
	}

	// factor and forward substitution, row by row
	for i := range n {
		row := s.l[i*(p+1) : (i+1)*(p+1)]
		for j := max(0, i-p); j <= i; j++ {
			sum := lambda * s.c[i-j]
			if i == j {
				sum++
			}
			other := s.l[j*(p+1) : (j+1)*(p+1)]
			for k := max(0, i-p); k < j; k++ {
				sum -= row[k-i+p] * other[k-j+p]
			}
			if i == j {
				row[p] = math.Sqrt(sum)
			} else {
				row[j-i+p] = sum / other[p]
			}
		}
		sum := w[i]
		for k := max(0, i-p); k < i; k++ {
			sum -= row[k-i+p] * w[k]
		}
		w[i] = sum / row[p]
	}
	for i := n - 1; i >= 0; i-- {
		sum := w[i]
		for k := i + 1; k <= min(n-1, i+p); k++ {
			sum -= s.l[k*(p+1)+i-k+p] * w[k]
		}
		w[i] = sum / s.l[i*(p+1)+p]
	}

	// x = y − λDᵀw
	for k := range y {
		sum := 0.0
		for j, d := range s.d { // row i of D reaches sample i+p−j
			if i := k - p + j; i >= 0 && i < n {
				sum += d * w[i]
			}
		}
		sum *= lambda
		x[k] = y[k] - sum
		total += sum * sum
	}
	return total
}

// discrepancy is the penalty that leaves residuals of the given rms: what the noise of the encoder would leave. The rms
// grows with the penalty. If even the largest one leaves less, that one. x is for the smoothed signal.
func (s *smoother) discrepancy(d *data, y []float64, rms float64, x []float64) float64 {
	lo, hi := math.Log(1e-3), math.Log(lambdaTop)
	for range 18 { // to a ten-thousandth
		mid := (lo + hi) / 2
		if s.smoothPieces(d, y, math.Exp(mid), x) < rms {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Exp((lo + hi) / 2)
}
