package axis

import (
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// inertia is a body of m·1 kg·m² under the efforts of frozenSpec, moved by hand: v' = (effort − taken)/m from 0.8 s on, at rest
// before. It shows a share of the motion from then on. It may have shown all of it before, that of the file's inertia pushed to and fro
// with 60 N·m. The time of the trip after 0.8 s (s), and what was found; 0: none in 1 s.
func shownPart(s *Spec, share, m float64, before bool, at func(t float64) (effort, taken, load float64)) (float64, Finding) {
	p := newMomentum(newFrozen(s, countNoise))
	x, v, shown := 0.0, 0.0, 0.0
	for k := range 1800 {
		t := 1e-3 * float64(k-800)
		u, taken, load := at(t)
		if before && k >= 50 && k < 150 {
			u = 60 * math.Copysign(1, float64(99-k)+0.5)
			v += 1e-3 * u
			shown += 1e-3 * v
		} else if v += 1e-3 / m * (u - taken); t < 0 {
			v = 0
		}
		x += 1e-3 * v
		if t >= 0 {
			shown += 1e-3 * share * v
		}
		command := u
		if s.Drive == plant.CurrentDrive {
			command = u / s.Motor.K
		}
		if bad, _ := p.step(Tick{Energised: true}, true, false, &estimator.Sample{Value: shown, Updated: true}, command, 0, load,
			0); bad.Fault != Fine {
			return t, bad
		}
	}
	return 0, Finding{}
}

// The effort of 23 N·m leaves 18 beyond the hold of 3 N·m and the friction of 2 N·m within which the load at rest is known, and 20
// once it moves. An axis that shows a tenth of that is sound, to both sides: its inertia may be ten times that of the file. So is one of
// a third of the inertia. An axis that has shown its inertia before must show 0.3.
func TestMomentumShares(t *testing.T) {
	for _, c := range []struct {
		name           string
		spec           func(*Spec)
		share, inertia float64
		effort         float64 // N·m  from 0.8 s on
		from, to       float64 // s    0: none
		fault          Fault
		before         bool // it has shown its inertia
	}{
		{"nothing: that is for frozen", nil, 0, 1, 23, 0, 0, Fine, false},
		{"a twentieth, once it leaves a count", nil, 0.05, 1, 23, 0.09, 0.3, Frozen, false},
		{"a tenth less of what the twin has", nil, 0.19, 1, 23, 0.09, 0.2, Disagree, true}, // 0.19·23 = 4.4 of 18
		{"that may be an inertia of five times", nil, 0.19, 1, 23, 0, 0, Fine, false},
		{"more than 0.3 of it", nil, 0.28, 1, 23, 0, 0, Fine, false},
		{"all", nil, 1, 1, 23, 0, 0, Fine, false},
		{"three times the inertia", nil, 1, 3, 23, 0, 0, Fine, false},
		{"six times the inertia that was shown before", nil, 1, 6, 23, 0.09, 0.2, Disagree, true},
		{"twice the inertia that was shown before", nil, 1, 2, 23, 0, 0, Fine, true},
		{"six times the inertia", nil, 1, 6, 23, 0, 0, Fine, false},
		{"ten times the inertia", nil, 1, 10, 23, 0, 0, Fine, false},
		{"eighteen times the inertia", nil, 1, 18, 23, 0.09, 0.3, Frozen, false},
		{"a third of it", nil, 1, 1. / 3, 23, 0, 0, Fine, false},
		{"turned round", nil, -1, 1, 23, 0.09, 0.12, Direction, false},
		{"a twentieth turned round", nil, -0.05, 1, 23, 0.09, 0.3, Frozen, false},
		{"turned round below the hold", nil, -1, 1, 2.9, 0, 0, Fine, false},
		{"a current", func(s *Spec) { s.Drive, s.Motor.K = plant.CurrentDrive, 2; s.TopCommand = 50 }, -1, 1, 23, 0.09, 0.12, Direction, false},
		{"turned round far above: 30 ms", func(s *Spec) { s.TopCommand = 4000 }, -1, 1, 3500, 0.029, 0.045, Direction, false},
		{"a fifth far above: 50 ms", func(s *Spec) { s.TopCommand = 4000 }, 0.2, 1, 3500, 0.049, 0.065, Disagree, true},
		{"a fifth far above, of an inertia that nobody knows", func(s *Spec) { s.TopCommand = 4000 }, 0.2, 1, 3500, 0, 0, Fine, false},
		{"the load walks by 15 N·m, by the file", func(s *Spec) { s.Mechanical.Walk = 15 / math.Sqrt(0.1) }, 0, 1, 14.9, 0, 0, Fine, false},
		{"and it is pushed by more", func(s *Spec) { s.Mechanical.Walk = 15 / math.Sqrt(0.1) }, 0.05, 1, 40, 0.09, 0.3, Frozen, false},
	} {
		for _, side := range []float64{1, -1} {
			s := frozenSpec()
			if c.spec != nil {
				c.spec(s)
			}
			got, found := shownPart(s, c.share, c.inertia, c.before, func(t float64) (u, taken, load float64) {
				if t >= 0 {
					u = side * c.effort
				}
				return u, 0, 0
			})
			if found.Fault != c.fault || got < c.from || got > c.to || c.fault != Fine &&
				(found.Value*side <= 0 || !(math.Abs(found.Value) > found.Limit)) {
				t.Errorf("%s, %+g: after %g s %+v, want fault %d between %g and %g s", c.name, side, got, found, c.fault, c.from, c.to)
			}
		}
	}
}

// What a sound axis carries is no missing motion: one that rises at a steady rate, a viscous friction of twice the file's at any speed;
// one that jumps and holds the axis is.
func TestMomentumLoads(t *testing.T) {
	for _, c := range []struct {
		name string
		at   func(t float64) (effort, taken, load float64)
		trip bool
	}{
		{"a load that rises by 60 N·m/s and is held", func(t float64) (float64, float64, float64) {
			l := 60 * math.Max(0, t)
			return l, l, l
		}, false},
		{"a load of 50 N·m that jumps and is held", func(t float64) (float64, float64, float64) {
			l := 0.0
			if t > 0.1 {
				l = 50
			}
			return l, l, l
		}, false}, // it stands: that is for frozen and stall
		{"one of 5 N·m", func(t float64) (float64, float64, float64) {
			l := 0.0
			if t > 0.1 {
				l = 5
			}
			return l, l, l
		}, false},
		{"a load that was there at the start", func(t float64) (float64, float64, float64) { return 40, 40, 40 }, false},
		{"a push that ends: it is braked by what friction may be", func(t float64) (u, taken, load float64) {
			if u = 0; t > 0 && t < 0.05 {
				u = 33
			} else if t > 0 && t < 0.5 {
				taken = 3
			}
			return u, taken, 0
		}, false},
	} {
		for _, side := range []float64{1, -1} {
			got, found := shownPart(frozenSpec(), 1, 1, false, func(t float64) (float64, float64, float64) {
				u, taken, load := c.at(t)
				return side * u, side * taken, side * load
			})
			if (found.Fault != Fine) != c.trip {
				t.Errorf("%s, %+g: after %g s %+v", c.name, side, got, found)
			}
		}
	}
	for _, viscous := range []float64{0.2, 0.1} { // at 100 rad/s 20 N·m, of which the file knows all or half
		s := frozenSpec()
		s.Law.(*friction.LuGre).Sigma2 = 0.1
		v, x := 0.0, 0.0
		p := newMomentum(newFrozen(s, countNoise))
		for k := range 2000 {
			u := viscous*v + 10*math.Sin(0.01*float64(k))
			v += 1e-3 * (u - viscous*v)
			x += 1e-3 * v
			if k < 100 {
				v = 100
			}
			if bad, _ := p.step(Tick{Energised: true}, true, false, &estimator.Sample{Value: x, Updated: true}, u, 0, (viscous-0.1)*v,
				0); bad.Fault != Fine {
				t.Errorf("viscous friction of %g: after %d ms %+v", viscous, k, bad)
				break
			}
		}
	}
}

// A voltage that the current leaves over is speed, whatever the inertia: 0.3 of it at least is shown; a number that stays the same is
// left to frozen. A current that is the same number, a reading that is doubted, and no current at all tell nothing.
func TestMomentumBesideACurrent(t *testing.T) {
	for _, c := range []struct {
		name    string
		shown   float64 // of 10 rad/s
		still   bool    // the current is one number
		doubted bool
		trip    bool
	}{{"nothing", 0, false, false, false}, {"an eighth", 0.12, false, false, true}, {"0.4", 0.4, false, false, false},
		{"turned", -1, false, false, true},
		{"nothing, one number", 0, true, false, false}, {"nothing, in doubt", 0, false, true, false}} {
		for _, side := range []float64{1, -1} {
			s := frozenSpec()
			s.Drive, s.TopCommand, s.Motor = plant.VoltageDrive, 100, plant.Motor{R: 1, K: 1, J: 1}
			s.Sampling.Groups = []estimator.Group{{SamplePeriod: 1e-3, Quantities: []estimator.Quantity{estimator.Position, estimator.Current}}}
			s.Motor.J = 1e3 // the effort tells nothing
			p := newMomentum(newFrozen(s, countNoise))
			x, tripped := 0.0, 0
			for k := range 600 {
				x += 1e-3 * side * 10 * c.shown
				i := side * (1 + 1e-3*float64(k%2))
				if c.still {
					i = side
				}
				if bad, _ := p.step(Tick{Energised: true}, true, c.doubted, &estimator.Sample{Value: x, Updated: true}, side*11, i, 0,
					0); bad.Fault != Fine && tripped == 0 {
					tripped = k
				}
			}
			if (tripped > 0) != c.trip || c.trip && (tripped < 60 || tripped > 200) {
				t.Errorf("%s, %+g: after %d ms", c.name, side, tripped)
			}
		}
	}
}

// An axis that is not driven, a command that is none, samples that are not believed and a long gap begin it anew; nothing of it allocates.
func TestMomentumBeginsAnew(t *testing.T) {
	for name, c := range map[string]func(k int, on, taken *bool, u, x *float64){
		"off":          func(k int, on, _ *bool, _, _ *float64) { *on = k%80 != 0 },
		"no number":    func(k int, _, _ *bool, u, _ *float64) { *u = map[bool]float64{true: math.NaN(), false: *u}[k%80 == 0] },
		"gaps":         func(k int, _, taken *bool, _, _ *float64) { *taken = k%80 > 4 },
		"not believed": func(k int, _, taken *bool, _, _ *float64) { *taken = false },
	} {
		p := newMomentum(newFrozen(frozenSpec(), countNoise))
		for k := range 1000 {
			on, taken, u, x := true, true, 0.0, 0.0
			if k > 300 {
				u = 23
			}
			if c(k, &on, &taken, &u, &x); k < 300 && name != "not believed" {
				on, taken = true, true
			}
			if bad, _ := p.step(Tick{Energised: on}, taken, false, &estimator.Sample{Value: x, Updated: true}, u, 0, 0, 0); bad.Fault != Fine {
				t.Errorf("%s: after %d ms %+v", name, k, bad)
				break
			}
		}
	}
	p, k := newMomentum(newFrozen(frozenSpec(), countNoise)), 0
	if n := testing.AllocsPerRun(1000, func() {
		p.step(Tick{Energised: true}, true, false, &estimator.Sample{Value: 1e-3 * float64(k), Updated: true}, 20, 1, 0, 0)
		k++
	}); n > 0 {
		t.Errorf("%g allocations a tick", n)
	}
}
