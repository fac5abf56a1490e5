//go:build unix

package identify

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/engine/peer"
	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/independent"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

var rival = flag.Bool("rival", false, "measure the everyday fit against SciPy on a numba kernel")

// everydayPlan is the fit of 10 000 rows of velocity that docs/evidence/identify-speed.md speaks of: what hil identify runs with
// method lm and law lugre.
func everydayPlan(substeps int) (Plan, *record.Record, map[string]float64) {
	rec, truth := apart{1e4, 100, 0.05}.driven(10000, 1, independent.Sensors{Position: 1e-6, Velocity: 2e-4})
	return Plan{Methods: Chain{"lm"}, Model: axis.Spec{Law: "lugre", Output: axis.Velocity, Scheme: friction.Midpoint, Substeps: substeps},
		Workers: 1}, rec, truth
}

// used is the time of processors so far, s.
func used() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// simulationError is the rms, m/s, by which steps of n parts of a sample are off at the truth.
func simulationError(t *testing.T, n int) float64 {
	var y [2][]float64
	for i, parts := range []int{n, 64} {
		plan, rec, truth := everydayPlan(parts)
		m, err := axis.New(plan.Model, []*record.Record{rec})
		if err != nil {
			t.Fatal(err)
		}
		params := m.Params()
		for k := range params {
			p := &params[k]
			if x, ok := truth[p.Name]; ok {
				p.Value, p.Lo, p.Hi = x, math.Min(p.Lo, x), math.Max(p.Hi, x)
			}
			p.Fixed = true
		}
		p, err := m.Problem(params)
		if err != nil {
			t.Fatal(err)
		}
		y[i] = make([]float64, p.Rows)
		p.NewEvaluator().Residuals(nil, y[i])
	}
	for k := range y[1] {
		y[1][k] -= y[0][k]
	}
	return numeric.RMS(y[1])
}

// TestEverydaySpeed prints what the everyday fit costs with all that hil identify does, and what least_squares of SciPy costs
// on the same record with two steps in a sample, in turn:
//
//	go test ./identify -run EverydaySpeed -v -args -rival
func TestEverydaySpeed(t *testing.T) {
	if !*rival {
		t.Skip("a measurement: asked for with -rival")
	}
	peer.Python(t, "scipy.optimize", "numba")
	plan, rec, truth := everydayPlan(0)
	names := []string{"M", "sigma0", "sigma1", "sigma2", "Fc", "Fs", "vs"}
	of := map[string][]float64{}
	parts, off := 0, 0.0
	for range 5 {
		begin := used()
		mark, phase := begin, "reading, draws and descents"
		r, err := Run(t.Context(), plan, Records{Fit: []*record.Record{rec}}, nil, func(p fit.Progress) {
			now := used()
			if p.Phase == "checks of the record" || strings.HasPrefix(p.Phase, "what else") {
				of[phase] = append(of[phase], now-mark)
				mark, phase = now, p.Phase
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		of[phase] = append(of[phase], used()-mark)
		of["whole"] = append(of["whole"], used()-begin)
		parts = r.Steps.PerSample

		if off == 0 {
			off = simulationError(t, parts)
			t.Logf("error of our steps %.3g m/s, %d in a sample", off, parts)
		}
		task := map[string]any{"error": off, "parts": 2} // enough: at the truth the rest is the noise
		var lo, hi, made, one []float64
		for i, name := range names {
			p, _ := r.Param(name)
			lo, hi, made = append(lo, math.Max(*p.Min, 1e-6**p.Max)), append(hi, *p.Max), append(made, truth[name])
			one = append(one, truth[name]*[]float64{1.1, 0.6, 1.7, 0.5, 1.2, 0.8, 2}[i])
		}
		starts := [][]float64{one}
		for _, s := range r.Stages[0].Extra["starts"].([]fit.Start) {
			if s.Cost < 1.1*r.Stages[0].Cost { // in a wrong valley trf runs to its limit, for half a minute
				starts = append(starts, s.InitialTheta)
			}
		}
		task["finer"], task["lo"], task["hi"], task["truth"] = starts, lo, hi, made
		in, err := json.Marshal(map[string]any{"dt": rec.Dt, "u": rec.Force, "y": rec.Velocity, "m": 1, "offset": 0, "lo": lo[1:], "hi": hi[1:],
			"tasks": []any{task}})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/usr/bin/python3", "axis/testdata/rival.py")
		cmd.Stdin = strings.NewReader(string(in))
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Descended []struct {
				Costs, CPUs []float64
				Thetas      [][]float64
				Error       float64
				Parts       int
			}
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		d, sum, own := got.Descended[0], 0.0, 2*r.Stages[0].Cost
		for i, c := range d.CPUs {
			if i > 0 {
				sum += c
			}
			t.Logf("trf from %.3g: %.0f ms, cost %.6g (ours %.6g) at %.5g", starts[i], 1e3*c, d.Costs[i], own, d.Thetas[i])
		}
		t.Logf("error of the rival's steps %.3g m/s, %d in a sample", d.Error, d.Parts)
		of["trf, one start"] = append(of["trf, one start"], d.CPUs[0])
		of["trf, our starts"] = append(of["trf, our starts"], sum)
	}
	for _, k := range slices.Sorted(func(yield func(string) bool) {
		for k := range of {
			if !yield(k) {
				return
			}
		}
	}) {
		fmt.Printf("%-45s %6.0f ms\n", k, 1e3*numeric.Median(of[k]))
	}
}

// TestRegressSpeed prints what a regression of a long CSV file costs with reading and all that hil identify does, and what numpy takes
// for reading, filtering and solving, in turn. Numbers with all their digits, as a program writes them, and with the digits of an
// instrument:
//
//	go test ./identify -run RegressSpeed -v -args -rival
func TestRegressSpeed(t *testing.T) {
	if !*rival {
		t.Skip("a measurement: asked for with -rival")
	}
	python := peer.Python(t, "numpy", "scipy.signal")
	for _, c := range []struct{ digits, format string }{{"all digits", "%.3f,%.17g,%.17g\n"}, {"9 and 6 decimals", "%.3f,%.9f,%.6f\n"}} {
		path := longServo(t, 2_000_000, c.format)
		var own, numpy, ratio []float64
		for range 5 {
			begin := used()
			recs, err := record.Read(path, record.Mapping{Time: record.Column{Name: "t", Unit: "s"}, Position: record.Column{Name: "x", Unit: "m"},
				Force: record.Column{Name: "f", Unit: "N"}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Run(t.Context(), Plan{Methods: Chain{"regress"}, Regress: linear.DefaultSpec()}, Records{Fit: recs}, nil, nil); err != nil {
				t.Fatal(err)
			}
			own = append(own, used()-begin)
			cmd := exec.Command(python, "linear/testdata/regress.py", path)
			cmd.Env = append(cmd.Environ(), "OPENBLAS_NUM_THREADS=1")
			text, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			took, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
			if err != nil {
				t.Fatal(err)
			}
			numpy, ratio = append(numpy, took), append(ratio, own[len(own)-1]/took)
		}
		fmt.Printf("%-20s %.2f s, numpy %.2f s, ratio %.2f\n", c.digits, numeric.Median(own), numeric.Median(numpy), numeric.Median(ratio))
	}
}

// longServo writes rows of time, position and force of 12 kg on Coulomb and viscous friction at 1 kHz, and gives the path.
func longServo(t *testing.T, rows int, format string) string {
	path := filepath.Join(t.TempDir(), "long.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, rng := bufio.NewWriter(f), rand.New(rand.NewPCG(1, 1))
	fmt.Fprintln(w, "t,x,f")
	for k := range rows {
		s, x, v, a := float64(k)*1e-3, 0.0, 0.0, 0.0
		for i, part := range [][2]float64{{0.1, 0.7}, {0.05, 1.9}, {0.01, 5.3}} {
			sin, cos := math.Sincos(part[1]*s + float64(i))
			x, v, a = x+part[0]*sin, v+part[0]*part[1]*cos, a-part[0]*part[1]*part[1]*sin
		}
		fmt.Fprintf(w, format, s, x+1e-6*rng.NormFloat64(), 12*a+3*v+math.Copysign(4, v)+0.5+0.05*rng.NormFloat64())
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return path
}

// lackings are what the everyday record may hold that the model lacks.
var lackings = []struct {
	name string
	add  func(r *record.Record)
}{
	{"nothing", func(r *record.Record) {}},
	{"cogging of a tenth of the force", func(r *record.Record) {
		mean := 0.0
		for _, x := range r.Force {
			mean += math.Abs(x) / float64(len(r.Force))
		}
		for k := range r.Force {
			r.Force[k] += 0.1 * mean * math.Sin(2*math.Pi*r.Position[k]/0.01)
		}
	}},
	{"quadratic drag", func(r *record.Record) {
		for k := range r.Force {
			r.Force[k] += 0.3 * r.Velocity[k] * math.Abs(r.Velocity[k])
		}
	}},
	{"a tenth of the gain in one direction", func(r *record.Record) {
		for k := range r.Force {
			r.Force[k] *= 1 + 0.1*math.Max(0, math.Copysign(1, r.Velocity[k]))
		}
	}},
}

// TestMissingSpeed prints what processor and wall the everyday fit takes where the record holds something that the model lacks, and how many times as long
// that is as where it lacks nothing, in turn:
//
//	go test ./identify -run MissingSpeed -v -args -rival
func TestMissingSpeed(t *testing.T) {
	if !*rival {
		t.Skip("a measurement: asked for with -rival")
	}
	times, walls := make([][]float64, len(lackings)), make([][]float64, len(lackings))
	verdicts := make([]Verdict, len(lackings))
	for range 3 {
		for i, c := range lackings {
			plan, rec, _ := everydayPlan(0)
			c.add(rec)
			begin, start := used(), time.Now()
			r, err := Run(t.Context(), plan, Records{Fit: []*record.Record{rec}}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			times[i], walls[i], verdicts[i] = append(times[i], used()-begin), append(walls[i], time.Since(start).Seconds()), r.Verdict
		}
	}
	for i, c := range lackings {
		own, wall := numeric.Median(times[i]), numeric.Median(walls[i])
		fmt.Printf("%-40s %5.0f ms, %.1f times; on the wall %5.0f ms, %.1f times, %v\n", c.name, 1e3*own, own/numeric.Median(times[0]),
			1e3*wall, wall/numeric.Median(walls[0]), verdicts[i])
	}
}

// A record that lacks something that no contact makes is searched no further than two descents.
func TestMissingEndsTheSearch(t *testing.T) {
	for _, c := range lackings[2:] {
		plan, rec, _ := everydayPlan(0)
		c.add(rec)
		r, err := Run(t.Context(), plan, Records{Fit: []*record.Record{rec}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(r.Stages[0].Extra["starts"].([]fit.Start)); n != 2 || r.Verdict == Identified {
			t.Errorf("%s: %d descents, %v", c.name, n, r.Verdict)
		}
	}
}

// A descent of the position that begins where the velocity ends reaches the least cost, whatever is missing; draws of the position end in
// valleys of their own.
func TestPositionBeginsWhereTheVelocityEnds(t *testing.T) {
	for i, c := range lackings {
		plan, rec, _ := everydayPlan(0)
		plan.Model.Output = axis.Position
		c.add(rec)
		r, err := Run(t.Context(), plan, Records{Fit: []*record.Record{rec}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		starts := r.Stages[0].Extra["starts"].([]fit.Start)
		if first := starts[0].Cost; first > 1.2*r.Stages[0].Cost || (r.Verdict == Identified) != (i == 0) {
			t.Errorf("%s: %v, the first of %d descents ended at %.3g, the fit at %.3g", c.name, r.Verdict, len(starts), first, r.Stages[0].Cost)
		}
	}
}

// However many workers search what a fit leaves over, they find the same to the last bit.
func TestWorkersFindTheSame(t *testing.T) {
	var first []byte
	for _, workers := range []int{1, 3} {
		plan, rec, _ := everydayPlan(0)
		plan.Workers = workers
		lackings[1].add(rec)
		r, err := Run(t.Context(), plan, Records{Fit: []*record.Record{rec}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Unmodelled) == 0 {
			t.Error("nothing was found")
		}
		text, err := json.Marshal([]any{r.Reasons, r.Parameters, r.Unmodelled, r.Sensitivity})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text
		} else if !bytes.Equal(text, first) {
			t.Errorf("1 worker found\n%s\n%d found\n%s", first, workers, text)
		}
	}
}

// BenchmarkMissing reports how many times as long a fit takes where its verdict is below identified than where it is identified, and the
// milliseconds of processor time of both: medians over the records of the suite.
func BenchmarkMissing(b *testing.B) {
	for _, w := range append([]way{everyday}, ways...) {
		if w.slow || w.strict {
			continue
		}
		b.Run(w.name, func(b *testing.B) {
			var took [2][]float64
			for b.Loop() {
				for i, k := range kinds {
					if !slices.Contains(some, k.name) || k.name == "short record" {
						continue
					}
					bench := newBench(uint64(i+1), w.seconds)
					if w.prepare != nil {
						w.prepare(bench)
					}
					t := k.make(bench)
					if w.plan != nil {
						w.plan(bench, &t.plan)
					}
					begin, at := used(), 0
					if attempt(k, t).verdict == Identified {
						at = 1
					}
					took[at] = append(took[at], used()-begin)
				}
			}
			no, yes := numeric.Median(took[0]), numeric.Median(took[1])
			b.ReportMetric(no/yes, "no/yes")
			b.ReportMetric(1e3*no, "ms-no")
			b.ReportMetric(1e3*yes, "ms-yes")
		})
	}
}
