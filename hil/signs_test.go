package hil

import (
	"fmt"
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// turnedDevice is a line with wires the wrong way round: factors of position, current and drive, and a position that may freeze.
type turnedDevice struct {
	Device
	position, current, drive float64
	stuck                    float64 // A  added to the current
	frozen                   bool
	at                       float64
}

func (d *turnedDevice) Poll(now int64, y []float64) Fresh {
	fresh := d.Device.Poll(now, y)
	y[0] *= d.position
	y[1] = y[1]*d.current + d.stuck
	if !d.frozen {
		d.at = y[0]
	}
	y[0] = d.at
	return fresh
}

func (d *turnedDevice) Send(u []float64) {
	sent := u[0]
	u[0] *= d.drive
	d.Device.Send(u)
	u[0] = sent
}

// turnedBench is the bench with such a line and no declared limits.
func turnedBench(t *testing.T, o benchOptions) (*bench, *turnedDevice) {
	b := newBench(t, o)
	g := &b.controller.guard.s
	g.Axes[0].AxisLimits = AxisLimits{}
	g.Meas[1].Lo, g.Meas[1].Hi = 0, 0
	d := &turnedDevice{Device: b.ctl.dev, position: 1, current: 1, drive: 1}
	b.ctl.dev = d
	return b, d
}

// energise goes through self-test and arming.
func (b *bench) energise(t testing.TB) {
	t.Helper()
	for range 150 {
		b.step()
	}
	b.out.req = ReqArm
	b.step()
	b.out.req = ReqRun
	b.step()
	if b.ctl.row.Mode != Run {
		t.Fatalf("not running: %v (%v)", b.ctl.row.Mode, b.ctl.row.CauseText(&b.controller.schema))
	}
}

// until steps to the first tick that is not energised; −1: it never came.
func (b *bench) until(n int) int {
	for k := range n {
		b.step()
		if !b.ctl.row.Mode.Energised() {
			return k
		}
	}
	return -1
}

// One of three signs the wrong way round, in a motion to either side, without any declared limit: named as such, before the axis gets
// far. A current sensor the wrong way round moves nothing, but its guard would be blind.
func TestWrongSigns(t *testing.T) {
	for _, side := range []float64{1, -1} {
		slow, fast := reference.Spec{Kind: "sine", Amplitude: 3 * side, Frequency: 0.8},
			reference.Spec{Kind: "sine", Amplitude: 40 * side, Frequency: 1.5}
		for _, c := range []struct {
			name                     string
			position, current, drive float64
			ref                      reference.Spec
			speed                    float64 // rad/s  fastest that the axis may get
			blind                    bool    // no current is measured
		}{{"encoder", -1, 1, 1, slow, 200, false}, {"drive", 1, 1, -1, slow, 50, false}, {"drive with its current", 1, -1, -1, slow, 200, false},
			{"current", 1, -1, 1, fast, 380, false},
			{"encoder, no current", -1, 1, 1, slow, 200, true}, {"drive, no current", 1, 1, -1, slow, 200, true},
			{"encoder in fast motion, no current", -1, 1, 1, fast, 400, true}, {"drive in fast motion, no current", 1, 1, -1, fast, 400, true}} {
			t.Run(fmt.Sprintf("%s %+g", c.name, side), func(t *testing.T) {
				b, d := turnedBench(t, benchOptions{seed: 1, comp: observer, ref: c.ref, fade: 0.5, blind: c.blind})
				d.position, d.current, d.drive = c.position, c.current, c.drive
				b.energise(t)
				n, top := 0, 0.0
				for ; b.ctl.row.Mode.Energised() && n < 3000; n++ {
					b.step()
					top = max(top, math.Abs(b.plant.x[plant.Omega]))
				}
				r := &b.ctl.row
				t.Logf("%d ms, %.0f rad/s: %s", n, top, r.CauseText(&b.controller.schema))
				if r.Mode != Trip || r.Cause != CauseDirection || top > c.speed {
					t.Errorf("%v (%v) at %.0f rad/s, want a trip for the wrong direction below %g", r.Mode, r.Cause, top, c.speed)
				}
				if math.Abs(r.Value) <= r.Limit || r.Limit <= 0 {
					t.Errorf("value %g, limit %g", r.Value, r.Limit)
				}
			})
		}
	}
}

// Where a limit of the motion is reached before the balance is beyond doubt, the sign is named all the same.
func TestWrongSignsUnderLimits(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, most := range []float64{1, 3} { // rad
			for name, turn := range map[string]func(*turnedDevice){"encoder": func(d *turnedDevice) { d.position = -1 },
				"drive": func(d *turnedDevice) { d.drive = -1 }} {
				b, d := turnedBench(t, benchOptions{seed: 1, comp: observer, ref: reference.Spec{Kind: "sine", Amplitude: 3 * side, Frequency: 0.8},
					fade: 0.5})
				b.controller.guard.s.Axes[0].MaxError, b.controller.guard.s.Axes[0].MaxSpeed = most, 100
				turn(d)
				b.energise(t)
				if n := b.until(3000); n < 0 || b.ctl.row.Cause != CauseDirection {
					t.Errorf("%s, %+g, error limit %g rad: after %d ms %s", name, side, most, n, b.ctl.row.CauseText(&b.controller.schema))
				}
			}
		}
	}
}

// What a sound axis may go through: never taken for a wrong sign or a frozen position.
func TestSoundSigns(t *testing.T) {
	slow := reference.Spec{Kind: "sine", Amplitude: 1, Frequency: 0.25}
	fast := reference.Spec{Kind: "sine", Amplitude: 40, Frequency: 1.5} // 380 rad/s: into the voltage limit
	steps := reference.Spec{Kind: "step", Amplitude: 30, Frequency: 2}  // full voltage to either side
	for _, c := range []struct {
		name  string
		ref   reference.Spec
		truth func(*plant.AxisSpec)
		// a load that the drive cannot hold: without a current it may look like a wrong sign; a shaft that is blocked like a position that is
		beyond bool
	}{
		{"as the model", slow, nil, false},
		{"as the model, fast", fast, nil, false},
		{"as the model, steps", steps, nil, false},
		{"hot winding", fast, func(s *plant.AxisSpec) { s.Motor.R *= 1.5 }, false},
		{"hot winding, steps", steps, func(s *plant.AxisSpec) { s.Motor.R *= 1.5 }, false},
		{"resistance too high in the file", steps, func(s *plant.AxisSpec) { s.Motor.R *= 0.7 }, false},
		{"weak magnet", fast, func(s *plant.AxisSpec) { s.Motor.K *= 0.8 }, false},
		{"strong magnet", fast, func(s *plant.AxisSpec) { s.Motor.K *= 1.2 }, false},
		{"twice the drop", slow, func(s *plant.AxisSpec) { s.Motor.BrushDrop *= 2 }, false},
		{"gravity", slow, func(s *plant.AxisSpec) { s.LoadTorque = 0.15 }, false},
		{"gravity the other way", slow, func(s *plant.AxisSpec) { s.LoadTorque = -0.15 }, false},
		{"driven back by more than the drive can hold", slow, func(s *plant.AxisSpec) { s.LoadTorque = 1 }, true},
		{"driven back slowly", slow, func(s *plant.AxisSpec) { s.LoadTorque = 0.5 }, false},
		{"driven back slowly the other way", slow, func(s *plant.AxisSpec) { s.LoadTorque = -0.5 }, false},
		{"driven back the other way", slow, func(s *plant.AxisSpec) { s.LoadTorque = -1 }, true},
		{"driven back with a hot winding", slow, func(s *plant.AxisSpec) { s.LoadTorque = 1; s.Motor.R *= 1.5 }, true},
		{"blocked shaft", steps, func(s *plant.AxisSpec) { blocked(s) }, true},
		{"blocked shaft, hot winding", steps, func(s *plant.AxisSpec) { blocked(s); s.Motor.R *= 1.5 }, true},
	} {
		for _, blind := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, current %v", c.name, !blind), func(t *testing.T) {
				b, _ := turnedBench(t, benchOptions{seed: 2, comp: observer, ref: c.ref, truth: c.truth, fade: 0.3, blind: blind})
				b.controller.guard.s.Axes[0].MaxResidual = 0 // a load beyond the model is not what this is about
				b.energise(t)
				n := b.until(6000)
				t.Logf("after %d ms: %s", n, b.ctl.row.CauseText(&b.controller.schema))
				if cause := b.ctl.row.Cause; cause == CauseFrozen && !c.beyond || cause == CauseDirection && !(blind && c.beyond) {
					t.Errorf("after %d ms: %s", n, b.ctl.row.CauseText(&b.controller.schema))
				}
			})
		}
	}
}

func blocked(s *plant.AxisSpec) {
	law := s.Friction.(*friction.LuGre)
	law.Fc, law.Fs, law.Sigma0 = 5, 5, 2000
}

// A sound axis that leaves its limits under load, with a winding 30 % off: the limit is named, not a sign.
func TestLoadIsNoSign(t *testing.T) {
	for _, load := range []float64{0.6, -0.6, 1.5, -1.5} {
		for _, r := range []float64{0.7, 1, 1.3, -0.7, -1, -1.3} { // minus: no current is measured
			blind := r < 0
			r := math.Abs(r)
			b, _ := turnedBench(t, benchOptions{seed: 2, comp: observer, blind: blind,
				ref: reference.Spec{Kind: "sine", Amplitude: 1, Frequency: 0.25}, fade: 0.3,
				truth: func(s *plant.AxisSpec) { s.LoadTorque = load; s.Motor.R *= r }})
			b.controller.guard.s.Axes[0].MaxError = 1
			b.energise(t)
			if n := b.until(3000); n < 0 || b.ctl.row.Cause != CauseError && b.ctl.row.Cause != CauseResidual {
				t.Errorf("load %g N·m, R %g, current %v: after %d ms %s", load, r, !blind, n, b.ctl.row.CauseText(&b.controller.schema))
			}
		}
	}
}

// A position that stops telling the truth while the axis moves, to either side; and a drive that does nothing, which looks the same.
// Without a current they are found by the torque that must move the axis.
func TestFrozenPosition(t *testing.T) {
	for _, blind := range []bool{false, true} {
		for _, side := range []float64{1, -1, 0} {
			b, d := turnedBench(t, benchOptions{seed: 1, comp: observer,
				ref: reference.Spec{Kind: "sine", Amplitude: 3 * (side + 0.5), Frequency: 0.8}, fade: 0.5, blind: blind})
			b.energise(t)
			for range 1000 {
				b.step()
			}
			d.frozen = side != 0
			d.drive *= math.Abs(side)
			n := b.until(3000)
			t.Logf("current %v: after %d ms at %.0f rad/s: %s", !blind, n, b.plant.x[plant.Omega], b.ctl.row.CauseText(&b.controller.schema))
			if b.ctl.row.Cause != CauseFrozen || n < 0 || n > 200 {
				t.Errorf("current %v: after %d ms: %s", !blind, n, b.ctl.row.CauseText(&b.controller.schema))
			}
		}
	}
}

// A current sensor that says the same number for ever: its limits guard nothing. Found in motion within half a second.
func TestFrozenCurrent(t *testing.T) {
	for _, stuck := range []float64{0, 1, -1} {
		b, d := turnedBench(t, benchOptions{seed: 1, comp: observer, ref: reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.8}, fade: 0.5})
		b.energise(t)
		for range 1000 {
			b.step()
		}
		d.current, d.stuck = 0, stuck
		n := b.until(3000)
		t.Logf("%g A: after %d ms: %s", stuck, n, b.ctl.row.CauseText(&b.controller.schema))
		if c := b.ctl.row.Cause; n < 0 || n > 1000 || c != CauseFrozenCurrent && (stuck == 0 || c != CauseFrozen) {
			t.Errorf("%g A: after %d ms: %s", stuck, n, b.ctl.row.CauseText(&b.controller.schema))
		}
	}
}

// gapDevice is a line that loses frames while drop is set: the last one stands.
type gapDevice struct {
	Device
	drop bool
	kept [2]float64
}

func (d *gapDevice) Poll(now int64, y []float64) Fresh {
	fresh := d.Device.Poll(now, y)
	if d.drop {
		copy(y, d.kept[:])
		return Fresh{}
	}
	copy(d.kept[:], y)
	return fresh
}

// Gaps of 5 to 45 ms, in frames that are lost or in a host that stands still, break no balance of a rig that is right: what the current was
// within a gap is not known. The motion reverses eight times a second and more, so that voltage and current change their sign within gaps.
func TestGapsAreNoWrongSigns(t *testing.T) {
	for seed := range uint64(10) {
		for _, stalls := range []bool{false, true} {
			b := newBench(t, benchOptions{seed: seed, comp: observer,
				ref: reference.Spec{Kind: "sine", Amplitude: 2, Frequency: 4 + 0.2*float64(seed)}, fade: 0.2})
			for i := range b.controller.guard.s.Meas {
				b.controller.guard.s.Meas[i].Stale = 0.06
			}
			b.controller.guard.s.Axes[0].AxisLimits = AxisLimits{}
			d := &gapDevice{Device: b.ctl.dev}
			b.ctl.dev = d
			b.energise(t)
			for k := range 60 {
				gap := 5 + int(7*seed+11*uint64(k))%41
				for range 150 {
					b.step()
				}
				if stalls {
					b.stall(gap)
				} else {
					d.drop = true
					for range gap {
						b.step()
					}
					d.drop = false
				}
				if r := &b.ctl.row; r.Mode != Run {
					t.Errorf("seed %d, gap of %d ms, a host that stalls: %v: %s", seed, gap, stalls, r.CauseText(&b.controller.schema))
					break
				}
			}
		}
	}
}

// stall lets the rig go on for n ticks without the controller, which then leaves out as many.
func (b *bench) stall(n int) {
	for range n {
		b.rigClk.N = 1
		at, late, _ := b.rigClk.Wait()
		b.rig.tick(at, late)
		b.up.turn()
		b.down.turn()
	}
	b.ctlClk.T += int64(n) * b.ctlClk.Period
}
