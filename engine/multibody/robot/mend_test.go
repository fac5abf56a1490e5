package robot

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/engine/multibody"
	"hilrig/engine/peer"
)

// link is one of a URDF: mass, and moments about the centre of mass, xx xy xz yy yz zz.
func link(name string, mass, x float64, moments ...float64) string {
	if len(moments) == 0 {
		return fmt.Sprintf(`<link name=%q/>`, name)
	}
	m := moments
	return fmt.Sprintf(`<link name=%q><inertial><origin xyz="%g 0 0"/><mass value="%g"/><inertia ixx="%g" ixy="%g" ixz="%g" iyy="%g" iyz="%g" izz="%g"/></inertial></link>`,
		name, x, mass, m[0], m[1], m[2], m[3], m[4], m[5])
}

func joint(kind, parent, child, axis, more string) string {
	return fmt.Sprintf(`<joint name="j_%s" type=%q><parent link=%q/><child link=%q/><axis xyz=%q/>%s</joint>`, child, kind, parent, child,
		axis, more)
}

// buildURDF is a robot with its model, of whose assumptions said is told ("": there are none). nil: it is refused with bad, as it
// should be, or the test has failed.
func buildURDF(t *testing.T, name, text, bad, said string) (r *Robot, m *multibody.Model) {
	t.Helper()
	r, err := Read(strings.NewReader("<robot>" + text + "</robot>"))
	switch {
	case bad != "":
		if err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v, want %q", name, err, bad)
		}
		return r, nil
	case err != nil:
		t.Errorf("%s: %v", name, err)
		return r, nil
	}
	if told := strings.Join(r.Assumed, "; "); said == "" && told != "" || !strings.Contains(told, said) {
		t.Errorf("%s: said %q, want %q", name, told, said)
	}
	if m, err = multibody.Build(r.Spec); err != nil {
		t.Fatal(err)
	}
	return r, m
}

// What no machine can be is taken where no motion depends on it, and said; the moment of inertia that a joint feels is that of the file.
func TestImpossibleInertiaWithoutEffect(t *testing.T) {
	good := link("arm", 2, 0.5, 0.01, 0, 0, 0.02, 0, 0.02)
	for name, c := range map[string]struct {
		text string
		felt float64 // kg·m²  of the first joint
		said string  // "": nothing
		bad  string  // error
	}{
		"what never moves": {link("base", 0, 0, 1, 0, 0, 1, 0, 1) + good + joint("revolute", "base", "arm", "0 0 1", ""), 0.02 + 2*0.25,
			"base never moves", ""},
		"negative where it stands": {link("base", -3, 0, 1, 0, 0, 1, 0, -1) + good + joint("revolute", "base", "arm", "0 0 1", ""),
			0.02 + 2*0.25, "base never moves", ""},
		"one axis, large": {link("base", 0, 0) + link("arm", 2, 0.5, 0.01, 0, 0, 0.02, 0, 0.9) + joint("revolute", "base", "arm",
			"0 0 1", ""), 0.9 + 2*0.25, "give the same motion", ""},
		"one axis, small": {link("base", 0, 0) + link("arm", 2, 0, 0.01, 0, 0, 0.02, 0, 0.9) + joint("revolute", "base", "arm", "1 0 0",
			""), 0.01, "give the same motion", ""},
		"one axis, oblique": {link("base", 0, 0) + link("arm", 2, 0, 0.01, 0, 0, 0.02, 0, 0.9) + joint("revolute", "base", "arm",
			"0 0.6 0.8", ""), 0.36*0.02 + 0.64*0.9, "give the same motion", ""},
		"a slide": {link("base", 0, 0) + link("arm", 2, 0.5, -1, 0, 0, 1, 0, 7) + joint("prismatic", "base", "arm", "0 1 0",
			""), 2, "give the same motion", ""},
		"a negative moment felt": {link("base", 0, 0) + link("arm", 2, 0, -0.5, 0, 0, 0.02, 0, 0.9) + joint("revolute", "base", "arm", "1 0 0",
			""), 0, "", "impossible inertia"},
		"turning any way": {link("base", 0, 0) + link("arm", 2, 0.5, 0.01, 0, 0, 0.02, 0, 0.9) + joint("floating", "base", "arm",
			"0 0 1", ""), 0, "", "impossible inertia"},
		"turning on a turning one": {link("base", 0, 0) + good + link("tool", 1, 0, 0.01, 0, 0, 0.02, 0, 0.9) + joint("revolute", "base", "arm",
			"0 0 1", "") + joint("revolute", "arm", "tool", "1 0 0", ""), 0, "", "impossible inertia"},
		"no mass, moments, fixed": {link("base", 0, 0) + good + link("eye", 0, 0, 0.001, 0, 0, 0.001, 0, 0.001) + joint("revolute", "base",
			"arm", "0 0 1", "") + joint("fixed", "arm", "eye", "0 0 1", ""), 0.021 + 2*0.25, "sum of what is fixed to arm", ""},
		"no mass, moments, moving": {link("base", 0, 0) + link("arm", 0, 0, 0.001, 0, 0, 0.001, 0, 0.001) + joint("revolute", "base", "arm",
			"0 0 1", ""), 0, "", "mass 0 kg with moments"},
		"possible": {link("base", 0, 0) + good + joint("revolute", "base", "arm", "0 0 1", ""), 0.02 + 2*0.25, "", ""},
	} {
		r, m := buildURDF(t, name, c.text, c.bad, c.said)
		if m == nil {
			continue
		}
		d := m.NewData()
		multibody.CRBA(m, d, m.Neutral())
		if math.Abs(d.H[0]-c.felt) > 1e-10*(1+c.felt) {
			t.Errorf("%s: the joint feels %.12g, want %.12g", name, d.H[0], c.felt)
		}
		for _, b := range r.Spec.Bodies {
			if err := b.Inertia.Check(); err != nil {
				t.Errorf("%s: %s: %v", name, b.Name, err)
			}
		}
	}
}

// Joints without inertia are held where nothing else depends on them.
func TestJointsWithoutInertia(t *testing.T) {
	arm := link("base", 0, 0) + link("arm", 2, 0.5, 0.01, 0, 0, 0.02, 0, 0.02) + joint("revolute", "base", "arm", "0 0 1", "")
	for name, c := range map[string]struct {
		text      string
		dof       int
		said, bad string
	}{
		"at the end": {arm + link("tip", 0, 0) + joint("continuous", "arm", "tip", "1 0 0", ""), 1, "tip (revolute) moves nothing", ""},
		"two in a row": {arm + link("tip", 0, 0) + link("pen", 0, 0) + joint("revolute", "arm", "tip", "1 0 0", "") + joint("prismatic",
			"tip", "pen", "0 1 0", ""), 1, "pen (prismatic)", ""},
		"mass on its axis": {arm + link("tip", 1, 0, 0, 0, 0, 0, 0, 0) + joint("revolute", "arm", "tip", "1 0 0", ""), 1, "tip (revolute)", ""},
		"mass off its axis": {arm + link("tip", 1, 0.1, 0, 0, 0, 0, 0, 0) + joint("revolute", "arm", "tip", "0 0 1", `<origin xyz="1 0 0"/>`),
			2, "", ""},
		"a follower": {arm + link("tip", 0, 0) + joint("revolute", "arm", "tip", "0 1 0", `<mimic joint="j_arm"/>`), 1,
			"coupling j_tip_mimic is left out", ""},
		"a leader": {link("base", 0, 0) + link("knob", 0, 0) + joint("revolute", "base", "knob", "0 1 0", "") + link("arm", 2, 0.5,
			0.01, 0, 0, 0.02, 0, 0.02) + joint("revolute", "base", "arm", "0 0 1", `<mimic joint="j_knob"/>`), 1, "coupling j_arm_mimic", ""},
		"a damped follower": {arm + link("tip", 0, 0) + joint("revolute", "arm", "tip", "0 1 0",
			`<mimic joint="j_arm"/><dynamics damping="1"/>`), 0, "", "moves nothing"},
		"nothing has a mass": {link("base", 0, 0) + link("arm", 0, 0) + joint("revolute", "base", "arm", "0 0 1", ""), 0, "",
			`no joint moves anything that has inertia, neither that of "arm"`},
		"fixed mimics": {arm + link("tip", 1, 0.1, 0.1, 0, 0, 0.1, 0, 0.1) + joint("fixed", "arm", "tip", "0 1 0",
			`<mimic joint="j_arm"/>`), 1, "", ""},
		"on the world": {link("arm", 2, 0.5, 0.01, 0, 0, 0.02, 0, 0.02) + joint("revolute", "world", "arm", "0 0 1", ""), 1, "", ""},
		"no bodies":    {"", 0, "", "no bodies"},
	} {
		_, m := buildURDF(t, name, c.text, c.bad, c.said)
		if m == nil {
			continue
		}
		if m.NV() != c.dof || m.NC() != 0 {
			t.Errorf("%s: %d velocities, %d constraints, want %d and none", name, m.NV(), m.NC(), c.dof)
		}
	}
}

// compiler boundmass, boundinertia and balanceinertia, as MuJoCo's reference has them.
func TestCompilerOfInertia(t *testing.T) {
	load := func(compiler string) multibody.Inertia {
		t.Helper()
		r, err := Read(strings.NewReader(`<mujoco><compiler ` + compiler + `/><worldbody><body name="a"><freejoint/><inertial pos="0 0 0" mass="0.5" diaginertia="1 1 4"/></body></worldbody></mujoco>`))
		if err != nil {
			t.Fatal(err)
		}
		return r.Spec.Bodies[0].Inertia
	}
	if b := load(`balanceinertia="true"`); b.I[0][0] != 2 || b.I[1][1] != 2 || b.I[2][2] != 2 {
		t.Errorf("balanceinertia: %v", b.I)
	}
	if b := load(`boundinertia="3" boundmass="0.7"`); b.I[0][0] != 3 || b.I[2][2] != 4 || b.Mass != 0.7 {
		t.Errorf("bounds: %+v", b)
	}
}

// A model of includes, frames and copies, and the same written out by hand.
const (
	mainFile = `<mujoco model="whole"><include file="parts/defaults.xml"/><compiler angle="degree"/>
		<worldbody>
			<include file="arm.xml"/>
			<frame pos="0 0 1" euler="0 0 90" childclass="heavy">
				<frame pos="0.5 0 0"><body name="swing" pos="0 0.25 0"><frame euler="90 0 0"><joint name="swing" axis="0 0 1" pos="0.1 0 0"/></frame>
					<frame pos="0 0 -0.5"><geom type="box" size="0.1 0.2 0.3"/></frame></body></frame>
			</frame>
			<replicate count="3" offset="0 1 0" euler="0 0 90" sep="-">
				<body name="post" pos="2 0 0"><joint name="post" axis="1 0 0"/><geom type="capsule" fromto="0 0 0 0 0 0.7" size="0.05"/></body>
			</replicate>
		</worldbody></mujoco>`
	defaultsFile = `<mujocoinclude><default><joint damping="0.4"/><default class="heavy"><geom density="2000"/></default></default></mujocoinclude>`
	armFile      = `<mujoco><body name="arm"><joint name="arm" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.1"/><include file="parts/hand.xml"/></body></mujoco>`
	handFile     = `<x><body name="hand" pos="1 0 0"><joint name="hand" axis="0 1 0"/><geom size="0.2"/></body></x>`

	flatFile = `<mujoco model="whole"><default><joint damping="0.4"/><default class="heavy"><geom density="2000"/></default></default>
		<worldbody>
			<body name="arm"><joint name="arm" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.1"/>
				<body name="hand" pos="1 0 0"><joint name="hand" axis="0 1 0"/><geom size="0.2"/></body></body>
			<body name="swing" pos="-0.25 0.5 1" euler="0 0 90"><joint name="swing" axis="0 -1 0" pos="0.1 0 0"/><geom type="box" class="heavy" size="0.1 0.2 0.3" pos="0 0 -0.5"/></body>
			<body name="post-0" pos="2 0 0"><joint name="post-0" axis="1 0 0"/><geom type="capsule" fromto="0 0 0 0 0 0.7" size="0.05"/></body>
			<body name="post-1" pos="0 3 0" euler="0 0 90"><joint name="post-1" axis="1 0 0"/><geom type="capsule" fromto="0 0 0 0 0 0.7" size="0.05"/></body>
			<body name="post-2" pos="-3 1 0" euler="0 0 180"><joint name="post-2" axis="1 0 0"/><geom type="capsule" fromto="0 0 0 0 0 0.7" size="0.05"/></body>
		</worldbody></mujoco>`
)

func whole(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.xml": mainFile, "parts/defaults.xml": defaultsFile, "arm.xml": armFile,
		"parts/hand.xml": handFile} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "main.xml")
}

// motion is the inertia matrix and the torques of a state without symmetry.
func motion(t *testing.T, s multibody.Spec) (h, tau []float64) {
	t.Helper()
	m, err := multibody.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	d, q, v, a := m.NewData(), m.Neutral(), make([]float64, m.NV()), make([]float64, m.NV())
	for i := range v {
		v[i], a[i] = math.Sin(float64(3*i)+0.5), math.Cos(float64(5*i))
	}
	multibody.Integrate(m, q, v, 1, q)
	multibody.CRBA(m, d, q)
	multibody.RNEA(m, d, q, v, a)
	return d.H, d.Tau
}

func TestIncludesFramesAndCopies(t *testing.T) {
	r, err := ReadFile(whole(t))
	if err != nil {
		t.Fatal(err)
	}
	flat, err := Read(strings.NewReader(flatFile))
	if err != nil {
		t.Fatal(err)
	}
	var names, want []string
	for _, b := range r.Spec.Bodies {
		names = append(names, b.Name)
	}
	for _, b := range flat.Spec.Bodies {
		want = append(want, b.Name)
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Fatalf("bodies %v, want %v", names, want)
	}
	h, tau := motion(t, r.Spec)
	h0, tau0 := motion(t, flat.Spec)
	for i := range h0 {
		if math.Abs(h[i]-h0[i]) > 1e-12 {
			t.Errorf("inertia %d: %.15g, want %.15g", i, h[i], h0[i])
		}
	}
	for i := range tau0 {
		if math.Abs(tau[i]-tau0[i]) > 1e-11 {
			t.Errorf("torque %d: %.15g, want %.15g", i, tau[i], tau0[i])
		}
	}
}

// MuJoCo makes the same of frames and copies: it reads the main file with what is included written into it.
func TestFramesAgainstMuJoCo(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: needs node and npm packages")
	}
	lib := filepath.Join(peer.NodeModules(t, "@mujoco/mujoco@3.14.0"), "@mujoco", "mujoco", "mujoco.js")
	arm := strings.Replace(armFile, `<include file="parts/hand.xml"/>`, strings.TrimSuffix(strings.TrimPrefix(handFile, "<x>"), "</x>"), 1)
	text := strings.Replace(mainFile, `<include file="arm.xml"/>`, strings.TrimSuffix(strings.TrimPrefix(arm, "<mujoco>"), "</mujoco>"), 1)
	text = strings.Replace(text, `<include file="parts/defaults.xml"/>`,
		strings.TrimSuffix(strings.TrimPrefix(defaultsFile, "<mujocoinclude>"), "</mujocoinclude>"), 1)
	r, err := ReadFile(whole(t))
	if err != nil {
		t.Fatal(err)
	}
	m, err := multibody.Build(r.Spec)
	if err != nil {
		t.Fatal(err)
	}
	q, v := make([]float64, m.NQ()), make([]float64, m.NV())
	for i := range q {
		q[i] = math.Sin(float64(7*i) + 0.4)
	}
	in, err := json.Marshal(map[string]any{"text": text, "states": []any{map[string]any{"q": q, "v": v}}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "--input-type=module", "-e", massMatrix, "--", lib)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(in)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("mujoco: %v\n%s", err, out)
	}
	var got struct {
		States []struct {
			H    [][]float64
			Bias []float64
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	d := m.NewData()
	multibody.CRBA(m, d, q)
	multibody.RNEA(m, d, q, v, nil)
	for i := range v {
		for j := range v {
			if x := got.States[0].H[i][j]; math.Abs(d.H[i*len(v)+j]-x) > 1e-11 {
				t.Errorf("inertia %d %d: %.15g, MuJoCo %.15g", i, j, d.H[i*len(v)+j], x)
			}
		}
		if x := got.States[0].Bias[i]; math.Abs(d.Tau[i]-x) > 1e-10 {
			t.Errorf("torque %d: %.15g, MuJoCo %.15g", i, d.Tau[i], x)
		}
	}
}

func TestBadIncludes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "main.xml")
	for text, want := range map[string]string{
		`<mujoco><include file="none.xml"/></mujoco>`:                                      "none.xml",
		`<mujoco><include/></mujoco>`:                                                      "file is missing",
		`<mujoco><include file="main.xml"/></mujoco>`:                                      "included twice",
		`<mujoco><worldbody><replicate count="0"><body/></replicate></worldbody></mujoco>`: "whole number from 1",
		`<mujoco><worldbody><replicate count="90000"><replicate count="90000"><body/></replicate></replicate></worldbody></mujoco>`:         "copies in all",
		`<mujoco><worldbody><body name="b"><joint/><geom size="1"/><composite type="cable"/></body></worldbody></mujoco>`:                   "not understood",
		`<mujoco><worldbody><frame euler="0 0"><body name="b"><joint/><geom size="1"/></body></frame></worldbody></mujoco>`:                 "2 numbers, want 3",
		`<mujoco><worldbody><frame childclass="none"><body name="b"><joint/><geom size="1"/></body></frame></worldbody></mujoco>`:           `default class "none"`,
		`<mujoco><worldbody><body name="b"><joint/><geom size="1"/><frame><geom type="mesh" mesh="m"/></frame></body></worldbody></mujoco>`: "from a mesh",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
