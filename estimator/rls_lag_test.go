package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A drive without inductance that samples five times more rarely than commands come, and takes the newest one at some phase of its
// sampling period; or all of them, as they come. It is integrated here, in steps of 20 µs. The bow is that of commands that are taken as
// they come.
func takesAt(t *testing.T, lag, phase float64, seed uint64) (j, se, late, lateErr float64) {
	t.Helper()
	const (
		fine, h                  = 20e-6, 5e-3 // s
		every, perTick           = 250, 50
		ohm, k                   = 1.2, 0.042
		inertia, viscous, level  = 7e-5, 1.5e-4, 0.015
		encoder, noise, duration = 2 * math.Pi / 65536, 0.02, 40.0
	)
	r := newRLS(t, RLSSpec{Dt: h, K: k, Window: 0.2, MinVel: 1.5, Count: encoder, Lag: lag})
	rng := rand.New(rand.NewPCG(seed, 77))
	var x, w, u, asIs, asked, model, begin float64
	for n := range int(duration / fine) {
		at := float64(n) * fine
		if n%perTick == 0 { // forward for a while, then back
			way := math.Copysign(1, math.Sin(2*math.Pi*at/5))
			asIs = way * (1.2 + 0.25*math.Sin(2*math.Pi*2.3*at) + 0.1*math.Sin(2*math.Pi*0.7*at))
		}
		if phase < 0 || n%every == int(phase*every) {
			u = asIs
		}
		if n%every == 0 {
			now := (asIs - k*w) / ohm // the model's current
			if n > 0 {
				r.Bow(model/every-(begin+now)/2, asked/every, false)
			}
			r.Step(math.Round(x/encoder)*encoder, w, (u-k*w)/ohm+noise*rng.NormFloat64(), true)
			model, asked, begin = 0, 0, now
		}
		model, asked = model+(asIs-k*w)/ohm, asked+asIs/ohm
		torque := k * (u - k*w) / ohm
		was := w
		w += fine * (torque - viscous*w - level*math.Tanh(w/0.02)) / inertia
		x += fine * (was + w) / 2
	}
	var v, errs [rlsN]float64
	r.Values(v[:])
	r.StdErrs(errs[:])
	late, lateErr = r.Lag()
	return v[PInertia] / inertia, errs[PInertia] / inertia, late, lateErr
}

// The inertia lies in its interval whenever the drive takes its commands, where that is an unknown. Where it is not, commands taken once
// a sample make it wrong, to either side.
func TestTimeOfCommandsIsFound(t *testing.T) {
	for _, c := range []struct {
		phase float64 // < 0: as they come
		late  float64 // s  by which commands are later than the bow has it: the phase less half a sample, but for parts of a tick
	}{{-1, 0}, {0.04, -2.3e-3}, {0.3, -1e-3}, {0.9, 2e-3}} {
		worst, lag, tolerance := 0.0, 0.0, 0.5e-3
		const seeds = 4
		for seed := range uint64(seeds) {
			j, se, late, lateErr := takesAt(t, 5e-3/math.Sqrt(12), c.phase, seed)
			worst, lag, tolerance = max(worst, math.Abs(j-1)/se), lag+late/seeds, tolerance+lateErr/seeds
			if se > 0.05 {
				t.Errorf("phase %g: the inertia is known to %.2g only", c.phase, se)
			}
		}
		j, se, _, _ := takesAt(t, 0, c.phase, 1)
		t.Logf("phase %g: at most %.1f errors off, commands %.2f ms late; taken for known: J %.4f ± %.2g", c.phase, worst, 1e3*lag, j, se)
		if worst > 3 || math.Abs(lag-c.late) > tolerance {
			t.Errorf("phase %g: at most %.1f errors off; commands %.2f ms late, truth %.2f ms", c.phase, worst, 1e3*lag, 1e3*c.late)
		}
		if off := math.Abs(j-1) / se; math.Abs(c.late) > 1.5e-3 && off < 4 {
			t.Errorf("phase %g: without the time of commands J is %.4f ± %.2g: this test shows nothing", c.phase, j, se)
		}
	}
}

// The time of commands costs no allocation.
func TestTimeOfCommandsAllocs(t *testing.T) {
	r := newRLS(t, RLSSpec{Dt: 5e-3, K: 0.042, Window: 0.2, MinVel: 0.1, Lag: 1e-3})
	k := 0
	if n := testing.AllocsPerRun(2000, func() {
		at := float64(k) * 5e-3
		r.Bow(0.01*math.Sin(9*at), math.Sin(11*at), false)
		r.Step(3*at+0.2*math.Sin(10*at), 3+2*math.Cos(10*at), math.Sin(10*at), true)
		k++
	}); n != 0 || r.Windows() == 0 {
		t.Errorf("%g allocations per sample, %d windows", n, r.Windows())
	}
}

// A force that runs straight between its samples has no bow: lag and share are unknowns that say nothing, and the inertia is found.
func TestTimeOfCommandsWithoutBow(t *testing.T) {
	const h = 0.02
	r, err := NewRLS(RLSSpec{Dt: h, K: 1, Window: 10 * h, MinVel: 1, Cond: 1e4, Lag: h / math.Sqrt(12)})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2000 {
		at, sign := h*float64(k), 1-2*float64(k/500%2)
		if k%500 == 0 {
			r.Gap()
		}
		theta := sign * (20*at - 9/2.5*math.Cos(2.5*at) - 4/5.9*math.Cos(5.9*at))
		w, a := sign*(20+9*math.Sin(2.5*at)+4*math.Sin(5.9*at)), sign*(9*2.5*math.Cos(2.5*at)+4*5.9*math.Cos(5.9*at))
		r.Step(theta, w, 7e-5*a+1.5e-4*w+0.015*sign, true)
	}
	var v, se [rlsN]float64
	r.Values(v[:])
	r.StdErrs(se[:])
	if !(math.Abs(v[PInertia]/7e-5-1) < 0.02) || !(se[PInertia] < 0.1*7e-5) {
		t.Errorf("J %.4g ± %.2g, want 7e-5", v[PInertia], se[PInertia])
	}
}
