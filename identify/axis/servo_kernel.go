package axis

import "math"

// The loop that a fit runs thousands of times: a mass with friction in its controller, or under a recorded force, at the
// sampling interval h with the explicit scheme A-Padé [theory §4.3] and damping at the middle,
//
//	a  = hσ0|v|,  g = Fc + ΔF·exp(−(v/vs)²)
//	ζ⁺ = [ζg² + a·s·g(g + a/2)] / [g(g + a/2) + ½a(g + a)],   s = sgn v
//	D  = σ1·(1 − s'ζ⁺/g) + σ2,   s' = sgn w,   w = ½(v + v⁺)
//	v⁺ = v + h/M·(ū − ζ⁺ − D·w − offset),   x⁺ = x + h·v⁺
//
// with ζ = σ0·z in newton. It is a leapfrog: x, ζ and friction belong to t_k, v to t_k − h/2, and ū is the mean of the input
// over [t_k − h/2, t_k + h/2]. The source damps with σ1·(z⁺ − z)/h + σ2·v, half a step late, which at reversals is an error
// of σ1·h·v̇/2; here the rate of the bristle is that at t_k, from ζ⁺ and the mean velocity w. The equation for v⁺ stays
// linear. Against the continuous solution this takes away three quarters of the error and more. A sample is divided
// into parts where h²σ0/M + 2hσ1/M > 2, halfway to the limit of stability of the source's scheme.
//
// Static friction (Coulomb and viscous) has no bristle. Its step is the trapezoidal rule while the mass slides, cut where
// the velocity crosses zero; there the mass sticks if the input is within the Coulomb force.

const (
	maxParts = 64  // of a sample; a contact stiffer than that is not simulated
	farAway  = 1e3 // a motion beyond so many times the range of the record has left it
)

// side is the friction of one direction of motion.
type side struct {
	fc   float64 // N      Coulomb force
	rise float64 // N      ΔF = Fs − Fc, may be negative
	s2   float64 // N·s/m  viscous friction
}

// contact is a mass with its friction, ready to run.
type contact struct {
	m       float64 // kg
	plus    side    // v ≥ 0
	minus   side    // v < 0
	offset  float64 // N, opposes positive motion
	bristle bool    // else static
	fs      float64 // N, static: force that breaks the mass away, where above the Coulomb force
	sigma0  float64 // N/m
	sigma1  float64 // N·s/m
	overVs  float64 // s/m, 1/vs
}

// parts is how many parts of h (s) the scheme asks for; 0: more than are allowed, or not a number.
func (c *contact) parts(h float64) int {
	if !c.bristle {
		return 1
	}
	k, d := h*h*c.sigma0/c.m, 2*h*(c.sigma1+max(c.plus.s2, c.minus.s2))/c.m
	if k+d <= 2 {
		return 1
	}
	// the least n with k/n² + d/n ≤ 2
	n := math.Ceil((d + math.Sqrt(d*d+8*k)) / 4)
	if !(n <= maxParts) {
		return 0
	}
	return int(n)
}

// sound tells whether the numbers describe a contact.
func (c *contact) sound() bool {
	ok := c.m > 0 && c.plus.fc >= 0 && c.minus.fc >= 0 && !math.IsNaN(c.plus.s2+c.minus.s2+c.offset)
	if c.bristle { // g must not vanish anywhere
		ok = ok && c.sigma0 > 0 && c.sigma1 >= 0 && c.overVs > 0 && c.overVs < math.Inf(1) && c.plus.fc > 0 && c.minus.fc > 0 && c.plus.fc+c.plus.rise > 0 && c.minus.fc+c.minus.rise > 0
	}
	return ok
}

// start is where a run begins: the parabola of the first samples.
type start struct{ x, v, a float64 } // m, m/s, m/s²

// track is a piece of a record as the loop wants it, and room for what it simulates.
type track struct {
	h         float64   // s
	reference []float64 // m, closed loop
	force     []float64 // N, as recorded
	pulse     []float64 // N, known and added to the input; nil: none
	ctl       Controller
	closed    bool
	pad       int       // positions that the controller looks back to, at least 1
	x         []float64 // m, simulated, with the pad
	u         []float64 // N, simulated commands of a closed loop
	asked     []float64 // N, the recorded ones
	reach     float64   // m, beyond it the simulation has left the record
}

// moment is the state between two samples.
type moment struct {
	x, v, zeta float64 // m, m/s half a part earlier, N
	u1, u2     float64 // N, the two commands before
}

// begin puts the mass at s, its contact as begins says. The positions before, for a velocity at the first sample, are those of the
// parabola.
func (t *track) begin(c *contact, s start, parts int) moment {
	for i := range t.pad {
		back := float64(t.pad-i) * t.h
		t.x[i] = s.x - back*s.v + back*back*s.a/2
	}
	return moment{x: s.x, v: s.v - s.a*t.h/float64(2*parts), zeta: c.begins(s.v)}
}

// run simulates the samples from … to−1 with the windows w, one per part, and fills x and, in closed loop, u. It returns the
// first sample that is not good: to, or where the motion left the record.
func (t *track) run(c *contact, at *moment, w []window, from, to int) int {
	n, h, pad := len(t.force), t.h, t.pad
	hp := h / float64(len(w))
	push := hp / c.m
	x, v, zeta, u1, u2 := at.x, at.v, at.zeta, at.u1, at.u2
	s0 := hp * c.sigma0

	// the controller in newton: u = stiff·(reference − x) − damp·(x − x of mean samples ago), both delayed, clamped
	mean, delay := max(t.ctl.Mean, 1), t.ctl.Delay
	stiff := t.ctl.Gain * t.ctl.Kv * t.ctl.Kp
	damp := t.ctl.Gain * t.ctl.Kv / (float64(mean) * h)
	limit := math.Inf(1)
	if t.ctl.Limit > 0 {
		limit = t.ctl.Gain * t.ctl.Limit
	}
	ahead, share := foresight(w)
	slope := stiff // what the next command loses per metre of the next position
	if delay == 0 {
		slope += damp
	}
	inertia := h * h / c.m
	next := ahead[before+1] + 2*ahead[before+2] // u_{k+2} is taken straight on from the two before: 2u_{k+1} − u_k
	answered := 1 / (1 + slope*inertia*next)    // of a mass without bristle
	peek := t.closed && next != 0

	var u0, un, un2 float64
	reach, static := t.reach, !c.bristle
	for k := from; k < to; k++ {
		t.x[pad+k] = x
		if t.closed {
			if k >= pad {
				u0 = min(max(stiff*(t.reference[k]-x)-damp*(t.x[pad+k-delay]-t.x[pad+k-delay-mean]), -limit), limit)
			} else { // the controller looks back on what is not recorded
				u0 = t.asked[k]
			}
			t.u[k] = u0
			if t.pulse != nil {
				u0 += t.pulse[k]
			}
			if k == 0 {
				u1, u2 = u0, u0
			}
			un, un2 = u0, u0
		} else {
			u0, u1, u2 = t.force[k], t.force[max(k-1, 0)], t.force[max(k-2, 0)]
			un, un2 = t.force[min(k+1, n-1)], t.force[min(k+2, n-1)]
		}
		for j := range w {
			q := &w[j]
			f, eff := 0.0, 1.0
			if !static {
				f, eff, zeta = c.rub(zeta, v, s0, 0.5*push, q[0]*u2+q[1]*u1+q[2]*u0+q[3]*un+q[4]*un2)
			}
			if peek && j == 0 && k+1 < n {
				// a command that acts before its stamp answers the position it leads to
				known := ahead[0]*u2 + ahead[1]*u1 + (ahead[2]-ahead[4])*u0
				if t.pulse != nil {
					known += next * t.pulse[k+1]
				}
				target := stiff*t.reference[k+1] + damp*t.x[pad+k+1-delay-mean]
				if delay > 0 {
					target -= damp * t.x[pad+k+1-delay]
				}
				if k+1 < pad {
					un = t.asked[k+1]
				} else if static {
					for range 2 { // the mass may stick on the way: Newton on a line with kinks
						to := x + h*c.slide(v, known+next*un-c.offset, h)
						un += (target - slope*to - un) * answered
					}
				} else {
					un = (target - slope*(x+h*v+inertia*eff*(known-share*f))) / (1 + slope*inertia*eff*next)
				}
				un = min(max(un, -limit), limit)
				if t.pulse != nil {
					un += t.pulse[k+1]
				}
				un2 = 2*un - u0
			}
			ubar := q[0]*u2 + q[1]*u1 + q[2]*u0 + q[3]*un + q[4]*un2
			if static {
				v = c.slide(v, ubar-c.offset, hp)
			} else {
				v += push * eff * (ubar - f)
			}
			x += hp * v
		}
		if !(math.Abs(x) < reach) {
			return k
		}
		u2, u1 = u1, u0
	}
	t.x[pad+to] = x
	*at = moment{x: x, v: v, zeta: zeta, u1: u1, u2: u2}
	return to
}

// rub steps the bristle, in newton, with the velocity before the part. The friction of the part is f + D·(v⁺ − v)/2, so the
// velocity changes by h/M·eff·(u − f), eff = 1/(1 + hD/2M): damping at the mean velocity of before and after. s0 is hσ0, half
// is h/2M, and u the input as far as it is known, for the direction of that mean.
func (c *contact) rub(zeta, v, s0, half, u float64) (f, eff, next float64) {
	d, speed := &c.plus, v
	if v < 0 {
		d, speed = &c.minus, -v
	}
	r := v * c.overVs
	e := bell(r * r)
	g := d.fc + d.rise*e
	a := s0 * speed
	p := g + 0.5*a
	next = (zeta*g*g + s0*v*g*p) / (g*p + 0.5*a*(g+a))
	rest := next + c.offset
	d, sign := &c.plus, 1.0
	if v+half*(u-rest) < 0 {
		d, sign = &c.minus, -1
	}
	damp := c.sigma1*(1-sign*next/(d.fc+d.rise*e)) + d.s2
	return rest + damp*v, 1 / max(1+half*damp, leastMass), next
}

// leastMass keeps a step finite where a bristle that has to give way drives more than the mass can hold back.
const leastMass = 0.5

// slide is the velocity (m/s) a time h (s) after v under the constant force u (N) and static friction.
func (c *contact) slide(v, u, h float64) float64 {
	if v != 0 {
		to := c.glide(v, u, h, v > 0)
		if to*v >= 0 {
			return to
		}
		h *= to / (to - v) // what is left after the velocity has reached zero
	}
	switch {
	case u > max(c.fs, c.plus.fc):
		return c.glide(0, u, h, true)
	case u < -max(c.fs, c.minus.fc):
		return c.glide(0, u, h, false)
	}
	return 0
}

// glide is slide in one direction: the trapezoidal rule.
func (c *contact) glide(v, u, h float64, forward bool) float64 {
	d, sign := &c.plus, 1.0
	if !forward {
		d, sign = &c.minus, -1.0
	}
	b := 0.5 * h * d.s2 / c.m
	return (v*(1-b) + h/c.m*(u-sign*d.fc)) / (1 + b)
}

// powers are 2^{j/128}, halved often enough in their bits that adding the whole exponent completes them.
var powers = func() (t [128]uint64) {
	for j := range t {
		t[j] = math.Float64bits(math.Exp2(float64(j)/128)) - uint64(j)<<45
	}
	return t
}()

// bell is e^{−a} for a ≥ 0, within 2e-15, in a third of the time of the library: with k the integer nearest to −128a/ln 2,
// 2^{k/128} from a table times a polynomial in the rest r, |r| ≤ 0.0027. Beyond a = 40 it is below 1e-17 and taken for zero.
func bell(a float64) float64 {
	if !(a < 40) {
		return 0
	}
	const round = 3 << 51 // adding it leaves the integer in the low bits of the sum
	kd := round - a*(128/math.Ln2)
	k := math.Float64bits(kd)
	r := -a - (kd-round)*(math.Ln2/128)
	scale := math.Float64frombits(powers[k%128] + k<<45)
	return scale + scale*(r+r*r*(0.5+r*(1.0/6+r*(1.0/24))))
}
