package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Whiteness describes how much the rows of a residual depend on their neighbours.
type Whiteness struct {
	White     bool    `json:"white"`             // Ljung–Box does not reject independence at 1 %
	LjungBox  float64 `json:"ljung_box"`         // statistic over Lags
	Lags      int     `json:"ljung_box_lags"`    // rows
	PValue    float64 `json:"ljung_box_p"`       // probability of a larger statistic for independent residuals
	Lag1      float64 `json:"autocorrelation_1"` // at one row
	OutOfBand float64 `json:"out_of_band"`       // share of the lags whose autocorrelation leaves ±2.576/√N; 0.01 if white
	Effective float64 `json:"effective_rows"`    // independent rows with the same information about a mean: N(1−ρ1)/(1+ρ1)
}

// ljungBoxLags is over how many rows residuals are tested for dependence, if the pieces are five times as long.
const ljungBoxLags = 40

// WhitenessOf tests e for independence [LB78]: for one piece
//
//	Q = N(N+2)·Σ ρl²/(N−l)
//
// over L lags follows χ²(L) if there is none. With several pieces, whose first rows are given (nil: one piece), only
// pairs of rows within a piece count, and N−l becomes their number. Correlations are taken about zero. Rows too few for
// a single lag pass the test.
func WhitenessOf(e []float64, pieces []int) Whiteness {
	n := len(e)
	r := Whiteness{White: true, PValue: 1, Effective: float64(n), Lags: min(ljungBoxLags, longest(n, pieces)/5)}
	if r.Lags == 0 {
		return r
	}
	band, out := 2.576/math.Sqrt(float64(n)), 0 // 99 %
	for l := 1; l <= r.Lags; l++ {
		rho, pairs := lagCorrelation(e, l, pieces)
		r.LjungBox += rho * rho / float64(pairs)
		if math.Abs(rho) > band {
			out++
		}
	}
	r.OutOfBand = float64(out) / float64(r.Lags)
	r.LjungBox *= float64(n) * float64(n+2)
	r.PValue = distuv.ChiSquared{K: float64(r.Lags)}.Survival(r.LjungBox)
	r.White = r.PValue > 0.01
	r.Lag1, _ = lagCorrelation(e, 1, pieces)
	r.Effective = float64(n) * math.Min((1-r.Lag1)/(1+r.Lag1), 1)
	return r
}

// Cross is the correlation of a residual with a signal that should not be in it any more.
type Cross struct {
	Lags       int     `json:"lags"`        // rows, to both sides
	Band       float64 `json:"band99"`      // 99 % of the correlations of unrelated signals lie within ± this, each for itself
	Worst      float64 `json:"worst"`       // the correlation farthest from zero …
	WorstLag   int     `json:"worst_lag"`   // … and its lag, rows: positive if the residual follows the signal
	OutOfBand  float64 `json:"out_of_band"` // share of the lags outside the band; 0.01 if unrelated
	Correlated bool    `json:"related"`     // the worst leaves the band that holds all lags together with 99 %
}

// crossLags is over how many rows to each side residuals are compared with a signal.
const crossLags = 25

// CrossOf correlates e_k with u_{k−l}, both about their means, for l = −L … L within the pieces. Both may depend on
// their own past; the variance of a correlation of unrelated signals is then, to first order in 1/N,
//
//	var r = (1/N)·Σ_l ρe(l)·ρu(l)                                                     (Bartlett's formula)
//
// summed up to the lag where ρe is lost in noise, and never taken below that of white residuals. A signal that does not
// change is related to nothing.
func CrossOf(e, u []float64, pieces []int) Cross {
	n := len(e)
	c := Cross{Lags: min(crossLags, longest(n, pieces)/5)}
	e, u = centred(e), centred(u)
	scale := math.Sqrt(floats.Dot(e, e) * floats.Dot(u, u))
	if n < 2 || scale == 0 || math.IsInf(scale, 0) {
		return c
	}

	// how much the dependence of each on its own past widens the band
	widen, noise := 1.0, 2/math.Sqrt(float64(n))
	for l := 1; l < longest(n, pieces)/4; l++ {
		re, _ := lagCorrelation(e, l, pieces)
		if math.Abs(re) < noise {
			break
		}
		ru, _ := lagCorrelation(u, l, pieces)
		widen += 2 * re * ru
	}
	sigma := math.Sqrt(math.Max(widen, 1) / float64(n))
	c.Band = math.Min(2.576*sigma, 1)

	out := 0
	for i, r := range crossCorrelation(e, u, c.Lags, pieces) {
		if math.Abs(r) > math.Abs(c.Worst) {
			c.Worst, c.WorstLag = r, i-c.Lags
		}
		if math.Abs(r) > c.Band {
			out++
		}
	}
	lags := float64(2*c.Lags + 1)
	c.OutOfBand = float64(out) / lags
	c.Correlated = math.Abs(c.Worst) > math.Min(distuv.UnitNormal.Quantile(1-0.005/lags)*sigma, 1)
	return c
}

// Autocorrelation is that of x, taken about zero, at 0 … lags rows within the pieces.
func Autocorrelation(x []float64, lags int, pieces []int) []float64 {
	out := make([]float64, lags+1)
	for l := range out {
		out[l], _ = lagCorrelation(x, l, pieces)
	}
	return out
}

// CrossCorrelation is that of e_k with u_{k−l}, both about their means, for l = −lags … lags within the pieces.
func CrossCorrelation(e, u []float64, lags int, pieces []int) []float64 {
	return crossCorrelation(centred(e), centred(u), lags, pieces)
}

// crossCorrelation is CrossCorrelation of signals whose means are zero.
func crossCorrelation(e, u []float64, lags int, pieces []int) []float64 {
	scale := math.Sqrt(floats.Dot(e, e) * floats.Dot(u, u))
	var out []float64
	for l := -lags; l <= lags; l++ {
		a, b := e, u
		if l < 0 {
			a, b = u, e
		}
		sum := 0.0
		eachPiece(len(e), pieces, func(from, to int) {
			if d := max(l, -l); d < to-from {
				sum += floats.Dot(a[from+d:to], b[from:to-d])
			}
		})
		out = append(out, sum/scale)
	}
	return out
}

func centred(x []float64) []float64 {
	c := slices.Clone(x)
	floats.AddConst(-stat.Mean(x, nil), c)
	return c
}

// lagCorrelation is the autocorrelation of x, taken about zero, at the given lag, and the number of pairs it rests on.
func lagCorrelation(x []float64, lag int, pieces []int) (rho float64, pairs int) {
	sum := 0.0
	eachPiece(len(x), pieces, func(from, to int) {
		if m := to - from - lag; m > 0 {
			sum += floats.Dot(x[from+lag:to], x[from:to-lag])
			pairs += m
		}
	})
	if v := floats.Dot(x, x); v > 0 {
		rho = sum / v
	}
	return rho, pairs
}

// eachPiece calls f with the rows [from, to) of every piece of n rows.
func eachPiece(n int, pieces []int, f func(from, to int)) {
	if len(pieces) == 0 {
		f(0, n)
		return
	}
	for i, from := range pieces {
		to := n
		if i+1 < len(pieces) {
			to = pieces[i+1]
		}
		f(from, to)
	}
}

// longest is the number of rows of the longest piece.
func longest(n int, pieces []int) int {
	m := 0
	eachPiece(n, pieces, func(from, to int) { m = max(m, to-from) })
	return m
}

// PiecesOf are the first of some rows, in their order, in every piece that has any.
func PiecesOf(rows, pieces []int) (first []int) {
	next := 0
	for i, k := range rows {
		fresh := false
		for next < len(pieces) && k >= pieces[next] {
			next, fresh = next+1, true
		}
		if fresh {
			first = append(first, i)
		}
	}
	return first
}
