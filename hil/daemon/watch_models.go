package daemon

import (
	"fmt"

	"hilrig/hil"
)

// levelEvents tells when a model beside the rig does its steps at another level: at once, then at most once a second, with the number of
// changes in between.
type levelEvents struct {
	model                    string
	timeIndex, level         int     // places in X
	room                     float64 // s  the model's share of the period
	lastLevel, reportedLevel float64 // level
	changes                  int     // changes since the last event
	reportTime               int64   // ns  time of the last event
	took                     float64 // s  by the step before
}

// newLevelEvents finds the models of a rig.
func newLevelEvents(s *hil.Schema) (all []levelEvents) {
	busy, channels := s.FindAll(hil.Modelled, hil.RoleBusy)
	level, _ := s.FindAll(hil.Modelled, hil.RoleLevel)
	for i, c := range channels {
		all = append(all, levelEvents{model: c.Owner, timeIndex: busy[i], level: level[i], room: c.Range[1]})
	}
	return all
}

func (e *levelEvents) row(w *rowEvents, r *hil.Row) {
	if now := r.X[e.level]; now != e.lastLevel {
		e.lastLevel = now
		e.changes++
	}
	if e.lastLevel != e.reportedLevel && (e.reportTime == 0 || r.T-e.reportTime >= 1e9) {
		level, what := "info", "in full again"
		if e.lastLevel > 0 {
			what = fmt.Sprintf("at level %.0f", e.lastLevel)
		}
		if e.lastLevel > e.reportedLevel {
			level = "warn"
			what += ", which is cheaper"
		}
		text := fmt.Sprintf("%s goes on %s: its step before took %.0f µs, its share of the period is %.0f µs", e.model, what, 1e6*e.took,
			1e6*e.room)
		if e.changes > 1 {
			text += fmt.Sprintf("; %d changes in between", e.changes-1)
		}
		w.event(r, level, "MODEL_LEVEL", text)
		e.reportedLevel, e.changes, e.reportTime = e.lastLevel, 0, r.T
	}
	e.took = r.X[e.timeIndex]
}
