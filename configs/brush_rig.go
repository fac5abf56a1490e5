package configs

import (
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/engine/plant/brush"
)

// BrushRig makes the plant a motor with two simulated brushes. Resistance, inductance, constant and inertia are those of the axis, whose
// friction is that of the bearings; the drop and the friction of the brushes come from here.
type BrushRig struct {
	Step            float64   `yaml:"step" unit:"s" want:">=1e-06 <=0.0001" doc:"sub-step of brush, commutation and circuit; longer ones resolve the surface up to a lower speed"`
	Pair            bool      `yaml:"pair" doc:"both brushes are simulated; otherwise the second does what the first does"`
	AveragedContact bool      `yaml:"averaged" doc:"averaged contact at every speed; otherwise only where a sub-step does not resolve the surface"`
	Parameters      *RigBrush `yaml:"parameters" doc:"the brush, as in docs/reference/brush.md without its motor and commutator.speed"`
}

// SetDefaults of the virtual rig of a brush.
func (b *BrushRig) SetDefaults() { b.Step, b.Parameters = 20e-6, schema.New[RigBrush]() }

// RigBrush is a brush without the motor around it, which a rig file describes elsewhere.
type RigBrush struct{ brush.Params }

// SetDefaults are the numbers of the model on a motor with permanent magnets and direct current.
func (b *RigBrush) SetDefaults() {
	b.Params = brush.DefaultParams()
	m := &b.Motor
	m.Series, m.Frequency, m.Fan = false, 0, 0
}

// Of is the brush on a motor. What is not known of the motor, such as the winding behind a current drive, is that of the model's own.
func (b *RigBrush) Of(m plant.Motor) brush.Params {
	p := b.Params
	for _, k := range []struct {
		to         *float64
		motorValue float64
	}{{&p.Motor.Resistance, m.R}, {&p.Motor.Inductance, m.L}, {&p.Motor.Constant, m.K}, {&p.Motor.Inertia, m.J}} {
		if k.motorValue > 0 {
			*k.to = k.motorValue
		}
	}
	return p
}

// Keys leaves out what the rig says elsewhere.
func (b *RigBrush) Keys() schema.KeyTable {
	return slices.DeleteFunc(brushKeys(&b.Params), func(k schema.TableKey) bool {
		return strings.HasPrefix(k.Key, "motor.") && k.Key != "motor.coil_inductance" && k.Key != "motor.fan" || k.Key == "commutator.speed"
	})
}

// checkBrushes looks at the brushes of the virtual rig.
func (c *Config) checkBrushes(r *schema.Report) {
	if v := c.Virtual; v != nil && v.Plant.Kind == brushPlant && len(v.Plant.Axes) == 1 && !r.HasProblem("virtual") {
		c.checkBrushPlant(r, &v.Plant, &v.Plant.Axes[0])
	}
}

// checkBrushPlant looks at a motor whose brushes are simulated.
func (c *Config) checkBrushPlant(r *schema.Report, p *VirtualPlant, a *VirtualAxis) {
	at := a.path()
	if !a.Drive.Kind.is(plant.VoltageDrive) {
		r.KeyErrorf(at+".drive.kind", "%s; a motor whose brushes are simulated has a voltage", a.Drive.Kind)
		return
	}
	p.Brush.Parameters.check(r, "virtual.plant.brush.parameters", *a.Motor, p.Brush.Step)
	for _, k := range []struct {
		key string
		v   float64
	}{{"cogging", a.Cogging}, {"gravity", a.Gravity}, {"stops.stiffness", a.Stops.Stiffness}, {"motor.brush_drop", a.Motor.BrushDrop},
		{"thermal.copper_tc", a.Thermal.CopperTC}, {"thermal.friction_tc", a.Thermal.FrictionTC}} {
		p := at + "." + k.key
		r.WarnIf(k.v != 0 && r.HasKey(p), p, "not used by a plant of kind brush")
	}
	if m := c.ModelOf(a.Name); a.Friction.Model == nil && m != nil && m.Friction.Model != nil {
		r.KeyErrorf(m.path()+".friction", "Coulomb friction of %s N·m, of which the brushes of virtual.plant.brush alone have %s N·m; what is "+
			"left for the bearings is not told by the parameters of %s: give it as %s.friction",
			schema.Short(m.Friction.Model.Levels().Sliding.Max()), schema.Short(c.BrushFriction()), m.Friction.Name, at)
	}
}

// check asks the model; it is built only when its numbers are in range.
func (b *RigBrush) check(r *schema.Report, path string, m plant.Motor, step float64) {
	p := b.Of(m) // what is wrong with the motor is said where it stands
	r.ErrorIf(b.Commutator.TrueSlots, path+".commutator.true_slots", "true slots need steps that a loop has no time for; leave it out")
	if problems := engine.Problems(p.Validate()); problems != nil {
		for _, p := range problems {
			r.SectionError(path, p.Path, p.Text)
		}
		return
	}
	model, err := brush.New(p)
	if err != nil {
		r.KeyErrorf(path, "%v", err)
		return
	}
	for _, w := range model.Warnings(step) {
		r.KeyWarnf(path, "%s", w)
	}
}
