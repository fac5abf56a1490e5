package simulate

import (
	"math"
	"testing"
)

// The files of configs/machine/benchmarks against other programs: the pendulum, the four-bars and the governor by SciPy (DOP853, 1e-13) in
// as few coordinates as they have (the governor: engine/multibody/testdata/motions.py), the five bodies in absolute coordinates by
// testdata/five_bodies.py.
func TestBenchmarks(t *testing.T) {
	for _, c := range []struct {
		file   string
		limit  float64
		energy float64 // relative
		at     map[float64]map[string]float64
	}{
		{"simple-pendulum", 1e-7, 1e-8, map[float64]map[string]float64{
			5:  {"x.q_m": -0.9423054350438057, "point.q_m": -0.3347543384138646},
			10: {"x.q_m": -0.2750874625764533, "point.q_m": -0.961419205099029}}},
		{"four-bars", 1e-6, 1e-8, map[float64]map[string]float64{
			2:  {"post0.q_rad": -4.75867579, "post4.q_rad": -4.75867579, "beam3.q_rad": 4.75867579},
			10: {"post0.q_rad": -30.09924167, "post4.q_rad": -30.09924167, "beam3.q_rad": 30.09924167}}},
		{"governor", 1e-7, 1e-8, map[float64]map[string]float64{
			0.3: {"right.q_rad": 0.3482234775520973, "left.q_rad": 0.3482234775520973, "slider.q_m": 0.6586323487803328,
				"shaft.v_rad_s": 5.380424812790018},
			1: {"right.q_rad": 0.5218333016255526, "slider.q_m": 0.5014209223795625, "shaft.v_rad_s": 6.271125741876597}}},
		{"five-bodies", 2e-8, 1e-8, map[float64]map[string]float64{
			0.5: {"at.B4.x_m": 0.268851227, "at.B4.y_m": 0.744555262, "at.B4.z_m": 0.112706992, "at.B5.x_m": -0.680481055, "at.B5.y_m": 0.483280291,
				"at.B5.z_m": 0.222725768},
			1: {"at.B4.x_m": 0.292745479, "at.B4.y_m": 0.665323892, "at.B4.z_m": -0.051473972, "at.B5.x_m": -0.656566889, "at.B5.y_m": 0.524863,
				"at.B5.z_m": 0.217319291}}},
		{"bricard", 1e-9, 1e-8, nil},
	} {
		t.Run(c.file, func(t *testing.T) {
			table, r := runExample(t, "benchmarks/"+c.file+".yaml")
			for time, row := range c.at {
				k := table.at(t, time)
				for name, want := range row {
					if got := table[name][k]; !(math.Abs(got-want) <= c.limit*math.Max(1, math.Abs(want))) {
						t.Errorf("t = %g s: %s %.10g, want %.10g", time, name, got, want)
					}
				}
			}
			if e := r.Metrics["energy_error_relative"]; !(e <= c.energy) {
				t.Errorf("the energies miss %.2g of the largest", e)
			}
			if g := r.Metrics["constraint_residual_max"]; g > 1e-10 {
				t.Errorf("constraints miss %.2g", g)
			}
			t.Logf("energies within %.2g, constraints within %.2g", r.Metrics["energy_error_relative"], r.Metrics["constraint_residual_max"])
			if c.file != "bricard" {
				return
			}
			// cos α + cos β + cos α·cos β = 0 for the angles between the rods, which are right at the start; three of them equal, and the other
			// three
			for k := range table["time_s"] {
				a, b := math.Sin(table["rod1.q_rad"][k]), math.Sin(table["rod2.q_rad"][k])
				for _, e := range []float64{table["rod1.q_rad"][k] - table["rod3.q_rad"][k], table["rod1.q_rad"][k] - table["rod5.q_rad"][k],
					a + b + a*b} {
					if math.Abs(e) > c.limit {
						t.Fatalf("t = %g s: closed form missed by %.2g", table["time_s"][k], e)
					}
				}
			}
		})
	}
}
