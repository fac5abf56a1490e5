package contact

import (
	"math"
	"testing"
)

// plant is a System made of functions, for tests.
type plant struct {
	f        int
	mass     []float64 // diagonal
	force    func(t float64, q, u, f []float64)
	contacts func(t float64, q, u []float64, set *Set)
}

func (p *plant) DOF() int { return p.f }
func (p *plant) Mass(_ float64, _, m []float64) {
	clear(m)
	for i, v := range p.mass {
		m[i*p.f+i] = v
	}
}
func (p *plant) Force(t float64, q, u, f []float64) { p.force(t, q, u, f) }
func (p *plant) Contacts(t float64, q, u []float64, reach float64, set *Set) {
	set.Clear()
	p.contacts(t, q, u, set)
}

const grav = 9.81

func drive(t *testing.T, sys System, opt EventOptions, q, u []float64) *EventDriven {
	t.Helper()
	e, err := NewEventDriven(sys, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(0, q, u); err != nil {
		t.Fatal(err)
	}
	return e
}

func runTo(t *testing.T, e *EventDriven, end float64, visit func(*EventDriven) bool) {
	t.Helper()
	if err := e.Run(end, visit); err != nil {
		t.Fatal(err)
	}
}

// ball falls on a plane: q = height.
func bouncing(eps float64) *plant {
	return &plant{
		f: 1, mass: []float64{0.7},
		force: func(_ float64, _, _, f []float64) { f[0] = -0.7 * grav },
		contacts: func(_ float64, q, _ []float64, set *Set) {
			i := set.Add(3, Law{EpsN: eps}, q[0])
			set.RowN(i)[0] = 1
		},
	}
}

// From height h the ball rests after t₀·(1 + 2ε/(1 − ε)), t₀ = √(2h/g); its impacts are at t₀·(1 + 2ε + … + 2ε^k).
func TestBouncingBallComesToRestInTime(t *testing.T) {
	for _, eps := range []float64{0, 0.2, 0.5, 0.8, 0.9, 0.97} {
		const h = 1.3
		t0 := math.Sqrt(2 * h / grav)
		rest := t0 * (1 + 2*eps/(1-eps))
		e := drive(t, bouncing(eps), EventOptions{}, []float64{h}, []float64{0})
		hits, last, want, step := 0, 0.0, t0, 2*t0*eps
		runTo(t, e, rest+0.5, func(e *EventDriven) bool {
			if kind := e.Event().Kind; kind == Closing && e.T > last {
				if hits < 12 {
					near(t, "impact", e.T, want, 1e-9)
				}
				want, step = want+step, step*eps
				hits, last = hits+1, e.T
			}
			return true
		})
		t.Logf("ε = %g: %d impacts, rest at %.9f s, want %.9f, %+v", eps, e.Impacts, last, rest, e.EventStats)
		near(t, "rest", last, rest, 1e-6)
		q, u := []float64{0}, []float64{0}
		e.State(q, u)
		near(t, "height", q[0], 0, 1e-12)
		near(t, "speed", u[0], 0, 1e-12)
		near(t, "energy lost", e.ImpactLoss, 0.7*grav*h, 1e-9)
		f := e.Forces(nil)
		if len(f) != 1 || f[0].ID != 3 {
			t.Fatalf("forces %+v", f)
		}
		near(t, "weight", f[0].N, 0.7*grav, 1e-12)
	}
}

// slope is a block on an incline, q = (along, away): downhill is +x.
func incline(alpha, mu float64) *plant {
	return &plant{
		f: 2, mass: []float64{2, 2},
		force: func(_ float64, _, _, f []float64) {
			f[0], f[1] = 2*grav*math.Sin(alpha), -2*grav*math.Cos(alpha)
		},
		contacts: func(_ float64, q, _ []float64, set *Set) {
			i := set.Add(0, Law{Mu: mu}, q[1])
			set.RowN(i)[1], set.RowT(i)[0] = 1, 1
		},
	}
}

func TestBlockOnInclineSticksUpToTheAngleOfFriction(t *testing.T) {
	const alpha = 0.4
	for _, mu := range []float64{0, 0.2, math.Tan(alpha) - 1e-6, math.Tan(alpha) + 1e-6, 0.8} {
		e := drive(t, incline(alpha, mu), EventOptions{}, []float64{0, 0}, []float64{0, 0})
		runTo(t, e, 1.5, nil)
		a := max(0, grav*(math.Sin(alpha)-mu*math.Cos(alpha)))
		q, u := make([]float64, 2), make([]float64, 2)
		e.State(q, u)
		near(t, "way", q[0], a*1.5*1.5/2, 1e-9)
		near(t, "speed", u[0], a*1.5, 1e-9)
	}
	// thrown uphill it stops after v/(g(sin α + μ cos α)), and comes back or not
	for _, mu := range []float64{0.2, 0.8} {
		e := drive(t, incline(alpha, mu), EventOptions{}, []float64{0, 0}, []float64{-3, 0})
		up := grav * (math.Sin(alpha) + mu*math.Cos(alpha))
		down := max(0, grav*(math.Sin(alpha)-mu*math.Cos(alpha)))
		runTo(t, e, 2, nil)
		q, u := make([]float64, 2), make([]float64, 2)
		e.State(q, u)
		left := 2 - 3/up
		near(t, "way", q[0], -4.5/up+down*left*left/2, 1e-8)
		near(t, "speed", u[0], down*left, 1e-8)
		if e.Stops != 1 {
			t.Errorf("stopped %d times", e.Stops)
		}
	}
}

// A mass on a spring with Coulomb friction: every half swing lasts π/ω and is shorter by 2μN/k, until |x| ≤ μN/k at a turn.
func TestCoulombOscillatorLosesTheSameEachHalfSwing(t *testing.T) {
	const m, k, mu, x0 = 0.8, 130.0, 0.31, 0.2
	sys := &plant{
		f: 2, mass: []float64{m, m},
		force: func(_ float64, q, _, f []float64) { f[0], f[1] = -k*q[0], -m*grav },
		contacts: func(_ float64, q, _ []float64, set *Set) {
			i := set.Add(9, Law{Mu: mu}, q[1])
			set.RowN(i)[1], set.RowT(i)[0] = 1, 1
		},
	}
	e := drive(t, sys, EventOptions{}, []float64{x0, 0}, []float64{0, 0})
	band := mu * m * grav / k
	x, turn, n := x0, 0.0, 0
	q, u := make([]float64, 2), make([]float64, 2)
	runTo(t, e, 3, func(e *EventDriven) bool {
		if kind := e.Event().Kind; kind != Stopping || e.T == turn {
			return true
		}
		turn, n = e.T, n+1
		x = -math.Copysign(math.Abs(x)-2*band, x)
		e.State(q, u)
		near(t, "turn", q[0], x, 1e-9)
		near(t, "time", e.T, float64(n)*math.Pi*math.Sqrt(m/k), 1e-8)
		return true
	})
	e.State(q, u)
	if math.Abs(x) > band || n < 4 {
		t.Errorf("%d half swings, the last to %g m with a band of %g m", n, x, band)
	}
	near(t, "rest", q[0], x, 1e-9)
	near(t, "speed", u[0], 0, 1e-12)
	f := e.Forces(nil)
	near(t, "friction at rest", f[0].T, k*x, 1e-7)
	t.Logf("%d half swings, %+v", n, e.EventStats)
}

// A belt carries a mass on a spring until the spring pulls it off at x = μN/k. With the same friction at rest and in motion it
// then swings about that point with amplitude v/ω, and touches the speed of the belt once per period.
func TestBeltCarriesUntilTheSpringPullsOff(t *testing.T) {
	const m, k, mu, v = 1.0, 100.0, 0.4, 0.3
	sys := &plant{
		f: 2, mass: []float64{m, m},
		force: func(_ float64, q, _, f []float64) { f[0], f[1] = -k*q[0], -m*grav },
		contacts: func(_ float64, q, _ []float64, set *Set) {
			i := set.Add(1, Law{Mu: mu}, q[1])
			set.RowN(i)[1], set.RowT(i)[0], set.VT[i] = 1, 1, -v
		},
	}
	e := drive(t, sys, EventOptions{}, []float64{0, 0}, []float64{v, 0})
	off := mu * m * grav / k
	q, u := make([]float64, 2), make([]float64, 2)
	slip := 0.0
	runTo(t, e, 1.2, func(e *EventDriven) bool {
		if kind := e.Event().Kind; kind == Slipping && slip == 0 {
			slip = e.T
		}
		return true
	})
	near(t, "first slip", slip, off/v, 1e-8)
	w := math.Sqrt(k / m)
	e.State(q, u)
	near(t, "place", q[0], off+v/w*math.Sin(w*(1.2-off/v)), 1e-7)
	near(t, "speed", u[0], v*math.Cos(w*(1.2-off/v)), 1e-6)
	t.Logf("%+v", e.EventStats)
}
