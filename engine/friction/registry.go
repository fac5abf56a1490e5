package friction

import "slices"

// Info is what the registry knows about a law.
type Info struct {
	Name      string // as in a configuration file
	Title     string // for people
	Equations string // numbers in the theory
	Source    string // key of docs/references.md
	Force     bool   // the input of the law is the applied force, not the velocity
	New       func() Model
}

// registry lists the laws from the elementary to the elaborate. New returns the law with its default parameters: the
// public set of theory §8 where the law is part of it.
var registry = []Info{
	{Name: "presliding-spring", Title: "presliding spring", Equations: "(6.2), (6.3), (6.12)", Source: "A94",
		New: func() Model { return &PreslidingSpring{Fb: 1.5, Xb: 1.5e-3} }},
	{Name: "dahl", Title: "Dahl", Equations: "theory §3", Source: "Dahl68",
		New: func() Model { return &Dahl{Sigma0: 1e3, Fc: 1, Exponent: 1} }},
	{Name: "dahl-modified", Title: "modified Dahl", Equations: "(6.50)–(6.53)", Source: "Dahl68",
		New: func() Model { return &DahlModified{Alpha0: 1, Alpha1: 0.5, Alpha2: 0.4, V0: 0.05, D0: 1.5e-3} }},
	{Name: "m2", Title: "M2", Equations: "(6.54)–(6.62)", Source: "A94",
		New: func() Model {
			return &M2{Alpha0: 1, Alpha1: 0.5, Alpha2: 0.4, TauS: 0.02, TauR: 0.05, V0: 0.05, Ks: 1e3, Ds: 30, Veps: 1e-4}
		}},
	{Name: "bouc-wen", Title: "Bouc and Wen", Equations: "theory §7.4", Source: "W76",
		New: func() Model { return &BoucWen{K: 1e3, Beta: 5e5, Gamma: 5e5, N: 2} }},
	{Name: "lugre", Title: "LuGre", Equations: "(6.44)–(6.47)", Source: "C95",
		New: func() Model {
			return &LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05, Vd: 0.02}
		}},
	{Name: "elasto-plastic", Title: "Elasto-plastic", Equations: "theory §7.1", Source: "D02",
		New: func() Model {
			return &ElastoPlastic{Bristle: LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05, Vd: 0.02}, Zba: 0.7}
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
