package drivetrain

import (
	"errors"
	"fmt"

	"hilrig/engine"
	"hilrig/engine/circuit"
)

// Row ties speeds together, X·v = ρ, and exerts the force b·λ that this needs.
type Row interface {
	Name() string
	check(n int) error
	// place tells the row where its parts stand.
	place(tr *Train) error
	// coefficients writes X.
	coefficients(x []float64)
	// force writes b for a multiplier that is positive, or negative, at the speeds v.
	force(v []float64, positive bool, b []float64)
	// steepenAt adds ∂(b·λ)/∂v to slope, n×n.
	steepenAt(v []float64, lambda float64, n int, slope []float64)
	// accelerate writes the coefficients of the row once differentiated and returns its right-hand side, x·v′ = ρ.
	accelerate(t float64, q, v, z, dz, x []float64) (rho float64, st engine.Status)
	// mean writes the coefficients for the mean speeds of a step and returns the right-hand side, linear about w. z is the state at
	// the beginning; the parts have just made their Trial.
	mean(t, h float64, w, z, x []float64) (rho float64)
	// speed is ρ at an instant.
	speed(t float64, z, dz []float64) float64
	// power at the speeds v and the multiplier lambda, whose force does the work out on the coordinates.
	power(v []float64, lambda, out float64) circuit.Power
}

// Gear ties two shafts without yielding, v_A = Ratio·v_B. λ is the torque T on B; A feels −T/Ratio and the loss of the mesh.
//
// The equations of motion with it hold for one of the two sides of the loss, by the sign of T; the one is taken that its own T
// agrees with. For a mechanics with one coordinate for both shafts the same gear without loss is an Armature.
type Gear struct {
	Label string
	Twist
	Mesh *Mesh // nil: no loss
}

// Name is the label.
func (g *Gear) Name() string { return g.Label }

func (g *Gear) check(n int) error {
	errs := []error{g.checkTwist(n), g.Mesh.check()}
	if g.A == Ground || g.B == Ground {
		errs = append(errs, fmt.Errorf("the shafts A and B: a gear to ground holds its shaft: leave the coordinate out"))
	}
	return errors.Join(errs...)
}

func (g *Gear) coefficients(x []float64) {
	x[g.A] = 1 / g.ratio()
	x[g.B] = -1
}

func (g *Gear) force(v []float64, positive bool, b []float64) {
	r := g.ratio()
	b[g.A], b[g.B] = -1/r, 1
	if g.Mesh == nil {
		return
	}
	torque := 1 / r
	if !positive {
		torque = -torque
	}
	drag, _, _ := g.Mesh.drag(torque, v[g.A])
	if positive {
		b[g.A] -= drag
	} else {
		b[g.A] += drag // per unit of λ, which is negative
	}
}

func (g *Gear) steepenAt(v []float64, lambda float64, n int, slope []float64) {
	if g.Mesh != nil {
		_, _, dv := g.Mesh.drag(lambda/g.ratio(), v[g.A])
		slope[g.A*n+g.A] -= dv
	}
}

func (g *Gear) power(v []float64, lambda, out float64) circuit.Power {
	p := circuit.Power{Output: out}
	if g.Mesh != nil {
		p.Loss = g.Mesh.lossPower(lambda/g.ratio(), v[g.A])
	}
	return p
}

func (g *Gear) place(*Train) error { return nil }

func (g *Gear) accelerate(t float64, q, v, z, dz, x []float64) (rho float64, st engine.Status) {
	g.coefficients(x)
	return 0, engine.OK
}

func (g *Gear) mean(t, h float64, w, z, x []float64) (rho float64) {
	g.coefficients(x)
	return 0
}

func (g *Gear) speed(t float64, z, dz []float64) float64 { return 0 }

// Armature is the inertia that a rotor of inertia j (kg·m²) behind a gear adds to the shaft it drives, Ratio²·j.
func (g *Gear) Armature(j float64) float64 { return g.ratio() * g.ratio() * j }
