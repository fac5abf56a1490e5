//go:build linux

package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/report"
	"hilrig/hil"
)

// patient is an example of a rig with limits of time that a crowded test machine does not trip over.
func patient(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../../configs/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("stale: 50 ms", "stale: 500 ms", "stale: 100 ms", "stale: 500 ms", "hold_time: 200 ms", "hold_time: 1 s",
		"watchdog: 200 ms", "watchdog: 1 s",
		"overrun: {limit: 100 ms}\n  beat: 1 s", "overrun: {limit: 2 s}\n  beat: 3 s").Replace(string(data))
	file := filepath.Join(t.TempDir(), name+".yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// recordRun runs a file for some time and returns its recording.
func recordRun(t *testing.T, file string, mode string, long time.Duration) string {
	t.Helper()
	d := startRun(t, file, "--record", t.TempDir(), "--no-mqtt")
	d.awaitMode(mode)
	time.Sleep(long)
	if m := d.state()["mode"]; m != mode {
		t.Fatalf("mode %v, want %s\n%s", m, mode, d.errs)
	}
	if code := d.stop(); code != report.Interrupted {
		t.Errorf("exit code %d\n%s", code, d.errs)
	}
	return d.ready.Run
}

// valuesOf reads the parameters of a result by name.
func valuesOf(t *testing.T, result string) map[string]float64 {
	t.Helper()
	var r struct {
		Parameters []struct {
			Name  string
			Value float64
		}
	}
	if err := json.Unmarshal([]byte(result), &r); err != nil {
		t.Fatalf("%v\n%s", err, result)
	}
	values := map[string]float64{}
	for _, p := range r.Parameters {
		values[p.Name] = p.Value
	}
	return values
}

// configs/stage.yaml follows its reference on a current drive, and identification finds mass and friction of its plant in the recording,
// which the plant has by another law than the model.
func TestDaemonStageExample(t *testing.T) {
	inPairs(t)
	if testing.Short() {
		t.Skip("drives a rig for eight seconds")
	}
	run := recordRun(t, patient(t, "stage"), "run", 8*time.Second)
	worst, top := 0.0, 0.0
	n := readRun(t, run, func(s *hil.Schema) func(*hil.Row) {
		miss, ref := s.Find(hil.Modelled, "table", hil.RoleError), s.Find(hil.Modelled, "table", hil.RolePosition)
		return func(r *hil.Row) {
			if r.Mode == hil.Run {
				worst, top = max(worst, math.Abs(r.X[miss])), max(top, math.Abs(r.X[ref]))
			}
		}
	})
	t.Logf("%d rows, up to %.3g m, error up to %.2g m", n, top, worst)
	if n < 5000 || top < 0.055 || worst > 0.01 {
		t.Errorf("%d rows, up to %g m, error up to %g m", n, top, worst)
	}
	out, errs, code := execute(t, "identify", run, "--json")
	if code != 0 && code != report.Quality {
		t.Fatalf("identify: code %d\n%s", code, errs)
	}
	got := valuesOf(t, out)
	for name, want := range map[string][2]float64{"M": {95.1, 0.02}, "Fv": {203.5, 0.05}, "Fc": {20.4, 0.1}} {
		if math.Abs(got[name]/want[0]-1) > want[1] {
			t.Errorf("%s = %g, the plant has %g", name, got[name], want[0])
		}
	}
	t.Logf("found %v", got)
}

// Both joints of configs/two-link.yaml follow their references, on boards of their own, and their loads differ from the friction of the
// model by what gravity and the other joint do to them. With the equations of the arm fed forward they follow at least three times
// closer.
func TestDaemonTwoLinkExample(t *testing.T) {
	inPairs(t)
	if testing.Short() {
		t.Skip("drives two rigs for six seconds")
	}
	var runs [2]string
	for i, name := range []string{"two-link", "two-link-mechanism"} {
		runs[i] = recordRun(t, patient(t, name), "run", 6*time.Second)
	}
	for _, axis := range []struct {
		name         string
		swing, error float64 // rad
		load         float64 // N·m  more than friction alone could be
	}{{"shoulder", 0.5, 0.3, 2}, {"elbow", 0.6, 0.5, 0.5}} {
		var rms [2]float64
		for i, run := range runs {
			swing, sum, load, on := 0.0, 0.0, 0.0, 0.0
			readRun(t, run, func(s *hil.Schema) func(*hil.Row) {
				pos, miss, friction := s.Find(hil.Estimated, axis.name, hil.RolePosition), s.Find(hil.Modelled, axis.name, hil.RoleError),
					s.Find(hil.Estimated, axis.name, hil.RoleFriction)
				if pos < 0 || miss < 0 || friction < 0 {
					t.Fatalf("channels %v", s.Signals())
				}
				return func(r *hil.Row) {
					if r.Mode == hil.Run {
						swing, load = max(swing, math.Abs(r.X[pos])), max(load, math.Abs(r.X[friction]))
						sum, on = sum+r.X[miss]*r.X[miss], on+1
					}
				}
			})
			rms[i] = math.Sqrt(sum / on)
			t.Logf("%s: up to %.3g rad, error %.2g rad rms, load up to %.3g N·m", axis.name, swing, rms[i], load)
			if swing < axis.swing || rms[i] > axis.error || load < axis.load {
				t.Errorf("%s: up to %g rad, error %g rad rms, load %g N·m", axis.name, swing, rms[i], load)
			}
		}
		if rms[0] < 3*rms[1] {
			t.Errorf("%s: %g rad rms with its own inertia alone, %g with that of the arm", axis.name, rms[0], rms[1])
		}
	}
	findArm(t, runs[1])
}

// findArm identifies the bodies of the arm by the torques of both axes together. One axis alone has no inertia that could be found.
func findArm(t *testing.T, run string) {
	t.Helper()
	out, errs, code := execute(t, "identify", run, "--machine", "--json")
	if code != report.OK && code != report.Quality {
		t.Fatalf("identify --machine: code %d\n%s", code, errs)
	}
	got := valuesOf(t, out)
	// sums of what configs/two-link-mechanism.yaml has under virtual: lengths, masses and centres of both links, rotors behind gears
	for name, want := range map[string]float64{"shoulder.mcy_R": -1.3*0.18 - 0.8*0.4,
		"shoulder.izz_R": 0.02 + 1.3*0.18*0.18 + 0.01 + 0.8*0.4*0.4, "elbow.mcy": -0.8 * 0.15, "elbow.izz": 0.009 + 0.8*0.15*0.15} {
		if math.Abs(got[name]/want-1) > 0.03 {
			t.Errorf("%s = %g, the plant has %g", name, got[name], want)
		}
	}
	if out, _, code := execute(t, "identify", run, "--axis", "elbow"); code != report.Quality ||
		!strings.Contains(out, "depends on the motion of shoulder") {
		t.Errorf("identify --axis elbow: code %d\n%s", code, out)
	}
	if _, errs, code := execute(t, "identify", "../../configs/emps.yaml", "--machine"); code != report.Usage ||
		!strings.Contains(errs, "is none") {
		t.Errorf("--machine of no recording: code %d\n%s", code, errs)
	}
}

// The pendulum of configs/pendulum-rig.yaml is only watched: nothing is armed, and its estimated speed at the bottom is that of its energy
// at the turning point before, ½J·v² = m·g·l·(1 − cos θ), less what friction takes on the way.
func TestDaemonPendulumRigExample(t *testing.T) {
	inPairs(t)
	if testing.Short() {
		t.Skip("watches a rig for four seconds")
	}
	run := recordRun(t, patient(t, "pendulum-rig"), "ready", 4*time.Second)
	type swing struct{ angle, speed float64 }
	var swings []swing
	readRun(t, run, func(s *hil.Schema) func(*hil.Row) {
		if len(s.Cmd) != 0 || s.Find(hil.Estimated, "rod", hil.RoleAcceleration) < 0 {
			t.Errorf("channels %v", s.Signals())
		}
		pos, vel := s.Find(hil.Estimated, "rod", hil.RolePosition), s.Find(hil.Estimated, "rod", hil.RoleVelocity)
		x0, v0, turned, n := 0.0, 0.0, 0.0, 0
		return func(r *hil.Row) {
			x, v := r.X[pos], r.X[vel]
			if n++; n > 100 && r.Skip == 0 {
				if v*v0 < 0 && math.Abs(x) > 0.3 {
					turned = math.Abs(x)
				}
				if x*x0 < 0 && turned != 0 {
					swings = append(swings, swing{turned, math.Abs(v)})
					turned = 0
				}
			}
			x0, v0 = x, v
		}
	})
	if len(swings) < 4 {
		t.Fatalf("%d swings: %v", len(swings), swings)
	}
	for _, s := range swings {
		free := math.Sqrt(2 * 0.981 / 0.03 * (1 - math.Cos(s.angle)))
		t.Logf("from %.3f rad: %.3f rad/s at the bottom, %.3f without friction", s.angle, s.speed, free)
		if s.speed > 1.005*free || s.speed < 0.97*free {
			t.Errorf("from %g rad: %g rad/s at the bottom, want a little less than %g", s.angle, s.speed, free)
		}
	}
}
