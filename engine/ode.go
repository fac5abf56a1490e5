package engine

import (
	"errors"
	"fmt"
)

// RHS writes the derivative of x at time t (s) to dx. It must not keep or change x.
type RHS func(t float64, x, dx []float64)

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
