package machine

import (
	"fmt"
	"math"
	"slices"

	"hilrig/engine/multibody"
	"hilrig/engine/numeric"
)

// Samples that do not belong to their neighbours are no motion and no torque: a position 0.1 rad off for 2 ms is 16 rad/s² behind a low-pass at 10 Hz, over
// a fifth of a second. They are bridged by straight lines, and it is said.

const (
	wildTimes  = 10.0 // usual misses of the neighbours, beyond which a sample is wild; no noise of 1e6 samples has that
	wildCounts = 4.0  // steps of an encoder
	wildMost   = 0.02 // of the samples: what happens all the time is not wild
	wildRounds = 4    // next to each other
)

// bridged are recordings without wild samples, and what was found; a channel without any is as it was.
func bridged(m *multibody.Model, recs []Recording) (out []Recording, said []string) {
	for _, rec := range recs {
		own := slices.Clone(rec)
		for i, d := range rec {
			position, n := unwild(d.Position, beside)
			force, k := unwild(d.Force, middle)
			if n+k == 0 {
				continue
			}
			c := *d
			c.Position, c.Force = position, force
			own[i] = &c
			said = append(said, fmt.Sprintf("joint %s: %d positions and %d torques do not belong to their neighbours and are bridged by straight lines. Look for the cause: there may be smaller ones that do not show", JointName(m, i), n, k))
		}
		out = append(out, own)
	}
	return out, said
}

// unwild bridges the samples of x that are far from what their neighbours foretell; x itself where there are none, or too many.
func unwild(x []float64, foretold func(x []float64, k int) float64) (out []float64, count int) {
	n := len(x)
	if n < 50 {
		return x, 0
	}
	out = x
	far := make([]float64, n)
	bad := map[int]bool{}
	step := numeric.EncoderStep(x)
	for range wildRounds {
		for k := 2; k < n-2; k++ {
			far[k] = math.Abs(out[k] - foretold(out, k))
		}
		limit := math.Max(wildTimes*numeric.QuantileOf(n, 0.97, func(k int) float64 { return far[k] }), wildCounts*step)
		limit = math.Max(limit, 1e-12*slices.Max(far))
		found := false
		for k := 2; k < n-2; k++ {
			if far[k] > limit && far[k] == max(far[k-2], far[k-1], far[k], far[k+1], far[k+2]) {
				found = true
				if bad[k] = true; &out[0] == &x[0] {
					out = slices.Clone(x)
				}
			}
		}
		if !found {
			break
		}
		if float64(len(bad)) > wildMost*float64(n) {
			return x, 0
		}
		for k := range bad { // from the nearest that are not
			lo, hi := k-1, k+1
			for bad[lo] && lo > 0 {
				lo--
			}
			for bad[hi] && hi < n-1 {
				hi++
			}
			out[k] = x[lo] + (x[hi]-x[lo])*float64(k-lo)/float64(hi-lo)
		}
	}
	return out, len(bad)
}

// beside is a smooth motion between its neighbours, exact for a cubic.
func beside(x []float64, k int) float64 { return (4*(x[k-1]+x[k+1]) - x[k-2] - x[k+2]) / 6 }

// middle is the median of five: a torque may jump.
func middle(x []float64, k int) float64 {
	var w [5]float64
	copy(w[:], x[k-2:k+3])
	slices.Sort(w[:])
	return w[2]
}
