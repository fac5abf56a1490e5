package daemon

import (
	"fmt"

	"hilrig/hil"
)

// levelEvents tells when a model beside the rig does its steps at another level: at once, then at most once a second, with the number of
// changes in between; and when its status is not as it should be.
type levelEvents struct {
	model                    string
	timeIndex, level         int     // places in X
	room                     float64 // s  the model's share of the period
	lastLevel, reportedLevel float64 // level
	changes                  int     // changes since the last event
	reportTime               int64   // ns  time of the last event
	took                     float64 // s  by the step before
	status                   int     // place in X; −1: it has none
	statusText               string  // that was told last
	statusTime               int64   // ns  when
}

// newLevelEvents finds the models of a rig.
func newLevelEvents(s *hil.Schema) (all []levelEvents) {
	busy, channels := s.FindAll(hil.Modelled, hil.RoleBusy)
	level, _ := s.FindAll(hil.Modelled, hil.RoleLevel)
	for i, c := range channels {
		e := levelEvents{model: c.Owner, timeIndex: busy[i], level: level[i], room: c.Range[1], status: -1}
		places, statuses := s.FindAll(hil.Modelled, hil.RoleStatus)
		for k, c := range statuses {
			if c.Owner == e.model {
				e.status = places[k]
			}
		}
		all = append(all, e)
	}
	return all
}

// statusRow tells when a model is lost, and when it goes on: at once, then at most once a second.
func (e *levelEvents) statusRow(w *rowEvents, r *hil.Row) {
	text := ""
	if k := int(r.X[e.status]); k >= 0 && k < len(hil.ModelStatusTexts) {
		text = hil.ModelStatusTexts[k]
	}
	if text == e.statusText || e.statusTime != 0 && r.T-e.statusTime < 1e9 {
		return
	}
	if e.statusText, e.statusTime = text, r.T; text == "" {
		w.event(r, "info", "MODEL_STATUS", e.model+" goes on")
		return
	}
	w.event(r, "warn", "MODEL_STATUS", fmt.Sprintf("%s, status %.0f: %s", e.model, r.X[e.status], text))
}

func (e *levelEvents) row(w *rowEvents, r *hil.Row) {
	if e.status >= 0 {
		e.statusRow(w, r)
	}
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
