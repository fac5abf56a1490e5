//go:build unix

package axis

import (
	"encoding/json"
	"math"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/engine/peer"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// rivalTask is one of testdata/rival.py.
type rivalTask struct {
	Evolve      int         `json:"evolve,omitempty"` // members
	Generations int         `json:"generations,omitempty"`
	Seed        int         `json:"seed"`
	Target      float64     `json:"target,omitempty"`
	Descend     [][]float64 `json:"descend,omitempty"`
}

// rivalResult is what it writes.
type rivalResult struct {
	Evolved []struct {
		Seconds     float64 `json:"seconds"`
		CPU         float64 `json:"cpu"`
		Cost        float64 `json:"cost"`
		Simulations int     `json:"simulations"`
	} `json:"evolved"`
	Descended []struct {
		Costs []float64 `json:"costs"`
		CPUs  []float64 `json:"cpus"`
	} `json:"descended"`
}

const python = "/usr/bin/python3"

// needRival skips where there is no SciPy with numba.
func needRival(t *testing.T) {
	t.Helper()
	peer.Python(t, "scipy.optimize", "numba")
}

// ask runs tasks on the record, in the box of the free parameters.
func ask(t *testing.T, rec *record.Record, free []fit.Param, tasks ...rivalTask) (r rivalResult) {
	t.Helper()
	in := map[string]any{"dt": rec.Dt, "u": rec.Force, "y": rec.Velocity, "m": populationTruth["M"], "offset": populationTruth["offset"],
		"tasks": tasks}
	var lo, hi []float64
	for _, p := range free {
		lo, hi = append(lo, p.Lo), append(hi, p.Hi)
	}
	in["lo"], in["hi"] = lo, hi
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/rival.py")
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

// watch measures s on the wall and s of processors, the latter hardly disturbed by whatever else the machine does.
type watch struct{ wall, cpu float64 }

func startWatch() watch { return watch{}.since() }

func (w watch) since() watch {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	now := watch{float64(time.Now().UnixNano()) / 1e9, float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9}
	return watch{now.wall - w.wall, now.cpu - w.cpu}
}

// median of a few measurements.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// The rival simulates the same: least squares of SciPy from the start of the tests ends where ours does.
func TestRivalSolvesTheSameProblem(t *testing.T) {
	needRival(t)
	rec := populationRecord(t, 2000, 2e-4, 1)
	pr, err := PopulationProblem(rec, Velocity, populationParams(5, populationOff))
	if err != nil {
		t.Fatal(err)
	}
	s, err := fit.LM{Steps: []float64{1e-2, 1e-4}}.Fit(t.Context(), pr, nil)
	if err != nil {
		t.Fatal(err)
	}
	var start []float64
	for _, p := range pr.Params {
		start = append(start, p.Value)
	}
	peer := ask(t, rec, pr.Params, rivalTask{Descend: [][]float64{start}})
	if c := peer.Descended[0].Costs[0]; math.Abs(c/(2*s.Cost)-1) > 1e-6 {
		t.Errorf("cost %.9g, SciPy %.9g", 2*s.Cost, c)
	}
}
