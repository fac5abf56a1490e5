package ball

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"
)

// What cannot be fitted is told: what, where and how to go on.
func TestBadInput(t *testing.T) {
	m := scipy(t, "tilted", 0.5)
	each := func(rec *Recording, f func(p *r3.Vec)) {
		for k := range rec.Points {
			for j := range rec.Points[k] {
				f(&rec.Points[k][j])
			}
		}
	}
	for _, c := range []struct {
		name string
		set  func(s *Spec, r *Recording)
		want string
	}{
		{"millimetres", func(s *Spec, r *Recording) { each(r, func(p *r3.Vec) { *p = r3.Scale(1000, *p) }) }, "units differ"},
		{"a ball of 35 m", func(s *Spec, r *Recording) { s.Body.Radius = 35 }, "units differ"},
		{"offsets in millimetres", func(s *Spec, r *Recording) {
			s.Markers = slices.Clone(s.Markers)
			for j := range s.Markers {
				s.Markers[j] = r3.Scale(1000, s.Markers[j])
			}
		}, "lengths are metres"},
		{"left-handed axes", func(s *Spec, r *Recording) { each(r, func(p *r3.Vec) { p.X, p.Y = p.Y, p.X }) }, "left-handed"},
		{"z points down", func(s *Spec, r *Recording) { each(r, func(p *r3.Vec) { p.Y, p.Z = -p.Y, -p.Z }) }, "z points down"},
		{"two markers", func(s *Spec, r *Recording) {
			for k := range r.Visible {
				r.Visible[k] = []bool{true, true, false, false, false}
			}
		}, "three markers"},
		{"another order of the markers", func(s *Spec, r *Recording) {
			for k := range r.Points {
				p := r.Points[k]
				p[0], p[1], p[2], p[3] = p[3], p[0], p[1], p[2]
			}
		}, "other markers"},
		{"times that fall", func(s *Spec, r *Recording) {
			r.Times = slices.Clone(r.Times)
			r.Times[20] = r.Times[10]
		}, "frame 20 is at 0.05 s"},
		{"no number", func(s *Spec, r *Recording) { r.Points[7][2].Y = math.NaN() }, "frame 7, marker 2"},
		{"too short", func(s *Spec, r *Recording) {
			r.Times, r.Points, r.Visible = r.Times[:19], r.Points[:19], r.Visible[:19]
		}, "19 frames"},
		{"too few markers in a frame", func(s *Spec, r *Recording) { r.Points[3] = r.Points[3][:4] }, "frame 3 has 4 markers, want 5"},
		{"mass free", func(s *Spec, r *Recording) { s.FreeParams = []string{"mu_roll", "mass"} }, "weigh the ball"},
		{"unknown name", func(s *Spec, r *Recording) { s.FreeParams = []string{"mu_roll", "mu_slide"} }, `no parameter "mu_slide"`},
		{"twice", func(s *Spec, r *Recording) { s.FreeParams = []string{"mu_roll", "mu_roll"} }, "stands twice"},
		{"no friction", func(s *Spec, r *Recording) { s.FreeParams = []string{"height"} }, "no coefficient of friction"},
		{"no body", func(s *Spec, r *Recording) { s.Body.Inertia[0] = 1e-4 }, "inertia"},
		{"may slip", func(s *Spec, r *Recording) { s.Body.Slips = true }, "takes the ball to roll"},
		{"window too short", func(s *Spec, r *Recording) { s.HalfWindow = 0.004 }, "too few samples"},
		{"window too long", func(s *Spec, r *Recording) { s.HalfWindow = 0.3 }, "shorten"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, rec := Spec{Body: guess(), Markers: fiveMarkers}, recorded(m, 1e-4, 1)
			c.set(&spec, rec)
			_, err := Fit(context.Background(), spec, rec, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
		})
	}
}
