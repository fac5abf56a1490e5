package multibody

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// What Check refuses.
var (
	ErrMass     = errors.New("mass")
	ErrTriangle = errors.New("impossible inertia")
)

// Inertia is mass, centre of mass and moments of inertia of a body in its axes.
type Inertia struct {
	Mass float64         // kg
	Com  r3.Vec          // m      centre of mass
	I    rotation.Matrix // kg·m²  about the centre of mass, symmetric; products with the sign of the matrix, −∫xy dm
}

// roundOff is what the moments of a real body may miss of the triangle inequality, relative to their sum: numbers of data sheets and
// CAD programs are rounded. carriedRoundOff is the same relative to m·|c|²: moments that were computed about the origin of the body and
// carried to its centre of mass keep the rounding of the larger numbers (a point mass comes out as 0 ± 1e-16·m·|c|²).
const roundOff, carriedRoundOff = 1e-9, 1e-14

// Check tells whether a rigid body can have this inertia: all is finite, the mass is not negative, no mass has no moments, and the
// principal moments A ≤ B ≤ C have A ≥ 0 and A + B ≥ C.
func (b Inertia) Check() error {
	sum := 0.0
	for i := range 3 {
		for j := range 3 {
			sum += math.Abs(b.I[i][j])
		}
	}
	switch {
	case !(b.Mass >= 0) || math.IsInf(b.Mass, 0):
		return fmt.Errorf("%w %g kg, want a positive number", ErrMass, b.Mass)
	case !isFinite(b.Com) || !(sum < math.Inf(1)):
		return fmt.Errorf("%w: centre of mass %v m, moments %v kg·m², want finite numbers", ErrTriangle, b.Com, b.I)
	case b.Mass == 0 && sum > 0:
		return fmt.Errorf("%w 0 kg with moments of inertia, want a positive number", ErrMass)
	}
	slack := roundOff*sum + carriedRoundOff*b.Mass*r3.Norm2(b.Com)
	for i := range 3 {
		for j := range i {
			if math.Abs(b.I[i][j]-b.I[j][i]) > slack {
				return fmt.Errorf("%w: I[%d][%d] = %g but I[%d][%d] = %g kg·m²: the matrix has to be symmetric", ErrTriangle, i, j, b.I[i][j], j, i,
					b.I[j][i])
			}
		}
	}
	if p, _ := b.I.Eigen(); p[0] < -slack || p[0]+p[1] < p[2]-slack {
		return fmt.Errorf("%w: principal moments %.6g, %.6g, %.6g kg·m²: none may be negative nor greater than the sum of the other two; are "+
			"they about the centre of mass?", ErrTriangle, p[0], p[1], p[2])
	}
	return nil
}

// Transform is the inertia in the axes in which the body stands at p.
func (b Inertia) Transform(p Pose) Inertia {
	r := rotation.MatrixOf(p.turn())
	return Inertia{Mass: b.Mass, Com: r3.Add(p.P, r.Vec(b.Com)), I: r.Mul(b.I).Mul(r.T())}
}

// Plus is the inertia of both together.
func (b Inertia) Plus(c Inertia) Inertia {
	m := b.Mass + c.Mass
	if m == 0 {
		return b
	}
	com := r3.Add(r3.Scale(b.Mass/m, b.Com), r3.Scale(c.Mass/m, c.Com))
	return Inertia{Mass: m, Com: com, I: b.momentsAbout(com).Add(1, c.momentsAbout(com))}
}

// momentsAbout is the matrix of moments about the point p (m, body axes).
func (b Inertia) momentsAbout(p r3.Vec) rotation.Matrix {
	d := r3.Sub(b.Com, p)
	return b.I.Add(b.Mass*r3.Norm2(d), rotation.Eye).Add(-b.Mass, rotation.OuterProduct(d, d))
}

// InertialParams is how many numbers describe the inertia of a body, linear in the equations of motion.
const InertialParams = 10

// Params are m, m·c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz with the moments about the origin of the body axes.
func (b Inertia) Params() [InertialParams]float64 {
	o := b.momentsAbout(r3.Vec{})
	return [...]float64{b.Mass, b.Mass * b.Com.X, b.Mass * b.Com.Y, b.Mass * b.Com.Z, o[0][0], o[0][1], o[0][2], o[1][1], o[1][2], o[2][2]}
}

// InertiaOf is the inertia with these parameters; it need not be that of a real body: Check it.
func InertiaOf(p [InertialParams]float64) Inertia {
	b := Inertia{Mass: p[0]}
	if p[0] != 0 {
		b.Com = r3.Scale(1/p[0], r3.Vec{X: p[1], Y: p[2], Z: p[3]})
	}
	o := rotation.Matrix{{p[4], p[5], p[6]}, {p[5], p[7], p[8]}, {p[6], p[8], p[9]}}
	b.I = o.Add(-b.Mass*r3.Norm2(b.Com), rotation.Eye).Add(b.Mass, rotation.OuterProduct(b.Com, b.Com))
	return b
}

func isFinite(v r3.Vec) bool { return (v.X+v.Y+v.Z)*0 == 0 }
