// Package experiment puts friction laws into virtual experiments and watches what they do.
//
// The problem: laws are compared by what they do in the same experiment, a mass drawn over a spring, a motion imposed on
// the contact, a force on a resting body, a motor. Run steps one law through one experiment with a fixed step and hands out
// a Sample for every step; Record keeps them as columns; Watch finds break-aways, arrests and reversals.
//
// The scenarios by which the literature compares laws, stick-slip, zero crossing, hysteresis, spring-like stiction, step
// response and hunting, are experiments with numbers to read off: see Scenarios.
//
// Times: position and velocity of a sample belong to the end of the step, friction and load are means over the step and
// belong to its middle. Assumed: the input is evaluated in the middle of the step (schemes of second order) and needs no
// resolution finer than the step.
package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// Plant is what the law works in: its place in Plants.
type Plant uint8

const (
	// DrawnMass is a mass on a spring and damper whose far end moves by Input: M·dv/dt = k(y − x) + c(ẏ − v) − F.
	DrawnMass Plant = iota + 1
	// ImposedVelocity moves the contact with the velocity Input; the displacement is its integral.
	ImposedVelocity
	// ImposedMotion moves the contact along the position Input.
	ImposedMotion
	// ImposedForce is a mass under the force Input, with an optional spring and damper to the ground:
	// M·dv/dt = u − kx − cv − F.
	ImposedForce
	// MotorAxis is a brushed motor under the voltage Input; angles and torques take the place of positions and forces.
	MotorAxis
	// ControlledMass is a mass under a controller that follows Input, with an optional spring and damper to the ground:
	// M·dv/dt = u(e) − kx − cv − F.
	ControlledMass
)

// PlantInfo is what the program knows of a plant.
type PlantInfo struct {
	Name          string
	Input         string // what the input is
	Unit          string // of the input, on a linear axis
	Mass          bool   // a mass moves by itself, with a spring and a damper
	ImposesMotion bool   // the contact itself follows the input
}

// Plants are all plants, by Plant; the first stands for none.
var Plants = [...]PlantInfo{
	{Input: "input of the plant", Unit: "m"},
	DrawnMass:       {Name: "drawn-mass", Input: "position of the far end of the spring", Unit: "m", Mass: true},
	ImposedVelocity: {Name: "imposed-velocity", Input: "velocity of the contact", Unit: "m/s", ImposesMotion: true},
	ImposedMotion:   {Name: "imposed-motion", Input: "position of the contact", Unit: "m", ImposesMotion: true},
	ImposedForce:    {Name: "imposed-force", Input: "force on the mass", Unit: "N", Mass: true},
	MotorAxis:       {Name: "motor", Input: "voltage of the motor", Unit: "V"},
	ControlledMass:  {Name: "controlled-mass", Input: "reference of the controller", Unit: "m", Mass: true},
}

// Words are the names of the plants by number.
func (Plant) Words() []string {
	names := make([]string, len(Plants))
	for i, p := range Plants {
		names[i] = p.Name
	}
	return names
}

func (p Plant) String() string { return Plants[p].Name }

// Info describes the plant.
func (p Plant) Info() *PlantInfo { return &Plants[p] }

// Spec describes an experiment with one law.
type Spec struct {
	Plant    Plant
	Law      friction.Model
	Input    reference.Generator // its position is the input of the plant; DrawnMass also takes its velocity
	Normal   reference.Generator // N  normal load; nil: 0, laws with a nominal load take that one
	Current  reference.Generator // A  current through the contact; nil: 0. A motor brings its own
	Mass     float64             // kg
	Spring   float64             // N/m
	Damper   float64             // N·s/m
	Motor    plant.AxisSpec      // MotorAxis; its Friction is Law
	Control  Control             // ControlledMass
	X0, V0   float64             // m, m/s  at the start
	State    []float64           // of the law at the start; nil: relaxed
	Scheme   friction.Scheme
	Step     float64 // s
	Duration float64 // s
	Substep  bool    // divide a step beyond the limit of the scheme; else Run refuses it
}

// Sample is one step of an experiment.
type Sample struct {
	T      float64 // s    end of the step
	X, V   float64 // m, m/s  there
	Input  float64 //      position of the generator there: m, N, m/s or V by plant
	Drive  float64 // N    force of spring and damper, imposed force or motor torque, there; 0 for an imposed motion
	TMid   float64 // s    middle of the step
	W      float64 // m/s  mean velocity
	F      float64 // N    mean friction
	Work   float64 // J    done against friction since the start, Σ F̄·Δx
	Temp   float64 // °C   motor: winding
	Amps   float64 // A    motor: current
	Z      []float64
	Evals  int // evaluations of the law, summed over the run
	Parts  int // parts that steps were cut into, summed over the run
	Status engine.Status
}

// LimitError says that a step is longer than the scheme takes.
type LimitError struct {
	Step, Limit float64 // s
	Scheme      friction.Scheme
	Reason      string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("step: %.4g s is beyond what the %s scheme takes here, %.4g s: %s; take a shorter step or allow sub-steps",
		e.Step, e.Scheme, e.Limit, e.Reason)
}

// MaxParts is the most parts that a step is divided into; whoever needs more has the wrong step.
const MaxParts = 1000

// StepError says that a step had no finite result.
type StepError struct {
	T, X, V float64
}

func (e *StepError) Error() string {
	return fmt.Sprintf("at t = %.6g s the step has no finite result (x = %g, v = %g)", e.T, e.X, e.V)
}

// Validate reports every number that does not make sense at once.
func (s *Spec) Validate() error {
	var errs []error
	want := func(ok bool, name string, v float64, unit, rule string) {
		if !ok || math.IsInf(v, 0) {
			errs = append(errs, fmt.Errorf("%s: %g %s, want %s", name, v, unit, rule))
		}
	}
	if s.Law == nil {
		return errors.New("law: none given")
	}
	if s.Input == nil {
		errs = append(errs, errors.New("input: none given"))
	}
	want(s.Step > 0, "step", s.Step, "s", "> 0")
	want(s.Duration >= s.Step, "duration", s.Duration, "s", "at least one step")
	if s.Step > 0 && s.Duration/s.Step > 1e9 {
		errs = append(errs, fmt.Errorf("duration: %g s are %.3g steps, want at most 1e9", s.Duration, s.Duration/s.Step))
	}
	if s.Plant.Info().Mass {
		want(s.Mass > 0, "mass", s.Mass, "kg", "> 0")
		want(s.Damper >= 0, "damper", s.Damper, "N·s/m", "≥ 0")
		want(s.Spring >= 0 && (s.Spring > 0 || s.Plant != DrawnMass || s.Damper > 0), "spring", s.Spring, "N/m", "> 0: it draws the mass")
	}
	if s.Plant == ControlledMass && s.Step > 0 {
		errs = append(errs, s.Control.Check(s.Step, s.Scheme)...)
	}
	want(!math.IsNaN(s.X0), "initial position", s.X0, "m", "a finite number")
	want(!math.IsNaN(s.V0), "initial velocity", s.V0, "m/s", "a finite number")
	if n := s.Law.StateDim(); s.State != nil && len(s.State) != n {
		errs = append(errs, fmt.Errorf("state: %d numbers, the law has %d", len(s.State), n))
	}
	errs = append(errs, s.Law.Validate())
	return errors.Join(errs...)
}

// Substeps is the number of parts a step is divided into to stay below the limit of the scheme, and the limit (s).
func (s *Spec) Substeps() (n int, limit float64, why string, err error) {
	if !s.Plant.Info().Mass {
		return 1, math.Inf(1), "no limit: the motion is imposed or the plant steps itself", nil
	}
	b, err := friction.NewMass(s.Mass, s.Law, s.Scheme)
	if err != nil {
		return 0, 0, "", err
	}
	limit, why = b.Limit()
	// the explicit schemes also carry the spring of the plant
	if s.Scheme >= friction.Explicit && s.Spring > 0 {
		limit = min(limit, 1.8*math.Sqrt(s.Mass/s.Spring))
	}
	return max(1, int(math.Ceil(s.Step/limit*(1-1e-12)))), limit, why, nil
}

// Run steps the experiment and calls visit after every step. The sample is reused: copy what is to be kept. It ends early
// with the error of visit, of the context, or with a *StepError.
func Run(ctx context.Context, s Spec, visit func(*Sample) error) error {
	if err := s.Validate(); err != nil {
		return err
	}
	r, err := newRunner(&s)
	if err != nil {
		return err
	}
	n := int(math.Round(s.Duration / s.Step))
	var q Sample
	for k := range n {
		if k%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		t0, t1 := float64(k)*s.Step, float64(k+1)*s.Step
		q.T, q.TMid = t1, 0.5*(t0+t1)
		r.step(t0, t1-t0, &q)
		// sums such as the work and the load may overflow where the motion itself has not
		if q.Status == engine.NonFinite || !q.isFinite() {
			return &StepError{T: t0, X: q.X, V: q.V}
		}
		if err := visit(&q); err != nil {
			return err
		}
	}
	return nil
}

// runner is an experiment under way.
type runner interface {
	step(t, h float64, q *Sample)
}

func newRunner(s *Spec) (runner, error) {
	switch s.Plant {
	case ImposedVelocity, ImposedMotion:
		return newImposed(s), nil
	case MotorAxis:
		return newMotorAxis(s)
	}
	return newSlider(s)
}

// normal is the normal load for the laws: 0 where none is given, so that they take their nominal one, and negative for a
// contact that has lifted off.
func normal(g reference.Generator, t float64) float64 {
	if n := at(g, t); g == nil || n > 0 {
		return n
	}
	return -1
}

// at is a generator that may be left out.
func at(g reference.Generator, t float64) float64 {
	if g == nil {
		return 0
	}
	x, _, _ := g.At(t)
	return x
}

// isFinite tells whether every number of the motion is one.
func (q *Sample) isFinite() bool {
	return 0*q.X+0*q.V+0*q.W+0*q.F+0*q.Drive+0*q.Input+0*q.Work == 0
}
