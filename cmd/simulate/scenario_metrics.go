package simulate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"hilrig/cmd/report"
	"hilrig/engine/experiment"
	"hilrig/engine/numeric"
)

// metricFiles are the table for people, for spreadsheets and for programs.
func metricFiles(c experiment.Conditions, outcomes []*experiment.Outcome) []resultFile {
	return []resultFile{{"metrics.md", metricsMarkdown(outcomes)}, {"metrics.csv", metricsCSV(outcomes)},
		{"metrics.json", metricsJSON(c, outcomes)}}
}

// table is the metrics of one scenario: a row for every metric, a column for every law.
type table struct {
	scenario string
	laws     []string
	rows     []tableRow
}

type tableRow struct {
	title, unit string
	values      []float64 // NaN: the law has no such number
}

// tables arranges the outcomes.
func tables(outcomes []*experiment.Outcome) []*table {
	var out []*table
	rows := map[*table]map[string]int{}
	for _, o := range outcomes {
		var t *table
		if n := len(out); n > 0 && out[n-1].scenario == o.Scenario {
			t = out[n-1]
		} else {
			t = &table{scenario: o.Scenario}
			out, rows[t] = append(out, t), map[string]int{}
		}
		col := len(t.laws)
		t.laws = append(t.laws, o.Subject.Label)
		for _, m := range o.Metrics {
			i, ok := rows[t][m.Key]
			if !ok {
				i = len(t.rows)
				rows[t][m.Key] = i
				t.rows = append(t.rows, tableRow{title: m.Title, unit: m.Unit})
			}
			for len(t.rows[i].values) < col {
				t.rows[i].values = append(t.rows[i].values, math.NaN())
			}
			t.rows[i].values = append(t.rows[i].values, m.Value)
		}
	}
	for _, t := range out {
		for i := range t.rows {
			for len(t.rows[i].values) < len(t.laws) {
				t.rows[i].values = append(t.rows[i].values, math.NaN())
			}
		}
	}
	return out
}

// scale chooses the prefix of a row: the one that suits its largest value.
func (r *tableRow) scale() (factor float64, unit string) {
	top := 0.0
	for _, v := range r.values {
		if a := math.Abs(v); a > top && !math.IsInf(a, 0) {
			top = a
		}
	}
	if r.unit == "" || top == 0 {
		return 1, r.unit
	}
	factor, prefix := prefixOf(top)
	return factor, prefix + r.unit
}

// cell prints a value with as many digits as it deserves; rounding errors of sums are zero.
func cell(v float64, unit string) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.Abs(v) < 1e-9 && unit != "":
		return "0"
	case v == math.Trunc(v) && math.Abs(v) < 1e6:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}

func metricsMarkdown(outcomes []*experiment.Outcome) []byte {
	var b bytes.Buffer
	for _, t := range tables(outcomes) {
		fmt.Fprintf(&b, "## %s\n\n| | unit | %s |\n|---|---|%s\n", t.scenario, strings.Join(t.laws, " | "), strings.Repeat("---|", len(t.laws)))
		for _, r := range t.rows {
			f, unit := r.scale()
			fmt.Fprintf(&b, "| %s | %s |", r.title, unit)
			for _, v := range r.values {
				fmt.Fprintf(&b, " %s |", cell(f*v, unit))
			}
			fmt.Fprintln(&b)
		}
		fmt.Fprintln(&b)
	}
	return b.Bytes()
}

// metricsCSV has one line for every number, in SI units and full precision.
func metricsCSV(outcomes []*experiment.Outcome) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"scenario", "law", "label", "metric", "unit", "value"})
	for _, o := range outcomes {
		for _, m := range o.Metrics {
			value := ""
			if numeric.IsFinite(m.Value) {
				value = strconv.FormatFloat(m.Value, 'g', -1, 64)
			}
			w.Write([]string{o.Scenario, o.Subject.Name, o.Subject.Label, m.Key, m.Unit, value})
		}
	}
	w.Flush()
	return b.Bytes()
}

func metricsJSON(c experiment.Conditions, outcomes []*experiment.Outcome) []byte {
	type number struct {
		Title string   `json:"title"`
		Unit  string   `json:"unit"`
		Value *float64 `json:"value"` // null: the law has no such number
	}
	type outcome struct {
		Scenario   string             `json:"scenario"`
		Law        string             `json:"law"`
		Label      string             `json:"label"`
		Parameters map[string]float64 `json:"parameters"`
		Metrics    map[string]number  `json:"metrics"`
	}
	out := struct {
		Program    string             `json:"program"`
		Conditions map[string]float64 `json:"conditions"`
		Scheme     string             `json:"scheme"`
		Outcomes   []outcome          `json:"outcomes"`
	}{report.Version(), map[string]float64{"step_s": c.Step, "mass_kg": c.Mass, "spring_N_m": c.Spring, "pull_m_s": c.Pull,
		"swing_m_s":   c.Swing,
		"omega_rad_s": c.Omega, "bias_m_s": c.Bias, "ripple_m_s": c.Ripple, "push_N": c.Push, "jump_m_s": c.Jump,
		"kp_N_m": c.Kp, "ki_N_m_s": c.Ki, "kd_N_s_m": c.Kd, "move_m": c.Move}, c.Scheme.String(), nil}
	for _, o := range outcomes {
		r := outcome{o.Scenario, o.Subject.Name, o.Subject.Label, map[string]float64{}, map[string]number{}}
		for _, p := range o.Subject.Law.Params() {
			r.Parameters[p.Name] = p.Value
		}
		for _, m := range o.Metrics {
			r.Metrics[m.Key] = number{m.Title, m.Unit, numeric.OrNull(m.Value)}
		}
		out.Outcomes = append(out.Outcomes, r)
	}
	b, _ := json.MarshalIndent(out, "", "  ")
	return append(b, '\n')
}

func printMetrics(w io.Writer, chosen []experiment.Scenario, outcomes []*experiment.Outcome) {
	title := map[string]string{}
	for _, s := range chosen {
		title[s.Name] = capital(s.Title)
	}
	for _, t := range tables(outcomes) {
		fmt.Fprintf(w, "%s\n", title[t.scenario])
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(tw, "  \t%s\t%s\n", "unit", strings.Join(t.laws, "\t"))
		for _, r := range t.rows {
			f, unit := r.scale()
			fmt.Fprintf(tw, "  %s\t%s", r.title, unit)
			for _, v := range r.values {
				fmt.Fprintf(tw, "\t%s", cell(f*v, unit))
			}
			fmt.Fprintln(tw)
		}
		tw.Flush()
		fmt.Fprintln(w)
	}
}
