package axis

import (
	"math"

	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/identify/record"
)

// Where a simulation begins is measured, with noise. A position says where within its noise, but how fast only as well as
// time allows: the parabola through the first N samples, h apart, of noise s has at its beginning the velocity to
//
//	s_v = s/h·√(192/N³)
//
// for large N. Nine samples of 10 µm a millisecond apart leave 5 mm/s in doubt, a hundred of them 0.14 mm/s. But a motion is
// a parabola for a while only. So the window grows for as long as what it says of the beginning agrees with what all smaller
// ones said, within their errors, and the parabola leaves no more than the noise [Lepski; Goldenshluger, Nemirovski]: then
// what the parabola gets wrong is of the size of the error left by the noise.
//
// Under a recorded force most of what is no parabola comes from that force, and a rough inertia is enough to take it off.
// A body that sticks does not follow its force, but then it rests. Of these three the one with the least error counts.

const (
	agreed          = 3.0  // standard errors within which windows agree
	growth          = 1.2  // from window to window
	minSamples      = 3    // samples
	minVelocityErrs = 2.0  // standard errors below which a velocity is none
	slack           = 1.15 // what the noise itself may be wrong by
)

// start is where a simulation begins.
type start struct{ x, v, a float64 } // m, m/s, m/s²

// push is what is known of the forces on a piece.
type push struct {
	drive  []float64 // N
	m, fv  float64   // kg, N·s/m: a first guess
	linear bool      // the drive runs straight between its samples
}

// start is where the simulation of a piece begins: at rest, or as the first samples move. A velocity that cannot be told
// from rest is rest: most records begin so. A measured velocity counts where it knows better than the position, and does
// not contradict it; so does a force, by p; nil: none.
func (s *Spec) start(d *record.Record, p *push) start {
	if len(d.Position) == 0 {
		v := despiked(d.Velocity)
		at, _ := opening(v, d.Dt, numeric.Noise(v), false)
		return start{v: at.x, a: at.v}
	}
	q := despiked(d.Position)
	if s.Initial == Rest {
		return start{x: q[0]}
	}
	noise := numeric.Noise(q)
	at, doubt := opening(q, d.Dt, noise, true)
	if p != nil && p.m > 0 {
		if pushed, own := opening(p.coasts(q, d.Dt), d.Dt, noise, true); own < doubt {
			at, doubt = pushed, own
			at.v += p.fv / p.m * (q[0] - at.x)
			at.a += (p.drive[0] - p.fv*at.v) / p.m
		}
		if still, own := restState(q, d.Dt, noise); own < doubt { // the force does not move what sticks
			at, doubt = still, own
		}
	}
	if len(d.Velocity) == len(q) {
		v := despiked(d.Velocity)
		fast, own := opening(v, d.Dt, numeric.Noise(v), false)
		if own < doubt && math.Abs(fast.x-at.v) <= 3*(own+doubt) {
			at.v, at.a, doubt = fast.x, fast.v, own
		}
	}
	if math.Abs(at.v) <= minVelocityErrs*doubt {
		at.v = 0
	}
	return at
}

// coasts is the position without what the force and viscous friction did to it since the first sample,
//
//	x − ∬u/M + Fv/M·∫(x − x_0),
//
// a parabola for as long as the direction of motion, and with it Coulomb friction, stays the same.
func (p *push) coasts(q []float64, h float64) []float64 {
	y := make([]float64, len(q))
	var v, far, area float64 // M times the velocity and the displacement by the drive, ∫(x − x0)
	for k := range q {
		y[k] = q[k] + (p.fv*area-far)/p.m
		if k+1 == len(q) {
			break
		}
		u, next := p.drive[k], p.drive[k]
		if p.linear {
			next = p.drive[k+1]
		}
		far += v*h + (2*u+next)*h*h/6
		v += (u + next) / 2 * h
		area += ((q[k]+q[k+1])/2 - q[0]) * h
	}
	return y
}

// restState is the mean of the samples during which nothing moves beyond the noise, and the standard error of the slope of a
// line through them; without bounds where that is not even for nine.
func restState(q []float64, h, noise float64) (at start, doubt float64) {
	doubt = math.Inf(1)
	for n := 9; n <= len(q); n = int(growth * float64(n)) {
		var y0, y1, y2 float64
		m := float64(n-1) / 2
		for k, x := range q[:n] {
			y := x - q[0]
			y0, y1, y2 = y0+y, y1+y*(float64(k)-m), y2+y*y
		}
		mean := y0 / float64(n)
		s := noise * math.Sqrt(12/float64(n*(n*n-1)))
		if math.Abs(y1)*s > agreed*noise*noise || math.Sqrt(max(0, y2-mean*y0)/float64(n-1)) > slack*noise*spread(n-1) {
			break
		}
		at, doubt = start{x: q[0] + mean}, s/h
	}
	return at, doubt
}

// opening is value, slope and curvature of q at its first sample, by half the longest parabola that the noise allows, and
// the standard error of the slope, or of the value, whichever is to be good. Half: where the windows are seen to disagree,
// what the parabola gets wrong is already several times the error left by the noise.
func opening(q []float64, h, noise float64, slope bool) (at start, doubt float64) {
	type window struct {
		n     int
		state start
		doubt float64
	}
	var taken []window
	lo, hi := math.Inf(-1), math.Inf(1)
	for n := minSamples; n <= len(q); n = max(n+1, int(growth*float64(n))) {
		p, miss, sx, sv := parabola(q[:n], h)
		said, s := p.x, sx*noise
		if slope {
			said, s = p.v, sv*noise
		}
		lo, hi = max(lo, said-agreed*s), min(hi, said+agreed*s)
		if n > minSamples && (lo > hi || miss > slack*noise*spread(n-3)) {
			for len(taken) > 1 && 2*taken[len(taken)-1].n > n {
				taken = taken[:len(taken)-1]
			}
			break
		}
		taken = append(taken, window{n, p, s})
	}
	w := taken[len(taken)-1]
	return w.state, w.doubt
}

// spread is what the rms of white noise exceeds in one of ten thousand cases, for its standard deviation and the degrees of
// freedom.
func spread(free int) float64 {
	nu := float64(free)
	return math.Sqrt(1 + 4*math.Sqrt(2/nu) + 10/nu)
}

// parabola fits the samples q, h apart. miss is the rms of what is left, per degree of freedom; sx and sv are the standard
// errors of value and slope at the first sample where noise is 1.
func parabola(q []float64, h float64) (at start, miss, sx, sv float64) {
	// counted from the middle, the normal equations fall apart
	n, m := float64(len(q)), float64(len(q)-1)/2
	s2 := n * (n*n - 1) / 12
	s4 := s2 * (3*n*n - 7) / 20
	var y0, y1, y2 float64
	for k, x := range q {
		t, y := float64(k)-m, x-q[0]
		y0, y1, y2 = y0+y, y1+t*y, y2+t*t*y
	}
	det := n*s4 - s2*s2
	c, b := (n*y2-s2*y0)/det, y1/s2
	a := (y0 - c*s2) / n
	for k, x := range q {
		t := float64(k) - m
		e := x - q[0] - (a + b*t + c*t*t)
		miss += e * e
	}
	miss = math.Sqrt(miss / max(1, n-3))
	sx = math.Sqrt(s4/det + m*m/s2 + m*m*(m*m*n-2*s2)/det)
	sv = math.Sqrt(1/s2+4*m*m*n/det) / h
	return start{x: q[0] + a - b*m + c*m*m, v: (b - 2*c*m) / h, a: 2 * c / (h * h)}, miss, sx, sv
}

// Where a record begins in motion, so does the contact: not relaxed, as after a long rest, but as after a long slide at the
// same speed. Whether a small speed is a motion, or the noise of a mass at rest, only its size tells. Bristles begin with the
// share
//
//	1 − exp(−(v/vs)⁸)
//
// of their steady deflection, vs the Stribeck velocity: nothing well below it and all of it above, and smooth in between,
// since vs is searched. Laws with a mode of sliding begin in it above vs and above a fiftieth of the largest speed.

// movedShare is that share at r = v/vs.
func movedShare(r float64) float64 {
	r *= r
	r *= r
	return -math.Expm1(-r * r)
}

// slidesFrom is the share of the largest speed from which a mode of sliding is believed.
const slidesFrom = 0.02

// path is for how many deflections at break-away, and time constants of the law, a contact slides until it is steady.
const path = 50

// start puts the body at the beginning of a piece at x (m) and v (m/s).
func (b *body) start(x, v float64) {
	b.x[0], b.x[1] = x, v
	z := b.x[2:]
	b.law.Reset(z)
	speed := math.Abs(v)
	if len(z) == 0 || speed == 0 {
		return
	}
	k := b.fullLaw.Stiffness()
	if s, ok := b.law.(friction.Sliding); ok {
		if speed > max(k.Speed, slidesFrom*b.maxSpeed) {
			s.ResetSliding(z, v)
		}
		return
	}
	share := movedShare(v / k.Speed)
	level := math.Abs(b.fullLaw.SteadyForce(v))
	if b.switched || !(k.K > 0 && level > 0 && share > 0) {
		return
	}
	long := path * level / k.K / speed
	for _, tau := range b.taus {
		long += path * *tau
	}
	copy(b.contactRoom, z)
	b.fullLaw.Step(b.contactRoom, friction.Input{Dt: long, V: v})
	for i, q := range b.contactRoom {
		if i != b.travel { // a displacement counts from the beginning of the record
			z[i] += share * (q - z[i])
		}
	}
}
