package identify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hilrig/engine/friction"
	"hilrig/engine/spelling"
	"hilrig/identify/axis"
	"hilrig/identify/bristle"
	"hilrig/identify/curve"
)

// Method is the name of a way to find parameters.
type Method string

// regress has a term for a constant force.
const regress Method = "regress"

// Words are the names of all methods.
func (Method) Words() (all []string) {
	for _, m := range Methods {
		all = append(all, string(m.Name))
	}
	return all
}

// MethodInfo is what the program knows of a method: whatever depends on the method asks here.
type MethodInfo struct {
	Name     Method
	Title    string                 // for people
	Settings []string               // keys of an identification file that belong to this and some other methods
	Columns  func(p *Plan) []string // without which it cannot work
	Finds    func(law string) bool  // whether it finds parameters of a friction law; nil: of none

	Simulates        bool // runs the model along the record
	KeepsDisturbance bool // keeps the force of the drive and a known disturbance apart
	SteadyFriction   bool // looks at the friction at held velocities, whose constant force is known beforehand
	OneWay           bool // its experiment goes one way
	Coupled          bool // two joints act on each other
	SmallMotion      bool // its motion is small on purpose: the contact does not slide
	Loop             bool // ties a presliding loop, a second record, to the first
	Tabled           bool // takes a table of steady friction in place of samples in time
	Coefficient      bool // takes a coefficient of friction in place of a force
	Estimate         bool // ends near an optimum, not at one
	Sided            bool // can split friction by direction

	run func(j *job, ctx context.Context) (*stage, error)
}

var (
	regressing = []string{"between", "terms", "filter", "decimate", "trim", "min_velocity"}
	simulating = []string{"parameters", "model.law", "model.terms", "model.drive", "model.output", "model.initial", "model.controller",
		"model.hold", "model.scheme", "model.substeps", "model.decimate"}
)

// Methods are all methods, in the order of lists.
var Methods = []MethodInfo{
	{Name: regress, Sided: true, Title: "inverse dynamics, linear least squares", run: (*job).regressLinear,
		Settings: append([]string{"form", "noise_ratio"}, regressing...), Columns: motionColumns, Finds: oneOf("coulomb", "viscous")},
	{Name: "two-joint", Sided: true, Title: "inverse dynamics of two joints, linear least squares", run: (*job).twoJoint,
		Settings: append([]string{"joints"}, regressing...), Columns: jointColumns, Coupled: true},
	{Name: "static", Sided: true, Title: "static friction map", run: (*job).static,
		Settings: []string{"static", "model.law", "parameters"}, Columns: steadyColumns, Finds: oneOf(curve.Laws...), SteadyFriction: true,
		Tabled: true},
	{Name: "presliding", Title: "presliding loop", run: (*job).presliding, SmallMotion: true,
		Settings: []string{"presliding", "noise", "parameters"}, Columns: motionColumns, Finds: oneOf("lugre")},
	{Name: "presliding-linear", Title: "small motion, prediction error of a Kalman filter",
		run: bristleMethod{fit: bristle.Presliding, presliding: true}.run, SmallMotion: true,
		Settings: []string{"noise", "parameters"}, Columns: motionColumns, Finds: oneOf("lugre")},
	{Name: "joint", Sided: true, Title: "static map and presliding loop together", run: (*job).joint,
		Settings: []string{"static", "presliding", "loop", "noise", "model.law", "parameters"}, Columns: steadyColumns, Finds: oneOf("lugre"),
		SteadyFriction: true, Tabled: true, Loop: true},
	{Name: "velocity-step", Title: "velocity steps", run: (*job).velocityStep,
		Settings: []string{"velocity_step", "parameters"}, Columns: steadyColumns, Finds: oneOf("state-variable"), SteadyFriction: true,
		OneWay: true, KeepsDisturbance: true, Coefficient: true},
	{Name: "lugre", Title: "separable fit of the smoothed motion", run: bristleMethod{fit: bristle.Separable, smoothed: true}.run,
		Settings: []string{"noise", "bootstrap", "model.law", "parameters"}, Columns: motionColumns, Finds: oneOf("lugre")},
	{Name: "kalman", Title: "prediction error of a Kalman filter", run: bristleMethod{fit: bristle.Kalman, warmStart: true}.run,
		Settings: []string{"noise", "model.law", "parameters"}, Columns: motionColumns, Finds: oneOf("lugre")},
	{Name: "aep", Sided: true, Title: "accelerated evolutionary programming", run: (*job).aep,
		Settings: append([]string{"aep", "bootstrap"}, simulating...), Columns: simulatedColumns, Finds: anyLaw, Simulates: true,
		KeepsDisturbance: true, Estimate: true},
	{Name: "lm", Sided: true, Title: "output error, Levenberg–Marquardt", run: (*job).lm,
		Settings: append([]string{"lm", "bootstrap"}, simulating...), Columns: simulatedColumns, Finds: anyLaw, Simulates: true,
		KeepsDisturbance: true},
	{Name: "multishoot", Sided: true, Title: "output error, multiple shooting", run: (*job).multishoot,
		Settings: append([]string{"segments"}, simulating...), Columns: shotColumns, Finds: anyLaw, Simulates: true, KeepsDisturbance: true},
}

// FindMethod returns a method by its name; nil if there is none.
func FindMethod(name Method) *MethodInfo {
	for i := range Methods {
		if Methods[i].Name == name {
			return &Methods[i]
		}
	}
	return nil
}

// Chain is what is done, in order; the last method gives the result.
type Chain []Method

// ParseChain takes the names of methods.
func ParseChain(names []string) (Chain, error) {
	known, chain := Method("").Words(), make(Chain, len(names))
	for i, name := range names {
		if chain[i] = Method(name); FindMethod(chain[i]) == nil {
			hint := "known: " + strings.Join(known, ", ")
			if near := spelling.Nearest(name, known); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return nil, fmt.Errorf("there is no method %q (%s)", name, hint)
		}
	}
	return chain, nil
}

// ContainsFunc tells whether one of its methods is such a one.
func (c Chain) ContainsFunc(such func(m *MethodInfo) bool) bool {
	return slices.ContainsFunc(c, func(name Method) bool { m := FindMethod(name); return m != nil && such(m) })
}

// ContainsOnce tells whether a method is among its methods, and only once.
func (c Chain) ContainsOnce(name Method) bool {
	i := slices.Index(c, name)
	return i >= 0 && !slices.Contains(c[i+1:], name)
}

func (c Chain) String() string { return c.Join(", ") }

// Join writes the names with sep between them.
func (c Chain) Join(sep string) string {
	names := make([]string, len(c))
	for i, name := range c {
		names[i] = string(name)
	}
	return strings.Join(names, sep)
}

// MethodsFor lists the methods that find parameters of a law.
func MethodsFor(law string) (names Chain) {
	if _, ok := friction.Find(law); !ok {
		return nil
	}
	for _, m := range Methods {
		if m.Finds != nil && m.Finds(law) {
			names = append(names, m.Name)
		}
	}
	return names
}

// ChainFor is the chain that finds a law from any motion under a known force, "" for inertia, Coulomb and viscous friction.
func ChainFor(law string) Chain {
	switch {
	case law == "" || FindMethod(regress).Finds(law):
		return Chain{regress}
	case FindMethod("kalman").Finds(law):
		return Chain{"lugre", "kalman"}
	}
	return Chain{regress, "lm"}
}

// CheckLaw tells that a chain does not end with the parameters of a law, and which methods find them.
func (c Chain) CheckLaw(law string) error {
	if m := FindMethod(c[len(c)-1]); m.Finds == nil || !m.Finds(law) {
		return fmt.Errorf("%s does not find the parameters of law %s; these do: %s", m.Name, law, MethodsFor(law))
	}
	return nil
}

func oneOf(laws ...string) func(string) bool {
	return func(law string) bool { return slices.Contains(laws, law) }
}

func anyLaw(string) bool { return true }

func motionColumns(*Plan) []string { return []string{"position", "force"} }

func steadyColumns(*Plan) []string { return []string{"velocity", "force"} }

func jointColumns(p *Plan) []string {
	all := []string{"position", "position2", "force", "force2"}
	if p.Joints.Undriven {
		return all[:2]
	}
	return all
}

func simulatedColumns(p *Plan) (columns []string) {
	m := &p.Model
	if m.NeedsPosition() {
		columns = append(columns, "position")
	}
	if m.Output == axis.Velocity {
		columns = append(columns, "velocity")
	}
	if m.Drive == axis.Force || m.Drive == axis.Servo {
		columns = append(columns, "force")
	}
	return columns
}

// shotColumns are those of a simulation whose segments begin at recorded positions.
func shotColumns(p *Plan) []string {
	return slices.Compact(append([]string{"position"}, simulatedColumns(p)...))
}
