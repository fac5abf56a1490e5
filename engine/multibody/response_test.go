package multibody

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"
)

// dense is what Accelerate, Reaccelerate and Answer are to give for a tree, from the inertia matrix alone: H with the implicit terms, by
// elimination of Gauss with pivots, and the torques of RNEA at rest.
type dense struct {
	n    int
	h    []float64
	bias []float64
}

func newDense(m *Model, q, v, implicit []float64, springless bool) *dense {
	d := m.NewData()
	d.Springless = springless
	a := &dense{n: m.NV()}
	Terms(m, d, q, v)
	a.h, a.bias = append(a.h, d.H...), append(a.bias, d.Tau...)
	for i, x := range implicit {
		a.h[i*a.n+i] += x
	}
	return a
}

func (a *dense) solve(torques []float64, with bool) []float64 {
	n, h, x := a.n, append([]float64(nil), a.h...), append([]float64(nil), torques...)
	for i := range x {
		if with {
			x[i] -= a.bias[i]
		}
	}
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(h[i*n+k]) > math.Abs(h[p*n+k]) {
				p = i
			}
		}
		x[k], x[p] = x[p], x[k]
		for j := range n {
			h[k*n+j], h[p*n+j] = h[p*n+j], h[k*n+j]
		}
		for i := k + 1; i < n; i++ {
			f := h[i*n+k] / h[k*n+k]
			x[i] -= f * x[k]
			for j := k; j < n; j++ {
				h[i*n+j] -= f * h[k*n+j]
			}
		}
	}
	for k := n - 1; k >= 0; k-- {
		for j := k + 1; j < n; j++ {
			x[k] -= h[k*n+j] * x[j]
		}
		x[k] /= h[k*n+k]
	}
	return x
}

// levelSpec is a random tree whose axes are all parallel.
func levelSpec(r *rand.Rand, n int) Spec {
	s := Spec{Gravity: r3.Vec{X: 1, Y: -9.81}}
	vector := func() r3.Vec { return r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()} }
	for i := range n {
		b := Body{Name: fmt.Sprint("b", i), Place: Pose{P: vector()}, Inertia: randomInertia(r, vector)}
		b.Joint = Joint{Kind: Revolute, Axis: r3.Vec{Z: float64(1 - 2*r.IntN(2))}, Armature: r.Float64()}
		if i > 0 && r.IntN(3) == 0 {
			b.Joint.Kind, b.Joint.Axis = Prismatic, r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64()}
		}
		if i > 0 {
			b.Parent = fmt.Sprint("b", r.IntN(i))
		}
		s.Bodies = append(s.Bodies, b)
	}
	return s
}

// The recursion with implicit terms in its pivots is the solution with all of H: of any tree, in a plane or not, with bodies that bend
// and with springs that are left out, and so is what it goes on with under other torques.
func TestRecursionIsDense(t *testing.T) {
	r := rand.New(rand.NewPCG(34, 10))
	planar, bending, sprung := 0, 0, 0
	worst := 0.0
	for i := range 600 {
		var s Spec
		switch n := 1 + r.IntN(12); i % 3 {
		case 0:
			s = randomSpec(r, n)
		case 1:
			s = levelSpec(r, n)
		case 2:
			s = flexSpec(r, 1+r.IntN(4))
		}
		if n := len(s.Bodies); i%5 == 0 && s.Bodies[n-1].Joint.Kind != Fixed {
			s.Springs = append(s.Springs, Spring{Name: "spring", A: "ground", B: s.Bodies[n-1].Name, Stiffness: 30, Damping: 3})
		}
		m, d := build(t, s)
		n := m.NV()
		if n == 0 {
			continue
		}
		q, v, tau := motion(r, m)
		if i%3 == 2 {
			q, v, tau = flexMotion(r, m)
		}
		for k := range d.Implicit {
			d.Implicit[k] = r.ExpFloat64()
		}
		d.Springless = i%2 == 0
		d.Bodies = i%7 == 0
		if m.Planar() {
			planar++
		}
		if m.modal {
			bending++
		}
		if len(s.Springs) > 0 {
			sprung++
		}
		want := newDense(m, q, v, d.Implicit, d.Springless)
		compare := func(what string, got, want []float64) {
			t.Helper()
			for k := range want {
				off := math.Abs(got[k]-want[k]) / max(1, largest(want))
				worst = max(worst, off)
				if !(off < 1e-10) {
					t.Errorf("tree %d: %s of velocity %d: %.15g by recursion, %.15g from H", i, what, k, got[k], want[k])
				}
			}
		}
		for _, again := range []bool{false, true, true} {
			what := "acceleration"
			if !again {
				if st := Accelerate(m, d, q, v, tau); st != OK {
					t.Fatalf("tree %d: %v", i, st)
				}
			} else {
				what = "acceleration under other torques"
				for k := range tau {
					tau[k] = r.NormFloat64()
				}
				if st := Reaccelerate(m, d, q, v, tau); st != OK {
					t.Fatalf("tree %d: %v", i, st)
				}
			}
			compare(what, d.QDD, want.solve(tau, true))
			for k := range n {
				unit := make([]float64, n)
				unit[k] = 1
				whole := want.solve(unit, false)
				Answer(m, d, unit)
				compare(fmt.Sprintf("answer to torque %d", k), unit, whole)
			}
		}
	}
	t.Logf("%d in a plane, %d bend, %d with springs: within %.2g", planar, bending, sprung, worst)
	if planar < 100 || bending < 100 || sprung < 50 {
		t.Errorf("%d trees in a plane, %d that bend, %d with springs", planar, bending, sprung)
	}
}
