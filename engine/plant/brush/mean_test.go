package brush

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/contact"
	"hilrig/engine/plant"
)

// facts are means of one run of the full model at a constant speed.
type facts struct {
	force, friction, torque float64 // N; r_c·Σλ_T and all of the moment (N·m)
	loss, lost, weak        float64 // steps without force, windows without; force that has the mean resistance, over the mean one
	gap                     float64 // s  mean length of the windows' gaps
}

func (f *facts) add(g facts, w float64) {
	f.force += w * g.force
	f.friction += w * g.friction
	f.torque += w * g.torque
	f.loss += w * g.loss
	f.lost += w * g.lost
	f.weak += w * g.weak
	f.gap += w * g.gap
}

// observe runs the brush for seconds after 0.2 s of running in.
func observe(t testing.TB, p Params, rpm, h, seconds float64) (f facts) {
	t.Helper()
	p.Commutator.Speed = rpm * math.Pi / 30
	b, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	m, err := contact.NewMoreau(b, contact.MoreauOptions{Step: h})
	if err != nil {
		t.Fatal(err)
	}
	q, u := make([]float64, dof), make([]float64, dof)
	if err := b.Start(q, u); err != nil {
		t.Fatal(err)
	}
	c := p.Circuit()
	win := Window{Span: 1e-4, MinInterruption: 5e-4}
	skip, n := int(0.2/h), int(seconds/h)
	res, closed, gaps := 0.0, 0.0, 0.0
	was := false
	for k := range skip + n {
		m.Step(float64(k)*h, q, u)
		force, moment := face(m)
		w := win.Push(h, force/h)
		if k < skip {
			continue
		}
		f.force += force / h
		f.torque += moment / h
		for j, i := range m.ClosedPlaces {
			if m.Set.ID[i] < idHolder {
				f.friction -= m.Impulse[2*j+1] / h * p.Commutator.Radius
			}
		}
		if force == 0 {
			f.loss++
		}
		if w == 0 {
			f.lost++
			if !was {
				gaps++
			}
		} else {
			res += min(13, 1/c.Drop.Conductance(w))
			closed++
		}
		was = w == 0
	}
	f.gap = f.lost * h / max(1, gaps)
	s := float64(n)
	f.force, f.friction, f.torque, f.loss, f.lost = f.force/s, f.friction/s, f.torque/s, f.loss/s, f.lost/s
	weak, _ := root(1e-6, 100, func(x float64) float64 { return res/closed - 1/c.Drop.Conductance(x) })
	f.weak = weak / (f.force / (1 - f.lost))
	return f
}

// The force of the statics and the fit belong to what the full model does, for brushes and springs the fit was not made of.
func TestAveragedContactFollowsTheFullModel(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Params)
	}{
		{"new", func(*Params) {}},
		{"worn", func(p *Params) { p.Brush.Length = 0.012 }},
		{"weak spring", func(p *Params) { p.Spring.Moment = 0.03 }},
		{"strong spring", func(p *Params) { p.Spring.Moment = 0.07 }},
		{"slippery", func(p *Params) { p.Contact.Face.Mu = 0.1 }},
		{"sticky", func(p *Params) { p.Contact.Face.Mu = 0.3 }},
	} {
		var f facts
		const seeds = 3
		p := DefaultParams()
		c.change(&p)
		for seed := range seeds {
			p.Commutator.Seed, p.Face.Seed = float64(50+seed), float64(70+seed)
			f.add(observe(t, p, 3000, 20e-6, 0.2), 1.0/seeds)
		}
		a := NewAveraged(&p)
		v := 3000 * math.Pi / 30 * p.Commutator.Radius
		fit := a.At(v)
		t.Logf("%s: force %.4g N, statics %.4g; torque %.4g mN·m, fit %.4g; loss %.3f, fit %.3f", c.name, f.force, a.Force,
			1e3*f.torque, 1e3*p.Commutator.Radius*p.Contact.Face.Mu*a.Force*fit.Rise, f.loss, fit.Loss)
		if math.Abs(a.Force/f.force-1) > 0.03 {
			t.Errorf("%s: force %.4g N, the full model has %.4g", c.name, a.Force, f.force)
		}
		if tau := p.Commutator.Radius * p.Contact.Face.Mu * a.Force * fit.Rise; math.Abs(tau/f.torque-1) > 0.06 {
			t.Errorf("%s: torque %.4g N·m, the full model has %.4g", c.name, tau, f.torque)
		}
		// one run settles the loss of this brush
		a.Calibrate(v, f.force, f.loss)
		if l := a.At(v).Loss; a.Force != f.force || math.Abs(l-f.loss) > 1e-12 {
			t.Errorf("%s: calibrated to %g N, loss %g; want %g, %g", c.name, a.Force, l, f.force, f.loss)
		}
	}
}

func TestLossRisesWithSpeed(t *testing.T) {
	p := DefaultParams()
	a := NewAveraged(&p)
	last := Typical{}
	for v := 0.0; v < 100; v = v*1.05 + 0.001 {
		f := a.At(-v)
		if f.Loss < last.Loss || f.WindowLoss < last.WindowLoss || f.Loss > 0.95 || f.Rise < 1 || f.Weak > 1 || f.WindowLoss > f.Loss+1e-12 {
			t.Fatalf("at %g m/s %+v after %+v", v, f, last)
		}
		last = f
	}
}

// Gaps and contact follow each other with the right share and length, whatever the step.
func TestTurnsOfGapAndContact(t *testing.T) {
	p := DefaultParams()
	for _, h := range []float64{2e-6, 2e-5, 7.3e-5, 1e-3} {
		a := NewAveraged(&p)
		f := a.At(5)
		open, gaps, was := 0.0, 0.0, 0.0
		n := int(5 / h)
		for range n {
			g := a.Turn(h, &f)
			if g < 0 || g > 1 {
				t.Fatalf("share %g", g)
			}
			open += g / float64(n)
			if g > 0 && was == 0 {
				gaps++
			}
			was = g
		}
		if math.Abs(open/f.WindowLoss-1) > 1e-3 {
			t.Errorf("steps of %g s: open for %g of the time, want %g", h, open, f.WindowLoss)
		}
		if length := open * 5 / gaps; h < f.Gap && math.Abs(length/f.Gap-1) > 0.01 {
			t.Errorf("steps of %g s: gaps of %g s, want %g", h, length, f.Gap)
		}
	}
}

func TestWindowCountsLongGapsOnly(t *testing.T) {
	w := Window{Span: 1e-4, MinInterruption: 5e-4, Memory: 0.01}
	const h = 2e-5
	for k := range 1000 {
		f := 5.0
		if k%2 == 0 { // short gaps
			f = 0
		}
		if k >= 500 && k < 530 { // one of 0.6 ms
			f = 0
		}
		mean := w.Push(h, f)
		switch {
		case k > 10 && k < 500 && (mean < 2-1e-9 || mean > 3+1e-9):
			t.Fatalf("step %d: mean %g N, want 2 or 3", k, mean)
		case k > 506 && k < 530 && mean != 0:
			t.Fatalf("step %d: mean %g N in a gap", k, mean)
		}
	}
	if w.Interruptions != 1 || math.Abs(w.Loss-0.5) > 0.02 {
		t.Errorf("%d interruptions, loss %g; want 1, 0.5", w.Interruptions, w.Loss)
	}
	// other steps: the mean is over the same time
	for range 200 {
		w.Push(1e-6, 3)
	}
	if m := w.Push(1e-3, 4); math.Abs(m-4) > 0.3 {
		t.Errorf("a step longer than the window: mean %g N, want 4", m)
	}
}

// Drop and current of the averaged contact are those of the full one, on the mean over surfaces.
func TestAveragedDropFollowsTheFullModel(t *testing.T) {
	for _, rpm := range []float64{1000, 3000} {
		for _, volts := range []float64{4, 12} { // beyond the back-emf
			var drop, amps [2]float64
			const seeds = 4
			for k, averaged := range []bool{false, true} {
				for seed := range seeds {
					s := bench()
					s.AlwaysAveraged, s.LoadJ = averaged, 1e6
					s.Params.Commutator.Seed, s.Params.Face.Seed = float64(11+seed), float64(31+seed)
					m := machine(t, s)
					x, y := m.NewState(), make([]float64, outputs)
					x[plant.Omega] = rpm * math.Pi / 30
					u := []float64{0.042*x[plant.Omega] + volts, 1}
					for j := range 500 {
						if st := m.Step(1e-3, x, u, y); st == engine.NonFinite {
							t.Fatal(st)
						}
						if j >= 200 {
							drop[k] += y[OutDrop] / 300 / seeds
							amps[k] += y[plant.OutCurrent] / 300 / seeds
						}
					}
				}
			}
			t.Logf("%g rpm, %g V: full %.3g A, %.3f V; averaged %.3g A, %.3f V", rpm, volts, amps[0], drop[0], amps[1], drop[1])
			if math.Abs(drop[1]/drop[0]-1) > 0.15 || math.Abs(amps[1]/amps[0]-1) > 0.25 {
				t.Errorf("%g rpm, %g V: full %.3g A, %.3f V; averaged %.3g A, %.3f V: want 25 %% and 15 %%", rpm, volts, amps[0], drop[0], amps[1],
					drop[1])
			}
		}
	}
}
