package toys

import (
	"math"

	"hilrig/engine/contact"
)

// BallParams are those of a disc on an incline: the bouncing ball, the disc that slides until it rolls, the super-ball.
type BallParams struct {
	Mass    float64     `name:"mass" unit:"kg" want:">0" doc:"mass"`
	Radius  float64     `name:"radius" unit:"m" want:">0" doc:"radius"`
	Inertia float64     `name:"inertia" want:">0 <=1" doc:"moment of inertia over mass and radius squared"` // ½ disc, ⅖ ball, 1 hoop
	Gravity float64     `name:"gravity" unit:"m/s^2" want:">=0" doc:"gravity"`
	Slope   float64     `name:"slope" unit:"rad" want:"±π/2" doc:"slope of the ground"`
	Law     contact.Law `name:"ground"` // against the ground
	Height  float64     `name:"start.height" unit:"m" want:">=0" doc:"height of the lowest point"`
	VX      float64     `name:"start.vx" unit:"m/s" doc:"velocity along the ground"`
	VY      float64     `name:"start.vy" unit:"m/s" doc:"velocity away from the ground"`
	Spin    float64     `name:"start.spin" unit:"rad/s" doc:"turning speed, counter-clockwise"`
}

// DefaultBall falls from 0.1 m and rebounds with half its speed.
func DefaultBall() BallParams {
	return BallParams{Mass: 0.1, Radius: 0.02, Inertia: 0.5, Gravity: 9.81, Law: contact.Law{Mu: 0.3, EpsN: 0.5}, Height: 0.1}
}

// Ball has q = (x, y, φ) of its centre.
type Ball struct {
	planeBody
	p BallParams
}

// NewBall checks the parameters.
func NewBall(p BallParams) (*Ball, error) {
	if err := check("ball", &p); err != nil {
		return nil, err
	}
	return &Ball{p: p}, nil
}

// Start puts the disc at its height.
func (b *Ball) Start(q, u []float64) {
	q[0], q[1], q[2] = 0, b.p.Radius+b.p.Height, 0
	u[0], u[1], u[2] = b.p.VX, b.p.VY, b.p.Spin
}

// Mass is diagonal.
func (b *Ball) Mass(_ float64, _, m []float64) {
	clear(m)
	m[0], m[4], m[8] = b.p.Mass, b.p.Mass, b.p.Inertia*b.p.Mass*b.p.Radius*b.p.Radius
}

// Force is the weight.
func (b *Ball) Force(_ float64, _, _, f []float64) {
	w := b.p.Mass * b.p.Gravity
	f[0], f[1], f[2] = w*math.Sin(b.p.Slope), -w*math.Cos(b.p.Slope), 0
}

// Contacts has the lowest point. It moves along the rim as the disc rolls, so its acceleration has no centripetal part.
func (b *Ball) Contacts(_ float64, q, _ []float64, reach float64, set *contact.Set) {
	set.Clear()
	gap := q[1] - b.p.Radius
	if gap >= reach {
		return
	}
	if i := set.Add(0, b.p.Law, gap); i >= 0 {
		ground(set, i, q[0], q[1], 0, -b.p.Radius, 0)
	}
}
