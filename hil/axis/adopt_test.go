package axis

import (
	"math"
	"strings"
	"testing"

	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// hand adopts the law of the specification again, under way.
func hand(t *testing.T, b *bed, s Spec) {
	t.Helper()
	b.Adopt(ready(t, b, s, SetOf(s.Law)), true)
}

// ready is a set that is ready to be adopted.
func ready(t *testing.T, b *bed, s Spec, set *Set) *Change {
	t.Helper()
	var block Block
	if err := block.Encode(set); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(set); err != nil {
		t.Fatal(err)
	}
	c, err := NewChanges(&s, b.Axis).Prepare(&block)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Which numbers of the motor may change belongs to the drive; all are positive, but a drop may be none.
func TestEdited(t *testing.T) {
	full := plant.Motor{R: 1, L: 2, K: 3, J: 4, BrushDrop: 5, DropScale: 6}
	for _, c := range []struct {
		drive plant.DriveKind
		motor plant.Motor
		name  string
		v     float64
		fault string // "": it is taken
	}{
		{plant.VoltageDrive, full, "R", 10, ""}, {plant.VoltageDrive, full, "L", 10, ""}, {plant.VoltageDrive, full, "K", 10, ""},
		{plant.VoltageDrive, full, "J", 10, ""},
		{plant.VoltageDrive, full, "brush_drop", 10, ""}, {plant.VoltageDrive, full, "brush_drop", 0, ""},
		{plant.VoltageDrive, full, "drop_current", 0, ""},
		{plant.VoltageDrive, full, "brush_drop", -1, "positive"}, {plant.VoltageDrive, full, "drop_current", math.Inf(1), "positive"},
		{plant.VoltageDrive, full, "brush_drop", math.NaN(), "positive"},
		{plant.VoltageDrive, full, "R", 0, "positive"}, {plant.VoltageDrive, full, "J", -1, "positive"},
		{plant.VoltageDrive, full, "K", math.Inf(1), "positive"}, {plant.VoltageDrive, full, "L", math.NaN(), "positive"},
		{plant.VoltageDrive, plant.Motor{R: 1, K: 3, J: 4}, "L", 10, ""},
		{plant.VoltageDrive, full, "mass", 1, "there are J, K, L, R, brush_drop, drop_current"},
		{plant.CurrentDrive, full, "K", 10, ""}, {plant.CurrentDrive, full, "J", 10, ""}, {plant.CurrentDrive, full, "R", 10, "there are J, K"},
		{plant.EffortDrive, full, "brush_drop", 0, "there are J, K"},
		{plant.EffortDrive, plant.Motor{J: 4}, "K", 10, "not known in the file"}, {plant.EffortDrive, plant.Motor{J: 4}, "J", 10, ""},
	} {
		m, err := Edited(c.motor, c.drive, map[string]float64{c.name: c.v})
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%v, %s = %g: %v, want %q", c.drive, c.name, c.v, err, c.fault)
			continue
		}
		want, at := c.motor, map[string]*float64{}
		at["R"], at["L"], at["K"], at["J"], at["brush_drop"], at["drop_current"] = &want.R, &want.L, &want.K, &want.J, &want.BrushDrop,
			&want.DropScale
		if err == nil {
			if *at[c.name] = c.v; m != want {
				t.Errorf("%v, %s = %g: %+v", c.drive, c.name, c.v, m)
			}
		}
	}
}

// A new inertia reaches the filter that knows one, and none that does not.
func TestSetReachesTheFilter(t *testing.T) {
	s := motorSpec(t, reference.Spec{Kind: "constant"})
	set := SetOf(s.Law)
	set.Motor = map[string]float64{"J": 9e-5}
	for _, inertia := range []float64{7e-5, 0} {
		s.Mechanical.Inertia = inertia
		got, err := s.WithSet(set)
		want := 9e-5
		if inertia == 0 {
			want = 0
		}
		if err != nil || got.Motor.J != 9e-5 || got.Kalman.Motor.J != 9e-5 || got.Mechanical.Inertia != want || s.Motor.J != 7e-5 {
			t.Errorf("filter of %g kg·m²: %+v, motor %+v, filter of the motor %+v, %v", inertia, got.Mechanical, got.Motor, got.Kalman.Motor, err)
		}
	}
	s.Law = nil
	if _, err := s.WithSet(set); err == nil {
		t.Error("a law takes the place of none")
	}
}

// A change acts at once at rest and without a ramp; under way it fades in over exactly the ramp of the compensation, and whatever judges
// the axis by its numbers has the new ones.
func TestAdopt(t *testing.T) {
	for _, drive := range []plant.DriveKind{plant.VoltageDrive, plant.EffortDrive} {
		for _, c := range []struct {
			on    bool
			ramp  float64
			ticks int // that it fades for
		}{{true, 4.0 / 1024, 4}, {false, 4.0 / 1024, 0}, {true, 0, 0}, {false, 0, 0}} {
			s := motorSpec(t, reference.Spec{Kind: "constant"})
			s.Tick, s.SamplePeriod, s.Drive, s.Comp.Ramp = 1.0/1024, 1.0/1024, drive, c.ramp
			s.Sampling.Groups[0].SamplePeriod, s.Mechanical = s.Tick, estimator.MechanicalSpec{Inertia: 7e-5, PositionNoise: 1e-4, Walk: 0.1}
			b := newBed(t, s)
			b.age = 0
			b.Start(b.x)
			law := *demoLaw()
			twice := law.Scaled(2)
			set := SetOf(&twice)
			set.Motor = map[string]float64{"J": 9e-5}
			b.Adopt(ready(t, b, s, set), c.on)
			n := 0
			for ; b.Fades() && n < 100; n++ {
				b.compute()
			}
			if n != c.ticks {
				t.Errorf("%v, energised %v, ramp %g s: fades for %d ticks, want %d", drive, c.on, c.ramp, n, c.ticks)
			}
			if math.Abs(b.Unexplained()-0.42) > 1e-12 || math.Abs(b.stall.friction-0.21) > 1e-12 || b.stall.j != 9e-5 ||
				b.activePath.motor.J != 9e-5 || b.signs != nil && b.signs.s.Motor.J != 9e-5 {
				t.Errorf("%v: residual limit %g N·m, twin %+v, motor %+v, signs %+v", drive, b.Unexplained(), b.stall.twin, b.activePath.motor,
					b.signs)
			}
			if want := frozenFs*2*0.021 + unsureEffort*b.frozen.effort(s.TopCommand); math.Abs(b.frozen.hold-want) > 1e-12 ||
				b.frozen.axisModel.j != 9e-5 {
				t.Errorf("%v: %+v, want a hold of %g N·m", drive, b.frozen, want)
			}
		}
	}
}
