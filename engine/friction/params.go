package friction

import (
	"errors"
	"fmt"
	"strings"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// field is one parameter of a law: where its number lives, what it is, and the range in which the law makes sense.
type field struct {
	name, unit string
	value      *float64
	lo, hi     float64
	doc        string
}

// Ranges of the parameters, wide enough for a watch and for a wind turbine; a zero lower end is a parameter that may be
// switched off. Inside them every law keeps finite.
const (
	tiny         = 1e-12
	maxForce     = 1e9  // N
	maxStiffness = 1e15 // N/m
	maxDamping   = 1e9  // N·s/m
	maxSpeed     = 1e6  // m/s
	maxExtent    = 1e6  // m, s
)

// paramsOf lists the fields for identification and for people.
func paramsOf(fs []field) []engine.Param {
	ps := make([]engine.Param, len(fs))
	for i, f := range fs {
		ps[i] = engine.Param{Name: f.name, Unit: f.unit, Doc: f.doc, Value: *f.value, Lo: f.lo, Hi: f.hi}
	}
	return ps
}

// setParams puts theta into the fields and checks the law; when it is refused the fields are as before.
func setParams(law string, fs []field, theta []float64, validate func() error) error {
	if len(theta) != len(fs) {
		names := make([]string, len(fs))
		for i, f := range fs {
			names[i] = f.name
		}
		return fmt.Errorf("%s: %d parameters, want %d (%s)", law, len(theta), len(fs), strings.Join(names, ", "))
	}
	old := make([]float64, len(fs))
	for i, f := range fs {
		old[i], *f.value = *f.value, theta[i]
	}
	err := validate()
	if err != nil {
		for i, f := range fs {
			*f.value = old[i]
		}
	}
	return err
}

// checkFields reports every field outside its range.
func checkFields(law string, fs []field) error {
	var errs []error
	for _, f := range fs {
		switch v := *f.value; {
		case !numeric.IsFinite(v):
			errs = append(errs, fmt.Errorf("%s: %s: %g %s, want a finite number", law, f.name, v, f.unit))
		case v < f.lo && f.lo == 0:
			errs = append(errs, fmt.Errorf("%s: %s: %g %s, want ≥ 0", law, f.name, v, f.unit))
		case v < f.lo && f.lo > 0 && v <= 0:
			errs = append(errs, fmt.Errorf("%s: %s: %g %s, want > 0", law, f.name, v, f.unit))
		case v < f.lo || v > f.hi:
			errs = append(errs, fmt.Errorf("%s: %s: %g %s, want %g to %g", law, f.name, v, f.unit, f.lo, f.hi))
		}
	}
	return errors.Join(errs...)
}
