package daemon

import (
	"strings"
	"testing"
	"time"

	"hilrig/engine"
	"hilrig/hil"
)

// Changes of a model's level are told at once, then once a second at most with their number; every model has its own.
func TestLevelEvents(t *testing.T) {
	schema := hil.Schema{Rate: 1000}
	for _, name := range []string{"brushes", "laws"} {
		of := hil.Of(name, engine.Signal{Name: "busy", Unit: "s"}, engine.Signal{Name: "level"}, engine.Signal{Name: "busier"})
		of[0].Role, of[1].Role, of[0].Range = hil.RoleBusy, hil.RoleLevel, [2]float64{0, 300e-6}
		schema.Model = append(schema.Model, of...)
	}
	var got []hil.Event
	w := &rowEvents{emit: func(e hil.Event) { got = append(got, e) }, wall: func(t int64) time.Time { return time.Unix(0, t) }, hasMode: true,
		levels: newLevelEvents(&schema)}
	r := hil.Row{}
	tick := func(n int, busy, level float64) {
		for range n {
			r.Seq++
			r.T += 1e6
			r.X[0], r.X[1], r.X[3] = busy, level, 1e-6
			w.row(&r)
		}
	}
	want := func(i int, level string, seq uint64, text string) {
		t.Helper()
		if len(got) != i+1 || got[i].Code != "MODEL_LEVEL" || got[i].Level != level || got[i].Seq != seq || got[i].Text != text {
			t.Fatalf("events %+v, want at last a %s of tick %d: %s", got, level, seq, text)
		}
	}
	tick(100, 412e-6, 0)
	tick(10, 8e-6, 1) // told at once
	tick(10, 90e-6, 0)
	tick(10, 8e-6, 1)
	tick(500, 90e-6, 0)
	want(0, "warn", 101, "brushes goes on at level 1, which is cheaper: its step before took 412 µs, its share of the period is 300 µs")
	tick(1000, 90e-6, 0)
	want(1, "info", 1101, "brushes goes on in full again: its step before took 90 µs, its share of the period is 300 µs; 2 changes in between")
	tick(1000, 90e-6, 2)
	want(2, "warn", 2101, "brushes goes on at level 2, which is cheaper: its step before took 90 µs, its share of the period is 300 µs")
	tick(1000, 310e-6, 1)
	want(3, "info", 3101, "brushes goes on at level 1: its step before took 310 µs, its share of the period is 300 µs")
	r.X[4] = 1
	tick(1, 90e-6, 1)
	if len(got) != 5 || !strings.HasPrefix(got[4].Text, "laws goes on at level 1") {
		t.Fatalf("events %+v", got)
	}
	// a rig without models
	none := &rowEvents{emit: func(e hil.Event) { t.Errorf("event %+v", e) }, hasMode: true, levels: newLevelEvents(&hil.Schema{})}
	none.row(&hil.Row{})
}

// A model that is lost says so once, in words, and that it goes on; a status that comes and goes is told once a second at most. A singular
// position, which it goes through, is no event, nor is the way to where the axes are.
func TestModelStatusEvents(t *testing.T) {
	schema := hil.Schema{Rate: 1000}
	for _, name := range []string{"linkage", "twin"} {
		of := hil.Of(name, engine.Signal{Name: "busy", Unit: "s"}, engine.Signal{Name: "level"}, engine.Signal{Name: "status"})
		of[0].Role, of[1].Role, of[2].Role = hil.RoleBusy, hil.RoleLevel, hil.RoleStatus
		schema.Model = append(schema.Model, of...)
	}
	var got []hil.Event
	w := &rowEvents{emit: func(e hil.Event) { got = append(got, e) }, wall: func(t int64) time.Time { return time.Unix(0, t) }, hasMode: true,
		levels: newLevelEvents(&schema)}
	r := hil.Row{}
	for _, c := range []struct {
		ticks  int
		status float64 // of twin
		events int     // so far
		level  string
		text   string
	}{
		{50, 5, 0, "", ""}, {50, 0, 0, "", ""}, {50, 1, 0, "", ""},
		{900, 7, 1, "warn", "twin, status 7: lost in a singular position"}, {3000, 7, 1, "warn", "twin, status 7: lost"},
		{10, 0, 2, "info", "twin goes on"}, {10, 2, 2, "info", "twin goes on"}, {10, 0, 2, "info", ""},
		{2000, 2, 3, "warn", "twin, status 2: lost: its loops"},
		{10, 3, 4, "warn", "twin, status 3: the equations"}, {2000, 99, 5, "info", "twin goes on"},
	} {
		for range c.ticks {
			r.Seq++
			r.T += 1e6
			r.X[5] = c.status
			w.row(&r)
		}
		if len(got) != c.events || c.events > 0 && (got[len(got)-1].Code != "MODEL_STATUS" || got[len(got)-1].Level != c.level ||
			!strings.HasPrefix(got[len(got)-1].Text, c.text)) {
			t.Fatalf("status %g: events %+v, want %d, the last %s: %s", c.status, got, c.events, c.level, c.text)
		}
	}
}
