package engine

import (
	"encoding/json"
	"errors"
	"math"
	"os/exec"
	"strings"
	"testing"

	"hilrig/engine/numeric"
	"hilrig/engine/peer"
)

// arenstorf is the restricted three-body problem of [HNW93] II.0 (0.1): a periodic orbit whose start and period are
// published, with passages so close that a step size control is needed.
func arenstorf(_ float64, x, dx []float64) {
	const mu, nu = 0.012277471, 1 - 0.012277471
	a, b := x[0]+mu, x[0]-nu
	d1, d2 := math.Pow(a*a+x[1]*x[1], 1.5), math.Pow(b*b+x[1]*x[1], 1.5)
	dx[0], dx[1] = x[2], x[3]
	dx[2] = x[0] + 2*x[3] - nu*a/d1 - mu*b/d2
	dx[3] = x[1] - 2*x[2] - nu*x[1]/d1 - mu*x[1]/d2
}

const arenstorfPeriod = 17.0652165601579625588917206249

var arenstorfStart = []float64{0.994, 0, 0, -2.00158510637908252240537862224}

// run steps to end (s), calling visit after every step, until visit returns false. visit may be nil.
func run(d *DormandPrince, end float64, visit func(*DormandPrince) bool) error {
	for d.T != end {
		if err := d.Step(end); err != nil {
			return err
		}
		if visit != nil && !visit(d) {
			return nil
		}
	}
	return nil
}

// swing is a pendulum of unit frequency.
func swing(_ float64, x, dx []float64) { dx[0], dx[1] = x[1], -math.Sin(x[0]) }

// After one period the orbit closes. With tolerance ε the error follows, and the steps grow as ε^{−1/5}: ten times as
// exact costs 1.58 times the steps.
func TestDormandPrinceTolerance(t *testing.T) {
	last, steps := math.Inf(1), 0
	for _, tol := range []float64{1e-6, 1e-8, 1e-10, 1e-12} {
		d := NewDormandPrince(arenstorf, 4)
		d.Rtol, d.Atol = tol, tol
		d.Start(0, arenstorfStart)
		if err := run(d, arenstorfPeriod, nil); err != nil {
			t.Fatal(err)
		}
		e := math.Hypot(d.X[0]-arenstorfStart[0], d.X[1]-arenstorfStart[1])
		t.Logf("tolerance %.0e: error %.1e, %d steps, %d rejected", tol, e, d.Accepted, d.Rejected)
		// the close passage magnifies local errors by some 1e4
		if e > 1e5*tol || e > last/10 {
			t.Errorf("tolerance %g: orbit open by %g, before %g", tol, e, last)
		}
		if r := float64(d.Accepted) / float64(steps); steps > 0 && (r < 1.8 || r > 3.2) {
			t.Errorf("tolerance %g: %d steps after %d, want about 2.5 times", tol, d.Accepted, steps)
		}
		last, steps = e, d.Accepted
	}
}

// With the step held fixed by MaxStep the solution at the ends is of fifth order, in between of fourth.
func TestDormandPrinceOrder(t *testing.T) {
	f := func(t float64, x, dx []float64) { dx[0], dx[1] = x[1], -x[0] }
	errs := func(h float64) (ends, dense float64) {
		d := NewDormandPrince(f, 2)
		d.Rtol, d.Atol, d.MaxStep, d.FirstStep = 1e-2, 1e-2, h, h
		d.Start(0, []float64{0, 1})
		y := make([]float64, 2)
		err := run(d, 4, func(d *DormandPrince) bool {
			for th := 0.05; th < 1; th += 0.05 {
				at := d.StepStart + th*(d.T-d.StepStart)
				d.At(at, y)
				dense = max(dense, math.Abs(y[0]-math.Sin(at)))
			}
			ends = max(ends, math.Abs(d.X[0]-math.Sin(d.T)))
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		return ends, dense
	}
	e1, d1 := errs(0.5)
	e2, d2 := errs(0.25)
	e3, d3 := errs(0.125)
	t.Logf("ends %.2e %.2e %.2e, between %.2e %.2e %.2e", e1, e2, e3, d1, d2, d3)
	if p := math.Log2(e2 / e3); math.Abs(p-5) > 0.3 {
		t.Errorf("order %.2f at the ends of steps, want 5", p)
	}
	if p := math.Log2(d2 / d3); p < 3.7 || p > 5.3 {
		t.Errorf("order %.2f between them, want at least 4", p)
	}
}

// The continuous solution alone, over one step from exact values: its error is O(h⁵) with slope 5 on a double
// logarithmic plot, since order four is global.
func TestContinuousSolution(t *testing.T) {
	worst := func(h float64) (e float64) {
		d := NewDormandPrince(func(t float64, x, dx []float64) { dx[0] = x[0] * math.Cos(t) }, 1)
		d.Rtol, d.Atol, d.FirstStep = 1, 1, h
		d.Start(0.3, []float64{math.Exp(math.Sin(0.3))})
		if err := d.Step(10); err != nil {
			t.Fatal(err)
		}
		y := make([]float64, 1)
		for th := 0.0; th <= 1; th += 0.01 {
			at := 0.3 + th*h
			d.At(at, y)
			e = max(e, math.Abs(y[0]-math.Exp(math.Sin(at))))
		}
		return e
	}
	if p := math.Log2(worst(0.1) / worst(0.05)); math.Abs(p-5) > 0.25 {
		t.Errorf("local order %.2f, want 5", p)
	}
}

// Each way to end early names its cause and its place.
func TestDormandPrinceStops(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     RHS
		steps int
		cause error
		at    [2]float64
	}{
		{"pole at 1", func(t float64, x, dx []float64) { dx[0] = x[0] * x[0] }, 0, ErrStepSize, [2]float64{0.999, 1.001}},
		{"NaN beyond 0.7", func(t float64, x, dx []float64) {
			if dx[0] = 1; t > 0.7 {
				dx[0] = math.NaN()
			}
		}, 0, ErrNonFinite, [2]float64{0.6999999, 0.7}},
		{"Inf from the start", func(t float64, x, dx []float64) { dx[0] = math.Inf(1) }, 0, ErrNonFinite, [2]float64{0, 0}},
		{"stiff", func(t float64, x, dx []float64) { dx[0] = -1e7 * (x[0] - math.Cos(t)) }, 1000, ErrSteps, [2]float64{0, 1}},
	} {
		d := NewDormandPrince(c.f, 1)
		if c.steps > 0 {
			d.MaxSteps = c.steps
		}
		d.Start(0, []float64{1})
		err := run(d, 10, nil)
		var stop *Stop
		if !errors.Is(err, c.cause) || !errors.As(err, &stop) {
			t.Errorf("%s: %v, want %v", c.name, err, c.cause)
			continue
		}
		if stop.T < c.at[0] || stop.T > c.at[1] || stop.T != d.T || !numeric.AllFinite(d.X...) {
			t.Errorf("%s: stopped at %g with %v, want within %v", c.name, stop.T, d.X, c.at)
		}
		if !strings.Contains(err.Error(), "t = ") || !strings.Contains(err.Error(), c.cause.Error()) {
			t.Errorf("%s: message %q tells not where and why", c.name, err)
		}
	}
}

func TestDormandPrinceAllocs(t *testing.T) {
	d := NewDormandPrince(swing, 2)
	d.Start(0, []float64{1, 0})
	y := make([]float64, 2)
	if n := testing.AllocsPerRun(200, func() {
		if err := d.Step(1e6); err != nil {
			t.Fatal(err)
		}
		d.At(d.T, y)
	}); n != 0 {
		t.Errorf("%g allocations in a step", n)
	}
}

// The same pair of formulas in SciPy: RK45 has another step control, so only the tolerance binds the two; Radau at 1e-10 is
// the judge of both.
func TestIntegratorsAgainstSciPy(t *testing.T) {
	python := peer.Python(t, "scipy.integrate")
	cmd := exec.Command(python, "-c", `
import json, math
from scipy.integrate import solve_ivp
f = lambda t, x: [x[1], -math.sin(x[0]) - 0.1*x[1] + math.cos(1.3*t)]
ts = [0.37*k for k in range(55)]
a = solve_ivp(f, (0, 20), [1, 0], method="RK45", rtol=1e-10, atol=1e-10, t_eval=ts)
b = solve_ivp(f, (0, 20), [1, 0], method="Radau", rtol=1e-10, atol=1e-12, t_eval=ts)
print(json.dumps({"T": ts, "RK45": a.y[0].tolist(), "Radau": b.y[0].tolist()}))`)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var peer struct{ T, RK45, Radau []float64 }
	if err := json.Unmarshal(out, &peer); err != nil {
		t.Fatal(err)
	}
	f := func(t float64, x, dx []float64) {
		dx[0], dx[1] = x[1], -math.Sin(x[0])-0.1*x[1]+math.Cos(1.3*t)
	}
	d := NewDormandPrince(f, 2)
	d.Rtol, d.Atol = 1e-10, 1e-10
	d.Start(0, []float64{1, 0})
	var own []float64
	y := make([]float64, 2)
	if err := run(d, 20, func(d *DormandPrince) bool {
		for len(own) < len(peer.T) && peer.T[len(own)] <= d.T {
			d.At(peer.T[len(own)], y)
			own = append(own, y[0])
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	for k := range peer.T {
		// errors of 1e-10 a step grow along the motion to some 1e-8
		if math.Abs(own[k]-peer.RK45[k]) > 5e-8 || math.Abs(own[k]-peer.Radau[k]) > 5e-8 {
			t.Errorf("t = %g: DormandPrince %.10f; SciPy RK45 %.10f, Radau %.10f",
				peer.T[k], own[k], peer.RK45[k], peer.Radau[k])
		}
	}
}
