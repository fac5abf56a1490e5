package rotation

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

type (
	triple [3]float64
	four   [4]float64
)

func (a triple) vec() r3.Vec     { return r3.Vec{X: a[0], Y: a[1], Z: a[2]} }
func (a four) quat() quat.Number { return quat.Number{Real: a[0], Imag: a[1], Jmag: a[2], Kmag: a[3]} }

func vecs(a []triple) []r3.Vec {
	v := make([]r3.Vec, len(a))
	for k := range a {
		v[k] = a[k].vec()
	}
	return v
}

// reference is what testdata/rotation.py wrote.
type reference struct {
	Exp []struct {
		V     triple
		Q     four
		M, Jl Matrix
	}
	Align []struct {
		Body, World []triple
		W           []float64
		Q           four
		P           triple
		Rms         float64
	}
	Turning struct {
		T []float64
		Q []four
	}
	Points []struct {
		T     []float64
		Y     []triple
		Order int
		C, SE [3][]float64
	}
}

func load(t *testing.T) (r reference) {
	t.Helper()
	b, err := os.ReadFile("testdata/rotation.json")
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %.17g, want %.17g ± %g", what, got, want, tol)
	}
}

func nearVec(t *testing.T, what string, got, want r3.Vec, tol float64) {
	t.Helper()
	if !(r3.Norm(r3.Sub(got, want)) <= tol) {
		t.Errorf("%s: got %v, want %v ± %g", what, got, want, tol)
	}
}

func nearMatrix(t *testing.T, what string, got, want Matrix, tol float64) {
	t.Helper()
	for i := range 3 {
		for j := range 3 {
			if !(math.Abs(got[i][j]-want[i][j]) <= tol) {
				t.Errorf("%s [%d][%d]: got %.17g, want %.17g", what, i, j, got[i][j], want[i][j])
			}
		}
	}
}

func TestExpLogAgainstScipy(t *testing.T) {
	for _, c := range load(t).Exp {
		v, q := c.V.vec(), c.Q.quat()
		size := r3.Norm(v)
		near(t, "exp", quat.Abs(quat.Sub(NearestSign(Exp(v), q), q)), 0, 4e-16)
		nearVec(t, "log", Log(Exp(v)), v, 4e-16*(1+size)+1e-16)
		nearVec(t, "log of −q", Log(quat.Scale(-3, Exp(v))), v, 1e-15*(1+size))
		nearMatrix(t, "matrix", MatrixOf(q), c.M, 1e-15)
		nearMatrix(t, "left Jacobian", LeftJacobian(v), c.Jl, 2e-14)
		nearMatrix(t, "inverse", LeftJacobianInv(v).Mul(c.Jl), Eye, 5e-14)
		back, off, ok := FromMatrix(c.M)
		if !ok || off > 1e-14 {
			t.Errorf("matrix of %v: ok %v, off %g", v, ok, off)
		}
		near(t, "quaternion of the matrix", quat.Abs(quat.Sub(NearestSign(back, q), q)), 0, 1e-15)
		p := r3.Vec{X: 0.3, Y: -1, Z: 2}
		nearVec(t, "rotated", Rotate(q, p), c.M.Vec(p), 2e-15)
		nearVec(t, "turned back", Unrotate(q, p), c.M.TVec(p), 2e-15)
	}
}

// All four branches of the matrix, at half a turn about each axis too.
func TestMatrixBranches(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range 2000 {
		q := quat.Number{Real: rng.NormFloat64(), Imag: rng.NormFloat64(), Jmag: rng.NormFloat64(), Kmag: rng.NormFloat64()}
		switch k {
		case 0:
			q = quat.Number{Imag: 1}
		case 1:
			q = quat.Number{Jmag: 1}
		case 2:
			q = quat.Number{Kmag: 1}
		}
		q, _ = Unit(q)
		back, _, ok := FromMatrix(MatrixOf(q))
		if d := quat.Abs(quat.Sub(NearestSign(back, q), q)); !ok || d > 2e-15 || back.Real < 0 {
			t.Fatalf("%v: got %v (%v)", q, back, ok)
		}
	}
	if _, _, ok := FromMatrix(Diag(r3.Vec{X: 1, Y: 1, Z: -1})); ok {
		t.Error("a reflection passed as a rotation")
	}
	if _, off, ok := FromMatrix(Eye.Scale(1.1)); !ok || math.Abs(off-0.21) > 1e-12 {
		t.Errorf("a scaled matrix: off %g, want 0.21", off)
	}
	if _, ok := Unit(quat.Number{}); ok {
		t.Error("0 has a unit")
	}
	if _, ok := Unit(quat.NaN()); ok {
		t.Error("NaN has a unit")
	}
}

func TestMatrixSolveAndEigen(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		r := MatrixOf(Exp(r3.Vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}))
		d := [3]float64{0.01 + rng.Float64(), 2 + rng.Float64(), 4 + rng.Float64()}
		m := r.Mul(Diag(triple(d).vec())).Mul(r.T())
		values, v := m.Eigen()
		for i := range 3 {
			near(t, "eigenvalue", values[i], d[i], 1e-14)
		}
		near(t, "determinant of the vectors", v.Det(), 1, 1e-14)
		nearMatrix(t, "V·D·Vᵀ", v.Mul(Diag(triple(values).vec())).Mul(v.T()), m, 1e-14)
		b := r3.Vec{X: 1, Y: -2, Z: 0.5}
		x, ok := m.SolveSPD(b)
		if !ok {
			t.Fatal("not positive definite")
		}
		nearVec(t, "M·x", m.Vec(x), b, 1e-12)
		inv, _ := m.InverseSPD()
		nearMatrix(t, "M·M⁻¹", m.Mul(inv), Eye, 1e-12)
	}
	for _, d := range []r3.Vec{{X: -1, Y: 1, Z: 1}, {X: 1, Y: 0, Z: 1}, {X: 1, Y: 1, Z: -1e-300}, {X: math.NaN(), Y: 1, Z: 1}} {
		if _, ok := Diag(d).SolveSPD(r3.Vec{X: 1}); ok {
			t.Errorf("diagonal %v passed as positive definite", d)
		}
	}
}

func TestAlignAgainstScipy(t *testing.T) {
	for _, c := range load(t).Align {
		f, err := Align(vecs(c.Body), vecs(c.World), c.W)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "rotation", r3.Norm(Difference(f.R, c.Q.quat())), 0, 1e-13)
		nearVec(t, "position", f.P, c.P.vec(), 1e-14)
		near(t, "rms", f.Rms, c.Rms, 1e-14)
		if f.Count != len(c.Body) || f.Mirror < 0 {
			t.Errorf("count %d, mirror %g", f.Count, f.Mirror)
		}
	}
}

// The scatter of the fitted turns over many draws is that of the inertia.
func TestAlignCovariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	body := []r3.Vec{{X: 0.03}, {Y: 0.02}, {Z: 0.025}, {X: -0.01, Y: -0.02, Z: 0.01}}
	r := Exp(r3.Vec{X: 1, Y: 2, Z: -0.5})
	const sigma, draws = 1e-4, 4000
	var sum Matrix
	var cov Matrix
	for range draws {
		world := make([]r3.Vec, len(body))
		for k := range body {
			world[k] = r3.Add(Rotate(r, body[k]), r3.Vec{X: sigma * rng.NormFloat64(), Y: sigma * rng.NormFloat64(), Z: sigma * rng.NormFloat64()})
		}
		f, err := Align(body, world, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := Log(quat.Mul(f.R, quat.Conj(r))) // world axes
		sum = sum.Add(1.0/draws, OuterProduct(d, d))
		inv, _ := f.Inertia.InverseSPD()
		cov = inv.Scale(sigma * sigma)
	}
	for i := range 3 {
		// standard error of a variance from 4000 draws: 2.2 %
		near(t, "variance of the turn", sum[i][i]/cov[i][i], 1, 4*0.0224)
	}
}

func TestAlignRefuses(t *testing.T) {
	line := []r3.Vec{{X: 0}, {X: 1}, {X: 2}, {X: 5}}
	bent := func(d float64) []r3.Vec { return []r3.Vec{{X: 0}, {X: 1, Y: d}, {X: 2}, {X: 5}} }
	if _, err := Align(line[:2], line[:2], nil); !errors.Is(err, ErrFewPoints) {
		t.Errorf("2 points: %v", err)
	}
	if _, err := Align(bent(1), bent(1), []float64{1, 1, 0, 0}); !errors.Is(err, ErrFewPoints) {
		t.Errorf("2 points with a weight: %v", err)
	}
	if _, err := Align(line, line, nil); !errors.Is(err, ErrCollinear) {
		t.Errorf("points on a line: %v", err)
	}
	if _, err := Align(bent(1), line, nil); !errors.Is(err, ErrCollinear) {
		t.Errorf("points of the world on a line: %v", err)
	}
	if _, err := Align(bent(1e-6), bent(1e-6), nil); !errors.Is(err, ErrCollinear) {
		t.Errorf("points 1e-6 off a line: %v", err)
	}
	f, err := Align(bent(1e-4), bent(1e-4), nil)
	if err != nil || math.Abs(f.Spread-1e-4*math.Sqrt(0.6428571428/4)) > 3e-5 {
		t.Errorf("points 1e-4 off a line: %v, spread %g", err, f.Spread)
	}
	near(t, "turn found by an offset of 1e-4", r3.Norm(Log(f.R)), 0, 1e-6)

	// left-handed axes
	body := []r3.Vec{{X: 3}, {Y: 2}, {Z: 1}, {}}
	mirror := make([]r3.Vec, len(body))
	for k, p := range body {
		mirror[k] = r3.Vec{X: p.X, Y: p.Y, Z: -p.Z}
	}
	f, err = Align(body, mirror, nil)
	if err != nil || f.Mirror > 1e-7 || f.Rms < 0.1 {
		t.Errorf("left-handed axes: %v, rms %g, of a reflection %g", err, f.Rms, f.Mirror)
	}
	equal := []r3.Vec{{X: 1}, {Y: 1}, {Z: 1}, {X: -1}, {Y: -1}, {Z: -1}}
	inverted := make([]r3.Vec, len(equal))
	for k, p := range equal {
		inverted[k] = r3.Scale(-1, p)
	}
	inverted[0].X -= 1e-9
	if _, err := Align(equal, inverted, nil); !errors.Is(err, ErrMirrored) {
		t.Errorf("mirror images that spread alike: %v", err)
	}
}
