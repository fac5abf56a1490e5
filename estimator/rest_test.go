package estimator

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine/plant"
)

// restCase is a filter as a rig would have it.
type restCase struct {
	name  string
	count float64 // rad or m
	scale float64 // rad/s or m/s  of its motions
	make  func(every float64) (*Axis, error)
}

func restCases() []restCase {
	motor := plant.Motor{R: 1.2, L: 6e-4, K: 0.042, BrushDrop: 0.6, DropScale: 0.05, J: 7e-5}
	stage := plant.Motor{R: 4, L: 2e-3, K: 35.15, J: 95.1}
	geared := plant.Motor{R: 3.4, L: 2.1e-3, K: 0.025, J: 3.2e-3}
	electrical := func(m plant.Motor, count, walk, top, speed float64, of ...Quantity) func(float64) (*Axis, error) {
		return func(every float64) (*Axis, error) {
			k := KalmanSpec{Motor: m, PositionNoise: count, CurrentNoise: 0.02, TorqueWalk: walk, VoltageNoise: 0.05,
				TopVoltage: top, TopSpeed: speed}
			return NewElectrical(k, AxisSpec{Tick: every, Groups: []Group{{every, append([]Quantity{Position}, of...)}}})
		}
	}
	mechanical := func(m MechanicalSpec, of ...Quantity) func(float64) (*Axis, error) {
		return func(every float64) (*Axis, error) {
			s := AxisSpec{Tick: every, Groups: []Group{{every, append([]Quantity{Position}, of...)}}}
			if m.Inertia > 0 {
				s.PerCommand, s.PerAmpere = 0.042, 0.042
			}
			return NewMechanical(m, s)
		}
	}
	return []restCase{
		{"voltage, current", 1e-4, 20, electrical(motor, 1e-4, 0.1, 24, 0, Current)},
		{"voltage", 1e-4, 20, electrical(motor, 1e-4, 0.1, 24, 0)},
		{"voltage, fine encoder", 1e-7, 20, electrical(motor, 1e-7, 0.1, 24, 100, Current)},
		{"voltage, stage", 1e-6, 0.2, electrical(stage, 1e-6, 110, 48, 0, Current)},
		{"voltage, geared", 1e-4, 2, electrical(geared, 1e-4, 0.06, 12, 100, Current)},
		{"current", 1e-4, 20, mechanical(MechanicalSpec{
			PositionNoise: 1e-4, Inertia: 7e-5, EffortNoise: 1e-3, Walk: 0.1, TopEffort: 0.42, TopSpeed: 100}, Current)},
		{"effort", 1e-4, 20, mechanical(MechanicalSpec{
			PositionNoise: 1e-4, Inertia: 7e-5, EffortNoise: 1e-3, Walk: 0.1, TopEffort: 0.4, TopSpeed: 300})},
		{"effort, stage", 1e-6, 0.2, mechanical(MechanicalSpec{
			PositionNoise: 1e-6, Inertia: 95, EffortNoise: 1, Walk: 110, TopEffort: 350, TopSpeed: 1})},
		{"velocity", 1e-4, 20, mechanical(MechanicalSpec{PositionNoise: 1e-4, Walk: 3000, TopSpeed: 100})},
		{"velocity, fine encoder", 1e-8, 20, mechanical(MechanicalSpec{PositionNoise: 1e-8, Walk: 3000, TopSpeed: 100})},
	}
}

// After a trip an axis comes to rest and stands, for as long as its operator needs: its position is one number, its filter dies down to
// numbers below the smallest normal one, samples are lost, and what came before may have been wild, turned round, frozen or no number. At
// every moment no variance is negative, and 500 good samples later the estimate is sound and its noise known: a reset would be taken.
func TestEstimateAtRestIsSound(t *testing.T) {
	const seeds = 4
	for _, c := range restCases() {
		for seed := range uint64(seeds) {
			for _, every := range []float64{2e-3, 20e-3} {
				restPlay(t, &c, every, seed)
			}
		}
	}
}

func restPlay(t *testing.T, c *restCase, every float64, seed uint64) {
	a, err := c.make(every)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 32))
	x, v, spoil, silent, now := 0.0, 0.0, 0, 0, int64(0)
	kept, turnedAt := 0.0, 0.0
	var row [8]float64
	step := func(k int, faults, driven bool) {
		now += int64(every * 1e9)
		in := &Inputs{DriveActive: driven}
		if driven {
			in.Command = 5 * math.Sin(2*math.Pi*float64(k)*every)
			v = c.scale * math.Cos(2*math.Pi*float64(k)*every) // whatever the command
		} else if v *= 0.97; math.Abs(v) < 1e-3*c.scale {
			v = 0
		}
		x += v * every
		y := c.count * math.Round(x/c.count)
		if faults && silent == 0 && rng.IntN(60) == 0 {
			silent = 1 + rng.IntN(90)
		}
		if faults && spoil == 0 && rng.IntN(80) == 0 {
			spoil, kept, turnedAt = 1+rng.IntN(6), y, y
		} else if rng.IntN(40) == 0 || !faults {
			spoil = 0
		}
		switch spoil {
		case 1:
			y = math.NaN()
		case 2:
			y = kept
		case 3:
			y = 2*turnedAt - y
		case 4:
			y += 1e3 * (rng.Float64() - 0.5) * c.scale
		case 5:
			y = []float64{1e300, -1e300, 1e155, -1e12, 0}[rng.IntN(5)]
		}
		age := 1e-3*rng.Float64()*float64(rng.IntN(2)) - 1e-5
		if silent--; silent < 0 {
			silent = 0
			in.Position = Sample{y, age, true}
			in.Current = Sample{in.Command / 10, age, true}
		}
		a.Step(now, uint32(rng.IntN(200)/199*rng.IntN(3)), in, row[:])
		for i := range a.kf.p {
			if p := a.kf.p[i][i]; !(p >= 0) {
				t.Fatalf("%s, %g s, seed %d, tick %d: variance %d is %g", c.name, every, seed, k, i, p)
			}
		}
		if times, _ := a.Noise(); !(times < 1e7) {
			t.Fatalf("%s, %g s, seed %d, tick %d: noise %g", c.name, every, seed, k, times)
		}
	}
	k := 0
	for range 3 { // runs, each with a trip behind it
		for range 600 {
			step(k, true, true)
			k++
		}
		for range 1500 {
			step(k, true, false)
			k++
		}
		for range 500 {
			step(k, false, false)
			k++
		}
		if times, quiet := a.Noise(); !quiet || !a.Usable() {
			t.Fatalf("%s, %g s, seed %d: 500 good samples later noise %g, sound %v, state %v", c.name, every, seed, times, a.Usable(), a.kf.x)
		}
	}
	for range 20000 {
		step(k, false, false)
		k++
	}
	if times, quiet := a.Noise(); !quiet || !a.Usable() || times > 1 {
		t.Fatalf("%s, %g s, seed %d: after a long rest noise %g, sound %v, state %v", c.name, every, seed, times, a.Usable(), a.kf.x)
	}
}
