package plant

import "math"

// Stops are the ends of the travel of an axis as stiff springs with the loss of [HC75]: at the depth p > 0 in a stop
//
//	F = −k·p·(1 + λ·dp/dt), never pulling,
//
// so the loss vanishes with the depth and the force begins without a step.
type Stops struct {
	Travel    [2]float64 `yaml:"travel" unit:"m" doc:"where the stops begin; [0, 0]: there are none"`
	Stiffness float64    `yaml:"stiffness" unit:"N/m" want:">=0 <=1e12" doc:"of a stop"`
	Loss      float64    `yaml:"loss" unit:"s/m" want:">=0 <=1e6" doc:"damping of a stop: its force is stiffness·depth·(1 + loss·speed)"`
}

func (s *Stops) enabled() bool { return s.Travel != [2]float64{} }

// Force is that of the stops (N) at x (m) and v (m/s), and its derivatives. mean: it is the mean over a part that begins at x0 and has
// its middle at x, taken from the potential at its ends: what the spring stores it gives back, whatever the step.
func (s *Stops) Force(x0, x, v float64, mean bool) (f, dx, dv float64) {
	side, end := 1.0, s.Travel[1]
	if lo := s.Travel[0]; x+x < lo+end { // the nearer one
		side, end = -1, lo
	}
	p := side * (x - end)
	if !mean {
		if p <= 0 || 1+s.Loss*side*v <= 0 {
			return 0, 0, 0
		}
		return -side * s.Stiffness * p * (1 + s.Loss*side*v), -s.Stiffness, -s.Stiffness * s.Loss * p
	}
	// F̄ = −(U(x1) − U(x0))/(x1 − x0) with U = k·p²/2: k times the mean depth times the share r of the way that deepens it
	x1 := 2*x - x0
	p0, p1 := max(0, side*(x0-end)), max(0, side*(x1-end))
	if p0+p1 == 0 {
		return 0, 0, 0
	}
	r, way := 1.0, side*(x1-x0)
	if p0 == 0 || p1 == 0 {
		r = 0.5 // at once on both sides of the surface
		if math.Abs(way) > 0 {
			r = (p1 - p0) / way
		}
	}
	depth, damp := (p0+p1)/2, 1+s.Loss*r*side*v
	if damp <= 0 {
		return 0, 0, 0
	}
	if p1 > 0 {
		dx = -s.Stiffness * r * damp
		if p0 == 0 { // the share grows too
			dx *= 2
		}
	}
	return -side * s.Stiffness * depth * r * damp, dx, -s.Stiffness * s.Loss * depth * r * r
}
