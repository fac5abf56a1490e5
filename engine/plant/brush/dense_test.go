package brush

import (
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/contact"
)

// hidden is a brush without its own linear algebra: the engine factors M̂ densely.
type hidden struct {
	contact.System
	contact.Stiff
}

// The block factors and the dense ones run the brush the same way, apart from rounding, which grows with each impact: by
// about the same factor per step whatever its origin.
func TestBlocksAndDenseRunAlike(t *testing.T) {
	maps(t, func(t *testing.T, b *Brush) {
		other, err := NewJoined(b.p, b.joint)
		if err != nil {
			t.Fatal(err)
		}
		const h, steps = 20e-6, 400
		opt := contact.MoreauOptions{Step: h}
		fast, err := contact.NewMoreau(b, opt)
		if err != nil {
			t.Fatal(err)
		}
		slow, err := contact.NewMoreau(hidden{other, other}, opt)
		if err != nil {
			t.Fatal(err)
		}
		q, u := make([]float64, dof), make([]float64, dof)
		if err := b.Start(q, u); err != nil {
			t.Fatal(err)
		}
		q2, u2 := append([]float64(nil), q...), append([]float64(nil), u...)
		for k := range steps {
			a, c := fast.Step(float64(k)*h, q, u), slow.Step(float64(k)*h, q2, u2)
			if a.Status != engine.OK || a.ClosedCount != c.ClosedCount {
				t.Fatalf("step %d: status %v, %d closed, dense %d", k, a.Status, a.ClosedCount, c.ClosedCount)
			}
		}
		if math.Abs(u[2]-u2[2]) > 1e-6 || math.Abs(q[2]-q2[2]) > 1e-9 {
			t.Errorf("after %d steps φ = %.15g and %.15g rad, φ̇ = %.12g and %.12g rad/s", steps, q[2], q2[2], u[2], u2[2])
		}
		t.Logf("differences after %d steps: %.2g rad, %.2g rad/s; %d contacts settled", steps, q[2]-q2[2], u[2]-u2[2], fast.ClosedContacts)
	})
}

// With true slots the bars' ends meet the face from below: without these pairs they sink into it between its points.
func TestBarsDoNotCutIntoTheFace(t *testing.T) {
	b := build(t, false, func(p *Params) { p.Commutator.TrueSlots = true })
	opt := RunOptions{Time: 0.03, Discard: -1}
	opt.Step = 5e-6
	deepest := 0.0
	set := contact.NewSet(512, dof)
	opt.Trace = func(s *Snapshot) {
		b.Contacts(s.T, s.Q, s.U, 0, set)
		for i := range set.N {
			if set.ID[i] >= idCorner {
				deepest = max(deepest, -set.Gap[i])
			}
		}
	}
	s := run(t, b.p, opt)
	t.Logf("corners sink in by %.3g m at most; mean |dphi/dt| %.3g rad/s, most closed %d, unverified %g", deepest, s.MeanRate, s.MaxClosed,
		s.UnverifiedShare())
	if deepest == 0 || deepest > 50e-6 || s.Dropped > 0 {
		t.Errorf("corners sink in by %g m, %d contacts without room", deepest, s.Dropped)
	}
}

func TestUnresolvedSpeedsAreRefused(t *testing.T) {
	b := build(t, false, func(p *Params) { p.Commutator.Speed *= 10 })
	if _, err := b.Run(t.Context(), RunOptions{}); err == nil || !strings.Contains(err.Error(), "commutator.correlation") ||
		!strings.Contains(err.Error(), "step of 2.89e-06 s") {
		t.Errorf("30 000 rpm at 20 µs: %v, want a refusal that names the step that would do", err)
	}
	if err := b.Resolvable(2e-6); err != nil {
		t.Errorf("2 µs: %v", err)
	}
	opt := RunOptions{Time: 0.01, Discard: -1, AllowUnresolved: true}
	if _, err := b.Run(t.Context(), opt); err != nil {
		t.Errorf("coarse on request: %v", err)
	}
	// the shortest wave is the dip where the roughness is long, and a smooth commutator has the dip alone
	for _, change := range []func(*Params){
		func(p *Params) {
			p.Commutator.Correlation = 5e-3
			p.Commutator.SlotWidth = 2e-4
			p.Commutator.EdgeLength = 5e-5
		},
		func(p *Params) {
			p.Commutator.SmoothOutline = true
			p.Commutator.SlotWidth = 2e-4
			p.Commutator.EdgeLength = 5e-5
		},
	} {
		b := build(t, false, change)
		if err := b.Resolvable(20e-6); err == nil || !strings.Contains(err.Error(), "commutator.slot_width") {
			t.Errorf("dips of 0.3 mm at 69 µm a step: %v", err)
		}
		if err := b.Resolvable(17e-6); err != nil {
			t.Errorf("59 µm a step: %v", err)
		}
	}
	circle := build(t, false, func(p *Params) { p.Commutator.SmoothOutline, p.Commutator.DipDepth = true, 0 })
	if err := circle.Resolvable(1); err != nil {
		t.Errorf("a circle: %v", err)
	}
	if w := b.Warnings(20e-6); len(w) != 0 {
		t.Errorf("defaults: %q", w)
	}
	stiff := build(t, false, func(p *Params) { p.Segment.AxialStiffness = 3.5e7 })
	if w := stiff.Warnings(20e-6); len(w) != 1 || !strings.Contains(w[0], "theta") {
		t.Errorf("stiff joints: %q", w)
	}
}
