package beam

import (
	"fmt"
	"math"
)

// element is the stiffness and the mass of one element, on and below the diagonal.
func (b *Beam) element() (ke, me [4][4]float64) {
	l := b.l
	k := b.p.Young * b.p.SecondMoment / (l * l * l)
	m := b.p.Density * b.p.Area * l / 420
	ke = [4][4]float64{
		{12},
		{6 * l, 4 * l * l},
		{-12, -6 * l, 12},
		{6 * l, 2 * l * l, -6 * l, 4 * l * l},
	}
	me = [4][4]float64{
		{156},
		{22 * l, 4 * l * l},
		{54, 13 * l, 156},
		{-13 * l, -3 * l * l, -22 * l, 4 * l * l},
	}
	for r := range ke {
		for c := range r + 1 {
			ke[r][c] *= k
			me[r][c] *= m
		}
	}
	return ke, me
}

// Place is a point of the beam with the shape functions of its element.
type Place struct {
	Element int        // from 0 on
	X       float64    // m  from the left end
	I       [4]int     // free coordinates of the element; −1: held
	N       [4]float64 // deflection is Σ N[k]·q[I[k]]
	Nx      [4]float64 // 1/m   slope
	Nxx     [4]float64 // 1/m²  curvature; it jumps from element to element
}

// LeftError says that a load stands beside the beam.
type LeftError struct {
	T, X, Length float64 // s, m, m
}

func (e *LeftError) Error() string {
	end := "right"
	if e.X < e.Length/2 {
		end = "left"
	}
	return fmt.Sprintf("the load left the beam over its %s end at t = %.9g s: x = %.6g m on a beam from 0 to %.6g m", end, e.T, e.X, e.Length)
}

// ElementAt is the element that holds x (m); on a border the one to the right, if there is one. The error is a *LeftError without its time.
func (b *Beam) ElementAt(x float64) (int, error) {
	if !(x >= 0 && x <= b.p.Length) {
		return 0, &LeftError{X: x, Length: b.p.Length}
	}
	return min(int(x/b.l), b.p.Elements-1), nil
}

// At is the point at x (m).
func (b *Beam) At(x float64) (Place, error) {
	e, err := b.ElementAt(x)
	if err != nil {
		return Place{}, err
	}
	return b.PlaceIn(e, x), nil
}

// PlaceIn is the point at x (m) by the polynomials of a given element: those that hold within a step, which may end a rounding error
// beside it.
func (b *Beam) PlaceIn(e int, x float64) Place {
	l := b.l
	z := x/l - float64(e)
	z2, z3 := z*z, z*z*z
	return Place{
		Element: e, X: x,
		I:   [4]int(b.freeIndex[2*e : 2*e+4]),
		N:   [4]float64{2*z3 - 3*z2 + 1, l * (z3 - 2*z2 + z), -2*z3 + 3*z2, l * (z3 - z2)},
		Nx:  [4]float64{6 * (z2 - z) / l, 3*z2 - 4*z + 1, 6 * (z - z2) / l, 3*z2 - 2*z},
		Nxx: [4]float64{(12*z - 6) / (l * l), (6*z - 4) / l, (6 - 12*z) / (l * l), (6*z - 2) / l},
	}
}

// Of is Σ n[k]·q[I[k]], with N, Nx or Nxx for n.
func (p *Place) Of(n *[4]float64, q []float64) (sum float64) {
	for k, i := range p.I {
		if i >= 0 {
			sum += n[k] * q[i]
		}
	}
	return sum
}

// Add puts f·Nᵀ on a load: a force f (N) upwards at the point.
func (p *Place) Add(f float64, load []float64) {
	for k, i := range p.I {
		if i >= 0 {
			load[i] += f * p.N[k]
		}
	}
}

// AddMoment puts m·N_xᵀ on a load: a moment m (N·m) that turns towards positive slope.
func (p *Place) AddMoment(m float64, load []float64) {
	for k, i := range p.I {
		if i >= 0 {
			load[i] += m * p.Nx[k]
		}
	}
}

// AddWeight puts the weight of the beam itself on a load, g (m/s²) downwards.
func (b *Beam) AddWeight(g float64, load []float64) {
	f := -b.p.Density * b.p.Area * g * b.l
	share := [4]float64{f / 2, f * b.l / 12, f / 2, -f * b.l / 12}
	for e := range b.p.Elements {
		for k, i := range b.freeIndex[2*e : 2*e+4] {
			if i >= 0 {
				load[i] += share[k]
			}
		}
	}
}

// Static replaces a load (N and N·m of the free coordinates) by the deflection under it. The error is ErrLoose.
func (b *Beam) Static(load []float64) error {
	if !b.firm {
		return ErrLoose
	}
	b.stiffnessFactor.Solve(load)
	return nil
}

// SteepestSlope is the largest |w_x| at the nodes, what the theory of small slopes is asked for.
func (b *Beam) SteepestSlope(q []float64) (top float64) {
	for k := range b.Nodes() {
		if i := b.freeIndex[2*k+1]; i >= 0 {
			top = max(top, math.Abs(q[i]))
		}
	}
	return top
}
