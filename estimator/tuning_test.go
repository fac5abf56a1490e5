package estimator

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine/plant"
)

// A filter that was given another motor is, bit for bit, one that was built with it: every number that follows from the motor has been
// replaced.
func TestTuning(t *testing.T) {
	one, other := plant.Motor{R: 1.2, L: 0.6e-3, K: 0.042, J: 7e-5, BrushDrop: 0.6, DropScale: 0.05},
		plant.Motor{R: 1.7, L: 0.9e-3, K: 0.05, J: 9e-5, BrushDrop: 0.4, DropScale: 0.03}
	electrical := func(m plant.Motor) (*Axis, KalmanSpec) {
		k := KalmanSpec{Motor: m, Count: 1e-4, CurrentNoise: 0.02, TorqueWalk: 0.1, VoltageNoise: 0.05, TopVoltage: 24}
		a, err := NewElectrical(k, AxisSpec{Tick: 1e-3, Groups: []Group{{SamplePeriod: 1e-3, Quantities: []Quantity{Position, Current}}},
			RLS: &RLSSpec{Dt: 1e-3, K: m.K, Window: 0.05, MinVel: 1, Count: 1e-4}})
		if err != nil {
			t.Fatal(err)
		}
		return a, k
	}
	mechanical := func(m plant.Motor, groups ...Group) (*Axis, MechanicalSpec) {
		s := MechanicalSpec{Inertia: m.J, Count: 1e-4, Walk: 0.1, EffortNoise: 1e-3, TopEffort: 24 * m.K, TopSpeed: 300}
		a, err := NewMechanical(s, AxisSpec{Tick: 1e-3, Groups: groups, PerCommand: m.K, PerAmpere: m.K,
			RLS: &RLSSpec{Dt: 1e-3, K: m.K, Window: 0.05, MinVel: 1, Count: 1e-4}})
		if err != nil {
			t.Fatal(err)
		}
		return a, s
	}
	same := func(name string, tuned, built *Axis) {
		t.Helper()
		rng := rand.New(rand.NewPCG(1, 1))
		var x, y, se, te [4]float64
		for k := range 4000 {
			s := 0.001 * float64(k)
			in := Inputs{DriveActive: true, Command: 3 * math.Sin(7*s)}
			in.Position = Sample{Value: 20*math.Sin(2*s) + 1e-4*rng.NormFloat64(), Age: 5e-4, Updated: true}
			in.Current = Sample{Value: 2*math.Sin(7*s) + 0.02*rng.NormFloat64(), Age: 5e-4, Updated: true}
			if k%500 == 499 { // no axis can be there, and no motor has this current
				in.Position.Value, in.Current.Value = 1e3, 500
			}
			at := int64(k+1) * 1e6
			a, b := tuned.Step(at, 0, &in, x[:]), built.Step(at, 0, &in, y[:])
			tuned.RLS().Values(se[:])
			built.RLS().Values(te[:])
			if a != b || x != y || se != te || *tuned.Outcome() != *built.Outcome() {
				t.Fatalf("%s, tick %d: %v %v %v, built anew %v %v %v", name, k, a, x, se, b, y, te)
			}
		}
		if tuned.RLS().Windows() < 10 {
			t.Errorf("%s: %d windows of the least squares", name, tuned.RLS().Windows())
		}
	}
	var tuning Tuning
	a, _ := electrical(one)
	b, k := electrical(other)
	a.TuneElectrical(&tuning, k)
	a.Adopt(&tuning)
	same("electrical", a, b)
	group := Group{SamplePeriod: 1e-3, Quantities: []Quantity{Position, Current}}
	c, _ := mechanical(one, group)
	d, m := mechanical(other, group)
	c.TuneMechanical(&tuning, m, other.K, other.K)
	c.Adopt(&tuning)
	same("mechanical", c, d)

	// under way what was summed up for another torque constant is forgotten, and what was summed up for this one goes on
	before := b.RLS().Windows()
	b.TuneElectrical(&tuning, k)
	if b.Adopt(&tuning); b.RLS().Windows() != before {
		t.Errorf("the same constant: %d windows, %d before", b.RLS().Windows(), before)
	}
	k.Motor.K *= 1.01
	b.TuneElectrical(&tuning, k)
	if b.Adopt(&tuning); b.RLS().Windows() != 0 {
		t.Errorf("another constant: %d windows are left", b.RLS().Windows())
	}
	if n := testing.AllocsPerRun(10, func() { b.TuneElectrical(&tuning, k); b.Adopt(&tuning) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
