package exportmodel

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"hilrig/cmd/identify"
	"hilrig/engine/friction"
	"hilrig/engine/peer"
)

// push is a load that depends on time alone (N).
type push struct {
	t0 float64
	u  func(t float64) float64
}

func (p *push) Span(float64, float64, float64) {}

func (p *push) At(tau, x, v float64) (force, dx, dv float64) { return p.u(p.t0 + tau), 0, 0 }

// simulated is the motion of the law itself at a fine step: position (rad) at every sample.
func simulated(t *testing.T, m Model, d drive) (x []float64) {
	t.Helper()
	const fine = 1e-5 // s
	mass, err := friction.NewMass(m.Inertia, m.Law, friction.Midpoint)
	if err != nil {
		t.Fatal(err)
	}
	z, load, steps := mass.NewState(), &push{u: d.u}, int(math.Round(d.every/fine))
	for range d.samples {
		for range steps {
			mass.Step(fine, z, load)
			load.t0 += fine
		}
		x = append(x, z[0])
	}
	return x
}

// throb is a torque that lets the axis stick, creep, break away and turn round: A·sin(2πt) with another of seven times the frequency.
func throb(amplitude float64) func(t float64) float64 {
	return func(t float64) float64 { return amplitude * (math.Sin(2*math.Pi*t) + 0.3*math.Sin(14*math.Pi*t)) }
}

const mujoco = `
import fs from "node:fs";
const mj = await (await import(process.argv[1])).default();
const q = JSON.parse(fs.readFileSync(0));
const measured = t => { const k = Math.floor(t / q.every), r = t / q.every - k; return (1 - r) * q.force[k] + r * q.force[k + 1]; };
const u = q.force ? measured : t => q.push + q.amplitude * (Math.sin(2 * Math.PI * t) + 0.3 * Math.sin(14 * Math.PI * t));
const runs = q.files.flatMap(file => {
	const m = mj.MjModel.from_xml_string(file), own = m.opt.timestep;
	return q.steps.map(step => {
		const h = m.opt.timestep = step || own, d = new mj.MjData(m), n = Math.round(q.every / h), x = [];
		for (let k = 0; k < q.samples; k++) {
			for (let i = 0; i < n; i++) { d.ctrl[0] = u((k * n + i + 0.5) * h); mj.mj_step(m, d); }
			x.push(d.qpos[0]);
		}
		return { h, x };
	});
});
process.stdout.write(JSON.stringify({ version: mj.mj_versionString(), runs }));
`

// drive is a torque, push + throb(amplitude) N·m or a recorded one, and how often the position is looked at.
type drive struct {
	push, amplitude, every float64 // every: s
	samples                int
	force                  []float64 // N·m at every sample, straight between them; nil: none is recorded
}

func (d drive) u(t float64) float64 { return d.push + throb(d.amplitude)(t) }

// motion is a run in MuJoCo: the position (rad) at every sample.
type motion struct {
	H float64 // s
	X []float64
}

// moved are the runs of files in MuJoCo, each at all steps (s); 0: at that of the file.
func moved(t *testing.T, files []string, steps []float64, d drive) []motion {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: needs node and npm packages")
	}
	lib := filepath.Join(peer.NodeModules(t, "@mujoco/mujoco@3.14.0"), "@mujoco", "mujoco", "mujoco.js")
	in, err := json.Marshal(map[string]any{"files": files, "steps": steps, "every": d.every, "samples": d.samples, "push": d.push,
		"amplitude": d.amplitude, "force": d.force})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "--input-type=module", "-e", mujoco, "--", lib)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(in)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("mujoco: %v\n%s", err, out)
	}
	var got struct {
		Version string
		Runs    []motion
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	t.Log("MuJoCo", got.Version)
	return got.Runs
}

// MuJoCo loads the file of every law. Under a constant force the axis comes to the speed at which friction balances it, where the law
// has one.
func TestMuJoCoLoads(t *testing.T) {
	var files []string
	var models []Model
	for i, info := range friction.Laws() {
		p := map[string]float64{}
		if info.Name == "graphite-brush" {
			p["Rth"] = 1e-6 // no heat of its own
		}
		m := model(t, info.Name, p)
		m.Rotary, m.Offset = i%2 == 0, 0.1
		var b strings.Builder
		if _, err := Write(&b, string(MJCF), m); err == nil {
			files, models = append(files, b.String()), append(models, m)
		}
	}
	if len(files) < 20 {
		t.Fatalf("%d files", len(files))
	}
	d := drive{push: 2, every: 0.25, samples: 4}
	for i, run := range moved(t, files, []float64{0}, d) {
		law, v := models[i].Law, (run.X[3]-run.X[2])/d.every
		balance := law.SteadyForce(v) + 0.1
		if law.Viscous(1) == 0 { // it does not end: M·dv/dt = u − F
			balance += models[i].Inertia * (run.X[3] - 2*run.X[2] + run.X[1]) / (d.every * d.every)
		}
		if !(math.Abs(balance-d.push) < 0.01*d.push) {
			t.Errorf("%s: %g rad/s at last, where friction and inertia are %g N·m of %g", friction.NameOf(law), v, balance, d.push)
		}
	}
}

// MuJoCo loads the file and moves the axis as the law does.
func TestMuJoCo(t *testing.T) {
	for _, c := range []struct {
		name, law string
		p         map[string]float64
		tol       [2]float64 // of the travel, at the step of the file and at 10 µs
	}{
		{"lugre", "lugre", map[string]float64{"vd": 0}, [2]float64{0.03, 0.006}},
		{"lugre with an offset", "lugre", map[string]float64{"vd": 0, "offset": 0.2, "sigma1": 5}, [2]float64{0.006, 4e-4}},
		{"dahl", "dahl", nil, [2]float64{0.004, 2e-4}},
		{"coulomb and viscous", "static-coulomb-viscous", map[string]float64{"Fs": 1}, [2]float64{0.005, 0.005}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := model(t, c.law, c.p)
			text, lost := written(t, MJCF, m)
			if len(lost) > 0 {
				t.Errorf("lost %q", lost)
			}
			d := drive{amplitude: 1.9, every: 0.01, samples: 200}
			want := simulated(t, m, d)
			travel := slices.Max(want) - slices.Min(want)
			for i, run := range moved(t, []string{text}, []float64{0, 1e-5}, d) {
				worst := 0.0
				for k := range want {
					worst = max(worst, math.Abs(run.X[k]-want[k]))
				}
				t.Logf("step %g s: off by %.2g of a travel of %.4g rad", run.H, worst/travel, travel)
				if !(worst <= c.tol[i]*travel) {
					t.Errorf("step %g s: off by %g of a travel of %g rad, want %g of it", run.H, worst, travel, c.tol[i])
				}
			}
		})
	}
}

// From measured data to MuJoCo: the axis that hil identify found, pushed in MuJoCo by the recorded force, goes where the sensor saw it.
func TestIdentifiedInMuJoCo(t *testing.T) {
	result := filepath.Join(t.TempDir(), "result.json")
	var f identify.Options
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.RecordFlags(flags)
	f.Changed = flags.Changed
	if err := flags.Parse([]string{"-o", result}); err != nil {
		t.Fatal(err)
	}
	if err := identify.Run(t.Context(), "../../configs/identify/lugre-kalman.yaml", f, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	var text, stderr bytes.Buffer
	if err := Run(result, Options{to: "mjcf"}, &text, &stderr); err != nil || stderr.Len() > 0 {
		t.Fatal(err, stderr.String())
	}

	// the columns are time, middle of the step, position (m), force (N), every ms
	packed, err := os.Open("../../configs/identify/data/lugre-kalman.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	csv, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	d := drive{every: 1e-3}
	var seen []float64
	for s := bufio.NewScanner(csv); s.Scan(); {
		var row [4]float64
		if n, _ := fmt.Sscanf(s.Text(), "%g,%g,%g,%g", &row[0], &row[1], &row[2], &row[3]); n == 4 {
			seen, d.force = append(seen, row[2]), append(d.force, row[3])
		}
	}
	d.samples = len(seen) - 1
	for i, run := range moved(t, []string{text.String()}, []float64{0, 1e-5}, d) {
		worst, travel := 0.0, slices.Max(seen)-slices.Min(seen)
		for k, x := range run.X {
			worst = max(worst, math.Abs(x-(seen[k+1]-seen[0])))
		}
		t.Logf("step %g s: off by %.2g of a travel of %.4g m after %d ms", run.H, worst/travel, travel, d.samples)
		if tol := []float64{0.05, 0.005}[i]; !(worst <= tol*travel) {
			t.Errorf("step %g s: off by %g m of a travel of %g m", run.H, worst, travel)
		}
	}
}
