package multibody

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"
)

// flexSpec is a random tree in which about every third body is flexible, with two nodes that carry the bodies behind it.
func flexSpec(r *rand.Rand, n int) Spec {
	vector := func() r3.Vec { return r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()} }
	s := randomSpec(r, n)
	for i := range s.Bodies {
		b := &s.Bodies[i]
		b.Joint.Coulomb = 0
		if i%3 != 0 {
			continue
		}
		modes := 1 + r.IntN(4)
		f := &Flex{}
		for range modes {
			f.Stiffness = append(f.Stiffness, 10*r.Float64())
			f.Damping = append(f.Damping, r.Float64())
		}
		for k := range 6 {
			node := Node{Mass: 0.2 + r.Float64(), P: vector()}
			for range modes {
				node.Shape = append(node.Shape, r3.Scale(0.5, vector()))
			}
			if k < 2 {
				node.Name = fmt.Sprint("node", k)
				for range modes {
					node.Turn = append(node.Turn, r3.Scale(0.3, vector()))
				}
			}
			f.Nodes = append(f.Nodes, node)
		}
		b.Flex, b.Inertia = f, Inertia{}
	}
	for i := 1; i < n; i++ {
		if p := r.IntN(i); p%3 == 0 && r.IntN(4) > 0 {
			s.Bodies[i].Parent = fmt.Sprintf("b%d.node%d", p, r.IntN(2))
		}
	}
	return s
}

func flexMotion(r *rand.Rand, m *Model) (q, v, a []float64) {
	q, v, a = motion(r, m)
	for j := range m.body {
		if f := m.body[j].flex; f != nil {
			for k := range f.n {
				q[f.iq+k] = 0.2 * r.NormFloat64()
			}
		}
	}
	return q, v, a
}

// The recursion with condensed modes, the full matrix, and inverse dynamics agree.
func TestFlexCondensation(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	worst := 0.0
	for range 200 {
		m, d := build(t, flexSpec(r, 1+r.IntN(14)))
		q, v, tau := flexMotion(r, m)
		for j := 1; j <= m.Bodies(); j++ {
			d.Push(j, Wrench{r3.Vec{X: r.NormFloat64()}, r3.Vec{Z: r.NormFloat64()}})
		}
		if st := ABA(m, d, q, v, tau); st != OK {
			t.Fatal(st)
		}
		a := append([]float64(nil), d.QDD...)
		if st := Dynamics(m, d, q, v, tau); st != OK {
			t.Fatal(st)
		}
		for i := range a {
			worst = math.Max(worst, math.Abs(a[i]-d.QDD[i])/largest(a))
		}
		RNEA(m, d, q, v, a)
		near(t, "RNEA of ABA", d.Tau, tau, 1e-8)
	}
	t.Logf("ABA against the full matrix: %.2g", worst)
	if worst > 1e-10 {
		t.Errorf("condensation differs from the full matrix by %.2g, want ≤ 1e-10", worst)
	}
}

// The energy rises by the power of the torques, less that of the dampers, whatever the deformation.
func TestFlexPower(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for range 60 {
		s := flexSpec(r, 1+r.IntN(8))
		m, d := build(t, s)
		q, v, tau := flexMotion(r, m)
		ABA(m, d, q, v, tau)
		a := append([]float64(nil), d.QDD...)
		energy := func(h float64) float64 {
			at, rate, mid := make([]float64, m.NQ()), make([]float64, m.NV()), make([]float64, m.NV())
			for i := range v {
				mid[i], rate[i] = v[i]+h/2*a[i], v[i]+h*a[i]
			}
			Integrate(m, q, mid, h, at)
			Velocities(m, d, at, rate)
			k, p := Energy(m, d, at, rate)
			return k + p
		}
		loss := make([]float64, m.NV())
		rest := append([]float64(nil), q...)
		power := 0.0
		m.losses(rest, v, loss, -1)
		still := make([]float64, m.NV())
		spring := make([]float64, m.NV())
		m.losses(rest, still, spring, -1)
		for i := range v {
			power += (tau[i] + loss[i] - spring[i]) * v[i]
		}
		h := 1e-4
		one, two := (energy(h)-energy(-h))/(2*h), (energy(h/2)-energy(-h/2))/h
		if got, size := (4*two-one)/3, math.Abs(energy(0))+math.Abs(power); math.Abs(got-power) > 1e-7*size {
			t.Errorf("energy rises by %.9g W, power is %.9g W", got, power)
		}
	}
}

// A body whose modes each move one mass along a line is a body with slides and springs: the same machine of rigid bodies.
func TestFlexIsSlides(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	vector := func() r3.Vec { return r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()} }
	for range 20 {
		base := Body{Name: "base", Joint: Joint{Kind: Spherical}}
		load := Body{Name: "load", Joint: Joint{Kind: Revolute, Axis: vector()}, Place: Pose{P: vector()}.Turned(vector()),
			Inertia: randomInertia(r, vector)}
		flexed, slid := Spec{Gravity: vector()}, Spec{}
		slid.Gravity = flexed.Gravity
		soft := base
		soft.Flex = &Flex{Stiffness: []float64{30, 40, 50}, Damping: []float64{1, 2, 3}}
		// masses that do not move, so that the base has an inertia
		for range 3 {
			mass, at := 0.5+r.Float64(), vector()
			soft.Flex.Nodes = append(soft.Flex.Nodes, Node{Mass: mass, P: at, Shape: make([]r3.Vec, 3)})
			base.Inertia = base.Inertia.Plus(Inertia{Mass: mass, Com: at})
		}
		slid.Bodies = []Body{base}
		for k := range 3 {
			mass, at, e := 0.5+r.Float64(), vector(), r3.Unit(vector())
			shape := make([]r3.Vec, 3)
			shape[k] = e
			name := fmt.Sprint("node", k)
			soft.Flex.Nodes = append(soft.Flex.Nodes, Node{Name: name, Mass: mass, P: at, Shape: shape})
			slid.Bodies = append(slid.Bodies, Body{Name: name, Parent: "base", Place: Pose{P: at}, Inertia: Inertia{Mass: mass},
				Joint: Joint{Kind: Prismatic, Axis: e, Stiffness: soft.Flex.Stiffness[k], Damping: soft.Flex.Damping[k]}})
		}
		flexed.Bodies = []Body{soft, load}
		flexed.Bodies[1].Parent = "base.node2"
		load.Parent = "node2"
		slid.Bodies = append(slid.Bodies, load)
		flexed.Frames = []Frame{{"end", "base.node1", Pose{P: vector()}}, {"tip", "load", Pose{P: vector()}}}
		slid.Frames = []Frame{{"end", "node1", flexed.Frames[0].Pose}, {"tip", "load", flexed.Frames[1].Pose}}
		flexed.Cuts = []Cut{{Name: "string", Kind: CutSpherical, A: "end", B: "tip"}}
		slid.Cuts = flexed.Cuts
		a, da := build(t, flexed)
		b, db := build(t, slid)
		q, v, tau := motion(r, b)
		ABA(a, da, q, v, tau)
		ABA(b, db, q, v, tau)
		near(t, "dv/dt", da.QDD, db.QDD, 1e-11)
		Velocities(a, da, q, v)
		Velocities(b, db, q, v)
		ka, pa := Energy(a, da, q, v)
		kb, pb := Energy(b, db, q, v)
		near(t, "energy", []float64{ka, pa}, []float64{kb, pb}, 1e-12)
		sa, la := Momentum(a, da, q, v)
		sb, lb := Momentum(b, db, q, v)
		if r3.Norm(r3.Sub(sa, sb))+r3.Norm(r3.Sub(la, lb)) > 1e-11*(r3.Norm(sb)+r3.Norm(lb)) {
			t.Errorf("momentum %v, %v; of the slides %v, %v", sa, la, sb, lb)
		}
		ja, jb := make([]float64, 6*a.NV()), make([]float64, 6*b.NV())
		fa, _ := a.Frame("tip")
		fb, _ := b.Frame("tip")
		Jacobian(a, da, fa, ja)
		Jacobian(b, db, fb, jb)
		near(t, "Jacobian", ja, jb, 1e-13)
		// the two nodes share modes in the constraint between them
		if st := Dynamics(a, da, q, v, tau); st != OK {
			t.Fatal(st)
		}
		Dynamics(b, db, q, v, tau)
		near(t, "dv/dt with a cut", da.QDD, db.QDD, 1e-9)
		Loads(a, da, v)
		Loads(b, db, v)
		near(t, "load", []float64{a.NormalLoad(da, a.Bodies())}, []float64{b.NormalLoad(db, b.Bodies())}, 1e-8)
	}
}

// A soft body that cannot be is refused by name.
func TestFlexRefused(t *testing.T) {
	for says, harm := range map[string]func(b *Body){
		"no modes":                     func(b *Body) { b.Flex.Stiffness = nil },
		"1 dampings for 2 modes":       func(b *Body) { b.Flex.Damping = []float64{1} },
		"its inertia is that of its":   func(b *Body) { b.Inertia = rod(1) },
		"node 1: 1 shapes and 0 turns": func(b *Body) { b.Flex.Nodes[0].Shape = b.Flex.Nodes[0].Shape[:1] },
		"stiffness or damping -1":      func(b *Body) { b.Flex.Stiffness[0] = -1 },
		"node 1: mass -1 kg":           func(b *Body) { b.Flex.Nodes[0].Mass = -1 },
		`node "a" stands twice`:        func(b *Body) { b.Flex.Nodes[1].Name = "a" },
	} {
		node := func(name string, x float64) Node {
			return Node{Name: name, Mass: 1, P: r3.Vec{X: x}, Shape: []r3.Vec{{Y: x}, {Y: x * x}}}
		}
		b := Body{Name: "beam", Joint: Joint{Kind: Revolute},
			Flex: &Flex{Stiffness: []float64{1, 2}, Nodes: []Node{node("a", 0.5), node("b", 1)}}}
		harm(&b)
		if _, err := Build(Spec{Bodies: []Body{b}}); !errors.Is(err, ErrFlex) || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q", err, says)
		}
	}
}

// A clamped beam swings with the frequency of its mode, damped as said.
func TestFlexFrequency(t *testing.T) {
	beam := Body{Name: "beam", Flex: &Flex{Stiffness: []float64{400}}}
	for i := 1; i <= 10; i++ {
		x := float64(i) / 10
		beam.Flex.Nodes = append(beam.Flex.Nodes, Node{Mass: 0.1, P: r3.Vec{X: x}, Shape: []r3.Vec{{Y: x * x}}})
	}
	m, d := build(t, Spec{Bodies: []Body{beam}})
	mass := 0.0
	for _, n := range beam.Flex.Nodes {
		mass += n.Mass * n.Shape[0].Y * n.Shape[0].Y
	}
	o := NewOffline(m, d, nil, nil)
	o.Atol = 1e-14
	o.Start(0, []float64{1e-3}, []float64{0})
	if err := o.Run(0.5); err != nil {
		t.Fatal(err)
	}
	if want := 1e-3 * math.Cos(math.Sqrt(400/mass)*0.5); math.Abs(o.Q()[0]-want) > 1e-11 {
		t.Errorf("deflected by %g, want %g", o.Q()[0], want)
	}
}
