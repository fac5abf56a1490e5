package identify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spun is a motor that turns its rotor, integrated here by Runge and Kutta: R 2 Ω, L 2 mH, K 0.05 N·m/A, J 1e-4 kg·m², damping 2e-4
// N·m·s. What it is given changes every 50 ms; what is recorded of that is told by seen. edit may spoil the columns u, i, q.
func spun(t *testing.T, level func(k int) float64, seen func(u float64) float64, edit func(columns [3][]float64)) (file string) {
	t.Helper()
	const R, L, K, J, b, rows, dt, sub = 2, 2e-3, 0.05, 1e-4, 2e-4, 1000, 1e-3, 20
	rng := rand.New(rand.NewPCG(7, 9))
	rate := func(x [3]float64, u float64) [3]float64 {
		return [3]float64{(u - R*x[0] - K*x[2]) / L, x[2], (K*x[0] - b*x[2]) / J}
	}
	var x [3]float64
	var columns [3][]float64
	for k := range rows {
		u := level(k / 50)
		columns[0] = append(columns[0], seen(u))
		columns[1] = append(columns[1], x[0]+0.02*rng.NormFloat64())
		columns[2] = append(columns[2], x[1]+2e-3*rng.NormFloat64())
		for range sub {
			const h = dt / sub
			step := func(by float64, y [3]float64) (z [3]float64) {
				for i := range z {
					z[i] = x[i] + by*y[i]
				}
				return z
			}
			k1 := rate(x, u)
			k2 := rate(step(h/2, k1), u)
			k3 := rate(step(h/2, k2), u)
			k4 := rate(step(h, k3), u)
			for i := range x {
				x[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
			}
		}
	}
	if edit != nil {
		edit(columns)
	}
	var text strings.Builder
	text.WriteString("t,u,i,q\n")
	for k := range rows {
		fmt.Fprintf(&text, "%.3f,%.6f,%.6f,%.6f\n", float64(k)*dt, columns[0][k], columns[1][k], columns[2][k])
	}
	dir := t.TempDir()
	file = filepath.Join(dir, "motor.yaml")
	for name, text := range map[string]string{filepath.Join(dir, "record.csv"): text.String(), filepath.Join(dir, "machine.yaml"): `
version: 1
name: motor
machine:
  bodies: {rotor: {parent: ground, joint: {kind: revolute, armature: 2e-4 kg·m², damping: 1e-4 N·m·s/rad}}}
  motors: {motor: {joint: rotor, R: 1 ohm, L: 2 mH, K: 0.04 N·m/A, voltage: 12 V}}
duration: 500 ms
`, file: `
version: 1
machine: machine.yaml
data: {file: record.csv, time: {name: t, unit: s}}
inputs: [{path: machine.motors.motor.voltage, column: {name: u, unit: V}}]
outputs:
  - {name: motor.i, column: {name: i, unit: A}}
  - {name: rotor.q, column: {name: q, unit: rad}}
starts: 0
parameters:
  - {path: machine.motors.motor.R, name: R, range: [0.2 ohm, 9 ohm]}
  - {path: machine.motors.motor.K, name: K, range: [0.005 N·m/A, 0.5 N·m/A]}
  - {path: machine.bodies.rotor.joint.armature, name: J, range: [1e-5 kg·m², 1e-3 kg·m²]}
  - {path: machine.bodies.rotor.joint.damping, name: b, range: [1e-5 N·m·s/rad, 5e-3 N·m·s/rad]}
`} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

var spunTruth = map[string]float64{"R": 2, "K": 0.05, "J": 1e-4, "b": 2e-4}

// A voltage of one level to either side whose step nobody knows may be off by half of it. One that takes many values is exact.
func TestResponseToOneLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	signs := make([]float64, 60)
	for k := range signs {
		signs[k] = float64(2*rng.IntN(2) - 1)
	}
	for _, c := range []struct {
		name  string
		level func(k int) float64
		seen  func(u float64) float64
		wide  bool
	}{
		{"one level, recorded as 6", func(k int) float64 { return 8.2 * signs[k] }, func(u float64) float64 { return math.Copysign(6, u) }, true},

		{"many levels", func(k int) float64 { return math.Sin(float64(k*k)) * 9 }, func(u float64) float64 { return u }, false},
	} {
		r, _ := responseOf(t, spun(t, c.level, c.seen, nil), Options{})
		for name, truth := range spunTruth {
			p, ok := r.Param(name)
			if !ok || p.CI == nil {
				t.Errorf("%s: no interval of %s", c.name, name)
				continue
			}
			half := (p.CI[1] - p.CI[0]) / 2
			if c.wide && p.CI[0] > truth || c.wide && p.CI[1] < truth || !c.wide && (half > 0.05*truth || math.Abs(p.Value-truth) > 1.5*half) {
				t.Errorf("%s: %s %.4g in %.4g for %g", c.name, name, p.Value, *p.CI, truth)
			}
			if half > 0.2*p.Value && p.Worth == "identified" || !c.wide && p.Worth != "identified" {
				t.Errorf("%s: %s %.4g in %.4g is %s", c.name, name, p.Value, *p.CI, p.Worth)
			}
		}
	}
}

// Single samples that are off are left out of every column, as far as the others do not follow them: a pulse that acted stays.
func TestResponseWithSpikes(t *testing.T) {
	smooth := func(k int) float64 { return 9 * math.Sin(0.3*float64(k)) * math.Sin(0.041*float64(k*k)) }
	spoil := func(at int, size float64) func(columns [3][]float64) {
		return func(columns [3][]float64) {
			rng := rand.New(rand.NewPCG(5, 6))
			for range 4 {
				columns[at][100+rng.IntN(800)] += size * float64(2*rng.IntN(2)-1) * (1 + rng.Float64())
			}
		}
	}
	for _, c := range []struct {
		name string
		edit func(columns [3][]float64)
	}{{"voltage", spoil(0, 60)}} {
		r, _ := responseOf(t, spun(t, smooth, func(u float64) float64 { return u }, c.edit), Options{})
		for name, truth := range spunTruth {
			p, ok := r.Param(name)
			if !ok || p.CI == nil {
				t.Errorf("spikes of the %s: no interval of %s", c.name, name)
				continue
			}
			if half := (p.CI[1] - p.CI[0]) / 2; half > 0.05*truth || math.Abs(p.Value-truth) > 1.5*half {
				t.Errorf("spikes of the %s: %s %.5g in %.5g for %g", c.name, name, p.Value, *p.CI, truth)
			}
		}
		if !strings.Contains(strings.Join(r.Warnings, " "), "left out") {
			t.Errorf("spikes of the %s: nothing said in %q", c.name, r.Warnings)
		}
	}
}
