package axis

import "math"

// loads is everything that acts on the mass besides friction, during a part of a sampling interval:
//
//	u(t) − offset − k·x − mgs·sin x − mgc·cos x + kd·(p(t) − x) − fv·v − q·|v|
//
// u and p run straight within the part. fv and q are viscous friction, the mean and the half difference of
// the two directions; those of a law that has its own leave only q, where the law is rigid. It is the friction.Load of an
// evaluator.
type loads struct {
	u, du  float64 // N, N/s       drive at the beginning of the part, and its rise
	p, dp  float64 // m, m/s       far end of the spring at the beginning of the part, and its speed
	kd     float64 // N/m
	offset float64 // N
	k      float64 // N/m
	sin    float64 // N
	cos    float64 // N
	fv     float64 // N·s/m
	q      float64 // N·s/m
	turns  bool    // sine or cosine is there
}

// Span does nothing: the forces are known at every instant.
func (l *loads) Span(tau, h, x float64) {}

// At is the load and its derivatives.
func (l *loads) At(tau, x, v float64) (force, dx, dv float64) {
	force = l.u + l.du*tau + l.kd*(l.p+l.dp*tau-x) - l.offset - l.k*x
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
