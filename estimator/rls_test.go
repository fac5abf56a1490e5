package estimator

import (
	"math"
	"testing"
)

var truth = [rlsN]float64{7e-5, 1.5e-4, 0.015, 0.042 * 0.03}

func TestTmp(t *testing.T) {
	var cover [rlsN]int
	var bias, sq, seM [rlsN]float64
	const seeds = 20
	for seed := range seeds {
		r := newRig(t, uint64(seed+1), demoKalman())
		e, err := NewRLS(demoRLS())
		if err != nil {
			t.Fatal(err)
		}
		v, se := make([]float64, 4), make([]float64, 4)
		for range 60000 {
			r.step()
			e.Step(r.reads[0], r.xhat[XVel], r.reads[1], true)
		}
		e.Values(v)
		e.StdErrs(se)
		for j := range v {
			d := (v[j] - truth[j])
			bias[j] += d / truth[j] / seeds
			sq[j] += d * d / truth[j] / truth[j] / seeds
			seM[j] += se[j] / truth[j] / seeds
			if math.Abs(d) < 1.96*se[j] {
				cover[j]++
			}
		}
		if seed == 0 {
			t.Log(v, se, e.Windows(), e.Cond(), e.DoF(), e.rho)
		}
	}
	for j := range bias {
		t.Logf("%d: bias %.4f%% rms %.4f%% se %.4f%% cover %d", j, 100*bias[j], 100*math.Sqrt(sq[j]), 100*seM[j], cover[j])
	}
}
