package hil

import (
	"math"
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// gearedShop is a slow motor with a gear.
func gearedShop() *shop {
	return &shop{drive: plant.VoltageDrive, j: 3.2e-3, fc: 9e-3, fs: 12e-3, vs: 0.3, fv: 2e-4, stiffness: 4, r: 3.4, l: 2.1e-3, k: 0.025,
		count: 1e-4, noise: [estimator.Quantities]float64{estimator.Current: 0.02}, turned: 1}
}

// A bus that is asked 50 times a second, and whose answers are up to three ticks old: nothing trips where the motion turns.
func TestSlowBusDoesNotTrip(t *testing.T) {
	for _, measured := range [][]estimator.Quantity{nil, {estimator.Current}} {
		for _, late := range []int{0, 1, 2, 3} {
			for _, amplitude := range []float64{0.3, 1.57, -1.57} {
				s := newShop(t, gearedShop(), shopOptions{tick: 20, late: late, measured: measured, top: 12,
					pid: &control.PID{Kp: 0.03, Kd: 0.02, Limit: 0.06},
					ref: reference.Spec{Kind: "sine", Amplitude: amplitude, Frequency: 0.2}})
				s.start(t)
				for k := range 50 * 10 {
					if s.step(); !s.row.Mode.Energised() {
						t.Errorf("%d ticks late, %g rad, measured %v: after %.2f s %v: %s", late, amplitude, measured, 0.02*float64(k), s.row.Mode,
							s.row.CauseText(&s.ctl.schema))
						break
					}
				}
			}
		}
	}
}

// Behind a time in which the loop was away, or the board, or both, and in which the watchdog of the drive took the energy away, nothing
// trips.
func TestGapsDoNotTrip(t *testing.T) {
	for _, c := range []struct {
		name             string
		loop, board, off int // ms  that the loop is away, the board stands still, the drive is off from 20 ms before the end
	}{
		{"the loop", 200, 0, 0},
		{"the loop, and the drive goes off", 200, 0, 60},
		{"both", 200, 200, 0},
		{"both, and the drive goes off", 200, 200, 60},
		{"the board", 0, 200, 0},
		{"the board, and the drive goes off", 0, 200, 60},
		{"the loop for a short time, and the drive goes off", 60, 0, 60},
	} {
		for _, kind := range shopKinds {
			for _, at := range []float64{0.31, 0.77, 1.32}[:map[bool]int{true: 3, false: 1}[soak]] {
				for _, side := range []float64{1, -1} {
					p, size := kind.p(), side*3
					if p.linear {
						size = side * 60e-3
					}
					s := newShop(t, p, shopOptions{measured: kind.measured, ref: multisine(size)})
					for i := range s.ctl.guard.s.Meas {
						s.ctl.guard.s.Meas[i].Stale = 1
					}
					s.start(t)
					s.seconds(t, at)
					s.stand = c.board
					for k := range c.loop {
						s.clock.N = 1
						s.clock.Wait()
						if s.stand > 0 {
							s.stand--
							continue
						}
						u := s.u[0]
						if c.off > 0 && k > c.loop-20 {
							u = 0
						}
						p.move(u, 1e-3)
					}
					from := max(0, c.board-c.loop) - 20
					for n := 0; n < 600 && s.row.Mode.Energised(); n++ {
						if c.off > 0 && n >= from && n < from+c.off {
							s.u = [2]float64{}
						}
						if s.step(); !s.row.Mode.Energised() {
							t.Errorf("%s, %s, at %g s, %+g: after %d ms: %s", c.name, kind.name, at, side, n, s.row.CauseText(&s.ctl.schema))
						}
					}
				}
			}
		}
	}
}

// One wild sample of a reading, up to a million times what it may be, is no finding about that reading, on any kind of drive and to both
// sides; nor are two in a second. A velocity and an applied voltage move the estimate, and what rests on it may trip.
func TestOneWildSampleDoesNotTrip(t *testing.T) {
	all := []estimator.Quantity{estimator.Current, estimator.Velocity, estimator.Effort, estimator.Voltage}
	for _, kind := range shopKinds {
		for _, q := range all {
			if q == estimator.Voltage && kind.p().drive != plant.VoltageDrive {
				continue
			}
			for _, wild := range []float64{1e6, -1e6, 100, -100} {
				p, size := kind.p(), 3.0
				if p.linear {
					size = 60e-3
				}
				measured := []estimator.Quantity{q}
				if q != estimator.Current && p.drive == plant.VoltageDrive {
					measured = append(measured, estimator.Current)
				}
				s := newShop(t, p, shopOptions{measured: measured, ref: multisine(size)})
				s.start(t)
				n := 0
				s.fault = func(y []float64, at [estimator.Quantities]int) {
					if n == 300 || n == 420 {
						y[at[q]] = wild
					}
				}
				for ; n < 600; n++ {
					if s.step(); !s.row.Mode.Energised() {
						if moves := q == estimator.Velocity || q == estimator.Voltage || q == estimator.Effort && p.drive == plant.EffortDrive; moves &&
							s.row.Cause != CauseDisagree && s.row.Cause != CauseFrozenReading {
							break
						}
						t.Errorf("%s, quantity %d, %g: %d ms: %s", kind.name, q, wild, n, s.row.CauseText(&s.ctl.schema))
						break
					}
				}
			}
		}
	}
}

// A coupling that slips, or a wrong scale, shows a part of the motion of a velocity drive: below a half of a fast one is found, within a
// quarter of a second of the tenfold floor and a step of it; three quarters run on. A drive that speeds up slowly is sound.
func TestVelocityDriveShowsItsMotion(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  Cause // of two that fit
		or    Cause
	}{{0, CauseFrozen, CauseFrozen}, {0.05, CauseFrozen, CauseFrozen}, {0.08, CauseFrozen, CauseDisagree},
		{0.2, CauseDisagree, CauseDisagree}, {0.35, CauseDisagree, CauseDisagree}, {-1, CauseDirection, CauseDirection},
		{-0.3, CauseDirection, CauseDirection}, {0.75, CauseNone, CauseNone}, {1, CauseNone, CauseNone}} {
		for _, side := range []float64{1, -1} {
			for _, linear := range []bool{false, true} {
				p, size := rotaryShop(plant.VelocityDrive), side
				if linear {
					p, size = linearShop(plant.VelocityDrive), side*20e-3
				}
				s := newShop(t, p, shopOptions{ref: reference.Spec{Kind: "sine", Amplitude: 3 * size, Frequency: 1}, top: 40 * math.Abs(size)})
				s.start(t)
				s.seconds(t, 1)
				from := p.x
				s.fault = func(y []float64, at [estimator.Quantities]int) {
					y[0] = p.count * math.Round((from+c.share*(p.x-from))/p.count)
				}
				n, far := 0, 0.0
				for ; s.row.Mode.Energised() && n < 2000; n++ {
					s.step()
					far = max(far, math.Abs(p.x-from)/math.Abs(size))
				}
				t.Logf("%g shown, %+g, linear %v: %d ms, %.3g rad, %s", c.share, side, linear, n, far, s.row.CauseText(&s.ctl.schema))
				if n == 2000 != (c.want == CauseNone) || c.want != CauseNone && s.row.Cause != c.want && s.row.Cause != c.or {
					t.Errorf("%g shown, %+g, linear %v: after %d ms, %.3g rad: %s", c.share, side, linear, n, far, s.row.CauseText(&s.ctl.schema))
				}
			}
		}
	}
}

// A velocity drive that takes one or two seconds to reach what is commanded, or to turn round, is sound; so is one that a weight holds
// back.
func TestSlowVelocityDriveIsSound(t *testing.T) {
	for _, seconds := range []float64{0.2, 1, 2} {
		for _, weight := range []float64{0, 0.01, -0.01} {
			for _, side := range []float64{1, -1} {
				p := rotaryShop(plant.VelocityDrive)
				p.top = p.fs + math.Abs(weight) + p.j*40/seconds
				p.load = func(_, _ float64) float64 { return weight }
				s := newShop(t, p, shopOptions{ref: reference.Spec{Kind: "step", Amplitude: 30 * side, Frequency: 0.15}, top: 40})
				s.start(t)
				for n := range 9000 {
					if s.step(); !s.row.Mode.Energised() {
						t.Errorf("%g s to full speed, weight %g, %+g: after %d ms: %s", seconds, weight, side, n, s.row.CauseText(&s.ctl.schema))
						break
					}
				}
			}
		}
	}
}
