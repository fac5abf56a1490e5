// Package filter holds the digital low-passes of identification, run forward and backward so that they have no phase, and the derivative
// that goes with them.
package filter

import (
	"math"
	"slices"
	"sync"

	"hilrig/engine/numeric"
)

// biquad is a second-order section with a0 = 1:
//
//	y_k = b0 x_k + b1 x_{k−1} + b2 x_{k−2} − a1 y_{k−1} − a2 y_{k−2}
//
// A first-order section has b2 = a2 = 0.
type biquad struct{ b0, b1, b2, a1, a2 float64 }

// Lowpass is a cascade of sections with gain 1 at zero frequency.
type Lowpass []biquad

// Butterworth designs a digital low-pass of the given order with −3 dB at fc (Hz) for data sampled at fs (Hz), by the
// bilinear transform with the corner prewarped. Run forward and backward it has no phase and −6 dB at fc.
func Butterworth(order int, fc, fs float64) Lowpass { return bilinear(order, 1, 1, fc, fs) }

// Chebyshev designs a digital Chebyshev low-pass of type I: within ripple (dB) up to the edge fc (Hz), steeper than a
// Butterworth beyond. Unlike the textbook form with even order, it is scaled to gain 1 at zero frequency, so that
// residuals keep their size.
func Chebyshev(order int, ripple, fc, fs float64) Lowpass {
	mu := math.Asinh(1/math.Sqrt(math.Pow(10, ripple/10)-1)) / float64(order)
	return bilinear(order, math.Sinh(mu), math.Cosh(mu), fc, fs)
}

// bilinear turns analogue poles for the edge 1 rad/s, on the left half of an ellipse with the given half axes, into digital
// sections, with the edge at 0 < fc < fs/2. All zeros of a low-pass lie at z = −1.
func bilinear(order int, re, im, fc, fs float64) Lowpass {
	w := math.Tan(math.Pi * fc / fs) // prewarped, in units of 2·fs
	var f Lowpass
	for k := range order {
		sin, cos := math.Sincos(math.Pi * (2*float64(k) + 1) / (2 * float64(order)))
		p := complex(-re*sin, im*cos)
		z := (1 + p*complex(w, 0)) / (1 - p*complex(w, 0))
		switch im := imag(p); {
		case math.Abs(im) < 1e-9: // the real pole of an odd order
			g := (1 - real(z)) / 2
			f = append(f, biquad{b0: g, b1: g, a1: -real(z)})
		case im > 0: // one of each conjugate pair
			a1, a2 := -2*real(z), real(z)*real(z)+imag(z)*imag(z)
			g := (1 + a1 + a2) / 4
			f = append(f, biquad{b0: g, b1: 2 * g, b2: g, a1: a1, a2: a2})
		}
	}
	return f
}

// Padding is the length by which a record is extended at each end before filtering: three times the length of the
// filter, as is usual [G96].
func (f Lowpass) Padding() int { return 3 * (2*len(f) + 1) }

// SettlingSamples is the number of samples after which the filter has forgotten where it began, to 1e-13.
func (f Lowpass) SettlingSamples() int {
	slowest := 0.0
	for _, s := range f {
		radius := math.Sqrt(s.a2)
		if s.a2 == 0 {
			radius = math.Abs(s.a1)
		}
		slowest = math.Max(slowest, radius)
	}
	return f.Padding() + int(30*1.2/-math.Log(slowest))
}

// ZeroPhase filters x forward and then backward and returns a new slice. The record is extended at both ends by its odd
// reflection, 2·x_0 − x_k, and each pass starts in the steady state of its first sample, so that a constant and the ends
// of a slow record pass without a transient. x must be longer than the padding.
func (f Lowpass) ZeroPhase(x []float64) []float64 {
	n, pad := len(x), f.Padding()
	ext := make([]float64, n+2*pad)
	copy(ext[pad:], x)
	f.passes(ext)
	return ext[pad : pad+n : pad+n]
}

// returned is the memory of series that are no longer needed.
var returned sync.Pool

// Borrow is memory for n numbers, whatever they are, and Return takes it back: of a long record every stretch needs as much again.
func Borrow(n int) []float64 {
	x, _ := returned.Get().(*[]float64)
	if x == nil {
		x = new([]float64)
	}
	return slices.Grow((*x)[:0], n+n/64)[:n] // lengths differ by the padding of filters
}

// Return takes back what Borrow gave. Nothing may hold on to it.
func Return(series ...[]float64) {
	for _, x := range series {
		if x != nil {
			returned.Put(&x)
		}
	}
}

// ZeroPhaseOf is ZeroPhase of n samples that set writes, for use until it returns: in borrowed memory.
func (f Lowpass) ZeroPhaseOf(n int, set, use func(x []float64)) {
	pad := f.Padding()
	ext := Borrow(n + 2*pad)
	defer Return(ext)
	x := ext[pad : pad+n]
	set(x)
	f.passes(ext)
	use(x)
}

// passes extends a record and filters it both ways.
func (f Lowpass) passes(x []float64) {
	pad := f.Padding()
	last := len(x) - 1 - pad
	for k := 1; k <= pad; k++ {
		x[pad-k] = 2*x[pad] - x[pad+k]
		x[last+k] = 2*x[last] - x[last-k]
	}
	f.run(x, 0, 1)
	f.run(x, len(x)-1, -1)
}

// run filters x in place, from index start in the direction dir, starting in the steady state of the first sample. Two
// sections at a time, in direct form I: a sample waits for one product and one sum of the sample before.
func (f Lowpass) run(x []float64, start, dir int) {
	for ; len(f) > 0; f = f[min(2, len(f)):] {
		s, t := f[0], biquad{b0: 1}
		if len(f) > 1 {
			t = f[1]
		}
		// with gain 1 the input of every section starts at x[start], and so does its output
		v1, v2, y1, y2, w1, w2 := x[start], x[start], x[start], x[start], x[start], x[start]
		for i := start; uint(i) < uint(len(x)); i += dir {
			v := x[i]
			y := s.b0*v + s.b1*v1 + s.b2*v2 - s.a2*y2 - s.a1*y1
			w := t.b0*y + t.b1*y1 + t.b2*y2 - t.a2*w2 - t.a1*w1
			x[i] = w
			v1, v2, y1, y2, w1, w2 = v, v1, y, y1, w, w1
		}
	}
}

// Derivative of x over step dt (s) by differences over seven samples, exact to (ω·dt)⁶/140; at the ends, which are trimmed later,
// over three and two. Central differences over three would shrink an acceleration by (ω·dt)²/3: 2 % at 40 Hz of 1 kHz.
func Derivative(x []float64, dt float64) []float64 {
	d := make([]float64, len(x))
	DerivativeTo(d, x, dt)
	return d
}

// DerivativeTo writes Derivative to d, which is another slice.
func DerivativeTo(d, x []float64, dt float64) {
	const reach = 3
	n := len(x)
	for k := 1; k < n-1; k++ {
		if k == reach && n > 2*reach {
			k = n - reach
		}
		d[k] = (x[k+1] - x[k-1]) / (2 * dt)
	}
	in := 1 / (60 * dt)
	for k := reach; k < n-reach; k++ {
		y := x[k-reach : k+reach+1]
		d[k] = (45*(y[4]-y[2]) - 9*(y[5]-y[1]) + (y[6] - y[0])) * in
	}
	d[0], d[n-1] = (x[1]-x[0])/dt, (x[n-1]-x[n-2])/dt
}

// FirstOrder is x, which changes evenly over its steps dt (s), behind a filter of first order of the given time (s) at rest in it.
func FirstOrder(x []float64, time, dt float64) []float64 {
	out, kept := slices.Clone(x), math.Exp(-dt/time)
	for k := 1; k < len(x); k++ {
		behind := (x[k] - x[k-1]) / dt * time
		out[k] = x[k] - behind + kept*(out[k-1]-x[k-1]+behind)
	}
	return out
}

// second are the weights of the second difference over eleven samples, from the middle to one side.
var second = [6]float64{-5269. / 1800, 5. / 3, -5. / 21, 5. / 126, -5. / 1008, 1. / 3150}

// Motion is a position of samples every dt behind the low-pass, run forward and backward, with its derivatives.
func (f Lowpass) Motion(position []float64, dt float64) (q, v, a []float64) {
	q, v = f.Velocity(position, dt)
	return q, v, SecondDerivative(q, dt)
}

// Velocity is Motion without the acceleration. Velocities that are nothing but rounding of the position are zero, so that an axis at rest
// has no sign of velocity.
func (f Lowpass) Velocity(position []float64, dt float64) (q, v []float64) {
	q, v = make([]float64, len(position)), make([]float64, len(position))
	f.VelocityTo(q, v, position, dt)
	return q, v
}

// VelocityTo writes Velocity to q and v, which are other slices.
func (f Lowpass) VelocityTo(q, v, position []float64, dt float64) {
	f.ZeroPhaseOf(len(q), func(x []float64) { copy(x, position) }, func(x []float64) { copy(q, x) })
	DerivativeTo(v, q, dt)
	rounding := 16 * 0x1p-52 * numeric.Largest(q) / dt
	for k := range v {
		if math.Abs(v[k]) < rounding {
			v[k] = 0
		}
	}
}

// SecondDerivative of x over step dt (s) by differences over eleven samples: off by (ω·dt)¹⁰/16632, 0.06 % at a fifth of the
// sampling rate, up to where a low-pass of a regression reaches. Derivative twice is off by 6 % there. It stands at the ends, which are
// trimmed later.
func SecondDerivative(x []float64, dt float64) []float64 {
	d := make([]float64, len(x))
	SecondDerivativeTo(d, x, dt)
	return d
}

// SecondDerivativeTo writes SecondDerivative to d, which is another slice.
func SecondDerivativeTo(d, x []float64, dt float64) {
	const reach, end = len(second) - 1, 16
	n, in := len(x), 1/(dt*dt)
	for k := reach; k < n-reach; k++ {
		y := x[k-reach : k+reach+1]
		d[k] = in * (second[0]*y[5] + second[1]*(y[6]+y[4]) + second[2]*(y[7]+y[3]) + second[3]*(y[8]+y[2]) + second[4]*(y[9]+y[1]) + second[5]*(y[10]+y[0]))
	}
	if n < 2 {
		clear(d)
		return
	}
	m := min(n, end)
	first, last := Derivative(Derivative(x[:m], dt), dt), Derivative(Derivative(x[n-m:], dt), dt)
	copy(d, first[:min(reach, m)])
	copy(d[max(0, n-reach):], last[max(0, m-reach):])
}

// Curve is the gain of SecondDerivative for dt = 1, with its sign.
func Curve(w float64) float64 {
	cos := math.Cos(w)
	sum, before, now := second[0], 1.0, cos // cosines of the multiples of w
	for _, c := range second[1:] {
		sum += 2 * c * now
		before, now = now, 2*cos*now-before
	}
	return sum
}

// Frequencies are those over which means are taken, 0 … π rad a sample, with the weight of each.
func Frequencies(yield func(w, weight float64) bool) {
	const steps = 4096
	for i := range steps {
		if !yield(math.Pi*(float64(i)+0.5)/steps, 1./steps) {
			return
		}
	}
}

// Mean of a function over all frequencies.
func Mean(of func(w float64) float64) (sum float64) {
	for w, weight := range Frequencies {
		sum += of(w) * weight
	}
	return sum
}

// Slope is the gain of Derivative for dt = 1.
func Slope(w float64) float64 {
	sin, cos := math.Sincos(w)
	return sin * (45 - 18*cos + (3 - 4*sin*sin)) / 30
}

// Gain of the filter run forward and backward, at w rad a sample.
func (f Lowpass) Gain(w float64) float64 {
	g := 1.0
	if len(f) == 0 {
		return g
	}
	s1, c1 := math.Sincos(w)
	s2, c2 := 2*s1*c1, c1*c1-s1*s1
	for _, b := range f {
		numRe, numIm := b.b0+b.b1*c1+b.b2*c2, b.b1*s1+b.b2*s2
		denRe, denIm := 1+b.a1*c1+b.a2*c2, b.a1*s1+b.a2*s2
		g *= (numRe*numRe + numIm*numIm) / (denRe*denRe + denIm*denIm)
	}
	return g
}
