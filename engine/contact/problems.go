package contact

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine/numeric"
)

// problems is all that is wrong with a specification, each with its key.
type problems []error

// when adds a problem where something is bad.
func (p *problems) when(bad bool, format string, a ...any) {
	if bad {
		*p = append(*p, fmt.Errorf(format, a...))
	}
}

// finite wants numbers.
func (p *problems) finite(key string, v ...float64) {
	for _, x := range v {
		p.when(!numeric.Finite(x), "%s: %g, want a number", key, x)
	}
}

// upTo wants numbers from 0 to most.
func (p *problems) upTo(most float64, key string, v ...float64) {
	want := fmt.Sprintf("0 … %g", most)
	if most == math.MaxFloat64 {
		want = "≥ 0"
	}
	for _, x := range v {
		p.when(!(x >= 0 && x <= most), "%s: %g, want %s", key, x, want)
	}
}

func (p problems) err() error { return errors.Join(p...) }

// fillIn puts the default in where a value is not given.
func fillIn(v *float64, def float64) {
	if *v == 0 {
		*v = def
	}
}
