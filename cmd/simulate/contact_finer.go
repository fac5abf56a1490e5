package simulate

import (
	"context"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/contact"
)

// Blows that come about a step apart are settled at once, or in an order that the step does not resolve. Whether that matters no single
// run knows: a run that has such blows is repeated with a shorter step, and what differs between the two is said.
const (
	finerStep  = 4     // times shorter
	ownShare   = 0.005 // of the way or the speed of a coordinate that counts as the same
	groupShare = 0.002 // beside it, of the largest of all coordinates of its unit
)

// orderMayMatter tells whether a run has such blows.
func orderMayMatter(c *contact.MoreauCounts) bool { return c.Crowded+c.Merged+c.Unsupported > 0 }

// finer repeats a run from q and u with a shorter step, row by row, and says what differs; empty: nothing.
func (s *contactRun) finer(ctx context.Context, q, u []float64) (string, error) {
	opt := s.moreau()
	every := int(math.Round(s.cfg.Rows()/opt.Step)) * finerStep
	opt.Step /= finerStep
	m, err := contact.NewMoreau(s.sys, opt)
	if err != nil {
		return "", err
	}
	way, speed := s.tolerances()
	last := "" // of the row before: a speed that differs there as well is no blow that comes a little later
	for r := 1; r < len(s.rows); r++ {
		for k := range every {
			if k%4096 == 0 && ctx.Err() != nil {
				return "", ctx.Err()
			}
			if t := float64((r-1)*every+k) * opt.Step; m.Step(t, q, u).Status == engine.NonFinite {
				return fmt.Sprintf("at t = %.6g s: %v", t, errNotFinite), nil
			}
		}
		row, faster := &s.rows[r], ""
		for i, c := range s.coords {
			if math.Abs(row.q[i]-q[i]) > way[i] {
				return fmt.Sprintf("%s at t = %.6g s is %.5g %s, and %.5g", c.Name, row.t, row.q[i], c.Unit, q[i]), nil
			}
			if math.Abs(row.u[i]-u[i]) > speed[i] {
				faster = c.Name
			}
		}
		if faster != "" && faster == last && r == len(s.rows)-1 {
			return fmt.Sprintf("the speed of %s at t = %.6g s", faster, row.t), nil
		}
		last = faster
	}
	if m.Merged > 0 {
		return fmt.Sprintf("%d steps still settle separate blows as one impact", m.Merged), nil
	}
	return "", nil
}

// tolerances are the differences that count as none, of each coordinate and of its speed.
func (s *contactRun) tolerances() (way, speed []float64) {
	way, speed = make([]float64, len(s.coords)), make([]float64, len(s.coords))
	group := map[string][2]float64{} // by unit
	for i, c := range s.coords {
		for _, r := range s.rows {
			way[i], speed[i] = max(way[i], math.Abs(r.q[i]-s.rows[0].q[i])), max(speed[i], math.Abs(r.u[i]))
		}
		g := group[c.Unit]
		group[c.Unit] = [2]float64{max(g[0], way[i]), max(g[1], speed[i])}
	}
	for i, c := range s.coords {
		way[i] = ownShare*way[i] + groupShare*group[c.Unit][0]
		speed[i] = 2 * (ownShare*speed[i] + groupShare*group[c.Unit][1])
	}
	return way, speed
}
