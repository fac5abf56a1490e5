package identify

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"hilrig/engine/peer"
	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// A force that is late or early is measured where the everyday fit can take it out, and named where it cannot.
func TestLateForceIsMeasuredOrNamed(t *testing.T) {
	for _, by := range []int{3, 5, 8, -4, -5, 25, -20} {
		for seed := range uint64(2) {
			tr := plain(func(_ *bench, _ *independent.Trace, d *record.Record) { d.Force = late(d.Force, by) })(newBench(10*seed+4, 10))
			o := attempt(kind{}, tr)
			p, ok := o.result.Param("lag")
			found := ok && math.Abs(p.Value-0.5e-3+1e-3*float64(by)) < 0.05e-3 // a held force acts half a sample after its stamp
			said := strings.Contains(strings.Join(o.result.Because(), " "), "the force fits best")
			if max(by, -by) < 19 && (!found || o.verdict != Identified || o.wrong != nil) || max(by, -by) >= 19 &&
				(!said || o.verdict == Identified) {
				t.Errorf("%d samples, seed %d: lag %+v, %s %v: %v", by, seed, p, o.verdict, o.wrong, o.result.Reasons)
			}
		}
	}
}

// What the model lacks besides is not called a late force.
func TestNoLateForceIsInvented(t *testing.T) {
	for name, load := range map[string]func(b *bench) func(t, x, v float64) float64{
		"cogging": func(b *bench) func(t, x, v float64) float64 {
			return func(_, x, _ float64) float64 { return 0.3 * b.axis.Friction.Fc * math.Sin(x/2.4e-3) }
		},
		"drag": func(b *bench) func(t, x, v float64) float64 {
			return func(_, _, v float64) float64 { return 3 * b.axis.Friction.Sigma2 * v * math.Abs(v) }
		},
	} {
		for seed := range uint64(3) {
			o := attempt(kind{}, loaded(load)(newBench(10*seed+3, 10)))
			for _, l := range o.result.Unmodelled {
				if l.Kind == "late force" && l.Worst != "" {
					t.Errorf("%s, seed %d: %s", name, seed, l.What)
				}
			}
			if p, ok := o.result.Param("lag"); ok && math.Abs(p.Value) > 1.5e-3 {
				t.Errorf("%s, seed %d: lag %g s", name, seed, p.Value)
			}
		}
	}
}

// Friction and zeros of the force that drift are named, whatever parameter they look like.
func TestDriftIsNamed(t *testing.T) {
	for name, spoil := range map[string]func(b *bench) trial{
		"friction falls by a third": func(b *bench) trial {
			b.axis.Scale = func(t float64) float64 { return 1 - t/30 }
			return b.record(nil)
		},
		"zero of the force": plain(func(b *bench, _ *independent.Trace, d *record.Record) {
			for k := range d.Force {
				d.Force[k] += b.axis.M * float64(k) / 1e4
			}
		}),
	} {
		for seed := range uint64(2) {
			o := attempt(kind{}, spoil(newBench(10*seed+4, 10)))
			if o.verdict == Identified || !strings.Contains(fmt.Sprint(o.result.Reasons), "drifts over the record") {
				t.Errorf("%s, seed %d: %s %v", name, seed, o.verdict, o.result.Reasons)
			}
		}
	}
}

// The force of a measured axis, recorded five samples late: the lag falls by that, and nothing else moves.
func TestLateForceOfAMeasuredAxis(t *testing.T) {
	read := func(by int) *Result {
		recs, err := record.Read(peer.SharedRecord(t, "emps/emps_estimation.csv.gz"), record.Mapping{
			// N/V
			Time: record.Column{Name: "time_s"}, Position: record.Column{Name: "position_m"},
			Force: record.Column{Name: "command_V", Scale: 35.15065188248547},
		})
		if err != nil {
			t.Fatal(err)
		}
		recs[0].Force = late(recs[0].Force, by)
		return attempt(kind{}, newBench(1, 1).trial(recs...)).result
	}
	at, later := read(0), read(5)
	for i, p := range at.Parameters {
		want, off := p.Value, 0.01*math.Abs(p.Value)
		if p.Name == "lag" {
			want, off = p.Value-5*at.Data.Interval, 0.05*at.Data.Interval
		}
		if q := later.Parameters[i]; p.Name != "offset" && math.Abs(q.Value-want) > off {
			t.Errorf("%s: %.5g, 5 samples later %.5g", p.Name, p.Value, q.Value)
		}
	}
}
