package estimator

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine/plant"
)

// interrupted is an axis at a loop of 1 kHz that leaves out ticks: the command is then held, and samples are lost. The motion is
// integrated apart, by Runge–Kutta in steps of 50 µs.
type interrupted struct {
	drive   plant.DriveKind
	told    bool    // the command is an effort
	rate    float64 // Hz   of the samples
	burst   int     // ticks that are left out at once, and …
	skipped float64 // … in a second
	guess   float64 // what the model's inertia is of the true one
	coulomb bool    // friction is Coulomb's and viscous, else LuGre's
	ahead   bool    // the command has the torque of the reference half a tick ahead
}

const truthJ, truthFv, truthFc = 7e-5, 1.5e-4, 0.015

// run is the least squares after so many seconds.
func (c interrupted) run(t testing.TB, seconds float64, seed uint64) *RLS {
	t.Helper()
	m := demoMotor()
	m.BrushDrop = 0
	model := m
	model.J *= c.guess
	rls := RLSSpec{Dt: 1 / c.rate, K: m.K, Window: 0.2, MinVel: 1.5, Memory: 20, Count: count}
	s := AxisSpec{Tick: tick, Groups: []Group{{SamplePeriod: 1 / c.rate, Quantities: []Quantity{Position, Current}}}, RLS: &rls,
		FreeTiming: c.rate < 667}
	lag := 0.0 // s  of the effort
	var a *Axis
	var err error
	if c.drive == plant.VoltageDrive {
		a, err = NewElectrical(KalmanSpec{Motor: model, PositionNoise: 1e-4, CurrentNoise: 0.02, TorqueWalk: 0.1, VoltageNoise: 0.05,
			TopVoltage: 24, TopSpeed: 300}, s)
	} else {
		rls.K, lag = 1, 1e-3
		s.Groups[0].Quantities[1] = Effort
		if c.told {
			s.PerCommand = 1
		}
		a, err = NewMechanical(MechanicalSpec{Inertia: model.J, PositionNoise: 1e-4, EffortNoise: 0.02 * m.K, Walk: 0.1, TopEffort: 0.4,
			TopSpeed: 300}, s)
	}
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 21))
	x, u := make([]float64, 4), 0.0
	flow := func(x, dx []float64) {
		force, dz := truthFv*x[1]+truthFc*math.Tanh(x[1]/0.05), 0.0
		if !c.coulomb {
			force, dz = lugre(1, x[1], x[3])
		}
		effort := x[2]
		if c.drive == plant.VoltageDrive {
			effort *= m.K
			dx[2] = (u - m.R*x[2] - m.K*x[1]) / m.L
		} else {
			dx[2] = (u - x[2]) / lag
		}
		dx[0], dx[1], dx[3] = x[1], (effort-force)/truthJ, dz
	}
	in, est := Inputs{DriveActive: true}, make([]float64, 4)
	clock, next, newest := 0.0, 0.3e-3, 0.0
	skip := uint32(0)
	for k := 1; k <= int(seconds/tick); k++ {
		end := float64(k) * tick
		for clock < end-1e-9 {
			stop := min(end, next)
			for n := math.Ceil((stop - clock) / 50e-6); n > 0; n-- {
				rung(x, (stop-clock)/n, flow)
				clock += (stop - clock) / n
			}
			if clock >= next-1e-12 {
				in.Position.Value, in.Position.Updated = math.Round(x[0]/count)*count, true
				in.Current.Value = x[2] + 0.02*rng.NormFloat64()
				in.Effort.Value = x[2] + 0.02*m.K*rng.NormFloat64()
				newest, next = next, next+1/c.rate
			}
		}
		if skip > 0 && skip < uint32(c.burst) || skip == 0 && rng.Float64() < c.skipped*tick/float64(c.burst) {
			skip++
			continue
		}
		in.Current.Updated, in.Effort.Updated = in.Position.Updated, in.Position.Updated
		for _, s := range []*Sample{&in.Position, &in.Current, &in.Effort} {
			s.Age = end - newest
		}
		in.Command = u
		a.Step(int64(math.Round(end*1e9))+5e9, skip, &in, est)
		skip, in.Position.Updated = 0, false
		pos, vel := multisine(end)
		kp, kd := 0.25, 6e-3
		if c.rate < 400 {
			kp, kd = 0.02, 1e-3
		}
		inertial := 0.0
		if c.ahead {
			kd = max(1.5e-3, min(6e-3, 17.5e-6*c.rate))
			kp = 20 * kd
			pos, vel = multisine(end + tick/2)
			_, before := multisine(end)
			_, after := multisine(end + tick)
			inertial = truthJ * (after - before) / tick
		}
		u = min(0.4, max(-0.4, kp*(pos-est[0])+kd*(vel-est[1])+truthFv*vel+truthFc*math.Tanh(vel)+inertial))
		if c.drive == plant.VoltageDrive {
			u = min(24, max(-24, m.Voltage(u, vel)))
		}
	}
	return a.RLS()
}

// Ticks that are left out, one at a time or in a row, up to a quarter of a window: as many equations as without, and inertia and friction
// lie in their intervals, though the model has another inertia. Where more are left out in a row, what is known stays.
func TestLeastSquaresAcrossGaps(t *testing.T) {
	acrossGaps(t, 1, 3.5, []float64{1.3}, [][2]float64{{49, 100}})
}

// acrossGaps tries gaps, of so many ticks and so many ticks in a second, with guesses of the inertia, as shares of it. No value is more
// than far errors off.
func acrossGaps(t *testing.T, seeds int, far float64, guesses []float64, gaps [][2]float64) {
	all, covered := 0, [3]int{}
	for _, c := range []interrupted{{drive: plant.VoltageDrive, rate: 1000}, {drive: plant.EffortDrive, told: true, rate: 1000},
		{drive: plant.EffortDrive, rate: 1000}, {drive: plant.VoltageDrive, rate: 100}} {
		for _, c.guess = range guesses {
			c.burst, c.skipped = 1, 0
			full := c.run(t, 20, 99).Windows()
			for _, gap := range gaps {
				c.burst, c.skipped = int(gap[0]), gap[1]
				in, square, windows := [3]int{}, [3]float64{}, 0.0
				for seed := range uint64(seeds) {
					r := c.run(t, 20, seed)
					var v, se [rlsN]float64
					r.Values(v[:])
					r.StdErrs(se[:])
					windows += float64(r.Windows()) / float64(seeds)
					for i, truth := range []float64{truthJ, truthFv, truthFc} {
						off := math.Abs(v[i]-truth) / se[i]
						if off <= 1.96 {
							in[i]++
							covered[i]++
						}
						square[i] += off * off / float64(seeds)
						if !(off <= far) {
							t.Errorf("%+v, seed %d: %s is %.4g ± %.2g, %.1f errors off", c, seed, names[i], v[i], se[i], off)
						}
					}
					all++
				}
				t.Logf("%+v: %.0f windows of %d; in their intervals %v of %d, rms %.2f %.2f %.2f", c, windows, full, in, seeds, math.Sqrt(square[0]),
					math.Sqrt(square[1]), math.Sqrt(square[2]))
				if bridged := float64(c.burst)*tick < 0.2/bridgedShare; windows < 5 || bridged && windows < 0.85*float64(full) {
					t.Errorf("%+v: %.0f windows, without gaps %d", c, windows, full)
				}
			}
		}
	}
	for i, n := range covered {
		if n*100 < 92*all && all >= 1000 {
			t.Errorf("%s: in its interval %d times of %d", names[i], n, all)
		}
	}
}
