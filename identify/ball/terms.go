package ball

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/plant/ball"
)

// term is a part of friction that is linear in its coefficient: M = −θ·φ.
type term struct {
	name, unit string
	field      func(p *ball.Params) *float64
	phi        func(f *ball.Frame, w r3.Vec, normal float64) r3.Vec
}

// terms are the coefficients of friction in the order of a report.
var terms = []term{
	{"mu_roll", "N·m·s", func(p *ball.Params) *float64 { return &p.Roll.Linear }, rolling(func(h, _ float64) float64 { return 1 })},
	{"mu_roll2", "N·m·s²", func(p *ball.Params) *float64 { return &p.Roll.Quadratic }, rolling(func(h, _ float64) float64 { return h })},
	{"roll_moment", "N·m", func(p *ball.Params) *float64 { return &p.Roll.Moment }, rolling(func(h, _ float64) float64 { return 1 / h })},
	{"roll_arm", "m", func(p *ball.Params) *float64 { return &p.Roll.Arm }, rolling(func(h, n float64) float64 { return n / h })},
	{"mu_spin", "N·m·s", func(p *ball.Params) *float64 { return &p.Spin.Linear }, spinning(func(s, _ float64) float64 { return 1 })},
	{"mu_spin2", "N·m·s²", func(p *ball.Params) *float64 { return &p.Spin.Quadratic }, spinning(func(s, _ float64) float64 { return s })},
	{"spin_moment", "N·m", func(p *ball.Params) *float64 { return &p.Spin.Moment }, spinning(func(s, _ float64) float64 { return 1 / s })},
	{"spin_arm", "m", func(p *ball.Params) *float64 { return &p.Spin.Arm }, spinning(func(s, n float64) float64 { return n / s })},
}

// IsFriction tells whether a parameter is a coefficient of friction.
func IsFriction(name string) bool {
	return slices.ContainsFunc(terms, func(t term) bool { return t.name == name })
}

// spins tells whether it is one of friction against spinning.
func spins(name string) bool { return strings.Contains(name, "spin") }

func rolling(per func(h, n float64) float64) func(*ball.Frame, r3.Vec, float64) r3.Vec {
	return func(f *ball.Frame, w r3.Vec, normal float64) r3.Vec {
		_, wh := split(f, w)
		h := r3.Norm(wh)
		if h == 0 {
			return r3.Vec{}
		}
		return r3.Scale(per(h, normal), wh)
	}
}

func spinning(per func(s, n float64) float64) func(*ball.Frame, r3.Vec, float64) r3.Vec {
	return func(f *ball.Frame, w r3.Vec, normal float64) r3.Vec {
		wn, _ := split(f, w)
		if wn == 0 {
			return r3.Vec{}
		}
		return r3.Scale(per(math.Abs(wn), normal)*wn, f.C)
	}
}

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
