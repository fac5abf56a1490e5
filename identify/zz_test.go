package identify

import (
	"fmt"
	"hilrig/identify/fit"
	"math"
	"os"
	"testing"
)

func TestZZ(t *testing.T) {
	var seed int
	fmt.Sscan(os.Getenv("ZSEED"), &seed)
	for _, k := range append(freeKinds, oddFreeKinds...) {
		if k.name != os.Getenv("ZKIND") {
			continue
		}
		tr := k.trial(uint64(seed))
		o := attempt(kind{}, tr)
		r := o.result
		if r == nil {
			t.Fatal(o.reason)
		}
		t.Logf("%s\nrms %g eff %g lag1 %v", r.Headline(), r.Fit.RMS, r.Residual.Effective, r.Residual)
		if s := r.solution; s != nil {
			t.Logf("uneven %g noise %v rms %g limit", fit.Uneven(s), *r.channels[0].noise, r.channels[0].rms)
			n := len(s.Residual)
			for i := range 16 {
				part := s.Residual[i*n/16 : (i+1)*n/16]
				a, b, l := 0.0, 0.0, 0.0
				for k, x := range part {
					a += x * x
					b += x
					if k > 0 {
						l += x * part[k-1]
					}
				}
				t.Logf("%d rms %.3g mean %.3g lag1 %.2f", i, math.Sqrt(a/float64(len(part))), b/float64(len(part)), l/a)
			}
		}
		for i := range r.Parameters {
			p := &r.Parameters[i]
			t.Logf("%s %.5g truth %.5g CI %v worth %s from %s random %v shown %v by %s possible %v by %s", p.Name, p.Value, tr.truth[p.Name], p.CI, p.Worth, p.IntervalSource, r.random(p), p.shownMove, p.shownBy, p.possibleMove, p.possibleBy)
		}
		for _, x := range r.Reasons {
			t.Log("reason ", x.Text)
		}
		for _, x := range r.Warnings {
			t.Log("warning ", x)
		}
		for _, u := range r.Unmodelled {
			t.Logf("unmodelled %+v", u)
		}
		for _, f := range r.Findings {
			t.Logf("finding %+v", f)
		}
	}
}

func TestZZAxis(t *testing.T) {
	by := map[string]string{"l1.izz_R": "J", "l1.Fv": "Fv", "l1.Fc": "Fc", "l1.offset": "offset", "l1.lag": "lag"}
	for i, k := range armKinds {
		if i%2 == 1 {
			continue
		}
		for seed := range uint64(2) {
			b := newArmBench(seed+290, 1)
			b.top, b.n = 3, 4000
			own, other, err, err2 := bothWays(t, b, k.make(b))
			what := fmt.Sprintf("%s, seed %d", k.name, seed)
			if err != nil || err2 != nil {
				if err == nil || err2 == nil || err.Error() != err2.Error() {
					t.Errorf("%s: machine %v, axis %v", what, err, err2)
				}
				continue
			}
			sameAs(t, what, own, other, by, nil)
			t.Log(what, own.Verdict)
		}
	}
}
