package curve

import "math"

// yielding is what a machine of stiffness k between the imposed velocity and the contact does to the numbers of a step, to
// first order in 1/κ, κ = k·L/N [derived here]. The contact slips at v = v2·e^x with df/dδ = (k/N)·(e^{−x} − 1) along its
// slip δ, f = f2 + A·x + θ and dθ/dδ = −(θ + B·x)/L, where x = −r before the step, r = ln(v2/v1). Then
//
//   - force decays with y·δ/L, where A·y² − (κ + A − B)·y + κ = 0, as the relaxing spring hurries the slip a little;
//   - the decay, extrapolated to the step, has the amplitude [B·r + (A·B/κ)·g(r)]/(1 − A·y/κ), with g(r) = ∫ s/(e^s − 1) ds
//     from 0 to r for what θ misses while the spring is being drawn.
//
// The slip is measured: v·t less the change of force over k.
func yielding(a, b, kappa, r float64) (amplitude, y float64) {
	s := kappa + a - b
	d := s*s - 4*a*kappa
	if !(d > 0) || !(s > 0) { // too soft for steady slip
		return b * r, 1
	}
	y = 2 * kappa / (s + math.Sqrt(d))
	return (b*r + a*b/kappa*missed(r)) / (1 - a*y/kappa), y
}

// missed is ∫ s/(e^s − 1) ds from 0 to r, by Simpson's rule.
func missed(r float64) float64 {
	const n = 40
	f := func(s float64) float64 {
		if math.Abs(s) < 1e-6 {
			return 1 - s/2
		}
		return s / math.Expm1(s)
	}
	sum := f(0) + f(r)
	for i := 1; i < n; i++ {
		w := 2.0
		if i%2 == 1 {
			w = 4
		}
		sum += w * f(r*float64(i)/n)
	}
	return sum * r / n / 3
}
