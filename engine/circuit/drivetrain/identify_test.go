package drivetrain

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/identify/fit"
)

// The record: example A under a voltage that goes up and down, without a reversal, measured are current and motor angle every millisecond.
const (
	recordDt   = 1e-3 // s
	recordRows = 500
	noiseI     = 0.05 // A
	noiseAngle = 5e-3 // rad
)

var voltage = reference.Step{Offset: 3, Amplitude: 12, Frequency: 5}

// recordA integrates the equations of theory 1.7 by the classical Runge–Kutta method at 20 µs. Nothing of the package is used.
func recordA() (i, angle []float64) {
	const r, l, k, jm, bm, n, ks, cs, jl, bl = 1, 2e-3, 0.05, 1e-4, 1e-5, 10, 50, 0.02, 0.02, 0.01
	f := func(u float64, x [5]float64) (d [5]float64) {
		t := ks*(x[1]/n-x[3]) + cs*(x[2]/n-x[4])
		d[0] = (u - r*x[0] - k*x[2]) / l
		d[1], d[2] = x[2], (k*x[0]-bm*x[2]-t/n)/jm
		d[3], d[4] = x[4], (t-bl*x[4]-0.5*math.Tanh(x[4]/0.01))/jl
		return d
	}
	var x [5]float64
	const sub = 50
	h := recordDt / sub
	step := func(a [5]float64, s float64, b [5]float64) (c [5]float64) {
		for i := range c {
			c[i] = a[i] + s*b[i]
		}
		return c
	}
	for row := range recordRows {
		u, _, _ := voltage.At((float64(row) + 0.5) * recordDt)
		for range sub {
			k1 := f(u, x)
			k2 := f(u, step(x, h/2, k1))
			k3 := f(u, step(x, h/2, k2))
			k4 := f(u, step(x, h, k3))
			for i := range x {
				x[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
			}
		}
		i, angle = append(i, x[0]), append(angle, x[1])
	}
	return i, angle
}

// free are the parameters of the fit, with their truth and a start well off it.
var free = []struct {
	name         string
	truth, start float64
}{
	{"motor.K", 0.05, 0.055}, {"shaft.K", 50, 42}, {"motor.R", 1, 1.2}, {"shaft.C", 0.02, 0.03}, {"load.J", 0.02, 0.023},
	{"load friction.Fc", 0.5, 0.4},
}

// evaluatorA runs the machine with fixed steps of a quarter of a millisecond.
type evaluatorA struct {
	tr    *Train
	theta []float64 // all parameters
	at    []int     // of the free ones
	begin []float64
	x     []float64
	y     []float64 // measured, weighted
}

func newEvaluatorA(y []float64) *evaluatorA {
	c, err := circuit.Build(circuit.Spec{Axes: 2, Elements: []circuit.Element{
		&circuit.VoltageSource{Name: "supply", FromNode: "+", ToNode: "0", U: voltage},
		&circuit.DC{Name: "motor", FromNode: "+", ToNode: "0", Motor: plant.Motor{R: 1, L: 2e-3, K: 0.05}, Axis: 0},
	}})
	if err != nil {
		panic(err)
	}
	tr, err := New(Inertias{{Name: "rotor", J: 1e-4}, {Name: "load", J: 0.02}}, []Part{c,
		&Bearing{Label: "motor bearing", Twist: Twist{A: 0, B: Ground}, Law: &friction.Viscous{Fv: 1e-5, Delta: 1}},
		&Shaft{Label: "shaft", Twist: Twist{A: 0, B: 1, Ratio: 10}, K: 50, C: 0.02},
		&Bearing{Label: "load bearing", Twist: Twist{A: 1, B: Ground}, Law: &friction.Viscous{Fv: 0.01, Delta: 1}},
		&Bearing{Label: "load friction", Twist: Twist{A: 1, B: Ground}, Law: &friction.Coulomb{Fc: 0.5}, Speed: 0.01}}, nil)
	if err != nil {
		panic(err)
	}
	e := &evaluatorA{tr: tr, y: y, begin: tr.NewState(), x: tr.NewState()}
	ps := tr.Params()
	for _, p := range ps {
		e.theta = append(e.theta, p.Value)
	}
	for _, f := range free {
		e.at = append(e.at, slices.IndexFunc(ps, func(p engine.Param) bool { return p.Name == f.name }))
	}
	return e
}

func (e *evaluatorA) Residuals(theta, r []float64) engine.Status {
	for k, v := range theta {
		e.theta[e.at[k]] = v
	}
	st := engine.OK
	if e.tr.SetParams(e.theta) != nil {
		st = engine.NonFinite
	}
	copy(e.x, e.begin)
	const sub = 4
	for row := range recordRows {
		for s := range sub {
			if st != engine.NonFinite {
				st = worse(st, e.tr.Step(float64(row)*recordDt+float64(s)*recordDt/sub, recordDt/sub, e.x))
			}
		}
		r[row], r[recordRows+row] = e.x[4]/noiseI-e.y[row], e.x[0]/noiseAngle-e.y[recordRows+row]
	}
	return st
}

func (e *evaluatorA) Measured() ([]float64, string, []int, float64) {
	return e.y, "", []int{0, recordRows}, recordDt
}

// fitA fits a record with the noise of a seed and says for each parameter how far off it is, relative, and whether its interval holds
// the truth.
func fitA(t *testing.T, i, angle []float64, seed uint64) (off []float64, held []bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1803))
	var y []float64
	for _, v := range i {
		y = append(y, v/noiseI+rng.NormFloat64())
	}
	for _, v := range angle {
		y = append(y, v/noiseAngle+rng.NormFloat64())
	}
	p := &fit.Problem{Rows: 2 * recordRows, NewEvaluator: func() fit.Evaluator { return newEvaluatorA(y) }}
	for _, f := range free {
		p.Params = append(p.Params, fit.Param{Param: engine.Param{Name: f.name, Value: f.start, Lo: f.truth / 10, Hi: f.truth * 10}, Log: true})
	}
	s, err := fit.LM{Workers: 1, Steps: []float64{1e-3}}.Fit(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := fit.Assess(s)
	if err != nil {
		t.Fatal(err)
	}
	for k, f := range free {
		e := a.Estimates[k]
		ci := e.Interval(a.Residual.White)
		off = append(off, s.Params[k].Value/f.truth-1)
		held = append(held, ci != nil && ci[0] <= f.truth && f.truth <= ci[1])
	}
	return off, held
}

// coverage fits so many records and counts the intervals that hold.
func coverage(t *testing.T, seeds int) {
	i, angle := recordA()
	counts := make([]int, len(free))
	worst := make([]float64, len(free))
	for seed := range uint64(seeds) {
		off, held := fitA(t, i, angle, seed)
		for k := range free {
			worst[k] = max(worst[k], math.Abs(off[k]))
			if held[k] {
				counts[k]++
			}
		}
	}
	all := 0
	for k, f := range free {
		t.Logf("%-16s largest error %.3f %%, %d of %d intervals hold", f.name, 100*worst[k], counts[k], seeds)
		all += counts[k]
		if k < 2 && worst[k] > 0.01 {
			t.Errorf("%s: off by %.2f %%, want 1", f.name, 100*worst[k])
		}
		// 95 %: less than this happens once in 2000
		least := float64(seeds)*0.95 - 3.3*math.Sqrt(float64(seeds)*0.95*0.05) - 0.5
		if float64(counts[k]) < least {
			t.Errorf("%s: %d of %d intervals hold the truth", f.name, counts[k], seeds)
		}
	}
	if n := len(free) * seeds; seeds >= 50 && float64(all) > 0.99*float64(n) {
		t.Errorf("%d of %d intervals hold: they are too wide", all, n)
	}
}

// Motor constant and stiffness of the shaft come out of a noisy record of an independent program within 1 %, with intervals that hold.
func TestIdentifyExampleA(t *testing.T) { coverage(t, 2) }
