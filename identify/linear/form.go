package linear

import (
	"fmt"
	"math"
	"slices"
)

// Form is how a linear model meets the data.
type Form string

const (
	Direct       Form = "direct"       // derivatives of the filtered position, least squares
	Weak         Form = "weak"         // integrals against test functions: no derivative of data
	Instrumental Form = "instrumental" // derivatives, with those of a simulated motion as instruments
	Total        Form = "total"        // derivatives, with noise on both sides in a known ratio
)

// Forms lists every form.
var Forms = []Form{Direct, Weak, Instrumental, Total}

// Words are the forms.
func (Form) Words() []string { return words(Forms) }

// Options are the settings of the forms other than direct.
type Options struct {
	NoiseRatio float64 // total: standard deviation of the position noise over that of the force, m/N or rad/(N·m)
}

// options checks the settings of a form.
func (s Spec) options(by Form, o Options) error {
	bad := ""
	switch {
	case !slices.Contains(Forms, by):
		bad = fmt.Sprintf("form: %q, want one of direct, weak, instrumental, total", by)
	case by == Instrumental && !s.has(Inertia):
		bad = "form instrumental: the motion of the model is simulated, which needs the term inertia"
	case by == Total && (!(o.NoiseRatio > 0) || math.IsInf(o.NoiseRatio, 0)):
		unit := "m/N"
		if s.Rotary {
			unit = "rad/(N·m)"
		}
		bad = fmt.Sprintf("noise_ratio: %g %s, want the standard deviation of the position noise over that of the force: without it, total least squares has no answer; use form instrumental instead", o.NoiseRatio, unit)
	}
	if bad != "" {
		return &SpecError{Problems: []string{bad}}
	}
	return nil
}
