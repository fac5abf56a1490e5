package toys

import (
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/contact"
)

// WoodpeckerParams are those of the woodpecker toy [LGV03]: a sleeve with play on a pole, a spring, and a bird whose beak strikes the
// pole. It goes down the pole in steps of some millimetres, one per period of 0.146 s. The angles are small; the
// equations are linear in them. The source prints no stiffness; 0.0056 N·m/rad is what published codes of this toy use.
type WoodpeckerParams struct {
	SleeveMass    float64     `name:"m_M" unit:"kg" want:">0" doc:"mass of the sleeve"`
	SleeveInertia float64     `name:"J_M" unit:"kg·m²" want:">0" doc:"inertia of the sleeve"`
	BirdMass      float64     `name:"m_S" unit:"kg" want:">0" doc:"mass of the bird"`
	BirdInertia   float64     `name:"J_S" unit:"kg·m²" want:">0" doc:"inertia of the bird"`
	Stiffness     float64     `name:"c_phi" unit:"N·m/rad" want:">=0" doc:"of the spring"` // c_φ
	Gravity       float64     `name:"gravity" unit:"m/s^2" want:">=0" doc:"gravity"`
	PoleRadius    float64     `name:"r_0" unit:"m" want:">0" doc:"radius of the pole"`
	SleeveRadius  float64     `name:"r_M" unit:"m" want:">0" doc:"inner radius of the sleeve"`
	SleeveHalf    float64     `name:"h_M" unit:"m" want:">0" doc:"half the height of the sleeve"`
	Arm           float64     `name:"l_M" unit:"m" want:">0" doc:"from sleeve to spring"`
	BirdArm       float64     `name:"l_G" unit:"m" want:">0" doc:"from spring to bird"`
	BeakHeight    float64     `name:"h_S" unit:"m" want:">0" doc:"of the beak over the bird's centre"`
	BeakArm       float64     `name:"l_S" unit:"m" want:">0" doc:"from the bird's centre to the beak"`
	Beak          contact.Law `name:"beak"`                                           // beak against pole
	Lower         contact.Law `name:"lower"`                                          // lower edge of the sleeve against pole
	Upper         contact.Law `name:"upper"`                                          // upper edge
	Tilt          float64     `name:"start.phi_S" unit:"rad" doc:"angle of the bird"` // φ_S; the sleeve rests on its lower edge
	Fall          float64     `name:"start.dy" unit:"m/s" doc:"velocity along the pole"`
	Spin          float64     `name:"start.dphi_S" unit:"rad/s" doc:"turning speed of the bird"`
	Rest          float64     `name:"start.rest" want:">=0 <=1" doc:"1: start at rest in equilibrium instead"`
}

// DefaultWoodpecker starts close to its periodic motion.
func DefaultWoodpecker() WoodpeckerParams {
	return WoodpeckerParams{
		SleeveMass: 0.0003, SleeveInertia: 5e-9, BirdMass: 0.0045, BirdInertia: 7e-7, Stiffness: 0.0056, Gravity: 9.81,
		PoleRadius: 0.0025, SleeveRadius: 0.0031, SleeveHalf: 0.0058, Arm: 0.010, BirdArm: 0.015, BeakHeight: 0.020, BeakArm: 0.0201,
		Beak: contact.Law{Mu: 0.3, EpsN: 0.5}, Lower: contact.Law{Mu: 0.3}, Upper: contact.Law{Mu: 0.3},
		Tilt: -0.2788, Fall: -0.3411, Spin: -7.4583,
	}
}

// Woodpecker has q = (y, φ_M, φ_S): height of the sleeve, angles of sleeve and bird. Contacts are 0 beak, 1 lower and 2
// upper edge of the sleeve:
//
//	g_N0 = l_M + l_G − l_S − r_0 − h_S·φ_S      w_T = (1, l_M, l_G − l_S)
//	g_N1 = r_M − r_0 + h_M·φ_M                  w_T = (1, r_M, 0)
//	g_N2 = r_M − r_0 − h_M·φ_M                  w_T = (1, r_M, 0)
//
// The source prints J_S for the inertia of the sleeve in M(2,2); the kinetic energy has J_M + m_S·l_M².
type Woodpecker struct{ p WoodpeckerParams }

// NewWoodpecker checks the parameters.
func NewWoodpecker(p WoodpeckerParams) (*Woodpecker, error) {
	if err := check("woodpecker", &p); err != nil {
		return nil, err
	}
	if p.SleeveRadius < p.PoleRadius {
		return nil, fmt.Errorf("woodpecker.r_M: %g m, want at least r_0, %g m, or the sleeve does not fit the pole", p.SleeveRadius, p.PoleRadius)
	}
	w := &Woodpecker{p}
	if phi := w.tilt(); p.Rest == 0 && phi < p.Tilt {
		return nil, fmt.Errorf("woodpecker.start.phi_S: %g rad, want at most %g rad, where the beak meets the pole", p.Tilt, phi)
	}
	return w, nil
}

// tilt is φ_S where the beak touches.
func (w *Woodpecker) tilt() float64 {
	return (w.p.Arm + w.p.BirdArm - w.p.BeakArm - w.p.PoleRadius) / w.p.BeakHeight
}

// play is |φ_M| where an edge touches.
func (w *Woodpecker) play() float64 { return (w.p.SleeveRadius - w.p.PoleRadius) / w.p.SleeveHalf }

// DOF is 3.
func (w *Woodpecker) DOF() int { return 3 }

// Coordinates are height and angles.
func (w *Woodpecker) Coordinates() []engine.Signal {
	return []engine.Signal{{Name: "y", Unit: "m"}, {Name: "phi_M", Unit: "rad"}, {Name: "phi_S", Unit: "rad"}}
}

// Start is a point of the motion where the sleeve rests on its lower edge, or the equilibrium, which takes μ ≥ 0.285.
func (w *Woodpecker) Start(q, u []float64) {
	q[0], q[1], q[2] = 0, -w.play(), w.p.Tilt
	u[0], u[1], u[2] = w.p.Fall, 0, w.p.Spin
	if w.p.Rest != 0 {
		q[2] = q[1] - w.p.BirdMass*w.p.BirdArm*w.p.Gravity/w.p.Stiffness
		clear(u)
	}
}

// Mass is constant.
func (w *Woodpecker) Mass(_ float64, _, m []float64) {
	p := &w.p
	a, b := p.BirdMass*p.Arm, p.BirdMass*p.BirdArm
	m[0], m[1], m[2] = p.SleeveMass+p.BirdMass, a, b
	m[3], m[4], m[5] = a, p.SleeveInertia+a*p.Arm, a*p.BirdArm
	m[6], m[7], m[8] = b, a*p.BirdArm, p.BirdInertia+b*p.BirdArm
}

// Force is the weight and the spring.
func (w *Woodpecker) Force(_ float64, q, _, f []float64) {
	p := &w.p
	spring := p.Stiffness * (q[1] - q[2])
	f[0] = -(p.SleeveMass + p.BirdMass) * p.Gravity
	f[1] = -spring - p.BirdMass*p.Arm*p.Gravity
	f[2] = spring - p.BirdMass*p.BirdArm*p.Gravity
}

// Linear is the spring.
func (w *Woodpecker) Linear(k, c []float64) {
	clear(k)
	clear(c)
	s := w.p.Stiffness
	k[4], k[5], k[7], k[8] = s, -s, -s, s
}

// Contacts are beak, lower edge and upper edge.
func (w *Woodpecker) Contacts(_ float64, q, _ []float64, reach float64, set *contact.Set) {
	set.Clear()
	p := &w.p
	if gap := p.BeakHeight * (w.tilt() - q[2]); gap < reach {
		if i := set.Add(0, p.Beak, gap); i >= 0 {
			set.RowN(i)[2] = -p.BeakHeight
			t := set.RowT(i)
			t[0], t[1], t[2] = 1, p.Arm, p.BirdArm-p.BeakArm
			set.X[i], set.Y[i] = p.PoleRadius, q[0]+p.Arm*q[1]+(p.BirdArm-p.BeakArm)*q[2]+p.BeakHeight
			set.NX[i] = 1
		}
	}
	w.edge(1, p.Lower, p.SleeveHalf, q, reach, set)
	w.edge(2, p.Upper, -p.SleeveHalf, q, reach, set)
}

func (w *Woodpecker) edge(id uint32, law contact.Law, half float64, q []float64, reach float64, set *contact.Set) {
	p := &w.p
	gap := p.SleeveRadius - p.PoleRadius + half*q[1]
	if gap >= reach {
		return
	}
	if i := set.Add(id, law, gap); i >= 0 {
		set.RowN(i)[1] = half
		t := set.RowT(i)
		t[0], t[1] = 1, p.SleeveRadius
		set.X[i], set.Y[i], set.NX[i] = math.Copysign(p.PoleRadius, -half), q[0]-half, math.Copysign(1, -half)
	}
}
