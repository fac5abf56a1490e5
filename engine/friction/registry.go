package friction

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"hilrig/engine"
)

// Info is what the registry knows about a law.
type Info struct {
	Name      string // as in a configuration file
	Title     string // for people
	Equations string // numbers, with the key of the source that counts so
	Source    string // key of docs/reference/references.md
	Force     bool   // the input of the law is the applied force, not the velocity
	NewLaw    func() Model
	Presets   []Preset // published sets of some of its parameters
}

// Preset is a published set of parameters of a law; those that it does not name are the default ones.
type Preset struct {
	Name   string // as in a configuration file
	Title  string // for people
	Source string // key of docs/reference/references.md
	Values []PresetValue
}

// PresetValue is one parameter of a preset, in the unit of the law.
type PresetValue struct {
	Name          string
	Value, Spread float64 // the spread is the published uncertainty; 0: none is given
}

// WithPreset is the law with the numbers of a preset; false if there is none of that name.
func (i Info) WithPreset(preset string) (Model, Preset, bool) {
	k := slices.IndexFunc(i.Presets, func(p Preset) bool { return p.Name == preset })
	if k < 0 {
		return nil, Preset{}, false
	}
	m, p := i.NewLaw(), i.Presets[k]
	ps := m.Params()
	theta := make([]float64, len(ps))
	for j, q := range ps {
		theta[j] = q.Value
		if n := p.Find(q.Name); n >= 0 {
			theta[j] = p.Values[n].Value
		}
	}
	if err := m.SetParams(theta); err != nil {
		panic("friction: preset " + p.Name + ": " + err.Error()) // a number of this package
	}
	return m, p, true
}

// Find is the place of a parameter in Values; −1 if the preset does not name it.
func (p Preset) Find(name string) int {
	return slices.IndexFunc(p.Values, func(v PresetValue) bool { return v.Name == name })
}

// registry lists the laws from the elementary to the elaborate. New returns the law with its default parameters: the
// public set of theory §8 where the law is part of it.
var registry = []Info{
	{Name: "coulomb", Title: "Coulomb", Equations: "[MOGI] (6.8), (6.9)", Source: "A94",
		NewLaw: func() Model { return &Coulomb{Fc: 1} }},
	{Name: "viscous", Title: "viscous", Equations: "[MOGI] (6.10)", Source: "A94",
		NewLaw: func() Model { return &Viscous{Fv: 0.4, Delta: 1} }},
	{Name: "static-coulomb-viscous", Title: "static, Coulomb and viscous", Equations: "[MOGI] (6.8), (6.10), (6.11)", Source: "A94",
		NewLaw: func() Model { return &StaticCoulombViscous{Fc: 1, Fs: 1.5, Fv: 0.4, Delta: 1} }},
	{Name: "stribeck-hess-soom", Title: "Stribeck curve of Hess and Soom", Equations: "[MOGI] (6.16)", Source: "HS90",
		NewLaw: func() Model { return &Stribeck{Curve: HessSoom, Fc: 1, Fs: 1.5, Vs: 0.05, Fv: 0.4} }},
	{Name: "stribeck-bo-pavelescu", Title: "Stribeck curve of Bo and Pavelescu", Equations: "[MOGI] (6.17)", Source: "BP82",
		NewLaw: func() Model { return &Stribeck{Curve: BoPavelescu, Fc: 1, Fs: 1.5, Vs: 0.05, Fv: 0.4, Delta: 2} }},
	{Name: "stribeck-tustin", Title: "Stribeck curve of Tustin", Equations: "[MOGI] (6.18)", Source: "Tustin47",
		NewLaw: func() Model { return &Stribeck{Curve: Tustin, Fc: 1, Fs: 1.5, Vs: 0.05, Fv: 0.4} }},
	{Name: "linear-surrogate", Title: "Stribeck curve linear in its parameters", Equations: "[MOGI] (6.19)", Source: "A94",
		NewLaw: func() Model { return &LinearSurrogate{Alpha0: 1.63, Alpha1: 2.59, Alpha2: 3.05} }},
	{Name: "rising-static-kato", Title: "static friction that rises with rest, Kato", Equations: "[MOGI] (6.13)", Source: "KM72",
		NewLaw: func() Model { return &Kato{Fc: 1, FsInf: 1.5, Gamma: 1.66, M: 0.65, Fv: 0.4} }},
	{Name: "rising-static-armstrong", Title: "static friction that rises with rest, Armstrong", Equations: "[MOGI] (6.14)", Source: "A94",
		NewLaw: func() Model { return &RisingStatic{Fc: 1, FsInf: 1.5, Gamma: 0.1, Fv: 0.4} }},
	{Name: "frictional-memory", Title: "frictional memory", Equations: "[MOGI] (6.15)", Source: "HS90",
		NewLaw: func() Model { return &Memory{Fc: 1, Fs: 1.5, Vs: 0.05, Fv: 0.4, TauL: 0.02} }},
	{Name: "karnopp", Title: "Karnopp", Equations: "[MOGI] (6.41)–(6.43)", Source: "K85", Force: true,
		NewLaw: func() Model { return &Karnopp{Fc: 1, Fs: 1.5, Fv: 0.4} }},
	{Name: "presliding-spring", Title: "presliding spring", Equations: "[MOGI] (6.2), (6.3), (6.12)", Source: "A94",
		NewLaw: func() Model { return &PreslidingSpring{Fb: 1.5, Xb: 1.5e-3} }},
	{Name: "dahl", Title: "Dahl", Equations: "[theory] §3", Source: "Dahl68",
		NewLaw: func() Model { return &Dahl{Sigma0: 1e3, Fc: 1, Exponent: 1} }},
	{Name: "dahl-modified", Title: "modified Dahl", Equations: "[MOGI] (6.50)–(6.53)", Source: "Dahl68",
		NewLaw: func() Model { return &DahlModified{Alpha0: 1, Alpha1: 0.5, Alpha2: 0.4, V0: 0.05, D0: 1.5e-3} }},
	{Name: "m2", Title: "M2", Equations: "[MOGI] (6.54)–(6.62)", Source: "A94",
		NewLaw: func() Model {
			return &M2{Alpha0: 1, Alpha1: 0.5, Alpha2: 0.4, TauS: 0.02, TauR: 0.05, V0: 0.05, Ks: 1e3, Ds: 30, Veps: 1e-4}
		}},
	{Name: "bouc-wen", Title: "Bouc and Wen", Equations: "[theory] §7.4", Source: "BW76",
		NewLaw: func() Model { return &BoucWen{K: 1e3, Beta: 5e5, Gamma: 5e5, N: 2} }},
	{Name: "lugre", Title: "LuGre", Equations: "[MOGI] (6.44)–(6.47)", Source: "C95",
		NewLaw: func() Model {
			return &LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05, Vd: 0.02}
		}},
	{Name: "elasto-plastic", Title: "elasto-plastic", Equations: "[theory] §7.1", Source: "D02",
		NewLaw: func() Model {
			return &ElastoPlastic{Bristle: LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05, Vd: 0.02}, Zba: 0.7}
		}},
	{Name: "gms", Title: "generalised Maxwell slip", Equations: "[theory] §7.2", Source: "L03",
		NewLaw: func() Model {
			return &GMS{Sigma0: 1e3, Ratio: 1.5, Elements: 6, C: 50, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05}
		}},
	{Name: "seven-parameter", Title: "seven-parameter", Equations: "[MOGI] (6.20)–(6.22), (6.28)", Source: "A94",
		NewLaw: func() Model {
			return &Seven{Fc: 1, Fv: 0.4, FsInf: 0.5, Kt: 1e3, Vs: 0.05, TauL: 0.02, Gamma: 0.1, Ct: 30}
		}},
	{Name: "leuven", Title: "Leuven", Equations: "[theory] §7.3", Source: "SW00",
		NewLaw: func() Model {
			return &Leuven{Bristle: LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05, Vd: 0.02}, Reach: 2, N: 2}
		}},
	{Name: "state-variable", Title: "state variable, Dieterich and Ruina", Equations: "[MOGI] (6.33)–(6.40)", Source: "RR83",
		Presets: steelPresets(),
		NewLaw: func() Model {
			return &StateVariable{Mu0: 0.5, V0: 1e-3, A: 2.8e-3, B: 9.4e-3, L: 64.7e-6, N0: 2, Veps: 1e-9}
		}},
	{Name: "graphite-brush", Title: "graphite brush", Equations: "[theory] §7.5", Source: "SB06",
		NewLaw: func() Model {
			return &Brush{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.4, MuC: 0.2, MuS: 0.3, Vs: 0.05, Vd: 0.02, AT: -1e-3, T0: 20, AJ: -1e-6,
				MuMin: 0.02, Area: 1e-4, N0: 5, Rth: 10, Cth: 0.1, Udrop: 1, Tamb: 20}
		}},
}

// Laws lists every law.
func Laws() []Info { return slices.Clone(registry) }

// Find returns the law of a name.
func Find(name string) (Info, bool) {
	i := slices.IndexFunc(registry, func(l Info) bool { return l.Name == name })
	if i < 0 {
		return Info{}, false
	}
	return registry[i], true
}

// NameOf is the name of a law, with or without sets by direction; of one that is not in the registry its type.
func NameOf(m Model) string {
	if l := sidesOf(m); l != nil {
		m = l.forward
	}
	if s, ok := m.(*Stribeck); ok {
		return s.Curve.String()
	}
	for _, l := range registry {
		if reflect.TypeOf(l.NewLaw()) == reflect.TypeOf(m) {
			return l.Name
		}
	}
	return fmt.Sprintf("%T", m)
}

// Telling lists the states of a law that tell a reader something: those before its delay line, which stands last.
func Telling(m Model) []engine.Signal {
	s := m.States()
	if i := slices.IndexFunc(s, func(s engine.Signal) bool { return strings.HasPrefix(s.Name, "delay_") }); i >= 0 {
		return s[:i]
	}
	return s
}

// Clone is a law of the registry with the same numbers, for whoever changes some of them.
func Clone(m Model) Model {
	if l := sidesOf(m); l != nil {
		var names []string
		for _, i := range l.directional {
			names = append(names, l.forward.Params()[i].Name)
		}
		c, err := NewTwoSided(Clone(l.forward), Clone(l.backward), names...)
		if err != nil {
			panic("friction: " + err.Error()) // it was joined before
		}
		return c
	}
	info, ok := Find(NameOf(m))
	if !ok {
		panic(fmt.Sprintf("friction: a copy of %T, which is not in the registry", m))
	}
	c := info.NewLaw()
	var theta []float64
	for _, p := range m.Params() {
		theta = append(theta, p.Value)
	}
	if err := c.SetParams(theta); err != nil {
		panic("friction: " + err.Error()) // the numbers of a law that is in use
	}
	return c
}
