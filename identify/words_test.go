package identify

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"hilrig/engine/peer"
	"hilrig/identify/axis"
	"hilrig/identify/record"
)

// The word of a parameter goes by the interval that is printed, whatever widened it.
func TestWordsGoByTheInterval(t *testing.T) {
	wide := map[string]func(p *Parameter, by float64){
		"what the residual shows": func(p *Parameter, by float64) { p.shownMove = [2]float64{0, by} },
		"what is possible, down":  func(p *Parameter, by float64) { p.possibleMove = [2]float64{-by, 0} },
		"what was assumed":        func(p *Parameter, by float64) { p.assumed = [2]float64{-by, by} },
		"rounding":                func(p *Parameter, by float64) { p.rounded = by },
		"known errors":            func(p *Parameter, by float64) { p.givenErr = by / 1.96 },
		"chance": func(p *Parameter, by float64) {
			se := by / 2
			p.StdErr, p.CI95 = &se, &[2]float64{p.Value - by, p.Value + by}
		},
	}
	for name, widen := range wide {
		for _, c := range []struct {
			share float64
			want  string
		}{{0.19, "identified"}, {0.21, "weakly identified"}, {0.99, "weakly identified"}, {1.01, "not identifiable"}} {
			for _, sign := range []float64{1, -1} { // a number whose sign says nothing
				r := judged(func(r *Result) {
					p, se := &r.Parameters[0], 1e-9
					p.Name, p.Value, p.StdErr, p.CI95 = "sigma1", 4*sign, &se, &[2]float64{4*sign - 2e-9, 4*sign + 2e-9}
					widen(p, 4*c.share)
				})
				if w := r.Parameters[0].Worth; w != c.want {
					t.Errorf("%s, half of the interval %g of %g: %s, want %s (%v)", name, c.share, 4*sign, w, c.want, r.Reasons)
				}
				if possible := strings.Contains(name, "possible"); (r.Verdict == Identified) != (c.want == "identified" || possible) {
					t.Errorf("%s, %g: %s %v", name, c.share, r.Verdict, r.Reasons)
				}
			}
		}
	}
	for _, c := range []struct {
		half, share float64 // of a parameter that makes share % of the force
		want        string
		verdict     Verdict
	}{{0.5, 3, "weakly identified", Identified}, {0.5, 5, "weakly identified", Weak}, {0.15, 50, "identified", Identified},
		{1.5, 1, "weakly identified", Identified}} {
		r := judged(func(r *Result) {
			p, se, share := &r.Parameters[0], c.half/2, c.share
			p.Name, p.StdErr, p.CI95, p.Share = "Fv", &se, &[2]float64{1 - c.half, 1 + c.half}, &share
		})
		if r.Parameters[0].Worth != c.want || r.Verdict != c.verdict {
			t.Errorf("%+v: %s %s %v", c, r.Parameters[0].Worth, r.Verdict, r.Reasons)
		}
	}
}

// No parameter of a measured axis is called identified with an interval of more than a fifth.
func TestWordsOfAMeasuredAxis(t *testing.T) {
	recs, err := record.Read(peer.SharedRecord(t, "emps/emps_estimation.csv.gz"), record.Mapping{
		// N/V
		Time: record.Column{Name: "time_s"}, Position: record.Column{Name: "position_m"},
		Force: record.Column{Name: "command_V", Scale: 35.15065188248547},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := attempt(kind{}, newBench(1, 1).trial(recs...)).result
	for _, p := range r.Parameters {
		half := math.Max(p.CI[1]-p.Value, p.Value-p.CI[0])
		if wide := half > 0.2*math.Abs(p.Value); wide && p.Worth == "identified" && p.Name != "offset" && p.Name != "lag" {
			t.Errorf("%s %.4g in %.4g is %s", p.Name, p.Value, *p.CI, p.Worth)
		}
	}
}

// A force of one level to either side, whose step nobody knows, may be off by half: the intervals hold that, and no value is called
// identified.
func TestOneLevelOfForce(t *testing.T) {
	for _, w := range []struct {
		methods Chain
		way     func(p *Plan)
	}{
		{Chain{"regress"}, func(*Plan) {}},
		{Chain{"regress"}, func(p *Plan) { p.Form = "weak" }},
		{Chain{"lm"}, free},
		{Chain{"aep", "lm"}, func(p *Plan) { free(p); p.AEP.Members, p.AEP.Generations = 12, 10 }},
	} {
		for _, actual := range []float64{0.62, 1.45} { // of the recorded level
			b := newBench(11, 4)
			b.sensors.Force = 0
			tr := drivetrain{}.record(b, b.square(3.3*b.axis.M*actual))
			for k, f := range tr.recs[0].Force {
				tr.recs[0].Force[k] = math.Copysign(3.3*b.axis.M, f)
			}
			tr.plan.Methods = w.methods
			w.way(&tr.plan)
			o := attempt(kind{}, tr)
			if o.result == nil {
				t.Fatalf("%v: %s", w.methods, o.reason)
			}
			for _, name := range []string{"M", "Fc", "Fv"} {
				p, ok := o.result.Param(name)
				if !ok || p.CI == nil {
					continue
				}
				truth := tr.truth[name]
				if p.Worth == "identified" || p.CI[0] > truth || p.CI[1] < truth {
					t.Errorf("%v, level %g of what is recorded: %s %.4g in %.4g for %.4g is %s: %v", w.methods, actual, name, p.Value, *p.CI, truth,
						p.Worth, o.result.Because())
				}
				if !strings.Contains(fmt.Sprint(p.Budget), "rounding of the force") {
					t.Errorf("%v: %s: no rounding in %v", w.methods, name, p.Budget)
				}
			}
		}
	}
}

// free lets the recorded force drive the model.
func free(p *Plan) {
	p.Model = axis.Spec{Law: "coulomb", Terms: []string{"viscous", "offset"}, Drive: axis.Force, Output: axis.Position, Initial: axis.Free}
}
