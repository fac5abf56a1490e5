package circuit

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine/numeric"
	"hilrig/engine/reference"
)

// A source is any reference.Generator: its position is the voltage (V) or current (A), its velocity the derivative in time.

// Jumping is a source that says where it jumps or has a corner. Integrators stop there, and a fixed step is cut there.
type Jumping interface {
	Next(t float64) float64 // the first such instant after t (s); +Inf: none
}

// Held is a source whose value is set from outside between steps, as a controller does.
type Held struct{ Value float64 }

// At is the value, at rest.
func (h *Held) At(float64) (pos, vel, acc float64) { return h.Value, 0, 0 }

// PWM switches between two values. A period begins with High, which lasts for the share Duty of it.
type PWM struct {
	Low, High float64
	Period    float64             // s
	Duty      reference.Generator // 0 … 1, taken at the beginning of each period; outside it is cut
}

// Validate reports what is outside its range.
func (p *PWM) Validate() error {
	var errs []error
	if !(p.Period > 0) || math.IsInf(p.Period, 0) {
		errs = append(errs, fmt.Errorf("period: %g s, want > 0", p.Period))
	}
	if p.Duty == nil {
		errs = append(errs, errors.New("duty: missing"))
	}
	if !numeric.IsFinite(p.Low) || !numeric.IsFinite(p.High) {
		errs = append(errs, fmt.Errorf("levels: %g and %g, want finite numbers", p.Low, p.High))
	}
	return errors.Join(errs...)
}

// edges are the beginning of the period of t, its falling edge and its end.
func (p *PWM) edges(t float64) (begin, fall, end float64) {
	k := math.Floor(t / p.Period)
	begin, end = k*p.Period, (k+1)*p.Period
	// t/Period may have been rounded across an edge
	if t >= end {
		begin, end = end, (k+2)*p.Period
	} else if t < begin {
		begin, end = (k-1)*p.Period, begin
	}
	d, _, _ := p.Duty.At(begin)
	return begin, begin + min(1, max(0, d))*(end-begin), end
}

// At is the level at t (s); at an edge the one after it.
func (p *PWM) At(t float64) (pos, vel, acc float64) {
	if _, fall, _ := p.edges(t); t < fall {
		return p.High, 0, 0
	}
	return p.Low, 0, 0
}

// Next is the next edge after t (s).
func (p *PWM) Next(t float64) float64 {
	_, fall, end := p.edges(t)
	if t < fall {
		return fall
	}
	return end
}
