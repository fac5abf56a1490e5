package friction

import (
	"math"

	"hilrig/engine"
)

// StateVariable is the law of Dieterich and Ruina with one state, in the slip form [RR83], [MOGI] (6.33)–(6.40):
//
//	F  = N·f,   f = μ0 + A·ln(v/v0) + θ                    (6.35)
//	dθ/dt = −(|v|/L)·[θ + B·ln((|v| + vε)/v0)]              (6.36)
//
// A jump of the velocity changes f at once by A·ln (direct effect), and by −B·ln over the distance L: the steady curve
// (6.37) falls with speed where A < B.
//
// Departures from the source, which is silent about v = 0: f is the regularised form that is odd and passes through zero,
//
//	f = A·asinh(v/(2v0)·exp((μ0 + θ)/A)),
//
// equal to (6.35) where f ≫ A and evaluated in logarithms, because the exponent reaches thousands; vε keeps θ finite at
// rest; below creepSpeed the asinh gives way to its chord, because its argument would leave the range of numbers. A is taken
// for at least minDirect: without a direct effect the law says nothing about f at a given speed.
//
// dθ/dt vanishes with v: there is no healing at rest. The law is meant for sliding in one direction, not for reversals or
// true rest; it stays finite and dissipative there.
//
// For a given motion θ is exact, and the force is taken at the mean of θ over the step: exact work where f ≫ A, where f is
// linear in θ.
//
// While the contact creeps, its slope N·A/v outweighs 2M/h by far, and the Midpoint scheme, which damps nothing, would let
// the velocity at the ends of the steps alternate around their mean for ever. Mass takes such steps with Implicit.
type StateVariable struct {
	Mu0  float64 // –    coefficient of friction at v0
	V0   float64 // m/s  speed at which it is Mu0
	A    float64 // –    direct effect
	B    float64 // –    effect of the state
	L    float64 // m    distance over which the state follows
	N0   float64 // N    normal load where none is given
	Veps float64 // m/s  speed that keeps θ finite at rest
}

const (
	minDirect  = 1e-4  // least A [theory §6]: a measured A below the noise
	creepSpeed = 1e-20 // m/s  an atom in 300 years
	followTime = 1e-3  // s    see Stiffness
)

// Material is a row of table 6.4: hardened tool steel of 59 HRC in line contact; each value with its uncertainty.
type Material struct {
	Name, Title string
	A, DA       float64
	B, DB       float64
	L, DL       float64 // m
}

// ToolSteel is table 6.4.
var ToolSteel = []Material{
	{Name: "dry-steel", Title: "tool steel of 59 HRC, dry", A: 2.8e-3, DA: 0.5e-3, B: 9.4e-3, DB: 1.1e-3, L: 64.7e-6, DL: 14.3e-6},
	{Name: "paraffin-oil", Title: "tool steel of 59 HRC in paraffin oil, 158 Saybolt; A is below the noise", A: 0, B: 11.1e-3, DB: 2.5e-3,
		L: 22.4e-6, DL: 4.3e-6},
	{Name: "boundary-lubricant", Title: "tool steel of 59 HRC with a commercial boundary lubricant, paste", A: 1.1e-3, DA: 0.1e-3, B: 4.0e-3,
		DB: 0.4e-3, L: 19.2e-6, DL: 1.4e-6},
}

// steelPresets are the rows of table 6.4 for the registry.
func steelPresets() (all []Preset) {
	for _, m := range ToolSteel {
		all = append(all, Preset{m.Name, m.Title, "DD95", []PresetValue{{"A", m.A, m.DA}, {"B", m.B, m.DB}, {"L", m.L, m.DL}}})
	}
	return all
}

// StateDim is 1: θ.
func (p *StateVariable) StateDim() int { return 1 }

// Reset is a contact that has stopped from sliding at v0, θ = 0: rest itself does not change θ.
func (p *StateVariable) Reset(z []float64) { z[0] = 0 }

// ResetSliding is a contact that has always been sliding at v; with v = 0 it is Reset.
func (p *StateVariable) ResetSliding(z []float64, v float64) {
	z[0] = 0
	if v != 0 {
		z[0], _ = p.target(v)
	}
}

// States names θ.
func (p *StateVariable) States() []engine.Signal { return []engine.Signal{{Name: "theta"}} }

// direct is the A that is used.
func (p *StateVariable) direct() float64 { return max(p.A, minDirect) }

// normal is the normal load (N): the nominal one where none is given, none where the contact is pulled open.
func (p *StateVariable) normal(n float64) float64 {
	if n == 0 {
		return p.N0
	}
	return max(0, n)
}

// target is the θ of steady sliding at v, (6.37), and its derivative with respect to |v|.
func (p *StateVariable) target(v float64) (theta, slope float64) {
	s := math.Abs(v)
	return p.targetOf(s, p.lnOf(s))
}

// coefficient is f at v and θ, and its derivatives with respect to v and θ.
func (p *StateVariable) coefficient(v, theta float64) (f, fv, ft float64) {
	return p.coefficientOf(v, p.lnOf(math.Abs(v)), theta)
}

// lnOf is ln(s/(2v0)) of a speed s ≥ 0, at least creepSpeed. It takes longer than all the rest and serves f as well as θss.
func (p *StateVariable) lnOf(s float64) float64 {
	return ln(max(s, creepSpeed) * (0.5 / p.V0))
}

// targetOf is target at the speed s whose lnOf is l.
func (p *StateVariable) targetOf(s, l float64) (theta, slope float64) {
	sum := s + p.Veps
	if q := p.Veps / s; q < 1e-3 { // ln(1 + q) by its series
		l += math.Ln2 + q*(1-q*(1.0/2-q*(1.0/3-q*(1.0/4-q*(1.0/5)))))
	} else {
		l = ln(sum / p.V0)
	}
	return -p.B * l, -p.B / sum
}

// coefficientOf is coefficient at the velocity v whose lnOf is l.
func (p *StateVariable) coefficientOf(v, l, theta float64) (f, fv, ft float64) {
	a, s := p.direct(), max(math.Abs(v), creepSpeed)
	// e^y is the argument of the asinh
	y := l + (p.Mu0+theta)/a
	switch {
	case y > 18: // (6.35) to the last digit
		f, ft = a*(y+math.Ln2), 1
	case y > 0:
		e := expNeg(y)
		q := math.Sqrt(1 + e*e)
		f, ft = a*(y+ln(1+q)), 1/q
	default:
		e := expNeg(-y)
		f, ft = a*math.Asinh(e), e/math.Sqrt(1+e*e)
	}
	fv = a * ft / s
	if r := math.Abs(v) / creepSpeed; r < 1 {
		f, fv, ft = f*r, f/creepSpeed, ft*r
	}
	return math.Copysign(f, v), fv, math.Copysign(ft, v)
}

// Step advances θ over in.Dt at the velocity in.V and returns the mean force (N). A step without length returns the
// instantaneous force.
func (p *StateVariable) Step(z []float64, in Input) float64 {
	if !(in.Dt > 0) {
		f, _, _ := p.coefficient(in.V, z[0])
		return p.normal(in.N) * f
	}
	f, _ := p.Trial(Midpoint, z, z, in)
	return f
}

// Trial is a step of the scheme, θ⁺ = θss + (θ − θss)·e^{−|v|h/L} in all but ExplicitPade. Midpoint takes the force at the
// mean θ̄ = θss + (θ − θss)·φ1, the others at θ⁺.
func (p *StateVariable) Trial(s Scheme, z, zn []float64, in Input) (force, slope float64) {
	w, n := in.V, p.normal(in.N)
	dir, v := math.Copysign(1, w), math.Abs(w)
	a := v * in.Dt / p.L
	da := dir * in.Dt / p.L
	l := p.lnOf(v)
	to, dto := p.targetOf(v, l)
	dto *= dir
	gap := z[0] - to
	if s == ExplicitPade {
		zn[0] = to + gap/(1+a*(1+a/2))
		f, _, _ := p.coefficientOf(w, l, zn[0])
		return n * f, 0
	}
	e, p1, p2 := phi(a)
	end := z[0] - gap*e
	at, dat := end, dto*e-gap*(1-e)*da
	if s == Midpoint {
		d1, _ := dphi(a, e, p1, p2)
		at, dat = to+gap*p1, dto*(1-p1)+gap*d1*da
	}
	zn[0] = end
	f, fv, ft := p.coefficientOf(w, l, at)
	return n * f, n * (fv + ft*dat)
}

// Flow is the differential form.
func (p *StateVariable) Flow(z, dz []float64, in Input) float64 {
	to, _ := p.target(in.V)
	dz[0] = -math.Abs(in.V) / p.L * (z[0] - to)
	f, _, _ := p.coefficient(in.V, z[0])
	return p.normal(in.N) * f
}

// SteadyForce is the force (N) of long sliding at v (m/s) under the nominal load.
func (p *StateVariable) SteadyForce(v float64) float64 {
	if v == 0 {
		return 0
	}
	theta, _ := p.target(v)
	f, _, _ := p.coefficient(v, theta)
	return p.N0 * f
}

// CriticalStiffness is the stiffness (N/m) of the spring over which a mass m (kg) under the normal load n (N; 0: N0) is
// drawn at the speed v (m/s) below which steady sliding is unstable [RR83]:
//
//	kc = (B − A)·(N/L)·[1 + M·v²/(N·A·L)]
//
// It is zero where A ≥ B.
func (p *StateVariable) CriticalStiffness(m, n, v float64) float64 {
	n = p.normal(n)
	a := p.direct()
	return max(0, p.B-a) / p.L * (n + m*v*v/(a*p.L))
}

// Stiffness bounds the slopes of the law. The damping of the creeping contact, N·A/|v|, has no bound; it is given at vε. The
// fall of the steady curve, N·(B−A)/|v|, has none either, but at speeds below L/h the state does not follow within a step
// of h: it is given at L over a millisecond.
func (p *StateVariable) Stiffness() Stiffness {
	return Stiffness{C: p.N0 * p.direct() / p.Veps, Speed: p.V0, Fall: p.N0 * max(0, p.B-p.direct()) / p.L * followTime}
}

// Levels are N0·µ0 on either side: the contact creeps under any load and slides at v0 under this one. With the logarithm of the speed
// friction goes on changing, so no level is left in the end.
func (p *StateVariable) Levels() Levels { return sameLevels(p.N0*p.Mu0, p.N0*p.Mu0) }

// Viscous is zero.
func (p *StateVariable) Viscous(float64) float64 { return 0 }

// Passive is always true: f has the sign of v.
func (p *StateVariable) Passive() (ok bool, speed float64) { return true, 0 }

func (p *StateVariable) fields() []field {
	return []field{
		{"mu0", "", &p.Mu0, 0, 100, "coefficient of friction at v0"},
		{"v0", "m/s", &p.V0, tiny, maxSpeed, "speed at which the coefficient is mu0"},
		{"A", "", &p.A, 0, 10, "direct effect; taken for 1e-4 if less"},
		{"B", "", &p.B, 0, 10, "effect of the state; more than A: friction falls with speed"},
		{"L", "m", &p.L, tiny, maxExtent, "distance over which the state follows the speed"},
		{"N0", "N", &p.N0, tiny, maxForce, "normal load where none is given"},
		{"veps", "m/s", &p.Veps, 1e-15, 1, "speed that keeps the state finite at rest"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *StateVariable) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *StateVariable) SetParams(theta []float64) error {
	return setParams("state-variable", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range.
func (p *StateVariable) Validate() error { return checkFields("state-variable", p.fields()) }
