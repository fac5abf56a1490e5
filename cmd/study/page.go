package study

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"sync"

	"hilrig/cmd/plot"
	"hilrig/cmd/report"
	"hilrig/engine/study"
)

//go:embed page.html
var pageText string

var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("study").Funcs(template.FuncMap{
		"style": func() template.CSS { return report.PageStyle },
		"num":   func(format string, x *float64) string { return report.Typeset(report.OrDash(format, x)) },
		"val":   func(format string, x float64) string { return report.Typeset(report.OrDash(format, &x)) },
	}).Parse(pageText))
})

// pageFigure is a figure of the page.
type pageFigure struct {
	Name, Title string
	SVG         template.HTML
}

// writePage writes the summary as a page that needs no other file, with the figures of the study.
func (s *parameterStudy) writePage(w io.Writer, sum *Summary, missing int, figures []*plot.Figure) error {
	data := struct {
		Sum        *Summary
		Plan       string
		Missing    int
		Figures    []pageFigure
		Intervals  bool
		Correlated []string
		Manifest   *study.Manifest
	}{Sum: sum, Plan: s.plainPlan(), Missing: missing, Manifest: s.folder.Manifest, Intervals: s.cfg.Design.Kind == study.Bootstrap}
	for i, f := range figures {
		var b bytes.Buffer
		if err := f.Write(&b, "inline"); err != nil {
			return fmt.Errorf("figure %s: %w", s.cfg.Figures[i].Name, err)
		}
		data.Figures = append(data.Figures, pageFigure{s.cfg.Figures[i].Name, f.Title, template.HTML(b.String())})
	}
	for _, m := range sum.Metrics {
		if len(m.Correlations) > 0 {
			for _, c := range m.Correlations {
				data.Correlated = append(data.Correlated, c.Factor)
			}
			break
		}
	}
	return page().Execute(w, data)
}
