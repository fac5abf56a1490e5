package contents

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/multibody"
	"hilrig/engine/multibody/robot"
)

// robotContents is the JSON of a robot.
type robotContents struct {
	File    string      `json:"file"`
	Format  string      `json:"format"`
	Name    string      `json:"name"`
	Mass    float64     `json:"mass_kg"`
	Bodies  []robotBody `json:"bodies"`
	Loops   []string    `json:"loops"`
	Coupled []string    `json:"couplings"`
	Ignored []string    `json:"ignored"`
	Assumed []string    `json:"assumed"`
}

type robotBody struct {
	Name   string  `json:"name"`
	Parent string  `json:"parent"`
	Joint  string  `json:"joint"` // its name in the file
	Kind   string  `json:"kind"`
	Mass   float64 `json:"mass_kg"`
}

// showRobot shows a robot and writes it as a machine file.
func (f *Options) showRobot(path string, stdout io.Writer) error {
	if *f != (Options{asJSON: f.asJSON, outputPath: f.outputPath, force: f.force}) {
		return report.ExitWith(report.Usage, fmt.Errorf("import: %s describes a robot: only -o, --force and --json are for it", path))
	}
	if ext := filepath.Ext(f.outputPath); f.outputPath != "" && ext != ".yaml" && ext != ".yml" {
		return report.ExitWith(report.Usage, fmt.Errorf("import: -o %s: a robot becomes a machine file, whose name ends in .yaml", f.outputPath))
	}
	r, err := robot.ReadFile(path)
	if err != nil {
		return report.ExitWith(report.Invalid, fmt.Errorf("%s: %w", path, err))
	}
	if f.outputPath != "" {
		if same, err := filepath.Abs(f.outputPath); err == nil {
			if own, err := filepath.Abs(path); err == nil && own == same {
				return report.ExitWith(report.Usage, errors.New("import: -o names the file that is read"))
			}
		}
		if err := report.WriteWhole(f.outputPath, f.force,
			func(w io.Writer) error { return configs.WriteMachine(w, r, filepath.Base(path)) }); err != nil {
			return report.ExitWith(report.Unavailable, fmt.Errorf("import: %w", err))
		}
	}
	d := describeRobot(path, r)
	if f.asJSON {
		return report.EncodeJSON(stdout, d)
	}
	d.print(stdout)
	if f.outputPath != "" {
		fmt.Fprintf(stdout, "\nnext: %s\n", report.AsStarted("hil simulate "+f.outputPath))
	} else {
		fmt.Fprintf(stdout, "\nnext: %s\n", report.AsStarted("hil import "+path+" -o machine.yaml      makes a machine file of it"))
	}
	return nil
}

func describeRobot(path string, r *robot.Robot) robotContents {
	d := robotContents{File: path, Format: r.Format, Name: r.Name, Bodies: []robotBody{}, Loops: []string{}, Coupled: []string{},
		Ignored: append([]string{}, r.Ignored...), Assumed: append([]string{}, r.Assumed...)}
	for _, b := range r.Spec.Bodies {
		parent := b.Parent
		if parent == "" {
			parent = multibody.Ground
		}
		d.Bodies = append(d.Bodies, robotBody{b.Name, parent, r.Joints[b.Name], b.Joint.Kind.String(), b.Inertia.Mass})
		d.Mass += b.Inertia.Mass
	}
	for _, c := range r.Spec.Cuts {
		d.Loops = append(d.Loops, c.Name)
	}
	for _, c := range r.Spec.Couplings {
		d.Coupled = append(d.Coupled, c.Name)
	}
	return d
}

func (d *robotContents) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s %s, %d bodies, %s\n\n", d.File, d.Format, d.Name, len(d.Bodies), report.WithUnit(d.Mass, "kg"))
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', 0)
	fmt.Fprintf(t, "body\ton\tby\tjoint in the file\tmass (kg)\n")
	for _, b := range d.Bodies {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.6g\n", b.Name, b.Parent, b.Kind, b.Joint, report.Number(b.Mass))
	}
	t.Flush()
	for _, l := range []struct {
		label string
		names []string
	}{{"loops", d.Loops}, {"couplings", d.Coupled}, {"not taken", d.Ignored}} {
		if len(l.names) > 0 {
			fmt.Fprintf(w, "%s: %s\n", l.label, strings.Join(l.names, ", "))
		}
	}
	for _, a := range d.Assumed {
		fmt.Fprintf(w, "assumed: %s\n", a)
	}
}
