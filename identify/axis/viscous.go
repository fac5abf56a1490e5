package axis

import (
	"slices"

	"hilrig/engine"
	"hilrig/engine/friction"
)

// Viscous friction is part of some laws, as Fv, sigma2 or alpha2, and of others not. To these the load term "viscous" adds
// it, with the parameter Fv, or Fv+ and Fv− of an asymmetric model,
//
//	F = … + Fv·v,
//
// so that dry friction and viscous friction can be had each without the other.

// lawOf is a law of the registry; nil: there is none of this name.
func lawOf(name string) friction.Model {
	if info, ok := friction.Find(name); ok {
		return info.New()
	}
	return nil
}

// has tells that a law, nil for none, has one of the parameters.
func has(law friction.Model, names ...string) bool {
	return law != nil && slices.ContainsFunc(law.Params(), func(p engine.Param) bool { return slices.Contains(names, p.Name) })
}

// Damped tells whether a law of the registry has viscous friction itself, so that the term "viscous" would be there twice.
func Damped(law string) bool { return dampedBy(law) != "" }

// dampedBy is the parameter of a law that is its viscous friction; "" if it has none.
func dampedBy(law string) string {
	for _, name := range []string{"Fv", "sigma2", "alpha2"} {
		if has(lawOf(law), name) {
			return name
		}
	}
	return ""
}

// damped tells whether the model has viscous friction of its own or of its law.
func (s *Spec) damped() bool { return Damped(s.Law) || slices.Contains(s.Terms, "viscous") }

// damping sends Fv, or the mean and the half difference of Fv+ and Fv−, to the loads.
func (b *body) damping(at map[string]int, to func(string, *float64)) {
	p, both := at["Fv+"]
	if !both {
		to("Fv", &b.loads.fv)
		return
	}
	n := at["Fv-"]
	b.put = append(b.put, func(v []float64) { b.loads.fv, b.loads.q = (v[p]+v[n])/2, (v[p]-v[n])/2 })
}
