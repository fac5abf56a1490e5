package simulate

import (
	"fmt"
	"io"
	"text/tabwriter"

	"hilrig/cmd/report"
)

type contactResult struct {
	Name     string             `json:"name"`
	Config   string             `json:"config"`
	Program  string             `json:"program"`
	System   string             `json:"system"`
	Engine   string             `json:"engine"`
	Impact   string             `json:"impact"`
	Step     *float64           `json:"step_s"` // null: event-driven
	Duration float64            `json:"duration_s"`
	Discard  float64            `json:"discard_s"`
	Warnings []string           `json:"warnings"`
	Files    map[string]string  `json:"files"`
	Metrics  map[string]any     `json:"metrics"`
	Units    map[string]string  `json:"units"`
	Solver   map[string]float64 `json:"solver"`
}

// result gathers everything but the rows. The keys of the JSON are documented in docs/reference/contact.md.
func (s *contactRun) result(f Options) contactResult {
	c := s.cfg
	out := contactResult{
		Name: c.Name, Config: s.path, Program: report.Version(), System: c.System, Engine: c.Engine.Kind, Impact: c.Engine.Impact.String(),
		Duration: c.Duration, Discard: c.Discard, Warnings: append([]string{}, s.warnings...), Files: f.files(),
		Metrics: map[string]any{}, Units: map[string]string{}, Solver: map[string]float64{},
	}
	if c.Engine.Kind == "fixed-step" {
		out.Step = &c.Engine.Step
	}
	for _, m := range s.metrics {
		out.Metrics[m.Name], out.Units[m.Name] = m.Value, m.Unit
	}
	for _, m := range s.solver {
		out.Solver[m.Name] = m.Value
	}
	return out
}

// print writes the results for people.
func (s *contactRun) print(w io.Writer) {
	c := s.cfg
	fmt.Fprintf(w, "%s\n%s\n\n", report.Titled(c.Name, c.Description), s.engineText())
	for _, part := range []struct {
		title string
		list  []Metric
	}{{"", s.metrics}, {"solver", s.solver}} {
		if len(part.list) == 0 {
			continue
		}
		if part.title != "" {
			fmt.Fprintf(w, "\n%s\n", part.title)
		}
		t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
		for _, m := range part.list {
			fmt.Fprintf(t, "%-28s\t%.6g\t %-7s\t %s\n", m.Name, report.Number(m.Value), m.Unit, s.meaning[m.Name])
		}
		t.Flush()
	}
}
