package axis

import (
	"fmt"
	"slices"

	"hilrig/engine/friction"
)

// Viscous friction is part of some laws, as Fv, sigma2 or alpha2, and of others not. To these the load term "viscous" adds
// it, with the parameter Fv, or Fv+ and Fv− of an asymmetric model,
//
//	F = … + Fv·v,
//
// so that dry friction and viscous friction can be had each without the other.

// Damped tells whether a law of the registry has viscous friction itself, so that the term "viscous" would be there twice.
func Damped(law string) bool { return dampedBy(law) != "" }

// dampedBy is the parameter of a law that is its viscous friction; "" if it has none.
func dampedBy(law string) string {
	info, ok := friction.Find(law)
	if !ok {
		return ""
	}
	for _, p := range info.New().Params() {
		if p.Name == "Fv" || p.Name == "sigma2" || p.Name == "alpha2" {
			return p.Name
		}
	}
	return ""
}

// viscousTwice refuses the term where the law has the same.
func viscousTwice(law string) string {
	return fmt.Sprintf("terms: %s has viscous friction itself, %s: leave viscous out", law, dampedBy(law))
}

// damped tells whether the model has viscous friction of its own or of its law.
func (s *Spec) damped() bool { return Damped(s.Law) || slices.Contains(s.Terms, "viscous") }

// hasLevel tells that a law has a Coulomb level that may depend on the direction.
func hasLevel(law friction.Model) bool {
	_, ok := field(law, "Fc")
	return ok
}

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
