package identify

import (
	"math"
	"math/rand/v2"
	"slices"

	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// kinds of records.
var kinds = slices.Concat(axisKinds, filteredKinds, countedKinds, drivenKinds)

// behind is x behind a low-pass of first order with the time constant T (s), exact for a signal that is held over a sample.
func behind(x []float64, dt, T float64) []float64 {
	y, at, share := make([]float64, len(x)), x[0], -math.Expm1(-dt/T)
	for k, v := range x {
		at += share * (v - at)
		y[k] = at
	}
	return y
}

// averaged is the mean of the last n samples; centred: of those around.
func averaged(x []float64, n int, centred bool) []float64 {
	y := make([]float64, len(x))
	for k := range x {
		last := k
		if centred {
			last += n / 2
		}
		for i := range n {
			y[k] += x[min(max(last-i, 0), len(x)-1)] / float64(n)
		}
	}
	return y
}

// count rounds a column to an encoder again.
func (b *bench) count(x []float64) {
	if b.sensors.Count > 0 {
		round(x, b.sensors.Count)
	}
}

// drivetrain is a motor, whose drive has a lag of first order (s), and a load behind a shaft of the given resonance (Hz; 0: rigid),
// damped by a twentieth of critical. friction is at the load. The encoder is at the load or at the motor.
type drivetrain struct {
	lag       float64
	resonance float64
	share     float64 // of the mass that is the load
	atLoad    bool
}

// record runs a drivetrain in open loop under u (N, held over a sample): RK4 at 1/32 sample, friction rounded within 0.1 mm/s.
func (d drivetrain) record(b *bench, u func(t float64) float64) trial {
	m1, m2 := b.axis.M*(1-d.share), b.axis.M*d.share
	w := 2 * math.Pi * d.resonance
	k := w * w * m1 * m2 / (m1 + m2)
	c := 2 * 0.05 * w * m1 * m2 / (m1 + m2)
	f := b.axis.Friction
	tr := &independent.Trace{Dt: b.dt}
	var x [5]float64 // force, motor, its speed, load, its speed
	x[0] = u(0)
	flow := func(x [5]float64, cmd float64) (y [5]float64) {
		force := cmd
		if d.lag > 0 {
			y[0], force = (cmd-x[0])/d.lag, x[0]
		}
		rub := func(v float64) float64 { return f.Fc*math.Tanh(v/1e-4) + f.Sigma2*v }
		if d.resonance == 0 {
			y[1], y[2] = x[2], (force-rub(x[2]))/b.axis.M
			return y
		}
		pull := k*(x[1]-x[3]) + c*(x[2]-x[4])
		y[1], y[2], y[3], y[4] = x[2], (force-pull)/m1, x[4], (pull-rub(x[4]))/m2
		return y
	}
	for i := range b.n {
		t := float64(i) * b.dt
		seen, speed := x[1], x[2]
		if d.resonance > 0 && d.atLoad {
			seen, speed = x[3], x[4]
		}
		cmd := u(t)
		tr.T, tr.X, tr.V, tr.U = append(tr.T, t), append(tr.X, seen), append(tr.V, speed), append(tr.U, cmd)
		const steps = 32
		h := b.dt / steps
		move := func(by float64, y [5]float64) (z [5]float64) {
			for j := range x {
				z[j] = x[j] + by*y[j]
			}
			return z
		}
		for range steps {
			k1 := flow(x, cmd)
			k2 := flow(move(h/2, k1), cmd)
			k3 := flow(move(h/2, k2), cmd)
			k4 := flow(move(h, k3), cmd)
			for j := range x {
				x[j] += h / 6 * (k1[j] + 2*k2[j] + 2*k3[j] + k4[j])
			}
		}
	}
	return b.trial(tr.Record(b.sensors, nil))
}

// tones is a force of some tones that moves the axis by much more than its friction.
func (b *bench) tones(f ...float64) func(t float64) float64 {
	var a []float64
	for i := range f {
		a = append(a, b.axis.M*(5-float64(i)))
	}
	return independent.Sines(b.seed, a, f)
}

// fast is the axis under tones of up to 6 Hz in open loop.
func (b *bench) fast() trial {
	tr := b.axis.Simulate(independent.Run{Dt: b.dt, N: b.n, Force: b.tones(0.5, 1.7, 3.9, 6.1), Intersample: independent.Held})
	return b.trial(tr.Record(b.sensors, nil))
}

// edited spoils the first record of a trial.
func edited(t trial, edit func(d *record.Record)) trial {
	edit(t.recs[0])
	return t
}

// filteredKinds are records whose force and motion did not pass alike.
var filteredKinds = []kind{
	{name: "tones to 6 Hz", clean: true, make: func(b *bench) trial { return b.fast() }},
	{name: "tones to 6 Hz, rotary", clean: true, make: func(b *bench) trial { b.rotary = true; return b.fast() }},
	{name: "rigid drivetrain", clean: true, make: func(b *bench) trial { return drivetrain{}.record(b, b.tones(0.6, 1.9, 4.3)) }},
	{name: "force behind 4 ms", make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) { d.Force = behind(d.Force, b.dt, 4e-3) })
	}},
	{name: "force behind 8 ms", make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) { d.Force = behind(d.Force, b.dt, 8e-3) })
	}},
	{name: "force behind 15 ms", make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) { d.Force = behind(d.Force, b.dt, 15e-3) })
	}},
	{name: "force behind 8 ms, noise after it", make: func(b *bench) trial {
		noise := b.sensors.Force
		b.sensors.Force = 0
		return edited(b.fast(), func(d *record.Record) {
			d.Force = behind(d.Force, b.dt, 8e-3)
			for k := range d.Force {
				d.Force[k] += noise * b.rng.NormFloat64()
			}
		})
	}},
	{name: "force behind 15 ms in the servo", make: plain(func(b *bench, _ *independent.Trace,
		d *record.Record) {
		d.Force = behind(d.Force, b.dt, 15e-3)
	})},
	{name: "force behind 15 ms, rotary, two tones", make: func(b *bench) trial {
		b.rotary = true
		return edited(drivetrain{}.record(b, b.tones(1.1, 3.7)), func(d *record.Record) { d.Force = behind(d.Force, b.dt, 15e-3) })
	}},
	{name: "force averaged over 20 samples", make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) { d.Force = averaged(d.Force, 20, false) })
	}},
	{name: "force averaged over 41 samples around", make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) { d.Force = averaged(d.Force, 41, true) })
	}},
	{name: "position behind 6 ms, force not", make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) { d.Position = behind(d.Position, b.dt, 6e-3); b.count(d.Position) })
	}},
	{name: "position behind 15 ms, force not", make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) { d.Position = behind(d.Position, b.dt, 15e-3); b.count(d.Position) })
	}},
	{name: "position averaged over 41 samples around", make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) { d.Position = averaged(d.Position, 41, true); b.count(d.Position) })
	}},
	{name: "both behind 10 ms", make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) {
			d.Force, d.Position = behind(d.Force, b.dt, 10e-3), behind(d.Position, b.dt, 10e-3)
		})
	}},
	{name: "both behind 20 ms twice", make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) {
			for range 2 {
				d.Force, d.Position = behind(d.Force, b.dt, 20e-3), behind(d.Position, b.dt, 20e-3)
			}
		})
	}},
	{name: "both behind 50 ms, slow", make: func(b *bench) trial {
		b.sines(0.02, 0.4)
		return b.record(func(_ *independent.Trace, d *record.Record) {
			d.Force, d.Position = behind(d.Force, b.dt, 50e-3), behind(d.Position, b.dt, 50e-3)
		})
	}},
	{name: "both behind 10 ms in the servo", make: plain(func(b *bench, _ *independent.Trace, d *record.Record) {
		d.Force, d.Position = behind(d.Force, b.dt, 10e-3), behind(d.Position, b.dt, 10e-3)
	})},
	{name: "encoder behind a shaft of 20 Hz", make: func(b *bench) trial {
		return drivetrain{resonance: 20, share: 0.5, atLoad: true}.record(b, b.tones(0.6, 1.9, 4.3))
	}},
	{name: "encoder behind a shaft of 30 Hz", make: func(b *bench) trial {
		b.rotary = true
		return drivetrain{resonance: 30, share: 0.3, atLoad: true}.record(b, b.tones(0.6, 1.9, 4.3))
	}},
	{name: "load behind a shaft of 20 Hz", make: func(b *bench) trial {
		return drivetrain{resonance: 20, share: 0.5}.record(b, b.tones(0.6, 1.9, 4.3))
	}},
	{name: "command recorded, drive of 4 ms", make: func(b *bench) trial { return drivetrain{lag: 4e-3}.record(b, b.tones(0.6, 1.9, 6.3)) }},
	{name: "command recorded, drive of 8 ms", make: func(b *bench) trial {
		b.rotary = true
		return drivetrain{lag: 8e-3}.record(b, b.tones(0.6, 1.9, 4.3))
	}},
}

// square is a force that alternates between levels (N) to either side, for 0.2 to 0.5 s each.
func (b *bench) square(levels ...float64) func(t float64) float64 {
	const hold = 0.1 // s
	r := rand.New(rand.NewPCG(b.seed, 3))
	var order []float64
	for sign := 1.0; float64(len(order))*hold < float64(b.n)*b.dt+hold; sign = -sign {
		order = append(order, slices.Repeat([]float64{sign * levels[r.IntN(len(levels))]}, 2+r.IntN(4))...)
	}
	return func(t float64) float64 { return order[int(t/hold+1e-9)] }
}

// stepped is the axis under a force of levels, given in steps of the record.
func (b *bench) stepped(step float64, steps ...float64) trial {
	b.sensors.Force = 0
	var levels []float64
	for _, s := range steps {
		levels = append(levels, s*step)
	}
	t := drivetrain{}.record(b, b.square(levels...))
	round(t.recs[0].Force, step)
	return t
}

// spiked moves some samples of x by lo to hi steps, either way.
func (b *bench) spiked(x []float64, count int, step, lo, hi float64) {
	for range count {
		by := step * math.Round(lo+(hi-lo)*b.rng.Float64())
		if b.rng.IntN(2) == 0 {
			by = -by
		}
		x[b.rng.IntN(len(x))] += by
	}
}

// countedKinds are records whose channels are rounded, or hold single samples that are wrong.
var countedKinds = []kind{
	{name: "force in whole per mille, two levels", make: func(b *bench) trial { return b.stepped(b.axis.M/3, 9.46) }},
	{name: "force in whole per mille, two levels, rotary", make: func(b *bench) trial {
		b.rotary = true
		return b.stepped(b.axis.M/3, 8.54)
	}},
	{name: "force in whole per mille, four levels", make: func(b *bench) trial { return b.stepped(b.axis.M/3, 9.45, 14.4) }},
	{name: "force in coarse steps, tones", make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) { round(d.Force, 0.4*b.axis.M) })
	}},
	{name: "force in fine steps", clean: true, make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) { round(d.Force, 0.01*b.axis.M) })
	}},
	{name: "40 spikes of 26 to 200 counts", make: func(b *bench) trial {
		b.sensors.Count = 5e-6
		b.n = 20000
		return edited(b.fast(), func(d *record.Record) { b.spiked(d.Position, 40, b.sensors.Count, 26, 200) })
	}},
	{name: "40 spikes, rotary, one sign", make: func(b *bench) trial {
		b.rotary, b.sensors.Count = true, 2*math.Pi/4e5
		b.n = 20000
		return edited(b.fast(), func(d *record.Record) {
			for range 40 {
				d.Position[b.rng.IntN(b.n)] += b.sensors.Count * float64(26+b.rng.IntN(170))
			}
		})
	}},
	{name: "12 spikes in the servo", make: func(b *bench) trial {
		b.sensors.Count = 5e-6
		return b.record(func(_ *independent.Trace, d *record.Record) { b.spiked(d.Position, 12, b.sensors.Count, 20, 400) })
	}},
	{name: "40 spikes of the force", make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) { b.spiked(d.Force, 40, b.axis.M, 3, 40) })
	}},
	{name: "force reads zero now and then", make: func(b *bench) trial {
		return edited(b.fast(), func(d *record.Record) {
			for range 60 {
				d.Force[b.rng.IntN(b.n)] = 0
			}
		})
	}},
	{name: "lowest four bits stuck", make: func(b *bench) trial {
		b.sensors.Count = 5e-6
		return edited(b.fast(), func(d *record.Record) {
			for k, x := range d.Position {
				d.Position[k] = 16 * b.sensors.Count * math.Floor(x/b.sensors.Count/16)
			}
		})
	}},
	{name: "one bit stuck", make: func(b *bench) trial { // 2⁷ is always 0
		b.sensors.Count = 5e-6
		return edited(b.fast(), func(d *record.Record) {
			for k, x := range d.Position {
				d.Position[k] = float64(int64(math.Round(x/b.sensors.Count))&^128) * b.sensors.Count
			}
		})
	}},
}
