package simulate

import (
	"math"
	"slices"
	"strings"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine"
	"hilrig/engine/experiment"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
)

// The keys of the JSON are documented in docs/reference/simulate.md.

type simulateResult struct {
	Name      string            `json:"name"`
	Config    string            `json:"config"`
	Program   string            `json:"program"`
	Axis      string            `json:"axis"`
	Plant     string            `json:"plant"`
	Scheme    string            `json:"scheme"`
	Step      float64           `json:"step_s"`
	Duration  float64           `json:"duration_s"`
	Steps     int               `json:"steps"`
	Threshold float64           `json:"event_speed"`
	Rest      float64           `json:"event_rest_s"`
	Units     map[string]string `json:"units"`
	Warnings  []string          `json:"warnings"`
	Files     map[string]string `json:"files"`
	Sensors   *sensorResult     `json:"sensors"` // null: the CSV is exact
	Laws      []lawResult       `json:"laws"`
}

type lawResult struct {
	Label      string           `json:"label"`
	Law        string           `json:"law"`
	Title      string           `json:"title"`
	Equations  string           `json:"equations"`
	Source     string           `json:"source"`
	Parameters []paramResult    `json:"parameters"`
	Passive    bool             `json:"passive"`
	ActiveFrom *float64         `json:"active_from"` // null: passive, or in the limit of high speed only
	Limit      *float64         `json:"step_limit_s"`
	Parts      int              `json:"parts_per_step"`
	Events     []eventResult    `json:"events"`
	Metrics    map[string]any   `json:"metrics"`
	Status     map[string]int64 `json:"status"`
}

type paramResult struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Value  float64 `json:"value"`
	Source string  `json:"from"` // file, public, zero, or a preset
	Doc    string  `json:"doc"`
}

type eventResult struct {
	Time      float64 `json:"time_s"`
	Kind      string  `json:"kind"`
	Position  float64 `json:"position"`
	Friction  float64 `json:"friction"`
	Direction float64 `json:"direction"`
}

// result gathers everything but the traces.
func (s *simulation) result(f Options) simulateResult {
	c := s.cfg
	out := simulateResult{
		Name: c.Name, Config: s.path, Program: report.Version(), Axis: c.Axis, Plant: c.Plant.Kind.String(), Scheme: c.Scheme.String(),
		Step: c.Step, Duration: c.Duration,
		Steps: s.steps(), Threshold: s.watch.Threshold, Rest: s.watch.Rest, Warnings: append([]string{}, s.warnings...), Files: f.files(),
		Sensors: sensorsOf(c),
		Units: map[string]string{"position": c.Unit("m"), "velocity": c.Unit("m/s"), "friction": c.Unit("N"), "load": c.Unit("N"), "work": "J",
			"input": c.InputUnit()},
	}
	for i := range s.runs {
		out.Laws = append(out.Laws, s.lawResult(&s.runs[i]))
	}
	return out
}

func (s *simulation) lawResult(r *lawRun) lawResult {
	info, _ := friction.Find(r.law.Name)
	m := r.trace.Summary
	out := lawResult{
		Label: r.law.Label, Law: r.law.Name, Title: r.law.Title, Equations: info.Equations, Source: info.Source,
		Limit: numeric.OrNull(r.limit), Parts: r.parts, Events: []eventResult{},
		Metrics: map[string]any{"evaluations": m.Evals, "evaluations_per_step": float64(m.Evals) / float64(max(m.Steps, 1)), "parts": m.Parts},
		Status:  map[string]int64{engine.OK.String(): int64(m.Steps - m.NotConverged), engine.NotConverged.String(): int64(m.NotConverged)},
	}
	var from float64
	if out.Passive, from = r.law.Model.Passive(); !out.Passive {
		out.ActiveFrom = numeric.OrNull(from)
	}
	for _, n := range summaryNumbers {
		out.Metrics[n.name] = n.value(&m)
	}
	for _, k := range eventKinds {
		n, first := countEvents(r.trace.Events, k)
		out.Metrics[eventKey(k)+"_count"], out.Metrics["first_"+eventKey(k)+"_s"] = n, first
	}
	for _, e := range r.trace.Events {
		out.Events = append(out.Events, eventResult{e.T, e.Kind.String(), e.X, e.F, e.Dir})
	}
	for _, p := range r.law.Model.Params() {
		out.Parameters = append(out.Parameters, paramResult{p.Name, s.cfg.Unit(p.Unit), p.Value, origin(&r.law, p.Name), p.Doc})
	}
	return out
}

// summaryNumbers are the extremes and sums of a run: in the JSON, in studies and in the table for people.
var summaryNumbers = []struct {
	name, unit string // on a linear axis
	value      func(m *experiment.Summary) float64
}{
	{"position_min", "m", func(m *experiment.Summary) float64 { return m.XMin }},
	{"position_max", "m", func(m *experiment.Summary) float64 { return m.XMax }},
	{"position_end", "m", func(m *experiment.Summary) float64 { return m.XEnd }},
	{"velocity_min", "m/s", func(m *experiment.Summary) float64 { return m.VMin }},
	{"velocity_max", "m/s", func(m *experiment.Summary) float64 { return m.VMax }},
	{"velocity_end", "m/s", func(m *experiment.Summary) float64 { return m.VEnd }},
	{"friction_min", "N", func(m *experiment.Summary) float64 { return m.FMin }},
	{"friction_max", "N", func(m *experiment.Summary) float64 { return m.FMax }},
	{"load_min", "N", func(m *experiment.Summary) float64 { return m.DriveMin }},
	{"load_max", "N", func(m *experiment.Summary) float64 { return m.DriveMax }},
	{"work_against_friction", "J", func(m *experiment.Summary) float64 { return m.Work }},
}

// eventKinds are counted, each with the time of its first.
var eventKinds = []experiment.Kind{experiment.BreakAway, experiment.Arrest, experiment.Reversal}

// eventKey is the name of a kind in keys.
func eventKey(k experiment.Kind) string { return strings.ReplaceAll(k.String(), "-", "_") }

// countEvents counts events of a kind and finds the first; NaN if there is none.
func countEvents(events []experiment.Event, k experiment.Kind) (n int, first float64) {
	first = math.NaN()
	for _, e := range events {
		if e.Kind == k {
			if n++; n == 1 {
				first = e.T
			}
		}
	}
	return n, first
}

// origin tells where a parameter comes from: file, public, zero, or the name of a preset.
func origin(l *configs.Law, name string) string {
	switch {
	case slices.Contains(l.Public, name):
		return "public"
	case slices.Contains(l.Set, name):
		return l.Preset.Name
	case slices.Contains(l.Zero, name):
		return "zero"
	}
	return "file"
}
