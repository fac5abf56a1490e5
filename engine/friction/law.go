// Package friction holds friction laws, one file per law, and the fixed-step scheme that couples a law to a mass.
//
// The problem: a body of mass M moves under an applied force u and friction F,
//
//	M·dv/dt = u − F(v, z),   dz/dt = f(v, z),
//
// where z is the internal state of the contact (the mean deflection of the bristles). Friction opposes motion and is
// positive for v > 0, so F·v ≥ 0 dissipates. Forces are in N, lengths in m, speeds in m/s; for rotation read N·m, rad,
// rad/s and kg·m² with the same formulas.
//
// The bristle equation is stiff: its rate σ0|v|/g reaches 1e5 1/s. It is therefore never integrated explicitly. For a
// given motion the step is exact (Step, StepDx); for a mass the mean velocity of the step is found from a scalar
// equation (StepMass), which makes the work balance exact in every step and the whole scheme second order.
//
// Assumed: the velocity is constant within a step, the normal load is the one for which the parameters were found, and
// the contact does not age at rest (break-away depends on the rate of the force, not on the dwell time).
//
// Sources: [C95] the law, [O98] its properties, [BO00] passivity; the discrete forms are derived in the comments.
package friction

// Input is what a law is told about one step. It travels by value: a pointer to a local would escape through Law and cost
// an allocation.
type Input struct {
	Dt float64 // s    length of the step
	V  float64 // m/s  mean velocity over the step, Δx/Dt
	Fa float64 // N    applied force; only laws with a stick mode look at it
	N  float64 // N    normal load; only laws with a coefficient of friction look at it
}

// Law is a friction law. The parameters are the type, the state is the caller's slice of StateDim numbers.
type Law interface {
	StateDim() int
	Reset(z []float64)
	Step(z []float64, in Input) float64 // advances z, returns the mean force over the step, opposing V
}
