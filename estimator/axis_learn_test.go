package estimator

import (
	"fmt"
	"math"
	"testing"
)

// What the least squares get: position and current together or not at all.
func TestUseInLeastSquares(t *testing.T) {
	s := demoKalman()
	s.TopVoltage, s.TopSpeed = topVolts, topTurns
	rls := demoRLS()
	a, err := NewElectrical(s, AxisSpec{Tick: tick, Groups: []Group{frame}, RLS: &rls})
	if err != nil {
		t.Fatal(err)
	}
	f := &fed{Axis: a, t: 5e9}
	missing := func(want float64, what string) {
		t.Helper()
		if got := a.rlsInput.elapsed; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g s missing, want %g", what, got, want)
		}
	}
	f.rest(0.5, 200)
	missing(0, "at rest")
	for n := 1; n <= 8; n++ {
		f.step(map[Quantity]Sample{Current: {}})
		missing(float64(n)*tick, "currents alone")
	}
	f.step(map[Quantity]Sample{Position: {Value: 0.5}})
	missing(9*tick, "a position alone")
	f.step(nil)
	f.step(map[Quantity]Sample{Position: {Value: 0.5}, Current: {}})
	missing(0, "both")
	f.step(map[Quantity]Sample{Position: {Value: 3}, Current: {}})
	missing(tick, "a position out of reach")
}

// The least squares of an axis under an effort find inertia and friction of a simulated truth, with samples lost, at rates that are no
// part of the loop's, whether the drive follows its commands at once or late, and whether or not the commands are an effort.
func TestAxisRLS(t *testing.T) {
	for _, c := range []struct {
		name                  string
		scale, lag            float64
		perCommand, perAmpere float64
		every, loss           float64
	}{
		{"effort, at once", 1, 0.05e-3, 1, 0, 1e-3, 0},
		{"effort, 1 ms late", 1, 1e-3, 1, 0, 1e-3, 0},
		{"effort, half lost", 1, 0.05e-3, 1, 0, 1e-3, 0.5},
		{"effort at 400 Hz, a third lost", 1, 0.05e-3, 1, 0, 2.5e-3, 0.3},
		{"current", 1, 0.3e-3, 0.042, 0.042, 1e-3, 0},
		{"current of a linear axis, a third lost", 1000, 0.3e-3, 42, 42, 1e-3, 0.3},
		{"force, its command unknown", 1000, 5e-3, 0, 0, 1e-3, 0},
		{"force, its command unknown, a third lost", 1000, 5e-3, 0, 0, 1e-3, 0.3},
	} {
		a := effortAxis("effort", c.scale, c.lag, c.perCommand, c.perAmpere)
		q := Effort
		unit := 1.0 // of command
		if c.perAmpere != 0 {
			q, unit = Current, c.perAmpere
		}
		lagged := a.dot
		if c.perCommand != 0 {
			a.dot = func(x, dx []float64, u float64) { lagged(x, dx, u*unit) }
		} else {
			unit = 1
		}
		a.drive = func(t float64) float64 {
			return c.scale / unit * (0.045*math.Sin(2*math.Pi*0.7*t) + 0.03*math.Sin(2*math.Pi*2.9*t))
		}
		rls := RLSSpec{Dt: c.every, K: 1, Window: 0.1, MinVel: 2, Count: count}
		build := a.spec
		a.spec = func(s AxisSpec) (*Axis, error) { s.RLS = &rls; return build(s) }
		r := sampleAxis(a, 1e-3, 20000, 3, stream{every: c.every, of: []Quantity{Position, q}, loss: c.loss})
		got := r.feed(t, func(int, *Axis, []reading) {})
		x, se := make([]float64, 4), make([]float64, 4)
		got.RLS().Values(x)
		got.RLS().StdErrs(se)
		off := ""
		for i, truth := range []float64{c.scale * 7e-5, c.scale * 1.5e-4, c.scale * 15e-3, 0} {
			off += fmt.Sprintf(" %.4g ± %.2g (%.1f)", x[i], se[i], (x[i]-truth)/se[i])
			if !(math.Abs(x[i]-truth) <= 4*se[i]) || i == 0 && math.Abs(x[0]-truth) > 0.01*truth {
				t.Errorf("%s: parameter %d is %.5g ± %.2g, truth %.5g", c.name, i, x[i], se[i], truth)
			}
		}
		t.Logf("%s: %d windows, %s", c.name, got.RLS().Windows(), off)
	}
}
