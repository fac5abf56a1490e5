package identify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"hilrig/engine/friction"
	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// harms are what may happen to a record; each changes it in place.
var harms = []struct {
	name string
	do   func(r *rand.Rand, d *record.Record)
}{
	{"nothing", func(*rand.Rand, *record.Record) {}},
	{"cut short", func(r *rand.Rand, d *record.Record) { cut(d, 0, 1+r.IntN(30)) }},
	{"one sample", func(_ *rand.Rand, d *record.Record) { cut(d, 0, 1) }},
	{"a third of it", func(_ *rand.Rand, d *record.Record) { cut(d, 0, d.Len()/3) }},
	{"position stands still", func(_ *rand.Rand, d *record.Record) { fill(d.Position, 0.3) }},
	{"position is zero", func(_ *rand.Rand, d *record.Record) { fill(d.Position, 0); fill(d.Velocity, 0) }},
	{"velocity is constant", func(_ *rand.Rand, d *record.Record) { fill(d.Velocity, 0.1) }},
	{"velocity is zero", func(_ *rand.Rand, d *record.Record) { fill(d.Velocity, 0) }},
	{"no velocity", func(_ *rand.Rand, d *record.Record) { d.Velocity = nil }},
	{"no position", func(_ *rand.Rand, d *record.Record) { d.Position = nil }},
	{"no force", func(_ *rand.Rand, d *record.Record) { d.Force = nil }},
	{"no reference", func(_ *rand.Rand, d *record.Record) { d.Reference = nil }},
	{"force is constant", func(_ *rand.Rand, d *record.Record) { fill(d.Force, 2) }},
	{"force is zero", func(_ *rand.Rand, d *record.Record) { fill(d.Force, 0) }},
	{"force of the wrong sign", func(_ *rand.Rand, d *record.Record) { times(d.Force, -1) }},
	{"huge", func(_ *rand.Rand, d *record.Record) { times(d.Force, 1e15); times(d.Position, 1e12) }},
	{"tiny", func(_ *rand.Rand, d *record.Record) {
		times(d.Force, 1e-18)
		times(d.Position, 1e-15)
		times(d.Velocity, 1e-15)
	}},
	{"wild samples", func(r *rand.Rand, d *record.Record) {
		for _, x := range [][]float64{d.Position, d.Force, d.Velocity} {
			for range min(len(x), 5) {
				x[r.IntN(len(x))] = 1e9 * r.NormFloat64()
			}
		}
	}},
	{"coarse", func(_ *rand.Rand, d *record.Record) { round(d.Position, 0.02); round(d.Force, 1) }},
	{"noise alone", func(r *rand.Rand, d *record.Record) {
		for _, x := range [][]float64{d.Position, d.Force, d.Velocity} {
			for k := range x {
				x[k] = r.NormFloat64()
			}
		}
	}},
	{"a step", func(_ *rand.Rand, d *record.Record) {
		for _, x := range [][]float64{d.Position, d.Force, d.Velocity} {
			for k := range x {
				x[k] = math.Floor(2 * float64(k) / float64(len(x)))
			}
		}
	}},
	{"a ramp", func(_ *rand.Rand, d *record.Record) {
		for k := range d.Position {
			d.Position[k] = 1e-3 * float64(k)
		}
	}},
	{"samples an hour apart", func(_ *rand.Rand, d *record.Record) { d.Dt = 3600 }},
	{"samples a nanosecond apart", func(_ *rand.Rand, d *record.Record) { d.Dt = 1e-9 }},
	{"channels of another length", func(_ *rand.Rand, d *record.Record) { d.Force = d.Force[:len(d.Force)/2] }},
}

func cut(d *record.Record, from, to int) {
	for _, x := range []*[]float64{&d.Position, &d.Velocity, &d.Force, &d.Reference} {
		if len(*x) > 0 {
			*x = (*x)[min(from, len(*x)):min(to, len(*x))]
		}
	}
}

func fill(x []float64, by float64) {
	for k := range x {
		x[k] = by
	}
}

func times(x []float64, by float64) {
	for k := range x {
		x[k] *= by
	}
}

// anyPlan is a plan of any method with any law.
func anyPlan(r *rand.Rand, b *bench) Plan {
	laws := []string{""}
	for _, l := range friction.Laws() {
		laws = append(laws, l.Name)
	}
	chains := []Chain{{"regress", "lm"}, {"lugre", "kalman"}, {"aep", "lm"}, {"static", "lm"}}
	for _, m := range Methods {
		chains = append(chains, Chain{m.Name})
	}
	pick := func(n int) bool { return r.IntN(n) == 0 }
	p := Plan{Methods: chains[r.IntN(len(chains))], Regress: linear.DefaultSpec(), Seed: r.Uint64N(1000),
		AEP: fit.AEP{Members: 4, Generations: 2, Islands: 1, Beta1: 0.1, Beta2: 0.05, Survivors: 1}, LagFree: pick(3)}
	p.Form = []linear.Form{"", "direct", "weak", "instrumental", "total"}[r.IntN(5)]
	p.NoiseRatio = float64(r.IntN(2)) * 1e-6
	p.Regress.Decimate = []int{1, 5, 10, 100}[r.IntN(4)]
	all := []linear.Term{linear.Inertia, linear.Viscous, linear.Coulomb, linear.Offset, linear.Stiffness, linear.ViscousPlus,
		linear.CoulombMinus}
	p.Regress.Terms = nil
	for _, t := range all {
		if !pick(3) {
			p.Regress.Terms = append(p.Regress.Terms, t)
		}
	}
	p.Model = axis.Spec{Law: laws[r.IntN(len(laws))], Asymmetric: pick(4), Hold: axis.Hold(r.IntN(2)),
		Drive:   []axis.Drive{axis.Force, axis.Spring, axis.Coast, axis.Servo}[r.IntN(4)],
		Output:  []axis.Output{axis.Position, axis.Velocity, axis.Command}[r.IntN(3)],
		Initial: []axis.Initial{axis.Measured, axis.Rest, axis.Free}[r.IntN(3)], Decimate: 1 + r.IntN(3),
		Controller: &axis.Controller{Kp: b.kp, Kv: b.kv, Gain: 1, Mean: 2}}
	for _, t := range []string{"viscous", "offset", "stiffness"} {
		if pick(2) {
			p.Model.Terms = append(p.Model.Terms, t)
		}
	}
	yes, one := true, 1.0
	if pick(5) {
		p.GivenParams = append(p.GivenParams, Given{Name: []string{"M", "Fc", "sigma0", "offset"}[r.IntN(4)], Start: &one, Fixed: &yes,
			Optional: true})
	}
	if pick(6) {
		p.LM.Kind = fit.Huber
	}
	return p
}

// describePlan says what was tried.
func describePlan(p Plan) string {
	return fmt.Sprintf("%v form %q law %q drive %d output %d initial %d terms %v regress %v decimate %d asymmetric %v given %d", p.Methods,
		p.Form, p.Model.Law, p.Model.Drive, p.Model.Output, p.Model.Initial, p.Model.Terms, p.Regress.Terms, p.Regress.Decimate,
		p.Model.Asymmetric, len(p.GivenParams))
}

// mostSimulations is what a run of the random test may cost; a descent of eight parameters takes some hundreds.
const mostSimulations = 100_000

// attemptAny runs a plan on records and says what is not allowed: only a result with finite values, or a refusal in words.
func attemptAny(p Plan, recs Records) (bad string) {
	defer func() {
		if e := recover(); e != nil {
			bad = fmt.Sprintf("panic: %v\n%s", e, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	r, err := Run(ctx, p, recs, nil, nil)
	if ctx.Err() != nil {
		return "no end after five minutes"
	}
	if slip := panicOf(err); slip != nil || err == nil && r.Panic != nil {
		if slip == nil {
			slip = r.Panic
		}
		return fmt.Sprintf("panic: %v\n%s", slip, slip.Stack)
	}
	if err != nil {
		var data *record.Error
		var param *fit.ParamError
		var spec *linear.SpecError
		var unknown *linear.Unidentifiable
		if !errors.As(err, &data) && !errors.As(err, &param) && !errors.As(err, &spec) && !errors.As(err, &unknown) {
			return fmt.Sprintf("an error of no kind that the program knows: %T %v", err, err)
		}
		if s := err.Error(); len(s) < 15 || strings.Contains(s, "NaN") || strings.Contains(s, "%!") {
			return "a refusal that says nothing: " + s
		}
		return ""
	}
	sum := 0
	for _, s := range r.Stages {
		sum += s.Evaluations
	}
	if sum > mostSimulations {
		return fmt.Sprintf("%d simulations", sum)
	}
	if !slices.Contains([]Verdict{Identified, Weak, Rejected}, r.Verdict) || r.Verdict != Identified && len(r.Reasons) == 0 {
		return fmt.Sprintf("verdict %q with %d reasons", r.Verdict, len(r.Reasons))
	}
	for _, q := range r.Parameters {
		if math.IsNaN(q.Value) || math.IsInf(q.Value, 0) {
			return fmt.Sprintf("%s is %g", q.Name, q.Value)
		}
		if se := r.Err(&q); r.Verdict == Identified && !q.Fixed && !fit.IsState(q.Name) && se == nil {
			return fmt.Sprintf("identified, but nothing is known of %s", q.Name)
		}
	}
	return ""
}

// randomRuns tries so many plans on damaged records.
func randomRuns(t *testing.T, first, n uint64) {
	for seed := first; seed < first+n; seed++ {
		r := rand.New(rand.NewPCG(seed, 31))
		b := newBench(seed, 0.8)
		if r.IntN(3) == 0 {
			f := &b.axis.Friction
			f.Sigma0, f.Sigma1, f.Fs, f.Vs = 1e4*b.axis.M, 100*b.axis.M, 1.4*f.Fc, 0.02
		}
		b.sensors.Velocity = 1e-3
		var recs []*record.Record
		var said []string
		tr := b.run()
		for range 1 + r.IntN(2) {
			d := tr.Record(b.sensors, b.ref)
			for range 1 + r.IntN(2) {
				h := harms[r.IntN(len(harms))]
				h.do(r, d)
				said = append(said, h.name)
			}
			recs = append(recs, d)
		}
		p := anyPlan(r, b)
		all := Records{Fit: recs}
		switch p.Methods[0] {
		case "joint":
			all.Loop = recs[:1]
		case "two-joint":
			all.Second = recs
		}
		began := time.Now()
		bad := attemptAny(p, all)
		if d := time.Since(began); d > 2*time.Second {
			t.Logf("seed %d took %.1f s: %v %s", seed, d.Seconds(), said, describePlan(p))
		}
		if bad != "" {
			t.Errorf("seed %d, %v, %s:\n%s", seed, said, describePlan(p), bad)
		}
	}
}

// Any method on any law and any damaged record gives a result, or refuses in words.
func TestRandomRunsEndWell(t *testing.T) { randomRuns(t, 100, 40) }
