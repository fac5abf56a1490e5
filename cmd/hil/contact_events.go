package main

import (
	"context"
	"math"

	"hilrig/engine/contact"
)

// byEvents runs the event-driven engine. Rows and statistics are read off the continuous solution.
func (s *touching) byEvents(ctx context.Context) error {
	c := s.cfg
	e, err := contact.NewEventDriven(s.sys, contact.EventOptions{
		RTol: c.Engine.Tolerance, VTh: c.Engine.Slow, MaxEvents: c.Engine.MaxEvents, Law: s.impactLaw(),
	})
	if err != nil {
		return err
	}
	if err := e.Start(0, s.q, s.u); err != nil {
		return err
	}
	e.State(s.q, s.u)
	var sums coordSums
	sums.start(len(s.q))
	q, u := make([]float64, len(s.q)), make([]float64, len(s.q))
	set := contact.NewSet(64, len(s.q))
	forces := e.Forces(nil)
	s.sys.Contacts(0, s.q, s.u, math.Inf(1), set)
	s.keep(0, heldPushes(set, forces))
	every, row := c.Rows(), 1
	if c.Discard == 0 {
		sums.touch(s.q, s.u)
	}
	last := 0.0
	err = e.Run(c.Duration, func(e *contact.EventDriven) bool {
		for ; float64(row)*every <= e.T*(1+1e-12) && float64(row)*every <= c.Duration*(1+1e-12); row++ {
			t := float64(row) * every
			t = min(max(t, e.Old()), e.T)
			e.At(t, s.q, s.u)
			forces = e.ForcesAt(t, forces[:0])
			s.sys.Contacts(t, s.q, s.u, math.Inf(1), set)
			s.keep(float64(row)*every, heldPushes(set, forces))
		}
		if from := max(last, c.Discard); e.T > from {
			sums.span(from, e.T, e.At)
		}
		if e.T >= c.Discard { // also right after an event
			e.State(q, u)
			sums.touch(q, u)
		}
		last = e.T
		return ctx.Err() == nil
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	s.metrics = sums.metrics(s.coords)
	for _, n := range []struct {
		name string
		n    int
	}{
		{"integrator_steps", e.Steps}, {"events", e.Events}, {"closings", e.Closings}, {"impacts", e.Impacts}, {"impacts_without_rebound", e.Plastic},
		{"impacts_with_less_restitution", e.Lowered}, {"detachments", e.Detachments}, {"slips", e.Slips}, {"stops", e.Stops}, {"kinks", e.Kinks},
		{"redundant", e.Redundant}, {"painleve_inconsistent", e.Inconsistent}, {"painleve_indeterminate", e.Indeterminate}, {"large_forms", e.LargeForms},
	} {
		s.solver = append(s.solver, metric{n.name, "", float64(n.n)})
	}
	s.solver = append(s.solver, metric{"impact_loss", "J", e.ImpactLoss})
	return nil
}

// heldPushes gives the forces their places.
func heldPushes(set *contact.Set, forces []contact.ContactForce) []push {
	var out []push
	for _, f := range forces {
		for i := range set.N {
			if set.ID[i] == f.ID && f.N != 0 {
				nx, ny := set.NX[i], set.NY[i]
				out = append(out, push{f.ID, set.X[i], set.Y[i], f.N*nx + f.T*ny, f.N*ny - f.T*nx, f.N, f.T})
			}
		}
	}
	return out
}
