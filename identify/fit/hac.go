package fit

import (
	"hilrig/engine/numeric"
	"math"

	"gonum.org/v1/gonum/floats"
)

// LongRun is the covariance of the sum of the scores g_k, one slice for each of their components [NW87]:
//
//	S = Γ0 + Σ_{l=1..L} (1 − l/(L+1))·(Γl + Γlᵀ),   Γl = Σ_k g_k·g_{k−l}ᵀ
//
// with the bandwidth L of the AR(1) plug-in for these weights [A91] (6.4): L = 1.1447·(α·N)^⅓, where
// α = 4ρ²/((1−ρ)²(1+ρ)²) is averaged over the scores, each by its own variance. Products never reach across pieces.
//
// The triangular weights are those of windows of L+1 rows that slide over the scores: S is also
//
//	S = 1/(L+1)·Σ_t B_t·B_tᵀ,   B_t = Σ_{i=t−L..t} g_i
//
// which takes N·p² products whatever the bandwidth, and shows that S has no negative direction.
func LongRun(g [][]float64, pieces []int) (s []float64, lags int) { return LongRunOver(g, pieces, 0) }

// LongRunOver is LongRun with windows of at least least rows. Scores whose neighbours cancel, as those of a second difference of white noise do, look
// nearly independent from row to row, and only windows longer than their ups and downs show how little they add up to.
func LongRunOver(g [][]float64, pieces []int, least int) (s []float64, lags int) {
	n := len(g[0])
	lags = bandwidth(g, n, pieces, least)
	return windows(g, nil, n, lags, pieces), lags
}

// RobustQuantile is the 97.5 % quantile of an estimate over its standard error by LongRun, with b = (L+1)/N [KV05]: triangular
// weights lose some of the correlation, and the rest is estimated from few windows. For L = 0 it is that of Student's
// distribution with N degrees of freedom, to 2 % down to N = 4.
func RobustQuantile(b float64) float64 {
	b = math.Min(b, 1)
	return 1.9600 + b*(2.9694+b*(0.4160-b*0.5324))
}

// widening is by how much an interval from LongRun has to be wider than one from a covariance that is known.
func widening(lags, n int) float64 {
	if lags == 0 {
		return 1
	}
	return RobustQuantile(float64(lags+1)/float64(n)) / 1.9600
}

// bandwidth is the plug-in for the number of lags, between 1, or least, and a quarter of the longest piece.
func bandwidth(g [][]float64, n int, pieces []int, least int) int {
	num, den := 0.0, 0.0
	for _, x := range g {
		rho, _ := lagCorrelation(x, 1, pieces)
		rho = math.Max(math.Min(rho, 0.97), -0.97)
		innov := floats.Dot(x, x) * (1 - rho*rho)
		num += 4 * rho * rho * innov * innov / (math.Pow(1-rho, 6) * (1 + rho) * (1 + rho))
		den += innov * innov / math.Pow(1-rho, 4)
	}
	lags := int(math.Min(1.1447*math.Cbrt(numeric.OrZero(num/den)*float64(n)), float64(n)))
	return min(max(lags, least, 1), longest(n, pieces)/4)
}

// windows adds up the outer products of the sliding sums of g. Where g are the scores of residuals, q are the orthonormal columns
// that these were fitted with, else nil. A window draws the fit to itself: of the covariance of B_t the fit leaves I − G_t,
// G_t = Σ q_k·q_kᵀ over the window, and (I − G_t)^(−½)·B_t makes up for that [BM02]. Rows that depend on each other draw by more
// than their own leverage: for windows as long as their memory the sum knows that, single rows do not.
func windows(g, q [][]float64, n, lags int, pieces []int) []float64 {
	p := len(g)
	s, sum, row := make([]float64, p*p), make([]float64, p), make([]float64, p)
	own, buf := make([]float64, p*p), make([]float64, 3*p)
	slide := func(k int, sign float64) {
		for j, x := range g {
			sum[j] += sign * x[k]
		}
		for j, x := range q {
			row[j] = x[k]
		}
		for i := range q {
			for j, c, to := 0, sign*row[i], own[i*p:i*p+p]; j < len(to); j++ {
				to[j] += c * row[j]
			}
		}
	}
	each(n, pieces, func(from, to int) {
		clear(sum)
		clear(own)
		for t := from; t < to+lags; t++ {
			if t < to {
				slide(t, 1)
			}
			if k := t - lags - 1; k >= from {
				slide(k, -1)
			}
			b := sum
			if q != nil {
				b = undrawn(own, sum, buf)
			}
			for i, bi := range b {
				for j := range i + 1 {
					s[i*p+j] += bi * b[j]
				}
			}
		}
	})
	for i := range p {
		for j := range i + 1 {
			s[i*p+j] /= float64(lags + 1)
			s[j*p+i] = s[i*p+j]
		}
	}
	return s
}

// undrawn is (I − G)^(−½)·b by its series Σ (2m−1)!!/(2m)!!·Gᵐ·b, cut where its terms are below 1e-12, or after 200 of
// them: in a direction that a window takes whole there is nothing left to make up for. buf has room for three vectors.
func undrawn(g, b, buf []float64) []float64 {
	p := len(b)
	out, term, next := buf[:p], buf[p:2*p], buf[2*p:3*p]
	copy(out, b)
	copy(term, b)
	for m := 1; m <= 200; m++ {
		small, c := true, 1-0.5/float64(m)
		for i := range next {
			x := 0.0
			for j, v := range g[i*p : i*p+p] {
				x += v * term[j]
			}
			x *= c
			next[i] = x
			out[i] += x
			small = small && math.Abs(x) <= 1e-12*math.Abs(out[i])
		}
		if small {
			break
		}
		term, next = next, term
	}
	return out
}
