package record_test

import (
	"math"
	"testing"

	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// Sound records of other experiments and sensors raise no finding that would spoil a verdict.
func TestIndependentSoundExperiments(t *testing.T) {
	n, bad := 0, 0
	for name, run := range map[string]func(g *rig) *record.Record{
		"moves with pauses": func(g *rig) *record.Record {
			g.ref = func(t float64) float64 {
				p := math.Mod(t, 2)
				s := func(u float64) float64 { u = min(max(u, 0), 1); return u * u * u * (10 + u*(6*u-15)) }
				return 0.15 * (s(p/0.6) - s((p-1)/0.7))
			}
			_, d := g.run()
			return d
		},
		"trapezoid": func(g *rig) *record.Record {
			g.ref = func(t float64) float64 {
				p := math.Mod(t, 2)
				s := func(u float64) float64 {
					u = min(max(u, 0), 1)
					if u < 0.2 {
						return u * u / 0.32
					} else if u > 0.8 {
						return 1 - (1-u)*(1-u)/0.32
					}
					return 0.125 + (u-0.2)*1.25
				}
				return 0.15 * (s(p/0.8) - s((p-1)/0.8))
			}
			_, d := g.run()
			return d
		},
		"open loop bristle": func(g *rig) *record.Record {
			a := &g.axis
			a.M, a.Friction = 1, independent.Friction{Sigma0: 1e4, Sigma1: 60, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.02}
			f := independent.Sines(g.seed, []float64{1.1, 1.1, 1.1, 1.1}, []float64{0.3, 0.54, 1, 1.8})
			tr := a.Simulate(independent.Run{Dt: 1e-3, N: 10000, Force: f})
			g.sensors.Force = 0.02
			return tr.Record(g.sensors, nil)
		},
		"pendulum": func(g *rig) *record.Record {
			a := &g.axis
			a.M, a.Friction = 0.05, independent.Friction{Fc: 0.05, Sigma2: 0.02}
			a.Load = func(_, x, _ float64) float64 { return 1.2 * math.Sin(x) }
			f := independent.Sines(g.seed, []float64{0.6, 0.4, 0.2}, []float64{0.3, 0.77, 1.6})
			tr := a.Simulate(independent.Run{Dt: 2e-3, N: 6000, Force: f})
			g.sensors.Force, g.sensors.Count = 0.01, 2e-4
			return tr.Record(g.sensors, nil)
		},
		"coarse encoder": func(g *rig) *record.Record { g.sensors.Count = 2e-5; _, d := g.run(); return d },
		"very coarse":    func(g *rig) *record.Record { g.sensors.Count = 1e-4; _, d := g.run(); return d },
		"at 200 Hz": func(g *rig) *record.Record {
			_, d := g.run()
			e := *d
			e.Dt, e.Position, e.Force, e.Reference = 5e-3, nil, nil, nil
			for k := 0; k < len(d.Force); k += 5 {
				e.Position, e.Force = append(e.Position, d.Position[k]), append(e.Force, d.Force[k])
			}
			return &e
		},
		"bristle soft": func(g *rig) *record.Record {
			f := &g.axis.Friction
			f.Sigma0, f.Sigma1 = f.Fc/3e-4, 20*g.axis.M
			_, d := g.run()
			return d
		},
	} {
		for seed := range uint64(2) {
			g := newRig(10*seed + 7)
			d := run(g)
			o := record.CheckOptions{Rotary: name == "pendulum"}
			n++
			if s := serious(record.Check([]*record.Record{d}, o)); s != "" {
				bad++
				t.Logf("%s %d: %s", name, seed, s)
			}
		}
	}
	t.Logf("%d alarms in %d sound records", bad, n)
	if bad > 0 {
		t.Errorf("%d alarms in %d sound records", bad, n)
	}
}
