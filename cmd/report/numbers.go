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
// an exponent.
func Digits(value float64, errs ...*float64) func(float64) string {
	err := math.Inf(1)
	for _, e := range errs {
		if e != nil {
			err = math.Min(err, *e)
		}
	}
	if size := math.Abs(value); size >= 1e6 || size > 0 && size < 1e-4 {
		return func(x float64) string { return fmt.Sprintf("%.4g", x) }
	}
	d := decimals(err)
	if math.IsInf(err, 0) {
		d = 3
	}
	return func(x float64) string {
		if math.Abs(x) >= 1e9 {
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
