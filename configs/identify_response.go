package configs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
	"hilrig/engine/reference"
	"hilrig/identify/fit"
	"hilrig/identify/response"
)

// ResponseFit describes how parameters of a machine are found from how it answers to recorded inputs. Numbers follow the rules of Config.
type ResponseFit struct {
	Version       int                 `yaml:"version" doc:"format of this file, 1"`
	Name          string              `yaml:"name" doc:"name of the fit"`
	Description   string              `yaml:"description,omitempty" doc:"one line for people"`
	Machine       string              `yaml:"machine" doc:"file of the machine, relative to this file, as hil simulate takes it"`
	Data          MachineRecords      `yaml:"data" doc:"the records that are fitted"`
	Inputs        []ResponseInput     `yaml:"inputs" doc:"what acted on the machine, by its place in the machine file, such as machine.motors.motor.voltage; what stands there is not used"`
	Interpolation string              `yaml:"between" enum:"hold,line" doc:"what an input does between two samples: hold: it stays as it is, as the command of a computer; line: it changes evenly, as what was measured with filters"`
	Outputs       []ResponseOutput    `yaml:"outputs" doc:"what was measured, by its name in the table of hil simulate, such as load.q or motor.i"`
	Parameters    []ResponseParameter `yaml:"parameters" doc:"what is searched, by its place in the machine file"`
	InitialJoints []string            `yaml:"begin,omitempty" doc:"joints whose position and speed at the beginning of every record are searched; the others begin as the machine file says"`
	Uncertainty   response.Uncertain  `yaml:"uncertainty" doc:"standard uncertainty of what the files give and the records do not tell for sure. The intervals hold what it does; 0: taken for exact"`
	Validate      []string            `yaml:"validate,omitempty" doc:"records with the same columns, explained by the parameters but not used to find them"`
	Steps         int                 `yaml:"steps" want:">=0 <=64" doc:"steps of the simulation in a sampling interval; 0: so many that twice as many move no parameter by more than a third of its standard error"`
	Starts        int                 `yaml:"starts" want:">=0 <=1000" doc:"descents from values drawn from the ranges, besides that from the start"`
	Seed          int                 `yaml:"seed" want:">=0" doc:"of what is drawn"`
	RequireFit    float64             `yaml:"require_fit" unit:"%" want:">=0 <=100" doc:"a fit below this is a missed quality gate; 0: no gate"`

	run   *MachineRun  // the machine file
	file  *schema.Tree // its text
	floor *schema.Tree // with zero where the inputs go
}

// ResponseInput is what acted on the machine.
type ResponseInput struct {
	Path   string         `yaml:"path" doc:"place in the machine file of a voltage, current, switch or effort"`
	Column IdentifyColumn `yaml:"column" doc:"of the record"`

	unit string
}

// ResponseOutput is what was measured.
type ResponseOutput struct {
	Name   string         `yaml:"name" doc:"in the table of hil simulate"`
	Column IdentifyColumn `yaml:"column" doc:"of the record"`
	Noise  string         `yaml:"noise,omitempty" doc:"standard deviation of its noise, with unit; left out: what the fit leaves of it"`

	unit  string
	noise float64
}

// ResponseParameter is a number of the machine file that is searched.
type ResponseParameter struct {
	Path  string     `yaml:"path" doc:"key in the machine file, such as machine.shafts.shaft.stiffness"`
	Name  string     `yaml:"name,omitempty" doc:"in tables; left out: the path without machine"`
	Range StudyRange `yaml:"range" doc:"[low, high] or ±value, numbers with or without unit"`
	Scale string     `yaml:"scale" enum:"auto,linear,log" doc:"searched as the number or as its logarithm; auto: the logarithm where low is above zero and high ten times low at least"`
	Start string     `yaml:"start,omitempty" doc:"where the search begins, with unit; left out: the number of the machine file, or the middle of the range where there is none"`

	start float64
}

// SetDefaults says what a parameter starts from.
func (p *ResponseParameter) SetDefaults() { p.Scale = "auto" }

// DefaultResponseFit is what such a file starts from.
func DefaultResponseFit() *ResponseFit {
	return &ResponseFit{Version: 1, Data: MachineRecords{Records: defaultRecords()}, Interpolation: "hold", Starts: 3, Seed: 1}
}

// LoadResponseFit reads and checks such a file, and the file of its machine. Paths come back joined to the folder of the file.
func LoadResponseFit(path string) (*ResponseFit, []schema.Problem, error) {
	return fromFile(path, ResponseFitBytes)
}

// ResponseFitBytes is LoadResponseFit of a file in memory. The file of the machine is read.
func ResponseFitBytes(name string, data []byte) (*ResponseFit, []schema.Problem, error) {
	c := DefaultResponseFit()
	return loadOfMachine(name, data, c, c)
}

func (c *ResponseFit) parts() (int, *string, *MachineRecords, []string) {
	return c.Version, &c.Machine, &c.Data, c.Validate
}

// Files are all files that the fit reads.
func (c *ResponseFit) Files() []string {
	return slices.Concat([]string{c.Machine}, c.run.Files(), c.Data.Files(), c.Validate)
}

// check looks at what the tags cannot say, but for the machine.
func (c *ResponseFit) check(r *schema.Report) {
	r.FirstErrorIf(len(c.Outputs) == 0, "outputs", "empty, want at least one: {name: load.q, column: {name: …, unit: rad}}")
	r.FirstErrorIf(len(c.Parameters) == 0, "parameters",
		"empty, want at least one: {path: machine.motors.motor.K, range: [0.01 N·m/A, 0.1 N·m/A]}")
	for i := range c.Parameters {
		p, at := &c.Parameters[i], fmt.Sprintf("parameters[%d]", i)
		p.Name = cmp.Or(p.Name, strings.TrimPrefix(p.Path, "machine."))
		for _, o := range c.Parameters[:i] {
			if o.Path == p.Path && p.Path != "" {
				r.KeyErrorf(at+".path", "%s is searched twice", p.Path)
			} else if o.Name == p.Name && p.Path != "" {
				r.KeyErrorf(at+".name", "two parameters are called %s", p.Name)
			}
		}
		switch {
		case r.HasProblem(at):
		case p.Path == "":
			r.KeyErrorf(at+".path", "is missing: which key of the machine file")
		case fit.IsState(p.Name):
			r.KeyErrorf(at+".name", "%s is the name of a beginning; take another", p.Name)
		case !(p.Range.Lo < p.Range.Hi):
			r.KeyErrorf(at+".range", "from %s to %s, want [low, high], rising: where the search looks", schema.Short(p.Range.Lo),
				schema.Short(p.Range.Hi))
		case p.Scale == "log" && p.Range.Lo <= 0:
			r.KeyErrorf(at+".range", "a logarithmic range begins at %s, want more than 0", schema.Short(p.Range.Lo))
		}
	}
}

func (p *ResponseParameter) log() bool {
	return p.Scale == "log" || p.Scale == "auto" && p.Range.Lo > 0 && p.Range.Hi >= 10*p.Range.Lo
}

// tree is a value as it goes into the machine file.
func (p *ResponseParameter) tree(x float64) *schema.Tree {
	v := StudyVary{Range: p.Range}
	return v.tree(x)
}

// checkMachine reads the file of the machine and tries what the fit would make of it. The error is about that file.
func (c *ResponseFit) checkMachine(r *schema.Report) error {
	data, err := schema.ReadFile(c.Machine)
	if err != nil {
		return err
	}
	if c.run, _, err = MachineBytes(c.Machine, data); err != nil {
		return err
	}
	if c.file, err = schema.ParseTree(c.Machine, data); err != nil {
		return err
	}
	c.floor = c.file
	if !c.checkInputs(r) || !c.checkParameters(r) || len(r.Problems()) > 0 {
		return nil
	}
	return c.checkOutputs(r)
}

// checkInputs puts a held zero where the inputs stand.
func (c *ResponseFit) checkInputs(r *schema.Report) bool {
	ok := true
	for i := range c.Inputs {
		in, at := &c.Inputs[i], fmt.Sprintf("inputs[%d]", i)
		if r.HasProblem(at) {
			ok = false
			continue
		}
		var list []machineSignal
		t, err := c.floor.WithValue(in.Path, schema.Bare("0"))
		if takesInput(in.Path) && err == nil {
			var run *MachineRun
			if run, _, err = MachineBytes(c.Machine, t.YAML()); err == nil {
				c.floor, list = t, run.signals()
			}
		}
		k := slices.IndexFunc(list, func(s machineSignal) bool { return s.path == in.Path })
		if k < 0 {
			ok = false
			why := ""
			if err != nil {
				why = ": " + first(err)
			}
			r.KeyErrorf(at+".path", "%s is no voltage, current, switch or effort of the machine%s", in.Path, why)
			continue
		}
		in.unit = list[k].unit
		if in.Column.Name == "" {
			r.Errorf(at+".column", "%s.column.name is missing: the column of the file that holds it", at)
		} else if _, _, err := in.Column.Factors(in.unit); err != nil {
			r.KeyErrorf(at+".column", "%v", err)
		}
	}
	return ok
}

// takesInput tells whether the last key of a path is one of a function of time that something outside may give.
func takesInput(path string) bool {
	return slices.Contains([]string{"voltage", "ud", "uq", "current", "closed", "effort"}, path[strings.LastIndexByte(path, '.')+1:])
}

// first is the first problem of a list, with its hint.
func first(err error) string {
	var list *schema.Errors
	if !errors.As(err, &list) || len(list.List) == 0 {
		return err.Error()
	}
	p := list.List[0]
	if p.Hint != "" {
		return p.Msg + " (" + p.Hint + ")"
	}
	return p.Msg
}

// checkParameters tries every parameter at the ends of its range and at its start.
func (c *ResponseFit) checkParameters(r *schema.Report) bool {
	ok := true
	for i := range c.Parameters {
		p, at := &c.Parameters[i], fmt.Sprintf("parameters[%d]", i)
		if r.HasProblem(at) || p.Path == "" || !(p.Range.Lo < p.Range.Hi) {
			ok = false
			continue
		}
		if !strings.HasPrefix(p.Path, "machine.") {
			ok = false
			r.KeyErrorf(at+".path", "%s is no number of the machine: paths begin with machine., such as machine.motors.motor.K", p.Path)
			continue
		}
		for _, x := range []float64{p.Range.Lo, p.Range.Hi, (p.Range.Lo + p.Range.Hi) / 2} {
			t, err := c.floor.WithValue(p.Path, p.tree(x))
			if err == nil {
				_, _, err = MachineBytes(c.Machine, t.YAML())
			}
			if err != nil {
				ok = false
				r.KeyErrorf(at, "with %s at %s: %s", p.Path, strings.TrimSpace(p.tree(x).Text), first(err))
				break
			}
		}
		if !c.begins(r, p, at) {
			ok = false
		}
	}
	return ok
}

// begins finds where the search for a parameter begins.
func (c *ResponseFit) begins(r *schema.Report, p *ResponseParameter, at string) bool {
	text, given := p.Start, p.Start != ""
	if there := c.floor.At(p.Path); !given && there != nil && there.Kind == schema.ScalarTree {
		text = there.Text
	}
	n, err := studyNumber(text)
	inside := err == nil && n.Value >= p.Range.Lo && n.Value <= p.Range.Hi
	switch {
	case given && err != nil:
		r.KeyErrorf(at+".start", "%v", err)
		return false
	case given && !n.like(StudyNumber{Unit: p.Range.Unit, dim: n.dim}):
		r.KeyErrorf(at+".start", "%s, want the unit of the range, %s", text, cmp.Or(p.Range.Unit, "a plain number"))
		return false
	case given && !inside:
		r.KeyErrorf(at+".start", "%s, outside of the range from %s to %s", text, schema.Short(p.Range.Lo), schema.Short(p.Range.Hi))
		return false
	case inside:
		p.start = n.Value
		return true
	case err == nil:
		r.KeyWarnf(at+".range", "the machine file has %s, outside of the range: the search begins in the middle of it", text)
	}
	p.start = (p.Range.Lo + p.Range.Hi) / 2
	if p.log() {
		p.start = math.Sqrt(p.Range.Lo * p.Range.Hi)
	}
	return true
}

// readNoise reads the noise of an output.
func (o *ResponseOutput) readNoise() error {
	if o.Noise == "" {
		return nil
	}
	n, err := studyNumber(o.Noise)
	if err != nil {
		return err
	}
	u, _ := schema.ParseUnit(o.unit)
	if n.dim != u.Dim || !(n.Value > 0) {
		return fmt.Errorf("%s, want a number above 0 in the unit of the output, %s", o.Noise, cmp.Or(o.unit, "which is a plain number"))
	}
	o.noise = n.Value
	return nil
}

// checkOutputs makes the machine once and looks for what was measured.
func (c *ResponseFit) checkOutputs(r *schema.Report) error {
	m, err := c.build(c.starts())
	if err != nil {
		r.KeyErrorf("machine", "%s with the parameters at their start: %v", c.Machine, err)
		return nil
	}
	for i := range c.Outputs {
		o, at := &c.Outputs[i], fmt.Sprintf("outputs[%d]", i)
		if r.HasProblem(at) {
			continue
		}
		w, err := m.Step.Watch(o.Name)
		switch {
		case o.Name == "" || err != nil:
			r.KeyErrorf(at+".name", "%v", cmp.Or(err, errors.New("missing: the name of a number in the table of hil simulate")))
			continue
		case len(w.Signals) != 1:
			names := listOf(w.Signals, func(s engine.Signal) string { return s.Name })
			r.KeyErrorf(at+".name", "%s is several numbers, %s: name one", o.Name, strings.Join(names, ", "))
			continue
		}
		o.unit = w.Signals[0].Unit
		if o.Column.Name == "" {
			r.Errorf(at+".column", "%s.column.name is missing: the column of the file that holds it", at)
		} else if _, _, err := o.Column.Factors(o.unit); err != nil {
			r.KeyErrorf(at+".column", "%v", err)
		} else if err := o.readNoise(); err != nil {
			r.KeyErrorf(at+".noise", "%v", err)
		}
	}
	for i, joint := range c.InitialJoints {
		_, _, err := m.Step.At(joint)
		r.ErrorIf(err != nil, fmt.Sprintf("begin[%d]", i), "%v", err)
	}
	return nil
}

func (c *ResponseFit) starts() []float64 {
	return listOf(c.Parameters, func(p ResponseParameter) float64 { return p.start })
}

// withParameters is a machine file with the parameters at theta.
func (c *ResponseFit) withParameters(t *schema.Tree, theta []float64) ([]byte, error) {
	for i := range c.Parameters {
		var err error
		if t, err = t.WithValue(c.Parameters[i].Path, c.Parameters[i].tree(theta[i])); err != nil {
			return nil, err
		}
	}
	return t.YAML(), nil
}

// Identified is the machine file, its own signals in place, with the parameters at theta. Remarks of the file are lost.
func (c *ResponseFit) Identified(theta []float64) ([]byte, error) {
	return c.withParameters(c.file, theta)
}

// build is the machine with the parameters at theta. For concurrent use.
func (c *ResponseFit) build(theta []float64) (*response.Machine, error) {
	return c.buildOf(c.floor, theta)
}

// buildOf is that of another file.
func (c *ResponseFit) buildOf(t *schema.Tree, theta []float64) (*response.Machine, error) {
	text, err := c.withParameters(t, theta)
	if err != nil {
		return nil, err
	}
	run, _, err := MachineBytes(c.Machine, text)
	if err != nil {
		return nil, errors.New(first(err))
	}
	m := &response.Machine{Hold: append(slices.Clone(run.Start.Hold), c.InitialJoints...)}
	list := run.signals()
	for i := range c.Inputs {
		k := slices.IndexFunc(list, func(s machineSignal) bool { return s.path == c.Inputs[i].Path })
		held := &circuit.Held{}
		list[k].signal.gen = reference.Generator(held)
		m.Inputs = append(m.Inputs, held)
	}
	var o machine.StepOptions
	for i := range run.Machine.Bodies {
		b := &run.Machine.Bodies[i]
		if kind := jointKinds[b.Joint.Kind]; kind == multibody.Revolute || kind == multibody.Prismatic {
			m.Joints = append(m.Joints, response.Joint{Name: b.Name, Rotary: kind == multibody.Revolute})
			o.TorqueJoints = append(o.TorqueJoints, b.Name)
		}
	}
	if m.Step, m.Start, err = run.Stepper(o); err != nil {
		return nil, err
	}
	return m, nil
}

// Spec is what the fit asks of package identify/response.
func (c *ResponseFit) Spec(workers int) response.Spec {
	s := response.Spec{Build: c.build, Others: c.others(), StartJoints: c.InitialJoints, Line: c.Interpolation == "line", Steps: c.Steps,
		Uncertain: c.Uncertainty, Starts: c.Starts, Seed: uint64(c.Seed), Workers: workers}
	for i := range c.Parameters {
		p := &c.Parameters[i]
		s.Params = append(s.Params, fit.Param{Param: engine.Param{Name: p.Name, Unit: p.Range.Unit, Value: p.start, Lo: p.Range.Lo,
			Hi: p.Range.Hi}, Log: p.log()})
	}
	s.Inputs = listOf(c.Inputs, func(in ResponseInput) string { return in.Path })
	s.Outputs = listOf(c.Outputs,
		func(o ResponseOutput) response.Output {
			return response.Output{Name: o.Name, Unit: o.unit, Noise: o.noise}
		})
	return s
}

// others are the numbers of the machine that are not searched.
func (c *ResponseFit) others() (list []response.Other) {
	c.floor.At("machine").Scalars("machine", func(path string, s *schema.Tree) {
		n, err := studyNumber(s.Text)
		if err != nil || n.Value == 0 || slices.ContainsFunc(c.Parameters, func(p ResponseParameter) bool { return p.Path == path }) {
			return
		}
		v := StudyVary{Range: StudyRange{Unit: n.Unit}}
		list = append(list, response.Other{Path: path, Text: s.Text, Value: n.Value,
			Build: func(theta []float64, x float64) (*response.Machine, error) {
				t, err := c.floor.WithValue(path, v.tree(x))
				if err != nil {
					return nil, err
				}
				return c.buildOf(t, theta)
			}})
	})
	return list
}

// ResponseColumn is a column of the record with the unit of what it holds.
type ResponseColumn struct {
	Role   string // input or output
	Unit   string
	Column IdentifyColumn
}

// Columns are those of the inputs, then those of the outputs.
func (c *ResponseFit) Columns() []ResponseColumn {
	return append(listOf(c.Inputs, func(in ResponseInput) ResponseColumn { return ResponseColumn{in.Path, in.unit, in.Column} }),
		listOf(c.Outputs, func(o ResponseOutput) ResponseColumn { return ResponseColumn{o.Name, o.unit, o.Column} })...)
}
