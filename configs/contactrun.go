package configs

import (
	"cmp"
	"math"
	"path/filepath"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/contact"
)

// ContactRun describes a run of bodies that touch, stick, slide, separate and collide: the brush of a motor, a scene of planar
// bodies, or a toy: a small system with a known motion. Numbers follow the rules of Config.
type ContactRun struct {
	Version     int            `yaml:"version" doc:"format of this file, 1"`
	Name        string         `yaml:"name" doc:"name of the run"`
	Description string         `yaml:"description,omitempty" doc:"one line for people"`
	System      string         `yaml:"system" enum:"brush,brush-motor,scene,toy" doc:"what moves; the section of the same name describes it; brush-motor: a motor with its brushes, described by brush and drive"`
	Brush       *Brush         `yaml:"brush,omitempty" doc:"the brush of an electric motor, 11 coordinates; keys in docs/reference/brush.md"`
	Drive       *BrushDrive    `yaml:"drive,omitempty" doc:"brush-motor: how the motor is driven; the motor itself is in brush.motor"`
	Scene       *Scene         `yaml:"scene,omitempty" doc:"planar rigid bodies, springs between them, pairs that may touch"`
	Toy         *Toy           `yaml:"toy,omitempty" doc:"a small system whose motion is known"`
	Engine      ContactEngine  `yaml:"engine" doc:"how it is integrated"`
	Duration    float64        `yaml:"duration" unit:"s" want:">0 <=1e6" doc:"length of the run"`
	Discard     float64        `yaml:"discard" unit:"s" want:">=0" doc:"beginning that statistics leave out"`
	Outputs     ContactOutputs `yaml:"outputs" doc:"what is kept"`
}

// ContactEngine says how contacts are integrated.
type ContactEngine struct {
	Kind             string            `yaml:"kind" enum:"fixed-step,event-driven" doc:"fixed-step: Moreau–Jean, bounded work per step, as in the loop; event-driven: exact times of contact, the reference"`
	Step             float64           `yaml:"step" unit:"s" want:">0 <=0.1" doc:"fixed-step: length of a step"`
	Theta            float64           `yaml:"theta" want:">=0 <=1" doc:"fixed-step: 0.5 keeps energy, 1 damps most; 0: 0.51 with positions, otherwise 0.55, and 0.5 for a brush with end_of_step"`
	Beta             float64           `yaml:"beta" want:">=0 <=0.2" doc:"fixed-step: share of a penetration that one step takes back"`
	Positions        *bool             `yaml:"positions,omitempty" doc:"fixed-step: taken back by moving, not by a velocity that adds to restitution; left out: true, but for a brush, whose published numbers hold with velocities"`
	EndOfStep        bool              `yaml:"end_of_step" doc:"fixed-step: gaps at the end of the step in place of its middle; quieter, up to half slower"`
	Impact           contact.ImpactLaw `yaml:"impact" doc:"law of impact: newton reverses approaches; poisson has two phases, compression and expansion; sequential: pair after pair, event-driven only; left out: newton with a fixed step, poisson with events"`
	RestitutionSpeed float64           `yaml:"restitution_speed" unit:"m/s" want:">=0" doc:"approaches slower than this do not rebound; 0: 1 mm/s with a fixed step and for a brush, otherwise 0.1 µm/s with events"`
	Tolerance        float64           `yaml:"tolerance" want:">=0 <=1e-3" doc:"event-driven: relative error of a step, 1e-13 or more; 0: 1e-9, for a brush 1e-6"`
	MaxEvents        int               `yaml:"max_events" want:">=1 <=1e9" doc:"event-driven: the run ends with an error beyond this many"`
	AveragedContact  bool              `yaml:"averaged" doc:"brush: where the step does not resolve the surface, go on with the averaged contact in place of refusing"`
}

// BrushDrive is the shaft of a motor with brushes. The supply is that of brush.motor.
type BrushDrive struct {
	Speed      float64 `yaml:"speed" unit:"rad/s" doc:"at the start"`
	LoadJ      float64 `yaml:"load_inertia" unit:"kg·m²" want:">=0" doc:"added to the rotor's"`
	LoadTorque float64 `yaml:"load_torque" unit:"N·m" doc:"constant, against positive motion"`
	Pair       bool    `yaml:"pair" doc:"both brushes are simulated, each on its own side; otherwise the second does what the first does"`
}

// ContactOutputs says what a run keeps.
type ContactOutputs struct {
	RowInterval float64 `yaml:"every" unit:"s" want:">=0" doc:"time between rows of the CSV and the figure; 0: 2000 rows in all"`
}

// DefaultContactRun is what a contact file starts from.
func DefaultContactRun() *ContactRun {
	return &ContactRun{
		Version: 1,
		Engine:  ContactEngine{Kind: "fixed-step", Step: 20e-6, Beta: 0.2, MaxEvents: 1_000_000},
	}
}

// LoadContactRun reads and checks a contact file. The error is *Errors and holds every problem.
func LoadContactRun(path string) (c *ContactRun, warnings []schema.Problem, err error) {
	return fromFile(path, ContactRunBytes)
}

// ContactRunBytes is LoadContactRun for a file that is already in memory; name appears in messages, and its folder is where
// relative paths start.
func ContactRunBytes(name string, data []byte) (c *ContactRun, warnings []schema.Problem, err error) {
	c = DefaultContactRun()
	return load(name, data, c, func(r *schema.Report) {
		if c.Brush != nil {
			c.Brush.measure(r, filepath.Dir(name))
		}
		c.Check(r)
		if c.Scene != nil {
			for i := range c.Scene.Bodies {
				joinPaths(filepath.Dir(name), &c.Scene.Bodies[i].File)
			}
		}
	})
}

// Validate checks a run that was changed after loading (flags); there are no places in a file to point at.
func (c *ContactRun) Validate() []schema.Problem {
	r := schema.NewReport(nil)
	c.Check(r)
	return r.Problems()
}

// Check looks at what the tags cannot say.
func (c *ContactRun) Check(r *schema.Report) {
	r.CheckBounds(c)
	r.ErrorIf(c.Version != 1, "version", "%d, this program reads 1", c.Version)
	r.ErrorIf(c.Name == "", "name", "is missing")
	r.ErrorIf(c.System == "", "system", "is missing: one of brush, brush-motor, scene, toy")
	for _, s := range []struct {
		name    string
		present bool
	}{{"brush", c.Brush != nil}, {"scene", c.Scene != nil}, {"toy", c.Toy != nil}} {
		r.ErrorIf(s.present && c.System != "" && s.name != c.System && !(c.System == "brush-motor" && s.name == "brush"), s.name,
			"the system is %s; leave this section out", c.System)
	}
	switch c.System {
	case "brush", "brush-motor":
		if c.Brush == nil {
			c.Brush = schema.New[Brush]()
		}
		if c.Drive == nil && c.System == "brush-motor" {
			c.Drive = new(BrushDrive)
		}
		c.checkBrush(r)
	case "scene":
		if c.Scene == nil {
			r.KeyErrorf("scene", "is missing: bodies and the pairs that may touch")
		} else {
			c.Scene.check(r)
		}
	case "toy":
		if c.Toy == nil {
			r.KeyErrorf("toy", "is missing: its kind and its parameters")
		} else {
			c.Toy.check(r)
		}
	}
	r.ErrorIf(c.Discard > 0 && c.Discard >= c.Duration, "discard", "%g s of a run of %g s; nothing would be left", c.Discard, c.Duration)
	e := &c.Engine
	if e.Positions == nil {
		positions := c.Brush == nil && !e.EndOfStep
		e.Positions = &positions
	}
	switch {
	case e.Theta == 0 && c.System == "brush" && e.EndOfStep:
		e.Theta = 0.5
	case e.Theta == 0 && *e.Positions:
		e.Theta = 0.51
	case e.Theta == 0:
		e.Theta = 0.55
	case e.Theta < 0.5:
		r.KeyErrorf("engine.theta", "%g, want 0.5 to 1: smaller ones are not stable", e.Theta)
	}
	if e.Impact == contact.ByEngine {
		if e.Impact = contact.Newton; e.Kind == "event-driven" {
			e.Impact = contact.Poisson
		}
	}
	switch {
	case e.Tolerance == 0 && c.Brush != nil:
		e.Tolerance = 1e-6
	case e.Tolerance == 0:
		e.Tolerance = 1e-9
	case e.Tolerance < 1e-13 && !r.HasProblem("engine.tolerance"):
		r.KeyErrorf("engine.tolerance", "%g, want 1e-13 or more, or 0", e.Tolerance)
	}
	r.ErrorIf(c.System == "brush-motor" && e.Kind != "fixed-step", "engine.kind", "a motor with brushes runs with fixed steps")
	r.ErrorIf(c.System != "brush-motor" && r.HasKey("drive"), "drive", "for the system brush-motor; this is %s", c.System)
	if e.Kind == "fixed-step" {
		n := c.Duration / e.Step
		r.ErrorIf(n > 2e9, "engine.step", "%g s gives %.3g steps; at most 2e9", e.Step, n)
		r.ErrorIf(e.Impact == contact.Sequential, "engine.impact",
			"sequential needs the event-driven engine, which knows which pair collides first")
	}
	r.FirstErrorIf(e.Kind == "fixed-step" && c.Duration < e.Step && !r.HasProblem("engine"), "duration", "%g s is less than one step of %g s",
		c.Duration, e.Step)
	if n := c.Duration / c.Rows(); n > maxRows && !r.HasProblem("duration") && !r.HasProblem("outputs") && !r.HasProblem("engine") {
		r.KeyErrorf("outputs.every", "%.3g rows in %g s, at most %d are kept", n, c.Duration, maxRows)
	}
	switch o := c.Outputs.RowInterval; {
	case o > c.Duration && !r.HasProblem("duration"):
		r.KeyErrorf("outputs.every", "%g s is longer than the run", o)
	case o > 0 && e.Kind == "fixed-step" && math.Abs(o-c.Rows()) > 1e-6*e.Step && !r.HasProblem("engine"):
		r.KeyErrorf("outputs.every", "%s s is no whole number of steps of %s s (engine.step)", schema.Short(o), schema.Short(e.Step))
	}
}

// checkBrush asks the model.
func (c *ContactRun) checkBrush(r *schema.Report) {
	if r.HasProblem("brush") {
		return
	}
	for _, p := range engine.Problems(c.Brush.Validate()) {
		r.SectionError("brush", p.Path, p.Text)
	}
}

// maxRows of a run are kept in memory: half a gigabyte for a brush.
const maxRows = 1_000_000

// Rows is the time between two rows (s).
func (c *ContactRun) Rows() float64 {
	every := cmp.Or(c.Outputs.RowInterval, c.Duration/2000)
	if c.Engine.Kind == "fixed-step" {
		every = math.Max(1, math.Round(every/c.Engine.Step)) * c.Engine.Step
	}
	return every
}
