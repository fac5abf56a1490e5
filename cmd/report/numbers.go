package report

import (
	"fmt"
	"math"
	"strings"
)

// WithUnit prints a number with its unit, six digits.
func WithUnit(x float64, unit string) string {
	return strings.TrimSpace(fmt.Sprintf("%.6g %s", x, unit))
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
	return fmt.Sprintf(format, Clean(*x))
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
