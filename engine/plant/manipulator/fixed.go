package manipulator

import (
	"context"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/beam"
)

// RunFixed integrates from the equilibrium by the fixed steps of a Machine, dt (s) each, with a sample every so many of them. Its samples
// have no work and losses, and the result no audit. When the tip leaves the beam the error wraps a *beam.LeftError, as that of Run.
func (m *Model) RunFixed(ctx context.Context, dt, duration float64, every int) (*Result, error) {
	n := math.Round(duration / dt)
	if !(dt > 0) || !(n >= 1) || n > 1e9 || every < 1 {
		return nil, fmt.Errorf("manipulator: %g s in steps of %g s with a sample every %d, want 1 to 1e9 steps", duration, dt, every)
	}
	start, err := m.Equilibrium()
	if err != nil {
		return nil, err
	}
	k, err := m.NewMachine()
	if err != nil {
		return nil, err
	}
	out := &Result{Start: start, Audit: math.NaN()}
	p := k.p
	p.events = &out.Events
	torque := make([]float64, len(m.drivenJoints))
	sample := func() {
		p.w.place(&p.s, p.e, true)
		w := make([]float64, m.beam.Nodes())
		m.beam.Deflections(p.s.qc, w)
		k.torques(torque)
		s := Sample{T: p.t, Q: append([]float64(nil), p.s.q[:m.n]...), V: append([]float64(nil), p.s.v[:m.n]...), W: w,
			TipX: p.w.pose.tip.X, TipY: p.w.pose.tip.Y, Lambda: p.lambda[stages-1], Torque: append([]float64(nil), torque...),
			Force: p.force, Slip: p.w.pose.tip.VX * cosine(&p.w.c), ContactOpen: !p.inContact, Energy: p.w.energy(&p.s), Work: math.NaN(),
			Dissipated: math.NaN(),
			Phi:        p.w.c.Phi, PhiRate: p.w.c.Rate}
		out.Samples = append(out.Samples, s)
		if p.inContact {
			out.Phi, out.PhiRate = math.Max(out.Phi, math.Abs(s.Phi)), math.Max(out.PhiRate, math.Abs(s.PhiRate))
		}
		out.Steepest = math.Max(out.Steepest, m.beam.SteepestSlope(p.s.qc))
	}
	sample()
	for i := 1; i <= int(n); i++ {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		st := p.Step(dt)
		out.Steps++
		switch {
		case p.offBeam:
			sample()
			x := 0.0
			if p.w.pose.tip.X > m.p.Beam.Length/2 {
				x = m.p.Beam.Length
			}
			return out, fmt.Errorf("manipulator: %w", &beam.LeftError{T: p.t, X: x, Length: m.p.Beam.Length})
		case st != engine.OK:
			return out, fmt.Errorf("manipulator: the step at t = %.9g s is %v: a shorter one may help", p.t, st)
		}
		if p.t = float64(i) * dt; i%every == 0 || i == int(n) {
			sample()
		}
	}
	return out, nil
}
