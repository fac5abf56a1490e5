package multibody

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/rotation"
)

// rod is a thin rod of mass per length 1 kg/m along x from the origin.
func rod(length float64) Inertia {
	i := length * length * length / 12
	return Inertia{Mass: length, Com: r3.Vec{X: length / 2}, I: rotation.Diag(r3.Vec{Y: i, Z: i})}
}

// crankRocker is the four-bar of worked example B: pivots (0,0) and (0.4,0), crank 0.1 with a rotor of 1e-3 kg·m² and 0.002 N·m·s, coupler
// 0.35, rocker 0.3, gravity along −y.
func crankRocker(closed CutKind) Spec {
	hinge := Joint{Kind: Revolute, Axis: r3.Vec{Z: 1}}
	crank := hinge
	crank.Armature, crank.Damping = 1e-3, 0.002
	return Spec{
		Gravity: r3.Vec{Y: -9.81},
		Bodies: []Body{
			{Name: "crank", Joint: crank, Inertia: rod(0.1)},
			{Name: "coupler", Parent: "crank", Place: At(0.1, 0, 0), Joint: hinge, Inertia: rod(0.35)},
			{Name: "rocker", Place: At(0.4, 0, 0), Joint: hinge, Inertia: rod(0.3)},
		},
		Frames: []Frame{{Name: "coupler end", Body: "coupler", Pose: At(0.35, 0, 0)}, {Name: "rocker end", Body: "rocker", Pose: At(0.3, 0, 0)}},
		Cuts:   []Cut{{Name: "pin", Kind: closed, A: "coupler end", B: "rocker end"}},
	}
}

// crankStart is the position of worked example B: absolute angles 0.5, 0.77711649, 1.78139383 rad, closed to rounding.
func crankStart(t testing.TB, m *Model, d *Data) (q, v []float64) {
	t.Helper()
	q, v = []float64{0.5, 0.77711649 - 0.5, 1.78139383}, make([]float64, 3)
	a, err := Assemble(m, d, q, v, Assembly{Hold: []string{"crank"}})
	if err != nil {
		t.Fatal(err)
	}
	if a.DOF != 1 || a.PositionChange > 1e-8 || a.Gap > 1e-8 {
		t.Fatalf("assembled: %v", a)
	}
	return q, v
}

// The crank-rocker with a DC motor: worked example B, computed by another program (DOP853, Baumgarte). The motor is a state beside the
// mechanism here. All ways through the constraints give its table.
func TestCrankRocker(t *testing.T) {
	table := [][6]float64{ // t, crank, coupler, rocker (absolute), crank's speed, current
		{0.10, 2.04500106, 0.52360092, 2.06596716, 22.68992221, 2.6526518},
		{0.25, 7.07736802, 0.68944934, 1.77165913, 42.26025929, -0.46401782},
		{0.50, 16.12415332, 0.72788248, 2.44525486, 48.53320191, -1.02372981},
		{1.00, 34.61049178, 0.64232841, 2.39211602, 43.02791667, -0.20721432},
	}
	for _, c := range []struct {
		name      string
		closed    CutKind
		partition bool
	}{{"point", CutPoint, false}, {"revolute with redundant rows", CutRevolute, false}, {"partition", CutPoint, true}} {
		m, d := build(t, crankRocker(c.closed))
		q, v := crankStart(t, m, d)
		p := NewPartition(m)
		tau := make([]float64, 3)
		f := func(t float64, x, dx []float64) {
			tau[0] = 0.3 * x[6]
			st := OK
			if c.partition {
				st = p.Dynamics(d, x[:3], x[3:6], tau)
			} else {
				st = Dynamics(m, d, x[:3], x[3:6], tau)
			}
			copy(dx, x[3:6])
			copy(dx[3:6], d.QDD)
			dx[6] = (12 - 2*x[6] - 0.3*x[3]) / 5e-3
			if st != OK {
				dx[6] = math.NaN()
			}
		}
		o := engine.NewDormandPrince(f, 7)
		o.Rtol, o.Atol = 1e-11, 1e-11
		x := append(append(q, v...), 0)
		o.Start(0, x)
		worst := 0.0
		for _, row := range table {
			for o.T < row[0] {
				end := math.Min(row[0], o.T+0.01)
				for o.T < end {
					if err := o.Step(end); err != nil {
						t.Fatal(err)
					}
				}
				copy(x, o.X)
				st := OK
				if c.partition {
					st = p.Close(d, x[:3], x[3:6])
				} else {
					st = Project(m, d, x[:3], x[3:6])
				}
				if st != OK {
					t.Fatal(st)
				}
				o.Start(o.T, x)
				g, rate := d.Residual()
				worst = math.Max(worst, math.Max(g, rate))
			}
			got := []float64{x[0], x[0] + x[1], x[2], x[3], x[6]}
			for i, want := range row[1:] {
				if math.Abs(got[i]-want) > 1e-6*math.Max(1, math.Abs(want)) {
					t.Errorf("%s, t = %g s: column %d is %.9g, want %.9g", c.name, row[0], i+1, got[i], want)
				}
			}
		}
		if worst > 1e-10 {
			t.Errorf("%s: residual %.2g", c.name, worst)
		}
	}
}

func BenchmarkFourBar(b *testing.B) {
	for _, c := range []struct {
		name   string
		closed CutKind
	}{{"point", CutPoint}, {"revolute", CutRevolute}} {
		m, d := build(b, crankRocker(c.closed))
		q, v := crankStart(b, m, d)
		tau := []float64{1, 0, 0}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Dynamics(m, d, q, v, tau)
			}
		})
	}
	m, d := build(b, crankRocker(CutPoint))
	q, v := crankStart(b, m, d)
	b.Run("project", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Project(m, d, q, v)
		}
	})
	p := NewPartition(m)
	b.Run("partition", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.Dynamics(d, q, v, v)
		}
	})
}
