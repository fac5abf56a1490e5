package friction

import (
	"fmt"
	"math"

	"hilrig/engine"
)

// Leuven is the integrated law of [SW00]: bristles whose force is a hysteresis function with a memory of its reversals,
//
//	dz/dt = v·(1 − sgn(ψ)·|ψ|^n),   ψ = Fd(z)/(s(v) − Fb)
//	F     = Fh(z) + σ1(v)·dz/dt + σ2·v,   Fh = Fb + Fd(z)
//	s(v)  = sgn(v)·(Fc + (Fs − Fc)·exp(−(v/vs)²))
//
// Fb is Fh at the last reversal and Fd the branch that began there. The source leaves the branch to be measured; here the
// first loading follows the hyperbola y(z) = Y·σ0z/(Y + σ0z), Y > Fs, and a branch after a reversal is the same curve
// doubled, Fd = 2y(z/2) (Masing). A branch that comes back to where the reversal before began closes a loop: both
// reversals are forgotten and the branch outside goes on. One that passes the mirror image of the first reversal is again
// on the curve of first loading.
//
// Departures: ψ loses its meaning where s(v) drops below the reversal at which the branch began; there the memory is wiped
// and ψ = Fh/s(v), as in gross sliding from rest. σ1 may fade, and forces grow with the
// load, as in LuGre. The stack holds eight reversals; when it is full the oldest minor loop is forgotten,
// which is the pair behind the outermost reversal. With n = 1 and Y → ∞ first loading and sliding are those of LuGre.
//
// Every branch is known by its Fb, so Fh is the state and z is not needed: with p = |Fh − Fb|, room R = |s − Fb|, c = 2 (1
// on the curve of first loading) and the path ξ,
//
//	dp/dξ = K(p)·(1 − (p/R)^n),   K = σ0·(1 − p/(cY))².
//
// A step follows it in parts of at most R/16, each with the right-hand side linear in p and then exact, and ends a part
// where a loop closes. It is good to 5e-4·Fs in a step of any length.
type Leuven struct {
	Bristle LuGre   // σ0 (the stiffness of a fresh branch), σ1, σ2, s and the load
	Reach   float64 // 1  asymptote Y of the hyperbola over the larger of Fs and Fc
	N       float64 // 1  exponent of the transition to sliding
}

const (
	leuvenDepth = 8 // reversals remembered
	leuvenDim   = 2 + leuvenDepth
	leuvenPart  = 1.0 / 16 // largest change of Fh in a part, as a share of the room
	leuvenRoom  = 1e-3     // smallest room of a branch, as a share of the sliding level
	leuvenOver  = 10       // ψ beyond which the way back to sliding gets no faster
)

// StateDim is 10: Fh (N), branch, and the reversals (N).
func (p *Leuven) StateDim() int { return leuvenDim }

// Reset relaxes the contact and forgets the reversals.
func (p *Leuven) Reset(z []float64) { clear(z) }

// States names the hysteresis force, the branch, ±(1 + number of reversals) with the sign of the motion, 0 before the first
// one, and the forces at the reversals, the oldest first.
func (p *Leuven) States() []engine.Signal {
	s := []engine.Signal{{Name: "hysteresis", Unit: "N"}, {Name: "branch"}}
	for i := range leuvenDepth {
		s = append(s, engine.Signal{Name: fmt.Sprintf("reversal%d", i+1), Unit: "N"})
	}
	return s
}

// Step advances z over in.Dt at the velocity in.V and returns the mean force over the step (N). A step without length
// returns the force without the damping of the bristles.
func (p *Leuven) Step(z []float64, in Input) float64 {
	if !(in.Dt > 0) {
		q := &p.Bristle
		return q.load(in.N)*(z[0]+q.Sigma2*in.V) + q.Offset
	}
	f, _ := p.Trial(Midpoint, z, z, in)
	return f
}

// Trial is a step of the scheme: the mean force for Midpoint, the force at the end for the others.
func (p *Leuven) Trial(scheme Scheme, z, zn []float64, in Input) (force, slope float64) {
	h, w, s, q := in.Dt, in.V, 1.0, &p.Bristle
	if w < 0 {
		s = -1
	}
	to := (*[leuvenDim]float64)(zn)
	// number by number: a copy in blocks would wait for what the last step has just written
	for i, x := range (*[leuvenDim]float64)(z) {
		to[i] = x
	}
	d := s * h * w
	n := q.load(in.N)
	if d < minPath {
		return n*z[0] + q.Offset, n * (q.Sigma0*h/2 + q.Sigma1 + q.Sigma2)
	}
	g, dg := q.gSlope(w)
	s1, ds1 := q.sigma1Slope(w)
	if to[1]*s <= 0 {
		p.turn(zn, s)
	}
	var t leuvenPath
	p.follow(&t, to, s, d, g)

	rate := t.dz * (1 / h) // mean of |dz/dt|
	f, df := t.mean, h*(t.end-t.mean)*t.id
	if scheme != Midpoint {
		f, df = t.end, h*t.rise*t.share
	}
	// force and rate follow g; in the last part ∂(dp/dξ)/∂g = K·follow, and λ lets it go
	follow := p.N * t.ir * dg * (1 / (2 + d*t.lambda)) * (1 - t.share)
	df += s * follow * d * t.rise
	df += s*ds1*rate + s1*(t.share+2*w*follow) + q.Sigma2
	return n*(s*(f+s1*rate)+q.Sigma2*w) + q.Offset, n * df
}

// turn notes a reversal if the motion now goes in direction s.
func (p *Leuven) turn(z []float64, s float64) {
	switch b := z[1] * s; {
	case b == 0:
		z[1] = s
	case b < 0:
		k := max(0, int(-b)-1)
		if k >= leuvenDepth {
			copy(z[3:], z[5:])
			k = leuvenDepth - 2
		}
		z[2+k] = z[0]
		z[1] = s * float64(k+2)
	}
}

// leuvenPath is what a path does: Fh at the end and its mean (N, in the direction of motion), the deflection gained (m), and
// at the end the share dz/dξ of the path that goes into deflection, the slope K of the branch (N/m), λ = −∂/∂p of their
// product (1/m), 1/R (1/N); and 1/d (1/m).
type leuvenPath struct{ end, mean, dz, share, rise, lambda, ir, id float64 }

// follow moves the hysteresis along a path d > 0 (m) in direction s with the sliding level g (N). t is written in place: it
// would be copied while it is still on its way to memory.
func (p *Leuven) follow(t *leuvenPath, z *[leuvenDim]float64, s, d, g float64) {
	iy := 1 / (p.Reach * p.level())
	tailPart := leuvenPart / p.N
	t.id = 1 / d
	f, left, sum := s*z[0], d, 0.0
	k := max(0, min(int(s*z[1])-1, leuvenDepth))
	k0 := k
	for left > 0 {
		// the branch: where it began, its room, where it closes
		for k > 1 && f >= s*z[k] {
			k -= 2
		}
		if k > 0 && g-s*z[1+k] < leuvenRoom*g || k == 1 && f >= -s*z[2] {
			k = 0
		}
		base, room, ic, top := 0.0, g, iy, math.Inf(1)
		if k > 0 {
			base, ic = s*z[1+k], iy/2
			room = g - base
			if top = -base; k > 1 {
				top = s * z[k]
			}
		}
		q, ir := f-base, 1/room
		// right-hand side; what one part may change: in the end half the way to sliding
		psi, u := boundedPsi(q*ir), 1-q*ic
		pn := p.power(psi) // ψ^(n−1)
		share := 1 - pn*psi
		fall := p.Bristle.Sigma0 * u * u * share // dp/dξ
		over := 1 / (p.Bristle.Sigma0 * u)
		gap, tail := room-q, tailPart*room
		most, closes := leuvenPart*q, false
		if gap > 0 {
			switch most = leuvenPart * room; {
			case gap/2 < tail:
				most = tail
			case gap/2 < most:
				most = gap / 2
			}
			if top-f <= most {
				most, closes = top-f, true
			}
		}
		// its slope, as λ = −∂/∂p
		lambda := p.Bristle.Sigma0 * u * (2*ic*share + u*p.N*pn*ir)
		if gap < tail && math.Abs(gap) > 1e-8*room {
			// the line to the end of the approach
			if p.N == 2 && psi < leuvenOver {
				lambda = p.Bristle.Sigma0 * u * u * (1 + psi) * ir
			} else {
				lambda = fall / gap
			}
		} else if gap > 0 {
			// a third of the tangent and two thirds of the chord leave no error of second order in the part
			if fall*left > 0.01*room && most > 0.01*room {
				dq := min(fall*left/(1+lambda*left/2), most)
				v, x := 1-(q+dq)*ic, (q+dq)*ir
				chord := (fall - p.Bristle.Sigma0*v*v*(1-p.power(x)*x)) / dq
				lambda = (lambda + 2*chord) / 3
			}
		}
		// a part: the rest of the path, or less if that changes too much or closes the loop
		part := left
		a := lambda * part
		p2 := phi2Series(a)
		p1 := 1 - a*p2
		if !(a < aSeries) {
			_, p1, p2 = phi(a)
		}
		dq := fall * part * p1
		if math.Abs(dq) > most {
			if x := lambda * most / math.Abs(fall); x < 1 { // else the end of the approach is the limit
				part = min(left, -math.Log1p(-x)/lambda)
			}
			dq = math.Copysign(most, fall)
			_, _, p2 = phi(lambda * part)
		} else {
			closes = false
		}
		sum += part * (f + fall*part*p2)
		qn := q + dq
		un := 1 - qn*ic
		t.dz += dq * over / un
		f += dq
		left -= part
		if closes {
			f = top
			k = max(0, k-2)
		}
		psi = boundedPsi(qn * ir)
		t.share, t.rise, t.lambda, t.ir = 1-p.power(psi)*psi, p.Bristle.Sigma0*un*un, lambda, ir
	}
	if k < k0 {
		clear(z[2+k:])
	}
	z[0], z[1] = s*f, s*float64(k+1)
	t.end, t.mean = f, sum*t.id
}

// boundedPsi is ψ within its bounds. The built-in min and max take longer, and everything waits for ψ.
func boundedPsi(psi float64) float64 {
	if psi < 0 {
		return 0
	}
	if psi > leuvenOver {
		return leuvenOver
	}
	return psi
}

// power is ψ^(n−1).
func (p *Leuven) power(psi float64) float64 {
	if p.N == 2 {
		return psi
	}
	return p.anyPower(psi)
}

func (p *Leuven) anyPower(psi float64) float64 {
	switch p.N {
	case 1:
		return 1
	case 3:
		return psi * psi
	}
	return math.Pow(psi, p.N-1)
}

// SteadyForce is the force (N) of long sliding at v (m/s): that of LuGre.
func (p *Leuven) SteadyForce(v float64) float64 { return p.Bristle.SteadyForce(v) }

// Energy is what the hysteresis function gives back (J) on the way from Fh to zero. The contact gives a little more, since
// z lags behind the path.
//
// On a branch that begins at B, from f0 down to f1, with q = 2Y − (B − f) and x = (f0 − f1)/q1:
//
//	∫Fh dz = ((2Y)²/σ0)·(x·f0/q0 − (x − ln(1 + x)))
func (p *Leuven) Energy(z []float64) float64 {
	s := math.Copysign(1, z[0])
	f, k, c := s*z[0], min(int(math.Abs(z[1]))-1, leuvenDepth), 2*p.Reach*p.level()
	// where the branch back began: here, or the last reversal
	base := f
	if s*z[1] < 0 && k > 0 {
		base = s * z[1+k]
		k--
	}
	sum := 0.0
	for f > 0 {
		end := 0.0
		if k > 0 {
			end = max(0, s*z[1+k])
		}
		q0, q1 := c-(base-f), c-(base-end)
		x := (f - end) / q1
		bend := x - math.Log1p(x)
		if x < 1e-2 { // the difference has lost its digits
			bend = x * x * (1.0/2 - x*(1.0/3-x*(1.0/4-x*(1.0/5-x*(1.0/6)))))
		}
		sum += c * c / p.Bristle.Sigma0 * (x*f/q0 - bend)
		f = end
		if f > 0 { // the loop closes: on along the branch outside
			base = s * z[k]
			k -= 2
		}
	}
	return max(0, sum)
}

// Bounds is |Fh| ≤ max(Fs, Fc), for the reversals too.
func (p *Leuven) Bounds(top []float64) {
	for i := range top {
		top[i] = p.level()
	}
	top[1] = leuvenDepth + 1
}

// level is the highest sliding level (N).
func (p *Leuven) level() float64 { return max(p.Bristle.Fs, p.Bristle.Fc) }

// Passive is true for Fs = Fc only. Otherwise ψ depends on the speed, and a small loop around 0 < Fh < ½(Fs − Fc) that is
// loaded slowly and unloaded fast gives more on the way back, in every turn; there is no lowest speed for it.
func (p *Leuven) Passive() (ok bool, speed float64) { return p.Bristle.Fs == p.Bristle.Fc, 0 }

// Stiffness bounds the slopes of the law.
func (p *Leuven) Stiffness() Stiffness { return p.Bristle.Stiffness() }

// Levels are those of LuGre.
func (p *Leuven) Levels() Levels { return p.Bristle.Levels() }

// Viscous is that of LuGre.
func (p *Leuven) Viscous(v float64) float64 { return p.Bristle.Viscous(v) }

func (p *Leuven) fields() []field {
	return append(p.Bristle.fields(),
		field{"reach", "", &p.Reach, 1.05, 100, "asymptote of the hysteresis function over the larger of Fs and Fc"},
		field{"n", "", &p.N, 1, 20, "exponent of the transition to sliding"})
}

// Params lists the parameters in the order of SetParams.
func (p *Leuven) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *Leuven) SetParams(theta []float64) error {
	return setParams("leuven", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range.
func (p *Leuven) Validate() error { return checkFields("leuven", p.fields()) }
