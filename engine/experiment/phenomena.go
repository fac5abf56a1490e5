package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"

	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/engine/reference"
)

// Phenomenon is something that a law shows or does not show. It is found by experiment: Value is what was measured, Present
// whether it is beyond the threshold that Criterion names.
type Phenomenon struct {
	Key       string
	Title     string
	Criterion string
	Present   bool
	Value     float64
}

// Phenomena puts a law through the experiments behind the comparison tables of the literature. The numbers of the
// experiments suit laws whose forces are about 1 N and whose Stribeck velocity is about 0.05 m/s, as the public sets have.
func Phenomena(ctx context.Context, who Subject) ([]Phenomenon, error) {
	p := &probe{ctx: ctx, subject: who}
	for _, f := range []func() error{p.levels, p.presliding, p.curve, p.dwell, p.rate, p.memory, p.minorLoop, p.speeds, p.crossing,
		p.stickSlip, p.hunting, p.dissipation} {
		if err := f(); err != nil {
			return nil, fmt.Errorf("law %s: %w", who.Label, err)
		}
	}
	return p.phenomena, nil
}

// probe is a law under examination.
type probe struct {
	ctx       context.Context
	subject   Subject
	level     float64 // N  break-away at a slow ramp
	phenomena []Phenomenon
}

func (p *probe) add(key, title, criterion string, shown bool, value float64) {
	p.phenomena = append(p.phenomena, Phenomenon{key, title, criterion, shown, value})
}

// peak ramps a force on 1 kg at rate (N/s) and returns the largest friction (N) before the body is away. With rest ≥ 0 the
// body is first pushed into sliding, left alone for a second, ample to come to rest, and then for rest seconds more.
func (p *probe) peak(rate, rest float64) (float64, error) {
	const push, kick, away = 5.0, 0.2, 0.01 // N, s, m
	h, start := min(1e-3, 2e-3/rate), 0.0
	if rest >= 0 {
		start = kick + 1 + rest
	}
	in := pushed(func(t float64) float64 {
		if t < kick && rest >= 0 {
			return push
		}
		return rate * max(0, t-start)
	})
	peak, from, done := 0.0, 0.0, errors.New("broken away")
	err := Run(p.ctx, Spec{Plant: ImposedForce, Law: p.subject.Law, Mass: 1, Input: in, Step: h, Duration: start + 60/rate, Substep: true},
		func(q *Sample) error {
			switch {
			case q.T <= start+h:
				from = q.X
				return nil
			case math.Abs(q.X-from) > away:
				return done
			}
			peak = max(peak, q.F)
			return nil
		})
	if err != nil && err != done {
		return 0, err
	}
	return peak, nil
}

// restart slides the contact itself, holds it for rest (s) and slides on; it returns the largest friction (N) then. A law
// without stick mode shows so what time alone does to it, undisturbed by the ringing of a mass.
func (p *probe) restart(rest float64) float64 {
	law := p.subject.Law
	z := make([]float64, law.StateDim())
	law.Reset(z)
	move := func(v, time float64) (peak float64) {
		for range int(math.Round(time / 1e-3)) {
			peak = max(peak, law.Step(z, friction.Input{Dt: 1e-3, V: v}))
		}
		return peak
	}
	const v = 0.02 // m/s
	move(v, 5)
	move(0, rest)
	return move(v, 2)
}

// pushed is an input given as a function.
type pushed func(t float64) float64

// At has no derivatives: the plants under a force do not ask for them.
func (f pushed) At(t float64) (pos, vel, acc float64) { return f(t), 0, 0 }

// levels: break-away level and whether sliding takes less.
func (p *probe) levels() error {
	var err error
	if p.level, err = p.peak(0.2, -1); err != nil {
		return err
	}
	slide := p.steadyForce(0.5)
	p.add("stiction", "static friction above kinetic", "break-away at 0.2 N/s is more than 5 % above friction at 0.5 m/s",
		p.level > 1.05*slide, p.level/slide)
	return nil
}

// steadyForce is the friction (N) of long sliding at v.
func (p *probe) steadyForce(v float64) float64 {
	law := p.subject.Law
	z := make([]float64, law.StateDim())
	law.Reset(z)
	f := 0.0
	for range 4000 { // 2 m, or 2000 times the default relaxation lengths of about a millimetre
		f = law.Step(z, friction.Input{Dt: 5e-4 * max(1, 1/v), V: v})
	}
	return f
}

// presliding: motion under half the break-away force, and whether it costs work however slow it is.
func (p *probe) presliding() error {
	const moves = "a force of half the break-away level moves the body to and fro by more than 1 nm"
	const costs = "a slow cycle of that force costs more than 1 % of force times travel"
	if p.steadyForce(1e-6) < 0.01*p.level {
		// nothing holds the body: every motion is sliding
		p.add("presliding", "presliding displacement", moves, false, math.NaN())
		p.add("presliding_hysteresis", "hysteresis in presliding", costs, false, math.NaN())
		return nil
	}
	const period = 100.0 // s  so slow that dampers have no say
	in := reference.Sine{Tone: reference.Tone{Amplitude: p.level / 2, Frequency: 1 / period}}
	t := &trial{ctx: p.ctx, c: Public(), outcome: &Outcome{Subject: p.subject}}
	t.c.Step = 5e-3
	tr, err := t.record("pushed", Spec{Plant: ImposedForce, Input: in, Duration: 2 * period})
	if err != nil {
		return err
	}
	from := index(tr.T, period)
	lo, hi := extremes(tr.X[from:])
	work := numeric.Interpolate(tr.T, tr.Work, 2*period) - numeric.Interpolate(tr.T, tr.Work, period)
	p.add("presliding", "presliding displacement", moves, hi-lo > 1e-9, hi-lo)
	share := 0.0
	if hi-lo > 1e-9 {
		share = work / (p.level * (hi - lo))
	}
	p.add("presliding_hysteresis", "hysteresis in presliding", costs, share > 0.01, share)
	return nil
}

// curve: Coulomb, viscous and falling part of the steady curve.
func (p *probe) curve() error {
	slow, fast, faster := p.steadyForce(1e-3), p.steadyForce(5), p.steadyForce(10)
	p.add("coulomb", "Coulomb friction", "friction at 1 mm/s is more than a tenth of that at 5 m/s", slow > 0.1*fast, slow/fast)
	p.add("viscous", "viscous friction", "friction grows from 5 to 10 m/s by more than 1 %", faster > 1.01*fast, faster/fast)
	high, fall := 0.0, 0.0
	for v := 1e-3; v < 10; v *= 1.25 {
		f := p.steadyForce(v)
		high = max(high, f)
		fall = max(fall, (high-f)/high)
	}
	p.add("negative_viscous", "falling friction with speed (Stribeck)", "steady friction falls by more than 1 % with rising speed",
		fall > 0.01, fall)
	return nil
}

// dwell: break-away after a short and a long rest, ramped equally fast.
func (p *probe) dwell() error {
	var short, long float64
	if _, rigid := p.subject.Law.(friction.Switched); rigid {
		var err error
		if short, err = p.peak(20, 0); err != nil {
			return err
		}
		if long, err = p.peak(20, 30); err != nil {
			return err
		}
	} else {
		short, long = p.restart(0.1), p.restart(30)
	}
	p.add("dwell", "static friction rises with dwell time",
		"break-away after a rest of 30 s is more than 1 % higher than after one of less than a second", long > 1.01*short, long/short-1)
	return nil
}

// rate: break-away against the rate of the force, from the same relaxed rest.
func (p *probe) rate() error {
	slow, err := p.peak(0.5, -1)
	if err != nil {
		return err
	}
	quick, err := p.peak(20, -1)
	if err != nil {
		return err
	}
	p.add("rate", "break-away falls with the rate of the force", "break-away at 20 N/s is more than 1 % below that at 0.5 N/s",
		quick < 0.99*slow, quick/slow-1)
	return nil
}

// memory: friction lags behind a speed that never changes sign.
func (p *probe) memory() error {
	t := &trial{ctx: p.ctx, c: Public(), outcome: &Outcome{Subject: p.subject}}
	if err := t.hysteresis(); err != nil {
		return err
	}
	got := t.numbers()
	lag, area := got["lag_1_Hz"], got["area_1_Hz"]
	p.add("memory", "frictional memory", "at 1 Hz friction is more than 0.1 mN higher while the speed rises than while it falls",
		lag > 1e-4 && area < 0, lag)
	return nil
}

// minorLoop: after a small loop inside a large one the force returns to where the loop began, and goes on as if it had not
// been. Only laws that remember their reversals do.
func (p *probe) minorLoop() error {
	law := p.subject.Law
	z := make([]float64, law.StateDim())
	law.Reset(z)
	// amplitude: the displacement at which slow loading reaches a third of the level
	const dx = 2e-6
	f, x := 0.0, 0.0
	move := func(to float64) float64 {
		n := int(math.Ceil(math.Abs(to-x)/dx - 1e-9))
		for range n {
			f = law.Step(z, friction.Input{Dt: 1, V: (to - x) / float64(n)})
		}
		x = to
		return f
	}
	end := 0.0
	for end = dx; end < 0.05 && math.Abs(move(end)) < p.level/3; end += dx {
	}
	if end >= 0.05 || end <= 2*dx {
		p.add("minor_loops", "closed minor loops", "a small loop inside presliding ends within 0.1 % of the force it began with", false,
			math.NaN())
		return nil
	}
	before := f
	move(end * 0.7)
	after := move(end)
	gap := math.Abs(after-before) / p.level
	p.add("minor_loops", "closed minor loops", "a small loop inside presliding ends within 0.1 % of the force it began with", gap < 1e-3, gap)
	return nil
}

// speeds: friction from creeping to fast sliding is finite and opposes the motion.
func (p *probe) speeds() error {
	creep, slow, fast := p.steadyForce(1e-6), p.steadyForce(1e-3), p.steadyForce(1)
	p.add("very_slow", "very slow sliding", "steady friction at 1 µm/s is between half and twice that at 1 mm/s", creep > slow/2 &&
		creep < 2*slow, creep/slow)
	p.add("slow_and_fast", "slow and fast sliding", "steady friction at 1 mm/s and 1 m/s opposes the motion", slow > 0 && fast > 0, fast)
	return nil
}

// crossing: a mass swung to and fro meets friction that turns with the motion, costs work and stays below what the law has
// at rest or at the largest speed.
func (p *probe) crossing() error {
	t := &trial{ctx: p.ctx, c: Public(), outcome: &Outcome{Subject: p.subject}}
	if err := t.zeroCrossing(); err != nil {
		return err
	}
	got := t.numbers()
	bound := 1.1 * max(p.level, math.Abs(p.steadyForce(1.2*got["speed_max"])))
	p.add("zero_crossing", "crossing zero velocity", "a mass swung with 1 m/s meets friction that changes its sign, costs work and peaks no "+
		"more than 10 % above the break-away level or the steady curve",
		got["sign_changes"] >= 4 && got["work"] > 0 && got["friction_peak"] < bound, got["friction_peak"])
	return nil
}

// stickSlip: the drawn mass stops and starts, from rest, and when it begins a fifth faster than the drawn end. A little
// damping beside the spring lets a swing die that friction does not feed. PD that follows a ramp is the same [MOGI, table 6.3].
func (p *probe) stickSlip() error {
	const pull, spring = 0.02, 100 // m/s, N/m
	law := p.subject.Law
	z := make([]float64, law.StateDim())
	law.Reset(z)
	f := 0.0
	for range 5000 {
		f = law.Step(z, friction.Input{Dt: 1e-3, V: pull})
	}
	for _, c := range []struct {
		key, title, criterion string
		start                 Spec
	}{
		{"stick_slip", "stick-slip", "drawn at 20 mm/s over 100 N/m and 0.5 N·s/m, or led by PD with these gains, the speed still falls below " +
			"2 mm/s and rises above 30 mm/s after 15 s", Spec{}},
		{"stick_slip_sliding", "stick-slip out of sliding", "the same when the mass starts in steady sliding at 24 mm/s",
			Spec{X0: -f / spring, V0: 1.2 * pull, State: z}},
	} {
		s := c.start
		s.Plant, s.Law, s.Mass, s.Spring, s.Damper, s.Input = DrawnMass, law, 1, spring, 0.5, reference.Ramp{Velocity: pull}
		s.Step, s.Duration, s.Substep = 1e-3, 20, true
		lo, hi := math.Inf(1), 0.0
		if err := Run(p.ctx, s, func(q *Sample) error {
			if q.T > 15 {
				lo, hi = min(lo, q.W), max(hi, q.W)
			}
			return nil
		}); err != nil {
			return err
		}
		p.add(c.key, c.title, c.criterion, lo < 2e-3 && hi > 30e-3, hi)
	}
	return nil
}

// hunting: a position held with an integral is left and taken again for ever.
func (p *probe) hunting() error {
	t := &trial{ctx: p.ctx, c: Public(), outcome: &Outcome{Subject: p.subject}}
	if err := t.hunting(); err != nil {
		return err
	}
	got := t.numbers()
	p.add("hunting", "hunting under PID", "sent 1 m away by PID (3 N/m, 4 N/(m·s), 6 N·s/m), 1 kg still goes to and fro by more than 1 mm, "+
		"within 5 % as far in the last 150 s as in the 150 s before",
		got["pid_amplitude"] > 1e-3 && math.Abs(got["pid_growth"]-1) < 0.05, got["pid_amplitude"])
	return nil
}

// dissipation: the theory of the law, or the lack of one.
func (p *probe) dissipation() error {
	ok, speed := p.subject.Law.Passive()
	if ok {
		speed = math.Inf(1)
	}
	p.add("passive", "passive at every speed", "no motion takes more work out of the contact than was put in (speed at which it can)", ok,
		speed)
	return nil
}
