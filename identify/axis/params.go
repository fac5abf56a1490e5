package axis

import (
	"math"
	"slices"
	"strings"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// known are parameters of laws that a record of one motion rarely tells: exponents, shapes, nominal loads, and what a law
// may be spared. They keep the value given here or in the registry until they are set free.
var known = map[string]float64{
	"vd": 0, "N0": math.NaN(), "mu": math.NaN(), "ct": 0, "delta": math.NaN(), "exponent": math.NaN(), "elements": math.NaN(),
	"ratio": math.NaN(), "zba": math.NaN(), "m": math.NaN(), "n": math.NaN(), "reach": math.NaN(), "offset": 0,
}

// FixedDefault is the value at which a parameter of a law is left where nothing is said of it; NaN: that of the law itself. ok is false
// for those that are searched.
func FixedDefault(name string) (value float64, ok bool) {
	value, ok = known[name]
	return value, ok
}

// defaults are the parameters of the model.
func (m *Model) defaults() []fit.Param {
	r := &m.roughSizes
	var ps []fit.Param
	add := func(name, unit, doc string, value, lo, hi float64, log, fixed bool) {
		p := fit.Param{Param: engine.Param{Name: name, Unit: engine.UnitOn(m.spec.Rotary, unit), Doc: doc, Value: value, Lo: lo, Hi: hi,
			Fixed: fixed}, Log: log}
		if v, ok := m.spec.Known[name]; ok {
			p.Value, p.Fixed = v, true
		} else if !fixed {
			p.Value = min(max(value, lo), hi)
		}
		ps = append(ps, p)
	}

	if m.spec.Drive == Coast {
		add(m.names.inertia, "kg", "inertia; without a drive only ratios to it can be known", 1, 1e-12, 1e12, true, true)
	} else {
		add(m.names.inertia, "kg", "inertia", r.m, r.m/30, r.m*30, true, false)
	}
	if m.law != nil {
		for _, p := range m.law.Params() {
			value, lo, hi, log, fixed := m.lawParam(p)
			if !m.spec.Asymmetric {
				add(p.Name, p.Unit, p.Doc, value, lo, hi, log, fixed)
				continue
			}
			switch p.Name {
			case "Fc", "Fv", "sigma2":
				add(p.Name+"+", p.Unit, p.Doc+", forward", value, lo, hi, log, fixed)
				add(p.Name+"-", p.Unit, p.Doc+", backward", value, lo, hi, log, fixed)
			case "Fs", "Fs_inf":
				low := 0.0
				if strengthens(m.law) {
					low = -r.f
				}
				add("dFs", p.Unit, "break-away friction above Coulomb friction, both directions; below zero for a contact that strengthens with speed",
					0.2*r.fc, low, 2*r.f, false, fixed)
			default:
				add(p.Name, p.Unit, p.Doc, value, lo, hi, log, fixed)
			}
		}
	}
	for _, l := range loadTerms {
		if !slices.Contains(m.spec.Terms, l.term) {
			continue
		}
		if l.term == "viscous" {
			m.viscous(add)
			continue
		}
		value, size := r.loads[l.term], r.f
		if l.param == "k" {
			size = r.f / r.x
		}
		if l.param != "offset" { // these may exceed the drive, which then pumps
			size *= 3
		}
		size = max(size, math.Abs(value))
		if i := fit.Index(ps, l.param); i >= 0 { // the law has one of its own
			ps[i].Value, ps[i].Lo, ps[i].Hi, ps[i].Fixed = value, -3*size, 3*size, false
			continue
		}
		add(l.param, l.unit, l.doc, value, -3*size, 3*size, false, false)
	}
	switch m.spec.Drive {
	case Spring:
		add("kd", "N/m", "spring that draws the mass", r.kd, 1e-12, 1e15, true, true)
	case Force, Servo:
		add("lag", "s", "effective lag of the force behind its stamp", 0, lagLo*r.dt, lagHi*r.dt, false, true)
	}
	for _, p := range m.pieces {
		// one sample says where a motion starts within its noise only: taken for exact, that noise would go into everything
		// else, far beyond the intervals. A motion that begins at rest begins at rest
		dx, dv := max(0.1*r.x, 10*p.noise), max(0.5*r.v, p.v0Change)
		free := [2]bool{m.spec.Initial == Free, m.spec.Initial == Free}
		if m.spec.Initial == Measured && m.spec.Drive == Force && m.spec.Output == Velocity && p.v0 != 0 {
			if noise := numeric.Noise(p.rec.Velocity); noise > 0 {
				dv, free[1] = 12*noise, true
			}
		}
		if m.spec.Initial != Free && m.spec.Drive != Servo && m.spec.Output == Position && p.noise > 0 {
			dx, free[0] = 12*p.noise, true
			if m.spec.Drive != Force || p.v0 != 0 {
				dv, free[1] = p.v0Doubt, true
			}
		}
		add("x0"+p.suffix, "m", "position at the beginning", p.x0, p.x0-dx, p.x0+dx, false, !free[0] || len(p.rec.Position) == 0)
		if m.spec.Initial != Rest {
			add("v0"+p.suffix, "m/s", "velocity at the beginning", p.v0, p.v0-dv, p.v0+dv, false, !free[1])
		}
	}
	return ps
}

// viscous are the parameters of the viscous term. They may be negative: then the law takes too much with speed.
func (m *Model) viscous(add func(name, unit, doc string, value, lo, hi float64, log, fixed bool)) {
	r := &m.roughSizes
	most := 10 * max(r.fv, 0.05*r.f/r.v)
	ways := [][2]string{{"Fv", ""}}
	if m.spec.Asymmetric {
		ways = [][2]string{{"Fv+", ", forward"}, {"Fv-", ", backward"}}
	}
	for _, w := range ways {
		add(w[0], "N·s/m", "viscous friction"+w[1], r.fv, -0.2*most, most, false, false)
	}
}

// lawParam is start, bounds and search of a parameter of a law, from what it means and from the sizes in the record.
//
// Levels: a ten-thousandth to twice the size of the forces. Viscosity: a ten-thousandth to ten times forces over speeds. On an
// axis that coasts, where gravity is among the forces, a millionth. Stiffness: the contact yields over a millionth to a tenth
// of the travel. Damping of the contact: 0.3 % to 300 % of critical. Stribeck velocity: a two-hundredth to twice the largest
// speed. Attraction of a slipping element: Coulomb friction in a millisecond to ten seconds. Memory: 1 to 50 ms (table 6.2 of [MOGI]),
// dwell: 5 ms to the length of the record. Drawn by a spring, break-away and presliding can be seen, and narrow the box.
func (m *Model) lawParam(p engine.Param) (value, lo, hi float64, log, fixed bool) {
	r := &m.roughSizes
	if v, ok := known[p.Name]; ok {
		if math.IsNaN(v) {
			v = p.Value
		}
		return v, p.Lo, p.Hi, false, true
	}
	box := func(v, l, h float64) (float64, float64, float64, bool, bool) {
		l, h = max(l, p.Lo), min(h, p.Hi)
		return v, l, h, l > 0, false
	}
	least := 1e-4 * r.f
	if m.spec.Drive == Coast { // gravity may be far larger than friction
		least = 1e-6 * r.f
	}
	contact := (r.fc + 1e-3*r.f) / (1e-3 * r.x) // N/m: a guess that yields over a thousandth of the travel
	damping := 2 * math.Sqrt(contact*r.m)
	far := 1.0 // under a force or in a controller bounds are there against absurdity, not to decide
	if m.spec.Drive == Force || m.spec.Drive == Servo {
		far = 1e3
	}
	if r.maxSpringForce > 0 { // drawn by a spring: break-away and the slope before it can be seen
		switch {
		case p.Name == "Fc":
			return box(0.6*r.maxSpringForce, 0.1*r.maxSpringForce, r.maxSpringForce)
		case p.Name == "Fs" || p.Name == "Fs_inf":
			return box(0.95*r.maxSpringForce, 0.2*r.maxSpringForce, 1.5*r.maxSpringForce)
		case p.Name == "dFs_inf":
			return box(0.35*r.maxSpringForce, 0.05*r.maxSpringForce, r.maxSpringForce)
		case p.Name == "Fv":
			return box(0.1*r.maxSpringForce/r.v, 3e-3*r.maxSpringForce/r.v, 2*r.maxSpringForce/r.v)
		case p.Name == "kt" && r.kt > 0:
			return box(r.kt, r.kt/5, 5*r.kt)
		case p.Name == "sigma0" && r.kt > 0:
			return box(r.kt, r.kt/10, 10*r.kt)
		}
	}
	switch {
	case p.Name == "Fs" || p.Name == "Fs_inf":
		return box(1.2*r.fc, least, 3*r.f)
	case p.Name == "dFs_inf":
		return box(0.5*r.fc, least, 2*r.f)
	case strings.HasPrefix(p.Name, "tau"):
		return box(5e-3, 1e-3, 0.05)
	case p.Name == "gamma" && p.Unit == "s":
		return box(0.1, 5e-3, max(1, r.t))
	}
	switch p.Unit {
	case "N":
		return box(r.fc, least, 2*r.f)
	case "N·s/m":
		if p.Name == "Fv" || p.Name == "sigma2" || p.Name == "alpha2" {
			return box(r.fv, least/r.v, 10*r.f/r.v)
		}
		return box(0.1*damping, 3e-3*math.Sqrt(1e-3)*damping/far, 3*math.Sqrt(1e3)*damping*far)
	case "N/m":
		return box(contact, 1e-2*contact, 1e3*far*contact)
	case "m/s":
		return box(0.05*r.v, 5e-3*r.v/far, 2*r.v*min(far, 5))
	case "m":
		return box(1e-3*r.x, 1e-6*r.x, 0.1*r.x)
	case "N/s": // the force of sliding is reached in a millisecond to ten seconds
		return box(20*r.fc, 0.1*r.fc, 1000*r.fc)
	}
	// what has no scale in the record
	return p.Value, p.Lo, p.Hi, false, true
}

func isSwitched(law friction.Model) bool {
	_, ok := law.(friction.Switched)
	return ok
}

// jumps tells that a law with a stick mode has a break-away level above its friction at the slowest motion, so that a body is set free with
// a jump of its acceleration.
func jumps(law friction.Model) bool {
	_, level := field(law, "Fs")
	_, curve := law.(*friction.Stribeck)
	return level && !curve && isSwitched(law)
}
