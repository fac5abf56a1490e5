package simulate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/contact"
)

// Blows that come about a step apart are settled at once, or in an order that the step does not resolve; what a blow on several contacts
// does may have more than one solution. Whether that matters no single run knows: a run that has blows is repeated by the event-driven
// engine, which takes them one by one, or where that does not get through with a shorter step. What differs is said.
const (
	finerStep    = 4     // times shorter
	eventWork    = 1e5   // integrator steps, and squares of held contacts in them: up to about ten seconds
	ownShare     = 0.005 // of the way or the speed of a coordinate that counts as the same
	groupShare   = 0.002 // beside it, of the largest of all coordinates of its unit
	sameWay      = 1e-9  // rad, m: beside it, where nothing of the unit moves but by rounding
	sameSpeed    = 1e-6  // rad/s, m/s: the same of speeds
	muchWider    = 3     // times these, and
	crowdedWider = 2     // where blows are crowded, and
	lateSteps    = 20    // what the fastest in the mean goes in so many steps, are differences that no error of the step explains
)

// finerWork are the steps, and the closed contacts in them, of a repeated run: up to about half a minute.
var finerWork int64 = 3e6

// crowded tells whether a run has blows about a step apart, or contacts that flicker, which a blow may find open or closed.
func crowded(c *contact.MoreauCounts) bool { return c.Crowded+c.Merged+c.Unsupported+c.Flickers > 0 }

// repeats tells whether a run is one that is repeated: the way over a rough wheel is one of many, its means are of interest.
func (s *contactRun) repeats() bool {
	return s.cfg.System == "scene" || s.cfg.System == "toy" && s.cfg.Toy.Kind != "wheel"
}

// repeat runs it once more from q and u and says what differs; empty: nothing. What the event-driven engine has otherwise is the error of
// the step unless it is much, or a shorter step has it otherwise too where blows were merged or a support was open. found tells that no
// contact was missed: the event-driven engine, which finds all of them, has the same to the end.
func (s *contactRun) repeat(ctx context.Context, q, u []float64, c *contact.MoreauCounts) (text string, found bool, err error) {
	together, compare := c.Crowded+c.Merged+c.Unsupported > 0, s.comparison(1, 0)
	stuck := false
	if e := &s.cfg.Engine; *e.Positions && !e.EndOfStep { // the laws of impact are the same
		var whole, same bool
		text, whole, stuck, same, err = s.repeatByEvents(ctx, slices.Clone(q), slices.Clone(u), crowded(c))
		found = whole && text == ""
		if text != "" || err != nil || whole && (same || c.Merged+c.Unsupported == 0) {
			return text, found, err
		}
	}
	if !together && !stuck || c.Overruns > 0 && !found {
		return "", found, nil
	}
	if !together { // the error of the step is no doubt
		compare = s.comparison(muchWider, lateSteps)
	}
	text, err = s.repeatFiner(ctx, q, u, compare)
	return text, found, err
}

// repeatByEvents runs it by the event-driven engine and says what differs much; whole is true where that got through, stuck where it could
// not go on, same where nothing differed until then.
func (s *contactRun) repeatByEvents(ctx context.Context, q, u []float64, crowded bool) (text string,
	whole, stuck, same bool, err error) {
	opt := contact.EventOptions{VTh: s.cfg.Engine.RestitutionSpeed, Law: s.cfg.Engine.Impact, Bridge: bridgeStep}
	if opt.Law == contact.ByEngine {
		opt.Law = contact.Newton // as the fixed step has it
	}
	e, err := contact.NewEventDriven(s.sys, opt)
	if err != nil {
		return "", false, false, false, err
	}
	if e.Start(0, q, u) != nil {
		return "", false, true, false, nil
	}
	wider := float64(muchWider)
	if crowded {
		wider = crowdedWider
	}
	narrow, wide, row, work := s.comparison(1, 0), s.comparison(wider, lateSteps), 1, 0
	same = true
	failed := e.Run(s.rows[len(s.rows)-1].t, func(e *contact.EventDriven) bool {
		for ; row < len(s.rows) && s.rows[row].t <= e.T*(1+1e-12) && text == ""; row++ {
			e.At(min(max(s.rows[row].t, e.StepStart()), e.T), q, u)
			same = same && narrow.difference(row, q, u) == ""
			text = wide.difference(row, q, u)
		}
		work += 1 + e.HeldCount()*e.HeldCount()
		s.progress("check by events", e.T)
		return text == "" && work < eventWork && ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return "", false, false, false, ctx.Err()
	}
	if text != "" {
		text = "the motion depends on how they are settled: with engine.kind: event-driven, which takes them one by one, " + text
	}
	return text, failed == nil && row == len(s.rows), failed != nil, same, nil
}

// repeatFiner is repeat with a shorter step. A long run is repeated up to finerWork, and that is said.
func (s *contactRun) repeatFiner(ctx context.Context, q, u []float64, c comparison) (string, error) {
	opt := s.moreau()
	every := int(math.Round(s.cfg.Rows()/opt.Step)) * finerStep
	opt.Step /= finerStep
	m, err := contact.NewMoreau(s.sys, opt)
	if err != nil {
		return "", err
	}
	const depends = "the motion depends on their order: with a quarter of the step "
	for r := 1; r < len(s.rows); r++ {
		s.progress("check with a quarter of the step", s.rows[r].t)
		for k := range every {
			if k%64 == 0 && ctx.Err() != nil {
				return "", ctx.Err()
			}
			if m.Steps+m.ClosedContacts > finerWork {
				return fmt.Sprintf("whether the motion depends on their order is known until t = %.6g s, where a quarter of the step changes "+
					"nothing; the rest is too long to be repeated", s.rows[r-1].t), nil
			}
			if t := float64((r-1)*every+k) * opt.Step; m.Step(t, q, u).Status == engine.NonFinite {
				return fmt.Sprintf("%sat t = %.6g s: %v", depends, t, errNotFinite), nil
			}
		}
		if text := c.difference(r, q, u); text != "" {
			return depends + text, nil
		}
	}
	if m.Merged > 0 {
		return fmt.Sprintf("with a quarter of the step %d steps still settle separate blows as one impact, in an order that is not known",
			m.Merged), nil
	}
	return "", nil
}

// comparison compares the rows of a run with those of another.
type comparison struct {
	s                                 *contactRun
	positionTolerance, speedTolerance []float64 // differences that count as none, of each coordinate and of its speed
	faster                            string    // coordinate whose speed differed in the row before: it is no blow that comes a little later
}

// comparison is one that takes differences up to wider times the usual for none, and late steps of the fastest coordinate of the unit.
func (s *contactRun) comparison(wider, late float64) comparison {
	way, speed := make([]float64, len(s.coords)), make([]float64, len(s.coords))
	group := map[string][2]float64{} // by unit
	for i, c := range s.coords {
		for _, r := range s.rows {
			way[i], speed[i] = max(way[i], math.Abs(r.q[i]-s.rows[0].q[i])), speed[i]+r.u[i]*r.u[i]/float64(len(s.rows))
		}
		speed[i] = math.Sqrt(speed[i]) // what lasts from a blow to the next counts for little
		g := group[c.Unit]
		group[c.Unit] = [2]float64{max(g[0], way[i]), max(g[1], speed[i])}
	}
	for i, c := range s.coords {
		g := group[c.Unit]
		way[i] = wider*(ownShare*way[i]+groupShare*g[0]) + late*s.cfg.Engine.Step*g[1] + sameWay
		speed[i] = 2*wider*(ownShare*speed[i]+groupShare*g[1]) + sameSpeed
	}
	return comparison{s: s, positionTolerance: way, speedTolerance: speed}
}

// difference says what differs in row r of the run, in order, from the state q, u of the other; empty: nothing.
func (c *comparison) difference(r int, q, u []float64) string {
	row, faster := &c.s.rows[r], ""
	for i, x := range c.s.coords {
		if math.Abs(row.q[i]-q[i]) > c.positionTolerance[i] {
			return fmt.Sprintf("%s at t = %.6g s is %.5g %s, and %.5g here", x.Name, row.t, q[i], x.Unit, row.q[i])
		}
		if math.Abs(row.u[i]-u[i]) > c.speedTolerance[i] {
			faster = x.Name
		}
	}
	if faster != "" && faster == c.faster && r == len(c.s.rows)-1 {
		return fmt.Sprintf("the speed of %s at t = %.6g s is another", faster, row.t)
	}
	c.faster = faster
	return ""
}
