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

// lineOfBalls moves three balls of 0.02 m on a line from collision to collision with restitution one half, until end (s).
func lineOfBalls(x, v, m [3]float64, end float64) [3]float64 {
	for t, n := 0.0, 0; n < 1000; n++ {
		next, at := end-t, -1
		for i := range 2 {
			if closing := v[i] - v[i+1]; closing > 1e-9 {
				if d := max(x[i+1]-x[i]-0.02, 0) / closing; d < next {
					next, at = d, i
				}
			}
		}
		for i := range x {
			x[i] += v[i] * next
		}
		if t += next; at < 0 {
			break
		}
		p := 1.5 * (v[at] - v[at+1]) / (1/m[at] + 1/m[at+1])
		v[at], v[at+1] = v[at]-p/m[at], v[at+1]+p/m[at+1]
	}
	return x
}

// Three balls whose blows come from a hundredth of a step to ten steps apart, in either direction: a run that ends elsewhere than blow
// after blow has it says so, and of the runs that are right few do.
func TestBlowsCloseTogetherAreRightOrSaid(t *testing.T) {
	wrong, said, falsely, runs := 0, 0, 0, 0
	for _, middle := range []float64{0.01, 0.2, 5} {
		for k := range 8 {
			for _, side := range []float64{1, -1} {
				later := []float64{1e-6, 5e-6, 2e-5, 4e-5, 8e-5, 1.5e-4, 4e-4, 1e-3}[k] // s
				first := 0.01042
				x, v, m := [3]float64{}, [3]float64{3, 1, 0}, [3]float64{1, middle, 1}
				x[1] = 0.02 + 2*first
				x[2] = x[1] + 0.02 + first + later
				var bodies []string
				for i := range 3 {
					bodies = append(bodies, fmt.Sprintf(`{"name": "b%d", "shape": "disc", "radius": 0.01, "mass": %g,
						"position": [%.17g, 0], "velocity": [%g, 0]}`, i, m[i], side*x[i], side*v[i]))
				}
				path := filepath.Join(t.TempDir(), "balls.json")
				file := fmt.Sprintf(`{"version": 1, "name": "balls", "system": "scene",
					"scene": {"gravity": [0, 0], "bodies": [%s],
					"pairs": [{"a": "b0", "b": "b1", "eps_n": 0.5}, {"a": "b1", "b": "b2", "eps_n": 0.5}]},
					"duration": 0.02, "engine": {"kind": "fixed-step", "step": 1e-4}, "outputs": {"every": 1e-3}}`, strings.Join(bodies, ", "))
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
				want, off := lineOfBalls(x, v, m, 0.02), 0.0
				for i := range 3 {
					off = max(off, math.Abs(side*s.q[3*i]-want[i]))
				}
				says := strings.Join(s.notes(), "; ")
				runs++
				switch {
				case off > 5e-4 && says == "":
					t.Errorf("middle %g kg, %g s apart, side %g: %g m off without a word", middle, later, side, off)
				case off > 5e-4:
					wrong, said = wrong+1, said+1
				case says != "":
					falsely++
				}
			}
		}
	}
	t.Logf("%d runs, %d wrong, %d of them said, %d right and said", runs, wrong, said, falsely)
	if said == 0 || falsely > runs/8 {
		t.Errorf("%d runs: %d wrong and said, %d right and said", runs, said, falsely)
	}
}
