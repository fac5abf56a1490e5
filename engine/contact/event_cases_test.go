package contact

import (
	"errors"
	"math"
	"strings"
	"testing"

	"hilrig/engine"
)

// eccentric is a point mass on a spring, pressed on a disc of radius r that turns about a point e off its centre. The disc is
// prescribed: its surface is in VN, VT, AN and AT. q = (x, y); the point is held at x = 0 by a stiff guide without
// friction, or moves freely along x on a spring of its own.
func eccentric(omega, r, e, mu, kx float64) *plant {
	const m, ky, y0 = 0.01, 200.0, -0.02
	return &plant{
		f: 2, mass: []float64{m, m},
		force: func(_ float64, q, u, f []float64) {
			f[0] = -kx*q[0] - 0.1*u[0]
			f[1] = -ky*(q[1]-y0) - 0.1*u[1]
		},
		contacts: func(t float64, q, u []float64, set *Set) {
			s, c := math.Sincos(omega * t)
			// centre of the disc, and from there to the point
			dx, dy := q[0]-e*c, q[1]-e*s
			d := math.Hypot(dx, dy)
			nx, ny := dx/d, dy/d
			i := set.Add(0, Law{Mu: mu, EpsN: 0.3}, d-r)
			wn, wt := set.RowN(i), set.RowT(i)
			wn[0], wn[1], wt[0], wt[1] = nx, ny, ny, -nx
			// material point of the disc: velocity ω×(from the axis), v·n and v·t
			sx, sy := e*c+r*nx, e*s+r*ny
			vx, vy := -omega*sy, omega*sx
			set.VN[i], set.VT[i] = -(nx*vx + ny*vy), -(ny*vx - nx*vy)
			// g̈_N = n·(a − a_C) + (t·(v − v_C))²/d with the centre C of the disc, whose contour is a circle
			cx, cy := -omega*e*s, omega*e*c
			ax, ay := -omega*omega*e*c, -omega*omega*e*s
			rt := ny*(u[0]-cx) - nx*(u[1]-cy)
			set.AN[i] = -(nx*ax + ny*ay) + rt*rt/d
			// t turns with n by (rt/d) clockwise: ġ_T = t·(v − v_C) + ω·r
			set.AT[i] = -(ny*ax - nx*ay) - rt/d*(nx*(u[0]-cx)+ny*(u[1]-cy))
		},
	}
}

// The rows of the test system are right: their rates are the differences of gap and velocity along any motion.
func TestEccentricRowsAgainstDifferences(t *testing.T) {
	sys := eccentric(40, 0.01, 0.002, 0.3, 500)
	set := NewSet(1, 2)
	at := func(time float64) (gap, vn, vt float64, q, u, a []float64) {
		q = []float64{0.001 + 0.2*time + 3*time*time, 0.0125 - 0.1*time + time*time}
		u = []float64{0.2 + 6*time, -0.1 + 2*time}
		a = []float64{6, 2}
		sys.Contacts(time, q, u, math.Inf(1), set)
		vn, vt = set.Rate(0, u)
		return set.Gap[0], vn, vt, q, u, a
	}
	const h = 1e-5
	for _, time := range []float64{0, 0.01, 0.033} {
		g0, n0, t0, _, _, _ := at(time - h)
		g1, n1, t1, _, _, _ := at(time + h)
		_, vn, _, _, _, a := at(time)
		an, atg := set.AN[0], set.AT[0]
		for j := range a {
			an += set.RowN(0)[j] * a[j]
			atg += set.RowT(0)[j] * a[j]
		}
		near(t, "dg/dt", (g1-g0)/(2*h), vn, 1e-6)
		near(t, "g̈_N", (n1-n0)/(2*h), an, 1e-4)
		near(t, "g̈_T", (t1-t0)/(2*h), atg, 1e-4)
	}
}

// A follower on a slow eccentric disc stays on it: its height is that of the contour. On a fast one it leaves and comes back.
func TestFollowerOnEccentricDisc(t *testing.T) {
	const r, ecc = 0.01, 0.002
	stiff := eccentric(30, r, ecc, 0.2, 1e5)
	height := math.Sqrt(r*r - ecc*ecc)
	e := drive(t, stiff, EventOptions{}, []float64{0, height}, []float64{0, ecc * 30})
	q, u := make([]float64, 2), make([]float64, 2)
	runTo(t, e, 0.21, func(e *EventDriven) bool {
		e.State(q, u)
		s, c := math.Sincos(30 * e.T)
		near(t, "on the contour", math.Hypot(q[0]-ecc*c, q[1]-ecc*s), r, 1e-9)
		return !t.Failed()
	})
	if e.Detachments != 0 {
		t.Errorf("left a slow disc: %+v", e.EventStats)
	}
	fast := eccentric(900, r, ecc, 0.2, 1e5)
	e = drive(t, fast, EventOptions{}, []float64{0, height}, []float64{0, ecc * 900})
	runTo(t, e, 0.05, func(e *EventDriven) bool {
		e.State(q, u)
		s, c := math.Sincos(900 * e.T)
		if g := math.Hypot(q[0]-ecc*c, q[1]-ecc*s) - r; g < -2e-9 {
			t.Errorf("t = %g s: in the disc by %g m", e.T, -g)
		}
		return !t.Failed()
	})
	t.Logf("%+v", e.EventStats)
	if e.Detachments == 0 || e.Impacts == 0 {
		t.Errorf("never left a fast disc: %+v", e.EventStats)
	}
	// the same again is the same to the last bit
	again := drive(t, fast, EventOptions{}, []float64{0, height}, []float64{0, ecc * 900})
	runTo(t, again, 0.05, nil)
	p := make([]float64, 2)
	if again.State(p, u); p[0] != q[0] || p[1] != q[1] {
		t.Error("not repeatable")
	}
}

// A point slides over a roof and a valley of straight edges: it flies off the roof, and meets the far side of the valley with an impact.
func TestPolylineKinksAreEvents(t *testing.T) {
	// edges by x: up to 0 level, roof down by slope −0.3 from 0, valley up by +0.4 from 1
	line := func(x float64) (y, slope float64, edge int32) {
		switch {
		case x < 0:
			return 0, 0, 0
		case x < 1:
			return -0.3 * x, -0.3, 1
		}
		return -0.3 + 0.4*(x-1), 0.4, 2
	}
	sys := &plant{
		f: 2, mass: []float64{1, 1},
		force: func(_ float64, _, _, f []float64) { f[0], f[1] = 0, -grav },
		contacts: func(_ float64, q, _ []float64, set *Set) {
			y, s, edge := line(q[0])
			w := math.Hypot(1, s)
			i := set.Add(0, Law{}, (q[1]-y)/w)
			set.Feature[i] = edge
			n, tg := set.RowN(i), set.RowT(i)
			n[0], n[1], tg[0], tg[1] = -s/w, 1/w, 1/w, s/w
		},
	}
	// slow enough to land on the roof again
	const v = 1.0
	e := drive(t, sys, EventOptions{}, []float64{-0.5, 0}, []float64{v, 0})
	q, u := make([]float64, 2), make([]float64, 2)
	var kinds []string
	runTo(t, e, 1.6, func(e *EventDriven) bool {
		if k := e.Event().Kind; k != NoEvent && e.StepStart() == e.T {
			kinds = append(kinds, k.String())
		}
		return true
	})
	e.State(q, u)
	// leaves at x = 0, falls along ½gt² = 0.3·v·t, keeps the velocity along the edge
	fall := 2 * 0.3 * v / grav
	w := math.Hypot(1, 0.3)
	along := (v + 0.3*grav*fall) / w
	g1 := grav * 0.3 / w
	left := (1 - v*fall) * w // m to the valley
	tv := (-along + math.Sqrt(along*along+2*g1*left)) / g1
	// at the valley the part along the next edge stays
	vv := along + g1*tv
	w2 := math.Hypot(1, 0.4)
	up := vv * (1 - 0.3*0.4) / (w * w2)
	time := 0.5/v + fall + tv
	g2 := grav * 0.4 / w2
	s := up*(1.6-time) - g2*(1.6-time)*(1.6-time)/2
	near(t, "place", q[0], 1+s/w2, 1e-8)
	near(t, "height", q[1], -0.3+0.4*s/w2, 1e-8)
	if got := strings.Join(kinds, " "); got != "kinking closing kinking" {
		t.Errorf("events: %s", got)
	}
}

// A point slides off a table: its gap jumps to the height of the table. It flies from the edge and hits the floor.
func TestEdgeOfAStepLetsGo(t *testing.T) {
	const drop, v = 0.05, 0.5
	sys := &plant{
		f: 2, mass: []float64{1, 1},
		force: func(_ float64, _, _, f []float64) { f[0], f[1] = 0, -grav },
		contacts: func(_ float64, q, _ []float64, set *Set) {
			gap, edge := q[1], int32(0)
			if q[0] >= 0 {
				gap, edge = q[1]+drop, 1
			}
			i := set.Add(0, Law{}, gap)
			set.Feature[i] = edge
			set.RowN(i)[1], set.RowT(i)[0] = 1, 1
		},
	}
	e := drive(t, sys, EventOptions{}, []float64{-0.1, 0}, []float64{v, 0})
	landed := 0.0
	runTo(t, e, 0.5, func(e *EventDriven) bool {
		if k := e.Event().Kind; k == Closing {
			landed = e.T
		}
		return true
	})
	near(t, "landed", landed, 0.1/v+math.Sqrt(2*drop/grav), 1e-9)
	if e.Kinks != 1 || e.Impacts != 1 {
		t.Errorf("%d kinks, %d impacts, want one of each", e.Kinks, e.Impacts)
	}
}

// The same table as a surface of its own, which is not there beyond its end: the integrator looks past it before the end is found.
func TestSurfaceThatEndsLetsGo(t *testing.T) {
	const drop, v, mu = 0.05, 0.5, 0.1
	sys := &plant{
		f: 2, mass: []float64{1, 1},
		force: func(_ float64, _, _, f []float64) { f[0], f[1] = 0, -grav },
		contacts: func(_ float64, q, _ []float64, set *Set) {
			add := func(id uint32, gap float64) {
				i := set.Add(id, Law{Mu: mu}, gap)
				set.RowN(i)[1], set.RowT(i)[0] = 1, 1
			}
			if q[0] < 0 {
				add(0, q[1])
			}
			add(1, q[1]+drop)
		},
	}
	e := drive(t, sys, EventOptions{}, []float64{-0.1, 0}, []float64{v, 0})
	left, landed := 0.0, 0.0
	runTo(t, e, 0.4, func(e *EventDriven) bool {
		switch k := e.Event().Kind; k {
		case Kinking:
			left = e.T
		case Closing:
			landed = e.T
		}
		return true
	})
	// v·t − μ·g·t²/2 to the end
	want := (v - math.Sqrt(v*v-2*mu*grav*0.1)) / (mu * grav)
	near(t, "left", left, want, 1e-9)
	near(t, "landed", landed, want+math.Sqrt(2*drop/grav), 1e-9)
}

// painleve is a rod that slides on one end, as a system of three coordinates.
func painleve(mu float64) *plant {
	const m, l = 1.0, 1.0
	const j = m * l * l / 12
	return &plant{
		f: 3, mass: []float64{m, m, j},
		force: func(_ float64, _, _, f []float64) { f[0], f[1], f[2] = 0, -m*grav, 0 },
		contacts: func(_ float64, q, u []float64, set *Set) {
			s, c := math.Sincos(q[2])
			rx, ry := -l/2*c, -l/2*s
			i := set.Add(0, Law{Mu: mu}, q[1]+ry)
			n, tg := set.RowN(i), set.RowT(i)
			n[1], n[2], tg[0], tg[2] = 1, rx, 1, -ry
			set.AN[i], set.AT[i] = -u[2]*u[2]*ry, -u[2]*u[2]*rx
		},
	}
}

// A rod pushed ahead of its contact: with μ beyond the critical value and its weight pressing the end down there is no force that
// keeps it sliding. An impulse stops the end; the closed form has P_N, P_T from v_N = 0 and v_T = 0.
func TestPainleveImpulseInClosedForm(t *testing.T) {
	const phi, v = 1.2, 2.0 // the end is at the lower left; sliding to the left is against the lean
	s, c := math.Sincos(phi)
	q := []float64{0, s / 2, phi}
	for _, x := range []struct {
		mu, dir float64
		jams    bool
	}{{0.5, 1, false}, {3, 1, false}, {3, -1, true}, {0.5, -1, false}} {
		u := []float64{x.dir * v, 0, 0}
		sys := painleve(x.mu)
		e, err := NewEventDriven(sys, EventOptions{})
		if err != nil {
			t.Fatal(err)
		}
		// A = 1/m + (L²/4J)(cos²φ + σμ·sinφ·cosφ) with r = −(L/2)(cosφ, sinφ): G_NT = −rx·ry/J
		gnn, gnt, gtt := 1+3*c*c, -3*s*c, 1+3*s*s
		a := gnn - x.mu*x.dir*gnt
		if (a <= 0) != x.jams {
			t.Fatalf("A = %g", a)
		}
		if err := e.Start(0, q, u); err != nil {
			t.Fatal(err)
		}
		after := make([]float64, 3)
		e.State(make([]float64, 3), after)
		if !x.jams {
			if e.Inconsistent != 0 || math.Abs(after[0]-u[0]) > 1e-12 {
				t.Errorf("μ = %g, direction %g: %+v, u = %v", x.mu, x.dir, e.EventStats, after)
			}
		} else {
			// G·P = −v
			det := gnn*gtt - gnt*gnt
			vt := x.dir * v
			pn, pt := gnt*vt/det, -gnn*vt/det
			if e.Inconsistent != 1 || math.Abs(pt) > x.mu*pn {
				t.Errorf("%+v, P = %g %g", e.EventStats, pn, pt)
			}
			near(t, "vx", after[0], vt+pt, 1e-7)
			near(t, "vy", after[1], pn, 1e-7)
			near(t, "ω", after[2], 12*(-c/2*pn+s/2*pt), 1e-6)
		}
		runTo(t, e, 0.2, nil)
	}

	// turning fast enough that its end would lift off by itself, the rod may jam or not: it lifts off, and that is counted
	e, err := NewEventDriven(painleve(3), EventOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const w = 6.0
	if err := e.Start(0, q, []float64{-8, c / 2 * w, w}); err != nil {
		t.Fatal(err)
	}
	if e.Inconsistent != 0 || e.Indeterminate != 1 || len(e.Forces(nil)) != 0 {
		t.Errorf("%+v, forces %+v", e.EventStats, e.Forces(nil))
	}
}

// A block on four points: normals and tangents are redundant, the forces one choice of many, and still it sticks as long as it should and
// slides as it should.
func TestRedundantSticking(t *testing.T) {
	// 4 normals and 4 tangents for 3 coordinates; the force at the height of the points' line has no moment that tips it over
	sys := &plant{
		f: 3, mass: []float64{1, 1, 0.01},
		force: func(t float64, _, _, f []float64) { f[0], f[1], f[2] = 6*t, -grav, 0 },
		contacts: func(_ float64, q, u []float64, set *Set) {
			s, c := math.Sincos(q[2])
			for k, x := range [4]float64{-0.1, -0.03, 0.04, 0.1} {
				rx, ry := x*c+0.05*s, x*s-0.05*c
				i := set.Add(uint32(k), Law{Mu: 0.4}, q[1]+ry)
				n, tg := set.RowN(i), set.RowT(i)
				n[1], n[2], tg[0], tg[2] = 1, rx, 1, -ry
				set.AN[i], set.AT[i] = -u[2]*u[2]*ry, -u[2]*u[2]*rx
			}
		},
	}
	e := drive(t, sys, EventOptions{}, []float64{0, 0.05, 0}, []float64{0, 0, 0})
	// 6t > 0.4·g at t = 0.654; then x = ∫∫(6t − 0.4g)
	slip := 0.4 * grav / 6
	q, u := make([]float64, 3), make([]float64, 3)
	runTo(t, e, slip-1e-4, nil)
	e.State(q, u)
	near(t, "rests", q[0], 0, 1e-12)
	n, tt := 0.0, 0.0
	for _, f := range e.Forces(nil) {
		if f.N < -1e-12 || math.Abs(f.T) > 0.4*f.N+1e-9 {
			t.Errorf("force %+v outside the cone", f)
		}
		n, tt = n+f.N, tt+f.T
	}
	near(t, "weight", n, grav, 1e-9)
	near(t, "friction", tt, -6*(slip-1e-4), 1e-9)
	runTo(t, e, 0.9, nil)
	e.State(q, u)
	d := 0.9 - slip
	near(t, "way", q[0], d*d*d, 1e-7)
	near(t, "speed", u[0], 3*d*d, 1e-7)
	near(t, "tilt", q[2], 0, 1e-9)
	t.Logf("%+v", e.EventStats)
}

func TestBadStartsAndStormsAreErrors(t *testing.T) {
	e, err := NewEventDriven(bouncing(0.5), EventOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(1, nil); err == nil {
		t.Error("ran without a start")
	}
	var at *EventError
	if err := e.Start(2, []float64{-0.1}, []float64{0}); !errors.Is(err, ErrPenetration) || !errors.As(err, &at) || at.T != 2 ||
		len(at.IDs) != 1 || at.IDs[0] != 3 {
		t.Errorf("overlap: %v", err)
	}
	if err := e.Start(0, []float64{math.NaN()}, []float64{0}); !errors.Is(err, engine.ErrNonFinite) {
		t.Errorf("NaN: %v", err)
	}
	if _, err := NewEventDriven(bouncing(0.5), EventOptions{TolV: -1, RTol: math.NaN(), MaxEvents: -3}); err == nil ||
		strings.Count(err.Error(), "want > 0") != 3 {
		t.Errorf("options: %v", err)
	}
	// between two walls: the guard against chatter stops it where its way there and back is below ten tolerances of the gap, otherwise it is
	// an error
	width := 4e-9
	storm := bouncing(1)
	storm.contacts = func(_ float64, q, u []float64, set *Set) {
		i := set.Add(3, Law{EpsN: 1}, q[0])
		set.RowN(i)[0] = 1
		if j := set.Add(4, Law{EpsN: 1}, width-q[0]); j >= 0 {
			set.RowN(j)[0] = -1
		}
	}
	e, _ = NewEventDriven(storm, EventOptions{})
	if err := e.Start(0, []float64{2e-9}, []float64{100}); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(1, nil); err != nil {
		t.Errorf("chatter: %v", err)
	}
	width = 6e-9
	e, _ = NewEventDriven(storm, EventOptions{})
	if err := e.Start(0, []float64{3e-9}, []float64{100}); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(1, nil); !errors.Is(err, ErrStorm) {
		t.Errorf("storm: %v", err)
	}
	if err := e.Run(1, nil); err == nil {
		t.Error("went on after an error")
	}
	// a number of events
	e, _ = NewEventDriven(bouncing(0.9), EventOptions{MaxEvents: 5})
	if err := e.Start(0, []float64{1}, []float64{0}); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(10, nil); !errors.Is(err, ErrMaxEvents) {
		t.Errorf("events: %v", err)
	}
	// room
	e, _ = NewEventDriven(storm, EventOptions{MaxContacts: 1})
	if err := e.Start(0, []float64{5e-8}, []float64{1}); !errors.Is(err, ErrFull) {
		t.Errorf("room: %v", err)
	}
	// a force that is no number
	broken := bouncing(0.5)
	broken.force = func(t float64, _, _, f []float64) { f[0] = math.Sqrt(0.1 - t) }
	e, _ = NewEventDriven(broken, EventOptions{})
	if err := e.Start(0, []float64{1}, []float64{0}); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(1, nil); !errors.As(err, &at) {
		t.Errorf("broken force: %v", err)
	}
}

// Dense output is the parabola of free flight, also between impacts; a run may be stopped and continued.
func TestAtAndContinue(t *testing.T) {
	e := drive(t, bouncing(0.6), EventOptions{}, []float64{1}, []float64{0})
	q, u := []float64{0}, []float64{0}
	fall := math.Sqrt(2 / grav)
	for end := 0.05; end < fall; end += 0.05 {
		runTo(t, e, end, func(e *EventDriven) bool {
			for k := range 5 {
				s := e.StepStart() + float64(k)/4*(e.T-e.StepStart())
				e.At(s, q, u)
				near(t, "height", q[0], 1-grav*s*s/2, 1e-12)
				near(t, "speed", u[0], -grav*s, 1e-12)
			}
			return true
		})
		if e.T != end {
			t.Fatalf("T = %g, want %g", e.T, end)
		}
	}
	// a visit that says stop at the impact leaves the state after it
	n := 0
	runTo(t, e, 5, func(e *EventDriven) bool {
		n++
		k := e.Event().Kind
		return k == NoEvent
	})
	e.State(q, u)
	near(t, "impact", e.T, fall, 1e-12)
	near(t, "speed", u[0], 0.6*grav*fall, 1e-11)
	runTo(t, e, fall*1.1, nil)
	e.State(q, u)
	near(t, "height", q[0], 0.6*grav*fall*0.1*fall-grav*0.01*fall*fall/2, 1e-11)
}

// The right-hand side, a look at the events and the settling of one allocate nothing.
func TestSmoothMotionAllocatesNothing(t *testing.T) {
	e := drive(t, incline(0.4, 0.2), EventOptions{}, []float64{0, 0}, []float64{1, 0})
	dx := make([]float64, 4)
	if n := testing.AllocsPerRun(50, func() { e.slope(0, e.x, dx) }); n != 0 {
		t.Errorf("slope: %g allocations", n)
	}
	if n := testing.AllocsPerRun(50, func() { e.measure(0, e.x, true, e.b) }); n != 0 {
		t.Errorf("measure: %g allocations", n)
	}
	if n := testing.AllocsPerRun(50, func() {
		if err := e.resolveEvent(Event{}); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("settle: %g allocations", n)
	}
}
