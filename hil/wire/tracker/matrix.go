package tracker

import (
	"math"

	"gonum.org/v1/gonum/num/quat"
)

// fromMatrix is the quaternion of a rotation matrix, given row by row, by its largest component [Shepperd78].
func fromMatrix(a, b, c, d, e, f, g, h, i float64) quat.Number {
	t := a + e + i
	var q quat.Number
	switch {
	case t >= a && t >= e && t >= i:
		q = quat.Number{Real: 1 + t, Imag: h - f, Jmag: c - g, Kmag: d - b}
	case a >= e && a >= i:
		q = quat.Number{Real: h - f, Imag: 1 + a - e - i, Jmag: b + d, Kmag: c + g}
	case e >= i:
		q = quat.Number{Real: c - g, Imag: b + d, Jmag: 1 - a + e - i, Kmag: f + h}
	default:
		q = quat.Number{Real: d - b, Imag: c + g, Jmag: f + h, Kmag: 1 - a - e + i}
	}
	n := quat.Abs(q)
	if n == 0 || math.IsNaN(n) {
		return quat.Number{Real: math.NaN(), Imag: math.NaN(), Jmag: math.NaN(), Kmag: math.NaN()}
	}
	if q.Real < 0 {
		n = -n
	}
	return quat.Scale(1/n, q)
}

// columns are those of the rotation matrix of a unit quaternion, one behind the other.
func columns(q quat.Number) [9]float64 {
	w, x, y, z := q.Real, q.Imag, q.Jmag, q.Kmag
	return [9]float64{
		1 - 2*(y*y+z*z), 2 * (x*y + w*z), 2 * (x*z - w*y),
		2 * (x*y - w*z), 1 - 2*(x*x+z*z), 2 * (y*z + w*x),
		2 * (x*z + w*y), 2 * (y*z - w*x), 1 - 2*(x*x+y*y),
	}
}
