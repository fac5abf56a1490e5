package ball

import "gonum.org/v1/gonum/spatial/r3"

// sym is a symmetric 3×3 matrix.
type sym struct{ xx, yy, zz, xy, xz, yz float64 }

// plus is s + m·(|a|²·1 − aaᵀ): the inertia about a point at −a from the one of s.
func (s sym) plus(m float64, a r3.Vec) sym {
	x, y, z := a.X*a.X, a.Y*a.Y, a.Z*a.Z
	return sym{
		s.xx + m*(y+z), s.yy + m*(x+z), s.zz + m*(x+y),
		s.xy - m*a.X*a.Y, s.xz - m*a.X*a.Z, s.yz - m*a.Y*a.Z,
	}
}

// add is s + m·aaᵀ.
func (s sym) add(m float64, a r3.Vec) sym {
	return sym{
		s.xx + m*a.X*a.X, s.yy + m*a.Y*a.Y, s.zz + m*a.Z*a.Z,
		s.xy + m*a.X*a.Y, s.xz + m*a.X*a.Z, s.yz + m*a.Y*a.Z,
	}
}

// mulVec is s·a.
func (s *sym) mulVec(a r3.Vec) r3.Vec {
	return r3.Vec{
		X: s.xx*a.X + s.xy*a.Y + s.xz*a.Z,
		Y: s.xy*a.X + s.yy*a.Y + s.yz*a.Z,
		Z: s.xz*a.X + s.yz*a.Y + s.zz*a.Z,
	}
}

// factor is L·D·Lᵀ of a positive definite matrix.
type factor struct{ l10, l20, l21, i0, i1, i2 float64 } // i: inverse of D

func (s *sym) factor() factor {
	var f factor
	f.i0 = 1 / s.xx
	f.l10, f.l20 = s.xy*f.i0, s.xz*f.i0
	f.i1 = 1 / (s.yy - f.l10*s.xy)
	v := s.yz - f.l20*s.xy
	f.l21 = v * f.i1
	f.i2 = 1 / (s.zz - f.l20*s.xz - f.l21*v)
	return f
}

// solve gives x of L·D·Lᵀ·x = b.
func (f *factor) solve(b r3.Vec) r3.Vec {
	y := b.Y - f.l10*b.X
	z := (b.Z - f.l20*b.X - f.l21*y) * f.i2
	y = y*f.i1 - f.l21*z
	return r3.Vec{X: b.X*f.i0 - f.l10*y - f.l20*z, Y: y, Z: z}
}

// axpy is a·x + y.
func axpy(a float64, x, y r3.Vec) r3.Vec {
	return r3.Vec{X: a*x.X + y.X, Y: a*x.Y + y.Y, Z: a*x.Z + y.Z}
}
