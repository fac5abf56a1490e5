package multibody

import (
	"fmt"
	"math"

	"hilrig/engine"
)

// Offline integrates a machine to reference accuracy: Dormand and Prince's pair of orders 5 and 4 on x = [q | v], projected on the
// constraints after every accepted step, which keeps the order [HW96] VII.2, by the shortest way or by a Partition. Friction laws need a
// Stepper.
//
//	o.Start(0, q, v)
//	for o.T < 10 { if err := o.Step(10); err != nil { … } }
type Offline struct {
	*engine.DormandPrince
	Status Status // of the projections and evaluations since Start: the worst
	Gap    float64
	Rate   float64 // largest |g| and |dg/dt| after a projection since Start
	Leaps  int     // over singular positions since Start
	Drift  float64 // rad, m      largest change of a coordinate by a projection since Start
	Kick   float64 // rad/s, m/s  that of a velocity

	m           *Model
	d           *Data
	drives      []func(t float64) Motion
	f           engine.RHS
	k           [4][]float64
	nearness    nearness
	unprojected []float64  // before the projection
	part        *Partition // nil: states are brought back by the shortest way
	leapCubic   hermite    // the last step if it was a leap
	steps       [2]int     // accepted and rejected before the last leap
}

// newOffline makes an integrator with nz states z beside the machine. The tolerances are fields of the embedded integrator, 1e-10 to begin
// with.
func newOffline(m *Model, d *Data, nz int, f Forces, drives []func(t float64) Motion) *Offline {
	o := &Offline{}
	tau := make([]float64, m.nv)
	o.begin(m, d, m.nq+m.nv+nz, drives, func(t float64, x, dx []float64) {
		q, v := x[:m.nq], x[m.nq:m.nq+m.nv]
		f(t, q, v, x[m.nq+m.nv:], tau, dx[m.nq+m.nv:])
		o.drive(t)
		st := Dynamics(m, d, q, v, tau)
		Rates(m, q, v, dx[:m.nq])
		copy(dx[m.nq:], d.QDD)
		if st != OK && st != Singular {
			dx[0] = math.NaN()
		}
		o.Status = max(o.Status, min(st, Singular))
	})
	return o
}

// begin makes the workspace for the n numbers of a state, whose slope f writes.
func (o *Offline) begin(m *Model, d *Data, n int, drives []func(t float64) Motion, f engine.RHS) {
	o.m, o.d, o.drives, o.f = m, d, drives, f
	o.unprojected = make([]float64, n)
	for i := range o.k {
		o.k[i] = make([]float64, n)
	}
	o.DormandPrince = engine.NewDormandPrince(f, n)
	o.Rtol, o.Atol = 1e-10, 1e-10
}

func (o *Offline) drive(t float64) {
	for k, f := range o.drives {
		o.d.Drive(k, f(t))
	}
}

// Start begins at t with q, v, which have to meet the constraints: see Assemble.
func (o *Offline) Start(t float64, q, v []float64) {
	o.start(t, append(append([]float64(nil), q...), v...))
}

func (o *Offline) start(t float64, x []float64) {
	o.drive(t)
	o.m.learn(o.d, x[:o.m.nq], x[o.m.nq:o.m.nq+o.m.nv])
	o.DormandPrince.Start(t, x)
	o.Status, o.Gap, o.Rate, o.Leaps, o.Drift, o.Kick, o.nearness, o.leapCubic.h, o.steps = OK, 0, 0, 0, 0, 0, nearness{}, 0, [2]int{}
	if o.part != nil {
		o.part.Switches = 0
	}
}

// Q and V are position and velocity at T, to be read only.
func (o *Offline) Q() []float64 { return o.X[:o.m.nq] }
func (o *Offline) V() []float64 { return o.X[o.m.nq : o.m.nq+o.m.nv] }

// Step makes one step towards end (s) and projects. Near a singular position that it moves towards the step is one of Runge and
// Kutta's RK4 to beyond it.
func (o *Offline) Step(end float64) error {
	t := o.T
	if h, ok := o.nearness.leap(t, end); ok {
		if err := o.leap(h, end); err != nil {
			return err
		}
		o.nearness.noteStep(o.T-t, true)
		return nil
	}
	o.leapCubic.h = 0
	if err := o.DormandPrince.Step(end); err != nil {
		return err
	}
	if err := o.project(o.Q(), o.V(), o.T); err != nil || o.m.loops.n == 0 {
		return err
	}
	o.StateChanged()
	o.nearness.noteStep(o.T-t, false)
	return nil
}

// project puts q, v on the constraints at t.
func (o *Offline) project(q, v []float64, t float64) error {
	Normalise(o.m, q)
	if o.m.loops.n == 0 {
		return nil
	}
	o.drive(t)
	copy(o.unprojected, q)
	copy(o.unprojected[o.m.nq:], v)
	if st := o.bring(q, v); st != OK {
		o.Status = max(o.Status, st)
		return fmt.Errorf("projection at t = %.9g s: %v", t, st)
	}
	g, rate := o.d.Residual()
	o.Gap, o.Rate = math.Max(o.Gap, g), math.Max(o.Rate, rate)
	for i, x := range q {
		o.Drift = math.Max(o.Drift, math.Abs(x-o.unprojected[i]))
	}
	for i, x := range v {
		o.Kick = math.Max(o.Kick, math.Abs(x-o.unprojected[o.m.nq+i]))
	}
	o.nearness.measure(o.d)
	return nil
}

// bring puts q, v on the constraints by the shortest way, or, with a partition, by its dependent coordinates alone. Where fewer equations
// are independent than elsewhere the choice says nothing: there the way is the shortest.
func (o *Offline) bring(q, v []float64) Status {
	if o.part != nil {
		if st := o.m.prepare(o.d, q, v); st != OK {
			return st
		}
		o.m.delassus(o.d)
		if o.part.Choose(o.d) == OK && o.part.Close(o.d, q, v) == OK {
			return OK
		}
		copy(q, o.unprojected[:len(q)])
		copy(v, o.unprojected[len(q):])
	}
	return Project(o.m, o.d, q, v)
}

// leap is a step of h (s), which may end at end, without error control.
func (o *Offline) leap(h, end float64) error {
	x := make([]float64, len(o.X))
	rungeKutta(o.X, x, &o.k, h, func(after float64, y, dy []float64) Status {
		o.f(o.T+after, y, dy)
		return OK
	})
	if err := o.project(x[:o.m.nq], x[o.m.nq:o.m.nq+o.m.nv], o.T+h); err != nil {
		return err
	}
	o.Leaps++
	first := o.FirstStep
	o.FirstStep = o.nearness.cruise
	at := o.T + h
	if h == end-o.T {
		at = end
	}
	o.f(at, x, o.k[1])
	o.leapCubic.set(o.T, h, o.X, x, o.k[0], o.k[1])
	o.steps[0] += o.Accepted + 1
	o.steps[1] += o.Rejected
	o.DormandPrince.Start(at, x)
	o.FirstStep = first
	return nil
}

// rungeKutta takes a step of h (s) from x to y by the method of order 4. slope writes a slope at a time after the beginning; what it says
// last comes back, and beyond Singular y is of no use.
func rungeKutta(x, y []float64, k *[4][]float64, h float64, slope func(after float64, y, dy []float64) Status) (st Status) {
	for i, c := range [4]float64{0, 0.5, 0.5, 1} {
		copy(y, x)
		if i > 0 {
			for j, dy := range k[i-1] {
				y[j] += c * h * dy
			}
		}
		if st = slope(c*h, y, k[i]); st > Singular {
			return st
		}
	}
	for i := range y {
		y[i] = x[i] + h/6*(k[0][i]+2*k[1][i]+2*k[2][i]+k[3][i])
	}
	return st
}

// At is the state anywhere in the last step.
func (o *Offline) At(t float64, x []float64) {
	if o.leapCubic.h > 0 {
		o.leapCubic.at(t, x)
		return
	}
	o.DormandPrince.At(t, x)
}

// hermite is a cubic between two states, by their slopes: what goes on in a leap.
type hermite struct {
	t, h           float64 // s
	x0, x1, k0, k1 []float64
}

func (c *hermite) set(t, h float64, x0, x1, k0, k1 []float64) {
	c.t, c.h = t, h
	c.x0, c.x1, c.k0, c.k1 = append(c.x0[:0], x0...), append(c.x1[:0], x1...), append(c.k0[:0], k0...), append(c.k1[:0], k1...)
}

func (c *hermite) at(t float64, x []float64) {
	s := (t - c.t) / c.h
	a, b := (1+2*s)*(1-s)*(1-s), s*s*(3-2*s)
	k0, k1 := c.h*s*(1-s)*(1-s), c.h*s*s*(s-1)
	for i := range x {
		x[i] = a*c.x0[i] + b*c.x1[i] + k0*c.k0[i] + k1*c.k1[i]
	}
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
