package ball

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/plant/ball"
)

// term is a part of friction that is linear in its coefficient: M = −θ·φ.
type term struct {
	name, unit, doc string
	isDry           bool // it has a direction where the ball moves only
	field           func(p *ball.Params) *float64
	phi             func(f *ball.Frame, w r3.Vec, normal float64) r3.Vec
}

// terms are the coefficients of friction in the order of a report.
var terms = append(
	termsAgainst("roll", "rolling", func(p *ball.Params) *ball.Friction { return &p.Roll }, func(f *ball.Frame, w r3.Vec) r3.Vec {
		_, roll := split(f, w)
		return roll
	}),
	termsAgainst("spin", "spinning", func(p *ball.Params) *ball.Friction { return &p.Spin }, func(f *ball.Frame, w r3.Vec) r3.Vec {
		spin, _ := split(f, w)
		return r3.Scale(spin, f.C)
	})...)

// termsAgainst are the terms against one part of the turn.
func termsAgainst(name, word string, of func(p *ball.Params) *ball.Friction, part func(f *ball.Frame, w r3.Vec) r3.Vec) []term {
	add := func(name, unit, doc string, field func(f *ball.Friction) *float64, per func(speed, normal float64) float64) term {
		return term{name, unit, doc, unit == "N·m" || unit == "m", func(p *ball.Params) *float64 { return field(of(p)) },
			func(f *ball.Frame, w r3.Vec, normal float64) r3.Vec {
				turn := part(f, w)
				speed := r3.Norm(turn)
				if speed == 0 {
					return r3.Vec{}
				}
				return r3.Scale(per(speed, normal), turn)
			}}
	}
	return []term{
		add("mu_"+name, "N·m·s", "viscous "+word+" friction", func(f *ball.Friction) *float64 { return &f.Linear },
			func(_, _ float64) float64 { return 1 }),
		add("mu_"+name+"2", "N·m·s²", word+" friction with the square of the speed", func(f *ball.Friction) *float64 { return &f.Quadratic },
			func(speed, _ float64) float64 { return speed }),
		add(name+"_moment", "N·m", "dry "+word+" friction", func(f *ball.Friction) *float64 { return &f.Moment },
			func(speed, _ float64) float64 { return 1 / speed }),
		add(name+"_arm", "m", "dry "+word+" friction over normal force", func(f *ball.Friction) *float64 { return &f.Arm },
			func(speed, normal float64) float64 { return normal / speed }),
	}
}

// IsFriction tells whether a parameter is a coefficient of friction.
func IsFriction(name string) bool {
	return slices.ContainsFunc(terms, func(t term) bool { return t.name == name })
}

// spins tells whether it is one of friction against spinning.
func spins(name string) bool { return strings.Contains(name, "spin") }

// freeTerms are those of the names.
func freeTerms(names []string) (free []term) {
	for _, t := range terms {
		if slices.Contains(names, t.name) {
			free = append(free, t)
		}
	}
	return free
}

// known is the moment of the friction that is not searched: that of the parameters with the free coefficients at zero.
func knownMoment(p *ball.Params, free []term, f *ball.Frame, w r3.Vec, normal float64) (m r3.Vec) {
	for i := range terms {
		t := &terms[i]
		v := *t.field(p)
		if v == 0 || slices.ContainsFunc(free, func(o term) bool { return o.name == t.name }) {
			continue
		}
		m = r3.Sub(m, r3.Scale(v, t.phi(f, w, normal)))
	}
	return m
}
