package circuit

import (
	"errors"
	"fmt"
	"math"
)

// Power is that of a part of a machine at one instant (W).
type Power struct {
	Input  float64 // from sources outside the machine
	Loss   float64 // turned into heat
	Output float64 // to the coordinates of the mechanics, force times speed
}

// Energies of a part from the start to some instant (J). For each part, and for their sum,
//
//	Input = Loss + Output + StoredChange.
type Energies struct {
	Name         string
	Input        float64 // from sources
	Loss         float64 // turned into heat
	Output       float64 // mechanical work done on the coordinates
	StoredChange float64 // rise of what is stored in fields, capacitors, springs and inertia
	Gross        float64 // largest of the works of which Output is the sum; 0: it is none
}

// Add takes the energies of p over h seconds.
func (e *Energies) Add(p Power, h float64) {
	e.Input += p.Input * h
	e.Loss += p.Loss * h
	e.Output += p.Output * h
}

// Residual is what the balance is off by (J).
func (e Energies) Residual() float64 { return e.Input - e.Loss - e.Output - e.StoredChange }

// Size is the largest of all (J).
func (e Energies) Size() float64 {
	return max(math.Abs(e.Input), math.Abs(e.Loss), math.Abs(e.Output), math.Abs(e.StoredChange), e.Gross)
}

// Relative is the residual by the size; 0 where nothing has happened.
func (e Energies) Relative() float64 {
	if s := e.Size(); s > 0 {
		return math.Abs(e.Residual()) / s
	}
	return 0
}

// Audit is the energy balance of a machine: a line for each part, the last one for the inertia of the mechanics, whose Output is minus
// the work done on it.
type Audit struct{ Lines []Energies }

// Total is the sum of all lines: electrical in = losses + stored. The work between the parts cancels in Output.
func (a *Audit) Total() Energies {
	sum := Energies{Name: "total"}
	for _, e := range a.Lines {
		sum.Input += e.Input
		sum.Loss += e.Loss
		sum.Output += e.Output
		sum.StoredChange += e.StoredChange
		sum.Gross = max(sum.Gross, e.Size())
	}
	return sum
}

// Check is an error with every line that does not close to tol of its size, or loses less than nothing. Of a line that is below a
// thousandth of the largest one, as that of a gear without loss, that thousandth is taken for its size.
func (a *Audit) Check(tol float64) error {
	var errs []error
	all := append(a.Lines[:len(a.Lines):len(a.Lines)], a.Total())
	least := 0.0
	for _, e := range all {
		least = max(least, 1e-3*e.Size())
	}
	for _, e := range all {
		size := max(least, e.Size())
		if r := e.Residual(); !(math.Abs(r) <= tol*size) {
			errs = append(errs, fmt.Errorf("%s: the energies do not close: in %.9g J, loss %.9g J, work %.9g J, stored %.9g J: %.3g J are left, "+
				"%.2g relative, want at most %.2g",
				e.Name, e.Input, e.Loss, e.Output, e.StoredChange, r, math.Abs(r)/size, tol))
		}
		if e.Loss < -tol*size {
			errs = append(errs, fmt.Errorf("%s: loss %.9g J, want ≥ 0", e.Name, e.Loss))
		}
	}
	return errors.Join(errs...)
}
