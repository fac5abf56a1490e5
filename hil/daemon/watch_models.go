package daemon

import (
	"fmt"

	"hilrig/hil"
)

// levelEvents tells when a model beside the rig does its steps at another level: at once, then at most once a second, with the number of
// changes in between.
type levelEvents struct {
	model       string
	busy, level int     // places in X
	room        float64 // s  the model's share of the period
	now, told   float64 // level
	since       int     // changes since the last event
	at          int64   // ns  time of the last event
	took        float64 // s  by the step before
}

// newLevelEvents finds the models of a rig.
func newLevelEvents(s *hil.Schema) (all []levelEvents) {
	busy, channels := s.FindAll(hil.Modelled, hil.RoleBusy)
	level, _ := s.FindAll(hil.Modelled, hil.RoleLevel)
	for i, c := range channels {
		all = append(all, levelEvents{model: c.Owner, busy: busy[i], level: level[i], room: c.Range[1]})
	}
	return all
}

func (e *levelEvents) row(w *rowEvents, r *hil.Row) {
	if now := r.X[e.level]; now != e.now {
		e.now = now
		e.since++
	}
	if e.now != e.told && (e.at == 0 || r.T-e.at >= 1e9) {
		level, what := "info", "in full again"
		if e.now > 0 {
			what = fmt.Sprintf("at level %.0f", e.now)
		}
		if e.now > e.told {
			level = "warn"
			what += ", which is cheaper"
		}
		text := fmt.Sprintf("%s goes on %s: its step before took %.0f µs, its share of the period is %.0f µs", e.model, what, 1e6*e.took, 1e6*e.room)
		if e.since > 1 {
			text += fmt.Sprintf("; %d changes in between", e.since-1)
		}
		w.event(r, level, "MODEL_LEVEL", text)
		e.told, e.since, e.at = e.now, 0, r.T
	}
	e.took = r.X[e.busy]
}
