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
	g.MaxSpeed, g.MaxError, g.MaxCurrent, g.RatedI = 0, 0, 0, 0
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
		t.Fatalf("not running: %v (%v)", b.ctl.row.Mode, b.ctl.row.Why(&b.controller.schema))
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
		slow, fast := reference.Spec{Kind: "sine", Amplitude: 3 * side, Frequency: 0.8}, reference.Spec{Kind: "sine", Amplitude: 40 * side, Frequency: 1.5}
		for _, c := range []struct {
			name                     string
			position, current, drive float64
			ref                      reference.Spec
			speed                    float64 // rad/s  fastest that the axis may get
			blind                    bool    // no current is measured
		}{{"encoder", -1, 1, 1, slow, 200, false}, {"drive", 1, 1, -1, slow, 50, false}, {"drive with its current", 1, -1, -1, slow, 200, false}, {"current", 1, -1, 1, fast, 380, false},
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
				t.Logf("%d ms, %.0f rad/s: %s", n, top, r.Why(&b.controller.schema))
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
			for name, turn := range map[string]func(*turnedDevice){"encoder": func(d *turnedDevice) { d.position = -1 }, "drive": func(d *turnedDevice) { d.drive = -1 }} {
				b, d := turnedBench(t, benchOptions{seed: 1, comp: observer, ref: reference.Spec{Kind: "sine", Amplitude: 3 * side, Frequency: 0.8}, fade: 0.5})
				b.controller.guard.s.MaxError, b.controller.guard.s.MaxSpeed = most, 100
				turn(d)
				b.energise(t)
				if n := b.until(3000); n < 0 || b.ctl.row.Cause != CauseDirection {
					t.Errorf("%s, %+g, error limit %g rad: after %d ms %s", name, side, most, n, b.ctl.row.Why(&b.controller.schema))
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
		name   string
		ref    reference.Spec
		truth  func(*plant.DriveSpec)
		beyond bool // a load that the drive cannot hold: without a current it may look like a wrong sign
	}{
		{"as the model", slow, nil, false},
		{"as the model, fast", fast, nil, false},
		{"as the model, steps", steps, nil, false},
		{"hot winding", fast, func(s *plant.DriveSpec) { s.Motor.R *= 1.5 }, false},
		{"hot winding, steps", steps, func(s *plant.DriveSpec) { s.Motor.R *= 1.5 }, false},
		{"resistance too high in the file", steps, func(s *plant.DriveSpec) { s.Motor.R *= 0.7 }, false},
		{"weak magnet", fast, func(s *plant.DriveSpec) { s.Motor.K *= 0.8 }, false},
		{"strong magnet", fast, func(s *plant.DriveSpec) { s.Motor.K *= 1.2 }, false},
		{"twice the drop", slow, func(s *plant.DriveSpec) { s.Motor.BrushDrop *= 2 }, false},
		{"gravity", slow, func(s *plant.DriveSpec) { s.LoadTorque = 0.15 }, false},
		{"gravity the other way", slow, func(s *plant.DriveSpec) { s.LoadTorque = -0.15 }, false},
		{"driven back by more than the drive can hold", slow, func(s *plant.DriveSpec) { s.LoadTorque = 1 }, true},
		{"driven back slowly", slow, func(s *plant.DriveSpec) { s.LoadTorque = 0.5 }, false},
		{"driven back slowly the other way", slow, func(s *plant.DriveSpec) { s.LoadTorque = -0.5 }, false},
		{"driven back the other way", slow, func(s *plant.DriveSpec) { s.LoadTorque = -1 }, true},
		{"driven back with a hot winding", slow, func(s *plant.DriveSpec) { s.LoadTorque = 1; s.Motor.R *= 1.5 }, true},
		{"blocked shaft", steps, func(s *plant.DriveSpec) { blocked(s) }, false},
		{"blocked shaft, hot winding", steps, func(s *plant.DriveSpec) { blocked(s); s.Motor.R *= 1.5 }, false},
	} {
		for _, blind := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, current %v", c.name, !blind), func(t *testing.T) {
				b, _ := turnedBench(t, benchOptions{seed: 2, comp: observer, ref: c.ref, truth: c.truth, fade: 0.3, blind: blind})
				b.controller.guard.s.MaxResidual = 0 // a load beyond the model is not what this is about
				b.energise(t)
				n := b.until(6000)
				t.Logf("after %d ms: %s", n, b.ctl.row.Why(&b.controller.schema))
				if cause := b.ctl.row.Cause; cause == CauseFrozen || cause == CauseDirection && !(blind && c.beyond) {
					t.Errorf("after %d ms: %s", n, b.ctl.row.Why(&b.controller.schema))
				}
			})
		}
	}
}

func blocked(s *plant.DriveSpec) {
	law := s.Friction.(*friction.LuGre)
	law.Fc, law.Fs, law.Sigma0 = 5, 5, 2000
}

// A sound axis that leaves its limits under load, with a winding 30 % off: the limit is named, not a sign.
func TestLoadIsNoSign(t *testing.T) {
	for _, load := range []float64{0.6, -0.6, 1.5, -1.5} {
		for _, r := range []float64{0.7, 1, 1.3, -0.7, -1, -1.3} { // minus: no current is measured
			blind := r < 0
			r := math.Abs(r)
			b, _ := turnedBench(t, benchOptions{seed: 2, comp: observer, blind: blind, ref: reference.Spec{Kind: "sine", Amplitude: 1, Frequency: 0.25}, fade: 0.3,
				truth: func(s *plant.DriveSpec) { s.LoadTorque = load; s.Motor.R *= r }})
			b.controller.guard.s.MaxError = 1
			b.energise(t)
			if n := b.until(3000); n < 0 || b.ctl.row.Cause != CauseError && b.ctl.row.Cause != CauseResidual {
				t.Errorf("load %g N·m, R %g, current %v: after %d ms %s", load, r, !blind, n, b.ctl.row.Why(&b.controller.schema))
			}
		}
	}
}

// A position that stops telling the truth while the axis moves, to either side; and a drive that does nothing, which looks the same.
// Without a current they look like a blocked shaft too.
func TestFrozenPosition(t *testing.T) {
	for _, blind := range []bool{false, true} {
		want := CauseFrozen
		if blind {
			want = CauseBlocked
		}
		for _, side := range []float64{1, -1, 0} {
			b, d := turnedBench(t, benchOptions{seed: 1, comp: observer, ref: reference.Spec{Kind: "sine", Amplitude: 3 * (side + 0.5), Frequency: 0.8}, fade: 0.5, blind: blind})
			b.energise(t)
			for range 1000 {
				b.step()
			}
			d.frozen = side != 0
			d.drive *= math.Abs(side)
			n := b.until(3000)
			t.Logf("current %v: after %d ms at %.0f rad/s: %s", !blind, n, b.plant.x[plant.Omega], b.ctl.row.Why(&b.controller.schema))
			if b.ctl.row.Cause != want || n < 0 || n > 500 {
				t.Errorf("current %v: after %d ms: %s, want %v", !blind, n, b.ctl.row.Why(&b.controller.schema), want)
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
		t.Logf("%g A: after %d ms: %s", stuck, n, b.ctl.row.Why(&b.controller.schema))
		if c := b.ctl.row.Cause; n < 0 || n > 1000 || c != CauseFrozenCurrent && (stuck == 0 || c != CauseFrozen) {
			t.Errorf("%g A: after %d ms: %s", stuck, n, b.ctl.row.Why(&b.controller.schema))
		}
	}
}

// The balance by hand: R 2 Ω, K 0.5 V·s, tolerance 1 V and half of the terms; to both sides, at the edges.
func TestSignsBalance(t *testing.T) {
	s := &signs{motor: plant.Motor{R: 2, K: 0.5}, pos: 4}
	for _, c := range []struct {
		u, i, omega float64
		cause       Cause
		over, limit float64
	}{
		{12, 3, 12, CauseNone, 0, 0},
		{4, 2, 0, CauseNone, 0, 0},
		{3, 1, -2, CauseNone, 0, 0},                     // over 2, limit 2.5
		{12, 3, -12, CauseDirection, 12, 7},             // encoder: u = R·i − K·ω
		{6, -3, 0, CauseDirection, 12, 4},               // drive, at rest: −u = R·i
		{12, -3, -12, CauseDirection, 24, 7},            // drive in motion: −u = R·i + K·ω
		{12, -3, 12, CauseDirection, 12, 7},             // current: u = −R·i + K·ω
		{12, 3, 0, CauseFrozen, 6, 4},                   // the motion that is left over does not show
		{12, 0, 0, CauseFrozen, 12, 1},                  // … or the drive does nothing
		{12, 3, 1, CauseFrozen, 5.5, 4.25},              // less than a tenth of it shows
		{12, 3, 1.2, CauseNone, 0, 0},                   // more: 0.6 V of 5.4
		{1, 0, 0, CauseNone, 0, 0},                      // the edge of the tolerance
		{math.Nextafter(1, 2), 0, 0, CauseFrozen, 1, 1}, // and beyond
		{20, 2, 8, CauseNone, 0, 0},                     // 12 V over: a weak supply is no sign
		{20, 2, -13.7, CauseNone, 0, 0},                 // 22.85 over, 9.15 with the encoder turned: more than a third
		{20, 2, -17.2, CauseDirection, 24.6, 7.3},       // 7.4 with the encoder turned
		{12, 2, -12, CauseDirection, 14, 6},             // 14 over, 2 with the encoder turned
	} {
		for _, side := range []float64{1, -1} {
			got := s.balance(side*c.u, side*c.i, side*c.omega, 0.5, 1)
			want := reason{c.cause, 0, side * c.over, c.limit}
			if c.cause != CauseNone {
				want.where = 5
			}
			if got.cause != want.cause || got.where != want.where || math.Abs(got.value-want.value) > 1e-12 || math.Abs(got.limit-want.limit) > 1e-12 {
				t.Errorf("u %g i %g ω %g: %+v, want %+v", side*c.u, side*c.i, side*c.omega, got, want)
			}
		}
	}
	// the drop of the brushes has the sign of the current
	s.motor.BrushDrop, s.motor.DropScale = 1, 1e-6
	for _, side := range []float64{1, -1} {
		if got := s.balance(side*5, side*2, 0, 0, 1e-9); got.cause != CauseNone {
			t.Errorf("with the drop: %+v", got)
		}
	}
}

// How long it takes, what begins it anew, and which voltage counts.
func TestSignsTiming(t *testing.T) {
	spec := func(applied int) ControllerSpec {
		return ControllerSpec{Rate: 1000, Position: 1, Current: 2, Drive: 1, Applied: applied, Motor: plant.Motor{R: 2, K: 0.5},
			Guard: GuardSpec{Cmd: []CmdLimit{{Lo: -99, Hi: 99}, {Lo: -20, Hi: 10}}}}
	}
	type tick struct {
		mode  Mode
		skip  uint32
		flags Flags
		meas  []float64 // applied voltage, position, current
		cmd   float64
		old   bool // no new sample
	}
	// first is the tick, from 1, in which it is found and in which it would be put down to it; 0: never
	first := func(s *signs, at func(k int) tick) (bad, hint int) {
		for k := 1; k <= 300; k++ {
			c := at(k)
			r := Row{Mode: c.mode, Skip: c.skip, Flags: c.flags}
			b, h := s.step(&r, !c.old, c.meas, [2]float64{c.meas[1], c.meas[2]}, []float64{0, c.cmd})
			if b.cause != CauseNone && bad == 0 {
				bad = k
			}
			if h.cause != CauseNone && hint == 0 {
				hint = k
			}
		}
		return
	}
	still := []float64{0, 0, 0}
	steady := tick{mode: Run, meas: still, cmd: 8}
	for _, c := range []struct {
		name      string
		applied   int
		at        func(k int) tick
		bad, hint int
	}{
		{"voltage and nothing else", -1, func(int) tick { return steady }, 50, 35}, // one to begin, 30 of three times 10 ms, then 20 or 5
		{"the other way", -1, func(int) tick { c := steady; c.cmd = -8; return c }, 50, 35},
		{"in HOLD", -1, func(int) tick { c := steady; c.mode = Hold; return c }, 50, 35},
		{"at rest", -1, func(int) tick { c := steady; c.mode = Armed; return c }, 0, 0},
		{"no voltage", -1, func(int) tick { c := steady; c.cmd = 0; return c }, 0, 0},
		{"ticks of 5 ms", -1, func(int) tick { c := steady; c.skip = 4; return c }, 10, 7},
		{"the applied voltage counts", 0, func(int) tick { return steady }, 0, 0},
		{"the applied voltage shows it", 0, func(int) tick { return tick{mode: Run, meas: []float64{8, 0, 0}} }, 50, 35},
		{"the command does not", -1, func(int) tick { return tick{mode: Run, meas: []float64{8, 0, 0}} }, 0, 0},
		{"stale for a tick", -1, func(k int) tick {
			c := steady
			if k == 20 {
				c.flags = FlagStale
			}
			return c
		}, 69, 54},
		{"out of range for a tick", -1, func(k int) tick {
			c := steady
			if k == 48 {
				c.flags = FlagRange
			}
			return c
		}, 97, 35},
		{"no number for a tick", -1, func(k int) tick {
			c := steady
			if k == 20 {
				c.meas = []float64{0, 0, math.NaN()}
			}
			return c
		}, 70, 55}, // the next one begins it
		{"stopped for a tick", -1, func(k int) tick {
			c := steady
			if k == 20 {
				c.mode = Ready
			}
			return c
		}, 70, 55},
		{"now and then", -1, func(k int) tick { // on for 4 ms, off for 4: never 20 ms long with 8 V in the mean
			c := steady
			c.meas = []float64{0, 0, 1e-3 * float64(k%2)}
			if k/4%2 == 0 {
				c.cmd = -8
			}
			return c
		}, 0, -1},
		{"the same, and the current stays a number", -1, func(k int) tick { // 30 to settle, 200 ms for as long as it may
			c := steady
			if k/4%2 == 0 {
				c.cmd = -8
			}
			return c
		}, 231, -1},
		{"0.39 V now and then, and the current stays a number", -1, func(k int) tick {
			c := steady
			if c.cmd = 0.39; k/60%2 == 0 {
				c.cmd = 0
			}
			return c
		}, 0, -1},
		{"0.42 V now and then, and the current stays a number", -1, func(k int) tick {
			c := steady
			if c.cmd = 0.42; k/60%2 == 0 {
				c.cmd = 0
			}
			return c
		}, 231, -1},
		{"a sample every fifth tick", -1, func(k int) tick { c := steady; c.old = k%5 != 1; return c }, 46, 31}, // an interval counts whole
		{"no sample for 40 ms, in motion as it should be", -1, func(k int) tick {
			c := tick{mode: Run, meas: []float64{0, 8e-3 * float64(k), 2 + 1e-3*float64(k%2)}, cmd: 8}
			if k > 120 && k < 160 {
				c.old, c.meas = true, []float64{0, 8e-3 * 120, 2}
			}
			return c
		}, 0, 0},
		{"as it should be", -1, func(k int) tick { // 4 V in the winding, 4 V of motion
			return tick{mode: Run, meas: []float64{0, 8e-3 * float64(k), 2}, cmd: 8}
		}, 0, 0},
		{"the axis runs backwards", -1, func(k int) tick { return tick{mode: Run, meas: []float64{0, -8e-3 * float64(k), 2}, cmd: 8} }, 50, 35},
	} {
		if bad, hint := first(newSigns(spec(c.applied)), c.at); bad != c.bad || hint != c.hint && c.hint >= 0 {
			t.Errorf("%s: found in tick %d, put down to it in %d; want %d and %d", c.name, bad, hint, c.bad, c.hint)
		}
	}
	// the tolerance: the larger side of the limit of the drive, and the drop; without either there is nothing to go by
	for _, c := range []struct {
		lo, hi, drop, want float64
	}{{-20, 10, 0, 1}, {-10, 20, 0, 1}, {-10, 20, 0.3, 1.6}, {0, 0, 0, 0}} {
		sp := spec(-1)
		sp.Guard.Cmd[1], sp.Motor.BrushDrop = CmdLimit{Lo: c.lo, Hi: c.hi}, c.drop
		if s := newSigns(sp); math.Abs(s.floor-c.want) > 1e-12 {
			t.Errorf("limit %g to %g V, drop %g V: tolerance %g V, want %g", c.lo, c.hi, c.drop, s.floor, c.want)
		}
	}
	sp := spec(-1)
	sp.Current = -1
	if bad, _ := first(newSigns(sp), func(int) tick { return steady }); bad != 0 {
		t.Error("without a current there is nothing to compare")
	}
	sp = spec(-1)
	sp.Guard.Cmd[1], sp.Motor.BrushDrop = CmdLimit{}, 0
	if bad, _ := first(newSigns(sp), func(int) tick { return steady }); bad != 0 {
		t.Error("without a tolerance everything would be wrong")
	}
}
