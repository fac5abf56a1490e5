package linear

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
var Terms = []Term{Inertia, Viscous, Coulomb, Offset, ViscousPlus, ViscousMinus, CoulombPlus, CoulombMinus, Stiffness, GravitySin, GravityCos}

// Words are the terms.
func (Term) Words() []string { return words(Terms) }

func words[T ~string](of []T) (out []string) {
	for _, w := range of {
		out = append(out, string(w))
	}
	return out
}

// property is what is known about a term apart from its column.
type property struct {
	symbol         string
	linear, rotary string // unit of the coefficient
	rotaryOnly     bool
	passive        bool // a negative value contradicts physics: the axis would drive itself
}

var properties = map[Term]property{
	Inertia:      {symbol: "M", linear: "kg", rotary: "kg·m²", passive: true},
	Viscous:      {symbol: "Fv", linear: "N·s/m", rotary: "N·m·s/rad"},
	Coulomb:      {symbol: "Fc", linear: "N", rotary: "N·m", passive: true},
	Offset:       {symbol: "offset", linear: "N", rotary: "N·m"},
	ViscousPlus:  {symbol: "Fv+", linear: "N·s/m", rotary: "N·m·s/rad"},
	ViscousMinus: {symbol: "Fv-", linear: "N·s/m", rotary: "N·m·s/rad"},
	CoulombPlus:  {symbol: "Fc+", linear: "N", rotary: "N·m"}, // a load of one sign may outweigh it
	CoulombMinus: {symbol: "Fc-", linear: "N", rotary: "N·m"},
	Stiffness:    {symbol: "k", linear: "N/m", rotary: "N·m/rad"},
	GravitySin:   {symbol: "mgs", linear: "", rotary: "N·m", rotaryOnly: true},
	GravityCos:   {symbol: "mgc", linear: "", rotary: "N·m", rotaryOnly: true},
}

// symbol is the letter of the parameter; the inertia of a rotary axis is J.
func (t Term) symbol(rotary bool) string {
	if t == Inertia && rotary {
		return "J"
	}
	return properties[t].symbol
}

func (t Term) unit(rotary bool) string {
	if rotary {
		return properties[t].rotary
	}
	return properties[t].linear
}

// column evaluates the term at position q (m or rad), velocity v and acceleration a, where the axis moves in the direction of
// the sign of dir.
func (t Term) column(q, v, a, dir []float64) []float64 {
	c := make([]float64, len(q))
	for k := range c {
		switch t {
		case Inertia:
			c[k] = a[k]
		case Viscous:
			c[k] = v[k]
		case Coulomb:
			c[k] = numeric.Sign(dir[k])
		case Offset:
			c[k] = 1
		case ViscousPlus:
			c[k] = v[k] * math.Max(numeric.Sign(dir[k]), 0)
		case ViscousMinus:
			c[k] = v[k] * math.Max(-numeric.Sign(dir[k]), 0)
		case CoulombPlus:
			c[k] = math.Max(numeric.Sign(dir[k]), 0)
		case CoulombMinus:
			c[k] = math.Min(numeric.Sign(dir[k]), 0)
		case Stiffness:
			c[k] = q[k]
		case GravitySin:
			c[k] = math.Sin(q[k])
		case GravityCos:
			c[k] = math.Cos(q[k])
		}
	}
	return c
}

// rough tells whether the column jumps at a reversal.
func (t Term) rough() bool {
	return strings.HasPrefix(string(t), "coulomb")
}

// Spec says what is fitted and how the data is prepared.
type Spec struct {
	Rotary      bool    `json:"rotary"`           // rad and N·m instead of m and N
	Terms       []Term  `json:"terms"`            // the columns, in the order of the result
	Order       int     `json:"filter_order"`     // of the position low-pass
	Cutoff      float64 `json:"filter_cutoff_hz"` // Hz, its corner; 0: 100 Hz, or a fifth of a lower sampling rate
	Decimate    int     `json:"decimate"`         // every n-th sample is kept, after a zero-phase filter of both sides; 1: all, 0: a row every 10 ms
	Trim        float64 `json:"trim_s"`           // s, left out at each end of the record, where filters and differences are one-sided; FromRecord: ten periods of the corner
	MinVelocity float64 `json:"min_velocity"`     // m/s or rad/s, slower rows are left out of the regression; 0: none; FromRecord
	Lag         LagMode `json:"lag"`              // of the force
}

// DefaultSpec is the published procedure [EMPS] (inertia, viscous, Coulomb and offset, at 1 kHz a fourth-order low-pass at 100 Hz
// and every tenth sample) without slow rows and with the lag of the force as a parameter.
func DefaultSpec() Spec {
	return Spec{Terms: []Term{Inertia, Viscous, Coulomb, Offset}, Order: 4, Trim: FromRecord, MinVelocity: FromRecord, Lag: LagAuto}
}

// At is s with what it leaves to the record, for one sampled at fs (Hz).
func (s Spec) At(fs float64) Spec {
	if s.Cutoff == 0 {
		s.Cutoff = math.Min(100, fs/5)
	}
	if s.Decimate == 0 {
		s.Decimate = max(1, int(math.Round(fs/100)))
	}
	if s.Trim == FromRecord {
		s.Trim = 10 / s.Cutoff
	}
	return s
}

func (s Spec) unitOfSpeed() string {
	if s.Rotary {
		return "rad/s"
	}
	return "m/s"
}

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
		add("terms: empty, want at least one of %s", joinTerms(Terms))
	}
	for i, t := range s.Terms {
		p, known := properties[t]
		switch {
		case !known:
			hint := ""
			if near := spelling.Nearest(string(t), termNames()); near != "" {
				hint = fmt.Sprintf(" (did you mean %q?)", near)
			}
			add("terms[%d]: %q is unknown%s, want some of %s", i, t, hint, joinTerms(Terms))
		case slices.Contains(s.Terms[:i], t):
			add("terms[%d]: %s is listed twice", i, t)
		case p.rotaryOnly && !s.Rotary:
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
	switch s.Lag {
	case "", LagFixed, LagFree, LagAuto:
	default:
		add("lag: %q, want one of auto, fixed, free", s.Lag)
	}
	if bad != nil {
		return &SpecError{Problems: bad}
	}
	return nil
}

func joinTerms(terms []Term) string {
	s := make([]string, len(terms))
	for i, t := range terms {
		s[i] = string(t)
	}
	return strings.Join(s, ", ")
}

func termNames() []string { return strings.Split(joinTerms(Terms), ", ") }

func (s Spec) has(t Term) bool { return slices.Contains(s.Terms, t) }
