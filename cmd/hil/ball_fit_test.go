package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	core "hilrig/identify"
)

// ballFiles copies the example of a ball to a folder, after changes to the files of simulation and fit, and makes its recording.
func ballFiles(t *testing.T, run, fit *strings.Replacer) (fitFile, recording string) {
	t.Helper()
	dir := t.TempDir()
	for name, r := range map[string]*strings.Replacer{"ball-rig.yaml": run, "ball.yaml": fit} {
		text, err := os.ReadFile(identifyExamples + name)
		if err != nil {
			t.Fatal(err)
		}
		out := string(text)
		if r != nil {
			if out = r.Replace(out); out == string(text) {
				t.Fatalf("nothing was changed in %s", name)
			}
		}
		out = strings.Replace(out, "../../runs/", "", 1)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recording = filepath.Join(dir, "ball.csv")
	if _, errs, code := execute(t, "simulate", filepath.Join(dir, "ball-rig.yaml"), "-o", recording); code != report.OK {
		t.Fatal(errs)
	}
	return filepath.Join(dir, "ball.yaml"), recording
}

// The example gives its friction back, in all ways of showing it.
func TestBallExample(t *testing.T) {
	t.Parallel()
	fit, _ := ballFiles(t, nil, nil)
	page := filepath.Join(t.TempDir(), "ball.html")
	out, errs, code := execute(t, "identify", fit, "--json", "--report", page)
	if code != report.OK {
		t.Fatal(errs)
	}
	var r identify.Identification
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Verdict != core.Identified {
		t.Errorf("%s: %v", r.Verdict, r.Reasons)
	}
	for name, want := range map[string]float64{"mu_roll": 2.5e-4, "mu_spin": 4e-5, "height": 0.012} {
		p, ok := r.Param(name)
		// the numbers of the file move within their uncertainty, and the values with them: chance alone does not say how far
		if !ok || p.StdErr == nil || math.Abs(p.Value-want) > 0.003*want || *p.StdErr > 0.003*want {
			t.Errorf("%s = %+v, want %g", name, p, want)
		}
		if p.CI == nil || p.CI[0] > want || p.CI[1] < want || !(*p.Error > *p.StdErr) {
			t.Errorf("%s: interval %v and error %g do not hold what was assumed", name, p.CI, *p.Error)
		}
	}
	for _, a := range r.Ball.Assumed {
		if a.Name == "mass" && (math.Abs(a.Uncertainty/5.4e-5-1) > 1e-9 || math.Abs(a.ParamMoves["mu_roll"]) < 1e-9) {
			t.Errorf("the mass is assumed: %+v", a)
		}
	}
	if r.Ball == nil || len(r.Ball.Levels) != 5 || r.Ball.Moduli.Linear == 0 || r.Ball.Slip.Slips {
		t.Errorf("levels and slip: %+v", r.Ball)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "mu_roll") {
		t.Error(err, "no page")
	}
	out, _, code = execute(t, "identify", fit)
	for _, want := range []string{"verdict      identified", "shooting on γ", "moduli, linear", "slip         contact velocity"} {
		if code != report.OK || !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// Labels that are exchanged in two frames are named as the file names them, and change nothing.
func TestBallWithExchangedLabels(t *testing.T) {
	t.Parallel()
	fit, recording := ballFiles(t, nil, nil)
	text, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	head := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "m1") })
	names := strings.Split(strings.TrimSpace(lines[head]), ",")
	one := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, "m1") })
	four := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, "m4") })
	for _, frame := range []int{150, 500} {
		row := strings.Split(strings.TrimSpace(lines[head+1+frame]), ",")
		for k := range 3 {
			row[one+k], row[four+k] = row[four+k], row[one+k]
		}
		lines[head+1+frame] = strings.Join(row, ",") + "\n"
	}
	if err := os.WriteFile(recording, []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, code := execute(t, "identify", fit)
	if want := "m1, m4 have each other's labels in frame 150"; code != report.OK || !strings.Contains(out, "verdict      identified") ||
		!strings.Contains(errs, want) {
		t.Errorf("exit code %d, want 0 and %q: %s%s", code, want, out, errs)
	}
}

// A recording in which the ball slips is refused, and says that it slips.
func TestBallThatSlips(t *testing.T) {
	t.Parallel()
	fit, _ := ballFiles(t, strings.NewReplacer("  spin: {linear: 4.0e-5}", "  spin: {linear: 4.0e-5}\n  slips: true\n  slide: 0.05"), nil)
	out, errs, code := execute(t, "identify", fit)
	if code != report.Quality || !strings.Contains(out, "verdict      rejected") || !strings.Contains(errs, "rejected: the contact slips") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

// What cannot be used is named with the place to look at.
func TestBadBalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		run, fit *strings.Replacer
		lines    func(l []string) []string // of the recording
		code     int
		want     string
	}{
		{"ball of 35 m", nil, strings.NewReplacer("35 mm", "35 m"), nil, report.Invalid, "the unit of length is wrong"},
		{"recording in mm", nil, strings.NewReplacer("file: ../../runs/ball.csv", "file: ball.csv\n  unit: mm"), nil, report.Invalid,
			"times 1000 they would be right"},
		{"left-handed", nil, strings.NewReplacer("[25 mm, 5 mm", "[5 mm, 25 mm", "[-12 mm, 24 mm", "[24 mm, -12 mm", "[-14 mm, -22 mm",
			"[-22 mm, -14 mm", "[4 mm, -6 mm", "[-6 mm, 4 mm", "[8 mm, 10 mm", "[10 mm, 8 mm"), nil, report.Invalid, "left-handed"},
		{"marker that is not there", nil, strings.NewReplacer("name: m3", "name: m6"), nil, report.Invalid, "the body has a marker m6"},
		{"marker outside", nil, strings.NewReplacer("25 mm, 5 mm", "25 cm, 5 mm"), nil, report.Invalid, "markers.m1: it sits 0.25"},
		{"marker twice", nil, strings.NewReplacer("name: m3", "name: m2"), nil, report.Invalid, "markers.m2 stands twice"},
		{"mass free", nil, strings.NewReplacer("mu_spin, height", "mass"), nil, report.Invalid, "weigh the ball"},
		{"misspelt", nil, strings.NewReplacer("mu_spin, height", "mu_spinn"), nil, report.Invalid, `no parameter "mu_spinn"`},
		{"span outside", nil, strings.NewReplacer("file: ../../runs/ball.csv", "file: ball.csv\n  span: [10, 20]"), nil, report.Invalid,
			"the recording goes from 0 to 4 s"},
		{"markers hidden", strings.NewReplacer("seed: 1", "seed: 1\n  hidden: 0.9"), nil, nil, report.Invalid, "three markers or more"},
		{"gap of a second", nil, nil, func(l []string) []string { return append(l[:303:303], l[503:]...) }, report.OK,
			"200 frames are missing at 1 places"},
		{"not a recording", nil, nil, func(l []string) []string { return []string{"hello\n"} }, report.Invalid, "no motion-capture recording"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fit, recording := ballFiles(t, c.run, c.fit)
			if c.lines != nil {
				text, err := os.ReadFile(recording)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(recording, []byte(strings.Join(c.lines(strings.SplitAfter(string(text), "\n")), "")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			out, errs, code := execute(t, "identify", fit)
			if code != c.code || !strings.Contains(out+errs, c.want) {
				t.Errorf("exit code %d, want %d and %q: %s%s", code, c.code, c.want, out, errs)
			}
		})
	}
	if _, errs, code := execute(t, "identify", identifyExamples+"ball.yaml", "--law", "lugre"); code != report.Usage ||
		!strings.Contains(errs, "--law is not for a ball") {
		t.Error(code, errs)
	}
	if _, errs, code := execute(t, "simulate", identifyExamples+"ball.yaml"); code != report.Invalid ||
		!strings.Contains(errs, "hil identify") {
		t.Error(code, errs)
	}
}

// Poses of a tracker take the place of markers. The recording is that of a loop that writes each pose twice, with its age.
func TestBallFromPoses(t *testing.T) {
	t.Parallel()
	fit, recording := ballFiles(t, nil, nil)
	dir := filepath.Dir(fit)
	motion := filepath.Join(dir, "motion.csv")
	if _, errs, code := execute(t, "simulate", filepath.Join(dir, "ball-rig.yaml"), "--motion", motion); code != report.OK {
		t.Fatal(errs)
	}
	file, err := os.Open(motion)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("time [s],ball.x [m],ball.y [m],ball.z [m],ball.qw,ball.qx,ball.qy,ball.qz,ball.age [s]\n")
	for _, row := range rows[1:] {
		x, _ := strconv.ParseFloat(row[1], 64)
		y, _ := strconv.ParseFloat(row[2], 64)
		taken, _ := strconv.ParseFloat(row[0], 64)
		x, y = x+1e-4*rng.NormFloat64(), y+1e-4*rng.NormFloat64()
		z, late := 0.047+1e-4*rng.NormFloat64(), 2e-3*rng.Float64()
		for _, age := range []float64{late, late + 2.5e-3} {
			fmt.Fprintf(&b, "%.7f,%.9f,%.9f,%.9f,%s,%.7f\n", taken+age, x, y, z, strings.Join(row[3:7], ","), age)
		}
	}
	if err := os.WriteFile(recording, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(fit)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "markers:\n")
	_, tail, _ := strings.Cut(rest, "free:")
	with := func(body, noise string) {
		out := strings.Replace(head, "  file: ball.csv", "  file: ball.csv\n  body: "+body, 1) + noise + "free:" + tail
		if err := os.WriteFile(fit, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	with("ball", "noise: 0.1 mm\n")
	out, errs, code := execute(t, "identify", fit, "--json")
	var r identify.Identification
	if code != report.OK || json.Unmarshal([]byte(out), &r) != nil {
		t.Fatal(code, errs)
	}
	if p, ok := r.Param("mu_roll"); !ok || math.Abs(p.Value-2.5e-4) > 0.005*2.5e-4 || r.Verdict != core.Identified ||
		r.Ball.Frames != len(rows)-1 {
		t.Errorf("%s from %d frames: mu_roll = %+v", r.Verdict, r.Ball.Frames, p)
	}
	with("boll", "noise: 0.1 mm\n")
	if _, errs, code := execute(t, "identify", fit); code != report.Invalid || !strings.Contains(errs, "no body boll") {
		t.Error(code, errs)
	}
	with("ball", "")
	if _, errs, code := execute(t, "identify", fit); code != report.Invalid || !strings.Contains(errs, "noise is missing") {
		t.Error(code, errs)
	}
}
