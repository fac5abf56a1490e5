package capture

import (
	"math"
	"strings"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// rotationVector makes a rotation of a vector: its direction is the axis, its length the angle. scale turns the numbers into rad.
func rotationVector(scale float64) turn {
	return func(a [3]float64) quat.Number {
		return rotation.Exp(r3.Vec{X: scale * a[0], Y: scale * a[1], Z: scale * a[2]})
	}
}

// eulerAngles makes a rotation of three angles about axes that turn with the body, in the order that is named, such as XYZ:
// R = R_X(a)·R_Y(b)·R_Z(c).
func eulerAngles(order string, scale float64) (turn, bool) {
	order = strings.ToUpper(order)
	axes := [3]int{}
	if len(order) != 3 {
		return nil, false
	}
	for i := range order {
		if axes[i] = strings.IndexByte("XYZ", order[i]); axes[i] < 0 || i > 0 && axes[i] == axes[i-1] {
			return nil, false
		}
	}
	if order[0] == order[2] { // about one axis twice: two of the angles would be in one column
		return nil, false
	}
	return func(a [3]float64) quat.Number {
		q := quat.Number{Real: 1}
		for _, axis := range axes {
			half := scale * a[axis] / 2
			e := [3]float64{}
			e[axis] = math.Sin(half)
			q = quat.Mul(q, quat.Number{Real: math.Cos(half), Imag: e[0], Jmag: e[1], Kmag: e[2]})
		}
		return q
	}, true
}
