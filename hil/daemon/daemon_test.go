package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hilrig/engine"
	"hilrig/hil"
	"hilrig/hil/axis"
)

func testAssembly() *Assembly {
	return &Assembly{
		Schema: hil.Schema{Rig: "test", Rate: 1000, Owners: []hil.Owner{{Name: "shaft", Kind: hil.AxisOwner}}},
		Check: func(p *hil.Params) error {
			if set := p.Sets[0].Set(); set != nil && set.Law == "viscous" {
				return errors.New("not here")
			}
			return nil
		},
		Review: func(now, next *hil.Params) (doubts []string, err error) {
			if next.V[1] > 1000 {
				return nil, errors.New("b is refused in the file")
			}
			if next.V[1] == 4.5 {
				doubts = append(doubts, "b of 4.5 is odd")
			}
			return doubts, nil
		},
		LiveParams: []axis.Param{{Name: "a", Hi: math.Inf(1)}, {Name: "b", Hi: math.Inf(1)}},
	}
}

// testCore takes orders like a core: a block that is ready is taken by the order of its generation, unless res says otherwise.
type testCore struct {
	mu     sync.Mutex
	d      *commands
	words  words
	got    []hil.Params
	gen    uint32 // in force
	res    hil.Refusal
	silent bool // answers nothing, and takes nothing
	over   atomic.Bool
}

func (c *testCore) link(t *testing.T) *coreLink {
	t.Cleanup(func() { c.over.Store(true) })
	go func() { // what is pressed
		for !c.over.Load() {
			if id := c.words.pressed[1].Swap(0) + c.words.pressed[2].Swap(0) + c.words.pressed[0].Swap(0); id != 0 { // one at a time here
				c.d.onRow(&hil.Row{Cmd: id, Mode: hil.Ready})
			}
			time.Sleep(100 * time.Microsecond)
		}
	}()
	return &coreLink{words: &c.words, publish: func(p *hil.Params) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.got = append(c.got, *p)
		c.words.Prepared.Store(p.Gen)
	}, post: func(o order) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.silent || !c.words.claim(&o) {
			return true
		}
		row := hil.Row{Cmd: o.ID, Req: uint8(o.Req), Mode: hil.Ready, Res: c.res}
		if hil.Request(o.Req) == hil.ReqArm {
			row.Res = hil.StillWrong(hil.CauseStale)
		}
		if row.Res == hil.Taken && o.Gen > 0 {
			c.gen = o.Gen
		}
		row.Gen = c.gen
		go c.d.onRow(&row)
		return true
	}}
}

// A command waits for the row that answers it; what cannot be carried out says why and changes nothing.
func TestCommands(t *testing.T) {
	d := newCommands(testAssembly())
	if r := d.Do(context.Background(), hil.Command{Name: "arm", ID: "1"}); r.OK || r.ID != "1" || r.Error != "the core is not running" {
		t.Errorf("without a core: %+v", r)
	}
	core := &testCore{d: d}
	d.connect(core.link(t))
	do := func(what string, cmd hil.Command, ok bool, says string) hil.Reply {
		t.Helper()
		r := d.Do(context.Background(), cmd)
		if r.OK != ok || !strings.Contains(r.Error, says) {
			t.Errorf("%s: %+v, want ok %v, %q", what, r, ok, says)
		}
		return r
	}
	for _, c := range []struct {
		cmd  hil.Command
		ok   bool
		says string
	}{
		{hil.Command{Name: "stop"}, true, ""},
		{hil.Command{Name: "stop", Expires: time.Now().Add(-time.Hour)}, true, ""},
		{hil.Command{Name: "hold", Expires: time.Now().Add(-time.Hour)}, true, ""},
		{hil.Command{Name: "estop", Expires: time.Now().Add(-time.Hour)}, true, ""},
		{hil.Command{Name: "reset", Expires: time.Now().Add(-time.Hour)}, false, "expired 3600"},
		{hil.Command{Name: "arm"}, false, "a cause is still there: stale sensor"},
		{hil.Command{Name: "jump"}, false, `unknown command "jump"`},
		{hil.Command{Name: "run", Expires: time.Now().Add(-time.Second)}, false, "expired"},
		{hil.Command{Name: "set"}, false, "names: a, b"},
		{hil.Command{Name: "set", Set: map[string]float64{"a": 1, "c": 2}}, false, `unknown parameter "c"`},
		{hil.Command{Name: "set", Set: map[string]float64{"a": -1}}, false, "want a number from 0"},
		{hil.Command{Name: "set", Set: map[string]float64{"b": math.NaN()}}, false, "want a number from 0"},
		{hil.Command{Name: "set", Set: map[string]float64{"b": math.Inf(1)}}, false, "want a number from 0"},
		{hil.Command{Name: "set", Set: map[string]float64{"b": 2000}, Confirm: true}, false, "refused in the file"},
		{hil.Command{Name: "set", Set: map[string]float64{"b": 4}, Confirm: true}, true, ""},
	} {
		do(fmt.Sprint(c.cmd.Name, c.cmd.Set), c.cmd, c.ok, c.says)
	}
	if got := core.got; len(got) != 1 || core.gen != got[0].Gen || got[0].V[1] != 4 || got[0].V[0] != 0 {
		t.Errorf("published blocks %+v, want one with b = 4, in force", got)
	}

	// by more than ten times, to zero and from it, and what the review doubts, wants to be confirmed
	for _, c := range []struct {
		to   float64
		asks string // "": it is taken
	}{{40, ""}, {4, ""}, {40.1, "10 times as much"}, {0.4, ""}, {4, ""}, {0.39, "10.3 times less"}, {0, "b would be 0"}, {4.5, "odd"}} {
		r := d.Do(context.Background(), hil.Command{Name: "set", Set: map[string]float64{"b": c.to}})
		if r.OK != (c.asks == "") || r.Confirm != (c.asks != "") || !strings.Contains(r.Error, c.asks) || c.asks != "" &&
			!strings.Contains(r.Error, `"confirm": true`) {
			t.Errorf("b to %g: %+v, want %q", c.to, r, c.asks)
		}
	}
	do("a from zero", hil.Command{Name: "set", Set: map[string]float64{"a": 1e-9}}, false, "a would be 1e-09  in place of 0")
	do("confirmed", hil.Command{Name: "set", Set: map[string]float64{"b": 400}, Confirm: true}, true, "")
	do("zero, confirmed", hil.Command{Name: "set", Set: map[string]float64{"b": 0}, Confirm: true}, true, "")
	do("from zero, confirmed", hil.Command{Name: "set", Set: map[string]float64{"b": 4}, Confirm: true}, true, "")

	// a model is one whole set: it travels as it is, is refused as the rig refuses it, and taken back without a law
	set := axis.Set{Law: "coulomb", Params: map[string]float64{"Fc": 1, "mu": 0, "N0": 0}}
	for _, c := range []struct {
		adopt *hil.Adopt
		ok    bool
		says  string
	}{
		{nil, false, "adopt needs"}, {&hil.Adopt{Axis: "arm", Set: set}, false, "unknown axis \"arm\"; there are shaft"},
		{&hil.Adopt{Axis: "shaft", Set: axis.Set{Params: set.Params}}, false, "numbers without a law"},
		{&hil.Adopt{Axis: "shaft", Set: axis.Set{Law: "coulomb", Params: map[string]float64{"Fc": 1}}}, false, "missing"},
		{&hil.Adopt{Axis: "shaft", Set: axis.Set{Law: "viscous", Params: map[string]float64{"Fv": 1, "delta": 1}}}, false, "not here"},
		{&hil.Adopt{Axis: "shaft", Set: set}, true, ""},
	} {
		do(fmt.Sprintf("adopt %+v", c.adopt), hil.Command{Name: "adopt", Adopt: c.adopt}, c.ok, c.says)
	}
	last := func() *hil.Params { return &core.got[len(core.got)-1] }
	if s := last().Sets[0].Set(); s == nil || s.Law != "coulomb" || s.Params["Fc"] != 1 || last().V[1] != 4 {
		t.Errorf("adopted %+v", s)
	}
	do("back to the file", hil.Command{Name: "adopt", Adopt: &hil.Adopt{Axis: "shaft"}}, true, "")
	if last().Sets[0].HasModel() {
		t.Errorf("back to the file: %+v", last().Sets[0].Set())
	}

	// what is refused is not in force, and does not come into force with the next change or the next core
	inForce := *last()
	core.res = hil.StillFades
	do("while a change fades", hil.Command{Name: "set", Set: map[string]float64{"b": 5}}, false, "will not be")
	core.res = hil.Taken
	core.silent = true
	wait, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	if r := d.Do(wait, hil.Command{Name: "set", Set: map[string]float64{"b": 6}}); r.OK || !strings.Contains(r.Error, "did not answer") {
		t.Errorf("a silent core: %+v", r)
	}
	cancel()
	for i := range core.words.waiting {
		if core.words.waiting[i].Load() != 0 {
			t.Error("the order may still come into force")
		}
	}
	d.disconnect()
	next := &testCore{d: d}
	d.handOn(next.link(t).publish)
	if len(next.got) != 1 || next.got[0] != inForce {
		t.Errorf("a new core got %+v, want %+v", next.got, inForce)
	}
	d.connect(next.link(t))
	do("after all that", hil.Command{Name: "set", Set: map[string]float64{"a": 0}}, true, "")
	if p := next.got[1]; p.V[1] != 4 || p.Gen <= inForce.Gen+2 {
		t.Errorf("b is %g, generation %d: what was refused came into force", p.V[1], p.Gen)
	}
}

// A block that the tick took in the moment in which it was given up is in force, and is said to be.
func TestTakenAtTheLastMoment(t *testing.T) {
	d := newCommands(testAssembly())
	core := &testCore{d: d, silent: true}
	told := make(chan hil.Params, 1)
	d.inForce = func(p hil.Params, from string) { told <- p }
	d.connect(core.link(t))
	wait, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	r := d.Do(wait, hil.Command{Name: "set", Set: map[string]float64{"b": 2}, Confirm: true, Source: "web"})
	if r.OK || !strings.Contains(r.Error, "did not answer") {
		t.Fatalf("%+v", r)
	}
	d.onRow(&hil.Row{Gen: core.got[0].Gen})
	select {
	case p := <-told:
		if d.params.V[1] != 2 || p.V[1] != 2 {
			t.Errorf("in force %g, told %g", d.params.V[1], p.V[1])
		}
	case <-time.After(5 * time.Second):
		t.Error("nobody was told")
	}
}

// A core that takes an order and never answers is not waited for for ever.
func TestDeskSilentCore(t *testing.T) {
	d := newCommands(testAssembly())
	core := &testCore{d: d, silent: true}
	d.connect(core.link(t))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if r := d.Do(ctx, hil.Command{Name: "run"}); r.OK || !strings.Contains(r.Error, "did not answer") {
		t.Errorf("%+v", r)
	}
	if len(d.waiting) != 0 {
		t.Errorf("%d commands still waited for", len(d.waiting))
	}
	for i := range core.words.waiting {
		if core.words.waiting[i].Load() != 0 {
			t.Error("the order may still come into force")
		}
	}
}

// A run ends with ErrTrip and the reason when it is tripped at the end, and under UntilTrip also after a reset.
func TestTrippedAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		modes []hil.Mode
		until bool
		want  bool
	}{
		{"never", []hil.Mode{hil.Ready, hil.Run, hil.Ready}, true, false},
		{"tripped", []hil.Mode{hil.Run, hil.Trip}, false, true},
		{"emergency stop", []hil.Mode{hil.Run, hil.Estop}, false, true},
		{"reset", []hil.Mode{hil.Run, hil.Trip, hil.SelfTest}, false, false},
		{"reset under --until-trip", []hil.Mode{hil.Run, hil.Trip, hil.SelfTest}, true, true},
		{"emergency stop and reset under --until-trip", []hil.Mode{hil.Run, hil.Estop, hil.SelfTest, hil.Ready}, true, true},
	} {
		s := New(testAssembly(), &hil.Info{}, Options{UntilTrip: c.until, Emit: func(hil.Event) {}})
		for k, m := range c.modes {
			row := hil.Row{Seq: uint64(k + 1), T: int64(k+1) * 1e6, Mode: m}
			if m == hil.Trip || m == hil.Estop {
				row.Cause = hil.CauseThermal
			}
			s.events.row(&row)
			s.lastMode.Store(uint32(m))
		}
		err := s.tripped()
		if errors.Is(err, ErrTrip) != c.want || c.want && !strings.Contains(err.Error(), "i2t") {
			t.Errorf("%s: %v, want ErrTrip %v", c.name, err, c.want)
		}
	}
}

// Late ticks are one line a minute, however many there are; a second with more than a hundredth of them is told at once if nothing was
// told in the last minute, skipped ticks included. Nothing is counted twice or lost.
func TestLateIsToldInProportion(t *testing.T) {
	for _, c := range []struct {
		name  string
		late  func(k int) bool // of tick k, at 1 kHz
		skip  uint32
		lines int // in 130 s
		all   int // late ticks told, in the last whole minute at the latest
	}{
		{"never", func(int) bool { return false }, 0, 0, 0},
		{"one a second", func(k int) bool { return k%1000 == 500 }, 0, 2, 120},
		{"a hundredth", func(k int) bool { return k%100 == 50 }, 0, 2, 1200},
		{"a fiftieth", func(k int) bool { return k%50 == 25 }, 0, 3, 2420},
		{"all", func(k int) bool { return true }, 0, 3, 121_000},
		{"a fiftieth in every second second", func(k int) bool { return k/1000%2 == 0 && k%50 == 25 }, 0, 3, 1220},
		{"a fiftieth from the 70th second on", func(k int) bool { return k > 70_000 && k%50 == 25 }, 0, 1, 20},
		{"a fiftieth in one second", func(k int) bool { return k > 90_000 && k <= 91_000 && k%50 == 25 }, 0, 1, 20},
		{"a gap of 20 ticks", func(k int) bool { return k == 90_500 }, 20, 1, 1},
	} {
		lines, all := 0, 0
		w := &rowEvents{schema: &hil.Schema{}, wall: func(int64) time.Time { return time.Time{} }, emit: func(e hil.Event) {
			if e.Code == "LATE" {
				n := 0
				fmt.Sscanf(e.Text, "%d", &n)
				lines, all = lines+1, all+n
			}
		}}
		row := hil.Row{Mode: hil.Ready}
		for k := range 130_000 {
			row.T, row.Flags, row.Skip = int64(k)*1e6, 0, 0
			if c.late(k) {
				row.Flags, row.Skip = hil.FlagLate, c.skip
			}
			w.row(&row)
		}
		if lines != c.lines || all < c.all*98/100 || all > c.all {
			t.Errorf("%s: %d lines about %d late ticks, want %d and %d", c.name, lines, all, c.lines, c.all)
		}
	}
}

// The core refuses shared memory of another layout.
func TestCarveRefuses(t *testing.T) {
	mem := make([]byte, sharedSize(1000)+128)
	if _, err := carve(mem, 1000, 3, true); err != nil {
		t.Fatal(err)
	}
	if _, err := carve(mem, 1000, 3, false); err != nil {
		t.Errorf("its own layout: %v", err)
	}
	if _, err := carve(mem, 1000, 4, false); err == nil {
		t.Error("another epoch was taken")
	}
	big := make([]byte, sharedSize(10000)+128)
	copy(big, mem)
	if _, err := carve(big, 10000, 3, false); err == nil {
		t.Error("another capacity was taken")
	}
	clear(mem[:8])
	if _, err := carve(mem, 1000, 3, false); err == nil {
		t.Error("memory without the mark was taken")
	}
}

// The ledger tells the next start about a run that was killed, with the core's last words, and nothing about a clean one.
func TestLedger(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "one")
	os.Mkdir(run, 0o755)
	l, before, err := OpenLedger(dir, "rig", run)
	if err != nil || before != "" {
		t.Fatalf("first start: %q, %v", before, err)
	}
	if err := l.Update("run", 1234); err != nil {
		t.Fatal(err)
	}
	// this very process lives, so nothing is said; a process that has ended is another matter
	if _, before, _ = OpenLedger(dir, "rig", run); before != "" {
		t.Errorf("a living run was reported dead: %s", before)
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Skip("no command true on this system")
	}
	l.state.PID = gone.Process.Pid
	if err := l.Update("run", 1234); err != nil {
		t.Fatal(err)
	}
	lastWords(CoreLog(run), "its beat fell silent")
	_, before, err = OpenLedger(dir, "rig", filepath.Join(dir, "two"))
	for _, s := range []string{"without a clean stop", "mode run", "1234 rows", run, "its beat fell silent"} {
		if err != nil || !strings.Contains(before, s) {
			t.Errorf("the next start says %q (%v), nothing of %q", before, err, s)
		}
	}
	l.state.PID = gone.Process.Pid
	l.Close("ready", 2000)
	if _, before, _ = OpenLedger(dir, "rig", run); before != "" {
		t.Errorf("a clean end was reported: %s", before)
	}
	// a torn file is no reason not to start
	os.WriteFile(filepath.Join(dir, ".rig.state"), []byte("{"), 0o644)
	if _, before, err = OpenLedger(dir, "rig", run); err != nil || before != "" {
		t.Errorf("a torn ledger: %q, %v", before, err)
	}
	var st ledgerState
	data, _ := os.ReadFile(filepath.Join(dir, ".rig.state"))
	if err := json.Unmarshal(data, &st); err != nil || st.PID != os.Getpid() {
		t.Errorf("the new page: %s (%v)", data, err)
	}
}

// Rows become events: a change of mode at once, many late ticks once a second with their causes counted.
func TestRowEvents(t *testing.T) {
	var events []hil.Event
	w := &rowEvents{emit: func(e hil.Event) { events = append(events, e) }, wall: func(int64) time.Time { return time.Now() },
		schema: &hil.Schema{Meas: hil.Of("drive", engine.Signal{Name: "motor.angle", Unit: "rad"})}}
	row := hil.Row{Mode: hil.SelfTest, Cause: hil.CauseStart}
	tick := func() {
		row.Seq++
		row.T += 1e6
		w.row(&row)
	}
	tick()
	tick()
	row.Mode, row.Cause, row.CauseSignal, row.Value, row.Limit = hil.Trip, hil.CauseStale, 1, 0.0214, 0.02
	tick()
	for k := range 2000 {
		row.Flags = 0
		if k%50 == 0 {
			row.Flags = hil.FlagLate | hil.FlagLateModel
			row.Lateness = 1e6
		}
		tick()
	}
	row.Flags = hil.FlagLinkDown
	tick()
	tick()
	row.Flags = 0
	tick()
	// a self-test that waits says for what, once
	row.Mode, row.Cause = hil.SelfTest, hil.CauseCommand
	for range 1500 {
		tick()
	}
	row.Cause = hil.CauseStale
	for range 3000 {
		tick()
	}
	var codes []string
	for _, e := range events {
		codes = append(codes, e.Level+" "+e.Code)
	}
	if got, want := strings.Join(codes, ", "), "info MODE, error MODE, warn LATE, error LINK_DOWN, info LINK_UP, info MODE, warn "+
		"WAITING"; got != want {
		t.Errorf("events %s\nwant   %s", got, want)
	}
	if !strings.Contains(events[1].Text, "selftest → trip (stale sensor drive.motor.angle: 0.0214 s, limit 0.02 s)") ||
		events[2].Text != "20 of 1000 ticks late in 1 s, 0 skipped, worst 1.00 ms; causes: model 20" || w.Trips != 1 {
		t.Errorf("texts %q, %q; trips %d", events[1].Text, events[2].Text, w.Trips)
	}
}
