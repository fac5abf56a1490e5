package daemon

import (
	"fmt"
	"sync/atomic"

	"hilrig/hil"
)

// contactEvents tells when the brush beside the rig changes between full and averaged contact: at once, then at most once a
// second, with the number of changes in between.
type contactEvents struct {
	averaged, speed, steps, room int // places in X; averaged −1: there is no brush

	switches, rows atomic.Uint64 // changes; rows with the averaged contact

	now, told bool
	since     uint64 // changes since the last event
	at        int64  // ns  time of the last event
	busy      int32  // ns  the tick before
}

func newContactEvents(s *hil.Schema) contactEvents {
	for _, o := range s.Owners {
		if o.Kind == hil.ModelOwner {
			at := s.Index(o.Name + ".averaged")
			return contactEvents{averaged: at, speed: s.Find(hil.Estimated, s.Channels()[at].Axis, hil.RoleVelocity), steps: s.Index(o.Name + ".substeps"), room: s.Index(o.Name + ".room")}
		}
	}
	return contactEvents{averaged: -1}
}

func (c *contactEvents) row(w *rowEvents, r *hil.Row) {
	if c.averaged < 0 {
		return
	}
	now := r.X[c.averaged] != 0
	if now {
		c.rows.Add(1)
	}
	if now != c.now {
		c.now = now
		c.switches.Add(1)
		c.since++
	}
	if c.now != c.told && (c.at == 0 || r.T-c.at >= 1e9) {
		more := ""
		if c.since > 1 {
			more = fmt.Sprintf("; %d changes in between", c.since-1)
		}
		if c.now {
			w.event(r, "warn", "BRUSH_AVERAGED", fmt.Sprintf("the brush goes on with the averaged contact: at %.4g rad/s, with room for %.0f sub-steps in its share of the period; the tick before was busy for %.0f µs%s",
				r.X[c.speed], r.X[c.room], float64(c.busy)/1e3, more))
		} else {
			w.event(r, "info", "BRUSH_FULL", fmt.Sprintf("the brush has its full contact again: %.0f sub-steps a tick at %.4g rad/s%s", r.X[c.steps], r.X[c.speed], more))
		}
		c.told, c.since, c.at = c.now, 0, r.T
	}
	c.busy = r.Busy
}
