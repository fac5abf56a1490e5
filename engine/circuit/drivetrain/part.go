// Package drivetrain holds what stands between a machine's motors and its bodies: shafts, gears with losses, backlash, belts, stops
// and lossy bearings. A machine has coordinates q with speeds v, and Parts that exert forces τ(t, q, v, z) on them and have states z of
// their own, z′ = f(t, q, v, z); the circuit is one of them.
//
// Offline a part is asked for its Flow, at an instant. In a fixed step it is told the mean speeds w of the step and gives its mean force:
// springs give their exact mean, so what they store they give back; the circuit is exact for even changes of speed; friction laws take
// their own exact steps.
//
// Package machine steps them. The tests here step them by an engine of their own, Train, which solves
//
//	M·v′ + c = Σ τ + Σ b_r·λ_r,   z′ = f(t, q, v, z),   X_r·v = ρ_r
//
// by an adaptive integrator, or for the means of a step by the implicit midpoint rule.
//
// Coordinates are angles (rad) or lengths (m); torque (N·m) reads force (N) then.
package drivetrain

import (
	"errors"
	"fmt"

	"hilrig/engine"
	"hilrig/engine/circuit"
)

// Part exerts forces on the coordinates of a machine. A *circuit.Circuit is one.
type Part interface {
	Name() string
	States() []engine.Signal
	Reset(z []float64)
	// Flow writes dz/dt and adds the forces of the instant to tau. Out of the powers is tau·v of this part.
	Flow(t float64, q, v, z, dz, tau []float64) (circuit.Power, engine.Status)
	// Trial advances z, which it leaves alone, by h > 0 (s) from the positions q and speeds v at the mean speeds w: state at the end to zn,
	// mean forces added to tau, their derivatives with respect to w added to slope (row-major). The powers are means of the step.
	Trial(t, h float64, q, v, w, z, zn, tau, slope []float64) (circuit.Power, engine.Status)
	// Stored is the energy (J) in it.
	StoredEnergy(q, z []float64) float64
}

// checker is a part that can tell what is wrong with it, given the number of coordinates.
type checker interface{ check(n int) error }

// Check joins all that is wrong with the parts of a machine with n coordinates; nil: nothing.
func Check(n int, parts []Part) error {
	var errs []error
	names := map[string]bool{}
	for _, p := range parts {
		if c, ok := p.(checker); ok {
			errs = append(errs, prefixErrors(p.Name(), c.check(n)))
		}
		if c, ok := p.(*circuit.Circuit); ok && c.Axes() != n {
			errs = append(errs, fmt.Errorf("circuit: built for %d coordinates, the mechanics has %d", c.Axes(), n))
		}
		if names[p.Name()] {
			errs = append(errs, fmt.Errorf("%s: two parts of this name", p.Name()))
		}
		names[p.Name()] = true
	}
	return errors.Join(errs...)
}

// prefixErrors puts a name before each line of an error.
func prefixErrors(name string, err error) error {
	if err == nil {
		return nil
	}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		var errs []error
		for _, e := range j.Unwrap() {
			errs = append(errs, prefixErrors(name, e))
		}
		return errors.Join(errs...)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Ground in place of a coordinate is what does not move.
const Ground = -1

// Twist is the difference of two coordinates behind a ratio,
//
//	δ = q_A/Ratio − q_B,
//
// and the torque T that goes with it, seen on the side of B: T acts on B, −T/Ratio on A. An end may be Ground.
type Twist struct {
	A, B  int     // coordinates
	Ratio float64 // turns of A for one of B; 0: 1. For a linear B: rad/m
}

func (w *Twist) ratio() float64 {
	if w.Ratio == 0 {
		return 1
	}
	return w.Ratio
}

// of is the twist of positions, or its rate for speeds.
func (w *Twist) of(q []float64) (d float64) {
	if w.A >= 0 {
		d = q[w.A] / w.ratio()
	}
	if w.B >= 0 {
		d -= q[w.B]
	}
	return d
}

// exert adds the torque to tau and returns its power on the coordinates of speeds v.
func (w *Twist) exert(torque float64, v, tau []float64) (out float64) {
	if w.A >= 0 {
		tau[w.A] -= torque / w.ratio()
	}
	if w.B >= 0 {
		tau[w.B] += torque
	}
	return -torque * w.of(v)
}

// steepen adds the derivative k = dT/dδ′ to slope.
func (w *Twist) steepen(k float64, n int, slope []float64) {
	if r := w.ratio(); w.A >= 0 {
		slope[w.A*n+w.A] -= k / r / r
		if w.B >= 0 {
			slope[w.A*n+w.B] += k / r
			slope[w.B*n+w.A] += k / r
		}
	}
	if w.B >= 0 {
		slope[w.B*n+w.B] -= k
	}
}

func (w *Twist) checkTwist(n int) error {
	var errs []error
	for k, c := range [2]int{w.A, w.B} {
		if c < Ground || c >= n {
			errs = append(errs, fmt.Errorf("%c: coordinate %d, want %d (ground) to %d", "AB"[k], c, Ground, n-1))
		}
	}
	if w.A == w.B {
		errs = append(errs, fmt.Errorf("the shafts A and B: both are coordinate %d", w.A))
	}
	if !isFinite(w.Ratio) {
		errs = append(errs, fmt.Errorf("ratio: %g, want a finite number", w.Ratio))
	}
	return errors.Join(errs...)
}

func isFinite(x float64) bool { return x-x == 0 }

// atLeast is an error unless v is finite and ≥ 0, or > 0 where above is set.
func atLeast(name string, v float64, unit string, above bool) error {
	switch {
	case above && !(v > 0 && isFinite(v)):
		return fmt.Errorf("%s: %g %s, want > 0", name, v, unit)
	case !(v >= 0 && isFinite(v)):
		return fmt.Errorf("%s: %g %s, want ≥ 0", name, v, unit)
	}
	return nil
}

// stateless is a part without states.
type stateless struct{}

func (stateless) States() []engine.Signal { return nil }
func (stateless) Reset([]float64)         {}
