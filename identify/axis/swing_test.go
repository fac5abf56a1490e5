package axis

import (
	"context"
	"math"
	"slices"
	"testing"

	"hilrig/engine/numeric"
	"hilrig/engine/peer"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// read takes a file of the shared measurements, or skips.
func read(t testing.TB, file string, m record.Mapping) []*record.Record {
	t.Helper()
	recs, err := record.Read(peer.SharedRecord(t, file), m)
	if err != nil {
		t.Fatal(err)
	}
	return recs
}

// problemOf builds model and problem, after change has seen the parameters.
func problemOf(t testing.TB, spec Spec, recs []*record.Record, change func(p *fit.Param)) (*Model, []fit.Param, *fit.Problem) {
	t.Helper()
	m, err := New(spec, recs)
	if err != nil {
		t.Fatal(err)
	}
	ps := m.Params()
	if change != nil {
		for i := range ps {
			change(&ps[i])
		}
	}
	pr, err := m.Problem(ps)
	if err != nil {
		t.Fatal(err)
	}
	return m, ps, pr
}

func fitted(t testing.TB, pr *fit.Problem) (*fit.Solution, map[string]float64) {
	t.Helper()
	s, err := fit.LM{Steps: []float64{1e-3}, Forward: true}.Fit(context.Background(), pr, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]float64{}
	for _, p := range s.Params {
		at[p.Name] = p.Value
	}
	return s, at
}

func swing(t testing.TB) []*record.Record {
	return read(t, "multiarm_pendulum/single_id.csv.gz", record.Mapping{
		Time: record.Column{Name: "time_s"}, Position: record.Column{Name: "angle1_rad"}, Piece: "segment"})
}

// The free swing of a pendulum, four pieces, against the published viscous fit of the same pieces, which starts from the first
// samples: k/J = 0.058 1/s with 0.013 rad. With the initial states free the residual falls to a third. A Coulomb level added to it
// goes to its lower bound: the swing does not support one. The angle is counted from upright, so mgs is negative.
func TestFreeSwing(t *testing.T) {
	recs := swing(t)
	spec := Spec{Rotary: true, Law: "viscous", Drive: Coast, Terms: []string{"gravity-sin"}}
	_, _, pr := problemOf(t, spec, recs, func(p *fit.Param) { p.Fixed = p.Fixed || fit.IsState(p.Name) })
	s, at := fitted(t, pr)
	t.Logf("residual %.5f rad, k/J = %.5f 1/s", numeric.RMS(s.Residual), at["Fv"])
	if got := numeric.RMS(s.Residual); got > 0.013 || math.Abs(at["Fv"]-0.058) > 0.001 || math.Abs(-at["mgs"]/64.2-1) > 0.005 {
		t.Errorf("residual %.4f rad, k/J = %.4f 1/s, m·g·a/J = %.2f 1/s²; want at most 0.013, 0.058 and 64.2", got, at["Fv"], -at["mgs"])
	}

	spec.Initial = Free
	_, _, pr = problemOf(t, spec, recs, nil)
	s, at = fitted(t, pr)
	viscous, k := numeric.RMS(s.Residual), at["Fv"]
	if viscous > 0.0045 {
		t.Errorf("residual %.4f rad with free initial states, want a third of 0.013", viscous)
	}
	spec.Law = "static-coulomb-viscous"
	_, _, pr = problemOf(t, spec, recs, func(p *fit.Param) {
		if p.Name == "Fs" { // a swing never rests: the break-away level does not matter
			p.Fixed, p.Value = true, 0
		}
	})
	s, at = fitted(t, pr)
	if at["Fc"] > 1e-3 || numeric.RMS(s.Residual) < 0.99*viscous || math.Abs(at["Fv"]/k-1) > 0.01 {
		t.Errorf("Coulomb level %g rad/s² beside k/J = %g 1/s, residual %g rad, %g rad without it; want none of it", at["Fc"], at["Fv"],
			numeric.RMS(s.Residual), viscous)
	}
}

// A ball down a slope, against the published a = 0.160 m/s² and v0 = 0.0372 m/s at time zero, residual 0.6 mm. What is
// found is g·sin − friction in one number, and the model says so.
func TestBallDownASlope(t *testing.T) {
	recs := read(t, "ball_incline/steel_ball_rolling_1deg.csv", record.Mapping{
		Time: record.Column{Name: "time_s"}, Position: record.Column{Name: "distance_m"}, Resample: true})
	m, ps, pr := problemOf(t, Spec{Drive: Coast, Terms: []string{"offset"}, Initial: Free}, recs, nil)
	s, at := fitted(t, pr)
	a := -at["offset"]
	v0 := at["v0"] - a*recs[0].Start
	if math.Abs(a-0.160) > 0.001 || math.Abs(v0-0.0372) > 0.001 || numeric.RMS(s.Residual) > 0.6e-3 {
		t.Errorf("a = %.4f m/s², v0 = %.4f m/s, residual %.2g m; want 0.160, 0.0372 and 0.6e-3", a, v0, numeric.RMS(s.Residual))
	}
	checkIndistinct(t, m, ps, []string{"offset"}, []string{"offset"})
}

// Two balls spinning down, against the slope −1.106 rad/s² of the mean of 51 samples and its residual 0.055 rad/s. With a
// constant load beside the Coulomb level the model says that the two cannot be told apart.
func TestSpinDown(t *testing.T) {
	recs := read(t, "ball_incline/ball_pair_spin_down.csv", record.Mapping{
		Time: record.Column{Name: "time_s"}, Velocity: record.Column{Name: "spin_rate_rad_s"}, Resample: true})
	spec := Spec{Rotary: true, Law: "coulomb", Drive: Coast, Initial: Free, Output: Velocity}
	_, _, pr := problemOf(t, spec, recs, nil)
	s, at := fitted(t, pr)
	const w = 51
	var mean []float64
	for k := 0; k+w <= len(s.Residual); k++ {
		sum := 0.0
		for _, r := range s.Residual[k : k+w] {
			sum += r
		}
		mean = append(mean, sum/w)
	}
	if math.Abs(at["Fc"]-1.106) > 0.01 || numeric.RMS(mean) > 0.06 {
		t.Errorf("Fc/J = %.4f rad/s², residual of the mean %.4f rad/s; want 1.106 and 0.055", at["Fc"], numeric.RMS(mean))
	}
	spec.Terms = []string{"offset"}
	m, ps, _ := problemOf(t, spec, recs, nil)
	checkIndistinct(t, m, ps, []string{"Fc", "offset"}, []string{"Fc", "offset"})
}

// checkIndistinct wants these sets of parameters to be named, in order.
func checkIndistinct(t *testing.T, m *Model, ps []fit.Param, want ...[]string) {
	t.Helper()
	got, err := m.Indistinct(ps)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d remarks, want %d: %+v", len(got), len(want), got)
	}
	for i := range got {
		if !slices.Equal(got[i].Names, want[i]) || got[i].Reason == "" || got[i].Advice == "" {
			t.Errorf("remark %+v, want one on %v", got[i], want[i])
		}
	}
}
