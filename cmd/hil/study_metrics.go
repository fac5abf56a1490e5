package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hilrig/configs"
	"hilrig/engine/experiment"
	"hilrig/identify/study"
)

// metric is one number that a run gives.
type metric = study.Metric

// traceColumn is a column of the trace of a run.
type traceColumn struct {
	Name, Unit string
	Values     []float64
}

// simulateMetrics runs a file to simulate of any kind and gives its numbers, in a fixed order. name appears in messages; its
// folder is where relative paths of the file start. A number called degraded_share is the share of steps that were taken
// without a verified solution.
func simulateMetrics(ctx context.Context, name string, data []byte) ([]metric, error) {
	c, err := configs.CheckSimulation(name, data)
	if err != nil {
		return nil, err
	}
	switch c.Kind {
	case configs.SimulateFile:
		s, err := simulateLaws(ctx, name, data, true)
		if err != nil {
			return nil, err
		}
		return s.metrics(), nil
	}
	return nil, fmt.Errorf("%s: a study cannot run this kind of file", name)
}

// simulateSignals runs a file to simulate of any kind and gives its trace.
func simulateSignals(ctx context.Context, name string, data []byte) ([]traceColumn, error) {
	c, err := configs.CheckSimulation(name, data)
	if err != nil {
		return nil, err
	}
	switch c.Kind {
	case configs.SimulateFile:
		s, err := simulateLaws(ctx, name, data, false)
		if err != nil {
			return nil, err
		}
		return s.signals(), nil
	}
	return nil, fmt.Errorf("%s: a study cannot draw this kind of file", name)
}

// simulateLaws runs friction laws; short keeps the numbers only.
func simulateLaws(ctx context.Context, name string, data []byte, short bool) (*simulation, error) {
	cfg, _, err := configs.SimulateBytes(name, data)
	if err != nil {
		return nil, err
	}
	s := &simulation{path: name, cfg: cfg}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if short {
		s.watch.Every = s.steps()
	}
	return s, s.simulate(ctx)
}

// metrics are the numbers of hil simulate --json, with the label of the law in front where there are several.
func (s *simulation) metrics() []metric {
	var out []metric
	for i := range s.runs {
		r, c := &s.runs[i], s.cfg
		m := r.trace.Summary
		add := func(name, unit string, v float64) {
			if len(s.runs) > 1 {
				name = r.law.Label + "." + name
			}
			out = append(out, metric{Name: name, Unit: c.Unit(unit), Value: v})
		}
		for _, k := range []struct {
			kind experiment.Kind
			name string
		}{{experiment.BreakAway, "break_away"}, {experiment.Arrest, "arrest"}, {experiment.Reversal, "reversal"}} {
			n, first := countEvents(r.trace.Events, k.kind)
			add(k.name+"_count", "", float64(n))
			add("first_"+k.name+"_s", "s", first)
		}
		add("position_min", "m", m.XMin)
		add("position_max", "m", m.XMax)
		add("position_end", "m", m.XEnd)
		add("velocity_min", "m/s", m.VMin)
		add("velocity_max", "m/s", m.VMax)
		add("velocity_end", "m/s", m.VEnd)
		add("friction_min", "N", m.FMin)
		add("friction_max", "N", m.FMax)
		add("load_min", "N", m.DriveMin)
		add("load_max", "N", m.DriveMax)
		add("work_against_friction", "J", m.Work)
		add("evaluations_per_step", "", float64(m.Evals)/float64(max(m.Steps, 1)))
		add(degraded, "", float64(m.NotConverged)/float64(max(m.Steps, 1)))
	}
	return out
}

// degraded is the number of steps without a verified solution, as a share of all steps.
const degraded = "degraded_share"

// isDegraded tells whether a result is that share, of one law among several perhaps.
func isDegraded(name string) bool { return name == degraded || strings.HasSuffix(name, "."+degraded) }

// signals are the columns of the CSV.
func (s *simulation) signals() []traceColumn {
	first := s.runs[0].trace
	out := []traceColumn{{"time", "s", first.T}}
	for i := range s.runs {
		r := &s.runs[i]
		for _, word := range slices.Concat(s.cfg.Outputs.Columns, []string{"mean_velocity", "states"}) {
			for _, c := range s.columnsOf(word, r.trace) {
				name := c.name
				if len(s.runs) > 1 {
					name = r.law.Label + "." + name
				}
				if !slices.ContainsFunc(out, func(o traceColumn) bool { return o.Name == name }) {
					out = append(out, traceColumn{name, s.cfg.Unit(c.unit), c.of(r.trace)})
				}
			}
		}
	}
	return out
}
