package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/cmd/simulate"
	"hilrig/configs"
	"hilrig/identify/record"
)

// simulated is the JSON of hil simulate, as docs/reference/simulate.md describes it.
type simulated struct {
	Name      string
	Steps     int
	Threshold float64 `json:"event_speed"`
	Units     map[string]string
	Warnings  []string
	Files     map[string]string
	Laws      []struct {
		Label, Law string
		Passive    bool
		ActiveFrom *float64 `json:"active_from"`
		Limit      *float64 `json:"step_limit_s"`
		Parts      int      `json:"parts_per_step"`
		Parameters []struct {
			Name, Unit, From string
			Value            float64
		}
		Events []struct {
			Time                          float64 `json:"time_s"`
			Kind                          string
			Position, Friction, Direction float64
		}
		Metrics map[string]float64
		Status  map[string]int
	}
}

// simulateJSON runs the verb with --json, in this process.
func simulateJSON(t *testing.T, args ...string) simulated {
	t.Helper()
	out, errs, err := runVerb(newSimulateCmd(), append(args, "--json")...)
	var s simulated
	if err == nil {
		err = json.Unmarshal([]byte(out), &s)
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs)
	}
	return s
}

// simulateFile writes a file to simulate: an example with pairs of old and new text.
func simulateFile(t *testing.T, example string, change ...string) string {
	t.Helper()
	data, err := os.ReadFile("../../configs/" + example)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for i := 0; i+1 < len(change); i += 2 {
		if !strings.Contains(text, change[i]) {
			t.Fatalf("%q is not in %s", change[i], example)
		}
		text = strings.Replace(text, change[i], change[i+1], 1)
	}
	path := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The published case at 1 ms: break-away and arrest as stiff adaptive integration finds them [theory §4.3]. The default
// scheme is 0.2 ms off there; 2 ms is a step on either side.
func TestSimulateFindsThePublishedEvents(t *testing.T) {
	t.Parallel()
	s := simulateJSON(t, "../../configs/stick-slip.yaml")
	law := s.Laws[0]
	want := []struct {
		kind string
		t    float64
	}{{"break-away", 7.458}, {"arrest", 10.2235}, {"break-away", 13.8207}, {"arrest", 16.5863}}
	if len(law.Events) != len(want) {
		t.Fatalf("events %+v", law.Events)
	}
	for i, w := range want {
		if e := law.Events[i]; e.Kind != w.kind || math.Abs(e.Time-w.t) > 2e-3 || e.Direction != 1 {
			t.Errorf("event %d: %+v, want %s at %g s", i, e, w.kind, w.t)
		}
	}
	m := law.Metrics
	if math.Abs(m["position_end"]-1.27260) > 1e-4 || math.Abs(m["velocity_max"]-0.36982) > 1e-4 || m["break_away_count"] != 2 ||
		m["evaluations_per_step"] > 3 {
		t.Errorf("metrics %v", m)
	}
	if s.Steps != 20000 || s.Threshold != 0.01 || s.Units["load"] != "N" || law.Status["ok"] != 20000 || law.Parts != 1 {
		t.Errorf("%+v", s)
	}
	if law.Passive || law.ActiveFrom == nil || *law.ActiveFrom <= 0 || len(s.Warnings) != 1 || law.Limit == nil ||
		math.Abs(*law.Limit-0.004668) > 1e-6 {
		t.Errorf("passive %v, warnings %v, limit %v", law.Passive, s.Warnings, law.Limit)
	}
	from := map[string]string{}
	for _, p := range law.Parameters {
		from[p.Name] = p.From
	}
	if from["sigma0"] != "file" || from["vd"] != "file" || from["N0"] != "zero" {
		t.Errorf("origins %v", from)
	}
}

// First break-away of five laws with one Stribeck curve [theory §8.1], three digits.
func TestSimulateComparesLaws(t *testing.T) {
	s := simulateJSON(t, "../../configs/compare-laws.yaml")
	want := map[string]float64{"LuGre": 1.061, "modified Dahl": 1.070, "M2": 0.971, "seven-parameter": 0.974, "Karnopp": 0.788}
	if len(s.Laws) != len(want) {
		t.Errorf("%d laws", len(s.Laws))
	}
	for _, l := range s.Laws {
		if at := l.Metrics["first_break_away_s"]; math.Abs(at-want[l.Label]) > 1e-3 {
			t.Errorf("%s breaks away at %.4f s, want %.3f", l.Label, at, want[l.Label])
		}
	}
}

// Coast-down has a closed form: J·dω/dt = −(Fc + σ2·ω) ends after J/σ2·ln(1 + σ2·ω0/Fc), and all energy went into friction.
func TestSimulateCoastDown(t *testing.T) {
	s := simulateJSON(t, "../../configs/motor-coast.yaml")
	stop := 7e-5 / 1.5e-4 * math.Log(1+1.5e-4*100/0.015)
	law := s.Laws[0]
	// the Stribeck rise at the end and the bristles shift it by less than 1 ms: Fs is 40 % above Fc over some 5 ms
	if len(law.Events) == 0 || math.Abs(law.Events[0].Time-stop) > 1e-3 {
		t.Errorf("stops at %+v, want %.4f s", law.Events, stop)
	}
	if w := law.Metrics["work_against_friction"]; math.Abs(w-0.5*7e-5*100*100) > 1e-4*w {
		t.Errorf("work %.6f J, want 0.35", w)
	}
	if s.Units["friction"] != "N·m" || s.Units["position"] != "rad" {
		t.Errorf("units %v", s.Units)
	}
}

// Presliding of the public LuGre set: 1040.9 µm from peak to peak [theory §8.4], within the 0.5 % of §8.6.
func TestSimulatePresliding(t *testing.T) {
	m := simulateJSON(t, "../../configs/presliding.yaml").Laws[0].Metrics
	if got := m["position_max"] - m["position_min"]; math.Abs(got-1040.9e-6) > 0.005*1040.9e-6 || m["break_away_count"] != 0 {
		t.Errorf("%.1f µm from peak to peak, %v break-aways", 1e6*got, m["break_away_count"])
	}
}

// A motor whose step is divided does what it does with the short step, and has as many rows as laws that are not divided.
func TestSimulateDividesMotorSteps(t *testing.T) {
	short := simulateFile(t, "motor-start.yaml", "step: 0.1 ms", "step: 10 ms", "every: 1 ms", "every: 20 ms")
	long := simulateFile(t, "motor-start.yaml", "step: 0.1 ms", "step: 20 ms\nover_limit: substep", "every: 1 ms", "every: 20 ms")
	a, b := simulateJSON(t, short).Laws[0], simulateJSON(t, long).Laws[0]
	if a.Parts != 1 || b.Parts != 2 || a.Metrics["position_max"] != b.Metrics["position_max"] || len(a.Events) != len(b.Events) {
		t.Errorf("in %d parts %v, in %d %v", a.Parts, a.Metrics, b.Parts, b.Metrics)
	}
	table := filepath.Join(t.TempDir(), "run.csv")
	if _, errs, err := runVerb(newSimulateCmd(), long, "-o", table); err != nil {
		t.Fatal(err, errs)
	}
	if n := len(readCSV(t, table)["time_s"]); n != 200 {
		t.Errorf("%d rows, want 4 s every 20 ms", n)
	}
}

// Every example gives a CSV, a figure in either format and a summary.
func TestSimulateExamplesToFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"stick-slip", "compare-laws", "presliding", "motor-coast", "motor-start"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			table, svg, bitmap := filepath.Join(dir, "run.csv"), filepath.Join(dir, "run.svg"), filepath.Join(dir, "run.png")
			out, errs, err := runVerb(newSimulateCmd(), "../../configs/"+name+".yaml", "-o", table, "--plot", svg)
			if err != nil {
				t.Fatalf("%v\n%s", err, errs)
			}
			for _, want := range []string{name + ": ", "evaluations per step", "work against friction", "next: hil simulate"} {
				if !strings.Contains(out, want) {
					t.Errorf("…%s… is missing in\n%s", want, out)
				}
			}
			if _, errs, err := runVerb(newSimulateCmd(), "../../configs/"+name+".yaml", "--plot", bitmap); err != nil {
				t.Fatalf("%v\n%s", err, errs)
			}
			readCSV(t, table)
			checkSVG(t, svg)
			checkPNG(t, bitmap)
			left, _ := filepath.Glob(filepath.Join(dir, ".*"))
			if len(left) > 0 {
				t.Errorf("temporary files stay: %v", left)
			}
		})
	}
}

// readCSV checks that every cell is a finite number and that time runs, and returns the columns by name.
func readCSV(t *testing.T, path string) map[string][]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 100 {
		t.Fatalf("%s: %d rows, %v", path, len(rows), err)
	}
	cols := map[string][]float64{}
	for k, row := range rows[1:] {
		for j, cell := range row {
			x, err := strconv.ParseFloat(cell, 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatalf("%s:%d: column %s holds %q", path, k+2, rows[0][j], cell)
			}
			cols[rows[0][j]] = append(cols[rows[0][j]], x)
		}
	}
	if len(cols) != len(rows[0]) {
		t.Errorf("%s: a name appears twice in %v", path, rows[0])
	}
	time := cols["time_s"]
	for k := 1; k < len(time); k++ {
		if time[k] <= time[k-1] {
			t.Fatalf("%s: time goes from %g to %g s", path, time[k-1], time[k])
		}
	}
	return cols
}

func checkSVG(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for dec := xml.NewDecoder(bytes.NewReader(data)); ; n++ {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	if n < 300 || !bytes.Contains(data, []byte("time / s")) || bytes.Contains(data, []byte("NaN")) {
		t.Errorf("%s: %d tokens, %d bytes", path, n, len(data))
	}
}

func checkPNG(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	colours := map[[3]uint32]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			colours[[3]uint32{r >> 8, g >> 8, b >> 8}]++
		}
	}
	// the blue of the first law, and not all over
	if n := colours[[3]uint32{0, 114, 178}]; n < 1000 || n > img.Bounds().Dx()*img.Bounds().Dy()/20 {
		t.Errorf("%s: %d blue pixels", path, n)
	}
}

// The numbers of the CSV belong together: position is the integral of the mean velocity, work is Σ F̄·Δx with the digits of
// the file, the load is that of the spring. The reader of hil identify takes it.
func TestSimulateCSVIsConsistent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.csv")
	in := simulateFile(t, "stick-slip.yaml", "duration: 20 s", "duration: 9 s\noutputs: {columns: [position, velocity, friction, load, "+
		"input, mean_velocity, work, states]}")
	if _, errs, err := runVerb(newSimulateCmd(), in, "-o", path); err != nil {
		t.Fatal(err, errs)
	}
	c := readCSV(t, path)
	for _, name := range []string{"time_s", "time_mid_s", "position_m", "velocity_m_s", "friction_N", "load_N", "input_m",
		"mean_velocity_m_s", "work_J", "bristle_m"} {
		if len(c[name]) != 9000 {
			t.Fatalf("column %s has %d rows", name, len(c[name]))
		}
	}
	work, x := 0.0, 0.0
	for k := range c["time_s"] {
		dx := c["position_m"][k] - x
		x = c["position_m"][k]
		work += c["friction_N"][k] * dx
		if d := c["mean_velocity_m_s"][k]*1e-3 - dx; math.Abs(d) > 1e-15 {
			t.Fatalf("row %d: Δx is %g m off the mean velocity", k, d)
		}
		if d := 2*(c["input_m"][k]-x) - c["load_N"][k]; math.Abs(d) > 1e-12 {
			t.Fatalf("row %d: the spring is %g N off", k, d)
		}
	}
	last := len(c["work_J"]) - 1
	if math.Abs(work-c["work_J"][last]) > 1e-12 {
		t.Errorf("Σ F·Δx = %.15g J, column says %.15g", work, c["work_J"][last])
	}
	recs, err := record.Read(path, record.Mapping{
		Time:     record.Column{Name: "time_s", Unit: "s", Scale: 1},
		Position: record.Column{Name: "position_m", Unit: "m", Scale: 1},
		Force:    record.Column{Name: "load_N", Unit: "N", Scale: 1},
		SameUnit: identify.SameUnit,
	})
	if err != nil || len(recs[0].Position) != 9000 {
		t.Errorf("identify: %v", err)
	}
}

// The verb as a script sees it.
func TestSimulateVerb(t *testing.T) {
	t.Parallel()
	good := "../../configs/stick-slip.yaml"
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept.csv")
	if err := os.WriteFile(kept, []byte("keep me"), 0o644); err != nil {
		t.Fatal(err)
	}
	far := simulateFile(t, "stick-slip.yaml", "step: 1 ms", "step: 10 ms")
	away := filepath.Join(dir, "away.csv")
	if err := os.WriteFile(away, []byte("time_s,position_m\n0,0\n1,1e300\n20,1e300\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		says []string // on stdout for code 0, else on stderr
	}{
		{"good", []string{good}, report.OK, []string{"left out, zero", "break-away forward", "10.22"}},
		{"other laws", []string{good, "--law", "lugre,dahl,karnopp"}, report.OK, []string{"public set", "karnopp", "events of dahl"}},
		{"other step", []string{good, "--step", "0.5ms", "--duration", "1 s"}, report.OK, []string{"1 s in 2000 steps of 500 µs"}},
		{"no file", nil, report.Usage, []string{"no argument given; want "}},
		{"missing file", []string{filepath.Join(dir, "no.yaml")}, report.Invalid, []string{"no.yaml: no such file"}},
		{"kept file", []string{good, "-o", kept}, report.Usage, []string{"kept.csv exists; --force"}},
		{"folder", []string{good, "-o", dir, "--force"}, report.Usage, []string{"is a folder"}},
		{"no folder", []string{good, "-o", filepath.Join(dir, "none", "x.csv")}, report.Unavailable,
			[]string{"cannot write", "there is no folder", "none"}},
		{"standard output", []string{good, "-o", "-"}, report.Usage, []string{"standard output carries the report"}},
		{"unknown format", []string{good, "--plot", filepath.Join(t.TempDir(), "x.gif")}, report.Usage, []string{"ends in .svg, .pdf or .png"}},
		{"one file for both", []string{good, "--plot", "x.svg", "-o", "./x.svg"}, report.Usage, []string{"the same file"}},
		{"misspelt law", []string{good, "--law", "lugr"}, report.Usage, []string{`did you mean "lugre"?`}},
		{"public law that turns", []string{"../../configs/motor-coast.yaml", "--law", "dahl"}, report.Usage, []string{"linear axis"}},
		{"impossible step", []string{good, "--step", "-1ms"}, report.Usage, []string{"--step", "want > 0"}},
		{"step of another kind", []string{good, "--step", "1 m"}, report.Usage, []string{`"1 m" is no time`, "1m30s"}},
		{"no step", []string{good, "--step", "0"}, report.Usage, []string{"--step", "want > 0"}},
		{"a time in words", []string{good, "--duration", "0m1s"}, report.OK, []string{"1 s in 1000 steps"}},
		{"step that divides nothing", []string{"../../configs/motor-coast.yaml", "--step", "0.3ms"}, report.Usage, []string{"outputs.every"}},
		{"step beyond the limit", []string{far}, report.Invalid, []string{"lugre: step: 0.01 s is beyond what the midpoint scheme takes here, " +
			"0.004668 s", "over_limit: substep divides it into 3"}},
		{"sub-steps", []string{simulateFile(t, "stick-slip.yaml", "step: 1 ms", "step: 10 ms\nover_limit: substep")}, report.OK,
			[]string{"every step in 3 parts", "0.0046676"}},
		{"unstable scheme", []string{simulateFile(t, "stick-slip.yaml", "step: 1 ms", "step: 5 ms\nscheme: explicit")}, report.Invalid,
			[]string{"unstable while the contact sticks"}},
		{"too many sub-steps", []string{simulateFile(t, "stick-slip.yaml", "mass: 1 kg", "mass: 1 mg", "step: 1 ms",
			"step: 10 ms\nover_limit: substep")}, report.Invalid, []string{"would be divided into", "want a step of at most"}},
		{"misspelt parameter", []string{simulateFile(t, "stick-slip.yaml", "sigma0:", "sgima0:")}, report.Invalid,
			[]string{`run.yaml:16:3: unknown key "sgima0"`, `did you mean "sigma0"?`, "^"}},
		{"force of another world", []string{simulateFile(t, "presliding.yaml", "0.5 N", "1e308 N")}, report.Invalid,
			[]string{"input.amplitude: 1e+308", "want 0, or a magnitude from 1e-30 to 1e+30"}},
		{"no finite result", []string{simulateFile(t, "stick-slip.yaml", "{kind: ramp, velocity: 0.1 m/s}", "{kind: file, file: "+away+"}"),
			"--json"}, report.Internal,
			[]string{"lugre: at t = 0 s the step has no finite result (position", "m/s", "nothing was written"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errs, code := execute(t, append([]string{"simulate"}, c.args...)...)
			if code != c.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, c.code, out, errs)
			}
			where := errs
			if c.code == report.OK {
				where = out
			} else if out != "" {
				t.Errorf("stdout of a failure: %s", out)
			}
			for _, s := range c.says {
				if !strings.Contains(where, s) {
					t.Errorf("…%s… is missing in\n%s", s, where)
				}
			}
		})
	}
	if data, _ := os.ReadFile(kept); string(data) != "keep me" {
		t.Errorf("an existing file was written over: %q", data)
	}
	if _, errs, err := runVerb(newSimulateCmd(), good, "-o", kept, "--force"); err != nil {
		t.Fatal(err, errs)
	}
	if n := len(readCSV(t, kept)["time_s"]); n != 20000 {
		t.Errorf("%d rows after --force", n)
	}
}

// Many laws stand in several tables, none wider than a terminal takes, and every law in one of them.
func TestSimulateTablesDoNotWrap(t *testing.T) {
	file := simulateFile(t, "compare-laws.yaml", "6 s", "0.1 s")
	names := configs.LawNames()
	out, _, err := runVerb(newSimulateCmd(), file, "--law", strings.Join(names, ","))
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for line := range strings.Lines(out[strings.Index(out, "break-aways"):strings.Index(out, "events of")]) {
		if strings.HasPrefix(strings.TrimSpace(line), "break-aways") {
			tables++
		}
		if n := len([]rune(line)); n > 200 {
			t.Errorf("a line of %d letters", n)
		}
	}
	if want := (len(names) + simulate.SideBySide - 1) / simulate.SideBySide; tables != want {
		t.Errorf("%d tables for %d laws, want %d", tables, len(names), want)
	}
}

// Ctrl-C ends a long run with 130 and leaves no file.
func TestSimulateInterrupted(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "run.csv")
	c := program(t, "simulate", "../../configs/stick-slip.yaml", "--duration", "9e5 s", "-o", out)
	errs, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// the warning comes after the handler of the signal is in place
	lines := bufio.NewScanner(errs)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "warning:") {
		t.Fatalf("first line %q", lines.Text())
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	said := ""
	for lines.Scan() {
		said = lines.Text()
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != report.Interrupted {
		t.Errorf("%v, want exit code %d", err, report.Interrupted)
	}
	if !strings.Contains(said, "interrupted; nothing was written") {
		t.Errorf("last words: %q", said)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("files stay: %v", files)
	}
}

// A file appears whole or not at all, and one that appears meanwhile is left alone.
func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	put := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	if err := report.WriteWhole(path, false, put("one")); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteWhole(path, false, put("two")); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("second write: %v", err)
	}
	broken := errors.New("disk full")
	if err := report.WriteWhole(path, true, func(w io.Writer) error { io.WriteString(w, "half"); return broken }); !errors.Is(err, broken) {
		t.Errorf("broken write: %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "one" {
		t.Errorf("file holds %q", data)
	}
	if err := report.WriteWhole(path, true, put("three")); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(path); string(data) != "three" {
		t.Errorf("file holds %q", data)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("files %v", files)
	}
}

// A cancelled context ends the run in the library too.
func TestSimulateStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := simulate.RunLaws(ctx, "../../configs/stick-slip.yaml", simulate.Options{}, io.Discard, io.Discard); !errors.Is(err,
		context.Canceled) {
		t.Errorf("%v", err)
	}
}

// docs/reference/simulate.md names every key of the file and of the JSON.
func TestSimulateIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/reference/simulate.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"version", "name", "description", "axis", "plant.kind", "plant.mass", "plant.spring", "plant.damper", "plant.motor",
		"plant.load_inertia", "plant.load_torque",
		"plant.cogging", "plant.cogging_periods", "plant.thermal", "friction", "normal", "current", "input", "initial.position",
		"initial.velocity", "scheme", "step", "duration",
		"over_limit", "outputs.every", "outputs.decimate", "outputs.columns", "events.speed", "events.rest", "sensors", "sensors.position",
		"sensors.seed", "levels", "rise"}
	out, _, err := runVerb(newSimulateCmd(), "../../configs/presliding.yaml", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal([]byte(out), &tree); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, inner := range v {
				keys = append(keys, k)
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(tree)
	for _, k := range keys {
		if !strings.Contains(string(doc), "`"+k+"`") {
			t.Errorf("docs/reference/simulate.md does not explain %s", k)
		}
	}
}

// A device is no file: nothing takes its place, --force or not.
func TestDevicesAreNotWrittenOver(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	if err := report.WriteWhole(fifo, true, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err == nil {
		t.Error("a pipe was written over")
	}
	if st, err := os.Lstat(fifo); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is gone: %v", err)
	}
}
