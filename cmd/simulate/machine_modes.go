package simulate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"hilrig/cmd/report"
	"hilrig/engine/machine"
)

// machineModes is the JSON of the modes of a machine.
type machineModes struct {
	Name          string             `json:"name"`
	Config        string             `json:"config"`
	Program       string             `json:"program"`
	DOF           int                `json:"degrees_of_freedom"`
	Unstable      bool               `json:"unstable"`
	Warnings      []string           `json:"warnings"`
	Files         map[string]string  `json:"files"`
	Equilibrium   map[string]float64 `json:"equilibrium"` // positions and states of the parts, by the names of the table
	FreePositions []string           `json:"free"`        // positions at which it rests wherever they are: the value is one of many
	Modes         []machineMode      `json:"modes"`
}

type machineMode struct {
	Real      float64               `json:"real_1_s"`
	Imaginary float64               `json:"imaginary_1_s"`
	Frequency float64               `json:"frequency_Hz"`
	Damping   *float64              `json:"damping_ratio"` // null: of an eigenvalue 0
	Share     map[string]float64    `json:"share"`
	Shape     map[string][2]float64 `json:"shape"` // real and imaginary part
}

// runModes tells the eigenvalues at the equilibrium that the positions of the file lead to.
func (s *machineRun) runModes(ctx context.Context, f Options, stdout, stderr io.Writer) error {
	if f.Step != 0 || f.Duration != 0 || f.Plot != "" || f.Animate != "" {
		return report.Exitf(report.Usage, "simulate: --modes has -o and --json: nothing runs, so there is no step, no duration, no figure")
	}
	modes, err := s.model.Modes(0, s.x)
	if err != nil {
		return report.Exitf(report.Quality, "simulate: %s: modes: %w", s.path, err)
	}
	out := s.describeModes(&modes, f)
	for _, w := range out.Warnings {
		fmt.Fprintf(stderr, "warning: %s\n", report.Readable(w))
	}
	if err := f.write(ctx, output{f.OutputPath, out.writeTable}); err != nil {
		return err
	}
	if f.Json {
		return report.EncodeJSON(stdout, out)
	}
	out.print(stdout, report.Titled(s.cfg.Name, s.cfg.Description), filepath.Base(s.path))
	fmt.Fprintf(stdout, "\nnext: %s\n", report.AsStarted("hil simulate "+s.path+"      runs it"))
	return nil
}

func (s *machineRun) describeModes(m *machine.Modes, f Options) (out machineModes) {
	out = machineModes{Name: s.cfg.Name, Config: s.path, Program: report.Version(), DOF: s.assembly.DOF,
		Warnings: []string{}, Files: f.files(), Equilibrium: map[string]float64{}, FreePositions: []string{}}
	columns := s.model.Columns()
	nq, nv := s.model.Model.NQ(), s.model.Model.NV()
	for i, x := range s.x {
		if i < nq || i >= nq+nv {
			name := Header(columns[i].Name, columns[i].Unit)
			out.Equilibrium[name] = report.Clean(x)
			if slices.Contains(m.FreePositions, columns[i].Name) {
				out.FreePositions = append(out.FreePositions, name)
			}
		}
	}
	for i := range m.List {
		k := &m.List[i]
		one := machineMode{Real: real(k.Eigenvalue), Imaginary: imag(k.Eigenvalue), Frequency: k.Frequency(),
			Share: map[string]float64{}, Shape: map[string][2]float64{}}
		if z := k.Damping(); !math.IsNaN(z) {
			one.Damping = &z
		}
		for j, state := range m.States {
			name := Header(state.Name, state.Unit)
			one.Share[name], one.Shape[name] = k.Share[j], [2]float64{real(k.Shape[j]), imag(k.Shape[j])}
		}
		out.Unstable = out.Unstable || one.Real > 0
		out.Modes = append(out.Modes, one)
	}
	warn := func(format string, a ...any) { out.Warnings = append(out.Warnings, fmt.Sprintf(format, a...)) }
	if out.Unstable {
		warn("the equilibrium is unstable: a mode with a positive real part grows")
	}
	if len(m.Loose) > 0 {
		warn("friction that sticks has no slope, and is left out with what is viscous in it: %s", strings.Join(m.Loose, ", "))
	}
	if len(m.Constant) > 0 {
		warn("held as at the start, because they do not rest: %s", strings.Join(m.Constant, ", "))
	}
	if len(m.Kinks) > 0 {
		warn("a force has a kink at the equilibrium along %s: the slope is the mean of both sides", strings.Join(m.Kinks, ", "))
	}
	return out
}

// names of the states, in their order.
func (m *machineModes) names() []string {
	if len(m.Modes) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(m.Modes[0].Share))
}

func (m *machineModes) writeTable(w io.Writer) error {
	names := []string{"real_1_s", "imaginary_1_s", "frequency_Hz", "damping_ratio"}
	states := m.names()
	for _, n := range states {
		names = append(names, n+".share")
	}
	return writeTable(w, names, len(m.Modes), func(k, j int) float64 {
		one := &m.Modes[k]
		damping := math.NaN()
		if one.Damping != nil {
			damping = *one.Damping
		}
		if j < 4 {
			return [4]float64{one.Real, one.Imaginary, one.Frequency, damping}[j]
		}
		return one.Share[states[j-4]]
	})
}

func (m *machineModes) print(w io.Writer, title, file string) {
	fmt.Fprintf(w, "%s\n%s about its equilibrium, %d degrees of freedom\n\n", title, file, m.DOF)
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "equilibrium\t\t\n")
	for _, name := range slices.Sorted(maps.Keys(m.Equilibrium)) {
		free := ""
		if slices.Contains(m.FreePositions, name) {
			free = " free"
		}
		fmt.Fprintf(t, "%s\t%.6g\t%s\n", name, report.Number(m.Equilibrium[name]), free)
	}
	t.Flush()
	fmt.Fprintln(w)
	t = tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "mode\teigenvalue (1/s)\tfrequency (Hz)\tdamping ratio\ttime constant (s)\t what moves\n")
	for i := range m.Modes {
		k := &m.Modes[i]
		value, damping, constant := fmt.Sprintf("%.6g", report.Number(k.Real)), "–", "–"
		if k.Imaginary != 0 {
			value += fmt.Sprintf(" ± %.6gi", report.Number(k.Imaginary))
		}
		if k.Damping != nil {
			damping = fmt.Sprintf("%.4g", report.Number(*k.Damping))
		}
		if k.Real != 0 {
			constant = fmt.Sprintf("%.4g", report.Number(-1/k.Real))
		}
		fmt.Fprintf(t, "%d\t%s\t%.6g\t%s\t%s\t %s\n", i+1, value, report.Number(k.Frequency), damping, constant, k.movers())
	}
	t.Flush()
}

// movers are the states that take part most.
func (k *machineMode) movers() string {
	var names []string
	for name, share := range k.Share {
		if share > 0.05 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(math.Round(100*k.Share[b]), math.Round(100*k.Share[a])), strings.Compare(a, b))
	})
	for i, name := range names[:min(3, len(names))] {
		names[i] = fmt.Sprintf("%s %.0f %%", name, 100*k.Share[name])
	}
	return strings.Join(names[:min(3, len(names))], ", ")
}
