package robot

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/peer"
	"hilrig/engine/rotation"
)

func read(t *testing.T, name string) *Robot {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The parser of ROS agrees that the URDF is one, and on the tree.
func TestURDFIsOne(t *testing.T) {
	check := peer.Program(t, "check_urdf", "liburdfdom-tools")
	out, err := exec.Command(check, "testdata/arm.urdf").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := read(t, "arm.urdf")
	for _, b := range r.Spec.Bodies {
		if !bytes.Contains(out, []byte(b.Name)) {
			t.Errorf("no link %s in\n%s", b.Name, out)
		}
	}
}

// What stands in the URDF is in the machine.
func TestURDF(t *testing.T) {
	r := read(t, "arm.urdf")
	m, err := multibody.Build(r.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if m.Bodies() != 4 || m.NV() != 4 || m.NC() != 1 || r.Name != "arm" || r.Format != "URDF" {
		t.Errorf("%d bodies, %d velocities, %d constraints, %q %q", m.Bodies(), m.NV(), m.NC(), r.Name, r.Format)
	}
	lift := r.Spec.Bodies[1].Joint
	if lift.Kind != multibody.Prismatic || lift.Damping != 3 || lift.Coulomb != 2.5 || r.Joints["carriage"] != "lift" {
		t.Errorf("%+v, %v", lift, r.Joints)
	}
	// the tool with all at zero, by hand: 0.2 up, then 0.02 along x, turned by 0.4 about z, 0.31 along x there
	d := m.NewData()
	multibody.Positions(m, d, m.Neutral())
	k, err := m.Frame("tool")
	if err != nil {
		t.Fatal(err)
	}
	_, at := m.FramePose(d, k)
	if want := (r3.Vec{X: 0.02 + 0.31*math.Cos(0.4), Y: 0.31 * math.Sin(0.4), Z: 0.2}); r3.Norm(r3.Sub(at, want)) > 1e-12 {
		t.Errorf("tool at %v, want %v", at, want)
	}
	c := r.Spec.Couplings[0]
	if c.Offset != 0.1 || c.Terms[1].Factor != 1 || c.Terms[0].Joint != "finger_right" || c.Terms[1].Joint != "finger_left" ||
		c.Name != "grip_right_mimic" {
		t.Errorf("%+v", c)
	}
	want := "<collision> of a link (1), <limit> of a joint (4), <material> (1), <visual> of a link (1)"
	if got := strings.Join(r.Ignored, ", "); got != want {
		t.Errorf("ignored: %s", got)
	}
}

func TestMJCF(t *testing.T) {
	r := read(t, "tree.xml")
	m, err := multibody.Build(r.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if m.Bodies() != 6 || m.NV() != 2+3+1+1+6 || m.NC() != 1 {
		t.Errorf("%d bodies, %d velocities, %d constraints", m.Bodies(), m.NV(), m.NC())
	}
	said := strings.Join(r.Ignored, ", ")
	for _, want := range []string{"<motor> of actuator (1)", "range of a joint (1)", "<connect> that is not active (1)",
		"<mesh> of asset (1)"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %s", want, said)
		}
	}
}

const massMatrix = `
import fs from "node:fs";
const mj = await (await import(process.argv[1])).default();
const q = JSON.parse(fs.readFileSync(0));
const m = mj.MjModel.from_xml_string(q.text), d = new mj.MjData(m);
const out = q.states.map(s => {
	for (let i = 0; i < m.nq; i++) d.qpos[i] = s.q[i];
	for (let i = 0; i < m.nv; i++) d.qvel[i] = s.v[i];
	mj.mj_forward(m, d);
	const column = [], n = m.nv;
	for (let i = 0; i < n; i++) {
		const unit = new Array(n).fill(0), r = new mj.DoubleBuffer(n);
		unit[i] = 1;
		mj.mj_mulM(m, d, r, unit);
		column.push(Array.from(r.GetView()));
	}
	return { H: column, bias: Array.from(d.qfrc_bias), passive: Array.from(d.qfrc_passive), site: Array.from(d.site_xpos) };
});
process.stdout.write(JSON.stringify({ version: mj.mj_versionString(), qpos0: Array.from(m.qpos0), states: out }));
`

// Inertia matrix, bias torques and a site of the tree are those of MuJoCo, at states where every joint is off zero.
func TestMJCFAgainstMuJoCo(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: needs node and npm packages")
	}
	lib := filepath.Join(peer.NodeModules(t, "@mujoco/mujoco@3.14.0"), "@mujoco", "mujoco", "mujoco.js")
	text, err := os.ReadFile("testdata/tree.xml")
	if err != nil {
		t.Fatal(err)
	}
	r := read(t, "tree.xml")
	m, err := multibody.Build(r.Spec)
	if err != nil {
		t.Fatal(err)
	}
	// MuJoCo: yaw lift | shoulder (4) | wrist | hip | ball: place (3), quaternion (4). Velocities of the free joint: linear in world axes,
	// then angular in axes of the body.
	type state struct {
		Q []float64 `json:"q"`
		V []float64 `json:"v"`
	}
	type ours struct{ q, v []float64 }
	start, turned := r3.Vec{X: 1, Z: 0.5}, rotation.Exp(r3.Vec{Z: math.Pi / 4})
	var states []state
	var own []ours
	for k := range 5 {
		x := func(i int) float64 { return math.Sin(float64(7*i+13*k) + 0.4) }
		ball, fly := rotation.Exp(r3.Vec{X: x(1), Y: x(2), Z: x(3)}), rotation.Exp(r3.Vec{X: x(4), Y: x(5), Z: x(6)})
		at, omega, speed := r3.Vec{X: x(7), Y: x(8), Z: x(9)}, r3.Vec{X: x(10), Y: x(11), Z: x(12)}, r3.Vec{X: x(13), Y: x(14), Z: x(15)}
		world := r3.Add(start, rotation.Rotate(turned, at))
		g := quat.Mul(turned, fly)
		linear := rotation.Rotate(g, speed)
		states = append(states, state{
			Q: []float64{x(16), x(17), ball.Real, ball.Imag, ball.Jmag, ball.Kmag, x(18), x(19), world.X, world.Y, world.Z, g.Real, g.Imag, g.Jmag,
				g.Kmag},
			V: []float64{x(20), x(21), x(22), x(23), x(24), x(25), x(26), linear.X, linear.Y, linear.Z, omega.X, omega.Y, omega.Z}})
		own = append(own, ours{
			q: []float64{x(16), x(17), ball.Real, ball.Imag, ball.Jmag, ball.Kmag, x(18), x(19), fly.Real, fly.Imag, fly.Jmag, fly.Kmag, at.X, at.Y,
				at.Z},
			v: []float64{x(20), x(21), x(22), x(23), x(24), x(25), x(26), omega.X, omega.Y, omega.Z, speed.X, speed.Y, speed.Z}})
	}
	in, err := json.Marshal(map[string]any{"text": string(text), "states": states})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "--input-type=module", "-e", massMatrix, "--", lib)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("mujoco: %v\n%s", err, out)
	}
	var got struct {
		Version string
		States  []struct {
			H                   [][]float64
			Bias, Passive, Site []float64
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	t.Log("MuJoCo", got.Version)
	d := m.NewData()
	n := m.NV()
	const chain = 7 // velocities before the free body, whose coordinates differ
	worst, worstBias := 0.0, 0.0
	for k, s := range got.States {
		multibody.CRBA(m, d, own[k].q)
		for i := range chain {
			for j := range chain {
				worst = math.Max(worst, math.Abs(d.H[i*n+j]-s.H[i][j]))
			}
		}
		// of the free body: mass on the diagonal of its linear part in MuJoCo, moments about the origin
		for i := range 3 {
			worst = math.Max(worst, math.Abs(d.H[(chain+3+i)*n+chain+3+i]-s.H[chain+i][chain+i]))
			for j := range 3 {
				worst = math.Max(worst, math.Abs(d.H[(chain+i)*n+chain+j]-s.H[chain+3+i][chain+3+j]))
			}
		}
		// our torques for dv/dt = 0 hold damping and springs, MuJoCo's passive ones too, with the other sign
		multibody.RNEA(m, d, own[k].q, own[k].v, nil)
		for i := range chain {
			tau := d.Tau[i]
			if i == 0 {
				tau -= math.Copysign(0.3, own[k].v[0]) // frictionloss is a constraint there
			}
			worstBias = math.Max(worstBias, math.Abs(tau-s.Bias[i]+s.Passive[i]))
		}
		f, err := m.Frame("mark")
		if err != nil {
			t.Fatal(err)
		}
		if _, at := m.FramePose(d, f); r3.Norm(r3.Sub(at, r3.Vec{X: s.Site[0], Y: s.Site[1], Z: s.Site[2]})) > 1e-12 {
			t.Errorf("state %d: site at %v, MuJoCo %v", k, at, s.Site)
		}
	}
	t.Logf("inertia matrix within %.2g, bias torques within %.2g", worst, worstBias)
	if worst > 1e-11 || worstBias > 1e-10 {
		t.Errorf("inertia matrix off by %.3g, bias torques by %.3g", worst, worstBias)
	}
}

// Loops by equality are closed at the start.
func TestEquality(t *testing.T) {
	const text = `<mujoco><worldbody>
		<body name="a" euler="0 0 30"><joint name="a" axis="0 0 1" pos="0.1 0 0"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.02"/>
			<body name="b" pos="1 0 0" euler="0 0 -60"><joint axis="0 0 1"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.02"/><site name="tip" pos="1 0 0"/></body></body>
		<site name="wall" pos="1.7320508075688772 0 0"/>
	</worldbody><equality><connect body1="b" anchor="1 0 0"/><connect name="again" site1="tip" site2="wall"/></equality></mujoco>`
	r, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := multibody.Build(r.Spec)
	if err != nil {
		t.Fatal(err)
	}
	q, v := m.Neutral(), make([]float64, m.NV())
	a, err := multibody.Assemble(m, m.NewData(), q, v, multibody.Assembly{})
	if err != nil || a.Gap > 1e-12 || m.NC() != 6 {
		t.Errorf("%v, %v, %d", a, err, m.NC())
	}
}

func TestBadFiles(t *testing.T) {
	link := `<link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>`
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{"<robot>", "not valid XML"},
		{"<sdf/>", "neither a URDF"},
		{`<robot><joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint></robot>`, `there is no link "b"`},
		{`<robot>` + link + `<joint name="j" type="bent"><parent link="a"/><child link="b"/></joint></robot>`, "want revolute"},
		{`<robot>` + link + `<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0"/></joint></robot>`,
			"2 numbers, want 3"},
		{`<robot>` + link + `<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 one"/></joint></robot>`,
			"no finite number"},
		{`<robot>` + link + `<joint name="j" type="revolute"><parent link="b"/><child link="b"/></joint></robot>`, "circle"},
		{`<robot>` + link + `<joint name="j" type="revolute"><parent link="a"/><child link="b"/><mimic joint="k"/></joint></robot>`,
			`no joint "k"`},
		{`<robot><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="3"/></inertial></link><joint name="j" type="floating"><parent link="a"/><child link="b"/></joint></robot>`, "impossible inertia"},
		{`<mujoco><compiler coordinate="global"/></mujoco>`, "global"},
		{`<mujoco><worldbody><body><joint type="bend"/></body></worldbody></mujoco>`, "want hinge"},
		{`<mujoco><worldbody><body name="x"><joint/></body></worldbody></mujoco>`, `"x"`},
		{`<mujoco><worldbody><body name="x"><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>`, "give the body an <inertial>"},
		{`<mujoco><worldbody><body name="x"><joint class="c"/></body></worldbody></mujoco>`, `default class "c"`},
		{`<mujoco><include file="a.xml"/></mujoco>`, "include"},
		{`<mujoco><worldbody><body name="x"><joint name="j"/><geom size="1"/></body></worldbody><equality><joint joint1="j" joint2="j" polycoef="0 1 2"/></equality></mujoco>`, "straight line"},
	} {
		if _, err := Read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.text, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"arm.urdf", "tree.xml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := Read(bytes.NewReader(text)); err == nil && r == nil {
			t.Error("neither a robot nor an error")
		}
	})
}

// What MuJoCo 3.14 makes of these files (mass of the bodies, damping, armature, masses scaled), or what its reference says of polycoef
// and relpose.
func TestMJCFDefaultsAndConstraints(t *testing.T) {
	load := func(text string) *Robot {
		t.Helper()
		r, err := Read(strings.NewReader("<mujoco>" + text + "</mujoco>"))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	const one = `<worldbody><body name="a"><joint name="a" axis="0 1 0"/><geom size=".1" pos=".5 0 0" group="1"/><geom size=".1" group="3"/><site name="a"/></body></worldbody>`
	const ball = 4.1887902047863905 // kg  of 0.1 m and 1000 kg/m³
	// names of bodies, joints and sites are apart; defaults may stand in several places; the class main is that of all
	r := load(`<default><joint damping="0.7"/></default><default><joint armature="0.2"/><default class="k"><joint damping="3"/></default></default>` + one)
	if b := r.Spec.Bodies[0]; b.Joint.Damping != 0.7 || b.Joint.Armature != 0.2 || math.Abs(b.Inertia.Mass-2*ball) > 1e-9 || b.Name != "a" ||
		r.Spec.Frames[0].Name != "a_site" {
		t.Errorf("%+v, site %s", b, r.Spec.Frames[0].Name)
	}
	if r = load(`<default><joint damping="0.7"/><default class="k"><joint damping="3"/></default></default><worldbody><body childclass="k"><joint class="main"/><geom size="1"/></body></worldbody>`); r.Spec.Bodies[0].Joint.Damping != 0.7 {
		t.Errorf("class main: %+v", r.Spec.Bodies[0].Joint)
	}
	if r = load(`<compiler inertiagrouprange="0 1"/>` + one); math.Abs(r.Spec.Bodies[0].Inertia.Mass-ball) > 1e-9 {
		t.Errorf("inertiagrouprange: %v kg", r.Spec.Bodies[0].Inertia.Mass)
	}
	if r = load(`<compiler settotalmass="7"/>` + one); math.Abs(r.Spec.Bodies[0].Inertia.Mass-7) > 1e-12 {
		t.Errorf("settotalmass: %v kg", r.Spec.Bodies[0].Inertia.Mass)
	}
	if r = load(`<option density="1000"><flag gravity="disable" spring="disable"/></option>` + one); r.Spec.Gravity != (r3.Vec{}) ||
		strings.Join(r.Ignored, ", ") != "density of the fluid around the bodies (1), flag spring that is disabled (1)" {
		t.Errorf("option: %v, %v", r.Spec.Gravity, r.Ignored)
	}
	const two = `<worldbody><body name="a"><joint name="ja"/><geom size=".1"/></body><body pos="1 0 0"><joint name="jb"/><geom size=".1"/></body></worldbody>`
	if r = load(two + `<equality><joint joint1="ja" joint2="jb" polycoef="0.3"/></equality>`); len(r.Spec.Couplings[0].Terms) != 2 ||
		r.Spec.Couplings[0].Terms[1].Factor != -1 || r.Spec.Couplings[0].Offset != 0.3 {
		t.Errorf("polycoef: %+v", r.Spec.Couplings)
	}
	// without body2 it is the world, not the body without a name
	if r = load(two + `<equality><connect body1="a" anchor=".5 0 0"/></equality>`); r.Spec.Frames[1].Body != "" ||
		r.Spec.Frames[1].Pose.P.X != 0.5 {
		t.Errorf("connect: %+v", r.Spec.Frames)
	}
	if r = load(`<default><equality active="false"/></default>` + two + `<equality><weld body1="a"/></equality>`); len(r.Spec.Cuts) != 0 {
		t.Errorf("not active: %+v", r.Spec.Cuts)
	}
	if r = load(two + `<equality><weld body1="a" relpose="0.3 0.1 0 0 0 0 2"/></equality>`); r.Spec.Frames[0].Pose.P != (r3.Vec{X: 0.3,
		Y: 0.1}) || r.Spec.Frames[0].Pose.R.Kmag != 1 || r.Spec.Frames[1].Body != "" {
		t.Errorf("relpose: %+v", r.Spec.Frames)
	}
}

// What has an effect that is not known here is refused, wherever it stands.
func TestRefusedParts(t *testing.T) {
	for text, want := range map[string]string{
		`<mujoco><default><include file="x.xml"/></default><worldbody/></mujoco>`: "files that " +
			"include others",
		`<mujoco><default class="foo"/><worldbody/></mujoco>`: `class="foo"`,
		`<mujoco><default><default class="k"/><default class="k"/></default><worldbody/></mujoco>`: "a name of " +
			"its own",
		`<mujoco><compiler eulerseq="xy"/><worldbody/></mujoco>`: "want three of",
		`<mujoco><worldbody><body><joint/><geom size="1"/><body><geom type="mesh" mesh="m"/></body></body></worldbody></mujoco>`: "shape from " +
			"a mesh is not known",
		`<mujoco><worldbody><body><joint/><geom type="box" mesh="m"/></body></worldbody></mujoco>`: "shape from " +
			"a mesh is not known",
		`<mujoco><worldbody><body><joint/><geom size="1" shellinertia="true"/></body></worldbody></mujoco>`: "shell",
		`<mujoco><worldbody><body axisangle="0 0 0 1"><joint/><geom size="1"/></body></worldbody></mujoco>`: "direction " +
			"of length 0",
		`<mujoco><worldbody><body xyaxes="1 0 0 2 0 0"><joint/><geom size="1"/></body></worldbody></mujoco>`: "direction " +
			"of length 0",
		`<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arm/><link name="a"/></robot>`: "run xacro",
		`<robot name="x"><link name="a"/><link name="b"/></robot>`:                                         "links without a parent: a, b",
		`<robot name="x"><link name="a"/><link name="a"/></robot>`: "no other " +
			"link has",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// The declaration of the file is not looked at: Bullet's robots have the version 0.0, others an encoding that their text does not use.
// Lines count from the beginning all the same, and text that is not UTF-8 is refused.
func TestDeclarations(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "arm.urdf"))
	if err != nil {
		t.Fatal(err)
	}
	_, plain, _ := strings.Cut(string(text), "?>")
	if !strings.Contains(plain, "<robot") {
		plain = string(text)
	}
	want, err := Read(strings.NewReader(plain))
	if err != nil {
		t.Fatal(err)
	}
	for _, head := range []string{`<?xml version="0.0" ?>`, "<?xml version='1.1' encoding='ISO-8859-1'?>\n",
		"\ufeff<?xml version=\"1.0\"\n encoding=\"utf-8\"?>", "\n \n<?xml version=\"1.0\"?>"} {
		got, err := Read(strings.NewReader(head + plain))
		if err != nil {
			t.Errorf("%q: %v", head, err)
			continue
		}
		for i := range want.Spec.Bodies {
			if got.Spec.Bodies[i] != want.Spec.Bodies[i] {
				t.Errorf("%q: %+v, want %+v", head, got.Spec.Bodies[i], want.Spec.Bodies[i])
			}
		}
	}
	for text, want := range map[string]string{
		"<?xml version=\"0.0\"\n?>\n<robot>\n<link name=\"a\"/><link name=\"b\"/><joint name=\"j\" type=\"bent\"><parent link=\"a\"/><child " +
			"link=\"b\"/></joint></robot>": "line 4",
		"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><robot name=\"Gr\xfcn\"><link " +
			"name=\"a\"/></robot>": "UTF-8",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A joint of the type spherical, which Bullet knows, turns any way.
func TestSphericalURDF(t *testing.T) {
	const link = `<inertial><mass value="1"/><origin xyz="0 0 -0.3"/><inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>`
	r, err := Read(strings.NewReader(`<robot name="r"><link name="base"/><link name="head">` + link +
		`<joint name="neck" type="spherical"><origin xyz="0 0 1"/><parent link="base"/><child link="head"/></joint></robot>`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := multibody.Build(r.Spec)
	if err != nil || m.NV() != 3 || r.Spec.Bodies[1].Joint.Kind != multibody.Spherical || r.Spec.Bodies[1].Place.P.Z != 1 {
		t.Errorf("%v: %d velocities, %+v", err, m.NV(), r.Spec.Bodies[1])
	}
}
