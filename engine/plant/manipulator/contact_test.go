package manipulator

import (
	"context"
	"errors"
	"math"
	"testing"

	"hilrig/engine/beam"
)

// A tip that goes backwards under friction and lifts off, against scipy (DOP853 1e-10 on a chain by complex-step Jacobians, a beam by Gauss
// quadrature and one system with its multiplier): times of borders and of lift-off, and where joints and tip are.
func TestLiftsOffUnderFriction(t *testing.T) {
	p := Paper(-2)
	p.Joints[0].Drive.Ramp, p.Joints[0].Drive.Start = 0.02, -1.3
	p.Gravity, p.Unilateral, p.Friction = 0.5, true, caseOf(t, "friction").Friction
	times := []float64{0.24256234256, 0.42282047133, 0.53181320789, 0.61423641314, 0.67984786115, 0.69799627174}
	where := []struct{ t, q2, q3, q4, x, lambda, tau float64 }{
		{0.6, 0.901089639033, 0.257810008679, 0.562476892211, 0.41912422538, 2.425278688, -4.415056375},
		{0.69, 0.923007601050, 0.266316272817, 0.479732085608, 0.28259250832, 1.717415317, -4.696382134},
		{0.7, 0.922471460130, 0.267607642309, 0.467667328913, 0.26489190841, 0, -4.729373039},
	}
	for _, c := range []struct {
		name            string
		dt              float64 // s  0: offline
		q, force, event float64
	}{{"offline", 0, 1e-9, 1e-7, 1e-9}, {"1 ms", 1e-3, 1e-5, 2e-2, 1e-4}, {"0.1 ms", 1e-4, 1e-7, 4e-3, 4e-6}} {
		m := model(t, p)
		var r *Result
		var err error
		if c.dt == 0 {
			r, err = m.Run(context.Background(), Options{Duration: 0.7, SampleInterval: 0.01})
		} else {
			r, err = m.RunFixed(context.Background(), c.dt, 0.7, int(math.Round(0.01/c.dt)))
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var at []float64
		for _, e := range r.Events {
			if e.Kind == Border || e.Kind == Opens || e.Kind == Closes {
				at = append(at, e.T)
			}
		}
		if len(at) != len(times) || r.Events[len(r.Events)-1].Kind != Opens {
			t.Fatalf("%s: events %+v", c.name, r.Events)
		}
		for i := range times {
			near(t, c.name+", event", at[i], times[i], c.event)
		}
		for _, w := range where {
			s := &r.Samples[int(math.Round(w.t/0.01))]
			near(t, c.name+", q2", s.Q[1], w.q2, c.q)
			near(t, c.name+", q3", s.Q[2], w.q3, c.q)
			near(t, c.name+", q4", s.Q[3], w.q4, c.q)
			near(t, c.name+", tip", s.TipX, w.x, c.q)
			near(t, c.name+", λ", s.Lambda, w.lambda, c.force)
			near(t, c.name+", τ", s.Torque[0], w.tau, c.force)
		}
	}
}

// A tip that flies a micrometre above a trembling beam touches it many times in a step: that ends in contact, not without an answer.
func TestGrazes(t *testing.T) {
	for drive := 1.0; drive <= 3; drive += 0.25 {
		p := Paper(-drive)
		p.Joints[0].Drive.Ramp, p.Joints[0].Drive.Start = 0.015, -1.45
		p.Gravity, p.Unilateral = 0.6, true
		p.Beam.Left.Kind, p.Beam.Right.Kind = beam.Pinned, beam.Clamped
		r, err := model(t, p).RunFixed(context.Background(), 1e-3, 0.6, 1)
		var off *beam.LeftError
		if err != nil && !errors.As(err, &off) {
			t.Fatalf("%g rad/s: %v", drive, err)
		}
		for _, s := range r.Samples {
			if s.ContactOpen && s.Phi > 1e-9 {
				t.Fatalf("%g rad/s: the tip is %g m inside the beam at %g s", drive, s.Phi, s.T)
			}
			if s.Lambda < -5 {
				t.Fatalf("%g rad/s: the beam pulls with %g N at %g s", drive, -s.Lambda, s.T)
			}
		}
	}
}
