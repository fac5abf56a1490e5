package friction

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
)

// LinearSurrogate is a Stribeck curve that is linear in its parameters [MOGI] (6.19), on a contact with a rigid stick mode:
//
//	F = (α0 − α1·√|v| + α2·|v|)·sgn v,   |F| ≤ α0 at rest,
//
// with √|v| taken relative to 1 m/s, so that α1 is a force.
// It is a start for fits of the real curves, good to about 85 % in the slow range and not to be used outside the speeds it
// was fitted to. The default is the fit of the default Tustin curve from 0 to 0.2 m/s. Where the formula goes below zero, as
// a poor fit may, friction is zero: it never drives.
type LinearSurrogate struct {
	rigid
	Alpha0 float64 // N      break-away friction
	Alpha1 float64 // N      fall, the force at 1 m/s
	Alpha2 float64 // N·s/m  rise
}

// At is the sliding friction (N) and its slope (N·s/m) at the speed s ≥ 0 (m/s).
func (p *LinearSurrogate) At(s float64) (f, slope float64) {
	r := math.Sqrt(s)
	if f = p.Alpha0 - p.Alpha1*r + p.Alpha2*s; f <= 0 {
		return 0, 0
	}
	return f, p.Alpha2 - p.Alpha1/(2*max(r, tiny))
}

func (p *LinearSurrogate) sliding(z []float64, s0 float64, in Input) (f, slope float64) {
	return p.At(in.V)
}

func (p *LinearSurrogate) level([]float64, float64) float64 { return p.Alpha0 }

func (p *LinearSurrogate) advanceState([]float64, float64, float64, bool) {}

// Step is the friction (N) at the velocity in.V; at rest it balances in.Fa up to the break-away level.
func (p *LinearSurrogate) Step(z []float64, in Input) float64 {
	return imposed(p, straight{}, z, in)
}

// Move advances a mass by in.Dt.
func (p *LinearSurrogate) Move(m float64, x []float64, in Input, load Load) (r MassStep) {
	p.moveInto(&r, m, x, in, load)
	return r
}

func (p *LinearSurrogate) moveInto(r *MassStep, m float64, x []float64, in Input, load Load) {
	stepContact(r, p, straight{}, m, x, in, load)
}

// SteadyForce is the curve (N).
func (p *LinearSurrogate) SteadyForce(v float64) float64 {
	if v == 0 {
		return 0
	}
	f, _ := p.At(math.Abs(v))
	return math.Copysign(f, v)
}

// Stiffness has the rise as damping. The curve falls upright from v = 0; the slope at 1 mm/s stands for it.
func (p *LinearSurrogate) Stiffness() Stiffness {
	_, slope := p.At(jump)
	return Stiffness{C: p.Alpha2, Fall: max(0, -slope), Speed: jump}
}

// Levels are α0 and, since the fall with √|v| does not end, the lowest of the whole curve: α0 − α1²/(4α2) at √|v| = α1/(2α2).
func (p *LinearSurrogate) Levels() Levels {
	lowest := p.Alpha0
	switch {
	case p.Alpha2 > 0:
		lowest = max(0, p.Alpha0-p.Alpha1*p.Alpha1/(4*p.Alpha2))
	case p.Alpha1 > 0:
		lowest = 0
	}
	return sameLevels(p.Alpha0, lowest)
}

// Viscous is α2·v (N), as far as the curve goes.
func (p *LinearSurrogate) Viscous(v float64) float64 {
	f := p.SteadyForce(math.Abs(v))
	return math.Copysign(min(p.Alpha2*math.Abs(v), f), v)
}

func (p *LinearSurrogate) fields() []field {
	return []field{
		{"alpha0", "N", &p.Alpha0, 0, maxForce, "break-away friction"},
		{"alpha1", "N", &p.Alpha1, 0, maxForce, "fall with the root of the speed, the force at 1 m/s"},
		{"alpha2", "N·s/m", &p.Alpha2, 0, maxDamping, "rise with the speed"},
	}
}

// Params lists the parameters in the order of SetParams.
func (p *LinearSurrogate) Params() []engine.Param { return paramsOf(p.fields()) }

// SetParams takes the numbers in the order of Params. The law is unchanged when they are refused.
func (p *LinearSurrogate) SetParams(theta []float64) error {
	return setParams("linear-surrogate", p.fields(), theta, p.Validate)
}

// Validate reports every parameter outside its range.
func (p *LinearSurrogate) Validate() error { return checkFields("linear-surrogate", p.fields()) }

// SurrogateFit says how well a surrogate follows a curve at the speeds it was fitted to.
type SurrogateFit struct {
	RMS   float64 // N  root mean square of the error
	Worst float64 // largest error, as a share of the curve there
	Index float64 // 1 − ‖error‖/‖curve − its mean‖: 1 perfect, 0 no better than a constant
}

// FitSurrogate fits the surrogate to a curve, the friction (N) at a speed (m/s), by ordinary least squares at n speeds
// spread evenly from lo to hi (m/s), 0 ≤ lo < hi, n ≥ 3. The result need not be a valid law: a curve without a fall gives
// α1 < 0, which Validate refuses.
func FitSurrogate(curve func(v float64) float64, lo, hi float64, n int) (LinearSurrogate, SurrogateFit, error) {
	if !(lo >= 0) || !(hi > lo) || math.IsInf(hi, 0) || n < 3 {
		return LinearSurrogate{}, SurrogateFit{}, fmt.Errorf("surrogate: %d speeds from %g to %g m/s, want at least 3 and 0 ≤ lo < hi", n, lo, hi)
	}
	a, y := mat.NewDense(n, 3, nil), mat.NewVecDense(n, nil)
	sum := 0.0
	for i := range n {
		v := lo + (hi-lo)*float64(i)/float64(n-1)
		f := curve(v)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return LinearSurrogate{}, SurrogateFit{}, fmt.Errorf("surrogate: the curve is %g N at %g m/s", f, v)
		}
		// columns of similar size, whatever the speeds are
		a.SetRow(i, []float64{1, math.Sqrt(v / hi), v / hi})
		y.SetVec(i, f)
		sum += f
	}
	var c, e mat.VecDense
	if err := c.SolveVec(a, y); err != nil {
		var cond mat.Condition
		if !errors.As(err, &cond) {
			return LinearSurrogate{}, SurrogateFit{}, fmt.Errorf("surrogate: %w", err)
		}
	}
	p := LinearSurrogate{Alpha0: c.AtVec(0), Alpha1: -c.AtVec(1) / math.Sqrt(hi), Alpha2: c.AtVec(2) / hi}

	// errors, against a constant
	var q SurrogateFit
	e.MulVec(a, &c)
	e.SubVec(&e, y)
	ee, yy := 0.0, 0.0
	for i := range n {
		d, f := e.AtVec(i), y.AtVec(i)
		ee += d * d
		yy += (f - sum/float64(n)) * (f - sum/float64(n))
		if f != 0 {
			q.Worst = max(q.Worst, math.Abs(d/f))
		}
	}
	q.RMS = math.Sqrt(ee / float64(n))
	if yy > 0 {
		q.Index = 1 - math.Sqrt(ee/yy)
	}
	return p, q, nil
}
