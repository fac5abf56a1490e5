package linear

import (
	"fmt"
	"strings"
)

// SpecError lists what is wrong with the settings of a fit.
type SpecError struct{ Problems []string }

func (e *SpecError) Error() string { return strings.Join(e.Problems, "\n") }

// Unidentifiable refuses a fit because the data cannot tell some of the wanted parameters apart. No numbers are given
// with it: those of a singular fit look like results and are noise.
type Unidentifiable struct {
	Condition    float64       // of the regressor with columns scaled to length one; +Inf for a column that is zero
	Limit        float64       // largest condition number that is accepted
	Combinations []Combination // what cannot be told apart, worst first
}

// Combination is a weighted sum of regressor columns that vanishes on this data, to the precision Residue.
type Combination struct {
	Terms   []Term
	Weights []float64 // per term, in the units of the columns, largest in magnitude is 1
	Residue float64   // length of the weighted sum relative to its longest part
	Advice  string
}

func (e *Unidentifiable) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "not identifiable from this data: condition number %.2g of the scaled regressor, at most %.2g is accepted", e.Condition, e.Limit)
	for _, c := range e.Combinations {
		fmt.Fprintf(&b, "\n     %s\n     %s", c, c.Advice)
	}
	return b.String()
}

// String writes the combination as an equation between columns.
func (c Combination) String() string {
	if len(c.Terms) == 1 {
		return fmt.Sprintf("the column of %s is zero throughout", c.Terms[0])
	}
	var b strings.Builder
	b.WriteString("columns depend on each other: ")
	for i, t := range c.Terms {
		w, sign := c.Weights[i], " + "
		if w < 0 {
			w, sign = -w, " − "
		}
		if i == 0 {
			sign = strings.TrimPrefix(strings.TrimSpace(sign), "+")
		}
		b.WriteString(sign)
		if w < 0.9995 || w > 1.0005 {
			fmt.Fprintf(&b, "%.3g·", w)
		}
		b.WriteString(string(t))
	}
	fmt.Fprintf(&b, " = 0 (to %.1g)", c.Residue)
	return b.String()
}
