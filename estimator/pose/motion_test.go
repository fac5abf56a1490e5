package pose

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

func freeSpec() MotionSpec {
	return MotionSpec{Jerk: 200, Thrust: 10, Speed: 20, Alpha: 300, Linear: 2, Accel: 20, MaxRest: 0.5}
}

// truth is the angular velocity of a run and, by differences of fourth order, its acceleration.
func (m *motion) omega(k int) r3.Vec { r := m.Rows[k]; return r3.Vec{X: r[7], Y: r[8], Z: r[9]} }

func (m *motion) alpha(k int) r3.Vec {
	d := r3.Sub(r3.Scale(8, r3.Sub(m.omega(k+1), m.omega(k-1))), r3.Sub(m.omega(k+2), m.omega(k-2)))
	return r3.Scale(1/(12*0.005), d)
}

// scatter gathers errors over standard errors and the errors themselves.
type scatter struct {
	n            int
	norm, square float64
}

func (s *scatter) add(e, sd r3.Vec) {
	s.n += 3
	s.norm += e.X*e.X/(sd.X*sd.X) + e.Y*e.Y/(sd.Y*sd.Y) + e.Z*e.Z/(sd.Z*sd.Z)
	s.square += r3.Norm2(e)
}

func (s *scatter) rms() float64   { return math.Sqrt(s.square / float64(s.n)) }
func (s *scatter) ratio() float64 { return math.Sqrt(s.norm / float64(s.n)) }

// On the rolling ball, whose motion the filter knows nothing of: the errors of filter and smoother are of the size that their
// covariances say, and the smoother's are much smaller.
func TestMotionOfTheBall(t *testing.T) {
	m := load(t, "paper")
	spec := freeSpec()
	var fw, fa, sw, sa, sv scatter
	for seed := range uint64(5) {
		z := poses(t, m, 1e-4, seed)
		f, err := NewMotion(spec)
		if err != nil {
			t.Fatal(err)
		}
		for k := range z {
			f.Step(&z[k])
			if x := f.State(); k > 40 && k < 600 {
				_, omega, alpha, _, _, _ := x.Errors()
				fw.add(r3.Sub(x.Omega, m.omega(k)), omega)
				fa.add(r3.Sub(x.Alpha, m.alpha(k)), alpha)
			}
		}
		x, used, err := Smooth(spec, z)
		if err != nil {
			t.Fatal(err)
		}
		for k := 40; k < 600; k++ {
			_, omega, alpha, _, v, _ := x[k].Errors()
			sw.add(r3.Sub(x[k].Omega, m.omega(k)), omega)
			sa.add(r3.Sub(x[k].Alpha, m.alpha(k)), alpha)
			_, q, _, w, _ := m.at(k)
			ww := rotation.Rotate(q, w)
			sv.add(r3.Sub(x[k].V, r3.Vec{X: radius * ww.Y, Y: -radius * ww.X}), v)
			if !used[k] {
				t.Fatalf("pose %d was not used", k)
			}
		}
	}
	t.Logf("rms: filter ω %.3f rad/s (%.2fσ) α %.2f rad/s² (%.2fσ); smoother ω %.3f (%.2fσ) α %.2f (%.2fσ) v %.2g m/s (%.2fσ)",
		fw.rms(), fw.ratio(), fa.rms(), fa.ratio(), sw.rms(), sw.ratio(), sa.rms(), sa.ratio(), sv.rms(), sv.ratio())
	for name, r := range map[string]float64{"filter ω": fw.ratio(), "filter α": fa.ratio(), "smoother ω": sw.ratio(), "smoother α": sa.ratio(), "smoother v": sv.ratio()} {
		// white jerk is an idea of the motion, not the motion: the errors may be smaller than said, and a little larger
		if r < 0.4 || r > 1.3 {
			t.Errorf("%s: errors are %.2f of the standard error", name, r)
		}
	}
	if sw.rms() > 0.5*fw.rms() || sa.rms() > 0.5*fa.rms() {
		t.Error("the smoother gains little")
	}
}

// A motion that is what the filter believes, white jerk: innovations are χ² of 6, and errors those of the covariance, for filter and
// smoother, at uneven times with gaps.
func TestMotionIsConsistent(t *testing.T) {
	spec := MotionSpec{Jerk: 50, Thrust: 5, Speed: 3, Alpha: 20, Linear: 0.3, Accel: 2}
	var nis float64
	var n int
	var fw, sw, st, sp scatter
	for seed := range uint64(40) {
		z, truth := walk(spec, 150, seed)
		f, err := NewMotion(spec)
		if err != nil {
			t.Fatal(err)
		}
		for k := range z {
			f.Step(&z[k])
			if k > 0 {
				nis += f.NIS()
				n++
			}
			x := f.State()
			_, omega, _, _, _, _ := x.Errors()
			fw.add(r3.Sub(x.Omega, truth[k].Omega), omega)
		}
		x, _, err := Smooth(spec, z)
		if err != nil {
			t.Fatal(err)
		}
		for k := range x {
			turn, omega, _, p, _, _ := x[k].Errors()
			sw.add(r3.Sub(x[k].Omega, truth[k].Omega), omega)
			st.add(rotation.Between(x[k].R, truth[k].R), turn)
			sp.add(r3.Sub(x[k].P, truth[k].P), p)
		}
	}
	if mean := nis / 6 / float64(n); math.Abs(mean-1) > 0.04 {
		t.Errorf("mean normalised innovation %.3f, want 1 ± 0.04", mean)
	}
	for name, s := range map[string]*scatter{"filter ω": &fw, "smoother ω": &sw, "smoother R": &st, "smoother p": &sp} {
		if r := s.ratio(); math.Abs(r-1) > 0.08 {
			t.Errorf("%s: errors are %.3f of the standard error, want 1 ± 0.08", name, r)
		}
	}
}

func TestMotionGateAndGap(t *testing.T) {
	spec := freeSpec()
	spec.Gate = 4
	z := poses(t, load(t, "paper"), 1e-4, 2)[:200]
	wild := z[100]
	wild.R = quat.Mul(wild.R, rotation.Exp(r3.Vec{X: 0.5}))
	f, err := NewMotion(spec)
	if err != nil {
		t.Fatal(err)
	}
	for k := range z {
		if k == 100 {
			if f.Step(&wild) {
				t.Error("a pose half a radian off was used")
			}
			continue
		}
		if !f.Step(&z[k]) {
			t.Errorf("pose %d was refused, NIS %.1f", k, f.NIS())
		}
	}
	if f.Refused() != 1 {
		t.Errorf("%d refused, want 1", f.Refused())
	}
	flat := z[150]
	flat.Turn = rotation.Matrix{}
	if f.Predict(flat.T + 1); f.Correct(&flat) {
		t.Error("a pose without noise was used")
	}

	z[10].T = z[9].T
	if _, _, err := Smooth(spec, z); err == nil || !strings.Contains(err.Error(), "pose 10") {
		t.Errorf("times that do not rise: %v", err)
	}
	if _, _, err := Smooth(spec, nil); err == nil {
		t.Error("no poses: accepted")
	}
	spec.Jerk = 0
	if _, err := NewMotion(spec); err == nil {
		t.Error("no jerk: accepted")
	}
}

func TestMotionAllocates(t *testing.T) {
	z := poses(t, load(t, "paper"), 1e-4, 2)
	f, err := NewMotion(freeSpec())
	if err != nil {
		t.Fatal(err)
	}
	k := 0
	if n := testing.AllocsPerRun(700, func() { f.Step(&z[k]); k++ }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
