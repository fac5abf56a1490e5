package bristle

import (
	"math"

	"hilrig/engine/numeric"
)

// likelihood runs the filter at t with the given noise and returns −2·ln L per sample and the mean of e²/S.
func (k *tracker) likelihood(t *theta, n noise) (l, mean float64) {
	k.runs++
	k.f.noise = n
	logS, ok := k.f.run(t, k.r)
	if !ok {
		return math.Inf(1), math.Inf(1)
	}
	for _, r := range k.r {
		mean += r * r
	}
	mean /= float64(len(k.r))
	return mean + logS, mean
}

// levels finds the noise levels that are not given, at the parameters t. One of them is searched; if both are free, their
// common factor follows from the mean of e²/S, because it changes no prediction.
func (k *tracker) levels(t *theta, width float64) {
	n := k.f.noise
	given := k.o.ForceNoise > 0
	if given && !k.free {
		return
	}
	at := func(l float64) (noise, float64) {
		trial := n
		if given {
			trial.position *= math.Exp(l)
		} else {
			trial.force *= math.Exp(l)
		}
		cost, mean := k.likelihood(t, trial)
		if k.free && !given && numeric.Finite(mean) {
			trial.force *= mean
			trial.position *= mean
			cost += 1 - mean + math.Log(mean)
		}
		return trial, cost
	}
	// golden section in the logarithm of the variance; once more around an end that turns out the best
	const g = 0.6180339887498949
	for range 6 {
		a, b := -width, width
		x1, x2 := b-g*(b-a), a+g*(b-a)
		n1, c1 := at(x1)
		n2, c2 := at(x2)
		for b-a > 0.05 {
			if c1 < c2 {
				b, x2, n2, c2 = x2, x1, n1, c1
				x1 = b - g*(b-a)
				n1, c1 = at(x1)
			} else {
				a, x1, n1, c1 = x1, x2, n2, c2
				x2 = a + g*(b-a)
				n2, c2 = at(x2)
			}
		}
		if c2 < c1 {
			n1 = n2
		}
		n = n1
		if a > -width && b < width {
			break
		}
	}
	k.f.noise = n
}
