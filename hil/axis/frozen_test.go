package axis

import (
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// frozenSpec is an axis of 1 kg·m² and 1 N·m of break-away, with a count of 1 mrad, by hand: an effort drive of 100 N·m, so that the
// hold is 2 + 1 = 3 N·m.
func frozenSpec() *Spec {
	return &Spec{Drive: plant.EffortDrive, Tick: 1e-3, SamplePeriod: 1e-3, TopCommand: 100, Motor: plant.Motor{J: 1},
		Law:        &friction.LuGre{Fc: 0.5, Fs: 1, Sigma0: 1e3, Vs: 1},
		Mechanical: estimator.MechanicalSpec{Count: 1e-3}}
}

const countNoise = 1e-3 / 3.4641016151377544

// trip is the time (s) after which a position that gives these numbers is frozen, and the finding; 0: never in 2 s.
func trip(f *frozen, at func(t float64) (position, command, current, load float64)) (float64, Finding) {
	for k := range 2000 {
		t := 1e-3 * float64(k)
		x, u, i, load := at(t)
		if bad, _ := f.step(Tick{Energised: true}, &estimator.Sample{Value: x, Updated: true}, u, i, load); bad.Fault != Fine {
			return t, bad
		}
	}
	return 0, Finding{}
}

// An effort beyond the hold trips in the time in which the twin goes 30 counts and 0.1 s, or 1000 counts and 30 ms; not below it, to
// neither side.
func TestFrozenTimes(t *testing.T) {
	for _, c := range []struct {
		name   string
		spec   func(*Spec)
		effort float64 // N·m
		want   float64 // s
		way    float64 // rad  at least
	}{
		{"below the hold", nil, 2.99, 0, 0},
		{"the hold itself", nil, 3, 0, 0},
		{"1 N·m above: 30 mrad", nil, 4, math.Sqrt(2 * 30e-3), 30e-3},
		{"10 N·m above: 0.1 s", nil, 13, 0.1, 30e-3},
		{"90 N·m above: 0.1 s, 1000 counts would take 149 ms", nil, 93, 0.1, 30e-3},
		{"2500 N·m above: 1000 counts", func(s *Spec) { s.TopCommand = 3000; s.Law.(*friction.LuGre).Fs = 0.5; s.Motor.J = 1 }, 2531,
			math.Sqrt(2 * 1 / 2500.0), 1},
		{"10 000 N·m above: 30 ms", func(s *Spec) { s.TopCommand = 12000 }, 10122, 30e-3, 1},
		{"the declared offset is no push", func(s *Spec) { s.Law.(*friction.LuGre).Offset = 10 }, 12.9, 0, 0},
		{"beyond it", func(s *Spec) { s.Law.(*friction.LuGre).Offset = 10 }, 23, 0.1, 30e-3},
		{"no law: 5 % of the largest effort", func(s *Spec) { s.Law = nil }, 4.9, 0, 0},
		{"no law, above", func(s *Spec) { s.Law = nil }, 15, 0.1, 30e-3},
		{"a sample in 50 ms: five of them", func(s *Spec) { s.SamplePeriod = 50e-3 }, 13, 0.25, 30e-3},
		{"a velocity of 1 %", func(s *Spec) { s.Drive = plant.VelocityDrive }, 1, 0, 0},
		{"a velocity of 1 % and 0.5 rad/s: 0.1 s", func(s *Spec) { s.Drive = plant.VelocityDrive }, 1.5, 0.1, 30e-3},
		{"a velocity of 1 % and 0.1 rad/s: 30 mrad", func(s *Spec) { s.Drive = plant.VelocityDrive }, 1.1, 0.3, 30e-3},
		{"a velocity of 50 rad/s: 30 ms", func(s *Spec) { s.Drive = plant.VelocityDrive }, 51, 30e-3, 1},
		{"a velocity without a largest one: 0.3 rad/s", func(s *Spec) { s.Drive, s.TopCommand = plant.VelocityDrive, 0 }, 0.29, 0, 0},
		{"a voltage: 2 N·m, 0.98 of the largest, and the drop of 2 V", func(s *Spec) { // K/R 1 N·m/V
			s.Drive, s.Motor.R, s.Motor.K, s.Motor.BrushDrop = plant.VoltageDrive, 1, 1, 2
		}, 2 + 2 + 0.98 - 0.01, 0, 0},
		{"a voltage beyond it", func(s *Spec) {
			s.Drive, s.Motor.R, s.Motor.K, s.Motor.BrushDrop = plant.VoltageDrive, 1, 1, 2
		}, 2 + 2 + 0.98 + 10, 0.1, 30e-3},
		{"a current: K 2 N·m/A", func(s *Spec) { s.Drive, s.Motor.K = plant.CurrentDrive, 2 }, (2+2)/2 - 0.01, 0, 0},
		{"a current beyond it", func(s *Spec) { s.Drive, s.Motor.K = plant.CurrentDrive, 2 }, (2 + 2 + 10) / 2, 0.1, 30e-3},
	} {
		for _, side := range []float64{1, -1} {
			s := frozenSpec()
			if c.spec != nil {
				c.spec(s)
			}
			if l, ok := s.Law.(*friction.LuGre); ok {
				l.Offset *= side
			}
			got, found := trip(newFrozen(s, countNoise), func(float64) (float64, float64, float64, float64) { return 0, side * c.effort, 0, 0 })
			if math.Abs(got-c.want) > 3e-3 {
				t.Errorf("%s, %+g: after %g s, want %g", c.name, side, got, c.want)
			}
			if c.want > 0 && (found.Fault != Frozen || found.Quantity != estimator.Position || found.Value*side < c.way ||
				math.Abs(found.Limit-30e-3) > 1e-12 && math.Abs(found.Limit-1) > 1e-12) {
				t.Errorf("%s, %+g: %+v", c.name, side, found)
			}
		}
	}
}

// What begins it anew, what the load of the last motion takes off, and what a current tells.
func TestFrozenNumber(t *testing.T) {
	const push = 13
	for _, c := range []struct {
		name string
		at   func(t float64) (x, u, i, load float64)
		want float64 // s
	}{
		{"a count to and fro is the same number", func(t float64) (float64, float64, float64, float64) {
			return 1e-3 * math.Round(0.5+0.5*math.Sin(300*t)), push, 0, 0
		}, 0.1},
		{"two counts are not", func(t float64) (float64, float64, float64, float64) {
			return 2e-3 * math.Round(0.5+0.5*math.Sin(300*t)), push, 0, 0
		}, 0},
		{"a step of two counts after 80 ms", func(t float64) (float64, float64, float64, float64) {
			return 2e-3 * math.Round(math.Min(1, t/0.16)), push, 0, 0
		}, 0.18},
		{"a load that was there in motion", func(t float64) (float64, float64, float64, float64) { return math.Min(t, 0.5), push, 0, push }, 0},
		{"a smaller one", func(t float64) (float64, float64, float64, float64) { return math.Min(t, 0.5), push, 0, 3 }, 0.6},
		{"a load the other way is no help", func(t float64) (float64, float64, float64, float64) { return math.Min(t, 0.5), push, 0, -3 }, 0.6},
		{"a load of the newest motion alone, and no number after it", func(t float64) (float64, float64, float64, float64) {
			load := 0.0
			if t > 0.1995 {
				load = push
			}
			if t > 0.2015 {
				load = math.NaN()
			}
			return math.Min(2*t, 1), push, 0, load
		}, 0.6},
		{"a load beyond the effort: it pushes back", func(t float64) (float64, float64, float64, float64) {
			return math.Min(t, 0.5), push, 0,
				40
		}, 0},
	} {
		for _, side := range []float64{1, -1} {
			got, _ := trip(newFrozen(frozenSpec(), countNoise), func(t float64) (float64, float64, float64, float64) {
				x, u, i, load := c.at(t)
				return side * x, side * u, side * i, side * load
			})
			if math.Abs(got-c.want) > 4e-3 {
				t.Errorf("%s, %+g: after %g s, want %g", c.name, side, got, c.want)
			}
		}
	}
	// a number that is none, and an axis that is not driven, begin it anew
	f := newFrozen(frozenSpec(), countNoise)
	for k := range 300 {
		on := k != 60
		u := float64(push)
		if k == 130 {
			u = math.NaN()
		}
		if bad, _ := f.step(Tick{Energised: on}, &estimator.Sample{Updated: true}, u, 0, 0); (bad.Fault != Fine) != (k > 230) {
			t.Fatalf("tick %d: %+v", k, bad)
		}
	}
	// nothing new is no number
	f = newFrozen(frozenSpec(), countNoise)
	for k := range 300 {
		if bad, hint := f.step(Tick{Energised: true}, &estimator.Sample{Updated: k == 0}, push, 0, 0); bad.Fault != Fine || hint.Fault != Fine {
			t.Fatalf("tick %d without samples: %+v", k, bad)
		}
	}
	// the age of a sample comes to the time; it is a hint as soon as the twin has gone 30 counts, in five samples at least
	for _, c := range []struct {
		effort    float64 // N·m  of a drive of 12 000
		age       float64 // s
		bad, hint int     // ms
	}{{122 + 10, 0, 100, 77}, {122 + 10, 0.05, 150, 77}, {122 + 10000, 0, 30, 5}, {122 + 10000, 0.05, 80, 5}, {1, 0, -1, -1}} {
		for _, side := range []float64{1, -1} {
			s := frozenSpec()
			s.TopCommand = 12000
			f, from := newFrozen(s, countNoise), [2]int{-1, -1}
			for n := range 300 {
				bad, hint := f.step(Tick{Energised: true}, &estimator.Sample{Updated: true, Age: c.age}, side*c.effort, 0, 0)
				for i, found := range []Finding{bad, hint} {
					if found.Fault != Fine && from[i] < 0 {
						from[i] = n
					} else if found.Fault == Fine && from[i] >= 0 {
						t.Fatalf("%+g N·m: told from %d ms on, and not after %d", side*c.effort, from[i], n)
					}
				}
			}
			if math.Abs(float64(from[0]-c.bad)) > 2 || math.Abs(float64(from[1]-c.hint)) > 2 {
				t.Errorf("%+g N·m, an age of %g s: found and hinted after %v ms, want %d and %d", side*c.effort, c.age, from, c.bad, c.hint)
			}
		}
	}
	// a position of 1 mrad with a noise of ten counts is the same within a count, and a way is counted in what the noise makes of it; a count
	// that is larger than the noise explains is none
	for _, c := range []struct{ count, noise, same, counts float64 }{{1e-3, 10 * countNoise, 1e-3, 10e-3}, {1, countNoise, 1e-3, 1e-3},
		{0, countNoise, 1e-3, 1e-3}} {
		s := frozenSpec()
		s.Mechanical.Count = c.count
		if f := newFrozen(s, c.noise); math.Abs(f.tolerance-c.same) > 1e-12 || math.Abs(f.counts-c.counts) > 1e-12 {
			t.Errorf("count %g, noise %g: the same within %g, counted in %g; want %g, %g", c.count, c.noise, f.tolerance, f.counts, c.same, c.counts)
		}
	}
	// without a twin there is nothing
	for _, change := range []func(*Spec){func(s *Spec) { s.Motor.J = 0 }, func(s *Spec) { s.Drive = plant.NoDrive },
		func(s *Spec) { s.Law, s.TopCommand = nil, 0 }} {
		s := frozenSpec()
		if change(s); newFrozen(s, countNoise) != nil {
			t.Error("a twin of nothing")
		}
	}
}

// A current that takes all the voltage belongs to a shaft that stands; one that leaves voltage over to one that turns, and that alone is
// enough.
func TestFrozenBesideACurrent(t *testing.T) {
	spec := func() *Spec {
		s := frozenSpec()
		s.Drive, s.TopCommand, s.Motor = plant.VoltageDrive, 100, plant.Motor{R: 1, K: 1, J: 1}
		s.Sampling.Groups = []estimator.Group{{SamplePeriod: 1e-3, Quantities: []estimator.Quantity{estimator.Position, estimator.Current}}}
		return s
	}
	for _, c := range []struct {
		name   string
		sigma0 float64 // N·m/rad  0: a contact that does not yield
		u, i   float64
		fault  Fault
		want   float64 // s
	}{
		{"it stands", 0, 13, 13, Blocked, 0.1},
		{"it turns", 0, 13, 1, Frozen, 0.1},
		{"less than the hold, and all in the current", 1e3, 2.9, 2.9, Fine, 0},
		{"… and the contact must have given way", 100, 2.9, 2.9, Blocked, 0.19},
		{"less than the hold, and none in the current: 2.9 V less 1 V turn it", 1e3, 2.9, 0, Frozen, 0.1},
		{"more current than voltage", 1e3, 2.9, 20, Fine, 0},
		{"current against the voltage", 1e3, 2.9, -20, Fine, 0},
		{"0.9 V left of what may be wrong", 1e3, 0.9, 0, Fine, 0},
	} {
		for _, side := range []float64{1, -1} {
			s := spec()
			if s.Law.(*friction.LuGre).Sigma0 = c.sigma0; c.sigma0 == 0 {
				s.Law = &friction.Coulomb{Fc: 1}
			}
			got, found := trip(newFrozen(s, countNoise), func(float64) (float64, float64, float64, float64) {
				return 0, side * c.u, side * c.i,
					0
			})
			if found.Fault != c.fault || math.Abs(got-c.want) > 25e-3 {
				t.Errorf("%s, %+g: %+v after %g s, want %d after %g s", c.name, side, found, got, c.fault, c.want)
			}
		}
	}
}

// What stops an axis within a sample looks like a load of any size in the last sample that moves, and must keep the axis from nothing: 1
// rad/s without a load, 400 N·m in the last sample (4 N·m in a mean of 0.1 s), and then 6.5 and 8 N·m that push, 3.5 and 3 N·m beyond
// what the twins stand. A load of 5 N·m that was carried all the time is one.
func TestWhatStopsAnAxisIsNoLoad(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, carried := range []bool{false, true} {
			course := func(t, push, load float64) (x, u, l float64) {
				switch {
				case t < 0.4995:
					x = t
				case t < 0.5005:
					x, l = t, 400
				default:
					x, u = 0.5, push
				}
				if carried && t < 0.5005 {
					l = load
				}
				return side * x, side * u, side * l
			}
			got, _ := trip(newFrozen(frozenSpec(), countNoise), func(t float64) (x, u, i, l float64) {
				x, u, l = course(t, 6.5, 5)
				return x, u, 0, l
			})
			if want := 0.5 + math.Sqrt(2*30e-3/3.5); carried && got != 0 || !carried && math.Abs(got-want) > 5e-3 {
				t.Errorf("%+g, carried %v: frozen after %g s, want %g", side, carried, got, want)
			}
			s, got := newStall(1, &friction.LuGre{Fc: 0.5, Fs: 1, Sigma0: 4e3}, 1e-5), 0.0 // a band of 1.1 mrad
			for k := 0; k < 2000 && got == 0; k++ {
				x, u, l := course(1e-3*float64(k), 8, 5)
				if bad := s.step(true, true, 2*x, u, l, 1e-3); bad.Fault != Fine {
					got = 1e-3 * float64(k)
				}
			}
			if want := 0.5 + math.Sqrt(2*33e-3/3); carried && got != 0 || !carried && math.Abs(got-want) > 5e-3 {
				t.Errorf("%+g, carried %v: blocked after %g s, want %g", side, carried, got, want)
			}
		}
	}
}
