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

// Params is everything the model is made of, SI throughout. Table lists it by key; DefaultParams fills it.
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
	Radius        float64 // m
	Eccentricity  float64 // m       offset of the outline from the axis
	Phase         float64 // rad     where the eccentric outline is highest
	Bars          float64 //         a whole number
	Roughness     float64 // m       Rz over lengths of 0.8 mm, before steps and slots
	Correlation   float64 // m       length over which the roughness keeps its height, of the face too
	SlotWidth     float64 // m
	SlotDepth     float64 // m       with TrueSlots
	DipDepth      float64 // m       what a face that bridges a slot follows, without TrueSlots
	EdgeLength    float64 // m       rounding of a bar's edge
	BarStep       float64 // m       standard deviation of the height of a bar
	Speed         float64 // rad/s   counter-clockwise
	Spacing       float64 // m       between vertices of the outline; at most Correlation/20
	Seed          float64 //         a whole number
	TrueSlots     bool    //         walls and a floor in place of the dip; not for the loop
	SmoothOutline bool    //         no roughness and no steps, curvature exact

	// Profile is a measured outline in place of roughness, steps, dips and eccentricity; nil: none.
	Profile *contact.Profile
}

// Block is the brush as a whole.
type Block struct {
	Width    float64 // m       along the circumference
	Depth    float64 // m       along the axis of the motor
	Length   float64 // m       face to top; wear shortens it
	Density  float64 // kg/m³
	TopSlope float64 // rad     top face, positive: higher at +x
	Gravity  float64 // m/s²    along −y
}

// Face is the surface on the commutator.
type Face struct {
	RadiusRatio float64 //      radius of the concave face / radius of the commutator
	Roughness   float64 // m    Rz over five lengths of w/5
	Vertices    float64 //      on each segment, both ends included; a whole number
	Seed        float64 //      a whole number

	// Profile is a measured surface in place of the roughness, over the arc of the face, positive towards the commutator; nil: none.
	Profile *contact.Profile
}

// Segment is one of the three elastic parts of the face. Neighbours are joined by a share of its stiffness and damping.
type Segment struct {
	Height               float64 // m
	AxialStiffness       float64 // N/m      k_a at factor 1 and at the reference temperature
	AxialDamping         float64 // N·s/m    c_a, whatever the factor
	ShearRatio           float64 //          k_s/k_a
	ShearDamping         float64 // N·s/m    c_s
	AxialCoupling        float64 //          k_aa/k_a
	ShearCoupling        float64 //          k_ss/k_s
	AxialCouplingDamping float64 //          c_aa/c_a
	ShearCouplingDamping float64 //          c_ss/c_s
	Factor               float64 //          κ, multiplies all stiffness and no damping
}

// Holder guides the brush between two straight walls and turns about its centre of gravity.
type Holder struct {
	Length        float64 // m
	Clearance     float64 // m           both sides together
	CommutatorGap float64 // m           lower end above the commutator
	Stiffness     float64 // N·m/rad
	Damping       float64 // N·m·s/rad
	Inertia       float64 // kg·m²
	X             float64 // m           centre of gravity
	Offset        float64 // m           centre of gravity above mid-length
	Rake          float64 // rad         tilt at rest
}

// Spring is the arm that presses on the top face.
type Spring struct {
	Arm          float64 // m           pivot to the centre of the tip
	TipRadius    float64 // m
	Stiffness    float64 // N·m/rad
	Moment       float64 // N·m         at the angle 0, presses down
	Damping      float64 // N·m·s/rad
	Inertia      float64 // kg·m²
	PivotX       float64 // m
	PivotHeight  float64 // m           above the top of the brush
	FittedLength float64 // m           of the brush for which the pivot was placed, unless it follows
	Follows      bool    //             the pivot keeps its height above a brush that wears: a spring of constant force
}

// Pairs are the laws of the three kinds of contact.
type Pairs struct {
	Face, Holder, Spring contact.Law
}

// Material says how the properties drift with temperature, current density and speed, relative and linear about the reference.
type Material struct {
	MuTemperature        float64 // 1/K
	MuCurrent            float64 // m²/A
	MuSpeed              float64 // s/m
	StiffnessTemperature float64 // 1/K      of k_a and k_s
	EpsSpeed             float64 // s/m      of the normal restitution with impact speed
	Temperature          float64 // K
	CurrentDensity       float64 // A/m²
	RefTemperature       float64 // K
	RefCurrentDensity    float64 // A/m²

	Factors [len(Properties)][len(Causes)]*Curve // measured factors of a property by a cause; nil: 1
}

// Electric is the current's way from brush to bar.
type Electric struct {
	Drop          float64 // V         constant part, one brush
	LinearCurrent float64 // A         the drop is proportional to the current below it
	Constriction  float64 // Ω·N^½
	Film          float64 // Ω·N
	Resistivity   float64 // Ω·m       of the brush
	ArcVoltage    float64 // V
	ArcGradient   float64 // V/m
	ArcCurrent    float64 // A         an arc goes out below it
}

// Motor is the machine that the brush belongs to.
type Motor struct {
	Resistance     float64 // Ω           armature and field
	Inductance     float64 // H           armature and field
	Constant       float64 // H           series wound: torque = K·i²; N·m/A otherwise: torque = K·i
	Inertia        float64 // kg·m²
	Fan            float64 // N·m·s²      load = k_w·ω²
	Voltage        float64 // V           effective value of the supply
	Frequency      float64 // Hz          0: direct
	CoilInductance float64 // H           of the coil that a brush shorts
	Series         bool    //             series wound rather than permanent magnets
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
