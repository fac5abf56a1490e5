package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"hilrig/hil/sink"
)

// getHistory serves a window of this run from its recording, as sink.History.Window describes it:
//
//	/api/history?from=-30&to=0&points=2000&signal=shaft.est.position&signal=shaft.est.velocity
//
// from and to are s since 1970, or, if they are not positive, s before the newest row on file; without from, the last 10 s; without points,
// 2000. 400: not a window; 404: no recording; 503: not a row on file yet.
func (s *Server) getHistory(w http.ResponseWriter, r *http.Request) {
	if s.opt.History == nil {
		http.Error(w, noRecording, http.StatusNotFound)
		return
	}
	q := sink.HistoryWindow{Signals: r.URL.Query()["signal"]}
	points := 0.0
	for _, p := range []struct {
		key, otherwise string
		to             *float64
	}{{"from", "-10", &q.StartTime}, {"to", "0", &q.EndTime}, {"points", "2000", &points}} {
		text := cmp.Or(r.URL.Query().Get(p.key), p.otherwise)
		var err error
		if *p.to, err = strconv.ParseFloat(text, 64); err != nil {
			http.Error(w, fmt.Sprintf("%s: %q is no number", p.key, text), http.StatusBadRequest)
			return
		}
	}
	q.Points = int(points)
	body, err := s.opt.History.Window(r.Context(), q)
	switch {
	case errors.Is(err, sink.ErrWindow):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, context.Canceled):
		http.Error(w, "the program behind this page is ending; start it again to see more", http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	}
}

const noRecording = "no history: recording is off (record.enabled)"

// historyJSON says whether the page may look back before it was opened.
type historyJSON struct {
	Longest float64 `json:"longest_s"`        // of a window; 0: there is no history
	Reason  string  `json:"reason,omitempty"` // why there is none
}
