package linear

import (
	"fmt"
	"math"
	"slices"

	"hilrig/identify/filter"
	"hilrig/identify/fit"
	"hilrig/identify/record"

	"gonum.org/v1/gonum/floats"
)

// Instrumental variables. Where the columns of W carry noise, least squares is drawn towards zero. Columns Z that go with
// the true motion but know nothing of the noise give an estimate that is not [SS89]:
//
//	θ = (ZᵀW)⁻¹·Zᵀy
//
// Here Z is made as W is, from the motion of the model itself, simulated with the parameters of the iterate before; the
// first one is least squares. Two or three iterates do.
//
// What the simulation is driven by decides what it knows of. Where a reference was recorded, a virtual positioning loop makes
// the model follow it: Z then depends on neither the measured position nor the measured force. Otherwise the model is driven
// by the recorded force, with a slow correction towards the recorded position that keeps it from drifting away: this takes
// the force for exact (a command), because its noise would be in the simulated acceleration and in y.
const instrumentIterates = 3

// correctionShare is the bandwidth of the slow correction as a share of that of the fit: noise that low is nothing against
// the motion.
const correctionShare = 0.02

// followShares are the bandwidths tried for the virtual loop, as shares of that of the fit; the one that comes nearest to
// the measured motion is taken.
var followShares = []float64{0.02, 0.05, 0.1, 0.2, 0.5}

// instruments makes the columns Z by simulating the model and fitting it, in turns.
func (r *regression) instruments() error {
	theta, err := r.theta()
	if err != nil {
		return err
	}
	s, f := r.spec, r.form.f
	for turn := range instrumentIterates {
		if turn > 0 {
			sol, err := r.solve(Instrumental, Options{})
			if err != nil {
				return err
			}
			theta = sol.theta
		}
		lagged := r.slope != nil
		if lagged {
			r.pushSlope(r.lag+theta[len(r.w)], r.zeroOrderHold)
		}
		m, err := s.model(theta)
		if err != nil {
			return err
		}
		x := make([][]float64, len(r.recs))
		for _, i := range r.pieceRecord {
			if x[i], err = m.run(r.recs[i], Delayed(r.recs[i].Force, r.lag/r.recs[i].Dt, r.zeroOrderHold), s.band(1/f.dt)); err != nil {
				return err
			}
		}
		z := make([][]float64, len(r.w))
		for j := range z {
			z[j] = make([]float64, len(r.y))
		}
		fit.Parallel(len(r.parts), func(i int) {
			p := r.parts[i]
			own, f := x[p.rec][p.start:p.stop], f.sampled(r.recs[p.rec].Dt)
			for j, col := range r.form.rows(f.of(&s, f.positionLowpass, own), p.places, f.of(&s, *f.directionLowpass(), own).v, p.movingSamples).w {
				copy(z[j][p.row:], col)
			}
		})
		if r.z = z; lagged {
			r.freeLag(z)
			r.z = append(r.z, r.right(func(p part, slope []float64) {
				of, force := f.sampled(r.recs[p.rec].Dt).of(&s, *f.directionLowpass(), x[p.rec][p.start:p.stop]), make([]float64, len(slope))
				r.form.force(force, of, theta, false)
				filter.DerivativeTo(slope, force, f.dt)
			}))
		}
	}
	return nil
}

// model is an axis with the coefficients of a fit.
type model struct {
	m, k, mgs, mgc, offset float64
	fvPlus, fvMinus        float64
	fcPlus, fcMinus        float64
}

// model reads the coefficients; friction that would drive the axis is left out of the simulation.
func (s Spec) model(theta []float64) (*model, error) {
	sum := func(terms ...Term) (x float64) {
		for j, t := range s.Terms {
			if slices.Contains(terms, t) {
				x += theta[j]
			}
		}
		return x
	}
	m := &model{
		m: sum(Inertia), k: sum(Stiffness), mgs: sum(GravitySin), mgc: sum(GravityCos), offset: sum(Offset),
		fvPlus: sum(Viscous, ViscousPlus), fvMinus: sum(Viscous, ViscousMinus),
		fcPlus: sum(Coulomb, CoulombPlus), fcMinus: sum(Coulomb, CoulombMinus),
	}
	if !(m.m > 0) {
		return nil, &record.Error{
			Msg:  fmt.Sprintf("instrumental variables: the inertia of the fit before is %.4g, and a model with that cannot be simulated", m.m),
			Hint: "Is the sign of force or position wrong? If the position is noisy, lower the filter cutoff.",
		}
	}
	for _, x := range []*float64{&m.fvPlus, &m.fvMinus, &m.fcPlus, &m.fcMinus} {
		*x = math.Max(*x, 0)
	}
	return m, nil
}

// run simulates the motion over a record.
func (m *model) run(d *record.Record, force []float64, band float64) ([]float64, error) {
	if len(d.Reference) == 0 {
		return m.simulate(d, force, d.Position, 2*math.Pi*correctionShare*band)
	}
	var best []float64
	least := math.Inf(1)
	for _, share := range followShares {
		if x, err := m.simulate(d, nil, d.Reference, 2*math.Pi*share*band); err == nil {
			if e := floats.Distance(x, d.Position, 2); e < least {
				best, least = x, e
			}
		}
	}
	if best == nil {
		return nil, unlikeMotion
	}
	return best, nil
}

// simulate steps the model under force (nil: none) and a critically damped loop of bandwidth w (rad/s) towards the position
// to, by the implicit Euler rule: friction enters with the velocity at the end of the step, so that it stops the axis and
// never turns it around.
func (m *model) simulate(d *record.Record, force, to []float64, w float64) ([]float64, error) {
	h, n := d.Dt, len(to)
	kp, kd := m.m*w*w, 2*m.m*w
	x := make([]float64, n)
	q, v := d.Position[0], 0.0
	if n > 1 {
		v = (to[min(n-1, 8)] - to[0]) / (float64(min(n-1, 8)) * h)
	}
	for k := range x {
		x[k] = q
		if k+1 == n {
			break
		}
		f := kp*(to[k]-q) + kd*(to[k+1]-to[k])/h - m.offset - m.k*q
		if force != nil {
			f += force[k]
		}
		if m.mgs != 0 || m.mgc != 0 {
			sin, cos := math.Sincos(q)
			f -= m.mgs*sin + m.mgc*cos
		}
		// (M + h·(kd + Fv))·v' + h·Fc·sgn(v') = M·v + h·f
		p := m.m*v + h*f
		switch {
		case p > h*m.fcPlus:
			v = (p - h*m.fcPlus) / (m.m + h*(kd+m.fvPlus))
		case p < -h*m.fcMinus:
			v = (p + h*m.fcMinus) / (m.m + h*(kd+m.fvMinus))
		default:
			v = 0
		}
		q += h * v
		if !(math.Abs(q) < 1e12) { // not so for NaN
			return nil, unlikeMotion
		}
	}
	return x, nil
}

var unlikeMotion = &record.Error{
	Msg:  "instrumental variables: the simulated motion is too unlike the measured one to stand for it",
	Hint: "Use form direct or weak, or name data.columns.reference so that the simulation can follow it.",
}
