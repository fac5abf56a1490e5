package simulate

import (
	"context"
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"hilrig/cmd/report"
	"hilrig/engine/contact"
)

// bridgeStep is the fixed step (s) that leads over what the event-driven engine cannot settle.
const bridgeStep = 1e-5

// byEvents runs the event-driven engine. Rows and statistics are read off the continuous solution.
func (s *contactRun) byEvents(ctx context.Context) error {
	c := s.cfg
	e, err := contact.NewEventDriven(s.sys, contact.EventOptions{
		RTol: c.Engine.Tolerance, VTh: c.Engine.RestitutionSpeed, MaxEvents: c.Engine.MaxEvents, Law: s.cfg.Engine.Impact, Bridge: bridgeStep,
	})
	if err != nil {
		return err
	}
	if err := e.Start(0, s.q, s.u); err != nil {
		return err
	}
	e.State(s.q, s.u)
	var load [2]float64 // N·s since the last row, N and T
	settled := func() {
		ev := e.Event()
		s.happened(&ev)
		for _, p := range ev.Impulses {
			load[0], load[1] = load[0]+p.N, load[1]+p.T
		}
	}
	settled()
	var sums coordSums
	sums.start(len(s.q))
	q, u := make([]float64, len(s.q)), make([]float64, len(s.q))
	forces := e.Forces(nil)
	s.beginRows(meanForces, forces)
	every, row := c.Rows(), 1
	if c.Discard == 0 {
		sums.extend(s.q, s.u)
	}
	last := 0.0
	// push adds the forces between two times of the last step: Gauss's rule of three points, over parts as short as the rows of a file without
	// outputs.every, since forces of bodies at rest may change more than the integrator sees
	push := func(a, b float64) {
		if !(b > a) || len(e.ForcesAt(a, forces[:0])) == 0 {
			return
		}
		parts := 1 + int((b-a)/c.Duration*2000)
		h := (b - a) / float64(2*parts)
		for k := range parts {
			for i, at := range [3]float64{-math.Sqrt(0.6), 0, math.Sqrt(0.6)} {
				forces = e.ForcesAt(a+h*(float64(2*k+1)+at), forces[:0])
				for _, f := range forces {
					w := h * [3]float64{5. / 9, 8. / 9, 5. / 9}[i]
					load[0], load[1] = load[0]+w*f.N, load[1]+w*f.T
				}
			}
		}
	}
	err = e.Run(c.Duration, func(e *contact.EventDriven) bool {
		from := last
		for ; float64(row)*every <= e.T*(1+1e-12) && float64(row)*every <= c.Duration*(1+1e-12); row++ {
			t := float64(row) * every
			t = min(max(t, e.StepStart()), e.T)
			push(from, t)
			from = t
			e.At(t, s.q, s.u)
			forces = e.ForcesAt(t, forces[:0])
			s.keepMeans(float64(row)*every, forces, &load, every)
		}
		if push(from, e.T); e.Event().HasImpulses {
			settled()
		}
		if from := max(last, c.Discard, e.StepStart()); e.T > from {
			sums.span(from, e.T, e.At)
		}
		if e.T >= c.Discard { // also right after an event
			e.State(q, u)
			sums.extend(q, u)
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

// EventRow is a line of the list of events: what happened at a contact, or an impulse there.
type EventRow struct {
	T          float64 `json:"time_s"`
	Kind       string  `json:"kind"` // impact: an impulse
	A          string  `json:"a"`    // the body that the impulse pushes along the normal
	B          string  `json:"b"`
	Normal     float64 `json:"normal_impulse_Ns"`
	Tangential float64 `json:"tangential_impulse_Ns"`
}

// happened lists an event that is settled.
func (s *contactRun) happened(e *contact.Event) {
	if !s.listing {
		return
	}
	for _, c := range e.Causes {
		a, b := contact.Pair(s.sys, c.ID)
		s.events = append(s.events, EventRow{T: e.T, Kind: c.Kind.String(), A: a, B: b})
	}
	for _, p := range e.Impulses {
		a, b := contact.Pair(s.sys, p.ID)
		s.events = append(s.events, EventRow{e.T, "impact", a, b, p.N, p.T})
	}
}

// writeEvents writes the list of events, as JSON or CSV by the ending of the file's name.
func (s *contactRun) writeEvents(w io.Writer, ending string) error {
	if ending == ".json" {
		return report.EncodeJSON(w, append([]EventRow{}, s.events...))
	}
	out := csv.NewWriter(w)
	out.Write([]string{"time_s", "kind", "a", "b", "normal_impulse_Ns", "tangential_impulse_Ns"})
	for _, e := range s.events {
		digits := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
		out.Write([]string{digits(e.T), e.Kind, e.A, e.B, digits(e.Normal), digits(e.Tangential)})
	}
	out.Flush()
	return out.Error()
}

// eventCounts names the counters of the engine.
func eventCounts(e *contact.EventStats) (out []Metric) {
	for _, n := range []struct {
		name string
		n    int
	}{
		{"integrator_steps", e.Steps}, {"events", e.Events}, {"closings", e.Closings}, {"impacts", e.Impacts},
		{"impacts_without_rebound", e.Plastic},
		{"impacts_with_less_restitution", e.Lowered}, {"detachments", e.Detachments}, {"slips", e.Slips}, {"stops", e.Stops}, {"kinks", e.Kinks},
		{"redundant", e.Redundant}, {"painleve_inconsistent", e.Inconsistent}, {"painleve_indeterminate", e.Indeterminate},
	} {
		out = append(out, Metric{n.name, "", float64(n.n)})
	}
	return append(out, Metric{"bridges", "", float64(e.Bridges)}, Metric{"bridged_time", "s", e.Bridged},
		Metric{"impact_loss", "J", e.ImpactLoss})
}
