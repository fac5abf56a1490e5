package tracker

import (
	"math"

	"gonum.org/v1/gonum/num/quat"

	"hilrig/engine/rotation"
)

// fromMatrix is the quaternion nearest to a rotation matrix, given row by row; not a number where it is none.
func fromMatrix(a, b, c, d, e, f, g, h, i float64) quat.Number {
	q, _, ok := rotation.FromMatrix(rotation.Matrix{{a, b, c}, {d, e, f}, {g, h, i}})
	if !ok {
		return quat.Number{Real: math.NaN(), Imag: math.NaN(), Jmag: math.NaN(), Kmag: math.NaN()}
	}
	return q
}

// columns are those of the rotation matrix of a unit quaternion, one behind the other.
func columns(q quat.Number) [9]float64 {
	m := rotation.MatrixOf(q)
	return [9]float64{m[0][0], m[1][0], m[2][0], m[0][1], m[1][1], m[2][1], m[0][2], m[1][2], m[2][2]}
}
