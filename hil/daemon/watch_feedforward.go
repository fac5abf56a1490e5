package daemon

import (
	"fmt"
	"math"

	"hilrig/hil"
)

// feedForwardEvents tells when the feed-forward of an axis leaves much to its feedback, and when it fits again.
type feedForwardEvents struct {
	axis     string
	index    int // place in X
	reported bool
}

const (
	muchLeft   = 0.5 // of what is fed forward
	littleLeft = 0.3
)

// newFeedForwardEvents finds the axes that have one.
func newFeedForwardEvents(s *hil.Schema) (all []feedForwardEvents) {
	at, channels := s.FindAll(hil.Modelled, hil.RoleLeft)
	for i, c := range channels {
		all = append(all, feedForwardEvents{axis: c.Axis, index: at[i]})
	}
	return all
}

func (e *feedForwardEvents) row(w *rowEvents, r *hil.Row) {
	switch left := r.X[e.index]; {
	case !r.Mode.Energised():
		e.reported = false
	case !e.reported && math.Abs(left) > muchLeft:
		e.reported = true
		w.event(r, "warn", "FEEDFORWARD", fmt.Sprintf("%s: the feedback adds %+.2f times the effort that the mechanism feeds forward, limit "+
			"±%g (0: the mechanism is right; below −1: a sign is wrong): check gravity, masses and directions of the section mechanism", e.axis,
			left, muchLeft))
	case e.reported && math.Abs(left) < littleLeft:
		e.reported = false
		w.event(r, "info", "FEEDFORWARD", fmt.Sprintf("%s: the mechanism fits: the feedback adds %+.2f times what it feeds forward", e.axis,
			left))
	}
}
