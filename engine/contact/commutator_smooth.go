package contact

import (
	"errors"
	"fmt"
	"math"
)

// SmoothCommutator is the contour of a commutator without roughness and bar steps, evaluated exactly instead of on a polyline:
//
//	r(α) = Radius + Eccentricity·cos(α − EccentricityPhase) − dip(α)
//
// with the wide dip of CommutatorSpec. r and r′ are continuous; r″ jumps at the borders of a dip. It has no kinks, so an
// event-driven run meets no event per vertex.
type SmoothCommutator struct {
	spec               CommutatorSpec
	phaseSin, phaseCos float64
	slack              float64 // m  rays and normals of the circle differ by less
}

// NewSmoothCommutator refuses what a smooth contour cannot show: Rz, BarStep and TrueSlots have to be zero.
func NewSmoothCommutator(spec CommutatorSpec) (*SmoothCommutator, error) {
	err := spec.Validate()
	if spec.Rz != 0 || spec.BarStep != 0 || spec.TrueSlots {
		err = errors.Join(err, fmt.Errorf("commutator: a smooth contour has no roughness, bar steps or true slots: rz %g, bar_step %g, "+
			"true_slots %t",
			spec.Rz, spec.BarStep, spec.TrueSlots))
	}
	if err != nil {
		return nil, err
	}
	sin, cos := math.Sincos(spec.EccentricityPhase)
	return &SmoothCommutator{spec, sin, cos, spec.Eccentricity * spec.Eccentricity / spec.Radius}, nil
}

// OutOfReach tells without much work that (x, y) is further than reach (m) from the contour: the circle without dips is.
func (c *SmoothCommutator) OutOfReach(x, y, reach float64) bool {
	rho := math.Sqrt(x*x + y*y)
	over := (rho-c.spec.Radius)*rho - c.spec.Eccentricity*(x*c.phaseCos+y*c.phaseSin) // times rho
	return over > (reach+c.slack)*rho
}

// contour is r (m) at alpha (rad), given with its sine and cosine, and the first and second derivative.
func (c *SmoothCommutator) contour(alpha, sin, cos float64) (r, r1, r2 float64) {
	s := &c.spec
	d, d1, d2 := s.dip(alpha)
	sin, cos = sin*c.phaseCos-cos*c.phaseSin, cos*c.phaseCos+sin*c.phaseSin // of alpha − EccentricityPhase
	return s.Radius + s.Eccentricity*cos - d, -s.Eccentricity*sin - d1, -s.Eccentricity*cos - d2
}

// Edge is the signed distance (m) of the point (x, y) of the commutator's frame to the contour, with the outward normal at the nearest
// point and bend, the second derivative of the gap along the tangent:
//
//	bend = κ/(1 + κ·gap)      κ = (r² + 2r′² − r·r″)/(r² + r′²)^{3/2}
//
// A point that moves with the velocity v and the acceleration a in this frame has g̈ = n·a + bend·(t·v)². zone is 2·j over the dip of slot
// j and 2·j + 1 over bar j.
func (c *SmoothCommutator) Edge(x, y float64) (gap, nx, ny, bend float64, zone int32) {
	// (contour − point)·contour′ = 0 by Newton from the angle of the point: the contour is nearly a circle
	a, rho := math.Atan2(y, x), math.Sqrt(x*x+y*y)
	sin, cos := 0.0, 1.0
	if rho > 0 {
		sin, cos = y/rho, x/rho
	}
	var r, r1, r2 float64
	for range 30 {
		r, r1, r2 = c.contour(a, sin, cos)
		radial, along := x*cos+y*sin, y*cos-x*sin // the point, seen along the ray and across it
		f := (r-radial)*r1 - along*r
		df := r1*r1 + r*r + (r-radial)*(r2-r) - 2*along*r1
		step := f / max(df, r*r/4)
		a -= step
		if math.Abs(step) > 1e-3 {
			sin, cos = math.Sincos(a)
			continue
		}
		// the ray turned by −step; the first terms left out are below 1e-17
		z := step * step
		ds, dc := step*(1-z*(1./6)), z*(0.5-z*(1./24))
		sin, cos = sin-sin*dc-cos*ds, cos-cos*dc+sin*ds
		// quadratic convergence: the next step would be below rounding
		if math.Abs(step) < 1e-9 {
			r -= step * r1
			r1 -= step * r2
			break
		}
	}
	w := math.Sqrt(r*r + r1*r1)
	nx, ny = (r*cos+r1*sin)/w, (r*sin-r1*cos)/w
	gap = (x-r*cos)*nx + (y-r*sin)*ny
	k := (r*r + 2*r1*r1 - r*r2) / (w * w * w)
	return gap, nx, ny, k / (1 + k*gap), c.zone(a)
}

func (c *SmoothCommutator) zone(a float64) int32 {
	s := &c.spec
	if s.Bars == 0 {
		return 0
	}
	turn := a * float64(s.Bars) / (2 * math.Pi)
	turn -= float64(s.Bars) * math.Floor(turn/float64(s.Bars))
	slot := math.Round(turn)
	if math.Abs(turn-slot)*2*math.Pi/float64(s.Bars)*s.Radius < s.SlotWidth/2+s.EdgeLength {
		return 2 * (int32(slot) % int32(s.Bars))
	}
	return 2*(int32(turn)%int32(s.Bars)) + 1
}
