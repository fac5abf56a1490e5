package machine

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// arm is a chain by modified Denavit–Hartenberg parameters, as [KD04] uses them: α and d to the axis, r along it.
func arm(t testing.TB, gravity r3.Vec, table [][3]float64, body func(i int) multibody.Inertia) *multibody.Model {
	t.Helper()
	s := multibody.Spec{Gravity: gravity}
	parent := ""
	for i, row := range table {
		turn := multibody.Pose{}.Turned(r3.Vec{X: row[0]})
		at := multibody.At(row[1], 0, 0).Compose(turn).Compose(multibody.At(0, 0, row[2]))
		name := "link" + string(rune('1'+i))
		s.Bodies = append(s.Bodies, multibody.Body{Name: name, Parent: parent, Place: at, Joint: multibody.Joint{Kind: multibody.Revolute},
			Inertia: body(i)})
		parent = name
	}
	m, err := multibody.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ball(int) multibody.Inertia {
	return multibody.Inertia{Mass: 1, Com: r3.Vec{X: 0.1, Y: 0.02, Z: -0.03}, I: rotation.Eye.Scale(0.01)}
}

func sums(b *Base) []string {
	var out []string
	for i := range b.Pivot {
		out = append(out, b.Text(i))
	}
	return out
}

// A planar arm of two joints, its axes level: ZZ1 + M2·L², MX1 + M2·L, MY1, ZZ2, MX2, MY2 [KD04] ch. 9. The first rotor joins
// ZZ1, the second is a parameter of its own, for its motion does not act on the first joint as that of a body does.
func TestBaseOfPlanarArm(t *testing.T) {
	const l = 0.3
	m := arm(t, r3.Vec{Y: -9.81}, [][3]float64{{}, {0, l, 0}}, ball)
	b := NewBase(m, Spec{Terms: []Term{Inertia}}, nil)
	want := []string{"link1.mcx + 0.3·link2.mass", "link1.mcy", "link1.izz + 0.09·link2.mass", "link2.mcx", "link2.mcy", "link2.izz"}
	if got := sums(b); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	b = NewBase(m, Spec{Terms: []Term{Inertia, Armature, Viscous, Coulomb, Offset}}, nil)
	want = []string{"link1.mcx + 0.3·link2.mass", "link1.mcy", "link1.izz + link1.armature + 0.09·link2.mass", "link1.Fv", "link1.Fc",
		"link1.offset",
		"link2.mcx", "link2.mcy", "link2.izz", "link2.armature", "link2.Fv", "link2.Fc", "link2.offset"}
	if got := sums(b); !slices.Equal(got, want) {
		t.Errorf("with joints: got  %q\nwant %q", got, want)
	}
	// axes upright: gravity says nothing, and the first link has one moment of inertia
	m = arm(t, r3.Vec{Z: -9.81}, [][3]float64{{}, {0, l, 0}}, ball)
	b = NewBase(m, Spec{Terms: []Term{Inertia}}, nil)
	want = []string{"link1.izz + 0.09·link2.mass", "link2.mcx", "link2.mcy", "link2.izz"}
	if got := sums(b); !slices.Equal(got, want) {
		t.Errorf("upright: got  %q\nwant %q", got, want)
	}
	if want := "link1.mass link1.mcx"; !strings.HasPrefix(unseen(b), want) {
		t.Errorf("no torque feels %q, want %q among them", unseen(b), want)
	}
}

func unseen(b *Base) string {
	var names []string
	for _, k := range b.Unseen {
		names = append(names, b.Columns[k].Name)
	}
	return strings.Join(names, " ")
}

// Published counts: the RX-90 has 36 base parameters of its links, and 40 with the rotors of its six joints, of which the first two join
// others [KD04] ch. 9; the PUMA 560, of the same structure with a shoulder that is offset, has 36 [MYO90].
func TestBaseOfSixJoints(t *testing.T) {
	const down = math.Pi / 2
	for _, c := range []struct {
		name  string
		table [][3]float64
		terms []Term
		want  int
	}{
		{"RX-90", [][3]float64{{}, {down, 0, 0}, {0, 0.45, 0}, {-down, 0, 0.45}, {down, 0, 0}, {-down, 0, 0}}, []Term{Inertia}, 36},
		{"RX-90 with rotors", [][3]float64{{}, {down, 0, 0}, {0, 0.45, 0}, {-down, 0, 0.45}, {down, 0, 0}, {-down, 0, 0}},
			[]Term{Inertia, Armature}, 40},
		{"PUMA 560", [][3]float64{{}, {-down, 0, 0.2435}, {0, 0.4318, -0.0934}, {down, -0.0203, 0.4331}, {-down, 0, 0}, {down, 0, 0}},
			[]Term{Inertia}, 36},
	} {
		m := arm(t, r3.Vec{Z: -9.81}, c.table, ball)
		if b := NewBase(m, Spec{Terms: c.terms}, nil); len(b.Pivot) != c.want {
			t.Errorf("%s: %d base parameters, published %d: %q", c.name, len(b.Pivot), c.want, sums(b))
		}
	}
}

// Parameters with the same base parameters have the same torques, by the recursion that knows no regressor; others have others.
func TestBaseIsAllThatTorquesTell(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	table := [][3]float64{{0.3, 0.1, 0.2}, {1.2, 0.25, -0.1}, {0, 0.3, 0.05}, {-1.5, 0.02, 0.3}}
	body := func(int) multibody.Inertia {
		x := multibody.InertiaOf([10]float64{1 + rng.Float64(), 0.1 * rng.NormFloat64(), 0.1 * rng.NormFloat64(), 0.1 * rng.NormFloat64(), 0.3,
			0.01, 0.02, 0.25, -0.01, 0.28})
		return x
	}
	m := arm(t, r3.Vec{X: 1, Y: 2, Z: -9}, table, body)
	b := NewBase(m, Spec{Terms: []Term{Inertia}}, nil)
	torque := func(theta []float64) []float64 {
		at := b.Inertias(m, theta)
		n := arm(t, r3.Vec{X: 1, Y: 2, Z: -9}, table, func(i int) multibody.Inertia { return at[i] })
		rng := rand.New(rand.NewPCG(9, 9))
		var out []float64
		d := n.NewData()
		q, v, a := make([]float64, 4), make([]float64, 4), make([]float64, 4)
		for range 10 {
			for i := range q {
				q[i], v[i], a[i] = 3*rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
			}
			multibody.RNEA(n, d, q, v, a)
			out = append(out, d.Tau...)
		}
		return out
	}
	theta := b.Start()
	was := torque(theta)
	beta := b.Of(theta)
	// another set with the same base: from a start that is off, the least change back
	other := *b
	other.Columns = slices.Clone(b.Columns)
	for k := range other.Columns {
		other.Columns[k].Value += 0.02 * rng.NormFloat64() * math.Max(math.Abs(other.Columns[k].Value), 0.01)
	}
	same := other.FullParams(m, beta)
	moved, apart := 0.0, 0.0
	for k := range theta {
		moved = math.Max(moved, math.Abs(same[k]-theta[k]))
	}
	for i, x := range torque(same) {
		apart = math.Max(apart, math.Abs(x-was[i]))
	}
	if moved < 1e-3 || apart > 1e-9 {
		t.Errorf("parameters that differ by %g with equal base parameters: torques differ by %g N·m", moved, apart)
	}
	for i := range beta {
		more := slices.Clone(beta)
		more[i] += 1e-3 * (1 + math.Abs(more[i]))
		apart := 0.0
		for k, x := range torque(b.FullParams(m, more)) {
			apart = math.Max(apart, math.Abs(x-was[k]))
		}
		if apart < 1e-5 {
			t.Errorf("%s changed, torques differ by %g N·m only", b.Name(i), apart)
		}
	}
}
