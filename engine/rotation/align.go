package rotation

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// What Align refuses.
var (
	ErrFewPoints = errors.New("rotation: fewer than 3 points: a rotation needs 3 that do not lie on a line")
	ErrCollinear = errors.New("rotation: the points lie on a line: the turn about it cannot be told")
	ErrMirrored  = errors.New("rotation: the points are mirror images of those of the body: are the axes left-handed?")
)

// onLine is the distance of points from their best line, as a part of their distance from their centre, below which rounding
// alone decides about the turn.
const onLine = 1e-6

// Fit is the rigid motion pW ≈ R·pB + P of a set of points.
type Fit struct {
	R quat.Number // body → world, real part ≥ 0
	P r3.Vec      // m  where the origin of the body lies

	Count  int     // points with a weight
	Centre r3.Vec  // m  weighted mean of the points in the world
	Rms    float64 // m  weighted root mean square of the distances |pW − R·pB − P|
	Mirror float64 // m  the Rms that a reflection would leave: far below Rms where one set of axes is left-handed
	Spread float64 // m  weighted root mean square distance of the points of the body from their best line
	// m² Σ w·(|d|²·1 − d·dᵀ), world axes, d from the centre: σ²·Inertia⁻¹ is the covariance of a turn (rad², world axes) for
	// noise σ/√w of each coordinate
	Inertia Matrix
	Weight  float64 // Σ w
}

// Align finds the rotation R and the position P that make Σ w·|pW − R·pB − P|² least, by the largest eigenvector of the 4×4 matrix
// of [H87]: never a reflection. weight nil weighs all alike; points of weight 0 are left out. The slices have one length.
//
// Fewer than three points are ErrFewPoints, points on one line ErrCollinear, and mirror images whose rotation is not unique
// ErrMirrored.
func Align(body, world []r3.Vec, weight []float64) (Fit, error) {
	f := Fit{R: Identity}
	var cb, cw r3.Vec
	for k := range body {
		w := weightAt(weight, k)
		if w == 0 {
			continue
		}
		f.Count++
		f.Weight += w
		cb, cw = r3.Add(cb, r3.Scale(w, body[k])), r3.Add(cw, r3.Scale(w, world[k]))
	}
	if f.Count < 3 {
		return f, ErrFewPoints
	}
	cb, cw = r3.Scale(1/f.Weight, cb), r3.Scale(1/f.Weight, cw)
	f.Centre = cw

	// correlation S = Σ w·b·pᵀ of the points from their centres, the scatter of those of the body, and both sums of squares
	var s, scatter Matrix
	squares := 0.0
	for k := range body {
		if w := weightAt(weight, k); w != 0 {
			b, p := r3.Sub(body[k], cb), r3.Sub(world[k], cw)
			s = s.Add(w, OuterProduct(b, p))
			scatter = scatter.Add(w, OuterProduct(b, b))
			squares += w * (r3.Norm2(b) + r3.Norm2(p))
		}
	}
	values, _ := scatter.Eigen()
	f.Spread = math.Sqrt(math.Max(0, values[0]+values[1]) / f.Weight)
	if !(values[0]+values[1] > onLine*onLine*values[2]) {
		return f, ErrCollinear
	}

	a := [16]float64{
		s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0],
		0, s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2],
		0, 0, -s[0][0] + s[1][1] - s[2][2], s[1][2] + s[2][1],
		0, 0, 0, -s[0][0] - s[1][1] + s[2][2],
	}
	for i := range 4 {
		for j := range i {
			a[4*i+j] = a[4*j+i]
		}
	}
	var v [16]float64
	jacobi(a[:], v[:], 4)
	best, second := 0, -1
	for i := 1; i < 4; i++ {
		if a[5*i] > a[5*best] {
			best, second = i, best
		} else if second < 0 || a[5*i] > a[5*second] {
			second = i
		}
	}
	// With the singular values of S, the smallest s3 negative for det S < 0, the eigenvalues are s1+s2+s3, s1−s2−s3, s2−s1−s3 and
	// s3−s1−s2: a reflection gains minus the last. There is no gap s2+s3 above the second where the points of the world lie
	// on a line, or where they are mirror images of points that spread alike in two directions.
	least := math.Min(math.Min(a[0], a[5]), math.Min(a[10], a[15]))
	f.Mirror = math.Sqrt(math.Max(0, squares+2*least) / f.Weight)
	if !(a[5*best]-a[5*second] > 2*onLine*onLine*a[5*best]) {
		if -least > a[5*best]*(1+1e-6) {
			return f, ErrMirrored
		}
		return f, ErrCollinear
	}
	q := quat.Number{Real: v[best], Imag: v[4+best], Jmag: v[8+best], Kmag: v[12+best]}
	if q.Real < 0 {
		q = quat.Scale(-1, q)
	}
	f.R, _ = Unit(q)
	f.P = r3.Sub(cw, Rotate(f.R, cb))

	sum := 0.0
	for k := range body {
		if w := weightAt(weight, k); w != 0 {
			d := Rotate(f.R, r3.Sub(body[k], cb))
			sum += w * r3.Norm2(r3.Sub(r3.Sub(world[k], cw), d))
			f.Inertia = f.Inertia.Add(w*r3.Norm2(d), Eye).Add(-w, OuterProduct(d, d))
		}
	}
	f.Rms = math.Sqrt(sum / f.Weight)
	return f, nil
}

func weightAt(weight []float64, k int) float64 {
	if weight == nil {
		return 1
	}
	return weight[k]
}
