package report

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// WithUnit prints a number with its unit, six digits. Very small and very large ones have a prefix where the unit takes one: 600 µH,
// but 70.64e-6 kg·m².
func WithUnit(x float64, unit string) string { return Prefixed(x, 6, unit) }

// Prefixed is WithUnit to a number of digits.
func Prefixed(x float64, digits int, unit string) string {
	text, exponent := thousands(Clean(x), digits)
	prefix, known := map[int]string{-12: "p", -9: "n", -6: "µ", 6: "M", 9: "G"}[exponent]
	if known && takesPrefix.MatchString(unit) {
		return text + " " + prefix + unit
	}
	return strings.TrimSpace(withExponent(text, exponent) + " " + unit)
}

// takesPrefix tells units that begin with one that a prefix may stand before.
var takesPrefix = regexp.MustCompile(`^(rad|Hz|Pa|[smNVAWJΩHF])([·/]|$)`)

// Number is a number for people: with %g it reads 70.64e-6 in place of 7.064e-05, a minus zero is 0, and from 0.001 to 1e6 there is no
// exponent.
type Number float64

// Format knows %g, with a width and a precision, and leaves other verbs alone.
func (x Number) Format(f fmt.State, verb rune) {
	if verb != 'g' || f.Flag('+') {
		fmt.Fprintf(f, fmt.FormatString(f, verb), float64(x))
		return
	}
	digits, ok := f.Precision()
	if !ok {
		digits = 0
	}
	text := withExponent(thousands(Clean(float64(x)), digits))
	if width, ok := f.Width(); ok && f.Flag('-') {
		text = fmt.Sprintf("%-*s", width, text)
	} else if ok {
		text = fmt.Sprintf("%*s", width, text)
	}
	io.WriteString(f, text)
}

// scientificNumber is a number as %g and %e write it with an exponent, and the word behind it.
var scientificNumber = regexp.MustCompile(`(^|[^\w."])(\d(?:\.\d+)?e[+-]\d\d+)\b(?: ([^\s,;:()|]+))?`)

// comparedNumber is a number that has the unit of the one behind it.
var comparedNumber = regexp.MustCompile(`(\d(?:\.\d+)?e[+-]\d\d+) (instead of ±?[\d.e+-]+ ([^\s,;:()|]+))`)

// Readable is a text whose numbers are those of people: ± 21 µs in place of ± 2.1e-05 s.
func Readable(text string) string {
	text = comparedNumber.ReplaceAllStringFunc(text, func(found string) string {
		if m := comparedNumber.FindStringSubmatch(found); takesPrefix.MatchString(strings.TrimRight(m[3], ".")) {
			return m[1] + " " + m[3] + " " + m[2]
		}
		return found
	})
	return scientificNumber.ReplaceAllStringFunc(text, func(found string) string {
		m := scientificNumber.FindStringSubmatch(found)
		x, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return found
		}
		mantissa, _, _ := strings.Cut(m[2], "e")
		digits := len(strings.Replace(mantissa, ".", "", 1))
		if takesPrefix.MatchString(strings.TrimRight(m[3], ".")) {
			return m[1] + Prefixed(x, digits, m[3])
		}
		return m[1] + withExponent(thousands(x, digits)) + strings.TrimPrefix(found, m[1]+m[2])
	})
}

// thousands rounds to a number of digits, 0: as many as it has. What is below 0.001, or 1e6 and above, has an exponent that is a multiple
// of three.
func thousands(x float64, digits int) (text string, exponent int) {
	_, power, finite := strings.Cut(strconv.FormatFloat(x, 'e', digits-1, 64), "e")
	if k, _ := strconv.Atoi(power); finite && x != 0 && (k < -3 || k >= 6) {
		exponent = 3 * int(math.Floor(float64(k)/3))
	}
	return shifted(x, digits, exponent), exponent
}

// shifted is a number, rounded to a number of digits, in units of a power of ten.
func shifted(x float64, digits, exponent int) string {
	text := strconv.FormatFloat(x, 'e', digits-1, 64)
	if mantissa, power, finite := strings.Cut(text, "e"); finite {
		k, _ := strconv.Atoi(power)
		text = fmt.Sprintf("%se%d", mantissa, k-exponent)
	}
	rounded, _ := strconv.ParseFloat(text, 64) // infinite ones too
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// PlusMinus is a value and its spread, with all their digits and the exponent of the value; a spread of 0 is none.
func PlusMinus(value, spread float64) string {
	text, exponent := thousands(Clean(value), 0)
	text = withExponent(text, exponent)
	if spread > 0 {
		text += " ± " + withExponent(shifted(spread, 0, exponent), exponent)
	}
	return text
}

func withExponent(text string, exponent int) string {
	if exponent == 0 {
		return text
	}
	return fmt.Sprintf("%se%d", text, exponent)
}

// Titled is a name with what is described by it.
func Titled(name, description string) string {
	if description == "" {
		return name
	}
	return name + ": " + description
}

// OrDash prints a number that is there, minus zero as zero; else a dash.
func OrDash(format string, x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf(format, Number(Clean(*x))) // other verbs than %g get it clean
}

// Clean makes a minus zero a zero.
func Clean(x float64) float64 { return x + 0 }

// Digits shows numbers of a parameter to two digits of the smallest of its errors that are there; very large and very small ones with
// an exponent that is a multiple of three, as prefixes are: 120.06e-6.
func Digits(value float64, errs ...*float64) func(float64) string {
	err := math.Inf(1)
	for _, e := range errs {
		if e != nil {
			err = math.Min(err, *e)
		}
	}
	exponent := 0
	if size := math.Abs(value); size >= 1e6 || size > 0 && size < 1e-3 {
		exponent = 3 * int(math.Floor(math.Log10(size)/3))
	}
	unit := math.Pow(10, float64(exponent))
	d := decimals(err / unit)
	if math.IsInf(err, 0) {
		d = 3
	}
	return func(x float64) string {
		switch {
		case exponent != 0 && math.Abs(x/unit) < 1e6:
			return fmt.Sprintf("%.*fe%d", d, x/unit, exponent)
		case exponent != 0 || math.Abs(x) >= 1e9:
			return fmt.Sprintf("%.2g", x)
		}
		return fmt.Sprintf("%.*f", d, x)
	}
}

// decimals shows a value to two digits of its smaller error.
func decimals(err float64) int {
	if !(err > 0) {
		return 6
	}
	return min(max(1-int(math.Floor(math.Log10(err))), 0), 12)
}

// Bytes is a size in words: 3.2 MB.
func Bytes(n int64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if x := float64(n) / u.size; x >= 0.9995 {
			return fmt.Sprintf("%.3g %s", x, u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

// Span is a time in s in words: 4.2 s, 12 min 5 s, 3 h 2 min; a dash for none.
func Span(s float64) string {
	switch {
	case s == 0:
		return "–"
	case s < 59.95:
		return fmt.Sprintf("%.3g s", s)
	case s < 3599.5:
		m := math.Floor((s + 0.5) / 60)
		return fmt.Sprintf("%.0f min %.0f s", m, math.Floor(s+0.5-60*m))
	}
	h := math.Floor((s + 30) / 3600)
	return fmt.Sprintf("%.0f h %.0f min", h, math.Floor((s+30-3600*h)/60))
}

// CountOf is a number of things: 1 warning, 2 warnings.
func CountOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
