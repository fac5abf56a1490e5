package simulate

import (
	"context"
	"fmt"
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
