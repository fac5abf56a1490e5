// Package check says what is wrong with files before anything runs, to which verb a file belongs, and what files look like: hil check,
// hil config.
package check

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"hilrig/cmd/daemon"
	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/hil"
)

// Answer is what is known of a file before anything runs.
type Answer struct {
	File     string    `json:"file"`
	OK       bool      `json:"ok"`
	Problems []Problem `json:"problems"`
	Warnings []Problem `json:"warnings"`
	Facts    []Fact    `json:"facts"`
	Next     string    `json:"next,omitempty"` // what makes sense now
	err      error
}

// Problem is one thing wrong with a file.
type Problem struct {
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path,omitempty"` // key, devices.drive.measure[0].scale
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	text    string
}

// Fact is something that a file says, or that follows from it.
type Fact struct {
	Label string `json:"label,omitempty"` // "": the text says it
	Text  string `json:"text"`
}

func (a *Answer) fact(label, format string, args ...any) {
	a.Facts = append(a.Facts, Fact{label, fmt.Sprintf(format, args...)})
}

func problemsOf(list []schema.Problem) []Problem {
	out := []Problem{}
	for _, p := range list {
		out = append(out, Problem{p.Line, p.Col, p.Path, p.Msg, p.Hint, p.Error()})
	}
	return out
}

// Look reads a file as the verb would for which it is.
func Look(name string) *Answer {
	a := &Answer{File: name, Facts: []Fact{}}
	read, ok := looks[configs.KindOf(name)]
	if !ok {
		read = (*Answer).rig
	}
	warnings, err := read(a, name)
	a.err, a.OK, a.Warnings, a.Problems = err, err == nil, problemsOf(warnings), []Problem{}
	var list *schema.Errors
	switch {
	case errors.As(err, &list):
		a.Problems = problemsOf(list.List)
	case err != nil:
		a.Problems = []Problem{{Message: err.Error()}}
	}
	if err != nil {
		a.Facts, a.Next = []Fact{}, ""
	}
	return a
}

// Print prints the answer for people: what is wrong to errOut.
func (a *Answer) Print(out, errOut io.Writer) {
	if a.err != nil {
		report.PrintProblems(errOut, "hil: ", a.err)
		out = errOut
	} else {
		fmt.Fprintf(out, "%s: ok\n", a.File)
	}
	for _, w := range a.Warnings {
		fmt.Fprintf(out, "warning: %s\n", w.text)
	}
	for _, f := range a.Facts {
		if f.Label == "" {
			fmt.Fprintln(out, f.Text)
			continue
		}
		fmt.Fprintf(out, "%-14s %s\n", f.Label, f.Text)
	}
	if a.Next != "" {
		fmt.Fprintf(out, "next: %s\n", a.Next)
	}
}

// File reports on one file and tells whether it can be used.
func File(out, errOut io.Writer, name string) bool {
	a := Look(name)
	a.Print(out, errOut)
	return a.OK
}

// Files is hil check: the answers on several files.
func Files(o *report.Output, names []string) error {
	answers, bad := []*Answer{}, false
	for _, name := range names {
		a := Look(name)
		if !o.JSON {
			a.Print(o.Stdout, o.Stderr)
		}
		answers, bad = append(answers, a), bad || !a.OK
	}
	if o.JSON {
		if err := report.EncodeJSON(o.Stdout, answers); err != nil {
			return err
		}
	}
	if bad {
		return report.ExitWith(report.Invalid, nil)
	}
	return nil
}

// then names the verb that makes sense for a sound file.
func (a *Answer) then(verb, name string) { a.Next = report.AsStarted("hil " + verb + " " + name) }

// looks are by the kind of file; what is of no kind is taken for a rig file.
var looks = map[configs.Kind]func(a *Answer, name string) ([]schema.Problem, error){
	configs.SimulateFile: look(configs.LoadSimulate, func(a *Answer, name string, cfg *configs.Simulate) error {
		for _, l := range cfg.Friction {
			a.fact("law", "%s, %s", l.Label, l.Title)
		}
		a.then("simulate", name)
		return nil
	}),
	configs.BallFile:        look(configs.LoadBallRun, simulated[configs.BallRun]),
	configs.ManipulatorFile: look(configs.LoadManipulatorRun, simulated[configs.ManipulatorRun]),
	configs.ContactFile:     look(configs.LoadContactRun, simulated[configs.ContactRun]),
	configs.MachineFile: look(configs.LoadMachine, func(a *Answer, name string, cfg *configs.MachineRun) error {
		said, err := cfg.Assembled()
		a.fact("start", "%s", said)
		a.then("simulate", name)
		return err
	}),
	configs.BallFitFile:    look(configs.LoadBallFit, (*Answer).ballFit),
	configs.MachineFitFile: look(configs.LoadMachineFit, (*Answer).machineFit),
	configs.ResponseFile:   look(configs.LoadResponseFit, (*Answer).responseFit),
	configs.IdentifyFile: look(checkIdentify, func(a *Answer, name string, cfg *configs.Identify) error {
		said, err := identify.CheckRecords(cfg)
		if err == nil {
			a.identify(name, cfg, said)
		}
		return err
	}),
	configs.StudyFile: look(configs.LoadStudy, (*Answer).study),
}

func checkIdentify(name string) (*configs.Identify, []schema.Problem, error) {
	return configs.CheckIdentify(name)
}

// look loads a file and then says what it holds.
func look[T any](load func(string) (*T, []schema.Problem, error), say func(a *Answer, name string, cfg *T) error) func(*Answer, string) (
	[]schema.Problem, error) {
	return func(a *Answer, name string) ([]schema.Problem, error) {
		cfg, warnings, err := load(name)
		if err == nil {
			err = say(a, name, cfg)
		}
		return warnings, err
	}
}

// simulated is a file of which there is nothing to say but its verb.
func simulated[T any](a *Answer, name string, _ *T) error {
	a.then("simulate", name)
	return nil
}

// unwatched says what the drive of an axis can do before the guard can tell that its position shows nothing.
func (a *Answer) unwatched(x *hil.AxisSpec) {
	turn := "rad"
	if x.Linear {
		turn = "m"
	}
	if time, way, speed := x.Unwatched(); time > 0 {
		a.fact("unwatched", "%s: a position that shows nothing is told after %.0f ms or later; "+
			"at full effort the axis goes %.3g %s and gets to %.3g %s/s meanwhile", x.Name, 1e3*time, way, turn, speed, turn)
	}
}

// rig reports on a rig file.
func (a *Answer) rig(name string) ([]schema.Problem, error) {
	cfg, warnings, err := configs.Check(name)
	if err == nil { // what hil run would find when it builds controller and virtual rig
		if err = daemon.Buildable(cfg); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	if err != nil {
		return warnings, err
	}
	a.fact("rig", "%s, %g ticks/s", cfg.Rig.Name, cfg.Loop.Rate)
	for i := range cfg.Devices {
		d := &cfg.Devices[i]
		a.fact("device", "%s, %s protocol on %s at %d baud", d.Name, d.Protocol, d.Port, d.Baud)
		for line := range strings.Lines(cfg.Budget(d).String()) {
			a.Facts = append(a.Facts, Fact{Text: strings.TrimSuffix(line, "\n")})
		}
	}
	if spec, err := daemon.ControllerSpec(cfg); err == nil {
		for i := range spec.Axes {
			a.unwatched(&spec.Axes[i])
		}
	}
	warnings = append(warnings, a.rigNumbers(cfg)...)
	if a.then("run", name); !cfg.IsVirtual() {
		a.Next += " --dry-run      reads, never sends a command"
	}
	return warnings, nil
}
