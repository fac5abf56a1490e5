package ball

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/plant/ball"
)

// The moment that smoothing finds opposes rolling and is μ times it, and the motion of the ball that was found is that of the recording.
func TestSeries(t *testing.T) {
	m := scipy(t, "tilted", 1.5)
	rec := recorded(m, 1e-5, 1)
	spec := Spec{Body: guess(), Markers: fiveMarkers}
	all, err := Series(spec, rec)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if w := r3.Norm(s.Roll); w > 1 && (s.Cosine > -0.98 || math.Abs(r3.Norm(s.RollMoment)/w-trueRoll) > 0.2*trueRoll) {
			t.Fatalf("t = %.3f s: M = %v, ω = %v, cosine %.3f", s.T, s.RollMoment, s.Roll, s.Cosine)
		}
	}
	r := mustFit(t, spec, rec)
	states, err := r.Motion(m.t)
	if err != nil {
		t.Fatal(err)
	}
	for k, s := range states {
		if f, g := s.Frame(), ball.FrameOf(m.p[k].q); r3.Norm(r3.Sub(f.C, g.C)) > 1e-4 || math.Hypot(s.X-m.p[k].x, s.Y-m.p[k].y) > 1e-5 {
			t.Fatalf("t = %g s: γ = %v, want %v; at %g, %g, want %g, %g", m.t[k], f.C, g.C, s.X, s.Y, m.p[k].x, m.p[k].y)
		}
	}
	if _, err := r.Motion([]float64{1, 0.9}); err == nil {
		t.Error("times that fall were accepted")
	}
}
