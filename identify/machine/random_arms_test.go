package machine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
	"hilrig/identify/independent"
)

// modelOf is the machine of an arm that was made apart, its numbers off by the share doubt; drawn without rotors as in a URDF.
func modelOf(t testing.TB, a *independent.Arm, doubt float64, rotors bool, seed uint64) *multibody.Model {
	t.Helper()
	return drawn(t, a, doubt, rotors, seed, nil)
}

// drawn is modelOf with a last edit of the bodies.
func drawn(t testing.TB, a *independent.Arm, doubt float64, rotors bool, seed uint64,
	edit func(i int, b *multibody.Body)) *multibody.Model {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 31))
	off := func() float64 { return 1 + doubt*(2*rng.Float64()-1) }
	vec := func(v independent.Vec) r3.Vec { return r3.Vec{X: v[0], Y: v[1], Z: v[2]} }
	var spec multibody.Spec
	spec.Gravity = vec(a.Gravity)
	parent := ""
	for i, l := range a.Links {
		b := multibody.Body{Name: fmt.Sprintf("l%d", i+1), Parent: parent, Place: multibody.At(l.Origin[0], l.Origin[1], l.Origin[2]),
			Joint: multibody.Joint{Kind: multibody.Revolute, Axis: r3.Vec{Z: 1}}}
		if l.Turn[2][1] == 1 {
			b.Place = b.Place.Turned(r3.Vec{X: math.Pi / 2})
		}
		b.Inertia = multibody.Inertia{Mass: l.Mass * off(), Com: r3.Scale(off(), vec(l.Com)), I: rotation.Matrix(l.I).Scale(off())}
		if rotors {
			b.Joint.Armature = l.Rotor * off()
		}
		if edit != nil {
			edit(i, &b)
		}
		spec.Bodies = append(spec.Bodies, b)
		parent = b.Name
	}
	m, err := multibody.Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// trueBase are the base parameters of an arm.
func trueBase(b *Base, a *independent.Arm) []float64 {
	theta := make([]float64, len(b.Columns))
	for k := range b.Columns {
		c := &b.Columns[k]
		l := &a.Links[c.Joint]
		p := multibody.Inertia{Mass: l.Mass, Com: r3.Vec{X: l.Com[0], Y: l.Com[1], Z: l.Com[2]}, I: rotation.Matrix(l.I)}.Params()
		switch {
		case c.Inertial >= 0:
			theta[k] = p[c.Inertial]
		case c.Term == Armature:
			theta[k] = l.Rotor
		case c.Term == Viscous:
			theta[k] = l.Fv
		case c.Term == Coulomb:
			theta[k] = l.Fc
		case c.Term == Offset:
			theta[k] = l.Offset
		}
	}
	return b.Of(theta)
}

// armRecord is a record of an arm led along a tour, with encoders and coloured noise of the torques of the share noise of their rms.
func armRecord(a *independent.Arm, seed uint64, noise float64) Recording {
	tr := a.FollowTour(independent.Tour(seed, len(a.Links), 0.15, 1.6), 5e-3, 5000)
	return Recording(tr.Record(sensorsOf(tr, seed, noise)))
}

func sensorsOf(tr *independent.ArmTrace, seed uint64, noise float64) independent.ArmSensors {
	s := independent.ArmSensors{Count: 2 * math.Pi / 131072, Colour: 0.8, Seed: seed}
	for _, u := range tr.U {
		sum := 0.0
		for _, x := range u {
			sum += x * x
		}
		s.Torque = append(s.Torque, noise*math.Sqrt(sum/float64(len(u))))
	}
	return s
}

// Records of real bodies: the nearest real ones are found. That they are the nearest is certified by the dual problem, which knows
// nothing of the way there: with g the gradient of q at the result, no set of real bodies has a smaller q than q − g·θ, but for what
// g falls short of the dual cone.
func TestPossibleOfRandomArms(t *testing.T) {
	for joints := 2; joints <= 6; joints++ {
		seed := uint64(joints)
		a := independent.RandomArm(11*seed, joints)
		m := drawn(t, a, 0.3, seed%2 == 0, seed, func(i int, b *multibody.Body) {
			switch {
			case joints == 4 && i == 1: // of which the file says nothing
				b.Inertia = multibody.Inertia{}
			case joints == 3: // point masses
				b.Inertia.I = rotation.Matrix{}
			}
		})
		spec := DefaultSpec()
		spec.Instruments = UseNone
		r, err := Fit(t.Context(), m, spec, []Recording{armRecord(a, seed+7, []float64{0.05, 0.1, 0.2}[joints%3])}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		theta := r.Base.FullParams(m, r.Values)
		bad := r.Base.Impossible(m, theta)
		truth := math.Sqrt(r.sys.sumSquares(trueBase(r.Base, a)) / r.sys.sumSquares(r.Values))
		found, grown := r.Possible(theta)
		least := r.certified(t, theta, found)
		t.Logf("%d joints: %d base parameters, %d impossible; rms of the truth %.5f, of the nearest real bodies %.5f, certified %.5f", joints,
			len(r.Base.Pivot), len(bad), truth, grown, least)
		if bad := r.Base.Impossible(m, found); bad != nil {
			t.Errorf("impossible: %v", bad)
		}
		if r.Unreal(theta, found) {
			t.Errorf("%d joints: real bodies are said to have no such parameters", joints)
		}
		if grown > truth || grown > least+1e-3 {
			t.Errorf("%d joints: rms grows %.5f times, that of the truth is %.5f, and %.5f is possible", joints, grown, truth, least)
		}
	}
}

// certified is the growth of the rms below which there are no real bodies.
func (r *Result) certified(t *testing.T, target, found []float64) float64 {
	t.Helper()
	b := r.Base
	n, p := len(b.Columns), len(b.Pivot)
	rows := mat.NewDense(p, n, nil)
	rows.Mul(mat.NewDense(p, p, r.sys.tri), mat.NewDense(p, n, b.B))
	off := mat.NewVecDense(n, nil)
	for k := range n {
		off.SetVec(k, found[k]-target[k])
	}
	var e, g mat.VecDense
	e.MulVec(rows, off)
	g.MulVec(rows.T(), &e)
	least := mat.Dot(&e, &e) / 2
	for j := range r.Model.Bodies() {
		var at [10]int
		for k := range b.Columns {
			if c := &b.Columns[k]; c.Inertial >= 0 && c.Joint == j {
				at[c.Inertial] = k
			}
		}
		d := func(i int) float64 { return g.AtVec(at[i]) }
		x := func(i int) float64 { return found[at[i]] }
		// the matrix G with ⟨G, J⟩ = Σ g·p for every J, lengths of half a metre
		l := 0.5
		dual := mat.NewSymDense(4, []float64{
			(d(7) + d(9)) * l * l, -d(5) / 2 * l * l, -d(6) / 2 * l * l, d(1) / 2 * l,
			0, (d(4) + d(9)) * l * l, -d(8) / 2 * l * l, d(2) / 2 * l,
			0, 0, (d(4) + d(7)) * l * l, d(3) / 2 * l,
			0, 0, 0, d(0)})
		for i := range 10 {
			least -= d(i) * x(i)
		}
		var eig mat.EigenSym
		if !eig.Factorize(dual, false) {
			t.Fatal("no eigenvalues")
		}
		if short := eig.Values(nil)[0]; short < 0 { // no body of the nearest machine has twice the trace that was found
			least += short * 2 * (x(0) + (x(4)+x(7)+x(9))/2/l/l)
		}
	}
	for k := range b.Columns {
		c := &b.Columns[k]
		if c.Inertial >= 0 || c.Term == Offset {
			continue
		}
		least -= g.AtVec(k) * found[k]
		if short := g.AtVec(k); short < 0 {
			least += short * 2 * found[k]
		}
	}
	return math.Sqrt(1 + 2*math.Max(least, 0)/r.sys.sumSquares(b.Of(target)))
}

// Base parameters that no real bodies have are told from noise.
func TestUnreal(t *testing.T) {
	for seed := range uint64(3) {
		a := independent.RandomArm(seed+70, 3)
		tr := a.FollowTour(independent.Tour(seed+70, 3, 0.15, 1.6), 5e-3, 5000)
		for k := range tr.U[1] { // the second joint seems to accelerate a negative mass
			tr.U[1][k] -= 2 * tr.Bodies[1][k]
		}
		m := modelOf(t, a, 0.3, true, seed)
		spec := DefaultSpec()
		spec.Instruments = UseNone
		r, err := Fit(t.Context(), m, spec, []Recording{tr.Record(sensorsOf(tr, seed, 0.05))}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		theta := r.Base.FullParams(m, r.Values)
		found, grown := r.Possible(theta)
		t.Logf("rms grows %.3f times", grown)
		if !r.Unreal(theta, found) || grown < 1.05 {
			t.Errorf("rms grows %.3f times, said to be by chance", grown)
		}
	}
}
