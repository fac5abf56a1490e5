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

// Bodies that hop by a micrometre at rest close no faster than their weight makes them: a triangle beside a disc that rolls away, and one
// that a disc leans on. The results are those of the event-driven engine, and nothing is said.
func TestHoppingAtRestIsNoDoubt(t *testing.T) {
	for _, scene := range []string{
		`"bodies": [{"name": "f", "fixed": true, "shape": "half-plane"},
			{"name": "b1", "mass": 0.4014, "shape": "polygon", "points": [[0.0331, -0.004], [-0.0171, 0.0188], [-0.016, -0.0147]],
				"position": [0.2521, 0.0183], "angle": -0.4589},
			{"name": "s0", "mass": 0.5653, "shape": "disc", "radius": 0.0113, "position": [0.0635, 0.086], "velocity": [3.1281, -1.0809],
				"spin": 13.6728},
			{"name": "s1", "mass": 0.1881, "shape": "polygon", "points": [[0.0182, -4.931787608963975e-05], [-0.007, 0.016], [-0.0112, -0.016]],
				"angle": -2.8674, "position": [-0.0484, 0.4129], "velocity": [0.1456, -1.3952], "spin": 11.7906}],
		"pairs": [{"a": "b1", "b": "f", "mu": 0.35}, {"a": "s0", "b": "f", "eps_n": 0.25}, {"a": "s0", "b": "b1", "mu": 0.35, "eps_n": 0.5},
			{"a": "s1", "b": "f", "mu": 0.6}, {"a": "s1", "b": "b1", "mu": 0.6, "eps_n": 0.25}, {"a": "s1", "b": "s0", "mu": 0.1, "eps_n": 0.85}]},
		"duration": 0.21, "engine": {"kind": "fixed-step", "step": 1e-4}, "outputs": {"every": 0.0105}`,
		`"bodies": [{"name": "f", "fixed": true, "shape": "half-plane"},
			{"name": "b0", "mass": 0.2826218321841818, "shape": "polygon", "points": [[0.04254727914193159, -0.011419213904345006],
				[-0.022410446954797908, 0.0406791164629948], [-0.020136832187133684, -0.02925990255864979]],
				"position": [-0.02612918866372898, 0.02406032851084375], "angle": 1.4293622026962578,
				"velocity": [-0.15909783341909556, -0.1727780775530355], "spin": 6.612454744638741},
			{"name": "s0", "mass": 0.12578483692893508, "shape": "disc", "radius": 0.01172859401776024,
				"position": [-0.10730376703698594, 0.1264169236206055], "velocity": [0.9970290765755607, -1.0345937794594842],
				"spin": -12.906945872418977}],
		"pairs": [{"a": "b0", "b": "f", "mu": 0.1, "eps_n": 0.5}, {"a": "s0", "b": "f", "eps_n": 0.85}, {"a": "s0", "b": "b0", "mu": 1.2}]},
		"duration": 0.12, "engine": {"kind": "fixed-step", "step": 1e-4, "impact": "poisson"}, "outputs": {"every": 0.006}`,
	} {
		s := runOf(t, `{"version": 1, "name": "hops", "system": "scene", "scene": {`+scene+`}`)
		if says := append(s.doubts(), s.notes()...); len(says) > 0 {
			t.Errorf("%s: %q", s.coords[0].Name, says)
		}
	}
}

// A box strikes a plate on a line: what turns is rounding, which differs from engine to engine and is no difference.
func TestRoundingIsNoDifference(t *testing.T) {
	for k := range 80 {
		size, thick, speed := 0.001+0.0002371*float64(k), 0.0003+0.00005713*float64(k), 1+0.37*float64(k)
		s := runOf(t, fmt.Sprintf(`{"version": 1, "name": "bullet", "system": "scene", "scene": {"gravity": [0, 0], "bodies": [
			{"name": "plate", "shape": "box", "size": [%g, 0.2], "mass": %g},
			{"name": "bullet", "shape": "box", "size": [%g, %g], "mass": 0.3, "position": [-0.1, 0], "velocity": [%g, 0]}],
			"pairs": [{"a": "bullet", "b": "plate", "mu": 0.3, "eps_n": 0.37}]},
			"duration": %g, "engine": {"kind": "fixed-step", "step": 1e-5}, "outputs": {"every": %g}}`, thick, 0.1+0.9*float64(k%7), size, size,
			speed, 1e-4*math.Ceil(2000/speed), 1e-5*math.Ceil(2000/speed)))
		if says := append(s.doubts(), s.notes()...); len(says) > 0 {
			t.Errorf("%d: %q", k, says)
		}
	}
}

// A box strikes a thin plate with a corner, so fast that a step may miss it: where the event-driven engine has the same there is no doubt.
// It leaves with v − p/m, and turns with p·r/J, p = (1 + ε)·v/(1/m + r²/J), r the lever of the corner.
func TestLongStepsThatFindTheContactAreNoDoubt(t *testing.T) {
	const m, eps, thick, step = 0.03, 0.2, 8e-4, 1e-5
	long := 0.0
	for k := range 20 {
		a, b, angle, speed := 0.002+1e-4*float64(k), 0.0018, -0.35-0.03*float64(k), 60+3.1*float64(k)
		s := runOf(t, fmt.Sprintf(`{"version": 1, "name": "bullet", "system": "scene", "scene": {"gravity": [0, 0], "bodies": [
			{"name": "plate", "shape": "box", "size": [%g, 0.08], "fixed": true},
			{"name": "bullet", "shape": "box", "size": [%g, %g], "mass": %g, "position": [-0.05, -0.01], "velocity": [%g, 0], "angle": %g}],
			"pairs": [{"a": "bullet", "b": "plate", "eps_n": %g}]},
			"duration": 1e-3, "engine": {"kind": "fixed-step", "step": %g}, "outputs": {"every": 1e-4}}`,
			thick, a, b, m, speed, angle, eps, step))
		sin, cos := math.Sincos(angle)
		r, j := sin*a/2+cos*b/2, m*(a*a+b*b)/12
		p := (1 + eps) * speed / (1/m + r*r/j)
		v := speed - p/m
		row := s.rows[len(s.rows)-1]
		right := math.Abs(row.u[0]-v) < 1e-6*speed && math.Abs(math.Abs(row.u[2])-math.Abs(p*r/j)) < 1e-6*p*math.Abs(r)/j
		says := append(s.doubts(), s.notes()...)
		long += min(1, s.counts()["steps_too_long"])
		if right != (len(says) == 0) {
			t.Errorf("%d: leaves with %.9g m/s and %.9g rad/s, want %.9g and %.9g: %q", k, row.u[0], row.u[2], v, p*r/j, says)
		}
	}
	if long < 3 {
		t.Errorf("%g runs have steps that may miss the plate", long)
	}
}
