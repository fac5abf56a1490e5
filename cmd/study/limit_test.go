package study

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/report"
)

// studyRows does a study and gives the rows of its table by their names.
func studyRows(t *testing.T, text string) (rows []map[string]string, summary Summary, err error) {
	t.Helper()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "study.yaml"), filepath.Join(dir, "results")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var said, errs bytes.Buffer
	err = Run(context.Background(), func() bool { return false }, file,
		Options{OutputFolder: out, Format: "csv", Resume: true, Changed: func(name string) bool { return name == "out" }}, &said, &errs)
	table, e := os.ReadFile(filepath.Join(out, "results.csv"))
	if e != nil {
		t.Fatal(e, err, errs.String())
	}
	all, e := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if e != nil {
		t.Fatal(e)
	}
	for _, line := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	if data, e := os.ReadFile(filepath.Join(out, "summary.json")); e != nil || json.Unmarshal(data, &summary) != nil {
		t.Fatal(e, string(data))
	}
	return rows, summary, err
}

const slowBase = `base:
  version: 1
  name: drawn
  plant: {kind: drawn-mass, mass: 2 kg, spring: 200 N/m}
  friction: [{law: viscous, Fv: 1 N·s/m, delta: 1}]
  input: {kind: ramp, velocity: 0.1 m/s}
  outputs: {every: 10 ms}
  step: 1 us
  duration: 1 s
`

// A run that takes longer than the limit is a failed one with that reason; those before and behind it are done.
func TestRunTimeLimit(t *testing.T) {
	rows, summary, err := studyRows(t, "version: 1\nname: slow\n"+slowBase+
		"vary: [{path: duration, values: [50 ms, 900 s, 80 ms]}]\ndesign: {kind: grid}\nrun_time_limit: 2.5 s\nmax_failed: 50 %\n")
	if err != nil || len(rows) != 3 || summary.Failed != 1 {
		t.Fatal(err, len(rows), summary.Failed)
	}
	for i, row := range rows {
		failed := ""
		if i == 1 {
			failed = "it took longer than run_time_limit, 2.5s"
		}
		if row["failed"] != failed {
			t.Errorf("run %d failed with %q, want %q", i, row["failed"], failed)
		}
	}
	if f := summary.Failures; len(f) != 1 || f[0].Run != 1 || !strings.Contains(f[0].Reason, "run_time_limit") {
		t.Errorf("failures %v", f)
	}
	// without a limit it is one of those that count
	rows, _, err = studyRows(t, "version: 1\nname: slow\n"+slowBase+"vary: [{path: duration, values: [50 ms, 80 ms]}]\ndesign: {kind: "+
		"grid}\nrun_time_limit: 0 s\n")
	if err != nil || len(rows) != 2 || rows[0]["failed"]+rows[1]["failed"] != "" {
		t.Error(err, rows)
	}
}

// Every kind of file that a study runs ends soon when its time is over.
func TestRunTimeLimitOfEveryKind(t *testing.T) {
	here, err := filepath.Abs("../../configs")
	if err != nil {
		t.Fatal(err)
	}
	for kind, study := range map[string]string{
		"laws":           "%s/stick-slip.yaml, set: {duration: 100000 s}",
		"brush":          "%s/brush.yaml, set: {duration: 10000 s}",
		"scene, steps":   "%s/contact/woodpecker.yaml, set: {duration: 10000 s, engine.kind: fixed-step}",
		"scene, events":  "%s/contact/woodpecker.yaml, set: {duration: 10000 s}",
		"machine":        "%s/machine/four-bar.yaml, set: {duration: 10000 s, outputs.every: 1 s}",
		"manipulator":    "%s/manipulator.yaml, set: {duration: 10000 s, every: 1 s}",
		"fit":            "%s/identify/lugre-kalman.yaml",
		"fit, machine":   "%s/identify/machine-arm.yaml",
		"fit, response":  "%s/identify/machine-response.yaml",
		"fit, evolution": "%s/identify/lugre-kalman.yaml, set: {method: [aep]}",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			rows, _, err := studyRows(t, fmt.Sprintf("{version: 1, name: slow, base: "+study+
				", vary: [{path: description, values: [a]}], design: {kind: grid}, run_time_limit: 20 ms}", here))
			if report.ExitCode(err) != report.Quality || len(rows) != 1 || !strings.Contains(rows[0]["failed"], "run_time_limit, 20ms") {
				t.Error(err, rows)
			}
			if d := time.Since(began); d > 30*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
}
