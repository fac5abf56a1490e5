package toys

import (
	"math"

	"hilrig/engine/contact"
)

// RodParams are those of a thin rod over the ground, which touches it with either end. The lower end slides and jams where
// μ is large enough (Painlevé): one contact has no force, or two, where
//
//	1/m + (L²/4J)·(cos²φ − μ·sinφ·cosφ) ≤ 0       sliding towards the side the rod leans to
//
// which begins at μ = 4/3 for a homogeneous rod, at tan φ = 2.
type RodParams struct {
	Mass    float64     `name:"mass" unit:"kg" want:">0" doc:"mass"`
	Length  float64     `name:"length" unit:"m" want:">0" doc:"length"`
	Inertia float64     `name:"inertia" want:">0 <=0.25" doc:"moment of inertia over mass and length squared"` // 1/12 homogeneous
	Gravity float64     `name:"gravity" unit:"m/s^2" want:">=0" doc:"gravity"`
	Law     contact.Law `name:"ground"` // of the ends against the ground
	Angle   float64     `name:"start.angle" unit:"rad" want:"±π" doc:"of the rod over the ground"`
	Gap     float64     `name:"start.gap" unit:"m" want:">=0" doc:"below the lower end"`
	VX      float64     `name:"start.vx" unit:"m/s" doc:"velocity of the centre along the ground"`
	VY      float64     `name:"start.vy" unit:"m/s" doc:"velocity of the centre away from the ground"`
	Spin    float64     `name:"start.spin" unit:"rad/s" doc:"turning speed, counter-clockwise"`
}

// DefaultRod falls from a height of 0.1 m, leaning, and turns.
func DefaultRod() RodParams {
	return RodParams{Mass: 1, Length: 1, Inertia: 1. / 12, Gravity: 9.81, Law: contact.Law{Mu: 0.3, EpsN: 0.5},
		Angle: 1, Gap: 0.1, VX: 0.5, Spin: -1}
}

// Rod has q = (x, y, φ) of its centre. Contact 0 is the end at −L/2, contact 1 that at +L/2.
type Rod struct {
	planeBody
	p RodParams
}

// NewRod checks the parameters.
func NewRod(p RodParams) (*Rod, error) {
	if err := check("rod", &p); err != nil {
		return nil, err
	}
	return &Rod{p: p}, nil
}

// Start puts the lower end at the gap.
func (r *Rod) Start(q, u []float64) {
	q[0], q[1], q[2] = 0, r.p.Gap+0.5*r.p.Length*math.Abs(math.Sin(r.p.Angle)), r.p.Angle
	u[0], u[1], u[2] = r.p.VX, r.p.VY, r.p.Spin
}

// Mass is diagonal.
func (r *Rod) Mass(_ float64, _, m []float64) {
	clear(m)
	m[0], m[4], m[8] = r.p.Mass, r.p.Mass, r.p.Inertia*r.p.Mass*r.p.Length*r.p.Length
}

// Force is the weight.
func (r *Rod) Force(_ float64, _, _, f []float64) { f[0], f[1], f[2] = 0, -r.p.Mass*r.p.Gravity, 0 }

// Contacts are the ends.
func (r *Rod) Contacts(_ float64, q, u []float64, reach float64, set *contact.Set) {
	set.Clear()
	s, c := math.Sincos(q[2])
	for k := range 2 {
		half := (float64(k) - 0.5) * r.p.Length
		rx, ry := half*c, half*s
		gap := q[1] + ry
		if gap >= reach {
			continue
		}
		if i := set.Add(uint32(k), r.p.Law, gap); i >= 0 {
			ground(set, i, q[0], q[1], rx, ry, u[2])
		}
	}
}
