package axis

import "math"

// loads is everything that acts on the mass besides friction, during one sampling interval:
//
//	u(t) − offset − k·x − mgs·sin x − mgc·cos x + kd·(p(t) − x) − fv·v − q·|v|
//
// u and p run straight within the interval, or u is held. fv and q are viscous friction, the mean and the half difference of
// the two directions; those of a law that has its own leave only q, where the law is rigid. It is the friction.Load of an
// evaluator.
type loads struct {
	u, du  float64 // N, N/s       drive at the beginning of the interval, and its rise
	p, dp  float64 // m, m/s       far end of the spring, and its speed
	kd     float64 // N/m
	offset float64 // N
	k      float64 // N/m
	sin    float64 // N
	cos    float64 // N
	fv     float64 // N·s/m
	q      float64 // N·s/m
	turns  bool    // sine or cosine is there
	begin  float64 // s  of the present part within the interval
}

// Span does nothing: the forces are known at every instant.
func (l *loads) Span(tau, h, x float64) {}

// At is the load and its derivatives.
func (l *loads) At(tau, x, v float64) (force, dx, dv float64) {
	t := l.begin + tau
	force = l.u + l.du*t + l.kd*(l.p+l.dp*t-x) - l.offset - l.k*x
	dx = -l.kd - l.k
	if l.turns {
		s, c := math.Sincos(x)
		force -= l.sin*s + l.cos*c
		dx += l.sin*-c + l.cos*s
	}
	force -= l.fv * v
	dv = -l.fv
	if l.q != 0 {
		force -= l.q * math.Abs(v)
		if v != 0 {
			dv -= math.Copysign(l.q, v)
		}
	}
	return force, dx, dv
}

// delayed writes to out what a force u, held or straight between its samples, is at the samples when it acts s samples
// later: weights that are piecewise linear in s on its neighbours, so that s has a derivative. A held force that is late by
// part of a sample has in every interval the mean of two samples; its mean over the interval is what is written. Before the
// first sample and after the last the force stays.
func delayed(out, u []float64, s float64) {
	whole := math.Floor(s)
	part, n := s-whole, len(u)
	shift := int(max(-float64(n), min(float64(n), whole)))
	for k := range out {
		i := k - shift
		out[k] = (1-part)*u[min(max(i, 0), n-1)] + part*u[min(max(i-1, 0), n-1)]
	}
}
