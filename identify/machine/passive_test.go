package machine

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/engine/multibody"
)

// free is the planar arm of testdata/arms.py with bearings in place of gears, of which only joint driven has a drive.
func free(t *testing.T, name string, driven int) *simulated {
	s := simulatedArms(t)[0]
	s.name, s.fc, s.offset = name, []float64{0.08, 0.04}, []float64{0, 0}
	s.bodies = slices.Clone(s.bodies)
	for i, fv := range []float64{0.05, 0.02} {
		s.bodies[i].Joint.Damping = fv
	}
	s.clean, s.check = cleanRecord(t, name+"-1", 2), cleanRecord(t, name+"-2", 2)
	for _, d := range []Recording{s.clean, s.check} {
		for _, x := range d[1-driven].Force {
			if x != 0 {
				t.Fatalf("%s: joint %d has a torque", name, 1-driven)
			}
		}
	}
	return s
}

// A double pendulum that is driven at one joint only tells all of its base parameters, those of the passive joint by how they stand to the
// others.
func TestPassiveJoints(t *testing.T) {
	for driven, name := range []string{"pendubot", "acrobot"} {
		s := free(t, name, driven)
		truth := s.truthOf(t, []Term{Inertia, Armature, Viscous, Coulomb})
		spec := s.spec()
		spec.Terms = []Term{Inertia, Armature, Viscous, Coulomb}
		spec.Passive = []bool{driven != 0, driven != 1}
		spec.MinVelocity = []float64{0.05, 0.05}
		noisy := slices.Clone(s.noisy(s.clean, 5, 1))
		noisy[1-driven].Force = s.clean[1-driven].Force
		r, err := Fit(t.Context(), s.model(t, 0.2), spec, []Recording{noisy}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Unidentifiable != nil {
			t.Errorf("%s: refused %v", name, r.Unidentifiable)
		}
		for j, k := range r.FreeParams {
			off := math.Abs(r.Values[k]-truth[k]) / math.Max(math.Abs(truth[k]), 0.01)
			t.Logf("%s: %-16s %9.5f, true %9.5f, of the torques %.1f %%", name, r.Base.Name(k), r.Values[k], truth[k], r.Share[j])
			if off > 0.02 && off*r.Share[j] > 0.5 {
				t.Errorf("%s: %s = %.6g, true %.6g", name, r.Base.Name(k), r.Values[k], truth[k])
			}
		}
		for i, j := range r.Joints {
			if j.Percent < 90 || j.Passive != spec.Passive[i] {
				t.Errorf("%s: joint %+v", name, j)
			}
		}
		_, joints, _, err := r.Explain([]Recording{s.check}, r.Values)
		if err != nil || joints[0].Percent < 90 || joints[1].Percent < 90 {
			t.Errorf("%s: %v %+v", name, err, joints)
		}
	}
}

// truthOf is truth for some terms.
func (s *simulated) truthOf(t *testing.T, terms []Term) []float64 {
	spec := s.spec()
	spec.Terms = terms
	b := NewBase(s.model(t, 0), spec, s.fc)
	return b.Of(b.Start())
}

// A torque of zero has to be said, and reaches nobody who is not coupled.
func TestPassiveRefused(t *testing.T) {
	s := free(t, "pendubot", 0)
	spec := s.spec()
	fit := func(m *multibody.Model, rec Recording) string {
		_, err := Fit(t.Context(), m, spec, []Recording{rec}, nil, nil)
		if err == nil {
			return ""
		}
		return err.Error()
	}
	if got := fit(s.model(t, 0), s.clean); !strings.Contains(got, "joint lower: its torque is zero throughout") ||
		!strings.Contains(got, "passive: true") {
		t.Errorf("%q", got)
	}
	spec.Passive = []bool{true, true}
	if got := fit(s.model(t, 0), s.clean); !strings.Contains(got, "joint upper: it is passive and has a torque") {
		t.Errorf("%q", got)
	}
	still := slices.Clone(s.clean)
	upper := *s.clean[0]
	upper.Force = s.clean[1].Force
	still[0] = &upper
	if got := fit(s.model(t, 0), still); !strings.Contains(got, "no torque reaches upper, lower") {
		t.Errorf("%q", got)
	}
	// a second arm on the ground, which the first one does not move
	apart := slices.Clone(s.bodies)
	apart[1].Parent = ""
	m, err := multibody.Build(multibody.Spec{Gravity: s.gravity, Bodies: apart})
	if err != nil {
		t.Fatal(err)
	}
	spec.Passive = []bool{false, true}
	if got := fit(m, s.clean); !strings.Contains(got, "no torque reaches lower") {
		t.Errorf("%q", got)
	}
}
