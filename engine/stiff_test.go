package engine

import (
	"math"
	"testing"
)

// turnStiff integrates from x to end with the implicit method after a few explicit steps.
func turnStiff(t *testing.T, f RHS, x []float64, end, tol float64) *DormandPrince {
	d := NewDormandPrince(f, len(x))
	d.Rtol, d.Atol, d.StiffAfter = tol, 1e-4*tol, 100
	d.Start(0, x)
	for d.T < end {
		if err := d.Step(end); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// Published solutions of stiff problems: VDPOL and ROBER of [HW96] IV.10, with the reference values of their test set.
func TestStiffReferences(t *testing.T) {
	const eps = 1e-6
	for _, c := range []struct {
		name   string
		f      RHS
		x      []float64
		end    float64
		want   []float64
		within float64
	}{
		{"Van der Pol", func(_ float64, x, dx []float64) { dx[0], dx[1] = x[1], ((1-x[0]*x[0])*x[1]-x[0])/eps },
			[]float64{2, -0.66}, 2, []float64{1.706167732170483, -0.8928097010247975}, 1e-6},
		{"Robertson", func(_ float64, x, dx []float64) {
			dx[0] = -0.04*x[0] + 1e4*x[1]*x[2]
			dx[2] = 3e7 * x[1] * x[1]
			dx[1] = -dx[0] - dx[2]
		}, []float64{1, 0, 0}, 40, []float64{0.7158270687, 9.185534765e-6, 0.2841637457}, 1e-8},
	} {
		d := turnStiff(t, c.f, c.x, c.end, 1e-9)
		for i, w := range c.want {
			if math.Abs(d.X[i]-w) > c.within*math.Abs(w)+1e-13 {
				t.Errorf("%s: x[%d] = %.12g, want %.12g", c.name, i, d.X[i], w)
			}
		}
		if d.StiffFrom != d.StiffFrom || d.Accepted > 6000 {
			t.Errorf("%s: %d steps, implicit from %g s", c.name, d.Accepted, d.StiffFrom)
		}
		t.Logf("%s: %d steps, %d rejected, implicit from %.3g s", c.name, d.Accepted, d.Rejected, d.StiffFrom)
	}
}

// A fast relaxation towards cos t, beside an oscillator and an integral on which nothing depends: all have closed forms, at the steps,
// between them, and backwards in none. The integral has no column in the matrix.
func TestStiffClosedForm(t *testing.T) {
	const rate, end = 1e7, 20.0
	d := NewDormandPrince(func(t float64, x, dx []float64) {
		dx[0] = -rate*(x[0]-math.Cos(t)) - math.Sin(t)
		dx[1], dx[2] = x[2], -4*x[1]
		dx[3] = x[0] * x[0]
	}, 4)
	d.Rtol, d.Atol, d.StiffAfter, d.Depends = 1e-10, 1e-12, 200, 3
	d.Start(0, []float64{1, 1, 0, 0})
	worst, inside := 0.0, 0.0
	off := func(t float64, x []float64) float64 {
		s, c := math.Sincos(t)
		s2, c2 := math.Sincos(2 * t)
		return max(math.Abs(x[0]-c), math.Abs(x[1]-c2), math.Abs(x[2]+2*s2), math.Abs(x[3]-(t+s*c)/2))
	}
	x := make([]float64, 4)
	for d.T < end {
		if err := d.Step(end); err != nil {
			t.Fatal(err)
		}
		worst = max(worst, off(d.T, d.X))
		for _, share := range []float64{0.2, 0.5, 0.9, 1} {
			at := d.StepStart + share*(d.T-d.StepStart)
			if share == 1 {
				at = d.T
			}
			d.At(at, x)
			inside = max(inside, off(at, x))
		}
	}
	t.Logf("%d steps, %d rejected, off by %.2g, between by %.2g", d.Accepted, d.Rejected, worst, inside)
	if worst > 2e-8 || inside > 2e-8 || d.Accepted > 5000 {
		t.Errorf("%d steps, off by %.2g, between them by %.2g", d.Accepted, worst, inside)
	}
}

// What is not stiff stays explicit, however many steps it takes.
func TestNotStiff(t *testing.T) {
	d := NewDormandPrince(func(_ float64, x, dx []float64) { dx[0], dx[1] = x[1], -x[0] }, 2)
	d.Rtol, d.Atol, d.StiffAfter = 1e-12, 1e-14, 50
	d.Start(0, []float64{1, 0})
	for d.T < 200 {
		if err := d.Step(200); err != nil {
			t.Fatal(err)
		}
	}
	if d.StiffFrom == d.StiffFrom || math.Abs(d.X[0]-math.Cos(200)) > 1e-8 {
		t.Errorf("implicit from %g s, off by %g", d.StiffFrom, d.X[0]-math.Cos(200))
	}
}
