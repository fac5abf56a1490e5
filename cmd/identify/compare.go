package identify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/identify"
	"hilrig/identify/axis"
)

var errInterrupted = errors.New("interrupted: a comparison needs all of its models")

// candidate is a model to be fitted, or one that was.
type candidate struct {
	name    string
	cfg     *configs.Identify // nil: the result is there
	result  *identify.Result
	partial bool // one of several models of a file, whose parameters need not be those of all
}

// Compare fits the models of files to their records and ranks them.
func Compare(ctx context.Context, paths []string, f Options, stdout, stderr io.Writer) error {
	if err := f.check("compare"); err != nil {
		return err
	}
	var all []candidate
	for _, path := range paths {
		some, err := f.candidates(path, stderr)
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	if len(all) < 2 {
		return report.ExitWith(report.Usage, fmt.Errorf("compare: %s is a single model: give the file a compare: list, or name a second file",
			paths[0]))
	}

	ctx, _, stop := report.UntilInterrupt(ctx, goesOn)
	defer stop()
	bar := report.NewProgress(stderr)
	defer bar.Finish()
	said, err := f.announce(ctx, "", "", "compare", "")
	if err != nil {
		return err
	}
	run := func(c *candidate, near map[string]float64) (*identify.Result, error) {
		if ctx.Err() != nil {
			return nil, errInterrupted
		}
		recs, err := readRecords(ctx, c.cfg, bar)
		if err != nil {
			return nil, report.ExitWith(report.Invalid, err)
		}
		plan := PlanOf(c.cfg, f.workers)
		for i := range plan.GivenParams {
			plan.GivenParams[i].Optional = c.partial
		}
		plan.SimplerParams, plan.RunFree = near, true
		res, err := identify.Run(ctx, plan, recs, nil, said.watch(progressWatch(bar)))
		if ctx.Err() != nil {
			return nil, errInterrupted
		}
		if err != nil {
			return &identify.Result{}, err
		}
		if res.Panic != nil {
			return &identify.Result{}, res.Panic
		}
		return res, nil
	}
	var models []identify.Ranked
	for i := range all {
		m := identify.Ranked{Name: all[i].name, Result: all[i].result}
		if all[i].cfg != nil {
			res, err := run(&all[i], nil)
			switch {
			case err == errInterrupted:
				m.Err = "interrupted before it was fitted"
			case err != nil && res == nil:
				return err
			case err != nil:
				m.Err = err.Error()
			default:
				m.Result = res
			}
		}
		models = append(models, m)
	}
	// what ended worse than a special case of it begins from there
	for i, near := range identify.Worse(models) {
		if all[i].cfg == nil {
			continue
		}
		res, err := run(&all[i], near)
		if err == errInterrupted {
			break
		} else if res == nil {
			return err
		}
		if err == nil && res.Fit.RMS < models[i].Result.Fit.RMS {
			models[i].Result = res
		}
	}
	bar.Finish()
	ranking, err := identify.Compare(models)
	if err != nil {
		return report.ExitWith(report.Invalid, fmt.Errorf("compare: %w", err))
	}
	out := Compared{paths, report.Version(), report.CommandLine(), ranking}
	if ctx.Err() != nil {
		if err := f.display.show(out.page(all, true), f.force, stdout); err != nil {
			return err
		}
		return report.ExitWith(report.Interrupted, errInterrupted)
	}
	if f.outputPath != "" {
		if err := writeResult(f.outputPath, out); err != nil {
			return report.ExitWith(report.Unavailable, err)
		}
	}
	if f.json {
		if err := report.EncodeJSON(stdout, out); err != nil {
			return err
		}
	} else {
		printComparison(stdout, ranking)
	}
	if err := f.display.show(out.page(all, false), f.force, stdout); err != nil {
		return err
	}
	if err := said.result(ranking.Models[0].Result, f.outputPath, errors.New("no model was fitted")); err != nil { // the best
		return err
	}
	if !slices.ContainsFunc(ranking.Models, func(m identify.Ranked) bool { return m.Result != nil && m.Verdict != identify.Rejected }) {
		return report.ExitWith(report.Quality, errors.New("compare: no model is left that is not rejected"))
	}
	return nil
}

// ReadResult reads what hil identify -o wrote.
func ReadResult(path string) (*Identification, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r Identification
	if err := json.Unmarshal(data, &r); err != nil || r.Result == nil || len(r.Stages) == 0 {
		why := "no fit is in it"
		if err != nil {
			why = "no JSON, or cut off: " + err.Error()
		}
		return nil, fmt.Errorf("%s is not a result of hil identify -o (%s)", path, why)
	}
	return &r, nil
}

// candidates are the models that a file stands for.
func (f *Options) candidates(path string, stderr io.Writer) ([]candidate, error) {
	if strings.EqualFold(filepath.Ext(path), ".json") {
		r, err := ReadResult(path)
		if err != nil {
			return nil, report.ExitWith(report.Invalid, err)
		}
		return []candidate{{name: cmp.Or(r.Name, path), result: r.Result}}, nil
	}
	cfg, err := configs.LoadIdentify(path)
	if err != nil {
		return nil, report.Refuse(stderr, err)
	}
	if err := f.applyFlags(cfg); err != nil {
		return nil, report.ExitWith(report.Usage, fmt.Errorf("compare: %w", err))
	}
	if len(cfg.Compare) == 0 {
		return []candidate{{name: cmp.Or(cfg.Name, path), cfg: cfg}}, nil
	}
	var out []candidate
	for _, v := range cfg.Compare {
		c := *cfg
		c.Model.Terms = slices.Clone(cfg.Model.Terms)
		c.Model.Law, c.Model.Lag = cmp.Or(v.Law, c.Model.Law), cmp.Or(v.Lag, c.Model.Lag)
		if v.Method != nil {
			c.Method = v.Method
		}
		if v.Terms != nil {
			c.Terms = v.Terms
		}
		if v.Asymmetric != nil {
			c.Model.Asymmetric = *v.Asymmetric
		}
		if c.Model.Asymmetric { // the difference of Fc+ and Fc- is an offset
			c.Model.Terms = slices.DeleteFunc(c.Model.Terms, func(t string) bool { return t == "offset" })
		}
		if axis.Damped(c.Model.Law) { // and has viscous friction without the term
			c.Model.Terms = slices.DeleteFunc(c.Model.Terms, func(t string) bool { return t == "viscous" })
		}
		out = append(out, candidate{name: cmp.Or(v.Name, c.Model.Law), cfg: &c, partial: true})
	}
	return out, nil
}

// Compared is what is printed and stored of a comparison.
type Compared struct {
	Files   []string `json:"files"`
	Program string   `json:"program"`
	Command string   `json:"command"`
	*identify.Comparison
}

// printComparison writes a ranking for people.
func printComparison(w io.Writer, c *identify.Comparison) {
	fmt.Fprintf(w, "ranked by %s\n\n", c.By)
	num := report.OrDash
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "rank\tmodel\tparameters\trms\tfit %\tΔAICc\tvalidation rms\tfit %\tp\tverdict")
	for _, m := range c.Models {
		rank := fmt.Sprint(m.Rank)
		switch {
		case m.Tied:
			rank = "="
		case m.Undecided:
			rank += "?"
		}
		if m.Result == nil {
			fmt.Fprintf(t, "–\t%s\t\t\t\t\t\t\t\tno result\n", m.Name)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s %s\t%s\t%s\t%s\t%s\t%s\t%s\n", rank, m.Name, m.Params, num("%.4g", m.RMS), m.Unit, num("%.2f", m.Percent),
			num("%.1f", m.DAICc), num("%.4g", m.VRMS), num("%.2f", m.VFit), num("%.2g", m.PValue), m.Verdict)
	}
	t.Flush()
	fmt.Fprintf(w, "\n%s\n", c.Headline)
	for _, s := range c.Supports {
		fmt.Fprintf(w, "  %s\n", s)
	}
}
