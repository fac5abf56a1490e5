package estimator

import "math"

// window is one test function under way: its three integrals so far.
type window struct {
	at     int     // next sample, 0…n; −1: not started
	theta0 float64 // rad    angle at the start
	sumJ   float64 // rad/s  ∫φ''·θ
	sumV   float64 // rad    −∫φ'·θ
	sumI   float64 // N·m·s  K·∫φ·i
}

func (a *window) start(theta float64) { *a = window{theta0: theta} }

// tabulate prepares the weights of the samples and the correlation of overlapping windows.
func (r *RLS) tabulate() {
	n, h := r.n, r.s.Dt
	c, k := 0.5, r.s.Motor.K
	if !r.s.Smooth {
		if q := h * r.s.Motor.R / r.s.Motor.L; q > 1e-3 {
			c = -1/math.Expm1(-q) - 1/q
		}
		r.extraJ = k * k * h * (c - 0.5) / r.s.Motor.R
	}
	om := math.Pi / (float64(n) * h)
	phi := func(j float64) float64 {
		if j < 0 || j > float64(n) {
			return 0
		}
		s := math.Sin(om * h * j)
		return s * s * s * s
	}
	r.wJ, r.wV, r.wI = make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	r.one = 0
	for j := range n + 1 {
		sin, cos := math.Sincos(om * h * float64(j))
		r.wJ[j] = h * om * om * 4 * sin * sin * (3*cos*cos - sin*sin)
		r.wV[j] = -h * om * 4 * sin * sin * sin * cos
		r.wI[j] = h * k * ((1-c)*phi(float64(j)+0.5) + c*phi(float64(j)-0.5))
		r.one += r.wI[j] / k
	}
	// noise of the current is white: correlation of the windows is that of their weights
	var self, cross float64
	for j := range n + 1 {
		self += r.wI[j] * r.wI[j]
		if j+n/2 <= n {
			cross += r.wI[j] * r.wI[j+n/2]
		}
	}
	r.rho = cross / self
}
