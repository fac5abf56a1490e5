package manipulator

import (
	"context"
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
)

// Options of an offline run.
type Options struct {
	Formulation    Formulation
	Duration       float64 // s
	SampleInterval float64 // s  between samples; 0: only start and end. The end always has one
	Tolerance      float64 // relative error of a step; 0: 1e-8. Absolute errors are a hundredth of it
}

// What an Event is.
const (
	Border = "border" // the tip goes from element to element
	Opens  = "opens"  // a unilateral contact lets go
	Closes = "closes" // it meets the beam again, without rebound
	Pulls  = "pulls"  // a bilateral contact begins to pull
	Pushes = "presses"
	Left   = "left"     // the tip leaves the beam; the run ends
	Switch = "switches" // another joint is the dependent one
)

// Event is something that happens between samples.
type Event struct {
	T                  float64 // s
	Kind               string
	FromIndex, ToIndex int     // elements from 1 on, or joints from 1 on
	Value              float64 // impulse of a blow (N·s); x of the tip that leaves (m)
}

// Sample is the motion at a time.
type Sample struct {
	T           float64
	Q, V        []float64 // of all joints
	W           []float64 // m  deflection of every node
	TipX        float64   // m
	TipY        float64
	Lambda      float64   // N
	Torque      []float64 // N·m  of the driven joints, in their order
	Force       float64   // N  of friction
	Slip        float64   // m/s
	ContactOpen bool
	Energy      float64 // J  stored and of motion
	Work        float64 // J  of the drives since the start
	Dissipated  float64 // J  in dampers, beam and blows, and the work against friction, what bristles store included
	Phi         float64 // m  gap of the constraint
	PhiRate     float64 // m/s
}

// Result of a run.
type Result struct {
	Start    *Motion
	Impulse  float64 // N·s  of a start without ramp
	Samples  []Sample
	Events   []Event
	Steps    int
	Phi      float64 // m  largest |Φ| of the samples in contact
	PhiRate  float64 // m/s
	Audit    float64 // largest |energy − start − work + lost| over the largest energy, work or loss
	Steepest float64 // largest slope of the beam
}

// Run integrates from the equilibrium with an adaptive method, restarted at the borders of elements, at the end of ramps, and where the
// contact opens or closes. When the tip leaves the beam the result goes up to there and the error wraps a *beam.LeftError. Other errors:
// ErrSingular, ErrJam, a *engine.Stop, those of Equilibrium; the result is then what was reached, or nil.
func (m *Model) Run(ctx context.Context, o Options) (*Result, error) {
	if !(o.Duration > 0) || o.Duration > 1e6 || !(o.SampleInterval >= 0) {
		return nil, fmt.Errorf("manipulator: a run of %g s with samples every %g s, want a duration above 0 and up to 1e6 s", o.Duration,
			o.SampleInterval)
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-8
	}
	if o.SampleInterval == 0 {
		o.SampleInterval = o.Duration
	}
	if !(o.Tolerance >= 1e-13 && o.Tolerance <= 1e-2) {
		return nil, fmt.Errorf("manipulator: a tolerance of %g, want 1e-13 to 1e-2", o.Tolerance)
	}
	if err := m.checkStiffness(o.Duration); err != nil {
		return nil, err
	}
	start, err := m.Equilibrium()
	if err != nil {
		return nil, err
	}
	r := newRun(m, o, start)
	r.ctx = ctx
	err = r.begin()
	if err == nil {
		err = r.run()
	}
	r.result.Steps = r.steps + r.d.Accepted
	r.finish()
	return r.result, err
}

// checkStiffness refuses what the explicit method cannot do in reasonable time: its steps are bounded by 3.3 over the fastest rate of the
// beam, and each takes seven solutions of dense equations.
func (m *Model) checkStiffness(duration float64) error {
	rate := m.beam.Fastest()
	n := float64(m.beam.N + len(m.freeJoints))
	if steps := duration * rate / 3.3; 7*steps*n*n*n/3 > maxOperations {
		return fmt.Errorf("manipulator: %w: the fastest motion of its beam of %d elements decays or swings at %.3g 1/s, so %.3g s take %.2g "+
			"steps; the fixed step (method step) does not mind, or take fewer elements or less damping by stiffness",
			ErrStiff, m.p.Beam.Elements, rate, duration, steps)
	}
	return nil
}

// ErrStiff is what Run says of a beam that is for RunFixed.
var ErrStiff = errors.New("too stiff for an adaptive method")

// maxOperations of a run: some ten minutes.
const maxOperations = 1e12

// run is the state of an offline run. x = [q_f | q_c | v_f | v_c | work, lost | z].
type run struct {
	ctx       context.Context // of the call that it lives in
	m         *Model
	o         Options
	w         *work
	method    solver
	d         *engine.DormandPrince
	result    *Result
	s         *state
	a         accel
	x         []float64
	e         int
	inContact bool
	pulls     bool    // of a bilateral contact
	maxLambda float64 // N  largest |λ| so far
	failure   error
	steps     int
	k         int     // next sample
	lastStep  float64 // s  length of the last step
	blown     float64 // J  lost in blows
	nf, nc    int
}

func newRun(m *Model, o Options, start *Motion) *run {
	r := &run{m: m, o: o, w: m.newWork(), result: &Result{Start: start}, nf: len(m.freeJoints), nc: m.beam.N, inContact: true}
	r.method = &partition{}
	if o.Formulation == Full {
		r.method = &full{}
	}
	r.s = r.w.newState()
	r.s.setMotion(start)
	r.a.ac, r.a.dz = make([]float64, r.nc), make([]float64, len(r.s.z))
	n := 2*(r.nf+r.nc) + 2 + len(r.s.z)
	r.x = make([]float64, n)
	r.d = engine.NewDormandPrince(r.slope, n)
	r.d.Rtol, r.d.Atol, r.d.MaxSteps = o.Tolerance, o.Tolerance/100, 1e7
	return r
}

// unpack reads x into the state and, in a partition, puts the dependent joint on the beam.
func (r *run) unpack(t float64, x []float64, da *joints) error {
	m, s := r.m, r.s
	nf, nc := r.nf, r.nc
	for _, d := range m.drivenJoints {
		s.q[d], s.v[d], da[d] = m.p.Joints[d].Drive.At(t)
	}
	for k, i := range m.freeJoints {
		s.q[i], s.v[i] = x[k], x[nf+nc+k]
	}
	copy(s.qc, x[nf:nf+nc])
	copy(s.vc, x[2*nf+nc:2*(nf+nc)])
	copy(s.z, x[2*(nf+nc)+2:])
	if !r.inContact || r.o.Formulation != Partition {
		return nil
	}
	return r.w.depend(s, r.e)
}

// depend solves Φ = 0 for the dependent joint and Φ′ = 0 for its speed.
func (w *work) depend(s *state, e int) error {
	v := w.m.freeJoints[w.dep]
	for k := 0; ; k++ {
		w.place(s, e, false)
		if w.jr[v] == 0 || k == 30 {
			return ErrSingular
		}
		step := w.c.Phi / w.jr[v]
		if s.q[v] -= step; math.Abs(step) <= 1e-15*(1+math.Abs(s.q[v])) || k > 5 && math.Abs(step) < 1e-13 {
			break
		}
	}
	w.place(s, e, false)
	s.v[v] -= w.c.Rate / w.jr[v]
	return nil
}

// slope is the right-hand side. An error is kept and the slope made NaN, so that the step is refused.
func (r *run) slope(t float64, x, dx []float64) {
	err := r.ctx.Err()
	if err == nil {
		err = r.eval(t, x)
	}
	if err != nil {
		r.failure = err
		dx[0] = math.NaN()
		return
	}
	nf, nc := r.nf, r.nc
	for k, i := range r.m.freeJoints {
		dx[k], dx[nf+nc+k] = r.s.v[i], r.a.a[i]
	}
	copy(dx[nf:], r.s.vc)
	copy(dx[2*nf+nc:], r.a.ac)
	dx[2*(nf+nc)], dx[2*(nf+nc)+1] = r.a.power, r.a.lossPower
	copy(dx[2*(nf+nc)+2:], r.a.dz)
}

// eval solves the equations of motion at x.
func (r *run) eval(t float64, x []float64) error {
	var da joints
	if err := r.unpack(t, x, &da); err != nil {
		return err
	}
	r.w.place(r.s, r.e, true)
	return r.w.accelerate(r.method, r.s, &da, r.inContact, &r.a)
}

// pack writes the state to x; work and losses stay.
func (r *run) pack() {
	nf, nc := r.nf, r.nc
	for k, i := range r.m.freeJoints {
		r.x[k], r.x[nf+nc+k] = r.s.q[i], r.s.v[i]
	}
	copy(r.x[nf:], r.s.qc)
	copy(r.x[2*nf+nc:], r.s.vc)
	copy(r.x[2*(nf+nc)+2:], r.s.z)
}

// begin places the start, with the blow of a drive that is at its speed at once.
func (r *run) begin() error {
	r.w.place(r.s, 0, true)
	e, err := r.m.beam.ElementAt(r.w.pose.tip.X)
	if err != nil {
		return err
	}
	r.e = e
	r.w.place(r.s, r.e, true)
	var drive joints
	sudden := false
	for _, d := range r.m.drivenJoints {
		_, drive[d], _ = r.m.p.Joints[d].Drive.At(0)
		sudden = sudden || drive[d] != 0
	}
	if r.w.dep, err = r.w.choose(-1); err != nil {
		return err
	}
	if sudden {
		if r.result.Impulse, err = r.w.impulse(r.s, &drive); err != nil {
			return err
		}
	}
	r.pack()
	r.restart(0)
	if err := r.eval(0, r.x); err != nil {
		return err
	}
	r.pulls = r.a.lambda < -r.minPull()
	return r.sampleUpTo(0)
}

// restart begins anew at t from x.
func (r *run) restart(t float64) {
	r.steps += r.d.Accepted
	h := math.Abs(r.lastStep)
	r.d.FirstStep = h
	r.d.Start(t, r.x)
}

// run integrates to the end.
func (r *run) run() error {
	for events := 0; r.d.T < r.o.Duration; {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		end := r.o.Duration
		for _, d := range r.m.drivenJoints {
			if ramp := r.m.p.Joints[d].Drive.Ramp; ramp > r.d.T && ramp < end {
				end = ramp
			}
		}
		old := r.d.T
		if err := r.d.Step(end); err != nil {
			if r.failure != nil && errors.Is(err, engine.ErrNonFinite) {
				return fmt.Errorf("manipulator: at t = %.9g s: %w", r.d.T, r.failure)
			}
			return err
		}
		r.failure = nil
		r.lastStep = r.d.T - old
		what, err := r.event(old)
		if err != nil {
			return err
		}
		if what == "" {
			if err := r.sampleUpTo(r.d.T); err != nil {
				return err
			}
			if r.d.T == end {
				copy(r.x, r.d.X)
				r.restart(end)
			}
			continue
		}
		if events++; events > 100000 {
			return fmt.Errorf("manipulator: more than 100000 events up to t = %.9g s: the contact chatters", r.d.T)
		}
		if done, err := r.applyEvent(what, old); done || err != nil {
			return err
		}
	}
	if n := len(r.result.Samples); r.result.Samples[n-1].T < r.d.T {
		return r.sample(r.d.T)
	}
	return nil
}

// sampleUpTo takes the samples that are due.
func (r *run) sampleUpTo(t float64) error {
	for ; ; r.k++ {
		due := float64(r.k) * r.o.SampleInterval
		if math.Abs(due-t) < 1e-9*r.o.SampleInterval {
			due = t
		}
		if due > t {
			return nil
		}
		if err := r.sample(due); err != nil {
			return err
		}
	}
}

// sample writes the state at t, which lies in the last step.
func (r *run) sample(t float64) error {
	r.d.At(t, r.x)
	if err := r.eval(t, r.x); err != nil {
		return err
	}
	m, s := r.m, r.s
	at := 2 * (r.nf + r.nc)
	w := make([]float64, m.beam.Nodes())
	m.beam.Deflections(s.qc, w)
	p := Sample{T: t, Q: append([]float64(nil), s.q[:m.n]...), V: append([]float64(nil), s.v[:m.n]...), W: w, TipX: r.w.pose.tip.X,
		TipY: r.w.pose.tip.Y, Lambda: r.a.lambda, Force: r.a.force, Slip: r.a.slip, ContactOpen: !r.inContact, Energy: r.w.energy(s),
		Work: r.x[at], Dissipated: r.x[at+1] + r.blown, Phi: r.w.c.Phi, PhiRate: r.w.c.Rate}
	for _, d := range m.drivenJoints {
		p.Torque = append(p.Torque, r.a.torque[d])
	}
	r.result.Samples = append(r.result.Samples, p)
	if r.inContact {
		r.result.Phi, r.result.PhiRate = math.Max(r.result.Phi, math.Abs(p.Phi)), math.Max(r.result.PhiRate, math.Abs(p.PhiRate))
	}
	r.result.Steepest = math.Max(r.result.Steepest, m.beam.SteepestSlope(s.qc))
	return nil
}

// finish audits the energy.
func (r *run) finish() {
	if len(r.result.Samples) == 0 {
		return
	}
	scale, worst := math.SmallestNonzeroFloat64, 0.0
	begin := r.result.Samples[0].Energy
	for _, p := range r.result.Samples {
		scale = max(scale, math.Abs(p.Energy), math.Abs(p.Work), p.Dissipated)
		worst = max(worst, math.Abs(p.Energy-begin-p.Work+p.Dissipated))
	}
	r.result.Audit = worst / scale
}
