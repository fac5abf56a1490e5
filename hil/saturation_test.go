package hil

import (
	"math"
	"strings"
	"testing"

	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/hil/axis"
)

// saturated is a yard with one axis that runs under a reference, its limits of motion out of the way.
func saturatedYard(t *testing.T, kind plant.DriveKind, ref reference.Spec, most float64) *yard {
	t.Helper()
	p := motorBody(kind)
	a := bodySpec(t, "shaft", p, ref, axis.CompSpec{Ramp: 0.05}, false)
	a.Limits = AxisLimits{MaxLimitCycle: most}
	switch kind {
	case plant.EffortDrive:
		a.PID.Limit = 0.4
	case plant.CurrentDrive:
		a.PID.Limit = 0.1
	}
	y := newYard(t, 1, []*body{p}, []AxisSpec{a})
	y.ctl.guard.s.Axes[0].MaxResidual = 0
	y.start(t)
	return y
}

// set puts a value in force.
func (y *yard) set(t *testing.T, gen uint32, name string, v float64) {
	t.Helper()
	p := y.ctl.Params()
	for i, l := range y.ctl.LiveParams() {
		if l.Name == name {
			p.V[i] = v
		}
	}
	p.Gen = gen
	y.out.tuned, y.out.params = y.ctl, &p
}

// A gain that is far too high makes the command run from limit to limit: the rig trips within a second, with that cause, whatever the
// drive. With the watch off it goes on for ever.
func TestCommandSaturated(t *testing.T) {
	slow := reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.5}
	for _, c := range []struct {
		kind plant.DriveKind
		gain string
		v    float64
	}{
		{plant.VoltageDrive, "shaft.control.kp", 1e6}, {plant.VoltageDrive, "shaft.control.kp", 1e11},
		{plant.VoltageDrive, "shaft.control.kd", 1e3},
		{plant.CurrentDrive, "shaft.control.kp", 1e6}, {plant.CurrentDrive, "shaft.control.kd", 1e3},
		{plant.EffortDrive, "shaft.control.kp", 1e6}, {plant.EffortDrive, "shaft.control.kd", 1e3},
		{plant.VelocityDrive, "shaft.control.gain", 1e6},
	} {
		for _, most := range []float64{10, 0} {
			y := saturatedYard(t, c.kind, slow, most)
			for range 500 {
				y.step()
			}
			if y.row.Mode != Run {
				t.Fatalf("%v: %s", c.kind, y.row.CauseText(&y.ctl.schema))
			}
			y.set(t, 1, c.gain, c.v)
			ticks, turns, last := 0, 0, 0.0
			for ; ticks < 1000 && y.row.Mode == Run; ticks++ {
				if y.step(); y.u[0]*last < 0 {
					turns++
				}
				last = y.u[0]
			}
			why := y.row.CauseText(&y.ctl.schema)
			t.Logf("%v, %s %g, max_limit_cycle %g: %d ticks, %d turns of the command: %s", c.kind, c.gain, c.v, most, ticks, turns, why)
			switch tripped := y.row.Cause == CauseSaturated; {
			// 24 rad/s to and fro within a tick is no motion that the filter believes
			case c.kind == plant.VelocityDrive && y.row.Mode == Trip && y.row.Cause == CauseEstimate:
			case most == 0 && tripped:
				t.Errorf("%v, %s %g: not watched, and tripped", c.kind, c.gain, c.v)
			case most > 0 && (!tripped || ticks > 500 || y.row.Mode != Trip || !strings.Contains(why, "command saturated board.shaft.u") ||
				y.row.Value <= 10 || y.row.Limit != 10):
				t.Errorf("%v, %s %g: %v after %d ticks: %s", c.kind, c.gain, c.v, y.row.Mode, ticks, why)
			}
		}
	}
}

// What a reference asks for is no fault, however hard: reversals faster than the drive can follow, steps to and fro, and a way so long that
// the command stands at one limit.
func TestCommandMaySaturate(t *testing.T) {
	for _, kind := range []plant.DriveKind{plant.VoltageDrive, plant.CurrentDrive, plant.EffortDrive, plant.VelocityDrive} {
		for name, ref := range map[string]reference.Spec{
			"a fast sine":       {Kind: "sine", Amplitude: 20, Frequency: 8},
			"a faster one":      {Kind: "sine", Amplitude: 3, Frequency: 40},
			"a long way":        {Kind: "ramp", Velocity: 2000},
			"a long way back":   {Kind: "ramp", Velocity: -2000},
			"some of each":      {Kind: "multisine", Tones: []reference.Tone{{Amplitude: 30, Frequency: 3}, {Amplitude: 4, Frequency: 17}}},
			"nothing to do":     {Kind: "constant"},
			"a gentle reversal": {Kind: "sine", Amplitude: 3, Frequency: 0.4},
		} {
			y := saturatedYard(t, kind, ref, 10)
			at, most := 0, 0.0
			for k := range 1200 {
				if y.step(); y.row.Mode == Run && math.Abs(y.u[0]) >= 23.9 {
					at++
				}
				most = max(most, y.ctl.axes[0].LimitCycle())
				if y.row.Cause == CauseSaturated {
					t.Errorf("%v, %s: after %d ticks, %d of them at the limit: %s", kind, name, k, at, y.row.CauseText(&y.ctl.schema))
					break
				}
			}
			t.Logf("%v, %s: %d ticks at ±24, a limit cycle of %.1f Hz at most, %v", kind, name, at, most, y.row.Mode)
		}
		for _, sign := range []float64{1, -1} { // steps of the reference, twice a second
			y := saturatedYard(t, kind, reference.Spec{Kind: "constant"}, 10)
			for k := range 1500 {
				if k%250 == 0 {
					y.set(t, uint32(k/250+1), "shaft.reference.offset", sign*float64(1-2*(k/250%2))*200)
				}
				if y.step(); y.row.Cause == CauseSaturated {
					t.Fatalf("%v, steps of %g: after %d ticks: %s", kind, sign, k, y.row.CauseText(&y.ctl.schema))
				}
			}
		}
	}
}
