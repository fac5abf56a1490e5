package simulate

import (
	"context"
	"slices"
	"strings"

	"hilrig/configs"
)

// TraceColumn is a column of the trace of a run.
type TraceColumn struct {
	Name, Unit string
	Values     []float64
}

// MetricsOf runs a file to simulate of any kind, which was read, and gives its numbers, in a fixed order. name appears in messages; its
// folder is where relative paths of the file start.
func MetricsOf(ctx context.Context, name string, c configs.Simulation) (out []Metric, err error) {
	n := len(c.Warnings)
	switch {
	case c.Contact != nil:
		c.Contact.Outputs.RowInterval = c.Contact.Duration // a study keeps no rows
		s, err := contactRunOf(ctx, name, c.Contact)
		if err != nil {
			return nil, err
		}
		out, n = append(s.metrics, s.solver...), n+len(s.warnings)+len(s.doubts())
	case c.Laws != nil:
		s, err := simulateLaws(ctx, name, c.Laws, true)
		if err != nil {
			return nil, err
		}
		out = s.metrics()
	default:
		r, err := runOther(ctx, name, c)
		if err != nil {
			return nil, err
		}
		out, n = append(r.metrics, extremes(r.columns)...), n+len(r.warnings)
	}
	return append(out, Metric{Warnings, "", float64(n)}), nil
}

// Warnings is how many hil simulate would print for the run.
const Warnings = "warnings"

// Trace runs a file to simulate of any kind and gives its trace.
func Trace(ctx context.Context, name string, data []byte) ([]TraceColumn, error) {
	c, err := configs.CheckSimulation(name, data)
	if err != nil {
		return nil, err
	}
	if c.Contact != nil {
		return contactTrace(ctx, name, c.Contact)
	}
	if c.Laws == nil {
		r, err := runOther(ctx, name, c)
		if err != nil {
			return nil, err
		}
		var out []TraceColumn
		for _, k := range r.columns {
			out = append(out, TraceColumn{k.name, k.unit, k.x})
		}
		return out, nil
	}
	s, err := simulateLaws(ctx, name, c.Laws, false)
	if err != nil {
		return nil, err
	}
	return s.columns(), nil
}

// contactTrace runs bodies in contact and gives the columns of the CSV, without what statistics leave out.
func contactTrace(ctx context.Context, name string, cfg *configs.ContactRun) ([]TraceColumn, error) {
	s, err := contactRunOf(ctx, name, cfg)
	if err != nil {
		return nil, err
	}
	var out []TraceColumn
	for _, c := range s.signals() {
		out = append(out, TraceColumn{Name: c.Name, Unit: c.Unit})
	}
	for _, r := range s.rows {
		if r.t < s.cfg.Discard {
			continue
		}
		for i, v := range r.numbers() {
			out[i].Values = append(out[i].Values, v)
		}
	}
	return out, nil
}

// simulateLaws runs friction laws; short keeps the numbers only.
func simulateLaws(ctx context.Context, name string, cfg *configs.Simulate, short bool) (*simulation, error) {
	s := &simulation{path: name, cfg: cfg}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if short {
		s.watch.Stride = s.steps()
	}
	return s, s.simulate(ctx, nil)
}

// metrics are the numbers of hil simulate --json, with the label of the law in front where there are several.
func (s *simulation) metrics() []Metric {
	var out []Metric
	for i := range s.runs {
		r, c := &s.runs[i], s.cfg
		m := r.trace.Summary
		add := func(name, unit string, v float64) {
			out = append(out, Metric{Name: s.of(r, name), Unit: c.Unit(unit), Value: v})
		}
		for _, k := range eventKinds {
			n, first := countEvents(r.trace.Events, k)
			add(eventKey(k)+"_count", "", float64(n))
			add("first_"+eventKey(k)+"_s", "s", first)
		}
		for _, n := range summaryNumbers {
			add(n.name, n.unit, n.value(&m))
		}
		add("evaluations_per_step", "", float64(m.Evals)/float64(max(m.Steps, 1)))
		add(unverified, "", float64(m.NotConverged)/float64(max(m.Steps, 1)))
	}
	return out
}

// unverified is the share of steps that were taken without a verified solution.
const unverified = "unverified_share"

// IsUnverified tells whether a result is such a share, of one law among several perhaps.
func IsUnverified(name string) bool {
	return name == "unverified" || name == unverified || strings.HasSuffix(name, "."+unverified)
}

// columns are those of the CSV, and some more.
func (s *simulation) columns() []TraceColumn {
	first := s.runs[0].trace
	out := []TraceColumn{{"time", "s", first.T}}
	for i := range s.runs {
		r := &s.runs[i]
		for _, word := range slices.Concat(s.cfg.Outputs.Columns, []string{"mean_velocity", "states"}) {
			for _, c := range s.columnsOf(word, r.trace) {
				name := s.of(r, c.name)
				if !slices.ContainsFunc(out, func(o TraceColumn) bool { return o.Name == name }) {
					out = append(out, TraceColumn{name, s.cfg.Unit(c.unit), c.x})
				}
			}
		}
	}
	return out
}
