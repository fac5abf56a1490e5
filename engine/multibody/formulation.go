package multibody

import (
	"fmt"
	"math"
	"strings"

	"hilrig/engine"
	"hilrig/engine/spelling"
)

// Integrator carries a machine, and states z beside it, forward to a tolerance: x = [q | v | z].
type Integrator interface {
	Start(t float64, x []float64) error
	Step(end float64) error    // one step towards end (s)
	At(t float64, x []float64) // the state anywhere in the last step
	Reached() (t float64, x []float64)
	Stats() IntegratorStats
}

// IntegratorStats is how an Integrator has kept the constraints since Start.
type IntegratorStats struct {
	Status             Status  // the worst
	Gap, Rate          float64 // m, rad and 1/s  largest |g| and |dg/dt| at the end of a step
	Drift, Kick        float64 // rad, m and rad/s, m/s  largest change of a coordinate and of a velocity by a projection
	Leaps              int     // over singular positions
	Choices            int     // of other dependent coordinates, by partition
	Accepted, Rejected int     // steps
	StiffFrom          float64 // s  where it turned to an implicit method; NaN: nowhere. It stays so after Start
}

// Forces are the torques of the joints and dz/dt at t (s), q, v, z.
type Forces func(t float64, q, v, z, tau, dz []float64)

// Names of the ways to keep constraints offline.
const (
	ByProjection = "projection" // Offline
	ByGGL        = "ggl"        // Stabilised
	ByPartition  = "partition"  // Offline that keeps the independent coordinates of a Partition
)

// Formulations are these names.
func Formulations() []string { return []string{ByProjection, ByGGL, ByPartition} }

// NewIntegrator makes the integrator of a formulation, for a machine with nz states beside it. The error says which names there are.
func NewIntegrator(formulation string, m *Model, d *Data, nz int, f Forces, drives []func(t float64) Motion, rtol,
	atol float64) (Integrator, error) {
	switch formulation {
	case ByProjection, ByPartition:
		o := newOffline(m, d, nz, f, drives)
		o.Rtol, o.Atol = rtol, atol
		if formulation == ByPartition {
			o.part = NewPartition(m)
		}
		return projected{o}, nil
	case ByGGL:
		s := NewStabilised(m, d, nz, f, drives)
		s.Rtol, s.Atol = rtol, atol
		return s, nil
	}
	return nil, fmt.Errorf("unknown formulation %q%s: want %s", formulation, spelling.DidYouMean(formulation, Formulations()),
		strings.Join(Formulations(), " or "))
}

// NewProjected is the integrator of the formulation projection or partition for a caller that writes the slope of all n numbers x = [q | v
// | z] itself, NaN where there is none; it depends on the first ones alone. Positions, and drives, are those of the machine at its end.
// Where it is stiff it goes on with an implicit method.
func NewProjected(formulation string, m *Model, d *Data, n, depends int, flow engine.RHS, drives []func(t float64) Motion, rtol,
	atol float64, steps int) Integrator {
	const stiffSteps = 3000
	o := &Offline{}
	o.begin(m, d, n, drives, flow)
	if formulation == ByPartition {
		o.part = NewPartition(m)
	}
	o.Rtol, o.Atol, o.MaxSteps = rtol, atol, steps
	o.StiffAfter, o.Depends = stiffSteps, depends
	return projected{o}
}

// projected is Offline as an Integrator.
type projected struct{ *Offline }

func (p projected) Start(t float64, x []float64) error {
	p.start(t, append([]float64(nil), x...))
	return nil
}

func (p projected) Reached() (t float64, x []float64) { return p.T, p.X }

func (p projected) Stats() IntegratorStats {
	choices := 0
	if p.part != nil {
		choices = p.part.Switches
	}
	return IntegratorStats{p.Status, p.Gap, p.Rate, p.Drift, p.Kick, p.Leaps, choices, p.steps[0] + p.Accepted, p.steps[1] + p.Rejected,
		p.StiffFrom}
}

// Reached is the state at T.
func (s *Stabilised) Reached() (t float64, x []float64) { return s.T, s.X }

// Stats is how the constraints were kept.
func (s *Stabilised) Stats() IntegratorStats {
	return IntegratorStats{Status: s.Status, Gap: s.Gap, Rate: s.Rate, Leaps: s.Leaps, Accepted: s.Accepted, Rejected: s.Rejected,
		StiffFrom: math.NaN()}
}
