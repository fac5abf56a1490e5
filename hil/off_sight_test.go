package hil

import (
	"math"
	"testing"

	"hilrig/hil/axis"
)

// offRig is a guard at 1 kHz after a STOP, with one axis that measures a current (1 A is too much of it) and a position. What the
// estimate says of its motion is set by hand.
func offRig(t *testing.T, change func(*GuardSpec)) *rigged {
	return newRigged(t, func(s *GuardSpec) {
		s.Meas[0].Stale, s.Meas[1].Stale = 10, 10 // a patient file
		s.HoldTime = 10
		s.Axes[0].AxisLimits, s.Axes[0].HasDrive = AxisLimits{}, true
		s.Axes[0].OffLimits = axis.OffLimits{Current: 1, RestSpeed: 0.5, Slows: 200}
		if change != nil {
			change(s)
		}
	})
}

// toldOff runs n ticks and tells whether the drive was found not to be off.
func (g *rigged) toldOff(n int, each func(k int)) (told bool) {
	for k := range n {
		if each != nil {
			each(k)
		}
		g.tick(0, ReqNone)
		told = told || g.row.Flags&FlagNotOff != 0
	}
	return told
}

// A current that is measured rarely is one all the same, up to 50 ms or three declared sampling periods; one that is older tells nothing.
func TestOffByAnOldCurrent(t *testing.T) {
	for _, c := range []struct {
		every float64 // s  declared
		ms    int     // between samples
		told  bool
	}{{0, 1, true}, {0, 51, true}, {0, 52, false}, {0.02, 60, true}, {0.02, 62, false}, {0.05, 140, true}, {0.05, 152, false}} {
		for _, amps := range []float64{8, -8} {
			g := offRig(t, func(s *GuardSpec) { s.Axes[0].SamplePeriod = c.every })
			g.running()
			g.ticks(50, 1)
			g.tick(0, ReqStop)
			g.meas[1] = amps
			told := g.toldOff(2000, func(k int) { g.dead = k%c.ms != 0 })
			if told != c.told {
				t.Errorf("%g A every %d ms, declared %g s: told %v", amps, c.ms, c.every, told)
			}
			if told && (g.row.CauseSignal != 2 || g.row.Cause != CauseNotOff) {
				t.Errorf("%g A: %v of signal %d", amps, g.row.Cause, g.row.CauseSignal)
			}
		}
	}
}

// A current that the filter of the axis refuses, as no current of its winding, tells that a drive is on all the same; one out of its range
// does not.
func TestOffByARefusedCurrent(t *testing.T) {
	for _, amps := range []float64{8, -8, 21, -21} {
		for _, order := range []Request{ReqStop, ReqEstop} {
			g := offRig(t, nil)
			g.running()
			g.ticks(50, 1)
			g.tick(0, order)
			g.meas[1] = amps
			told := g.toldOff(400, func(int) { g.rejectedSamples = Fresh{2} })
			if want := math.Abs(amps) < 20; told != want || told && (g.row.CauseSignal != 2 || g.row.Cause != CauseNotOff) && order == ReqStop {
				t.Errorf("%g A after %v: told %v, %v of signal %d", amps, order, told, g.row.Cause, g.row.CauseSignal)
			}
		}
	}
}

// A tick left out now and then is no gap, up to 50 ms; nor is the period of a slow loop.
func TestOffWithTicksLeftOut(t *testing.T) {
	for _, c := range []struct {
		dt   float64 // s
		skip int
		told bool
	}{{1e-3, 0, true}, {1e-3, 1, true}, {1e-3, 49, true}, {1e-3, 50, false}, {0.1, 0, true}, {0.02, 1, true}, {0.02, 2, false}} {
		g := offRig(t, func(s *GuardSpec) {
			s.Dt, s.Axes[0].SamplePeriod = c.dt, c.dt
			s.SelfTest, s.Axes[0].Thermal = 0.02, 1
		})
		tick := func(q Request) {
			g.row.T += int64(c.dt*float64(1+g.row.Skip)*1e9) - 1e6
			g.tick(0, q)
		}
		for range 30 {
			tick(ReqNone)
		}
		g.row.Skip = uint32(c.skip)
		told := false
		for g.meas[1] = 8; g.row.T < 5e9; {
			tick(ReqNone)
			told = told || g.row.Flags&FlagNotOff != 0
		}
		if told != c.told {
			t.Errorf("a tick of %g s with %d left out: told %v", c.dt, c.skip, told)
		}
	}
}

// Nobody's drive is not judged, nor one in a dry run: somebody else may turn it.
func TestOffOfAnotherDrive(t *testing.T) {
	for _, c := range []struct {
		driven bool
		flags  Flags
		told   bool
	}{{true, 0, true}, {false, 0, false}, {true, FlagDryRun, false}, {false, FlagDryRun, false}} {
		g := offRig(t, func(s *GuardSpec) { s.Axes[0].HasDrive = c.driven })
		g.row.Flags, g.meas[1] = c.flags, 8
		if told := g.toldOff(1000, nil); told != c.told {
			t.Errorf("driven %v, flags %b: told %v", c.driven, c.flags, told)
		}
	}
}

// An axis that goes on is told by an estimate that is sound and a position that comes, and by nothing else.
func TestOffBySight(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, c := range []struct {
			name  string
			state axis.State
			dead  bool
			told  bool
		}{{"sound", axis.State{}, false, true}, {"not sound", axis.State{Unsound: true}, false, false},
			{"diverged", axis.State{Diverged: true}, false, false}, {"no position", axis.State{}, true, false}} {
			g := offRig(t, nil)
			g.running()
			g.off.Speed = 40 * side
			g.ticks(300, 1)
			g.want(Run, CauseCommand)
			g.tick(0, ReqStop)
			g.off, g.dead = c.state, c.dead
			g.off.Speed = 40 * side
			if told := g.toldOff(3000, nil); told != c.told {
				t.Errorf("%s, %+g rad/s: told %v", c.name, g.off.Speed, told)
			}
		}
		// what it did when it was seen last counts, whatever the estimate says meanwhile
		for _, c := range []struct {
			name string
			lost axis.State // … at the end of the drive
			dead bool
		}{{"not sound", axis.State{Unsound: true}, false}, {"diverged", axis.State{Unsound: true, Speed: -2 * side}, false},
			{"no position", axis.State{Speed: -2 * side}, true}} {
			g := offRig(t, func(s *GuardSpec) { s.Meas[0].Stale = 0.01 })
			g.running()
			g.off.Speed = 40 * side
			g.ticks(300, 1)
			if g.dead = c.dead; c.dead { // until it is stale the estimate counts
				g.ticks(12, 1)
			}
			g.off = c.lost
			g.ticks(30, 1)
			if !g.row.Mode.Energised() {
				t.Fatalf("%s: %v (%v)", c.name, g.row.Mode, g.row.Cause)
			}
			g.tick(0, ReqStop)
			g.off, g.dead = axis.State{Speed: 40 * side}, false
			if !g.toldOff(3000, nil) {
				t.Errorf("%s at the stop: that it goes on at %g rad/s is not told", c.name, g.off.Speed)
			}
		}
	}
}

// A gap ends what was seen: the speed of the tick behind it is no sight yet.
func TestOffWatchGap(t *testing.T) {
	l := axis.OffLimits{RestSpeed: 0.5, Slows: 200, Current: 1}
	for _, side := range []float64{1, -1} {
		w := offWatch{}
		w.record(&l, 40*side, true)
		for range 500 {
			w.step(&l, 40*side, 0, 0, true, false, 1e-3)
		}
		w.step(&l, 300*side, 5, 5, true, true, 0.7)
		if w.sightTime != 0 || w.lastSpeed != 40*side || w.speed != (offMean{}) || w.current != (offMean{}) || w.voltage != (offMean{}) ||
			w.startSpeed != 0 {
			t.Errorf("behind a gap: %+v", w)
		}
	}
}
