package exportmodel

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/multibody"
	"hilrig/engine/multibody/robot"
	"hilrig/engine/peer"
)

// tree is a machine with each kind of joint, oblique places, products of inertia, a frame, a coupling and friction.
const tree = `# from a fit of 3 records
# upper.mass = 3.6 ± 0.1 kg
version: 1
name: tree
duration: 1 s
machine:
  gravity: [0, 0, -9.81]
  bodies:
    base: {parent: ground, at: [0, 0, 0.3], joint: {kind: revolute, armature: 0.07 kg·m², damping: 0.5 N·m·s/rad}, mass: 5.5 kg, com: [0.01, 0, 0.1], inertia: [0.05, 0.05, 0.03]}
    upper:
      parent: base
      at: [0.05, 0, 0.15]
      turn: [90 deg, 20 deg, -5 deg]
      joint: {kind: revolute, axis: [0, 0.6, 0.8], friction: {law: static-coulomb-viscous, Fc: 0.4 N·m, Fs: 0.4 N·m, Fv: 0.2 N·m·s/rad, delta: 1}}
      mass: 3.6 kg
      com: [0.21, 0, 0.03]
      inertia: [0.01, 0.06, 0.06]
      products: [0.001, -0.002, 0.003]
    slide: {parent: upper, at: [0.4, 0, 0.02], rpy: [0.3, 90 deg, 0.2], joint: {kind: prismatic, axis: [1, 0, 0], damping: 3 N·s/m}, mass: 1 kg, inertia: [0.01, 0.01, 0.01]}
    plate: {parent: slide, at: [0, 0.1, 0], joint: {kind: fixed}, mass: 0.3 kg, inertia: [0.001, 0.001, 0.001]}
    wheel: {parent: ground, at: [1, 0, 0], joint: {kind: revolute, axis: [0, 1, 0]}, mass: 0.4 kg, inertia: [0.001, 0.002, 0.001]}
  frames:
    tip: {body: slide, at: [0.1, 0, 0.05], turn: [0, 0.4 rad, 0]}
  couplings:
    belt: {of: {wheel: 1, base: -2}, offset: 0.3}
`

func exported(t *testing.T, text string, to Target) (out, stderr string, path string) {
	t.Helper()
	dir := t.TempDir()
	in, file := filepath.Join(dir, "found.yaml"), filepath.Join(dir, "out."+map[Target]string{URDF: "urdf", MJCF: "xml"}[to])
	if err := os.WriteFile(in, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, errs bytes.Buffer
	if err := Run(in, Options{to: string(to), outputPath: file}, &stdout, &errs); err != nil {
		t.Fatal(err, errs.String())
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), errs.String(), file
}

// motionOf are inertia and torques of a model without its friction, by the names of joints, at a state without symmetry.
func motionOf(t *testing.T, m *multibody.Model, joints []string) (h [][]float64, tau []float64) {
	t.Helper()
	n := m.NV()
	d, q, v, a := m.NewData(), m.Neutral(), make([]float64, n), make([]float64, n)
	at := map[string]int{}
	for k, name := range joints {
		j, err := m.Joint(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _, iq, iv := m.JointOf(j)
		at[name] = iv
		q[iq], v[iv], a[iv] = math.Sin(float64(3*k)+0.5), math.Cos(float64(2*k)), math.Sin(float64(5*k))
	}
	multibody.CRBA(m, d, q)
	multibody.RNEA(m, d, q, v, a)
	for _, x := range joints {
		var row []float64
		for _, y := range joints {
			row = append(row, d.H[max(at[x], at[y])*n+min(at[x], at[y])])
		}
		h, tau = append(h, row), append(tau, d.Tau[at[x]])
	}
	return h, tau
}

// A machine that was written and is read again moves as before; what is lost is said.
func TestMachineThereAndBack(t *testing.T) {
	c, _, err := configs.MachineBytes("tree.yaml", []byte(tree))
	if err != nil {
		t.Fatal(err)
	}
	joints := []string{"base", "upper", "slide", "wheel"}
	spec := c.Spec()
	own, err := multibody.Build(spec.Spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []Target{URDF, MJCF} {
		text, said, path := exported(t, tree, to)
		r, err := robot.ReadFile(path)
		if err != nil {
			t.Fatal(to, err, text)
		}
		armature := 0.07
		for i := range r.Spec.Bodies {
			j := &r.Spec.Bodies[i].Joint
			if b := r.Spec.Bodies[i].Name; b == "upper" && (j.Coulomb != 0.4 || j.Damping != 0.2) {
				t.Errorf("%s: friction %+v", to, j)
			} else if b == "upper" {
				j.Coulomb, j.Damping = 0, 0 // a part of the machine there
			}
			armature -= j.Armature
		}
		m, err := multibody.Build(r.Spec)
		if err != nil {
			t.Fatal(err)
		}
		h, tau := motionOf(t, m, joints)
		h0, tau0 := motionOf(t, own, joints)
		if to == URDF {
			tau0[0] -= 0.07 * math.Sin(0)
			if h0[0][0] -= 0.07; math.Abs(armature-0.07) > 1e-15 || !strings.Contains(said, "armature of base") {
				t.Errorf("armature %g, %s", armature, said)
			}
		}
		for i := range joints {
			if math.Abs(tau[i]-tau0[i]) > 1e-10 {
				t.Errorf("%s: torque of %s is %.12g, want %.12g", to, joints[i], tau[i], tau0[i])
			}
			for k := range joints {
				if math.Abs(h[i][k]-h0[i][k]) > 1e-11 {
					t.Errorf("%s: inertia of %s and %s is %.12g, want %.12g", to, joints[i], joints[k], h[i][k], h0[i][k])
				}
			}
		}
		if len(r.Spec.Couplings) != 1 || !strings.Contains(text, "± 0.1 kg") {
			t.Errorf("%s: %d couplings\n%s", to, len(r.Spec.Couplings), text)
		}
		place := func(m *multibody.Model) (x [3]float64) {
			d := m.NewData()
			multibody.Positions(m, d, m.Neutral())
			k, err := m.Frame("tip")
			if err != nil {
				t.Fatal(err)
			}
			_, p := m.FramePose(d, k)
			return [3]float64{p.X, p.Y, p.Z}
		}
		a, b := place(m), place(own)
		for i := range a {
			if math.Abs(a[i]-b[i]) > 1e-12 {
				t.Errorf("%s: the tip is at %v, want %v", to, a, b)
			}
		}
	}
}

const massMatrix = `
import fs from "node:fs";
const mj = await (await import(process.argv[1])).default();
const out = {};
for (const [name, text] of Object.entries(JSON.parse(fs.readFileSync(0)))) {
	const m = mj.MjModel.from_xml_string(text), d = new mj.MjData(m), n = m.nv;
	mj.mj_resetDataKeyframe(m, d, 0);
	mj.mj_forward(m, d);
	const H = [];
	for (let i = 0; i < n; i++) {
		const unit = new Array(n).fill(0), r = new mj.DoubleBuffer(n);
		unit[i] = 1;
		mj.mj_mulM(m, d, r, unit);
		H.push(Array.from(r.GetView()));
	}
	const bodies = {}, open = Array.from(d.efc_pos), ties = Array.from(d.efc_type).map(t => t == 0);
	for (let i = 1; i < m.nbody; i++) bodies[mj.mj_id2name(m, 1, i)] = Array.from(d.xpos.slice(3 * i, 3 * i + 3));
	out[name] = { H, neq: m.neq, bodies, gap: Math.max(0, ...open.filter((x, i) => ties[i]).map(Math.abs)) };
}
process.stdout.write(JSON.stringify(out));
`

// MuJoCo and the parser of ROS take the files. MuJoCo has the inertia of the tree, and the bodies of every shipped machine where it starts.
func TestMachineInOtherPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: needs node and npm packages")
	}
	files, err := filepath.Glob("../../configs/machine/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	// in the joints of tree the start is at q, loops and couplings met
	moved := strings.NewReplacer("kind: revolute, armature", "kind: revolute, position: 0.3 rad, armature", "axis: [0, 0.6, 0.8],",
		"axis: [0, 0.6, 0.8], position: -0.7 rad,",
		"axis: [1, 0, 0],", "axis: [1, 0, 0], position: 0.2 m,", "axis: [0, 1, 0]}", "axis: [0, 1, 0], position: 0.9 rad}").Replace(tree)
	text, _, _ := exported(t, moved, MJCF)
	texts, runs := map[string]string{"tree": text}, map[string]*configs.MachineRun{}
	if runs["tree"], _, err = configs.MachineBytes("tree.yaml", []byte(moved)); err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		f, err := loadMachine(path)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := f.write(MJCF); err == nil {
			texts[filepath.Base(path)], runs[filepath.Base(path)] = string(b), f.run
		}
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(peer.NodeModules(t, "@mujoco/mujoco@3.14.0"), "@mujoco", "mujoco", "mujoco.js")
	cmd := exec.Command("node", "--input-type=module", "-e", massMatrix, "--", lib)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("mujoco: %v\n%s", err, out)
	}
	var all map[string]struct {
		H      [][]float64
		Neq    int
		Bodies map[string][3]float64
		Gap    float64
	}
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	for name, run := range runs {
		m, x, _, err := run.Begin()
		if err != nil {
			t.Fatal(name, err)
		}
		got := all[name]
		if got.Gap > 1e-9 || len(got.Bodies) != len(run.Machine.Bodies) {
			t.Errorf("%s: %d bodies, loops are open by %g", name, len(got.Bodies), got.Gap)
		}
		multibody.Positions(m.Model, m.Data, x[:m.Model.NQ()])
		for body, p := range got.Bodies {
			k, err := m.Model.Frame(body)
			if err != nil {
				t.Fatal(name, err)
			}
			if _, want := m.Model.FramePose(m.Data, k); math.Hypot(math.Hypot(p[0]-want.X, p[1]-want.Y), p[2]-want.Z) > 1e-9 {
				t.Errorf("%s: %s is at %v, want %v", name, body, p, want)
			}
		}
		if name != "tree" {
			continue
		}
		multibody.CRBA(m.Model, m.Data, x[:4])
		for i := range 4 {
			for j := range 4 {
				if want := m.Data.H[max(i, j)*4+min(i, j)]; math.Abs(got.H[i][j]-want) > 1e-11 {
					t.Errorf("inertia %d %d: MuJoCo %.12g, want %.12g", i, j, got.H[i][j], want)
				}
			}
		}
		if got.Neq != 1 {
			t.Errorf("%d equalities", got.Neq)
		}
	}
	if len(runs) < 8 {
		t.Errorf("%d machines", len(runs))
	}
	_, _, path := exported(t, tree, URDF)
	if out, err := exec.Command(peer.Program(t, "check_urdf", "liburdfdom-tools"), path).CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "Successfully Parsed XML") {
		t.Errorf("check_urdf: %v\n%s", err, out)
	}
}

// What a target does not have is refused or said; every shipped machine of rigid bodies is written, and read again.
func TestMachinesThatAreLost(t *testing.T) {
	files, err := filepath.Glob("../../configs/machine/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, path := range files {
		for to := range machineTargets {
			f, err := loadMachine(path)
			if err != nil {
				t.Fatal(err)
			}
			text, err := f.write(to)
			switch name := filepath.Base(path); {
			case name == "elastic-arm.yaml":
				if err == nil || !strings.Contains(err.Error(), "bends") {
					t.Errorf("%s: %v", name, err)
				}
			case name == "top.yaml" && to == URDF:
				if err == nil || !strings.Contains(err.Error(), "spherical") {
					t.Errorf("%s: %v", name, err)
				}
			case err != nil:
				t.Errorf("%s to %s: %v", name, to, err)
			default:
				if _, err := robot.Read(bytes.NewReader(text)); err != nil && !strings.Contains(err.Error(), "inertia") {
					t.Errorf("%s to %s: %v\n%s", name, to, err, text)
				}
			}
		}
	}
	in := filepath.Join(t.TempDir(), "m.yaml")
	if err := os.WriteFile(in, []byte(tree), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Run(in, Options{to: string(BAM)}, new(bytes.Buffer), new(bytes.Buffer)); report.ExitCode(err) != report.Invalid ||
		!strings.Contains(err.Error(), "urdf or mjcf") {
		t.Errorf("a machine for bam: %v", err)
	}
	f, err := loadMachine("../../configs/machine/crank-rocker.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.write(MJCF); err != nil || !strings.Contains(strings.Join(f.omitted, "\n"), "motors") ||
		!strings.Contains(strings.Join(f.omitted, "\n"), "in a plane") {
		t.Errorf("%v, lost %v", err, f.omitted)
	}
}
