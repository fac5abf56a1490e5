package friction

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The reference keeps every knot and searches from the start.
type fullHistory struct{ t, v []float64 }

func (f *fullHistory) at(t float64) float64 {
	if t < f.t[0] {
		return 0
	}
	for i := 1; i < len(f.t); i++ {
		if t < f.t[i] {
			return f.v[i-1] + (f.v[i]-f.v[i-1])*(t-f.t[i-1])/(f.t[i]-f.t[i-1])
		}
	}
	return f.v[len(f.v)-1]
}

// Random steps, some missed, and a delay that changes: as long as nothing is thinned (no step below the gap of 30 ms/252·1.25)
// the line agrees with the full history, whatever the order of the readings.
func TestDelayAgreesWithFullHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		z := make([]float64, delayDim)
		delayReset(z)
		delayFor(z, 0.03)
		full := fullHistory{[]float64{0}, []float64{0}}
		h := rapid.Float64Range(2e-4, 5e-3).Draw(rt, "h")
		now := 0.0
		for range rapid.IntRange(1, 600).Draw(rt, "steps") {
			now += h * float64(rapid.SampledFrom([]int{1, 1, 1, 2, 7}).Draw(rt, "missed"))
			v := rapid.Float64Range(-1, 1).Draw(rt, "v")
			delayPush(z, now, v)
			full.t, full.v = append(full.t, now), append(full.v, v)
			at := now - rapid.Float64Range(-1e-3, 30e-3).Draw(rt, "delay")
			if got, want := delayAt(z, at), full.at(at); math.Abs(got-want) > 1e-12 {
				rt.Fatalf("v(%g) at t = %g: %g, want %g", at, now, got, want)
			}
		}
	})
}

// Short steps are thinned: the error stays below (gap + h)²/8 of the second derivative, and the delay is kept.
func TestDelayThins(t *testing.T) {
	const tau, w = 0.05, 30.0
	for _, h := range []float64{1e-6, 7e-6, 1e-4, 1e-3} {
		z := make([]float64, delayDim)
		delayReset(z)
		delayFor(z, tau)
		gap := 1.25 * tau / (delayKnots - 4)
		bound := (gap + h) * (gap + h) / 8 * w * w
		if h > gap {
			bound = h * h / 8 * w * w
		}
		worst := 0.0
		for k := 1; float64(k)*h < 0.3; k++ {
			now := float64(k) * h
			delayPush(z, now, math.Sin(w*now))
			got := delayAt(z, now-tau)
			worst = max(worst, math.Abs(got-math.Sin(w*max(0, now-tau))))
		}
		if worst > bound*1.01+1e-12 {
			t.Errorf("h = %g: off by %g, bound %g", h, worst, bound)
		}
		t.Logf("h = %g: off by %.2g, bound %.2g", h, worst, bound)
	}
}

func TestDelayEdges(t *testing.T) {
	z := make([]float64, delayDim)
	delayStart(z, 2, 0.3)
	for _, at := range []float64{1.98, 2, 2.5} {
		if v := delayAt(z, at); v != 0.3 {
			t.Errorf("before any push v(%g) = %g, want 0.3", at, v)
		}
	}
	// a second velocity at the same time replaces the first
	delayPush(z, 2.1, 5)
	delayPush(z, 2.1, 0.5)
	if v := delayAt(z, 2.05); math.Abs(v-0.4) > 1e-12 {
		t.Errorf("v(2.05) = %g, want 0.4", v)
	}
	// a delay far beyond what has been kept finds the oldest knot
	for k := range 1000 {
		delayPush(z, 2.2+1e-3*float64(k), 1+float64(k))
	}
	if v := delayAt(z, 2.5); v != 1+float64(1000-delayKnots) {
		t.Errorf("v before the oldest knot = %g, want that of knot %d", v, 1000-delayKnots)
	}
	// …and is provided for from then on
	for k := range 5000 {
		delayPush(z, 3.2+1e-3*float64(k), 1+float64(k))
	}
	if v := delayAt(z, 8.199-0.7); math.Abs(v-4300) > 1 {
		t.Errorf("v 0.7 s ago = %g, want 4300", v)
	}
}

func BenchmarkDelay(b *testing.B) {
	z := make([]float64, delayDim)
	t, v := 0.0, 0.0
	b.ReportAllocs()
	for b.Loop() {
		t += 1e-3
		delayPush(z, t, v)
		v += 1e-3 * delayAt(z, t-0.0207)
		v = 0.5 - v
	}
}
