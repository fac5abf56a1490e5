package estimator

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestAxisSignals(t *testing.T) {
	force := effortAxis("force", 1000, 2e-3, 0, 42)
	for _, c := range []struct {
		axis testAxis
		want string
	}{
		{motorAxis(), "[{position rad} {velocity rad/s} {current A} {friction N·m}]"},
		{commanded, "[{position rad} {velocity rad/s} {friction N·m}]"},
		{force, "[{position m} {velocity m/s} {friction N}]"},
		{passiveAxis(), "[{position rad} {velocity rad/s} {acceleration rad/s²}]"},
	} {
		of := []Quantity{Position}
		if c.axis.measured != 0 {
			of = append(of, c.axis.measured)
		}
		f := newFed(t, c.axis, Group{SamplePeriod: tick, Quantities: of})
		if got := fmt.Sprint(f.Signals()); got != c.want {
			t.Errorf("%s: %s, want %s", c.axis.name, got, c.want)
		}
		x := [4]float64{3: 7}
		if f.State(x[:]); len(f.Signals()) == 3 && x[3] != 7 {
			t.Errorf("%s writes beyond its signals", c.axis.name)
		}
	}
	a, err := NewMechanical(MechanicalSpec{PositionNoise: 1e-6, Walk: 1},
		AxisSpec{Tick: tick, Linear: true, Groups: []Group{{SamplePeriod: tick, Quantities: []Quantity{Position}}}})
	if err != nil || fmt.Sprint(a.Signals()) != "[{position m} {velocity m/s} {acceleration m/s²}]" {
		t.Errorf("%v, %v", a, err)
	}
}

// Where the noise of a position and the top speed are not given, they are those of a count and any speed.
func TestMechanicalDefaults(t *testing.T) {
	for top, speed := range map[float64]float64{0: 1000, 7: 7} {
		k, err := NewMechanicalKalman(MechanicalSpec{Dt: tick, Count: 1e-3, Walk: 1, TopSpeed: top})
		if err != nil {
			t.Fatal(err)
		}
		k.Correct(&[nY]float64{1}, &[nY]bool{true})
		sd, want := make([]float64, 4), [2]float64{1e-3 / math.Sqrt(24), speed} // the first position counts twice
		if k.StdDevs(sd); math.Abs(sd[0]/want[0]-1) > 1e-9 || math.Abs(sd[1]/want[1]-1) > 1e-9 {
			t.Errorf("top speed %g: standard deviations %v, want %v", top, sd, want)
		}
	}
}

func TestAxisBadSpec(t *testing.T) {
	rls := demoRLS()
	motor := func(s AxisSpec) error { _, err := NewElectrical(demoKalman(), s); return err }
	effort := func(s AxisSpec) error {
		_, err := NewMechanical(MechanicalSpec{Inertia: 1, PositionNoise: 1, Walk: 1}, s)
		return err
	}
	passive := func(s AxisSpec) error {
		_, err := NewMechanical(MechanicalSpec{PositionNoise: 1, Walk: 1}, s)
		return err
	}
	for _, c := range []struct {
		build func(AxisSpec) error
		s     AxisSpec
		want  string
	}{
		{motor, AxisSpec{Groups: []Group{frame}}, "tick"},
		{motor, AxisSpec{Tick: tick}, "no group has the position"},
		{motor, AxisSpec{Tick: tick, Groups: []Group{frame, frame}}, "stands in two groups"},
		{motor, AxisSpec{Tick: tick, Groups: []Group{{SamplePeriod: tick, Quantities: []Quantity{Position, Quantities}}}}, "is not known"},
		{motor, AxisSpec{Tick: tick, Groups: []Group{{Quantities: []Quantity{Position}}}}, "period of samples"},
		{motor, AxisSpec{Tick: tick, Groups: []Group{{SamplePeriod: tick, Quantities: []Quantity{Current}},
			{SamplePeriod: 33 * tick, Quantities: []Quantity{Position}}}}, "within a factor of 32"},
		{motor, AxisSpec{Tick: tick, Groups: fastSlow, RLS: &rls}, "position and current or effort of one group"},
		{motor, AxisSpec{Tick: tick, Groups: []Group{{SamplePeriod: tick, Quantities: []Quantity{Position, Effort}}}}, "the effort says nothing"},
		{effort, AxisSpec{Tick: tick, PerCommand: 1, Groups: []Group{{SamplePeriod: tick, Quantities: []Quantity{Position, Voltage}}}},
			"the voltage says nothing"},
		{effort, AxisSpec{Tick: tick, PerCommand: 1, Groups: []Group{{SamplePeriod: tick, Quantities: []Quantity{Position, Velocity}}}},
			"the velocity says nothing"},
		{effort, AxisSpec{Tick: tick, Groups: []Group{both}}, "the current says nothing"},
		{effort, AxisSpec{Tick: tick, PerAmpere: 1, Groups: []Group{{SamplePeriod: tick, Quantities: []Quantity{Position, Current, Effort}}}},
			"the current says nothing"},
		{passive, AxisSpec{Tick: tick, Groups: []Group{{SamplePeriod: tick, Quantities: []Quantity{Position, Effort}}}},
			"the effort says nothing"},
		{effort, AxisSpec{Tick: tick, PerCommand: math.NaN(), Groups: []Group{frame}}, "effort per command"},
		{effort, AxisSpec{Tick: tick, Groups: []Group{{SamplePeriod: tick, Quantities: []Quantity{Position}}}}, "leave out the inertia"},
	} {
		if err := c.build(c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want a word of %q", c.s, err, c.want)
		}
	}
	if err := motor(AxisSpec{Tick: tick, Groups: []Group{both, {SamplePeriod: 32 * tick, Quantities: []Quantity{Voltage}}},
		RLS: &rls}); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*MechanicalSpec){
		"position noise": func(s *MechanicalSpec) { s.PositionNoise = 0 }, "walk": func(s *MechanicalSpec) { s.Walk = 0 },
		"inertia":        func(s *MechanicalSpec) { s.Inertia = -1 },
		"velocity noise": func(s *MechanicalSpec) { s.VelocityNoise = math.NaN() }, "share": func(s *MechanicalSpec) { s.VelocityShare = -1 },
		"effort noise": func(s *MechanicalSpec) { s.EffortNoise = -1 }, "top effort": func(s *MechanicalSpec) { s.TopEffort = -1 },
		"top speed": func(s *MechanicalSpec) { s.TopSpeed = math.Inf(1) },
	} {
		s := MechanicalSpec{Dt: tick, Inertia: 1, PositionNoise: 1, Walk: 1}
		if spoil(&s); name != "" {
			if _, err := NewMechanicalKalman(s); err == nil {
				t.Errorf("a bad %s was accepted", name)
			}
		}
	}
}
