package axis

import (
	"math"
	"slices"

	"hilrig/engine/numeric"
)

// rough are the sizes of a motion and of its forces, for bounds, and a first guess of the linear part of the model.
type rough struct {
	x, v, a        float64 // m, m/s, m/s²  range, largest speed and acceleration, without the outermost samples
	f              float64 // N   size of the forces: of the drive, or of the inertia where there is none
	t              float64 // s   the longest piece
	dt             float64 // s   the shortest interval
	kd             float64 // N/m spring of the drive
	m              float64 // kg
	fc, fv         float64 // N, N·s/m
	maxSpringForce float64 // N   largest force of the drawing spring: break-away; 0: not drawn by one, or it does not stick
	kt             float64 // N/m slope of that force over the position below half of it, before the first slip; 0: not seen

	loads map[string]float64 // N or N/m, by term
}

// roughly measures the pieces.
func (m *Model) roughly() rough {
	r := rough{dt: math.Inf(1), loads: map[string]float64{}}
	rows := m.samples()
	v, a, f := make([]float64, 0, rows), make([]float64, 0, rows), make([]float64, 0, rows)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range m.pieces {
		r.t, r.dt = max(r.t, float64(p.n-1)*p.dt), min(r.dt, p.dt)
		if x := p.despikedPosition; len(x) > 0 {
			lo, hi = min(lo, slices.Min(x)), max(hi, slices.Max(x))
		}
		for k := range p.n {
			v, a = append(v, math.Abs(p.v[k])), append(a, math.Abs(p.a[k]))
			if p.force != nil {
				f = append(f, math.Abs(p.force[k]))
			}
		}
	}
	r.v, r.a = numeric.QuantileInPlace(v, 0.995), numeric.QuantileInPlace(a, 0.995)
	r.x = hi - lo
	if !(r.x > 0) {
		r.x = r.v * r.t
	}
	switch {
	case len(f) > 0:
		r.f = numeric.QuantileInPlace(f, 0.995)
	case m.spec.Drive == Spring:
		r.kd = m.roughSpring()
		if kd, ok := m.spec.Known["kd"]; ok && kd > 0 {
			r.kd = kd
		}
		for _, p := range m.pieces {
			for k := range p.n {
				f = append(f, r.kd*math.Abs(p.springEnd[k]-p.despikedPosition[k]))
			}
		}
		r.f = numeric.QuantileInPlace(f, 0.995)
		m.roughContact(&r)
	default:
		r.f = r.a * m.coasting()
	}
	for _, q := range []*float64{&r.v, &r.a, &r.f} {
		if !(*q > 0) {
			*q = 1e-9
		}
	}
	m.regress(&r)
	return r
}

// coasting is the inertia (kg) of an axis that coasts, to which all forces are in proportion: 1 where it is not known.
func (m *Model) coasting() float64 {
	if inertia := m.spec.Known[m.names.inertia]; inertia > 0 {
		return inertia
	}
	return 1
}

// roughSpring is the spring of the drive where its force was recorded, else 1: then forces count in units of it.
func (m *Model) roughSpring() float64 {
	var fp, pp float64
	for _, p := range m.pieces {
		if f := p.rec.Force; len(f) == p.n {
			for k := range p.n {
				d := p.springEnd[k] - p.despikedPosition[k]
				fp += f[k] * d
				pp += d * d
			}
		}
	}
	if fp > 0 {
		return fp / pp
	}
	return 1
}

// An axis that is drawn sticks if it stands for more than this share of the samples, at less than that share of its top speed.
const stickShare, standShare = 0.4, 0.05

// roughContact reads break-away and presliding off the force of the drawing spring, if the axis sticks.
func (m *Model) roughContact(r *rough) {
	var fx, xx float64
	stands := 0
	for _, p := range m.pieces {
		for k, x := range p.despikedPosition {
			r.maxSpringForce = max(r.maxSpringForce, math.Abs(r.kd*(p.springEnd[k]-x)))
			if math.Abs(p.v[k]) < standShare*r.v {
				stands++
			}
		}
	}
	if float64(stands) < stickShare*float64(m.samples()) {
		r.maxSpringForce = 0
		return
	}
	for _, p := range m.pieces {
		x0, f0 := p.despikedPosition[0], r.kd*(p.springEnd[0]-p.despikedPosition[0])
		for k, x := range p.despikedPosition {
			f := r.kd * (p.springEnd[k] - x)
			if math.Abs(f) > 0.5*r.maxSpringForce {
				break
			}
			fx += (f - f0) * (x - x0)
			xx += (x - x0) * (x - x0)
		}
	}
	if fx > 0 {
		r.kt = fx / xx
	}
}

// samples are those of all pieces.
func (m *Model) samples() (n int) {
	for _, p := range m.pieces {
		n += p.n
	}
	return n
}

// roughColumns are the forces of terms of size 1 at position x (m), velocity v (m/s) and acceleration a (m/s²).
var roughColumns = map[string]func(x, v, a float64) float64{
	"M":           func(_, _, a float64) float64 { return a },
	"Fv":          func(_, v, _ float64) float64 { return v },
	"Fc":          func(_, v, _ float64) float64 { return math.Copysign(1, v) },
	"offset":      func(_, _, _ float64) float64 { return 1 },
	"stiffness":   func(x, _, _ float64) float64 { return x },
	"gravity-sin": func(x, _, _ float64) float64 { return math.Sin(x) },
	"gravity-cos": func(x, _, _ float64) float64 { return math.Cos(x) },
}

// regress finds inertia, friction and loads by least squares on smoothed derivatives,
//
//	u = M·a + Fv·v + Fc·sgn v + offset + k·x + mgs·sin x + mgc·cos x,
//
// with M known on an axis that coasts. Only where the axis moves: at rest friction is whatever holds it. A value that
// is none (an inertia below zero) gives way to a share of the size of the forces.
func (m *Model) regress(r *rough) {
	coast, inertia := m.spec.Drive == Coast, m.coasting()
	if inertia, ok := m.spec.Known[m.names.inertia]; ok && inertia > 0 {
		defer func() { r.m = inertia }()
	}
	terms := []string{"M", "Fv", "Fc"}
	if coast {
		terms = terms[1:]
	}
	damped := Damped(m.spec.Law) || slices.Contains(m.spec.Terms, "viscous")
	terms = slices.DeleteFunc(terms, func(t string) bool {
		return t == "Fv" && !damped || t == "Fc" && (m.spec.Law == "" || m.spec.Law == "viscous")
	})
	for _, t := range m.spec.Terms {
		if t != "viscous" {
			terms = append(terms, t)
		}
	}
	f, row, columns := numeric.NewFactor(len(terms)), make([]float64, len(terms)), make([]func(x, v, a float64) float64, len(terms))
	for j, t := range terms {
		columns[j] = roughColumns[t]
	}
	skip := max(1, m.samples()/20000)
	for _, p := range m.pieces {
		for k := 0; k < p.n; k += skip {
			v, a := p.v[k], p.a[k]
			if math.Abs(v) < 0.02*r.v {
				continue
			}
			x := 0.0
			if len(p.despikedPosition) > 0 {
				x = p.despikedPosition[k]
			}
			for j, column := range columns {
				row[j] = column(x, v, a)
			}
			var u float64
			switch {
			case coast:
				u = -a * inertia
			case p.springEnd != nil:
				u = r.kd * (p.springEnd[k] - x)
			case p.force != nil:
				u = p.force[k]
			case len(p.rec.Force) == p.n:
				u = p.rec.Force[k]
			}
			f.Add(row, u)
		}
	}
	// fallbacks
	r.m, r.fc, r.fv = 1, 0.1*r.f, 0.1*r.f/r.v
	if !coast && r.a > 0 {
		r.m = r.f / r.a
	}
	if len(terms) == 0 || f.Rows() < 3*len(terms) {
		return
	}
	theta, se := make([]float64, len(terms)), make([]float64, len(terms))
	if f.Solve(theta) != nil || f.Errors(se) > 1e10 {
		return
	}
	for j, t := range terms {
		q := theta[j]
		switch t {
		case "M":
			if q > 0.02*r.m && q < 50*r.m {
				r.m = q
			}
		case "Fv":
			if r.fv = q; !(q > 0) {
				r.fv = 0.01 * r.f / r.v
			}
		case "Fc":
			if r.fc = q; !(q > 0) {
				r.fc = 0.01 * r.f
			}
		default:
			r.loads[t] = q
		}
	}
}
