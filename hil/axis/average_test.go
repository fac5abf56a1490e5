package axis

import (
	"math"
	"testing"

	"hilrig/engine/plant"
	"hilrig/estimator"
)

// What is kept is what is computed anew, whatever changes: a span, a current, brushes that somebody adopts.
func TestKeptNumbers(t *testing.T) {
	var a average
	for _, span := range []float64{1e-3, 1e-3, 2e-3, 2e-3, 1e-3, 0, 5e-3} {
		if got, want := a.weightFor(span, 10e-3), -math.Expm1(-span/10e-3); got != want {
			t.Errorf("span %g: %g, want %g", span, got, want)
		}
	}
	m := &plant.Motor{}
	var b brushDrop
	for _, c := range []struct{ current, drop, scale float64 }{{0.1, 0.6, 0.05}, {0.1, 0.6, 0.05}, {-0.1, 0.6, 0.05}, {-0.1, 0.7, 0.05},
		{-0.1, 0.7, 0.2}, {-0.1, 0.7, 0.05}, {0, 0.7, 0.05}, {0.02, 0.7, 0.05}, {0.02, 0, 0.05}} {
		m.BrushDrop, m.DropScale = c.drop, c.scale
		if got, want := b.at(m, c.current), m.Drop(c.current); got != want {
			t.Errorf("%+v: %g, want %g", c, got, want)
		}
		if got, want := (*brushDrop)(nil).at(m, c.current), m.Drop(c.current); got != want {
			t.Errorf("%+v, nothing kept: %g, want %g", c, got, want)
		}
	}
}

// What makes a position look noisy: it stands, it is late, or another reading is wrong. Its own speed does not fit where it is noisy.
func TestNoiseIsExplained(t *testing.T) {
	for _, c := range []struct {
		fault    Fault
		quantity estimator.Quantity
		explains bool
	}{
		{Fine, estimator.Position, false}, {Jump, estimator.Position, false}, {Noise, estimator.Position, false},
		{Direction, estimator.Position, false}, {Frozen, estimator.Position, true}, {FrozenCurrent, estimator.Current, false},
		{Blocked, estimator.Position, false}, {FrozenReading, estimator.Velocity, true}, {FrozenReading, estimator.Current, true},
		{Disagree, estimator.Position, false}, {Disagree, estimator.Velocity, true}, {Disagree, estimator.Current, true},
		{Scale, estimator.Position, false}, {Delay, estimator.Position, true}, {Delay, estimator.Current, true},
	} {
		if got := (Finding{Fault: c.fault, Quantity: c.quantity}).explainsNoise(); got != c.explains {
			t.Errorf("fault %d of quantity %d: %v", c.fault, c.quantity, got)
		}
	}
}

// Behind a gap of more than 50 ms, or of more than five samples, and behind a sample that is so old, nothing counts for 0.1 s.
func TestGapLimits(t *testing.T) {
	for _, c := range []struct {
		name      string
		every     float64 // s
		ticks     int     // ms  without a sample
		age       float64 // s
		suspended bool
	}{
		{"50 ms", 1e-3, 50, 0, false}, {"51 ms", 1e-3, 51, 0, true},
		{"100 ms of 20 ms each", 20e-3, 100, 0, false}, {"101 ms of 20 ms each", 20e-3, 101, 0, true},
		{"50 ms old", 1e-3, 1, 50e-3, false}, {"51 ms old", 1e-3, 1, 51e-3, true},
	} {
		var g gap
		sample := estimator.Sample{Updated: true}
		for range 200 {
			g.step(1e-3, &sample, c.every)
		}
		for range c.ticks - 1 {
			g.step(1e-3, &estimator.Sample{}, c.every)
		}
		held := 0
		for on := g.step(1e-3, &estimator.Sample{Updated: true, Age: c.age}, c.every); on && held < 500; held++ {
			on = g.step(1e-3, &sample, c.every)
		}
		if want := map[bool]int{true: 100, false: 0}[c.suspended]; held < want-1 || held > want+1 {
			t.Errorf("%s: nothing counts for %d ms, want %d", c.name, held, want)
		}
	}
}

// A motion begins in a window of a friction that turns its sign, until the contact has given way; where the law has no stiffness there is
// none. The least squares of a slipping position take the viscous part as the rest.
func TestSlippingWindows(t *testing.T) {
	for _, stiff := range []bool{true, false} {
		for _, side := range []float64{1, -1} {
			f := newFrozen(frozenSpec(), countNoise)
			gives := f.axisModel.gives
			if !stiff {
				f.axisModel.gives, gives = 0, 0
			}
			p := newSlipping(f)
			for k := range 400 {
				p.step(side, 5, 0, 1e-3, 0, 0.3)
				late := p.windows[(p.oldestWindow+len(p.windows)-1)%len(p.windows)] // begun last
				if p.side != 0 && stiff && math.Abs(p.ran) < gives && !p.windows[0].early {
					t.Errorf("%+g, tick %d: no window of a beginning", side, k)
				}
				if gone := math.Abs(p.ran) > gives+0.002; gone && (late.early || !stiff && p.windows[0].early) {
					t.Errorf("%+g, stiff %v, tick %d, %g rad: still a window of a beginning", side, stiff, k, p.ran)
				}
			}
			for p.side != -side { // it turns: nothing of before counts
				p.step(-side, 5, 0, 1e-3, 0, 0.3)
			}
			if p.ran != 0 || p.windows[0].duration != 0 || p.windows[1].duration != 0 || p.windowAge != 0 {
				t.Errorf("%+g, stiff %v: behind a turn %g rad, windows of %g and %g s", side, stiff, p.ran, p.windows[0].duration,
					p.windows[1].duration)
			}
		}
	}
	for _, n := range []float64{4, -4} {
		var w slipWindow
		for k := range 300 {
			a, v := math.Sin(0.07*float64(k)), 3*math.Cos(0.03*float64(k))
			w.add(1, [4]float64{0, a, v, n*(a+v) + 2}, 1e-3)
		}
		if got, left := w.slips(); math.Abs(got-n) > 1e-9 || math.Abs(left) > 1e-9 {
			t.Errorf("%g times: %g, %g left", n, got, left)
		}
	}
}
