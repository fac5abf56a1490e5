package multibody

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// randomSpec is a tree of n bodies with every kind of joint, places and axes without order.
func randomSpec(r *rand.Rand, n int) Spec {
	vector := func() r3.Vec { return r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()} }
	s := Spec{Gravity: r3.Scale(9.81, r3.Unit(vector()))}
	for i := range n {
		b := Body{Name: fmt.Sprint("b", i), Joint: Joint{Kind: Kind(r.IntN(5))}, Place: Pose{P: vector()}}
		if r.IntN(3) > 0 {
			b.Place = b.Place.Turned(vector())
		}
		if i > 0 && r.IntN(10) > 0 {
			b.Parent = fmt.Sprint("b", r.IntN(i))
		}
		if k := b.Joint.Kind; k == Revolute || k == Prismatic {
			b.Joint.Axis = vector()
			if c := r.IntN(7); c < 6 {
				b.Joint.Axis = [...]r3.Vec{{X: 1}, {Y: 1}, {Z: 1}, {X: -1}, {Y: -1}, {Z: -1}}[c]
			}
			b.Joint.Coulomb, b.Joint.Stiffness, b.Joint.Rest = r.Float64(), r.Float64(), r.NormFloat64()
		}
		if b.Joint.Kind != Fixed {
			b.Joint.Armature, b.Joint.Damping = r.Float64(), r.Float64()
		}
		b.Inertia = randomInertia(r, vector)
		s.Bodies = append(s.Bodies, b)
	}
	return s
}

// randomInertia is that of a few masses on a body.
func randomInertia(r *rand.Rand, vector func() r3.Vec) (sum Inertia) {
	for range 4 {
		sum = sum.Plus(Inertia{Mass: 0.1 + r.Float64(), Com: r3.Scale(0.5, vector())})
	}
	return sum
}

// motion is a random q, v and another vector.
func motion(r *rand.Rand, m *Model) (q, v, a []float64) {
	v, a = make([]float64, m.NV()), make([]float64, m.NV())
	for i := range v {
		v[i] = 3 * r.NormFloat64()
	}
	q = m.Neutral()
	Integrate(m, q, v, 1, q)
	for i := range v {
		v[i], a[i] = r.NormFloat64(), r.NormFloat64()
	}
	return q, v, a
}

func build(t testing.TB, s Spec) (*Model, *Data) {
	t.Helper()
	m, err := Build(s)
	if err != nil {
		t.Fatal(err)
	}
	return m, m.NewData()
}

func largest(x []float64) (top float64) {
	for _, x := range x {
		top = max(top, math.Abs(x))
	}
	return top
}

// near fails where two vectors differ by more than rel of the largest number.
func near(t *testing.T, what string, got, want []float64, rel float64) {
	t.Helper()
	size := max(largest(want), 1e-300)
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= rel*size) {
			t.Fatalf("%s [%d]: %.17g, want %.17g: off by %.2g of the largest", what, i, got[i], want[i], math.Abs(got[i]-want[i])/size)
		}
	}
}

// Forward dynamics by elimination and by the inertia matrix agree, and inverse dynamics leads back; the torques are linear in the
// parameters.
func TestRandomTrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	worst, lines, trees := 0.0, 0.0, 0
	kinds := map[Kind]int{}
	for trees < 1000 {
		m, d := build(t, randomSpec(r, 1+r.IntN(30)))
		if m.NV() == 0 {
			continue
		}
		trees++
		q, v, tau := motion(r, m)
		for j := 1; j <= m.Bodies(); j++ {
			_, k, _, _ := m.JointOf(j)
			kinds[k]++
			d.Push(j, Wrench{r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: 1}, r3.Vec{X: r.NormFloat64(), Y: 1, Z: r.NormFloat64()}})
		}
		if st := ABA(m, d, q, v, tau); st != OK {
			t.Fatalf("ABA: %v", st)
		}
		// H·a = τ − h; the error is that of the torques, as H may have any condition
		n := m.NV()
		RNEA(m, d, q, v, nil)
		bias := append([]float64(nil), d.Tau...)
		CRBA(m, d, q)
		sum, scale := make([]float64, n), make([]float64, n)
		for i := range n {
			sum[i], scale[i] = bias[i]-tau[i], math.Abs(bias[i])+math.Abs(tau[i])
			for k := range n {
				x := d.H[i*n+k] * d.QDD[k]
				sum[i] += x
				scale[i] += math.Abs(x)
			}
		}
		worst = max(worst, largest(sum)/largest(scale))
		a := make([]float64, n)
		for i := range n {
			a[i] = tau[i] - bias[i]
		}
		if st := Factor(m, d); st != OK {
			t.Fatalf("Factor: %v", st)
		}
		Solve(m, d, a)
		for i := range a {
			worst = max(worst, math.Abs(a[i]-d.QDD[i])/largest(a))
		}
		RNEA(m, d, q, v, d.QDD)
		near(t, "RNEA of ABA", d.Tau, tau, 1e-11*max(1, largest(bias)/largest(tau)))

		d.Release()
		RNEA(m, d, q, v, tau) // tau as an acceleration
		params := m.Params()
		y := make([]float64, n*len(params))
		Regressor(m, d, q, v, tau, y)
		for i := range n {
			x, size := 0.0, 0.0
			for k, p := range params {
				x += y[i*len(params)+k] * p.Value
				size += math.Abs(y[i*len(params)+k] * p.Value)
			}
			lines = max(lines, math.Abs(x-d.Tau[i])/size)
		}
	}
	t.Logf("1000 trees: ABA against H⁻¹ %.2g, regressor %.2g relative; joints %v", worst, lines, kinds)
	if worst > 1e-12 || lines > 1e-12 {
		t.Errorf("ABA differs from Factor and Solve by %.2g, regressor from RNEA by %.2g, want ≤ 1e-12", worst, lines)
	}
}

// A machine of a plane that lies anywhere in space gives what the spatial algorithm gives.
func TestPlanarAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	vector := func() r3.Vec { return r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()} }
	for range 200 {
		s := Spec{Gravity: vector()}
		tilt := r3.Vec{}
		if r.IntN(2) == 0 {
			tilt = vector()
		}
		for i := range 1 + r.IntN(9) {
			b := Body{Name: fmt.Sprint("b", i), Place: Pose{P: vector()}, Inertia: randomInertia(r, vector)}
			b.Joint = Joint{Kind: Revolute, Axis: r3.Vec{Z: float64(1 - 2*r.IntN(2))}, Armature: r.Float64(), Damping: r.Float64()}
			if i > 0 && r.IntN(3) == 0 {
				b.Joint.Kind, b.Joint.Axis = Prismatic, r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64()}
			}
			if i == 0 {
				b.Place = b.Place.Turned(tilt)
			} else {
				b.Place = b.Place.Turned(r3.Vec{Z: r.NormFloat64()})
				b.Parent = fmt.Sprint("b", r.IntN(i))
			}
			s.Bodies = append(s.Bodies, b)
		}
		m, d := build(t, s)
		if !m.Planar() {
			t.Fatalf("not seen as planar: %+v", s)
		}
		q, v, tau := motion(r, m)
		d.Push(m.Bodies(), Wrench{vector(), vector()})
		if st := ABA(m, d, q, v, tau); st != OK {
			t.Fatal(st)
		}
		flat := append([]float64(nil), d.QDD...)
		copy(d.QDD, tau)
		m.losses(q, v, d.QDD, -1)
		if st := m.aba(d, q, v); st != OK {
			t.Fatal(st)
		}
		near(t, "planar ABA", flat, d.QDD, 1e-12)
	}
	// one axis out of parallel, or a slide out of the plane, is spatial
	s := chain(3, r3.Vec{Z: 1})
	if m, _ := build(t, s); !m.Planar() {
		t.Error("a chain with parallel axes is planar")
	}
	s.Bodies[2].Joint.Axis = r3.Vec{X: 1e-9, Z: 1}
	if m, _ := build(t, s); m.Planar() {
		t.Error("a tilted axis is not planar")
	}
	s.Bodies[2].Joint = Joint{Kind: Prismatic, Axis: r3.Vec{Z: 1}}
	if m, _ := build(t, s); m.Planar() {
		t.Error("a slide along the normal is not planar")
	}
}

// chain is n rods of 1 kg and 1 m, the first one on the ground, all turning about the same axis.
func chain(n int, axis r3.Vec) Spec {
	s := Spec{Gravity: r3.Vec{Y: -9.81}}
	for i := range n {
		b := Body{Name: fmt.Sprint("link", i), Joint: Joint{Kind: Revolute, Axis: axis}, Inertia: Inertia{
			Mass: 1, Com: r3.Vec{X: 0.5}, I: rotation.Diag(r3.Vec{X: 0.001, Y: 1.0 / 12, Z: 1.0 / 12}),
		}}
		if i > 0 {
			b.Parent, b.Place = fmt.Sprint("link", i-1), At(1, 0, 0)
		}
		s.Bodies = append(s.Bodies, b)
	}
	return s
}
