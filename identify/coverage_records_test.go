package identify

import (
	"math"
	"math/rand/v2"
	"sort"

	"hilrig/identify/record"
)

// mover is a mass (kg) under a force of the drive, with friction and a constant load (N).
type mover struct {
	m, fc, fv, offset float64
	fs, vs            float64 // N, m/s: break-away force and its speed; fs 0: no dip
	s0, s1            float64 // N/m, N·s/m; s0 0: rigid friction
	vd                float64 // m/s, at which s1 has faded to 1/e; 0: it does not
	x, v, z           float64
}

// rigid goes h (s) on under the constant force u.
func (a *mover) rigid(u, h float64) {
	for h > 0 {
		drive := u - a.offset
		if a.v == 0 {
			if math.Abs(drive) <= a.fc {
				return
			}
			a.v = math.Copysign(1e-300, drive)
		}
		sign := math.Copysign(1, a.v)
		end, tau := (drive-sign*a.fc)/a.fv, a.m/a.fv // speed goes to end with the time constant tau
		t := h
		if end*sign < 0 { // it turns where end + (v − end)·e^(−t/tau) is zero
			t = math.Min(h, tau*math.Log1p(-a.v/end))
		}
		e := -math.Expm1(-t / tau)
		a.x += end*t + (a.v-end)*tau*e
		a.v += (end - a.v) * e
		if t < h {
			a.v = 0
		}
		h -= t
	}
}

// bristles goes h (s) on with a bristle, under the constant force u, by steps of Runge and Kutta.
func (a *mover) bristles(u, h float64) {
	flow := func(v, z float64) (dv, dz float64) {
		g := a.fc
		if a.fs > 0 {
			g += (a.fs - a.fc) * math.Exp(-(v/a.vs)*(v/a.vs))
		}
		s1 := a.s1
		if a.vd > 0 {
			s1 *= math.Exp(-(v / a.vd) * (v / a.vd))
		}
		dz = v - a.s0*math.Abs(v)/g*z
		return (u - a.offset - a.s0*z - s1*dz - a.fv*v) / a.m, dz
	}
	n := math.Ceil(h * max(math.Sqrt(a.s0/a.m)/0.1, (a.s1+a.fv)/a.m/0.2, a.s0*math.Abs(a.v)/a.fc/0.2))
	k := h / n
	for range int(n) {
		b1, c1 := flow(a.v, a.z)
		b2, c2 := flow(a.v+k/2*b1, a.z+k/2*c1)
		b3, c3 := flow(a.v+k/2*b2, a.z+k/2*c2)
		b4, c4 := flow(a.v+k*b3, a.z+k*c3)
		a.x += k*a.v + k*k/6*(b1+b2+b3)
		a.v += k / 6 * (b1 + 2*b2 + 2*b3 + b4)
		a.z += k / 6 * (c1 + 2*c2 + 2*c3 + c4)
	}
}

// ride is an experiment: what drives the mover, and the sensors.
type ride struct {
	seconds, dt      float64
	reference        func(t float64) float64 // of a servo; nil: force drives
	kp, kv           float64                 // of a servo: 1/s, N·s/m
	force            func(t float64) float64 // N; nil and no reference: nothing drives
	held             bool                    // force keeps its sample
	count, pos, frce float64                 // step of the encoder (m), white noise of position (m) and force (N)
	gain             float64                 // of the recorded force is wrong by this share
}

// record drives a mover and records it.
func (r *ride) record(a *mover, rng *rand.Rand) *record.Record {
	const parts = 32
	n := int(math.Round(r.seconds/r.dt)) + 1
	d := &record.Record{Dt: r.dt, Position: make([]float64, n), Force: make([]float64, n)}
	d.File = "integrated in the test"
	shift := r.count * rng.Float64()
	for k := range n {
		t := float64(k) * r.dt
		seen := a.x + r.pos*rng.NormFloat64()
		if r.count > 0 {
			seen = r.count * math.Floor((seen+shift)/r.count)
		}
		d.Position[k] = seen
		u := 0.0
		switch {
		case r.reference != nil:
			d.Reference = append(d.Reference, r.reference(t))
			speed := 0.0
			if k >= 2 {
				speed = (seen - d.Position[k-2]) / (2 * r.dt)
			}
			u = r.kv * (r.kp*(d.Reference[k]-seen) - speed)
		case r.force != nil:
			u = r.force(t)
		}
		d.Force[k] = (1+r.gain)*u + r.frce*rng.NormFloat64()
		h := r.dt / parts
		for i := range parts {
			if r.force != nil && !r.held {
				u = r.force(t + (float64(i)+0.5)*h)
			}
			if a.s0 > 0 {
				a.bristles(u, h)
			} else {
				a.rigid(u, h)
			}
		}
	}
	if r.reference == nil && r.force == nil {
		d.Force = nil
	}
	return d
}

// tones is a sum of sines with amplitudes that fall as 1/frequency, from f (Hz) on, of random phases.
func tones(rng *rand.Rand, size, f float64, count int) func(t float64) float64 {
	var amp, freq, phase []float64
	for i := range count {
		amp = append(amp, size/float64(i+1))
		freq = append(freq, f*math.Pow(2.37, float64(i))*(0.95+0.1*rng.Float64()))
		phase = append(phase, 2*math.Pi*rng.Float64())
	}
	return func(t float64) (s float64) {
		for i := range amp {
			s += amp[i] * math.Sin(2*math.Pi*freq[i]*t+phase[i])
		}
		return s
	}
}

// eased begins a motion at rest.
func eased(f func(t float64) float64) func(t float64) float64 {
	return func(t float64) float64 { return (f(t) - f(0)) * smoothstep(t/0.4) }
}

// grown begins a force at zero, whose mean is zero.
func grown(f func(t float64) float64) func(t float64) float64 {
	return func(t float64) float64 { return f(t) * smoothstep(t/0.4) }
}

// drawMover is an axis of the usual sizes.
func drawMover(rng *rand.Rand) *mover {
	m := math.Pow(10, -0.3+1.3*rng.Float64())
	return &mover{m: m, fc: m * (0.6 + rng.Float64()), fv: m * (1.5 + 2*rng.Float64()), offset: m * 0.1 * rng.NormFloat64()}
}

// soft gives an axis bristles that yield along length (m).
func (a *mover) soft(length float64, rng *rand.Rand) *mover {
	a.s0 = a.fc / length
	a.s1 = (0.3 + 0.7*rng.Float64()) * math.Sqrt(a.s0*a.m)
	return a
}

// experiments are kinds of records: the mover and what is done with it.
var experiments = map[string]func(rng *rand.Rand) (*mover, *ride){
	"servo, sines, coarse encoder": func(rng *rand.Rand) (*mover, *ride) {
		a := drawMover(rng)
		r := &ride{seconds: 8, dt: 1e-3, reference: eased(tones(rng, 0.06, 0.5, 3)), count: 1e-5, frce: 0.03 * a.m}
		r.kp, r.kv = 30+20*rng.Float64(), a.m*(120+80*rng.Float64())
		return a, r
	},
	"servo, moves with pauses": func(rng *rand.Rand) (*mover, *ride) {
		a := drawMover(rng)
		type leg struct{ t0, t1, from, to float64 }
		legs := []leg{{0, 0.1, 0, 0}}
		for t, x := 0.1, 0.0; t < 8; {
			to := (0.05 + 0.1*rng.Float64()) * (1 - 2*float64(len(legs)%2))
			last := t + math.Abs(to-x)/(0.15+0.3*rng.Float64())
			legs = append(legs, leg{t, last, x, to})
			t, x = last+0.1+0.2*rng.Float64(), to
		}
		at := func(t float64) float64 {
			i := sort.Search(len(legs), func(i int) bool { return legs[i].t0 > t }) - 1
			l := legs[max(i, 0)]
			return l.from + (l.to-l.from)*smoothstep((t-l.t0)/(l.t1-l.t0))
		}
		return a, &ride{seconds: 8, dt: 1e-3, reference: at, kp: 40, kv: a.m * 150, count: 2e-6, frce: 0.05 * a.m}
	},
	"force, sines": func(rng *rand.Rand) (*mover, *ride) {
		a := drawMover(rng)
		a.offset /= 4
		return a, &ride{seconds: 6, dt: 1e-3, force: grown(tones(rng, 4.5*a.m, 0.5, 3)), count: 5e-6, frce: 0.02 * a.m}
	},
	"force, sines, noisy sensor": func(rng *rand.Rand) (*mover, *ride) {
		a := drawMover(rng)
		a.offset /= 4
		return a, &ride{seconds: 6, dt: 1e-3, force: grown(tones(rng, 4.5*a.m, 0.5, 3)), count: 1e-6, frce: 0.15 * a.m}
	},
	"force, chirp held": func(rng *rand.Rand) (*mover, *ride) {
		a := drawMover(rng)
		a.offset = 0
		p, k := 2*math.Pi*rng.Float64(), 4.5*a.m
		u := func(t float64) float64 { return k * math.Sin(2*math.Pi*(0.4*t+0.35*t*t)+p) }
		return a, &ride{seconds: 6, dt: 1e-3, force: grown(u), held: true, count: 5e-6, frce: 0.02 * a.m}
	},
	"servo, small motion":      presliding(0),
	"servo, presliding 20 µm":  presliding(2e-5),
	"servo, presliding 50 µm":  presliding(5e-5),
	"servo, presliding 100 µm": presliding(1e-4),
	"run-down": func(rng *rand.Rand) (*mover, *ride) {
		a := drawMover(rng)
		a.offset, a.v = 0, 0.8+0.8*rng.Float64()
		stop := a.m / a.fv * math.Log1p(a.fv*a.v/a.fc)
		return a, &ride{seconds: 0.9 * stop, dt: 1e-3, count: 1e-5, pos: 5e-6}
	},
	"contact, force": func(rng *rand.Rand) (*mover, *ride) { // break-away, reversals and speeds of a decade
		a := drawMover(rng).soft(2e-5+3e-5*rng.Float64(), rng)
		a.offset /= 4
		a.fs, a.vs = a.fc*(1.2+0.3*rng.Float64()), 0.01+0.01*rng.Float64()
		return a, &ride{seconds: 4, dt: 1e-3, force: grown(tones(rng, 1.9*a.fs, 0.7, 4)), count: 5e-7, frce: 0.01 * a.m}
	},
	"contact, force without noise": func(rng *rand.Rand) (*mover, *ride) {
		a := drawMover(rng).soft(2e-5+3e-5*rng.Float64(), rng)
		a.offset /= 4
		a.fs, a.vs = a.fc*(1.2+0.3*rng.Float64()), 0.01+0.01*rng.Float64()
		return a, &ride{seconds: 4, dt: 1e-3, force: grown(tones(rng, 1.9*a.fs, 0.7, 4)), held: true, count: 5e-7}
	},
	"contact, servo": func(rng *rand.Rand) (*mover, *ride) {
		a := drawMover(rng).soft(2e-5+3e-5*rng.Float64(), rng)
		a.fs, a.vs = a.fc*(1.2+0.3*rng.Float64()), 0.01+0.01*rng.Float64()
		r := &ride{seconds: 4, dt: 1e-3, reference: eased(tones(rng, 0.006, 0.6, 3)), count: 5e-7, frce: 0.02 * a.m}
		r.kp, r.kv = 40, a.m*150
		return a, r
	},
	"contact whose damping fades, force": func(rng *rand.Rand) (*mover, *ride) {
		a := drawMover(rng).soft(2e-5+3e-5*rng.Float64(), rng)
		a.offset /= 4
		a.fs, a.vs, a.vd = a.fc*(1.2+0.3*rng.Float64()), 0.01+0.01*rng.Float64(), 0.02+0.03*rng.Float64()
		return a, &ride{seconds: 4, dt: 1e-3, force: grown(tones(rng, 1.9*a.fs, 0.7, 4)), count: 5e-7, frce: 0.01 * a.m}
	},
	"servo, short and noisy": func(rng *rand.Rand) (*mover, *ride) {
		a := drawMover(rng)
		r := &ride{seconds: 3, dt: 1e-3, reference: eased(tones(rng, 0.06, 0.5, 3)), count: 1e-5, frce: 0.5 * a.m}
		r.kp, r.kv = 30+20*rng.Float64(), a.m*(120+80*rng.Float64())
		return a, r
	},
	"micro, below break-away": func(rng *rand.Rand) (*mover, *ride) {
		a := drawMover(rng).soft(1e-4, rng)
		a.offset = 0
		return a, &ride{seconds: 4, dt: 1e-3, force: grown(tones(rng, 0.05*a.fc, 6, 3)), count: 2e-8, frce: 0.002 * a.fc}
	},
}

// presliding is motion of a few millimetres in a servo over bristles that yield along about the length given (m).
func presliding(length float64) func(rng *rand.Rand) (*mover, *ride) {
	return func(rng *rand.Rand) (*mover, *ride) {
		a := drawMover(rng)
		if along := length * (0.7 + 0.6*rng.Float64()); along > 0 {
			a.soft(along, rng)
		}
		r := &ride{seconds: 8, dt: 1e-3, reference: eased(tones(rng, 0.004, 0.9, 3)), count: 5e-7, frce: 0.02 * a.m}
		r.kp, r.kv = 40, a.m*150
		return a, r
	}
}
