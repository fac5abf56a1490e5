package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/report"
	"hilrig/engine"
	"hilrig/hil"
	"hilrig/hil/ring"
	"hilrig/hil/sink"
)

// exportRun records ten rows and returns the folder of the run.
func exportRun(t *testing.T) string {
	t.Helper()
	info := hil.Info{Version: "test", Start: time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC),
		Schema: hil.Schema{Rig: "bench", Rate: 1000, Meas: hil.Of("drive", engine.Signal{Name: "motor.angle", Unit: "rad"})}}
	rec, err := sink.NewRecorder(t.TempDir(), info, sink.RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rows := ring.New[hil.Row](16)
	for k := range 10 {
		row := hil.Row{Seq: uint64(k + 1), T: int64(k) * 1e6}
		row.X[0] = 0.5 * float64(k)
		rows.Writer().Push(&row)
	}
	ctx, end := context.WithCancel(context.Background())
	end()
	if err := rec.Run(ctx, rows.Reader()); err != nil {
		t.Fatal(err)
	}
	return rec.Dir()
}

func TestExportVerb(t *testing.T) {
	run, dir := exportRun(t), t.TempDir()
	taken := filepath.Join(dir, "taken.csv")
	if err := os.WriteFile(taken, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.mcap")
	data, err := os.ReadFile(filepath.Join(run, "run.mcap"))
	if err != nil || os.WriteFile(cut, data[:len(data)-200], 0o644) != nil {
		t.Fatal(err)
	}
	const angle = "timestamp,drive.motor.angle\n# s,rad\n1795249800.000000000,0\n"
	for _, c := range []struct {
		name string
		args []string
		code int
		out  string // beginning of what is written to -o -
		say  string // part of the error or of stderr
	}{
		{"standard output", []string{run, "-o", "-", "--channels", "drive.motor.angle"}, report.OK, angle, ""},
		{"file", []string{run, "-o", filepath.Join(dir, "a.csv")}, report.OK, "", "10 rows, 8 columns"},
		{"recording cut short", []string{cut, "-o", "-", "--channels", "drive.motor.angle"}, report.OK, angle, "was not closed"},
		{"no -o", []string{run}, report.Usage, "", "say where to"},
		{"other ending", []string{run, "-o", filepath.Join(dir, "a.h5")}, report.Usage, "", ".csv, .mat or .parquet"},
		{"Parquet", []string{run, "-o", filepath.Join(dir, "a.parquet")}, report.OK, "", "10 rows, 8 columns"},
		{"MAT, as JSON", []string{run, "-o", filepath.Join(dir, "a.mat"), "--json"}, report.OK, "{\n", ""},
		{"standard output and JSON", []string{run, "-o", "-", "--json"}, report.Usage, "", "exclude each other"},
		{"times with units", []string{run, "-o", filepath.Join(dir, "t.csv"), "--from", "2ms", "--to", "0.5 s"}, report.OK, "", "8 rows"},
		{"no time", []string{run, "-o", filepath.Join(dir, "u.csv"), "--from", "2 m"}, report.Usage, "", "is no time"},
		{"file exists", []string{run, "-o", taken}, report.Usage, "", "--force"},
		{"unknown channel", []string{run, "-o", filepath.Join(dir, "b.csv"), "--channels", "drive.motor.angel"}, report.Usage, "",
			"drive.motor.angle"},
		{"unknown flag", []string{run, "--outpt", "x"}, report.Usage, "", "--outpt"},
		{"backwards", []string{run, "-o", "-", "--from", "3", "--to", "2"}, report.Usage, "", "--from"},
		{"decimate 0", []string{run, "-o", "-", "--decimate", "0"}, report.Usage, "", "--decimate"},
		{"no rows", []string{run, "-o", filepath.Join(dir, "b.csv"), "--from", "60"}, report.Invalid, "", "no rows"},
		{"no run", []string{filepath.Join(dir, "nothing"), "-o", "-"}, report.Invalid, "", "no recording there"},
		{"not a recording", []string{taken, "-o", "-"}, report.Invalid, "", "is no recording"},
		{"no folder", []string{run, "-o", filepath.Join(dir, "none", "a.csv")}, report.Unavailable, "", "cannot write"},
		{"force", []string{run, "-o", taken, "--force"}, report.OK, "", "10 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, _ := os.ReadFile(taken)
			root := newRoot()
			var stdout, stderr bytes.Buffer
			root.SetOut(&stdout)
			root.SetErr(&stderr)
			root.SetArgs(append([]string{"export"}, c.args...))
			err := root.Execute()
			said := stderr.String()
			if err != nil {
				said += err.Error()
			}
			if code := report.ExitCode(err); code != c.code || !strings.HasPrefix(stdout.String(), c.out) || !strings.Contains(said, c.say) {
				t.Errorf("exit code %d, want %d\nstdout %q\nstderr and error %q", code, c.code, stdout.String(), said)
			}
			after, _ := os.ReadFile(taken)
			if c.name != "force" && string(after) != string(before) {
				t.Error("a file was written over")
			}
		})
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".hil-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
