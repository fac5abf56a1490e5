// Package bristle finds the parameters of a mass on bristles from its recorded motion and force. The model is LuGre [C95]:
//
//	dx/dt = v
//	M·dv/dt = u − F
//	dζ/dt = σ0·(v − |v|·ζ/g(v)),        g(v) = Fc + (Fs − Fc)·exp(−(v/vs)²)
//	F = ζ + σ1(v)/σ0·dζ/dt + σ2·v + offset,        σ1(v) = σ1·exp(−(v/vd)²), vd = 0: σ1
//
// with the deflection of the bristles in force units, ζ = σ0·z, and Fs the total break-away level. x is what the encoder
// sees, u the force of the drive. On a rotary axis the same in rad and N·m, the inertia named J.
//
// There are three ways to the numbers:
//
//   - Separable: the position is smoothed and differentiated, and the force that the model needs for this motion is compared
//     with the recorded one. No start is needed. But a smoothed motion turns round more softly than the true one. What that
//     does to the parameters is taken off to first order, and added to their errors; in a stiff contact it is more.
//   - Kalman: the prediction error of an extended Kalman filter on (x, v, ζ), which weighs the error of the encoder against
//     the error of the force and differentiates nothing. Starts from Separable; its intervals hold.
//   - Presliding: for motion so small that the contact never slides, where the model is linear.
//
// Assumed: u and x are sampled at the same instants, evenly; the errors of both are independent from sample to sample.
package bristle

import (
	"math"
	"slices"
	"strings"

	"hilrig/engine"
	"hilrig/identify/fit"
)

// Places of the parameters.
const (
	inertia  = iota // kg
	sigma0          // N/m
	sigma1          // N·s/m
	sigma2          // N·s/m
	coulomb         // N
	breakout        // N
	stribeck        // m/s
	offset          // N
	fading          // m/s
	count
)

// theta are the parameters in the order of the places above.
type theta [count]float64

var names = [count]string{"M", "sigma0", "sigma1", "sigma2", "Fc", "Fs", "vs", "offset", "vd"}

// Options are the settings of all methods here, and the section noise of a file: what is known of a record besides its numbers.
type Options struct {
	WarmStart  bool    `yaml:"-"` // start from the values of the parameters instead of from the data
	Quantum    float64 `yaml:"resolution" unit:"m" want:">=0" doc:"step of the position encoder; 0: found in the record"`
	Noise      float64 `yaml:"position" unit:"m" want:">=0" doc:"standard deviation of the position noise besides the steps of the encoder; 0: estimated"`
	ForceNoise float64 `yaml:"force" unit:"N" want:">=0" doc:"standard deviation of the force noise; 0: estimated"`
	Hold       Hold    `yaml:"hold" doc:"the force between its samples: the likeliest, band-limited, straight, constant"`
	Workers    int     `yaml:"-"` // 0: as many as there are cores
}

// Params are the parameters with bounds that exclude nothing sensible; vd is fixed, at 0, until it is given. Their values matter to a warm
// start only.
func Params(rotary bool) []fit.Param {
	p := func(name, unit, doc string, value, lo, hi float64) fit.Param {
		if rotary {
			name, unit = strings.Replace(name, "M", "J", 1), engine.RotaryUnit(unit)
		}
		return fit.Param{Param: engine.Param{Name: name, Unit: unit, Doc: doc, Value: value, Lo: lo, Hi: hi}, Log: lo > 0}
	}
	vd := p("vd", "m/s", "velocity at which sigma1 has faded to 1/e; 0: it does not fade", 0, 0, 1e3)
	vd.Fixed = true
	return []fit.Param{
		p("M", "kg", "inertia", 1, 1e-9, 1e6),
		p("sigma0", "N/m", "bristle stiffness", 1e5, 1e-3, 1e12),
		p("sigma1", "N·s/m", "bristle damping", 100, 0, 1e9),
		p("sigma2", "N·s/m", "viscous friction", 1, 0, 1e9),
		p("Fc", "N", "Coulomb friction", 1, 1e-9, 1e6),
		p("Fs", "N", "break-away friction (total, not the increment)", 1.5, 1e-9, 1e6),
		p("vs", "m/s", "Stribeck velocity", 0.01, 1e-9, 1e3),
		p("offset", "N", "constant force opposing positive motion", 0, -1e6, 1e6),
		vd,
	}
}

// model is the caller's list of parameters, sorted into places.
type model struct {
	params     []fit.Param
	places     [count]int  // place in params, −1: not there
	freeParams []int       // places that are searched, ascending
	start      theta       // values before the fit; fixed ones stay
	lo, hi     theta       // bounds
	unit       [2]string   // of length and force
	isFree     [count]bool //
	presliding bool        // the contact never slides, and is relaxed where a record begins
}

// newModel sorts the parameters. Those that are missing are zero and fixed, which only a damping, its fading or the offset can be.
func newModel(params []fit.Param) (*model, error) {
	if err := fit.Check(params); err != nil {
		return nil, err
	}
	m := &model{params: slices.Clone(params), unit: [2]string{"m", "N"}}
	for i := range m.places {
		m.places[i] = -1
	}
	var bad fit.ParamError
	for k, p := range params {
		i := slices.Index(names[:], p.Name)
		if p.Name == "J" {
			i = inertia
			m.unit = [2]string{"rad", "N·m"}
		}
		switch {
		case i < 0 && p.Fixed && p.Value == 0: // N0 of the law, switched off
		case i < 0:
			bad.Add("%s: not a parameter of the bristle model, which has M or J, %s", p.Name, strings.Join(names[1:], ", "))
		case m.places[i] >= 0:
			bad.Add("%s and %s are the same parameter: leave one out", params[m.places[i]].Name, p.Name)
		default:
			m.places[i], m.start[i], m.lo[i], m.hi[i] = k, p.Value, p.Lo, p.Hi
			m.isFree[i] = !p.Fixed
			if i != offset && (p.Value < 0 || p.Fixed && p.Value == 0 && i != sigma1 && i != sigma2 && i != fading) {
				bad.Add("%s: %g %s, want a positive number", p.Name, p.Value, p.Unit)
			}
			if !p.Fixed && i != offset {
				m.lo[i] = max(p.Lo, 0)
			}
		}
	}
	for i, k := range m.places {
		if k < 0 && i != sigma1 && i != sigma2 && i != offset && i != fading {
			bad.Add("%s is missing: give it a start and bounds, or a fixed value", names[i])
		}
		if m.isFree[i] {
			m.freeParams = append(m.freeParams, i)
		}
	}
	return m, bad.OrNil()
}

// answer is the list of parameters with the values t, and the places of the free ones in it.
func (m *model) answer(t theta) (params []fit.Param, free []int) {
	params = slices.Clone(m.params)
	for i, k := range m.places {
		if k >= 0 {
			params[k].Value = t[i]
		}
	}
	for _, i := range m.freeParams {
		free = append(free, m.places[i])
	}
	return params, free
}

// name is that of a parameter in the caller's list.
func (m *model) name(i int) string {
	if m.places[i] < 0 {
		return names[i]
	}
	return m.params[m.places[i]].Name
}

// quantity is the one of two words that goes with the axis.
func (m *model) quantity(linear, rotary string) string {
	if m.unit[0] == "rad" {
		return rotary
	}
	return linear
}

// clip puts t into the bounds of the free parameters.
func (m *model) clip(t *theta) {
	for _, i := range m.freeParams {
		t[i] = min(max(t[i], m.lo[i]), m.hi[i])
	}
}

// step is a difference of parameter i at t that is small against its bend and large against rounding.
func step(t *theta, i int, rel float64) float64 {
	switch {
	case i == offset:
		return rel * t[coulomb]
	case i == sigma1: // may be zero: then against the critical damping
		return rel * max(t[i], 0.02*math.Sqrt(t[sigma0]*t[inertia]))
	case i == sigma2:
		return rel * max(t[i], 0.02*t[coulomb]/t[stribeck])
	}
	return rel * t[i]
}
