package identify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"hilrig/identify/fit"
)

// outcome of a trial.
type outcome struct {
	verdict Verdict
	wrong   []string // parameters called identified under such a verdict, and wrong: see clearly and off
	reason  string
	result  *Result
}

// A value that is identified is wrong if the truth lies more than twice the half of its 95 % interval away (chance
// does that once in ten thousand), and by more than off of the truth (for an offset: of the friction level).
const (
	clearly = 2.0
	off     = 0.03
)

// attempt fits a trial.
func attempt(k kind, t trial) outcome {
	r, err := Run(context.Background(), t.plan, Records{Fit: t.recs}, nil, nil)
	if err != nil {
		return outcome{verdict: "refused", reason: err.Error()}
	}
	o := outcome{verdict: r.Verdict, result: r}
	if len(r.Reasons) > 0 {
		o.reason = r.Reasons[0].Text
	}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		truth, known := t.truth[p.Name]
		if p.Fixed || !known {
			continue
		}
		size := math.Abs(truth)
		if p.Name == "offset" {
			size = math.Abs(t.truth["Fc"])
		}
		ci := p.CI // what JSON calls interval
		if is := r.Interval(p); (ci == nil) != (is == nil) || ci != nil && *ci != *is {
			o.wrong = append(o.wrong, fmt.Sprintf("%s: JSON has the interval %v, the verdict goes by %v", p.Name, ci, is))
		}
		if ci == nil || math.Abs(truth-(ci[0]+ci[1])/2) <= clearly*(ci[1]-ci[0])/2 || math.Abs(p.Value-truth) < off*size {
			continue
		}
		if r.Verdict == Identified && p.Worth == string(Identified) {
			o.wrong = append(o.wrong, fmt.Sprintf("%s %+.1f %%", p.Name, 100*(p.Value-truth)/size))
		}
	}
	if k.refuse && r.Verdict == Identified {
		o.wrong = append(o.wrong, "all")
	}
	return o
}

// way is a method by which the records of the suite are fitted.
type way struct {
	name    string
	seconds float64
	longer  map[string]float64      // s, of kinds whose noise takes more to average out
	kinds   []string                // nil: all
	prepare func(b *bench)          // before the record; nil: nothing
	plan    func(b *bench, p *Plan) // nil: the everyday command
	strict  bool                    // no bar of false alarms: a start that is never called identified
	slow    bool
}

// suite runs seeds of every kind and counts.
func suite(t *testing.T, w way, seeds int) (wrong, trials, alarms, clean int) {
	kinds := slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return w.kinds != nil && !slices.Contains(w.kinds, k.name) })
	type job struct{ k, s int }
	jobs := make(chan job)
	out := make([][]outcome, len(kinds))
	for i := range out {
		out[i] = make([]outcome, seeds)
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for j := range jobs {
				b := newBench(uint64(100*j.s+j.k+1), cmp.Or(w.longer[kinds[j.k].name], w.seconds))
				if w.prepare != nil {
					w.prepare(b)
				}
				tr := kinds[j.k].make(b)
				if w.plan != nil {
					w.plan(b, &tr.plan)
				}
				out[j.k][j.s] = attempt(kinds[j.k], tr)
			}
		})
	}
	for k := range kinds {
		for s := range seeds {
			jobs <- job{k, s}
		}
	}
	close(jobs)
	wg.Wait()
	t.Logf("%-34s %5s  %-10s %-6s", "kind", "ident", "weak, rej.", "wrong")
	for k, kd := range kinds {
		ident, bad, why := 0, []string{}, map[string]bool{}
		for _, o := range out[k] {
			trials++
			if o.verdict == Identified {
				ident++
			} else {
				why[short(o.reason)] = true
			}
			if o.wrong != nil {
				wrong++
				bad = append(bad, strings.Join(o.wrong, " "))
			}
			if kd.clean {
				clean++
				if o.verdict != Identified {
					alarms++
				}
			}
		}
		mark := "      "
		if kd.clean {
			mark = "clean "
		}
		reasons := ""
		for w := range why {
			reasons += " | " + w
		}
		t.Logf("%s%-32s %d/%d  wrong %d %v%s", mark, kd.name, ident, seeds, len(bad), bad, reasons)
	}
	t.Logf("%s: confident wrong: %d of %d; false alarms on clean ones: %d of %d", w.name, wrong, trials, alarms, clean)
	return wrong, trials, alarms, clean
}

func short(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > 110 {
		s = s[:110]
	}
	return s
}

// No value of any kind of record is wrong with confidence.
func TestSuiteOfCleanAndFlawedRecords(t *testing.T) {
	count := func(w way) {
		if wrong, trials, _, _ := suite(t, w, 1); wrong > 0 {
			t.Errorf("%s: %d of %d results are wrong under the verdict identified", w.name, wrong, trials)
		}
	}
	wrong, trials, alarms, clean := suite(t, everyday, 1)
	if wrong > 0 {
		t.Errorf("%d of %d results are wrong under the verdict identified", wrong, trials)
	}
	if float64(alarms) > 0.05*float64(clean) {
		t.Errorf("%d of %d clean records are not identified", alarms, clean)
	}
	for _, w := range ways {
		if !w.slow {
			w.kinds = []string{"sines", "quadratic drag", "force acts 4 ms later"} // TestWholeSuite has all
			count(w)
		}
	}
}

// plainParameter is one that is known with the given standard error.
func plainParameter(name string, x, se float64) Parameter {
	return Parameter{Estimate: fit.Estimate{Name: name, Value: x, StdErr: &se, CI95: &[2]float64{x - 2*se, x + 2*se}}}
}

// In a long record the error of a filter is beyond chance. It is no structure of the axis; a drag that moves viscous friction by
// a tenth is.
func TestLongPeriodicRecord(t *testing.T) {
	for _, drag := range []float64{0, 0.05} {
		b := newBench(2, 1000)
		b.ref = func(t float64) float64 {
			return (0.05*math.Sin(math.Pi*t) + 0.02*math.Sin(3*math.Pi*t)) * smoothstep(t/0.3)
		}
		c := drag * b.axis.Friction.Sigma2 / 0.1
		b.axis.Load = func(_, _, v float64) float64 { return c * v * math.Abs(v) }
		o := attempt(kind{}, b.record(nil))
		if o.wrong != nil || (o.verdict == Identified) != (drag == 0) || drag > 0 && !strings.HasPrefix(o.reason, "drag") {
			t.Errorf("drag of %g of the viscous force at 0.1 m/s: %s %v (%s)", drag, o.verdict, o.wrong, o.reason)
		}
	}
}
