package configs

import (
	"os"
	"strings"
	"testing"
)

// A chain on a beam is a model beside the rig: what it cannot be is refused by its key.
func TestChainBesideTheRig(t *testing.T) {
	rig, err := os.ReadFile("beam-rig.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"q1: {axis: arm, offset: -90 deg}", "q1: {offset: -90 deg}", ""},
		{"q1: {axis: arm, offset: -90 deg}", "q2: {axis: arm}", "models.wiper.joints.q2"},
		{"q1: {axis: arm, offset: -90 deg}", "q2: {axis: arm}", "the driven joint q1 of the chain follows no axis"},
		{"q1: {axis: arm, offset: -90 deg}", "q1: {axis: arm, by: current}", "models.wiper.joints.q1.by"},
		{"q1: {axis: arm, offset: -90 deg}", "q1: {axis: leg}", "models.wiper.joints.q1.axis"},
		{"q1: {axis: arm, offset: -90 deg}", "q1: {axis: arm, ratio: 0}", "models.wiper.joints.q1.ratio"},
		{"lambda, friction", "lamda", "models.wiper.outputs"},
		{"    kind: machine\n", "    kind: machine\n    audit: true\n", "models.wiper.audit"},
		{"    supply: ±48 V", "    kind: machine\n    machine: {file: beam-wiper.yaml}\n    supply: ±48 V",
			"a chain on a beam can be a model beside the rig, and not its plant"},
	} {
		text := strings.Replace(string(rig), c.old, c.new, 1)
		if text == string(rig) {
			t.Fatalf("no %q", c.old)
		}
		_, err := LoadBytes("beam-rig.yaml", []byte(text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
}
