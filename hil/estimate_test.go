package hil

import (
	"math"
	"testing"

	"hilrig/engine"
)

// sampledBy is a controller fed by hand: position, current and the age of both.
type sampledBy struct {
	*Controller
	r Row
	k Blocks
}

func newSampledBy(t *testing.T) *sampledBy {
	b, _ := spoiledBench(t, 8)
	s := b.controller.s
	s.Meas = append(s.Meas[:2:2], Of("drive", engine.Signal{Name: "age", Unit: "s"})...)
	s.Guard.Meas = append(s.Guard.Meas[:2:2], MeasLimit{Age: true})
	s.Age = 2
	c, err := NewController(s)
	if err != nil {
		t.Fatal(err)
	}
	p := &sampledBy{Controller: c}
	p.k.Meas, p.k.Est, p.k.Model, p.k.Cmd = c.schema.Blocks(&p.r)
	p.r.T = 5e9
	return p
}

// tick is a millisecond later: which of position (1) and current (2) are new, the position (rad), the age of the samples (s).
func (p *sampledBy) tick(fresh uint64, theta, age float64) {
	p.r.T += 1e6
	p.r.Fresh, p.r.Flags = Fresh{fresh}, 0
	if fresh != 0 {
		p.r.Fresh[0] |= 4
	}
	p.k.Meas[0], p.k.Meas[1], p.k.Meas[2] = theta, 0, age
	p.estimate(&p.r, &p.k)
}

// What a sample is used for: a position that is missing makes the estimate old although currents come, and what is refused is told, whether by its range or by what the axis can do.
func TestUseOfSamples(t *testing.T) {
	p := newSampledBy(t)
	for range 200 {
		p.tick(3, 0.5, 0)
	}
	if p.stale() || !p.came || p.r.Flags&FlagRefused != 0 || p.r.Flags&FlagUnexcited == 0 {
		t.Fatalf("at rest: age %g, came %v, flags %b", p.age, p.came, p.r.Flags)
	}
	for n := 1; n <= 8; n++ {
		p.tick(2, 0.5, 0)
		if want := float64(n) * 1e-3; math.Abs(p.age-want) > 1e-9 || p.stale() != (n > 5) || p.came {
			t.Errorf("%d currents alone: age %g s, came %v", n, p.age, p.came)
		}
	}
	p.tick(1, 0.5, 0)
	if p.age != 0 || !p.came {
		t.Errorf("a position alone: age %g s, came %v", p.age, p.came)
	}
	p.tick(0, 0.5, 1e-3)
	if p.came || math.Abs(p.age-1e-3) > 1e-12 {
		t.Errorf("no sample: came %v, age %g s", p.came, p.age)
	}
	p.tick(3, 0.5, 0)
	for _, theta := range []float64{101, 3} { // out of range, out of reach
		p.tick(3, theta, 0)
		if p.r.Flags&FlagRefused == 0 || p.came {
			t.Errorf("%g rad: flags %b, came %v", theta, p.r.Flags, p.came)
		}
		for range 20 {
			p.tick(3, 0.5, 0)
		}
		if p.r.Flags&FlagRefused != 0 {
			t.Errorf("%g rad: still refused", theta)
		}
	}
}

// The estimate is carried from the sample to now, 20 periods far and no further.
func TestCarriedToNow(t *testing.T) {
	for _, c := range []struct {
		age     float64 // s
		carried bool
	}{{0, false}, {1e-3, true}, {19.9e-3, true}, {20e-3, false}, {50e-3, false}} {
		p := newSampledBy(t)
		p.before = Run
		const omega = 3.0
		theta := 0.0
		for n := range 400 {
			p.k.Cmd[0] = p.s.Motor.K * omega
			theta = omega * 1e-3 * float64(n)
			p.tick(3, theta, c.age)
		}
		var x [4]float64
		p.est.State(x[:])
		moved := p.k.Est[ePos] - x[0]
		if c.carried && math.Abs(moved-omega*c.age) > 0.1*omega*c.age || !c.carried && moved != 0 {
			t.Errorf("samples %g s old: carried by %g rad, at %g rad/s", c.age, moved, x[1])
		}
	}
	p := newSampledBy(t) // nothing yet: nothing to carry
	p.tick(0, 0, 1e-3)
	if p.k.Est[ePos] != 0 || p.k.Est[eVel] != 0 {
		t.Errorf("before the first sample: %v", p.k.Est[:4])
	}
}

// A voltage that comes with the position every 5 ms, beside currents of another device every millisecond, is a sample each time that it
// comes, not in each tick: the estimate keeps its time.
func TestVoltageOfASlowFrame(t *testing.T) {
	b, _ := spoiledBench(t, 8)
	s := b.controller.s
	s.Meas = append(s.Meas[:2:2], Of("drive", engine.Signal{Name: "motor.voltage", Unit: "V"}, engine.Signal{Name: "slow.age", Unit: "s"}, engine.Signal{Name: "fast.age", Unit: "s"})...)
	s.Guard.Meas = append(s.Guard.Meas[:2:2], MeasLimit{}, MeasLimit{Age: true}, MeasLimit{Age: true})
	s.Age, s.Applied, s.Every, s.RLS = 3, 2, 5e-3, nil
	slow, fast := Source{3, 5e-3}, Source{4, 1e-3}
	s.Sources = []Source{slow, fast, slow, slow, fast}
	c, err := NewController(s)
	if err != nil {
		t.Fatal(err)
	}
	var r Row
	var k Blocks
	k.Meas, k.Est, k.Model, k.Cmd = c.schema.Blocks(&r)
	r.T, c.before = 5e9, Run
	const omega = 3.0
	for n := range 2000 {
		now := float64(n) * 1e-3
		r.T, r.Fresh, r.Flags = r.T+1e6, Fresh{}, 0
		k.Cmd[0] = c.s.Motor.K * omega
		if n%5 == 0 {
			SetFresh(&r.Fresh, 0)
			SetFresh(&r.Fresh, 2)
			SetFresh(&r.Fresh, 3)
			k.Meas[0], k.Meas[2], k.Meas[3] = omega*(now-0.4e-3), k.Cmd[0], -0.6e-3
		}
		SetFresh(&r.Fresh, 1)
		SetFresh(&r.Fresh, 4)
		k.Meas[3], k.Meas[4] = k.Meas[3]+1e-3, 0.1e-3
		c.estimate(&r, &k)
		if n < 100 {
			continue
		}
		if r.Flags&(FlagRefused|FlagJump|FlagEstimator) != 0 || !c.est.Sound() || c.age > 6e-3 || math.Abs(k.Est[ePos]-omega*now) > 1e-3 || math.Abs(k.Est[eVel]-omega) > 0.5 {
			t.Fatalf("tick %d: flags %b, sound %v, age %g s, at %g rad, want %g, %g rad/s", n, r.Flags, c.est.Sound(), c.age, k.Est[ePos], omega*now, k.Est[eVel])
		}
	}
}
