package main

import (
	"context"

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
	forces := e.Forces(nil)
	s.keep(0, heldPushes(forces))
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
			s.keep(float64(row)*every, heldPushes(forces))
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
	s.solver = eventCounts(&e.EventStats)
	return nil
}

// eventCounts names the counters of the engine.
func eventCounts(e *contact.EventStats) (out []metric) {
	for _, n := range []struct {
		name string
		n    int
	}{
		{"integrator_steps", e.Steps}, {"events", e.Events}, {"closings", e.Closings}, {"impacts", e.Impacts}, {"impacts_without_rebound", e.Plastic},
		{"impacts_with_less_restitution", e.Lowered}, {"detachments", e.Detachments}, {"slips", e.Slips}, {"stops", e.Stops}, {"kinks", e.Kinks},
		{"redundant", e.Redundant}, {"painleve_inconsistent", e.Inconsistent}, {"painleve_indeterminate", e.Indeterminate},
	} {
		out = append(out, metric{n.name, "", float64(n.n)})
	}
	return append(out, metric{"impact_loss", "J", e.ImpactLoss})
}

// heldPushes are the forces of held contacts.
func heldPushes(forces []contact.ContactForce) []push {
	var out []push
	for _, f := range forces {
		if f.N != 0 {
			out = append(out, push{f.ID, f.X, f.Y, f.N*f.NX + f.T*f.NY, f.N*f.NY - f.T*f.NX, f.N, f.T})
		}
	}
	return out
}
