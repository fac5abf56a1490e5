package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hilrig/cmd/report"
)

// sceneFile writes a scene with an engine and some more keys.
func sceneFile(t *testing.T, bodies, pairs, rest string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scene.yaml")
	text := "version: 1\nname: scene\nsystem: scene\nscene:\n  bodies:\n" + bodies + "  pairs:\n" + pairs + rest
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A bullet through a plate: a step that misses it gives a warning with names, a count and the exit code of doubt, and writes what was
// asked for; one that finds it on the side from which it came gives none, and the bullet bounces as two bodies on a line do. Half of the
// plate per step always does.
func TestStepTooLongForAThinPlate(t *testing.T) {
	for _, c := range []struct {
		step string
		code int
	}{{"20 us", report.Quality}, {"9.7 us", report.Quality}, {"6.3 us", report.Quality}, {"11 us", report.OK}, {"5.1 us", report.OK}, {"4.9 us", report.OK}, {"1 us", report.OK}} {
		path := sceneFile(t, `    - {name: plate, shape: box, mass: 1, size: [0.001, 0.2], position: [0.5, 0], locked: [angle]}
    - {name: bullet, shape: box, mass: 0.01, size: [0.004, 0.004], velocity: [100, 0]}
`, "    - {a: bullet, b: plate, eps_n: 0.5}\n", "engine: {step: "+c.step+"}\nduration: 10 ms\n")
		csv := filepath.Join(t.TempDir(), "out.csv")
		out, errs, code := execute(t, "simulate", path, "--json", "-o", csv)
		if code != c.code {
			t.Errorf("step of %s: exit code %d, want %d\n%s", c.step, code, c.code, errs)
		}
		var r touched
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		if _, err := os.Stat(csv); err != nil {
			t.Error(err)
		}
		if c.code == report.OK {
			if len(r.Warnings) > 0 || r.Solver["steps_too_long"] != 0 {
				t.Errorf("step of %s: %q, %v", c.step, r.Warnings, r.Solver)
			}
			// v·(m − ε·M)/(m + M) of the bullet that comes with v
			want := 100 * (0.01 - 0.5) / 1.01
			if got := (*r.Metrics["bullet.x_end"] - 0.4975) / 0.005025; got > 0.97*want || got < 1.03*want {
				t.Errorf("step of %s: the bullet leaves with %g m/s, want %g", c.step, got, want)
			}
			continue
		}
		if r.Solver["steps_too_long"] < 1 || len(r.Warnings) != 1 {
			t.Fatalf("step of %s: %q, %v", c.step, r.Warnings, r.Solver)
		}
		for _, want := range []string{`"bullet"`, `"plate"`, "engine.step: 4.5e-06 s", "event-driven"} {
			if !strings.Contains(r.Warnings[0], want) || !strings.Contains(errs, report.Readable(want)) {
				t.Errorf("%q is not in %q and %q", want, r.Warnings[0], errs)
			}
		}
	}
}

// Boxes on each other, two contacts each: as many as there are find room.
func TestThirteenBoxesWeighWhatTheyWeigh(t *testing.T) {
	var bodies, pairs strings.Builder
	bodies.WriteString("    - {name: floor, shape: half-plane, fixed: true}\n    - {name: scale, shape: box, mass: 1, size: [0.2, 0.1], " +
		"position: [0, 0.05]}\n")
	pairs.WriteString("    - {a: scale, b: floor, mu: 0.5}\n")
	below := "scale"
	for k := range 13 {
		name := fmt.Sprintf("box %d", k)
		fmt.Fprintf(&bodies, "    - {name: %s, shape: box, mass: 1, size: [0.1, 0.05], position: [0, %g]}\n", name, 0.125+0.05*float64(k))
		fmt.Fprintf(&pairs, "    - {a: %s, b: %s, mu: 0.5}\n", name, below)
		below = name
	}
	r := touch(t, sceneFile(t, bodies.String(), pairs.String(), "engine: {step: 100 us}\nduration: 0.2 s\n"))
	if r.Solver["contacts_left_out"] != 0 || r.Solver["closed_mean"] < 27 {
		t.Errorf("%v", r.Solver)
	}
	for _, name := range []string{"scale.y", "box 12.y"} {
		if m := *r.Metrics[name+"_max"] - *r.Metrics[name+"_min"]; m > 1e-6 {
			t.Errorf("%s moves by %g m", name, m)
		}
	}
}

// A run that cannot go on names the bodies and what may help, with the exit code of doubt.
func TestRunsThatEndEarlyNameBodies(t *testing.T) {
	toy := filepath.Join(t.TempDir(), "ball.yaml")
	if err := os.WriteFile(toy, []byte("version: 1\nname: ball\nsystem: toy\ntoy: {kind: ball, ground: {eps_n: 0.9}}\nengine: {kind: "+
		"event-driven, max_events: 3}\nduration: 5 s\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	scene := sceneFile(t, `    - {name: floor, shape: half-plane, fixed: true}
    - {name: marble, shape: disc, radius: 0.01, mass: 0.1, position: [0, 0.1]}
`, "    - {a: marble, b: floor, eps_n: 0.9}\n", "engine: {kind: event-driven, max_events: 3}\nduration: 5 s\n")
	for path, names := range map[string]string{toy: "ball on ground", scene: "marble on floor"} {
		_, errs, code := execute(t, "simulate", path)
		if code != report.Quality || !strings.Contains(errs, names) || !strings.Contains(errs, "fixed-step") ||
			slices.Contains(strings.Fields(errs), "[0]") {
			t.Errorf("exit code %d, %s", code, errs)
		}
	}
}
