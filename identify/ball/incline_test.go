package ball

import (
	"encoding/csv"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"hilrig/engine/numeric"
	"hilrig/engine/peer"
)

const degree = math.Pi / 180

// table reads the columns of a small CSV.
func table(t *testing.T, path string) map[string][]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]float64{}
	for _, row := range all[1:] {
		for j, cell := range row {
			x, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			out[all[0][j]] = append(out[all[0][j]], x)
		}
	}
	return out
}

// The published run of two joined balls: its description gives -1.106 rad/s², and 0.055 rad/s after a mean of 51 points.
func TestSpinDownOfTwoBalls(t *testing.T) {
	d := table(t, peer.Shared(t, "ball_incline/ball_pair_spin_down.csv"))
	time, spin := d["time_s"], d["spin_rate_rad_s"]
	fit, err := SpinDown(time, spin)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(fit.C[1]+1.106) > 3*fit.StdErr[1]+0.0005 || !(fit.StdErr[1] > 1e-4 && fit.StdErr[1] < 0.02) {
		t.Errorf("%.4f ± %.4f rad/s²", fit.C[1], fit.StdErr[1])
	}
	smooth, err := SpinDown(time[25:len(time)-25], numeric.MovingMean(spin, 25)[25:len(spin)-25])
	if err != nil || math.Abs(smooth.RMS-0.055) > 0.005 || math.Abs(smooth.C[1]+1.106) > 0.002 {
		t.Errorf("%.4f rad/s², %.4f rad/s RMS, %v", smooth.C[1], smooth.RMS, err)
	}
	t.Logf("%.4f ± %.4f rad/s², %d lags, RMS %.3f rad/s; smoothed %.4f rad/s², %.4f rad/s", fit.C[1], fit.StdErr[1], fit.Lags, fit.RMS, smooth.C[1], smooth.RMS)
}

// The published ball on a plane: the acceleration is sound, and tells no coefficient at the stated 1°, nor at the 5° of the authors' sheet.
func TestRollingBallOfAnUnknownAngle(t *testing.T) {
	d := table(t, peer.Shared(t, "ball_incline/steel_ball_rolling_1deg.csv"))
	fit, err := Accelerated(d["time_s"], d["distance_m"])
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(fit.C[2]-0.160) > 0.002 || math.Abs(fit.C[1]-0.0372) > 0.002 || math.Abs(fit.RMS-0.6e-3) > 0.1e-3 {
		t.Errorf("a = %.4f ± %.4f m/s², v0 = %.4f m/s, %.2g m RMS", fit.C[2], fit.StdErr[2], fit.C[1], fit.RMS)
	}
	at := Incline{Angle: 1 * degree, Gravity: 9.7964, Inertia: 0.4}
	r, err := at.Rolling(fit.C[2], fit.StdErr[2])
	if !errors.Is(err, ErrAngle) || math.Abs(r.Coefficient+0.0054) > 2e-4 || !strings.Contains(err.Error(), "larger than stated") {
		t.Errorf("%.4f ± %.4f, %v", r.Coefficient, r.StdErr, err)
	}
	at.Angle = 5 * degree
	if r, err := at.Rolling(fit.C[2], fit.StdErr[2]); !errors.Is(err, ErrAngle) || math.Abs(r.Coefficient-0.065) > 1e-3 || !strings.Contains(err.Error(), "is not known") {
		t.Errorf("%.4f, %v", r.Coefficient, err)
	}
	t.Logf("a = %.4f ± %.4f m/s², %.2g m RMS; free at %.2f°", fit.C[2], fit.StdErr[2], fit.RMS, r.Free/degree)
}

// A ball with friction on a plane whose angle is known: by the work that the moment takes, not by the formula of the code. Over a way s
// the height falls by s·sin θ, the energy is (1 + k)·m·v²/2, and the moment μ·N·R takes μ·m·g·cos θ·s.
func TestRollingByEnergy(t *testing.T) {
	const g, k, mu, angle = 9.81, 0.4, 0.002, 1.5 * degree
	s := 2.0
	v := math.Sqrt(2 * g * (s*math.Sin(angle) - mu*math.Cos(angle)*s) / (1 + k))
	a := v * v / (2 * s)
	r, err := Incline{Angle: angle, AngleErr: 0.02 * degree, Gravity: g, Inertia: k}.Rolling(a, 1e-4)
	if err != nil || math.Abs(r.Coefficient-mu) > 1e-15 {
		t.Errorf("%v, %v", r, err)
	}
	// the error of the angle goes into the coefficient in full, that of the acceleration by (1+k)/g
	if want := math.Hypot(0.02*degree, 1.4*1e-4/g); math.Abs(r.StdErr/want-1) > 1e-3 {
		t.Errorf("standard error %g, want %g", r.StdErr, want)
	}
	for _, c := range []struct {
		err     float64 // degrees
		refused bool
	}{{0.057, false}, {0.058, true}, {0, true}} { // 2σ = μ at 0.0573°
		if _, err := (Incline{Angle: angle, AngleErr: c.err * degree, Gravity: g, Inertia: k}).Rolling(a, 0); errors.Is(err, ErrAngle) != c.refused {
			t.Errorf("angle ± %g°: %v", c.err, err)
		}
	}
	for _, bad := range []Incline{{Angle: 2, Gravity: g}, {Angle: 0.1, Gravity: 0}, {Angle: 0.1, Gravity: g, Inertia: -1}, {Angle: math.NaN(), Gravity: g}} {
		if _, err := bad.Rolling(0.1, 0.01); err == nil || errors.Is(err, ErrAngle) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// Intervals of two standard errors hold the truth in about 95 of 100 records, also where the noise depends on its neighbours.
func TestPolynomialCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	const runs, n = 400, 600
	truth := []float64{0.5, -0.3, 0.16}
	for _, rho := range []float64{0, 0.7} {
		inside := [3]int{}
		for range runs {
			time, y := make([]float64, n), make([]float64, n)
			e := 0.0
			for k := range n {
				x := 100 + float64(k)/30
				e = rho*e + math.Sqrt(1-rho*rho)*rng.NormFloat64()
				time[k], y[k] = x, truth[0]+truth[1]*x+truth[2]*x*x/2+0.01*e
			}
			fit, err := Accelerated(time, y)
			if err != nil {
				t.Fatal(err)
			}
			for i := range inside {
				if math.Abs(fit.C[i]-truth[i]) < 1.96*fit.StdErr[i] {
					inside[i]++
				}
			}
		}
		for i, in := range inside {
			if share := float64(in) / runs; share < 0.88 || share > 0.98 {
				t.Errorf("correlation %g, coefficient %d: %.3f of the intervals hold it", rho, i, share)
			}
		}
	}
	for _, bad := range [][2][]float64{{{0, 1, 2}, {0, 1, 2}}, {{0, 1, 2, 3, 4, 5, 6, 6}, make([]float64, 8)}, {{0, 1, 2, 3, 4, 5, 6, 7}, {0, 0, math.NaN(), 0, 0, 0, 0, 0}}} {
		if _, err := SpinDown(bad[0], bad[1]); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}
