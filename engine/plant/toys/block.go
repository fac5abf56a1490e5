package toys

import (
	"math"

	"hilrig/engine/contact"
)

// BlockParams are those of a rectangular block on an incline. It rests on two corners, where friction is statically
// indeterminate.
type BlockParams struct {
	Mass    float64     `name:"mass" unit:"kg" want:">0" doc:"mass"`
	Width   float64     `name:"width" unit:"m" want:">0" doc:"length along the ground"`
	Height  float64     `name:"height" unit:"m" want:">0" doc:"height"`
	Gravity float64     `name:"gravity" unit:"m/s^2" want:">=0" doc:"gravity"`
	Slope   float64     `name:"slope" unit:"rad" want:"±π/2" doc:"slope of the ground"`
	Law     contact.Law `name:"ground"` // of the corners against the ground
	Gap     float64     `name:"start.gap" unit:"m" want:">=0" doc:"between ground and lowest corner"`
	Tilt    float64     `name:"start.tilt" unit:"rad" want:"±π" doc:"counter-clockwise"`
	VX      float64     `name:"start.vx" unit:"m/s" doc:"velocity along the ground"`
}

// DefaultBlock sticks: tan 0.2 < 0.3.
func DefaultBlock() BlockParams {
	return BlockParams{Mass: 1, Width: 0.2, Height: 0.1, Gravity: 9.81, Slope: 0.2, Law: contact.Law{Mu: 0.3}}
}

// Block has q = (x, y, φ) of its centre.
type Block struct {
	planeBody
	p BlockParams
}

// NewBlock checks the parameters.
func NewBlock(p BlockParams) (*Block, error) {
	if err := check("block", &p); err != nil {
		return nil, err
	}
	return &Block{p: p}, nil
}

// Start puts the lowest corner at the gap.
func (b *Block) Start(q, u []float64) {
	q[0], q[1], q[2] = 0, 0, b.p.Tilt
	s, c := math.Sincos(b.p.Tilt)
	for k := range 4 {
		_, ry := b.corner(k, s, c)
		q[1] = max(q[1], b.p.Gap-ry)
	}
	u[0], u[1], u[2] = b.p.VX, 0, 0
}

// Mass is diagonal.
func (b *Block) Mass(_ float64, _, m []float64) {
	clear(m)
	m[0], m[4], m[8] = b.p.Mass, b.p.Mass, b.p.Mass*(b.p.Width*b.p.Width+b.p.Height*b.p.Height)/12
}

// Force is the weight.
func (b *Block) Force(_ float64, _, _, f []float64) {
	w := b.p.Mass * b.p.Gravity
	f[0], f[1], f[2] = w*math.Sin(b.p.Slope), -w*math.Cos(b.p.Slope), 0
}

// corner k from the centre, for sine and cosine of the angle.
func (b *Block) corner(k int, s, c float64) (x, y float64) {
	x, y = 0.5*b.p.Width, 0.5*b.p.Height
	if k&1 == 0 {
		x = -x
	}
	if k&2 == 0 {
		y = -y
	}
	return c*x - s*y, s*x + c*y
}

// Contacts are the corners.
func (b *Block) Contacts(_ float64, q, u []float64, reach float64, set *contact.Set) {
	set.Clear()
	s, c := math.Sincos(q[2])
	for k := range 4 {
		rx, ry := b.corner(k, s, c)
		gap := q[1] + ry
		if gap >= reach {
			continue
		}
		if i := set.Add(uint32(k), b.p.Law, gap); i >= 0 {
			ground(set, i, q[0], q[1], rx, ry, u[2])
		}
	}
}
