package friction

// Weights of the exact bristle step. With constant velocity the bristle relaxes as e^{−a}, a = σ0|Δx|/g; its end value
// and its mean over the step are combinations of
//
//	φ1(a) = (1 − e^{−a})/a = 1 − a/2 + a²/6 − …
//	φ2(a) = (1 − φ1)/a     = 1/2 − a/6 + a²/24 − …

// aSeries is where the closed forms give way to series: below it φ2 would lose more than four of its sixteen digits.
const aSeries = 0.03

// phi returns e = 1 − e^{−a}, φ1(a) and φ2(a) for a ≥ 0 with full relative precision, also for a → 0.
func phi(a float64) (e, p1, p2 float64) {
	if a < aSeries {
		p2 = phi2Series(a)
		p1 = 1 - a*p2
		return a * p1, p1, p2
	}
	_, e = decay(a)
	p1 = e / a
	return e, p1, (1 - p1) / a
}

// phi2Series is φ2 below aSeries, truncated behind a⁵: within 0.03⁶/40320 = 2e-14 of 1/2. Terms are paired, which makes the
// chain of operations half as long as Horner's.
func phi2Series(a float64) float64 {
	q := a * a
	return (1.0/2 - a*(1.0/6)) + q*((1.0/24-a*(1.0/120))+q*(1.0/720-a*(1.0/5040)))
}

// dphi returns the derivatives of φ1 and φ2 with respect to a, given what phi returned for the same a.
func dphi(a, e, p1, p2 float64) (d1, d2 float64) {
	if a < aSeries {
		d1 = -0.5 + a*(1.0/3-a*(1.0/8-a*(1.0/30-a*(1.0/144))))
		d2 = -1.0/6 + a*(1.0/12-a*(1.0/40-a*(1.0/180-a*(1.0/1008))))
		return d1, d2
	}
	d1 = (1 - e - p1) / a
	return d1, -(d1 + p2) / a
}

// phiRest returns what a step of a bristle needs in one go: φ1(a), the rest 1 − φ1(a) = a·φ2(a) without cancellation, and the
// derivative of the rest with respect to a. All three are finite for every a ≥ 0, +Inf included.
func phiRest(a float64) (p1, rest, slope float64) {
	if a < aSeries {
		q := a * a
		rest = a * phi2Series(a)
		slope = (1.0/2 - a*(1.0/3)) + q*((1.0/8-a*(1.0/30))+q*(1.0/144)) // truncated behind a⁴: it only steers Newton's method
		return 1 - rest, rest, slope
	}
	over := 1 / a // beside the exponential, not behind it
	left, gone := decay(a)
	p1 = gone * over
	return p1, 1 - p1, (p1 - left) * over
}
