// Package brush is the carbon brush of a commutator motor in its plane, with eleven coordinates [SNB06]: a main body with
// three face segments on springs, guided by two walls with clearance, pressed by a sprung arm on a rough commutator that
// turns with a prescribed angle. All contact is unilateral with Coulomb friction; package contact runs the model.
//
//	q = (x, y, φ, u1, s1, u2, s2, u3, s3, φ_h, φ_s)
//
// The source names the bodies, the contacts and the kind of data; coordinates and numbers are this package's own. The inertial
// frame has its origin in the axis of the commutator and y along the brush, outward. A positive speed turns the commutator
// counter-clockwise, so that friction pushes the face towards −x and the brush leans to φ < 0.
package brush

import "hilrig/engine/contact"

// Params is everything the model is made of, SI throughout. Table lists it by key, with the tags of the fields: the name in a file where it
// is not that of the field, the symbol in the equations, the unit (two that mean the same number are separated by |), the range with both
// ends in it, and whether it is a whole number. DefaultParams fills it.
type Params struct {
	Commutator Commutator
	Brush      Block
	Face       Face
	Segment    Segment
	Holder     Holder
	Spring     Spring
	Contact    Pairs
	Material   Material
	Electric   Electric
	Motor      Motor
}

// Commutator is the outline under the brush and its speed.
type Commutator struct {
	Radius        float64 `symbol:"r_c" unit:"m" min:"1e-3" max:"1" doc:"radius"`
	Eccentricity  float64 `symbol:"e_c" unit:"m" max:"1e-3" doc:"offset of the outline from the axis"`
	Phase         float64 `symbol:"th_e" unit:"rad" min:"-3.141592653589793" max:"3.141592653589793" doc:"where the outline is highest"`
	Bars          float64 `symbol:"n_b" min:"1" max:"1000" whole:"true" doc:"number of bars"`
	Roughness     float64 `symbol:"Rz_c" unit:"m" max:"1e-4" doc:"roughness Rz over sampling lengths of 0.8 mm"`
	Correlation   float64 `symbol:"l_c" unit:"m" min:"2e-5" max:"1e-2" doc:"correlation length of both rough surfaces"`
	SlotWidth     float64 `symbol:"b_s" unit:"m" max:"5e-3" doc:"width of the slots between bars"`
	SlotDepth     float64 `symbol:"d_s" unit:"m" max:"5e-3" doc:"depth of a true slot"`
	DipDepth      float64 `symbol:"d_e" unit:"m" max:"1e-3" doc:"dip at a slot that a bridging face follows; depth of a true slot's rounding"`
	EdgeLength    float64 `symbol:"l_e" unit:"m" max:"2e-3" doc:"length of the rounding of a bar's edge"`
	BarStep       float64 `symbol:"d_b" unit:"m" max:"1e-4" doc:"standard deviation of the height of the bars"`
	Speed         float64 `symbol:"n" unit:"rad/s" min:"-6000" max:"6000" doc:"angular velocity, counter-clockwise"`
	Spacing       float64 `symbol:"D_s" unit:"m" min:"1e-6" max:"1e-3" doc:"distance of vertices, at most 1/20 of the correlation length"`
	Seed          float64 `max:"9007199254740992" whole:"true" doc:"seed of the commutator's roughness and steps"`
	TrueSlots     bool    `doc:"slots with walls in place of dips, offline"`
	SmoothOutline bool    `key:"smooth" doc:"a commutator without roughness and steps, with exact curvature, for event-driven runs"`

	// Profile is a measured outline in place of roughness, steps, dips and eccentricity; nil: none.
	Profile *contact.Profile
}

// Block is the brush as a whole.
type Block struct {
	Width    float64 `symbol:"w" unit:"m" min:"1e-3" max:"0.05" doc:"width along the circumference"`
	Depth    float64 `symbol:"l_ax" unit:"m" min:"1e-3" max:"0.1" doc:"depth along the motor's axis"`
	Length   float64 `symbol:"L_b" unit:"m" min:"2e-3" max:"0.2" doc:"length from face to top"`
	Density  float64 `symbol:"rho_b" unit:"kg/m³" min:"100" max:"2e4" doc:"density"`
	TopSlope float64 `symbol:"al_t" unit:"rad" min:"-0.5" max:"0.5" doc:"slope of the top face, positive: higher at +x"`
	Gravity  float64 `symbol:"g" unit:"m/s²" min:"-100" max:"100" doc:"weight along −y"`
}

// Face is the surface on the commutator.
type Face struct {
	RadiusRatio float64 `symbol:"r_f/r_c" min:"0.9" max:"100" doc:"radius of the concave face over that of the commutator"`
	Roughness   float64 `symbol:"Rz_b" unit:"m" max:"1e-4" doc:"roughness Rz over five lengths of w/5"`
	Vertices    float64 `symbol:"n_v" min:"2" max:"64" whole:"true" doc:"points of the face on each of three segments"`
	Seed        float64 `max:"9007199254740992" whole:"true" doc:"seed of the face's roughness"`

	// Profile is a measured surface in place of the roughness, over the arc of the face, positive towards the commutator; nil: none.
	Profile *contact.Profile
}

// Segment is one of the three elastic parts of the face. Neighbours are joined by a share of its stiffness and damping.
type Segment struct {
	Height               float64 `symbol:"h_s" unit:"m" min:"1e-5" max:"0.02" doc:"height of a segment"`
	AxialStiffness       float64 `symbol:"k_a" unit:"N/m" min:"1e3" max:"1e9" doc:"axial stiffness between segment and main body"`
	AxialDamping         float64 `symbol:"c_a" unit:"N·s/m" max:"1e5" doc:"axial damping, not scaled by the factor"`
	ShearRatio           float64 `symbol:"k_s/k_a" min:"1e-3" max:"10" doc:"shear stiffness over axial stiffness"`
	ShearDamping         float64 `symbol:"c_s" unit:"N·s/m" max:"1e5" doc:"shear damping, not scaled by the factor"`
	AxialCoupling        float64 `symbol:"k_aa/k_a" max:"10" doc:"axial stiffness between neighbours over k_a"`
	ShearCoupling        float64 `symbol:"k_ss/k_s" max:"10" doc:"shear stiffness between neighbours over k_s"`
	AxialCouplingDamping float64 `symbol:"c_aa/c_a" max:"10" doc:"axial damping between neighbours over c_a"`
	ShearCouplingDamping float64 `symbol:"c_ss/c_s" max:"10" doc:"shear damping between neighbours over c_s"`
	Factor               float64 `symbol:"kappa" min:"1e-3" max:"1e3" doc:"multiplies every stiffness of the segments, no damping"`
}

// Holder guides the brush between two straight walls and turns about its centre of gravity.
type Holder struct {
	Length        float64 `symbol:"l_h" unit:"m" min:"1e-3" max:"0.2" doc:"length of the walls"`
	Clearance     float64 `symbol:"c_hb" unit:"m" min:"1e-6" max:"5e-3" doc:"clearance to the brush, both sides together"`
	CommutatorGap float64 `symbol:"c_hc" unit:"m" min:"1e-4" max:"0.05" doc:"height of the lower end above the commutator"`
	Stiffness     float64 `symbol:"k_h" unit:"N·m/rad" min:"1e-3" max:"1e7" doc:"stiffness of the attachment"`
	Damping       float64 `symbol:"c_h" unit:"N·m·s/rad" max:"1e3" doc:"damping of the attachment"`
	Inertia       float64 `symbol:"J_h" unit:"kg·m²" min:"1e-10" max:"1" doc:"moment of inertia"`
	X             float64 `symbol:"x_h" unit:"m" min:"-0.1" max:"0.1" doc:"centre of gravity, across"`
	Offset        float64 `symbol:"y_h0" unit:"m" min:"-0.1" max:"0.1" doc:"centre of gravity, along: y_h = r_c + c_hc + l_h/2 + y_h0"`
	Rake          float64 `symbol:"be_h" unit:"rad" min:"-0.5" max:"0.5" doc:"tilt at rest"`
}

// Spring is the arm that presses on the top face.
type Spring struct {
	Arm          float64 `symbol:"l_s" unit:"m" min:"1e-3" max:"0.5" doc:"length from the pivot to the centre of the tip"`
	TipRadius    float64 `symbol:"r_s" unit:"m" min:"1e-5" max:"0.05" doc:"radius of the tip"`
	Stiffness    float64 `symbol:"k_sp" unit:"N·m/rad" max:"100" doc:"stiffness"`
	Moment       float64 `symbol:"M_0" unit:"N·m" max:"10" doc:"moment at the angle 0"`
	Damping      float64 `symbol:"c_sp" unit:"N·m·s/rad" max:"10" doc:"damping"`
	Inertia      float64 `symbol:"J_s" unit:"kg·m²" min:"1e-12" max:"1" doc:"moment of inertia about the pivot"`
	PivotX       float64 `symbol:"x_s" unit:"m" min:"-0.5" max:"0.5" doc:"pivot, across"`
	PivotHeight  float64 `symbol:"y_s0" unit:"m" min:"-0.2" max:"0.2" doc:"pivot above the top of the brush: y_s = r_c + L_b + y_s0"`
	FittedLength float64 `symbol:"L_s" unit:"m" min:"2e-3" max:"0.2" doc:"length of brush that the pivot was placed for, unless it follows"`
	Follows      bool    `doc:"the pivot keeps its height above a brush that wears"`
}

// Pairs are the laws of the three kinds of contact.
type Pairs struct {
	Face   contact.Law `symbol:"c"`
	Holder contact.Law `symbol:"h"`
	Spring contact.Law `symbol:"s"`
}

// Material says how the properties drift with temperature, current density and speed, relative and linear about the reference.
type Material struct {
	MuTemperature        float64 `symbol:"a_muT" unit:"1/K" min:"-0.1" max:"0.1" doc:"relative slope of the face's friction with temperature"`
	MuCurrent            float64 `symbol:"a_muJ" unit:"m²/A" min:"-1e-4" max:"1e-4" doc:"relative slope of face friction with current density"`
	MuSpeed              float64 `symbol:"a_muv" unit:"s/m" min:"-10" max:"10" doc:"relative slope of the face's friction with sliding speed"`
	StiffnessTemperature float64 `symbol:"a_kT" unit:"1/K" min:"-0.1" max:"0.1" doc:"relative slope of k_a and k_s with temperature"`
	EpsSpeed             float64 `symbol:"a_eps" unit:"s/m" min:"-10" max:"10" doc:"relative slope of normal restitution with impact speed"`
	Temperature          float64 `symbol:"T_b" unit:"K" min:"200" max:"800" doc:"temperature of the brush"`
	CurrentDensity       float64 `symbol:"J" unit:"A/m²" max:"1e7" doc:"current density in the brush"`
	RefTemperature       float64 `symbol:"T_0" unit:"K" min:"200" max:"800" doc:"temperature for which the parameters hold"`
	RefCurrentDensity    float64 `symbol:"J_0" unit:"A/m²" max:"1e7" doc:"current density for which the parameters hold"`

	Factors [len(Properties)][len(Causes)]*Curve // measured factors of a property by a cause; nil: 1
}

// Electric is the current's way from brush to bar.
type Electric struct {
	Drop          float64 `symbol:"V_0" unit:"V" max:"10" doc:"constant part of the contact drop, one brush"`
	LinearCurrent float64 `symbol:"I_lin" unit:"A" min:"1e-6" max:"100" doc:"current below which that part is proportional to it"`
	Constriction  float64 `symbol:"a_R" unit:"ohm·N^0.5" max:"10" doc:"constriction resistance at 1 N"`
	Film          float64 `symbol:"b_R" unit:"ohm·N" max:"10" doc:"film resistance at 1 N"`
	Resistivity   float64 `symbol:"rho_el" unit:"ohm·m" max:"1" doc:"resistivity of the brush: R_b = rho_el·L_b/(w·l_ax)"`
	ArcVoltage    float64 `symbol:"V_arc" unit:"V" max:"1000" doc:"voltage of an arc of no length"`
	ArcGradient   float64 `symbol:"E_arc" unit:"V/m" max:"1e6" doc:"voltage of an arc per length"`
	ArcCurrent    float64 `symbol:"I_arc" unit:"A" max:"100" doc:"current below which an arc goes out"`
}

// Motor is the machine that the brush belongs to.
type Motor struct {
	Resistance     float64 `symbol:"R_a+R_f" unit:"ohm" min:"1e-6" max:"1e6" doc:"resistance of armature and field"`
	Inductance     float64 `symbol:"L_a+L_f" unit:"H" min:"1e-9" max:"1e3" doc:"inductance of armature and field"`
	Constant       float64 `symbol:"K" unit:"H|N·m/A" max:"1e3" doc:"series wound: torque K·i² (H); otherwise torque K·i (N·m/A)"`
	Inertia        float64 `symbol:"J_m" unit:"kg·m²" min:"1e-10" max:"1e3" doc:"moment of inertia"`
	Fan            float64 `symbol:"k_w" unit:"N·m·s²" max:"1" doc:"load k_w·ω²"`
	Voltage        float64 `symbol:"V" unit:"V" max:"1e4" doc:"effective value of the supply"`
	Frequency      float64 `symbol:"f" unit:"Hz" max:"1000" doc:"frequency of the supply, 0: direct voltage"`
	CoilInductance float64 `symbol:"L_c" unit:"H" min:"1e-12" max:"1" doc:"inductance of a coil that the brush shorts"`
	Series         bool    `doc:"series wound rather than permanent magnets"`
}

// DefaultParams is a new brush of an appliance motor at 3000 rpm on a 22 mm commutator. The values are plausible, none is
// measured; they were chosen together so that the trends of [SNB06] hold at steps of 20 µs.
func DefaultParams() Params {
	return Params{
		Commutator: Commutator{
			Radius: 0.011, Eccentricity: 5e-6, Bars: 24, Roughness: 5e-6, Correlation: 5e-4, SlotWidth: 5e-4, SlotDepth: 8e-4,
			DipDepth: 1e-5, EdgeLength: 3e-4, BarStep: 1e-6, Speed: 314.1592653589793, Spacing: 25e-6, Seed: 1,
		},
		Brush:   Block{Width: 6.3e-3, Depth: 11e-3, Length: 0.032, Density: 1600, TopSlope: 0.10, Gravity: 9.81},
		Face:    Face{RadiusRatio: 1.01, Roughness: 6e-6, Vertices: 5, Seed: 1},
		Segment: Segment{1e-3, 1e6, 20, 0.35, 12, 0.5, 0.5, 0.5, 0.5, 1},
		Holder:  Holder{Length: 0.020, Clearance: 1.4e-4, CommutatorGap: 2e-3, Stiffness: 500, Damping: 5e-3, Inertia: 1.5e-6},
		Spring: Spring{
			Arm: 0.020, TipRadius: 1.5e-3, Stiffness: 8e-3, Moment: 0.05, Damping: 2e-5, Inertia: 2e-7, PivotX: -0.018,
			PivotHeight: 4e-3, FittedLength: 0.032, Follows: true,
		},
		Contact: Pairs{
			Face:   contact.Law{Mu: 0.20, EpsN: 0.30},
			Holder: contact.Law{Mu: 0.15, EpsN: 0.40},
			Spring: contact.Law{Mu: 0.15, EpsN: 0.20},
		},
		Material: Material{Temperature: 353, CurrentDensity: 1e5, RefTemperature: 353, RefCurrentDensity: 1e5},
		Electric: Electric{
			Drop: 1, LinearCurrent: 0.5, Constriction: 0.02, Film: 0.01, Resistivity: 3e-5, ArcVoltage: 13, ArcGradient: 2e3,
			ArcCurrent: 0.3,
		},
		Motor: Motor{
			Resistance: 2.5, Inductance: 0.06, Constant: 0.1, Inertia: 6e-5, Fan: 3.2e-8, Voltage: 230, Frequency: 50,
			CoilInductance: 60e-6, Series: true,
		},
	}
}

// Mass is that of the whole brush (kg).
func (p *Params) Mass() float64 {
	return p.Brush.Density * p.Brush.Width * p.Brush.Depth * p.Brush.Length
}

// Engagement is the length over which the holder guides the brush (m).
func (p *Params) Engagement() float64 {
	return min(p.Brush.Length-p.Holder.CommutatorGap, p.Holder.Length)
}

// BodyResistance is that of the brush from top to face (Ω).
func (p *Params) BodyResistance() float64 {
	return p.Electric.Resistivity * p.Brush.Length / (p.Brush.Width * p.Brush.Depth)
}

// Stiffness is k_a and k_s at factor κ and the present temperature (N/m).
func (p *Params) Stiffness() (axial, shear float64) {
	axial = p.Segment.AxialStiffness * p.Segment.Factor
	axial *= p.StiffnessFactor(p.Material.Temperature) * p.factor(ofStiffness, p.Material.Temperature, p.Material.CurrentDensity)
	return axial, axial * p.Segment.ShearRatio
}
