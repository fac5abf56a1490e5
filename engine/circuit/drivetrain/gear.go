package drivetrain

import (
	"errors"
	"fmt"
)

// Row ties speeds together, X·v = ρ, and exerts the force b·λ that this needs.
type Row interface {
	Name() string
	check(n int) error
	// coefficients writes X, constant.
	coefficients(x []float64)
	// force writes b for a multiplier that is positive, or negative, at the speeds v.
	force(v []float64, positive bool, b []float64)
	// steepenAt adds ∂(b·λ)/∂v to slope, n×n.
	steepenAt(v []float64, lambda float64, n int, slope []float64)
	// lost is what turns into heat (W) at the multiplier lambda.
	lost(v []float64, lambda float64) float64
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
		errs = append(errs, fmt.Errorf("A and B: a gear to ground holds its shaft: leave the coordinate out"))
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

func (g *Gear) lost(v []float64, lambda float64) float64 {
	if g.Mesh == nil {
		return 0
	}
	return g.Mesh.lost(lambda/g.ratio(), v[g.A])
}

// Armature is the inertia that a rotor of inertia j (kg·m²) behind a gear adds to the shaft it drives, Ratio²·j.
func (g *Gear) Armature(j float64) float64 { return g.ratio() * g.ratio() * j }
