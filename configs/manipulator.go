package configs

import (
	"fmt"
	"math"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/beam"
	plant "hilrig/engine/plant/manipulator"
)

// ManipulatorRun describes a chain of bodies whose tip slides on a beam, to be simulated. Numbers follow the rules of Config.
type ManipulatorRun struct {
	Version     int               `yaml:"version" doc:"format of this file, 1"`
	Name        string            `yaml:"name" doc:"name of the run"`
	Description string            `yaml:"description,omitempty" doc:"one line for people"`
	Manipulator Manipulator       `yaml:"manipulator" doc:"the chain and its contact with the beam"`
	Beam        beam.Params       `yaml:"beam" doc:"the beam lies on the x axis, its left end in the origin"`
	Method      ManipulatorMethod `yaml:"method" doc:"how it is integrated"`
	Duration    float64           `yaml:"duration" unit:"s" want:">0 <=1e4" doc:"length of the run; it ends earlier where the tip leaves the beam"`
	RowInterval float64           `yaml:"every" unit:"s" want:">0" doc:"time between rows"`
}

// Manipulator is the chain.
type Manipulator struct {
	Joints     []ManipulatorJoint `yaml:"joints" doc:"one to six, from the ground on; at least one of them free"`
	Tip        [2]float64         `yaml:"tip" unit:"m" doc:"the point that slides on the beam, in axes of the last body"`
	Gravity    float64            `yaml:"gravity" unit:"m/s²" doc:"on chain and beam, downwards"`
	Unilateral bool               `yaml:"unilateral" doc:"the contact opens where it would have to pull; no: the tip is kept on the beam"`
	Friction   *Friction          `yaml:"friction,omitempty" doc:"of the tip on the beam, {law: lugre, sigma0: …} with the parameters of hil laws; with N0 it grows with the contact force; left out: none"`
}

// ManipulatorJoint is a joint and the body behind it. Units with rad are those of a revolute joint; a prismatic one has m for rad and N for
// N·m.
type ManipulatorJoint struct {
	Kind     string            `yaml:"kind" enum:"revolute,prismatic" doc:"the body turns about the joint, or moves along the x axis of the body before"`
	Location [2]float64        `yaml:"at" unit:"m" doc:"where the joint sits on the body before, at coordinate zero; of the first joint on the ground"`
	Mass     float64           `yaml:"mass" unit:"kg" want:">=0" doc:"of the body"`
	Inertia  float64           `yaml:"inertia" unit:"kg·m²" want:">=0" doc:"of the body about its centre of mass"`
	Center   [2]float64        `yaml:"center_of_mass" unit:"m" doc:"from the joint, in axes of the body"`
	Spring   float64           `yaml:"spring" unit:"N·m/rad" want:">=0" doc:"stiffness of a spring in the joint"`
	Rest     float64           `yaml:"rest" unit:"rad" doc:"coordinate at which the spring is relaxed; the search for the equilibrium begins there"`
	Damping  float64           `yaml:"damping" unit:"N·m·s/rad" want:">=0" doc:"of the joint"`
	Drive    *ManipulatorDrive `yaml:"drive,omitempty" doc:"the joint is moved; left out: it is free"`
}

// ManipulatorDrive is the motion of a driven joint.
type ManipulatorDrive struct {
	Start float64 `yaml:"start" unit:"rad" doc:"coordinate at the start"`
	Rate  float64 `yaml:"rate" unit:"rad/s" doc:"speed after the ramp"`
	Ramp  float64 `yaml:"ramp" unit:"s" want:">=0" doc:"time from rest to that speed, by 10x³ − 15x⁴ + 6x⁵; 0: at once, by a blow"`
}

// ManipulatorMethod is how a run is integrated.
type ManipulatorMethod struct {
	Kind      string  `yaml:"kind" enum:"partition,full,step" doc:"adaptive with one joint and the contact force eliminated, adaptive with all of them, or the fixed step of real time"`
	Tolerance float64 `yaml:"tolerance" want:">=1e-13 <=1e-2" doc:"partition, full: relative error of a step"`
	Step      float64 `yaml:"step" unit:"s" want:">0 <=0.1" doc:"step: its length"`
}

// FixedStep is the kind of method with a fixed step.
const FixedStep = "step"

// SetDefaults of a joint.
func (j *ManipulatorJoint) SetDefaults() { j.Kind = plant.Revolute }

// Units makes what is said of the coordinate speak of m and N where the joint is prismatic.
func (j *ManipulatorJoint) Units() func(tag string) string {
	if j.Kind != plant.Prismatic {
		return func(tag string) string { return tag }
	}
	return func(tag string) string {
		if strings.Contains(tag, "rad") {
			return linearTag(tag)
		}
		return tag
	}
}

// AllUnits are both.
func (*ManipulatorJoint) AllUnits(tag string) []string {
	if strings.Contains(tag, "rad") {
		return bothUnits(tag)
	}
	return []string{tag}
}

// DefaultManipulatorRun is what a file starts from.
func DefaultManipulatorRun() *ManipulatorRun {
	c := &ManipulatorRun{Version: 1, RowInterval: 1e-3}
	c.Beam.Elements, c.Beam.Left.Kind, c.Beam.Right.Kind = 10, beam.Clamped, beam.Clamped
	c.Method = ManipulatorMethod{Kind: plant.Partition.String(), Tolerance: 1e-8, Step: 1e-3}
	return c
}

// LoadManipulatorRun reads and checks a file. The error is *Errors and holds every problem.
func LoadManipulatorRun(path string) (*ManipulatorRun, []schema.Problem, error) {
	return fromFile(path, ManipulatorRunBytes)
}

// ManipulatorRunBytes is LoadManipulatorRun of a file in memory.
func ManipulatorRunBytes(name string, data []byte) (*ManipulatorRun, []schema.Problem, error) {
	c := DefaultManipulatorRun()
	return load(name, data, c, c.Check)
}

// Check looks at what the tags cannot say.
func (c *ManipulatorRun) Check(r *schema.Report) {
	r.CheckBounds(c)
	r.FirstErrorIf(c.Version != 1, "version", "%d, this program reads version 1", c.Version)
	p := c.Params()
	problems := p.Check()
	if len(problems) == 0 && !r.HasProblem("manipulator") && !r.HasProblem("beam") {
		_, err := plant.New(p)
		r.ErrorIf(err != nil, "manipulator", "%v", err)
	}
	for _, bad := range problems {
		section, path := "manipulator", strings.Replace(bad.Path, ".center", ".center_of_mass", 1)
		if rest, ok := strings.CutPrefix(path, "beam."); ok {
			section, path = "beam", rest
		}
		if !r.HasProblem(schema.Join(section, path)) && !r.HasProblem(section) {
			r.SectionError(section, path, bad.Text)
		}
	}
	if err := c.Timing(); err != nil && !r.HasProblem("duration") && !r.HasProblem("every") && !r.HasProblem("method") {
		r.Errorf("every", "%v", err)
	}
}

// Timing tells what is wrong with rows and steps, which flags may have changed; nil: nothing.
func (c *ManipulatorRun) Timing() error {
	if n := c.Duration / c.RowInterval; n > maxRows {
		return fmt.Errorf("every: %.3g rows in %g s, at most %d are kept", n, c.Duration, maxRows)
	}
	if n := c.RowInterval / c.Method.Step; c.Method.Kind == FixedStep && (n < 1-1e-9 || math.Abs(n-math.Round(n)) > 1e-6) {
		return fmt.Errorf("every: %g s is no whole number of steps of %g s (method.step)", c.RowInterval, c.Method.Step)
	}
	return nil
}

// Params are those of the plant.
func (c *ManipulatorRun) Params() plant.Params {
	m := &c.Manipulator
	p := plant.Params{Tip: m.Tip, Beam: c.Beam, Gravity: m.Gravity, Unilateral: m.Unilateral}
	if m.Friction != nil {
		p.Friction = m.Friction.Model
	}
	for i := range m.Joints {
		j := &m.Joints[i]
		k := plant.Joint{Kind: j.Kind, Location: j.Location, Mass: j.Mass, Inertia: j.Inertia, Center: j.Center, Spring: j.Spring, Rest: j.Rest,
			Damping: j.Damping}
		if d := j.Drive; d != nil {
			k.Drive = &plant.Drive{Start: d.Start, Rate: d.Rate, Ramp: d.Ramp}
		}
		p.Joints = append(p.Joints, k)
	}
	return p
}
