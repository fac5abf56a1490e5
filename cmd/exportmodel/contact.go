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
// Units are those of the law: N and m, or N·m and rad. What of the law does not fit into this is in lossTexts.
type contact struct {
	Fore, Back side    // for v > 0 and v < 0
	Fall       fall    // the shape of share
	Vs         float64 // m/s   Stribeck velocity; 0: there is no fall
	Delta      float64 // exponent of the exponential fall
	Power      float64 // δv, exponent of the viscous part; 1: linear
	Root       float64 // N     the force at 1 m/s
	Offset     float64 // N
	Bristle    *bristle
	Curve      func(v float64) float64 // N  the steady curve where the form above does not hold it; nil: it does
	lossTexts  []string
}

// side are the levels of one direction.
type side struct {
	Fc, Fs, Fv float64 // N, N, N·s/m
}

// fall is how friction falls from break-away to Coulomb friction with r = |v|/vs.
type fall string

const (
	none        fall = "none"        // at once: Fs holds at rest only
	lorentz     fall = "lorentz"     // 1/(1 + r²)
	exponential fall = "exponential" // exp(−r^δ)
)

// bristle is the state of a contact that yields: dz/dt = v − |v|·z·σ0/g(v), or with a path dz/dt = (v·g(v)/σ0 − |v|·z)/path.
type bristle struct {
	Sigma0 float64 // N/m    stiffness
	Sigma1 float64 // N·s/m  damping at rest
	Vd     float64 // m/s    σ1 falls with exp(−(v/vd)²); 0: it does not
	Path   float64 // m      over which σ0·z relaxes to g at every speed; 0: over g/σ0
}

// lawForm says how the parameters of a law, by their names, make a contact, and what of the law a contact does not hold.
type lawForm struct {
	build     func(p map[string]float64) contact
	losses    []loss
	curve     bool   // the steady curve is that of the law; the form of a contact is near it
	curveOnly string // why it goes only where any curve does, and nothing is near it; "": it goes elsewhere as well
}

// loss is something that a law has and a contact has not.
type loss struct {
	applies func(p map[string]float64) bool // nil: always
	text    string                          // parameters stand in braces
}

// forms are the laws of the registry as contacts. With the abilities of the targets they say which law goes where, and with
// which loss.
var forms = map[string]lawForm{
	"coulomb": {build: func(p map[string]float64) contact {
		fc := p["Fc"]
		if p["mu"] > 0 {
			fc = p["mu"] * p["N0"]
		}
		return contact{Fore: side{fc, fc, 0}}
	}, losses: []loss{{positive("mu"), "the dependence on the normal load (mu = {mu}); the level at the load N0 = {N0} is written"}}},
	"viscous": {build: func(p map[string]float64) contact {
		return contact{Fore: side{0, 0, p["Fv"]}, Power: p["delta"]}
	}},
	"static-coulomb-viscous": {build: func(p map[string]float64) contact {
		return contact{Fore: side{p["Fc"], p["Fs"], p["Fv"]}, Power: p["delta"]}
	}},
	"stribeck-hess-soom": {build: func(p map[string]float64) contact {
		return contact{Fore: side{p["Fc"], p["Fs"], p["Fv"]}, Fall: lorentz, Vs: p["vs"]}
	}},
	"stribeck-bo-pavelescu": {build: func(p map[string]float64) contact {
		return contact{Fore: side{p["Fc"], p["Fs"], p["Fv"]}, Fall: exponential, Vs: p["vs"], Delta: p["delta"]}
	}},
	"stribeck-tustin": {build: func(p map[string]float64) contact {
		return contact{Fore: side{p["Fc"], p["Fs"], p["Fv"]}, Fall: exponential, Vs: p["vs"], Delta: 1}
	}},
	"linear-surrogate": {build: func(p map[string]float64) contact {
		return contact{Fore: side{p["alpha0"], p["alpha0"], p["alpha2"]}, Root: p["alpha1"]}
	}},
	"rising-static-kato": {build: risen,
		losses: []loss{{nil, "the rise of the break-away level with the time at rest (gamma = {gamma}, m = {m}); the level after a long rest " +
			"is written"}}},
	"rising-static-armstrong": {build: risen,
		losses: []loss{{nil, "the rise of the break-away level with the time at rest (gamma = {gamma} s); the level after a long rest is " +
			"written"}}},
	"frictional-memory": {build: func(p map[string]float64) contact {
		return contact{Fore: side{p["Fc"], p["Fs"], p["Fv"]}, Fall: lorentz, Vs: p["vs"]}
	}, losses: []loss{{positive("tauL"), "the frictional memory (tauL = {tauL} s)"}}},
	"karnopp": {build: func(p map[string]float64) contact {
		return contact{Fore: side{p["Fc"], p["Fs"], p["Fv"]}}
	}, losses: []loss{{positive("Dv"), "the dead zone (Dv = {Dv})"}}},
	"presliding-spring": {build: func(p map[string]float64) contact {
		return contact{Fore: side{p["Fb"], p["Fb"], 0}, Bristle: &bristle{Sigma0: p["Fb"] / p["xb"]}}
	}, losses: []loss{{nil, "the corner of the spring at break-away (xb = {xb}); a bristle of the same stiffness bends over"}}},
	"dahl": {build: func(p map[string]float64) contact {
		return contact{Fore: side{p["Fc"], p["Fc"], 0}, Bristle: &bristle{Sigma0: p["sigma0"]}}
	}, losses: []loss{{func(p map[string]float64) bool { return p["exponent"] != 1 },
		"the exponent of the slope ({exponent}); 1 is written"}}},
	"dahl-modified": {build: func(p map[string]float64) contact {
		fs := p["alpha0"] + p["alpha1"]
		return contact{Fore: side{p["alpha0"], fs, p["alpha2"]}, Fall: exponential, Vs: p["v0"], Delta: 2,
			Bristle: &bristle{Sigma0: fs / p["d0"], Path: p["d0"]}}
	}},
	"m2": {curve: true, build: func(p map[string]float64) contact {
		return contact{Fore: side{p["alpha0"], p["alpha0"] + p["alpha1"], p["alpha2"]}, Fall: exponential, Vs: p["v0"], Delta: 2}
	}, losses: []loss{{nil, "the passage between sticking and sliding (tau_s = {tau_s} s, tau_r = {tau_r} s, ks = {ks}, ds = {ds})"}}},
	"bouc-wen": {build: func(p map[string]float64) contact {
		zc := math.Pow(p["beta"]+p["gamma"], -1/p["n"])
		k := (1 - p["alpha"]) * p["k"]
		return contact{Fore: side{k * zc, k * zc, 0}, Bristle: &bristle{Sigma0: k}}
	}, losses: []loss{
		{positive("alpha"), "the spring beside the contact (alpha·k, alpha = {alpha}, k = {k})"},
		{func(p map[string]float64) bool { return p["n"] != 1 || p["gamma"] != 0 },
			"the shape of the hysteresis (n = {n}, beta = {beta}, gamma = {gamma}); a bristle of the same stiffness and level is written"}}},
	"lugre": {build: bristled, losses: []loss{underLoad}},
	"elasto-plastic": {build: bristled, losses: []loss{underLoad,
		{positive("zba_ratio"), "the elastic zone before break-away (zba_ratio = {zba_ratio}); as a LuGre contact it creeps under a load that " +
			"vibrates"}}},
	"gms": {build: bristled, losses: []loss{{nil,
		"the memory of reversals ({elements} elements, ratio = {ratio}, C = {C}); one bristle of the same stiffness is written"}}},
	"seven-parameter": {build: func(p map[string]float64) contact {
		return contact{Fore: side{p["Fc"], p["Fc"] + p["dFs_inf"], p["Fv"]}, Fall: lorentz, Vs: p["vs"]}
	}, losses: []loss{{nil, "the spring before break-away (kt = {kt}, ct = {ct}), the frictional memory (tauL = {tauL} s) and the rise of " +
		"the break-away level " +
		"with the time at rest (gamma = {gamma} s); the level after a long rest is written"}}},
	"leuven": {build: bristled, losses: []loss{underLoad,
		{nil, "the memory of reversals and the shape of the hysteresis (reach = {reach}, n = {n}); a bristle of the same stiffness is written"}}},
	"state-variable": {curve: true, curveOnly: "friction that changes with the logarithm of the speed",
		build: func(p map[string]float64) contact {
			return contact{Fore: side{p["mu0"] * p["N0"], p["mu0"] * p["N0"], 0}}
		}, losses: []loss{{nil, "the state of the contact (A = {A}, B = {B}, L = {L}); the steady friction under the load N0 = {N0} is " +
			"written"}}},
	"graphite-brush": {build: func(p map[string]float64) contact {
		c := bristled(p)
		d := p["Tamb"] - p["T0"]
		warm := p["N0"] * (1 + d*(p["aT"]+d*p["bT"]))
		c.Fore.Fc, c.Fore.Fs = max(warm*p["mu_c"], p["N0"]*p["mu_min"]), max(warm*p["mu_s"], p["N0"]*p["mu_min"])
		return c
	}, losses: []loss{{nil, "the dependence on normal load, temperature and current; what holds at N0 = {N0}, Tamb = {Tamb} °C and without " +
		"current is written"}}},
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

func risen(p map[string]float64) contact { return contact{Fore: side{p["Fc"], p["Fs_inf"], p["Fv"]}} }

func bristled(p map[string]float64) contact {
	return contact{Fore: side{p["Fc"], p["Fs"], p["sigma2"]}, Fall: exponential, Vs: p["vs"], Delta: 2, Offset: p["offset"],
		Bristle: &bristle{Sigma0: p["sigma0"], Sigma1: p["sigma1"], Vd: p["vd"]}}
}

// contactOf takes a law apart.
func contactOf(law friction.Model) contact {
	name := friction.NameOf(law)
	form, p := forms[name], friction.Values(law)
	c := form.build(p)
	back := maps.Clone(p)
	for key, v := range p {
		if ahead, ok := strings.CutSuffix(key, friction.Backward); ok {
			back[ahead] = v
		}
	}
	c.Back = form.build(back).Fore
	if c.Power == 0 {
		c.Power = 1
	}
	if c.Fall == "" {
		c.Fall = none
	}
	if form.curve {
		c.Curve = law.SteadyForce
	}
	for _, l := range form.losses {
		if l.applies == nil || l.applies(p) {
			c.lossTexts = append(c.lossTexts, filled(l.text, p))
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

// Sided tells that the levels depend on the direction.
func (c *contact) Sided() bool { return c.Fore != c.Back }

// peaked tells that break-away takes another force than sliding.
func (c *contact) peaked() bool { return c.Fore.Fs != c.Fore.Fc || c.Back.Fs != c.Back.Fc }

// level is g (N) at the speed s ≥ 0 m/s of one direction.
func (c *contact) level(d side, s float64) float64 {
	g := d.Fc
	switch r := s / c.Vs; c.Fall {
	case lorentz:
		g += (d.Fs - d.Fc) / (1 + r*r)
	case exponential:
		g += (d.Fs - d.Fc) * math.Exp(-math.Pow(r, c.Delta))
	}
	return g - c.Root*math.Sqrt(s)
}

// steadyForce is the force of long sliding at v (m/s); the offset at rest.
func (c *contact) steadyForce(v float64) float64 {
	if v == 0 {
		return c.Offset
	}
	if c.Curve != nil {
		return c.Curve(v) + c.Offset
	}
	d, s := c.Fore, math.Abs(v)
	if v < 0 {
		d = c.Back
	}
	return math.Copysign(max(0, c.level(d, s)+d.Fv*math.Pow(s, c.Power)), v) + c.Offset
}
