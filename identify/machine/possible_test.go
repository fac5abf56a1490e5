package machine

import (
	"math"
	"slices"
	"testing"
)

// The parameters of all bodies reproduce the base parameters, stay near the drawing, and are those of real bodies; with a drawing that is
// exact nothing moves.
func TestFullParameters(t *testing.T) {
	for _, s := range simulatedArms(t) {
		m := s.model(t, 0.2)
		r, err := Fit(t.Context(), m, s.spec(), []Recording{s.noisy(s.clean, 5, 1)}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		theta := r.Base.FullParams(m, r.Values)
		for i, x := range r.Base.Of(theta) {
			if math.Abs(x-r.Values[i]) > 1e-9*math.Max(1, math.Abs(x)) {
				t.Errorf("%s: %s is %g with all parameters, found %g", s.name, r.Base.Name(i), x, r.Values[i])
			}
		}
		start := r.Base.Start()
		for _, k := range r.Base.Unseen {
			if theta[k] != start[k] {
				t.Errorf("%s: %s moves though no torque feels it", s.name, r.Base.Columns[k].Name)
			}
		}
		exact := r.Base.FullParams(m, r.Start)
		for k := range exact {
			if math.Abs(exact[k]-start[k]) > 1e-12 {
				t.Errorf("%s: %s moves by %g without need", s.name, r.Base.Columns[k].Name, exact[k]-start[k])
			}
		}
	}
}

// Base parameters that no real bodies have: the nearest real ones are found, and the cost is said; those that some have are met.
func TestPossible(t *testing.T) {
	for _, s := range simulatedArms(t) {
		m := s.model(t, 0.2)
		r, err := Fit(t.Context(), m, s.spec(), []Recording{s.noisy(s.clean, 6, 1)}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		// real: a set with impossible bodies and the base parameters of the truth
		truth := r.Base.Of(trueParams(s, r.Base))
		odd := r.Base.FullParams(m, truth)
		for k := range odd {
			if r.Base.Columns[k].Inertial == 0 {
				odd[k] = -1 // kg
			}
		}
		bent := *r.Base
		bent.Columns = slices.Clone(r.Base.Columns)
		for k := range bent.Columns {
			bent.Columns[k].Value = odd[k]
		}
		odd = bent.FullParams(m, truth)
		if len(r.Base.Impossible(m, odd)) == 0 {
			t.Fatalf("%s: the parameters are possible, want impossible ones", s.name)
		}
		found, grown := r.Possible(odd)
		if bad := r.Base.Impossible(m, found); bad != nil {
			t.Errorf("%s: still impossible: %v", s.name, bad)
		}
		if grown > 1.02 {
			t.Errorf("%s: rms grows %.4f times, though real bodies have these base parameters", s.name, grown)
		}
		t.Logf("%s: rms %.5f times that of the impossible set", s.name, grown)
		// not real: no body has a negative moment of inertia about its joint
		bad := slices.Clone(truth)
		for i := range bad {
			if c := &r.Base.Columns[r.Base.Pivot[i]]; c.Inertial == 9 {
				bad[i] = -math.Abs(bad[i])
			}
		}
		found, _ = r.Possible(r.Base.FullParams(m, bad))
		if odd := r.Base.Impossible(m, found); len(odd) > 0 {
			t.Errorf("%s: negative moments of inertia: %v", s.name, odd)
		}
	}
}

func trueParams(s *simulated, b *Base) []float64 {
	out := make([]float64, len(b.Columns))
	for k := range b.Columns {
		c := &b.Columns[k]
		p := s.bodies[c.Joint].Inertia.Params()
		switch {
		case c.Inertial >= 0:
			out[k] = p[c.Inertial]
		case c.Term == Armature:
			out[k] = s.bodies[c.Joint].Joint.Armature
		case c.Term == Viscous:
			out[k] = s.bodies[c.Joint].Joint.Damping
		case c.Term == Coulomb:
			out[k] = s.fc[c.Joint]
		case c.Term == Offset:
			out[k] = s.offset[c.Joint]
		}
	}
	return out
}

// Parameters that the record does not tell stay those of the file; others do not.
func TestEssential(t *testing.T) {
	s := simulatedArms(t)[1]
	m := s.model(t, 0)
	r, err := Fit(t.Context(), m, s.spec(), []Recording{s.noisy(s.clean, 7, 6)}, s.fc, nil) // six times the noise
	if err != nil {
		t.Fatal(err)
	}
	errs := r.sys.errors(r.FreeParams)
	for j := range errs {
		errs[j] *= 2
	}
	e := r.Essential(errs)
	if len(e.FreeParams) >= len(r.FreeParams) || e.Grown > maxGrowth {
		t.Errorf("%d of %d parameters are essential, rms grows %.4f times", len(e.FreeParams), len(r.FreeParams), e.Grown)
	}
	worse, better := 0.0, 0.0
	truth := s.truth(t)
	for k := range truth {
		if !slices.Contains(e.FreeParams, k) && e.Values[k] != r.Start[k] {
			t.Errorf("%s is not essential and %g, the file has %g", r.Base.Name(k), e.Values[k], r.Start[k])
		}
		if c := &r.Base.Columns[r.Base.Pivot[k]]; c.Term == Inertia {
			worse += math.Abs(r.Values[k] - truth[k])
			better += math.Abs(e.Values[k] - truth[k])
		}
	}
	if better > worse {
		t.Errorf("with a file that is right the essential parameters are off by %g, all by %g", better, worse)
	}
	t.Logf("%d of %d essential; off by %.4f in all, by %.4f without the choice", len(e.FreeParams), len(r.FreeParams), better, worse)
}
