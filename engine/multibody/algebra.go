package multibody

import (
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// symmetric is a symmetric 3×3 matrix.
type symmetric struct{ xx, xy, xz, yy, yz, zz float64 }

func symmetricOf(m rotation.Matrix) symmetric {
	return symmetric{m[0][0], m[0][1], m[0][2], m[1][1], m[1][2], m[2][2]}
}

func (s *symmetric) vec(v r3.Vec) r3.Vec {
	return r3.Vec{X: s.xx*v.X + s.xy*v.Y + s.xz*v.Z, Y: s.xy*v.X + s.yy*v.Y + s.yz*v.Z, Z: s.xz*v.X + s.yz*v.Y + s.zz*v.Z}
}

// turned is R·S·Rᵀ.
func (s *symmetric) turned(r *rotation.Matrix, to *symmetric) {
	var t rotation.Matrix // R·S
	for i := range 3 {
		a, b, c := r[i][0], r[i][1], r[i][2]
		t[i] = [3]float64{a*s.xx + b*s.xy + c*s.xz, a*s.xy + b*s.yy + c*s.yz, a*s.xz + b*s.yz + c*s.zz}
	}
	to.xx = t[0][0]*r[0][0] + t[0][1]*r[0][1] + t[0][2]*r[0][2]
	to.xy = t[0][0]*r[1][0] + t[0][1]*r[1][1] + t[0][2]*r[1][2]
	to.xz = t[0][0]*r[2][0] + t[0][1]*r[2][1] + t[0][2]*r[2][2]
	to.yy = t[1][0]*r[1][0] + t[1][1]*r[1][1] + t[1][2]*r[1][2]
	to.yz = t[1][0]*r[2][0] + t[1][1]*r[2][1] + t[1][2]*r[2][2]
	to.zz = t[2][0]*r[2][0] + t[2][1]*r[2][1] + t[2][2]*r[2][2]
}

// turn is M·v without a copy of M.
func turn(m *rotation.Matrix, v r3.Vec) r3.Vec {
	return r3.Vec{
		X: m[0][0]*v.X + m[0][1]*v.Y + m[0][2]*v.Z,
		Y: m[1][0]*v.X + m[1][1]*v.Y + m[1][2]*v.Z,
		Z: m[2][0]*v.X + m[2][1]*v.Y + m[2][2]*v.Z,
	}
}

// turnBack is Mᵀ·v.
func turnBack(m *rotation.Matrix, v r3.Vec) r3.Vec {
	return r3.Vec{
		X: m[0][0]*v.X + m[1][0]*v.Y + m[2][0]*v.Z,
		Y: m[0][1]*v.X + m[1][1]*v.Y + m[2][1]*v.Z,
		Z: m[0][2]*v.X + m[1][2]*v.Y + m[2][2]*v.Z,
	}
}

// multiply writes a·b to c, which is neither.
func multiply(a, b, c *rotation.Matrix) {
	for i := range 3 {
		x, y, z := a[i][0], a[i][1], a[i][2]
		c[i][0] = x*b[0][0] + y*b[1][0] + z*b[2][0]
		c[i][1] = x*b[0][1] + y*b[1][1] + z*b[2][1]
		c[i][2] = x*b[0][2] + y*b[1][2] + z*b[2][2]
	}
}

// column is column k of m.
func column(m *rotation.Matrix, k int) r3.Vec { return r3.Vec{X: m[0][k], Y: m[1][k], Z: m[2][k]} }

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
