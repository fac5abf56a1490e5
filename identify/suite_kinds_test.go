package identify

import (
	"math"
	"math/rand/v2"
	"slices"

	"hilrig/identify/axis"
	"hilrig/identify/independent"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// The records of the suite: a servo axis at 1 kHz whose truth is known, clean or with one thing wrong that happens in
// laboratories. Nothing here knows how the program looks for it.

// trial is a record of a known truth and how it is fitted.
type trial struct {
	recs  []*record.Record
	truth map[string]float64
	plan  Plan
}

// kind makes trials.
type kind struct {
	name   string
	clean  bool // nothing is wrong with the record: a verdict below identified is a false alarm
	refuse bool // the record is worth no value at all: whatever is called identified is wrong
	make   func(b *bench) trial
}

// bench is a servo axis before it is recorded.
type bench struct {
	rng     *rand.Rand
	seed    uint64
	axis    independent.Axis
	dt      float64
	n       int
	ref     func(t float64) float64
	kp, kv  float64
	limit   float64
	delay   float64
	see     func(k int, x float64) float64
	sensors independent.Sensors
	terms   []linear.Term
	rotary  bool
}

// newBench draws a plain axis: mass, Coulomb and viscous friction of the usual sizes, a fine encoder, a little noise.
func newBench(seed uint64, seconds float64) *bench {
	r := rand.New(rand.NewPCG(seed, 20260711))
	m := math.Pow(10, -0.3+1.6*r.Float64())
	b := &bench{rng: r, seed: seed, dt: 1e-3, n: int(seconds / 1e-3), kp: 30 + 20*r.Float64()}
	b.axis = independent.Axis{M: m, Friction: independent.Friction{Fc: m * (0.6 + r.Float64()), Sigma2: m * (1.5 + 2*r.Float64())}}
	b.kv = m * (120 + 80*r.Float64())
	b.sensors = independent.Sensors{Count: 5e-7, Velocity: -1, Force: 0.02 * m, Seed: seed}
	b.sines(0.06, 0.5)
	return b
}

// sines is a reference of three tones; the axis never pauses.
func (b *bench) sines(amplitude, frequency float64) {
	f := frequency * (0.9 + 0.2*b.rng.Float64())
	s := independent.Sines(b.seed, []float64{amplitude, amplitude / 2, amplitude / 4}, []float64{f, 2.57 * f, 5.83 * f})
	at := s(0)
	b.ref = func(t float64) float64 { // begins at rest
		return (s(t) - at) * smoothstep(t/0.3)
	}
}

// moves is a reference of quintic moves to and fro, with a pause of the given length behind each.
func (b *bench) moves(pause float64) {
	type leg struct{ t0, t1, from, to float64 }
	var legs []leg
	t, x := 0.1, 0.0
	for end := float64(b.n) * b.dt; t < end; {
		way := 0.05 + 0.12*b.rng.Float64()
		to := x + way
		if x > 0 {
			to = x - way
		}
		last := t + way/(0.1+0.25*b.rng.Float64())
		legs = append(legs, leg{t, last, x, to})
		t, x = last+pause, to
	}
	b.ref = func(t float64) float64 {
		i, _ := slices.BinarySearchFunc(legs, t, func(l leg, t float64) int {
			if l.t0 <= t {
				return -1
			}
			return 1
		})
		if i == 0 {
			return legs[0].from
		}
		l := legs[i-1]
		return l.from + (l.to-l.from)*smoothstep((t-l.t0)/(l.t1-l.t0))
	}
}

// smoothstep goes from 0 to 1 with no speed and no acceleration at its ends.
func smoothstep(s float64) float64 {
	s = min(max(s, 0), 1)
	return s * s * s * (10 + s*(6*s-15))
}

// run simulates the axis in its servo.
func (b *bench) run() *independent.Trace {
	return b.axis.Simulate(independent.Run{
		Dt: b.dt, N: b.n, Sampled: independent.Cascade(b.kp, b.kv, b.limit, b.dt, b.ref), Delay: b.delay, Seed: b.seed,
		Sensor: func(k int, x float64) float64 {
			if b.see != nil {
				return b.see(k, x)
			}
			return b.sensors.Count * math.Floor(x/max(b.sensors.Count, 1e-12)+0.5)
		},
	})
}

// record runs the axis and records it; edit may spoil the record.
func (b *bench) record(edit func(tr *independent.Trace, d *record.Record)) trial {
	tr := b.run()
	d := tr.Record(b.sensors, b.ref)
	if edit != nil {
		edit(tr, d)
	}
	return b.trial(d)
}

// trial is the everyday fit of records.
func (b *bench) trial(recs ...*record.Record) trial {
	f := b.axis.Friction
	plan := Plan{Methods: Chain{"regress"}, Regress: linear.DefaultSpec(), Model: axis.Spec{Rotary: b.rotary}, Seed: 1}
	plan.Regress.Rotary = b.rotary
	if b.terms != nil {
		plan.Regress.Terms = b.terms
	}
	truth := map[string]float64{"sigma0": f.Sigma0, "sigma1": f.Sigma1, "sigma2": f.Sigma2, "Fs": f.Fs, "vs": f.Vs, "M": b.axis.M,
		"J": b.axis.M, "Fc": f.Fc, "Fv": f.Sigma2, "offset": 0}
	return trial{recs: recs, plan: plan, truth: truth}
}

// plain is a trial whose record is spoilt by edit.
func plain(edit func(b *bench, tr *independent.Trace, d *record.Record)) func(b *bench) trial {
	return func(b *bench) trial {
		return b.record(func(tr *independent.Trace, d *record.Record) {
			if edit != nil {
				edit(b, tr, d)
			}
		})
	}
}

// loaded is a trial with a load (N) of the given size per unit of mass that the model lacks.
func loaded(load func(b *bench) func(t, x, v float64) float64) func(b *bench) trial {
	return func(b *bench) trial {
		b.axis.Load = load(b)
		return b.record(nil)
	}
}

// late moves a column by so many samples.
func late(x []float64, by int) []float64 {
	y := make([]float64, len(x))
	for k := range x {
		y[k] = x[min(max(k-by, 0), len(x)-1)]
	}
	return y
}

// play is a position seen through lost motion of the given width (m).
func play(x []float64, width float64) []float64 {
	y, at := make([]float64, len(x)), x[0]
	for k, p := range x {
		at = min(max(at, p-width/2), p+width/2)
		y[k] = at
	}
	return y
}

func round(x []float64, step float64) {
	for k := range x {
		x[k] = step * math.Round(x[k]/step)
	}
}

func peak(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

// axisKinds are records of a servo axis at 1 kHz.
var axisKinds = []kind{
	{name: "sines", clean: true, make: plain(nil)},
	{name: "faster sines", clean: true, make: func(b *bench) trial { b.sines(0.03, 0.9); return b.record(nil) }},
	{name: "moves to and fro", clean: true, make: func(b *bench) trial { b.moves(0); return b.record(nil) }},
	{name: "velocity recorded", clean: true, make: func(b *bench) trial { b.sensors.Velocity = 1e-3; return b.record(nil) }},
	{name: "noisy force", clean: true, make: func(b *bench) trial { b.sensors.Force = 0.15 * b.axis.M; return b.record(nil) }},
	{name: "long record", clean: true, make: func(b *bench) trial { b.n *= 3; return b.record(nil) }},
	{name: "constant load", clean: true, make: func(b *bench) trial {
		load := 0.4 * b.axis.Friction.Fc
		b.axis.Load = func(_, _, _ float64) float64 { return load }
		t := b.record(nil)
		t.truth["offset"] = load
		return t
	}},
	{name: "small motor", clean: true, make: func(b *bench) trial { // rad and N·m, a hundred thousandth of a kg·m²
		b.rotary = true
		scale := 1e-5 / b.axis.M
		b.axis.M, b.kv, b.sensors.Force = b.axis.M*scale, b.kv*scale, b.sensors.Force*scale*30
		b.axis.Friction.Fc *= scale * 30
		b.axis.Friction.Sigma2 *= scale
		b.sines(2, 0.5)
		b.sensors.Count = 2 * math.Pi / 65536 / 4
		return b.record(nil)
	}},
	{name: "rare reversals", clean: true, make: func(b *bench) trial { b.sines(0.3, 0.17); return b.record(nil) }},
	{name: "several records", clean: true, make: func(b *bench) trial {
		var recs []*record.Record
		for i := range 3 {
			b.seed += 1000 * uint64(i)
			b.sensors.Seed = b.seed
			b.sines(0.05, 0.5+0.1*float64(i))
			recs = append(recs, b.run().Record(b.sensors, b.ref))
		}
		return b.trial(recs...)
	}},

	{name: "pauses", make: func(b *bench) trial { b.moves(0.4); return b.record(nil) }},
	{name: "pauses, fine encoder", make: func(b *bench) trial {
		b.moves(0.4)
		b.sensors.Count = 1e-8
		return b.record(nil)
	}},
	{name: "coarse encoder", make: func(b *bench) trial { b.sensors.Count = 2e-5; return b.record(nil) }},
	{name: "very coarse encoder", make: func(b *bench) trial { b.sensors.Count = 1e-4; return b.record(nil) }},
	{name: "noise fed back", make: func(b *bench) trial {
		noise := rand.New(rand.NewPCG(b.seed, 5))
		seen := map[int]float64{}
		b.see = func(k int, x float64) float64 { seen[k] = x + 1e-5*noise.NormFloat64(); return seen[k] }
		return b.record(func(_ *independent.Trace, d *record.Record) {
			for k := range d.Position {
				d.Position[k] = seen[k]
			}
		})
	}},
	{name: "force recorded 1 sample late", make: plain(func(_ *bench, _ *independent.Trace, d *record.Record) { d.Force = late(d.Force, 1) })},
	{name: "force recorded 3 samples late", make: plain(func(_ *bench, _ *independent.Trace,
		d *record.Record) {
		d.Force = late(d.Force, 3)
	})},
	{name: "force recorded 8 samples late", make: plain(func(_ *bench, _ *independent.Trace,
		d *record.Record) {
		d.Force = late(d.Force, 8)
	})},
	{name: "force acts 4 ms later", make: func(b *bench) trial { b.delay = 4e-3; return b.record(nil) }},
	{name: "force recorded 20 samples early", make: plain(func(_ *bench, _ *independent.Trace,
		d *record.Record) {
		d.Force = late(d.Force, -20)
	})},
	{name: "drive saturates, noisy record", make: func(b *bench) trial { // the command is recorded, the drive gives less
		tr := b.run()
		limit := 0.6 * peak(tr.U)
		b.limit = limit
		tr = b.run()
		d := tr.Record(b.sensors, b.ref)
		return b.trial(b.unclipped(tr, d, limit))
	}},
	{name: "sensor of force clips, noisy", make: plain(func(b *bench, tr *independent.Trace, d *record.Record) {
		limit := 0.6 * peak(tr.U)
		for k := range d.Force {
			d.Force[k] += min(max(tr.U[k], -limit), limit) - tr.U[k]
		}
	})},
	{name: "quadratic drag", make: loaded(func(b *bench) func(t, x, v float64) float64 {
		c := b.axis.Friction.Sigma2 / 0.3
		return func(_, _, v float64) float64 { return c * v * math.Abs(v) }
	})},
	{name: "backlash at the sensor", make: plain(func(_ *bench, _ *independent.Trace,
		d *record.Record) {
		d.Position = play(d.Position, 1e-3)
	})},
	{name: "backlash before the load", make: func(b *bench) trial { return b.twoMasses(0.5, 5e-4) }},
	{name: "friction falls by a third", make: func(b *bench) trial {
		end := float64(b.n) * b.dt
		b.axis.Scale = func(t float64) float64 { return 1 - t/end/3 }
		return b.record(nil)
	}},
	{name: "friction warms up", make: func(b *bench) trial {
		end := float64(b.n) * b.dt
		b.axis.Scale = func(t float64) float64 { return 0.7 + 0.3*math.Exp(-5*t/end) }
		return b.record(nil)
	}},
	{name: "cogging", make: loaded(func(b *bench) func(t, x, v float64) float64 {
		a := 0.3 * b.axis.Friction.Fc
		pitch := 0.01 + 0.02*b.rng.Float64()
		return func(_, x, _ float64) float64 { return a * math.Sin(2*math.Pi*x/pitch) }
	})},
	{name: "pendulum", make: func(b *bench) trial {
		b.rotary = true
		b.sines(0.6, 0.5)
		b.axis.Friction.Fc *= 3
		g := 8 * b.axis.M
		b.sensors.Count = 1e-5
		b.axis.Load = func(_, x, _ float64) float64 { return g * math.Sin(x+0.5) }
		return b.record(nil)
	}},
	{name: "spring", make: loaded(func(b *bench) func(t, x, v float64) float64 {
		k := 20 * b.axis.M
		return func(_, x, _ float64) float64 { return k * x }
	})},
	{name: "force in wrong unit, velocity known", make: func(b *bench) trial { // position in inches
		b.sensors.Velocity = 1e-3
		return b.record(func(_ *independent.Trace, d *record.Record) {
			for k := range d.Position {
				d.Position[k] /= 0.0254
			}
		})
	}},
	{name: "wrong sign of force", refuse: true, make: plain(func(_ *bench, _ *independent.Trace, d *record.Record) {
		for k := range d.Force {
			d.Force[k] = -d.Force[k]
		}
	})},
	{name: "one direction", make: func(b *bench) trial {
		s := b.ref
		b.ref = func(t float64) float64 { return s(t) + 0.45*(t+math.Expm1(-5*t)/5) }
		load := 0.5 * b.axis.Friction.Fc
		b.axis.Load = func(_, _, _ float64) float64 { return load }
		t := b.record(nil)
		t.truth["offset"] = load
		return t
	}},
	{name: "one direction, no offset", make: func(b *bench) trial {
		s := b.ref
		b.ref = func(t float64) float64 { return s(t) + 0.45*(t+math.Expm1(-5*t)/5) }
		load := 0.5 * b.axis.Friction.Fc
		b.axis.Load = func(_, _, _ float64) float64 { return load }
		b.terms = []linear.Term{linear.Inertia, linear.Viscous, linear.Coulomb}
		return b.record(nil)
	}},
	{name: "Stribeck dip", make: func(b *bench) trial {
		f := &b.axis.Friction
		f.Fs, f.Vs = 1.6*f.Fc, 0.05
		return b.record(nil)
	}},
	{name: "viscous by direction", make: func(b *bench) trial {
		f := &b.axis.Friction
		f.Split, f.FcBack, f.Sigma2Back = true, f.Fc, 1.4*f.Sigma2
		return b.record(nil)
	}},
	{name: "presliding", make: func(b *bench) trial {
		f := &b.axis.Friction
		f.Sigma0, f.Sigma1 = f.Fc/3e-4, 20*b.axis.M
		return b.record(nil)
	}},
	{name: "presliding, small motion", make: func(b *bench) trial {
		b.sines(0.004, 0.9)
		f := &b.axis.Friction
		f.Sigma0, f.Sigma1 = f.Fc/1e-4, 20*b.axis.M
		return b.record(nil)
	}},
	{name: "sensor of position drifts", make: func(b *bench) trial {
		const speed = 0.02 // m/s
		t := b.record(func(_ *independent.Trace, d *record.Record) {
			for k := range d.Position {
				d.Position[k] += speed * float64(k) * b.dt
			}
		})
		t.truth["offset"] = -speed * t.truth["Fv"] // seen from the sensor
		return t
	}},
	{name: "force sensor drifts", make: plain(func(b *bench, _ *independent.Trace, d *record.Record) {
		for k := range d.Force {
			d.Force[k] += b.axis.Friction.Fc * float64(k) / float64(b.n)
		}
	})},
	{name: "wild samples", make: plain(func(b *bench, _ *independent.Trace, d *record.Record) {
		for range 12 {
			d.Position[b.rng.IntN(b.n)] += 0.01 * b.rng.NormFloat64()
		}
	})},
	{name: "wild forces", make: plain(func(b *bench, tr *independent.Trace, d *record.Record) {
		top := peak(tr.U)
		for range 20 {
			d.Force[b.rng.IntN(b.n)] = 30 * top * b.rng.NormFloat64()
		}
	})},
	{name: "clock trembles", make: func(b *bench) trial { // samples taken up to 0.4 ms early or late, recorded as even
		tr := b.run()
		d := tr.Record(b.sensors, b.ref)
		for k := range d.Position {
			d.Position[k] += tr.V[k] * 0.4e-3 * (2*b.rng.Float64() - 1)
		}
		return b.trial(d)
	}},
	{name: "rows dropped", make: plain(func(b *bench, _ *independent.Trace, d *record.Record) { // and closed up
		drop := func(x []float64) []float64 {
			r := rand.New(rand.NewPCG(b.seed, 17))
			var out []float64
			for k := 0; k < len(x); k++ {
				if r.IntN(700) == 0 {
					k += 5 + r.IntN(20)
				}
				if k < len(x) {
					out = append(out, x[k])
				}
			}
			return out
		}
		d.Position, d.Force, d.Reference = drop(d.Position), drop(d.Force), drop(d.Reference)
	})},
	{name: "short record", make: func(b *bench) trial { b.n = 1000; b.sensors.Force = 0.5 * b.axis.M; return b.record(nil) }},
	{name: "velocity of another clock", make: func(b *bench) trial {
		b.sensors.Velocity = 1e-3
		return b.record(func(_ *independent.Trace, d *record.Record) { d.Velocity = late(d.Velocity, 12) })
	}},
	{name: "load changes halfway", make: func(b *bench) trial {
		one := b.run()
		half := b.n / 2
		m := b.axis.M
		other := *b
		other.axis.M = 1.4 * m
		two := other.run()
		a, c := one.Record(b.sensors, b.ref), two.Record(b.sensors, b.ref)
		copy(a.Position[half:], c.Position[half:])
		copy(a.Force[half:], c.Force[half:])
		return b.trial(a)
	}},
	{name: "motor constant falls with current", make: plain(func(b *bench, tr *independent.Trace, d *record.Record) {
		top := peak(tr.U) // the recorded force is constant·current; the true one is less at high current
		for k, u := range tr.U {
			r := u / top
			d.Force[k] += u*(1+0.35*r*r) - u
		}
	})},
	{name: "rounded to three decimals", make: plain(func(b *bench, tr *independent.Trace, d *record.Record) {
		round(d.Position, 1e-3)
		round(d.Force, peak(tr.U)*1e-3)
	})},
	{name: "force rounded coarsely", make: plain(func(b *bench, tr *independent.Trace, d *record.Record) { round(d.Force, peak(tr.U)/8) })},
	{name: "slow filter on the force", make: plain(func(b *bench, _ *independent.Trace, d *record.Record) {
		y := d.Force[0]
		for k, u := range d.Force {
			y += (u - y) * b.dt / 5e-3
			d.Force[k] = y
		}
	})},
	{name: "slow filter on the position", make: plain(func(b *bench, _ *independent.Trace, d *record.Record) {
		y := d.Position[0]
		for k, x := range d.Position {
			y += (x - y) * b.dt / 8e-3
			d.Position[k] = y
		}
	})},
	{name: "friction grows with position", make: func(b *bench) trial {
		fc := b.axis.Friction.Fc
		b.axis.Load = func(_, x, v float64) float64 { return 5 * x * fc * math.Tanh(v/1e-3) }
		return b.record(nil)
	}},
	{name: "impacts at a stop", make: loaded(func(b *bench) func(t, x, v float64) float64 {
		k := 4000 * b.axis.M
		return func(_, x, _ float64) float64 { return k * max(x-0.05, 0) }
	})},
	{name: "brake on for a second", make: loaded(func(b *bench) func(t, x, v float64) float64 {
		f := 2 * b.axis.Friction.Fc
		return func(t, _, v float64) float64 {
			if t > 4 && t < 5 {
				return f * math.Tanh(v/1e-3)
			}
			return 0
		}
	})},
	// kinds that were tried after the checks were made, without a change of them
	{name: "500 Hz", clean: true, make: func(b *bench) trial {
		b.dt, b.n, b.kp, b.kv = 2e-3, b.n/2, 0.6*b.kp, 0.5*b.kv
		return b.record(nil)
	}},
	{name: "5 kHz", clean: true, make: func(b *bench) trial { b.dt, b.n = 2e-4, 3*b.n; return b.record(nil) }},
	{name: "stiff bristle", clean: true, make: func(b *bench) trial {
		f := &b.axis.Friction
		f.Sigma0, f.Sigma1 = f.Fc/1.5e-5, 10*b.axis.M
		b.n /= 2
		return b.record(nil)
	}},
	{name: "open loop, held force", clean: true, make: func(b *bench) trial { return b.driven(independent.Held) }},
	{name: "open loop, smooth force", clean: true, make: func(b *bench) trial { return b.driven(independent.Exact) }},
	{name: "large friction", clean: true, make: func(b *bench) trial { b.axis.Friction.Fc *= 5; return b.record(nil) }},
	{name: "little friction", clean: true, make: func(b *bench) trial { b.axis.Friction.Fc *= 0.3; return b.record(nil) }},
	{name: "no noise", clean: true, make: func(b *bench) trial { b.sensors.Force, b.sensors.Count = 0, 1e-9; return b.record(nil) }},
	{name: "a little drag", make: loaded(func(b *bench) func(t, x, v float64) float64 {
		c := 0.3 * b.axis.Friction.Sigma2
		return func(_, _, v float64) float64 { return c * v * math.Abs(v) }
	})},
	{name: "pauses and a dip", make: func(b *bench) trial {
		b.moves(0.3)
		f := &b.axis.Friction
		f.Fs, f.Vs = 1.5*f.Fc, 0.03
		return b.record(nil)
	}},
	{name: "friction rounded at zero", make: func(b *bench) trial {
		fc := b.axis.Friction.Fc
		b.axis.Friction.Fc = 1e-9
		b.axis.Load = func(_, _, v float64) float64 { return fc * math.Tanh(v/0.05) }
		t := b.record(nil)
		t.truth["Fc"] = fc
		return t
	}},
	{name: "gain rises with speed", make: plain(func(_ *bench, tr *independent.Trace, d *record.Record) {
		for k := range d.Force {
			d.Force[k] *= 1 + 0.5*math.Abs(tr.V[k])
		}
	})},
	{name: "position bends", make: plain(func(_ *bench, _ *independent.Trace, d *record.Record) {
		for k, x := range d.Position {
			d.Position[k] = x + 0.002*math.Sin(2*math.Pi*x/0.05)
		}
	})},
	{name: "gain of the force drifts", make: plain(func(b *bench, _ *independent.Trace, d *record.Record) {
		for k := range d.Force {
			d.Force[k] *= 1 + 0.15*float64(k)/float64(b.n)
		}
	})},
	{name: "lag drifts", make: plain(func(_ *bench, tr *independent.Trace, d *record.Record) {
		for k := range d.Force {
			j := max(k-10*k/len(d.Force), 0)
			d.Force[k] += tr.U[j] - tr.U[k]
		}
	})},
}

// driven is the axis in open loop under a smooth force, or one that is held between its samples.
func (b *bench) driven(between independent.Between) trial {
	m := b.axis.M
	u := independent.Sines(b.seed, []float64{4 * m, 2.5 * m, 1.5 * m}, []float64{0.45, 1.3, 2.7})
	tr := b.axis.Simulate(independent.Run{Dt: b.dt, N: b.n, Force: u, Intersample: between})
	return b.trial(tr.Record(b.sensors, nil))
}

// unclipped records the command of a drive that gives no more than limit: what the controller asked for.
func (b *bench) unclipped(tr *independent.Trace, d *record.Record, limit float64) *record.Record {
	ask := independent.Cascade(b.kp, b.kv, 0, b.dt, b.ref)
	seen := make([]float64, 0, len(tr.X))
	for k, x := range tr.X {
		seen = append(seen, b.sensors.Count*math.Floor(x/b.sensors.Count+0.5))
		d.Force[k] += ask(k, seen) - tr.U[k]
	}
	return d
}

// twoMasses is a motor with the encoder and a load behind backlash: RK4 at 1/64 sample, the load touches through a stiff spring
// with damping. share of the mass is the load; the gap is in m.
func (b *bench) twoMasses(share, gap float64) trial {
	m1, m2 := b.axis.M*(1-share), b.axis.M*share
	k, c := m2*4e5, m2*300.0
	f := b.axis.Friction
	x := [4]float64{} // motor, its speed, load, its speed
	ctl := independent.Cascade(b.kp, b.kv/2, 0, b.dt, b.ref)
	tr := &independent.Trace{Dt: b.dt}
	var seen []float64
	for i := range b.n {
		seen = append(seen, b.sensors.Count*math.Floor(x[0]/b.sensors.Count+0.5))
		u := ctl(i, seen)
		tr.T, tr.X, tr.V, tr.U = append(tr.T, float64(i)*b.dt), append(tr.X, x[0]), append(tr.V, x[1]), append(tr.U, u)
		flow := func(x [4]float64) (d [4]float64) {
			pull := 0.0
			if s := x[0] - x[2]; math.Abs(s) > gap/2 {
				pull = k*(s-math.Copysign(gap/2, s)) + c*(x[1]-x[3])
				if pull*s < 0 {
					pull = 0 // it does not stick
				}
			}
			rub := f.Fc*math.Tanh(x[1]/1e-4) + f.Sigma2*x[1]
			return [4]float64{x[1], (u - rub - pull) / m1, x[3], pull / m2}
		}
		const steps = 64
		h := b.dt / steps
		for range steps {
			k1 := flow(x)
			k2 := flow(along(x, h/2, k1))
			k3 := flow(along(x, h/2, k2))
			k4 := flow(along(x, h, k3))
			for j := range x {
				x[j] += h / 6 * (k1[j] + 2*k2[j] + 2*k3[j] + k4[j])
			}
		}
	}
	return b.trial(tr.Record(b.sensors, b.ref))
}

func along(x [4]float64, h float64, d [4]float64) [4]float64 {
	for j := range x {
		x[j] += h * d[j]
	}
	return x
}
