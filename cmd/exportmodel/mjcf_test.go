package exportmodel

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
func simulated(t *testing.T, m Model, every float64, samples int, u func(t float64) float64) (x []float64) {
	t.Helper()
	const fine = 1e-5
	mass, err := friction.NewMass(m.Inertia, m.Law, friction.Midpoint)
	if err != nil {
		t.Fatal(err)
	}
	z, load, steps := mass.NewState(), &push{u: u}, int(math.Round(every/fine))
	for range samples {
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
const load = (await import(process.argv[1])).default;
const q = JSON.parse(fs.readFileSync(0));
const mj = await load();
const m = mj.MjModel.from_xml_string(q.xml);
const u = t => q.amplitude * (Math.sin(2 * Math.PI * t) + 0.3 * Math.sin(14 * Math.PI * t));
const runs = [m.opt.timestep, 1e-5].map(h => {
	m.opt.timestep = h;
	const d = new mj.MjData(m), n = Math.round(q.every / h), x = [];
	for (let k = 0; k < q.samples; k++) {
		for (let i = 0; i < n; i++) { d.ctrl[0] = u((k * n + i + 0.5) * h); mj.mj_step(m, d); }
		x.push(d.qpos[0]);
	}
	return { h, x };
});
process.stdout.write(JSON.stringify({ version: mj.mj_versionString(), runs }));
`

// motion is a run in MuJoCo: the position (rad) at every sample.
type motion struct {
	H float64 // s
	X []float64
}

// moved are the runs of a file in MuJoCo: at its own time step and at 10 µs.
func moved(t *testing.T, text string, every float64, samples int, amplitude float64) []motion {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: needs node and npm packages")
	}
	lib := filepath.Join(peer.NodeModules(t, "@mujoco/mujoco@3.14.0"), "@mujoco", "mujoco", "mujoco.js")
	in, err := json.Marshal(map[string]any{"xml": text, "every": every, "samples": samples, "amplitude": amplitude})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "--input-type=module", "-e", mujoco, "--", lib)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(in)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("mujoco: %v\n%s\n%s", err, out, text)
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
			const every, samples, amplitude = 0.01, 200, 1.9
			m := model(t, c.law, c.p)
			text, lost := written(t, MJCF, m)
			if len(lost) > 0 {
				t.Errorf("lost %q", lost)
			}
			want := simulated(t, m, every, samples, throb(amplitude))
			travel := slices.Max(want) - slices.Min(want)
			for i, run := range moved(t, text, every, samples, amplitude) {
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
