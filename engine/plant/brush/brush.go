package brush

import (
	"fmt"
	"math"

	"hilrig/engine/contact"
)

// Brush is the model for one set of parameters: a contact.System with its own linear algebra. It remembers where on the
// commutator its points were last, so one goroutine at a time may use it; results do not depend on that memory.
//
//	r_i = r + ξ_i·e_t + η_i·e_n,   ξ_i = a_i + s_i,  η_i = −b + u_i,   e_t = (cos φ, sin φ),  e_n = (−sin φ, cos φ)
//	M = diag(m0, m0, J0 + ΣJ_i, 0 …, J_h, J_s) + Σ m_i·J_iᵀJ_i,   J_i = [I | ξ_i·e_n − η_i·e_t | e_n in u_i | e_t in s_i]
//	f = −Σ m_i·J_iᵀγ_i + weight + joints + holder + arm,   γ_i = 2φ̇(ṡ_i·e_n − u̇_i·e_t) − φ̇²(ξ_i·e_t + η_i·e_n)
//
// r = (x, y) is the centre of gravity of the main body, whose height is L_b − h_s, and b = L_b/2.
type Brush struct {
	p          Params
	joint      [segments]Joint
	star       bool
	comm       *contact.Commutator
	smoothComm *contact.SmoothCommutator // in place of comm when not nil

	// face, at the present temperature (K) and current density (A/m²); drifts: some law depends on the speed
	law                  contact.Law
	holder, spring       contact.Law
	temperature, density float64
	drifts               bool
	outOfTable           bool // has been outside a table of Material

	// commutator: angle(t) = angle0 + speed·(t − time0)
	angle0, speed, time0 float64

	// bodies
	m0, j0      float64 // main body; j0 with the segments' own inertia
	ms          float64 // one segment
	down        float64 // b
	halfHeight  float64 // half the height of the main body
	gravity     float64
	kU, cU      [segments][segments]float64 // of the axial joints, neighbours included
	kS, cS      [segments][segments]float64
	kH, cH, jH  float64
	kA, cA, jA  float64
	press       float64 // M_0
	reach, tip  float64 // arm and its tip
	holdX, rake float64
	holdY       float64
	wallTop     float64 // in the holder's frame
	wallLow     float64
	wall        [2]float64 // x of the walls there
	topTan      float64    // slope of the top face: tangent and unit vectors in the frame of the brush
	topC, topS  float64
	pivotX      float64
	pivotY      float64

	point []vertex // face
	hint  []int32
	// with true slots: corners of the commutator, and the deepest over each edge of the face
	corner []place
	bump   []bump

	f factors
}

// vertex is a point of the face in the frame of the main body with its segment at rest.
type vertex struct {
	xi, eta float64
	segment int32
	id      uint32
}

// Numbers of the contacts: face vertices from 1, then the holder's and the spring's.
const (
	idHolder = 1 << 12 // + 4·side + kind
	idSpring = 1 << 13 // + 1 when the tip is on a corner
)

// New builds the model, with three segments on the main body.
func New(p Params) (*Brush, error) { return NewJoined(p, Star(p.Brush.Width)) }

// NewJoined builds the model with a joint map of the caller's.
func NewJoined(p Params, joints [segments]Joint) (*Brush, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("brush: %w", err)
	}
	for i, j := range joints {
		if j.Parent < -1 || j.Parent >= i || math.IsNaN(j.Position) || math.IsInf(j.Position, 0) {
			return nil, fmt.Errorf("brush: joint %d: parent %d at %g m, want −1 or an earlier segment, and a finite place", i, j.Parent,
				j.Position)
		}
	}
	b := &Brush{p: p, joint: joints, speed: p.Commutator.Speed}
	b.star = joints[0].Parent < 0 && joints[1].Parent < 0 && joints[2].Parent < 0
	var err error
	if b.comm, err = contact.NewCommutator(p.outline()); err != nil {
		return nil, fmt.Errorf("brush: %w", err)
	}
	if p.Commutator.SmoothOutline {
		if b.smoothComm, err = contact.NewSmoothCommutator(p.outline()); err != nil {
			return nil, fmt.Errorf("brush: %w", err)
		}
	}
	b.bodies()
	if err = b.face(); err != nil {
		return nil, fmt.Errorf("brush: %w", err)
	}
	b.Heat(p.Material.Temperature, p.Material.CurrentDensity)
	b.corners()
	q, u := make([]float64, dof), make([]float64, dof)
	if err = b.Start(q, u); err != nil {
		return nil, fmt.Errorf("brush: %w", err)
	}
	return b, nil
}

// Params is what the model was made from.
func (b *Brush) Params() Params { return b.p }

// Commutator is the outline that turns under the brush, in its own frame. It stands for pictures only when the surface is smooth.
func (b *Brush) Commutator() *contact.Commutator { return b.comm }

// Drive sets the commutator's angle (rad) at time t (s) and its speed (rad/s) from then on.
func (b *Brush) Drive(angle, speed, t float64) { b.angle0, b.speed, b.time0 = angle, speed, t }

// Angle is that of the commutator at t (rad).
func (b *Brush) Angle(t float64) float64 { return b.angle0 + b.speed*(t-b.time0) }

// DOF is 11.
func (b *Brush) DOF() int { return dof }

func (p *Params) outline() contact.CommutatorSpec {
	c := &p.Commutator
	s := contact.CommutatorSpec{
		Radius: c.Radius, Eccentricity: c.Eccentricity, EccentricityPhase: c.Phase, Bars: int(c.Bars), Rz: c.Roughness,
		Corr: c.Correlation, SlotWidth: c.SlotWidth, SlotDepth: c.SlotDepth, DipDepth: c.DipDepth, EdgeLength: c.EdgeLength,
		BarStep: c.BarStep, TrueSlots: c.TrueSlots, Spacing: c.Spacing, Seed: uint64(c.Seed),
	}
	if c.SmoothOutline {
		s.Rz, s.BarStep = 0, 0
	}
	if c.Profile != nil {
		s.Profile, s.Rz, s.BarStep, s.Eccentricity, s.DipDepth = c.Profile, 0, 0, 0, 0
	}
	return s
}

func (b *Brush) bodies() {
	p := &b.p
	w, l, hs := p.Brush.Width, p.Brush.Length, p.Segment.Height
	area := p.Brush.Density * p.Brush.Depth // kg/m² of the plane
	b.m0, b.ms = area*w*(l-hs), area*w/segments*hs
	b.halfHeight, b.down, b.gravity = (l-hs)/2, l/2, p.Brush.Gravity
	third := w / segments
	b.j0 = b.m0*(w*w+(l-hs)*(l-hs))/12 + segments*b.ms*(third*third+hs*hs)/12
	b.kH, b.cH, b.jH = p.Holder.Stiffness, p.Holder.Damping, p.Holder.Inertia
	b.kA, b.cA, b.jA, b.press = p.Spring.Stiffness, p.Spring.Damping, p.Spring.Inertia, p.Spring.Moment

	h := &p.Holder
	b.holdX, b.rake = h.X, h.Rake
	b.holdY = p.Commutator.Radius + h.CommutatorGap + h.Length/2 + h.Offset
	b.wallLow, b.wallTop = -h.Length/2-h.Offset, h.Length/2-h.Offset
	b.wall = [2]float64{-(w+h.Clearance)/2 - h.X, (w+h.Clearance)/2 - h.X}

	s := &p.Spring
	b.reach, b.tip = s.Arm, s.TipRadius
	b.topTan = math.Tan(p.Brush.TopSlope)
	b.topS, b.topC = math.Sincos(p.Brush.TopSlope)
	length := s.FittedLength
	if s.Follows {
		length = l
	}
	b.pivotX, b.pivotY = s.PivotX, p.Commutator.Radius+length+s.PivotHeight
}

// Heat sets the temperature (K) and the current density (A/m²) of the brush, on which friction and stiffness may depend.
func (b *Brush) Heat(temperature, density float64) {
	m := &b.p.Material
	b.temperature, b.density = temperature, density
	b.law = b.p.Contact.Face
	b.law.Mu = b.p.FaceMu(temperature, density, 0)
	b.holder, b.spring = b.p.Contact.Holder, b.p.Contact.Spring
	eps := b.p.factor(ofEps, temperature, density)
	b.law.EpsN, b.holder.EpsN, b.spring.EpsN = b.law.EpsN*eps, b.holder.EpsN*eps, b.spring.EpsN*eps
	b.outOfTable = b.outOfTable || b.p.outOfRange(temperature, density)
	b.drifts = m.MuSpeed != 0 || m.EpsSpeed != 0
	b.links()
	b.f.h = 0
}

// links fills stiffness and damping of the segments' joints. Neighbours are coupled by the
// difference of their displacements, k_aa·(2u_i − u_i−1 − u_i+1); beyond the outer two stands a neighbour that is at rest on the
// main body.
func (b *Brush) links() {
	g := &b.p.Segment
	ka := g.AxialStiffness * g.Factor * b.p.StiffnessFactor(b.temperature) * b.p.factor(ofStiffness, b.temperature, b.density)
	ks := ka * g.ShearRatio
	b.kU, b.kS, b.cU, b.cS = [segments][segments]float64{}, [segments][segments]float64{}, [segments][segments]float64{},
		[segments][segments]float64{}
	path := b.path()
	fill := func(m *[segments][segments]float64, own, neighbour float64) {
		for i := range segments {
			m[i][i] += own
		}
		// ½·neighbour·(U_i+1 − U_i)² with U = path·u, and U = 0 beyond both ends
		for i := range segments + 1 {
			var d [segments]float64
			for j := range segments {
				if i < segments {
					d[j] += path[i][j]
				}
				if i > 0 {
					d[j] -= path[i-1][j]
				}
			}
			for j := range segments {
				for k := range segments {
					m[j][k] += neighbour * d[j] * d[k]
				}
			}
		}
	}
	fill(&b.kU, ka, ka*g.AxialCoupling)
	fill(&b.kS, ks, ks*g.ShearCoupling)
	damp := b.p.factor(ofDamping, b.temperature, b.density)
	ca, cs := g.AxialDamping*damp, g.ShearDamping*damp
	fill(&b.cU, ca, ca*g.AxialCouplingDamping)
	fill(&b.cS, cs, cs*g.ShearCouplingDamping)
}

// face places the vertices: a concave arc, whose sides hang lower, with its roughness.
func (b *Brush) face() error {
	p := &b.p
	var rough interface{ At(x float64) float64 } = recessed{p.Face.Profile}
	if p.Face.Profile == nil {
		drawn, err := contact.FaceProfile(p.Brush.Width, 0, p.Commutator.Correlation, p.Face.Roughness, uint64(p.Face.Seed))
		if err != nil {
			return err
		}
		rough = drawn
	}
	n, rf := int(p.Face.Vertices), p.Face.RadiusRatio*p.Commutator.Radius
	third := p.Brush.Width / segments
	for i, j := range b.joint {
		for k := range n {
			x := j.Position + third*(float64(k)/float64(n-1)-0.5)
			sag := x * x / (rf + math.Sqrt(rf*rf-x*x)) // r_f − √(r_f² − x²)
			eta := -b.down - p.Segment.Height/2 - sag + rough.At(x)
			b.point = append(b.point, vertex{x, eta, int32(i), uint32(1 + i*n + k)})
		}
	}
	b.hint = make([]int32, len(b.point))
	return nil
}

// recessed is a measured face seen from inside the brush: a point that stands out lies lower.
type recessed struct{ *contact.Profile }

// At is the height (m) at x, outward along the brush.
func (r recessed) At(x float64) float64 { return -r.Profile.At(x) }
