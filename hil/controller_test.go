package hil

import (
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/hil/axis"
)

// A slow sine with slow reversals, where friction matters most.
var slowSine = reference.Spec{Kind: "sine", Amplitude: 1, Frequency: 0.25}

var observer = axis.CompSpec{Kind: axis.CompObserver, Scale: 0.95, Inertia: true}

// Compensation makes the rms tracking error at least five times smaller than the same PD without it, with a 16-bit encoder,
// current noise, and a plant whose friction and resistance are up to 10 % off what the controller believes.
func TestCompensation(t *testing.T) {
	off := func(s *plant.AxisSpec) {
		s.Motor.R *= 1.08
		law := s.Friction.(*friction.LuGre)
		law.Fc *= 1.05
		law.Fs *= 1.05
		law.Sigma0 *= 0.9
	}
	for _, c := range []struct {
		name  string
		truth func(*plant.AxisSpec)
		kind  axis.CompKind
		want  float64
	}{
		{"observer, exact model", nil, axis.CompObserver, 5},
		{"observer, model off", off, axis.CompObserver, 5},
		{"feed-forward, exact model", nil, axis.CompFeedForward, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			rms := func(comp axis.CompSpec) float64 {
				b := newBench(t, benchOptions{seed: 3, comp: comp, ref: slowSine, truth: c.truth, fade: 0.5})
				rows := b.run(t, 10000)
				return b.rms(rows[2000:], "shaft.ctl.error")
			}
			comp := observer
			comp.Kind = c.kind
			without, with := rms(axis.CompSpec{Inertia: true}), rms(comp)
			t.Logf("rms error without %.2f mrad, with %.2f mrad: %.1f times", 1e3*without, 1e3*with, without/with)
			if without < c.want*with {
				t.Errorf("only %.1f times smaller, want %g", without/with, c.want)
			}
		})
	}
}

// The estimates converge to the plant's truth while the demo's motion runs, in the loop with its real delays.
func TestEstimatesInTheLoop(t *testing.T) {
	ref := reference.Spec{Kind: "multisine", Tones: []reference.Tone{{Amplitude: 3, Frequency: 0.4}, {Amplitude: 0.6, Frequency: 2.3}}}
	b := newBench(t, benchOptions{seed: 5, comp: observer, ref: ref, fade: 1})
	rows := b.run(t, 40000)
	r := rows[len(rows)-1]
	s := b.controller.Schema()
	for _, c := range []struct {
		name  string
		truth float64
	}{{"shaft.rls.J", 7e-5}, {"shaft.rls.Fv", 1.5e-4}, {"shaft.rls.Fc", 15e-3}} {
		k := s.Index(c.name)
		v, se := r.X[k], r.X[k+4]
		t.Logf("%s %.5g ± %.2g (truth %.5g, %+.2f %%)", c.name, v, 1.96*se, c.truth, 100*(v/c.truth-1))
		if math.Abs(v/c.truth-1) > 0.03 {
			t.Errorf("%s is %.2f %% off", c.name, 100*(v/c.truth-1))
		}
	}
	// the filter against the plant's true state
	if k := s.Index("shaft.est.velocity"); math.Abs(r.X[k]-b.plant.x[plant.Omega]) > 0.5 {
		t.Errorf("velocity %g, true %g rad/s", r.X[k], b.plant.x[plant.Omega])
	}
}

// A sensor five times slower than the loop: the filter predicts in between, tracking and the estimated friction stay sound.
// (The inertia is biased then, by what the current does between its samples: see estimator.rls in docs/reference/config.md.)
func TestSlowSensor(t *testing.T) {
	ref := reference.Spec{Kind: "multisine", Tones: []reference.Tone{{Amplitude: 3, Frequency: 0.4}, {Amplitude: 0.6, Frequency: 1.3}}}
	b := newBench(t, benchOptions{seed: 5, comp: axis.CompSpec{Kind: axis.CompFeedForward, Scale: 0.9, Inertia: true}, ref: ref, fade: 1,
		every: 5})
	rows := b.run(t, 40000)
	if rms := b.rms(rows[5000:], "shaft.ctl.error"); rms > 0.05 {
		t.Errorf("rms tracking error %.1f mrad at 200 samples/s", 1e3*rms)
	}
	r := rows[len(rows)-1]
	s := b.controller.Schema()
	if v := r.X[s.Index("shaft.rls.Fc")]; math.Abs(v/15e-3-1) > 0.05 {
		t.Errorf("Fc = %.5g, truth 15e-3", v)
	}
}

// Recorded rows fed back through a fresh controller come out bit for bit.
func TestReplayIsExact(t *testing.T) {
	b := newBench(t, benchOptions{seed: 9, comp: observer, ref: slowSine, fade: 0.5})
	var rows []Row
	b.out.keep = &rows
	p := b.controller.Params()
	for k := range 3000 {
		switch k {
		case 200:
			b.out.req = ReqArm
		case 210:
			b.out.req = ReqRun
		case 1000:
			p.Gen, p.V[5], p.V[0] = 1, 2, 0.3 // reference.scale, control.kp
			q := p
			b.out.params = &q
			b.out.req = ReqSet
		case 1500:
			b.out.req = ReqHold
		case 1700:
			b.out.req = ReqRun
		case 2500:
			b.out.flags |= FlagSupLost
		}
		b.step()
	}
	b.out.keep = nil
	sameAgain(t, b.controller.s, rows, p)
	if rows[2600].Mode != Trip || rows[1600].Mode != Hold {
		t.Errorf("the script did not play: %v %v", rows[1600].Mode, rows[2600].Mode)
	}
	// and a replay notices a changed bit
	rows[700].X[0] += 1e-9
	if replayed(t, b.controller.s, rows, p).Diff == 0 {
		t.Error("a changed sample went unnoticed")
	}
}

// The firmware takes the voltage off when commands stop.
func TestPlantWatchdog(t *testing.T) {
	b := newBench(t, benchOptions{seed: 1, comp: observer, ref: slowSine, fade: 0.5})
	b.run(t, 500)
	if b.rig.row.Mode != Run {
		t.Fatal("the rig is not energised")
	}
	n := 0
	for b.rig.row.Mode == Run && n < 200 {
		b.rigClk.N = 1
		at, late, _ := b.rigClk.Wait()
		b.rig.tick(at, late)
		b.down.fresh = false
		n++
	}
	if n < 45 || n > 55 {
		t.Errorf("de-energised after %d ms of silence, want 50", n)
	}
}

func TestTickAllocs(t *testing.T) {
	b := newBench(t, benchOptions{seed: 1, comp: observer, ref: slowSine, fade: 0.5})
	b.run(t, 100)
	if n := testing.AllocsPerRun(2000, b.step); n != 0 {
		t.Errorf("%g allocations in a tick of controller and plant", n)
	}
}

// One tick of the demo's controller in RUN: estimate, model, compensate, guard, push. Its samples are those of one turn of the motion,
// again and again: one that stayed the same would trip.
func BenchmarkTick(b *testing.B) {
	s := newBench(b, benchOptions{seed: 1, comp: observer, ref: slowSine, fade: 0.5})
	var turn [][2]float64
	for _, r := range s.run(b, 8000)[4000:] {
		turn = append(turn, [2]float64(r.X[:2]))
	}
	k := 0
	b.ReportAllocs()
	for b.Loop() {
		s.ctlClk.N = 1
		t, late, _ := s.ctlClk.Wait()
		copy(s.up.now, turn[k%len(turn)][:])
		s.up.fresh = true
		s.ctl.tick(t, late)
		k++
	}
	if s.ctl.row.Mode != Run {
		b.Errorf("%v: %s", s.ctl.row.Mode, s.ctl.row.CauseText(&s.controller.schema))
	}
}
