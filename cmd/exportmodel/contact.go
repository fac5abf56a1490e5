package exportmodel

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"hilrig/engine/friction"
)

// contact is a friction law taken apart into what other tools have:
//
//	F = σ0·z + σ1(v)·dz/dt + Fv·|v|^δv·sgn v + offset     with a bristle
//	F = (g(v) + Fv·|v|^δv)·sgn v + offset                 sliding of a rigid contact
//	g(v) = Fc + (Fs − Fc)·share(|v|/vs) − root·√|v|
//
// Units are those of the law: N and m, or N·m and rad. What of the law does not fit into this is in beyond, in words.
type contact struct {
	fore, back side    // for v > 0 and v < 0
	fall       fall    // the shape of share
	vs         float64 // m/s   Stribeck velocity
	delta      float64 // exponent of fall exponential
	power      float64 // δv, exponent of the viscous part; 1: linear
	root       float64 // N     the force at 1 m/s
	offset     float64 // N
	bristle    *bristle
	curve      func(v float64) float64 // N  the steady curve where the form above does not hold it; nil: it does
	beyond     []string
}

// side are the levels of one direction.
type side struct {
	fc, fs, fv float64 // N, N, N·s/m
}

// fall is how friction falls from break-away to Coulomb friction with r = |v|/vs.
type fall uint8

const (
	none        fall = iota // at once: Fs holds at rest only
	lorentz                 // 1/(1 + r²)
	exponential             // exp(−r^δ)
)

// bristle is the state of a contact that yields: dz/dt = v − σ0·|v|·z/g(v), or dz/dt = v − |v|·z·g(0)/(g(v)·…) with a path.
type bristle struct {
	sigma0 float64 // N/m    stiffness
	sigma1 float64 // N·s/m  damping at rest
	vd     float64 // m/s    σ1 falls with exp(−(v/vd)²); 0: it does not
	path   float64 // m      not 0: σ0·z relaxes to g over this path at every speed, in place of g/σ0
}

// lawForm says how the parameters of a law, by their names, make a contact, and what of the law a contact does not hold.
type lawForm struct {
	take   func(p map[string]float64) contact
	beyond []loss
	curve  bool   // the steady curve is that of the law, not the form of contact
	only   string // why it goes only where any curve does; "": it goes elsewhere as well
}

// loss is something that a law has and a contact has not.
type loss struct {
	when func(p map[string]float64) bool // nil: always
	text string                          // parameters stand in braces
}

// forms are the laws of the registry as contacts. With the abilities of the targets they say which law goes where, and with
// which loss.
var forms = map[string]lawForm{
	"coulomb": {take: func(p map[string]float64) contact {
		fc := p["Fc"]
		if p["mu"] > 0 {
			fc = p["mu"] * p["N0"]
		}
		return contact{fore: side{fc, fc, 0}}
	}, beyond: []loss{{positive("mu"), "the dependence on the normal load (mu = {mu}); the level at the load N0 = {N0} is written"}}},
	"viscous": {take: func(p map[string]float64) contact {
		return contact{fore: side{0, 0, p["Fv"]}, power: p["delta"]}
	}},
	"static-coulomb-viscous": {take: func(p map[string]float64) contact {
		return contact{fore: side{p["Fc"], p["Fs"], p["Fv"]}, power: p["delta"]}
	}},
	"stribeck-hess-soom": {take: func(p map[string]float64) contact {
		return contact{fore: side{p["Fc"], p["Fs"], p["Fv"]}, fall: lorentz, vs: p["vs"]}
	}},
	"stribeck-bo-pavelescu": {take: func(p map[string]float64) contact {
		return contact{fore: side{p["Fc"], p["Fs"], p["Fv"]}, fall: exponential, vs: p["vs"], delta: p["delta"]}
	}},
	"stribeck-tustin": {take: func(p map[string]float64) contact {
		return contact{fore: side{p["Fc"], p["Fs"], p["Fv"]}, fall: exponential, vs: p["vs"], delta: 1}
	}},
	"linear-surrogate": {take: func(p map[string]float64) contact {
		return contact{fore: side{p["alpha0"], p["alpha0"], p["alpha2"]}, root: p["alpha1"]}
	}},
	"rising-static-kato": {take: risen,
		beyond: []loss{{nil, "the rise of the break-away level with the time at rest (gamma = {gamma}, m = {m}); the level after a long rest is written"}}},
	"rising-static-armstrong": {take: risen,
		beyond: []loss{{nil, "the rise of the break-away level with the time at rest (gamma = {gamma} s); the level after a long rest is written"}}},
	"frictional-memory": {take: func(p map[string]float64) contact {
		return contact{fore: side{p["Fc"], p["Fs"], p["Fv"]}, fall: lorentz, vs: p["vs"]}
	}, beyond: []loss{{positive("tauL"), "the frictional memory (tauL = {tauL} s)"}}},
	"karnopp": {take: func(p map[string]float64) contact {
		return contact{fore: side{p["Fc"], p["Fs"], p["Fv"]}}
	}, beyond: []loss{{positive("Dv"), "the dead zone (Dv = {Dv})"}}},
	"presliding-spring": {take: func(p map[string]float64) contact {
		return contact{fore: side{p["Fb"], p["Fb"], 0}, bristle: &bristle{sigma0: p["Fb"] / p["xb"]}}
	}, beyond: []loss{{nil, "the corner of the spring at break-away (xb = {xb}); a bristle of the same stiffness bends over"}}},
	"dahl": {take: func(p map[string]float64) contact {
		return contact{fore: side{p["Fc"], p["Fc"], 0}, bristle: &bristle{sigma0: p["sigma0"]}}
	}, beyond: []loss{{func(p map[string]float64) bool { return p["exponent"] != 1 }, "the exponent of the slope ({exponent}); 1 is written"}}},
	"dahl-modified": {take: func(p map[string]float64) contact {
		fs := p["alpha0"] + p["alpha1"]
		return contact{fore: side{p["alpha0"], fs, p["alpha2"]}, fall: exponential, vs: p["v0"], delta: 2, bristle: &bristle{sigma0: fs / p["d0"], path: p["d0"]}}
	}},
	"m2": {curve: true, take: func(p map[string]float64) contact {
		return contact{fore: side{p["alpha0"], p["alpha0"] + p["alpha1"], p["alpha2"]}, fall: exponential, vs: p["v0"], delta: 2}
	}, beyond: []loss{{nil, "the passage between sticking and sliding (tau_s = {tau_s} s, tau_r = {tau_r} s, ks = {ks}, ds = {ds}), and the dip of the steady curve where the sticking part does not saturate"}}},
	"bouc-wen": {take: func(p map[string]float64) contact {
		zc := math.Pow(p["beta"]+p["gamma"], -1/p["n"])
		k := (1 - p["alpha"]) * p["k"]
		return contact{fore: side{k * zc, k * zc, 0}, bristle: &bristle{sigma0: k}}
	}, beyond: []loss{
		{positive("alpha"), "the spring beside the contact (alpha·k, alpha = {alpha}, k = {k})"},
		{func(p map[string]float64) bool { return p["n"] != 1 || p["gamma"] != 0 },
			"the shape of the hysteresis (n = {n}, beta = {beta}, gamma = {gamma}); a bristle of the same stiffness and level is written"}}},
	"lugre": {take: bristled, beyond: []loss{underLoad}},
	"elasto-plastic": {take: bristled, beyond: []loss{underLoad,
		{positive("zba_ratio"), "the elastic zone before break-away (zba_ratio = {zba_ratio}); as a LuGre contact it creeps under a load that vibrates"}}},
	"gms": {take: bristled, beyond: []loss{{nil,
		"the memory of reversals ({elements} elements, ratio = {ratio}, C = {C}); one bristle of the same stiffness is written"}}},
	"seven-parameter": {take: func(p map[string]float64) contact {
		return contact{fore: side{p["Fc"], p["Fc"] + p["dFs_inf"], p["Fv"]}, fall: lorentz, vs: p["vs"]}
	}, beyond: []loss{{nil, "the spring before break-away (kt = {kt}, ct = {ct}), the frictional memory (tauL = {tauL} s) and the rise of the break-away level " +
		"with the time at rest (gamma = {gamma} s); the level after a long rest is written"}}},
	"leuven": {take: bristled, beyond: []loss{underLoad,
		{nil, "the memory of reversals and the shape of the hysteresis (reach = {reach}, n = {n}); a bristle of the same stiffness is written"}}},
	"state-variable": {curve: true, only: "friction that changes with the logarithm of the speed", take: func(p map[string]float64) contact {
		return contact{fore: side{p["mu0"] * p["N0"], p["mu0"] * p["N0"], 0}}
	}, beyond: []loss{{nil, "the state of the contact (A = {A}, B = {B}, L = {L}); the steady friction under the load N0 = {N0} is written"}}},
	"graphite-brush": {take: func(p map[string]float64) contact {
		c := bristled(p)
		d := p["Tamb"] - p["T0"]
		warm := p["N0"] * (1 + d*(p["aT"]+d*p["bT"]))
		c.fore.fc, c.fore.fs = max(warm*p["mu_c"], p["N0"]*p["mu_min"]), max(warm*p["mu_s"], p["N0"]*p["mu_min"])
		return c
	}, beyond: []loss{{nil, "the dependence on normal load, temperature and current; what holds at N0 = {N0}, Tamb = {Tamb} °C and without current is written"}}},
}

// underLoad is what a law loses that scales with the normal load.
var underLoad = loss{positive("N0"), "the dependence on the normal load; what holds at N0 = {N0} is written"}

// positive tells that a parameter is not switched off.
func positive(name string) func(p map[string]float64) bool {
	return func(p map[string]float64) bool {
		v, ok := p[name]
		if !ok {
			panic("exportmodel: the law has no parameter " + name)
		}
		return v > 0
	}
}

func risen(p map[string]float64) contact { return contact{fore: side{p["Fc"], p["Fs_inf"], p["Fv"]}} }

func bristled(p map[string]float64) contact {
	return contact{fore: side{p["Fc"], p["Fs"], p["sigma2"]}, fall: exponential, vs: p["vs"], delta: 2, offset: p["offset"],
		bristle: &bristle{sigma0: p["sigma0"], sigma1: p["sigma1"], vd: p["vd"]}}
}

// contactOf takes a law apart.
func contactOf(law friction.Model) contact {
	name := friction.NameOf(law)
	form, p := forms[name], friction.Values(law)
	c := form.take(p)
	back := maps.Clone(p)
	for key, v := range p {
		if ahead, ok := strings.CutSuffix(key, friction.Backward); ok {
			back[ahead] = v
		}
	}
	c.back = form.take(back).fore
	if c.power == 0 {
		c.power = 1
	}
	if form.curve {
		c.curve = law.Steady
	}
	for _, l := range form.beyond {
		if l.when == nil || l.when(p) {
			c.beyond = append(c.beyond, filled(l.text, p))
		}
	}
	return c
}

// filled puts the parameters into a text where their names stand in braces.
func filled(text string, p map[string]float64) string {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		text = strings.ReplaceAll(text, "{"+name+"}", fmt.Sprintf("%.6g", p[name]))
	}
	return text
}

// sided tells that the levels depend on the direction.
func (c *contact) sided() bool { return c.fore != c.back }

// peaked tells that break-away takes another force than sliding.
func (c *contact) peaked() bool { return c.fore.fs != c.fore.fc || c.back.fs != c.back.fc }

// level is g (N) at the speed s ≥ 0 m/s of one direction.
func (c *contact) level(d side, s float64) float64 {
	g := d.fc
	switch r := s / c.vs; c.fall {
	case lorentz:
		g += (d.fs - d.fc) / (1 + r*r)
	case exponential:
		g += (d.fs - d.fc) * math.Exp(-math.Pow(r, c.delta))
	}
	return g - c.root*math.Sqrt(s)
}

// steady is the force of long sliding at v (m/s); the offset at rest.
func (c *contact) steady(v float64) float64 {
	if v == 0 {
		return c.offset
	}
	if c.curve != nil {
		return c.curve(v) + c.offset
	}
	d, s := c.fore, math.Abs(v)
	if v < 0 {
		d = c.back
	}
	return math.Copysign(max(0, c.level(d, s)+d.fv*math.Pow(s, c.power)), v) + c.offset
}
