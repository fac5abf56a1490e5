package axis

import (
	"encoding/json"
	"math"
	"os/exec"
	"strings"
	"testing"

	"hilrig/internal/peer"
)

// servoPeer runs the same loop in SciPy, continuous between the samples.
func servoPeer(t *testing.T, c contact, vs, lag float64, ctl *Controller, ref []float64) (x, u []float64) {
	t.Helper()
	python := peer.Python(t, "scipy")
	way := func(s side) map[string]float64 { return map[string]float64{"fc": s.fc, "rise": s.rise, "s2": s.s2} }
	in, err := json.Marshal(map[string]any{
		"h": 1e-3, "ref": ref, "lag": lag, "u0": 0, "controller": ctl,
		"contact": map[string]any{"m": c.m, "sigma0": c.sigma0, "sigma1": c.sigma1, "vs": vs, "offset": c.offset, "plus": way(c.plus), "minus": way(c.minus)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/servo.py")
	cmd.Stdin = strings.NewReader(string(in))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var out struct{ X, U []float64 }
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out.X, out.U
}

// The loop agrees with the continuous solution, the better the finer its parts: held commands, their lag, both directions,
// sticking and creeping included.
func TestLoopAgainstContinuousSolution(t *testing.T) {
	ref := sweep(0.6)
	for k := 350; k < len(ref); k++ { // a stop: the mass creeps into rest
		ref[k] = ref[350]
	}
	ctl := empsController()
	slow := *ctl
	slow.Mean, slow.Delay = 3, 1
	for _, c := range []struct {
		name     string
		ctl      *Controller
		lag      float64 // s
		sigma0   float64 // N/m
		first    float64 // N, rms of the command at one part
		improves float64 // with four parts, at least so many times
	}{
		{"bristle", ctl, 0, 8e5, 0.1, 3},
		{"bristle, late command", ctl, 0.4e-3, 8e5, 0.1, 3},
		{"bristle, late velocity", &slow, 0.25e-3, 8e5, 0.1, 3},
		{"static", ctl, 0, 0, 0.05, 3},
		// a jump inside a step moves the position by up to h²·Δu/8M, which the mean over the window does not see
		{"static, late command", ctl, 0.4e-3, 0, 0.2, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			const vs = 0.008
			at := contact{m: 60, plus: side{15, 5, 160}, minus: side{18, 4, 220}, offset: 2, bristle: c.sigma0 > 0, sigma0: c.sigma0, sigma1: 2500, overVs: 1 / vs}
			if !at.bristle {
				at.plus.rise, at.minus.rise = 0, 0
			}
			x, u := servoPeer(t, at, vs, c.lag, c.ctl, ref)
			n := len(ref)
			var miss []float64
			for _, parts := range []int{1, 4} {
				k := track{h: 1e-3, reference: ref, force: make([]float64, n), asked: u, ctl: *c.ctl, closed: true, pad: c.ctl.Mean + c.ctl.Delay, u: make([]float64, n), reach: 1}
				k.x = make([]float64, n+k.pad+1)
				w := make([]window, parts)
				windows(w, c.lag/k.h, false)
				m := k.begin(&at, start{x: ref[0]}, parts)
				if end := k.run(&at, &m, w, 0, n); end != n {
					t.Fatalf("ends at %d", end)
				}
				var e, all float64
				for i := range u {
					e, all = e+(k.u[i]-u[i])*(k.u[i]-u[i]), all+u[i]*u[i]
				}
				e, all = math.Sqrt(e/float64(n)), math.Sqrt(all/float64(n))
				t.Logf("%d parts: commands differ by %.4f N rms of %.1f N, last positions by %.2g m", parts, e, all, k.x[k.pad+n-1]-x[n-1])
				miss = append(miss, e)
			}
			if miss[0] > c.first || miss[1]*c.improves > miss[0] {
				t.Errorf("commands differ by %.4f N with one part, %.4f N with four; wanted at most %g N and %g times less", miss[0], miss[1], c.first, c.improves)
			}
		})
	}
}
