package hil

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

func TestCheckParam(t *testing.T) {
	for _, c := range []struct {
		name string
		v    float64
		ok   bool
	}{
		{"shaft.control.kp", 0, true}, {"shaft.control.kp", 1e6, true}, {"shaft.control.kp", -1e-9, false}, {"shaft.control.ki", -1, false}, {"shaft.control.kd", 0, true},
		{"shaft.compensation.scale", 0, true}, {"shaft.compensation.scale", 1, true}, {"shaft.compensation.scale", 1.001, false}, {"shaft.compensation.scale", -0.001, false}, {"shaft.compensation.gain", 5, true},
		{"shaft.reference.scale", 10, true}, {"shaft.reference.scale", 10.001, false}, {"shaft.reference.offset", -1e6, true}, {"shaft.reference.offset", 1e6, true},
		{"shaft.control.kp", math.NaN(), false}, {"shaft.control.kp", math.Inf(1), false}, {"shaft.reference.offset", math.Inf(-1), false}, {"shaft.reference.offset", math.NaN(), false},
	} {
		if err := CheckParam(c.name, c.v); (err == nil) != c.ok {
			t.Errorf("%s = %g: %v", c.name, c.v, err)
		}
	}
}

// ref reads the reference of the newest row: position and velocity.
func (b *bench) ref() (pos, vel float64) {
	s := b.controller.Schema()
	return b.ctl.row.X[s.Index("shaft.ref.position")], b.ctl.row.X[s.Index("shaft.ref.velocity")]
}

// A HOLD that was asked for, or that late ticks caused, pauses the motion; one for a sick sensor does not, for the axis moves on too.
// RUN goes on from where it paused, a new start begins the motion anew from where the axis is.
func TestHoldAndReference(t *testing.T) {
	start := func() *bench {
		b := newBench(t, benchOptions{seed: 1, comp: observer, ref: reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.5}, fade: 0.2})
		b.controller.guard.s.Overrun, b.controller.guard.s.OverrunMax, b.controller.guard.s.HoldTime = OverrunHold, 3, 1
		b.energise(t)
		for range 800 {
			b.step()
		}
		return b
	}
	for name, hold := range map[string]func(b *bench){
		"asked for": func(b *bench) { b.out.req = ReqHold; b.step() },
		"late ticks": func(b *bench) {
			for range 5 {
				b.out.flags = FlagLate
				b.step()
			}
			b.out.flags = 0
		},
	} {
		b := start()
		before, v := b.ref()
		if math.Abs(v) < 1 {
			t.Fatalf("%s: the reference does not move: %g rad/s", name, v)
		}
		hold(b)
		if b.ctl.row.Mode != Hold {
			t.Fatalf("%s: %v (%v)", name, b.ctl.row.Mode, b.ctl.row.Cause)
		}
		at, v := b.ref()
		for range 300 {
			b.step()
		}
		if p, _ := b.ref(); v != 0 || p != at || math.Abs(p-before) > 0.2 {
			t.Errorf("%s: the reference goes from %g to %g rad at %g rad/s", name, before, p, v)
		}
		// on from here, smoothly
		b.out.req = ReqRun
		b.step()
		if p, v := b.ref(); math.Abs(p-at) > 0.05 || math.Abs(v) > 0.5 {
			t.Errorf("%s: it goes on at %g rad with %g rad/s, paused at %g", name, p, v, at)
		}
		for range 400 {
			b.step()
		}
		// 3 rad at 0.5 Hz, 1.2 s into it; from the beginning it would be +2.9
		if _, v := b.ref(); math.Abs(v+7.6) > 0.5 {
			t.Errorf("%s: it goes on with %g rad/s, want -7.6", name, v)
		}
	}

	// blind for 40 ms
	b := start()
	b.controller.guard.s.Meas[0].Stale = 5e-3
	before, _ := b.ref()
	for range 40 {
		b.up.sent = false
		b.n++
		b.up.fresh = false
		b.ctlClk.N = 1
		at, late, _ := b.ctlClk.Wait()
		b.ctl.tick(at, late)
	}
	if p, v := b.ref(); b.ctl.row.Mode != Hold || v == 0 || p == before {
		t.Errorf("blind: %v, reference at %g rad with %g rad/s", b.ctl.row.Mode, p, v)
	}

	// healed: on as if nothing had been
	_, v := b.ref()
	b.controller.guard.s.Meas[0].Stale = 1
	for range 3 {
		b.step()
	}
	if _, now := b.ref(); b.ctl.row.Mode != Run || math.Abs(now-v) > 0.3 {
		t.Errorf("healed: %v, reference at %g rad/s, before %g", b.ctl.row.Mode, now, v)
	}

	// a reset forgets what the filter believed, after a trip and after an emergency stop; nothing else does
	for _, q := range []Request{ReqTrip, ReqEstop} {
		b.out.req = q
		b.step()
		b.step()
		if !b.controller.est.Primed() {
			t.Errorf("%v made the filter forget", q)
		}
		b.out.req = ReqReset
		if b.step(); b.ctl.row.Mode != SelfTest || b.controller.est.Primed() {
			t.Errorf("reset after %v: %v, the filter knows: %v", q, b.ctl.row.Mode, b.controller.est.Primed())
		}
		for range 200 {
			b.step()
		}
		if b.ctl.row.Mode != Ready || !b.controller.est.Primed() {
			t.Errorf("after it: %v", b.ctl.row.Mode)
		}
	}

	// a stop and a new start: the same motion from the beginning, about where the axis is then
	b = newBench(t, benchOptions{seed: 1, comp: observer, ref: reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.5}, fade: 0.2})
	var first []float64
	for n := range 2 {
		if n == 0 {
			b.energise(t)
		} else {
			b.out.req = ReqStop
			for range 300 {
				b.step()
			}
			b.out.req = ReqArm
			b.step()
			b.out.req = ReqRun
			b.step()
		}
		s := b.controller.Schema()
		if e := b.ctl.row.X[s.Index("shaft.ctl.error")]; math.Abs(e) > 0.01 {
			t.Errorf("start %d: an error of %g rad at once", n+1, e)
		}
		for k := range 700 {
			b.step()
			_, v := b.ref()
			if n == 0 {
				first = append(first, v)
			} else if k > 300 && math.Abs(v-first[k]) > 0.05 { // the blend from another place is over
				t.Fatalf("start 2, tick %d: %g rad/s, the first time %g", k, v, first[k])
			}
		}
	}
}

// Time that was skipped moves the reference on, up to a bound; the torque stays within its limit to either side and says when it is cut;
// in ordinary motion nothing is flagged and little is left unexplained.
func TestControllerTicks(t *testing.T) {
	b := newBench(t, benchOptions{seed: 1, comp: observer, ref: slowSine, fade: 0.2})
	b.energise(t)
	flags := Flags(0)
	s := b.controller.Schema()
	for range 3000 {
		b.step()
		flags |= b.ctl.row.Flags
	}
	if flags&(FlagEstimator|FlagDiverged|FlagNonFinite) != 0 || math.Abs(b.controller.residual) > 0.3*demoLaw().Fs || b.controller.residual == 0 {
		t.Errorf("flags %b, residual %g N·m", flags, b.controller.residual)
	}
	if at := s.Index("drive.voltage"); b.controller.guard.s.CmdAt != at {
		t.Errorf("the commands begin at %d, want %d", b.controller.guard.s.CmdAt, at)
	}

	if b.controller.held {
		t.Error("the torque reaches the shaft as asked, and counts as cut")
	}
	b.controller.guard.s.Cmd[0].Hi, b.controller.guard.s.Cmd[0].Lo = 0.01, -0.01
	b.step()
	if b.step(); !b.controller.held || b.ctl.row.Flags&FlagClamped == 0 {
		t.Error("the torque is cut by the guard, and nobody is told")
	}

	// skipped time, on a ramp of 5 rad/s
	b = newBench(t, benchOptions{seed: 1, comp: CompSpec{}, ref: reference.Spec{Kind: "ramp", Velocity: 5}, fade: 0.1})
	b.energise(t)
	for range 1000 {
		b.step()
	}
	c := b.controller
	var blocks Blocks
	r := b.ctl.row
	blocks.Meas, blocks.Est, blocks.Model, blocks.Cmd = s.Blocks(&r)
	for _, skip := range []uint32{0, 4, 20, 21, 1000} {
		from := blocks.Model[mRef]
		r.Skip = skip
		c.Compute(&r, &blocks)
		if d, want := blocks.Model[mRef]-from, 5e-3*float64(1+min(skip, longestGap)); math.Abs(d-want) > 1e-6 {
			t.Errorf("%d ticks skipped: the reference moves by %g rad, want %g", skip, d, want)
		}
	}
	// far away to either side: the limit, and the word that it was cut; near: neither
	r.Skip = 0
	for _, c2 := range []struct {
		error float64
		tau   float64
		held  bool
	}{{1000, 0.4, true}, {-1000, -0.4, true}, {0.1, 0, false}} {
		blocks.Est[ePos] = blocks.Model[mRef] - c2.error
		blocks.Est[eVel] = 5
		c.Compute(&r, &blocks)
		tau := blocks.Model[mTau]
		if c.held != c2.held || c2.held && tau != c2.tau || !c2.held && math.Abs(tau) >= 0.4 {
			t.Errorf("error %g rad: %g N·m, cut: %v", c2.error, tau, c.held)
		}
	}
}

// told is a compensation that keeps what it is told.
type told struct {
	estimator.Motion
	n int
}

func (l *told) Reset() {}

func (l *told) Compensate(_ float64, m estimator.Motion) (float64, engine.Status) {
	l.Motion, l.n = m, l.n+1
	return 0, engine.OK
}

// What learns rests in a tick whose past is not what was asked for: ticks are missing, the sample is too old, the torque was cut by
// its own limit or by the guard in the tick before. It is told the torque that was asked for then.
func TestCompensationIsHeld(t *testing.T) {
	b := newBench(t, benchOptions{seed: 1, comp: observer, ref: slowSine, fade: 0.2})
	b.energise(t)
	for range 300 {
		b.step()
	}
	c, r, blocks := b.controller, b.ctl.row, Blocks{}
	s := c.Schema()
	blocks.Meas, blocks.Est, blocks.Model, blocks.Cmd = s.Blocks(&r)
	law := &told{}
	c.comp.law = law
	tick := func() bool { c.Compute(&r, &blocks); return law.Held }
	tick()
	if asked := blocks.Model[mTau]; tick() || law.n != 2 || law.U != asked || asked == 0 {
		t.Errorf("an ordinary tick: held %v, told %g N·m, asked for %g", law.Held, law.U, asked)
	}
	for _, k := range []struct {
		name string
		skip uint32
		age  float64 // sampling periods
		want bool
	}{{"one tick missing", 1, 0, true}, {"none", 0, 0, false}, {"old sample", 0, 5.001, true}, {"sample of five periods", 0, 4.999, false},
		{"sample of no time", 0, math.NaN(), true}, {"sample from after the tick", 0, -1, false}} {
		r.Skip, c.age = k.skip, k.age*c.s.Every
		if tick() != k.want {
			t.Errorf("%s: held %v, want %v", k.name, law.Held, k.want)
		}
	}
	r.Skip, c.age = 0, 0
	before := blocks.Est[ePos]
	for _, side := range []float64{1, -1} {
		blocks.Est[ePos] = before - 1000*side
		cut := tick()
		blocks.Est[ePos] = before
		if next := tick(); cut || !next || law.U != 0.4*side || tick() {
			t.Errorf("torque at its limit to side %+g: held %v at once, %v then, told %g N·m; for longer: %v", side, cut, next, law.U, law.Held)
		}
	}
	for _, f := range []Flags{FlagClamped, FlagSlewed, FlagStale} {
		limits := c.guard.s.Cmd[0]
		switch f {
		case FlagClamped:
			c.guard.s.Cmd[0].Hi, c.guard.s.Cmd[0].Lo = 1e-3, -1e-3
		case FlagSlewed:
			c.guard.s.Cmd[0].Slew = 1e-3
		}
		blocks.Cmd[0] = c.guard.last[0] + 1
		r.Flags = 0
		c.Guard(&r, &blocks)
		c.guard.s.Cmd[0] = limits
		if want := f != FlagStale; r.Flags&f != 0 != want || tick() != want || tick() {
			t.Errorf("flag %b: flags %b, held %v in the end", f, r.Flags, law.Held)
		}
	}
	c.before, c.held = Ready, true
	if tick() {
		t.Error("RUN begins with a torque that was cut in the run before")
	}
}
