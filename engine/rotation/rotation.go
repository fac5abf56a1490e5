// Package rotation is what gonum's r3 and quat lack for the kinematics of rigid bodies: exponential and logarithm of SO(3) with
// their Jacobians, matrices by value, the rotation between two sets of points, and local polynomials of rotations in time.
//
// A rotation is a unit quaternion (quat.Number, or r3.Rotation, which converts) that takes body axes to world axes,
//
//	pW = R·pB,   ω in body axes:  dR/dt = R·[ω]×,   in world axes:  dR/dt = [R·ω]×·R.
//
// Both q and −q are that rotation. Small rotations are vectors φ (rad) in body axes unless said otherwise: R·exp([φ]×).
// The signs and formulas are those of [SDA18]. Nothing here allocates, unless it makes a slice by name.
package rotation

import (
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// Identity turns nothing.
var Identity = quat.Number{Real: 1}

// Rotate is R·p for a unit quaternion q.
func Rotate(q quat.Number, p r3.Vec) r3.Vec {
	// p + 2·s·(u×p) + 2·u×(u×p) with q = (s, u)
	tx := 2 * (q.Jmag*p.Z - q.Kmag*p.Y)
	ty := 2 * (q.Kmag*p.X - q.Imag*p.Z)
	tz := 2 * (q.Imag*p.Y - q.Jmag*p.X)
	return r3.Vec{
		X: p.X + q.Real*tx + q.Jmag*tz - q.Kmag*ty,
		Y: p.Y + q.Real*ty + q.Kmag*tx - q.Imag*tz,
		Z: p.Z + q.Real*tz + q.Imag*ty - q.Jmag*tx,
	}
}

// Unrotate is Rᵀ·p for a unit quaternion q.
func Unrotate(q quat.Number, p r3.Vec) r3.Vec { return Rotate(quat.Conj(q), p) }

// Unit is q with length one; ok is false where q has none: zero, or no number.
func Unit(q quat.Number) (u quat.Number, ok bool) {
	n := math.Sqrt(q.Real*q.Real + q.Imag*q.Imag + q.Jmag*q.Jmag + q.Kmag*q.Kmag)
	if !(n > 0) || math.IsInf(n, 0) {
		return Identity, false
	}
	return quat.Scale(1/n, q), true
}

// Difference is the small rotation φ (rad, body axes of a) from a to b: b = a·exp(φ), |φ| ≤ π.
func Difference(a, b quat.Number) r3.Vec { return Log(quat.Mul(quat.Conj(a), b)) }

// NearestSign is q or −q, whichever lies closer to the quaternion to.
func NearestSign(q, to quat.Number) quat.Number {
	if q.Real*to.Real+q.Imag*to.Imag+q.Jmag*to.Jmag+q.Kmag*to.Kmag < 0 {
		return quat.Scale(-1, q)
	}
	return q
}

// FromMatrix is the quaternion of a rotation matrix, by the largest of its four components [Sh78], with a real part ≥ 0. off is
// the largest element of MᵀM − 1, which tells how far M is from orthogonal; a matrix with a negative determinant (left-handed
// axes) has no rotation: ok is false, as it is where an element is no number.
func FromMatrix(m Matrix) (q quat.Number, off float64, ok bool) {
	g := m.T().Mul(m)
	for i := range 3 {
		g[i][i]--
		for j := range 3 {
			off = math.Max(off, math.Abs(g[i][j]))
		}
	}
	if !(m.Det() > 0) {
		return Identity, off, false
	}
	t := m[0][0] + m[1][1] + m[2][2]
	switch {
	case t >= m[0][0] && t >= m[1][1] && t >= m[2][2]:
		q = quat.Number{Real: 1 + t, Imag: m[2][1] - m[1][2], Jmag: m[0][2] - m[2][0], Kmag: m[1][0] - m[0][1]}
	case m[0][0] >= m[1][1] && m[0][0] >= m[2][2]:
		q = quat.Number{Real: m[2][1] - m[1][2], Imag: 1 - t + 2*m[0][0], Jmag: m[1][0] + m[0][1], Kmag: m[0][2] + m[2][0]}
	case m[1][1] >= m[2][2]:
		q = quat.Number{Real: m[0][2] - m[2][0], Imag: m[1][0] + m[0][1], Jmag: 1 - t + 2*m[1][1], Kmag: m[2][1] + m[1][2]}
	default:
		q = quat.Number{Real: m[1][0] - m[0][1], Imag: m[0][2] + m[2][0], Jmag: m[2][1] + m[1][2], Kmag: 1 - t + 2*m[2][2]}
	}
	if q.Real < 0 {
		q = quat.Scale(-1, q)
	}
	q, ok = Unit(q)
	return q, off, ok
}

// MatrixOf is the matrix R of a unit quaternion.
func MatrixOf(q quat.Number) Matrix {
	s, x, y, z := q.Real, q.Imag, q.Jmag, q.Kmag
	return Matrix{
		{1 - 2*(y*y+z*z), 2 * (x*y - s*z), 2 * (x*z + s*y)},
		{2 * (x*y + s*z), 1 - 2*(x*x+z*z), 2 * (y*z - s*x)},
		{2 * (x*z - s*y), 2 * (y*z + s*x), 1 - 2*(x*x+y*y)},
	}
}
