package pose

import (
	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// Sample is a measured pose.
type Sample struct {
	T     float64         // s
	R     quat.Number     // body → world
	P     r3.Vec          // m   of the origin of the body, world axes
	Turn  rotation.Matrix // rad²  covariance of R, body axes
	Place rotation.Matrix // m²    covariance of P, world axes; not correlated with R
}
