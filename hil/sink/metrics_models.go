package sink

import (
	"math"

	"hilrig/hil"
)

// modelTimes is how long the steps of a model beside the rig took, and how they were done.
type modelTimes struct {
	name                    string
	busyColumn, levelColumn int       // places in X
	total, cur, lastSecond  histogram // since start without the warm-up, second in progress, last whole second
	newestLevel             float64   // level of the newest row
	changes                 uint64    // of it
	cheaper                 uint64    // rows at another level than 0
}

// newModelTimes has one for each model of a rig.
func newModelTimes(s *hil.Schema) (all []modelTimes) {
	if s == nil {
		return nil
	}
	busy, channels := s.FindAll(hil.Modelled, hil.RoleBusy)
	level, _ := s.FindAll(hil.Modelled, hil.RoleLevel)
	stretch := func() histogram { return newHistogram(busyWidth, busyBins) }
	for i, c := range channels {
		all = append(all, modelTimes{name: c.Owner, busyColumn: busy[i], levelColumn: level[i], total: stretch(), cur: stretch(),
			lastSecond: stretch()})
	}
	return all
}

// add counts a row; warm rows count in the second only.
func (m *modelTimes) add(r *hil.Row, warm bool) {
	ns := int64(1e9*r.X[m.busyColumn] + 0.5)
	m.cur.add(ns)
	level := r.X[m.levelColumn]
	if level != m.newestLevel {
		m.changes++
	}
	if m.newestLevel = level; level > 0 {
		m.cheaper++
	}
	if !warm {
		m.total.add(ns)
	}
}

// turn ends a second.
func (m *modelTimes) turn() {
	m.cur, m.lastSecond = m.lastSecond, m.cur
	m.cur.reset()
}

// share of a period (s) that steps took on average.
func (h *histogram) share(period float64) float64 {
	if h.n == 0 {
		return math.NaN()
	}
	return 1e-9 * h.sum / float64(h.n) / period
}

// ModelHealth is a model beside the rig in a report.
type ModelHealth struct {
	Name     string
	BusyTime Spread  // µs  last second
	Share    float64 // of the period, last second
	Level    float64 // of the newest row
	Changes  uint64  // of the level, since start
	Cheaper  uint64  // rows at another level than 0, since start
}

func (m *modelTimes) health(rate float64) ModelHealth {
	return ModelHealth{m.name, m.lastSecond.spread(), m.lastSecond.share(1 / rate), m.newestLevel, m.changes, m.cheaper}
}

func (h *ModelHealth) append(b []byte) []byte {
	b = appendSpread(b, h.Name+".busy", h.BusyTime)
	b = appendField(b, h.Name+".share", h.Share)
	b = appendField(b, h.Name+".level", h.Level)
	b = appendField(b, h.Name+".level_changes", float64(h.Changes))
	return appendField(b, h.Name+".cheaper_rows", float64(h.Cheaper))
}

// ModelSummary is a model at the end of a run.
type ModelSummary struct {
	Name     string        `json:"name"`
	BusyTime SummaryTiming `json:"busy"`
	Share    float64       `json:"share"` // of the period
	Changes  uint64        `json:"level_changes"`
	Cheaper  uint64        `json:"cheaper_rows"`
}
