package plant

import (
	"math"
	"testing"
)

func TestSensors(t *testing.T) {
	const q = 2 * math.Pi / 4096
	spec := SensorSpec{Readings: []Reading{{Output: -1}, {Output: OutPosition, Count: q}, {Output: OutCurrent, Noise: 0.02, Offset: -0.03},
		{Output: OutTemperature}}, Seed: 7}
	a, err := NewSensors(spec)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := NewSensors(spec)
	y := []float64{OutCurrent: 0.5, OutTemperature: 31, Outputs - 1: 0}
	ra, rb := []float64{99, 0, 0, 0}, make([]float64, 4)
	const n = 20000
	mean, sq := 0.0, 0.0
	for k := range n {
		y[OutPosition] = -20 + 40*float64(k)/n
		a.Read(y, ra)
		b.Read(y, rb)
		if ra[2] != rb[2] {
			t.Fatal("the same seed gives different noise")
		}
		if ra[0] != 99 || ra[3] != 31 {
			t.Fatalf("readings %v: skipped or temperature reading wrong", ra)
		}
		if e := math.Abs(ra[1] - y[OutPosition]); e > q/2*(1+1e-9) {
			t.Fatalf("encoder off by %g rad, a count is %g", e, q)
		}
		if c := ra[1] / q; math.Abs(c-math.Round(c)) > 1e-6 {
			t.Fatalf("reading %g is not a whole count", c)
		}
		mean += ra[2] / n
		sq += (ra[2] - 0.47) * (ra[2] - 0.47) / n
	}
	if math.Abs(mean-0.47) > 5*0.02/math.Sqrt(n) {
		t.Errorf("mean current %g A, want 0.47", mean)
	}
	if sd := math.Sqrt(sq); math.Abs(sd/0.02-1) > 5/math.Sqrt(2*n) {
		t.Errorf("noise %g A, want 0.02", sd)
	}
	for _, bad := range []SensorSpec{{Readings: []Reading{{Count: -1}}}, {Readings: []Reading{{Noise: math.NaN()}}},
		{Readings: []Reading{{Offset: math.Inf(1)}}}, {Longest: 1}} {
		if _, err := NewSensors(bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// Each fault, on a ramp of one unit a Read: what the reading is while it lasts and after it.
func TestSensorFaults(t *testing.T) {
	s, err := NewSensors(SensorSpec{Readings: []Reading{{Output: 0, Count: 0.5}, {Output: 0}}, Period: 1e-3, Longest: 5e-3})
	if err != nil {
		t.Fatal(err)
	}
	y, r := []float64{0}, make([]float64, 2)
	read := func() float64 {
		y[0]++
		s.Read(y, r)
		if r[1] != y[0] {
			t.Fatalf("the healthy sensor says %g at %g", r[1], y[0])
		}
		return r[0] - y[0]
	}
	for range 10 {
		read()
	}
	for _, c := range []struct {
		fault Fault
		by    float64
		want  func(k int) float64 // reading less truth, k Reads after the fault began
	}{
		{Stuck, 0, func(k int) float64 { return float64(-k) }},
		{Shifted, 3.3, func(int) float64 { return 3.5 }}, // rounded to half units
		{Delayed, 5e-3, func(int) float64 { return -5 }},
		{Delayed, 1.4e-3, func(int) float64 { return -1 }},
		{Delayed, 1, func(int) float64 { return -5 }}, // no longer than was said
		{Lost, 0, func(int) float64 { return math.NaN() }},
	} {
		s.Fail(0, c.fault, c.by)
		for k := 1; k < 12; k++ {
			if got, want := read(), c.want(k); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%v, %d readings on: off by %g, want %g", c.fault, k, got, want)
			}
		}
		s.Fail(0, Healthy, 0)
		if off := read(); off != 0 {
			t.Errorf("%v: off by %g when it has gone", c.fault, off)
		}
	}
	// time that passes without a Read counts: 3 ms here
	s.Fail(0, Delayed, 5e-3)
	s.Clock(1)
	for range 10 {
		read()
	}
	s.Clock(1 + 9e-3 + 4e-3)
	if got, want := read(), -2.0; got != want { // 5 ms before, two Reads before this one
		t.Errorf("after a gap: off by %g, want %g", got, want)
	}
	if n := testing.AllocsPerRun(100, func() { s.Read(y, r) }); n != 0 {
		t.Errorf("%g allocations in Read", n)
	}
}
