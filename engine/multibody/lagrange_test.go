package multibody

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/rotation"
)

// lagrange is testdata/lagrange.json: Lagrange's equations by differences in 80 digits, without spatial vectors.
type lagrange struct {
	Machines []struct {
		Name    string
		Gravity [3]float64
		Bodies  []struct {
			Parent        int
			Kind          string
			At, Axis, Com [3]float64
			Turn          [4]float64
			Mass          float64
			Inertia       rotation.Matrix
		}
		States []struct {
			Q, V, Tau, A       []float64
			Kinetic, Potential float64
			Tip                [3]float64
		}
	}
	Top struct {
		Inertia, W [3]float64
		Rows       [][4]float64
	}
}

func readLagrange(t *testing.T) (l lagrange) {
	t.Helper()
	raw, err := os.ReadFile("testdata/lagrange.json")
	if err == nil {
		err = json.Unmarshal(raw, &l)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func vector(a [3]float64) r3.Vec { return r3.Vec{X: a[0], Y: a[1], Z: a[2]} }

// Forward dynamics, inverse dynamics, energies and places are those of Lagrange's equations.
func TestLagrange(t *testing.T) {
	for _, c := range readLagrange(t).Machines {
		s := Spec{Gravity: vector(c.Gravity)}
		for i, b := range c.Bodies {
			kind := Kind(0)
			for kind.String() != b.Kind {
				kind++
			}
			g, _ := rotation.Unit(quat.Number{Real: b.Turn[0], Imag: b.Turn[1], Jmag: b.Turn[2], Kmag: b.Turn[3]})
			body := Body{Name: fmt.Sprint("b", i), Place: Pose{P: vector(b.At), R: g}, Joint: Joint{Kind: kind},
				Inertia: Inertia{Mass: b.Mass, Com: vector(b.Com), I: b.Inertia}}
			if b.Parent >= 0 {
				body.Parent = fmt.Sprint("b", b.Parent)
			}
			if kind.NV() == 1 {
				body.Joint.Axis = vector(b.Axis)
			}
			s.Bodies = append(s.Bodies, body)
		}
		m, d := build(t, s)
		for _, x := range c.States {
			if st := ABA(m, d, x.Q, x.V, x.Tau); st != OK {
				t.Fatal(st)
			}
			near(t, c.Name+", dv/dt by ABA", d.QDD, x.A, 1e-12)
			RNEA(m, d, x.Q, x.V, x.A)
			near(t, c.Name+", τ by RNEA", d.Tau, x.Tau, 1e-11)
			kinetic, potential := Energy(m, d, x.Q, x.V)
			near(t, c.Name+", energy", []float64{kinetic, potential}, []float64{x.Kinetic, x.Potential}, 1e-13)
			tip, _ := m.Frame(fmt.Sprint("b", len(c.Bodies)-1))
			_, p := m.FramePose(d, tip)
			near(t, c.Name+", tip", []float64{p.X, p.Y, p.Z}, x.Tip[:], 1e-13)
		}
	}
}

// orbit is dx/dt of x = [q | v] under constant torques.
func orbit(m *Model, d *Data, tau []float64) engine.RHS {
	return func(t float64, x, dx []float64) {
		q, v := x[:m.NQ()], x[m.NQ():]
		Rates(m, q, v, dx)
		if st := ABA(m, d, q, v, tau); st != OK {
			copy(dx, []float64{math.NaN()})
		}
		copy(dx[m.NQ():], d.QDD)
	}
}

// A free body without moments turns by Jacobi's elliptic functions, and keeps its momentum.
func TestEulerTop(t *testing.T) {
	top := readLagrange(t).Top
	for _, kind := range []Kind{Free, Spherical} {
		m, d := build(t, Spec{Bodies: []Body{{Name: "top", Joint: Joint{Kind: kind},
			Inertia: Inertia{Mass: 2, I: rotation.Diag(vector(top.Inertia))}}}})
		q, v := m.Neutral(), make([]float64, m.NV())
		copy(v, top.W[:])
		if kind == Free {
			copy(v[3:], []float64{0.5, -1, 2})
		}
		Velocities(m, d, q, v)
		spin, push := Momentum(m, d, q, v)
		o := engine.NewDormandPrince(orbit(m, d, make([]float64, m.NV())), m.NQ()+m.NV())
		o.Rtol, o.Atol = 1e-12, 1e-12
		o.Start(0, append(q, v...))
		for _, row := range top.Rows {
			for o.T < row[0] {
				if err := o.Step(row[0]); err != nil {
					t.Fatal(err)
				}
			}
			x := o.X[m.NQ():]
			near(t, "angular velocity", x[:3], row[1:], 1e-9)
			Velocities(m, d, o.X[:m.NQ()], x)
			a, l := Momentum(m, d, o.X[:m.NQ()], x)
			// the angular momentum is about the origin of the world
			if r3.Norm(r3.Sub(a, spin)) > 1e-9 || r3.Norm(r3.Sub(l, push)) > 1e-9 {
				t.Errorf("%v, t = %g s: momentum %v, %v; at the start %v, %v", kind, row[0], a, l, spin, push)
			}
		}
	}
}
