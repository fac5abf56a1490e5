package report

import (
	"fmt"
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
