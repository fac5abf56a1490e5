package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"hilrig/cmd/report"
	"hilrig/cmd/study"
	engine "hilrig/engine/study"
)

// smallStudy is 60 runs of the stick-slip example; step and duration make a run last a few milliseconds or longer.
const smallStudy = `version: 1
name: small
base: BASE
set: {friction.vd: 0.1 m/s, duration: DURATION}
vary:
  - {path: input.velocity, name: speed, range: [0.05 m/s, 1 m/s], scale: log}
  - {path: friction.sigma1, name: sigma1, range: [100 N·s/m, 500 N·s/m]}
  - {path: scheme, values: [midpoint, implicit]}
design: {kind: latin-hypercube, runs: 60, seed: 3}
metrics: [velocity_max, first_arrest_s]
figures:
  - {name: over-speed, kind: scatter, x: speed, y: velocity_max, log_x: true, median: true, bounds_y: [0, 1]}
  - {name: portrait, kind: phase, x: position, y: velocity, at: {input.velocity: 1 m/s}, bounds_x: [0, 1], bounds_y: [0, 1]}
  - {name: factors, kind: correlations, y: velocity_max}
`

func studyFile(t *testing.T, duration string, change ...string) string {
	t.Helper()
	base, err := filepath.Abs("../../configs/stick-slip.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "small.yaml")
	rel, err := filepath.Rel(filepath.Dir(path), base)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(append([]string{"BASE", rel, "DURATION", duration}, change...)...).Replace(smallStudy)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// folder reads what a study has made of its runs.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range list {
		if e.IsDir() || e.Name() == engine.ManifestName {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = strings.ReplaceAll(string(data), dir, "DIR")
	}
	return out
}

func sameFolders(t *testing.T, got, want string) {
	t.Helper()
	a, b := folder(t, got), folder(t, want)
	if len(a) != len(b) || len(a) < 2 {
		t.Errorf("%d files and %d", len(a), len(b))
	}
	for name := range b {
		if a[name] != b[name] {
			t.Errorf("%s differs", name)
		}
	}
}

// One worker or four, drawn or not: the same bytes; and what is in them fits together.
func TestStudyDoesNotDependOnTheWorkers(t *testing.T) {
	t.Parallel()
	file, dir := studyFile(t, "2 s"), t.TempDir()
	one, four := filepath.Join(dir, "one"), filepath.Join(dir, "four")
	for out, workers := range map[string]string{one: "1", four: "4"} {
		if stdout, stderr, code := execute(t, "study", file, "--out", out, "--workers", workers, "--plot"); code != report.OK {
			t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
		}
	}
	sameFolders(t, four, one)
	for _, name := range []string{"over-speed", "portrait", "factors"} {
		svg := folder(t, one)[name+".svg"]
		if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil || strings.Contains(svg, "NaN") || !strings.Contains(svg, "velocity") {
			t.Errorf("%s.svg: %v, %d bytes", name, err, len(svg))
		}
		img, err := png.Decode(strings.NewReader(folder(t, one)[name+".png"]))
		if err != nil {
			t.Fatal(err)
		}
		blue := 0 // of the first curve
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				if r, g, b, _ := img.At(x, y).RGBA(); r>>8 == 0 && g>>8 == 114 && b>>8 == 178 {
					blue++
				}
			}
		}
		if blue < 80 {
			t.Errorf("%s.png: %d blue pixels", name, blue)
		}
	}

	rows, err := csv.NewReader(strings.NewReader(folder(t, one)["results.csv"])).ReadAll()
	if err != nil || len(rows) != 61 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if head := strings.Join(rows[0][:4], " "); head != "run speed_m_s sigma1_Ns_m scheme" || rows[0][len(rows[0])-1] != "failed" {
		t.Errorf("%v", rows[0])
	}
	// a run is what hil simulate says of the same file
	at := map[string]int{}
	for i, h := range rows[0] {
		at[h] = i
	}
	r := rows[17]
	base := simulateFile(t, "stick-slip.yaml", "velocity: 0.1 m/s", "velocity: "+r[at["speed_m_s"]]+" m/s",
		"sigma1: 316.22776601683796", "sigma1: "+r[at["sigma1_Ns_m"]], "vd: 0 ", "vd: 0.1 ", "duration: 20 s",
		"duration: 2 s\nscheme: "+r[at["scheme"]])
	stdout, stderr, code := execute(t, "simulate", base, "--json")
	if code != report.OK {
		t.Fatal(stderr)
	}
	var sim struct {
		Laws []struct{ Metrics map[string]*float64 }
	}
	if err := json.Unmarshal([]byte(stdout), &sim); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"velocity_max", "work_against_friction", "first_arrest_s"} {
		cell := ""
		for h, i := range at {
			if strings.HasPrefix(h, name) {
				cell = r[i]
			}
		}
		want := ""
		if v := sim.Laws[0].Metrics[name]; v != nil {
			want = strconv.FormatFloat(*v, 'g', -1, 64)
		}
		if cell != want {
			t.Errorf("%s: %q in the study, %q by hil simulate", name, cell, want)
		}
	}
}

// Killed in the middle, a study goes on and ends with the bytes of one that was not.
func TestStudySurvivesBeingKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("kills a program several times")
	}
	file, dir := studyFile(t, "24 s"), t.TempDir()
	whole, cut := filepath.Join(dir, "whole"), filepath.Join(dir, "cut")
	if _, stderr, code := execute(t, "study", file, "--out", whole); code != report.OK {
		t.Fatal(stderr)
	}
	// runs that are on the disk, in files of tasks or in parts of them: all lines but the first and the last of a file
	lines := func() (n int) {
		files, _ := filepath.Glob(filepath.Join(cut, engine.TaskFolder, "*"))
		for _, name := range files {
			data, _ := os.ReadFile(name)
			n += bytes.Count(data, []byte(`{"run":`))
		}
		return n
	}
	for kill, at := range []int{8, 20, 30} {
		c := program(t, "study", file, "--out", cut, "--workers", "2")
		var errs syncBuffer
		c.Stderr = &errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); lines() < at; time.Sleep(time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatalf("%d lines after a minute\n%s", lines(), errs.String())
			}
		}
		if kill < 2 {
			_ = c.Process.Kill()
			_ = c.Wait()
			continue
		}
		// the last time it is asked to end
		_ = c.Process.Signal(syscall.SIGINT)
		_ = c.Wait()
		if code := c.ProcessState.ExitCode(); code != report.Interrupted || !strings.Contains(errs.String(), "goes on from there: "+
			"hil study "+file) {
			t.Errorf("exit %d\n%s", code, errs.String())
		}
	}
	if n := lines(); n >= 60 {
		t.Errorf("nothing was left to do: %d runs", n)
	}
	// a torn file, as a power cut may leave it
	done, _ := filepath.Glob(filepath.Join(cut, engine.TaskFolder, "*.jsonl"))
	if err := os.Truncate(done[0], 100); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := execute(t, "study", file, "--out", cut, "--workers", "1")
	if code != report.OK || !strings.Contains(stderr, "of 60 runs are in finished tasks") ||
		!strings.Contains(stderr, "the files of the tasks 0 cannot be read") || !strings.Contains(stdout, "runs were there already") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	sameFolders(t, cut, whole)
}

// The table as Parquet, read back: the numbers of the CSV, null for what is none.
func TestStudyWritesParquet(t *testing.T) {
	t.Parallel()
	file, dir := studyFile(t, "1 s", "runs: 60", "runs: 12", "name: speed", `name: 'speed, "v",snappy'`, "x: speed",
		`x: 'speed, "v",snappy'`), filepath.Join(t.TempDir(), "p")
	if _, stderr, code := execute(t, "study", file, "--out", dir, "--format", "parquet"); code != report.OK {
		t.Fatal(stderr)
	}
	if _, stderr, code := execute(t, "study", file, "--out", dir); code != report.OK {
		t.Fatal(stderr)
	}
	files := folder(t, dir)
	rows, err := csv.NewReader(strings.NewReader(files["results.csv"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	pq, err := parquet.OpenFile(strings.NewReader(files["results.parquet"]), int64(len(files["results.parquet"])))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range pq.Schema().Columns() {
		if c[0] != rows[0][i] {
			t.Errorf("column %d is %s, in the CSV %s", i, c[0], rows[0][i])
		}
	}
	got := make([]parquet.Row, 20)
	n, _ := pq.RowGroups()[0].Rows().ReadRows(got)
	if n != 12 {
		t.Fatalf("%d rows", n)
	}
	nulls := 0
	for r, row := range got[:n] {
		for i, v := range row {
			text := v.String()
			switch {
			case v.IsNull():
				text = ""
				nulls++
			case v.Kind() == parquet.Double:
				text = strconv.FormatFloat(v.Double(), 'g', -1, 64)
			}
			if text != rows[r+1][i] {
				t.Errorf("row %d, %s: %s, in the CSV %s", r, rows[0][i], text, rows[r+1][i])
			}
		}
	}
	if nulls == 0 {
		t.Error("there was no null to read")
	}
}

func TestStudyVerb(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	small := func(change ...string) string {
		return studyFile(t, "0.1 s", append([]string{"runs: 60", "runs: 5"}, change...)...)
	}
	good := small()
	used := filepath.Join(dir, "used")
	if _, stderr, code := execute(t, "study", good, "--out", used); code != report.OK {
		t.Fatal(stderr)
	}
	foreign := filepath.Join(dir, "foreign")
	if err := os.MkdirAll(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, "results.csv"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"done already", []string{good, "--out", used}, report.OK, "5 runs were there already"},
		{"other runs", []string{good, "--out", used, "--runs", "6"}, report.Invalid,
			"(small, latin-hypercube of 5, seed 3): the design or a factor has changed; it had 5 runs then and has 6 now"},
		{"other seed", []string{good, "--out", used, "--seed", "4"}, report.Invalid,
			"name another folder with --out, or begin again with --resume=false"},
		{"begin again", []string{good, "--out", used, "--seed", "4", "--resume=false"}, report.OK, "seed 4"},
		{"other base", []string{small("friction.vd: 0.1", "friction.vd: 0.2"), "--out", used}, report.Invalid,
			"configs/stick-slip.yaml, with set, has changed"},
		{"nothing to resume", []string{good, "--out", filepath.Join(dir, "new"), "--resume"}, report.Invalid, "there is no manifest"},
		{"someone's results", []string{good, "--out", foreign}, report.Usage, "it is not of this study"},
		{"folder in the way", []string{good, "--out", good}, report.Unavailable, "not a directory"},
		{"misspelt result", []string{small("velocity_max, first", "velocity_mex, first")}, report.Invalid,
			`metrics[0]: no run gives "velocity_mex"; there are break_away_count`},
		{"misspelt axis", []string{small("x: speed", "x: sped")}, report.Invalid, `figures[0].x: no run gives "sped"; there are speed`},
		{"misspelt path", []string{small("path: friction.sigma1", "path: friction.sigma7")}, report.Invalid, `unknown key "sigma7"`},
		{"misspelt column", []string{small("x: position, y: velocity", "x: place, y: velocity"), "--plot"}, report.Invalid,
			`the trace has no "place"; it has time, position`},
		{"failing runs", []string{small("scheme, values: [midpoint, implicit]", "plant.mass, values: [1, 1e-12]")}, report.Quality,
			"runs failed"},
		{"allowed failures", []string{small("scheme, values: [midpoint, implicit]", "plant.mass, values: [1, 1e-12]", "version: 1",
			"version: 1\nmax_failed: 90 %")}, report.OK, "runs failed:\n   run "},
		{"no file", []string{"not-there.yaml"}, report.Invalid, "no such file"},
		{"rig file", []string{"../../configs/motor.yaml"}, report.Invalid, "hil run"},
		{"format", []string{good, "--format", "xlsx"}, report.Usage, "want csv, mat, parquet"},
		{"workers", []string{good, "--workers", "-1"}, report.Usage, "--workers -1"},
		{"runs", []string{good, "--runs", "0"}, report.Usage, "--runs 0"},
		{"no argument", nil, report.Usage, "no argument given; want "},
	} {
		args := append([]string{"study"}, c.args...)
		if len(c.args) == 1 || len(c.args) == 2 && c.args[1] == "--plot" {
			args = append(args, "--out", filepath.Join(dir, fmt.Sprint(i)))
		}
		stdout, stderr, code := execute(t, args...)
		if code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%s: exit %d, want %d with %q\n%s%s", c.name, code, c.code, c.want, stdout, stderr)
		}
	}
	if data, _ := os.ReadFile(filepath.Join(foreign, "results.csv")); string(data) != "mine\n" {
		t.Error("a foreign file was written over")
	}

	// JSON on standard output is the summary in the folder and this sitting
	stdout, stderr, code := execute(t, "study", good, "--out", used, "--seed", "4", "--json")
	if code != report.OK {
		t.Fatal(stderr)
	}
	var out, kept map[string]any
	data, _ := os.ReadFile(filepath.Join(used, "summary.json"))
	if json.Unmarshal([]byte(stdout), &out) != nil || json.Unmarshal(data, &kept) != nil {
		t.Fatalf("no JSON: %s", stdout)
	}
	if s := out["sitting"].(map[string]any); s["resumed"] != 5.0 {
		t.Errorf("%v", s)
	}
	delete(out, "sitting")
	a, _ := json.Marshal(out)
	b, _ := json.Marshal(kept)
	if !bytes.Equal(a, b) {
		t.Errorf("%s\n%s", a, b)
	}
	if _, _, code := execute(t, "check", good, "../../configs/study/stick-slip.yaml",
		"../../configs/study/brush-length.yaml"); code != report.OK {
		t.Error("hil check does not take studies")
	}
}

// Several seeds of every setting: a sensor's noise moves the CSV only, so here the seeds change nothing and their spread is 0.
func TestStudyWithReplicates(t *testing.T) {
	t.Parallel()
	file := studyFile(t, "0.5 s", "runs: 60, seed: 3", "runs: 4, seed: 3, replicates: 3, seed_path: sensors.seed", "set: {",
		"set: {sensors: {position: {noise: 1e-6 m}}, ")
	dir := filepath.Join(t.TempDir(), "r")
	stdout, stderr, code := execute(t, "study", file, "--out", dir, "--json")
	if code != report.OK {
		t.Fatal(stderr)
	}
	var out study.Summary
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		t.Fatal(err)
	}
	if out.Points != 4 || out.Runs != 12 || *out.Metrics[0].SeedSD != 0 || out.Metrics[0].Correlations[0].Points != 4 {
		t.Errorf("%s", stdout)
	}
	rows, err := csv.NewReader(strings.NewReader(folder(t, dir)["results.csv"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(rows[0][:4], " ") != "run point replicate seed" || rows[5][1] != "1" || rows[5][2] != "1" || rows[5][3] == rows[4][3] {
		t.Errorf("%v\n%v", rows[4], rows[5])
	}
}

// The studies of the brush run, and their figures ask for results and columns that are there.
func TestStudyOfTheBrush(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, runs, plot string }{{"brush-length", "1", "--plot"}, {"brush-stiffness", "2", "--json"}} {
		stdout, stderr, code := execute(t, "study", c.name, "--runs", c.runs, c.plot, "--out", filepath.Join(t.TempDir(), c.name))
		if code != report.OK || !strings.Contains(stdout, "mean_rate") {
			t.Errorf("%s: exit %d\n%s%s", c.name, code, stdout, stderr)
		}
	}
}

// Two brushes on either side of the stiffness that a step of 20 µs resolves, √(3·k_a/m)·h = 1 with m = 1600·6.3e-3·11e-3·0.012 kg:
// the study names the run for which hil simulate warns.
func TestStudyNamesRunsWithWarnings(t *testing.T) {
	t.Parallel()
	base, err := filepath.Abs("../../configs/brush.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "stiff.yaml")
	text := "version: 1\nname: stiff\nbase: " + base + "\nset: {brush.brush.length: 12 mm, duration: 0.01 s, discard: 0 s}\n" +
		"vary:\n  - {path: brush.segment.factor, name: stiffness, values: [1.10, 1.12]}\ndesign: {kind: grid}\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := execute(t, "study", path, "--out", filepath.Join(t.TempDir(), "out"))
	if code != report.OK || !strings.Contains(stdout, "1 of 2 runs have warnings, run 1 is the first") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}
