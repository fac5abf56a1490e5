package identify

import (
	"math"
	"slices"

	"hilrig/identify/independent"
)

// oddFreeKinds are kinds of free motion that no bound was settled on.
var oddFreeKinds = slices.Concat(oddRunDowns, oddSwings, drawnKinds)

// lacks is a kind whose axis has a torque that the model lacks. friction is the plain one where it swings.
func (b *freeBench) lacks(torque func(t, x, v float64) float64) {
	own := b.axis.Load
	b.axis.Load = func(t, x, v float64) float64 {
		if own != nil {
			return own(t, x, v) + torque(t, x, v)
		}
		return torque(t, x, v)
	}
}

func sign(v float64) float64 { return math.Tanh(v / 1e-3) }

// without leaves out samples, as if they had never been.
func without(from, count int) func(x []float64) []float64 {
	return func(x []float64) []float64 { return slices.Delete(slices.Clone(x), from, from+count) }
}

func (b *freeBench) jitter(share float64) {
	b.edit = func(x []float64) []float64 {
		y := slices.Clone(x)
		for k := 1; k+1 < len(x); k++ {
			y[k] += share * b.rng.NormFloat64() * (x[k+1] - x[k-1]) / 2
		}
		return y
	}
}

func (b *freeBench) each(f func(t, x float64) float64) {
	b.edit = func(x []float64) []float64 {
		y := slices.Clone(x)
		for k := range y {
			y[k] = f(float64(k)*b.run.Dt, x[k])
		}
		return y
	}
}

var runDown = []string{"viscous"}

var oddRunDowns = []freeKind{
	{"run-down, slow", true, "coulomb", runDown, func(b *freeBench) { b.run.V0 = 12 }},
	{"run-down, fine", true, "coulomb", runDown, func(b *freeBench) { b.noise = 1e-4 }},
	{"run-down, noisy", true, "coulomb", runDown, func(b *freeBench) { b.noise = 0.02 }},
	{"run-down, encoder", true, "coulomb", runDown, func(b *freeBench) {
		b.noise = 1e-4
		b.each(func(_, x float64) float64 { return 5e-3 * math.Floor(x/5e-3) })
	}},
	{"run-down, much viscous", true, "coulomb", runDown, func(b *freeBench) { b.axis.Friction.Sigma2 *= 3 }},
	{"run-down, drag in v^1.5", false, "coulomb", runDown, func(b *freeBench) {
		c := 0.5 * b.axis.Friction.Sigma2 / math.Sqrt(10)
		b.lacks(func(_, _, v float64) float64 { return c * v * math.Sqrt(math.Abs(v)) })
	}},
	{"run-down, drag in v^3", false, "coulomb", runDown, func(b *freeBench) {
		c := 0.3 * b.axis.Friction.Sigma2 / 400
		b.lacks(func(_, _, v float64) float64 { return c * v * v * v })
	}},
	{"run-down, little drag in v^1.5", false, "coulomb", runDown, func(b *freeBench) {
		c := 0.1 * b.axis.Friction.Sigma2 / math.Sqrt(10)
		b.lacks(func(_, _, v float64) float64 { return c * v * math.Sqrt(math.Abs(v)) })
	}},
	{"run-down, friction along the turn", false, "coulomb", runDown, func(b *freeBench) {
		c := 0.4 * b.axis.Friction.Fc
		b.lacks(func(_, x, v float64) float64 { return c * math.Sin(x) * sign(v) })
	}},
	{"run-down, cogging", false, "coulomb", runDown, func(b *freeBench) {
		c := 0.6 * b.axis.Friction.Fc
		b.lacks(func(_, x, _ float64) float64 { return c * math.Sin(6*x) })
	}},
	{"run-down, imbalance", false, "coulomb", runDown, func(b *freeBench) {
		c := 0.4 * b.axis.Friction.Fc
		b.lacks(func(_, x, _ float64) float64 { return c * math.Sin(x) })
	}},
	{"run-down, zero leaks", false, "coulomb", runDown, func(b *freeBench) { b.each(func(t, x float64) float64 { return x + 0.1*t*t/10 }) }},
	{"run-down, jitter", false, "coulomb", runDown, func(b *freeBench) { b.jitter(0.2) }},
	{"run-down, samples missing", false, "coulomb", runDown, func(b *freeBench) { b.edit = without(300, 20) }},
	{"run-down, coarse encoder", false, "coulomb", runDown, func(b *freeBench) {
		b.each(func(_, x float64) float64 { return math.Pi / 6 * math.Floor(x/(math.Pi/6)) })
	}},
	{"run-down, eccentric", false, "coulomb", runDown, func(b *freeBench) { b.each(func(_, x float64) float64 { return x + 0.05*math.Sin(x) }) }},
	{"run-down, knock", false, "coulomb", runDown, func(b *freeBench) {
		at := 2 + 2*b.rng.Float64()
		b.lacks(func(t, _, _ float64) float64 { return 20 * math.Exp(-(t-at)*(t-at)/2/0.02/0.02) })
	}},
	{"run-down, little dip", false, "coulomb", runDown, func(b *freeBench) { b.axis.Friction.Fs, b.axis.Friction.Vs = 1.2*b.axis.Friction.Fc, 2 }},
	{"run-down, wide dip", false, "coulomb", runDown, func(b *freeBench) { b.axis.Friction.Fs, b.axis.Friction.Vs = 1.3*b.axis.Friction.Fc, 12 }},
	{"run-down, bearing warms up", false, "coulomb", runDown, func(b *freeBench) {
		c := 0.4 * b.axis.Friction.Sigma2
		b.lacks(func(t, _, v float64) float64 { return -c * v * t / 10 })
	}},
	{"run-down, eddy brake", false, "coulomb", runDown, func(b *freeBench) {
		c := b.axis.Friction.Sigma2
		b.lacks(func(_, _, v float64) float64 { return c * v / (1 + v*v/225) })
	}},
	{"run-down, noise goes with its neighbours", false, "coulomb", runDown, func(b *freeBench) {
		at := 0.0
		b.each(func(_, x float64) float64 { at = 0.99*at + 1e-3*b.rng.NormFloat64(); return x + at })
	}},
	{"run-down, low-pass", false, "coulomb", runDown, func(b *freeBench) {
		b.edit = func(x []float64) []float64 { return behind(x, b.run.Dt, 0.05) }
	}},
}

var (
	swings  = []string{"viscous", "gravity-sin"}
	springs = []string{"viscous", "stiffness"}
)

// swing with viscous friction.
func swung(name string, clean bool, law string, f func(b *freeBench)) freeKind {
	return freeKind{"pendulum, " + name, clean, law, swings, func(b *freeBench) {
		b.swing(true, 0)
		b.axis.Friction = independent.Friction{Sigma2: 0.03 + 0.02*b.rng.Float64()}
		if law != "" {
			b.axis.Friction.Fc = 0.01 + 0.01*b.rng.Float64()
		}
		f(b)
	}}
}

// sprung is a mass on a spring with viscous friction.
func sprung(name string, clean bool, law string, f func(b *freeBench)) freeKind {
	k := swung(name, clean, law, f)
	k.name, k.terms, k.make = "spring, "+name, springs, func(b *freeBench) {
		b.swing(false, 0)
		b.axis.Friction = independent.Friction{Sigma2: 0.04 + 0.03*b.rng.Float64()}
		if law != "" {
			b.axis.Friction.Fc = 1e-3
		}
		f(b)
	}
	return k
}

var oddSwings = []freeKind{
	swung("wide", true, "", func(b *freeBench) { b.run.X0 = 2 }),
	swung("wide, dry friction", true, "coulomb", func(b *freeBench) { b.run.X0 = 1.5 }),
	swung("short", true, "", func(b *freeBench) { b.run.N = 1500 }),
	swung("noisy", true, "", func(b *freeBench) { b.noise = 0.01 }),
	swung("encoder", true, "", func(b *freeBench) {
		b.noise = 1e-5
		b.each(func(_, x float64) float64 { return 1.5e-3 * math.Round(x/1.5e-3) })
	}),
	sprung("dry friction", true, "coulomb", func(b *freeBench) {}),
	swung("drag in v^1.5", false, "", func(b *freeBench) {
		c := 0.5 * b.axis.Friction.Sigma2
		b.lacks(func(_, _, v float64) float64 { return c * v * math.Sqrt(math.Abs(v)) })
	}),
	swung("drag in v^1.5 beside dry friction", false, "coulomb", func(b *freeBench) {
		c := 0.5 * b.axis.Friction.Sigma2
		b.lacks(func(_, _, v float64) float64 { return c * v * math.Sqrt(math.Abs(v)) })
	}),
	swung("drag in v^3", false, "", func(b *freeBench) {
		c := 0.3 * b.axis.Friction.Sigma2
		b.lacks(func(_, _, v float64) float64 { return c * v * v * v })
	}),
	swung("knock", false, "", func(b *freeBench) {
		at := 5 + 5*b.rng.Float64()
		b.lacks(func(t, _, _ float64) float64 { return 3 * math.Exp(-(t-at)*(t-at)/2/0.02/0.02) })
	}),
	swung("samples missing", false, "", func(b *freeBench) { b.edit = without(1500, 20) }),
	swung("samples missing in one dip", false, "coulomb", func(b *freeBench) { b.edit = without(700, 3) }),
	swung("jitter", false, "", func(b *freeBench) { b.jitter(0.4) }),
	swung("coarse encoder", false, "", func(b *freeBench) { b.each(func(_, x float64) float64 { return 0.03 * math.Round(x/0.03) }) }),
	swung("coarse encoder, dry friction", false, "coulomb", func(b *freeBench) {
		b.each(func(_, x float64) float64 { return 0.03 * math.Floor(x/0.03) })
	}),
	swung("eccentric", false, "", func(b *freeBench) { b.each(func(_, x float64) float64 { return x + 0.05*math.Sin(2*x+1) }) }),
	swung("zero leaks", false, "", func(b *freeBench) { b.each(func(t, x float64) float64 { return x + 1e-3*t }) }),
	swung("friction along the way", false, "", func(b *freeBench) {
		c := b.axis.Friction.Sigma2
		b.lacks(func(_, x, v float64) float64 { return c * v * 20 * x * x })
	}),
	swung("dry friction along the way", false, "coulomb", func(b *freeBench) {
		c := b.axis.Friction.Fc
		b.lacks(func(_, x, v float64) float64 { return c * sign(v) * 10 * x * x })
	}),
	swung("magnet", false, "", func(b *freeBench) {
		b.lacks(func(_, x, _ float64) float64 { return 1 * x * math.Exp(-x*x/2/0.05/0.05) })
	}),
	swung("dip", false, "coulomb", func(b *freeBench) {
		b.axis.Friction.Fs, b.axis.Friction.Vs = 1.5*b.axis.Friction.Fc, 0.3
	}),
	swung("little dip", false, "coulomb", func(b *freeBench) {
		b.axis.Friction.Fs, b.axis.Friction.Vs = 1.2*b.axis.Friction.Fc, 0.1
	}),
	swung("weight leaks", false, "", func(b *freeBench) {
		k := b.truth["mgs"]
		b.lacks(func(t, x, _ float64) float64 { return -0.03 * k * t / 30 * math.Sin(x) })
	}),
	swung("noise goes with its neighbours", false, "", func(b *freeBench) {
		at := 0.0
		b.each(func(_, x float64) float64 { at = 0.99*at + 1e-3*b.rng.NormFloat64(); return x + at })
	}),
	swung("low-pass", false, "", func(b *freeBench) {
		b.edit = func(x []float64) []float64 { return behind(x, b.run.Dt, 0.05) }
	}),
	swung("floor shakes", false, "", func(b *freeBench) {
		b.lacks(func(t, _, _ float64) float64 { return 0.05 * math.Sin(2*math.Pi*2.3*t) })
	}),
	swung("dry friction by direction", false, "coulomb", func(b *freeBench) {
		c := 0.5 * b.axis.Friction.Fc
		b.lacks(func(_, _, v float64) float64 { return c * math.Abs(sign(v)) })
	}),
	swung("viscous friction by direction", false, "", func(b *freeBench) {
		c := 0.4 * b.axis.Friction.Sigma2
		b.lacks(func(_, _, v float64) float64 { return c * math.Abs(v) })
	}),
	swung("stop", false, "", func(b *freeBench) {
		top := 0.8 * b.run.X0
		b.lacks(func(_, x, _ float64) float64 { return -300 * max(0, -x-top) })
	}),
	{"small swing taken for a spring", false, "", springs, func(b *freeBench) {
		b.swing(true, 0)
		b.run.X0 = 0.15
		b.axis.Friction = independent.Friction{Sigma2: 0.05}
	}},
	sprung("softens", false, "", func(b *freeBench) {
		k := b.truth["k"]
		b.lacks(func(_, x, _ float64) float64 { return -30 * k * x * x * x })
	}),
	sprung("stiffens in x^5", false, "coulomb", func(b *freeBench) {
		k := b.truth["k"]
		b.lacks(func(_, x, _ float64) float64 { return 3e4 * k * x * x * x * x * x })
	}),
	sprung("drag", false, "", func(b *freeBench) {
		c := 2 * b.axis.Friction.Sigma2
		b.lacks(func(_, _, v float64) float64 { return c * v * math.Abs(v) })
	}),
	sprung("dry friction missing", false, "", func(b *freeBench) { b.axis.Friction.Fc = 5e-4 }),
}

// drawn is a mass that a spring draws to and fro; the spring is known.
func drawn(name string, clean bool, law string, f func(b *freeBench)) freeKind {
	return freeKind{"drawn, " + name, clean, law, runDown, func(b *freeBench) {
		b.kd, b.noise, b.run.V0, b.run.Dt, b.run.N = 300, 1e-3, 0, 2e-3, 5000
		b.axis.M = 0.7 + 0.6*b.rng.Float64()
		b.axis.Friction.Fc, b.axis.Friction.Sigma2 = 6*b.axis.Friction.Fc, 25*b.axis.Friction.Sigma2
		s := independent.Sines(uint64(1e6*b.rng.Float64()), []float64{2, 1, 0.4}, []float64{0.21, 0.53, 1.1})
		at := s(0)
		b.reference = func(t float64) float64 { return (s(t) - at) * smoothstep(t/0.5) }
		f(b)
	}}
}

var drawnKinds = []freeKind{
	drawn("tones", true, "coulomb", func(b *freeBench) {}),
	drawn("noisy", true, "coulomb", func(b *freeBench) { b.noise = 0.01 }),
	drawn("viscous alone", true, "", func(b *freeBench) { b.axis.Friction.Fc = 0 }),
	drawn("fast", true, "coulomb", func(b *freeBench) { b.kd = 600 }),
	drawn("drag", false, "coulomb", func(b *freeBench) {
		c := 0.2 * b.axis.Friction.Sigma2
		b.lacks(func(_, _, v float64) float64 { return c * v * math.Abs(v) })
	}),
	drawn("little drag", false, "coulomb", func(b *freeBench) {
		c := 0.03 * b.axis.Friction.Sigma2
		b.lacks(func(_, _, v float64) float64 { return c * v * math.Abs(v) })
	}),
	drawn("drag in v^1.5", false, "coulomb", func(b *freeBench) {
		c := 0.3 * b.axis.Friction.Sigma2
		b.lacks(func(_, _, v float64) float64 { return c * v * math.Sqrt(math.Abs(v)) })
	}),
	drawn("dip", false, "coulomb", func(b *freeBench) { b.axis.Friction.Fs, b.axis.Friction.Vs = 1.5*b.axis.Friction.Fc, 1 }),
	drawn("little dip", false, "coulomb", func(b *freeBench) { b.axis.Friction.Fs, b.axis.Friction.Vs = 1.15*b.axis.Friction.Fc, 0.5 }),
	drawn("dry friction missing", false, "", func(b *freeBench) { b.axis.Friction.Fc *= 0.3 }),
	drawn("viscous missing from a law", false, "coulomb", func(b *freeBench) {
		c := 0.5 * b.axis.Friction.Fc
		b.lacks(func(_, x, _ float64) float64 { return c })
	}),
	drawn("friction by direction", false, "coulomb", func(b *freeBench) {
		c := 0.4 * b.axis.Friction.Sigma2
		b.lacks(func(_, _, v float64) float64 { return c * math.Abs(v) })
	}),
	drawn("cogging", false, "coulomb", func(b *freeBench) {
		c := 0.5 * b.axis.Friction.Fc
		b.lacks(func(_, x, _ float64) float64 { return c * math.Sin(9*x) })
	}),
	drawn("another spring behind", false, "coulomb", func(b *freeBench) {
		b.lacks(func(_, x, _ float64) float64 { return 5 * x })
	}),
	drawn("spring stiffens", false, "coulomb", func(b *freeBench) {
		b.lacks(func(t, x, _ float64) float64 { d := x - b.reference(t); return 0.3 * b.kd * d * d * d })
	}),
	drawn("friction falls", false, "coulomb", func(b *freeBench) {
		c := 0.3 * b.axis.Friction.Fc
		b.lacks(func(t, _, v float64) float64 { return c * sign(v) * (1 - t/5) })
	}),
	drawn("knock", false, "coulomb", func(b *freeBench) {
		at := 4 + 2*b.rng.Float64()
		b.lacks(func(t, _, _ float64) float64 { return 20 * math.Exp(-(t-at)*(t-at)/2/0.02/0.02) })
	}),
	drawn("samples missing", false, "coulomb", func(b *freeBench) {
		b.edit = func(x []float64) []float64 {
			y := without(2000, 20)(x)
			return append(y, x[len(x)-20:]...)
		}
	}),
	drawn("coarse encoder", false, "coulomb", func(b *freeBench) { b.each(func(_, x float64) float64 { return 0.1 * math.Floor(x/0.1) }) }),
	drawn("position late", false, "coulomb", func(b *freeBench) { b.edit = func(x []float64) []float64 { return late(x, 8) } }),
	drawn("low-pass", false, "coulomb", func(b *freeBench) {
		b.edit = func(x []float64) []float64 { return behind(x, b.run.Dt, 0.03) }
	}),
	drawn("damped spring", false, "coulomb", func(b *freeBench) {
		b.lacks(func(t, _, v float64) float64 { return 0.5 * (v - (b.reference(t+1e-4)-b.reference(t-1e-4))/2e-4) })
	}),
}
