package hil

import (
	"flag"
	"fmt"
	"hilrig/estimator"
	"hilrig/hil/axis"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated parts of docs/reference")

// The machine drawn in docs/reference/safety.md is the machine in the table.
func TestTransitionsDocs(t *testing.T) {
	comparePart(t, "../docs/reference/safety.md", "transitions", drawTransitions())
}

// comparePart compares what stands between two marks of a page with what the source says, or rewrites it.
func comparePart(t *testing.T, path, mark, text string) {
	t.Helper()
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+mark+": begin -->\n", "<!-- "+mark+": end -->"
	head, rest, ok := strings.Cut(string(doc), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no %s … %s", path, begin, end)
	}
	want := head + begin + text + end + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(doc) {
		t.Errorf("%s is not what the source says: make docs", path)
	}
}

var triggerNames = [nTriggers]string{"begin", "trip before", "estop before", "healthy", "sensor sick", "sensor well", "time is up",
	"fault", "arm", "run", "hold", "stop", "estop", "reset"}

func drawTransitions() string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> INIT\n")
	for _, tr := range transitions {
		if tr.from != tr.to {
			fmt.Fprintf(&b, "    %s --> %s: %s\n", strings.ToUpper(tr.from.String()), strings.ToUpper(tr.to.String()), triggerNames[tr.trigger])
		}
	}
	b.WriteString("```\n\n| from \\ on |")
	for _, n := range triggerNames {
		fmt.Fprintf(&b, " %s |", n)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(triggerNames)) + "\n")
	for m := Init; m <= Estop; m++ {
		fmt.Fprintf(&b, "| **%s** |", strings.ToUpper(m.String()))
		for on := range nTriggers {
			if to := next[m][on]; to == nowhere {
				b.WriteString(" · |")
			} else {
				fmt.Fprintf(&b, " %s |", strings.ToUpper(to.String()))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// remains tells a refusal for a cause that is there now.
func remains(r Refusal) bool { return r > StillWrong(CauseNone) }

// Safety properties of the table itself, whatever its details.
func TestTransitionTable(t *testing.T) {
	for _, tr := range transitions {
		if tr.to == Run && !(tr.from == Armed && tr.trigger == onRun) && tr.from != Hold {
			t.Errorf("RUN is entered from %v on %v", tr.from, triggerNames[tr.trigger])
		}
		if tr.to == Armed && !(tr.from == Ready && tr.trigger == onArm) {
			t.Errorf("ARMED is entered from %v on %v", tr.from, triggerNames[tr.trigger])
		}
		if (tr.from == Trip || tr.from == Estop) && tr.to != Trip && tr.to != Estop && tr.trigger != onReset {
			t.Errorf("%v is left on %v", tr.from, triggerNames[tr.trigger])
		}
	}
	for m := SelfTest; m <= Estop; m++ {
		if next[m][onEstop] != Estop {
			t.Errorf("no emergency stop from %v", m)
		}
		if to := next[m][onStop]; to == nowhere || to.Energised() {
			t.Errorf("stop from %v leads to %v", m, to)
		}
	}
	for _, m := range []Mode{SelfTest, Ready, Armed, Run, Hold} {
		if next[m][onFault] != Trip {
			t.Errorf("a fault in %v does not trip", m)
		}
	}
}

// rigged is a guard on two sensors (position, current) and two commands (voltage, enable) at 1 kHz, driven by hand.
type rigged struct {
	*Guard
	t    *testing.T
	row  Row
	meas []float64
	u    []float64
	dead bool // sensors deliver nothing
	off  axis.State

	believed float64 // A
}

func newRigged(t *testing.T, change func(*GuardSpec)) *rigged {
	s := GuardSpec{
		Dt:          1e-3,
		Meas:        []MeasLimit{{Stale: 0.005, Lo: -100, Hi: 100}, {Stale: 0.005, Lo: -20, Hi: 20}},
		Cmd:         []CmdLimit{{Drives: true, Lo: -10, Hi: 10, Slew: 1000}, {Hi: 1, Enable: true}},
		GuardLimits: GuardLimits{HoldTime: 0.010, SelfTest: 0.020}, Beat: 0.25,
		Axes: []AxisGuard{{AxisLimits: AxisLimits{MaxSpeed: 50, MaxCurrent: 15, RatedI: 5, Thermal: 0.1},
			Measured: [estimator.Quantities]int{0, 1, -1, -1, -1}}},
	}
	if change != nil {
		change(&s)
	}
	return &rigged{Guard: NewGuard(s), t: t, meas: []float64{0, 0}, u: []float64{0, 0}}
}

// tick runs one tick with the wish u0 for the voltage and a request.
func (g *rigged) tick(u0 float64, q Request) Refusal {
	g.row.Seq++
	g.row.T += 1e6
	g.row.Flags &= FlagSupLost | FlagDryRun | FlagLinkDown | FlagLocked | FlagTripIn | FlagCommandRefused | FlagCommandLost
	g.row.FreshSignals, g.row.Res, g.row.Req = Fresh{3}, 0, uint8(q)
	if g.dead {
		g.row.FreshSignals = Fresh{}
	}
	g.u[0], g.u[1] = u0, 0
	g.Decide(&g.row, g.meas)
	speed := g.meas[0]
	if math.IsNaN(speed) {
		speed = 0 // the estimator leaves a bad sample out
	}
	if math.Abs(g.meas[1]) <= 20 {
		g.believed = g.meas[1] // what the estimator takes
	}
	m := g.off
	m.Speed, m.Heating = speed+m.Speed, g.believed
	g.Watch(&g.row, []axis.State{m}, g.meas)
	g.Limit(&g.row, g.u)
	if !g.row.Mode.Energised() && (g.u[0] != 0 || g.u[1] != 0) {
		g.t.Fatalf("tick %d: command %v in mode %v", g.row.Seq, g.u, g.row.Mode)
	}
	if math.Abs(g.u[0]) > 10 || math.IsNaN(g.u[0]) {
		g.t.Fatalf("tick %d: command %v outside its limits", g.row.Seq, g.u)
	}
	return g.row.Res
}

func (g *rigged) ticks(n int, u0 float64) {
	for range n {
		g.tick(u0, ReqNone)
	}
}

func (g *rigged) want(m Mode, c Cause) {
	g.t.Helper()
	if g.row.Mode != m || g.row.Cause != c {
		g.t.Fatalf("tick %d: mode %v (%v), want %v (%v)", g.row.Seq, g.row.Mode, g.row.Cause, m, c)
	}
}

func (g *rigged) running() {
	g.t.Helper()
	g.ticks(25, 5)
	g.want(Ready, CauseNone)
	g.tick(5, ReqArm)
	g.want(Armed, CauseCommand)
	g.tick(5, ReqRun)
	g.want(Run, CauseCommand)
}

func TestGuardLadder(t *testing.T) {
	g := newRigged(t, nil)
	g.ticks(10, 5)
	g.want(SelfTest, CauseStart)
	if res := g.tick(5, ReqArm); res != WrongMode {
		t.Errorf("armed during the self-test: refusal %d", res)
	}
	g.running()
	if g.u[0] != 1 || g.u[1] != 1 {
		t.Errorf("first running tick sends %v, want 1 V (1000 V/s · 1 ms) and enable", g.u)
	}
	g.ticks(3, 500)
	if g.u[0] != 4 || g.row.Flags&FlagClamped == 0 || g.row.Flags&FlagSlewed == 0 {
		t.Errorf("command %v flags %b, want slewed to 4 V and the clamp flagged", g.u, g.row.Flags)
	}
	g.ticks(20, 500)
	if g.u[0] != 10 {
		t.Errorf("command %v, want the limit 10 V", g.u)
	}
	g.tick(0, ReqHold)
	g.want(Hold, CauseCommand)
	g.ticks(100, 0)
	g.want(Hold, CauseCommand)
	g.tick(0, ReqRun)
	g.want(Run, CauseCommand)
	g.tick(5, ReqStop)
	g.want(Ready, CauseCommand)
	g.tick(5, ReqEstop)
	g.want(Estop, CauseEstop)
	if res := g.tick(5, ReqArm); res != WrongMode {
		t.Errorf("armed in ESTOP: refusal %d", res)
	}
	g.tick(5, ReqReset)
	g.want(SelfTest, CauseCommand)
}

// A stale sensor holds the last command, heals if it comes back in time, and trips otherwise.
func TestGuardStale(t *testing.T) {
	g := newRigged(t, nil)
	g.running()
	g.ticks(20, 3)
	g.dead = true
	g.ticks(6, 7)
	g.want(Hold, CauseStale)
	if g.u[0] != 7 && g.u[0] != 6 {
		t.Errorf("blind HOLD sends %v", g.u)
	}
	held := g.u[0]
	g.ticks(3, -9)
	if g.u[0] != held {
		t.Errorf("blind HOLD moved from %g to %g V", held, g.u[0])
	}
	g.dead = false
	g.tick(3, ReqNone)
	g.want(Run, CauseNone)
	g.dead = true
	g.ticks(30, 3)
	g.want(Trip, CauseStale)
	if res := g.tick(0, ReqReset); !remains(res) {
		t.Errorf("reset with a dead sensor: refusal %d", res)
	}
	g.dead = false
	g.ticks(5, 3)
	g.want(Trip, CauseStale) // a cause that went away does not re-arm
	g.tick(0, ReqReset)
	g.want(SelfTest, CauseCommand)
	g.ticks(30, 3)
	g.want(Ready, CauseNone)
}

// A commanded HOLD goes blind like any other, and returns to the commanded HOLD, not to RUN.
func TestGuardStaleInCommandedHold(t *testing.T) {
	g := newRigged(t, nil)
	g.running()
	g.tick(0, ReqHold)
	g.dead = true
	g.ticks(10, 0)
	g.dead = false
	g.tick(0, ReqNone)
	g.want(Hold, CauseCommand)
	g.dead = true
	g.ticks(30, 0)
	g.want(Trip, CauseStale)
}

func TestGuardFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(g *rigged)
		mode  Mode
		cause Cause
	}{
		{"measurement not finite", func(g *rigged) { g.meas[0] = math.NaN(); g.tick(1, 0) }, Hold, CauseNonFinite},
		{"measurement out of range", func(g *rigged) { g.meas[0] = 1e3; g.s.Axes[0].MaxSpeed = 0; g.tick(1, 0) }, Hold, CauseRange},
		{"command not finite", func(g *rigged) { g.tick(math.NaN(), 0) }, Trip, CauseNonFinite},
		{"command infinite", func(g *rigged) { g.tick(math.Inf(-1), 0) }, Trip, CauseNonFinite},
		{"too fast", func(g *rigged) { g.meas[0] = 60; g.tick(1, 0) }, Trip, CauseSpeed},
		{"overcurrent", func(g *rigged) { g.meas[1] = 16; g.tick(1, 0) }, Trip, CauseCurrent},
		{"i2t", func(g *rigged) { g.meas[1] = 10; g.ticks(60, 1) }, Trip, CauseThermal},
		{"supervisor lost", func(g *rigged) { g.row.Flags |= FlagSupLost; g.tick(1, 0) }, Trip, CauseSupervisor},
		{"end of the core", func(g *rigged) { g.row.Flags |= FlagTripIn; g.tick(1, 0) }, Trip, CauseCommand},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRigged(t, nil)
			g.running()
			g.ticks(10, 1)
			c.do(g)
			g.want(c.mode, c.cause)
		})
	}
}

// A drive that says it is disabled is healthy while it should be, and at fault 0.1 s after it was enabled.
func TestGuardDeviceStatus(t *testing.T) {
	g := newRigged(t, func(s *GuardSpec) { s.Meas[0] = MeasLimit{Status: true} })
	g.meas[0] = 2
	g.running()
	g.ticks(90, 1)
	g.meas[0] = 0
	g.ticks(500, 1)
	g.want(Run, CauseCommand)
	g.tick(1, ReqStop)
	g.meas[0] = 2
	g.ticks(500, 1)
	g.want(Ready, CauseCommand)
	g.tick(1, ReqArm)
	g.tick(1, ReqRun)
	g.ticks(120, 1)
	g.want(Trip, CauseDevice)
}

// i²t: at rated current forever, at twice the rated current for τ·ln(4/3).
func TestGuardThermal(t *testing.T) {
	g := newRigged(t, nil)
	g.running()
	g.meas[1] = 5
	g.ticks(5000, 1)
	g.want(Run, CauseCommand)
	g = newRigged(t, nil)
	g.running()
	g.meas[1] = 10
	want := 0.1 * math.Log(4.0/3) / 1e-3
	n := 0
	for g.row.Mode == Run {
		g.tick(1, 0)
		n++
	}
	if math.Abs(float64(n)-want) > 1.5 {
		t.Errorf("tripped after %d ticks, want %.1f", n, want)
	}
	g.meas[1] = 0
	if !remains(g.tick(0, ReqReset)) {
		t.Error("reset while hot")
	}
	g.ticks(100, 0)
	if g.tick(0, ReqReset) != Taken {
		t.Error("reset refused after cooling")
	}
}

func TestGuardOverrun(t *testing.T) {
	for _, c := range []struct {
		policy OverrunPolicy
		misses int
		mode   Mode
	}{{OverrunSkip, 50, Run}, {OverrunHold, 3, Run}, {OverrunHold, 4, Hold}, {OverrunTrip, 3, Run}, {OverrunTrip, 4, Trip}} {
		g := newRigged(t, func(s *GuardSpec) { s.Overrun, s.OverrunMax, s.OverrunLimit = c.policy, 3, 50e6 })
		g.running()
		for range c.misses {
			g.late(2e6)
			g.ticks(5, 1)
		}
		if g.row.Mode != c.mode {
			t.Errorf("policy %d, %d misses: mode %v, want %v", c.policy, c.misses, g.row.Mode, c.mode)
		}
	}
	g := newRigged(t, func(s *GuardSpec) { s.OverrunLimit = 50e6 })
	g.running()
	g.late(60e6)
	g.want(Trip, CauseOverrun)
}

func (g *rigged) late(ns int32) {
	g.row.Seq++
	g.row.T += 1e6
	g.row.Flags, g.row.Lateness, g.row.FreshSignals, g.row.Req = FlagLate, ns, Fresh{3}, 0
	g.Decide(&g.row, g.meas)
	g.Limit(&g.row, g.u)
	g.row.Lateness = 0
}

func TestGuardDryRun(t *testing.T) {
	g := newRigged(t, nil)
	g.row.Flags = FlagDryRun
	g.ticks(30, 1)
	if res := g.tick(1, ReqArm); res != DryRunOnly {
		t.Errorf("refusal %d, want %d", res, DryRunOnly)
	}
	g.row.Flags = FlagLocked
	if res := g.tick(1, ReqArm); res != NotAllowed {
		t.Errorf("refusal %d, want %d", res, NotAllowed)
	}
}

// Whatever happens in whatever order, the command is safe or inside its limits (tick checks it), and RUN is only ever
// reached through arm and run or a healed HOLD.
func FuzzGuard(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, script []byte) {
		g := newRigged(t, nil)
		before := Init
		for _, c := range script {
			q := Request(c % 9)
			switch c / 10 % 6 {
			case 1:
				g.dead = !g.dead
			case 2:
				g.meas[0] = math.NaN()
			case 3:
				g.meas[0], g.meas[1] = 0, 0
			case 4:
				g.meas[1] = 14
			case 5:
				g.row.Flags ^= FlagSupLost
			}
			u := float64(int(c) - 128)
			if c == 77 {
				u = math.NaN()
			}
			for range 1 + int(c)%40 {
				g.tick(u, q)
				if g.row.Mode == Run && before != Run && before != Armed && before != Hold {
					t.Fatalf("RUN after %v", before)
				}
				before = g.row.Mode
				q = ReqNone
			}
		}
	})
}

func TestGuardAllocs(t *testing.T) {
	g := newRigged(t, nil)
	g.running()
	if n := testing.AllocsPerRun(1000, func() { g.tick(3, ReqNone) }); n != 0 {
		t.Errorf("%g allocations a tick", n)
	}
}

// Every transition of the table can be asked for: by requests, readings, and what is raised outside, nothing else.
func TestTransitionsAreReached(t *testing.T) {
	type step struct {
		from Mode
		on   trigger
	}
	fired := map[step]bool{}
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		g := newRigged(t, func(s *GuardSpec) { s.Armed = 0.05 })
		g.onTransition = func(from Mode, on trigger) { fired[step{from, on}] = true }
		g.Inherit(Before{Mode: []Mode{Init, Init, Init, Init, Trip, Estop}[rng.IntN(6)]})
		for range 400 {
			switch rng.IntN(40) {
			case 0:
				g.dead = !g.dead
			case 1:
				g.meas[1] = 30 * (rng.Float64() - 0.5)
			case 2:
				g.row.Flags ^= []Flags{FlagSupLost, FlagTripIn}[rng.IntN(2)]
			case 3, 4, 5:
				g.dead, g.meas[1], g.row.Flags = false, 0, 0
			}
			q := ReqNone
			if rng.IntN(4) == 0 {
				q = []Request{ReqArm, ReqRun, ReqRun, ReqHold, ReqStop, ReqEstop, ReqReset, ReqReset}[rng.IntN(8)]
			}
			for range 1 + rng.IntN(30)*rng.IntN(2) {
				g.tick(1, q)
				q = ReqNone
			}
		}
	}
	for _, tr := range transitions {
		if !fired[step{tr.from, tr.trigger}] {
			t.Errorf("nobody can ask for %v on %q", tr.from, triggerNames[tr.trigger])
		}
	}
}
