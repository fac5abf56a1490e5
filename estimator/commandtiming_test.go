package estimator

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine/plant"
)

// slowDrive is a motor without inductance worth the name behind a device that samples every fifth tick of a loop of 1 kHz. It is integrated
// here, in steps of 20 µs.
type slowDrive struct {
	phase float64 // of the sampling period, at which the newest command is taken; < 0: as they come
	delay float64 // s  that commands are on their way
	free  bool    // the timing of commands is to be found
	// command is what the loop sends, with the newest position it has (rad)
	command func(at, position float64) float64
}

const (
	slowOhm, slowK                      = 1.2, 0.042
	slowInertia, slowViscous, slowLevel = 7e-5, 1.5e-4, 0.015
)

// axis is the estimate of the motor.
func (d *slowDrive) axis(t testing.TB) *Axis {
	t.Helper()
	m := plant.Motor{R: slowOhm, L: 1e-5, K: slowK, J: slowInertia}
	k := KalmanSpec{Motor: m, Count: 2 * math.Pi / 65536, CurrentNoise: 0.02, TorqueWalk: 0.1, VoltageNoise: 0.05}
	a, err := NewElectrical(k, AxisSpec{Tick: 1e-3, FreeTiming: d.free, Groups: []Group{{SamplePeriod: 5e-3,
		Quantities: []Quantity{Position, Current}}},
		RLS: &RLSSpec{Dt: 5e-3, K: m.K, Window: 0.2, MinVel: 1.5, Count: 2 * math.Pi / 65536}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// inertia is what the least squares make of 40 s, as a share of the truth, and its error; late is by how much (s) they take the command to
// act later than in the middle between samples, where it is taken once a sample: what straight lines between the samples have.
func (d *slowDrive) inertia(t testing.TB, seed uint64) (j, se, late, lateErr float64) {
	t.Helper()
	const fine, every, perTick, encoder = 20e-6, 250, 50, 2 * math.Pi / 65536
	a := d.axis(t)
	rng := rand.New(rand.NewPCG(seed, 77))
	sent := make([]float64, 1+int(d.delay/fine))
	var x, w, u, newest, shown float64
	var out [8]float64
	in := Inputs{DriveActive: true}
	for n := range int(40 / fine) {
		at := float64(n) * fine
		if n%every == 0 {
			in.Position = Sample{Value: math.Round(x/encoder) * encoder, Updated: true}
			in.Current = Sample{Value: (u-slowK*w)/slowOhm + 0.02*rng.NormFloat64(), Updated: true}
			shown = in.Position.Value
		}
		if n%perTick == 0 {
			in.Command = newest
			a.Step(int64(math.Round(at*1e9)), 0, &in, out[:])
			in.Position.Updated, in.Current.Updated = false, false
			in.Position.Age, in.Current.Age = in.Position.Age+1e-3, in.Current.Age+1e-3
			newest = d.command(at, shown)
		}
		sent[n%len(sent)] = newest
		if arrived := sent[(n+1)%len(sent)]; d.phase < 0 || n%every == int(d.phase*every) {
			u = arrived
		}
		was := w
		w += fine * (slowK*(u-slowK*w)/slowOhm - slowViscous*w - slowLevel*math.Tanh(w/0.02)) / slowInertia
		x += fine * (was + w) / 2
	}
	var v, errs [rlsN]float64
	a.RLS().Values(v[:])
	a.RLS().StdErrs(errs[:])
	mean, square := 0.0, 0.0
	if d.free {
		for k, p := range a.rls.mixes.likely {
			if at := a.rls.mixes.mixList[k].Index; at >= len(a.timing.delays) {
				l := (a.timing.phase(k) - 0.5) * 5e-3
				mean, square = mean+p*l, square+p*l*l
			}
		}
	}
	return v[PInertia] / slowInertia, errs[PInertia] / slowInertia, mean, math.Sqrt(max(0, square-mean*mean))
}

// forthAndBack is a command that goes forward for a while, then back, with tones on it.
func forthAndBack(at, _ float64) float64 {
	return math.Copysign(1, math.Sin(2*math.Pi*at/5)) * (1.2 + 0.25*math.Sin(2*math.Pi*2.3*at) + 0.1*math.Sin(2*math.Pi*0.7*at))
}

// The inertia lies in its interval whenever the drive takes its commands, where that is to be found. Where it is taken for known, commands
// taken once a sample make it wrong, to either side.
func TestTimeOfCommandsIsFound(t *testing.T) {
	for _, c := range []struct {
		phase float64 // < 0: as they come
		late  float64 // s  the phase less half a sample
	}{{-1, 0}, {0.04, -2.3e-3}, {0.3, -1e-3}, {0.9, 2e-3}} {
		worst, lag, tolerance := 0.0, 0.0, 0.5e-3
		const seeds = 4
		d := slowDrive{phase: c.phase, free: true, command: forthAndBack}
		for seed := range uint64(seeds) {
			j, se, late, lateErr := d.inertia(t, seed)
			worst, lag, tolerance = max(worst, math.Abs(j-1)/se), lag+late/seeds, tolerance+lateErr/seeds
			if se > 0.05 {
				t.Errorf("phase %g: the inertia is known to %.2g only", c.phase, se)
			}
		}
		d.free = false
		j, se, _, _ := d.inertia(t, 1)
		t.Logf("phase %g: at most %.1f errors off, commands %.2f ± %.2f ms late; taken for known: J %.4f ± %.2g", c.phase, worst, 1e3*lag,
			1e3*(tolerance-0.5e-3), j, se)
		if worst > 3 || math.Abs(lag-c.late) > tolerance {
			t.Errorf("phase %g: at most %.1f errors off; commands %.2f ms late, truth %.2f ms", c.phase, worst, 1e3*lag, 1e3*c.late)
		}
		if off := math.Abs(j-1) / se; math.Abs(c.late) > 1.5e-3 && off < 4 {
			t.Errorf("phase %g: without the time of commands J is %.4f ± %.2g: this test shows nothing", c.phase, j, se)
		}
	}
}

// The time of commands costs no allocation.
func TestTimeOfCommandsAllocs(t *testing.T) {
	d := slowDrive{free: true}
	a := d.axis(t)
	k, out := 0, [8]float64{}
	if n := testing.AllocsPerRun(4000, func() {
		at := float64(k) * 1e-3
		in := Inputs{DriveActive: true, Command: 3 + math.Sin(11*at), Position: Sample{Value: 9*at + 0.2*math.Sin(10*at)},
			Current: Sample{Value: 0.4 + 0.1*math.Sin(10*at)}}
		in.Position.Updated, in.Current.Updated = k%5 == 0, k%5 == 0
		a.Step(int64(k)*1e6, 0, &in, out[:])
		k++
	}); n != 0 || a.RLS().Windows() == 0 {
		t.Errorf("%g allocations per tick, %d windows", n, a.RLS().Windows())
	}
}

// A force that runs straight between its samples has no bow: mixes of nothing say nothing, and the inertia is found.
func TestTimeOfCommandsWithoutBow(t *testing.T) {
	const h = 0.02
	r, err := NewRLS(RLSSpec{Dt: h, K: 1, Window: 10 * h, MinVel: 1, Cond: 1e4, Bows: 2, Emf: make([]float64, 2),
		Mixes: []Mix{{Weight: [2]float64{1, 0}}, {Weight: [2]float64{0.5, 0.5}}, {Index: 1, Weight: [2]float64{1, 0}}}})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2000 {
		at, sign := h*float64(k), 1-2*float64(k/500%2)
		if k%500 == 0 {
			r.Gap()
		}
		theta := sign * (20*at - 9/2.5*math.Cos(2.5*at) - 4/5.9*math.Cos(5.9*at))
		w, a := sign*(20+9*math.Sin(2.5*at)+4*math.Sin(5.9*at)), sign*(9*2.5*math.Cos(2.5*at)+4*5.9*math.Cos(5.9*at))
		r.Step(theta, w, 7e-5*a+1.5e-4*w+0.015*sign, true)
	}
	var v, se [rlsN]float64
	r.Values(v[:])
	r.StdErrs(se[:])
	if !(math.Abs(v[PInertia]/7e-5-1) < 0.02) || !(se[PInertia] < 0.1*7e-5) {
		t.Errorf("J %.4g ± %.2g, want 7e-5", v[PInertia], se[PInertia])
	}
}
