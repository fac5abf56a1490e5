package curve

import (
	"math"
	"strings"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/identify/fit"
)

// Laws are the laws whose steady curve is fitted, by name:
//
//	F(v) = [Fc + (Fs − Fc)·share(|v|/vs) + Fv·|v|]·sgn v + offset
//
// with share(r) = exp(−r²) for lugre [MOGI] (6.46), exp(−r^delta) for stribeck-bo-pavelescu (6.17), 1/(1 + r²) for
// stribeck-hess-soom (6.16), exp(−r) for stribeck-tustin (6.18), and no share for coulomb and static-coulomb-viscous.
var Laws = []string{"lugre", "stribeck-hess-soom", "stribeck-bo-pavelescu", "stribeck-tustin", "static-coulomb-viscous", "coulomb"}

// staticNames are the parameters of a static map.
var staticNames = []string{"Fc", "Fs", "vs", "Fv", "sigma2", "delta", "offset",
	"Fc+", "Fs+", "vs+", "Fv+", "sigma2+", "Fc-", "Fs-", "vs-", "Fv-", "sigma2-"}

// isFlat tells that friction of a law does not fall with speed.
func isFlat(law string) bool { return law == "coulomb" || law == "static-coulomb-viscous" }

// side are the places of the parameters that rule one direction, −1 where there is none.
type side struct{ fc, fs, vs, fv int }

// staticMap is the static map at given velocities.
type staticMap struct {
	curve     friction.Curve
	flatCurve bool // no share
	v         []float64
	side      [2]side // forward, backward
	delta     int
	offset    int
	n         int // parameters
}

// bindStatic finds the parameters of the map.
func bindStatic(law string, params []fit.Param) (*staticMap, error) {
	curve, known := map[string]friction.Curve{"": friction.BoPavelescu, "lugre": friction.BoPavelescu,
		"stribeck-bo-pavelescu": friction.BoPavelescu,
		"stribeck-hess-soom":    friction.HessSoom, "stribeck-tustin": friction.Tustin}[law]
	m := &staticMap{n: len(params), curve: curve, flatCurve: isFlat(law)}
	if !known && !m.flatCurve {
		return nil, fit.Refuse("law %q has no static map to fit; there are %s", law, strings.Join(Laws, ", "))
	}
	at := func(names ...string) int { return fit.Index(params, names...) }
	m.offset, m.delta = at("offset"), at("delta")
	for i, d := range []string{"+", "-"} {
		s := side{fc: at("Fc"+d, "Fc"), fs: at("Fs"+d, "Fs"), vs: at("vs"+d, "vs"), fv: at("Fv"+d, "sigma2"+d, "Fv", "sigma2")}
		if m.side[i] = s; s.fc < 0 || (s.fs < 0) != (s.vs < 0) && !m.flatCurve {
			return nil, fit.Refuse("direction %s: every static map has a Coulomb level Fc, and Fs and vs belong together: give both or none", d)
		}
	}
	return m, nil
}

// share is what is left of the fall at r = |v|/vs, and its derivatives with respect to ln r and delta.
func (m *staticMap) share(r, delta float64) (s, dr, dd float64) {
	switch {
	case m.flatCurve:
		return 0, 0, 0
	case m.curve == friction.HessSoom:
		s = 1 / (1 + r*r)
		return s, -2 * r * r * s * s, 0
	case m.curve == friction.Tustin:
		s = math.Exp(-r)
		return s, -r * s, 0
	}
	q := math.Pow(r, delta)
	if s = math.Exp(-q); s == 0 { // q may be infinite
		return 0, 0, 0
	}
	return s, -delta * q * s, -q * math.Log(r) * s
}

// force is F(v); its derivatives are added to g unless that is nil.
func (m *staticMap) force(theta []float64, v float64, g []float64) float64 {
	d, sg, x := &m.side[0], 1.0, v
	if v < 0 {
		d, sg, x = &m.side[1], -1, -v
	}
	fc := theta[d.fc]
	f := fc
	if d.fs >= 0 && d.vs >= 0 {
		r := x / theta[d.vs]
		s, dr, dd := m.share(r, value(theta, m.delta, 2))
		dip := theta[d.fs] - fc
		f += dip * s
		if g != nil {
			g[d.fc] -= sg * s
			g[d.fs] += sg * s
			g[d.vs] -= sg * dip * dr / theta[d.vs]
			if m.delta >= 0 {
				g[m.delta] += sg * dip * dd
			}
		}
	}
	f += value(theta, d.fv, 0) * x
	if g != nil {
		g[d.fc] += sg
		if d.fv >= 0 {
			g[d.fv] += sg * x
		}
		if m.offset >= 0 {
			g[m.offset]++
		}
	}
	return sg*f + value(theta, m.offset, 0)
}

// at is the map at its velocities.
func (m *staticMap) at(theta, f, j []float64) engine.Status {
	for k, v := range m.v {
		var g []float64
		if j != nil {
			g = j[k*m.n : (k+1)*m.n]
		}
		f[k] = m.force(theta, v, g)
	}
	return engine.OK
}
