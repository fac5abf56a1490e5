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
// and ψ = Fh/s(v), as in gross sliding from rest. σ1 may fade as in LuGre. The stack holds eight reversals; when it is full the oldest minor loop is forgotten,
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
	Sigma0 float64 // N/m    stiffness of a fresh branch
	Sigma1 float64 // N·s/m  damping at rest
	Sigma2 float64 // N·s/m  viscous friction
	Fc     float64 // N      Coulomb level
	Fs     float64 // N      break-away level
	Vs     float64 // m/s    Stribeck velocity
	Vd     float64 // m/s    velocity at which σ1 has decayed to 1/e; 0: constant σ1
	Reach  float64 // 1      asymptote Y of the hyperbola over the larger of Fs and Fc
	N      float64 // 1      exponent of the transition to sliding
}

const (
	leuvenDepth = 8        // reversals remembered
	leuvenPart  = 1.0 / 16 // largest change of Fh in a part, as a share of the room
	leuvenRoom  = 1e-3     // smallest room of a branch, as a share of the sliding level
	leuvenOver  = 10       // ψ beyond which the way back to sliding gets no faster
)

// StateDim is 10: Fh (N), branch, and the reversals (N).
func (p *Leuven) StateDim() int { return 2 + leuvenDepth }

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
		return z[0] + p.Sigma2*in.V
	}
	f, _ := p.Trial(Midpoint, z, z, in)
	return f
}

// Trial is a step of the scheme: the mean force for Midpoint, the force at the end for the others.
func (p *Leuven) Trial(scheme Scheme, z, zn []float64, in Input) (force, slope float64) {
	h, w, s := in.Dt, in.V, 1.0
	if w < 0 {
		s = -1
	}
	copy(zn, z)
	d := s * h * w
	if d == 0 {
		return z[0], p.Sigma0*h/2 + p.Sigma1 + p.Sigma2
	}
	q := LuGre{Sigma1: p.Sigma1, Fc: p.Fc, Fs: p.Fs, Vs: p.Vs, Vd: p.Vd}
	g, dg := q.gSlope(w)
	s1, ds1 := q.sigma1Slope(w)
	zn = zn[:2+leuvenDepth]
	p.turn(zn, s)
	t := p.follow(zn, s, d, g)

	rate := t.dz / h // mean of |dz/dt|
	f, df := t.mean, h*(t.end-t.mean)/d
	if scheme != Midpoint {
		f, df = t.end, h*t.rise*t.share
	}
	// in sliding the force follows g, with the slope λ of the last part
	a := d * t.lambda
	df += s * dg * (1 - t.share) * a / (2 + a)
	return s*(f+s1*rate) + p.Sigma2*w, df + s*ds1*rate + s1*t.share + p.Sigma2
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
// at the end the share dz/dξ of the path that goes into deflection, the slope K of the branch (N/m), and λ = −∂/∂p of their
// product (1/m).
type leuvenPath struct{ end, mean, dz, share, rise, lambda float64 }

// follow moves the hysteresis along a path d > 0 (m) in direction s with the sliding level g (N).
func (p *Leuven) follow(z []float64, s, d, g float64) (t leuvenPath) {
	iy := 1 / (p.Reach * max(p.Fs, p.Fc))
	tailPart := leuvenPart / p.N
	f, left, sum := s*z[0], d, 0.0
	k := max(0, min(int(s*z[1])-1, leuvenDepth))
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
		psi, u := min(max(0, q*ir), leuvenOver), 1-q*ic
		pn := p.power(psi) // ψ^(n−1)
		t.share = 1 - pn*psi
		fall := p.Sigma0 * u * u * t.share // dp/dξ
		gap, tail := room-q, tailPart*room
		most, closes := leuvenPart*max(q, room), false
		if gap > 0 {
			most = min(most, max(gap/2, tail))
			if top-f <= most {
				most, closes = top-f, true
			}
		}
		// its slope, as λ = −∂/∂p
		lambda := p.Sigma0 * u * (2*ic*t.share + u*p.N*pn*ir)
		if gap < tail && math.Abs(gap) > 1e-8*room {
			lambda = fall / gap // the line to the end of the approach
		} else if gap > 0 {
			// a third of the tangent and two thirds of the chord leave no error of second order in the part
			if dq := min(fall*left/(1+lambda*left/2), most); dq > 0.01*room {
				v, x := 1-(q+dq)*ic, (q+dq)*ir
				chord := (fall - p.Sigma0*v*v*(1-p.power(x)*x)) / dq
				lambda = (lambda + 2*chord) / 3
			}
		}
		// a part: the rest of the path, or less if that changes too much or closes the loop
		part := left
		_, p1, p2 := phi(lambda * part)
		dq := fall * part * p1
		if math.Abs(dq) > most {
			part = min(left, -math.Log1p(-lambda*most/math.Abs(fall))/lambda)
			dq = math.Copysign(most, fall)
			_, _, p2 = phi(lambda * part)
		} else {
			closes = false
		}
		sum += part * (f + fall*part*p2)
		qn := q + dq
		un := 1 - qn*ic
		t.dz += dq / (p.Sigma0 * u * un)
		f += dq
		left -= part
		if closes {
			f = top
			k = max(0, k-2)
		}
		psi = min(max(0, qn*ir), leuvenOver)
		t.share, t.rise, t.lambda = 1-p.power(psi)*psi, p.Sigma0*un*un, lambda
	}
	clear(z[2+k:])
	z[0], z[1] = s*f, s*float64(k+1)
	t.end, t.mean = f, sum/d
	return t
}

// power is ψ^(n−1).
func (p *Leuven) power(psi float64) float64 {
	switch p.N {
	case 1:
		return 1
	case 2:
		return psi
	case 3:
		return psi * psi
	}
	return math.Pow(psi, p.N-1)
}

// Steady is the force (N) of long sliding at v (m/s). At v = 0 it is whatever holds the body; Steady returns 0 there.
func (p *Leuven) Steady(v float64) float64 {
	if v == 0 {
		return 0
	}
	r := v / p.Vs
	return math.Copysign(p.Fc+(p.Fs-p.Fc)*expNeg(r*r), v) + p.Sigma2*v
}

// Energy is what the hysteresis function gives back (J) on the way from Fh to zero. The contact gives a little more, since
// z lags behind the path.
//
// On a branch that begins at B, with q = 2Y − p: ∫Fh dz = (2Y)²/σ0·((B − 2Y)·(1/q1 − 1/q0) + ln(q0/q1)).
func (p *Leuven) Energy(z []float64) float64 {
	s := math.Copysign(1, z[0])
	f, k, c := s*z[0], min(int(math.Abs(z[1]))-1, leuvenDepth), 2*p.Reach*max(p.Fs, p.Fc)
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
		x := (q0 - q1) / q1
		sum += c * c / p.Sigma0 * ((base-c)*x/q0 + math.Log1p(x))
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
		top[i] = max(p.Fs, p.Fc)
	}
	top[1] = leuvenDepth + 1
}

// Passive is true for Fs = Fc only. Otherwise ψ depends on the speed, and a small loop around 0 < Fh < ½(Fs − Fc) that is
// loaded slowly and unloaded fast gives more on the way back, in every turn; there is no lowest speed for it.
func (p *Leuven) Passive() (ok bool, speed float64) { return p.Fs == p.Fc, 0 }

// Stiffness bounds the slopes of the law.
func (p *Leuven) Stiffness() Stiffness {
	return Stiffness{K: p.Sigma0, C: p.Sigma1 + p.Sigma2, Speed: p.Vs,
		Fall: max(0, math.Sqrt(2/math.E)*(p.Fs-p.Fc)/p.Vs-p.Sigma2)}
}

func (p *Leuven) fields() []field {
	return []field{
		{"sigma0", "N/m", &p.Sigma0, tiny, stiff, "stiffness of a fresh branch"},
		{"sigma1", "N·s/m", &p.Sigma1, 0, damp, "bristle damping at rest"},
		{"sigma2", "N·s/m", &p.Sigma2, 0, damp, "viscous friction"},
		{"Fc", "N", &p.Fc, tiny, force, "Coulomb friction"},
		{"Fs", "N", &p.Fs, tiny, force, "break-away friction (total, not the increment)"},
		{"vs", "m/s", &p.Vs, tiny, fast, "Stribeck velocity"},
		{"vd", "m/s", &p.Vd, 0, fast, "velocity at which sigma1 has faded to 1/e; 0: it does not fade"},
		{"reach", "", &p.Reach, 1.05, 100, "asymptote of the hysteresis function over the larger of Fs and Fc"},
		{"n", "", &p.N, 1, 20, "exponent of the transition to sliding"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *Leuven) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *Leuven) SetParams(theta []float64) error {
	return setParams("leuven", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range.
func (p *Leuven) Validate() error { return checkFields("leuven", p.fields()) }
