package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hilrig/hil/models"
)

// fourBarRig is the example with changes, in a folder of its own with its machine.
func fourBarRig(t *testing.T, changes ...string) (path, text string) {
	t.Helper()
	data, err := os.ReadFile("four-bar-rig.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text = string(data)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("the example has no %q", changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	machine, err := os.ReadFile("machine/driven-four-bar.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "machine"), 0o755); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "rig.yaml")
	for name, data := range map[string][]byte{path: []byte(text), filepath.Join(dir, "machine", "driven-four-bar.yaml"): machine} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path, text
}

// What does not fit the machine is refused with its place and a way on.
func TestMachineInRigRefuses(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     []string
	}{
		{"    file: machine/driven-four-bar.yaml\n    joints: {crank: {by: motion}}", "    joints: {crank: {by: motion}}",
			[]string{"models.linkage.file is missing"}},
		{"    file: machine/driven-four-bar.yaml\n    joints: {crank: {by: motion}}",
			"    file: machine/four-bar.yaml\n    joints: {crank: {by: motion}}", []string{"models.linkage.file", "no such file"}},
		{"joints: {crank: {by: motion}}", "joints: {cranks: {by: motion}}", []string{"models.linkage.joints.cranks", "crank"}},
		{"joints: {crank: {by: motion}}", "joints: {crank: {axis: shaft, by: motion}}", []string{"models.linkage.joints.crank.axis", "crank"}},
		{"joints: {crank: {by: motion}}", "joints: {crank: {by: motion, ratio: 0}}", []string{"models.linkage.joints.crank.ratio"}},
		{"joints: {crank: {by: motion}}", "joints: {crank: {by: effort}}", []string{"models.linkage.joints.crank.by", "none is measured"}},
		{"joints: {crank: {by: command}}", "joints: {rocker: {axis: crank, by: command}}",
			[]string{"models.twin.joints.rocker.by", "one dc motor"}},
		{"outputs: [crank, rocker.q, pin, residual]", "outputs: [crank, pins]", []string{"models.linkage.outputs", `"pins"`, "pin.x"}},
		{"supply: ±24 V\n    machine: {file: machine/driven-four-bar.yaml, outputs: [rocker.q, pin]}", "supply: ±24 V",
			[]string{"virtual.plant.machine is missing"}},
		{"machine: {file: machine/driven-four-bar.yaml, outputs: [rocker.q, pin]}", "machine: {outputs: [rocker.q]}",
			[]string{"virtual.plant.machine.file is missing"}},
		{"outputs: [rocker.q, pin]}", "outputs: [rocker.x]}", []string{"virtual.plant.machine", `"rocker.x"`}},
		{"supply: ±24 V\n", "supply: ±24 V\n    axes: {crank: {inertia: 1 kg·m², drive: {kind: effort}}}\n",
			[]string{"virtual.plant.axes.crank.inertia", "armature"}},
		{"supply: ±24 V\n", "supply: ±24 V\n    axes: {wheel: {friction: {law: viscous, delta: 1, Fv: 1 N·m·s/rad}}}\n",
			[]string{"virtual.plant.axes.wheel", "crank"}},
	} {
		path, _ := fourBarRig(t, c.from, c.to)
		_, err := Load(path)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s:\n%v\nwant %q", c.to, err, want)
			}
		}
	}
}

// A rig with machines comes back from what a recording has of it, and needs no other file for it; its models and its plant have the numbers
// that were chosen.
func TestMachineInRigComesBack(t *testing.T) {
	path, _ := fourBarRig(t)
	c, warnings, err := Check(path)
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	text, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again, err := LoadBytes("/nowhere/run.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(c.Models, again.Models); diff != "" {
		t.Error(diff)
	}
	if again.Hash() != c.Hash() {
		t.Error("the configuration that came back is another one")
	}
	for _, c := range []*Config{c, again} {
		var names []string
		m, err := models.NewMachine(c.MachineModel(&c.Models[0]))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range m.Signals() {
			names = append(names, s.Name)
		}
		if got, want := strings.Join(names, " "), "status crank.q crank.v crank.friction.bristle crank.motion crank.a rocker.q pin.x pin.y "+
			"residual"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		p, inner, err := c.Machine()
		if err != nil || inner != 20 {
			t.Fatal(inner, err)
		}
		out := p.Layout().Outputs
		if n := len(out); n != 10 || out[0].Name != "crank.position" || out[7].Name != "rocker.q" || out[9].Name != "pin.y" {
			t.Errorf("%v", out)
		}
		// the friction is that of the joint, not that of the axis, and no rotor counts twice
		if f := c.Virtual.Plant.Axes[0].Friction; f.Name != "lugre" || f.param("sigma2") != 0 || c.Virtual.Plant.Axes[0].Inertia != 0 {
			t.Errorf("friction %v, inertia %g", f, c.Virtual.Plant.Axes[0].Inertia)
		}
	}
}
