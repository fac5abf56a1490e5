package simulate

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/configs"
)

// A ball with ε = 1 dropped from 1 m: with positions: false it rises higher at every bounce, and the run says so.
func TestEnergyMadeByContactsIsSaid(t *testing.T) {
	for _, positions := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "ball.json")
		file := fmt.Sprintf(`{"version": 1, "name": "ball", "system": "scene", "scene": {
			"bodies": [{"name": "floor", "shape": "half-plane", "fixed": true}, {"name": "ball", "shape": "disc", "radius": 0.02, "mass": 1, "position": [0, 1]}],
			"pairs": [{"a": "ball", "b": "floor", "mu": 0.3, "eps_n": 1}]},
			"duration": 2, "engine": {"kind": "fixed-step", "step": 1e-4, "positions": %v}, "outputs": {"every": 0.01}}`, positions)
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, _, err := configs.LoadContactRun(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := contactRunOf(context.Background(), path, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if says := strings.Join(s.doubts(), "; "); strings.Contains(says, "energy_gained") == positions || positions && says != "" {
			t.Errorf("positions: %v: %q", positions, says)
		}
	}
}

// A ball with ε = 0.5 dropped from 1 m: with positions: false it leaves the floor faster than half of what it comes with, and by how
// much is said, beside the rebound that the run shows; with positions: true it does not, and nothing is said.
func TestRestitutionThatPositionsAddIsSaid(t *testing.T) {
	for _, positions := range []bool{true, false} {
		rebound, said := 0.0, 0
		const runs = 40
		for k := range runs { // the ball meets the floor anywhere in a step
			path := filepath.Join(t.TempDir(), "ball.json")
			height := 1 + float64(k)*4.43e-4/runs
			file := fmt.Sprintf(`{"version": 1, "name": "ball", "system": "scene", "scene": {"bodies": [{"name": "floor", "shape": "half-plane", "fixed": true},
				{"name": "ball", "shape": "disc", "radius": 0.02, "mass": 1, "position": [0, %.17g]}],
					"pairs": [{"a": "ball", "b": "floor", "eps_n": 0.5}]},
				"duration": 0.5, "engine": {"kind": "fixed-step", "step": 1e-4, "positions": %v}, "outputs": {"every": 0.01}}`, height, positions)
			if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, _, err := configs.LoadContactRun(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := contactRunOf(context.Background(), path, cfg)
			if err != nil {
				t.Fatal(err)
			}
			fall := math.Sqrt(2 * (height - 0.02) / 9.81)
			rebound += (s.u[1] + 9.81*(0.5-fall)) / (9.81 * fall) / runs
			if strings.Contains(strings.Join(s.notes(), "; "), "larger by about 0.1") {
				said++
			}
		}
		if want, tol, all := map[bool]float64{true: 0.5, false: 0.6}[positions], 0.02,
			map[bool]int{false: runs}[positions]; math.Abs(rebound-want) > tol || said != all {
			t.Errorf("positions: %v: rebounds with %g on the mean, want %g; said %d of %d times", positions, rebound, want, said, runs)
		}
	}
}
