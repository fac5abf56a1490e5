package estimator

import (
	"math"
	"strings"
	"testing"

	"hilrig/engine"
)

// compensations are all laws, for what holds for every one.
func compensations(t *testing.T) map[string]Compensation {
	t.Helper()
	law := demoLaw()
	sl := SlidingOf(0.25, 6e-3, 7e-5)
	adapt := AdaptSpec{Law: &law, Sliding: sl, Rate: sl.Rate(1, law.Fc), Range: [2]float64{0.5, 2}}
	all := map[string]Compensation{}
	add := func(name string, c Compensation, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = c
	}
	ff, err := NewFeedForward(&law)
	add("feed-forward", ff, err)
	st, err := NewStaticFeedForward(StaticSpec{Law: &law, LeadTime: 2e-3})
	add("static", st, err)
	ob, err := NewObserver(ObserverSpec{Law: &law, Gain: 1})
	add("observer", ob, err)
	for _, order := range []int{1, 2} {
		d, err := NewDisturbanceObserver(DisturbanceSpec{Inertia: 7e-5, Bandwidth: 20, Order: order, Limit: 0.03})
		add([]string{"", "disturbance", "disturbance of second order"}[order], d, err)
	}
	ag, err := NewAdaptiveGain(adapt)
	add("adaptive gain", ag, err)
	al, err := NewAdaptiveLuGre(adapt, 1e-3)
	add("adaptive LuGre", al, err)
	for name, law := range allLaws(t) {
		ff, err := NewFeedForward(law)
		add("feed-forward of "+name, ff, err)
		st, err := NewStaticFeedForward(StaticSpec{Law: law, LeadTime: 2e-3})
		add("static of "+name, st, err)
		if Yields(law) != nil {
			continue
		}
		ob, err := NewObserver(ObserverSpec{Law: law})
		add("observer of "+name, ob, err)
		adapt.Law = law
		ag, err := NewAdaptiveGain(adapt)
		add("adaptive gain of "+name, ag, err)
	}
	return all
}

func TestCompensationsStepWithoutAllocating(t *testing.T) {
	for name, c := range compensations(t) {
		k := 0.0
		if n := testing.AllocsPerRun(200, func() { k++; c.Compensate(1e-3, Motion{V: math.Sin(0.1 * k), Vd: 1, U: 0.01}) }); n != 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}

// Any number that is none gives no torque and a status, and leaves no trace: the next good motion gives a finite torque.
func TestCompensationsSurviveBadNumbers(t *testing.T) {
	good := Motion{V: 1, E: -0.01, Vd: 1.1, Ad: 2, U: 0.02}
	for name, c := range compensations(t) {
		for i, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for j := range 5 {
				m := good
				*[]*float64{&m.V, &m.E, &m.Vd, &m.Ad, &m.U}[j] = bad
				if f, st := c.Compensate(1e-3, m); f != 0 || st != engine.NonFinite {
					t.Errorf("%s: bad number %d in place %d: torque %g, %v", name, i, j, f, st)
				}
				if f, st := c.Compensate(1e-3, good); math.IsNaN(f) || math.IsInf(f, 0) || st == engine.NonFinite {
					t.Errorf("%s: after a bad number: torque %g, %v", name, f, st)
				}
			}
		}
		for _, wild := range []float64{1e150, -1e150, 1e305, -1.7e308, 1.7e308, 1e-300} { // finite, but not of this world
			if f, _ := c.Compensate(1e-3, Motion{V: wild, E: wild, Vd: wild, Ad: wild}); math.IsNaN(f) || math.IsInf(f, 0) {
				t.Errorf("%s: torque %g at %g rad/s", name, f, wild)
			}
			c.Compensate(1e-3, Motion{V: -wild})
			// the first step after it may see the jump back as one
			c.Compensate(1e-3, good)
			f, st := c.Compensate(1e-3, good)
			for range 100 { // a law with a memory sees it for a while
				f, st = c.Compensate(1e-3, good)
			}
			if limit := map[bool]float64{false: 1, true: 20}[strings.Contains(name, " of ")]; !(math.Abs(f) < limit) || st == engine.NonFinite {
				t.Errorf("%s: after %g rad/s: torque %g, %v", name, wild, f, st)
			}
			if l, ok := c.(Learning); ok {
				var theta [3]float64
				l.Thetas(theta[:])
				for _, x := range theta {
					if x != 0 && !(x >= 0.5 && x <= 2) {
						t.Errorf("%s: after %g rad/s: factors %v", name, wild, theta)
					}
				}
			}
		}
	}
}

// A law that strengthens with speed, Fs < Fc, is compensated in full: what bounds the force is the higher of the two levels.
func TestObserverReachesTheHigherLevel(t *testing.T) {
	law := demoLaw()
	law.Fs = 0.5 * law.Fc
	o, err := NewObserver(ObserverSpec{Law: &law})
	if err != nil {
		t.Fatal(err)
	}
	var f float64
	var st engine.Status
	v := 20 * law.Vs
	for range 1000 {
		f, st = o.Step(1e-3, v*1e-3, 0)
	}
	if want := law.SteadyForce(v); math.Abs(f-want) > 1e-9*want || st != engine.OK {
		t.Errorf("long sliding: %g N·m, %v, want %g", f, st, want)
	}
}

// At rest, with no motion commanded and no error, nothing pushes; and a feed-forward looks at nothing but the desired motion.
func TestCompensationsAtRest(t *testing.T) {
	for name, c := range compensations(t) {
		c.Reset()
		for range 1000 {
			if f, st := c.Compensate(1e-3, Motion{}); f != 0 || st != engine.OK {
				t.Fatalf("%s: torque %g at rest, %v", name, f, st)
			}
		}
	}
	a, b := compensations(t), compensations(t)
	for _, name := range []string{"feed-forward", "static"} {
		for k := range 500 {
			m := Motion{Vd: math.Sin(0.02 * float64(k)), Ad: 20 * math.Cos(0.02*float64(k))}
			want, _ := a[name].Compensate(1e-3, m)
			m.V, m.E, m.U, m.LearningHeld = 7, -3, 0.2, true
			if got, _ := b[name].Compensate(1e-3, m); got != want {
				t.Fatalf("%s: %g with another measured motion, %g", name, got, want)
			}
		}
	}
}

// The static feed-forward is the steady curve, with the sign of the motion that comes next.
func TestStaticFeedForward(t *testing.T) {
	law := demoLaw()
	f, err := NewStaticFeedForward(StaticSpec{Law: &law, LeadTime: 5e-3, Band: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	at := func(vd, ad float64) float64 { q, _ := f.Compensate(1e-3, Motion{Vd: vd, Ad: ad}); return q }
	for _, c := range []struct {
		name         string
		vd, ad, want float64
	}{
		{"sliding forward", 3, 0, law.SteadyForce(3)},
		{"sliding backward", -0.2, 0, law.SteadyForce(-0.2)},
		{"about to start forward: break-away", 0, 20, law.Fs},
		{"about to start backward", 0, -1000, -law.Fs},
		{"half way through the band", 0.05, 0, 0.5*(law.SteadyForce(0.05)-law.Sigma2*0.05) + law.Sigma2*0.05},
		{"braking through zero: 5 ms ahead it runs backward", 0.1, -40, -(law.SteadyForce(0.1) - law.Sigma2*0.1) + law.Sigma2*0.1},
	} {
		if got := at(c.vd, c.ad); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s: %g N·m, want %g", c.name, got, c.want)
		}
	}
}

// Q against its closed form: a constant disturbance on a free mass appears as 1 − e^{−ωt} (order 1) and 1 − (1+ωt)e^{−ωt}
// (order 2), whatever the torque does; both are 3 dB down at the bandwidth, measured with a sine.
func TestDisturbanceObserverIsItsFilter(t *testing.T) {
	const j, d, h, band = 7e-5, 0.012, 1e-3, 10.0
	for _, order := range []int{1, 2} {
		o, err := NewDisturbanceObserver(DisturbanceSpec{Inertia: j, Bandwidth: band, Order: order, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		w := 2 * math.Pi * band / []float64{0, 1, math.Sqrt(math.Sqrt2 - 1)}[order]
		v := 0.0
		o.Compensate(h, Motion{}) // the first tick only learns the speed
		for k := 1; k <= 300; k++ {
			u := 0.05 * math.Sin(0.3*float64(k*k%17)) // anything
			v += h * (u - d) / j
			got, _ := o.Compensate(h, Motion{V: v, U: u})
			a := w * h * float64(k)
			want := d * -math.Expm1(-a)
			if order == 2 {
				want = d * (1 - (1+a)*math.Exp(-a))
			}
			if math.Abs(got-want) > 1e-9*d {
				t.Fatalf("order %d, step %d: %.12g, want %.12g", order, k, got, want)
			}
		}
		// a sine at the bandwidth, in steps far below its period
		o.Reset()
		const fine = 1e-5
		lo, hi := 0.0, 0.0
		for k := range 100000 {
			f, _ := o.Compensate(fine, Motion{U: math.Sin(2 * math.Pi * band * float64(k) * fine)})
			if k > 50000 {
				lo, hi = min(lo, f), max(hi, f)
			}
		}
		if math.Abs(hi-math.Sqrt(0.5)) > 1e-3 || math.Abs(lo+hi) > 1e-6 {
			t.Errorf("order %d: amplitude %.5f … %.5f at the bandwidth, want 0.7071", order, lo, hi)
		}
	}
}

// Frozen inside the dead band and while held, limited outside, and it leaves the limit at once.
func TestDisturbanceObserverFreezes(t *testing.T) {
	o, _ := NewDisturbanceObserver(DisturbanceSpec{Inertia: 1, Bandwidth: 5, Order: 2, DeadBand: 1e-3, Limit: 0.5})
	run := func(n int, m Motion) (f float64, st engine.Status) {
		for range n {
			f, st = o.Compensate(1e-3, m)
		}
		return f, st
	}
	if f, st := run(2000, Motion{E: -0.1, U: 3}); f != 0.5 || st != engine.Limited {
		t.Errorf("pushing against a wall: %g N·m, %v, want the limit", f, st)
	}
	if f, _ := run(1, Motion{E: -0.1, U: -3}); f >= 0.5 {
		t.Error("it stays at its limit")
	}
	before := o.Estimate()
	if f, _ := run(500, Motion{E: 0.9e-3, U: -3}); f != before {
		t.Errorf("inside the dead band it moved from %g to %g", before, f)
	}
	if f, _ := run(500, Motion{E: 1, U: -3, LearningHeld: true}); f != before {
		t.Errorf("while held it moved from %g to %g", before, f)
	}
}

func TestCompensationSpecsAreChecked(t *testing.T) {
	law, bad := demoLaw(), demoLaw()
	bad.Fc = math.NaN()
	ok := AdaptSpec{Law: &law, Rate: 1, Range: [2]float64{0.5, 2}}
	with := func(change func(*AdaptSpec)) AdaptSpec { s := ok; change(&s); return s }
	good := DisturbanceSpec{Inertia: 1, Bandwidth: 1, Order: 1, Limit: 1}
	dist := func(change func(*DisturbanceSpec)) DisturbanceSpec { s := good; change(&s); return s }
	for name, build := range map[string]func() error{
		"law of the feed-forward": func() error { _, err := NewFeedForward(&bad); return err },
		"negative lead":           func() error { _, err := NewStaticFeedForward(StaticSpec{Law: &law, LeadTime: -1}); return err },
		"order 3": func() error {
			_, err := NewDisturbanceObserver(dist(func(s *DisturbanceSpec) { s.Order = 3 }))
			return err
		},
		"no bandwidth": func() error {
			_, err := NewDisturbanceObserver(dist(func(s *DisturbanceSpec) { s.Bandwidth = 0 }))
			return err
		},
		"no limit": func() error {
			_, err := NewDisturbanceObserver(dist(func(s *DisturbanceSpec) { s.Limit = math.Inf(1) }))
			return err
		},
		"range without 1": func() error {
			_, err := NewAdaptiveGain(with(func(s *AdaptSpec) { s.Range = [2]float64{1.1, 2} }))
			return err
		},
		"negative rate": func() error { _, err := NewAdaptiveGain(with(func(s *AdaptSpec) { s.Rate = -1 })); return err },
		"no injection":  func() error { _, err := NewAdaptiveLuGre(ok, 0); return err },
		"weak pulse": func() error {
			_, err := NewDither(DitherSpec{Kind: DitherPulse, Amplitude: 1, Fc: 1, Inertia: 1, Zone: 1, Frequency: 1})
			return err
		},
		"no frequency":   func() error { _, err := NewDither(DitherSpec{Kind: DitherForce, Amplitude: 1}); return err },
		"unknown dither": func() error { _, err := NewDither(DitherSpec{Kind: 9, Frequency: 1}); return err },
	} {
		if build() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := NewAdaptiveLuGre(ok, 1); err != nil {
		t.Error(err)
	}
}
