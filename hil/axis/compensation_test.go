package axis

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

func demoLaw() *friction.LuGre {
	return &friction.LuGre{Sigma0: 11, Sigma1: 0.02, Sigma2: 1.5e-4, Fc: 15e-3, Fs: 21e-3, Vs: 0.5, Vd: 0.3}
}

// mad is a law that gives what it is told.
type mad struct{ f float64 }

func (m *mad) Reset() {}
func (m *mad) Compensate(float64, estimator.Motion) (float64, engine.Status) {
	return m.f, engine.OK
}

// Whatever a law says, what leaves is finite, limited to either side, and moves by no more than its slew rate.
func TestCompensatorIsBounded(t *testing.T) {
	comp := CompSpec{Kind: CompObserver, Scale: 0.95, Rest: 0.05, Slew: 10, Limit: 0.02}
	for _, side := range []float64{1, -1} {
		c, err := newCompensator(comp, demoLaw(), 7e-5, control.PID{Kp: 0.25, Kd: 6e-3})
		if err != nil {
			t.Fatal(err)
		}
		law := &mad{}
		c.law = law
		last := 0.0
		for k := range 400 {
			law.f = []float64{1e9, -1e9, math.NaN(), math.Inf(1), 1e-3}[k%5]
			if k > 200 {
				law.f = 7 * side
			}
			f, st := c.step(estimator.Motion{V: 1, Vd: 1, E: 0.1}, 1e-3)
			if !numeric.IsFinite(f) || math.Abs(f) > 0.02 || math.Abs(f-last) > 0.01*(1+1e-12) {
				t.Fatalf("step %d: %g N·m after %g", k, f, last)
			}
			if !numeric.IsFinite(law.f) && st != engine.NonFinite {
				t.Fatalf("step %d: a law that gives %g went unnoticed", k, law.f)
			}
			last = f
		}
		if last != 0.02*side {
			t.Errorf("%g N·m at the end, want the limit to side %+g", last, side)
		}
		c.reset()
		if f, _ := c.step(estimator.Motion{}, 1e-3); math.Abs(f) > 0.01 {
			t.Errorf("%g N·m right after a reset", f)
		}
	}
}

// A kind of compensation or of drive that is not known is refused, the first one behind the last as well.
func TestUnknownKinds(t *testing.T) {
	for _, beyond := range []int{0, 1} {
		s := motorSpec(t, reference.Spec{Kind: "constant"})
		s.Comp.Kind = CompKind(len(Compensations) + beyond)
		if _, err := New(s); err == nil {
			t.Errorf("compensation %d of %d is taken", s.Comp.Kind, len(Compensations))
		}
		s = motorSpec(t, reference.Spec{Kind: "constant"})
		s.Drive = plant.DriveKind(len(s.Drive.Words()) + beyond)
		if _, err := New(s); err == nil {
			t.Errorf("drive kind %d of %d is taken", s.Drive, len(plant.VoltageDrive.Words()))
		}
	}
}

// Pulses leave an error alone that is below four times what the sensor tells apart.
func TestPulsesLeaveTheResolutionAlone(t *testing.T) {
	const resolution = 1e-3
	for _, c := range []struct {
		error float64
		push  bool
	}{{3.99 * resolution, false}, {-3.99 * resolution, false}, {4.01 * resolution, true}, {-4.01 * resolution, true}} {
		spec := CompSpec{Kind: CompObserver, Resolution: resolution,
			Dither: estimator.DitherSpec{Kind: estimator.DitherPulse, Amplitude: 0.05, Frequency: 10}}
		comp, err := newCompensator(spec, demoLaw(), 7e-5, control.PID{Kp: 0.25, Kd: 6e-3})
		if err != nil {
			t.Fatal(err)
		}
		comp.reset()
		pushed := 0.0
		for range 200 {
			m := estimator.Motion{E: c.error}
			comp.step(m, 1e-3)
			if f := comp.shake(m, 0, 1e-3); f != 0 {
				pushed = f
			}
		}
		if (pushed != 0) != c.push || pushed*c.error > 0 {
			t.Errorf("standing error %g rad: a pulse of %g N·m", c.error, pushed)
		}
	}
}

// The compensation fades in over its ramp, and goes to zero at rest over its rest time.
func TestCompensationFades(t *testing.T) {
	comp := CompSpec{Kind: CompObserver, Scale: 0.8, Ramp: 0.1, Resolution: 1e-3, Rest: 0.05}
	c, err := newCompensator(comp, demoLaw(), 7e-5, control.PID{Kp: 0.25, Kd: 6e-3})
	if err != nil {
		t.Fatal(err)
	}
	c.law = &mad{0.01}
	run := func(n int, m estimator.Motion) (f float64) {
		for range n {
			f, _ = c.step(m, 1e-3)
		}
		return f
	}
	c.reset()
	moving, arrived := estimator.Motion{Vd: 1}, estimator.Motion{E: 0.5e-3}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %g N·m, want %g", what, got, want)
		}
	}
	near("half way through the ramp", run(40, moving), 0.004)
	near("after the ramp", run(1000, moving), 0.008)
	near("half way to rest", run(25, arrived), 0.004)
	near("at rest", run(100, arrived), 0)
	near("pushed by less than the contact gives way", run(100, estimator.Motion{E: 3e-3}), 0)
	near("pushed further", run(100, estimator.Motion{E: 6e-3}), 0.008)
	run(100, arrived)
	near("motion commanded", run(100, moving), 0.008)
}

// The dither fades in whatever the scale is, also with none of the compensation, and a new scale leaves it alone.
func TestDitherFadesIn(t *testing.T) {
	dither := estimator.DitherSpec{Kind: estimator.DitherForce, Amplitude: 0.03, Frequency: 100}
	peaks := func(scale, later float64) (peaks [4]float64) {
		pid := control.PID{Kp: 0.25, Kd: 6e-3}
		c, err := newCompensator(CompSpec{Kind: CompObserver, Scale: scale, Ramp: 0.1, Dither: dither}, demoLaw(), 7e-5, pid)
		if err != nil {
			t.Fatal(err)
		}
		c.reset()
		m := estimator.Motion{Vd: 1}
		for k := range 200 {
			if k == 150 {
				c.adopt(later, 0, pid)
			}
			c.step(m, 1e-3)
			peaks[k/50] = max(peaks[k/50], math.Abs(c.shake(m, 0, 1e-3)))
		}
		return peaks
	}
	want := peaks(0.8, 0.8)
	if top := 0.03 * math.Sin(0.4*math.Pi); math.Abs(want[2]-top) > 1e-6 || want[0] > 0.51*top || want[3] != want[2] {
		t.Errorf("peaks in every 50 ms of a ramp of 100 ms: %v N·m, want half and all of %g", want, top)
	}
	for _, c := range [][2]float64{{0, 0}, {0, 0.8}, {0.4, 0.8}, {0.8, 0}} {
		if got := peaks(c[0], c[1]); got != want {
			t.Errorf("scale %g, then %g: peaks %v N·m, want %v", c[0], c[1], got, want)
		}
	}
}

// Gains that change while the rig runs change what the observers of the adaptive law may feed back, too.
func TestInjectionFollowsTheGains(t *testing.T) {
	pid := control.PID{Kp: 0.25, Kd: 6e-3}
	c, err := newCompensator(CompSpec{Kind: CompLuGre, Scale: 1, Adapt: Adapt{Time: 1, Range: [2]float64{0.5, 2}}}, demoLaw(), 7e-5, pid)
	if err != nil {
		t.Fatal(err)
	}
	law := c.law.(*estimator.AdaptiveLuGre)
	for _, share := range []float64{1, 0.1, 0.3} {
		soft := control.PID{Kp: share * pid.Kp, Kd: share * pid.Kd}
		c.adopt(1, 0, soft)
		law.Reset()
		// at rest the first observer moves by −k·r·h, r = Λe
		const e = 0.01
		if _, st := law.Compensate(1e-3, estimator.Motion{E: e}); st == engine.NonFinite {
			t.Fatal(st)
		}
		z, _ := law.Bristles()
		k := -z / (estimator.SlidingOf(soft.Kp, soft.Kd, 7e-5).Lambda * e * 1e-3)
		if want := estimator.Injection(demoLaw(), soft.Kp, soft.Kd, 100*demoLaw().Vs); math.Abs(k-want) > 1e-9*want {
			t.Errorf("gains × %g: injection %g, want %g", share, k, want)
		}
	}
}
