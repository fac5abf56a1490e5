package linear

import (
	"fmt"
	"strings"

	"hilrig/identify/record"
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

// Options are the settings of the forms other than direct.
type Options struct {
	Window     float64 // s, weak: length of a test function; 0: by the band of the spec
	Iterations int     // instrumental: simulations; 0: 3
	NoiseRatio float64 // total: standard deviation of the position noise over that of the force, m/N or rad/(N·m)
}

// regression prepares the rows of a form.
func (s Spec) regression(recs []*record.Record, form Form, o Options) (*regression, error) {
	switch form {
	case Direct:
		return prepare(s, recs)
	case Weak:
		return s.weak(recs, o)
	case Instrumental:
		return s.instrumental(recs, o)
	case Total:
		return s.total(recs, o)
	}
	names := make([]string, len(Forms))
	for i, f := range Forms {
		names[i] = string(f)
	}
	return nil, &SpecError{Problems: []string{fmt.Sprintf("form: %q, want one of %s", form, strings.Join(names, ", "))}}
}
