package hil

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/estimator"
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
	s.Ages = []int{2, 2, 2}
	c, err := NewController(s)
	if err != nil {
		t.Fatal(err)
	}
	p := &sampledBy{Controller: c}
	p.k.Meas, p.k.Est, p.k.Model, p.k.Cmd = c.schema.Blocks(&p.r)
	p.r.T = 5e9
	return p
}

// came tells whether a position was taken.
func (p *sampledBy) came() bool { return p.axes[0].Outcome().Accepted[estimator.Position] }

// tick is a millisecond later: which of position (1) and current (2) are new, the position (rad), the age of the samples (s).
func (p *sampledBy) tick(fresh uint64, theta, age float64) {
	p.r.T += 1e6
	p.r.FreshSignals, p.r.Flags = Fresh{fresh}, 0
	if fresh != 0 {
		p.r.FreshSignals[0] |= 4
	}
	p.k.Meas[0], p.k.Meas[1], p.k.Meas[2] = theta, 0, age
	p.estimate(&p.r, &p.k)
}

// What a sample is used for: a position that is missing makes the estimate old although currents come, and what is refused is told, whether
// by its range or by what the axis can do.
func TestUseOfSamples(t *testing.T) {
	p := newSampledBy(t)
	for range 200 {
		p.tick(3, 0.5, 0)
	}
	if !p.came() || p.r.Flags&FlagRefused != 0 || p.r.Flags&FlagUnexcited == 0 {
		t.Fatalf("at rest: age %g, came %v, flags %b", p.axes[0].Age(), p.came(), p.r.Flags)
	}
	for n := 1; n <= 8; n++ {
		p.tick(2, 0.5, 0)
		if want := float64(n) * 1e-3; math.Abs(p.axes[0].Age()-want) > 1e-9 || p.came() {
			t.Errorf("%d currents alone: age %g s, came %v", n, p.axes[0].Age(), p.came())
		}
	}
	p.tick(1, 0.5, 0)
	if p.axes[0].Age() != 0 || !p.came() {
		t.Errorf("a position alone: age %g s, came %v", p.axes[0].Age(), p.came())
	}
	p.tick(0, 0.5, 1e-3)
	if p.came() || math.Abs(p.axes[0].Age()-1e-3) > 1e-12 {
		t.Errorf("no sample: came %v, age %g s", p.came(), p.axes[0].Age())
	}
	p.tick(3, 0.5, 0)
	for _, theta := range []float64{101, 3} { // out of range, out of reach
		p.tick(3, theta, 0)
		if p.r.Flags&FlagRefused == 0 || p.came() {
			t.Errorf("%g rad: flags %b, came %v", theta, p.r.Flags, p.came())
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
		p.previousMode = Run
		const omega = 3.0
		theta := 0.0
		for n := range 400 {
			p.k.Cmd[0] = p.s.Axes[0].Motor.K * omega
			theta = omega * 1e-3 * float64(n)
			p.tick(3, theta, c.age)
		}
		moved := p.k.Est[estimator.XPos] - theta
		if c.carried && math.Abs(moved-omega*c.age) > 0.1*omega*c.age || !c.carried && moved != 0 {
			t.Errorf("samples %g s old: carried by %g rad", c.age, moved)
		}
	}
	p := newSampledBy(t) // nothing yet: nothing to carry
	p.tick(0, 0, 1e-3)
	if p.k.Est[estimator.XPos] != 0 || p.k.Est[estimator.XVel] != 0 {
		t.Errorf("before the first sample: %v", p.k.Est[:4])
	}
}

// A voltage that comes with the position every 5 ms, beside currents of another device every millisecond, is a sample each time that it
// comes, not in each tick: the estimate keeps its time.
func TestVoltageOfASlowFrame(t *testing.T) {
	b, _ := spoiledBench(t, 8)
	s := b.controller.s
	s.Meas = append(s.Meas[:2:2], Of("drive", engine.Signal{Name: "motor.voltage", Unit: "V"}, engine.Signal{Name: "slow.age", Unit: "s"},
		engine.Signal{Name: "fast.age", Unit: "s"})...)
	s.Guard.Meas = append(s.Guard.Meas[:2:2], MeasLimit{}, MeasLimit{Age: true}, MeasLimit{Age: true})
	s.Ages = []int{3, 4, 3, 3, 4}
	a := s.Axes[0]
	a.Measured[estimator.Voltage], a.SamplePeriod, a.Sampling.RLS = 2, 5e-3, nil
	a.Sampling.Groups = []estimator.Group{{SamplePeriod: 5e-3, Quantities: []estimator.Quantity{estimator.Position, estimator.Voltage}},
		{SamplePeriod: 1e-3, Quantities: []estimator.Quantity{estimator.Current}}}
	s.Axes = []AxisSpec{a}
	c, err := NewController(s)
	if err != nil {
		t.Fatal(err)
	}
	var r Row
	var k Blocks
	k.Meas, k.Est, k.Model, k.Cmd = c.schema.Blocks(&r)
	r.T, c.previousMode = 5e9, Run
	const omega = 3.0
	for n := range 2000 {
		now := float64(n) * 1e-3
		r.T, r.FreshSignals, r.Flags = r.T+1e6, Fresh{}, 0
		k.Cmd[0] = c.s.Axes[0].Motor.K * omega
		if n%5 == 0 {
			SetFresh(&r.FreshSignals, 0)
			SetFresh(&r.FreshSignals, 2)
			SetFresh(&r.FreshSignals, 3)
			k.Meas[0], k.Meas[2], k.Meas[3] = omega*(now-0.4e-3), k.Cmd[0], -0.6e-3
		}
		SetFresh(&r.FreshSignals, 1)
		SetFresh(&r.FreshSignals, 4)
		k.Meas[3], k.Meas[4] = k.Meas[3]+1e-3, 0.1e-3
		c.estimate(&r, &k)
		if n < 100 {
			continue
		}
		if r.Flags&(FlagRefused|FlagJump|FlagEstimator) != 0 || r.Flags&FlagDiverged != 0 || c.axes[0].Age() > 6e-3 ||
			math.Abs(k.Est[estimator.XPos]-omega*now) > 1e-3 || math.Abs(k.Est[estimator.XVel]-omega) > 0.5 {
			t.Fatalf("tick %d: flags %b, age %g s, at %g rad, want %g, %g rad/s", n, r.Flags, c.axes[0].Age(), k.Est[estimator.XPos], omega*now,
				k.Est[estimator.XVel])
		}
	}
}
