package toys

import (
	"math"

	"hilrig/engine/contact"
)

// BlockParams are those of a rectangular block on an incline. It rests on two corners, where friction is statically
// indeterminate.
type BlockParams struct {
	Mass    float64     // kg
	Width   float64     // m    along the ground
	Height  float64     // m
	Gravity float64     // m/s²
	Slope   float64     // rad
	Law     contact.Law // of the corners against the ground
	Gap     float64     // m    below the block at the start
	Tilt    float64     // rad  at the start, about the lowest corner
	VX      float64     // m/s  at the start
}

// DefaultBlock sticks: tan 0.2 < 0.3.
func DefaultBlock() BlockParams {
	return BlockParams{Mass: 1, Width: 0.2, Height: 0.1, Gravity: 9.81, Slope: 0.2, Law: contact.Law{Mu: 0.3}}
}

func (p *BlockParams) fields() []field {
	return append([]field{
		num(&p.Mass, "mass", "kg", "mass", tiny, inf),
		num(&p.Width, "width", "m", "length along the ground", tiny, inf),
		num(&p.Height, "height", "m", "height", tiny, inf),
		num(&p.Gravity, "gravity", "m/s^2", "gravity", 0, inf),
		num(&p.Slope, "slope", "rad", "slope of the ground", -math.Pi/2, math.Pi/2),
		num(&p.Gap, "start.gap", "m", "between ground and lowest corner", 0, inf),
		num(&p.Tilt, "start.tilt", "rad", "counter-clockwise", -math.Pi, math.Pi),
		num(&p.VX, "start.vx", "m/s", "velocity along the ground", -inf, inf),
	}, law(&p.Law, "ground")...)
}

// Block has q = (x, y, φ) of its centre.
type Block struct {
	planeBody
	p BlockParams
}

// NewBlock checks the parameters.
func NewBlock(p BlockParams) (*Block, error) {
	if err := check("block", p.fields()); err != nil {
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
