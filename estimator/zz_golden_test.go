package estimator

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

func TestGoldenDump(t *testing.T) {
	out, err := os.Create(os.Getenv("GOLDEN"))
	if err != nil {
		t.Skip(err)
	}
	defer out.Close()
	brushed := motorAxis()
	brushed.name = "brushed"
	brushed.spec = func(s AxisSpec) (*Axis, error) {
		m := demoMotor()
		s.RLS = &RLSSpec{Dt: tick, Window: 0.1, MinVel: 0.1, Memory: 20, Count: 1e-4, K: m.K}
		return NewElectrical(KalmanSpec{Motor: m, PositionNoise: 1e-4, CurrentNoise: 0.02, VelocityNoise: 0.05, TorqueWalk: 0.1, VoltageNoise: 0.05, TopVoltage: 24, TopSpeed: 300}, s)
	}
	type one = struct {
		name   string
		axis   testAxis
		late   int
		groups []Group
	}
	for i, c := range append(append([]one{}, func() (l []one) {
		for _, s := range stepped {
			l = append(l, one(s))
		}
		return
	}()...), one{"brushed/one", brushed, 0, []Group{both}}, one{"brushed/told", brushed, 0, []Group{frame}}, one{"pendulum", passiveAxis(), 0, []Group{{Every: tick, Of: []Quantity{Position}}}}) {
		for _, wild := range []bool{false, true} {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			h := fnv.New64a()
			f := newFed(t, c.axis, c.groups...)
			odd := func(usual float64) float64 {
				return []float64{usual, usual, usual, -usual, 0, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 1e9, rng.NormFloat64()}[rng.IntN(12)]
			}
			came := 0
			for k := range 40000 {
				f.skip = 0
				if wild {
					f.in = Inputs{Command: odd(1), Driven: rng.IntN(3) > 0}
					for _, s := range []*Sample{&f.in.Position, &f.in.Current, &f.in.Velocity, &f.in.Effort, &f.in.Voltage} {
						*s = Sample{Value: odd(0.1), Age: odd(1e-3), Fresh: rng.IntN(2) > 0}
					}
					f.skip = uint32(rng.IntN(3)) * uint32(rng.IntN(2)*400)
					if f.t += int64(1e6 * (1 + f.skip)); rng.IntN(100) == 0 {
						f.t += int64(rng.NormFloat64() * 1e9)
					}
				} else {
					s := math.Sin(float64(k) * 3e-3)
					f.in.Driven = k%9000 < 8000
					f.in.Command = 3 * s
					if c.axis.name == "effort" || rng.IntN(2000) == 0 {
						f.in.Command = 0.03 * s
					}
					vals := map[int]float64{0: math.Round(1e4*20*s) / 1e4, 1: 0.4*s + 0.02*rng.NormFloat64(), 2: 60 * math.Cos(float64(k)*3e-3), 3: 0.02 * s, 4: 3 * s}
					for q, s := range []*Sample{&f.in.Position, &f.in.Current, &f.in.Velocity, &f.in.Effort, &f.in.Voltage} {
						if g := f.group[q]; g >= 0 {
							turn := int(c.groups[g].Every/tick + 0.5)
							s.Age += tick
							if s.Fresh = k%turn == 0 && rng.IntN(20) > 0; s.Fresh {
								s.Value = vals[[5]int{0, 1, 2, 3, 4}[q]]
								s.Age = 0.37e-3 + 1e-4*rng.Float64()
								if turn > 1 {
									s.Age += float64(c.late) * tick
								}
							}
						}
					}
					if rng.IntN(500) == 0 {
						f.skip = uint32(rng.IntN(20))
					}
					f.t += int64(1e6 * (1 + f.skip))
				}
				st := f.Step(f.t, f.skip, &f.in, f.x[:])
				times, sound := f.Noise()
				var sd, y [4]float64
				f.StdDevs(sd[:])
				f.State(y[:])
				fmt.Fprint(h, st, f.x, *f.Outcome(), f.Age(), times, sound, f.Sound(), sd, y)
				if f.Outcome().Came {
					came++
				}
				if l := f.RLS(); l != nil {
					var v, e [4]float64
					l.Values(v[:])
					l.StdErrs(e[:])
					fmt.Fprint(h, v, e, l.Windows(), l.Cond())
				}
			}
			w := uint64(0)
			if l := f.RLS(); l != nil {
				w = l.Windows()
			}
			fmt.Fprintf(out, "%s %v: %016x came %d windows %d\n", c.name, wild, h.Sum64(), came, w)
		}
	}
}
