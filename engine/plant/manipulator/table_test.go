package manipulator

import (
	"context"
	"math"
	"testing"
)

// The table of the completed example as it was published beside this program, by both formulations: all digits that are printed.
func TestPrintedTable(t *testing.T) {
	rows := []struct{ t, q2, q3, q4, tip, w3, w5, lambda float64 }{
		{0.0, -0.0536274, 0.2079294, -0.0322931, 0.0647906, -0.0000817, -0.0000978, 0.7528},
		{0.1, -0.1273240, 0.2068871, -0.0289425, 0.0694869, -0.0002299, -0.0003421, 0.8530},
		{0.2, -0.2534193, 0.2066099, -0.0520037, 0.0808751, -0.0001950, -0.0003589, 1.2145},
		{0.3, -0.3360906, 0.2070380, -0.1300494, 0.0981594, -0.0002958, -0.0003010, 2.0072},
		{0.4, -0.3828286, 0.2057505, -0.2372218, 0.1256381, -0.0008879, -0.0008599, 2.9806},
		{0.5, -0.4160963, 0.1992457, -0.3232457, 0.1663302, -0.0014887, -0.0019677, 3.2354},
		{0.6, -0.4499052, 0.1849347, -0.3509742, 0.2221162, -0.0026048, -0.0038843, 3.6858},
		{0.7, -0.4775612, 0.1624829, -0.3218062, 0.2949350, -0.0029690, -0.0056283, 3.0834},
		{0.8, -0.4738948, 0.1362439, -0.2634006, 0.3872781, -0.0027364, -0.0062374, 2.4267},
		{0.9, -0.4143404, 0.1134315, -0.2039174, 0.4999095, -0.0015928, -0.0040135, 1.1460},
		{1.0, -0.2957798, 0.1054508, -0.1474073, 0.6327785, 0.0006816, 0.0018880, -2.3912},
	}
	torques := map[int]float64{0: 0.3273, 1: 0.8243, 5: 2.0566, 10: 1.3967}
	crossings := []float64{0.3083162, 0.5636543, 0.7061078, 0.8122705, 0.9000737, 0.9766944}
	for _, f := range []Formulation{Partition, Full} {
		r, err := model(t, Paper(1)).Run(context.Background(), Options{Formulation: f, Duration: 1, SampleInterval: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Samples) != len(rows) {
			t.Fatalf("%d samples", len(r.Samples))
		}
		for k, want := range rows {
			s := r.Samples[k]
			near(t, "time", s.T, want.t, 1e-12)
			for i, x := range []float64{want.q2, want.q3, want.q4} {
				near(t, "joint", s.Q[i+1], x, 6e-8)
			}
			near(t, "tip", s.TipX, want.tip, 6e-8)
			near(t, "node 3", s.W[2], want.w3, 6e-8)
			near(t, "node 5", s.W[4], want.w5, 6e-8)
			near(t, "λ", s.Lambda, want.lambda, 6e-5)
			if tau, ok := torques[k]; ok {
				near(t, "torque", s.Torque[0], tau, 6e-5)
			}
		}
		var got []float64
		pulls := 0.0
		for _, e := range r.Events {
			switch e.Kind {
			case Border:
				got = append(got, e.T)
			case Pulls:
				pulls = e.T
			}
		}
		if len(got) != len(crossings) {
			t.Fatalf("crossings %v", got)
		}
		for i, want := range crossings {
			near(t, "crossing", got[i], want, 1e-7)
		}
		if !(pulls > 0.9 && pulls < 1) { // λ changes its sign between the last two rows
			t.Errorf("the contact begins to pull at %g s", pulls)
		}
	}
}

// Half the speed: the crossings, and the time at which the tip leaves.
func TestPrintedCrossings(t *testing.T) {
	want := []float64{0.4302834, 0.7486586, 0.9389610, 1.0925990, 1.2262206, 1.3499473, 1.4740423, 1.6061912, 1.7529603, 1.9374333}
	r, _ := model(t, Paper(0.5)).Run(context.Background(), Options{Duration: 3})
	k := 0
	for _, e := range r.Events {
		if e.Kind != Border && e.Kind != Left {
			continue
		}
		if k == len(want) {
			t.Fatalf("more crossings: %+v", r.Events)
		}
		near(t, "crossing", e.T, want[k], 1e-7)
		if (e.Kind == Left) != (k == len(want)-1) {
			t.Errorf("crossing %d: %+v", k, e)
		}
		k++
	}
	if k != len(want) {
		t.Errorf("%d crossings", k)
	}
	if last := r.Samples[len(r.Samples)-1]; math.Abs(last.T-1.9374333) > 1e-7 || math.Abs(last.TipX-1) > 1e-9 {
		t.Errorf("the last sample is at %g s, x = %g m", last.T, last.TipX)
	}
}
