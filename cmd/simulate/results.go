package simulate

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"hilrig/cmd/plot"
	"hilrig/cmd/report"
)

// results are what a run of any kind gives beside what only its kind has.
type results struct {
	path     string
	warnings []string
	known    int      // warnings that are about the file, and were printed when it was read
	columns  []column // a number a row, the time first
	metrics  []Metric
}

// newResults begins with the warnings about the file.
func newResults(path string, warnings []string) results {
	return results{path: path, warnings: warnings, known: len(warnings)}
}

// warn keeps a remark about the run.
func (r *results) warn(format string, a ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, a...))
}

// of is a column by its name.
func (r *results) of(name string) []float64 {
	for _, c := range r.columns {
		if c.name == name {
			return c.x
		}
	}
	panic("simulate: no column " + name)
}

// printWarnings prints those about the run.
func (r *results) printWarnings(stderr io.Writer) {
	for _, w := range r.warnings[r.known:] {
		fmt.Fprintf(stderr, "warning: %s\n", report.Readable(w))
	}
}

// writeColumns writes the rows as CSV.
func (r *results) writeColumns(w io.Writer) error {
	var names []string
	for _, c := range r.columns {
		names = append(names, Header(c.name, c.unit))
	}
	return writeTable(w, names, len(r.columns[0].x), func(k, j int) float64 { return r.columns[j].x[k] })
}

// printMetrics prints the numbers of the report.
func (r *results) printMetrics(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	for _, m := range r.metrics {
		fmt.Fprintf(t, "%s\t%.6g\t %s\t\n", m.Name, report.Number(m.Value), m.Unit)
	}
	t.Flush()
}

// runHead begins the JSON of a run.
type runHead struct {
	Name    string `json:"name"`
	Config  string `json:"config"`
	Program string `json:"program"`
}

// runNumbers are a part of it.
type runNumbers struct {
	Warnings []string           `json:"warnings"`
	Files    map[string]string  `json:"files"`
	Metrics  map[string]float64 `json:"metrics"`
	Units    map[string]string  `json:"units"`
}

func (r *results) head(name string) runHead { return runHead{name, r.path, report.Version()} }

func (r *results) numbers(f Options) runNumbers {
	n := runNumbers{append([]string{}, r.warnings...), f.files(), map[string]float64{}, map[string]string{}}
	for _, m := range r.metrics {
		n.Metrics[m.Name], n.Units[m.Name] = m.Value, m.Unit
	}
	return n
}

// figureOutput is a figure in a format as one of the files of results.
func figureOutput(path, format string, figure func() *plot.Figure) output {
	return output{path, func(w io.Writer) error { return figure().Write(w, format) }}
}

// finish writes files, then prints the answer as JSON, or for people with the command that makes sense after it. It returns doubt unless
// something else fails.
func (f *Options) finish(ctx context.Context, files []output, answer func() any, print func(w io.Writer), next string, doubt error,
	stdout io.Writer) error {
	if err := f.write(ctx, files...); err != nil {
		return err
	}
	if f.Json {
		if err := report.EncodeJSON(stdout, answer()); err != nil {
			return err
		}
		return doubt
	}
	print(stdout)
	fmt.Fprintf(stdout, "\nnext: %s\n", report.AsStarted(next))
	return doubt
}
