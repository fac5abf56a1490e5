package machine

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine/multibody"
	"hilrig/identify/filter"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

const (
	longestStep      = 1e-3 // s, of the simulation of a machine
	samplesPerReport = 100  // of its progress
)

// ErrRunsAway is a simulation that does not stay with the record.
var ErrRunsAway = errors.New("the machine with these estimates does not follow the record")

// follow simulates the machine with the base parameters theta over all recordings:
//
//	q″ = M⁻¹·(τ − c − friction) + ω²·(r − q) + 2·ω·(r′ − q′),   ω = 2π·bandwidth
//
// with τ the recorded torque and r what the controllers were told, where every record has it, or the recorded position; both behind a
// zero-phase low-pass at the bandwidth, so that nothing of the record's noise beyond it enters. The simulated positions come back as
// recordings.
func (r *Result) follow(recs []Recording, theta []float64, bandwidth float64) (motions []Recording, reference bool, err error) {
	reference = true
	far := make([]float64, r.Model.NV())
	for _, rec := range recs {
		for i, d := range rec {
			reference = reference && len(d.Reference) == d.Len()
			far[i] = math.Max(far[i], 2*(slices.Max(d.Position)-slices.Min(d.Position)))
		}
	}
	d := r.dynamics(theta)
	motions = make([]Recording, len(recs))
	errs := make([]error, len(recs))
	fit.Parallel(len(recs), func(i int) { motions[i], errs[i] = d.follow(recs[i], r.rest, far, bandwidth, reference, r.progress) })
	return motions, reference, errors.Join(errs...)
}

// dynamics are the torques of a set of base parameters, and of what is known beside them.
type dynamics struct {
	m            *multibody.Model
	timing       *timing
	coefficients []float64    // by column of the regressor
	viscous      [][2]float64 // by joint, of each direction, N·m·s/rad
	coulomb      [][2]float64 // N·m
}

func (r *Result) dynamics(theta []float64) *dynamics {
	d := &dynamics{m: r.Model, timing: r.Base.timing, coefficients: make([]float64, multibody.BodyParams*r.Model.Bodies()),
		viscous: make([][2]float64, r.Model.NV()), coulomb: make([][2]float64, r.Model.NV())}
	add := func(c *Column, x float64) {
		for side, sense := range []int{1, -1} {
			switch {
			case c.Sense != 0 && c.Sense != sense || !c.jumpsAtReversal():
			case c.Term == Coulomb:
				d.coulomb[c.Joint][side] += x
			default:
				d.viscous[c.Joint][side] += x
			}
		}
		if !c.jumpsAtReversal() {
			d.coefficients[c.regressor] += c.scale * x
		}
	}
	for k, col := range r.Base.Pivot {
		if r.Base.Columns[col].Term == Lag {
			continue
		}
		add(&r.Base.Columns[col], theta[k])
	}
	for k := range r.Base.knownColumns {
		add(&r.Base.knownColumns[k], r.Base.knownColumns[k].Value)
	}
	return d
}

// follow simulates one recording. slow are the speeds within which friction changes its sign, far is how far a joint may be off.
func (d *dynamics) follow(rec Recording, slow, far []float64, bandwidth float64, reference bool, progress *progress) (Recording, error) {
	nv, n, dt := d.m.NV(), rec[0].Len(), rec[0].Dt
	low := filter.Butterworth(4, math.Min(bandwidth, 0.4/dt), 1/dt)
	if n <= low.Padding() {
		return rec, nil // too short for any row
	}
	to, rate, tau := make([][]float64, nv), make([][]float64, nv), make([][]float64, nv)
	turn := make([]float64, nv)
	motion := make(Recording, nv)
	for i, x := range rec {
		source := x.Position
		if reference {
			source = x.Reference
		}
		to[i] = low.ZeroPhase(source)
		rate[i], tau[i] = filter.Derivative(to[i], dt), low.ZeroPhase(d.timing.shifted(i, x))
		top := 0.0
		for _, v := range rate[i] {
			top = math.Max(top, math.Abs(v))
		}
		turn[i] = math.Max(slow[i], 0.02*top)
		if turn[i] == 0 {
			turn[i] = 1e-3
		}
		copied := record.Record{File: x.File, Piece: x.Piece, Dt: dt, Start: x.Start, Position: make([]float64, n), Force: make([]float64, n)}
		motion[i] = &copied
	}
	s := &simulation{dynamics: d, data: d.m.NewData(), y: make([]float64, nv*len(d.coefficients)), omega: 2 * math.Pi * bandwidth, turn: turn,
		q: make([]float64, nv), v: make([]float64, nv), zero: make([]float64, nv), a: make([]float64, nv), bias: make([]float64, nv),
		rest: make([]float64, nv),
		mass: mat.NewSymDense(nv, nil), rhs: mat.NewVecDense(nv, nil)}
	for i := range nv {
		s.q[i], s.v[i] = to[i][0], rate[i][0]
	}
	parts := max(1, int(math.Ceil(dt/longestStep)))
	wish, speed, torque := make([]float64, nv), make([]float64, nv), make([]float64, nv)
	for t := range n {
		for i := range nv {
			motion[i].Position[t] = s.q[i]
			if !(math.Abs(s.q[i]-to[i][t]) <= far[i]) {
				return nil, fmt.Errorf("%w: joint %s is %.3g away at %.4g s", ErrRunsAway, JointName(d.m, i), s.q[i]-to[i][t],
					rec[0].Start+float64(t)*dt)
			}
		}
		if t+1 == n {
			break
		}
		if t%samplesPerReport == samplesPerReport-1 {
			if err := progress.simulated(samplesPerReport); err != nil {
				return nil, err
			}
		}
		for part := range parts {
			x := float64(part+1) / float64(parts)
			for i := range nv {
				wish[i] = to[i][t] + x*(to[i][t+1]-to[i][t])
				speed[i] = rate[i][t] + x*(rate[i][t+1]-rate[i][t])
				torque[i] = tau[i][t] + x*(tau[i][t+1]-tau[i][t])
			}
			if !s.step(dt/float64(parts), wish, speed, torque) {
				return nil, fmt.Errorf("%w: its inertia is not positive with them, at %.4g s", ErrRunsAway, rec[0].Start+float64(t)*dt)
			}
		}
	}
	return motion, nil
}

// simulation carries a machine along.
type simulation struct {
	*dynamics
	data       *multibody.Data
	y          []float64
	omega      float64
	turn       []float64 // rad/s
	q, v       []float64
	zero, a    []float64
	bias, rest []float64
	mass       *mat.SymDense
	rhs        *mat.VecDense
	chol       mat.Cholesky
	change     mat.VecDense
}

// torques without rough friction at q, v, a to out.
func (s *simulation) torques(v, a, out []float64) {
	multibody.Regressor(s.m, s.data, s.q, v, a, s.y)
	n := len(s.coefficients)
	for i := range out {
		out[i] = 0
		for k, x := range s.coefficients {
			out[i] += s.y[i*n+k] * x
		}
	}
}

// step moves the state by h (s): implicit in friction and in what draws it to the record, explicit in the rest. It is false where the
// inertia matrix is not positive definite.
func (s *simulation) step(h float64, to, rate, tau []float64) bool {
	nv := len(s.q)
	s.torques(s.zero, s.zero, s.rest)
	for j := range nv { // the inertia matrix, column by column
		s.a[j] = 1
		s.torques(s.zero, s.a, s.bias)
		s.a[j] = 0
		for i := range j + 1 {
			s.mass.SetSym(i, j, s.bias[i]-s.rest[i])
		}
	}
	s.torques(s.v, s.zero, s.bias)
	pull := make([]float64, nv)
	for i := range nv {
		pull[i] = s.omega*s.omega*(to[i]-s.q[i]-h*s.v[i]) + 2*s.omega*(rate[i]-s.v[i])
	}
	for i := range nv {
		force, side := tau[i]-s.bias[i], 0
		if s.v[i] < 0 {
			side = 1
		}
		th := math.Tanh(s.v[i] / s.turn[i])
		force -= s.coulomb[i][side]*th + s.viscous[i][side]*s.v[i]
		for j := range nv {
			force += s.mass.At(i, j) * pull[j]
		}
		s.rhs.SetVec(i, h*force)
	}
	draw := 1 + h*s.omega*(2+h*s.omega)
	s.mass.ScaleSym(draw, s.mass)
	if !s.chol.Factorize(s.mass) {
		return false
	}
	for i := range nv {
		side := 0
		if s.v[i] < 0 {
			side = 1
		}
		th := math.Tanh(s.v[i] / s.turn[i])
		slope := math.Max(0, s.coulomb[i][side])*(1-th*th)/s.turn[i] + math.Max(0, s.viscous[i][side])
		s.mass.SetSym(i, i, s.mass.At(i, i)+h*slope)
	}
	if !s.chol.Factorize(s.mass) || s.chol.SolveVecTo(&s.change, s.rhs) != nil {
		return false
	}
	for i := range nv {
		s.v[i] += s.change.AtVec(i)
		s.q[i] += h * s.v[i]
	}
	return true
}
