package multibody

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"
)

// Equilibria in closed form; a start beside an unstable one ends in a stable one.
func TestEquilibrium(t *testing.T) {
	// a spring against the weight of a rod: k·φ = m·g·l/2·cos φ, from horizontal
	s := chain(1, r3.Vec{Z: 1})
	s.Bodies[0].Joint.Stiffness = 40
	m, d := build(t, s)
	q := []float64{1}
	if err := Equilibrium(m, d, q, []float64{0}); err != nil {
		t.Fatal(err)
	}
	if x := 40*q[0] + 9.81*0.5*math.Cos(q[0]); math.Abs(x) > 1e-9 {
		t.Errorf("φ = %.12g rad, torque left %g", q[0], x)
	}
	// a chain almost upright falls down, under a torque that holds the second link at an angle
	m, d = build(t, chain(3, r3.Vec{Z: 1}))
	q = []float64{math.Pi/2 - 0.01, 0.02, 0.01}
	tau := []float64{0, 0, 2}
	if err := Equilibrium(m, d, q, tau); err != nil {
		t.Fatal(err)
	}
	RNEA(m, d, q, make([]float64, 3), nil)
	near(t, "torque", d.Tau, tau, 1e-9)
	if a := q[0] + q[1] + q[2]; math.Abs(math.Cos(a)*9.81*0.5-2) > 1e-9 || math.Sin(a) > 0 {
		t.Errorf("third link at %g rad", a)
	}
	// a four-bar with a spring between coupler and ground: the constraints hold, and at rest it stays at rest
	c := crankRocker(CutRevolute)
	c.Springs = []Spring{{Name: "spring", A: "ground", B: "coupler end", Stiffness: 300, Length: 0.3}}
	m, d = build(t, c)
	q, v := crankStart(t, m, d)
	if err := Equilibrium(m, d, q, v); err != nil {
		t.Fatal(err)
	}
	if st := Dynamics(m, d, q, v, v); st != OK || largest(d.QDD) > 1e-7 {
		t.Errorf("%v, dv/dt = %v", st, d.QDD)
	}
	if g, _ := d.Residual(); g > 1e-11 {
		t.Errorf("constraints missed by %g", g)
	}
	// a ball joint with its mass aside hangs down
	ball := pendulumOnBall()
	ball.Bodies = ball.Bodies[:1]
	m, d = build(t, ball)
	q = []float64{math.Cos(0.4), math.Sin(0.4), 0, 0}
	if err := Equilibrium(m, d, q, []float64{0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if _, com := Centre(m, d); math.Abs(com.Z+0.2) > 1e-9 {
		t.Errorf("centre of mass at %v", com)
	}
	// a constant torque on a free wheel has none
	wheel := chain(1, r3.Vec{Z: 1})
	wheel.Gravity = r3.Vec{}
	m, d = build(t, wheel)
	q = []float64{0.3}
	if err := Equilibrium(m, d, q, []float64{1}); !errors.Is(err, ErrEquilibrium) || !slices.Equal(q, []float64{0.3}) {
		t.Errorf("wheel under a torque: %v, q = %v", err, q)
	}
}

// A machine without equilibrium names the joint that nothing holds: a slide in gravity, a wheel under a torque on an arm that a spring
// holds.
func TestNoEquilibriumNamesTheJoint(t *testing.T) {
	slide := chain(2, r3.Vec{Z: 1})
	slide.Bodies[0].Joint.Stiffness = 50
	slide.Bodies[1].Name, slide.Bodies[1].Joint = "cart", Joint{Kind: Prismatic, Axis: r3.Vec{Y: 1}}
	wheel := chain(2, r3.Vec{Z: 1})
	wheel.Gravity, wheel.Bodies[1].Name = r3.Vec{}, "wheel"
	wheel.Bodies[0].Joint.Stiffness = 50
	for _, c := range []struct {
		spec Spec
		tau  []float64
		want []string
	}{
		{slide, []float64{0, 0}, []string{"N are left along joint \"cart\"", "N/m"}},
		{wheel, []float64{0, 0.5}, []string{"0.5 N·m are left along joint \"wheel\"", "stiffness against it is"}},
	} {
		m, d := build(t, c.spec)
		err := Equilibrium(m, d, make([]float64, m.NQ()), c.tau)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}

// A pendulum hangs down from wherever it begins, though the torques of all joints vanish there; upright it stays, and that is told.
func TestEquilibriumOfGravityAlone(t *testing.T) {
	for _, c := range []struct {
		from, want float64
		unstable   bool
	}{{1, -math.Pi / 2, false}, {-1.5, -math.Pi / 2, false}, {math.Pi/2 - 0.1, -math.Pi / 2, false}, {-math.Pi / 2, -math.Pi / 2, false},
		{math.Pi / 2, math.Pi / 2, true}} {
		m, d := build(t, chain(1, r3.Vec{Z: 1}))
		q := []float64{c.from}
		unstable, err := EquilibriumUnder(m, d, q, func(_, tau []float64) Status { clear(tau); return OK })
		if err != nil || unstable != c.unstable || math.Abs(math.Remainder(q[0]-c.want, 2*math.Pi)) > 1e-9 {
			t.Errorf("from %g rad: %.12g rad, unstable %v, %v", c.from, q[0], unstable, err)
		}
	}
}

// Equilibrium moves q, the machine at rest, to a static equilibrium under constant torques tau and the external wrenches, with the
// constraints met: Newton's method for the forces along the independent coordinates, f(u) = Rᵀ(τ − h) = 0, with a slope of
// differences. Where the machine is not stable the inertia is added to the slope until every step goes with the forces, so that it ends, as
// a machine would, in a stable equilibrium, unless it begins in one that is not. The error, an ErrEquilibrium, says how much force is left;
// q is then unchanged.
func Equilibrium(m *Model, d *Data, q, tau []float64) error {
	m.check("Equilibrium", q, nil, tau)
	_, err := EquilibriumUnder(m, d, q, func(_, g []float64) Status {
		copy(g, tau)
		return OK
	})
	return err
}

// Centre is the mass of all bodies (kg) and their centre of mass (m, world). Positions must be valid.
func Centre(m *Model, d *Data) (mass float64, com r3.Vec) {
	for j := 1; j < len(m.body); j++ {
		b, s := &m.body[j], &d.body[j]
		mass += b.mass
		com = r3.Add(com, r3.Add(turn(&s.rot, b.mc), r3.Scale(b.mass, s.pos))) // of a flexible body undeformed
	}
	if mass > 0 {
		com = r3.Scale(1/mass, com)
	}
	return mass, com
}
