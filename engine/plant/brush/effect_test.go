package brush

import (
	"context"
	"slices"
	"testing"

	"hilrig/engine/contact"
	"hilrig/engine/plant"
)

// A parameter that a file may set acts somewhere: another number changes some run, be it on its own, with true slots, between events or
// in a motor, full or averaged, on alternating current, warm, with a brush that is lifted at first.
func TestEveryParameterHasAnEffect(t *testing.T) {
	alone := func(change func(p *Params)) (out []float64) {
		for _, slots := range []bool{false, true} {
			p := DefaultParams()
			p.Commutator.TrueSlots, p.Spring.Follows = slots, !slots
			p.Commutator.BarStep, p.Commutator.Eccentricity = 2e-6, 5e-6
			warm(&p)
			change(&p)
			b, err := New(p)
			if err != nil {
				return []float64{-1}
			}
			opt := RunOptions{Time: 0.012, Discard: -1, AllowUnresolved: true, TraceInterval: 20,
				Trace: func(s *Snapshot) { out = append(out, s.Q...) }}
			if _, err := b.Run(context.Background(), opt); err != nil {
				return []float64{-2}
			}
		}
		return out
	}
	smooth := func(mu float64) func(change func(p *Params)) []float64 {
		return func(change func(p *Params)) []float64 {
			p := DefaultParams()
			p.Commutator.SmoothOutline, p.Face.Roughness, p.Commutator.Eccentricity = true, 0, 5e-6
			warm(&p)
			p.Contact.Face.Mu, p.Commutator.Speed = mu, 1
			change(&p)
			b, err := New(p)
			if err != nil {
				return []float64{-1}
			}
			stats, _, err := b.RunEvents(context.Background(),
				EventRunOptions{Time: 0.006, Discard: -1, AdjustStart: func(q, u []float64) { u[0], u[1], u[2] = 0.2, 0.4-mu, 20 }})
			if err != nil {
				return []float64{-2}
			}
			return []float64{stats.FaceForce, stats.Torque, stats.Tilt, stats.MeanRate}
		}
	}
	motor := func(averaged, series bool) func(change func(p *Params)) []float64 {
		return func(change func(p *Params)) (out []float64) {
			s := bench()
			s.Params.Motor.Frequency, s.Params.Motor.Fan, s.Params.Motor.Series, s.AlwaysAveraged = 50, 1e-7, series, averaged
			warm(&s.Params)
			s.Thermal.Resistance, s.Thermal.Capacity = 10, 0.01
			change(&s.Params)
			m, err := NewMachine(s)
			if err != nil {
				return []float64{-1}
			}
			x, y := m.NewState(), make([]float64, outputs)
			x[plant.Omega], x[plant.Current] = 150, 8
			if !averaged {
				x[atBrush+1] += 0.3e-3
			}
			for range 60 {
				m.Step(2e-4, x, []float64{60, 1}, y)
				out = append(out, y...)
			}
			return out
		}
	}
	runs := []func(func(*Params)) []float64{alone, smooth(0.2), smooth(1), motor(false, false), motor(false, true), motor(true, true)}
	base := make([][]float64, len(runs))
	for i, run := range runs {
		if base[i] = run(func(*Params) {}); len(base[i]) == 1 {
			t.Fatalf("run %d: %v", i, base[i])
		}
	}
	d := DefaultParams()
	for i, f := range d.Table() {
		switch f.Key {
		case "motor.voltage", "commutator.slot_depth", "contact.face.nu":
			// the input of a motor; the foot of a wall, which the face never reaches; a face that turns back between compression and expansion
			continue
		}
		acts := false
		for n := 0; n < 2*len(runs) && !acts; n++ {
			got := runs[n/2](func(p *Params) {
				f := p.Table()[i]
				switch {
				case f.Flag != nil:
					*f.Flag = !*f.Flag
				case f.Integer:
					*f.Ptr = min(*f.Ptr+1, f.Hi)
				case *f.Ptr == 0:
					*f.Ptr = 1e-3 * min(1, f.Hi)
				default:
					*f.Ptr *= []float64{1.02, 0.98}[n%2]
				}
			})
			acts = len(got) > 1 && !slices.Equal(got, base[n/2])
		}
		if !acts {
			t.Errorf("%s changes nothing", f.Key)
		}
	}
}

// warm sets what is 0 by default: dependences on temperature, current and speed, restitution, a worn brush.
func warm(p *Params) {
	m := &p.Material
	m.MuTemperature, m.MuCurrent, m.MuSpeed, m.StiffnessTemperature, m.EpsSpeed = -1e-3, 1e-7, 1e-3, -1e-3, 0.1
	m.Temperature, m.CurrentDensity = m.RefTemperature+40, m.RefCurrentDensity+1e4
	for _, l := range []*contact.Law{&p.Contact.Face, &p.Contact.Holder, &p.Contact.Spring} {
		l.EpsN, l.EpsT, l.Nu = 0.3, 0.4, 0.5
	}
	p.Brush.Length -= 2e-3
}
