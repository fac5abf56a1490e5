package daemon

import (
	"strings"
	"testing"
	"time"

	"hilrig/engine"
	"hilrig/hil"
)

// Changes of the contact are told at once, then once a second at most with their number, and all are counted.
func TestContactEvents(t *testing.T) {
	schema := hil.Schema{Rate: 1000, Owners: []hil.Owner{{Name: "brushes", Kind: hil.ModelOwner}},
		Est:   []hil.Channel{{Signal: engine.Signal{Name: "shaft.est.velocity"}, Axis: "shaft", Role: hil.RoleVelocity}},
		Model: hil.Of("brushes", engine.Signal{Name: "averaged"}, engine.Signal{Name: "substeps"}, engine.Signal{Name: "room"})}
	for i := range schema.Model {
		schema.Model[i].Axis = "shaft"
	}
	var got []hil.Event
	w := &rowEvents{emit: func(e hil.Event) { got = append(got, e) }, wall: func(t int64) time.Time { return time.Unix(0, t) }, begun: true, brush: newContactEvents(&schema)}
	r := hil.Row{Busy: 123000}
	tick := func(n int, averaged float64) {
		for range n {
			r.Seq++
			r.T += 1e6
			r.X[0], r.X[1], r.X[2], r.X[3] = 512, averaged, 50*(1-averaged), 41
			w.row(&r)
		}
	}
	tick(100, 0)
	tick(10, 1) // told at once
	tick(10, 0) // too soon
	tick(10, 1)
	tick(500, 0)
	if len(got) != 1 || got[0].Code != "BRUSH_AVERAGED" || got[0].Seq != 101 || !strings.Contains(got[0].Text, "at 512 rad/s, with room for 41 sub-steps") || !strings.Contains(got[0].Text, "busy for 123 µs") {
		t.Fatalf("events %+v", got)
	}
	tick(1000, 0)
	if len(got) != 2 || got[1].Code != "BRUSH_FULL" || got[1].Seq != 1101 || !strings.Contains(got[1].Text, "50 sub-steps a tick at 512 rad/s; 2 changes in between") {
		t.Fatalf("events %+v", got)
	}
	if n, rows := w.brush.switches.Load(), w.brush.rows.Load(); n != 4 || rows != 20 {
		t.Errorf("%d changes, %d rows with the averaged contact", n, rows)
	}
	// a rig without a brush
	none := &rowEvents{emit: func(e hil.Event) { t.Errorf("event %+v", e) }, begun: true, brush: newContactEvents(&hil.Schema{})}
	none.row(&hil.Row{})
}
