package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/numeric"
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
	return &Problem{Params: params, Rows: rows, NewEvaluator: func() Evaluator { return f }}
}

// Test functions of [MGH81] with the minima printed there.
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

func ExampleLM() {
	// a decay, measured without noise
	params := []Param{
		{Param: engine.Param{Name: "size", Unit: "V", Value: 1, Lo: 0.01, Hi: 100}, Log: true},
		{Param: engine.Param{Name: "rate", Unit: "1/s", Value: 1, Lo: 0.01, Hi: 100}, Log: true},
	}
	p := problem(50, func(x, r []float64) {
		for k := range r {
			t := 0.02 * float64(k)
			r[k] = x[0]*math.Exp(-x[1]*t) - 5*math.Exp(-3*t)
		}
	}, params...)
	s, err := LM{}.Fit(context.Background(), p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range s.Params {
		fmt.Printf("%s = %.6f %s\n", q.Name, q.Value, q.Unit)
	}
	// Output:
	// size = 5.000000 V
	// rate = 3.000000 1/s
}

// The minimum of Rosenbrock's function within bounds lies on one of them, on x = y² or in a corner: known by hand.
func TestMinimaOnBounds(t *testing.T) {
	for _, c := range []struct {
		start, lo, hi, want []float64
		bound               string
	}{
		{[]float64{-1.2, 1}, []float64{-2, -2}, []float64{0.5, 2}, []float64{0.5, 0.25}, "[a]"},
		{[]float64{2, 2}, []float64{1.5, -2}, []float64{3, 2}, []float64{1.5, 2}, "[a b]"},
		{[]float64{2, 3}, []float64{1.5, -2}, []float64{3, 3}, []float64{1.5, 2.25}, "[a]"},
		{[]float64{-1.2, -1}, []float64{-2, -2}, []float64{2, 0}, []float64{0.161262, 0}, "[b]"}, // 200·a³ = 1 − a
		{[]float64{0, 0}, []float64{0, 0}, []float64{2, 2}, []float64{1, 1}, "[]"},               // begins in a corner
	} {
		p := problem(2, func(x, r []float64) { r[0], r[1] = 10*(x[1]-x[0]*x[0]), 1-x[0] },
			free("a", c.start[0], c.lo[0], c.hi[0]), free("b", c.start[1], c.lo[1], c.hi[1]))
		s, err := LM{}.Fit(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := Values(s.Params)
		t.Log(got, s.Extra["on_bound"], s.Iterations, s.Reason)
		if math.Abs(got[0]-c.want[0]) > 5e-5 || math.Abs(got[1]-c.want[1]) > 5e-5 || !s.Converged || fmt.Sprint(s.Extra["on_bound"]) != c.bound {
			t.Errorf("%.6v on bounds %v (%s), want %v on %s", got, s.Extra["on_bound"], s.Reason, c.want, c.bound)
		}
	}
}

func TestEveryMistakeIsTold(t *testing.T) {
	p := problem(2, func(x, r []float64) {}, free("a", 5, 0, 1), logarithmic("b", 1, 0, 2), free("c", 1, 0, 2))
	p.Params[2].Fixed = true
	m := LM{Horizons: []float64{1.5}, Loss: Loss{Kind: Huber}}
	_, err := m.Fit(context.Background(), p, nil)
	var bad *ParamError
	if !errors.As(err, &bad) {
		t.Fatal(err)
	}
	for _, want := range []string{"a: the start 5", "b: searched in its logarithm", "c is fixed", "2 numbers cannot determine 3",
		"horizon 1.5", "huber has the scale 0"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
	p = problem(3, func(x, r []float64) { r[1] = math.NaN() }, free("a", 1, 0, 2))
	if _, err := (LM{}).Fit(context.Background(), p, nil); err == nil || !strings.Contains(err.Error(), "a = 1") {
		t.Errorf("a model that fails at the start: %v", err)
	}
	if _, err := (MultiStart{}).Fit(context.Background(), p, nil); err == nil || !strings.Contains(err.Error(), "none of 5 starts") {
		t.Errorf("a model that fails everywhere: %v", err)
	}
}

// A model that fails beyond a cliff is fitted up to it; NaN goes nowhere.
func TestCliffIsSteppedBackFrom(t *testing.T) {
	p := problem(20, func(x, r []float64) {
		for k := range r {
			u := float64(k) / 10
			r[k] = x[0]*math.Exp(x[1]*u) - 2*math.Exp(0.95*u)
			if x[1] > 1 {
				r[k] = math.NaN()
			}
		}
	}, free("a", 0.2, 0, 10), free("b", -3, -5, 5))
	s, err := LM{}.Fit(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(s.Params[1].Value-0.95) > 1e-6 || !numeric.AllFinite(s.Jac...) || !numeric.AllFinite(s.Residual...) {
		t.Errorf("b = %g, want 0.95 (%s)", s.Params[1].Value, s.Reason)
	}
}

// A simulator that answers in steps is fitted to about a step, and said to be rough.
func TestRuggedModelEndsHonestly(t *testing.T) {
	const q = 1e-3
	p := problem(200, func(x, r []float64) {
		for k := range r {
			u := float64(k) / 100
			r[k] = math.Round(x[0]*math.Exp(-x[1]*u)/q)*q - 3*math.Exp(-1.3*u)
		}
	}, logarithmic("a", 1, 0.1, 10), logarithmic("b", 1, 0.1, 10))
	s, err := LM{}.Fit(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(Values(s.Params), s.Reason, s.Converged, s.Evaluations)
	if math.Abs(s.Params[0].Value-3) > q || math.Abs(s.Params[1].Value-1.3) > q || s.Evaluations > 150 || len(s.Notes) != 1 {
		t.Errorf("%v after %d evaluations (%s)", Values(s.Params), s.Evaluations, s.Reason)
	}

	// differences far below a step see nothing, and the start is no answer
	s, err = LM{Steps: []float64{1e-9}}.Fit(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(Values(s.Params), s.Reason, s.Converged, s.Evaluations)
	if s.Converged {
		t.Errorf("called converged: %v (%s)", Values(s.Params), s.Reason)
	}
}

func TestParameterWithoutEffectStays(t *testing.T) {
	p := problem(30, func(x, r []float64) {
		for k := range r {
			r[k] = x[0]*float64(k) - 2*float64(k) + math.Sin(float64(7*k))
		}
	}, free("slope", 1, 0, 10), logarithmic("idle", 5, 0.1, 10), free("idler", 0, -1, 1))
	s, err := LM{}.Fit(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Params[1].Value != 5 || s.Params[2].Value != 0 || !s.Converged {
		t.Errorf("%v (%s)", Values(s.Params), s.Reason)
	}
}

func TestBudgets(t *testing.T) {
	p := toneProblem(300, 0.01)
	s, err := LM{MaxEvaluations: 30}.Fit(context.Background(), p, nil)
	if err != nil || s.Converged || s.Evaluations > 30+2*2*len(p.Params) || !strings.Contains(s.Reason, "simulations") {
		t.Errorf("%v: %d evaluations, %s", err, s.Evaluations, s.Reason)
	}
	s, err = LM{MaxIterations: 2, Steps: []float64{1e-3}}.Fit(context.Background(), p, nil)
	if err != nil || s.Converged || s.Iterations != 2 || !strings.Contains(s.Reason, "2 steps") {
		t.Errorf("%v: %d steps, %s", err, s.Iterations, s.Reason)
	}
}

func TestStepsAllocateNothing(t *testing.T) {
	p := nistProblem("MGH10")
	allocations := func(steps int) float64 {
		m := LM{Workers: 1, MaxIterations: steps, Steps: []float64{1e-3}}
		return testing.AllocsPerRun(5, func() {
			s, _ := m.Fit(context.Background(), p, nil)
			if s.Iterations != steps {
				t.Fatalf("%d steps, want %d", s.Iterations, steps)
			}
		})
	}
	if few, many := allocations(10), allocations(110); many > few+2 {
		t.Errorf("%g allocations for 10 steps, %g for 110", few, many)
	}
}
