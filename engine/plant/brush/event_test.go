package brush

import (
	"math"
	"testing"

	"hilrig/engine/contact"
)

// eventRun runs the smooth brush between events and hands q and u over every grid seconds.
func eventRun(t *testing.T, p Params, end, grid float64, visit func(t float64, q, u []float64)) contact.EventStats {
	t.Helper()
	b, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	// what does not rebound is the same in both engines
	e, err := contact.NewEventDriven(b, contact.EventOptions{
		RTol: 1e-7, ATol: 1e-10, VTh: 1e-3, VChatter: 1e-3, TChatter: 1e-6, Law: contact.Newton, Reach: 30e-6,
	})
	if err != nil {
		t.Fatal(err)
	}
	q, u := make([]float64, dof), make([]float64, dof)
	if err := b.Start(q, u); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(0, q, u); err != nil {
		t.Fatal(err)
	}
	k := 1
	if err := e.Run(end, func(e *contact.EventDriven) bool {
		for ; float64(k)*grid <= e.T; k++ {
			if at := float64(k) * grid; at >= e.StepStart() {
				e.At(at, q, u)
				visit(at, q, u)
			}
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return e.EventStats
}

// From the start through the first impacts both engines go the same way, the closer the shorter the fixed step: two independent
// treatments of the same System, before the motion has had time to forget where it came from.
func TestFirstContactsInBothEngines(t *testing.T) {
	p := DefaultParams()
	p.Commutator.SmoothOutline = true
	p.Contact.Face.EpsN, p.Contact.Holder.EpsN, p.Contact.Spring.EpsN = 0, 0, 0
	const end = 2e-3
	var want [2]float64 // m, height; rad, tilt
	stats := eventRun(t, p, end, 1e-3, func(_ float64, q, _ []float64) { want = [2]float64{q[1], q[2]} })
	t.Logf("%+v", stats)
	var off [2]float64
	for i, h := range []float64{4e-6, 0.5e-6} {
		opt := RunOptions{Time: end, Discard: -1}
		opt.Step = h
		var got [2]float64
		opt.Trace = func(s *Snapshot) { got = [2]float64{s.Q[1], s.Q[2]} }
		run(t, p, opt)
		off[i] = math.Abs(got[1]-want[1]) + math.Abs(got[0]-want[0])/p.Brush.Width
		t.Logf("h = %g s: height %.9g m (events %.9g), tilt %.6g rad (events %.6g)", h, got[0], want[0], got[1], want[1])
	}
	if stats.Events < 3 || off[1] > 2e-5 || off[1] > off[0]/4 {
		t.Errorf("%d events; engines differ by %.3g rad at 4 µs, %.3g rad at 0.5 µs", stats.Events, off[0], off[1])
	}
}
