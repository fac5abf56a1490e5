package exportmodel

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/peer"
)

// compiled is a C program that answers with the header of a model: a line per line of input.
func compiled(t *testing.T, m Model, body string) func(in string) []float64 {
	t.Helper()
	cc := peer.Program(t, "gcc", "gcc")
	dir := t.TempDir()
	text, _ := written(t, C, m)
	if err := os.WriteFile(filepath.Join(dir, "friction.h"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	main := "#include \"friction.h\"\n#include <stdio.h>\nint main(void) {\n" + body + "\nreturn 0; }\n"
	if err := os.WriteFile(filepath.Join(dir, "main.c"), []byte(main), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(cc, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Werror", "-O1", "-o",
		"main", "main.c", "-lm")
	asCpp := exec.Command(peer.Program(t, "g++", "g++"), "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x",
		"c++", "main.c")
	for _, cmd := range []*exec.Cmd{cmd, asCpp} { // sketches are C++
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s\n%s", friction.NameOf(m.Law), err, out, text)
		}
	}
	return func(in string) (all []float64) {
		cmd := exec.Command(filepath.Join(dir, "main"))
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for s := bufio.NewScanner(strings.NewReader(string(out))); s.Scan(); {
			var x float64
			if _, err := fmt.Sscan(s.Text(), &x); err != nil {
				t.Fatal(err)
			}
			all = append(all, x)
		}
		return all
	}
}

// The header compiles without a warning, and its steady friction is that of the law: by the formula to 3e-6 of the largest level (24 bits),
// by the table within the error that it states.
func TestCSteady(t *testing.T) {
	sided := map[string]float64{"Fc-": 1.2, "Fs-": 1.9, "sigma2-": 0.5, "offset": 0.25}
	cases := []struct {
		law string
		p   map[string]float64
	}{{"lugre", sided}, {"static-coulomb-viscous", map[string]float64{"delta": 1.7}},
		{"stribeck-bo-pavelescu", map[string]float64{"delta": 1.3, "Fv-": 0.6}}}
	for _, info := range friction.Laws() {
		p := map[string]float64{}
		if info.Name == "graphite-brush" {
			p["Rth"] = 1e-6
		}
		cases = append(cases, struct {
			law string
			p   map[string]float64
		}{info.Name, p})
	}
	var speeds []float64
	for i := range 60 {
		v := 1e-4 * math.Pow(10, float64(i)/12) // to 10
		speeds = append(speeds, v, -v)
	}
	for _, c := range cases {
		m := model(t, c.law, c.p)
		top := (&file{Model: m, Contact: contactOf(m.Law)}).Table().Top
		ask := compiled(t, m, `float v; while (scanf("%f", &v) == 1) { printf("%.9g\n", (double)test_bench_1_friction_steady(v)); printf("%.9g\n", (double)test_bench_1_friction_lookup(v)); }`)
		var in strings.Builder
		for _, v := range speeds {
			fmt.Fprintln(&in, v)
		}
		got := ask(in.String())
		if len(got) != 2*len(speeds) {
			t.Fatalf("%s: %d answers", c.law, len(got))
		}
		text, _ := written(t, C, m)
		var stated float64
		if _, after, ok := strings.Cut(text, "are off by "); !ok {
			t.Fatal("no error is stated")
		} else if _, err := fmt.Sscan(after, &stated); err != nil {
			t.Fatal(err)
		}
		for i, v := range speeds {
			want := m.Law.SteadyForce(v)
			tol := 3e-6 * (math.Abs(want) + m.Law.Levels().Max())
			if forms[c.law].curve { // the table stands for the curve
				tol += 1.1 * stated
			}
			if e := math.Abs(got[2*i] - want); !(e <= tol) && math.Abs(v) <= top {
				t.Errorf("%s: %.9g at %g, the law has %.9g", c.law, got[2*i], v, want)
			}
			if e := math.Abs(got[2*i+1] - want); !(e <= 1.1*stated+tol) && math.Abs(v) <= top {
				t.Errorf("%s: table %.9g at %g, the law has %.9g; stated error %g", c.law, got[2*i+1], v, want, stated)
			}
		}
	}
}

// The step of the bristle in single precision follows that of the law along a motion with reversals, short and long steps, to 4e-6 of the
// break-away level.
func TestCStep(t *testing.T) {
	for _, c := range []struct {
		law string
		p   map[string]float64
	}{
		{"lugre", nil}, {"lugre", map[string]float64{"vd": 0, "Fc-": 1.2, "Fs-": 1.9, "sigma2-": 0.5, "offset": -0.25}},
		{"lugre", map[string]float64{"sigma0": 1e6, "sigma1": 500, "vs": 1e-3, "vd": 0}},
		{"dahl", nil}, {"dahl-modified", nil},
	} {
		m := model(t, c.law, c.p)
		ask := compiled(t, m, `float v, dt; test_bench_1_friction_state s = {0.0f};
while (scanf("%f %f", &v, &dt) == 2) printf("%.9g\n", (double)test_bench_1_friction_step(&s, v, dt));`)
		var in strings.Builder
		var want []float64
		z := make([]float64, m.Law.StateDim())
		m.Law.Reset(z)
		for k := range 4000 {
			tk := float64(k) * 1e-3
			v, dt := float64(float32(0.3*math.Sin(7*tk)*math.Exp(-tk)+0.02*math.Sin(61*tk))), float64(float32(1e-3))
			if k > 3000 { // long steps, which relax the bristle at once
				dt = float64(float32(0.05))
			}
			if k%500 == 17 {
				v = 0
			}
			fmt.Fprintln(&in, v, dt)
			want = append(want, m.Law.Step(z, friction.Input{Dt: dt, V: v}))
		}
		worst := 0.0
		for k, got := range ask(in.String()) {
			worst = max(worst, math.Abs(got-want[k]))
		}
		if top := m.Law.Levels().Max(); !(worst <= 4e-6*top) {
			t.Errorf("%s %v: off by %g of %g", c.law, c.p, worst, top)
		} else {
			t.Logf("%s %v: off by %.2g of the level", c.law, c.p, worst/top)
		}
	}
}
