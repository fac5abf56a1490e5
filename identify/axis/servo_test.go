package axis

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/peer"
	"hilrig/identify/fit"
	"hilrig/identify/independent"
	"hilrig/identify/record"
)

func empsRecord(t testing.TB) *record.Record {
	t.Helper()
	path := peer.SharedRecord(t, "emps/emps_estimation.csv.gz")
	recs, err := record.Read(path, record.Mapping{
		Time:      record.Column{Name: "time_s", Unit: "s", Scale: 1},
		Position:  record.Column{Name: "position_m", Unit: "m", Scale: 1},
		Force:     record.Column{Name: "command_V", Unit: "V", Scale: 35.15065188248547},
		Reference: record.Column{Name: "reference_m", Unit: "m", Scale: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return recs[0]
}

func empsController() *Controller {
	return &Controller{Kp: 160.18, Kv: 243.45, Limit: 10, Gain: 35.15065188248547, Mean: 2}
}

// modelOf is a model of the record with its lag fixed at zero or free.
func modelOf(t testing.TB, spec Spec, free bool, pieces ...*record.Record) (*Model, []fit.Param) {
	t.Helper()
	l, err := New(spec, pieces)
	if err != nil {
		t.Fatal(err)
	}
	ps := l.Params()
	for i := range ps {
		if ps[i].Name == "lag" {
			ps[i].Fixed = !free
		}
	}
	return l, ps
}

// made is the record of a contact of known numbers in the controller of empsController, which follows ref (m, at 1 kHz), with
// an added force where pulse is not nil. It is integrated apart from the models. Numbers: M, sigma0, sigma1, sigma2, Fc, Fs, vs,
// offset, lag (s), and Fc-, Fs-, sigma2- of the other direction.
func made(t testing.TB, values map[string]float64, ref, pulse []float64) *record.Record {
	t.Helper()
	const h = 1e-3
	c := empsController()
	reference := func(at float64) float64 { return ref[min(int(math.Round(at/h)), len(ref)-1)] }
	f := independent.Friction{Sigma0: values["sigma0"], Sigma1: values["sigma1"], Sigma2: values["sigma2"], Fc: values["Fc"],
		Fs: values["Fs"], Vs: values["vs"]}
	if _, f.Split = values["Fc-"]; f.Split {
		f.FcBack, f.FsBack, f.Sigma2Back = values["Fc-"], values["Fs-"], values["sigma2-"]
	}
	axis := independent.Axis{M: values["M"], Friction: f, Load: func(t, x, v float64) float64 { return values["offset"] }}
	run := independent.Run{Dt: h, N: len(ref), X0: ref[0], Delay: values["lag"],
		Sampled: independent.Cascade(c.Kp, c.Kv*c.Gain, c.Limit*c.Gain, h, reference)}
	if pulse != nil {
		run.Push = func(k int, _ *rand.Rand) float64 { return pulse[k] }
	}
	return axis.Simulate(run).Record(independent.Sensors{Velocity: -1}, reference)
}

// empsContact are numbers like those of the measured axis.
var empsContact = map[string]float64{"M": 95, "Fc": 20, "Fs": 24, "vs": 0.01, "sigma0": 1e6, "sigma1": 3000, "sigma2": 200, "offset": -3}

// sweep is a path that reverses often, m. It begins gently.
func sweep(seconds float64) []float64 {
	ref := make([]float64, int(seconds*1000))
	for k := range ref {
		at := float64(k) * 1e-3
		grow := 1 - math.Exp(-at*at/0.02)
		ref[k] = grow * (0.02*math.Sin(2*math.Pi*0.9*at) + 0.004*math.Sin(2*math.Pi*3.1*at))
	}
	return ref
}

func servoSpec(law string, asymmetric bool) Spec {
	s := Spec{Law: law, Asymmetric: asymmetric, Drive: Servo, Output: Command, Controller: empsController(), Decimate: 3}
	if !asymmetric {
		s.Terms = []string{"offset"}
	}
	if law == "coulomb" {
		s.Terms = append(s.Terms, "viscous")
	}
	return s
}

func solve(t testing.TB, l *Model, ps []fit.Param, s Search) *fit.Solution {
	t.Helper()
	sol, err := l.Fit(context.Background(), ps, s, nil)
	if err == nil {
		err = l.CompleteSolution(ps, sol)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sol
}

func rmsOf(s *fit.Solution) float64 { return math.Sqrt(2 * s.Cost / float64(len(s.Residual))) }

func valueOf(t testing.TB, ps []fit.Param, name string) float64 {
	t.Helper()
	i := slices.IndexFunc(ps, func(p fit.Param) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("no parameter %s", name)
	}
	return ps[i].Value
}

// What the laws leave of the measured command in closed loop, without and with the lag [theory §9.6]. The limits are figures of
// others on this record.
func TestServoLaws(t *testing.T) {
	d := empsRecord(t)
	last := math.Inf(1)
	for _, c := range []struct {
		law         string
		asymmetric  bool
		fixed, free float64 // N
	}{
		{"coulomb", false, 3.11, 2.51},
		{"coulomb", true, 2.77, 2.08},
		{"lugre", false, 2.47, 2.27},
		{"lugre", true, 2.03, 1.78},
	} {
		for _, free := range []bool{false, true} {
			l, ps := modelOf(t, servoSpec(c.law, c.asymmetric), free, d)
			s := solve(t, l, ps, Search{Starts: 1, LM: fit.LM{CostTol: 1e-6}})
			limit := c.fixed
			if free {
				limit = c.free
			}
			rms := rmsOf(s)
			t.Logf("%s, by direction %v, lag %+.3f ms: %.3f N", c.law, c.asymmetric, 1e3*valueOf(t, s.Params, "lag"), rms)
			if rms > limit {
				t.Errorf("%s, by direction %v, lag free %v: %.3f N, want at most %.2f N", c.law, c.asymmetric, free, rms, limit)
			}
			if m := valueOf(t, s.Params, "M"); math.Abs(m-95.1) > 0.5 {
				t.Errorf("M = %.2f kg, inverse dynamics gives 95.1 kg", m)
			}
			// the solution is that of the whole model
			if len(s.Params) != len(ps) || len(s.Velocity) != len(s.Residual) || len(s.Measured) != len(s.Residual) || s.Quantity != "force" ||
				s.Dt != 3e-3 {
				t.Errorf("solution of %d parameters, %d rows, %d velocities, %d measured, %s, dt %g s", len(s.Params), len(s.Residual),
					len(s.Velocity), len(s.Measured), s.Quantity, s.Dt)
			}
			for _, i := range s.FreeParams {
				if s.Params[i].Fixed {
					t.Errorf("%s is fixed and free", s.Params[i].Name)
				}
			}
			if free {
				last = min(last, rms)
			}
		}
	}
	if last > 1.4 {
		t.Errorf("best law %.3f N", last)
	}
}

// wideBox is where a user's start may lie [theory §9.6].
var wideBox = map[string]interval{
	"M": {30, 300, true}, "sigma2+": {20, 2000, true}, "sigma2-": {20, 2000, true}, "Fc+": {2, 200, true}, "Fc-": {2, 200, true},
	"dFs": {-20, 20, false}, "vs": {1e-4, 0.1, true}, "sigma0": {1e4, 1e8, true}, "sigma1": {100, 1e5, true},
}

// Every start within the box ends at the same, lowest cost.
func TestServoFromAnywhere(t *testing.T) {
	d := empsRecord(t)
	starts := uint64(2)
	if soak {
		starts = 20
	}
	for _, free := range []bool{false, true} {
		limit := 2.03
		if free {
			limit = 1.78
		}
		l, _ := modelOf(t, servoSpec("lugre", true), free, d)
		var end []float64
		for seed := range starts {
			rng := rand.New(rand.NewPCG(77, seed))
			ps := l.Params()
			for i := range ps {
				q := &ps[i]
				if b, ok := wideBox[q.Name]; ok {
					q.Lo, q.Hi, q.Log = b.lo, b.hi, b.log
					q.Value = b.at(rng.Float64())
				}
				if q.Name == "lag" {
					q.Fixed = !free
				}
			}
			s := solve(t, l, ps, Search{Starts: 1, Seed: seed, LM: fit.LM{CostTol: 1e-6}})
			t.Logf("lag free %v: %.4f N after %d simulations, %.3f s", free, rmsOf(s), s.Evaluations, s.Compute.Seconds())
			end = append(end, rmsOf(s))
		}
		slices.Sort(end)
		reached := 0
		for _, e := range end {
			if e <= 1.003*end[0] {
				reached++
			}
		}
		if end[0] > limit || 10*reached < 9*len(end) {
			t.Errorf("lag free %v: %d of %d starts reached %.3f N, wanted nine of ten and at most %.2f N", free, reached, len(end), end[0], limit)
		}
	}
}

// In open loop a body with more friction than there is force stays where it is. That costs less than drifting off with the
// linear fit, and no step lowers it: it is no start.
func TestOpenLoopFromTooMuchFriction(t *testing.T) {
	d := empsRecord(t)
	spec := Spec{Law: "coulomb", Terms: []string{"viscous", "offset"}, Drive: Force, Output: Position, Decimate: 3}
	l, ps := modelOf(t, spec, false, d)
	for i := range ps {
		if ps[i].Name == "Fc" {
			ps[i].Value = 170 // N
		}
		if ps[i].Name == "M" {
			ps[i].Value = 30 // kg
		}
	}
	if rms := rmsOf(solve(t, l, ps, Search{})); rms > 3.05e-3 {
		t.Errorf("%.4g m rms, want at most 3.05 mm", rms)
	}
}

// The answer does not depend on the number of workers.
func TestServoWorkers(t *testing.T) {
	truth := map[string]float64{"M": 80, "Fc": 15, "Fs": 19, "sigma2": 150, "vs": 0.01, "sigma0": 8e5, "sigma1": 2000, "offset": 2}
	spec := servoSpec("lugre", false)
	spec.Initial, spec.Substeps = Rest, 4
	d := made(t, truth, sweep(1.5), nil)
	l, ps := modelOf(t, spec, true, d)
	var ends []*fit.Solution
	for _, workers := range []int{1, 3} {
		ends = append(ends, solve(t, l, ps, Search{Starts: 3, Workers: workers, Seed: 5}))
	}
	for i, p := range ends[0].Params {
		if p.Value != ends[1].Params[i].Value {
			t.Errorf("%s: %v with one worker, %v with three", p.Name, p.Value, ends[1].Params[i].Value)
		}
		// and without noise it is the truth
		if x, ok := truth[p.Name]; ok && math.Abs(p.Value/x-1) > 1e-3 {
			t.Errorf("%s = %.6g, made with %.6g", p.Name, p.Value, x)
		}
	}
}

func TestServoAllocatesNothing(t *testing.T) {
	for _, law := range []string{"coulomb", "lugre"} {
		spec := servoSpec(law, false)
		d := made(t, empsContact, sweep(1), nil)
		l, ps := modelOf(t, spec, true, d)
		p, err := l.Problem(ps)
		if err != nil {
			t.Fatal(err)
		}
		e, r := p.NewEvaluator(), make([]float64, p.Rows)
		theta := make([]float64, len(p.Params))
		for j, q := range p.Params {
			theta[j] = q.Value
		}
		if n := testing.AllocsPerRun(5, func() { e.Residuals(theta, r) }); n != 0 {
			t.Errorf("%s: Residuals allocates %v times", law, n)
		}
		sum := 0.0
		for _, x := range r {
			sum += x * x
		}
		within, again := e.(fit.Bounded).ResidualsWithin, make([]float64, p.Rows)
		if _, whole := within(theta, again, sum/2); whole {
			t.Errorf("%s: whole below its own sum of squares", law)
		}
		if _, whole := within(theta, again, sum); !whole || !slices.Equal(again, r) {
			t.Errorf("%s: within its own sum of squares: whole %v", law, whole)
		}
		if e, ok := e.(fit.Differentiable); ok {
			if n := testing.AllocsPerRun(5, func() { e.Columns(theta) }); n != 0 {
				t.Errorf("%s: Columns allocates %v times", law, n)
			}
		}
	}
}

// Numbers that no contact has give a large finite residual, with a status that says so.
func TestServoNeverNaN(t *testing.T) {
	spec := servoSpec("lugre", true)
	d := made(t, empsContact, sweep(0.5), nil)
	l, ps := modelOf(t, spec, true, d)
	p, err := l.Problem(ps)
	if err != nil {
		t.Fatal(err)
	}
	e, r := p.NewEvaluator(), make([]float64, p.Rows)
	good := make([]float64, len(p.Params))
	for j, q := range p.Params {
		good[j] = q.Value
	}
	for j, q := range p.Params {
		for _, x := range []float64{0, -1, 1e-300, 1e300, -1e300, math.Inf(1), math.NaN(), 1e12, 1e-12} {
			theta := slices.Clone(good)
			theta[j] = x
			jac, _ := jacobianOf(p, e, theta)
			st := e.Residuals(theta, r)
			for k := range r {
				if math.IsNaN(r[k]) || math.IsInf(r[k], 0) {
					t.Fatalf("%s = %g: residual %g", q.Name, x, r[k])
				}
			}
			for _, v := range jac {
				if math.IsNaN(v) {
					t.Fatalf("%s = %g: derivative %g, status %v", q.Name, x, v, st)
				}
			}
			if math.IsNaN(x) && st == engine.OK {
				t.Errorf("%s = NaN passes", q.Name)
			}
		}
	}
}

// Models and parameters that mean nothing are refused in words.
func TestServoRefuses(t *testing.T) {
	spec := servoSpec("lugre", true)
	d := made(t, empsContact, sweep(0.5), nil)
	blind := *d
	blind.Reference = nil
	broken := *d
	broken.Force = slices.Clone(d.Force)
	broken.Force[17] = math.NaN()
	rigid := servoSpec("coulomb", false)
	rigid.Scheme = friction.Implicit
	for _, c := range []struct {
		spec Spec
		d    *record.Record
		want string
	}{
		{Spec{Law: "lugre", Drive: Servo, Output: Command}, d, "controller: missing"},
		{Spec{Law: "lugre", Drive: Force, Output: Command}, d, "closed loop only"},
		{rigid, d, "coulomb has steps of its own"},
		{spec, &blind, "data.columns.reference"},
		{spec, &broken, "sample 17 of the force is NaN"},
	} {
		if _, err := New(c.spec, []*record.Record{c.d}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
