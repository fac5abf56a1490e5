package hil

import (
	"fmt"
	"math"
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// slowShop is a geared motor that a line of 50 samples a second can lead.
func slowShop(kind plant.DriveKind) *shop {
	return &shop{drive: kind, j: 3.2e-3, fc: 9e-3, fs: 12e-3, vs: 0.3, fv: 2e-4, stiffness: 4,
		r: 3.4, l: 2.1e-3, k: 0.025, lag: 1e-3, kp: 0.16, ki: 2.4, top: 0.125,
		count: 1e-4, noise: [estimator.Quantities]float64{estimator.Current: 0.02}, current: true, turned: 1}
}

// An encoder turned round beside a line of 50 samples a second, from rest and in motion, fast or nearly at rest, on every kind of drive,
// to both sides, whether a command acts in its tick or in the next one: found within 0.25 s and 2 rad of the first moment at which the
// drive can move the axis. Where the axis starts beyond its reference, the effort stays between Fs and 2·Fs longer.
func TestTurnedEncoderOnASlowLine(t *testing.T) {
	for _, kind := range shopKinds[:5] {
		for _, late := range []int{0, 1} {
			for _, when := range []string{"rest", "rest beyond", "motion"} {
				line := ""
				for _, side := range []float64{1, -1} {
					for _, moment := range []int{75, 125} { // ticks: behind the turn of the reference, and at speed
						n, all, far, cause := playTurned(t, kind.p().drive, kind.measured, late, when, side, moment, 0)
						line += fmt.Sprintf(" | %3d of %3d ms %5.2g %s", n, all, far, cause)
						if cause != CauseDirection || n > 250+map[string]int{"rest beyond": 130}[when] || far > 2 {
							t.Errorf("%s, %d ticks late, %s, %+g, tick %d: after %d ms and %.3g rad %s", kind.name, late, when, side, moment, n, far, cause)
						}
						if when != "motion" {
							break
						}
					}
				}
				t.Logf("%-18s late %d %-11s%s", kind.name, late, when, line)
			}
		}
	}
}

// playTurned is the time (ms) in which the drive could move the axis until the trip, that from the fault on, the way (rad), and the cause.
func playTurned(t *testing.T, drive plant.DriveKind, measured []estimator.Quantity, late int, when string, side float64,
	moment int, unsteady float64) (ms, total int, far float64, cause Cause) {
	p := slowShop(drive)
	top := map[plant.DriveKind]float64{plant.VoltageDrive: 12, plant.CurrentDrive: 4, plant.EffortDrive: 0.1, plant.VelocityDrive: 10}[drive]
	o := shopOptions{measured: measured, tick: 20, top: top, unsteady: unsteady, fade: 0.3, limits: AxisLimits{MaxSpeed: 100, MaxError: 10},
		pid: &control.PID{Kp: 0.03, Kd: 0.02, Limit: 0.06}, ref: reference.Spec{Kind: "sine", Amplitude: 1.57 * side, Frequency: 0.2}}
	if drive == plant.VoltageDrive {
		o.limits = AxisLimits{}
	}
	s := newShop(t, p, o)
	s.lateCommands = make([]float64, late)
	at := math.NaN()
	fault := func(y []float64, _ [estimator.Quantities]int) {
		if math.IsNaN(at) {
			at = y[0]
		}
		y[0] = 2*at - y[0]
	}
	switch when {
	case "rest":
		p.x, s.fault = -0.47*side, fault
	case "rest beyond":
		p.x, s.fault = 0.47*side, fault
	}
	if s.start(t); when == "motion" {
		for range moment {
			s.step()
		}
		s.fault = fault
	}
	from, moves := p.x, -1
	for ; s.row.Mode.Energised() && total < 3000; total += 20 {
		if s.step(); moves < 0 && math.Abs(p.effort) > p.fs {
			moves = total
		}
		far = max(far, math.Abs(p.x-from))
	}
	return total - max(0, moves), total, far, s.row.Cause
}

// The same at any moment of the motion: where the reference turns and the filter refuses what comes, where the effort is at its limit
// already and cannot grow, and where the axis is slow. The axis goes no further than 2 rad.
func TestEncoderTurnsAtAnyMoment(t *testing.T) {
	for _, kind := range shopKinds[:5] {
		worst, most := 0.0, 0
		for moment := 6; moment < 256; moment += 5 {
			side, late := float64(1-2*(moment%2)), moment/10%2
			n, _, far, cause := playTurned(t, kind.p().drive, kind.measured, late, "motion", side, moment, 0)
			worst, most = max(worst, far), max(most, n)
			if cause != CauseDirection || far > 2 {
				t.Errorf("%s, %d ticks late, %+g, tick %d: after %d ms and %.3g rad %s", kind.name, late, side, moment, n, far, cause)
			}
		}
		t.Logf("%-18s %4d ms %5.2g rad", kind.name, most, worst)
	}
}

// The same where a host asks for the samples and is up to 2 ms late with it, as its ages tell: a millisecond of a fast axis is more than
// all of its acceleration shows within a sample.
func TestEncoderTurnsOnAnUnsteadyLine(t *testing.T) {
	for _, kind := range []int{0, 2} {
		worst, most := 0.0, 0
		for moment := 6; moment < 256; moment += 9 {
			k := shopKinds[kind]
			side, late, unsteady := float64(1-2*(moment%2)), moment/10%2, 1e-3*float64(1+moment/9%2)
			n, _, far, cause := playTurned(t, k.p().drive, k.measured, late, "motion", side, moment, unsteady)
			worst, most = max(worst, far), max(most, n)
			if cause != CauseDirection || far > 2 {
				t.Errorf("%s, %d ticks late, %g s, %+g, tick %d: after %d ms and %.3g rad %s", k.name, late, unsteady, side, moment, n, far, cause)
			}
		}
		t.Logf("%-18s %4d ms %5.2g rad", shopKinds[kind].name, most, worst)
	}
}

// A shaft that is blocked in motion, between two samples as a rule: the last one that moves shows a deceleration that no load has, and the
// friction that the estimate makes of it is none that the axis carried. Of 50 samples a second, up to 2 ms off their raster, from every
// moment of the motion, both ways, on every kind of drive: found within 0.25 s above 2.5·Fs.
func TestBlockedShaftOnASlowLine(t *testing.T) {
	for kind := range 5 {
		k, worst := shopKinds[kind], 0
		for moment := 20; moment < 270; moment += 7 {
			p := slowShop(k.p().drive)
			p.count *= 3
			top := map[plant.DriveKind]float64{plant.VoltageDrive: 12, plant.CurrentDrive: 4, plant.EffortDrive: 0.1,
				plant.VelocityDrive: 10}[p.drive]
			s := newShop(t, p, shopOptions{measured: k.measured, tick: 20, top: top, unsteady: 2e-3, fade: 0.3,
				pid: &control.PID{Kp: 0.03, Kd: 0.02, Limit: 0.06},
				ref: reference.Spec{Kind: "sine", Amplitude: 1.57 * float64(1-2*(moment%2)), Frequency: 0.2}})
			s.lateCommands = make([]float64, moment/2%2)
			s.start(t)
			for range moment {
				s.step()
			}
			p.blocked = true
			pushed, all := 0, 0
			for ; s.row.Mode.Energised() && all < 6000; all += 20 {
				if s.step(); math.Abs(p.effort) > 2.5*p.fs {
					pushed += 20
				}
			}
			worst = max(worst, pushed)
			within := 250
			if p.drive == plant.VelocityDrive { // its own loop pushes sooner than its command tells
				within = 300
			}
			if c := s.row.Cause; s.row.Mode.Energised() || pushed > within || c != CauseFrozen && c != CauseBlocked {
				t.Errorf("%s, tick %d: after %d ms above 2.5·Fs, %d in all: %s", k.name, moment, pushed, all, s.row.CauseText(&s.ctl.schema))
			}
		}
		t.Logf("%-18s %d ms", k.name, worst)
	}
}

// A brake that lets go of a weight of 3 or 6·Fs when the drive comes on throws the axis back until the drive has caught it, with an
// inertia of up to eight times that of the file: no wrong sign. Of 50 to 1000 samples a second, both ways of weight and reference.
func TestBrakeIsNoWrongSign(t *testing.T) {
	played := 0
	for _, rate := range []int{50, 200, 1000} {
		for _, kind := range shopKinds[:4] {
			for _, weight := range []float64{3, -6} {
				for _, side := range []float64{1, -1} {
					for _, heavy := range []float64{1, 3, 8} {
						p := slowShop(kind.p().drive)
						o := shopOptions{measured: kind.measured, tick: 1000 / rate, fade: 0.3,
							pid: &control.PID{Kp: 0.03, Kd: 0.02, Limit: 0.15}, ref: reference.Spec{Kind: "sine", Amplitude: 1.57 * side, Frequency: 0.2},
							top: map[plant.DriveKind]float64{plant.VoltageDrive: 24, plant.CurrentDrive: 6, plant.EffortDrive: 0.15}[p.drive]}
						if played++; played%2 == 1 && rate > 50 {
							p, o.pid, o.top = kind.p(), &control.PID{Kp: 0.1, Kd: 0.004, Limit: 0.4}, 0
						}
						p.brake, p.load = true, func(_, _ float64) float64 { return weight * p.fs }
						s := newShop(t, p, o)
						p.j *= heavy
						s.start(t)
						for k := 0; k < rate && s.row.Mode.Energised(); k++ {
							s.step()
						}
						if !s.row.Mode.Energised() {
							t.Errorf("%d Hz, %s, %g·Fs, %+g, %g times the inertia: %s", rate, kind.name, weight, side, heavy, s.row.CauseText(&s.ctl.schema))
						}
					}
				}
			}
		}
	}
}

// A spring that the drive moves at 0.4 to 0.9 of its natural frequency: effort and acceleration are opposed at any moment, and nothing is
// wrong.
func TestSpringIsNoWrongSign(t *testing.T) {
	for _, rate := range []int{50, 200} {
		for _, kind := range shopKinds[:4] {
			if kind.name == "voltage" { // without a current the acceleration stands in for it (docs/reference/safety.md)
				continue
			}
			for _, ratio := range []float64{0.4, 0.58, 0.9} {
				for _, shape := range []string{"sine", "multisine"} {
					for _, side := range []float64{1, -1} {
						p := slowShop(kind.p().drive)
						w := 2 * math.Pi * 0.7
						k := p.j * w * w
						p.load = func(_, x float64) float64 { return k * x }
						o := shopOptions{measured: kind.measured, tick: 1000 / rate, fade: 1,
							pid: &control.PID{Kp: 0.06, Kd: 0.02, Limit: 0.3}, ref: reference.Spec{Kind: "sine", Amplitude: 3 * side, Frequency: 0.7 * ratio},
							top: map[plant.DriveKind]float64{plant.VoltageDrive: 45, plant.CurrentDrive: 12, plant.EffortDrive: 0.3}[p.drive]}
						if shape == "multisine" {
							o.ref = reference.Spec{Kind: "multisine", Tones: []reference.Tone{
								{Amplitude: 2 * side, Frequency: 0.7 * ratio}, {Amplitude: 0.7, Frequency: 1.5 * ratio}}}
						}
						s := newShop(t, p, o)
						s.start(t)
						n := 0
						for ; n < 4*rate && s.row.Mode.Energised(); n++ {
							s.step()
						}
						if !s.row.Mode.Energised() {
							t.Errorf("%d Hz, %s, %g, %s %+g: after %d %s", rate, kind.name, ratio, shape, side, n, s.row.CauseText(&s.ctl.schema))
						}
					}
				}
			}
		}
	}
}
