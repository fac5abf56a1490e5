// Package axis explains a recorded motion by simulating it.
//
// The problem: one axis, linear or rotary, with inertia M, a friction law F and loads,
//
//	M·dv/dt = u(t) − F(v, z) − Fv·v − offset − k·x − mgs·sin x − mgc·cos x + kd·(p(t) − x)
//
// where u is the recorded force of the drive, or the command of a known controller, and p the far end of a spring that
// draws the mass. The parameters are those with which the simulation of a whole record comes closest to what was measured:
// output error. Open loop, the recorded force drives the model and its position (or velocity) is compared; closed loop, the
// model runs in the known controller and the commands are compared, which tests friction instead of integrating it
// [theory §9.6]. The command may act earlier or later than its stamp: the lag is a parameter.
//
// A Model is a Spec on records, with any law, any loads and any drive; its Problem is solved by the methods of package fit. It is
// the only simulator of an axis here but for the batches of PopulationProblem, on which a population searches for a start. Its
// steps are those of friction.Mass; Finer is the same with shorter ones.
package axis

import (
	"hilrig/engine"
	"hilrig/engine/friction"
	"slices"
)

// Drive says what moves the axis.
type Drive uint8

const (
	Force  Drive = iota // the recorded force
	Spring              // a spring kd to the recorded reference
	Coast               // nothing: a free swing or run-down. Only ratios to the inertia can be known then: it is fixed
	Servo               // the controller, on the recorded reference
)

// Words are the drives by number.
func (Drive) Words() []string { return []string{"force", "spring", "coast", "servo"} }

func (d Drive) String() string { return d.Words()[d] }

// Recorded tells that a force was recorded that drives the axis.
func (d Drive) Recorded() bool { return d == Force || d == Servo }

// Output says what is compared with the record.
type Output uint8

const (
	Position Output = iota // m or rad
	Velocity               // m/s or rad/s
	Command                // N or N·m: the force of the controller in closed loop
)

// Words are the outputs by number.
func (Output) Words() []string { return []string{"position", "velocity", "command"} }

func (o Output) String() string { return o.Words()[o] }

// Initial says where the state at the beginning of every piece comes from: parameters x0 and v0, with several pieces, or a
// law that has a v0 itself, x0[1], v0[1] and so on. In open loop a body remembers where it started: they are searched within the
// noise of what is compared there, unless they are known; one that a force finds at rest starts at rest. A controller forgets
// the start: there they are fixed at what the record says, unless they are set free.
type Initial uint8

const (
	Measured Initial = iota // position and velocity of the record, the contact relaxed, or sliding where it moves
	Rest                    // position of the record, at rest, contact relaxed
	Free                    // position and velocity are free parameters of every piece
)

// Words are the choices by number.
func (Initial) Words() []string { return []string{"measured", "rest", "free"} }

func (i Initial) String() string { return i.Words()[i] }

// Hold says what the recorded force does between its samples.
type Hold uint8

const (
	Held   Hold = iota // it keeps its value to the next one
	Linear             // it runs straight to the next one
	Either             // as a fit finds it, which begins with Held; a model takes it for that
)

// Words are the holds by number.
func (Hold) Words() []string { return []string{"held", "linear", "auto"} }

func (h Hold) String() string { return h.Words()[h] }

// Spec describes a model of an axis. It is the section model of a file, but for the controller.
type Spec struct {
	Rotary     bool            `yaml:"-"`
	Law        string          `yaml:"law,omitempty" doc:"a friction law of hil laws; empty: no friction"`
	Asymmetric bool            `yaml:"asymmetric" doc:"levels and viscosity by the sign of velocity: Fc+ and Fc- for Fc, and so on"`
	Terms      []string        `yaml:"terms" enum:"viscous,offset,stiffness,gravity-sin,gravity-cos" doc:"loads besides the law; viscous for a law that has no viscous friction itself"`
	Drive      Drive           `yaml:"drive" doc:"force: the recorded one; spring: kd to the recorded reference; coast: none; servo: the controller on the recorded reference"`
	Output     Output          `yaml:"output" doc:"what is compared with the record; a servo compares its command"`
	Initial    Initial         `yaml:"initial" doc:"state at the beginning of a record; free: position and velocity are parameters"`
	Controller *Controller     `yaml:"-"` // for Servo
	Hold       Hold            `yaml:"hold" doc:"the force between its samples: held, straight (linear), or auto: the one of the two that the record answers to"`
	Scheme     friction.Scheme `yaml:"scheme" enum:"midpoint,implicit" doc:"how the law is coupled to the mass"`
	Substeps   int             `yaml:"substeps" want:">=0 <=10000" doc:"steps in a sampling interval; 0: as many as the record needs"`
	Decimate   int             `yaml:"decimate" want:">=1 <=1000" doc:"every n-th sample is compared; all are simulated"` // 0: 1

	// Known are parameters whose values are known beforehand. They are fixed at these, and guesses and bounds of the others
	// rest on them: with a spring that draws the mass, every force is guessed in proportion to kd.
	Known map[string]float64 `yaml:"-"`

	NoLoad bool `yaml:"-"` // it is known that no constant force acts
}

// Controller is a cascade: u = gain·clamp(kv·(kp·(reference − position) − velocity)), its velocity a difference of the
// Mean-sample mean of the position, (x_k − x_{k−Mean})/(Mean·h), late by Delay samples more. The mean is late by itself: two
// samples and their difference by one sample in all.
type Controller struct {
	Kp    float64 // 1/s
	Kv    float64 // command per m/s or rad/s
	Limit float64 // of the command, in its unit; 0: none
	Gain  float64 // N or N·m per unit of the command
	Mean  int     // samples in the mean of the position, 1: none
	Delay int     // samples
}

// Viscous friction is part of some laws, as Fv, sigma2 or alpha2, and of others not. To these the load term "viscous" adds
// it, with the parameter Fv, or Fv+ and Fv− of an asymmetric model,
//
//	F = … + Fv·v,
//
// so that dry friction and viscous friction can be had each without the other.

// lawOf is a law of the registry; nil: there is none of this name.
func lawOf(name string) friction.Model {
	if info, ok := friction.Find(name); ok {
		return info.NewLaw()
	}
	return nil
}

// hasAnyParam tells that a law, nil for none, has one of the parameters.
func hasAnyParam(law friction.Model, names ...string) bool {
	return law != nil && slices.ContainsFunc(law.Params(), func(p engine.Param) bool { return slices.Contains(names, p.Name) })
}

// Damped tells whether a law of the registry has viscous friction itself, so that the term "viscous" would be there twice.
func Damped(law string) bool { return dampedBy(law) != "" }

// dampedBy is the parameter of a law that is its viscous friction; "" if it has none.
func dampedBy(law string) string {
	for _, name := range []string{"Fv", "sigma2", "alpha2"} {
		if hasAnyParam(lawOf(law), name) {
			return name
		}
	}
	return ""
}

// damping sends Fv, or the mean and the half difference of Fv+ and Fv−, to the loads.
func (b *body) damping(at map[string]int, to func(string, *float64)) {
	p, both := at["Fv+"]
	if !both {
		to("Fv", &b.loads.fv)
		return
	}
	n := at["Fv-"]
	b.setters = append(b.setters, func(v []float64) { b.loads.fv, b.loads.q = (v[p]+v[n])/2, (v[p]-v[n])/2 })
}
