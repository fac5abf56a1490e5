package estimator

import (
	"math"

	"hilrig/engine/plant"
)

// window is one test function under way: its three integrals so far.
type window struct {
	index  int       // next sample, 0…n; −1: not started
	theta0 float64   // rad    angle at the start
	sumJ   float64   // rad/s  ∫φ''·θ
	sumV   float64   // rad    −∫φ'·θ
	sumI   float64   // A·s    ∫φ·i, with the bow that is known
	sumLag float64   // rad/s² −∫φ'''·θ
	bows   []float64 // A·s    ∫φ·bow of those that are tried
}

func (a *window) start(theta float64) {
	clear(a.bows)
	*a = window{theta0: theta, bows: a.bows}
}

// HeldVoltage says what samples of the current of a motor tell of its torque, where the voltage is held from sample to sample, dt
// (s) apart: the mean torque between two samples is K·((1−c)·i_k + c·i_{k+1}) + extra·dω/dt, extra in kg·m². slope is that of the
// brush drop (V/A), which is resistance too.
func HeldVoltage(m plant.Motor, dt, slope float64) (c, extra float64) {
	c = 0.5
	r := m.R + slope
	if q := dt * r / m.L; q > 1e-3 {
		c = -1/math.Expm1(-q) - 1/q
	}
	return c, m.K * m.K * dt * (c - 0.5) / r
}

// slopePoints are the samples that tell the speed at one of them.
const slopePoints = 8

// slopes are the weights of samples 0 … around − 1 in the slope, at one of them, of the polynomial through all.
func slopes(at int) (w [slopePoints]float64) {
	for k := range w {
		if k == at {
			continue
		}
		w[k] = 1 / float64(k-at) // of Π(at − i)/Π(k − i) without i = at
		for i := range w {
			if i != k && i != at {
				w[k] *= float64(at-i) / float64(k-i)
			}
		}
		w[at] -= w[k]
	}
	return w
}

// tabulate prepares the weights of the samples and the correlation of overlapping windows.
func (r *RLS) tabulate() {
	n, h := r.n, r.s.Dt
	om := math.Pi / (float64(n) * h)
	phi := func(j float64) float64 {
		if j < 0 || j > float64(n) {
			return 0
		}
		s := math.Sin(om * h * j)
		return s * s * s * s
	}
	for _, w := range []*[]float64{&r.wJ, &r.wV, &r.wI, &r.wBow, &r.wLag} {
		*w = make([]float64, n+1)
	}
	r.phiIntegral = 0
	// exact for a current that runs straight from sample to sample, however few samples there are. Only ∫φ'·θ takes the change of the speed
	// between two of them, by the polynomial through the samples around
	for i := range n + 1 {
		j := float64(i)
		r.wBow[i], r.phiIntegral = h*phi(j), r.phiIntegral+h*phi(j)
		r.wI[i], r.wJ[i] = h*(phi(j-1)+4*phi(j)+phi(j+1))/6, (phi(j-1)-2*phi(j)+phi(j+1))/h
	}
	for i := range n {
		rise := phi(float64(i+1)) - phi(float64(i))
		r.wV[i], r.wV[i+1] = r.wV[i]-rise/2, r.wV[i+1]-rise/2
		first := min(max(i+1-slopePoints/2, 0), n+1-slopePoints)
		from, to := slopes(i-first), slopes(i+1-first)
		for k := range slopePoints {
			change := to[k] - from[k]
			r.wV[first+k] += rise * change / 12
			r.wLag[first+k] -= rise * change / (h * h)
		}
	}
	// noise of the current is white: correlation of the windows is that of their weights
	var self, cross float64
	for j := range n + 1 {
		self += r.wI[j] * r.wI[j]
		if j+n/2 <= n {
			cross += r.wI[j] * r.wI[j+n/2]
		}
	}
	r.rho, r.self = cross/self, self
}
