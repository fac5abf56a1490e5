package curve

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

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
	top := 0.0
	for _, a := range r {
		top = max(top, math.Abs(a))
	}
	lo, hi := 0.0, top*math.Sqrt(float64(len(r))/free)
	for range 60 {
		if mid := (lo + hi) / 2; chi(mid) > free {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
