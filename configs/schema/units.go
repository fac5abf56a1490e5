package schema

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Dim holds twice the exponents of m, kg, s, A, K, mol, cd, rad and B, so that √s has a whole number. Angle is a dimension
// of its own: 1 Hz, 1 rad/s and 1 rpm are three different things and a file that mixes them up is refused. Where usage
// leaves the radian out (N·m·s for N·m·s/rad, N·m/A for V·s/rad), the tag of the field lists both spellings.
type Dim [9]int8

// Unit converts numbers to SI: SI value = number·Factor + Offset.
type Unit struct {
	Dim    Dim
	Factor float64
	Offset float64 // K; 273.15 for degC, else 0
	SI     string  // the same unit without prefixes and non-SI names: "mN·m/rpm" → "N·m/(rad/s)", "" for a pure number

	mult     float64 // Factor = mult·10^exp10, kept apart so that "0.3 mH" becomes the float64 nearest to 0.0003
	exp10    int
	absolute bool // degC: an absolute temperature, in no product
	cycle    bool // contains Hz
}

// ToSI converts a value; an affine unit counts as an absolute value.
func (u Unit) ToSI(v float64) float64 { return v*u.Factor + u.Offset }

// scale multiplies by the factor of the unit without the offset.
func (u Unit) scale(v float64) float64 {
	if u.exp10 < 0 {
		return v * u.mult / math.Pow10(-u.exp10)
	}
	return v * u.mult * math.Pow10(u.exp10)
}

// Celsius tells whether the unit is degC, which stays what it is on signals: nobody reads a motor temperature in kelvin.
func (u Unit) Celsius() bool { return u.absolute }

const maxUnit = 64 // runes

// ParseUnit reads a unit: SI prefixes, products (· * or a space), quotients, parentheses, powers (² ^2 ^-1 ^0.5) and √.
// "" and "1" are the pure number. After a division a further product must be bracketed: N·m/rad·s is refused, since
// people read it in two ways.
func ParseUnit(s string) (Unit, error) {
	trimmed := strings.TrimSpace(s)
	if utf8.RuneCountInString(trimmed) > maxUnit {
		return Unit{}, fmt.Errorf("unit of %d characters, at most %d", utf8.RuneCountInString(trimmed), maxUnit)
	}
	p := unitParser{text: []rune(foldUnit(trimmed)), input: trimmed}
	if len(p.text) == 0 {
		return Unit{Factor: 1, mult: 1}, nil
	}
	u, err := p.product(false)
	if err != nil {
		return Unit{}, err
	}
	if p.pos < len(p.text) {
		return Unit{}, fmt.Errorf("unit %q: unexpected %q", trimmed, string(p.text[p.pos]))
	}
	return u.finish()
}

// foldUnit unites the code points that look alike, Ohm sign, Greek mu, dots and minus signs, and writes raised digits behind ^.
func foldUnit(s string) string {
	if !strings.ContainsFunc(s, func(c rune) bool { return c == '*' || c >= utf8.RuneSelf }) {
		return s
	}
	s = raised.ReplaceAllStringFunc(s, func(power string) string {
		return "^(" + strings.Map(func(c rune) rune {
			if i := strings.IndexRune(superscripts, c); i >= 0 {
				return '0' + rune(utf8.RuneCountInString(superscripts[:i]))
			}
			return '-'
		}, power) + ")"
	})
	return alike.Replace(s)
}

var alike = strings.NewReplacer("\u2126", "Ω", "\u03bc", "µ", "⋅", "·", "∙", "·", "×", "·", "*", "·", "−", "-", "\u00a0", " ", "\u202f",
	" ")

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹"

var raised = regexp.MustCompile("⁻?[" + superscripts + "]+|⁻")

// Quantity names what a unit measures, for messages: "voltage", or its SI text where there is no common name.
func (u Unit) Quantity() string {
	for _, q := range quantities {
		if known, err := ParseUnit(q.unit); err == nil && known.Dim == u.Dim {
			return q.name
		}
	}
	return cmp.Or(u.SI, "a pure number")
}
