package axis

import "math"

// The force between its samples. A command u_k is held, or runs straight to the next one, from the time t_k + δh on, δ the lag
// in samples. A simulation divides the interval from t_k to t_{k+1} into n parts. What acts during part j is the straight line
// with the mean of the input over it,
//
//	a … b = j/n − δ … (j + 1)/n − δ   in samples after t_k, counted on the axis of the commands,
//
// and, where commands run straight, with the rise from a to b. Both are sums of at most three neighbouring commands with
// weights that depend on δ alone and change continuously with it. A command that jumps within a part moves the mass by up to
// an eighth of (h/n)²·Δu/M less or more than its mean does: an error of the order of the scheme.

// window is the part of an interval, in weights of the commands k+first, k+first+1 and k+first+2.
type window struct {
	first int
	mean  [3]float64 // over the part
	rise  [3]float64 // from its beginning to its end; held commands: zero
}

// windows fills w, one window for every part, for a lag of delta samples.
func windows(w []window, delta float64, straight bool) {
	n := float64(len(w))
	for j := range w {
		w[j] = windowOf(float64(j)/n-delta, float64(j+1)/n-delta, straight)
	}
}

// windowOf is the window from a to b, at most a sample long.
func windowOf(a, b float64, straight bool) window {
	w := window{first: int(math.Floor(a))}
	for i := range w.mean {
		at := float64(w.first + i)
		if straight {
			w.mean[i] = (hat(b-at) - hat(a-at)) / (b - a)
			w.rise[i] = max(0, 1-math.Abs(b-at)) - max(0, 1-math.Abs(a-at))
		} else {
			w.mean[i] = (ramp(b-at) - ramp(a-at)) / (b - a)
		}
	}
	return w
}

// ramp is the integral of a command held from 0 to 1.
func ramp(s float64) float64 { return min(max(s, 0), 1) }

// hat is the integral of a command that rises from 0 at −1 to 1 at 0 and falls to 0 at 1.
func hat(s float64) float64 {
	s = min(max(s, -1), 1)
	return 0.5 + s - 0.5*s*math.Abs(s)
}

// meanOf is the mean of u (N) over the window at sample k.
func (w *window) meanOf(u []float64, k int) (mean float64) {
	last := len(u) - 1
	for i, q := range w.mean {
		mean += q * u[min(max(k+w.first+i, 0), last)]
	}
	return mean
}

// act puts the force of the window at sample k of u (N) into l, for a part of h (s). Before the first sample and after the
// last the force stays.
func (w *window) act(l *loads, u []float64, k int, h float64) {
	var mean, rise float64
	last := len(u) - 1
	for i := range w.mean {
		x := u[min(max(k+w.first+i, 0), last)]
		mean += w.mean[i] * x
		rise += w.rise[i] * x
	}
	l.u, l.du = mean-rise/2, rise/h
}
