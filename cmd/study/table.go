package study

import (
	"encoding/csv"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"hilrig/cmd/simulate"
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

// parquetColumn is a column of a table.
type parquetColumn struct {
	parquet.Node
	name string
}

func (c *parquetColumn) Name() string { return c.name }

// Value is not asked for: rows are written as rows.
func (c *parquetColumn) Value(base reflect.Value) reflect.Value { return base }

// parquetColumns are those of a table in their order; parquet.Group would sort them.
type parquetColumns struct {
	parquet.Group
	list []parquet.Field
}

func (c *parquetColumns) Fields() []parquet.Field { return c.list }

// writeParquet writes the table as Parquet, snappy-compressed; what is no number is null.
func (t *studyTable) writeParquet(w io.Writer) error {
	var columns parquetColumns
	for i, name := range t.names {
		node := map[reflect.Kind]parquet.Node{reflect.Int64: parquet.Int(64),
			reflect.Float64: parquet.Optional(parquet.Leaf(parquet.DoubleType)), reflect.String: parquet.Optional(parquet.String())}[t.kinds[i]]
		columns.list = append(columns.list, &parquetColumn{parquet.Compressed(node, &parquet.Snappy), name})
	}
	out := parquet.NewWriter(w, parquet.NewSchema("study", &columns), parquet.CreatedBy("hil", "study", ""))
	row := make(parquet.Row, len(t.names))
	for _, cells := range t.cells {
		for i, c := range cells {
			v, there := parquet.NullValue(), 0
			switch c := c.(type) {
			case int64:
				row[i] = parquet.Int64Value(c).Level(0, 0, i) // there in every row
				continue
			case float64:
				if c-c == 0 {
					v, there = parquet.DoubleValue(c), 1
				}
			case string:
				if c != "" {
					v, there = parquet.ByteArrayValue([]byte(c)), 1
				}
			}
			row[i] = v.Level(0, there, i)
		}
		if _, err := out.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
	}
	return out.Close()
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
