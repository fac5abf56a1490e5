package axis

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// simulated is the motion of a model with given values, for a record of forces every dt.
func simulated(t testing.TB, spec Spec, dt float64, force []float64, values map[string]float64) []float64 {
	t.Helper()
	rec := &record.Record{Dt: dt, Force: force, Position: make([]float64, len(force))}
	for k := range rec.Position { // anything that moves; compared with zero it gives the simulation itself
		rec.Position[k] = 1e-9 * float64(k%2)
	}
	rec.Position[0] = 0
	spec.Initial = Rest
	_, _, pr := problemOf(t, spec, []*record.Record{rec}, func(p *fit.Param) {
		if p.Fixed = true; strings.HasPrefix(p.Name, "x0") {
			p.Value, p.Fixed, p.Lo, p.Hi = 0, false, -1, 1
		}
		if v, ok := values[p.Name]; ok {
			p.Value = v
		} else if p.Name == "lag" || p.Name == "v0" {
			p.Value = 0
		}
	})
	ev := pr.NewEvaluator()
	switch e := ev.(type) {
	case *evaluator:
		e.q.worst = 1e9
	case *tangent:
		e.q.worst = 1e9
	}
	r := make([]float64, pr.Rows)
	if st := ev.Residuals([]float64{0}, r); st != engine.OK {
		t.Fatal(st)
	}
	for k := range r {
		r[k] += rec.Position[k]
	}
	return r
}

// A force that sets in at 1 s drives 2 kg against 3 N·s/m: v = (u/c)·(1 − e^{−ct/M}). Late by part of a sample, or early,
// the motion is late or early by as much, to second order.
func TestLagDelaysTheMotion(t *testing.T) {
	const dt, m, c = 0.01, 2.0, 3.0
	force := make([]float64, 301)
	for k := 100; k < len(force); k++ {
		force[k] = 5
	}
	for _, hold := range []Hold{Held, Linear} {
		for _, lag := range []float64{0, 0.3, 1, 1.4, -0.4, -1.2} {
			x := simulated(t, Spec{Law: "viscous", Drive: Force, Hold: hold, Substeps: 10}, dt, force,
				map[string]float64{"M": m, "Fv": c, "lag": lag * dt})
			begin := 1 + lag*dt
			if hold == Linear { // the ramp from sample 99 to 100 has its middle half a sample earlier
				begin -= dt / 2
			}
			for k := 110; k < len(x); k++ {
				s := float64(k)*dt - begin
				want := 5 / c * (s - m/c*(1-math.Exp(-c/m*s)))
				if math.Abs(x[k]-want) > 5/m*dt*dt/4 {
					t.Fatalf("%v, lag %g: x(%g s) = %.8f m, want %.8f", hold, lag, float64(k)*dt, x[k], want)
				}
			}
		}
	}
}

// One law for each direction: rests between the break-away levels of both, and slides forward and backward at the speed
// that the force of that direction allows. Rigid laws do it by an equivalent load, smooth ones by two sets.
func TestDirectionsHaveTheirOwnFriction(t *testing.T) {
	values := map[string]float64{"M": 1, "Fc+": 2, "Fc-": 1, "dFs": 0.5, "Fv+": 3, "Fv-": 5, "sigma2+": 3, "sigma2-": 5,
		"sigma0": 1e5, "sigma1": 300, "vs": 0.01, "vd": 0, "delta": 1, "N0": 0}
	for _, law := range []string{"static-coulomb-viscous", "stribeck-tustin", "lugre"} {
		for _, c := range []struct{ u, speed float64 }{{2.45, 0}, {-1.45, 0}, {2.55, 0.55 / 3}, {-1.55, -0.55 / 5}, {8, 2}, {-11, -2}} {
			force := make([]float64, 4001)
			for k := range force {
				force[k] = c.u * min(1, float64(k)/1000) // loaded slowly: a jump would throw the bristles over
			}
			x := simulated(t, Spec{Law: law, Asymmetric: true, Drive: Force, Hold: Linear}, 2e-3, force, values)
			n := len(x) - 1
			if got := (x[n] - x[n-500]) / 1; math.Abs(got-c.speed) > 2e-3*math.Abs(c.speed)+1e-4 {
				t.Errorf("%s at %g N: %.5f m/s, want %.5f", law, c.u, got, c.speed)
			}
		}
	}
}

// multisine is a force of eight sines with random phases.
func multisine(n int, dt, size float64, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 5))
	u := make([]float64, n)
	for i := range 8 {
		w, p := 2*math.Pi*0.2*float64(i+1), 2*math.Pi*rng.Float64()
		for k := range u {
			u[k] += size * math.Sin(w*float64(k)*dt+p)
		}
	}
	return u
}

// Laws of every kind are found again from a noisy position and the force, from the model's own guesses. The record comes
// from ten times finer steps.
func TestLawsAreRecovered(t *testing.T) {
	for _, c := range []struct {
		law    string
		asym   bool
		terms  []string
		values map[string]float64
		free   string // checked, within tol
		tol    float64
	}{
		{"static-coulomb-viscous", false, []string{"offset"}, map[string]float64{"M": 3, "Fc": 4, "Fs": 4, "Fv": 6, "offset": 1},
			"M Fc Fv offset", 0.005},
		{"coulomb", false, []string{"stiffness"}, map[string]float64{"M": 3, "Fc": 4, "k": 25}, "M Fc k", 0.005},
		{"static-coulomb-viscous", true, nil, map[string]float64{"M": 3, "Fc+": 4, "Fc-": 5, "dFs": 0, "Fv+": 6, "Fv-": 4}, "M Fc+ Fc- Fv+ Fv-",
			0.01},
		{"dahl", false, nil, map[string]float64{"M": 3, "Fc": 4, "sigma0": 4e3}, "M Fc sigma0", 0.02},
	} {
		const dt, noise = 5e-3, 1e-5
		u := multisine(2001, dt, 4, 3)
		spec := Spec{Law: c.law, Asymmetric: c.asym, Drive: Force, Terms: c.terms, Substeps: 20}
		x := simulated(t, spec, dt, u, c.values)
		rng := rand.New(rand.NewPCG(1, 1))
		for k := range x {
			x[k] += noise * rng.NormFloat64()
		}
		spec.Initial, spec.Substeps = Rest, 2
		_, _, pr := problemOf(t, spec, []*record.Record{{Dt: dt, Position: x, Force: u}}, func(p *fit.Param) {
			if p.Name == "Fs" || p.Name == "dFs" {
				p.Fixed, p.Value = true, 0
			}
			if p.Name == "x0" {
				p.Fixed = false
			}
		})
		s, err := fit.LM{Horizons: growingHorizon}.Fit(context.Background(), pr, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range s.Params {
			if want := c.values[p.Name]; strings.Contains(" "+c.free+" ", " "+p.Name+" ") && math.Abs(p.Value/want-1) > c.tol {
				t.Errorf("%s: %s = %.5g, want %g within %g %%; residual %g m", c.law, p.Name, p.Value, want, 100*c.tol, numeric.RMS(s.Residual))
			}
		}
	}
}

// A cost is the sum of squares, bit by bit also when a limit is near; beyond it anything above; the beginning of a record
// has the same residuals as the whole; a simulation that fails has large finite ones.
func TestCostLimitHorizonAndFailure(t *testing.T) {
	u := multisine(501, 5e-3, 4, 1)
	spec := Spec{Law: "lugre", Drive: Force, Decimate: 3}
	x := simulated(t, Spec{Law: "coulomb", Drive: Force}, 5e-3, u, map[string]float64{"M": 3, "Fc": 4})
	_, _, pr := problemOf(t, spec, []*record.Record{{Dt: 5e-3, Position: x, Force: u}}, nil)
	ev := pr.NewEvaluator()
	theta, r := startOf(pr), make([]float64, pr.Rows)
	ev.Residuals(theta, r)
	sum := 0.0
	for _, d := range r {
		sum += float64(d * d)
	}
	cost := costOf(ev, pr.Rows)
	if a, b := cost(theta, math.Inf(1)), cost(theta, sum); a != sum || b != sum {
		t.Errorf("costs %v and %v, sum of squares %v", a, b, sum)
	}
	if a := cost(theta, sum/2); a <= sum/2 {
		t.Errorf("cost %v does not exceed its limit %v", a, sum/2)
	}

	short := pr.Horizon(0.3)
	head := make([]float64, short.Rows)
	short.NewEvaluator().Residuals(theta, head)
	for k := range head {
		if head[k] != r[k] {
			t.Fatalf("row %d: %v, of the whole %v", k, head[k], r[k])
		}
	}
	if want := (int(math.Ceil(0.3*501)) + 2) / 3; short.Rows < want-1 || short.Rows > want {
		t.Errorf("%d rows of 30 %%, want about %d of %d", short.Rows, want, pr.Rows)
	}

	bad := startOf(pr)
	bad[0] = math.NaN()
	if st := ev.Residuals(bad, r); st != engine.NonFinite || math.IsNaN(numeric.RMS(r)) || math.IsInf(numeric.RMS(r), 0) ||
		numeric.RMS(r) < 1 {
		t.Errorf("mass NaN: %v, residual %g", st, numeric.RMS(r))
	}
	if c := cost(bad, math.Inf(1)); math.IsNaN(c) || math.IsInf(c, 0) || c < sum {
		t.Errorf("mass NaN: cost %g", c)
	}
	if st := ev.Residuals(theta, r); st == engine.NonFinite || r[5] != head[5] {
		t.Errorf("after the failure: %v, %v, want %v", st, r[5], head[5])
	}
}

// Every law of the registry can be simulated at the values it begins with, whatever its guesses, and says what it needs.
func TestEveryLawRuns(t *testing.T) {
	u := multisine(301, 5e-3, 4, 1)
	x := simulated(t, Spec{Law: "coulomb", Drive: Force}, 5e-3, u, map[string]float64{"M": 3, "Fc": 4})
	for _, l := range friction.Laws() {
		rec := &record.Record{Dt: 5e-3, Position: x, Force: u}
		if l.Name == "graphite-brush" {
			rec.Current = make([]float64, len(u))
		}
		m, err := New(Spec{Law: l.Name, Drive: Force}, []*record.Record{rec})
		if err != nil {
			t.Errorf("%s: %v", l.Name, err)
			continue
		}
		pr, err := m.Problem(nil)
		if err != nil {
			t.Errorf("%s: %v", l.Name, err)
			continue
		}
		r := make([]float64, pr.Rows)
		ev := pr.NewEvaluator()
		if st := ev.Residuals(startOf(pr), r); st == engine.NonFinite {
			t.Errorf("%s: %v at its own guesses", l.Name, st)
		}
		theta := startOf(pr)
		if a := testing.AllocsPerRun(5, func() { ev.Residuals(theta, r) }); a != 0 {
			t.Errorf("%s: %g allocations in a simulation", l.Name, a)
		}
	}
}

// What cannot be done is refused with what, why and how to go on.
func TestRefusals(t *testing.T) {
	n := 50
	line := make([]float64, n)
	for k := range line {
		line[k] = float64(k)
	}
	good := record.Record{Dt: 0.01, Position: line, Force: line}
	with := func(change func(r *record.Record)) []*record.Record {
		r := good
		change(&r)
		return []*record.Record{&r}
	}
	same := func(*record.Record) {}
	for _, c := range []struct {
		spec Spec
		recs []*record.Record
		want string
	}{
		{Spec{Law: "lugr"}, with(same), "no friction law"},
		{Spec{Terms: []string{"wind"}}, with(same), "no load"},
		{Spec{Terms: []string{"gravity-sin"}}, with(same), "axis that turns"},
		{Spec{Law: "dahl-modified", Asymmetric: true}, with(same), "no Fc"},
		{Spec{Law: "coulomb", Asymmetric: true, Terms: []string{"offset"}}, with(same), "same force"},
		{Spec{Output: Command}, with(same), "closed loop"},
		{Spec{Scheme: friction.Explicit}, with(same), "midpoint"},
		{Spec{Drive: Spring}, with(same), "data.columns.reference"},
		{Spec{}, with(func(r *record.Record) { r.Force = nil }), "data.columns.force"},
		{Spec{Output: Velocity}, with(same), "data.columns.velocity"},
		{Spec{Law: "graphite-brush"}, with(same), "data.columns.current"},
		{Spec{}, with(func(r *record.Record) { r.Position = line[:5]; r.Force = line[:5] }), "at least 8"},
		{Spec{}, with(func(r *record.Record) { r.Force = line[:9] }), "9 samples"},
		{Spec{}, with(func(r *record.Record) { r.Position = make([]float64, n) }), "never changes"},
		{Spec{}, with(func(r *record.Record) { r.Dt = 0 }), "interval"},
		{Spec{}, nil, "no record"},
		{Spec{Known: map[string]float64{"mass": 1}}, with(same), "no parameter mass"},
	} {
		_, err := New(c.spec, c.recs)
		var re *record.Error
		var pe *fit.ParamError
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &re) && !errors.As(err, &pe) {
			t.Errorf("%+v: error %v, want one with %q", c.spec, err, c.want)
		}
	}
	m, err := New(Spec{Law: "coulomb", Drive: Coast}, with(same))
	if err != nil {
		t.Fatal(err)
	}
	free := m.Params()[0]
	free.Fixed = false
	free.Value, free.Lo, free.Hi = 1, 0.1, 10
	for want, p := range map[string]fit.Param{
		"ratios to the inertia": free,
		"has no parameter wind": {Param: engine.Param{Name: "wind"}},
		"outside its bounds":    {Param: engine.Param{Name: "Fc", Value: 5, Lo: 6, Hi: 7}},
	} {
		if _, err := m.Problem([]fit.Param{p}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// costOf is the sum of the squares of the residuals of an evaluator, a number above limit where it gives up.
func costOf(e fit.Evaluator, rows int) func(theta []float64, limit float64) float64 {
	r := make([]float64, rows)
	return func(theta []float64, limit float64) float64 {
		if _, whole := e.(fit.Bounded).ResidualsWithin(theta, r, limit); !whole {
			return math.Inf(1)
		}
		sum := 0.0
		for _, x := range r {
			sum += x * x
		}
		return sum
	}
}

// jacobianOf are the derivatives of an evaluator by row, zero where a local parameter moves nothing.
func jacobianOf(p *fit.Problem, e fit.Evaluator, theta []float64) ([]float64, engine.Status) {
	columns, st := e.(fit.Differentiable).Columns(theta)
	if st == engine.NonFinite {
		return nil, st
	}
	n := len(columns)
	from, jac := make([]int, n), make([]float64, p.Rows*n)
	for _, l := range p.Local {
		for _, j := range l.Params {
			from[j] = l.FirstRow
		}
	}
	for j, c := range columns {
		for k, v := range c {
			jac[(from[j]+k)*n+j] = v
		}
	}
	return jac, st
}
