package linear

import (
	"fmt"
	"math"
	"slices"

	"hilrig/identify/filter"
	"hilrig/identify/record"

	"gonum.org/v1/gonum/floats"
)

// The weak form multiplies the equation by a test function φ over a window and integrates by parts. With φ = φ̇ = 0 at both
// ends no derivative of the position is left:
//
//	∫φ·F = M·∫φ̈·x − Fv·∫φ̇·x + Fc·∫φ·sgn(v) + offset·∫φ
//
// Windows overlap; each is a row. The test function is the bump
//
//	φ(τ) = (1 − τ²)⁴,   τ = −1 … 1 over the window,   scaled to ∫φ = 1,
//
// a low-pass that falls to half at f·T = 1.21 and has hardly any side lobes. The window is by default such that
// this is half the band of the direct form, whose filter is flat almost to its edge. Terms that are not linear in the
// motion (signs, halves, angles) are formed before the integral: signs of velocity from the smoothed position, angles from
// the position as it is.
//
// Noise of the position still reaches the columns through φ̇ and φ̈, but the longer the window the less: the share of
// quantisation noise in ∫φ̈·x falls with T⁻⁵, and what is left shrinks the estimates as the textbook says.
const (
	weakHalf  = 1.21 // f·T at which the test function lets half through
	weakShare = 0.5  // … as a share of the band of the direct form
)

// window is a sampled test function with its derivatives.
type window struct{ phi, d1, d2 []float64 }

// secondDerivative and firstDerivative are the central differences of order eight, from the middle to one side: of a sine of ω they are
// off by (ωh)⁸/3150 and (ωh)⁸/630.
var (
	secondDerivative = [5]float64{-205. / 72, 8. / 5, -1. / 5, 8. / 315, -1. / 560}
	firstDerivative  = [5]float64{0, 4. / 5, -1. / 5, 4. / 105, -1. / 280}
)

const derivativeReach = len(secondDerivative) - 2 // samples beyond the ends of φ, which is 0 there

// bump samples the test function at n+1 points h apart, n even, and derivativeReach more at both ends. Its derivatives are differences of
// these samples: summed over a position they are the sums of φ over differences of the position, exactly, however few points there are.
// Samples of the derivatives themselves are not: in 12 points, as many as a window has by default, the acceleration of a motion with 20
// samples a turn came out 0.2 % too large, and with 10 samples 0.6 %.
func bump(n int, h float64) window {
	const pad = derivativeReach
	w := window{make([]float64, n+1+2*pad), make([]float64, n+1+2*pad), make([]float64, n+1+2*pad)}
	sum, half := 0.0, float64(n)/2
	for i := range n + 1 {
		t := (float64(i) - half) / half
		u := 1 - t*t
		w.phi[pad+i] = u * u * u * u
		sum += w.phi[pad+i]
	}
	floats.Scale(1/sum, w.phi)
	at := func(i int) float64 {
		if i < 0 || i >= len(w.phi) {
			return 0
		}
		return w.phi[i]
	}
	for i := range w.phi {
		w.d2[i] = secondDerivative[0] * at(i) / (h * h)
		for k := 1; k < len(secondDerivative); k++ {
			w.d1[i] += firstDerivative[k] * (at(i+k) - at(i-k)) / h
			w.d2[i] += secondDerivative[k] * (at(i+k) + at(i-k)) / (h * h)
		}
	}
	return w
}

// noise is the covariance of what the window makes of position, velocity and acceleration, for white noise of the position of one, behind
// a low-pass of the rows, of which there is one every so many samples. A low-pass of the rows takes the same share of all, about that of
// the acceleration.
func (w window) noise(every int, after filter.Lowpass) (c [3][3]float64) {
	kept := 1.0
	if after != nil {
		all, left := 0.0, 0.0
		const steps = 512
		for i := range steps {
			omega := math.Pi * (float64(i) + 0.5) / steps / float64(every) // up to what the rows resolve
			re, im := 0.0, 0.0
			for k, x := range w.d2 {
				re, im = re+x*math.Cos(omega*float64(k)), im+x*math.Sin(omega*float64(k))
			}
			g := after.Gain(omega * float64(every))
			all, left = all+re*re+im*im, left+(re*re+im*im)*g*g
		}
		kept = left / all
	}
	c[0][0], c[1][1], c[2][2] = kept*floats.Dot(w.phi, w.phi), kept*floats.Dot(w.d1, w.d1), kept*floats.Dot(w.d2, w.d2)
	c[0][2] = kept * floats.Dot(w.phi, w.d2)
	c[2][0] = c[0][2]
	return c
}

// weak is the form with windows, one every Decimate samples.
func (s Spec) weak(recs []*record.Record) (*form, error) {
	m, err := s.start(recs, true)
	if err != nil {
		return nil, err
	}
	f := m.f
	length := weakHalf / (weakShare * s.band(1/f.dt))
	const least = 8 // samples, below which sums are poor integrals
	n := 2 * int(math.Round(length/f.dt/2))
	if !(length > 0) || n < least || n > 1<<20 {
		return nil, &SpecError{Problems: []string{fmt.Sprintf("window: %.4g s is %d samples, want at least %d: lower the filter cutoff, or "+
			"raise decimate", length, n, least)}}
	}
	win := bump(n, f.dt)
	n = len(win.phi) - 1
	over := func(kernel, x []float64, p places) []float64 {
		out := make([]float64, p.n)
		for k := range out {
			at := p.firstSample + k*p.rowStep - n/2
			out[k] = floats.Dot(kernel, x[at:at+n+1])
		}
		return out
	}
	m.skip = max(int(math.Ceil(s.Trim/f.dt)), n/2) // the window fits
	m.reach = f.positionLowpass.SettlingSamples() + f.halfBandLowpass.SettlingSamples() + n/2
	m.side = func(x []float64, _ []bool, p places, row []float64) {
		for k := range row {
			at := min(max(p.firstSample+k*p.rowStep-n/2, 0), len(x)-n-1)
			row[k] = floats.Dot(win.phi, x[at:at+n+1])
		}
	}
	m.noise = func(after filter.Lowpass) [3][3]float64 { return win.noise(f.rowStep, after) }
	m.minMovingShare = 0.99
	m.share = func(moving []bool, at int) float64 {
		of := moving[at-n/2:][:len(win.phi)]
		if !slices.Contains(of, false) {
			return 1
		}
		sum := 0.0
		for k, phi := range win.phi {
			if of[k] {
				sum += phi
			}
		}
		return sum
	}
	m.sides = func(rec, from, to int, p places, quiet track, _ []bool) rows {
		x, way := recs[rec].Position[from:to], quiet.v
		q, v, a := x, way, way // of which signs and the constant know nothing
		if s.hasTerm(ViscousPlus) || s.hasTerm(ViscousMinus) {
			q, v, a = f.positionLowpass.Motion(x, recs[rec].Dt)
		}
		out := rows{w: make([][]float64, len(s.Terms)), v: over(win.d1, x, p)}
		room := filter.Borrow(len(x))
		defer filter.Return(room)
		faster := f.dt / recs[rec].Dt // than the samples of the window
		floats.Scale(-faster, out.v)
		for j, t := range s.Terms {
			if c, own := s.inertial(t); own {
				out.w[j] = over(win.phi, s.column(room, t, x, v, make([]float64, len(x)), way), p)
				floats.AddScaled(out.w[j], c.Mass*faster*faster, over(win.d2, x, p))
				continue
			}
			switch t {
			case Inertia:
				out.w[j] = over(win.d2, x, p)
				floats.Scale(faster*faster, out.w[j])
			case Viscous:
				out.w[j] = out.v
			case Offset:
				out.w[j] = slices.Repeat([]float64{floats.Dot(win.phi, slices.Repeat([]float64{1}, len(win.phi)))}, p.n)
			case Stiffness, GravitySin, GravityCos:
				out.w[j] = over(win.phi, t.column(room, x, v, a, way), p)
			default:
				out.w[j] = over(win.phi, t.column(room, q, v, a, way), p)
			}
		}
		return out
	}
	return m, nil
}
