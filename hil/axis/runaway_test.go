package axis

import (
	"math"
	"strings"
	"testing"

	"hilrig/engine/plant"
	"hilrig/estimator"
)

// An axis of 1 kg·m² and 1 N·m of break-away moves against its effort with the acceleration that is given, beside a mechanism that
// takes what is given. It runs away where the effort is above 3 N·m (twice the break-away and 1 % of 100 N·m), has grown by 1 N·m
// since the motion began, and has an acceleration of a tenth against it, both near their largest for 0.1 s. One that cannot grow is
// enough after 0.2 s. A hint takes 100 counts. Four samples in a row that are refused are no gap; four that do not come are one. To both
// sides, on drives of efforts and currents.
func TestRunaway(t *testing.T) {
	constant := func(x float64) func(float64) float64 { return func(float64) float64 { return x } }
	grows := func(from, to float64) func(float64) float64 { // within 0.3 s, beginning 50 ms after the motion
		return func(t float64) float64 { return from + (to-from)*min(1, max(0, t-0.05)/0.3) }
	}
	for _, c := range []struct {
		name            string
		effort, against func(t float64) float64 // N·m, rad/s²  while it moves, from 0.1 s on
		carried         float64                 // N·m
		line            string
		found           bool
	}{
		{"effort that stays", constant(5), constant(5), 0, "", false},
		{"it grows by 0.9", grows(4, 4.9), constant(5), 0, "", false},
		{"it grows by 1.2", grows(4, 5.2), constant(5), 0, "", true},
		{"it grows, and is small", grows(0.5, 2.8), constant(5), 0, "", false},
		{"it grows above 3 N·m", grows(0.5, 3.3), constant(5), 0, "", true},
		{"an acceleration of 0.05", grows(40, 80), constant(3), 0, "", false},
		{"an acceleration of 0.07", grows(40, 46), constant(3), 0, "", false},
		{"an acceleration of 0.12", grows(40, 46), constant(5.5), 0, "", true},
		{"an acceleration of 0.15", grows(40, 80), constant(12), 0, "", true},
		{"an acceleration that falls", grows(4, 8), func(t float64) float64 { return 50 - 80*t }, 0, "", false},
		{"an effort that falls", func(t float64) float64 { return 4 + min(4, 80*max(0, t-0.05)) - min(1.5, 50*max(0, t-0.11)) }, constant(5), 0,
			"", false},
		{"an effort that falls by 6 %", func(t float64) float64 { return 4 + min(4, 80*max(0, t-0.05)) - min(0.5, 50*max(0, t-0.11)) },
			constant(5), 0, "", true},
		{"an effort that falls, and grows again", func(t float64) float64 { return 5 - min(1.5, 30*max(0, t-0.05)) + min(1.5, 6*max(0, t-0.1)) },
			constant(5), 0, "", true},
		{"it grows while the axis goes with it", func(t float64) float64 { return 4 + 2*min(1, max(0, t-0.16)/0.1) },
			func(t float64) float64 {
				if t > 0.1 && t < 0.3 {
					return -10
				}
				return 5
			}, 0, "", false},
		{"a mechanism", grows(12, 16), constant(5), 10, "", true},
		{"a mechanism that takes nearly all", grows(12, 14.5), constant(5), 12, "", false},
		{"with the effort", grows(4, 8), constant(-5), 0, "", false},
		{"effort that stays, the largest", constant(20), constant(20), 0, "full", true},
		{"effort that stays, the largest, an acceleration that falls", constant(5), func(t float64) float64 { return 5 - 5*t }, 0, "full", false},
		{"it grows, refused", grows(4, 8), constant(5), 0, "refused", true},
		{"it grows, lost", grows(4, 8), constant(5), 0, "lost", false},
		{"it grows, a gap before", grows(4, 8), constant(5), 0, "gap", true},
		{"it grows, every other tick is missed", grows(4, 8), constant(5), 0, "skips", true},
		{"it grows, another axis may throw it", grows(4, 8), constant(5), 0, "beside", false},
		{"the largest, another axis may throw it", constant(20), constant(20), 0, "full, beside", false},
	} {
		for _, drive := range []plant.DriveKind{plant.EffortDrive, plant.CurrentDrive} {
			for _, side := range []float64{1, -1} {
				s := frozenSpec()
				if s.Drive = drive; drive == plant.CurrentDrive {
					s.Motor.K, s.TopCommand = 0.5, 200
				}
				s.UnmodelledCoupling = strings.HasSuffix(c.line, "beside")
				r := runaway{f: newFrozen(s, countNoise)}
				v, x, at, hinted := 0.0, 0.0, 0.0, 0.0
				tick, dt := Tick{Energised: true}, 1e-3
				if c.line == "skips" {
					tick.Skip, dt = 1, 2e-3
				}
				for now := -0.1; now < 1.2 && at == 0; now += dt {
					k := int(math.Round(1e3 * (now + 0.1)))
					u, a := c.effort(0), 0.0
					if now >= 0 {
						u, a = c.effort(now), -c.against(now)
					}
					v += dt * side * a
					x += dt * v
					command := side * u / map[plant.DriveKind]float64{plant.EffortDrive: 1, plant.CurrentDrive: 0.5}[drive]
					comes := c.line != "refused" && c.line != "lost" && (c.line != "gap" || k < 40 || k > 60) || k%5 == 0 && c.line != "gap"
					sample := estimator.Sample{Value: x, Updated: comes || c.line == "refused"}
					bad, hint := r.step(tick, comes, strings.HasPrefix(c.line, "full"), &sample, command, math.NaN(), 0, side*c.carried)
					if hint.Fault != Fine && hinted == 0 {
						hinted = now
					}
					if hint.Fault != Fine && math.Abs(x) < 0.099 || r.grown && now < 0 {
						t.Errorf("%s, drive %v, %+g: after %g s and %g rad %+v, grown %v", c.name, drive, side, now, x, hint, r.grown)
					}
					if bad.Fault != Fine {
						if at = now; bad.Fault != Direction || bad.Value*side <= 0 {
							t.Errorf("%s, drive %v, %+g: %+v", c.name, drive, side, bad)
						}
					}
				}
				if c.line == "full" && at > 0 && at < 0.2 {
					t.Errorf("%s, drive %v, %+g: found after %g s", c.name, drive, side, at)
				}
				if at > 0 != c.found || c.found && (hinted == 0 || hinted > at || at < 0.1) {
					t.Errorf("%s, drive %v, %+g: found %v after %g s, a hint after %g s", c.name, drive, side, at > 0, at, hinted)
				}
			}
		}
	}
}

// An axis of 1 kg·m² goes at 0.5 rad/s with its effort when its encoder turns round. The change of sign is no acceleration that later
// ones are held against: it is found within 0.25 s, to both sides, sampled every millisecond, and every 20 ms but up to 3 ms sooner, as
// the ages tell. Without the turn, and with one that slows down from then on, nothing is found.
func TestRunawayBehindATurn(t *testing.T) {
	for _, every := range []float64{1e-3, 20e-3} {
		for _, side := range []float64{1, -1} {
			for _, c := range []struct {
				name   string
				turned float64
				grows  float64 // N·m/s
				a      float64 // rad/s²  from the turn on
				from   float64 // s        energised; the turn is at 0
				found  bool
			}{
				{"turned", -1, 40, 6, -0.4, true},
				{"energised behind the turn", -1, 40, 6, 0, true},
				{"not turned", 1, 40, 6, -0.4, false},
				{"turned, and it slows down", -1, 40, -6, -0.4, false},
				{"turned, and the effort stays", -1, 0, 6, -0.4, false},
			} {
				s := frozenSpec()
				s.Tick, s.SamplePeriod = every, every
				if every < 10e-3 { // the means hold the turn yet, and nothing smaller is found: docs/reference/safety.md, "against its effort"
					c.a *= 5
				}
				r := runaway{f: newFrozen(s, countNoise)}
				at := 0.0
				for k := 0; at == 0; k++ {
					now := every*float64(k) + c.from
					if now > 0.7 {
						break
					}
					age := 0.0
					if every > 10e-3 {
						age = 3e-3 * math.Mod(0.618*float64(k), 1)
					}
					x, u := 0.5*(now-age), 4.0
					if since := now - age; since > 0 {
						x = c.turned * (0.5*since + c.a*since*since/2)
						u += min(4, c.grows*since)
					}
					sample := estimator.Sample{Value: side * x, Age: age, Updated: true}
					if bad, _ := r.step(Tick{Energised: true}, true, false, &sample, side*u, math.NaN(), 0, 0); bad.Fault != Fine {
						at = now
					}
				}
				if at != 0 != c.found || c.found && (at < 0.1 || at > 0.25) {
					t.Errorf("%s, %g s, %+g: found after %g s", c.name, every, side, at)
				}
			}
		}
	}
}

// Samples every half second: the weight of a sample in the means is 1. An axis that goes against a growing effort with the acceleration
// that it had is found, to both sides; one whose acceleration falls is not.
func TestRunawayOfSamplesFarApart(t *testing.T) {
	const every = 0.5
	for _, c := range []struct {
		falls float64 // rad/s³
		found bool
	}{{0, true}, {0.6, false}} {
		for _, side := range []float64{1, -1} {
			s := frozenSpec()
			s.Tick, s.SamplePeriod = every, every
			r, at := runaway{f: newFrozen(s, countNoise)}, 0.0
			for k := 0; k < 12 && at == 0; k++ {
				now := every * float64(k)
				sample := estimator.Sample{Value: -side * (5*now*now/2 - c.falls*now*now*now/6), Updated: true}
				if bad, _ := r.step(Tick{Energised: true}, true, false, &sample, side*(4+0.8*now), math.NaN(), 0, 0); bad.Fault != Fine {
					at = now
				}
			}
			if at != 0 != c.found || c.found && (at < minSamples*every || at > 2*minSamples*every) {
				t.Errorf("an acceleration that falls by %g rad/s³, %+g: found after %g s", c.falls, side, at)
			}
		}
	}
}

// An axis is thrown back in motion: its acceleration of 30 rad/s² falls to 20 rad/s², at a moment after it moves against its effort. It
// was a peak before where that is later than what may be a sign that turns: 30 ms or four samples, and one peak, 20 ms or a sample.
func TestRunawayPeakBehindATurn(t *testing.T) {
	for _, c := range []struct {
		every, falls float64 // s
		found        bool
	}{{1e-3, 15e-3, true}, {1e-3, 45e-3, false}, {20e-3, 20e-3, true}, {20e-3, 120e-3, false}} {
		for _, side := range []float64{1, -1} {
			s := frozenSpec()
			s.Tick, s.SamplePeriod = c.every, c.every
			r, at, v, x := runaway{f: newFrozen(s, countNoise)}, 0.0, 3.0, 0.0
			for k := 0; k < int(0.8/c.every) && at == 0; k++ {
				now := c.every*float64(k) - 0.1 // it stands at 0
				sample := estimator.Sample{Value: side * x, Updated: true}
				if bad, _ := r.step(Tick{Energised: true}, true, false, &sample, side*(10+10*max(0, now)), math.NaN(), 0, 0); bad.Fault != Fine {
					at = now
				}
				for range 1000 {
					a := -30.0
					if now > c.falls {
						a = -20
					}
					dt := c.every / 1000
					v, now = v+dt*a, now+dt
					x += dt * v
				}
			}
			if at != 0 != c.found {
				t.Errorf("every %g s, falls after %g s, %+g: found after %g s", c.every, c.falls, side, at)
			}
		}
	}
}

// The mean of the speed is one over 10 ms, however far apart the samples are. The speed is that of the positions at their own times, which
// are a quarter of a period apart at least: an age may be wrong.
func TestRunawayTakesAges(t *testing.T) {
	for _, c := range []struct{ before, age, span float64 }{ // periods
		{0, 0, 1}, {0.5, 0, 1.5}, {0, 0.5, 0.5}, {0, 0.74, 0.26}, {0, 0.76, 0.25}, {0, 1, 0.25}, {0, 3, 0.25}, {-1, 0, 1},
	} {
		for _, side := range []float64{1, -1} {
			r := runaway{f: newFrozen(frozenSpec(), countNoise)}
			r.step(Tick{Energised: true}, true, false, &estimator.Sample{Value: side * 7, Age: 1e-3 * c.before, Updated: true}, 0, math.NaN(), 0, 0)
			r.step(Tick{Energised: true}, true, false, &estimator.Sample{Value: side * 8, Age: 1e-3 * c.age, Updated: true}, 0, math.NaN(), 0, 0)
			if want := side / (1e-3 * c.span); math.Abs(r.speed-want) > 1e-6*math.Abs(want) || r.slowSpeed != r.speed {
				t.Errorf("ages of %g and %g periods, %+g: %g rad/s, want %g", c.before, c.age, side, r.speed, want)
			}
			first := r.speed
			same := estimator.Sample{Value: side * 8, Age: 1e-3 * c.age, Updated: true}
			r.step(Tick{Energised: true, Skip: 1}, true, false, &same, 0, math.NaN(), 0, 0)
			if want := first * math.Exp(-0.2); math.Abs(r.speed-want) > 1e-9*math.Abs(want) {
				t.Errorf("ages of %g and %g periods: %g rad/s is %g 2 ms later, want %g", c.before, c.age, first, r.speed, want)
			}
		}
	}
}
