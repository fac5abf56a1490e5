package hil

import (
	"math"
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
	"hilrig/hil/axis"
)

type cleanCase struct {
	name string
	ref  func(size float64) reference.Spec
	p    func(p *shop)
	o    shopOptions
}

// cleanCases are what a sound rig may go through. Each is played on every kind of drive.
var cleanCases = []cleanCase{
	{"multisine", multisine, nil, shopOptions{}},
	{"multisine, compensated", multisine, nil, shopOptions{comp: axis.CompSpec{Kind: axis.CompObserver, Inertia: true}}},
	{"multisine, feed-forward", multisine, nil, shopOptions{comp: axis.CompSpec{Kind: axis.CompFeedForward, Inertia: true}}},
	{"fast sine", sineOf(3, 1.5), nil, shopOptions{}},
	{"slow ramp", func(size float64) reference.Spec { return reference.Spec{Kind: "ramp", Velocity: size / 3 * 5e-3} }, nil, shopOptions{}},
	{"ramp of two counts a second", func(size float64) reference.Spec { return reference.Spec{Kind: "ramp", Velocity: size / 3 * 2e-4} }, nil,
		shopOptions{ki: 1}},
	{"dwell", func(size float64) reference.Spec { return reference.Spec{Kind: "constant", Offset: size / 10} }, nil, shopOptions{}},
	{"dwell with an integral", func(size float64) reference.Spec { return reference.Spec{Kind: "constant", Offset: size / 10} }, nil,
		shopOptions{ki: 1}},
	{"steps", func(size float64) reference.Spec {
		return reference.Spec{Kind: "step", Amplitude: size / 3, Frequency: 0.7}
	}, nil, shopOptions{}},
	{"steps of presliding", func(size float64) reference.Spec {
		return reference.Spec{Kind: "step", Amplitude: size / 3 * 1e-3, Frequency: 1}
	}, nil, shopOptions{ki: 1}},
	{"small sine", sineOf(0.05, 0.3), nil, shopOptions{}},
	{"coarse encoder", multisine, func(p *shop) { p.count *= 32 }, shopOptions{}},
	{"coarse encoder, small sine", sineOf(0.1, 0.2), func(p *shop) { p.count *= 32 }, shopOptions{ki: 0.5}},
	{"very coarse encoder", sineOf(3, 0.2), func(p *shop) { p.count *= 300 }, shopOptions{}},
	{"noisy position", multisine, func(p *shop) { p.noise[0] = 3 * p.count }, shopOptions{}},
	{"noisy position, dwell", func(size float64) reference.Spec { return reference.Spec{Kind: "constant", Offset: size / 10} },
		func(p *shop) { p.noise[0] = 3 * p.count }, shopOptions{ki: 1}},
	{"weight", sineOf(1, 0.3), func(p *shop) { w := 5 * p.fs; p.load = func(_, _ float64) float64 { return w } }, shopOptions{}},
	{"weight the other way, dwell", sineOf(0, 1), func(p *shop) { w := -8 * p.fs; p.load = func(_, _ float64) float64 { return w } },
		shopOptions{}},
	{"weight, dwell with an integral", sineOf(0, 1), func(p *shop) { w := 8 * p.fs; p.load = func(_, _ float64) float64 { return w } },
		shopOptions{ki: 1}},
	{"weight, more friction than known", sineOf(0.5, 0.3), func(p *shop) { w := 5 * p.fs; p.load = func(_, _ float64) float64 { return w } },
		shopOptions{law: func(l *friction.LuGre) { l.Fs /= 1.4; l.Fc /= 1.4 }}},
	{"spring", sineOf(1, 0.3), func(p *shop) { k := p.spring(); p.load = func(_, x float64) float64 { return k * x } }, shopOptions{}},
	{"a hand comes and goes", sineOf(0, 1), func(p *shop) { w := 5 * p.fs; p.load = func(t, _ float64) float64 { return w * math.Sin(2*t) } },
		shopOptions{}},
	{"a hand pulls slowly", sineOf(0, 1), func(p *shop) { w := 5 * p.fs; p.load = func(t, _ float64) float64 { return w * math.Sin(0.3*t) } },
		shopOptions{}},
	{"half as much friction again as known", sineOf(0.5, 0.2), nil, shopOptions{law: func(l *friction.LuGre) { l.Fs /= 1.5; l.Fc /= 1.5 }}},
	{"hot winding", multisine, func(p *shop) { p.r *= 1.5 }, shopOptions{}},
	{"hot winding, dwell", sineOf(0.3, 0.1), func(p *shop) { p.hot = 1.5 }, shopOptions{ki: 1}},
	{"three times the inertia", multisine, func(p *shop) { p.heavy = 3 }, shopOptions{}},
	{"ten times the inertia", multisine, func(p *shop) { p.heavy = 10 }, shopOptions{}},
	{"ten times the inertia, fast sine", sineOf(3, 1.5), func(p *shop) { p.heavy = 10 }, shopOptions{}},
	{"ten times the inertia, steps", func(size float64) reference.Spec {
		return reference.Spec{Kind: "step", Amplitude: size / 3, Frequency: 0.7}
	}, func(p *shop) { p.heavy = 10 }, shopOptions{}},
	{"a tenth of the inertia in the file, and a weight", sineOf(1, 0.7),
		func(p *shop) { w := 3 * p.fs; p.load = func(_, _ float64) float64 { return w } },
		shopOptions{motor: func(m *plant.Motor) { m.J /= 10 }}},
	{"half of it", multisine, func(p *shop) { p.heavy = 0.5 }, shopOptions{}},
	{"drive of 20 Hz", sineOf(1, 0.5), func(p *shop) { p.lag = 8e-3 }, shopOptions{}},
	{"half the inertia in the file", multisine, nil, shopOptions{motor: func(m *plant.Motor) { m.J /= 2 }}},
	{"half the inertia in the file, fast sine", sineOf(3, 1.5), nil, shopOptions{motor: func(m *plant.Motor) { m.J /= 2 }}},
	{"twice the inertia in the file", sineOf(3, 1.5), nil, shopOptions{motor: func(m *plant.Motor) { m.J *= 2 }}},
	{"half the friction in the file", sineOf(1, 0.3), nil, shopOptions{law: halved}},
	{"half the friction in the file, fast sine", sineOf(3, 1.5), nil, shopOptions{law: halved}},
	{"half the friction in the file, dwell", sineOf(0.3, 0.1), nil, shopOptions{law: halved}},
	{"half of both, multisine and a weight", multisine, func(p *shop) { w := 3 * p.fs; p.load = func(_, _ float64) float64 { return w } },
		shopOptions{law: halved, motor: func(m *plant.Motor) { m.J /= 2 }}},
	{"half of both, steps", func(size float64) reference.Spec {
		return reference.Spec{Kind: "step", Amplitude: size / 3, Frequency: 1.7}
	}, nil, shopOptions{law: halved, motor: func(m *plant.Motor) { m.J /= 2 }}},
	{"half of both and a spring", sineOf(1, 0.7), func(p *shop) { k := p.spring(); p.load = func(_, x float64) float64 { return k * x } },
		shopOptions{law: halved, motor: func(m *plant.Motor) { m.J /= 2 }}},
	{"twice the friction in the file", multisine, nil, shopOptions{law: func(l *friction.LuGre) { l.Fs *= 2; l.Fc *= 2 }}},
	{"pendulum that hangs", sineOf(1, 0.5), func(p *shop) {
		k := p.spring()
		p.load = func(_,
			x float64) float64 {
			return 2 * k * math.Sin(x)
		}
	}, shopOptions{}},
	{"pendulum that stands", sineOf(1, 0.5), func(p *shop) {
		k := p.spring()
		p.load = func(_,
			x float64) float64 {
			return -k * math.Sin(x)
		}
	}, shopOptions{}},
	{"elastic joint of 8 Hz, half is the motor", multisine, func(p *shop) { p.joint(8, 0.5, false) }, shopOptions{}},
	{"elastic joint of 8 Hz, encoder outside", sineOf(1, 0.5), func(p *shop) { p.joint(8, 0.5, true) }, shopOptions{pid: softened}},
	{"elastic joint of 25 Hz, encoder outside", multisine, func(p *shop) { p.joint(25, 0.5, true) }, shopOptions{pid: softened}},
	{"elastic joint of 25 Hz, half is the motor", sineOf(3, 1.5), func(p *shop) { p.joint(25, 0.5, false) }, shopOptions{}},
	{"samples 15 ms late", sineOf(1, 0.5), nil, shopOptions{late: 15, pid: softened}},
	{"samples at 200 Hz", multisine, nil, shopOptions{every: 5}},
	{"samples at 50 Hz, small", sineOf(0.3, 0.3), nil, shopOptions{every: 20}},
	{"a soft controller", multisine, nil, shopOptions{pid: softened}},
	{"friction that changes with the place", multisine, func(p *shop) { p.uneven(1) }, shopOptions{}},
	{"friction that changes three times a radian, soft", multisine, func(p *shop) { p.uneven(3) }, shopOptions{pid: softened}},
	{"cogging", sineOf(1, 1), func(p *shop) { p.load = func(_, x float64) float64 { return 0.4 * p.fc * math.Sin(11*x/p.size()+1) } },
		shopOptions{}},
}

// softened is a controller that a joint or a delay bears; of the stage it is a hundred thousand times as strong.
var softened = &control.PID{Kp: 0.02, Kd: 1e-3, Limit: 0.4}

func halved(l *friction.LuGre) { l.Fs, l.Fc, l.Sigma2 = l.Fs/2, l.Fc/2, l.Sigma2/2 }

// joint has its resonance with the load alone at this frequency (Hz).
func (p *shop) joint(frequency, share float64, outside bool) {
	w := 2 * math.Pi * frequency
	p.share, p.outside, p.soft = share, outside, w*w*p.j*share*(1-share)
}

// size is that of a motion of 1 rad of the demo (rad, m).
func (p *shop) size() float64 {
	if p.linear {
		return 20e-3
	}
	return 1
}

// uneven is a friction that is 0.4·Fc more or less, so many radians of it on a motion of 1 rad.
func (p *shop) uneven(times float64) {
	p.load = func(_, x float64) float64 { return math.Copysign(0.4*p.fc*math.Sin(times*x/p.size()+1), p.v) }
}

// spring pulls with five times the break-away at the size of the motion.
func (p *shop) spring() float64 {
	if p.linear {
		return 5 * p.fs / 20e-3
	}
	return 5 * p.fs
}

func multisine(size float64) reference.Spec {
	return reference.Spec{Kind: "multisine", Tones: turned(demoTones, size/3)}
}

func sineOf(amplitude, frequency float64) func(float64) reference.Spec {
	return func(size float64) reference.Spec {
		return reference.Spec{Kind: "sine", Amplitude: size / 3 * amplitude, Frequency: frequency}
	}
}

// Nothing that a sound rig may do is a trip: ten minutes in all, with every channel measured that there is, and with none but the position.
func TestCleanRigsDoNotTrip(t *testing.T) {
	sum := 0.0
	seed := uint64(0)
	for n, c := range cleanCases {
		for _, kind := range shopKinds {
			for _, all := range []bool{false, true} {
				if seed++; !soak && (seed+uint64(n))%3 != 0 { // each kind with every third
					continue
				}
				sides := []float64{1, -1}
				if !soak {
					sides = sides[seed%4/2:][:1]
				}
				for _, side := range sides {
					p := kind.p()
					p.seed = seed
					s := cleanShop(t, p, &c, kind.measured, all, side)
					s.start(t)
					for k := range 1200 {
						if sum += 1e-3; s.row.Mode.Energised() {
							s.step()
						} else {
							t.Errorf("%s, %s, everything measured %v, %+g: after %d ms %v: %s", c.name, kind.name, all, side, k, s.row.Mode,
								s.row.CauseText(&s.ctl.schema))
							break
						}
					}
				}
			}
		}
	}
	t.Logf("%.0f s", sum)
}

// cleanShop is the rig of a case, to one side.
func cleanShop(t *testing.T, p *shop, c *cleanCase, measured []estimator.Quantity, all bool, side float64) *shopRig {
	o := c.o
	if o.measured = measured; all {
		o.measured = []estimator.Quantity{estimator.Current, estimator.Velocity, estimator.Effort, estimator.Voltage}
		if p.drive != plant.VoltageDrive {
			o.measured = o.measured[:3]
		}
	}
	size := 3.0
	if p.linear {
		size = 60e-3
		o.ki *= 1e6
	}
	o.ref = c.ref(side * size)
	if p.drive == plant.VelocityDrive {
		o.comp = axis.CompSpec{}
	}
	if o.pid != nil && p.linear {
		o.pid = &control.PID{Kp: 10e3, Kd: 700, Limit: 300}
	}
	if o.every > 5 {
		o.pid = &control.PID{Kp: 0.02, Kd: 1.5e-3, Limit: 0.4}
		if p.linear {
			o.pid = &control.PID{Kp: 10e3, Kd: 1.5e3, Limit: 300}
		}
	}
	if c.p != nil {
		c.p(p)
	}
	if all && p.heavy < 3 { // so the file may say that it is no heavier
		o.limits.MaxInertia = 2 * p.j
	}
	s := newShop(t, p, o)
	if p.hot > 0 {
		p.r *= p.hot
	}
	if p.heavy > 0 {
		p.j *= p.heavy
	}
	return s
}
