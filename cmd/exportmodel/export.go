package exportmodel

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/friction"
	"hilrig/engine/spelling"
	"hilrig/identify/record"
)

// Options are what the user chose.
type Options struct {
	to, outputPath string
	force, json    bool
}

// Flags are those of hil export-model.
func (f *Options) Flags(fl *pflag.FlagSet) {
	fl.StringVar(&f.to, "to", "", "what to write: "+strings.Join(Targets(), ", "))
	fl.StringVarP(&f.outputPath, "output", "o", "", "file to write; default: standard output")
	fl.BoolVar(&f.json, "json", false, "print what was written as JSON, without -o with the file")
	fl.BoolVar(&f.force, "force", false, "export a result that may not be used, too, and write over an existing file")
}

// Run writes the axis of a result of hil identify for another tool.
func Run(path string, f Options, stdout, stderr io.Writer) error {
	if f.to == "" {
		return report.ExitWith(report.Usage, fmt.Errorf("export-model: say for what: --to with one of %s", strings.Join(Targets(), ", ")))
	}
	if _, ok := find(f.to); !ok {
		hint := "known: " + strings.Join(Targets(), ", ")
		if near := spelling.Nearest(f.to, Targets()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return report.ExitWith(report.Usage, fmt.Errorf("export-model: --to %q: there is no such target; %s", f.to, hint))
	}
	if configs.KindOf(path) == configs.MachineFile {
		return f.machine(path, stdout, stderr)
	}
	m, err := load(path)
	if err != nil {
		return report.ExitWith(report.Invalid, fmt.Errorf("export-model: %w", err))
	}
	if why := m.Source.Refusal; why != nil {
		if !f.force {
			return report.ExitWith(report.Quality, fmt.Errorf("export-model: %s: %w. --force exports it all the same, and the file says so", path,
				why))
		}
		fmt.Fprintf(stderr, "warning: %s: %v; the file says so\n", path, why)
	}
	var b bytes.Buffer
	lost, err := Write(&b, f.to, m)
	if err != nil {
		return report.ExitWith(report.Invalid, fmt.Errorf("export-model: %s: %w", path, err))
	}
	return f.give(&b, m.Name, lost, stdout, stderr)
}

// machine writes the file of a machine for another tool.
func (f *Options) machine(path string, stdout, stderr io.Writer) error {
	m, err := loadMachine(path)
	if err != nil {
		return report.Refuse(stderr, err)
	}
	text, err := m.write(Target(f.to))
	if err != nil {
		return report.ExitWith(report.Invalid, fmt.Errorf("export-model: %s: %w", path, err))
	}
	return f.give(bytes.NewBuffer(text), m.name, m.omitted, stdout, stderr)
}

// give says what is lost, and writes the file where it is wanted.
func (f *Options) give(b *bytes.Buffer, name string, lost []string, stdout, stderr io.Writer) error {
	for _, l := range lost {
		fmt.Fprintf(stderr, "warning: not in the %s file: %s\n", f.to, l)
	}
	answer := struct {
		Name    string   `json:"name"`
		Target  string   `json:"target"`
		File    string   `json:"file,omitempty"`
		Omitted []string `json:"omitted"`
		Text    string   `json:"text,omitempty"` // the file, where none was written
	}{Name: name, Target: f.to, File: f.outputPath, Omitted: append([]string{}, lost...)}
	switch {
	case f.outputPath != "":
		write := func(w io.Writer) error { _, err := b.WriteTo(w); return err }
		if err := report.WriteWhole(f.outputPath, f.force, write); err != nil {
			return report.ExitWith(report.Unavailable, fmt.Errorf("export-model: %w", err))
		}
	case f.json:
		answer.Text = b.String()
	default:
		_, err := b.WriteTo(stdout)
		return err
	}
	out := report.Output{Stdout: stdout, JSON: f.json}
	return out.Give(answer, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n", f.outputPath, name) })
}

// load reads the result of a file.
func load(path string) (m Model, err error) {
	r, err := identify.ReadResult(path)
	if err != nil {
		return m, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return m, err
	}
	return modelOf(r, path, st.ModTime())
}

// modelOf is the axis of a result.
func modelOf(r *identify.Identification, path string, written time.Time) (m Model, err error) {
	c, err := r.Contact()
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	law, err := friction.Build(c.Law, c.Params)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	m = Model{Name: cmp.Or(r.Name, "axis"), Law: law, Inertia: c.Inertia, Rotary: c.Rotary}
	m.Source = Source{Result: path, Written: written, Program: r.Program, Method: r.Method, Verdict: string(r.Verdict), Reasons: r.Because(),
		Refusal: r.Acceptable(), Records: r.Records}
	if r.Records == nil {
		m.Source.Records = []record.Info{r.Data}
	}
	// a constant force is a load beside the law, for laws that have none
	offset, ok := r.Param("offset")
	if _, own := c.Params["offset"]; ok && !own {
		m.Offset = offset.Value
	}
	for _, left := range c.Omitted {
		if !strings.HasPrefix(left, "offset =") {
			m.Others = append(m.Others, left)
		}
	}
	for i := range r.Parameters {
		if p := &r.Parameters[i]; !p.State() {
			m.Source.Params = append(m.Source.Params, Param{p.Name, p.Unit, p.Value, p.Error, p.Fixed})
		}
	}
	return m, nil
}

// Help is that of hil export-model.
const Help = `Writes the axis of a result (hil identify -o) for another tool, with units, source and standard errors in a comment. A machine file
(hil identify --write-machine, hil import, or your own) goes to URDF and MuJoCo. What the tool cannot express is said, on standard error and
in the file. docs/reference/export-model.md has which friction law, and what of a machine, goes where.

Exit codes: 0 done; 2 wrong usage; 3 no result, or a law that the tool cannot express; 4 the file cannot be written; 6 the result
may not be used: rejected, interrupted, not told by the record (--force exports it all the same).`
