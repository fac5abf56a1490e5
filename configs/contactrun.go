package configs

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// ContactRun describes a run of bodies that touch, stick, slide, separate and collide: the brush of a motor, a scene of planar
// bodies, or a toy: a small system with a known motion. Numbers follow the rules of Config.
type ContactRun struct {
	Version     int            `yaml:"version" doc:"format of this file, 1"`
	Name        string         `yaml:"name" doc:"name of the run"`
	Description string         `yaml:"description,omitempty" doc:"one line for people"`
	System      string         `yaml:"system" enum:"brush,scene,toy" doc:"what moves; the section of the same name describes it"`
	Brush       *Brush         `yaml:"brush,omitempty" doc:"the brush of an electric motor, 11 coordinates; keys in docs/brush.md"`
	Scene       *Scene         `yaml:"scene,omitempty" doc:"planar rigid bodies, springs between them, pairs that may touch"`
	Toy         *Toy           `yaml:"toy,omitempty" doc:"a small system whose motion is known"`
	Engine      ContactEngine  `yaml:"engine" doc:"how it is integrated"`
	Duration    float64        `yaml:"duration" unit:"s" want:">0" doc:"length of the run"`
	Discard     float64        `yaml:"discard" unit:"s" want:">=0" doc:"beginning that statistics leave out"`
	Outputs     ContactOutputs `yaml:"outputs" doc:"what is kept"`
}

// ContactEngine says how contacts are integrated.
type ContactEngine struct {
	Kind      string  `yaml:"kind" enum:"fixed-step,event-driven" doc:"fixed-step: Moreau–Jean, bounded work per step, as in the loop; event-driven: exact times of contact, the reference"`
	Step      float64 `yaml:"step" unit:"s" want:">0 <=0.1" doc:"fixed-step: length of a step"`
	Theta     float64 `yaml:"theta" want:">=0.5 <=1" doc:"fixed-step: 0.5 keeps energy, 1 damps most"`
	Beta      float64 `yaml:"beta" want:">=0 <=0.2" doc:"fixed-step: share of a penetration that one step takes back"`
	Positions *bool   `yaml:"positions,omitempty" doc:"fixed-step: taken back by moving, not by a velocity that adds to restitution; left out: true, but for a brush, whose published numbers hold with velocities"`
	EndOfStep bool    `yaml:"end_of_step" doc:"fixed-step: gaps at the end of the step in place of its middle; quieter, up to half slower"`
	Impact    string  `yaml:"impact" enum:",newton,poisson,sequential" doc:"law of impact: newton solves one problem and may gain energy with friction; poisson two, compression and expansion; sequential: pair after pair, event-driven only; left out: newton with a fixed step, poisson with events"`
	Slow      float64 `yaml:"restitution_speed" unit:"m/s" want:">=0" doc:"approaches slower than this do not rebound; 0: 1 mm/s with a fixed step, 0.1 µm/s with events"`
	Tolerance float64 `yaml:"tolerance" want:">=1e-13 <=1e-3" doc:"event-driven: relative error of a step"`
	MaxEvents int     `yaml:"max_events" want:">=1" doc:"event-driven: the run ends with an error beyond this many"`
	Averaged  bool    `yaml:"averaged" doc:"brush: where the step does not resolve the surface, go on with the averaged contact in place of refusing"`
}

// ContactOutputs says what a run keeps.
type ContactOutputs struct {
	Every float64 `yaml:"every" unit:"s" want:">=0" doc:"time between rows of the CSV and the figure; 0: 2000 rows in all"`
}

// DefaultContactRun is what a contact file starts from.
func DefaultContactRun() *ContactRun {
	return &ContactRun{
		Version: 1,
		Engine:  ContactEngine{Kind: "fixed-step", Step: 20e-6, Theta: 0.55, Beta: 0.2, Tolerance: 1e-9, MaxEvents: 1_000_000},
	}
}

// LoadContactRun reads and checks a contact file. The error is *Errors and holds every problem.
func LoadContactRun(path string) (c *ContactRun, warnings []Problem, err error) {
	data, err := readFile(path)
	if err != nil {
		return nil, nil, err
	}
	return ContactRunBytes(path, data)
}

// ContactRunBytes is LoadContactRun for a file that is already in memory; name appears in messages, and its folder is where
// relative paths start.
func ContactRunBytes(name string, data []byte) (c *ContactRun, warnings []Problem, err error) {
	c = DefaultContactRun()
	r, read := decode(name, data, c)
	if read {
		c.Check(r)
		if c.Scene != nil {
			for i := range c.Scene.Bodies {
				if f := &c.Scene.Bodies[i].File; *f != "" && !filepath.IsAbs(*f) {
					*f = filepath.Join(filepath.Dir(name), *f)
				}
			}
		}
	}
	inOrder(r.warnings)
	if err := r.err(); err != nil {
		return nil, r.warnings, err
	}
	return c, r.warnings, nil
}

// Validate checks a run that was changed after loading (flags); there are no places in a file to point at.
func (c *ContactRun) Validate() []Problem {
	r := &Report{}
	c.Check(r)
	return r.problems
}

// Check looks at what the tags cannot say.
func (c *ContactRun) Check(r *Report) {
	r.CheckBounds(c)
	if c.Version != 1 {
		r.Errorf("version", "version: %d, this program reads 1", c.Version)
	}
	if c.Name == "" {
		r.Errorf("name", "name is missing")
	}
	if c.System == "" {
		r.Errorf("system", "system is missing: one of brush, scene, toy")
	}
	for _, s := range []struct {
		name  string
		there bool
	}{{"brush", c.Brush != nil}, {"scene", c.Scene != nil}, {"toy", c.Toy != nil}} {
		if s.there && c.System != "" && s.name != c.System {
			r.Errorf(s.name, "%s: the system is %s; leave this section out", s.name, c.System)
		}
	}
	switch c.System {
	case "brush":
		if c.Brush == nil {
			c.Brush = NewBrush()
		}
		c.checkBrush(r)
	case "scene":
		if c.Scene == nil {
			r.Errorf("scene", "scene is missing: bodies and the pairs that may touch")
		} else {
			c.Scene.check(r)
		}
	case "toy":
		if c.Toy == nil {
			r.Errorf("toy", "toy is missing: its kind and its parameters")
		} else {
			c.Toy.check(r)
		}
	}
	if c.Discard > 0 && c.Discard >= c.Duration {
		r.Errorf("discard", "discard: %g s of a run of %g s; nothing would be left", c.Discard, c.Duration)
	}
	e := &c.Engine
	if e.Positions == nil {
		positions := c.System != "brush" && !e.EndOfStep
		e.Positions = &positions
	}
	if e.Impact == "" {
		e.Impact = map[string]string{"fixed-step": "newton", "event-driven": "poisson"}[e.Kind]
	}
	if e.Kind == "fixed-step" {
		if n := c.Duration / e.Step; n > 2e9 {
			r.Errorf("engine.step", "engine.step: %g s gives %.3g steps; at most 2e9", e.Step, n)
		}
		if e.Impact == "sequential" {
			r.Errorf("engine.impact", "engine.impact: sequential needs the event-driven engine, which knows which pair collides first")
		}
	}
	if o := c.Outputs.Every; o > c.Duration {
		r.Errorf("outputs.every", "outputs.every: %g s is longer than the run", o)
	}
}

// checkBrush asks the model.
func (c *ContactRun) checkBrush(r *Report) {
	if r.Bad("brush") {
		return
	}
	if err := c.Brush.Validate(); err != nil {
		for _, e := range each(err) {
			path := "brush"
			if key, _, ok := strings.Cut(e.Error(), ": "); ok {
				path += "." + key // where the file says it, or the nearest section
			}
			r.Errorf(path, "brush.%v", e)
		}
	}
}

// Rows is the time between two rows (s).
func (c *ContactRun) Rows() float64 {
	every := c.Outputs.Every
	if every == 0 {
		every = c.Duration / 2000
	}
	if c.Engine.Kind == "fixed-step" {
		every = math.Max(1, math.Round(every/c.Engine.Step)) * c.Engine.Step
	}
	return every
}

// Scene is a set of planar rigid bodies.
type Scene struct {
	Gravity [2]float64    `yaml:"gravity" unit:"m/s²" doc:"along x and y"`
	Bodies  []SceneBody   `yaml:"bodies" doc:"what may touch"`
	Springs []SceneSpring `yaml:"springs" doc:"between points of bodies or of the ground"`
	Pairs   []ScenePair   `yaml:"pairs" doc:"which bodies may touch, and how; the rest passes through each other"`
}

// SetDefaults is the weight of the earth.
func (s *Scene) SetDefaults() { s.Gravity = [2]float64{0, -9.81} }

// SceneBody is a rigid body.
type SceneBody struct {
	Name     string       `yaml:"name" doc:"by which pairs and springs mean it"`
	Shape    string       `yaml:"shape" enum:"disc,box,polygon,half-plane,commutator,point" doc:"disc: radius; box: size; polygon: points or file; half-plane: everything below the line through position at angle; commutator: a rough wheel; point: a mass point"`
	Mass     float64      `yaml:"mass" unit:"kg" want:">=0" doc:"of a body that is free to move"`
	Inertia  float64      `yaml:"inertia" unit:"kg·m²" want:">=0" doc:"about its centre; 0: that of its shape with even density"`
	Radius   float64      `yaml:"radius" unit:"m" want:">=0" doc:"disc, commutator"`
	Size     [2]float64   `yaml:"size" unit:"m" doc:"box: along x and y"`
	Points   [][2]float64 `yaml:"points" unit:"m" doc:"polygon: corners in the body's frame, counter-clockwise"`
	File     string       `yaml:"file,omitempty" doc:"polygon: CSV with columns x_m, y_m or x_mm, y_mm; relative to this file"`
	Surface  SceneSurface `yaml:"surface" doc:"commutator: roughness and bars"`
	Position [2]float64   `yaml:"position" unit:"m" doc:"of the centre at the start"`
	Angle    float64      `yaml:"angle" unit:"rad" doc:"at the start"`
	Velocity [2]float64   `yaml:"velocity" unit:"m/s" doc:"at the start; of a fixed body: for ever"`
	Spin     float64      `yaml:"spin" unit:"rad/s" doc:"at the start; of a fixed body: for ever"`
	Fixed    bool         `yaml:"fixed" doc:"moves as velocity and spin say, whatever pushes"`
	Locked   []string     `yaml:"locked" enum:"x,y,angle" doc:"coordinates that do not move"`
	Force    [2]float64   `yaml:"force" unit:"N" doc:"constant, at the centre"`
	Torque   float64      `yaml:"torque" unit:"N·m" doc:"constant"`
}

// SceneSurface is the outline of a rough wheel.
type SceneSurface struct {
	Rz           float64 `yaml:"rz" unit:"m" want:">=0" doc:"mean peak-to-valley height over lengths of 0.8 mm"`
	Correlation  float64 `yaml:"correlation" unit:"m" want:">=0" doc:"correlation length of the roughness"`
	Eccentricity float64 `yaml:"eccentricity" unit:"m" want:">=0" doc:"of the outline about the centre of turning"`
	Bars         int     `yaml:"bars" want:">=0 <=400" doc:"with slots between them; 0: none"`
	Seed         uint64  `yaml:"seed" doc:"of the roughness"`
}

// SceneSpring is a spring with a damper between two points.
type SceneSpring struct {
	A         string     `yaml:"a" doc:"a body, or ground"`
	B         string     `yaml:"b" doc:"a body, or ground"`
	AtA       [2]float64 `yaml:"at_a" unit:"m" doc:"point in the frame of a"`
	AtB       [2]float64 `yaml:"at_b" unit:"m" doc:"point in the frame of b"`
	Stiffness float64    `yaml:"stiffness" unit:"N/m" want:">=0" doc:"along the line between the points"`
	Damping   float64    `yaml:"damping" unit:"N·s/m" want:">=0" doc:"along that line"`
	Length    float64    `yaml:"length" unit:"m" want:">=0" doc:"without force"`
}

// ScenePair are two bodies that may touch.
type ScenePair struct {
	A    string  `yaml:"a" doc:"a body"`
	B    string  `yaml:"b" doc:"a body"`
	Mu   float64 `yaml:"mu" want:">=0 <=10" doc:"coefficient of Coulomb friction"`
	EpsN float64 `yaml:"eps_n" want:">=0 <=1" doc:"restitution along the normal"`
	EpsT float64 `yaml:"eps_t" want:">=0 <=1" doc:"restitution along the tangent; 1: a super-ball"`
	Nu   float64 `yaml:"nu" want:">=0 <=1" doc:"share of eps_t that is left when the contact slides at the end of compression"`
}

// check looks for what a scene cannot do without. Shapes and places are checked where the scene is built.
func (s *Scene) check(r *Report) {
	var names []string
	for i, b := range s.Bodies {
		at := fmt.Sprintf("scene.bodies[%d]", i)
		switch {
		case b.Name == "" || b.Name == "ground":
			r.Errorf(at+".name", "%s.name: %q, want a name of its own", at, b.Name)
		case slices.Contains(names, b.Name):
			r.Errorf(at+".name", "%s.name: there are two bodies %q", at, b.Name)
		}
		names = append(names, b.Name)
		if b.Shape == "" {
			r.Errorf(at+".shape", "%s.shape is missing", at)
		}
		if !b.Fixed && b.Mass == 0 && b.Shape != "half-plane" {
			r.Errorf(at+".mass", "%s.mass is missing (or fixed: true, for a body that nothing moves)", at)
		}
	}
	if len(s.Bodies) == 0 {
		r.Errorf("scene.bodies", "scene.bodies: no body")
	}
	known := func(path, name string, ground bool) {
		if slices.Contains(names, name) || ground && name == "ground" {
			return
		}
		hint := ""
		if near := suggest(name, names); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		r.Errorf(path, "%s: there is no body %q%s", path, name, hint)
	}
	for i, p := range s.Pairs {
		at := fmt.Sprintf("scene.pairs[%d]", i)
		known(at+".a", p.A, false)
		known(at+".b", p.B, false)
		if p.A == p.B {
			r.Errorf(at+".b", "%s: %q with itself", at, p.A)
		}
	}
	for i, p := range s.Springs {
		at := fmt.Sprintf("scene.springs[%d]", i)
		known(at+".a", p.A, true)
		known(at+".b", p.B, true)
	}
}
