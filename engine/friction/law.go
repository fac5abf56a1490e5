// Package friction holds the friction laws of the literature, one file per law, and the fixed-step schemes that couple
// any of them to a mass.
//
// The problem: a body of mass M moves under an applied force u and friction F,
//
//	M·dv/dt = u − F(v, z),   dz/dt = f(v, z),
//
// where z is the internal state of the contact (deflection of bristles, dwell time, temperature …). Friction opposes
// motion and is positive for v > 0, so F·v ≥ 0 dissipates. Forces are in N, lengths in m, speeds in m/s; for rotation read
// N·m, rad, rad/s and kg·m² with the same formulas.
//
// There are two families. A Smooth law gives its force for a given motion: bristles, memory variables, hysteresis. Its
// equations are stiff (the rate σ0|v|/g of a bristle reaches 1e5 1/s), so they are never integrated explicitly: for a given
// motion a step is exact, and for a mass one scalar equation for the mean velocity of the step is solved (Mass). A Switched
// law has a stick mode in which friction is whatever holds the body; it moves the mass itself and cuts the step where the
// mode changes.
//
// A law is found by name with Find, listed by Laws, and its parameters are read and set with Params and SetParams.
//
// Sources: the keys in brackets resolve in docs/reference/references.md; the discrete forms are derived in the comments.
package friction

import "hilrig/engine"

// Input is what a law is told about one step. It travels by value: a pointer to a local would escape through Law and cost
// an allocation.
type Input struct {
	Dt float64 // s    length of the step
	V  float64 // m/s  mean velocity over the step, Δx/Dt
	Fa float64 // N    applied force; only laws with a stick mode look at it
	N  float64 // N    normal load, for laws with a coefficient of friction or a nominal load N0; 0: not told, take N0; below 0: lifted off
	I  float64 // A    current through the contact; only the brush law looks at it
}

// Law is a friction law. The parameters are the type, the state is the caller's slice of StateDim numbers.
type Law interface {
	StateDim() int
	Reset(z []float64)                  // relaxed, at rest for ever
	Step(z []float64, in Input) float64 // advances z, returns the mean force over the step, opposing V
}

// Model is a law as the registry knows it: its parameters can be read, set and checked, and it says what a fixed step has
// to resolve.
type Model interface {
	Law
	engine.Tunable
	Validate() error               // every parameter outside its range, and every combination that is none
	States() []engine.Signal       // what the StateDim numbers are
	SteadyForce(v float64) float64 // N    force of long sliding at v ≠ 0 m/s
	Viscous(v float64) float64     // N    the part of it that fades with the speed
	Levels() Levels                // break-away and Coulomb friction
	Stiffness() Stiffness          // what the schemes have to resolve
	// Passive tells whether no motion that starts relaxed takes more work out of the contact than was put in; if not,
	// speed is the lowest speed (m/s) at which the contact can be active.
	Passive() (ok bool, speed float64)
}

// Stiffness bounds the slopes of a law, from which the limits of the schemes follow.
type Stiffness struct {
	K     float64 // N/m    largest stiffness of the sticking contact; 0: it does not yield
	C     float64 // N·s/m  largest damping
	Fall  float64 // N·s/m  steepest fall of the steady curve with speed, ≥ 0
	Speed float64 // m/s    speed over which the force changes (Stribeck velocity), > 0
}

// Smooth is a law whose force follows from the motion.
type Smooth interface {
	Law
	// Trial is a step of in.Dt > 0 at mean velocity in.V from state z, which it leaves alone: it writes the state at the
	// end to zn (which may be z itself) and returns the force of the scheme (N) and its derivative with respect to in.V
	// (N·s/m; for Explicit and ExplicitPade it is not used). The derivative steers Newton's method only: it may be rough.
	Trial(s Scheme, z, zn []float64, in Input) (force, slope float64)
}

// Flow is a law with a differential form. It is what adaptive and stiff integrators take, and what the exact steps are
// checked against.
type Flow interface {
	// Flow writes dz/dt at state z and velocity in.V to dz and returns the instantaneous force (N).
	Flow(z, dz []float64, in Input) float64
}

// Storing is a law that can tell how much work it could give back.
type Storing interface {
	Energy(z []float64) float64 // J, ≥ 0
}

// Sliding is a law with a mode that can start in sliding instead of at rest for ever.
type Sliding interface {
	// ResetSliding sets the state of a contact that has always been sliding at v (m/s); with v = 0 one that is about to
	// slide forward from rest.
	ResetSliding(z []float64, v float64)
}

// Bounded is a law whose states stay within bounds if they start within them.
type Bounded interface {
	// Bounds writes the largest magnitude of every state to top; +Inf where there is none.
	Bounds(top []float64)
}

// Switched is a law with a stick mode. It moves the mass itself, because the mode changes inside the step.
type Switched interface {
	Law
	// Move advances x = [position m, velocity m/s, state of the law …] of a mass m (kg) by in.Dt under the load. in carries
	// normal load and current; its V and Fa are not used.
	Move(m float64, x []float64, in Input, load Load) MassStep
}
