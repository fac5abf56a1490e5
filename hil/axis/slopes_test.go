package axis

import (
	"math"
	"testing"

	"hilrig/estimator"
)

// The slopes of a voltage on what current and speed take of it, two motions that know nothing of one another, by hand.
func TestSlopes(t *testing.T) {
	for _, c := range []struct {
		name      string
		a, b      float64 // true slopes
		ri, emf   float64 // V  amplitudes
		rest      float64 // V  amplitude of what neither explains
		seconds   float64
		fault     Fault
		of        estimator.Quantity
		magnitude float64 // V, rms
	}{
		{"right", 1, 1, 1, 1, 0, 3, Fine, 0, 0},
		{"current: 0.42", 0.42, 1, 1, 1, 0, 3, Fine, 0, 0},
		{"current: 0.38", 0.38, 1, 1, 1, 0, 3, Disagree, estimator.Current, 0.62 / math.Sqrt2},
		{"current: 2.4", 2.4, 1, 1, 1, 0, 3, Fine, 0, 0},
		{"current: 2.6", 2.6, 1, 1, 1, 0, 3, Disagree, estimator.Current, 1.6 / math.Sqrt2},
		{"current reversed", -1, 1, 1, 1, 0, 3, Disagree, estimator.Current, 2 / math.Sqrt2},
		{"position: 0.42", 1, 0.42, 1, 1, 0, 3, Fine, 0, 0},
		{"position: 0.38", 1, 0.38, 1, 1, 0, 3, Scale, estimator.Position, 0.62 / math.Sqrt2},
		{"position: 2.6", 1, 2.6, 1, 1, 0, 3, Scale, estimator.Position, 1.6 / math.Sqrt2},
		{"position: −0.3", 1, -0.3, 1, 1, 0, 3, Scale, estimator.Position, 1.3 / math.Sqrt2},
		{"position: −0.5", 1, -0.5, 1, 1, 0, 3, Direction, estimator.Position, 1.5 / math.Sqrt2},
		{"less than a second", 1, -1, 1, 1, 0, 0.99, Fine, 0, 0},
		{"a current of less than 0.1 V", -1, 1, 0.13, 1, 0, 3, Fine, 0, 0},
		{"a current of more than 0.1 V", -1, 1, 0.15, 1, 0, 3, Disagree, estimator.Current, 0.3 / math.Sqrt2},
		{"as much again is explained by neither", -1, 1, 1, 1, 1.1, 3, Fine, 0, 0},
		{"less is", -1, 1, 1, 1, 0.9, 3, Disagree, estimator.Current, 2 / math.Sqrt2},
		{"no speed at all", -1, 1, 1, 0, 0, 3, Fine, 0, 0},
	} {
		s := scaling{}
		for k := range int(1000 * c.seconds) {
			x := 2 * math.Pi * 1e-3 * float64(k)
			ri, emf := c.ri*math.Sin(5*x), c.emf*math.Sin(7*x)
			s.add(c.a*ri+c.b*emf+c.rest*math.Sin(11*x), ri, emf, 1e-3)
		}
		f := s.judge(0.1)
		if f.Fault != c.fault || c.fault != Fine && (f.Quantity != c.of || math.Abs(f.Value-c.magnitude) > 0.12*c.magnitude || f.Limit < 0.1) {
			t.Errorf("%s: %+v, want %d of %d, %g V", c.name, f, c.fault, c.of, c.magnitude)
		}
	}
}

// A balance that is kept under the command of 20 to 160 ms before is a delay; a sign that no turning mends is a scale, where a current is
// measured.
func TestDelays(t *testing.T) {
	for late := range 180 {
		var d delays
		for k := range 1500 {
			u := func(k int) float64 {
				x := 2 * math.Pi * 1e-3 * float64(k)
				return 3*math.Sin(2.3*x) + 2*math.Sin(3.7*x)
			}
			d.add(u(k), 0.4*u(k-late), 0.6*u(k-late), 1e-3, delaySpacing, true)
		}
		f := d.named(Finding{Direction, estimator.Position, 5, 3}, true)
		near := math.Round(float64(late)/20) * 20e-3
		if sure := math.Abs(float64(late)*1e-3-near) < 4e-3 && late >= 16 && late <= 164; sure &&
			(f.Fault != Delay || math.Abs(f.Value-near) > 1e-9 || f.Limit != 10e-3) {
			t.Errorf("%d ms: %+v", late, f)
		} else if late < 8 && f.Fault == Delay {
			t.Errorf("%d ms: %+v", late, f)
		}
	}
	for _, c := range []struct {
		ri, emf float64 // shares of the voltage
		current bool
		want    Fault
	}{{0.4, -0.6, true, Direction}, {-0.4, 0.6, true, Direction}, {-0.4, -0.6, true, Direction}, {0.9, -0.1, true, Direction},
		{-0.1, 0.9, true, Direction}, {-0.2, -0.8, true, Direction}, {0.4, 0.1, true, Scale}, {0.4, 0.1, false, Direction}} {
		var d delays
		for k := range 600 {
			u := 3 * math.Sin(0.05*float64(k))
			d.add(u, c.ri*u, c.emf*u, 1e-3, delaySpacing, true)
			d.add(u, 9, 9, 0, delaySpacing, false) // one that is kept is not compared
		}
		if f := d.named(Finding{Direction, estimator.Position, 5, 3}, c.current); f.Fault != c.want {
			t.Errorf("%g and %g of the voltage: %d, want %d", c.ri, c.emf, f.Fault, c.want)
		}
	}
}

// What is left is the slope of the feedback on what is given, over 2 s at least, and only where it is more than the least; in the mean
// over 5 s.
func TestFeedForwardLeft(t *testing.T) {
	for _, c := range []struct {
		slope, amplitude, least, seconds, want float64
	}{{-2, 1, 0.5, 4, -2}, {0.5, 1, 0.34, 4, 0.5}, {0.5, 1, 0.36, 4, 0}, {1, 1, 0.1, 1.99, 0}, {1, 1, 0.1, 2.01, 1}, {1, 0, 0, 4, 0}} {
		for _, side := range []float64{1, -1} {
			var f feedForward
			for k := range int(1000 * c.seconds) {
				x := 2 * math.Pi * 1e-3 * float64(k)
				given := side * c.amplitude * math.Sin(x)
				f.add(given, c.slope*given+0.3*math.Cos(3*x), 1e-3) // friction beside it
			}
			if got := f.slope(c.least); math.Abs(got-c.want) > 0.02 {
				t.Errorf("%+v, %+g: %g", c, side, got)
			}
		}
	}
	var f feedForward
	for k := range 10000 {
		f.add(1, float64(k/5000), 1e-3)
	}
	if got, want := f.slope(0.01), 1-math.Exp(-1); math.Abs(got-want) > 2e-3 {
		t.Errorf("5 s after a change %g of it show, want %g", got, want)
	}
}
