package machine

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/circuit/drivetrain"
)

// smoothed is a Mover with friction whose sign is smoothed over a speed. Near v = 0 that speed may be passed in a small part of a step,
// where the friction at the mean speed says little about the mean friction: the step would be of first order, and a joint that comes to
// rest would go on with the opposite speed. So the joint is followed inside the step, M·dv/dt = τ − F(v), in spans in which F is nearly
// straight, each as its tangent goes, with what F misses of it at the end (exponential Rosenbrock method of two stages [HO10]). In
// machines with loops, and where the load of a joint acts on its friction, it is a part as any other: the motions of several joints would
// have to agree inside the step.
type smoothed struct{ bearing *drivetrain.Bearing }

// spanSpeed is by which share of its distance from −Speed or Speed a speed changes in a span, about. The last span ends with the step.
const spanSpeed = 0.15

// Move goes on for h.
func (s *smoothed) Move(h, _, v, mass, torque float64) (w, end float64, st engine.Status) {
	way := 0.0
	for left := h; left > 0; {
		f, df := s.bearing.Curve(v)
		a, slope := (torque-f)/mass, -df/mass
		d := left
		if size := spanSpeed * (s.bearing.Speed + math.Abs(v)); math.Abs(a)*d > size {
			d = min(d, spanTime(a, slope, size))
		}
		if !(d > 0) {
			return 0, 0, engine.NonFinite
		}
		// v⁺ = v + d·φ1(d·slope)·a,   way = d·v + d²·φ2(d·slope)·a
		z := d * slope
		phi1, phi2, phi3 := 1+z/2, 0.5+z/6, 1./6+z/24
		if math.Abs(z) > 1e-3 {
			phi1 = math.Expm1(z) / z
			phi2 = (phi1 - 1) / z
			phi3 = (phi2 - 0.5) / z
		}
		way += d * (v + d*phi2*a)
		end := v + d*phi1*a
		miss := (f + df*(end-v) - s.bearing.Friction(end)) / mass
		v = end + 2*d*phi3*miss
		way += d * d / 2 * phi3 * miss
		left -= d
	}
	if way-way != 0 || v-v != 0 {
		return 0, 0, engine.NonFinite
	}
	return way / h, v, engine.OK
}

// spanTime is when a speed that changes by a, which itself grows by slope times the change, has changed by size; +Inf: never.
func spanTime(a, slope, size float64) float64 {
	x := slope * size / math.Abs(a)
	switch {
	case x <= -1:
		return math.Inf(1)
	case math.Abs(x) < 1e-4:
		return size / math.Abs(a) * (1 - x/2)
	}
	return math.Log1p(x) / slope
}
