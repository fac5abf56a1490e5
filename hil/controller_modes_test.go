package hil

import (
	"math"
	"testing"

	"hilrig/engine/reference"
	"hilrig/hil/axis"
)

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
	for _, q := range []Request{ReqNone, ReqEstop} {
		if b.out.req = q; q == ReqNone {
			b.out.flags = FlagTripIn
		}
		b.step()
		b.out.flags = 0
		b.step()
		if b.controller.states[0].Unsound {
			t.Errorf("%v made the filter forget", q)
		}
		b.out.req = ReqReset
		if b.step(); b.ctl.row.Mode != SelfTest || !b.controller.states[0].Unsound {
			t.Errorf("reset after %v: %v, the filter knows: %v", q, b.ctl.row.Mode, !b.controller.states[0].Unsound)
		}
		for range 200 {
			b.step()
		}
		if b.ctl.row.Mode != Ready || b.controller.states[0].Unsound {
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

// Time that was skipped moves the reference on, up to a bound; in ordinary motion nothing is flagged and little is left unexplained.
func TestControllerTicks(t *testing.T) {
	b := newBench(t, benchOptions{seed: 1, comp: observer, ref: slowSine, fade: 0.2})
	b.energise(t)
	flags := Flags(0)
	s := b.controller.Schema()
	for range 3000 {
		b.step()
		flags |= b.ctl.row.Flags
	}
	if flags&(FlagEstimator|FlagDiverged|FlagNonFinite) != 0 || math.Abs(b.controller.states[0].Residual) > 0.3*demoLaw().Fs ||
		b.controller.states[0].Residual == 0 {
		t.Errorf("flags %b, residual %g N·m", flags, b.controller.states[0].Residual)
	}
	if at := s.Index("drive.voltage"); b.controller.guard.s.CmdAt != at {
		t.Errorf("the commands begin at %d, want %d", b.controller.guard.s.CmdAt, at)
	}

	// skipped time, on a ramp of 5 rad/s
	b = newBench(t, benchOptions{seed: 1, comp: axis.CompSpec{}, ref: reference.Spec{Kind: "ramp", Velocity: 5}, fade: 0.1})
	b.energise(t)
	for range 1000 {
		b.step()
	}
	c := b.controller
	var blocks Blocks
	r := b.ctl.row
	blocks.Meas, blocks.Est, blocks.Model, blocks.Cmd = s.Blocks(&r)
	for _, skip := range []uint32{0, 4, 20, 21, 1000} {
		from := blocks.Model[0]
		r.Skip = skip
		c.Compute(&r, &blocks)
		if d, want := blocks.Model[0]-from, 5e-3*float64(1+min(skip, 20)); math.Abs(d-want) > 1e-6 {
			t.Errorf("%d ticks skipped: the reference moves by %g rad, want %g", skip, d, want)
		}
	}
}

// What learns rests while the guard cuts the command.
func TestCutCommandTeachesNothing(t *testing.T) {
	for _, slew := range []bool{false, true} {
		b := newBench(t, benchOptions{seed: 3, comp: compOf(axis.CompGain), ref: slowSine, truth: frictionTimes(1.1), fade: 0.5})
		theta := b.controller.schema.Index("shaft.comp.theta")
		b.run(t, 1000)
		learnt := func() (by float64) {
			from := b.ctl.row.X[theta]
			for range 50 {
				b.step()
			}
			return math.Abs(b.ctl.row.X[theta] - from)
		}
		free := learnt()
		limit := &b.controller.guard.s.Cmd[0]
		if slew {
			limit.Slew = 1e-9
		} else {
			limit.Hi, limit.Lo = 1e-9, -1e-9
		}
		b.step()
		if cut := learnt(); cut != 0 || free == 0 {
			t.Errorf("slew %v: the factor moves by %g while the command is cut, by %g before", slew, cut, free)
		}
	}
}
