package curve

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// meanError is the mean of a series and the standard error of that mean. Samples of a running machine depend on each
// other, so the variance of the mean is
//
//	s² = (1/n)·[γ0 + 2·Σ (1 − k/n)·γk]
//
// with the autocovariances γk summed in pairs as long as the pairs stay positive (the initial positive sequence of Geyer,
// which needs no bandwidth). It replaces γ0/n·(1+ρ)/(1−ρ), which holds for a first-order process only. A negative
// correlation is not trusted to make the mean better than that of independent samples.
func meanError(x []float64) (m, se float64) {
	n := len(x)
	m = stat.Mean(x, nil)
	// means of blocks say the same of a long series
	if every := (n + longest - 1) / longest; every > 1 {
		blocks := make([]float64, n/every)
		for b := range blocks {
			blocks[b] = stat.Mean(x[b*every:(b+1)*every], nil)
		}
		x, n = blocks, len(blocks)
	}
	g0 := autocovariance(x, m, 0)
	if !(g0 > 0) {
		return m, 0
	}
	return m, math.Sqrt(g0 * inefficiencyOf(x, m, g0) / float64(n-1))
}

const longest = 20000 // samples whose autocovariances are summed as they are

// inefficiencyOf is how many samples of the series count as one: n·s²/γ0, at least 1. The mean takes away from γ0 as much
// as its own variance, which is put back.
func inefficiencyOf(x []float64, mean, g0 float64) float64 {
	n := len(x)
	sum := 0.0
	for k := 0; k+1 < max(2, n/2); k += 2 {
		pair := (autocovariance(x, mean, k) + autocovariance(x, mean, k+1)) / g0
		if pair <= 0 {
			break
		}
		sum += pair * (1 - float64(k)/float64(n))
	}
	t := max(1, 2*sum-1)
	return t / max(0.1, 1-t/float64(n))
}

// autocovariance is γk, the sum divided by n.
func autocovariance(x []float64, mean float64, k int) float64 {
	s := 0.0
	for i := k; i < len(x); i++ {
		s += (x[i] - mean) * (x[i-k] - mean)
	}
	return s / float64(len(x))
}

// autocorrelation is by how much a residual takes after the one before it within its piece; 0: not beyond chance. Every smooth curve
// that was fitted to the n residuals takes away (1 + rho)/n of it, and the ratio itself 2·rho/n (Marriott and Pope), which are put back.
func autocorrelation(fitted int, pieces ...[]float64) float64 {
	pairs, square, n := 0.0, 0.0, 0.0
	for _, x := range pieces {
		for k := 1; k < len(x); k++ {
			pairs += x[k] * x[k-1]
			square += (x[k]*x[k] + x[k-1]*x[k-1]) / 2
		}
		n += float64(len(x))
	}
	used := float64(fitted)
	rho := (n*pairs/square + used) / (n - used - 2)
	if !(n > used+2) || !(rho > 3/math.Sqrt(n)) {
		return 0
	}
	return min(rho, 0.999)
}

// mandelPaule is the standard deviation τ common to residuals r beside their own standard errors se: that with which
// Σ r²/(se² + τ²) equals the degrees of freedom (Mandel and Paule). It is zero while it was zero and chance would bring as
// much in one case of a hundred.
func mandelPaule(r, se []float64, free, was float64) float64 {
	chi := func(tau float64) float64 {
		s := 0.0
		for k, a := range r {
			s += a * a / (se[k]*se[k] + tau*tau)
		}
		return s
	}
	switch {
	case was == 0 && chi(0) < (distuv.ChiSquared{K: free}).Quantile(0.99):
		return 0
	case chi(0) <= free:
		return 0
	}
	lo, hi := 0.0, floats.Norm(r, math.Inf(1))*math.Sqrt(float64(len(r))/free)
	for range 60 {
		if mid := (lo + hi) / 2; chi(mid) > free {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
