package record

import (
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hilrig/engine/peer"
)

// Files of Octave in its three MAT formats, and its own, which is refused by name.
func TestMATOfOctave(t *testing.T) {
	program := peer.Program(t, "octave-cli", "octave")
	dir := t.TempDir()
	script := `x = [0.5; -2; 1e300; pi]; row = 1:4; X = reshape(1:12, 4, 3); i = int16([-3 5 7 30000]); f = single([0.25 -1 2 3]);
s.v = x'; s.n = 7; note = 'text'; b = x > 0; c = {1, 2};
save('-v4', 'o4.mat', 'x', 'row', 'X', 'f', 'note');
save('-v6', 'o6.mat'); save('-v7', 'o7.mat'); save('-text', 'text.mat', 'x');`
	run := exec.Command(program, "--no-init-file", "--eval", script)
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	x := []float64{0.5, -2, 1e300, math.Pi}
	for _, file := range []string{"o4.mat", "o6.mat", "o7.mat"} {
		for address, want := range map[string][]float64{"row": {1, 2, 3, 4}, "X(:,3)": {9, 10, 11, 12}, "f": {0.25, -1, 2, 3},
			"i": {-3, 5, 7, 30000}, "b": {1, 0, 1, 1}} {
			if file == "o4.mat" && len(address) == 1 && address != "f" {
				continue
			}
			d, err := columns(filepath.Join(dir, file), address, "f")
			if err != nil || !slices.Equal(d.Position, want) {
				t.Errorf("%s %s: %v, %v", file, address, d, err)
			}
		}
		scaled := Mapping{Rate: 1, Position: Column{Name: "x", Scale: 1e-250}, Force: Column{Name: "s.v", Scale: 1e-250}}
		if file == "o4.mat" {
			scaled.Force.Name = "x"
		}
		d, err := readOne(filepath.Join(dir, file), scaled)
		if err != nil || d.Position[3] != 1e-250*x[3] || d.Force[2] != 1e-250*x[2] {
			t.Errorf("%s: %v, %v", file, d, err)
		}
	}
	if _, err := columns(filepath.Join(dir, "text.mat"), "x", "x"); err == nil || !strings.Contains(err.Error(), "text format of Octave") {
		t.Errorf("text format: %v", err)
	}
}
