package plant

import (
	"math"
	"testing"
)

func TestSensors(t *testing.T) {
	spec := SensorSpec{Channels: []Channel{Skip, Encoder, CurrentSensor, Thermometer}, Counts: 4096, CurrentNoise: 0.02, CurrentOff: -0.03, Seed: 7}
	a, err := NewSensors(spec)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := NewSensors(spec)
	x := []float64{Current: 0.5, Temperature: 31, Contact: 0}
	q := 2 * math.Pi / 4096
	ra, rb := []float64{99, 0, 0, 0}, make([]float64, 4)
	const n = 20000
	mean, sq := 0.0, 0.0
	for k := range n {
		x[Theta] = -20 + 40*float64(k)/n
		a.Read(x, nil, ra)
		b.Read(x, nil, rb)
		if ra[2] != rb[2] {
			t.Fatal("the same seed gives different noise")
		}
		if ra[0] != 99 || ra[3] != 31 {
			t.Fatalf("readings %v: skipped or temperature channel wrong", ra)
		}
		if e := math.Abs(ra[1] - x[Theta]); e > q/2*(1+1e-9) {
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
	if n := testing.AllocsPerRun(100, func() { a.Read(x, nil, ra) }); n != 0 {
		t.Errorf("%g allocations in Read", n)
	}
	if _, err := NewSensors(SensorSpec{Counts: -1}); err == nil {
		t.Error("a negative encoder was accepted")
	}
}
