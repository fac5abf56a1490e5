package hil

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
	"hilrig/hil/axis"
)

// A position that stops telling in motion and before it, on every kind of drive and to both sides: named within 0.25 s of the first
// motion that it does not show, and before 5 rad of the demo's motion. A weight of 3·Fs that the brake lets go falls further: nobody
// knows of it, and at first nothing drives. The stage stays within its travel. No limit is declared.
func TestFrozenPositionOfEveryDrive(t *testing.T) {
	for _, kind := range shopKinds {
		for _, motion := range []string{"sine 0.9 rad", "sine 1.8 rad", "multisine", "ramp", "multisine and a weight", "the weight, from rest"} {
			worst, far, reach, causes := 0, 0.0, 0.0, map[Cause]int{}
			for _, side := range []float64{1, -1} {
				for _, at := range []float64{0, 2.1, 1.3, 2.6, 3.3}[:map[bool]int{true: 5, false: 2}[soak]] {
					p := kind.p()
					scale := side
					if p.linear {
						scale = side * 60e-3 / 3
					}
					if weight := 3 * p.fs; strings.Contains(motion, "weight") {
						p.load, p.brake = func(_, _ float64) float64 { return weight }, true
					}
					ref := map[string]reference.Spec{"multisine and a weight": {Kind: "multisine", Tones: turned(demoTones, scale)},
						"the weight, from rest": {Kind: "multisine", Tones: turned(demoTones, scale)},
						"sine 0.9 rad":          {Kind: "sine", Amplitude: 0.9 * scale, Frequency: 0.5},
						"sine 1.8 rad":          {Kind: "sine", Amplitude: 1.8 * scale, Frequency: 0.8},
						"multisine":             {Kind: "multisine", Tones: turned(demoTones, scale)}, "ramp": {Kind: "ramp", Velocity: 2 * scale}}[motion]
					if p.load != nil && (at == 0) != (motion == "the weight, from rest") {
						continue
					}
					s := newShop(t, p, shopOptions{measured: kind.measured, ref: ref})
					s.start(t)
					s.seconds(t, at)
					stuck := math.Round(p.x/p.count) * p.count
					s.fault = func(y []float64, at [estimator.Quantities]int) { y[0] = stuck }
					n, from, way := 0, p.x, 0.0
					moved := 0 // when the drive moved it
					for s.row.Mode.Energised() && n < 3000 {
						s.step()
						if n++; math.Abs(p.x-from) < 20*p.count {
							moved = n
						}
						way = max(way, math.Abs(p.x-from))
					}
					for range 300 { // it comes to rest
						if p.load != nil {
							break // or falls
						}
						p.move(0, 1e-3)
						reach = max(reach, math.Abs(p.x))
					}
					worst, far = max(worst, n-moved), max(far, way/math.Abs(scale))
					causes[s.row.Cause]++
					if s.row.Cause != CauseFrozen && s.row.Cause != CauseBlocked && (s.row.Cause != CauseDirection || at > 0) {
						t.Errorf("%s, %s, %+g, at %g s: after %d ms %s", kind.name, motion, side, at, n, s.row.CauseText(&s.ctl.schema))
					}
				}
			}
			shown := fmt.Sprintf("%.3g rad", far) // of the demo's motion
			if kind.p().linear {
				shown = fmt.Sprintf("%.3g mm", 20*far)
			}
			t.Logf("%-18s %-22s %4d ms %12s %v, reach %.3g", kind.name, motion, worst, shown, causes, reach)
			// a ramp goes there by itself
			if worst > 300 || motion != "the weight, from rest" && (worst > 250 || far > 5) || reach > 0.12 && kind.p().linear && motion != "ramp" {
				t.Errorf("%s, %s: %d ms, %g rad", kind.name, motion, worst, far)
			}
		}
	}
}

// readingFault is what becomes of one reading.
type readingFault struct {
	of   estimator.Quantity
	name string
	make func(good, last float64) float64
}

func faultsOf(q estimator.Quantity, of string) []readingFault {
	return []readingFault{
		{q, of + " frozen", func(_, last float64) float64 { return last }},
		{q, of + " zero", func(float64, float64) float64 { return 0 }},
		{q, of + " reversed", func(good, _ float64) float64 { return -good }},
		{q, of + " doubled", func(good, _ float64) float64 { return 2 * good }},
		{q, of + " five times too large", func(good, _ float64) float64 { return 5 * good }},
	}
}

// A reading beside the position that is frozen, zero, reversed, or of another scale, in motion to both sides: a trip that names it, on
// each kind of drive where something else tells about it. What nothing tells about runs on, and stands in docs/reference/safety.md.
func TestReadingsAreCompared(t *testing.T) {
	all := []estimator.Quantity{estimator.Current, estimator.Velocity, estimator.Effort, estimator.Voltage}
	runsOn := map[string]bool{ // nothing tells about it; or not while currents are as small as those of the demo
		"velocity current reversed": true, "velocity current doubled": true, "velocity current five times too large": true,
		"velocity effort reversed": true, "velocity effort doubled": true, "velocity effort five times too large": true,
		"voltage current doubled": true, "voltage effort doubled": true, "voltage voltage doubled": true,
		"current current doubled": true, "current effort doubled": true, "effort current doubled": true, "effort effort doubled": true,
	}
	named := map[Cause]bool{CauseDisagree: true, CauseFrozenReading: true, CauseFrozenCurrent: true, CauseDirection: true}
	for _, kind := range []struct {
		name  string
		drive plant.DriveKind
	}{{"voltage", plant.VoltageDrive}, {"current", plant.CurrentDrive}, {"effort", plant.EffortDrive}, {"velocity", plant.VelocityDrive}} {
		for _, q := range all {
			if q == estimator.Voltage && kind.drive != plant.VoltageDrive {
				continue
			}
			for _, f := range faultsOf(q, [...]string{"", "current", "velocity", "effort", "voltage"}[q]) {
				line := ""
				for _, linear := range []bool{false, true} {
					worst, causes := 0, map[string]int{}
					for _, side := range []float64{1, -1} {
						for _, at := range []float64{1.5} {
							p, size := rotaryShop(kind.drive), 3.0
							if linear {
								p, size = linearShop(kind.drive), 60e-3
							}
							measured := []estimator.Quantity{q}
							if q == estimator.Effort && kind.drive == plant.VoltageDrive {
								measured = append(measured, estimator.Current)
							}
							s := newShop(t, p, shopOptions{measured: measured, ref: multisine(side * size)})
							s.start(t)
							s.seconds(t, at)
							last := s.row.X[s.at[q]]
							s.fault = func(y []float64, at [estimator.Quantities]int) { y[at[q]] = f.make(y[at[q]], last) }
							n := 0
							for ; s.row.Mode.Energised() && n < 4000; n++ {
								s.step()
							}
							if worst = max(worst, n); n == 4000 {
								causes["runs on"]++
							} else {
								causes[s.row.Cause.String()]++
							}
							if on := runsOn[kind.name+" "+f.name]; n == 4000 && !on || n < 4000 &&
								(!named[s.row.Cause] || s.row.Value == 0 && s.row.Cause != CauseFrozenReading) {
								t.Errorf("%s, %s, linear %v: after %d ms %s", kind.name, f.name, linear, n, s.row.CauseText(&s.ctl.schema))
							}
							if c := s.row.Cause; n < 4000 && c != CauseDirection && int(s.row.CauseSignal) != s.at[q]+1 {
								t.Errorf("%s, %s, linear %v: names signal %d: %s", kind.name, f.name, linear, s.row.CauseSignal, s.row.CauseText(&s.ctl.schema))
							}
						}
					}
					line += fmt.Sprintf(" | %4d ms %v", worst, causes)
				}
				t.Logf("%-10s %-32s%s", kind.name, f.name, line)
			}
		}
	}
}

// A tacho beside an encoder that tells nothing: its speed is held against max_speed, one wild sample of it is not. Without a limit it
// tells that the position is frozen.
func TestMeasuredSpeedIsLimited(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, limit := range []float64{0, 50} {
			p := rotaryShop(plant.EffortDrive)
			p.fs, p.fc = 1e-3, 1e-3
			// the file believes in so much friction that nothing must move
			s := newShop(t, p, shopOptions{measured: []estimator.Quantity{estimator.Velocity}, limits: AxisLimits{MaxSpeed: limit},
				of: axis.OfEffort, law: func(l *friction.LuGre) { l.Fs, l.Fc = 0.5, 0.5 },
				ref: reference.Spec{Kind: "constant", Offset: 0.02 * side}})
			s.start(t)
			s.fault = func(y []float64, at [estimator.Quantities]int) {
				if y[0] = 0; s.n == 400 {
					y[at[estimator.Velocity]] = -300 * side
				}
			}
			top := 0.0
			for n := 0; s.row.Mode.Energised() && n < 2000; n++ {
				s.step()
				top = max(top, math.Abs(p.v))
			}
			t.Logf("limit %g, %+g: %.0f rad/s, %s", limit, side, top, s.row.CauseText(&s.ctl.schema))
			if s.row.Mode != Trip || top > 60 || s.row.Cause != CauseFrozen && s.row.Cause != CauseSpeed {
				t.Errorf("limit %g, %+g: %v at %.0f rad/s: %s", limit, side, s.row.Mode, top, s.row.CauseText(&s.ctl.schema))
			}
		}
	}
}

// tutorialShop is the rig of docs/tutorials/first-motor.md with its virtual board.
func tutorialShop(t *testing.T, side float64) *shopRig {
	p := rotaryShop(plant.VoltageDrive)
	p.drop = 0
	return newShop(t, p, shopOptions{measured: []estimator.Quantity{estimator.Current}, top: 12,
		limits: AxisLimits{MaxSpeed: 50, MaxError: 1, MaxCurrent: 10}, ref: multisine(3 * side),
		motor: func(m *plant.Motor) { m.J = 5e-5 }, law: func(l *friction.LuGre) {
			l.Sigma0, l.Sigma2, l.Fc, l.Fs, l.Vs, l.Vd = 10, 1e-4, 10e-3,
				14e-3, 1, 0.3
		}})
}

// What is wrong with the readings of the tutorial's rig is called by its name, from the start and in motion, to both sides.
func TestCausesAreNamed(t *testing.T) {
	type history struct{ x, i [400]float64 }
	for _, c := range []struct {
		name string
		make func(y []float64, at [estimator.Quantities]int, h *history, k int)
		want []Cause
	}{
		{"encoder turned round", func(y []float64, _ [estimator.Quantities]int, _ *history, _ int) { y[0] *= -1 }, []Cause{CauseDirection}},
		{"encoder ten times too small", func(y []float64, _ [estimator.Quantities]int, _ *history, _ int) { y[0] *= 0.1 },
			[]Cause{CauseScale, CauseFrozen}},
		{"encoder four times too large", func(y []float64, _ [estimator.Quantities]int, _ *history, _ int) { y[0] *= 4 }, []Cause{CauseScale}},
		{"current +10 A", func(y []float64, at [estimator.Quantities]int, _ *history, _ int) { y[at[estimator.Current]] += 9.5 },
			[]Cause{CauseDisagree, CauseCurrent}},
		{"current −10 A", func(y []float64, at [estimator.Quantities]int, _ *history, _ int) { y[at[estimator.Current]] -= 9.5 },
			[]Cause{CauseDisagree, CauseCurrent}},
		{"current +18 A", func(y []float64, at [estimator.Quantities]int, _ *history, _ int) { y[at[estimator.Current]] += 18 },
			[]Cause{CauseDisagree, CauseCurrent}},
		{"current −18 A", func(y []float64, at [estimator.Quantities]int, _ *history, _ int) { y[at[estimator.Current]] -= 18 },
			[]Cause{CauseDisagree, CauseCurrent}},
		{"samples 80 ms late", func(y []float64, at [estimator.Quantities]int, h *history, k int) {
			h.x[k%400], h.i[k%400] = y[0], y[at[estimator.Current]]
			if k > 80 {
				y[0], y[at[estimator.Current]] = h.x[(k-80)%400], h.i[(k-80)%400]
			}
		}, []Cause{CauseDelay, CauseFrozen}}, // "… or the drive does nothing or acts late"
	} {
		for _, side := range []float64{1, -1} {
			for _, at := range []float64{0, 1.4} {
				for _, limits := range []bool{true, false} {
					s := tutorialShop(t, side)
					if !limits {
						s.ctl.guard.s.Axes[0].AxisLimits = AxisLimits{}
					}
					h, k := new(history), 0
					s.start(t)
					s.seconds(t, at)
					s.fault = func(y []float64, at [estimator.Quantities]int) { c.make(y, at, h, k); k++ }
					n := 0
					for ; s.row.Mode.Energised() && n < 4000; n++ {
						s.step()
					}
					t.Logf("%-28s %+g at %g s, limits %-5v: %4d ms %s", c.name, side, at, limits, n, s.row.CauseText(&s.ctl.schema))
					if jumps := at > 0 && s.row.Cause == CauseJump; n == 4000 || !jumps && !slices.Contains(c.want, s.row.Cause) {
						t.Errorf("%s %+g at %g s, limits %v: after %d ms %s", c.name, side, at, limits, n, s.row.CauseText(&s.ctl.schema))
					}
				}
			}
		}
	}
}

// An encoder or a drive turned round makes the axis run away, and a limit trips, on every kind of drive and to both sides: the cause is the
// direction, however tight the limit. A measured current that is turned round with the drive may tell sooner.
func TestTurnedEncoderOfEveryDrive(t *testing.T) {
	for _, kind := range shopKinds {
		for _, drive := range []bool{false, true} {
			for _, most := range []float64{0.5, 1, 3} { // rad
				for _, side := range []float64{1, -1} {
					p, size := kind.p(), 1.0
					if p.linear {
						size = 20e-3
					}
					s := newShop(t, p, shopOptions{measured: kind.measured, limits: AxisLimits{MaxSpeed: 100 * size, MaxError: most * size},
						ref: multisine(3 * side * size)})
					if drive {
						p.turned = -1
					} else {
						s.fault = func(y []float64, at [estimator.Quantities]int) { y[0] *= -1 }
					}
					s.start(t)
					n, top := 0, 0.0
					for ; s.row.Mode.Energised() && n < 3000; n++ {
						s.step()
						top = max(top, math.Abs(p.v)/size)
					}
					if c := s.row.Cause; c != CauseDirection && !(c == CauseDisagree && drive && p.drive == plant.CurrentDrive) {
						t.Errorf("%s, drive %v, max_error %g, %+g: after %d ms %s", kind.name, drive, most, side, n, s.row.CauseText(&s.ctl.schema))
					}
				}
			}
		}
	}
}
