package configs

import (
	"os"
	"strings"
	"testing"
)

// The mechanism of the example has each axis as a joint, survives being written out, and says what cannot be.
func TestMechanism(t *testing.T) {
	data, err := os.ReadFile("two-link-mechanism.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := LoadBytes("two-link-mechanism.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	m, joints, err := c.MechanismModel()
	if err != nil || len(joints) != 2 || joints[0] != 0 || joints[1] != 1 || m.NV() != 2 {
		t.Errorf("joints %v, %v", joints, err)
	}
	for _, k := range []struct{ from, to, want string }{
		{"    elbow:\n      parent: shoulder", "    ellbow:\n      parent: shoulder", `did you mean "elbow"?`},
		{"joint: {kind: revolute, armature: 0.004 kg·m²}", "joint: {kind: prismatic, armature: 0.004 kg}",
			"prismatic, and the axis elbow is rotary"},
		{"joint: {kind: revolute, armature: 0.004 kg·m²}", "joint: {kind: revolute, friction: {law: coulomb, Fc: 1}}",
			"belongs to a machine that is simulated"},
		{"parent: shoulder", "parent: elbow", "elbow"},
		{"inertia_z: 0.009 kg·m²", "inertia: [1, 1, 9]", "inertia"},
		{"0.8, inertia: true}\n    guard: {max_speed: 30", "0.8, bandwidth: 20 Hz}\n    guard: {max_speed: 30", "a second time"},
	} {
		text := strings.Replace(string(data), k.from, k.to, 1)
		if k.want == "a second time" {
			i := strings.LastIndex(text, "kind: feedforward")
			text = text[:i] + strings.Replace(text[i:], "kind: feedforward", "kind: disturbance-observer", 1)
		}
		if _, err := LoadBytes("rig.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: %v, want %q", k.to, err, k.want)
		}
	}
}
