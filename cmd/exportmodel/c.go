package exportmodel

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"hilrig/engine/numeric"
)

// table is the steady curve without the offset (N) at speeds (m/s) that lie the closer the slower.
type table struct {
	Speeds, Forward, Backward []float64
	Top                       float64 // m/s
	Worst                     float64 // N  largest error of straight lines between the speeds
}

// places is the number of speeds in a table.
const places = 48

// Table is the steady curve up to a speed behind which it is a line: 100 Stribeck velocities.
func (f *file) Table() (t table) {
	c := &f.Contact
	switch {
	case c.Vs > 0:
		t.Top = 100 * c.Vs
	case c.Curve != nil:
		t.Top = 100 * f.Law.Stiffness().Speed
	default:
		t.Top = 10
	}
	at := func(v float64) float64 { return math.Abs(c.steadyForce(v) - c.Offset) }
	rest := math.SmallestNonzeroFloat64 // stands for the limit of sliding at rest
	if c.Curve != nil {
		rest = t.Top * 1e-9
	}
	for i := range places {
		v := t.Top * math.Pow(10, 4*(float64(i)/(places-1)-1))
		if i == 0 {
			v = 0
		}
		s := max(v, rest)
		t.Speeds, t.Forward, t.Backward = append(t.Speeds, v), append(t.Forward, at(s)), append(t.Backward, at(-s))
	}
	for i := range places - 1 {
		for k := 1; k < 16; k++ {
			v := t.Speeds[i] + float64(k)/16*(t.Speeds[i+1]-t.Speeds[i])
			t.Worst = max(t.Worst, math.Abs(numeric.Interpolate(t.Speeds, t.Forward, v)-at(v)),
				math.Abs(numeric.Interpolate(t.Speeds, t.Backward, v)-at(-v)))
		}
	}
	return t
}

// single is a constant of C in single precision. A number beyond its range is an error.
func single(x float64) (string, error) {
	if math.IsInf(float64(float32(x)), 0) || x != 0 && math.Abs(x) < 1.2e-38 {
		return "", &rangeError{x}
	}
	s := strconv.FormatFloat(x, 'g', -1, 32)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s + "f", nil
}

// rangeError is a number that single precision does not hold.
type rangeError struct{ x float64 }

func (e *rangeError) Error() string {
	return fmt.Sprintf("the number %g does not fit into a float of C", e.x)
}

// singles are constants of C, eight in a line.
func singles(xs []float64) (string, error) {
	var b strings.Builder
	for i, x := range xs {
		s, err := single(x)
		if err != nil {
			return "", err
		}
		switch {
		case i == 0:
		case i%8 == 0:
			b.WriteString(",\n    ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(s)
	}
	return b.String(), nil
}
