package daemon

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/engine"
	"hilrig/hil"
)

func latchAssembly() *Assembly {
	a := testAssembly()
	a.Schema.Est = []hil.Channel{{Signal: engine.Signal{Name: "shaft.est.velocity", Unit: "rad/s"}}}
	a.Schema.Model = []hil.Channel{{Signal: engine.Signal{Name: "shaft.heat"}, Axis: "shaft", Role: hil.RoleHeat}}
	a.Thermal = []float64{100}
	return a
}

// What was latched is there at the next start, its signal found by name; a reset takes it away; a file of rubbish is a trip, never nothing.
func TestLatchOutlivesTheDaemon(t *testing.T) {
	dir, a := filepath.Join(t.TempDir(), "runs"), latchAssembly()
	l, before, text := OpenLatch(dir, "rig", a)
	if before != (hil.Before{}) || text != "" {
		t.Fatalf("without a file: %+v %q", before, text)
	}
	trip := hil.Before{Mode: hil.Trip, Cause: hil.CauseSpeed, CauseSignal: 1, Value: -310, Limit: 300, Heat: [hil.MaxAxes]float64{0.5}}
	keep := func(b hil.Before) {
		t.Helper()
		if err := l.Save(b); err != nil {
			t.Fatal(err)
		}
	}
	open := func(a *Assembly) (hil.Before, string) {
		t.Helper()
		_, b, text := OpenLatch(dir, "rig", a)
		return b, text
	}
	keep(trip)
	b, text := open(a)
	if math.Abs(b.Heat[0]-0.5) > 1e-3 || !strings.Contains(text, "trip (speed shaft.est.velocity: -310 rad/s, limit 300 rad/s)") {
		t.Errorf("%+v, %q", b, text)
	}
	if b.Heat = trip.Heat; b != trip {
		t.Errorf("%+v, want %+v", b, trip)
	}
	if _, b, _ := OpenLatch(dir, "other", a); b != (hil.Before{}) {
		t.Errorf("another rig begins with %+v", b)
	}
	// the signals of the next file are others
	other := latchAssembly()
	other.Schema.Meas = []hil.Channel{{Signal: engine.Signal{Name: "drive.angle"}}}
	if b, _ := open(other); b.CauseSignal != 2 {
		t.Errorf("another file: signal %d", b.CauseSignal)
	}
	other.Schema.Est, other.Thermal = nil, []float64{0}
	if b, _ := open(other); b.Mode != hil.Trip || b.CauseSignal != 0 || b.Heat[0] != 0 {
		t.Errorf("a file without the signal, and without a budget: %+v", b)
	}
	// an emergency stop on top of it, then a reset; the heat stays
	keep(hil.Before{Mode: hil.Estop, Cause: hil.CauseEstop, Heat: trip.Heat})
	if b, _ := open(a); b.Mode != hil.Estop || b.Cause != hil.CauseEstop {
		t.Errorf("emergency stop: %+v", b)
	}
	keep(hil.Before{Heat: [hil.MaxAxes]float64{0.45}})
	if b, text := open(a); b.Mode != hil.Init || text != "" || math.Abs(b.Heat[0]-0.45) > 1e-3 {
		t.Errorf("reset: %+v %q", b, text)
	}
	// windings cool between two runs
	old := strings.Replace(read(t, dir), time.Now().Format("2006-01-02T15"), time.Now().Add(-time.Hour).Format("2006-01-02T15"), 1)
	write(t, dir, old)
	if b, _ := open(a); b.Heat[0] > 1e-10 {
		t.Errorf("an hour later: heat %g", b.Heat[0])
	}
	for _, rubbish := range []string{"", "{", "null x", `{"mode":"run"}`, `{"mode":3}`, strings.Repeat("\x00", 100)} {
		write(t, dir, rubbish)
		if b, text := open(a); b.Mode != hil.Trip || !strings.Contains(text, "cannot be read") {
			t.Errorf("%q: %+v, %q", rubbish, b, text)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files in the folder", len(left))
	}
}

func read(t *testing.T, dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, ".rig.latch"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, dir, text string) {
	if err := os.WriteFile(filepath.Join(dir, ".rig.latch"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Nothing is written again and again that is no news.
func TestLatchWritesNews(t *testing.T) {
	l, _, _ := OpenLatch(t.TempDir(), "rig", latchAssembly())
	written := func(heat float64) bool {
		os.Remove(l.path)
		if err := l.Save(hil.Before{Heat: [hil.MaxAxes]float64{heat}}); err != nil {
			t.Fatal(err)
		}
		_, err := os.Stat(l.path)
		return err == nil
	}
	for _, c := range []struct {
		heat float64
		want bool
	}{{0, false}, {0.009, false}, {0.02, true}, {0.025, false}, {0.04, true}, {0.031, false}, {0, true}} {
		if written(c.heat) != c.want {
			t.Errorf("heat %g: written %v", c.heat, !c.want)
		}
	}
}

// A mode alone, or a cause alone, is news, in the file and for the supervisor; the last signal of a file is found like the others, and a
// heat that is the first of them.
func TestLatchTellsModeAndCause(t *testing.T) {
	dir, a := filepath.Join(t.TempDir(), "runs"), latchAssembly()
	l, _, _ := OpenLatch(dir, "rig", a)
	h := newHandOver(a, hil.Before{})
	last := uint16(len(a.Schema.Channels()))
	for _, b := range []hil.Before{
		{Mode: hil.Trip, Cause: hil.CauseSpeed, CauseSignal: last, Value: 2, Limit: 1},
		{Mode: hil.Trip, Cause: hil.CauseError, CauseSignal: last, Value: 2, Limit: 1},
		{Mode: hil.Estop, Cause: hil.CauseError, CauseSignal: last, Value: 2, Limit: 1},
		{Mode: hil.Trip, Cause: hil.CauseError, CauseSignal: 1, Value: 2, Limit: 1},
	} {
		row := hil.Row{Mode: b.Mode, Cause: b.Cause, CauseSignal: b.CauseSignal, Value: b.Value, Limit: b.Limit}
		if !h.row(&row) || h.row(&row) {
			t.Errorf("%v, %v: news, and once", b.Mode, b.Cause)
		}
		if err := l.Save(b); err != nil {
			t.Fatal(err)
		}
		if _, got, text := OpenLatch(dir, "rig", a); got != b || !strings.Contains(text, a.Schema.Channels()[b.CauseSignal-1].Name) {
			t.Errorf("read back %+v (%s), want %+v", got, text, b)
		}
	}
	if err := l.Save(hil.Before{Mode: hil.Trip, Cause: hil.CauseSpeed, CauseSignal: last + 1}); err != nil {
		t.Fatal(err)
	}
	if _, got, _ := OpenLatch(dir, "rig", a); got.CauseSignal != 0 {
		t.Errorf("a signal that is not there: %+v", got)
	}

	a.Schema.Est = nil // the heat is the first
	h = newHandOver(a, hil.Before{})
	row := hil.Row{Mode: hil.Run}
	if row.X[0] = 0.7; h.row(&row) {
		t.Error("a heat alone is no news for the supervisor")
	}
	if b := h.snapshot(); math.Abs(b.Heat[0]-0.7) > 1e-2 {
		t.Errorf("heat %g", b.Heat[0])
	}
}

// A file that cannot take the place of the old one leaves nothing behind.
func TestLatchLeavesNoRubbish(t *testing.T) {
	dir := t.TempDir()
	l, _, _ := OpenLatch(dir, "rig", latchAssembly())
	if err := os.MkdirAll(filepath.Join(l.path, "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	trip := hil.Before{Mode: hil.Trip, Cause: hil.CauseSpeed}
	if l.Save(trip) == nil {
		t.Error("a folder was replaced by a file")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files are left", len(left))
	}
	if os.RemoveAll(l.path); l.Save(trip) != nil { // what was not written is news still
		t.Error("it is not written when the way is free")
	}
	if _, b, _ := OpenLatch(dir, "rig", latchAssembly()); b.Mode != hil.Trip || b.Cause != hil.CauseSpeed {
		t.Errorf("then %+v", b)
	}
}

// The next core gets what the rows of the one before it showed last.
func TestHandOverToTheNextCore(t *testing.T) {
	h := newHandOver(latchAssembly(), hil.Before{Mode: hil.Estop, Cause: hil.CauseEstop})
	if b := h.snapshot(); b.Mode != hil.Estop {
		t.Errorf("before the first row: %+v", b)
	}
	row := hil.Row{Mode: hil.Run}
	row.X[1] = 0.8
	if !h.row(&row) || h.row(&row) {
		t.Error("a reset is news once")
	}
	if b := h.snapshot(); b.Mode != hil.Init || math.Abs(b.Heat[0]-0.8) > 1e-2 {
		t.Errorf("out of RUN: %+v", b)
	}
	row.Mode, row.Cause, row.CauseSignal, row.Value, row.Limit = hil.Trip, hil.CauseThermal, 2, 1.1, 1
	if !h.row(&row) {
		t.Error("a trip is news")
	}
	if b := h.snapshot(); b.Mode != hil.Trip || b.Cause != hil.CauseThermal || b.CauseSignal != 2 || b.Value != 1.1 || b.Limit != 1 {
		t.Errorf("out of TRIP: %+v", b)
	}
	h.estop()
	if b := h.snapshot(); b.Mode != hil.Estop || b.Heat[0] < 0.7 {
		t.Errorf("estop without a core: %+v", b)
	}
}

// A refusal that repeats is one line a second, and a sensor that is blind again and again too; nothing is lost from the count.
func TestRepeatsAreThrottled(t *testing.T) {
	lines := map[string]int{}
	w := &rowEvents{schema: &hil.Schema{}, wall: func(int64) time.Time { return time.Time{} }, emit: func(e hil.Event) { lines[e.Code]++ }}
	for k := range 10_000 {
		row := hil.Row{T: int64(k) * 1e6, Mode: hil.Run}
		if k%4 == 0 {
			row.Req, row.Res = uint8(hil.ReqArm), hil.WrongMode
		}
		if k%7 == 0 {
			row.Req, row.Res = uint8(hil.ReqReset), hil.StillWrong(hil.CauseStale)
		}
		if k%20 < 10 && k > 2000 {
			row.Mode, row.Cause = hil.Hold, hil.CauseStale
		}
		w.row(&row)
	}
	if n := lines["REFUSED"]; n < 18 || n > 22 {
		t.Errorf("%d lines of refusals in 10 s, two kinds", n)
	}
	if n := lines["CHATTER"]; n < 6 || n > 8 {
		t.Errorf("%d lines of chatter in 8 s", n)
	}
	if n := lines["MODE"]; n > 5 {
		t.Errorf("%d lines of modes", n)
	}
	// a trip in it is told
	w.row(&hil.Row{T: 10_000e6, Mode: hil.Hold, Cause: hil.CauseStale})
	w.row(&hil.Row{T: 10_001e6, Mode: hil.Trip, Cause: hil.CauseStale})
	if w.Trips != 1 {
		t.Errorf("%d trips", w.Trips)
	}
	// one that the core began with is none of this run's
	w = &rowEvents{schema: &hil.Schema{}, wall: w.wall, emit: w.emit}
	w.row(&hil.Row{T: 1e6, Mode: hil.Estop, Cause: hil.CauseEstop, Flags: hil.FlagLatched})
	if w.Trips != 0 || lines["LATCHED"] != 1 || w.tripped != "emergency stop" {
		t.Errorf("latched at the start: %d trips, %d lines, %q", w.Trips, lines["LATCHED"], w.tripped)
	}
}

// A refusal names the cause that is there now, what to do, and how long a hot winding takes: 100 s · ln(0.8/0.5) = 47.0 s, rounded up.
// Another cause says nothing of the heat, and a cool winding has no time to wait.
func TestRefusalNamesWhatIsWrong(t *testing.T) {
	a := latchAssembly()
	row := hil.Row{Req: uint8(hil.ReqReset), Mode: hil.Trip, Cause: hil.CauseThermal, Res: hil.StillWrong(hil.CauseThermal)}
	at := a.Schema.Index("shaft.heat")
	row.X[at] = 0.8
	if text := refusalText(&row, &a.Schema, a.Thermal); !strings.Contains(text, "a cause is still there: i2t") ||
		!strings.Contains(text, "shaft has used 0.80 of its budget") || !strings.Contains(text, "about 48 s") {
		t.Errorf("hot: %s", text)
	}
	if row.X[at] = 0.49; strings.Contains(refusalText(&row, &a.Schema, a.Thermal), "budget: it takes") {
		t.Errorf("cool: %s", refusalText(&row, &a.Schema, a.Thermal))
	}
	row.X[at], row.Res = 0.8, hil.StillWrong(hil.CauseTravel)
	if text := refusalText(&row, &a.Schema, a.Thermal); !strings.Contains(text, "travel") || !strings.Contains(text, "by hand") ||
		strings.Contains(text, "budget") {
		t.Errorf("outside its travel: %s", text)
	}
	if row.Res = hil.WrongMode; refusalText(&row, &a.Schema, a.Thermal) != "reset is not possible in mode trip" {
		t.Errorf("wrong mode: %s", refusalText(&row, &a.Schema, a.Thermal))
	}
}
