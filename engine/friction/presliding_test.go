package friction

import (
	"math"
	"testing"
)

// breakaway is the peak of friction before 0.01 m/s under u = rate·t, P95 and 1 kg.
func breakaway(t testing.TB, s Scheme, rate, h float64) float64 {
	p := p95()
	b := newBench(t, &p, 1, s, &pulled{ramp: rate, h: h})
	peak := 0.0
	for k := 0; b.x[1] < 0.01 && float64(k)*h < 10; k++ {
		if r := b.step(); b.x[1] < 0.01 {
			peak = max(peak, r.F)
		}
	}
	return peak
}

// Break-away against the rate of the force, theory §4.5: 0.06 % for Midpoint at 1 ms (0.2 % is required), 0.65 % and 0.8 %
// for the others. The reference has three decimals, half of the last one is added.
func TestBreakawayRate(t *testing.T) {
	for _, c := range []struct {
		s   Scheme
		tol float64
	}{{Midpoint, 0.0006}, {Explicit, 0.0065}, {ExplicitPade, 0.0065}, {Implicit, 0.008}} {
		worst := 0.0
		for _, q := range []struct{ rate, want float64 }{{0.5, 1.457}, {1, 1.432}, {2, 1.394}, {3, 1.364}, {5, 1.313}, {7, 1.272}, {10, 1.220},
			{15, 1.152}, {20, 1.099}, {30, 1.024}} {
			peak := breakaway(t, c.s, q.rate, 1e-3)
			worst = max(worst, math.Abs(peak/q.want-1))
			if math.Abs(peak-q.want) > c.tol*q.want+5e-4 {
				t.Errorf("%v, %g N/s: break-away at %.4f N, want %.3f N", c.s, q.rate, peak, q.want)
			}
		}
		t.Logf("%v: within %.3f %%", c.s, 100*worst)
	}
	// from FS down to FC, never rising
	last := 1.5
	for _, rate := range []float64{0.5, 1, 2, 5, 10, 20, 30, 40} {
		peak := breakaway(t, Midpoint, rate, 1e-3)
		if peak > last || rate >= 40 && (peak < 1 || peak > 1.01) {
			t.Errorf("%g N/s: break-away at %.4f N after %.4f N", rate, peak, last)
		}
		last = peak
	}
}

// The presliding cycle of P95, 1 kg: ±1.425 N with ramps of 0.1425 N/s and holds of 5 s. cycleLoad is its force.
var cycleLegs = []struct{ rate, dur float64 }{{0.1425, 10}, {0, 5}, {-0.1425, 20}, {0, 5}, {0.1425, 20}, {0, 5}}

// cycleByRungeKutta is the cycle by the classical method on the differential form: positions (µm) at the ends of the legs.
func cycleByRungeKutta(h float64) (ends []float64) {
	p := p95()
	u, z, dz := 0.0, []float64{0}, []float64{0}
	rate := 0.0
	rhs := func(y [3]float64, u float64) [3]float64 {
		z[0] = y[2]
		f := p.Flow(z, dz, Input{V: y[1]})
		return [3]float64{y[1], u - f, dz[0]}
	}
	along := func(y, d [3]float64, h float64) [3]float64 {
		return [3]float64{y[0] + h*d[0], y[1] + h*d[1], y[2] + h*d[2]}
	}
	var y [3]float64
	for _, leg := range cycleLegs {
		rate = leg.rate
		for k := range int(math.Round(leg.dur / h)) {
			at := func(s float64) float64 { return u + rate*(float64(k)+s)*h }
			k1 := rhs(y, at(0))
			k2 := rhs(along(y, k1, h/2), at(0.5))
			k3 := rhs(along(y, k2, h/2), at(0.5))
			k4 := rhs(along(y, k3, h), at(1))
			for i := range y {
				y[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
			}
		}
		u += rate * leg.dur
		ends = append(ends, 1e6*y[0])
	}
	return ends
}

// Theory §4.3 gives 0.003 µm for Midpoint, 0.025 for Explicit and 0.036 for Implicit at 1 ms, 0.00003, 0.003 and 0.005 at
// 0.1 ms; required are 0.02 and 0.002 µm of the default. The last figure of Midpoint is left to the second method: where the
// force turns, Runge and Kutta's steps of 0.2 ms are good to about 1e-5 µm.
func TestPreslidingCycle(t *testing.T) {
	ref := cycleByRungeKutta(2e-4)
	for i, want := range []float64{44.86, 45.31, -9.56, -10.02, 44.86, 45.31} {
		if math.Abs(ref[i]-want) > 0.0055 {
			t.Errorf("reference: leg %d ends at %.4f µm, want %.2f µm", i, ref[i], want)
		}
	}
	// the rate-free curve −(FS/σ0)·ln(1 − u/FS) = 44.94 µm is what a slow ramp tends to
	if x := -15 * math.Log(1-1.425/1.5); math.Abs(x-44.94) > 0.005 || ref[0] > x || ref[0] < x-0.2 {
		t.Errorf("rate-free %.3f µm, cycle %.3f µm", x, ref[0])
	}
	for _, c := range []struct {
		s      Scheme
		h, tol float64 // s, µm
	}{
		{Midpoint, 1e-3, 0.0035}, {Explicit, 1e-3, 0.026}, {ExplicitPade, 1e-3, 0.026}, {Implicit, 1e-3, 0.037},
		{Midpoint, 1e-4, 0.00005}, {Explicit, 1e-4, 0.0035}, {ExplicitPade, 1e-4, 0.0035}, {Implicit, 1e-4, 0.0055},
	} {
		if testing.Short() && c.h < 1e-3 {
			continue
		}
		p := p95()
		b := newBench(t, &p, 1, c.s, &pulled{h: c.h})
		worst, u := 0.0, 0.0
		for i, leg := range cycleLegs {
			b.s.t, b.s.con, b.s.ramp = 0, u, leg.rate
			for k := range int(math.Round(leg.dur / c.h)) {
				b.s.t = float64(k) * c.h
				b.Step(c.h, b.x, b.s)
			}
			u += leg.rate * leg.dur
			worst = max(worst, math.Abs(1e6*b.x[0]-ref[i]))
		}
		t.Logf("%v, h=%g: within %.5f µm", c.s, c.h, worst)
		if worst > c.tol {
			t.Errorf("%v, h=%g: off by %.5f µm, want ≤ %g µm", c.s, c.h, worst, c.tol)
		}
	}
}
