package brush

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"hilrig/engine"
)

// Field is one parameter: what a config, a study or a table in the docs needs to know about it. Exactly one of Ptr and Flag is
// set; Ptr of an Integer field holds a whole number.
type Field struct {
	Key     string // as in a file: "commutator.radius"
	Symbol  string // as in the equations
	Unit    string // SI, "" for a bare number; units that mean the same number are separated by |
	Doc     string
	Lo, Hi  float64 // range that Validate accepts, both ends included
	Integer bool
	Ptr     *float64
	Flag    *bool
}

// Table lists every parameter of p in a fixed order; the pointers lead into p.
func (p *Params) Table() []Field {
	c, b, f, g, h, s := &p.Commutator, &p.Brush, &p.Face, &p.Segment, &p.Holder, &p.Spring
	m, e, o := &p.Material, &p.Electric, &p.Motor
	number := func(key, symbol, unit string, ptr *float64, lo, hi float64, doc string) Field {
		return Field{Key: key, Symbol: symbol, Unit: unit, Doc: doc, Lo: lo, Hi: hi, Ptr: ptr}
	}
	whole := func(key, symbol string, ptr *float64, lo, hi float64, doc string) Field {
		return Field{Key: key, Symbol: symbol, Doc: doc, Lo: lo, Hi: hi, Integer: true, Ptr: ptr}
	}
	flag := func(key string, ptr *bool, doc string) Field { return Field{Key: key, Doc: doc, Hi: 1, Flag: ptr} }
	t := []Field{
		number("commutator.radius", "r_c", "m", &c.Radius, 1e-3, 1, "radius"),
		number("commutator.eccentricity", "e_c", "m", &c.Eccentricity, 0, 1e-3, "offset of the outline from the axis"),
		number("commutator.phase", "th_e", "rad", &c.Phase, -math.Pi, math.Pi, "where the eccentric outline is highest"),
		whole("commutator.bars", "n_b", &c.Bars, 1, 1000, "number of bars"),
		number("commutator.roughness", "Rz_c", "m", &c.Roughness, 0, 1e-4, "roughness Rz over sampling lengths of 0.8 mm"),
		number("commutator.correlation", "l_c", "m", &c.Correlation, 2e-5, 1e-2, "correlation length of both rough surfaces"),
		number("commutator.slot_width", "b_s", "m", &c.SlotWidth, 0, 5e-3, "width of the slots between bars"),
		number("commutator.slot_depth", "d_s", "m", &c.SlotDepth, 0, 5e-3, "depth of a true slot"),
		number("commutator.dip_depth", "d_e", "m", &c.DipDepth, 0, 1e-3, "depth of the dip that a bridging face follows at a slot; of the "+
			"rounding of a true slot"),
		number("commutator.edge_length", "l_e", "m", &c.EdgeLength, 0, 2e-3, "length of the rounding of a bar's edge"),
		number("commutator.bar_step", "d_b", "m", &c.BarStep, 0, 1e-4, "standard deviation of the height of the bars"),
		number("commutator.speed", "n", "rad/s", &c.Speed, -6000, 6000, "angular velocity, counter-clockwise"),
		number("commutator.spacing", "D_s", "m", &c.Spacing, 1e-6, 1e-3, "distance of the outline's vertices, at most a twentieth of the "+
			"correlation length"),
		whole("commutator.seed", "", &c.Seed, 0, 1<<53, "seed of the commutator's roughness and steps"),
		flag("commutator.true_slots", &c.TrueSlots, "slots with walls in place of dips, offline"),
		flag("commutator.smooth", &c.SmoothOutline, "a commutator without roughness and steps, with exact curvature, for event-driven runs"),

		number("brush.width", "w", "m", &b.Width, 1e-3, 0.05, "width along the circumference"),
		number("brush.depth", "l_ax", "m", &b.Depth, 1e-3, 0.1, "depth along the motor's axis"),
		number("brush.length", "L_b", "m", &b.Length, 2e-3, 0.2, "length from face to top"),
		number("brush.density", "rho_b", "kg/m³", &b.Density, 100, 2e4, "density"),
		number("brush.top_slope", "al_t", "rad", &b.TopSlope, -0.5, 0.5, "slope of the top face, positive: higher at +x"),
		number("brush.gravity", "g", "m/s²", &b.Gravity, -100, 100, "weight along −y"),

		number("face.radius_ratio", "r_f/r_c", "", &f.RadiusRatio, 0.9, 100, "radius of the concave face over that of the commutator"),
		number("face.roughness", "Rz_b", "m", &f.Roughness, 0, 1e-4, "roughness Rz over five lengths of w/5"),
		whole("face.vertices", "n_v", &f.Vertices, 2, 64, "points of the face on each of three segments"),
		whole("face.seed", "", &f.Seed, 0, 1<<53, "seed of the face's roughness"),

		number("segment.height", "h_s", "m", &g.Height, 1e-5, 0.02, "height of a segment"),
		number("segment.axial_stiffness", "k_a", "N/m", &g.AxialStiffness, 1e3, 1e9, "axial stiffness between segment and main body"),
		number("segment.axial_damping", "c_a", "N·s/m", &g.AxialDamping, 0, 1e5, "axial damping, not scaled by the factor"),
		number("segment.shear_ratio", "k_s/k_a", "", &g.ShearRatio, 1e-3, 10, "shear stiffness over axial stiffness"),
		number("segment.shear_damping", "c_s", "N·s/m", &g.ShearDamping, 0, 1e5, "shear damping, not scaled by the factor"),
		number("segment.axial_coupling", "k_aa/k_a", "", &g.AxialCoupling, 0, 10, "axial stiffness between neighbours over k_a"),
		number("segment.shear_coupling", "k_ss/k_s", "", &g.ShearCoupling, 0, 10, "shear stiffness between neighbours over k_s"),
		number("segment.axial_coupling_damping", "c_aa/c_a", "", &g.AxialCouplingDamping, 0, 10, "axial damping between neighbours over c_a"),
		number("segment.shear_coupling_damping", "c_ss/c_s", "", &g.ShearCouplingDamping, 0, 10, "shear damping between neighbours over c_s"),
		number("segment.factor", "kappa", "", &g.Factor, 1e-3, 1e3, "multiplies every stiffness of the segments, no damping"),

		number("holder.length", "l_h", "m", &h.Length, 1e-3, 0.2, "length of the walls"),
		number("holder.clearance", "c_hb", "m", &h.Clearance, 1e-6, 5e-3, "clearance to the brush, both sides together"),
		number("holder.commutator_gap", "c_hc", "m", &h.CommutatorGap, 1e-4, 0.05, "height of the lower end above the commutator"),
		number("holder.stiffness", "k_h", "N·m/rad", &h.Stiffness, 1e-3, 1e7, "stiffness of the attachment"),
		number("holder.damping", "c_h", "N·m·s/rad", &h.Damping, 0, 1e3, "damping of the attachment"),
		number("holder.inertia", "J_h", "kg·m²", &h.Inertia, 1e-10, 1, "moment of inertia"),
		number("holder.x", "x_h", "m", &h.X, -0.1, 0.1, "centre of gravity, across"),
		number("holder.offset", "y_h0", "m", &h.Offset, -0.1, 0.1, "centre of gravity above mid-length: y_h = r_c + c_hc + l_h/2 + y_h0"),
		number("holder.rake", "be_h", "rad", &h.Rake, -0.5, 0.5, "tilt at rest"),

		number("spring.arm", "l_s", "m", &s.Arm, 1e-3, 0.5, "length from the pivot to the centre of the tip"),
		number("spring.tip_radius", "r_s", "m", &s.TipRadius, 1e-5, 0.05, "radius of the tip"),
		number("spring.stiffness", "k_sp", "N·m/rad", &s.Stiffness, 0, 100, "stiffness"),
		number("spring.moment", "M_0", "N·m", &s.Moment, 0, 10, "moment at the angle 0"),
		number("spring.damping", "c_sp", "N·m·s/rad", &s.Damping, 0, 10, "damping"),
		number("spring.inertia", "J_s", "kg·m²", &s.Inertia, 1e-12, 1, "moment of inertia about the pivot"),
		number("spring.pivot_x", "x_s", "m", &s.PivotX, -0.5, 0.5, "pivot, across"),
		number("spring.pivot_height", "y_s0", "m", &s.PivotHeight, -0.2, 0.2, "pivot above the top of the brush: y_s = r_c + L_b + y_s0"),
		number("spring.fitted_length", "L_s", "m", &s.FittedLength, 2e-3, 0.2, "length of the brush that the pivot was placed for, unless it "+
			"follows"),
		flag("spring.follows", &s.Follows, "the pivot keeps its height above a brush that wears"),
	}
	for _, k := range []struct {
		name, sub string
		law       *[4]*float64
	}{
		{"face", "c", &[4]*float64{&p.Contact.Face.Mu, &p.Contact.Face.EpsN, &p.Contact.Face.EpsT, &p.Contact.Face.Nu}},
		{"holder", "h", &[4]*float64{&p.Contact.Holder.Mu, &p.Contact.Holder.EpsN, &p.Contact.Holder.EpsT, &p.Contact.Holder.Nu}},
		{"spring", "s", &[4]*float64{&p.Contact.Spring.Mu, &p.Contact.Spring.EpsN, &p.Contact.Spring.EpsT, &p.Contact.Spring.Nu}},
	} {
		t = append(t,
			number("contact."+k.name+".mu", "mu_"+k.sub, "", k.law[0], 0, 2, "coefficient of friction"),
			number("contact."+k.name+".eps_n", "eps_n"+k.sub, "", k.law[1], 0, 1, "normal restitution"),
			number("contact."+k.name+".eps_t", "eps_t"+k.sub, "", k.law[2], 0, 1, "tangential restitution"),
			number("contact."+k.name+".nu", "nu_"+k.sub, "", k.law[3], 0, 1, "share of tangential restitution kept by a contact that slides"))
	}
	return append(t,
		number("material.mu_temperature", "a_muT", "1/K", &m.MuTemperature, -0.1, 0.1, "relative slope of the face's friction with temperature"),
		number("material.mu_current", "a_muJ", "m²/A", &m.MuCurrent, -1e-4, 1e-4, "relative slope of the face's friction with current density"),
		number("material.mu_speed", "a_muv", "s/m", &m.MuSpeed, -10, 10, "relative slope of the face's friction with sliding speed"),
		number("material.stiffness_temperature", "a_kT", "1/K", &m.StiffnessTemperature, -0.1, 0.1,
			"relative slope of k_a and k_s with temperature"),
		number("material.eps_speed", "a_eps", "s/m", &m.EpsSpeed, -10, 10, "relative slope of normal restitution with impact speed"),
		number("material.temperature", "T_b", "K", &m.Temperature, 200, 800, "temperature of the brush"),
		number("material.current_density", "J", "A/m²", &m.CurrentDensity, 0, 1e7, "current density in the brush"),
		number("material.ref_temperature", "T_0", "K", &m.RefTemperature, 200, 800, "temperature for which the parameters hold"),
		number("material.ref_current_density", "J_0", "A/m²", &m.RefCurrentDensity, 0, 1e7, "current density for which the parameters hold"),

		number("electric.drop", "V_0", "V", &e.Drop, 0, 10, "constant part of the contact drop, one brush"),
		number("electric.linear_current", "I_lin", "A", &e.LinearCurrent, 1e-6, 100, "current below which that part is proportional to it"),
		number("electric.constriction", "a_R", "ohm·N^0.5", &e.Constriction, 0, 10, "constriction resistance at 1 N"),
		number("electric.film", "b_R", "ohm·N", &e.Film, 0, 10, "film resistance at 1 N"),
		number("electric.resistivity", "rho_el", "ohm·m", &e.Resistivity, 0, 1, "resistivity of the brush: R_b = rho_el·L_b/(w·l_ax)"),
		number("electric.arc_voltage", "V_arc", "V", &e.ArcVoltage, 0, 1000, "voltage of an arc of no length"),
		number("electric.arc_gradient", "E_arc", "V/m", &e.ArcGradient, 0, 1e6, "voltage of an arc per length"),
		number("electric.arc_current", "I_arc", "A", &e.ArcCurrent, 0, 100, "current below which an arc goes out"),

		number("motor.resistance", "R_a+R_f", "ohm", &o.Resistance, 1e-6, 1e6, "resistance of armature and field"),
		number("motor.inductance", "L_a+L_f", "H", &o.Inductance, 1e-9, 1e3, "inductance of armature and field"),
		number("motor.constant", "K", "H|N·m/A", &o.Constant, 0, 1e3, "series wound: torque K·i² (H); otherwise torque K·i (N·m/A)"),
		number("motor.inertia", "J_m", "kg·m²", &o.Inertia, 1e-10, 1e3, "moment of inertia"),
		number("motor.fan", "k_w", "N·m·s²", &o.Fan, 0, 1, "load k_w·ω²"),
		number("motor.voltage", "V", "V", &o.Voltage, 0, 1e4, "effective value of the supply"),
		number("motor.frequency", "f", "Hz", &o.Frequency, 0, 1000, "frequency of the supply, 0: direct voltage"),
		number("motor.coil_inductance", "L_c", "H", &o.CoilInductance, 1e-12, 1, "inductance of a coil that the brush shorts"),
		flag("motor.series", &o.Series, "series wound rather than permanent magnets"),
	)
}

// tiltMost is the largest tilt in the holder that still counts as being guided (rad): the segments are flat and turn with the
// main body, which is a model of small angles.
const tiltMost = 0.1

// Validate names every parameter that is out of range and every way in which the brush would not stay between holder,
// commutator and spring.
func (p *Params) Validate() error {
	var all []error
	bad := func(path, format string, a ...any) { all = append(all, engine.Problemf(path, format, a...)) }
	for _, f := range p.Table() {
		switch {
		case f.Ptr == nil:
		case !(*f.Ptr >= f.Lo && *f.Ptr <= f.Hi): // catches NaN
			bad(f.Key, "%s, want %s … %s", f.text(*f.Ptr), f.text(f.Lo), f.text(f.Hi))
		case f.Integer && *f.Ptr != math.Trunc(*f.Ptr):
			bad(f.Key, "%g, want a whole number", *f.Ptr)
		}
	}
	if len(all) == 0 {
		p.fits(bad)
	}
	return errors.Join(all...)
}

func (f *Field) text(v float64) string {
	if f.Unit == "" {
		return fmt.Sprintf("%g", v)
	}
	unit, _, _ := strings.Cut(f.Unit, "|")
	return fmt.Sprintf("%g %s", v, unit)
}

// fits checks the parameters against each other.
func (p *Params) fits(bad func(path, format string, a ...any)) {
	c, b, h := &p.Commutator, &p.Brush, &p.Holder
	guided := p.Engagement()
	if need := b.Width / 2; guided < need {
		bad("brush.length", "%g m leaves %.3g m of the brush in the holder, which starts %g m above the commutator: it falls out; want at "+
			"least %.3g m guided (half the width)",
			b.Length, guided, h.CommutatorGap, need)
	} else if tilt := h.Clearance / guided; tilt > tiltMost {
		bad("holder.clearance", "%g m over %.3g m of guided length lets the brush tip by %.2g rad and fall out, want at most %g rad",
			h.Clearance, guided, tilt, tiltMost)
	}
	if h.CommutatorGap <= p.Segment.Height {
		bad("holder.commutator_gap", "%g m, want more than segment.height %g m: the holder guides the main body", h.CommutatorGap,
			p.Segment.Height)
	}
	if p.Segment.Height >= b.Length/2 {
		bad("segment.height", "%g m, want less than half of brush.length %g m", p.Segment.Height, b.Length)
	}
	if b.Width > c.Radius {
		bad("brush.width", "%g m, want at most commutator.radius %g m", b.Width, c.Radius)
	}
	if l := c.Correlation; c.Profile == nil && c.Spacing > l/20*(1+1e-9) {
		bad("commutator.spacing", "%g m, want at most correlation/20 = %g m", c.Spacing, l/20)
	}
	p.measured(bad)
	if pitch := 2 * math.Pi * c.Radius / c.Bars; c.SlotWidth+2*c.EdgeLength > pitch {
		bad("commutator.slot_width", "slot and both edges take %g m, the pitch of %g bars is %.3g m", c.SlotWidth+2*c.EdgeLength, c.Bars, pitch)
	}
	if c.SmoothOutline && c.TrueSlots {
		bad("commutator.smooth", "a smooth outline has no true slots")
	}
}
