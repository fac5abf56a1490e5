package exportmodel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	fits "hilrig/identify"
	"hilrig/identify/record"
)

// Options are what the user chose.
type Options struct {
	to, out string
	force   bool
}

// Flags are those of hil export-model.
func (f *Options) Flags(fl *pflag.FlagSet) {
	fl.StringVar(&f.to, "to", "", "what to write: "+strings.Join(Targets(), ", "))
	fl.StringVarP(&f.out, "output", "o", "", "file to write; default: standard output")
	fl.BoolVar(&f.force, "force", false, "export a result that was rejected, too, and write over an existing file")
}

// Run writes the axis of a result of hil identify for another tool.
func Run(path string, f Options, stdout, stderr io.Writer) error {
	if _, ok := find(f.to); !ok {
		why := fmt.Sprintf("there is no target %q", f.to)
		if f.to == "" {
			why = "--to says for which tool"
		}
		return report.ExitWith(report.Usage, fmt.Errorf("export-model: %s; known: %s", why, strings.Join(Targets(), ", ")))
	}
	m, err := load(path)
	if err != nil {
		return report.ExitWith(report.Invalid, err)
	}
	if m.Source.Rejected {
		if !f.force {
			return report.ExitWith(report.Quality, fmt.Errorf("export-model: %s: this fit was rejected: %s. --force exports it all the same, and the file says so",
				path, strings.Join(m.Source.Reasons, "; ")))
		}
		fmt.Fprintf(stderr, "warning: %s: this fit was rejected; the file says so\n", path)
	}
	var b bytes.Buffer
	lost, err := Write(&b, f.to, m)
	if err != nil {
		return report.ExitWith(report.Invalid, fmt.Errorf("export-model: %s: %w", path, err))
	}
	for _, l := range lost {
		fmt.Fprintf(stderr, "warning: not in the %s file: %s\n", f.to, l)
	}
	if f.out == "" {
		_, err = b.WriteTo(stdout)
		return err
	}
	write := func(w io.Writer) error { _, err := b.WriteTo(w); return err }
	if err := report.WriteWhole(f.out, f.force, write); err != nil {
		return report.ExitWith(report.Unavailable, fmt.Errorf("export-model: %w", err))
	}
	fmt.Fprintf(stdout, "%s: %s\n", f.out, m.Name)
	return nil
}

// load reads the result of a file.
func load(path string) (m Model, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return m, fmt.Errorf("export-model: %w", err)
	}
	st, err := os.Stat(path)
	if err != nil {
		return m, fmt.Errorf("export-model: %w", err)
	}
	var r identify.Identification
	if err := json.Unmarshal(data, &r); err != nil || r.Result == nil || len(r.Stages) == 0 {
		return m, fmt.Errorf("export-model: %s is not a result of hil identify -o (%v)", path, err)
	}
	m.Name, m.Source = cmp.Or(r.Name, "axis"), Source{Result: path, Written: st.ModTime(), Program: r.Program, Method: r.Method, Verdict: string(r.Verdict), Reasons: r.Reasons,
		Rejected: r.Verdict == fits.Rejected, Records: r.Records}
	if r.Records == nil {
		m.Source.Records = []record.Info{r.Data}
	}
	for _, p := range r.Parameters {
		m.Source.Params = append(m.Source.Params, Param{p.Name, p.Unit, p.Value, p.Error})
	}
	return m, nil
}
