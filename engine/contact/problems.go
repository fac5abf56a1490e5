package contact

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine/numeric"
)

// problems is all that is wrong with a specification, each with its key.
type problems []error

// addIf adds a problem where something is bad.
func (p *problems) addIf(bad bool, format string, a ...any) {
	if bad {
		*p = append(*p, fmt.Errorf(format, a...))
	}
}

// requireFinite wants numbers.
func (p *problems) requireFinite(key string, v ...float64) {
	for _, x := range v {
		p.addIf(!numeric.IsFinite(x), "%s: %g, want a number", key, x)
	}
}

// upTo wants numbers from 0 to most.
func (p *problems) upTo(most float64, key string, v ...float64) {
	want := fmt.Sprintf("0 … %g", most)
	if most == math.MaxFloat64 {
		want = "≥ 0"
	}
	for _, x := range v {
		p.addIf(!(x >= 0 && x <= most), "%s: %g, want %s", key, x, want)
	}
}

func (p problems) err() error { return errors.Join(p...) }

// fillIn puts the default in where a value is not given.
func fillIn(v *float64, def float64) {
	if *v == 0 {
		*v = def
	}
}
