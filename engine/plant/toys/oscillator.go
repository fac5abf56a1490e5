package toys

import (
	"hilrig/engine/contact"
)

// OscillatorParams are those of a mass on a spring that lies on a belt under its weight. With a belt at rest the
// amplitude falls by 2μmg/k in every half swing; with one that moves it sticks and slips.
type OscillatorParams struct {
	Mass      float64     // kg
	Stiffness float64     // N/m
	Damping   float64     // N·s/m
	Gravity   float64     // m/s²
	Belt      float64     // m/s  speed of the belt
	Law       contact.Law // against the belt
	X         float64     // m    at the start, spring relaxed at 0
	V         float64     // m/s  at the start
}

// DefaultOscillator swings about three times before it sticks.
func DefaultOscillator() OscillatorParams {
	return OscillatorParams{Mass: 1, Stiffness: 100, Gravity: 9.81, Law: contact.Law{Mu: 0.1}, X: 0.06}
}

func (p *OscillatorParams) fields() []field {
	return append([]field{
		num(&p.Mass, "mass", "kg", "mass", tiny, inf),
		num(&p.Stiffness, "stiffness", "N/m", "of the spring", 0, inf),
		num(&p.Damping, "damping", "N·s/m", "beside the spring", 0, inf),
		num(&p.Gravity, "gravity", "m/s^2", "gravity", 0, inf),
		num(&p.Belt, "belt", "m/s", "speed of the belt", -inf, inf),
		num(&p.X, "start.x", "m", "position, spring relaxed at 0", -inf, inf),
		num(&p.V, "start.v", "m/s", "velocity", -inf, inf),
	}, law(&p.Law, "contact")...)
}

// Oscillator has q = (x, y), y the height over the belt.
type Oscillator struct {
	planePoint
	p OscillatorParams
}

// NewOscillator checks the parameters.
func NewOscillator(p OscillatorParams) (*Oscillator, error) {
	if err := check("oscillator", p.fields()); err != nil {
		return nil, err
	}
	return &Oscillator{p: p}, nil
}

// Start puts the mass on the belt.
func (o *Oscillator) Start(q, u []float64) { q[0], q[1], u[0], u[1] = o.p.X, 0, o.p.V, 0 }

// Mass is diagonal.
func (o *Oscillator) Mass(_ float64, _, m []float64) {
	m[0], m[1], m[2], m[3] = o.p.Mass, 0, 0, o.p.Mass
}

// Force is that of spring, damper and weight.
func (o *Oscillator) Force(_ float64, q, u, f []float64) {
	f[0], f[1] = -o.p.Stiffness*q[0]-o.p.Damping*u[0], -o.p.Mass*o.p.Gravity
}

// Linear is the spring with its damper.
func (o *Oscillator) Linear(k, c []float64) {
	clear(k)
	clear(c)
	k[0], c[0] = o.p.Stiffness, o.p.Damping
}

// Contacts is the mass on its belt.
func (o *Oscillator) Contacts(_ float64, q, _ []float64, reach float64, set *contact.Set) {
	set.Clear()
	if q[1] >= reach {
		return
	}
	if i := set.Add(0, o.p.Law, q[1]); i >= 0 {
		set.RowN(i)[1], set.RowT(i)[0] = 1, 1
		set.VT[i] = -o.p.Belt
		set.X[i], set.Y[i], set.NY[i] = q[0], q[1], 1
	}
}
