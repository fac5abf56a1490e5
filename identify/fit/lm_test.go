package fit

import (
	"context"
	"math"
	"testing"

	"hilrig/engine"
)

// formula is an evaluator of a function in closed form.
type formula func(x, r []float64)

func (f formula) Residuals(x, r []float64) engine.Status { f(x, r); return engine.OK }

func free(name string, start, lo, hi float64) Param {
	return Param{Param: engine.Param{Name: name, Value: start, Lo: lo, Hi: hi}}
}

var inf = math.Inf(1)

func unbounded(start ...float64) (p []Param) {
	for i, v := range start {
		p = append(p, free(string(rune('a'+i)), v, -inf, inf))
	}
	return p
}

func problem(rows int, f formula, params ...Param) *Problem {
	return &Problem{Params: params, Rows: rows, New: func() Evaluator { return f }}
}

// More, Garbow, Hillstrom: Testing unconstrained optimization software, ACM TOMS 7 (1981) 17: minima as printed there.
func TestKnownMinima(t *testing.T) {
	bardY := []float64{.14, .18, .22, .25, .29, .32, .35, .39, .37, .58, .73, .96, 1.34, 2.10, 4.39}
	kowY := []float64{.1957, .1947, .1735, .16, .0844, .0627, .0456, .0342, .0323, .0235, .0246}
	kowU := []float64{4, 2, 1, .5, .25, .167, .125, .1, .0833, .0714, .0625}
	meyerY := []float64{34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872}
	osborneY := []float64{.844, .908, .932, .936, .925, .908, .881, .850, .818, .784, .751, .718, .685, .658, .628, .603, .580, .558,
		.538, .522, .506, .490, .478, .467, .457, .448, .438, .431, .424, .420, .414, .411, .406}
	for _, c := range []struct {
		name string
		p    *Problem
		sum  float64 // of squares
		tol  float64 // of the sum, absolute
	}{
		{"rosenbrock", problem(2, func(x, r []float64) { r[0], r[1] = 10*(x[1]-x[0]*x[0]), 1-x[0] }, unbounded(-1.2, 1)...), 0, 1e-20},
		{"freudenstein-roth", problem(2, func(x, r []float64) {
			r[0], r[1] = -13+x[0]+((5-x[1])*x[1]-2)*x[1], -29+x[0]+((x[1]+1)*x[1]-14)*x[1]
		}, unbounded(0.5, -2)...), 48.98425, 1e-4},
		{"powell singular", problem(4, func(x, r []float64) {
			r[0], r[1] = x[0]+10*x[1], math.Sqrt(5)*(x[2]-x[3])
			r[2], r[3] = (x[1]-2*x[2])*(x[1]-2*x[2]), math.Sqrt(10)*(x[0]-x[3])*(x[0]-x[3])
		}, unbounded(3, -1, 0, 1)...), 0, 1e-12},
		{"bard", problem(15, func(x, r []float64) {
			for i := range r {
				u, v := float64(i+1), float64(15-i)
				r[i] = bardY[i] - (x[0] + u/(v*x[1]+min(u, v)*x[2]))
			}
		}, unbounded(1, 1, 1)...), 8.21487e-3, 1e-8},
		{"kowalik-osborne", problem(11, func(x, r []float64) {
			for i, u := range kowU {
				r[i] = kowY[i] - x[0]*(u*u+u*x[1])/(u*u+u*x[2]+x[3])
			}
		}, unbounded(.25, .39, .415, .39)...), 3.07505e-4, 1e-9},
		{"meyer", problem(16, func(x, r []float64) {
			for i := range r {
				r[i] = x[0]*math.Exp(x[1]/(45+5*float64(i+1)+x[2])) - meyerY[i]
			}
		}, unbounded(.02, 4000, 250)...), 87.9458, 1e-4},
		{"box 3d", problem(10, func(x, r []float64) {
			for i := range r {
				u := 0.1 * float64(i+1)
				r[i] = math.Exp(-u*x[0]) - math.Exp(-u*x[1]) - x[2]*(math.Exp(-u)-math.Exp(-10*u))
			}
		}, unbounded(0, 10, 20)...), 0, 1e-20},
		{"osborne 1", problem(33, func(x, r []float64) {
			for i := range r {
				u := 10 * float64(i)
				r[i] = osborneY[i] - (x[0] + x[1]*math.Exp(-u*x[3]) + x[2]*math.Exp(-u*x[4]))
			}
		}, unbounded(.5, 1.5, -1, .01, .02)...), 5.46489e-5, 1e-10},
		{"brown badly scaled", problem(3, func(x, r []float64) {
			r[0], r[1], r[2] = x[0]-1e6, x[1]-2e-6, x[0]*x[1]-2
		}, unbounded(1, 1)...), 0, 1e-12},
		{"jennrich-sampson", problem(10, func(x, r []float64) {
			for i := range r {
				u := float64(i + 1)
				r[i] = 2 + 2*u - (math.Exp(u*x[0]) + math.Exp(u*x[1]))
			}
		}, unbounded(.3, .4)...), 124.362, 1e-3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := LM{MaxIterations: 1000}.Fit(context.Background(), c.p, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%.8g after %d steps, %d evaluations: %s; offset %v", 2*s.Cost, s.Iterations, s.Evaluations, s.Reason, s.Extra["relative_offset"])
			for _, p := range s.Params {
				t.Logf("%s = %.8g", p.Name, p.Value)
			}
			if math.Abs(2*s.Cost-c.sum) > c.tol || !s.Converged {
				t.Errorf("sum of squares %.9g (converged %v), want %.9g", 2*s.Cost, s.Converged, c.sum)
			}
		})
	}
}
