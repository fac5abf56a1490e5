package fit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
)

// decays are records of a·exp(−b·t) + c_i + d_i·t, each with c_i and d_i of its own: parameters a, b, then c_1, d_1, c_2 …
type decays struct {
	y [][]float64 // by record
}

func (d *decays) Residuals(theta, r []float64) engine.Status {
	row := 0
	for i, y := range d.y {
		c, slope := theta[2+2*i], theta[3+2*i]
		for k := range y {
			t := float64(k) / float64(len(y))
			r[row] = theta[0]*math.Exp(-theta[1]*t) + c + slope*t*t*t - y[k]
			row++
		}
	}
	return engine.OK
}

func (d *decays) Measured() (y []float64, quantity string, pieces []int, dt float64) {
	for _, x := range d.y {
		pieces = append(pieces, len(y))
		y = append(y, x...)
	}
	return y, "decay", pieces, 0.01
}

// decaying is a problem of n records; without local parameters it is fitted as a whole.
func decaying(n int, local bool) *Problem {
	rng := rand.New(rand.NewPCG(7, 1))
	d := &decays{}
	p := &Problem{Params: []Param{
		{Param: engine.Param{Name: "a", Value: 1, Lo: 0.1, Hi: 10}, Log: true},
		{Param: engine.Param{Name: "b", Value: 1, Lo: 0.1, Hi: 20}, Log: true},
	}}
	for i := range n {
		c, slope := rng.NormFloat64(), rng.NormFloat64()
		y := make([]float64, 40+3*i)
		for k := range y {
			t := float64(k) / float64(len(y))
			y[k] = 2*math.Exp(-3*t) + c + slope*t*t*t + 0.05*rng.NormFloat64()
		}
		d.y = append(d.y, y)
		j := len(p.Params)
		for _, name := range []string{"x0", "v0"} {
			q := Param{Param: engine.Param{Name: fmt.Sprintf("%s[%d]", name, i+1), Lo: -5, Hi: 5}}
			if i == 1 && name == "v0" { // held by its bound
				q.Lo, q.Value = slope+0.3, slope+2
				q.Hi = slope + 9
			}
			p.Params = append(p.Params, q)
		}
		if local {
			p.Local = append(p.Local, Local{Params: []int{j, j + 1}, FirstRow: p.Rows, EndRow: p.Rows + len(y)})
		}
		p.Rows += len(y)
	}
	p.NewEvaluator = func() Evaluator { return &decays{y: d.y} }
	return p
}

// Local parameters change nothing but the work: the minimum is that of the whole problem, and classical errors are the roots of the
// diagonal of s²(JᵀJ)⁻¹, here by the inverse of the whole matrix. The noise is white: robust errors are the same but for chance.
func TestLocalParameters(t *testing.T) {
	const n = 12
	var ends [2]*Solution
	for i, local := range []bool{false, true} {
		s, err := LM{OffsetTol: 1e-9, CostTol: 1e-15, Workers: 2}.Fit(context.Background(), decaying(n, local), nil)
		if err != nil || !s.Converged {
			t.Fatalf("%v, %v", err, s)
		}
		ends[i] = s
	}
	whole, own := ends[0], ends[1]
	for j := range whole.Params {
		if a, b := whole.Params[j].Value, own.Params[j].Value; math.Abs(a-b) > 1e-8*(1+math.Abs(a)) {
			t.Errorf("%s is %.12g, of the whole problem %.12g", whole.Params[j].Name, b, a)
		}
	}
	if math.Abs(whole.Cost-own.Cost) > 1e-10*whole.Cost || len(own.FreeParams) != 2 || len(own.Local) != n {
		t.Errorf("cost %g and %g, %d of all free", whole.Cost, own.Cost, len(own.FreeParams))
	}
	if own.Evaluations > whole.Evaluations/2 {
		t.Errorf("%d simulations, of the whole problem %d", own.Evaluations, whole.Evaluations)
	}

	a, err := Assess(own)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Assess(whole)
	if err != nil {
		t.Fatal(err)
	}
	var jtj, inv mat.Dense
	jac := mat.NewDense(len(whole.Residual), len(whole.FreeParams), whole.Jac)
	jtj.Mul(jac.T(), jac)
	if err := inv.Inverse(&jtj); err != nil {
		t.Fatal(err)
	}
	s2 := 2 * whole.Cost / float64(len(whole.Residual)-len(whole.FreeParams))
	for k, place := range own.Searched() {
		e := a.Estimates[k]
		if want := math.Sqrt(s2 * inv.At(place, place)); e.Name != whole.Params[place].Name || math.Abs(*e.StdErr-want) > 1e-6*want {
			t.Errorf("%s ± %g, want %g", e.Name, *e.StdErr, want)
		}
		if r := *e.RobustErr / *e.StdErr; k < 2 && math.Abs(r-1) > 0.1 || e.AtBound == "" && (r < 0.5 || r > 2) {
			t.Errorf("%s: robust error %g, classical %g of white noise", e.Name, *e.RobustErr, *e.StdErr)
		}
	}
	if a.Fit.Params != b.Fit.Params || math.Abs(*a.Fit.AICc-*b.Fit.AICc) > 1e-6 {
		t.Errorf("%+v, of the whole problem %+v", a.Fit, b.Fit)
	}

	// the linear model answers a change of the rows like that of the whole problem
	dy := make([]float64, len(own.Residual))
	for k := range dy {
		dy[k] = 0.01 * math.Sin(float64(k))
	}
	l, w := NewLinear(own), NewLinear(whole)
	move, want := l.Move(dy), w.Move(dy)
	for k, place := range own.Searched() {
		if math.Abs(move[k]-want[place]) > 1e-8 {
			t.Errorf("%s moves by %g, want %g", own.Params[place].Name, move[k], want[place])
		}
	}
	if x, y := l.RMSAfter(dy, move), w.RMSAfter(dy, want); math.Abs(x-y) > 1e-9*y {
		t.Errorf("%g is left, want %g", x, y)
	}
}

// Work grows with the number of records, not with its square.
func TestLocalParametersWork(t *testing.T) {
	var simulations [2]int
	for i, n := range []int{4, 40} {
		s, err := LM{Workers: 1}.Fit(context.Background(), decaying(n, true), nil)
		if err != nil {
			t.Fatal(err)
		}
		simulations[i] = s.Evaluations
	}
	if simulations[1] > 2*simulations[0] {
		t.Errorf("%d simulations of 40 records, %d of 4", simulations[1], simulations[0])
	}
}
