package fit

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/engine/numeric"
)

// Parts of a record whose residuals are compared.
const (
	unevenParts = 8
	minPartRows = 30 // rows
)

// Uneven is the probability that the mean squares of the residual in equal parts of a record differ as much as they do by chance, if it is
// alike all along: noise of a sensor is, whatever it depends on its neighbours; what a model lacks of a motion that dies away is not. With
// S_i the sum of the squares in part i of K and V the long-run variance of all of them about the mean of their part [NW87],
//
//	Σ (S_i − mean)²·K/V   is of chi-squared with K − 1 degrees of freedom,
//
// once V is widened by what windows in so short a part miss [KV05].
//
// 1: the rows are too few to tell.
func Uneven(s *Solution) float64 {
	n := len(s.Residual)
	each := n / unevenParts
	if each < minPartRows {
		return 1
	}
	var sums [unevenParts]float64
	d, ends, mean := make([]float64, each*unevenParts), make([]int, 0, unevenParts), 0.0
	for i := range sums {
		if i > 0 {
			ends = append(ends, i*each)
		}
		for k := i * each; k < (i+1)*each; k++ {
			d[k] = s.Residual[k] * s.Residual[k]
			sums[i] += d[k]
		}
		for k := i * each; k < (i+1)*each; k++ {
			d[k] -= sums[i] / float64(each)
		}
		mean += sums[i] / unevenParts
	}
	v, lags := LongRun([][]float64{d}, ends)
	if !(v[0] > 0) {
		return 1
	}
	wide := widening(lags, each)
	q := 0.0
	for _, x := range sums {
		q += (x - mean) * (x - mean) * unevenParts / (wide * wide * v[0])
	}
	return distuv.ChiSquared{K: unevenParts - 1}.Survival(q)
}

// QuietestPart is the least rms of the residual over the parts of a record, in its unit; +Inf: it is too short for them. Noise that depends
// on its neighbours is nowhere as small as from sample to sample.
func QuietestPart(s *Solution) float64 {
	each, least := len(s.Residual)/unevenParts, math.Inf(1)
	for i := 0; each >= minPartRows && i < unevenParts; i++ {
		least = math.Min(least, numeric.RMS(s.Residual[i*each:(i+1)*each]))
	}
	return least
}
