package configs

import (
	"math"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/engine/plant/brush"
	"hilrig/hil"
)

// VirtualBrush is the port name that stands for the virtual rig whose brushes are simulated.
const VirtualBrush = "virtual:brush"

// IsVirtual tells whether the port of a device stands for a virtual rig.
func (c *Config) IsVirtual() bool { return c.hasPort(VirtualMotor) || c.hasPort(VirtualBrush) }

func (d *Device) isVirtual() bool { return d.Port == VirtualMotor || d.Port == VirtualBrush }

func (c *Config) hasPort(port string) bool {
	return slices.ContainsFunc(c.Devices, func(d Device) bool { return d.Port == port })
}

// BrushRig makes the virtual rig a motor with two simulated brushes. Resistance, inductance, constant and inertia are those of
// virtual.motor, the friction of the bearings is virtual.friction, the drop and the friction of the brushes come from here.
type BrushRig struct {
	Step       float64   `yaml:"step" unit:"s" want:">=1e-06 <=0.0001" doc:"sub-step of brush, commutation and circuit; longer ones resolve the surface up to a lower speed"`
	Pair       bool      `yaml:"pair" doc:"both brushes are simulated; otherwise the second does what the first does"`
	Averaged   bool      `yaml:"averaged" doc:"averaged contact at every speed; otherwise only where a sub-step does not resolve the surface"`
	Parameters *RigBrush `yaml:"parameters" doc:"the brush, as in docs/brush.md without its motor and commutator.speed"`
}

// SetDefaults of the virtual rig of a brush.
func (b *BrushRig) SetDefaults() {
	b.Step, b.Parameters = 20e-6, NewRigBrush()
}

// Beside is the brush model that runs beside a rig.
type Beside struct {
	Contact    hil.BesideContact `yaml:"contact" doc:"auto: full while the period has room for the sub-steps that the speed needs, else averaged, with an event at each change; full: also where the surface is not resolved; averaged: always"`
	Step       float64           `yaml:"step" unit:"s" want:">=1e-06 <=0.0001" doc:"sub-step; up to twice as long where the period has no room for more"`
	Share      float64           `yaml:"share" want:">0 <=0.9" doc:"largest share of the period that the model may use"`
	Parameters *RigBrush         `yaml:"parameters" doc:"the brush, as in docs/brush.md without its motor and commutator.speed"`
}

// SetDefaults of the model beside a rig.
func (b *Beside) SetDefaults() {
	b.Contact, b.Step, b.Share, b.Parameters = hil.BesideAuto, 20e-6, 0.4, NewRigBrush()
}

// RigBrush is a brush without the motor around it, which a rig file describes elsewhere.
type RigBrush struct{ brush.Params }

// NewRigBrush is a brush with the numbers of the model on a motor with permanent magnets and direct current.
func NewRigBrush() *RigBrush {
	b := new(RigBrush)
	b.SetDefaults()
	return b
}

// SetDefaults are the numbers of the model.
func (b *RigBrush) SetDefaults() {
	b.Params = brush.DefaultParams()
	m := &b.Motor
	m.Series, m.Frequency, m.Fan = false, 0, 0
}

// Of is the brush on a motor.
func (b *RigBrush) Of(m plant.Motor) brush.Params {
	p := b.Params
	p.Motor.Resistance, p.Motor.Inductance, p.Motor.Constant, p.Motor.Inertia = m.R, m.L, m.K, m.J
	return p
}

// keys leaves out what the rig says elsewhere.
func (b *RigBrush) keys() schema.KeyTable {
	var t schema.KeyTable
	for _, k := range brushKeys(&b.Params) {
		if strings.HasPrefix(k.Key, "motor.") && k.Key != "motor.coil_inductance" && k.Key != "motor.fan" || k.Key == "commutator.speed" {
			continue
		}
		t = append(t, k)
	}
	return t
}

// DecodeNode reads the section. Its units are what they say, while the laws of a rig file turn m into rad.
func (b *RigBrush) DecodeNode(w *schema.Walker, path string, e schema.Entry, _ schema.Field) {
	defer w.WithUnits(nil)()
	b.keys().Decode(w, path, "", e)
}

// EmitNode writes what DecodeNode reads, behind the key.
func (b *RigBrush) EmitNode(e *schema.Emitter, indent int) {
	e.WriteByte('\n')
	b.keys().Emit(e, indent)
}

// Shape describes the section to editors.
func (b *RigBrush) Shape() *schema.Object { return NewRigBrush().keys().Shape("") }

// checkBrushes looks at the brush of the virtual rig and at the one beside the rig.
func (c *Config) checkBrushes(r *schema.Report) {
	for i := range c.Models {
		m := &c.Models[i]
		a := slices.IndexFunc(c.Axes, func(a Axis) bool { return a.Name == m.Axis })
		switch {
		case r.Bad(m.path()) || r.Bad("axes"):
		case a < 0:
			c.unknownSignal(r, m.path()+".axis", m.Axis, "axis", namesOf(c.Axes, func(a Axis) string { return a.Name }))
		default:
			m.Parameters.check(r, m.path()+".parameters", c.Axes[a].MotorModel(), m.Step)
		}
	}
	v := c.Virtual
	if v == nil || v.Brush == nil || r.Bad("virtual") {
		return
	}
	v.Brush.Parameters.check(r, "virtual.brush.parameters", v.Motor, v.Brush.Step)
	if c.hasPort(VirtualMotor) {
		r.Warnf("virtual.brush", "virtual.brush: not used by %s; the port of a motor with these brushes is %s", VirtualMotor, VirtualBrush)
		return
	}
	for _, k := range []struct {
		key string
		v   float64
	}{{"cogging", v.Cogging}, {"motor.brush_drop", v.Motor.BrushDrop}, {"thermal.copper_tc", v.Thermal.CopperTC}, {"thermal.friction_tc", v.Thermal.FrictionTC}} {
		if p := "virtual." + k.key; k.v != 0 && r.Given(p) {
			r.Warnf(p, "%s: not used by the rig of a brush", p)
		}
	}
	if v.Friction.Model != nil || len(c.Axes) == 0 || c.Axes[0].Friction.Model == nil {
		return
	}
	a := &c.Axes[0]
	r.Errorf(a.path()+".friction", "%s.friction: Coulomb friction of %s N·m, of which the brushes of virtual.brush alone have %s N·m; what is left for the bearings is not told by the parameters of %s: give it as virtual.friction", a.path(),
		schema.Short(a.Friction.Model.Levels().Sliding.Max()), schema.Short(2*v.Brush.Parameters.MeanTorque()), a.Friction.Name)
}

// check asks the model; it is built only when its numbers are in range.
func (b *RigBrush) check(r *schema.Report, path string, m plant.Motor, step float64) {
	p := b.Of(m)
	if m.R <= 0 || m.L <= 0 || m.K <= 0 || m.J <= 0 || math.IsNaN(m.R+m.L+m.K+m.J) {
		p.Motor = b.Motor // said where the motor stands
	}
	if b.Commutator.TrueSlots {
		r.Errorf(path+".commutator.true_slots", "%s.commutator.true_slots: true slots need steps that a loop has no time for; leave it out", path)
	}
	if problems := engine.Problems(p.Validate()); problems != nil {
		for _, p := range problems {
			r.Take(path, p.Path, p.Text)
		}
		return
	}
	model, err := brush.New(p)
	if err != nil {
		r.Errorf(path, "%s: %v", path, err)
		return
	}
	for _, w := range model.Warnings(step) {
		r.Warnf(path, "%s: %s", path, w)
	}
}
