package toys

import (
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/contact"
)

// ChainParams are those of balls in a row which move along one line. What a collision along a chain of touching balls gives depends on
// the law: three equal balls, the first at 1 m/s, end with (−1/3, 2/3, 2/3) by Newton's and Poisson's laws with ε = 1,
// with (0, 0, 1) by one collision after the other.
type ChainParams struct {
	Balls  float64     `name:"balls" want:">=2 <=16" doc:"how many"`
	Mass   float64     `name:"mass" unit:"kg" want:">0" doc:"of the first ball"`
	Ratio  float64     `name:"ratio" want:">0" doc:"mass of a ball over that of the one before"`
	Radius float64     `name:"radius" unit:"m" want:">0" doc:"radius"`
	Gap    float64     `name:"gap" unit:"m" want:">=0" doc:"between balls at the start"`
	Run    float64     `name:"start.run" unit:"m" want:">=0" doc:"way of the first ball to the second"`
	Speed  float64     `name:"start.speed" unit:"m/s" doc:"of the first ball"`
	Law    contact.Law `name:"pair"` // between balls; friction does nothing
}

// DefaultChain is three equal balls, two of them in touch.
func DefaultChain() ChainParams {
	return ChainParams{Balls: 3, Mass: 0.1, Ratio: 1, Radius: 0.01, Run: 0.01, Speed: 1, Law: contact.Law{EpsN: 1}}
}

// Chain has q = (x₁ − x₁₀, …) of the balls, each from its place in a row without gaps: balls in touch have gaps of exactly 0.
type Chain struct {
	p    ChainParams
	mass []float64
}

// NewChain checks the parameters.
func NewChain(p ChainParams) (*Chain, error) {
	if err := check("chain", &p); err != nil {
		return nil, err
	}
	if p.Balls != math.Trunc(p.Balls) {
		return nil, fmt.Errorf("chain.balls: %g, want a whole number", p.Balls)
	}
	c := &Chain{p: p, mass: make([]float64, int(p.Balls))}
	m := p.Mass
	for i := range c.mass {
		c.mass[i] = m
		m *= p.Ratio
	}
	return c, nil
}

// DOF is the number of balls.
func (c *Chain) DOF() int { return len(c.mass) }

// Coordinates are x1, x2, …
func (c *Chain) Coordinates() []engine.Signal {
	out := make([]engine.Signal, len(c.mass))
	for i := range out {
		out[i] = engine.Signal{Name: fmt.Sprintf("x%d", i+1), Unit: "m"}
	}
	return out
}

// Start has all balls but the first at rest.
func (c *Chain) Start(q, u []float64) {
	for i := range q {
		q[i], u[i] = float64(max(i-1, 0))*c.p.Gap, 0
	}
	q[0], u[0] = -c.p.Run, c.p.Speed
}

// Mass is diagonal.
func (c *Chain) Mass(_ float64, _, m []float64) {
	clear(m)
	for i, v := range c.mass {
		m[i*len(c.mass)+i] = v
	}
}

// Force is none.
func (c *Chain) Force(_ float64, _, _, f []float64) { clear(f) }

// Contacts are the neighbours: contact i is ball i+1 (A) against ball i (B). Rows of the tangent are zero.
func (c *Chain) Contacts(_ float64, q, _ []float64, reach float64, set *contact.Set) {
	set.Clear()
	for k := range len(q) - 1 {
		gap := q[k+1] - q[k]
		if gap >= reach {
			continue
		}
		if i := set.Add(uint32(k), c.p.Law, gap); i >= 0 {
			n := set.RowN(i)
			n[k], n[k+1] = -1, 1
			set.X[i], set.NX[i] = q[k]+float64(2*k+1)*c.p.Radius, 1
		}
	}
}
