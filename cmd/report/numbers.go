package report

import (
	"fmt"
	"strings"
)

// WithUnit prints a number with its unit, six digits.
func WithUnit(x float64, unit string) string {
	return strings.TrimSpace(fmt.Sprintf("%.6g %s", x, unit))
}

// Clean makes a minus zero a zero.
func Clean(x float64) float64 { return x + 0 }
