package hil

import (
	"math"
	"testing"

	"hilrig/engine"
)

// fieldBoard is a board whose every field can be left out: the guard sees position, current and a third measurement, as the device
// layer hands them over: NaN before a field came once, the last value after, NaN again beyond its limit.
type fieldBoard struct {
	*Guard
	row   Row
	meas  []float64
	value []float64 // what it says
	sends []bool
	last  []float64 // ticks since it came; NaN: never
	keep  float64   // ticks
	u     []float64
}

func newFieldBoard(third MeasLimit) *fieldBoard {
	s := GuardSpec{Dt: 1e-3, Meas: []MeasLimit{{Stale: 0.02, RequiredForReady: true}, {Stale: 0.02, RequiredForReady: true}, third},
		Cmd:         []CmdLimit{{Drives: true, Lo: -10, Hi: 10}},
		GuardLimits: GuardLimits{HoldTime: 0.010, SelfTest: 0.020}, Beat: 0.25}
	nan := math.NaN()
	return &fieldBoard{Guard: NewGuard(s), meas: make([]float64, 3), value: make([]float64, 3), sends: []bool{true, true, true},
		last: []float64{nan, nan, nan}, keep: 100, u: make([]float64, 1)}
}

func (b *fieldBoard) ticks(n int, q Request) Refusal {
	for range n {
		b.row.Seq++
		b.row.T += 1e6
		b.row.FreshSignals, b.row.Flags, b.row.Res, b.row.Req = Fresh{}, 0, 0, uint8(q)
		for i := range b.meas {
			b.last[i]++
			if b.sends[i] {
				b.last[i], b.meas[i] = 0, b.value[i]
				SetFresh(&b.row.FreshSignals, i)
			} else if !(b.last[i] <= b.keep) {
				b.meas[i] = math.NaN()
			}
		}
		b.Decide(&b.row, b.meas)
		b.u[0] = 1
		b.Limit(&b.row, b.u)
	}
	return b.row.Res
}

var fieldNames = Schema{Meas: Of("drive", engine.Signal{Name: "angle", Unit: "rad"}, engine.Signal{Name: "current", Unit: "A"},
	engine.Signal{Name: "status"})}

func (b *fieldBoard) want(t *testing.T, what string, m Mode, c Cause, why string) {
	t.Helper()
	if b.row.Mode != m || b.row.Cause != c || why != "" && b.row.CauseText(&fieldNames) != why {
		t.Errorf("%s: %v, %q; want %v, %q", what, b.row.Mode, b.row.CauseText(&fieldNames), m, why)
	}
}

func (b *fieldBoard) run(t *testing.T) {
	t.Helper()
	b.ticks(30, ReqNone)
	b.ticks(1, ReqArm)
	b.ticks(1, ReqRun)
	b.want(t, "run", Run, CauseCommand, "")
}

// What must come and never did keeps the rig from READY, with its name; whether its age is watched or not. What is optional does not.
func TestNeverSent(t *testing.T) {
	for name, c := range map[string]struct {
		third MeasLimit
		waits bool
	}{
		"watched":          {MeasLimit{Stale: 0.1, Status: true, RequiredForReady: true}, true},
		"once":             {MeasLimit{RequiredForReady: true}, true},
		"status":           {MeasLimit{Status: true, RequiredForReady: true}, true},
		"optional":         {MeasLimit{}, false},
		"range":            {MeasLimit{Lo: 1, Hi: 2}, false},
		"status, optional": {MeasLimit{Status: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newFieldBoard(c.third)
			b.sends[2] = false
			b.ticks(500, ReqNone)
			if !c.waits {
				b.run(t)
				b.ticks(500, ReqNone)
				b.want(t, "optional", Run, CauseCommand, "")
				return
			}
			b.want(t, "waits", SelfTest, CauseStale, "waiting for drive.status: never sent")
			if res := b.ticks(1, ReqArm); res == Taken {
				t.Error("arm was taken")
			}
			b.sends[2] = true
			b.ticks(1, ReqNone)
			b.sends[2] = c.third.Stale > 0
			b.ticks(25, ReqNone)
			b.want(t, "came once", Ready, CauseNone, "")
		})
	}
}

// A status word that is not sent any more holds the rig within its limit, so that a fault cannot hide; a fault that was sent once and not
// again is one all the same.
func TestStatusThatStops(t *testing.T) {
	watched := MeasLimit{Stale: 0.1, Status: true, RequiredForReady: true}
	b := newFieldBoard(watched)
	b.run(t)
	b.ticks(200, ReqNone)
	b.sends[2] = false
	b.ticks(100, ReqNone)
	b.want(t, "100 ms without it", Run, CauseCommand, "")
	b.ticks(1, ReqNone)
	b.want(t, "101 ms without it", Hold, CauseStale, "stale sensor drive.status: 0.101 s, limit 0.1 s")
	b.ticks(11, ReqNone)
	b.want(t, "and longer", Trip, CauseStale, "")

	b = newFieldBoard(watched)
	b.run(t)
	b.ticks(200, ReqNone)
	b.value[2] = 8
	b.ticks(1, ReqNone)
	b.sends[2] = false
	b.want(t, "a fault", Trip, CauseDevice, "")

	// one that is not watched and stopped with a fault that nobody saw, for the drive was off
	b = newFieldBoard(MeasLimit{Status: true, RequiredForReady: true})
	b.value[2] = 8
	b.ticks(1, ReqNone)
	b.sends[2] = false
	b.ticks(300, ReqNone)
	b.run(t)
	b.ticks(110, ReqNone)
	b.want(t, "the last word was a fault", Trip, CauseDevice, "")
}

// A value that is gone because it is old is none that is not finite: that needs a sample that says so.
func TestGoneIsNotBroken(t *testing.T) {
	b := newFieldBoard(MeasLimit{RequiredForReady: true, Lo: -5, Hi: 5})
	b.run(t)
	b.sends[2] = false
	b.ticks(500, ReqNone)
	b.want(t, "gone", Run, CauseCommand, "")
	b.sends[2], b.value[2] = true, math.NaN()
	b.ticks(1, ReqNone)
	b.want(t, "broken", Hold, CauseNonFinite, "")
}
