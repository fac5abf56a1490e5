package machine

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/circuit/drivetrain"
	"hilrig/engine/friction"
	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// chain is n links of 0.3 m and 1 kg that hang in each other, their axes in turn those of axes, with dampers.
func chain(n int, damping float64, axes ...r3.Vec) Spec {
	s := Spec{Spec: multibody.Spec{Gravity: r3.Vec{Y: -9.81}}}
	parent, place := "", multibody.At(0, 0, 0)
	for i := range n {
		name := string(rune('a' + i))
		s.Bodies = append(s.Bodies, multibody.Body{
			Name: name, Parent: parent, Place: place,
			Joint:   multibody.Joint{Kind: multibody.Revolute, Axis: axes[i%len(axes)], Damping: damping},
			Inertia: multibody.Inertia{Mass: 1, Com: r3.Vec{X: 0.15}, I: rotation.Diag(r3.Vec{X: 0.001, Y: 0.0075, Z: 0.0075})},
		})
		parent, place = name, multibody.At(0.3, 0, 0)
	}
	return s
}

var (
	inPlane = []r3.Vec{{Z: 1}}
	inSpace = []r3.Vec{{Z: 1}, {Y: 1}, {X: 1}}
)

func BenchmarkStep(b *testing.B) {
	dry := func(s Spec) Spec {
		for _, body := range s.Bodies {
			s.Friction = append(s.Friction, Friction{Joint: body.Name, Law: &friction.Coulomb{Fc: 0.05}})
		}
		return s
	}
	smooth := func(s Spec) Spec {
		for _, body := range s.Bodies {
			s.Friction = append(s.Friction, Friction{Joint: body.Name, Law: &friction.Coulomb{Fc: 0.05}, Speed: 0.01})
		}
		return s
	}
	for _, c := range []struct {
		name string
		spec Spec
	}{
		{"planar 2", chain(2, 0.05, inPlane...)}, {"planar 7", chain(7, 0.05, inPlane...)}, {"spatial 7", chain(7, 0.05, inSpace...)},
		{"free planar 7", chain(7, 0, inPlane...)}, {"free spatial 7", chain(7, 0, inSpace...)},
		{"dry planar 7", dry(chain(7, 0.05, inPlane...))}, {"smooth spatial 7", smooth(chain(7, 0.05, inSpace...))},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := newStepper(b, c.spec, StepOptions{})
			x := s.NewState()
			if _, err := s.Begin(0, x, multibody.Assembly{}); err != nil {
				b.Fatal(err)
			}
			k, begun := 0, append([]float64(nil), x...)
			b.ReportAllocs()
			for b.Loop() {
				if k++; k == 1000 { // it moves all the time
					k = 0
					copy(x, begun)
					s.Resume(0, x)
				}
				if st := s.Step(float64(k)*1e-3, 1e-3, x); st != engine.OK {
					b.Fatal(k, st, s.StatusText())
				}
			}
		})
	}
}

// sprung is a tree in space with a fork, dampers and springs in its joints, a slide, and a body that turns about a point.
func sprung() Spec {
	s := chain(5, 0.08, inSpace...)
	s.Bodies[1].Joint.Stiffness, s.Bodies[1].Joint.Rest = 6, 0.3
	s.Bodies[3].Joint = multibody.Joint{Kind: multibody.Prismatic, Axis: r3.Vec{X: 1}, Damping: 2, Stiffness: 300, Armature: 0.2}
	s.Bodies[4].Parent = "b"
	s.Bodies[4].Joint = multibody.Joint{Kind: multibody.Spherical, Damping: 0.03}
	s.Springs = []multibody.Spring{{Name: "rope", A: "d", B: "e", Stiffness: 40, Damping: 0.5, Length: 0.2}}
	return s
}

// A tree with implicit dampers and springs goes where the equations of motion go, by order 2, and its energies close by the same order:
// in a plane and in space, alone, with friction that has a slope, and behind a shaft that bends.
func TestStepOfTree(t *testing.T) {
	const end = 0.4
	plane := chain(4, 0.05, inPlane...)
	plane.Bodies[2].Joint.Stiffness = 20
	rubbed := sprung()
	rubbed.Friction = []Friction{
		{Joint: "a", Law: &friction.Coulomb{Fc: 0.2}, Speed: 0.3},
		{Joint: "c", Law: &friction.Coulomb{Fc: 0.1}, Speed: 0.3},
	}
	bound := sprung()
	bound.Parts = func(axis func(string) (int, error), axes int) ([]drivetrain.Part, error) {
		return []drivetrain.Part{&drivetrain.Shaft{Label: "shaft", Twist: drivetrain.Twist{A: 0, B: 2}, K: 5, C: 0.02}}, nil
	}
	for name, spec := range map[string]Spec{"plane": plane, "space": sprung(), "friction": rubbed, "shaft": bound} {
		m := build(t, spec)
		want := m.NewState()
		if _, err := m.Run(context.Background(), want, 0, end, Options{Rtol: 1e-11, Atol: 1e-12}, nil); err != nil {
			t.Fatal(name, err)
		}
		var off, miss [3]float64
		for i, n := range []int{400, 800, 1600} {
			s := newStepper(t, spec, StepOptions{Audited: true})
			x := follow(t, s, s.NewState(), end, n)
			for k := range want {
				off[i] = math.Max(off[i], math.Abs(x[k]-want[k]))
			}
			miss[i] = math.Abs(s.BalanceError())
		}
		t.Logf("%s: error %.3g, %.3g, %.3g; energy missed %.3g, %.3g, %.3g J", name, off[0], off[1], off[2], miss[0], miss[1], miss[2])
		for i := range 2 {
			if ratio := off[i] / off[i+1]; !(ratio > 3.6 && ratio < 4.4) {
				t.Errorf("%s: half the step has an error of 1/%.2f", name, ratio)
			}
			if !(miss[i+1] < miss[i]/3 || miss[i+1] < 1e-9) {
				t.Errorf("%s: half the step misses %.3g J of %.3g J", name, miss[i+1], miss[i])
			}
		}
	}
}

// Trees that are solved joint by joint take no memory.
func TestTreeAllocations(t *testing.T) {
	for name, spec := range map[string]Spec{"plane": chain(7, 0.05, inPlane...), "space": sprung()} {
		stepTakesNoMemory(t, name, spec)
	}
}

// A stiff damped spring of a joint, alone and on a body that is free, is stepped by the rule of the implicit middle to rounding:
// w = v + h·a/2, m·a = −c·w − k·(x + h·w/2), whatever h is.
func TestStiffJointIsMidpoint(t *testing.T) {
	const m1, m2, k, c, h = 3.0, 2.0, 4e6, 900.0, 1e-3 // h·√(k/m) is about 1.4
	slide := func(name, parent string, mass float64) multibody.Body {
		return multibody.Body{Name: name, Parent: parent, Joint: multibody.Joint{Kind: multibody.Prismatic, Axis: r3.Vec{X: 1}},
			Inertia: multibody.Inertia{Mass: mass}}
	}
	base, load := slide("base", "", m1), slide("load", "base", m2)
	load.Joint.Stiffness, load.Joint.Damping, load.Joint.Rest = k, c, 0.01
	s := newStepper(t, Spec{Spec: multibody.Spec{Bodies: []multibody.Body{base, load}}}, StepOptions{Audited: true})
	x := s.NewState()
	if _, err := s.Begin(0, x, multibody.Assembly{}); err != nil {
		t.Fatal(err)
	}
	d, u, mass := -0.01, 0.0, m1*m2/(m1+m2) // of the spring: stretch and rate, and the mass that it moves
	for i := range 200 {
		s.Step(float64(i)*h, h, x)
		a := (-c*u - k*(d+h/2*u)) / (mass + h/2*c + h*h/4*k)
		d, u = d+h*(u+h/2*a), u+h*a
		if math.Abs(x[1]-0.01-d) > 1e-13 || math.Abs(x[3]-u) > 1e-10 {
			t.Fatalf("step %d: %.15g m, %.15g m/s, want %.15g, %.15g", i, x[1]-0.01, x[3], d, u)
		}
		if p := m1*x[2] + m2*(x[2]+x[3]); math.Abs(p) > 1e-10 {
			t.Fatalf("step %d: momentum %g", i, p)
		}
	}
	s.Forces(200*h, h, x)
	if miss := s.BalanceError(); math.Abs(miss) > 1e-11*k*0.01*0.01/2 {
		t.Errorf("energy missed: %g J", miss)
	}
}

// Every step of a tree meets the equations of the implicit middle, solved anew here by repetition with all of H, whatever pushes it:
// smooth motion, for which one evaluation is mostly enough, torques that jump in every step, and blows between.
func TestStepOfTreeMeetsItsEquations(t *testing.T) {
	const h, steps = 1e-3, 1500
	for name, spec := range map[string]Spec{"plane": chain(7, 0.05, inPlane...), "space": chain(7, 0.05, inSpace...)} {
		var joints []string
		for i := range spec.Bodies {
			joints = append(joints, spec.Bodies[i].Name)
		}
		m, err := multibody.Build(spec.Spec)
		if err != nil {
			t.Fatal(err)
		}
		n, d := m.NV(), m.NewData()
		for _, push := range []string{"none", "noise", "blows"} {
			r := rand.New(rand.NewPCG(7, 3))
			s := newStepper(t, spec, StepOptions{TorqueJoints: joints})
			x := s.NewState()
			if _, err := s.Begin(0, x, multibody.Assembly{}); err != nil {
				t.Fatal(err)
			}
			torque, w, qm, want := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, 2*n)
			worst, single := 0.0, 0
			for k := range steps {
				for i := range torque {
					if push == "noise" {
						torque[i] = 0.02 * r.NormFloat64()
					} else if push == "blows" {
						torque[i] = 0
						if k%97 == 50 {
							torque[i] = r.NormFloat64()
						}
					}
					s.Push(i, torque[i])
				}
				q, v := x[:n], x[n:]
				copy(w, v)
				for change := 1.0; change > 1e-15; {
					for i := range qm {
						qm[i] = q[i] + h/2*w[i]
					}
					multibody.Dynamics(m, d, qm, w, torque)
					change = 0
					for i, a := range d.QDD {
						change = math.Max(change, math.Abs(v[i]+h/2*a-w[i])/100)
						w[i] = v[i] + h/2*a
					}
				}
				size := 0.0
				for i := range w {
					want[i], want[n+i] = q[i]+h*w[i], 2*w[i]-v[i]
					size = math.Max(size, math.Max(math.Abs(w[i]), math.Abs(v[i])))
				}
				if st := s.Step(float64(k)*h, h, x); st != engine.OK {
					t.Fatalf("%s, %s, step %d: %v: %s", name, push, k, st, s.StatusText())
				}
				if s.guess.measured > 0 {
					single++
				}
				for i := range n {
					worst = math.Max(worst, math.Max(math.Abs(x[n+i]-want[n+i]), math.Abs(x[i]-want[i])/h)/(size+1e-3))
				}
			}
			t.Logf("%s, %s: within %.2g of the speeds, %d of %d steps by one evaluation", name, push, worst, single, steps)
			if push == "none" && single < steps/2 {
				t.Errorf("%s: %d of %d steps took one evaluation", name, single, steps)
			}
			if !(worst < 4e-9) {
				t.Errorf("%s, %s: the equations of a step are missed by %.3g of the speeds", name, push, worst)
			}
		}
	}
}
