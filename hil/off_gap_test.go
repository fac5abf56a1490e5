package hil

import (
	"fmt"
	"math"
	"testing"

	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/hil/axis"
)

// still lets ms pass without a tick of the controller; the plant goes on, and the frame that lies there afterwards is old ms before.
func (s shaft) still(ms, old int) {
	if old > 0 {
		before := append([]float64(nil), s.up.now...)
		defer func() { copy(s.up.now, before) }()
	}
	for range ms {
		s.rigClk.N = 1
		t, late, _ := s.rigClk.Wait()
		s.rig.tick(t, late)
		s.up.turn()
	}
	s.ctlClk.T += int64(ms) * 1e6
}

// mute lets ms pass in which the controller ticks and no sample comes.
func (s shaft) mute(ms int) {
	every := s.every
	defer func() { s.every = every }()
	for s.every = math.MaxInt; ms > 0; ms-- {
		s.step()
	}
}

// A stop of the machine, or of the samples, in RUN or after a STOP makes no drive that is off one that is not: a motor that coasts, one on
// whose brake a weight hangs, one that a weight is slowed down against.
func TestOffAfterAGap(t *testing.T) {
	const fs = 0.021
	for _, c := range []struct {
		name    string
		ref     reference.Spec
		load    float64 // N·m
		current bool
	}{
		{"a weight on a brake", reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.5}, 3 * fs, true},
		{"a weight on a brake, no current", reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.5}, -3 * fs, false},
		{"lifted", reference.Spec{Kind: "ramp", Velocity: 15}, 3 * fs, true},
		{"fast", reference.Spec{Kind: "ramp", Velocity: 60}, 0, true},
		{"fast, no current", reference.Spec{Kind: "ramp", Velocity: -60}, 0, false},
	} {
		for _, gap := range []string{"stands still", "stands still, an old frame", "no samples", "stopped, stands still", "stopped, no samples"} {
			for n, moment := range []int{700, 900, 1200, 1900} {
				t.Run(fmt.Sprintf("%s/%s/%d", c.name, gap, moment), func(t *testing.T) {
					long := []int{60, 700, 150, 400}[n%4] // ms
					s := newShaft(t, benchOptions{seed: uint64(n), ref: c.ref, fade: 0.3, truth: func(d *plant.AxisSpec) { d.LoadTorque = c.load }},
						c.current)
					for i := range s.controller.guard.s.Meas { // a patient file: what is older than a sample is not stale yet
						s.controller.guard.s.Meas[i].Stale = []float64{0.02, 1}[n%2]
					}
					s.energise(t)
					for range moment {
						s.step()
					}
					if !s.ctl.row.Mode.Energised() {
						t.Skip(s.ctl.row.CauseText(&s.controller.schema))
					}
					if gap[:4] == "stop" {
						s.out.req = ReqStop
						for range []int{20, 1}[n%2] {
							s.step()
						}
					}
					if c.load != 0 {
						s.block()
					}
					switch gap {
					case "stands still", "stopped, stands still":
						s.still(long, 0)
					case "stands still, an old frame":
						s.still(long, long)
					default:
						s.mute(long)
					}
					for ms := range 1200 {
						if s.step(); s.ctl.row.Mode.Energised() { // a gap that was borne
							s.out.req = ReqStop
						}
						if s.ctl.row.Flags&FlagNotOff != 0 {
							t.Fatalf("%d ms after %d: %v, %s", ms, long, s.ctl.row.Mode, s.ctl.row.CauseText(&s.controller.schema))
						}
					}
				})
			}
		}
	}
}

// A drive that is on after a gap, as it was before it, is told all the same.
func TestOnAfterAGap(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, current := range []bool{true, false} {
			spec := axis.Spec{Drive: plant.VoltageDrive, TopCommand: 24, Motor: plant.Motor{R: looseR, K: looseK, J: looseJ}, Law: demoLaw()}
			g := newRigged(t, func(s *GuardSpec) {
				s.Axes[0].AxisLimits = AxisLimits{}
				s.Axes[0].HasDrive, s.Axes[0].OffLimits = true, spec.OffLimits(true, 1e-4)
				s.Meas[0].Lo, s.Meas[0].Hi = -1e6, 1e6
				if !current {
					s.Axes[0].Measured[1] = -1
				}
			})
			m := &looseMotor{}
			tick := func(q Request) {
				g.meas[0], g.meas[1] = m.speed, m.current
				g.tick(1, q)
				m.ms()
			}
			for k := range 30 {
				tick(map[int]Request{28: ReqArm, 29: ReqRun}[k])
			}
			m.on, m.volts = true, side*(looseK*40+looseF/looseK*looseR)
			for range 500 {
				tick(ReqNone)
			}
			g.row.T += 300e6
			g.row.Skip = 300
			tick(ReqNone)
			g.row.Skip = 0
			tick(ReqEstop)
			told := 0
			for ms := 1; ms < 2000 && told == 0; ms++ {
				if tick(ReqNone); g.row.Flags&FlagNotOff != 0 {
					told = ms
				}
			}
			if t.Logf("%+g, current %v: %d ms", side, current, told); told == 0 || told > 1000 {
				t.Errorf("%+g, current %v: told after %d ms", side, current, told)
			}
		}
	}
}

// A device that could not be asked while the machine stood still does not refuse anything.
func TestCommandsAfterAGap(t *testing.T) {
	for _, flag := range []Flags{FlagCommandRefused, FlagCommandLost} {
		g := newRigged(t, nil)
		g.ticks(30, 0)
		g.row.Flags = flag
		g.ticks(100, 0)
		for range 4 {
			g.row.T += 700e6
			g.row.Skip = 700
			g.ticks(1, 0)
			g.row.Skip = 0
			g.ticks(100, 0)
			if g.row.Flags&FlagNotOff != 0 {
				t.Fatalf("flag %b: %v", flag, g.row.Cause)
			}
		}
		g.ticks(500, 0)
		if g.row.Flags&FlagNotOff == 0 {
			t.Errorf("flag %b: not told for 600 ms", flag)
		}
	}
}
