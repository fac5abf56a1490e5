package toys

import (
	"hilrig/engine/contact"
)

// OscillatorParams are those of a mass on a spring that lies on a belt under its weight. With a belt at rest the
// amplitude falls by 2μmg/k in every half swing; with one that moves it sticks and slips.
type OscillatorParams struct {
	Mass      float64     `name:"mass" unit:"kg" want:">0" doc:"mass"`
	Stiffness float64     `name:"stiffness" unit:"N/m" want:">=0" doc:"of the spring"`
	Damping   float64     `name:"damping" unit:"N·s/m" want:">=0" doc:"beside the spring"`
	Gravity   float64     `name:"gravity" unit:"m/s^2" want:">=0" doc:"gravity"`
	Belt      float64     `name:"belt" unit:"m/s" doc:"speed of the belt"`
	Law       contact.Law `name:"contact"` // against the belt
	X         float64     `name:"start.x" unit:"m" doc:"position, spring relaxed at 0"`
	V         float64     `name:"start.v" unit:"m/s" doc:"velocity"`
}

// DefaultOscillator swings about three times before it sticks.
func DefaultOscillator() OscillatorParams {
	return OscillatorParams{Mass: 1, Stiffness: 100, Gravity: 9.81, Law: contact.Law{Mu: 0.1}, X: 0.06}
}

// Oscillator has q = (x, y), y the height over the belt.
type Oscillator struct {
	planePoint
	p OscillatorParams
}

// NewOscillator checks the parameters.
func NewOscillator(p OscillatorParams) (*Oscillator, error) {
	if err := check("oscillator", &p); err != nil {
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
