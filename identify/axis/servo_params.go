package axis

import (
	"math"
	"slices"
	"strconv"

	"hilrig/engine"
	"hilrig/identify/fit"
)

// slot is what a parameter of the loop stands for, with the piece it belongs to.
type slot struct {
	is    quantity
	piece int
}

type quantity uint8

const (
	isMass quantity = iota
	isLag
	isFc // of both directions
	isFcPlus
	isFcMinus
	isFs
	isRise // Fs − Fc
	isVs
	isViscous // of both directions
	isViscousPlus
	isViscousMinus
	isSigma0
	isSigma1
	isZeta
	isOffset
	isX0
	isV0
	isNothing // known to the law, without effect in this loop
)

// named finds what a parameter stands for.
func (l *Loop) named(p fit.Param) (slot, bool) {
	s := &l.spec
	mass, damping := "M", "Fv"
	if s.Rotary {
		mass = "J"
	}
	bristle := s.Law == "lugre"
	if bristle {
		damping = "sigma2"
	}
	rubs, damps := l.rubs(), s.damped()
	alike, apart := !s.Asymmetric, s.Asymmetric
	for _, k := range []struct {
		name string
		is   quantity
		has  bool
	}{
		{mass, isMass, true}, {"lag", isLag, true}, {"offset", isOffset, true},
		{"Fc", isFc, rubs && alike}, {"Fc+", isFcPlus, rubs && apart}, {"Fc-", isFcMinus, rubs && apart},
		{damping, isViscous, damps && alike}, {damping + "+", isViscousPlus, damps && apart}, {damping + "-", isViscousMinus, damps && apart},
		{"Fs", isFs, bristle && alike || s.Law == "static-coulomb-viscous"}, {"dFs", isRise, bristle},
		{"vs", isVs, bristle}, {"sigma0", isSigma0, bristle}, {"sigma1", isSigma1, bristle}, {"zeta", isZeta, bristle},
		// where the general form of the law has more numbers, they may stand at the value that means nothing
		{"vd", isNothing, bristle && p.Fixed && p.Value == 0}, {"N0", isNothing, bristle && p.Fixed && p.Value == 0},
		{"delta", isNothing, Damped(s.Law) && !bristle && p.Fixed && p.Value == 1},
	} {
		if k.has && k.name == p.Name {
			return slot{is: k.is}, true
		}
	}
	for i := range l.pieces {
		switch p.Name {
		case "x0" + l.ending(i):
			return slot{isX0, i}, true
		case "v0" + l.ending(i):
			return slot{isV0, i}, true
		}
	}
	return slot{}, false
}

// ending tells the parameters of several pieces apart.
func (l *Loop) ending(piece int) string {
	if len(l.pieces) == 1 {
		return ""
	}
	return "[" + strconv.Itoa(piece+1) + "]"
}

// Params are the parameters of the model with first guesses and bounds. Inertia and friction of sliding come from the linear
// fit of the force where that succeeds, the bristle from the middle of the box of its draws. The lag is fixed at zero; a law
// is judged fairly only with the lag free [theory §9.6].
func (l *Loop) Params() []fit.Param {
	g, s := l.guess(), &l.spec
	mass, kg, newton, metre, speed, damping := "M", "kg", "N", "m", "m/s", "N·s/m"
	if s.Rotary {
		mass, kg, newton, metre, speed, damping = "J", "kg·m²", "N·m", "rad", "rad/s", "N·m·s/rad"
	}
	var ps []fit.Param
	add := func(name, unit, doc string, value, lo, hi float64, log bool) *fit.Param {
		p := engine.Param{Name: name, Unit: unit, Doc: doc, Value: min(max(value, lo), hi), Lo: lo, Hi: hi}
		ps = append(ps, fit.Param{Param: p, Log: log})
		return &ps[len(ps)-1]
	}
	// bounds are there against absurdity, not to decide; those of numbers without logarithm also set the scale of their steps
	const wide = 1e3
	add(mass, kg, "inertia", g.m, g.m/wide, g.m*wide, true)

	ways := []struct {
		end, doc string
		side
	}{{"", "", side{fc: g.fc, s2: g.s2}}}
	if s.Asymmetric {
		ways[0].end, ways[0].doc, ways[0].side = "+", ", positive motion", g.plus
		ways = append(ways, ways[0])
		ways[1].end, ways[1].doc, ways[1].side = "-", ", negative motion", g.minus
	}
	if l.rubs() {
		for _, w := range ways {
			add("Fc"+w.end, newton, "Coulomb friction"+w.doc, w.fc, g.fc/wide, g.fc*wide, true)
		}
	}
	if s.damped() {
		name, usual := "Fv", max(math.Abs(g.plus.s2), math.Abs(g.minus.s2), g.fc/g.vmax)
		if s.Law == "lugre" {
			name = "sigma2"
		}
		for _, w := range ways {
			add(name+w.end, damping, "viscous friction"+w.doc, w.s2, -2*usual, 10*usual, false)
		}
	}
	switch s.Law {
	case "static-coulomb-viscous":
		// a threshold has hardly a derivative
		add("Fs", newton, "break-away friction; at or below Fc: the mass breaks away at Fc", 0, 0, 10*g.fc, false).Fixed = true
	case "lugre":
		b := g.box(s.Rotary)
		if s.Asymmetric {
			add("dFs", newton, "break-away above Coulomb friction, of both directions; may be negative", b.rise.mid(), (leastFs-1)*g.fc, 2*g.fc, false)
		} else {
			add("Fs", newton, "break-away friction (total, not the increment)", g.fc+b.rise.mid(), g.fc/wide, g.fc*wide, true)
		}
		k, z := b.sigma0.mid(), b.zeta.mid()
		c := 2 * z * math.Sqrt(k*g.m)
		add("vs", speed, "Stribeck velocity", b.vs.mid(), 1e-5*g.vmax, 10*g.vmax, true)
		add("sigma0", newton+"/"+metre, "bristle stiffness", k, k/1e5, k*1e5, true)
		add("sigma1", damping, "bristle damping", c, c/1e5, c*1e5, true)
	}
	if slices.Contains(s.Terms, "offset") && !(s.Asymmetric && l.rubs()) {
		add("offset", newton, "constant force opposing positive motion", g.offset, -5*g.fc, 5*g.fc, false)
	}
	h := l.pieces[0].Dt
	add("lag", "s", "effective lag of the input; negative: it acts before its stamp", 0, lagLo*h, lagHi*h, false).Fixed = true
	for i, d := range l.pieces {
		at, r := l.starts[i], span(d.Position)
		add("x0"+l.ending(i), metre, "position at the beginning", at.x, at.x-r, at.x+r, false).Fixed = s.Initial != Free
		add("v0"+l.ending(i), speed, "velocity at the beginning", at.v, at.v-2*g.vmax, at.v+2*g.vmax, false).Fixed = s.Initial != Free
	}
	for i := range ps {
		if x, ok := s.Known[ps[i].Name]; ok {
			ps[i].Value, ps[i].Fixed = x, true
		}
	}
	return ps
}

// rubs tells whether the law has a Coulomb force.
func (l *Loop) rubs() bool { return l.spec.Law != "" && l.spec.Law != "viscous" }

// slots tells for every parameter what it stands for.
func (l *Loop) slots(all []fit.Param) []slot {
	out := make([]slot, len(all))
	for i, p := range all {
		out[i], _ = l.named(p)
	}
	return out
}

// set fills the contact from the numbers.
func (e *loopRun) set() {
	c := contact{bristle: e.bristle}
	e.lag = 0
	var total, above, ratio float64
	for i, s := range e.slots {
		x := e.full[i]
		switch s.is {
		case isMass:
			c.m = x
		case isLag:
			e.lag = x
		case isFc:
			c.plus.fc, c.minus.fc = x, x
		case isFcPlus:
			c.plus.fc = x
		case isFcMinus:
			c.minus.fc = x
		case isFs:
			total = x
		case isRise:
			above = x
		case isVs:
			c.overVs = 1 / x
		case isViscous:
			c.plus.s2, c.minus.s2 = x, x
		case isViscousPlus:
			c.plus.s2 = x
		case isViscousMinus:
			c.minus.s2 = x
		case isSigma0:
			c.sigma0 = x
		case isSigma1:
			c.sigma1 = x
		case isZeta:
			ratio = x
		case isOffset:
			c.offset = x
		case isX0:
			e.starts[s.piece].x = x
		case isV0:
			e.starts[s.piece].v = x
		}
	}
	if ratio > 0 {
		c.sigma1 = 2 * ratio * math.Sqrt(c.sigma0*c.m)
	}
	if c.bristle {
		for _, d := range []*side{&c.plus, &c.minus} {
			d.rise = above
			if total > 0 {
				d.rise = total - d.fc
			}
			d.rise = max(d.rise, (leastFs-1)*d.fc)
		}
	} else {
		c.fs = total
	}
	e.c = c
}

// leastFs is the least break-away force, in Coulomb forces: with less the steady force would fall to nothing at rest.
const leastFs = 0.05
