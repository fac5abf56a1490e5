package axis

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// commandsOf runs a general model in its controller with the given values.
func commandsOf(t testing.TB, spec Spec, d *record.Record, values map[string]float64) []float64 {
	t.Helper()
	m, err := New(spec, []*record.Record{d})
	if err != nil {
		t.Fatal(err)
	}
	return runAt(t, m.Problem, m.Params(), values)
}

// loopCommandsOf is the same with a Loop.
func loopCommandsOf(t testing.TB, spec Spec, d *record.Record, values map[string]float64) []float64 {
	t.Helper()
	l, err := NewLoop(spec, []*record.Record{d})
	if err != nil {
		t.Fatal(err)
	}
	return runAt(t, l.Problem, l.Params(), values)
}

// runAt gives what was simulated, with every parameter fixed.
func runAt(t testing.TB, problem func([]fit.Param) (*fit.Problem, error), ps []fit.Param, values map[string]float64) []float64 {
	t.Helper()
	left := len(values)
	for i := range ps {
		p := &ps[i]
		if x, ok := values[p.Name]; ok {
			p.Value = x
			left--
		}
		p.Fixed = true
	}
	if left != 0 {
		t.Fatalf("%d of the values %v have no parameter", left, values)
	}
	pr, err := problem(ps)
	if err != nil {
		t.Fatal(err)
	}
	e, r := pr.New(), make([]float64, pr.Rows)
	if st := e.Residuals(nil, r); st == engine.NonFinite {
		t.Fatal(st)
	}
	y, _, _, _ := e.(fit.Measuring).Measured()
	for k := range r {
		r[k] += y[k]
	}
	return r
}

func apart(a, b []float64) float64 {
	d := make([]float64, len(a))
	for k := range d {
		d[k] = a[k] - b[k]
	}
	return rms(d)
}

// The general model with LuGre and its midpoint scheme asks for the commands of the loop that is written out for LuGre, on a
// measured record, whatever the lag. What they differ by is the explicit step of the loop: the general model hardly changes
// when its steps are divided.
func TestServoModelAgreesWithLoop(t *testing.T) {
	d := *empsRecord(t)
	const n = 3000
	d.Position, d.Reference, d.Force = d.Position[:n], d.Reference[:n], d.Force[:n]
	values := map[string]float64{"M": 95, "Fc+": 21.2, "Fc-": 21.9, "sigma2+": 157, "sigma2-": 230, "dFs": -9, "vs": 0.0134, "sigma0": 1.5e6, "sigma1": 3400}
	for _, c := range []struct {
		lag    float64 // s
		linear bool
	}{{-1.3e-3, true}, {-0.6e-3, false}, {0, false}, {0, true}, {0.27e-3, false}, {0.8e-3, true}} {
		values["lag"] = c.lag
		spec := servoSpec("lugre", true)
		spec.LinearHold = c.linear
		model, loop := commandsOf(t, spec, &d, values), loopCommandsOf(t, spec, &d, values)
		spec.Substeps = 4
		fine := commandsOf(t, spec, &d, values)
		t.Logf("lag %.2f ms, linear %v: model and loop differ by %.4f N rms, model and its substeps by %.4f N", 1e3*c.lag, c.linear, apart(model, loop), apart(model, fine))
		if apart(model, loop) > 0.2 || apart(model, fine) > 0.03 {
			t.Errorf("lag %.2f ms, linear %v: model and loop differ by %.3f N rms, model and its substeps by %.4f N; want at most 0.2 and 0.03", 1e3*c.lag, c.linear, apart(model, loop), apart(model, fine))
		}
	}
}

// The general model agrees with the continuous solution, and better with finer parts: with a bristle and with a rigid
// contact, by direction, late and late-looking.
func TestServoModelAgainstContinuousSolution(t *testing.T) {
	ref := sweep(0.25)
	for k := 190; k < len(ref); k++ { // a stop
		ref[k] = ref[190]
	}
	ctl := empsController()
	slow := *ctl
	slow.Mean, slow.Delay = 3, 1
	const vs = 0.008
	for _, c := range []struct {
		name   string
		ctl    *Controller
		lag    float64 // s
		sigma0 float64 // N/m; 0: rigid
		limit  float64 // N
	}{
		{"bristle", ctl, 0, 8e5, 0.03},
		{"bristle, late command, late velocity", &slow, 0.4e-3, 8e5, 0.1},
		{"rigid", ctl, 0, 0, 0.06},
		{"rigid, late command", ctl, 0.4e-3, 0, 0.15},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := contact{m: 60, plus: side{15, 5, 160}, minus: side{18, 5, 220}, bristle: c.sigma0 > 0, sigma0: c.sigma0, sigma1: 2500, overVs: 1 / vs}
			values := map[string]float64{"M": 60, "Fc+": 15, "Fc-": 18, "lag": c.lag}
			spec := servoSpec("lugre", true)
			if at.bristle {
				maps.Copy(values, map[string]float64{"sigma2+": 160, "sigma2-": 220, "dFs": 5, "vs": vs, "sigma0": c.sigma0, "sigma1": 2500})
			} else {
				spec = servoSpec("coulomb", true)
				at.plus.rise, at.minus.rise = 0, 0
				maps.Copy(values, map[string]float64{"Fv+": 160, "Fv-": 220})
			}
			spec.Controller, spec.Decimate, spec.Initial = c.ctl, 1, Rest
			x, u := servoPeer(t, at, vs, c.lag, c.ctl, ref)
			d := &record.Record{Dt: 1e-3, Reference: ref, Position: x, Force: u}
			one := apart(commandsOf(t, spec, d, values), u)
			spec.Substeps = 4
			four := apart(commandsOf(t, spec, d, values), u)
			t.Logf("commands differ by %.4f N rms of %.1f N, with four parts by %.4f N", one, rms(u), four)
			if one > c.limit || four > 1.05*one {
				t.Errorf("commands differ by %.4f N, with four parts by %.4f N; want at most %g N", one, four, c.limit)
			}
		})
	}
}

// Weights of held commands and of straight ones are those of the integrals, and what a constant force does is never shifted.
func TestActing(t *testing.T) {
	for delta := lagLo; delta <= lagHi; delta += 0.1 {
		for _, linear := range []bool{false, true} {
			mean, shift := acting(delta, linear)
			const n = 20000
			at := func(tau float64) (w taps4) { // of the commands at a time within the interval
				s := tau - delta
				add := func(i int, q float64) {
					if i <= 1 {
						w[before+i] += q
						return
					}
					w[before] -= float64(i-1) * q
					w[before+1] += float64(i) * q
				}
				i := int(math.Floor(s))
				if !linear {
					add(i, 1)
					return w
				}
				add(i, 1-(s-float64(i)))
				add(i+1, s-float64(i))
				return w
			}
			var m, d taps4
			for k := range n {
				tau := (float64(k) + 0.5) / n
				for i, q := range at(tau) {
					m[i] += q / n
					d[i] += (0.5 - tau) * q / n
				}
			}
			for i := range m {
				if math.Abs(m[i]-mean[i]) > 2e-4 || math.Abs(d[i]-shift[i]) > 2e-4 {
					t.Fatalf("lag %.1f, linear %v: weights %.4f %.4f, want %.4f %.4f", delta, linear, mean, shift, m, d)
				}
			}
		}
	}
}

// What the loop simulated with LuGre is found again by the general model, with LuGre as it was, and nearly explained by the
// elasto-plastic law.
func TestServoModelFindsLaws(t *testing.T) {
	truth := map[string]float64{"M": 80, "Fc": 15, "Fs": 19, "sigma2": 150, "vs": 0.01, "sigma0": 8e5, "sigma1": 2000, "offset": 2}
	spec := servoSpec("lugre", false)
	d := made(t, spec, truth, sweep(1.2), nil)
	spec.Initial = Rest
	for _, c := range []struct {
		law    string
		rms    float64 // N
		within map[string]float64
	}{
		{"lugre", 0.1, map[string]float64{"M": 0.01, "Fc": 0.01, "Fs": 0.02, "sigma2": 0.02, "vs": 0.05, "sigma0": 0.05, "sigma1": 0.05, "offset": 0.02}},
		{"elasto-plastic", 0.5, map[string]float64{"M": 0.01, "offset": 0.05}}, // stiffer before it gives way: a cousin
	} {
		spec.Law = c.law
		m, err := New(spec, []*record.Record{d})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Fit(t.Context(), m.Params(), Search{Starts: 2, Draws: 8, Seed: 3, LM: fit.LM{Steps: []float64{1e-3}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.4f N rms, %d simulations", c.law, rms(s.Residual), s.Evaluations)
		if rms(s.Residual) > c.rms {
			t.Errorf("%s: residual %.3f N, want below %g N", c.law, rms(s.Residual), c.rms)
		}
		for name, within := range c.within {
			if x := valueOf(t, s.Params, name); math.Abs(x/truth[name]-1) > within {
				t.Errorf("%s: %s = %.5g, made with %.5g", c.law, name, x, truth[name])
			}
		}
		if len(s.Params) != len(m.Params()) || len(s.Input) != len(s.Residual) {
			t.Errorf("%d parameters and %d inputs", len(s.Params), len(s.Input))
		}
	}
}

// A simulation in a controller allocates nothing, whatever the lag, never gives NaN, and sticks to the limit of a cost.
func TestServoModelRuns(t *testing.T) {
	d := made(t, servoSpec("lugre", false), nil, sweep(0.5), nil)
	for _, law := range []string{"gms", "stribeck-tustin", "coulomb"} {
		m, err := New(servoSpec(law, true), []*record.Record{d})
		if err != nil {
			t.Fatal(err)
		}
		ps := m.Params()
		for i := range ps {
			if ps[i].Name == "lag" {
				ps[i].Value, ps[i].Fixed = -0.4e-3, false
			}
		}
		pr, err := m.Problem(ps)
		if err != nil {
			t.Fatal(err)
		}
		e, r, theta := pr.New(), make([]float64, pr.Rows), startOf(pr)
		if n := testing.AllocsPerRun(3, func() { e.Residuals(theta, r) }); n != 0 {
			t.Errorf("%s: Residuals allocates %v times", law, n)
		}
		cost := e.(fit.Aborter).Cost
		sum := cost(theta, math.Inf(1))
		if again := cost(theta, sum); again != sum || cost(theta, sum/2) <= sum/2 {
			t.Errorf("%s: cost %v, again %v", law, sum, again)
		}
		for j := range theta {
			for _, x := range []float64{math.NaN(), -1, 1e300, 1e-300} {
				bad := slices.Clone(theta)
				bad[j] = x
				e.Residuals(bad, r)
				for k := range r {
					if math.IsNaN(r[k]) || math.IsInf(r[k], 0) {
						t.Fatalf("%s, %s = %g: residual %g", law, pr.Params[j].Name, x, r[k])
					}
				}
			}
		}
	}
	spec := servoSpec("gms", true)
	spec.Controller = nil
	if _, err := New(spec, []*record.Record{d}); err == nil || !strings.Contains(err.Error(), "controller: missing") {
		t.Errorf("without a controller: %v", err)
	}
	if m, err := New(servoSpec("gms", true), []*record.Record{d}); err != nil {
		t.Error(err)
	} else if _, err := m.Shooting(m.Params(), 3); err == nil || !strings.Contains(err.Error(), "use lm") {
		t.Errorf("multiple shooting of a servo: %v", err)
	}
}

func BenchmarkServoModel(b *testing.B) {
	d := empsRecord(b)
	for _, law := range []string{"coulomb", "lugre", "gms"} {
		m, err := New(servoSpec(law, true), []*record.Record{d})
		if err != nil {
			b.Fatal(err)
		}
		pr, err := m.Problem(m.Params())
		if err != nil {
			b.Fatal(err)
		}
		e, r, theta := pr.New(), make([]float64, pr.Rows), startOf(pr)
		b.Run(law, func(b *testing.B) {
			for b.Loop() {
				e.Residuals(theta, r)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(d.Position)), "ns/sample")
		})
	}
}
