package multibody

import (
	"fmt"
	"math"

	"hilrig/engine"
)

// Offline integrates a machine to reference accuracy: Dormand and Prince's pair of orders 5 and 4 on x = [q | v], projected on the constraints
// after every accepted step, which keeps the order [HW96] VII.2. Friction laws need a Stepper.
//
//	o := multibody.NewOffline(m, d, torques, nil)
//	o.Start(0, q, v)
//	for o.T < 10 { if err := o.Step(10); err != nil { … } }
type Offline struct {
	*engine.DormandPrince
	Status Status // of the projections and evaluations since Start: the worst
	Gap    float64
	Rate   float64 // largest |g| and |dg/dt| after a projection since Start

	m      *Model
	d      *Data
	drives []func(t float64) Motion
	tau    []float64
}

// NewOffline makes an integrator; torques (nil: none) writes the torques of the joints at t (s), q, v. The tolerances are fields of
// the embedded integrator, 1e-10 to begin with.
func NewOffline(m *Model, d *Data, torques func(t float64, q, v, tau []float64), drives []func(t float64) Motion) *Offline {
	if len(drives) != len(m.loops.drives) {
		panic("multibody: NewOffline: want a motion for each drive")
	}
	o := &Offline{m: m, d: d, drives: drives, tau: make([]float64, m.nv)}
	o.DormandPrince = engine.NewDormandPrince(func(t float64, x, dx []float64) {
		q, v := x[:m.nq], x[m.nq:]
		if torques != nil {
			torques(t, q, v, o.tau)
		}
		o.drive(t)
		st := Dynamics(m, d, q, v, o.tau)
		Rates(m, q, v, dx)
		copy(dx[m.nq:], d.QDD)
		if st != OK && st != Singular {
			dx[0] = math.NaN()
		}
		o.Status = max(o.Status, min(st, Singular))
	}, m.nq+m.nv)
	o.Rtol, o.Atol = 1e-10, 1e-10
	return o
}

func (o *Offline) drive(t float64) {
	for k, f := range o.drives {
		o.d.Drive(k, f(t))
	}
}

// Start begins at t with q, v, which have to meet the constraints: see Assemble.
func (o *Offline) Start(t float64, q, v []float64) {
	o.DormandPrince.Start(t, append(append([]float64(nil), q...), v...))
	o.Status, o.Gap, o.Rate = OK, 0, 0
}

// Q and V are position and velocity at T, to be read only.
func (o *Offline) Q() []float64 { return o.X[:o.m.nq] }
func (o *Offline) V() []float64 { return o.X[o.m.nq:] }

// Step makes one step towards end (s) and projects.
func (o *Offline) Step(end float64) error {
	if err := o.DormandPrince.Step(end); err != nil {
		return err
	}
	q, v := o.X[:o.m.nq], o.X[o.m.nq:]
	Normalise(o.m, q)
	if o.m.loops.n > 0 {
		o.drive(o.T)
		if st := Project(o.m, o.d, q, v); st != OK {
			o.Status = max(o.Status, st)
			return fmt.Errorf("projection at t = %.9g s: %v", o.T, st)
		}
		g, rate := o.d.Residual()
		o.Gap, o.Rate = math.Max(o.Gap, g), math.Max(o.Rate, rate)
		o.Moved()
	}
	return nil
}

// Run steps to end.
func (o *Offline) Run(end float64) error {
	for o.T < end {
		if err := o.Step(end); err != nil {
			return err
		}
	}
	return nil
}
