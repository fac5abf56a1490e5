package identify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/hil/sink"
	"hilrig/identify"
	"hilrig/identify/fit"
	"hilrig/identify/record"
	"hilrig/identify/response"
)

// runResponse finds parameters of a machine from how it answers to recorded inputs.
func runResponse(ctx context.Context, path string, f Options, stdout, stderr io.Writer) error {
	if err := f.refuseForMachine("the response of a machine", path, "records, outputs and parameters"); err != nil {
		return err
	}
	cfg, warnings, err := configs.LoadResponseFit(path)
	if err != nil {
		return report.Refuse(stderr, err)
	}
	report.PrintWarnings(stderr, warnings)
	return f.answer(ctx, path, stdout, stderr, func(ctx context.Context, bar *report.Progress) (*answer, error) {
		res, outputs, found, err := fitResponse(ctx, cfg, f.workers, bar)
		if err != nil {
			return nil, err
		}
		return &answer{
			Identification: Identification{Name: cfg.Name, Result: res, Response: outputs}, rotary: true, requireFit: cfg.RequireFit,
			printAfter: func(w io.Writer) { printOutputs(w, outputs) },
			nextStep:   func() string { return f.afterMachine(res, "docs/reference/identify-response.md") },
			machine: &machineFile{path: cfg.Machine, records: cfg.Data.Files(), identified: func() ([]byte, []string, error) {
				text, err := cfg.Identified(fit.Values(found.Solution.Params)[:len(cfg.Parameters)])
				return text, nil, err
			}},
		}, nil
	})
}

// fitResponse is the fit of a file.
func fitResponse(ctx context.Context, cfg *configs.ResponseFit, workers int, bar *report.Progress) (*identify.Result, *identify.Response,
	*response.Result, error) {
	recs, err := readResponses(ctx, cfg, cfg.Data.Files(), false, bar)
	if err != nil {
		return nil, nil, nil, err
	}
	spec := cfg.Spec(workers)
	found, err := response.Fit(ctx, spec, recs.recordings, progressWatch(bar))
	if err != nil {
		return nil, nil, nil, err
	}
	checks, err := checkResponse(ctx, cfg, found, bar)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("validation: %w", err)
	}
	res, answer, err := identify.OfResponse(found, recs.info, recs.findings, checks, spec.Params)
	return res, answer, found, err
}

// responses are records with what their checks say.
type responses struct {
	recordings []response.Recording
	info       []record.Info
	findings   []record.Finding
}

// readResponses reads the columns of all files, each by itself; a piece of a file is a recording.
func readResponses(ctx context.Context, cfg *configs.ResponseFit, files []string, whole bool, bar *report.Progress) (*responses, error) {
	out := &responses{}
	columns := cfg.Columns()
	var names []string
	for _, col := range columns {
		names = append(names, col.Role)
	}
	held := len(cfg.Inputs)
	if cfg.Interpolation == "line" {
		held = 0
	}
	for _, file := range files {
		pieces, err := readTogether(file, names, held, func(i int) ([]*record.Record, error) {
			list, err := readColumn(ctx, file, cfg, columns[i], whole, bar)
			if err == nil {
				out.check(list, &columns[i], i < len(cfg.Inputs))
			}
			return list, err
		})
		if err != nil {
			return nil, err
		}
		for _, list := range pieces {
			r := response.Recording{Dt: list[0].Dt}
			for i, p := range list {
				if i < len(cfg.Inputs) {
					r.Inputs = append(r.Inputs, p.Position)
				} else {
					r.Outputs = append(r.Outputs, p.Position)
				}
			}
			out.recordings, out.info = append(out.recordings, r), append(out.info, list[0].Info())
		}
	}
	return out, nil
}

// check takes in what the checks of an input or output say.
func (r *responses) check(pieces []*record.Record, col *configs.ResponseColumn, input bool) {
	switch {
	case input:
		r.findings = append(r.findings, record.CheckInput(pieces, col.Role, col.Unit)...)
	case col.Unit == "rad" || col.Unit == "m":
		for _, f := range record.Check(pieces, record.CheckOptions{Rotary: col.Unit == "rad", Coupled: true}) {
			if f.Kind != "one-direction" { // what else pushes stands in the machine
				f.Text, f.Channel = "output "+col.Role+": "+f.Text, col.Role
				r.findings = append(r.findings, f)
			}
		}
	}
}

// readColumn reads one column of a file, as a position whatever it is.
func readColumn(ctx context.Context, file string, cfg *configs.ResponseFit, col configs.ResponseColumn, whole bool,
	bar *report.Progress) ([]*record.Record, error) {
	d := &cfg.Data
	m := mappingOfFiles(&d.Records)
	m.Watch = bar.Reading(file)
	if whole {
		m.Span = [2]float64{}
	}
	var err error
	if m.Time, err = columnOf(d.Time, "s"); err != nil {
		return nil, err
	}
	if m.Position, err = columnOf(col.Column, col.Unit); err != nil {
		return nil, err
	}
	m.Position.Optional = false // it is the only one
	if _, ok := sink.FindRun(file); ok {
		return readRecording(ctx, file, m, false)
	}
	if _, missing := os.Stat(file); errors.Is(missing, fs.ErrNotExist) && d.Source != "" {
		return nil, &record.Error{File: file, Msg: "is not there", Hint: "It comes from: " + strings.TrimSpace(d.Source)}
	}
	return record.Read(file, m)
}

// checkResponse explains the records that are not fitted; nil: there are none.
func checkResponse(ctx context.Context, cfg *configs.ResponseFit, found *response.Result, bar *report.Progress) (*identify.ResponseChecks,
	error) {
	if len(cfg.Validate) == 0 {
		return nil, nil
	}
	recs, err := readResponses(ctx, cfg, cfg.Validate, true, bar)
	if err != nil {
		return nil, err
	}
	out := &identify.ResponseChecks{Info: recs.info, Findings: recs.findings}
	out.Solution, out.Outputs, err = found.Explain(ctx, recs.recordings)
	return out, err
}

// printOutputs writes how well each output is explained.
func printOutputs(w io.Writer, a *identify.Response) {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "output\tfit\tleft over\tnoise\tvalidation\t\n")
	for _, o := range a.Outputs {
		valid := "–"
		if o.Valid != nil {
			valid = fmt.Sprintf("%.1f %%", *o.Valid)
		}
		fmt.Fprintf(t, "%s\t%.2f %%\t%.3g %s\t%.3g %s\t%s\t\n", o.Name, o.Percent, report.Number(o.RMS), o.Unit,
			report.Number(o.Noise), o.Unit, valid)
	}
	t.Flush()
	if a.Starts > 1 {
		fmt.Fprintf(w, "%d of %d descents from different values ended at this place\n", a.Reached, a.Starts)
	}
}
