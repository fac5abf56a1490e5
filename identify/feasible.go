package identify

import (
	"slices"

	"hilrig/engine/friction"
	"hilrig/identify/curve"
)

// MethodsFor lists the methods that find parameters of a law, in the order of Methods: those of one law or of some, and the
// ones that run any law of the registry and compare the motion.
func MethodsFor(law string) []string {
	if _, ok := friction.Find(law); !ok {
		return nil
	}
	of := map[string][]string{
		"regress": {"coulomb", "viscous"}, "static": curve.Laws, "velocity-step": {"state-variable"},
		"presliding": {"lugre"}, "presliding-linear": {"lugre"}, "joint": {"lugre"}, "lugre": {"lugre"}, "kalman": {"lugre"},
		"aep": {law}, "lm": {law}, "multishoot": {law},
	}
	return slices.DeleteFunc(slices.Clone(Methods), func(m string) bool { return !slices.Contains(of[m], law) })
}
