package engine

import (
	"errors"
	"fmt"
)

// RHS writes the derivative of x at time t (s) to dx. It must not keep or change x.
type RHS func(t float64, x, dx []float64)

// Stepper advances x in place from t by a fixed h (s), which may be negative. It owns its workspace, so it serves one
// goroutine, and allocates nothing. With the status NonFinite x is as before; with NotConverged it holds the best found.
//
//	stepper           order   stages solved           use
//	SemiImplicit      1       none                    mechanics, long runs: energy error bounded
//	RK4               4       none                    smooth and not stiff
//	ImplicitMidpoint  2       n unknowns              stiff mechanics without numerical damping
//	RadauIIA3         3       2n unknowns             stiff, fast decay damped out (L-stable)
//	RadauIIA5         5       3n unknowns             stiff references
type Stepper interface {
	Step(f RHS, t, h float64, x []float64) Status
}

// Repeat advances x from t by n steps of h (s), stops at the first status that is not OK, and returns the time reached.
// The time of a step is t + k·h, so no rounding accumulates.
func Repeat(s Stepper, f RHS, t, h float64, n int, x []float64) (end float64, st Status) {
	for k := range n {
		if st := s.Step(f, t+float64(k)*h, h, x); st != OK {
			return t + float64(k)*h, st
		}
	}
	return t + float64(n)*h, OK
}

// Why an adaptive integration ended early. A *Stop carries one of these.
var (
	ErrStepSize  = errors.New("step size underflow: the tolerance cannot be met, the problem is stiff or singular here")
	ErrNonFinite = errors.New("right-hand side is not finite")
	ErrSteps     = errors.New("too many steps")
)

// Stop says where an integration ended early, and why.
type Stop struct {
	T, H  float64 // s  time reached and step tried
	Steps int     // steps taken
	Cause error   // one of ErrStepSize, ErrNonFinite, ErrSteps
}

func (e *Stop) Error() string {
	return fmt.Sprintf("integration stopped at t = %.9g s after %d steps, h = %.3g s: %v", e.T, e.Steps, e.H, e.Cause)
}

// Unwrap makes errors.Is(err, ErrStepSize) work.
func (e *Stop) Unwrap() error { return e.Cause }
