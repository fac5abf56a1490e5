package linear

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/engine/spelling"
)

// Term names one column of the regressor, in the words of the configuration file.
type Term string

// The columns that a model may be made of. Friction opposes motion: every coefficient of a normal axis is positive, those
// of the negative direction too.
const (
	Inertia      Term = "inertia"     // acceleration
	Viscous      Term = "viscous"     // velocity
	Coulomb      Term = "coulomb"     // sign of velocity, 0 at exactly 0
	Offset       Term = "offset"      // 1: gravity on a slide, amplifier offset
	ViscousPlus  Term = "viscous+"    // velocity where positive, else 0
	ViscousMinus Term = "viscous-"    // velocity where negative, else 0
	CoulombPlus  Term = "coulomb+"    // +1 where velocity is positive, else 0
	CoulombMinus Term = "coulomb-"    // −1 where velocity is negative, else 0
	Stiffness    Term = "stiffness"   // position: a spring with its rest at position zero
	GravitySin   Term = "gravity-sin" // sine of the position of a rotary axis: a pendulum that hangs at zero
	GravityCos   Term = "gravity-cos" // cosine of the position: the arm's centre is off that line
)

// Terms lists every term that exists.
var Terms = []Term{Inertia, Viscous, Coulomb, Offset, ViscousPlus, ViscousMinus, CoulombPlus, CoulombMinus, Stiffness, GravitySin,
	GravityCos}

// Words are the terms.
func (Term) Words() []string { return words(Terms) }

func words[T ~string](of []T) (out []string) {
	for _, w := range of {
		out = append(out, string(w))
	}
	return out
}

// property is what is known about a term.
type property struct {
	symbol string
	unit   string // of the coefficient on a linear axis; "": only on a rotary one, N·m

	// value is that of the column at position q (m or rad), velocity v and acceleration a, where the axis moves in the direction
	// of the sign dir; slope its derivatives by q, v and a where it does not jump, nil: zero.
	value func(q, v, a, dir float64) float64
	slope func(q, dir float64) [3]float64
}

var properties = map[Term]property{
	Inertia: {"M", "kg", func(q, v, a, dir float64) float64 { return a },
		func(q, dir float64) [3]float64 { return [3]float64{0, 0, 1} }},
	Viscous: {"Fv", "N·s/m", func(q, v, a, dir float64) float64 { return v },
		func(q, dir float64) [3]float64 { return [3]float64{0, 1, 0} }},
	Coulomb: {"Fc", "N", func(q, v, a, dir float64) float64 { return dir }, nil},
	Offset:  {"offset", "N", func(q, v, a, dir float64) float64 { return 1 }, nil},
	ViscousPlus: {"Fv+", "N·s/m", func(q, v, a, dir float64) float64 { return v * math.Max(dir, 0) },
		func(q, dir float64) [3]float64 { return [3]float64{0, math.Max(dir, 0), 0} }},
	ViscousMinus: {"Fv-", "N·s/m", func(q, v, a, dir float64) float64 { return v * math.Max(-dir, 0) },
		func(q, dir float64) [3]float64 { return [3]float64{0, math.Max(-dir, 0), 0} }},
	CoulombPlus:  {"Fc+", "N", func(q, v, a, dir float64) float64 { return math.Max(dir, 0) }, nil},
	CoulombMinus: {"Fc-", "N", func(q, v, a, dir float64) float64 { return math.Min(dir, 0) }, nil},
	Stiffness: {"k", "N/m", func(q, v, a, dir float64) float64 { return q },
		func(q, dir float64) [3]float64 { return [3]float64{1, 0, 0} }},
	GravitySin: {"mgs", "", func(q, v, a, dir float64) float64 { return math.Sin(q) },
		func(q, dir float64) [3]float64 { return [3]float64{math.Cos(q), 0, 0} }},
	GravityCos: {"mgc", "", func(q, v, a, dir float64) float64 { return math.Cos(q) },
		func(q, dir float64) [3]float64 { return [3]float64{-math.Sin(q), 0, 0} }},
}

// symbol is the letter of the parameter; the inertia of a rotary axis is J.
func (t Term) symbol(rotary bool) string {
	if t == Inertia && rotary {
		return "J"
	}
	return properties[t].symbol
}

func (s *Spec) ordinaryUnit(t Term) string { return s.unit(cmp.Or(properties[t].unit, "N")) }

// column evaluates the term along a motion that goes in the direction in which dir has its sign. It may be one of these, and is not to be
// written to, or stands in room.
func (t Term) column(room, q, v, a, dir []float64) []float64 {
	switch t {
	case Inertia:
		return a
	case Viscous:
		return v
	case Stiffness:
		return q
	case Offset:
		for k := range room {
			room[k] = 1
		}
		return room
	case Coulomb:
		for k, d := range dir {
			room[k] = numeric.Sign(d)
		}
		return room
	}
	value := properties[t].value
	for k := range room {
		room[k] = value(q[k], v[k], a[k], numeric.Sign(dir[k]))
	}
	return room
}

// jumpsAtReversal tells whether the column jumps at a reversal.
func (t Term) jumpsAtReversal() bool {
	return strings.HasPrefix(string(t), "coulomb")
}

// Spec says what is fitted and how the data is prepared.
type Spec struct {
	Rotary bool    `json:"rotary"`           // rad and N·m instead of m and N
	Terms  []Term  `json:"terms"`            // the columns, in the order of the result
	Order  int     `json:"filter_order"`     // of the position low-pass
	Cutoff float64 `json:"filter_cutoff_hz"` // Hz, its corner; 0: 100 Hz, or a fifth of a lower sampling rate
	// every n-th sample is kept, after a zero-phase filter of both sides; 1: all, 0: a row every 10 ms
	Decimate int `json:"decimate"`
	// s, left out at each end of the record, where filters and differences are one-sided; FromRecord: ten periods of the corner
	Trim        float64 `json:"trim_s"`
	MinVelocity float64 `json:"min_velocity"` // m/s or rad/s, slower rows are left out of the regression; 0: none; FromRecord
	Lag         LagMode `json:"lag"`          // of the force
	Intersample Between `json:"between"`      // what the force does between two samples
	Joint       *Joint  `json:"-"`            // of a machine; nil: an axis by itself
}

// DefaultSpec is the published procedure [EMPS] (inertia, viscous, Coulomb and offset, at 1 kHz a fourth-order low-pass at 100 Hz
// and every tenth sample) without slow rows and with the lag of the force as a parameter.
func DefaultSpec() Spec {
	return Spec{Terms: []Term{Inertia, Viscous, Coulomb, Offset}, Order: 4, Trim: FromRecord, MinVelocity: FromRecord, Lag: LagAuto,
		Intersample: BetweenAuto}
}

// At is s with what it leaves to the record, for one sampled at fs (Hz).
func (s Spec) At(fs float64) Spec {
	if s.Cutoff == 0 {
		s.Cutoff = math.Min(100, fs/5)
	}
	s.Decimate = cmp.Or(s.Decimate, max(1, int(math.Round(fs/100)), int(fs/(4*s.Cutoff)+1e-9)))
	if s.Trim == FromRecord {
		s.Trim = 10 / s.Cutoff
	}
	return s
}

// unit gives a unit of an axis that slides as it is on this one.
func (s Spec) unit(linear string) string { return engine.UnitOn(s.Rotary, linear) }

// Asymmetric is s with friction that depends on the direction: viscous and coulomb are split by the sign of velocity. The
// offset goes: on samples in motion it is the difference of the two Coulomb columns, so the three together have no unique
// solution. changed is false if s has nothing left to split.
func (s Spec) Asymmetric() (_ Spec, changed bool) {
	var terms []Term
	for _, t := range s.Terms {
		switch t {
		case Viscous:
			terms, changed = append(terms, ViscousPlus, ViscousMinus), true
		case Coulomb:
			terms, changed = append(terms, CoulombPlus, CoulombMinus), true
		default:
			terms = append(terms, t)
		}
	}
	if slices.Contains(terms, CoulombPlus) && slices.Contains(terms, CoulombMinus) {
		terms = slices.DeleteFunc(terms, func(t Term) bool { return t == Offset })
	}
	s.Terms = terms
	return s, changed
}

// band is the highest frequency that counts in the fit, Hz, for data sampled at fs (Hz).
func (s Spec) band(fs float64) float64 {
	if s.Decimate > 1 {
		return math.Min(s.Cutoff, decimationEdge*fs/2/float64(s.Decimate))
	}
	return s.Cutoff
}

// check lists what is wrong with the settings, given the sampling rate fs (Hz).
func (s Spec) check(fs float64) error {
	var bad []string
	add := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	if len(s.Terms) == 0 {
		add("terms: empty, want at least one of %s", strings.Join(Term("").Words(), ", "))
	}
	for i, t := range s.Terms {
		p, known := properties[t]
		switch {
		case !known:
			hint := ""
			if near := spelling.Nearest(string(t), t.Words()); near != "" {
				hint = fmt.Sprintf(" (did you mean %q?)", near)
			}
			add("terms[%d]: %q is unknown%s, want some of %s", i, t, hint, strings.Join(t.Words(), ", "))
		case slices.Contains(s.Terms[:i], t):
			add("terms[%d]: %s is listed twice", i, t)
		case p.unit == "" && !s.Rotary && s.Joint == nil:
			add("terms[%d]: %s needs a rotary axis", i, t)
		}
	}
	if s.Order < 1 || s.Order > 12 {
		add("filter order: %d, want 1 to 12", s.Order)
	}
	if !(s.Cutoff > 0 && s.Cutoff < 0.45*fs) {
		add("filter cutoff: %g Hz, want more than 0 and less than %.4g Hz, 45 %% of the sampling rate of %.4g Hz", s.Cutoff, 0.45*fs, fs)
	}
	if s.Decimate < 1 || s.Decimate > 1000 {
		add("decimate: %d, want 0 to 1000", s.Decimate)
	}
	if !(s.Trim >= 0) || math.IsInf(s.Trim, 0) {
		add("trim: %g s, want ≥ 0", s.Trim)
	}
	if !(s.MinVelocity >= 0 || s.MinVelocity == FromRecord) || math.IsInf(s.MinVelocity, 0) {
		add("min_velocity: %g, want ≥ 0", s.MinVelocity)
	}
	if bad != nil {
		return &SpecError{Problems: bad}
	}
	return nil
}

func (s Spec) hasTerm(t Term) bool { return slices.Contains(s.Terms, t) }

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
	NoiseRatio   float64 // total: standard deviation of the position noise over that of the force, m/N or rad/(N·m)
	Unattenuated bool    // direct, weak: noise that the position shows is taken out of the products of the columns
	ValuesOnly   bool    // the estimates are wanted, and nothing that looks for what the model lacks: no HalfCutoff, no Bend, no Rounded
}

// options checks the settings of a form.
func (s Spec) options(by Form, o Options) error {
	bad := ""
	switch {
	case !slices.Contains(Forms, by):
		bad = fmt.Sprintf("form: %q, want one of direct, weak, instrumental, total", by)
	case by == Instrumental && !s.hasTerm(Inertia):
		bad = "form instrumental: the motion of the model is simulated, which needs the term inertia"
	case by == Total && (!(o.NoiseRatio > 0) || math.IsInf(o.NoiseRatio, 0)):
		bad = fmt.Sprintf("noise_ratio: %g %s, want the standard deviation of the position noise over that of the force: without it, total "+
			"least squares has no answer; use form instrumental instead", o.NoiseRatio, s.unit("m/N"))
	}
	if bad != "" {
		return &SpecError{Problems: []string{bad}}
	}
	return nil
}
