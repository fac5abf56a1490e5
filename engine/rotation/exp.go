package rotation

import (
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// seriesAngle is the angle (rad) below which the coefficients of the Jacobians come from their series: the closed forms lose digits
// as 1/θ², the first term left out is below 1e-15.
const seriesAngle = 0.3

// Exp is the unit quaternion of the rotation vector φ (rad), of any length.
func Exp(phi r3.Vec) quat.Number {
	theta := math.Sqrt(phi.X*phi.X + phi.Y*phi.Y + phi.Z*phi.Z)
	if theta < 1e-4 {
		// sin(θ/2)/θ and cos(θ/2); the next terms are below 1e-20
		t2 := theta * theta
		k := 0.5 - t2/48
		return quat.Number{Real: 1 - t2/8 + t2*t2/384, Imag: k * phi.X, Jmag: k * phi.Y, Kmag: k * phi.Z}
	}
	sin, cos := math.Sincos(theta / 2)
	k := sin / theta
	return quat.Number{Real: cos, Imag: k * phi.X, Jmag: k * phi.Y, Kmag: k * phi.Z}
}

// Log is the rotation vector φ (rad, |φ| ≤ π) of the rotation q, which need not have length one. q and −q give the same φ, but at
// half a turn, where φ and −φ are one rotation.
func Log(q quat.Number) r3.Vec {
	s := math.Sqrt(q.Imag*q.Imag + q.Jmag*q.Jmag + q.Kmag*q.Kmag)
	w := q.Real
	k := 0.0
	if t := s / w; math.Abs(t) < 1e-4 {
		k = 2 / w * (1 - t*t/3) // 2·atan(t)/s
	} else {
		k = 2 * math.Atan2(math.Copysign(s, w), math.Abs(w)) / s
	}
	return r3.Vec{X: k * q.Imag, Y: k * q.Jmag, Z: k * q.Kmag}
}

// LeftJacobian is Jl with exp(φ+δ) = exp(Jl·δ)·exp(φ) to first order [SDA18] (145); Jl = Jrᵀ.
func LeftJacobian(phi r3.Vec) Matrix {
	t2 := r3.Norm2(phi)
	theta := math.Sqrt(t2)
	a, b := 0.5, 1.0/6 // (1−cos θ)/θ², (θ−sin θ)/θ³
	if theta < seriesAngle {
		a = 0.5 - t2*(1.0/24-t2*(1.0/720-t2*(1.0/40320-t2/3628800)))
		b = 1.0/6 - t2*(1.0/120-t2*(1.0/5040-t2*(1.0/362880-t2/39916800)))
	} else {
		sin, cos := math.Sincos(theta)
		a, b = (1-cos)/t2, (theta-sin)/(t2*theta)
	}
	return jacobian(phi, a, b)
}

// LeftJacobianInv is the inverse of Jl [SDA18] (146); it has none at |φ| = 2π.
func LeftJacobianInv(phi r3.Vec) Matrix {
	t2 := r3.Norm2(phi)
	theta := math.Sqrt(t2)
	c := 1.0 / 12 // 1/θ² − (1+cos θ)/(2θ·sin θ)
	if theta < seriesAngle {
		c += t2 * (1.0/720 + t2*(1.0/30240+t2*(1.0/1209600+t2*(1.0/47900160))))
	} else {
		sin, cos := math.Sincos(theta / 2)
		c = (1 - theta/2*cos/sin) / t2
	}
	return jacobian(phi, -0.5, c)
}

// jacobian is 1 + a·[φ]× + b·[φ]×².
func jacobian(p r3.Vec, a, b float64) Matrix {
	x, y, z := p.X, p.Y, p.Z
	return Matrix{
		{1 - b*(y*y+z*z), b*x*y - a*z, b*x*z + a*y},
		{b*x*y + a*z, 1 - b*(x*x+z*z), b*y*z - a*x},
		{b*x*z - a*y, b*y*z + a*x, 1 - b*(x*x+y*y)},
	}
}
