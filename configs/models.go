package configs

import (
	"fmt"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/hil"
	"hilrig/hil/models"
)

// Model is what is computed beside the rig and only watched.
type Model struct {
	Name  string        `yaml:"-" names:"models"`
	Kind  models.Choice `yaml:"kind" doc:"brush: the motor's brushes, turned by the estimated motion of the axis (docs/reference/brush-loop.md); rival-laws: friction laws under that motion, and which of them explains it best (docs/howto/rival-laws.md); ball: the friction of a ball that rolls, by the poses of a tracker (docs/howto/ball-filter.md); second-sensor: offset, time shift and gain of another measurement of the axis (docs/howto/second-sensor.md); machine: bodies, loops and motors that follow the axes (docs/reference/machine.md)"`
	Axis  string        `yaml:"axis" auto:"the only axis" doc:"the axis whose motion drives it; a ball needs none, and a machine has joints"`
	Share float64       `yaml:"share" want:">0 <=0.5" auto:"equal parts of 0.3" doc:"its share of the period; all models together at most 0.5"`
	models.BrushKeys
	Parameters *RigBrush `yaml:"parameters,omitempty" doc:"of kind brush: as in docs/reference/brush.md without its motor and commutator.speed"`
	models.LawsKeys
	Laws   *RivalLaws `yaml:"laws,omitempty" doc:"of kind rival-laws: two to eight friction laws, {law: lugre, sigma0: …}, with the parameters of hil laws; label: the name of the residual, where two have the same law"`
	Ball   *RigBall   `yaml:"ball,omitempty" doc:"of kind ball: the ball, the signals of the tracker, and what the filter assumes"`
	Sensor *RigSensor `yaml:"sensor,omitempty" doc:"of kind second-sensor: what measures the position of the axis too"`
	MachineKeys
}

// RigBall is a ball beside the rig.
type RigBall struct {
	Position    [3]string `yaml:"position" doc:"measurements: x, y and z of the tracker, z along the normal of the plane"`
	Orientation [4]string `yaml:"orientation" doc:"measurements: w, x, y and z of the unit quaternion from the body to the axes of position"`
	models.BallKeys
}

// RigSensor is a second sensor of an axis.
type RigSensor struct {
	Reading string `yaml:"reading" doc:"the measurement, in the unit of the axis: tracker.yaw"`
	models.SensorKeys
}

// SetDefaults of a model.
func (m *Model) SetDefaults() { m.Step, m.Memory = 20e-6, 20 }

// completeModels fills in the axis, the shares, and what a kind needs.
func (c *Config) completeModels(r *schema.Report, dir string) {
	for i := range c.Models {
		m := &c.Models[i]
		if m.Axis == "" && len(c.Axes) == 1 && m.Kind != models.BallChoice && m.Kind != models.MachineChoice {
			m.Axis = c.Axes[0].Name
		}
		if m.Share == 0 && !r.HasKey(m.path()+".share") {
			m.Share = hil.DefaultShares / float64(len(c.Models))
		}
		if m.Kind == models.BrushChoice && m.Parameters == nil {
			m.Parameters = schema.New[RigBrush]()
		}
		if a := c.ModelOf(m.Axis); a != nil && m.Laws != nil {
			m.Laws.of(r, a)
		}
		c.completeMachine(r, m, dir)
	}
}

// checkModels looks at the models beside the rig.
func (c *Config) checkModels(r *schema.Report) {
	sum := 0.0
	for i := range c.Models {
		m, p := &c.Models[i], c.Models[i].path()
		sum += m.Share
		c.checkUnusedKeys(r, m)
		a := c.ModelOf(m.Axis)
		switch {
		case r.HasProblem(p):
		case m.Kind == models.BallChoice:
			c.checkBall(r, m)
		case m.Kind == models.MachineChoice:
			c.checkMachine(r, m)
		case r.HasProblem("axes"):
		case a == nil:
			c.unknownSignal(r, p+".axis", m.Axis, "axis", listOf(c.Axes, func(a Axis) string { return a.Name }))
		case m.Kind == models.BrushChoice && a.Linear():
			r.KeyErrorf(p+".axis", "%s is linear; brushes stand on a commutator, which turns", m.Axis)
		case m.Kind == models.BrushChoice:
			m.Parameters.check(r, p+".parameters", a.MotorModel(), m.Step)
		case m.Kind == models.LawsChoice:
			c.checkRivals(r, m, a)
		case m.Kind == models.SensorChoice:
			c.checkSensor(r, m, a)
		}
	}
	r.FirstErrorIf(sum > hil.MaxShares+1e-9, "models", "their shares add up to %s of the period, want at most %s: what is left is for "+
		"control and for the host; lower a share, or leave out a model", schema.Short(sum), schema.Short(hil.MaxShares))
}

// checkBall looks at a ball: every signal is there once, in SI, and of one device, so that a frame comes in one tick.
func (c *Config) checkBall(r *schema.Report, m *Model) {
	p := m.path() + ".ball"
	b := m.Ball
	if b == nil {
		r.KeyErrorf(p, "is missing: want {body: …, position: [tracker.x, …], orientation: [tracker.qw, …]}, see docs/howto/ball-filter.md")
		return
	}
	for _, bad := range b.Body.Check() {
		r.SectionError(p+".body", bad.Path, bad.Text)
	}
	names, units := c.measurements()
	first := ""
	taken := map[string]string{}
	for _, k := range []struct {
		key, unit string
		signals   []string
	}{{"position", "m", b.Position[:]}, {"orientation", "", b.Orientation[:]}} {
	signals:
		for i, name := range k.signals {
			at := fmt.Sprintf("%s.%s[%d]", p, k.key, i)
			device, _, _ := strings.Cut(name, ".")
			switch found := slices.Index(names, name); {
			case r.HasProblem(p + "." + k.key):
			case name == "":
				r.KeyErrorf(p+"."+k.key, "is missing: want the names of %d measurements, such as tracker.x", len(k.signals))
				break signals
			case found < 0:
				c.unknownSignal(r, at, name, "measurement", names)
			case units[found] != k.unit:
				r.KeyErrorf(at, "%s is in %q, want %q: give the measurement a scale", name, units[found], k.unit)
			case taken[name] != "":
				r.KeyErrorf(at, "%s is %s already", name, taken[name])
			case first != "" && device != first:
				r.KeyErrorf(at, "%s is of another device than %s: the numbers of a pose come together", name, b.Position[0])
			default:
				taken[name], first = at, device
			}
		}
	}
}

// checkSensor looks at a second sensor: its reading is there, is not the first, and has the unit of the axis.
func (c *Config) checkSensor(r *schema.Report, m *Model, a *Axis) {
	p := m.path() + ".sensor"
	if m.Sensor == nil {
		r.KeyErrorf(p, "is missing: want {reading: tracker.yaw}, see docs/howto/second-sensor.md")
		return
	}
	names, units := c.measurements()
	reading := m.Sensor.Reading
	switch found := slices.Index(names, reading); {
	case r.HasProblem(p + ".reading"):
	case found < 0:
		c.unknownSignal(r, p+".reading", reading, "measurement", names)
	case reading == a.Position:
		r.KeyErrorf(p+".reading", "%s is the position of %s itself; want another measurement of it", reading, a.Name)
	case units[found] != a.Unit("rad"):
		r.KeyErrorf(p+".reading", "%s is in %q, and %s in %q: give the measurement a scale", reading, units[found], a.Name, a.Unit("rad"))
	case m.Sensor.Wraps && a.Linear():
		r.KeyErrorf(p+".wraps", "%s is linear, and does not turn", a.Name)
	}
}

// checkUnusedKeys warns of keys that the kind does not look at.
func (c *Config) checkUnusedKeys(r *schema.Report, m *Model) {
	warnUnused(r, m.path(), *m, *schema.New[Model](), m.Kind, m.Kind.Kind().Keys,
		listOf(models.Kinds, func(k models.Kind) []string { return k.Keys }))
}
