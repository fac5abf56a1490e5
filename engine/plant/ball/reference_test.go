package ball

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
)

// row is a line of testdata/reference.csv.
type row struct {
	t            float64
	f            Frame
	x, y, vx, vy float64
	w, force     r3.Vec
}

// reference are the motions of testdata/reference.py by case.
func reference(t *testing.T) map[string][]row {
	t.Helper()
	file, err := os.Open("testdata/reference.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]row{}
	for _, line := range lines[1:] {
		v := make([]float64, len(line)-1)
		for k := range v {
			if v[k], err = strconv.ParseFloat(line[k+1], 64); err != nil {
				t.Fatal(err)
			}
		}
		at := func(k int) r3.Vec { return r3.Vec{X: v[k], Y: v[k+1], Z: v[k+2]} }
		all[line[0]] = append(all[line[0]], row{
			t: v[0], f: Frame{at(1), at(4), at(7)}, x: v[10], y: v[11], w: at(12), vx: v[15], vy: v[16], force: at(17),
		})
	}
	return all
}

// quaternion of a frame whose rotation vector is known, as in the script.
func quaternion(rotvec r3.Vec) quat.Number {
	a := r3.Norm(rotvec)
	s := math.Sin(a/2) / a
	return quat.Number{Real: math.Cos(a / 2), Imag: s * rotvec.X, Jmag: s * rotvec.Y, Kmag: s * rotvec.Z}
}

// otherBall has everything that the paper's body has not.
func otherBall() Params {
	return Params{
		Radius: 0.05, Mass: 0.3, Inertia: [3]float64{3.0e-4, 3.6e-4, 4.1e-4}, Products: [3]float64{2e-5, -1.5e-5, 3e-5},
		InertiaAbout: AboutCenter,
		Center:       [3]float64{0.004, -0.006, 0.005}, Gravity: 9.81, Tilt: [2]float64{0.03, -0.02},
	}
}

// The motions of another formulation by another integrator, testdata/reference.py, to 1e-9 at steps of 1 ms and of 5 ms.
func TestReference(t *testing.T) {
	tilted, turned := quaternion(r3.Vec{X: math.Pi - 0.9}), quaternion(r3.Vec{X: 0.4, Y: 1.1, Z: -0.3})
	free, com, damped := Paper(), Paper(), Paper()
	free.Roll.Linear, com.Roll.Linear, com.InertiaAbout = 0, 0, AboutCenterOfMass
	damped.Spin.Linear = 5e-5
	other, dry, slip := otherBall(), otherBall(), otherBall()
	other.Roll, other.Spin = Friction{Linear: 3e-4, Quadratic: 5e-5}, Friction{Linear: 1e-4, Quadratic: 2e-5}
	dry.Roll, dry.Spin = Friction{3e-4, 5e-5, 2e-4, 3e-4}, Friction{1e-4, 0, 1e-5, 2e-5}
	slip.Roll, slip.Spin, slip.Slips, slip.Slide = Friction{Linear: 3e-4, Arm: 1e-4}, Friction{Linear: 1e-4}, true, 0.1
	refs := reference(t)
	for _, c := range []struct {
		name   string
		p      Params
		q      quat.Number
		w      r3.Vec
		length float64 // of a gyration: what errors are measured by
	}{
		{"free", free, tilted, r3.Vec{X: 0.3, Z: 0.5}, 1},
		{"com", com, tilted, r3.Vec{X: 0.3, Z: 0.5}, 1},
		{"damped", damped, tilted, r3.Vec{X: 0.3, Z: 2}, 1},
		{"other", other, turned, r3.Vec{X: 5, Y: -3, Z: 4}, 1},
		{"dry", dry, turned, r3.Vec{X: 8, Y: -12, Z: 14}, 1},
		{"slip", slip, turned, r3.Vec{X: 8, Y: -12, Z: 14}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := refs[c.name]
			if len(rows) < 10 {
				t.Fatalf("%d rows", len(rows))
			}
			m, err := New(c.p)
			if err != nil {
				t.Fatal(err)
			}
			for _, dt := range []float64{1e-3, 5e-3} {
				s := State{Q: c.q, W: c.w, VX: rows[0].vx, VY: rows[0].vy}
				m.Place(&s)
				if s.Mode.Slip != c.p.Slips {
					t.Fatalf("starts in %+v", s.Mode)
				}
				worst, worstForce := 0.0, 0.0
				a := m.Accel(&s)
				for k, r := range rows {
					if k > 0 {
						n := int(math.Round((r.t - rows[k-1].t) / dt))
						for range n {
							var st engine.Status
							if a, st = m.Step(dt, &s); st != engine.OK {
								t.Fatalf("t = %g: %v", r.t, st)
							}
						}
					}
					f := s.Frame()
					worst = max(worst, r3.Norm(r3.Sub(f.A, r.f.A)), r3.Norm(r3.Sub(f.B, r.f.B)), r3.Norm(r3.Sub(f.C, r.f.C)),
						r3.Norm(r3.Sub(s.W, r.w)), math.Hypot(s.X-r.x, s.Y-r.y)/c.p.Radius, math.Hypot(s.VX-r.vx, s.VY-r.vy)/c.p.Radius)
					worstForce = max(worstForce, r3.Norm(r3.Sub(a.Force, r.force)))
				}
				t.Logf("dt = %g s: worst difference %.2g, of the force %.2g N", dt, worst, worstForce)
				if worst > 1e-9 || worstForce > 1e-9 {
					t.Errorf("dt = %g s: differs from the reference by %.3g (rad, rad/s, radii) and %.3g N, want 1e-9", dt, worst, worstForce)
				}
			}
		})
	}
}
