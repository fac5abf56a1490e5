package pose

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// walk is a motion with white jerk from a start within the priors, by small Euler steps, and poses of it at uneven times.
func walk(spec MotionSpec, frames int, seed uint64) (z []Sample, truth []State) {
	rng := rand.New(rand.NewPCG(seed, 99))
	random := func(sd float64) r3.Vec {
		return r3.Vec{X: sd * rng.NormFloat64(), Y: sd * rng.NormFloat64(), Z: sd * rng.NormFloat64()}
	}
	x := State{R: rotation.Identity, Omega: random(spec.Speed), Alpha: random(spec.Alpha), V: random(spec.Linear), A: random(spec.Accel)}
	const small = 2e-4
	for k := range frames {
		steps := 25
		switch {
		case k == 0:
			steps = 0
		case k%40 == 0:
			steps = 250 // a gap of 50 ms
		case k%3 == 0:
			steps = 10 + rng.IntN(30)
		}
		for range steps {
			middle := r3.Add(x.Omega, r3.Scale(small/2, x.Alpha))
			x.R, _ = rotation.Unit(quat.Mul(x.R, rotation.Exp(r3.Scale(small, middle))))
			x.Omega = r3.Add(x.Omega, r3.Scale(small, x.Alpha))
			x.Alpha = r3.Add(x.Alpha, random(spec.Jerk*math.Sqrt(small)))
			x.P = r3.Add(x.P, r3.Add(r3.Scale(small, x.V), r3.Scale(small*small/2, x.A)))
			x.V = r3.Add(x.V, r3.Scale(small, x.A))
			x.A = r3.Add(x.A, random(spec.Thrust*math.Sqrt(small)))
			x.T += small
		}
		truth = append(truth, x)
		// a turn that is seen unevenly well, with a covariance that is not diagonal
		axes := rotation.MatrixOf(rotation.Exp(r3.Vec{X: 0.3, Y: 1, Z: -2}))
		sd := r3.Vec{X: 1e-3, Y: 4e-3, Z: 2e-3}
		e := random(1)
		e = axes.Vec(r3.Vec{X: e.X * sd.X, Y: e.Y * sd.Y, Z: e.Z * sd.Z})
		cov := axes.Mul(rotation.Diag(r3.Vec{X: sd.X * sd.X, Y: sd.Y * sd.Y, Z: sd.Z * sd.Z})).Mul(axes.T())
		z = append(z, Sample{T: x.T, R: quat.Mul(x.R, rotation.Exp(e)), P: r3.Add(x.P, random(1e-4)), Turn: cov, Place: rotation.Eye.Scale(1e-8)})
	}
	return z, truth
}
