package axis

import (
	"math"
	"slices"
	"strings"

	"hilrig/engine"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// First guesses of an axis that is driven by a force or by its controller, after the way of [theory §9.6]: inertia and sliding
// friction by linear least squares, and what a law has beyond them from a box that the same numbers span.

// sliding is what is known of the axis before any simulation.
type sliding struct {
	m, fc, s2, offset float64 // kg, N, N·s/m, N
	plus, minus       side
	vmax              float64 // m/s
}

// side is the friction of one direction of motion.
type side struct {
	fc   float64 // N      Coulomb force
	rise float64 // N      ΔF = Fs − Fc, may be negative
	s2   float64 // N·s/m  viscous friction
}

// slide takes the guesses from the regression of the model, and in a controller, where noise moves the force, from inverse
// dynamics of the longest piece.
func (m *Model) slide(r *rough) {
	g := sliding{m: r.m, fc: r.fc, s2: r.fv, offset: r.loads["offset"], vmax: r.v}
	g.plus, g.minus = side{fc: g.fc, s2: g.s2}, side{fc: g.fc, s2: g.s2}
	if m.spec.Drive == Servo {
		longest := slices.MaxFunc(m.pieces, func(a, b *piece) int { return a.n - b.n })
		g.inverse(*longest.rec, longest.force, m.spec.Rotary)
	}
	if inertia, ok := m.spec.Known[m.names.inertia]; ok && inertia > 0 {
		g.m = inertia
	}
	m.slides = g
	r.m, r.fc, r.loads["offset"] = g.m, g.fc, g.offset
	if m.spec.Drive == Servo {
		r.fv = max(g.s2, 0.01*r.f/r.v)
	}
}

// inverse fits inertia and friction of sliding by inverse dynamics, each direction with friction of its own. A record that
// does not support this leaves the guesses as they are.
func (g *sliding) inverse(d record.Record, drive []float64, rotary bool) {
	d.Force, d.Disturbance = drive, nil
	d.Position = despiked(d.Position)
	s := linear.DefaultSpec()
	s.Trim, s.Rotary, s.MinVelocity, s.Lag = 0.1, rotary, 0, linear.LagFixed // a guess is enough
	rate := 1 / d.Dt
	s.Cutoff = min(100, 0.2*rate)
	s.Decimate = max(1, min(10, int(0.4*rate/s.Cutoff), len(d.Position)/200))
	s, _ = s.Asymmetric()
	line, err := linear.InverseDynamics(&d, s)
	if err != nil {
		return
	}
	by := map[string]float64{}
	for _, e := range line.Estimates {
		by[e.Symbol] = e.Value
	}
	// a direction with less than nothing has the friction of the other; a drive that pushes more than it brakes is an offset
	m, mean := by["M"]+by["J"], (by["Fc+"]+by["Fc-"])/2
	if !(m > 0 && mean > 0) {
		return
	}
	g.m, g.fc, g.s2 = m, mean, (by["Fv+"]+by["Fv-"])/2
	g.offset = (by["Fc+"] - by["Fc-"]) / 2
	least := 0.05 * mean
	g.plus = side{fc: max(by["Fc+"], least), s2: by["Fv+"]}
	g.minus = side{fc: max(by["Fc-"], least), s2: by["Fv-"]}
}

// interval of a draw, even in the number or in its logarithm.
type interval struct {
	lo, hi float64
	log    bool
}

// at is the number at the share u (0 … 1) of the interval.
func (i interval) at(u float64) float64 {
	if i.log {
		return i.lo * math.Pow(i.hi/i.lo, u)
	}
	return i.lo + u*(i.hi-i.lo)
}

// box is where the numbers of a bristle are drawn from [theory §9.6].
type box struct{ rise, vs, sigma0, zeta interval }

// Deflections at which bristles may give way: in metres those of the source, in radians a guess.
const (
	bendLo, bendHi = 1e-6, 1e-4 // m
	turnLo, turnHi = 1e-5, 1e-2 // rad
)

func (g *sliding) box(rotary bool) box {
	lo, hi := bendLo, bendHi
	if rotary {
		lo, hi = turnLo, turnHi
	}
	return box{
		rise:   interval{lo: -0.5 * g.fc, hi: 0.5 * g.fc},
		vs:     interval{lo: 0.01 * g.vmax, hi: 0.4 * g.vmax, log: true},
		sigma0: interval{lo: g.fc / hi, hi: g.fc / lo, log: true},
		zeta:   interval{lo: 0.03, hi: 0.3, log: true},
	}
}

// guessed moves the parameters to the guesses, those of a contact to the middle of the box of their draws.
func (m *Model) guessed(ps []fit.Param) {
	g := &m.slides
	by := map[string]float64{
		"M": g.m, "J": g.m, "offset": g.offset,
		"Fc": g.fc, "Fv": g.s2, "sigma2": g.s2,
		"Fc+": g.plus.fc, "Fv+": g.plus.s2, "sigma2+": g.plus.s2,
		"Fc-": g.minus.fc, "Fv-": g.minus.s2, "sigma2-": g.minus.s2,
	}
	stiff := 0.0
	for i := range ps {
		p := &ps[i]
		if p.Fixed {
			continue
		}
		x, ok := by[p.Name]
		if !ok {
			x, ok = m.drawContact(p, 0.5, &stiff)
		}
		if ok {
			p.Value = min(max(x, p.Lo), p.Hi)
		}
	}
}

// drawContact is the value of a parameter of the contact at the share u of its box; ok is false for those that are not drawn. stiff
// is the stiffness (N/m) drawn before, to which damping belongs; 0: none yet.
func (m *Model) drawContact(p *fit.Param, u float64, stiff *float64) (x float64, ok bool) {
	if m.law == nil || p.Fixed {
		return 0, false
	}
	base := strings.TrimRight(p.Name, "+-")
	params := m.law.Params()
	i := slices.IndexFunc(params, func(q engine.Param) bool { return q.Name == base })
	g := &m.slides
	b := g.box(m.spec.Rotary)
	switch {
	case base == "dFs":
		return b.rise.at(u), true
	case i < 0 || base == "Fc" || base == "alpha0" || base == dampedBy(m.spec.Law):
		return 0, false
	case base == "Fs" || base == "Fs_inf":
		return g.fc + b.rise.at(u), true
	}
	switch params[i].Unit {
	case "N/m":
		*stiff = b.sigma0.at(u)
		return *stiff, true
	case "N·s/m":
		if *stiff == 0 {
			*stiff = b.sigma0.at(0.5)
		}
		return 2 * b.zeta.at(u) * math.Sqrt(*stiff*g.m), true
	case "m/s":
		return b.vs.at(u), true
	case "m": // a deflection
		return interval{lo: g.fc / b.sigma0.hi, hi: g.fc / b.sigma0.lo, log: true}.at(u), true
	}
	return interval{lo: p.Lo, hi: p.Hi, log: p.Log}.at(u), true
}
