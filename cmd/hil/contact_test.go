package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"hilrig/cmd/report"
	"hilrig/engine/peer"
)

// touched is the JSON of hil simulate for bodies in contact, as docs/reference/contact.md describes it.
type touched struct {
	Name, System, Engine, Impact string
	Step                         *float64 `json:"step_s"`
	Warnings                     []string
	Metrics                      map[string]*float64
	Units                        map[string]string
	Solver                       map[string]float64
	Files                        map[string]string
}

func touch(t *testing.T, args ...string) touched {
	t.Helper()
	out, errs, err := runVerb(newSimulateCmd(), append(args, "--json")...)
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	var r touched
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Every example runs, and what has a closed form agrees with it.
func TestContactExamples(t *testing.T) {
	files, err := filepath.Glob("../../configs/contact/*.yaml")
	if err != nil || len(files) < 7 {
		t.Fatalf("examples: %v %v", files, err)
	}
	const g = 9.81
	want := map[string]map[string][2]float64{ // value, tolerance
		"bouncing-ball":      {"y_end": {0.02, 1e-9}},
		"incline":            {"x_end": {0.5 * g * (math.Sin(math.Pi/9) - 0.3*math.Cos(math.Pi/9)), 1e-9}},
		"coulomb-oscillator": {"x_end": {0.06 - 3*2*0.1*g/100, 1e-9}}, // three half cycles, each 2μmg/k shorter: 1.1 mm is left
		"chain":              {"x3_end": {0.49, 1e-9}, "max_abs_x2_dot": {0, 1e-9}},
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".yaml")
		t.Run(name, func(t *testing.T) {
			r := touch(t, f)
			for k, v := range r.Metrics {
				if v == nil {
					t.Errorf("%s is not finite", k)
				}
			}
			if r.Solver["unverified_steps"] > 0 || r.Solver["refused_steps"] > 0 || r.Solver["impacts_with_less_restitution"] > 0 {
				t.Errorf("solver: %v", r.Solver)
			}
			for k, w := range want[name] {
				v := r.Metrics[k]
				if v == nil {
					t.Fatalf("no %s in %v", k, r.Metrics)
				}
				if x := math.Abs(*v); math.Abs(x-math.Abs(w[0])) > w[1] {
					t.Errorf("%s = %.12g, want ±%.12g", k, *v, w[0])
				}
			}
		})
	}
}

// The brush: its figures are there, nothing is hidden, and the same file gives the same bytes.
func TestBrushIsSimulated(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "1.csv"), filepath.Join(dir, "2.csv")
	r := touch(t, "../../configs/brush.yaml", "--duration", "0.4s", "-o", one, "--plot", filepath.Join(dir, "b.svg"))
	touch(t, "../../configs/brush.yaml", "--duration", "0.4s", "-o", two)
	for _, k := range []string{"mean_rate", "max_rate", "tilt_low", "tilt_high", "face_force", "torque", "loss"} {
		if r.Metrics[k] == nil {
			t.Errorf("no %s", k)
		}
	}
	if f := *r.Metrics["face_force"]; math.Abs(f-2.49) > 0.1 || r.Units["face_force"] != "N" {
		t.Errorf("face force %g %s, want the spring's 2.49 N", f, r.Units["face_force"])
	}
	if r.Solver["steps"] != 10000 { // after the discarded beginning
		t.Errorf("steps %g", r.Solver["steps"])
	}
	a, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(two)
	if string(a) != string(b) {
		t.Error("two runs of one file differ")
	}
	if head, _, _ := strings.Cut(string(a), "\n"); head != "time_s,x_m,y_m,phi_rad,u1_m,s1_m,u2_m,s2_m,u3_m,s3_m,phi_h_rad,phi_s_rad,x_dot_m_s,y_dot_m_s,phi_dot_rad_s,u1_dot_m_s,s1_dot_m_s,u2_dot_m_s,s2_dot_m_s,u3_dot_m_s,s3_dot_m_s,phi_h_dot_rad_s,phi_s_dot_rad_s,face_force_N,holder_force_N,spring_force_N,torque_Nm,contacts,normal_force_N,tangential_force_N" {
		t.Errorf("header %s", head)
	}
}

// The list of events of a brush holds as many of each kind as the engine counted, in the order of time, and impulses that push apart.
func TestBrushListsItsEvents(t *testing.T) {
	dir := t.TempDir()
	file, list := filepath.Join(dir, "b.yaml"), filepath.Join(dir, "events.json")
	text := "version: 1\nname: b\nsystem: brush\nbrush: {commutator: {smooth: true}}\nengine: {kind: event-driven}\nduration: 16 ms\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := touch(t, file, "--events", list)
	data, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	var events []struct {
		T      float64 `json:"time_s"`
		Kind   string  `json:"kind"`
		A      string  `json:"a"`
		B      string  `json:"b"`
		Normal float64 `json:"normal_impulse_Ns"`
	}
	if err := json.Unmarshal(data, &events); err != nil {
		t.Fatal(err)
	}
	count, last := map[string]float64{}, 0.0
	for _, e := range events {
		if count[e.Kind]++; e.T < last || e.T > 16e-3 || e.Kind == "impact" && !(e.Normal > 0) || e.A == "" || e.B == "" || e.A == e.B {
			t.Fatalf("%+v after %g s", e, last)
		}
		last = e.T
	}
	for kind, counted := range map[string]string{"closing": "closings", "stopping": "stops", "detaching": "detachments"} {
		if n := r.Solver[counted]; n != count[kind] || n == 0 {
			t.Errorf("%g %s in the list, counted %g", count[kind], kind, n)
		}
	}
	if n := r.Solver["impacts"]; count["impact"] < n || n == 0 {
		t.Errorf("%g impulses of %g impacts", count["impact"], n)
	}
}

// The same file between events: the same figures and columns, the spring's force with the impulses of impacts in it.
func TestBrushIsSimulatedBetweenEvents(t *testing.T) {
	dir := t.TempDir()
	file, rows := filepath.Join(dir, "b.yaml"), filepath.Join(dir, "b.csv")
	for _, c := range []struct {
		engine string
		check  func(metrics, solver map[string]float64)
	}{
		{"{kind: event-driven}", func(m, solver map[string]float64) {
			if solver["impacts"] < 100 || solver["events"] < solver["impacts"] || m["face_penetration"] != 0 {
				t.Errorf("%v", solver)
			}
		}},
		{"{step: 2 us}", func(m, solver map[string]float64) {
			if solver["steps"] != 8000 {
				t.Errorf("%v", solver)
			}
		}},
	} {
		text := "version: 1\nname: b\nsystem: brush\nbrush: {commutator: {smooth: true}}\nengine: " + c.engine + "\nduration: 24 " +
			"ms\ndiscard: 8 ms\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := touch(t, file, "-o", rows, "--force")
		m := map[string]float64{}
		for k, v := range r.Metrics {
			if v != nil {
				m[k] = *v
			}
		}
		if math.Abs(m["face_force"]-2.484) > 0.02 || math.Abs(m["mean_rate"]-1.24) > 0.05 || math.Abs(m["spring_force"]-2.534) > 0.03 {
			t.Errorf("%s: face %g N, spring %g N, mean rate %g rad/s", c.engine, m["face_force"], m["spring_force"], m["mean_rate"])
		}
		c.check(m, r.Solver)
		data, err := os.ReadFile(rows)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(data), "\n"); n < 1900 ||
			!strings.Contains(string(data), "face_force_N,holder_force_N,spring_force_N,torque_Nm,contacts") {
			t.Errorf("%s: %d rows", c.engine, n)
		}
	}
}

// A motor with its brushes: the torque that the current makes is what the brushes take at steady speed, and the supply is
// spent on resistance, contact and back-emf.
func TestBrushMotorRunsUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := touch(t, "../../configs/brush-motor.yaml", "-o", filepath.Join(dir, "m.csv"), "--plot", filepath.Join(dir, "m.png"))
	m := func(k string) float64 {
		t.Helper()
		if r.Metrics[k] == nil {
			t.Fatalf("no %s", k)
		}
		return *r.Metrics[k]
	}
	// 0.042 N·m/A of a mean current against the brushes, and what still accelerates the rotor
	const k, j = 0.042, 7e-5
	if got, want := k*m("current_mean"), m("brush_torque_mean"); math.Abs(got-want) > 0.1*want+j*20 {
		t.Errorf("torque of the current %g N·m, brushes take %g", got, want)
	}
	if volts := 1.2*m("current_mean") + k*m("speed_mean") + 2*m("contact_drop_mean"); math.Abs(volts-12) > 0.35 {
		t.Errorf("resistance, back-emf and drops make %g V of 12", volts)
	}
	if m("averaged_share") != 0 || m("current_ripple") < 0.01 || r.Solver["unverified_steps"] != 0 {
		t.Errorf("averaged %g, ripple %g A, solver %v", m("averaged_share"), m("current_ripple"), r.Solver)
	}
}

// The example with records in place of numbers says nothing it should not. A motor whose current leaves a table of its brush says so.
func TestMeasuredBrush(t *testing.T) {
	if r := touch(t, "../../configs/brush-measured.yaml", "--duration", "50ms"); len(r.Warnings) > 0 {
		t.Errorf("warnings %v", r.Warnings)
	}
	text, err := os.ReadFile("../../configs/brush-motor.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// A/mm²; up to some 10 A flow through 69 mm²
	for rows, want := range map[string]int{"0,1\n1,2": 0, "0.0001,1\n1,2": 1, "0,1\n0.002,2": 1} {
		file := filepath.Join(dir, "m.yaml")
		for name, content := range map[string]string{
			"m.yaml": strings.Replace(string(text), "brush:\n", "brush:\n  material: {damping_by_current: d.csv, current_density: 1e3}\n", 1),
			"d.csv":  "current_density_A_mm2,factor\n" + rows + "\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r := touch(t, file, "--duration", "50ms")
		if len(r.Warnings) != want || want == 1 && !strings.Contains(r.Warnings[0], "beyond a table of material") {
			t.Errorf("rows %q: warnings %v, want %d", rows, r.Warnings, want)
		}
	}
}

// A step that does not resolve the surface is refused with a way on, or averaged on request, and says so.
func TestBrushTooFastForTheStep(t *testing.T) {
	text, err := os.ReadFile("../../configs/brush.yaml")
	if err != nil {
		t.Fatal(err)
	}
	fast := strings.Replace(string(text), "3000 rpm}", "6000 rpm}", 1)
	file := filepath.Join(t.TempDir(), "fast.yaml")
	write := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(fast)
	_, _, err = runVerb(newSimulateCmd(), file)
	if code := report.ExitCode(err); code != report.Invalid || !strings.Contains(err.Error(), "1.45e-05 s") ||
		!strings.Contains(err.Error(), "engine.averaged") {
		t.Errorf("exit %d: %v", code, err)
	}
	write(strings.Replace(fast, "step: 20 us}", "step: 20 us, averaged: true}", 1))
	r := touch(t, file)
	if v := r.Metrics["averaged"]; v == nil || *v != 1 || len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "averaged") {
		t.Errorf("averaged %v, warnings %v", v, r.Warnings)
	}
}

// The page of a run moves in a real browser, and shows the commutator under the face.
func TestAnimationMoves(t *testing.T) {
	t.Parallel()
	path := peer.Program(t, "chromium", "chromium")
	page := filepath.Join(t.TempDir(), "brush.html")
	touch(t, "../../configs/brush.yaml", "--duration", "20ms", "--animate", page)
	actx, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1200, 900),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true))...)
	defer cancel()
	ctx, cancel := chromedp.NewContext(actx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+page)); err != nil {
		t.Fatal(err)
	}
	ink := func(canvas string) float64 {
		t.Helper()
		v, err := chromedp.Run(ctx, chromedp.Evaluate[float64](`(() => { const c = document.querySelectorAll('canvas')[`+canvas+`], d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
			let s = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) s = (s * 31 + i * (1 + d[i - 3])) % 9007199; return s; })()`))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	scene, face := ink("0"), ink("1")
	if scene == 0 || face == 0 {
		t.Fatal("a canvas is empty")
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.getElementById('play').click(), true`)); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ink("0") == scene || ink("1") == face; {
		if time.Now().After(end) {
			t.Fatal("the picture stands still")
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// Flags that do not fit a file of this kind are refused.
func TestContactFlags(t *testing.T) {
	for _, args := range [][]string{
		{"../../configs/contact/chain.yaml", "--law", "lugre"}, {"../../configs/contact/chain.yaml", "--animate", "run.gif"},
		{"../../configs/stick-slip.yaml", "--animate", filepath.Join(t.TempDir(), "a.html")},
	} {
		if _, _, err := runVerb(newSimulateCmd(), args...); report.ExitCode(err) != report.Usage {
			t.Errorf("%v: exit %d, %v", args, report.ExitCode(err), err)
		}
	}
}
