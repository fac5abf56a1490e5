package identify

import (
	"slices"
	"strings"
	"testing"
)

// A constant force is the same, in motion both ways, as a difference of Coulomb friction between the directions: that is said, and takes
// nothing from the verdict.
func TestConstantForceMayBeFriction(t *testing.T) {
	for _, name := range []string{"constant load", "sines"} {
		k := kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })]
		tr := k.make(newBench(3, 10))
		o := attempt(k, tr)
		if o.result == nil {
			t.Fatal(o.reason)
		}
		said := slices.ContainsFunc(o.result.Warnings, func(w string) bool { return strings.Contains(w, "may as well be Coulomb friction of") })
		if o.verdict != Identified || said != (tr.truth["offset"] != 0) {
			t.Errorf("%s: %s, offset %g said to be friction: %v", name, o.verdict, tr.truth["offset"], said)
		}
	}
}
