package identify

import (
	"math"
	"testing"

	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// An error of the gain of the force is in every value that is found in proportion to it, and in no other: with the noise next to nothing
// the interval is ±1.96 times that share, and the budget has it by name.
func TestGainErrorIsInTheIntervals(t *testing.T) {
	const share = 0.02
	d := swing(t, slide, 1, 0)
	plain := regressed(t, linear.DefaultSpec(), d, nil)
	r, err := Run(t.Context(), Plan{Methods: Chain{"regress"}, Regress: linear.DefaultSpec(), GainErr: share},
		Records{Fit: []*record.Record{d}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Parameters {
		p, own := &r.Parameters[i], &plain.Parameters[i]
		if p.Name == "lag" { // a time
			if *p.CI != *own.CI {
				t.Errorf("lag: %v, %v without the error of the gain", *p.CI, *own.CI)
			}
			continue
		}
		half, before := (p.CI[1]-p.CI[0])/2, (own.CI[1]-own.CI[0])/2
		want := math.Hypot(before, 1.96*share*math.Abs(p.Value))
		if math.Abs(half-want) > 1e-3*want {
			t.Errorf("%s: ±%.4g, want ±%.4g", p.Name, half, want)
		}
		sum, named := 0.0, false
		for _, c := range p.Budget {
			sum += c.Standard * c.Standard
			named = named || c.Type == "B" && math.Abs(c.Standard-share*math.Abs(p.Value)) < 1e-9*math.Abs(p.Value)
		}
		if !named || p.Combined == nil || math.Abs(math.Sqrt(sum)-*p.Combined) > 1e-9*(*p.Combined) {
			t.Errorf("%s: budget %+v, combined %v", p.Name, p.Budget, p.Combined)
		}
	}
}

// A known inertia with an error gives friction with that error: in free motion all forces are in proportion to it.
func TestErrorOfAKnownInertia(t *testing.T) {
	k := freeKinds[7] // a pendulum
	tr := k.trial(3)
	off := 0.05
	tr.plan.GivenParams[0].Err = &off
	r, err := Run(t.Context(), tr.plan, Records{Fit: tr.recs}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Fv", "mgs"} {
		p, ok := r.Param(name)
		if !ok || math.Abs(p.givenErr-off*p.Value) > 0.05*off*p.Value {
			t.Errorf("%s %.4g: %.3g of the error of the inertia, want %.3g", name, p.Value, p.givenErr, off*p.Value)
		}
	}
}

// Both directions, and break-away and sliding friction, are compared with the correlation of the two.
func TestEqualities(t *testing.T) {
	for _, c := range []struct {
		apart, rho float64
		differ     bool
	}{{0.01, 0, false}, {0.05, 0, true}, {0.03, 0, false}, {0.03, 0.9, true}, {-0.05, 0, true}} {
		r := judged(func(r *Result) {
			r.Parameters = append(r.Parameters, plainParameter("Fc+", 1+c.apart, 0.01), plainParameter("Fc-", 1, 0.01))
			r.Correlation = [][]float64{{1, 0, 0}, {0, 1, c.rho}, {0, c.rho, 1}}
		})
		if len(r.Equalities) != 1 {
			t.Fatalf("%+v", r.Equalities)
		}
		e := r.Equalities[0]
		se := 0.01 * math.Sqrt(2-2*c.rho)
		if math.Abs(*e.Error-se) > 1e-9 || (*e.PValue < 0.01) != c.differ {
			t.Errorf("apart %g, correlation %g: ± %.4g, want %.4g; p %.3g: %s", c.apart, c.rho, *e.Error, se, *e.PValue, e.Text)
		}
	}
}
