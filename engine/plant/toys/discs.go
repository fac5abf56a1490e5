package toys

import (
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/contact"
)

// DiscsParams are those of two discs on a table without friction, seen from above: the first hits the second off centre. With
// ε_T = 0 and enough friction they end without slip between them, with ε_T = 1 the slip is reversed.
type DiscsParams struct {
	Mass    [2]float64  `name:"mass_1,mass_2" unit:"kg" want:">0" doc:"of the disc that moves|of the disc at rest"`
	Radius  [2]float64  `name:"radius_1,radius_2" unit:"m" want:">0" doc:"of the disc that moves|of the disc at rest"`
	Inertia float64     `name:"inertia" want:">0 <=1" doc:"moment of inertia over mass and radius squared"`
	Offset  float64     `name:"start.offset" unit:"m" doc:"of the path from the centre of the second disc"`
	Gap     float64     `name:"start.gap" unit:"m" want:">=0" doc:"between the discs, along the path"`
	Speed   float64     `name:"start.speed" unit:"m/s" doc:"of the first disc"`
	Spin    float64     `name:"start.spin" unit:"rad/s" doc:"of the first disc, counter-clockwise"`
	Law     contact.Law `name:"discs"` // between them
}

// DefaultDiscs hit half a radius off centre.
func DefaultDiscs() DiscsParams {
	return DiscsParams{Mass: [2]float64{0.2, 0.2}, Radius: [2]float64{0.03, 0.03}, Inertia: 0.5, Offset: 0.015, Gap: 0.05, Speed: 1,
		Law: contact.Law{Mu: 0.2, EpsN: 0.9}}
}

// Discs has q = (x1, y1, φ1, x2, y2, φ2).
type Discs struct{ p DiscsParams }

// NewDiscs checks the parameters.
func NewDiscs(p DiscsParams) (*Discs, error) {
	if err := check("discs", &p); err != nil {
		return nil, err
	}
	if sum := p.Radius[0] + p.Radius[1]; math.Abs(p.Offset) >= sum {
		return nil, fmt.Errorf("discs.start.offset: %g m, want less than both radii, %g m, or the discs do not meet", p.Offset, sum)
	}
	return &Discs{p}, nil
}

// DOF is 6.
func (d *Discs) DOF() int { return 6 }

// Coordinates are those of both discs.
func (d *Discs) Coordinates() []engine.Signal {
	var out []engine.Signal
	for i := range 2 {
		for _, s := range plane() {
			out = append(out, engine.Signal{Name: fmt.Sprintf("%s%d", s.Name, i+1), Unit: s.Unit})
		}
	}
	return out
}

// Start has the second disc at rest in the origin.
func (d *Discs) Start(q, u []float64) {
	clear(q)
	clear(u)
	sum := d.p.Radius[0] + d.p.Radius[1]
	q[0], q[1] = -d.p.Gap-math.Sqrt(sum*sum-d.p.Offset*d.p.Offset), d.p.Offset
	u[0], u[2] = d.p.Speed, d.p.Spin
}

// Mass is diagonal.
func (d *Discs) Mass(_ float64, _, m []float64) {
	clear(m)
	for i := range 2 {
		mass, r := d.p.Mass[i], d.p.Radius[i]
		m[(3*i)*7], m[(3*i+1)*7], m[(3*i+2)*7] = mass, mass, d.p.Inertia*mass*r*r
	}
}

// Force is none.
func (d *Discs) Force(_ float64, _, _, f []float64) { clear(f) }

// Contacts is the pair, the second disc being A. The normal turns with the line of centres, which gives the accelerations
//
//	w̄_N = (t·Δv)²/distance,   w̄_T = −(t·Δv)(n·Δv)/distance
func (d *Discs) Contacts(_ float64, q, u []float64, reach float64, set *contact.Set) {
	set.Clear()
	dx, dy := q[3]-q[0], q[4]-q[1]
	dist := math.Hypot(dx, dy)
	gap := dist - d.p.Radius[0] - d.p.Radius[1]
	if gap >= reach || dist == 0 {
		return
	}
	i := set.Add(0, d.p.Law, gap)
	if i < 0 {
		return
	}
	nx, ny := dx/dist, dy/dist
	tx, ty := ny, -nx
	n, t := set.RowN(i), set.RowT(i)
	n[0], n[1], n[3], n[4] = -nx, -ny, nx, ny
	t[0], t[1], t[2], t[3], t[4], t[5] = -tx, -ty, d.p.Radius[0], tx, ty, d.p.Radius[1]
	vx, vy := u[3]-u[0], u[4]-u[1]
	vn, vt := nx*vx+ny*vy, tx*vx+ty*vy
	set.AN[i], set.AT[i] = vt*vt/dist, -vt*vn/dist
	set.X[i], set.Y[i] = q[0]+d.p.Radius[0]*nx, q[1]+d.p.Radius[0]*ny
	set.NX[i], set.NY[i] = nx, ny
}
