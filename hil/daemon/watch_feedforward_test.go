package daemon

import (
	"strings"
	"testing"
	"time"

	"hilrig/engine"
	"hilrig/hil"
)

// What a feed-forward leaves to the feedback is told once when it is more than half, to either side, and again when it fits; each axis for
// itself, and not while nothing is driven.
func TestFeedForwardEvents(t *testing.T) {
	schema := hil.Schema{Rate: 1000}
	for _, name := range []string{"shoulder", "elbow"} {
		of := hil.Of(name, engine.Signal{Name: "comp.mechanism", Unit: "N·m"}, engine.Signal{Name: "comp.left"})
		of[1].Role, of[1].Axis = hil.RoleLeft, name
		schema.Model = append(schema.Model, of...)
	}
	var got []hil.Event
	w := &rowEvents{emit: func(e hil.Event) { got = append(got, e) }, wall: func(t int64) time.Time { return time.Unix(0, t) },
		schema: &schema, hasMode: true, mode: hil.Run, feeds: newFeedForwardEvents(&schema)}
	r := hil.Row{Mode: hil.Run}
	want := func(n int, level, text string) {
		t.Helper()
		if len(got) != n || n > 0 && (got[n-1].Code != "FEEDFORWARD" || got[n-1].Level != level || !strings.HasPrefix(got[n-1].Text, text)) {
			t.Fatalf("events %+v, want %d, the last a %s: %s", got, n, level, text)
		}
	}
	for _, c := range []struct {
		left, elbow float64
		mode        hil.Mode
		n           int
		level, text string
	}{
		{0.5, -0.5, hil.Run, 0, "", ""}, // the limit itself is good
		{0.51, 0, hil.Run, 1, "warn", "shoulder: the feedback adds +0.51 times"},
		{-2, 0, hil.Run, 1, "warn", "shoulder"},
		{0.3, 0, hil.Run, 1, "warn", "shoulder"},
		{-0.29, 0, hil.Run, 2, "info", "shoulder: the mechanism fits: the feedback adds -0.29 times"},
		{0, -1.98, hil.Run, 3, "warn", "elbow: the feedback adds -1.98 times"},
		{0, -1.98, hil.Ready, 4, "info", ""},
		{0, -1.98, hil.Run, 6, "warn", "elbow"},
	} {
		if r.Mode != c.mode { // a change of mode is an event too
			r.Mode = c.mode
		}
		r.Seq, r.T, r.X[1], r.X[3] = r.Seq+1, r.T+1e6, c.left, c.elbow
		w.row(&r)
		if c.mode == hil.Run && (c.text != "" || c.n == 0) {
			seen := len(got)
			if c.n == 6 { // mode, then the elbow: in either order
				if seen != 6 || !strings.Contains(got[4].Text+got[5].Text, "elbow: the feedback adds -1.98") {
					t.Fatalf("events %+v", got)
				}
				continue
			}
			want(c.n, c.level, c.text)
		}
	}
}
