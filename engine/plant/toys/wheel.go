package toys

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine/contact"
)

// WheelParams are those of a slider that a spring presses on a rough, eccentric wheel: a brush with everything left out but its
// mass. A smooth wheel presses back with
//
//	λ_N = F_0 + (k_y − m·ω²)·e·cos ωt        without damping and friction, to first order in e/R
//
// and throws the slider off where (m·ω² − k_y)·e > F_0.
type WheelParams struct {
	Mass         float64     `name:"mass" unit:"kg" want:">0" doc:"of the slider"`
	Press        float64     `name:"press" unit:"N" want:">=0" doc:"force of the spring on the nominal circle"` // F_0
	Stiffness    float64     `name:"stiffness" unit:"N/m" want:">=0" doc:"of the spring that presses"`          // k_y
	Damping      float64     `name:"damping" unit:"N·s/m" want:">=0" doc:"beside the spring that presses"`
	SideStiff    float64     `name:"side_stiffness" unit:"N/m" want:">=0" doc:"of the guide along the surface"`
	SideDamping  float64     `name:"side_damping" unit:"N·s/m" want:">=0" doc:"of the guide along the surface"`
	Radius       float64     `name:"radius" unit:"m" want:">0" doc:"of the wheel"`        // R
	Eccentricity float64     `name:"eccentricity" unit:"m" want:">=0" doc:"of the wheel"` // e
	Rz           float64     `name:"rz" unit:"m" want:">=0" doc:"mean roughness depth of the wheel"`
	Corr         float64     `name:"corr" unit:"m" want:">=0" doc:"correlation length of the roughness"`
	Spacing      float64     `name:"spacing" unit:"m" want:">=0" doc:"of the vertices of the wheel; 0: by the correlation length"`
	Seed         float64     `name:"seed" want:">=0 <=9007199254740992" doc:"of the roughness, a whole number"`
	Speed        float64     `name:"speed" unit:"rad/s" doc:"of the wheel, counter-clockwise"` // ω
	Law          contact.Law `name:"wheel"`                                                    // slider against wheel
	Gap          float64     `name:"start.gap" unit:"m" want:">=0" doc:"between slider and wheel"`
}

// DefaultWheel turns with 3000 rpm.
func DefaultWheel() WheelParams {
	return WheelParams{Mass: 0.004, Press: 2.5, Stiffness: 200, Damping: 0.5, SideStiff: 2e5, SideDamping: 20, Radius: 0.011,
		Eccentricity: 5e-6, Rz: 5e-6, Corr: 5e-4, Seed: 1, Speed: 100 * math.Pi, Law: contact.Law{Mu: 0.2, EpsN: 0.3}}
}

// Wheel has q = (x, y) of the slider's point from (0, R), wheel about the origin. One goroutine at a time may use it: it
// remembers the edge under the point.
type Wheel struct {
	planePoint
	p    WheelParams
	rim  *contact.Commutator
	hint int32
}

// NewWheel checks the parameters and makes the rim.
func NewWheel(p WheelParams) (*Wheel, error) {
	errs := []error{check("wheel", &p)}
	if p.Seed != math.Trunc(p.Seed) {
		errs = append(errs, fmt.Errorf("wheel.seed: %g, want a whole number", p.Seed))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	rim, err := contact.NewCommutator(contact.CommutatorSpec{Radius: p.Radius, Eccentricity: p.Eccentricity, Rz: p.Rz, Corr: p.Corr,
		Spacing: p.Spacing, Seed: uint64(p.Seed)})
	if err != nil {
		return nil, fmt.Errorf("wheel: %w", err)
	}
	return &Wheel{p: p, rim: rim}, nil
}

// Start puts the slider at rest over the rim.
func (w *Wheel) Start(q, u []float64) {
	hint := int32(0)
	r, _ := w.rim.Radius(math.Pi/2, &hint)
	q[0], q[1], u[0], u[1] = 0, r-w.p.Radius+w.p.Gap, 0, 0
}

// Mass is diagonal.
func (w *Wheel) Mass(_ float64, _, m []float64) { m[0], m[1], m[2], m[3] = w.p.Mass, 0, 0, w.p.Mass }

// Force is that of the springs.
func (w *Wheel) Force(_ float64, q, u, f []float64) {
	f[0] = -w.p.SideStiff*q[0] - w.p.SideDamping*u[0]
	f[1] = -w.p.Press - w.p.Stiffness*q[1] - w.p.Damping*u[1]
}

// Linear is the springs.
func (w *Wheel) Linear(k, c []float64) {
	k[0], k[1], k[2], k[3] = w.p.SideStiff, 0, 0, w.p.Stiffness
	c[0], c[1], c[2], c[3] = w.p.SideDamping, 0, 0, w.p.Damping
}

// Contacts is the point of the slider against the edge under it. In the frame of the wheel that edge stands still, so with
// the velocity relative to that frame, v_r = v − ω×c,
//
//	ġ = n·v_r,   w̄ = −n·(2ω×v_r) + ω²·n·c      and the same along t, less ω·ġ_N for the point of the rim that moves on
func (w *Wheel) Contacts(t float64, q, u []float64, reach float64, set *contact.Set) {
	set.Clear()
	om := w.p.Speed
	s, c := math.Sincos(om * t)
	x, y := q[0], w.p.Radius+q[1]
	gap, ex, ey, edge := w.rim.Edge(c*x+s*y, c*y-s*x, &w.hint)
	if gap >= reach {
		return
	}
	i := set.Add(0, w.p.Law, gap)
	if i < 0 {
		return
	}
	set.Feature[i] = edge
	nx, ny := c*ex-s*ey, s*ex+c*ey
	tx, ty := ny, -nx
	n, tt := set.RowN(i), set.RowT(i)
	n[0], n[1], tt[0], tt[1] = nx, ny, tx, ty
	px, py := x-gap*nx, y-gap*ny // the point of the rim
	set.VN[i], set.VT[i] = -om*(ny*px-nx*py), -om*(ty*px-tx*py)
	rx, ry := u[0]+om*py, u[1]-om*px
	set.AN[i] = 2*om*(nx*ry-ny*rx) + om*om*(nx*px+ny*py)
	set.AT[i] = 2*om*(tx*ry-ty*rx) + om*om*(tx*px+ty*py) - om*(nx*rx+ny*ry)
	set.X[i], set.Y[i], set.NX[i], set.NY[i] = px, py, nx, ny
}
