package study

import (
	"cmp"
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"hilrig/cmd/simulate"
	"hilrig/cmd/table"
	"hilrig/engine/numeric"
	"hilrig/engine/study"
)

// resultNames lists the results of all runs, in the order in which the first run that has them gives them; one that is a text has one.
func (s *parameterStudy) resultNames() []study.Metric {
	var out []study.Metric
	for _, o := range s.outcomes {
		for _, m := range o.Metrics {
			if !slices.ContainsFunc(out, func(k study.Metric) bool { return k.Name == m.Name }) {
				out = append(out, study.Metric{Name: m.Name, Unit: m.Unit, Text: m.Text})
			}
		}
	}
	return out
}

// result is one result of all runs; NaN where a run did not give it.
func (s *parameterStudy) result(name string) []float64 {
	return resultOf(s, name, math.NaN(), func(m study.Metric) float64 { return m.Value })
}

// texts are a result that is a text, of all runs; "" where a run did not give it.
func (s *parameterStudy) texts(name string) []string {
	return resultOf(s, name, "", func(m study.Metric) string { return m.Text })
}

// resultOf is what of takes from a result in every run; none where a run did not give it.
func resultOf[T any](s *parameterStudy, name string, none T, of func(study.Metric) T) []T {
	out := make([]T, len(s.outcomes))
	for run, o := range s.outcomes {
		out[run] = none
		for _, m := range o.Metrics {
			if m.Name == name {
				out[run] = of(m)
			}
		}
	}
	return out
}

// factor is a factor at all points, a word by its place in the list.
func (s *parameterStudy) factor(i int) []float64 {
	x, out := make([]float64, len(s.cfg.Vary)), make([]float64, s.plan.Points())
	for p := range out {
		s.plan.Point(p, x)
		out[p] = x[i]
	}
	return out
}

// table has a row for every run: what it was given, then what came out. Names have their unit; what is no number is NaN.
func (s *parameterStudy) table() *table.Table {
	t, cells := &table.Table{Title: "study"}, make([][]table.Cell, len(s.outcomes))
	add := func(name string, kind table.ColumnKind, cell func(run int) table.Cell) {
		t.Columns = append(t.Columns, table.Column{Name: name, Kind: kind})
		for run := range cells {
			cells[run] = append(cells[run], cell(run))
		}
	}
	whole := func(name string, of func(run int) int64) {
		add(name, table.Integer, func(run int) table.Cell { return table.Cell{N: of(run)} })
	}
	number := func(name string, of func(run int) float64) {
		add(name, table.Number, func(run int) table.Cell {
			if x := of(run); numeric.IsFinite(x) {
				return table.Cell{X: x}
			}
			return table.Cell{X: math.NaN()}
		})
	}
	text := func(name string, of func(run int) string) {
		add(name, table.Text, func(run int) table.Cell { return table.Cell{S: of(run)} })
	}
	whole("run", func(run int) int64 { return int64(run) })
	if s.plan.Replicates() > 1 {
		whole("point", func(run int) int64 { p, _ := s.plan.Run(run); return int64(p) })
		whole("replicate", func(run int) int64 { _, r := s.plan.Run(run); return int64(r) })
	}
	if s.seeds != nil {
		whole("seed", func(run int) int64 { return s.seeds[run] })
	}
	for i := range s.cfg.Vary {
		v, x := &s.cfg.Vary[i], s.factor(i)
		at := func(run int) float64 { p, _ := s.plan.Run(run); return x[p] }
		if v.Words() {
			text(v.Name, func(run int) string { return v.Text(at(run)) })
		} else {
			number(simulate.Header(v.Name, v.Unit()), at)
		}
	}
	for _, m := range s.resultNames() {
		if m.Text != "" {
			x := s.texts(m.Name)
			text(m.Name, func(run int) string { return x[run] })
			continue
		}
		x := s.result(m.Name)
		number(metricHeader(m), func(run int) float64 { return x[run] })
	}
	text("failed", func(run int) string { return s.outcomes[run].Failure })
	t.Rows = func(yield func([]table.Cell, error) bool) {
		for _, row := range cells {
			if !yield(row, nil) {
				return
			}
		}
	}
	return t
}

// metricHeader is the name of a column of results. Some names end in their unit already.
func metricHeader(m study.Metric) string {
	if u := simulate.Header("", m.Unit); m.Name != u && strings.HasSuffix(m.Name, u) {
		return m.Name
	}
	return simulate.Header(m.Name, m.Unit)
}

// writeCSV writes the table with all digits; what is no number is empty.
func writeCSV(w io.Writer, t *table.Table) error {
	out := csv.NewWriter(w)
	line := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		line[i] = c.Name
	}
	err := out.Write(line)
	for row := range t.Rows {
		for i, c := range row {
			switch t.Columns[i].Kind {
			case table.Integer:
				line[i] = strconv.FormatInt(c.N, 10)
			case table.Text:
				line[i] = c.S
			default:
				if line[i] = ""; numeric.IsFinite(c.X) {
					line[i] = strconv.FormatFloat(c.X, 'g', -1, 64)
				}
			}
		}
		err = cmp.Or(err, out.Write(line))
	}
	out.Flush()
	return cmp.Or(err, out.Error())
}

// factorsForRanks are the factors that have an order, and their places among all.
func (s *parameterStudy) factorsForRanks() (x [][]float64, of []int) {
	for i := range s.cfg.Vary {
		if !s.cfg.Vary[i].Words() {
			x, of = append(x, s.factor(i)), append(of, i)
		}
	}
	return x, of
}

// means are the means over the replicates of every point.
func (s *parameterStudy) means(values []float64) []float64 {
	return study.Means(values, s.plan.Replicates())
}
