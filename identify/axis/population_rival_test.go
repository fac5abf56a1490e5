//go:build unix

package axis

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/engine/population"
	"hilrig/identify/fit"
)

var rival = flag.Bool("rival", false, "measure a search and a fit against SciPy on a numba kernel")

// rivalResult is what testdata/de_numba.py writes.
type rivalResult struct {
	Seconds     float64   `json:"seconds"`
	CPU         float64   `json:"cpu"`
	Cost        float64   `json:"cost"`
	Simulations int       `json:"simulations"`
	Theta       []float64 `json:"theta"`
}

// watch measures s on the wall and s of processors, the latter hardly disturbed by whatever else the machine does.
type watch struct{ wall, cpu float64 }

func startWatch() watch { return watch{}.since() }

func (w watch) since() watch {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	now := watch{float64(time.Now().UnixNano()) / 1e9, float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9}
	return watch{now.wall - w.wall, now.cpu - w.cpu}
}

// TestAgainstDifferentialEvolution prints how much sooner AEP of 100 members and 200 generations on 10 000 samples is done
// than SciPy's differential evolution, and how long a local fit takes:
//
//	go test ./identify/axis -run DifferentialEvolution -v -args -rival
//
// Both sides run in turn on the same machine. AEP uses two workers, and one.
func TestAgainstDifferentialEvolution(t *testing.T) {
	if !*rival {
		t.Skip("a measurement: asked for with -rival")
	}
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import scipy.optimize, numba").Run() != nil {
		t.Skip("no SciPy with numba here (Debian: python3-scipy, python3-numba): nothing to compare with")
	}
	rec := populationRecord(t, 10000, 2e-4, 1)
	params := populationParams(5, populationOff)
	free, _ := fit.Free(params)
	in := map[string]any{"dt": rec.Dt, "u": rec.Force, "y": rec.Velocity, "m": populationTruth["M"], "offset": populationTruth["offset"],
		"members": 100, "generations": 200, "seed": 1}
	var lo, hi []float64
	for _, p := range free {
		lo, hi = append(lo, p.Lo), append(hi, p.Hi)
	}
	in["lo"], in["hi"] = lo, hi
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	de := func() (r rivalResult) {
		cmd := exec.Command(python, "testdata/de_numba.py")
		cmd.Stdin = strings.NewReader(string(data))
		var stderr strings.Builder
		cmd.Stderr = &stderr
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr.String())
		}
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		return r
	}

	pr, err := PopulationProblem(rec, Velocity, params)
	if err != nil {
		t.Fatal(err)
	}
	rms := func(cost float64) float64 { return math.Sqrt(cost / float64(rec.Len())) }
	for turn := range 3 {
		peer := de()
		fmt.Printf("SciPy differential evolution: %.2f s, processor %.2f s, %d simulations, rms %.6g m/s\n", peer.Seconds, peer.CPU, peer.Simulations, rms(peer.Cost))
		for _, path := range population.Paths() {
			on := populationOn(t, pr, path)
			var theta [][]float64
			for _, workers := range []int{1, 2} {
				begin := startWatch()
				pop, err := fit.AEP{Members: 100, Generations: 200, Workers: workers, Seed: uint64(turn)}.Search(context.Background(), on, nil)
				took := begin.since()
				if err != nil {
					t.Fatal(err)
				}
				theta, _ = pop.Survivors(3)
				_, cost := pop.Best()
				fmt.Printf("  AEP, %s, %d workers: %.3f s, ratio %.1f, processor %.3f s, ratio %.1f, rms %.6g m/s\n",
					path, workers, took.wall, peer.Seconds/took.wall, took.cpu, peer.CPU/took.cpu, rms(cost))
				if ratio := peer.CPU / took.cpu; path != population.Portable && ratio < 12 {
					t.Errorf("%s: ratio %.1f, want at least 12", path, ratio)
				}
			}

			// what the search is for: a start of a local fit
			begin, best := startWatch(), math.Inf(1)
			for _, th := range theta {
				q := *on
				q.Params = slices.Clone(on.Params)
				for j := range th {
					q.Params[j].Value = th[j]
				}
				s, err := fit.LM{Workers: 1}.Fit(context.Background(), &q, nil)
				if err != nil {
					t.Fatal(err)
				}
				best = min(best, 2*s.Cost)
			}
			fmt.Printf("    and three local fits from there: processor %.3f s more, rms %.6g m/s\n", begin.since().cpu, rms(best))

			var s *fit.Solution
			wall, cpu := math.Inf(1), math.Inf(1)
			for range 20 {
				begin := startWatch()
				if s, err = (fit.LM{}).Fit(context.Background(), on, nil); err != nil {
					t.Fatal(err)
				}
				took := begin.since()
				wall, cpu = min(wall, took.wall), min(cpu, took.cpu)
			}
			fmt.Printf("  local fit with covariances, %s: %.1f ms, processor %.1f ms, best of twenty, %d steps, %d simulations, rms %.6g m/s\n",
				path, 1e3*wall, 1e3*cpu, s.Iterations, s.Evaluations, rms(2*s.Cost))
		}
	}
}
