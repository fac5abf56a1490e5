package bristle

import (
	"slices"

	"hilrig/engine/numeric"
)

// Hold says what the force does between its samples.
type Hold uint8

const (
	Auto   Hold = iota // the one that predicts best; Separable as Smooth, unless the motion feels it Held
	Linear             // straight from sample to sample
	Smooth             // curved as a band-limited signal is
	Held               // constant until the next sample, as a converter gives it out

	heldQuiet // so too, but for the noise, which runs straight as in Linear: that of a sensor, which no converter gave out
)

// Words are the choices by number.
func (Hold) Words() []string { return []string{"auto", "linear", "smooth", "held"} }

func (h Hold) String() string {
	if h == heldQuiet {
		return "held, but for noise"
	}
	return h.Words()[h]
}

// signal is what the force does, whatever its noise.
func (h Hold) signal() Hold {
	if h == heldQuiet {
		return Held
	}
	return h
}

// denoisedForce is the force without the noise that differs from sample to sample: smoothed by the discrepancy rule, so that it
// keeps the band of the signal whatever that is.
func (d *data) denoisedForce() []float64 {
	s, x := newSmoother(4, len(d.u)), make([]float64, len(d.u))
	rms := numeric.Noise(d.pieces(d.u)...)
	s.smoothPieces(d, d.u, s.discrepancy(d, d.u, rms, x), x)
	return x
}

// substepMeans writes the mean force of every sub-step, n per sampling interval.
//
// The choice matters: a straight line has the curve of a sine of angular frequency ω too low by the share (ω·dt)²/12, 0.2 %
// at 23 Hz and 1 kHz, and the stiffness that presliding shows is wrong by as much. The curve is that of the cubic through
// four samples of s, the force without its noise: so the noise of the record is treated alike with Linear, Smooth and
// heldQuiet, and their likelihoods tell about the signal alone. Noise that is held adds up to more than noise between two
// samples, which has half its variance: where it is an error of the sensor, Held as it is loses by that to a signal of a wrong
// time, half a sample off.
func (h Hold) substepMeans(u, s []float64, n int, out []float64) {
	last := len(u) - 1
	for k := range last {
		for i := range n {
			x := (float64(i) + 0.5) / float64(n)
			v := u[k]
			switch {
			case h == heldQuiet:
				v += x * (u[k+1] - s[k+1] - u[k] + s[k])
			case h != Held:
				v += x * (u[k+1] - u[k])
			}
			if h == Smooth && k > 0 && k+1 < last {
				// cubic less straight line
				d0, d1 := s[k-1]-2*s[k]+s[k+1], s[k]-2*s[k+1]+s[k+2]
				v -= x * (1 - x) / 6 * ((2-x)*d0 + (1+x)*d1)
			}
			out[k*n+i] = v
		}
	}
}

// pieceSubstepMeans is substepMeans for every piece of u, one behind the other.
func (h Hold) pieceSubstepMeans(d *data, u, s []float64, n int) []float64 {
	out := make([]float64, (len(u)-len(d.spans))*n)
	for i, p := range d.spans {
		h.substepMeans(u[p.start:p.stop], s[p.start:p.stop], n, out[(p.start-i)*n:])
	}
	return out
}

// underHat is the mean of the force under a hat of two samples' width, as second differences of a motion feel it.
func (h Hold) underHat(d *data) []float64 {
	middle := 10.0 // of a smooth signal
	if h == Linear {
		middle = 4
	}
	out := slices.Clone(d.u)
	for _, p := range d.spans {
		for k := p.start + 1; k < p.stop-1; k++ {
			if out[k] = (d.u[k-1] + middle*d.u[k] + d.u[k+1]) / (middle + 2); h.signal() == Held {
				out[k] = (d.u[k-1] + d.u[k]) / 2
			}
		}
	}
	return out
}
