package axis

import "math"

// The input between its samples. A command u_k is held (or runs straight to the next one) from the time t_k + δh on, δ the
// lag in samples. The explicit scheme steps the velocity from half a part before a time to half a part after it, so what
// it wants is the mean of the input over that window [theory §4.3 A]. With n parts of a sample the window of part j is
//
//	[j/n − 1/2n, j/n + 1/2n] − δ   in samples after t_k, counted on the axis of the commands,
//
// and its mean is a sum of the commands around k with weights that depend on δ alone. Held commands give weights that are
// piecewise linear in δ: for n = 1 and δ = 0 they are ½ and ½ on u_{k−1} and u_k, for δ = −½ it is u_k alone.

// Reach of the lag in samples, and of the weights: commands k−before … k+after.
const (
	lagLo, lagHi  = -1.5, 1.0
	before, after = 2, 2
	taps          = before + 1 + after
)

// window is the weight of every command from k−before on.
type window [taps]float64

// windows fills w, one window per part, for a lag of delta samples.
func windows(w []window, delta float64, linear bool) {
	n := float64(len(w))
	for j := range w {
		from := (float64(j)-0.5)/n - delta
		to := (float64(j)+0.5)/n - delta
		for i := range w[j] {
			at := float64(i - before)
			if linear {
				w[j][i] = n * (hat(to-at) - hat(from-at))
			} else {
				w[j][i] = n * (ramp(to-at) - ramp(from-at))
			}
		}
	}
}

// ramp is the integral of a command held from 0 to 1.
func ramp(s float64) float64 { return min(max(s, 0), 1) }

// hat is the integral of a command that rises from 0 at −1 to 1 at 0 and falls to 0 at 1.
func hat(s float64) float64 {
	s = min(max(s, -1), 1)
	return 0.5 + s - 0.5*s*math.Abs(s)
}

// windowSlopes fills w with the derivatives of the windows with respect to delta. Those of a held input jump where an edge of
// the window meets a sample; the value to the right is taken there.
func windowSlopes(w []window, delta float64, linear bool) {
	n := float64(len(w))
	rate := func(s float64) float64 { // of ramp and hat
		switch {
		case linear:
			return max(0, 1-math.Abs(s))
		case s > 0 && s <= 1:
			return 1
		}
		return 0
	}
	for j := range w {
		from := (float64(j)-0.5)/n - delta
		to := (float64(j)+0.5)/n - delta
		for i := range w[j] {
			at := float64(i - before)
			w[j][i] = n * (rate(from-at) - rate(to-at))
		}
	}
}

// foresight is what of the next command, and of those known already, acts on the position at the next sample: the weight of
// part j is the time its impulse has to move the mass, (n − j)/n², in units of h²/M.
func foresight(w []window) (sum window, share float64) {
	n := float64(len(w))
	for j := range w {
		c := (n - float64(j)) / (n * n)
		share += c
		for i := range sum {
			sum[i] += c * w[j][i]
		}
	}
	return sum, share
}
