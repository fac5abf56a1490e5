package study

import (
	"encoding/csv"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hilrig/cmd/simulate"
	"hilrig/cmd/table"
	"hilrig/engine/study"
)

// studyTable has a row for every run: what it was given, then what came out.
type studyTable struct {
	names []string // with the unit
	kinds []reflect.Kind
	cells [][]any // by row: int64, float64 (NaN: no number), string ("": none)
}

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
	out := make([]float64, len(s.outcomes))
	for run, o := range s.outcomes {
		out[run] = math.NaN()
		for _, m := range o.Metrics {
			if m.Name == name {
				out[run] = m.Value
			}
		}
	}
	return out
}

// texts are a result that is a text, of all runs; "" where a run did not give it.
func (s *parameterStudy) texts(name string) []string {
	out := make([]string, len(s.outcomes))
	for run, o := range s.outcomes {
		for _, m := range o.Metrics {
			if m.Name == name {
				out[run] = m.Text
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

func (s *parameterStudy) table() *studyTable {
	t := &studyTable{cells: make([][]any, len(s.outcomes))}
	add := func(name string, kind reflect.Kind, cell func(run int) any) {
		t.names, t.kinds = append(t.names, name), append(t.kinds, kind)
		for run := range t.cells {
			t.cells[run] = append(t.cells[run], cell(run))
		}
	}
	add("run", reflect.Int64, func(run int) any { return int64(run) })
	if s.plan.Replicates() > 1 {
		add("point", reflect.Int64, func(run int) any { p, _ := s.plan.Run(run); return int64(p) })
		add("replicate", reflect.Int64, func(run int) any { _, r := s.plan.Run(run); return int64(r) })
	}
	if s.seeds != nil {
		add("seed", reflect.Int64, func(run int) any { return s.seeds[run] })
	}
	for i := range s.cfg.Vary {
		v, x := &s.cfg.Vary[i], s.factor(i)
		at := func(run int) float64 { p, _ := s.plan.Run(run); return x[p] }
		if v.Words() {
			add(v.Name, reflect.String, func(run int) any { return v.Text(at(run)) })
			continue
		}
		add(simulate.Header(v.Name, v.Unit()), reflect.Float64, func(run int) any { return at(run) })
	}
	for _, m := range s.resultNames() {
		if m.Text != "" {
			x := s.texts(m.Name)
			add(m.Name, reflect.String, func(run int) any { return x[run] })
			continue
		}
		x := s.result(m.Name)
		add(metricHeader(m), reflect.Float64, func(run int) any { return x[run] })
	}
	add("failed", reflect.String, func(run int) any { return s.outcomes[run].Failure })
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
func (t *studyTable) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(t.names); err != nil {
		return err
	}
	line := make([]string, len(t.names))
	for _, row := range t.cells {
		for i, c := range row {
			switch c := c.(type) {
			case int64:
				line[i] = strconv.FormatInt(c, 10)
			case string:
				line[i] = c
			case float64:
				if line[i] = ""; c-c == 0 {
					line[i] = strconv.FormatFloat(c, 'g', -1, 64)
				}
			}
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// output is the table in a format of tables; what is no number is none there.
func (t *studyTable) output(format table.Format) func(w io.Writer) error {
	out := table.Table{Title: "study"}
	kinds := map[reflect.Kind]table.ColumnKind{reflect.Int64: table.Integer, reflect.Float64: table.Number, reflect.String: table.Text}
	for i, name := range t.names {
		out.Columns = append(out.Columns, table.Column{Name: name, Kind: kinds[t.kinds[i]]})
	}
	row := make([]table.Cell, len(t.names))
	out.Rows = func(yield func([]table.Cell, error) bool) {
		for _, cells := range t.cells {
			for i, c := range cells {
				switch c := c.(type) {
				case int64:
					row[i].N = c
				case string:
					row[i].S = c
				case float64:
					if row[i].X = c; c-c != 0 {
						row[i].X = math.NaN()
					}
				}
			}
			if !yield(row, nil) {
				return
			}
		}
	}
	return func(w io.Writer) error { return format.Write(w, &out) }
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
