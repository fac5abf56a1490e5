package friction

import (
	"math"

	"pgregory.net/rapid"
)

// slopeByDifferences checks the slope of a trial step against central differences of its force; where the force has a kink
// between the two points the slope may be anything.
func slopeByDifferences(t *rapid.T, law Smooth, s Scheme, z []float64, in Input, scale, tol float64) {
	zn := make([]float64, len(z))
	f, slope := law.Trial(s, z, zn, in)
	d := 1e-5 * math.Abs(in.V)
	at := func(v float64) float64 {
		i := in
		i.V = v
		f, _ := law.Trial(s, z, zn, i)
		return f
	}
	up, down := (at(in.V+d)-f)/d, (f-at(in.V-d))/d
	floor := 1e-12 * scale / d // rounding of the difference
	if math.Abs(up-down) > 1e-3*(math.Abs(up)+math.Abs(down))+floor {
		return
	}
	if diff := (up + down) / 2; math.Abs(slope-diff) > tol*math.Abs(diff)+floor {
		t.Fatalf("%v at v=%g, z=%v, h=%g: slope %g, by differences %g", s, in.V, z, in.Dt, slope, diff)
	}
}

// byFlow integrates the differential form at constant velocity with n steps of the classical method of Runge and Kutta; it
// is the second way to the exact steps. It advances z and returns the mean force, by Simpson's rule with the middle of the
// step from the cubic through its ends.
func byFlow(law Flow, z []float64, in Input, n int) (mean float64) {
	h := in.Dt / float64(n)
	m := len(z)
	var k [5][]float64
	for i := range k {
		k[i] = make([]float64, m)
	}
	y, z0 := make([]float64, m), make([]float64, m)
	stage := func(c float64, k []float64) []float64 {
		for i := range z {
			y[i] = z[i] + c*h*k[i]
		}
		return y
	}
	for range n {
		f0 := law.Flow(z, k[0], in)
		law.Flow(stage(0.5, k[0]), k[1], in)
		law.Flow(stage(0.5, k[1]), k[2], in)
		law.Flow(stage(1, k[2]), k[3], in)
		copy(z0, z)
		for i := range z {
			z[i] += h / 6 * (k[0][i] + 2*k[1][i] + 2*k[2][i] + k[3][i])
		}
		f1 := law.Flow(z, k[4], in)
		for i := range z {
			y[i] = (z0[i]+z[i])/2 + h/8*(k[0][i]-k[4][i])
		}
		fm := law.Flow(y, k[1], in)
		mean += (f0 + 4*fm + f1) / (6 * float64(n))
	}
	return mean
}
