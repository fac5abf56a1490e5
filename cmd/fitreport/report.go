// Package fitreport shows what an identification found as one HTML page that needs no other file: verdict, parameters, figures, quality
// of the data, and where all of it came from.
//
// Figures are values of package plot, the same for the page, for files of their own and for a terminal. Every number of the page stands
// in the JSON that the page carries, and in the attribute data-value beside the rounded one that is read.
package fitreport

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hilrig/cmd/report"
	"hilrig/identify"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Page is what one file shows: a fit, or several that were compared.
type Page struct {
	Title       string
	Program     string   // version
	Command     string   // repeats it
	Files       []string // that asked for it
	Fits        []Fit
	Ranking     *identify.Comparison // nil: nothing was compared
	Interrupted string               // why the page is not whole; "": it is
	JSON        any                  // the same for programs, which the page carries along; nil: it does not
}

// Fit is one result and where it came from.
type Fit struct {
	Name          string
	Seed          int
	Assumed       []Assumption // what was taken for granted in place of a file
	LiveEstimates []string     // what the recording estimated itself; nil: it is no recording
	Warnings      []string     // of records and fit
	Result        *identify.Result
}

// Assumption is one thing that was taken for granted.
type Assumption struct {
	Topic string `json:"about"`
	Text  string `json:"text"`
}

//go:embed report.html
var text string

var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Funcs(template.FuncMap{
		"join": strings.Join, "figures": inlined, "parameters": parameters, "words": words, "records": recordsOf, "misfit": misfits,
		"style": func() template.CSS { return report.PageStyle },
		"say":   func(text any) string { return report.Readable(fmt.Sprint(text)) },
		"num": func(format string, x *float64) template.HTML {
			return number(x, func(v float64) string { return fmt.Sprintf(format, report.Number(v)) })
		},
		"val": func(format string, x float64) template.HTML {
			return number(&x, func(v float64) string { return fmt.Sprintf(format, report.Number(v)) })
		},
		"share": func(m identify.Ranked, all []identify.Ranked) float64 { return bar(m, all) },
	}).Parse(text))
})

// Write writes the page.
func Write(w io.Writer, p Page) error {
	var carried template.JS
	if p.JSON != nil {
		var b bytes.Buffer
		if err := report.EncodeJSON(&b, p.JSON); err != nil {
			return fmt.Errorf("report: %w", err)
		}
		carried = template.JS(strings.ReplaceAll(b.String(), "<", `\u003c`)) // no end of the element inside it
	}
	return page().Execute(w, struct {
		Page
		ResultJSON template.JS
	}{p, carried})
}

// number is a rounded number that carries the whole one.
func number(x *float64, show func(float64) string) template.HTML {
	if x == nil {
		return "–"
	}
	return template.HTML(fmt.Sprintf(`<data value="%s">%s</data>`, strconv.FormatFloat(*x, 'g', -1, 64),
		template.HTMLEscapeString(report.Typeset(show(report.Clean(*x))))))
}

// row is a parameter ready to be shown.
type row struct {
	*identify.Parameter
	Number, Err, Interval, Boot, StartValue, Bounds template.HTML
	Class                                           string
}

// shownStates of the motion, where records and segments begin, are listed.
const shownStates = 8

// parameters are the rows of the table. Columns that nothing would stand in are left out by the flags.
func parameters(r *identify.Result) (t struct {
	Rows                   []row
	Boot, Start, HasBounds bool
	UnlistedStates         int // states that are not listed
}) {
	states := 0
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if p.State() {
			if states++; states > shownStates {
				t.UnlistedStates++
				continue
			}
		}
		if p.Fixed && p.Value == 0 {
			continue // what the model could have and has not
		}
		show := report.Digits(p.Value, p.StdErr, p.RobustErr)
		if p.Fixed {
			show = func(x float64) string { return fmt.Sprintf("%.6g", report.Number(x)) }
		}
		between := func(ci *[2]float64, without template.HTML) template.HTML {
			if ci == nil {
				return without
			}
			return number(&ci[0], show) + " … " + number(&ci[1], show)
		}
		short := func(x float64) string { return fmt.Sprintf("%.4g", report.Number(x)) }
		out := row{Parameter: p, Number: number(&p.Value, show), Class: strings.ReplaceAll(p.Worth, " ", "-")}
		if !p.Fixed {
			if out.Err = "∞"; p.Error != nil {
				out.Err = number(p.Error, show)
			}
			out.Interval, out.Boot, out.StartValue = between(p.CI, "unbounded"), between(p.Boot95, "–"), number(p.Start, short)
			if p.Min != nil || p.Max != nil {
				out.Bounds = bound(p.Min, "−∞", short) + " … " + bound(p.Max, "∞", short)
			}
		}
		t.Boot = t.Boot || p.Boot95 != nil
		t.Start = t.Start || p.Start != nil
		t.HasBounds = t.HasBounds || out.Bounds != ""
		t.Rows = append(t.Rows, out)
	}
	return t
}

func bound(x *float64, without template.HTML, show func(float64) string) template.HTML {
	if x == nil {
		return without
	}
	return number(x, show)
}

// drawn is a figure as a part of the page.
type drawn struct {
	Name, Caption string
	SVG           template.HTML
}

// inlined are the figures of a result, and why others are not there.
func inlined(r *identify.Result) (out struct {
	Figures        []drawn
	MissingFigures []string
}, err error) {
	all, missing := Figures(r)
	out.MissingFigures = missing
	for _, f := range all {
		var b bytes.Buffer
		if err := f.Write(&b, "inline"); err != nil {
			return out, fmt.Errorf("figure %s: %w", f.Name, err)
		}
		out.Figures = append(out.Figures, drawn{f.Name, f.Caption, template.HTML(b.String())})
	}
	return out, nil
}

// words are the verdict as a class of the style sheet.
func words(v identify.Verdict) string { return strings.ReplaceAll(string(v), " ", "-") }

// use is a file and what it served for.
type use struct {
	record.Info        // of all its pieces together
	Use         string // fitted, validation
	Pieces      int
}

// recordsOf are the files of a result.
func recordsOf(r *identify.Result) (out []use) {
	add := func(what string, first record.Info, all []record.Info) {
		if len(all) == 0 {
			all = []record.Info{first}
		}
		for _, d := range all {
			i := slices.IndexFunc(out, func(u use) bool { return u.Use == what && u.File == d.File && u.SHA256 == d.SHA256 })
			if i < 0 {
				out = append(out, use{d, what, 1})
				continue
			}
			u := &out[i]
			u.Pieces, u.Samples, u.Duration = u.Pieces+1, u.Samples+d.Samples, u.Duration+d.Duration
		}
	}
	add("fitted", r.Data, r.Records)
	if v := r.Validation; v != nil {
		add("validation", v.Data, v.Records)
	}
	return out
}

// misfits are what the model leaves over, on each of the records.
func misfits(r *identify.Result) (out []struct {
	Records string
	fit.Quality
}) {
	add := func(on string, q fit.Quality) {
		out = append(out, struct {
			Records string
			fit.Quality
		}{on, q})
	}
	if r.Weighted { // by the uncertainty of each prediction: a share of the measured is none
		q := r.Fit
		q.Percent, q.Relative = nil, nil
		add("fitted records, weighted", q)
	} else {
		add("fitted records", r.Fit)
	}
	if r.Unweighted != nil {
		q := *r.Unweighted
		q.AICc, q.BIC = nil, nil // nothing is free in it
		add("fitted records, unweighted", q)
	}
	if v := r.Validation; v != nil {
		add("validation", v.Fit)
	}
	return out
}

// bar is how long the bar of a model is, in percent of the longest: what it leaves over.
func bar(m identify.Ranked, all []identify.Ranked) float64 {
	of := func(m identify.Ranked) float64 {
		switch {
		case m.VRMS != nil:
			return *m.VRMS
		case m.RMS != nil:
			return *m.RMS
		}
		return 0
	}
	most := 0.0
	for _, o := range all {
		most = max(most, of(o))
	}
	if most == 0 {
		return 0
	}
	return 100 * of(m) / most
}
