package hil

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"hilrig/engine/control"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// slowFault is a fault of a rig on a slow line, and the causes that may be named.
type slowFault struct {
	name  string
	make  func(s *shopRig)
	rest  float64 // rad away from its reference from before RUN; 0: in motion
	found []Cause
}

func slowFaults() []slowFault {
	frozen := func(s *shopRig) {
		at := math.NaN()
		s.fault = func(y []float64, _ [estimator.Quantities]int) {
			if math.IsNaN(at) {
				at = y[0]
			}
			y[0] = at
		}
	}
	current := func(f func(i float64) float64) func(s *shopRig) {
		return func(s *shopRig) {
			s.fault = func(y []float64, at [estimator.Quantities]int) {
				if i := at[estimator.Current]; i >= 0 {
					y[i] = f(y[i])
				}
			}
		}
	}
	return []slowFault{
		{"position frozen", frozen, 0, []Cause{CauseFrozen}},
		{"position frozen, rest", frozen, 0.47, []Cause{CauseFrozen}},
		{"position frozen, rest far", frozen, 0.94, []Cause{CauseFrozen}},
		{"current zero", current(func(float64) float64 { return 0 }), 0, []Cause{CauseFrozenCurrent, CauseFrozen}},
		{"current fifth", current(func(i float64) float64 { return i / 5 }), 0, []Cause{CauseFrozen, CauseScale, CauseCommand}},
		{"current reversed", current(func(i float64) float64 { return -i }), 0, []Cause{CauseDirection, CauseScale}},
		{"blocked", func(s *shopRig) { s.p.blocked = true }, 0, []Cause{CauseFrozen, CauseBlocked}},
		{"drive turned", func(s *shopRig) { s.p.turned = -1 }, 0, []Cause{CauseDirection}},
		{"drive does nothing", func(s *shopRig) { s.p.turned = 0 }, 0, []Cause{CauseFrozen, CauseScale}},
		{"drive of a tenth", func(s *shopRig) { s.p.turned = 0.1 }, 0, []Cause{CauseFrozen, CauseScale}},
		{"nothing", func(s *shopRig) {}, 0, []Cause{CauseCommand}},
	}
}

// The voltage that K·ω takes is small beside a geared motor: 0.05 of 5 V. What such a line can tell it tells, and no other cause: a drive
// or a current of the wrong sign is no delay, a frozen number no shaft that is known to stand, a position that moves no frozen one. Both
// signs, four moments of the motion each; a shaft that is held near the turn of the reference is pushed on by less than 2·Fs for a while.
func TestCausesOnASlowLine(t *testing.T) {
	kind := shopKinds[0]
	for _, f := range slowFaults() {
		line := ""
		for _, side := range []float64{1, -1} {
			for _, moment := range []int{82, 105, 150, 190} {
				p := slowShop(kind.p().drive)
				s := newShop(t, p, shopOptions{measured: kind.measured, tick: 20, top: 12, fade: 0.3, limits: AxisLimits{MaxSpeed: 100, MaxError: 10},
					pid: &control.PID{Kp: 0.03, Kd: 0.02, Limit: 0.06}, ref: reference.Spec{Kind: "sine", Amplitude: 1.57 * side, Frequency: 0.2}})
				if f.rest == 0 {
					s.start(t)
					for range moment {
						s.step()
					}
				} else if moment > 105 {
					break
				} else if p.x = -side * f.rest; moment == 105 {
					p.x = -p.x
				}
				if f.make(s); f.rest != 0 {
					s.start(t)
				}
				n := 0
				for ; s.row.Mode.Energised() && n < 1000; n += 20 {
					s.step()
				}
				line += fmt.Sprintf(" | %d %s", n, s.row.Cause)
				if !slices.Contains(f.found, s.row.Cause) || n > 520 && !slices.Contains(f.found, CauseCommand) {
					t.Errorf("%s, %+g, tick %d: after %d ms %s", f.name, side, moment, n, s.row.CauseText(&s.ctl.schema))
				}
			}
		}
		t.Logf("%-26s%s", f.name, line)
	}
}
