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
// does may have more than one solution; and a step has an error of its own. How much that is no single run knows: a run is repeated by the
// event-driven engine, or where that does not get through with a shorter step. What differs is said.
const (
	finerStep = 4      // times shorter
	eventWork = 1e5    // integrator steps, and squares of held contacts in them: up to about ten seconds
	sameShare = 0.007  // of the way of a coordinate, and twice that of its speed: what counts as the same
	slowShare = 0.4    // of the largest way or speed of its unit: a coordinate counts as one that moves as much
	sameWay   = 1e-9   // rad, m: counts as the same where nothing of the unit moves but by rounding
	sameSpeed = 1e-6   // rad/s, m/s: the same of speeds
	wider     = 2      // times these, and
	lateSteps = 20     // what the fastest in the mean goes in so many steps, are differences that no error of the step explains
	goodShare = 0.0025 // of the way, to which a step is advised
	farShare  = 0.1    // of the way, beyond which the error does not tell what a shorter step has
)

// finerWork are the steps, and the closed contacts in them, of a repeated run: up to about half a minute.
var finerWork int64 = 3e6

// crowded tells whether a run has blows about a step apart, or contacts that flicker, which a blow may find open or closed.
func crowded(c *contact.MoreauCounts) bool { return c.Crowded+c.Merged+c.Unsupported+c.Flickers > 0 }

// repeats tells whether a run is one that is repeated: the way over a rough wheel is one of many, its means are of interest.
func (s *contactRun) repeats() bool {
	return s.cfg.System == "scene" || s.cfg.System == "toy" && s.cfg.Toy.Kind != "wheel"
}

// repeat runs it once more from q and u and notes what differs. found tells that no contact was missed: the event-driven engine, which
// finds all of them, has the same to the end.
func (s *contactRun) repeat(ctx context.Context, q, u []float64, c *contact.MoreauCounts) (found bool, err error) {
	together, tried := c.Crowded+c.Merged+c.Unsupported > 0, false
	if e := &s.cfg.Engine; *e.Positions && !e.EndOfStep { // the laws of impact are the same
		var stuck bool
		found, stuck, err = s.repeatByEvents(ctx, slices.Clone(q), slices.Clone(u), c)
		if tried = !stuck; err != nil || found || s.differs != "" || s.coarseStepText != "" {
			return found, err
		}
	}
	if tried && !together || c.Overruns > 0 && !found {
		return false, nil
	}
	return false, s.repeatFiner(ctx, q, u, together)
}

// repeatByEvents runs it by the event-driven engine; found is true where that got through and nothing differs much, stuck where it could
// not go on.
func (s *contactRun) repeatByEvents(ctx context.Context, q, u []float64, c *contact.MoreauCounts) (found, stuck bool, err error) {
	opt := contact.EventOptions{VTh: s.cfg.Engine.RestitutionSpeed, Law: s.cfg.Engine.Impact, Bridge: bridgeStep}
	if opt.Law == contact.ByEngine {
		opt.Law = contact.Newton // as the fixed step has it
	}
	e, err := contact.NewEventDriven(s.sys, opt)
	if err != nil {
		return false, false, err
	}
	if e.Start(0, q, u) != nil {
		return false, true, nil
	}
	narrow, wide, row, work := s.comparison(1, 0), s.comparison(wider, lateSteps), 1, 0
	another := false // blows were settled otherwise
	failed := e.Run(s.rows[len(s.rows)-1].t, func(e *contact.EventDriven) bool {
		for ; row < len(s.rows) && s.rows[row].t <= e.T*(1+1e-12) && !another; row++ {
			e.At(min(max(s.rows[row].t, e.StepStart()), e.T), q, u)
			narrow.compare(row, q, u)
			another = wide.compare(row, q, u) && crowded(c)
		}
		work += 1 + e.HeldCount()*e.HeldCount()
		s.progress("check by events", e.T)
		return !another && work < eventWork && ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return false, false, ctx.Err()
	}
	s.repeatedTime, s.maxDifference = s.rows[row-1].t, narrow.largest.share
	switch {
	case another:
		s.differs = "the motion depends on how they are settled: with engine.kind: event-driven, which takes them one by one, " +
			wide.largest.String()
	case narrow.differs:
		s.coarseStepText = s.coarseText("with engine.kind: event-driven ", &narrow.largest)
	}
	return failed == nil && row == len(s.rows) && !wide.differs, failed != nil, nil
}

// repeatFiner is repeat with a shorter step. A long run is repeated up to finerWork, and where blows are crowded that is said.
func (s *contactRun) repeatFiner(ctx context.Context, q, u []float64, together bool) error {
	opt := s.moreau()
	every := int(math.Round(s.cfg.Rows()/opt.Step)) * finerStep
	opt.Step /= finerStep
	m, err := contact.NewMoreau(s.sys, opt)
	if err != nil {
		return err
	}
	const depends, shorter = "the motion depends on their order: ", "with a quarter of the step "
	c, row := s.comparison(1, 0), 1
	defer func() { s.repeatedTime, s.maxDifference = s.rows[row-1].t, c.largest.share }()
	for ; row < len(s.rows); row++ {
		s.progress("check with a quarter of the step", s.rows[row].t)
		for k := range every {
			if k%64 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if m.Steps+m.ClosedContacts > finerWork {
				if together {
					s.differs = fmt.Sprintf("whether the motion depends on their order is known until t = %.6g s, where a quarter of the step "+
						"changes nothing; the rest is too long to be repeated", s.rows[row-1].t)
				}
				return nil
			}
			if t := float64((row-1)*every+k) * opt.Step; m.Step(t, q, u).Status == engine.NonFinite {
				s.differs = fmt.Sprintf("%s%sat t = %.6g s: %v", depends, shorter, t, errNotFinite)
				return nil
			}
		}
		if c.compare(row, q, u) && together {
			s.differs = depends + shorter + c.largest.String()
			return nil
		}
	}
	switch {
	case c.differs:
		s.coarseStepText = s.coarseText(shorter, &c.largest)
	case m.Merged > 0:
		s.differs = fmt.Sprintf("with a quarter of the step %d steps still settle separate blows as one impact, in an order that "+
			"is not known", m.Merged)
	}
	return nil
}

// coarseText says that the step is too long: with another engine or step, which other names, the result differs by d.
func (s *contactRun) coarseText(other string, d *difference) string {
	of, enough := "way", "is short enough where the error falls with the step"
	if d.rate {
		of = "mean speed"
	}
	if d.share > farShare {
		enough = "comes nearer"
	}
	return fmt.Sprintf("the step is too long for this motion: %s%s, %.2g %% of the %s; engine.step: %.3g s %s", other, d, 100*d.share, of,
		s.cfg.Engine.Step/math.Ceil(min(d.share, farShare)/goodShare), enough)
}

// difference is a number of a run that is another in a run that repeats it.
type difference struct {
	name, unit         string
	t, value, repeated float64
	share              float64 // of the way of its coordinate, or of its mean speed
	rate               bool    // it is a speed
}

func (d *difference) String() string {
	return fmt.Sprintf("%s at t = %.6g s is %.5g %s, and %.5g here", d.name, d.t, d.repeated, d.unit, d.value)
}

// comparison compares the rows of a run with those of another.
type comparison struct {
	s                                 *contactRun
	wayScale, speedScale              []float64 // of each coordinate, what it and the others of its unit move
	positionTolerance, speedTolerance []float64 // differences that count as none
	faster                            []bool    // coordinates whose speed differed in the row before
	largest                           difference
	differs                           bool
}

// comparison is one that takes differences up to wider times the usual for none, and late steps of the fastest coordinate of the unit.
func (s *contactRun) comparison(wider, late float64) comparison {
	n := len(s.coords)
	c := comparison{s: s, wayScale: make([]float64, n), speedScale: make([]float64, n), positionTolerance: make([]float64, n),
		speedTolerance: make([]float64, n), faster: make([]bool, n)}
	unit := map[string][2]float64{} // largest way and speed
	for i, x := range s.coords {
		for _, r := range s.rows {
			c.wayScale[i] = max(c.wayScale[i], math.Abs(r.q[i]-s.rows[0].q[i]))
			c.speedScale[i] += r.u[i] * r.u[i] / float64(len(s.rows))
		}
		c.speedScale[i] = math.Sqrt(c.speedScale[i]) // what lasts from a blow to the next counts for little
		g := unit[x.Unit]
		unit[x.Unit] = [2]float64{max(g[0], c.wayScale[i]), max(g[1], c.speedScale[i])}
	}
	for i, x := range s.coords {
		g := unit[x.Unit]
		c.wayScale[i] = max(c.wayScale[i], slowShare*g[0]) + sameWay/sameShare
		c.speedScale[i] = max(c.speedScale[i], slowShare*g[1]) + sameSpeed/sameShare
		c.positionTolerance[i] = wider*sameShare*c.wayScale[i] + late*s.cfg.Engine.Step*g[1]
		c.speedTolerance[i] = 2 * wider * sameShare * c.speedScale[i]
	}
	return c
}

// compare takes row r of the run, in order, with the state q, u of the other, and tells whether it differs.
func (c *comparison) compare(r int, q, u []float64) bool {
	row := &c.s.rows[r]
	for i, x := range c.s.coords {
		off := math.Abs(row.q[i] - q[i])
		c.note(difference{x.Name, x.Unit, row.t, row.q[i], q[i], off / c.wayScale[i], false}, off > c.positionTolerance[i])
		off = math.Abs(row.u[i] - u[i])
		faster := off > c.speedTolerance[i]
		if faster && c.faster[i] && r == len(c.s.rows)-1 {
			c.note(difference{x.Name + "_dot", perSecond(x.Unit), row.t, row.u[i], u[i], off / c.speedScale[i], true}, true)
		}
		c.faster[i] = faster
	}
	return c.differs
}

// note keeps the largest difference; differs tells whether it counts.
func (c *comparison) note(d difference, differs bool) {
	if differs && !c.differs || differs == c.differs && d.share > c.largest.share {
		c.largest = d
	}
	c.differs = c.differs || differs
}
