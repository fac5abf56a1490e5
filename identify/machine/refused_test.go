package machine

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/identify/record"
)

// An arm that only turns its second joint says nothing of the first; one that hardly moves cannot tell inertia from weight. What is not
// told keeps the value of the file, and is named.
func TestUnidentifiableIsRefused(t *testing.T) {
	s := simulatedArms(t)[0]
	m := s.model(t, 0)
	still := func(rec Recording, joint int) Recording {
		out := slices.Clone(rec)
		d := *rec[joint]
		d.Position = make([]float64, d.Len())
		out[joint] = &d
		return out
	}
	r, err := Fit(t.Context(), m, s.spec(), []Recording{still(s.clean, 0)}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"upper.izz_R", "upper.Fv", "upper.Fc"} {
		if i := slices.IndexFunc(r.Unidentifiable, func(u Unidentifiable) bool { return u.Name == name }); i < 0 {
			t.Errorf("%s is not refused: %+v", name, r.Unidentifiable)
		}
	}
	// the weight of the first link, the same at every time, looks like the offset of its torque
	if i := slices.IndexFunc(r.Unidentifiable, func(u Unidentifiable) bool {
		return slices.Contains(u.Names, "upper.mcx_R") && slices.Contains(u.Names, "upper.offset")
	}); i < 0 {
		t.Errorf("upper.mcx_R and upper.offset are told apart: %+v", r.Unidentifiable)
	}
	for _, u := range r.Unidentifiable {
		k := slices.IndexFunc(r.Base.Pivot, func(p int) bool { return strings.TrimSuffix(u.Name, "_R") == r.Base.Columns[p].Name })
		if r.Values[k] != r.Start[k] || slices.Contains(r.FreeParams, k) {
			t.Errorf("%s = %g, the file has %g", u.Name, r.Values[k], r.Start[k])
		}
	}
}

// Machines and records that the regression does not describe are refused by name.
func TestRefusals(t *testing.T) {
	one := multibody.Inertia{Mass: 1, I: matrixOf(1, 0, 0, 1, 0, 1)}
	free, err := multibody.Build(multibody.Spec{Bodies: []multibody.Body{{Name: "ball", Joint: multibody.Joint{Kind: multibody.Free},
		Inertia: one}}})
	if err != nil {
		t.Fatal(err)
	}
	rod := func(name, parent string, x float64) multibody.Body {
		return multibody.Body{Name: name, Parent: parent, Place: multibody.At(x, 0, 0), Joint: multibody.Joint{Kind: multibody.Revolute},
			Inertia: multibody.Inertia{Mass: 1, Com: r3.Vec{X: 0.5}, I: matrixOf(1, 0, 0, 1, 0, 1)}}
	}
	loop, err := multibody.Build(multibody.Spec{Bodies: []multibody.Body{rod("a", "", 0), rod("b", "a", 1), rod("c", "", 1)},
		Frames: []multibody.Frame{
			{Name: "endb", Body: "b", Pose: multibody.At(1, 0, 0)}, {Name: "endc", Body: "c", Pose: multibody.At(1, 0, 0)}},
		Cuts: []multibody.Cut{{Name: "pin", Kind: multibody.CutPoint, A: "endb", B: "endc"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m    *multibody.Model
		want string
	}{{free, "ball is free"}, {loop, "pin"}} {
		if err := Check(c.m); !errors.Is(err, ErrMachine) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	s := simulatedArms(t)[0]
	m := s.model(t, 0)
	short := func(rec Recording, n int) (out Recording) {
		for _, d := range rec {
			c := *d
			c.Position, c.Force = d.Position[:n], d.Force[:n]
			out = append(out, &c)
		}
		return out
	}
	other := slices.Clone(s.clean)
	other[1] = short(s.clean, 1000)[1]
	slow := slices.Clone(s.clean)
	for i := range slow {
		c := *slow[i]
		c.Dt *= 2
		slow[i] = &c
	}
	bad := func(change func(s *Spec)) Spec { x := s.spec(); change(&x); return x }
	for _, c := range []struct {
		name string
		spec Spec
		recs []Recording
		want string
	}{
		{"none", s.spec(), nil, "no record"},
		{"one joint", s.spec(), []Recording{s.clean[:1]}, "records of 1 joints, the machine has 2"},
		{"lengths", s.spec(), []Recording{other}, "joint lower has 1000"},
		{"rates", s.spec(), []Recording{s.clean, slow}, "Resample"},
		{"short", s.spec(), []Recording{short(s.clean, 120)}, "Record longer"},
		{"cutoff", bad(func(s *Spec) { s.Cutoff = 100 }), []Recording{s.clean}, "half the sampling rate"},
		{"decimate", bad(func(s *Spec) { s.Decimate = 13 }), []Recording{s.clean}, "twice the cutoff"},
		{"direction", bad(func(s *Spec) { s.ByDirection = true }), []Recording{s.clean}, "leave offset out"},
		{"terms", bad(func(s *Spec) { s.Terms = nil }), []Recording{s.clean}, "terms: empty"},
	} {
		_, err := Fit(t.Context(), m, c.spec, c.recs, nil, nil)
		var bad *record.Error
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v (%v), want %q", c.name, err, errors.As(err, &bad), c.want)
		}
	}
	for _, ok := range []Spec{bad(func(s *Spec) { s.Cutoff = 99; s.Decimate = 1 }), bad(func(s *Spec) { s.Decimate = 12 })} {
		if _, err := Fit(t.Context(), m, ok, []Recording{s.clean}, nil, nil); err != nil {
			t.Errorf("cutoff %g, decimate %d: %v", ok.Cutoff, ok.Decimate, err)
		}
	}
}

// Friction by direction comes out by direction.
func TestFrictionByDirection(t *testing.T) {
	s := simulatedArms(t)[0]
	spec := s.spec()
	spec.ByDirection, spec.Terms = true, []Term{Inertia, Armature, Viscous, Coulomb}
	rec := slices.Clone(s.clean)
	d := *rec[0]
	d.Force = slices.Clone(d.Force)
	rec[0] = &d
	q, v := d.Position, make([]float64, d.Len())
	for k := 1; k < len(q)-1; k++ { // 0.4 N·m more, forward
		if v[k] = q[k+1] - q[k-1]; v[k] > 0 {
			d.Force[k] += 0.4
		}
	}
	r, err := Fit(t.Context(), s.model(t, 0), spec, []Recording{rec}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	value := map[string]float64{}
	for i := range r.Base.Pivot {
		value[r.Base.Name(i)] = r.Values[i]
	}
	// the offset of 0.12 N·m is a part of both
	for name, want := range map[string]float64{"upper.Fc+": 0.9 + 0.4 + 0.12, "upper.Fc-": 0.9 - 0.12, "upper.Fv+": 0.5, "upper.Fv-": 0.5,
		"lower.Fc+": 0.4 - 0.07, "lower.Fc-": 0.4 + 0.07} {
		if math.Abs(value[name]-want) > 0.02 {
			t.Errorf("%s = %.4f, put in %.4f", name, value[name], want)
		}
	}
}

// Pieces of a second are short beside a low-pass of 8 Hz, which runs in for 0.4 s at each end; the whole record is not.
func TestShortPiecesAreSaid(t *testing.T) {
	s := simulatedArms(t)[0]
	var pieces []Recording
	for k := 0; k+200 <= s.clean[0].Len(); k += 200 {
		var rec Recording
		for _, d := range s.clean {
			c := *d
			c.Position, c.Force, c.Start = d.Position[k:k+200], d.Force[k:k+200], d.Start+float64(k)*d.Dt
			rec = append(rec, &c)
		}
		pieces = append(pieces, rec)
	}
	for _, c := range []struct {
		recs []Recording
		want bool
	}{{[]Recording{s.clean}, false}, {pieces, true}} {
		r, err := Fit(t.Context(), s.model(t, 0.2), s.spec(), c.recs, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(r.Warnings, "\n"), "short beside"); got != c.want {
			t.Errorf("%d recordings: %q", len(c.recs), r.Warnings)
		}
	}
}
