package identify

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/pflag"

	"hilrig/cmd/fitreport"
	"hilrig/cmd/plot"
	"hilrig/cmd/report"
)

// display is how a result is shown besides its numbers.
type display struct {
	page    string // HTML file; "": none
	figures string // folder; "": none
	plot    bool   // in the terminal
}

func (s *display) flags(fl *pflag.FlagSet) {
	fl.StringVar(&s.page, "report", "", "also write the result with its figures to this HTML file")
	fl.StringVar(&s.figures, "figures", "", "also write the figures to this folder, each as SVG and as PDF")
	fl.BoolVar(&s.plot, "plot", false, "draw the figures in the terminal")
}

// check refuses what cannot be written before anything is read.
func (s *display) check(verb string, json, force bool) error {
	if s.plot && json {
		return report.ExitWith(report.Usage, fmt.Errorf("%s: --plot draws below the printed result, and with --json nothing but JSON is "+
			"printed: leave one out", verb))
	}
	if force {
		return nil
	}
	if _, err := os.Lstat(s.page); s.page != "" && err == nil {
		return report.ExitWith(report.Usage, fmt.Errorf("%s: %s exists; --force writes over it", verb, s.page))
	}
	for _, kind := range figureKinds {
		if old, _ := filepath.Glob(filepath.Join(s.figures, "*."+kind)); s.figures != "" && len(old) > 0 {
			return report.ExitWith(report.Usage, fmt.Errorf("%s: %s holds figures already; --force writes over them", verb, s.figures))
		}
	}
	return nil
}

// warnNoResult says that what was asked for is not written: there is no result.
func (s *display) warnNoResult(stderr io.Writer) {
	if s.page != "" || s.figures != "" {
		fmt.Fprintln(stderr, "warning: no report and no figures: there is no result to show")
	}
}

var figureKinds = []string{"svg", "pdf"}

// show writes the page and the figures, and draws.
func (s *display) show(p fitreport.Page, force bool, stdout io.Writer) error {
	if s.page != "" {
		if err := report.WriteWhole(s.page, force, func(w io.Writer) error { return fitreport.Write(w, p) }); err != nil {
			return report.ExitWith(report.Unavailable, err)
		}
	}
	if s.figures == "" && !s.plot {
		return nil
	}
	if s.figures != "" {
		if err := os.MkdirAll(s.figures, 0o755); err != nil {
			return report.ExitWith(report.Unavailable, fmt.Errorf("--figures: %w", err))
		}
	}
	for _, one := range p.Fits {
		lead := ""
		if len(p.Fits) > 1 {
			lead = fileName.ReplaceAllString(one.Name, "-") + "-"
		}
		all, missing := fitreport.Figures(one.Result)
		for _, f := range all {
			for _, kind := range figureKinds {
				if s.figures == "" {
					break
				}
				f.Title = cmp.Or(one.Name, p.Title)
				path := filepath.Join(s.figures, lead+f.Name+"."+kind)
				if err := report.WriteWhole(path, force, func(w io.Writer) error { return f.Write(w, kind) }); err != nil {
					return report.ExitWith(report.Unavailable, err)
				}
			}
			if s.plot {
				f.Title = "" // the caption says more
				fmt.Fprintf(stdout, "\n%s\n", f.Caption)
				if err := f.Text(stdout, plot.TerminalOf(stdout)); err != nil {
					return err
				}
			}
		}
		if s.plot {
			for _, why := range missing {
				fmt.Fprintf(stdout, "not drawn: %s\n", why)
			}
		}
	}
	return nil
}

var fileName = regexp.MustCompile(`[^\pL\pN._+-]+`)

// PageOf is the page of an identification.
func PageOf(r Identification) fitreport.Page {
	p := fitreport.Page{Title: cmp.Or(r.Name, r.Config), Program: r.Program, Command: r.Command, Files: []string{r.Config}, JSON: r}
	if r.Interrupted {
		p.Interrupted = "Interrupted, by Ctrl-C or by its time limit: these are the best values so far, not the optimum."
	}
	one := fitreport.Fit{Name: r.Name, Seed: r.Seed, Warnings: warningsOf(r.Result), Assumed: r.Assumed, Result: r.Result}
	if r.Run != nil {
		one.LiveEstimates = r.Run.remarks()
	}
	p.Fits = append(p.Fits, one)
	return p
}

// page is that of a comparison, the best model first.
func (c *Compared) page(all []candidate, interrupted bool) fitreport.Page {
	p := fitreport.Page{Title: "Comparison of " + fmt.Sprint(len(c.Models)) + " models", Program: c.Program, Command: c.Command,
		Files: c.Files, Ranking: c.Comparison, JSON: c}
	if interrupted {
		p.Interrupted = "Interrupted: models without a result were not fitted, and those with one are ranked without them."
	}
	for _, m := range c.Models {
		if m.Result == nil {
			continue
		}
		one := fitreport.Fit{Name: m.Name, Warnings: warningsOf(m.Result), Result: m.Result}
		if i := slices.IndexFunc(all, func(c candidate) bool { return c.name == m.Name }); i >= 0 && all[i].cfg != nil {
			one.Seed = all[i].cfg.Seed
		}
		p.Fits = append(p.Fits, one)
	}
	return p
}
