package manipulator

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/beam"
	"hilrig/engine/friction"
)

// Each fault of a description is named with its key.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		change func(p *Params)
		want   string
	}{
		{func(p *Params) { p.Joints = nil }, "joints: 0, want 1 to 6"},
		{func(p *Params) { p.Joints = append(p.Joints, p.Joints[1:]...) }, "joints: 7, want 1 to 6"},
		{func(p *Params) { p.Joints[2].Kind = "screw" }, `joints[2].kind: "screw", want revolute or prismatic`},
		{func(p *Params) { p.Joints[1].Mass = -1 }, "joints[1].mass: -1 kg, want >= 0"},
		{func(p *Params) { p.Joints[1].Inertia = math.NaN() }, "joints[1].inertia: NaN kg·m², want >= 0"},
		{func(p *Params) { p.Joints[2].Spring = -2 }, "joints[2].spring: -2 N/m, want >= 0"},
		{func(p *Params) { p.Joints[3].Spring = -2 }, "joints[3].spring: -2 N·m/rad, want >= 0"},
		{func(p *Params) { p.Joints[3].Damping = math.Inf(1) }, "joints[3].damping: +Inf N·m·s/rad, want >= 0"},
		{func(p *Params) { p.Joints[3].Rest = math.NaN() }, "joints[3].rest: NaN, want a finite number"},
		{func(p *Params) { p.Joints[3].Center[1] = math.NaN() }, "joints[3].center: NaN"},
		{func(p *Params) { p.Joints[0].Location[1] = math.Inf(1) }, "joints[0].at: +Inf"},
		{func(p *Params) { p.Tip[0] = math.NaN() }, "tip: NaN"},
		{func(p *Params) { p.Gravity = math.NaN() }, "gravity: NaN"},
		{func(p *Params) { p.Joints[0].Drive.Ramp = -1 }, "joints[0].drive.ramp: -1 s, want >= 0"},
		{func(p *Params) { p.Joints[0].Drive.Rate = math.NaN() }, "joints[0].drive.rate: NaN"},
		{func(p *Params) { p.Joints = p.Joints[:1] }, "joints: every joint is driven"},
		{func(p *Params) { p.Beam.Elements = 0 }, "beam.elements: 0, want 1 to 1000"},
		{func(p *Params) { p.Friction = &friction.Karnopp{} }, "friction: "},
		{func(p *Params) { p.Friction = &friction.Coulomb{Fc: 1} }, "on the beam a law with a differential form is wanted: [bouc-wen"},
		{func(p *Params) { p.Joints[3].Mass, p.Joints[3].Inertia = 0, 0 }, "joints[3]: nothing behind this free joint has mass off the joint, " +
			"or inertia"},
	} {
		p := Paper(1)
		c.change(&p)
		if _, err := New(p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// The polynomial of the drive: its ends, its middle by hand (10/8 − 15/16 + 6/32 = 1/2), and each level the derivative of the one before.
func TestDrive(t *testing.T) {
	d := Drive{Start: -2, Rate: 3, Ramp: 0.4}
	q, v, a := d.At(0)
	near(t, "start", q, -2, 0)
	near(t, "at rest", math.Abs(v)+math.Abs(a), 0, 0)
	q, v, a = d.At(0.2)
	near(t, "half speed", v, 1.5, 1e-15)
	near(t, "acceleration", a, 3/0.4*30.0/16, 1e-13)
	near(t, "way", q, -2+3*0.4*(2.5/16-3.0/32+1.0/64), 1e-15)
	q, v, a = d.At(0.4)
	near(t, "after the ramp", q, -2+3*0.2, 1e-15)
	near(t, "speed", v, 3, 0)
	near(t, "no acceleration", a, 0, 0)
	for _, s := range []float64{0.01, 0.13, 0.31, 0.39, 0.7} {
		const h = 1e-6
		up, vu, _ := d.At(s + h)
		down, vd, _ := d.At(s - h)
		_, v, a := d.At(s)
		near(t, "speed", v, (up-down)/(2*h), 1e-8)
		near(t, "acceleration", a, (vu-vd)/(2*h), 1e-7)
	}
	_, v, a = (&Drive{Rate: 3}).At(0)
	near(t, "without ramp", v, 3, 0)
	near(t, "without ramp", a, 0, 0)
}

// A drive without ramp starts the rest by a blow: the limit of ever shorter ramps, whose error falls with their length.
func TestSuddenStart(t *testing.T) {
	p := Paper(1)
	p.Joints[0].Drive.Ramp = 0
	sudden, err := model(t, p).Run(context.Background(), Options{Duration: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	last := 0.0
	for _, ramp := range []float64{4e-6, 2e-6, 1e-6} {
		p.Joints[0].Drive.Ramp = ramp
		r, err := model(t, p).Run(context.Background(), Options{Duration: ramp})
		if err != nil {
			t.Fatal(err)
		}
		off := 0.0
		for i, v := range r.Samples[len(r.Samples)-1].V {
			off = math.Max(off, math.Abs(v-sudden.Samples[0].V[i]))
		}
		if last > 0 {
			near(t, "ratio", last/off, 2, 0.1)
		}
		last = off
	}
	if last > 1e-3 || math.Abs(sudden.Samples[0].V[2]) < 0.01 || sudden.Impulse == 0 {
		t.Errorf("off by %g, speeds %v, impulse %g N·s", last, sudden.Samples[0].V, sudden.Impulse)
	}
	near(t, "no separation", sudden.Samples[0].PhiRate, 0, 1e-12)
}

// What has no equilibrium says why.
func TestNoEquilibrium(t *testing.T) {
	for _, c := range []struct {
		change func(p *Params)
		want   string
	}{
		{func(p *Params) { p.Beam.Left.Kind, p.Beam.Right.Kind = beam.Free, beam.Pinned }, "the supports do not hold the beam"},
		{func(p *Params) { p.Joints[3].Spring, p.Joints[1].Spring, p.Joints[2].Spring = 0, 0, 0 }, "a joint gives way without resistance"},
		{func(p *Params) { p.Joints[0].Location[0] = -0.5 }, "the equilibrium lies beside the beam: the load left the beam over its left end"},
		{func(p *Params) { p.Unilateral, p.Joints[0].Location[1] = true, 0.8 }, "the contact would have to pull"},
	} {
		p := Paper(1)
		c.change(&p)
		m := model(t, p)
		if _, err := m.Equilibrium(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if _, err := m.NewMachine(); err == nil {
			t.Errorf("a machine without equilibrium: %q", c.want)
		}
		if _, err := m.Run(context.Background(), Options{Duration: 1}); err == nil {
			t.Errorf("a run without equilibrium: %q", c.want)
		}
	}
	for _, o := range []Options{{}, {Duration: math.NaN()}, {Duration: 1, SampleInterval: -1}, {Duration: 1, Tolerance: 1},
		{Duration: 1, Tolerance: 1e-15}} {
		if _, err := model(t, Paper(1)).Run(context.Background(), o); err == nil {
			t.Errorf("%+v was run", o)
		}
	}
}

// A tip that no free joint can move across the beam is a singular position, a slider that lies along it; one that leans a little is none.
func TestSingular(t *testing.T) {
	for _, lean := range []float64{0, 0.01} {
		p := Paper(1)
		slider := p.Joints[2]
		slider.Location, slider.Rest, slider.Drive = [2]float64{}, 0.25, nil
		post := Joint{Kind: Revolute, Mass: 1, Inertia: 0.1, Location: [2]float64{0.2, -0.25 * math.Sin(lean)},
			Drive: &Drive{Start: lean, Rate: 0.01, Ramp: 1}}
		p.Joints, p.Tip = []Joint{post, slider}, [2]float64{}
		m := model(t, p)
		_, err := m.Run(context.Background(), Options{Duration: 0.01})
		if singular := errors.Is(err, ErrSingular); singular != (lean == 0) {
			t.Errorf("leaning by %g: %v", lean, err)
		}
	}
}

// Another joint has to be twice as good before it takes over.
func TestHysteresis(t *testing.T) {
	m := model(t, Paper(1))
	w := m.newWork()
	for _, i := range m.freeJoints {
		w.pose.m[i][i] = 1
	}
	for _, c := range []struct {
		reach     [3]float64
		now, want int
	}{{[3]float64{0.1, 1, 0.2}, -1, 1}, {[3]float64{1.99, 1, 0.2}, 1, 1}, {[3]float64{2.01, 1, 0.2}, 1, 0}, {[3]float64{1, -1.9, 0.2}, 0, 0},
		{[3]float64{1, -2.1, 0.2}, 0, 1}} {
		for k, i := range m.freeJoints {
			w.jr[i] = c.reach[k]
		}
		if got, err := w.choose(c.now); got != c.want || err != nil {
			t.Errorf("%v from %d: %d, %v", c.reach, c.now, got, err)
		}
	}
}

// A slider that sinks from upright to flat hands the part of the dependent joint over to the arm behind it, with a lever that grows.
// Nobody sees it in the motion: the whole system without any dependent joint and the fixed step go the same way.
func TestSwitches(t *testing.T) {
	p := Paper(1)
	post := Joint{Kind: Revolute, Mass: 1, Inertia: 0.1, Location: [2]float64{0.1, 0.47}, Drive: &Drive{Start: -1.4, Rate: 0.8, Ramp: 0.2}}
	slider := Joint{Kind: Prismatic, Mass: 1, Spring: 15, Rest: 0.3, Damping: 0.8}
	arm := Joint{Kind: Revolute, Mass: 0.2, Inertia: 0.001, Center: [2]float64{0.1}, Spring: 4, Rest: -0.3, Damping: 0.04}
	p.Joints, p.Tip = []Joint{post, slider, arm}, [2]float64{0.2}
	var r [2]*Result
	for _, f := range []Formulation{Partition, Full} {
		var err error
		if r[f], err = model(t, p).Run(context.Background(), Options{Formulation: f, Duration: 0.9, SampleInterval: 0.05}); err != nil {
			t.Fatal(err)
		}
	}
	switched := 0
	for _, e := range r[0].Events {
		if e.Kind == Switch && e.FromIndex == 2 && e.ToIndex == 3 {
			switched++
		}
	}
	if switched != 1 {
		t.Errorf("the dependent joint changed %d times: %+v", switched, r[0].Events)
	}
	for i := range r[0].Samples {
		a, b := &r[0].Samples[i], &r[1].Samples[i]
		near(t, "tip", a.TipX, b.TipX, 1e-10)
		near(t, "λ", a.Lambda, b.Lambda, 1e-6)
	}
	near(t, "audit", math.Max(r[0].Audit, r[1].Audit), 0, 1e-9)
	k, err := model(t, p).NewMachine()
	if err != nil {
		t.Fatal(err)
	}
	x, y := k.NewState(), make([]float64, len(k.Layout().Outputs))
	for range 900 {
		if st := k.Step(1e-3, x, nil, y); st != engine.OK {
			t.Fatal(st)
		}
	}
	last := r[0].Samples[len(r[0].Samples)-1]
	near(t, "fixed step, tip", y[3+OutTipX], last.TipX, 1e-6)
	near(t, "fixed step, λ", y[3+OutLambda], last.Lambda, 1e-3)
	near(t, "fixed step, dependent", x[2*(3+18)+restDependent], 3, 0)
}

// Friction with a coefficient beyond what the geometry allows has no single solution. At the equilibrium of a drive at −1.5 rad a force F
// of friction changes λ by per·F, so the limit of the coefficient is 1/per; per is found here from the answer to two small forces.
func TestJam(t *testing.T) {
	solve := func(n0 float64) (lambda, force float64, err error) {
		p := caseOf(t, "friction")
		p.Joints[0].Drive.Start = -1.5
		p.Friction.(*friction.LuGre).N0 = n0
		m := model(t, p)
		at, err := m.Equilibrium()
		if err != nil {
			t.Fatal(err)
		}
		w := m.newWork()
		s := w.newState()
		s.setMotion(at)
		s.z[0] = 1e-3 // 0.3 N at the normal force N0
		w.place(s, 0, true)
		e, err := m.beam.ElementAt(w.pose.tip.X)
		if err != nil {
			t.Fatal(err)
		}
		w.place(s, e, true)
		out := accel{ac: make([]float64, m.beam.N), dz: make([]float64, 1)}
		err = w.accelerate(&w.elimination, s, &joints{}, true, &out)
		return out.lambda, out.force, err
	}
	l1, f1, _ := solve(1)
	l2, f2, _ := solve(2)
	limit := 0.3 * (l1 - l2) / (f1 - f2)
	if limit < 1e-3 {
		t.Fatalf("the limit of N0 is %g N", limit)
	}
	if l, f, err := solve(1.05 * limit); err != nil || math.Abs(f/l-0.3/(1.05*limit)) > 0.01*f/l {
		t.Errorf("below the limit: λ = %g N, F = %g N, %v", l, f, err)
	}
	if _, _, err := solve(0.95 * limit); !errors.Is(err, ErrJam) {
		t.Errorf("beyond the limit: %v", err)
	}
}

// A mesh of 100 elements has frequencies up to 3e5 rad/s, damped with up to 2e7 1/s: the fixed step of 1 ms does not mind, and its motion
// is near that of 10 elements, by as much as the mesh matters.
func TestFineMesh(t *testing.T) {
	var tip, lambda [2]float64
	for i, elements := range []int{10, 100} {
		p := Paper(1)
		p.Beam.Elements = elements
		k, err := model(t, p).NewMachine()
		if err != nil {
			t.Fatal(err)
		}
		x, y := k.NewState(), make([]float64, len(k.Layout().Outputs))
		for range 500 {
			if st := k.Step(1e-3, x, nil, y); st != engine.OK {
				t.Fatal(st)
			}
		}
		tip[i], lambda[i] = y[4+OutTipX], y[4+OutLambda]
	}
	near(t, "tip", tip[1], tip[0], 1e-4)
	near(t, "λ", lambda[1], lambda[0], 0.1)
}

// What an adaptive method would not finish is refused, with the way out; the same by fixed steps agrees with it where both do it.
func TestStiff(t *testing.T) {
	p := Paper(0.5)
	p.Beam.Elements = 60
	if _, err := model(t, p).Run(context.Background(), Options{Duration: 1}); !errors.Is(err, ErrStiff) {
		t.Errorf("60 elements: %v", err)
	}
	p.Beam.Elements = 10
	m := model(t, p)
	a, _ := m.Run(context.Background(), Options{Duration: 3, SampleInterval: 0.1})
	b, err := m.RunFixed(context.Background(), 5e-4, 3, 200)
	var left *beam.LeftError
	if !errors.As(err, &left) || left.X != 1 || math.Abs(left.T-1.9374333) > 1e-6 {
		t.Errorf("fixed steps: %v", err)
	}
	if len(a.Samples) != len(b.Samples) {
		t.Fatalf("%d and %d samples", len(a.Samples), len(b.Samples))
	}
	for i := range a.Samples {
		x, y := &a.Samples[i], &b.Samples[i]
		near(t, "time", y.T, x.T, 1e-6)
		near(t, "tip", y.TipX, x.TipX, 1e-6)
		near(t, "λ", y.Lambda, x.Lambda, 2e-4)
		near(t, "torque", y.Torque[0], x.Torque[0], 2e-5)
		near(t, "energy", y.Energy, x.Energy, 1e-6)
	}
	k := 0
	for _, e := range a.Events {
		if e.Kind != Border && e.Kind != Left {
			continue
		}
		if k == len(b.Events) || b.Events[k].Kind != e.Kind || math.Abs(b.Events[k].T-e.T) > 1e-6 || b.Events[k].ToIndex != e.ToIndex {
			t.Fatalf("event %+v, fixed steps have %+v", e, b.Events)
		}
		k++
	}
	for _, c := range []struct {
		dt, end float64
		every   int
	}{{0, 1, 1}, {1e-3, 0, 1}, {1e-3, 1, 0}, {math.NaN(), 1, 1}, {1e-10, 1, 1}} {
		if _, err := m.RunFixed(context.Background(), c.dt, c.end, c.every); err == nil {
			t.Errorf("%+v was run", c)
		}
	}
}

// A chain without a drive that starts in equilibrium stays there, by all methods, under weight too.
func TestRestStaysAtRest(t *testing.T) {
	p := Paper(1)
	p.Joints[0].Drive, p.Joints[0].Spring, p.Joints[0].Rest, p.Gravity = nil, 40, -2, 0.5
	m := model(t, p)
	at, err := m.Equilibrium()
	if err != nil {
		t.Fatal(err)
	}
	runs := []*Result{}
	for _, f := range []Formulation{Partition, Full} {
		r, err := m.Run(context.Background(), Options{Formulation: f, Duration: 0.2, SampleInterval: 0.05})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	r, err := m.RunFixed(context.Background(), 1e-3, 0.2, 50)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(runs, r) {
		if len(r.Events) > 0 || len(r.Samples) != 5 || len(r.Samples[0].Torque) != 0 {
			t.Errorf("%d samples, events %+v", len(r.Samples), r.Events)
		}
		last := r.Samples[len(r.Samples)-1]
		for i, q := range at.Q {
			near(t, "joint", last.Q[i], q, 1e-10)
		}
		near(t, "λ", last.Lambda, at.Lambda, 1e-6)
	}
}

// A tip that only just touches presses with nothing but rounding, and no change of its sign is an event. The end has a sample.
func TestTouchesOnly(t *testing.T) {
	p := Paper(0)
	p.Joints[0].Location[1], p.Joints[0].Drive.Start = 0.85, -math.Pi/2 // all springs relaxed, the arms hang straight down
	r, err := model(t, p).Run(context.Background(), Options{Duration: 0.25, SampleInterval: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Events) > 0 {
		t.Errorf("%d events, the first %+v", len(r.Events), r.Events[0])
	}
	if n := len(r.Samples); n != 4 || r.Samples[3].T != 0.25 {
		t.Errorf("%d samples, the last at %g s", n, r.Samples[n-1].T)
	}
	near(t, "λ", r.Samples[3].Lambda, 0, 1e-9)
}
