package identify

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/axis"
	"hilrig/identify/independent"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// oneWay is a record whose motion never turns, under a constant load.
func oneWay(load float64) *bench {
	b := newBench(7, 6)
	s := b.ref
	b.ref = func(t float64) float64 { return s(t) + 0.6*(t+math.Expm1(-5*t)/5) }
	b.axis.Load = func(_, _, _ float64) float64 { return load }
	return b
}

// Where all motion goes one way, no method calls Coulomb friction identified unless the constant force is known, and finds
// the true one if it is.
func TestOneDirectionLeavesCoulombOpen(t *testing.T) {
	const load = 1.5
	b := oneWay(load)
	tr := b.record(nil)
	fc := tr.truth["Fc"]
	short := []linear.Term{linear.Inertia, linear.Viscous, linear.Coulomb}
	model := axis.Spec{Law: "coulomb", Terms: []string{"viscous"}, Drive: axis.Force, Output: axis.Position, Initial: axis.Free}
	for _, c := range []struct {
		name  string
		plan  Plan
		close float64 // of Fc with the load known
	}{
		{"regress", Plan{Methods: Chain{"regress"}, Regress: linear.Spec{Terms: short, Order: 4, Cutoff: 100, Decimate: 10, Trim: 0.1}}, 0.06},
		{"lm", Plan{Methods: Chain{"lm"}, Model: model}, 0.05},
	} {
		judge := func(given []Given, terms []string) *Result {
			p := c.plan
			p.GivenParams = given
			p.Model.Terms = append(slices.Clone(p.Model.Terms), terms...)
			r, err := Run(t.Context(), p, Records{Fit: tr.recs}, nil, nil)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			return r
		}
		r := judge(nil, nil)
		if p, _ := r.Param("Fc"); r.Verdict == Identified || p.Worth == string(Identified) ||
			!strings.Contains(strings.Join(r.Because(), "\n"), "one direction") {
			t.Errorf("%s: %s, Fc %s, %q; want nothing identified", c.name, r.Verdict, p.Worth, r.Reasons)
		}
		known, yes := load, true
		r = judge([]Given{{Name: "offset", Start: &known, Fixed: &yes}}, []string{"offset"})
		p, _ := r.Param("Fc")
		if strings.Contains(strings.Join(r.Because(), "\n"), "one direction") || math.Abs(p.Value-fc) > c.close*fc {
			t.Errorf("%s with the load known: Fc %.4g, want %.4g; %q", c.name, p.Value, fc, r.Reasons)
		}
	}
}

// The whole law is judged over the speeds of the record: a small negative slope under a large level is friction, but no viscous one; a
// large one is a drive, whichever method found it.
func TestFrictionThatDrivesIsRejected(t *testing.T) {
	for _, c := range []struct {
		fc, fv float64
		want   Verdict
	}{{1, -0.5, Weak}, {1, -0.025, Weak}, {1, -0.035, Weak}, {1, -3, Rejected}, {-0.2, 3, Rejected}, {1, 3, Identified}} {
		r := judged(func(r *Result) {
			for _, p := range []struct {
				name string
				x    float64
			}{{"Fc", c.fc}, {"Fv", c.fv}} {
				r.Parameters = append(r.Parameters, plainParameter(p.name, p.x, 0.01))
			}
			r.tops = []float64{0.5}
			r.Correlation = [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
		})
		if r.Verdict != c.want {
			t.Errorf("Fc %g, Fv %g: %s %q, want %s", c.fc, c.fv, r.Verdict, r.Reasons, c.want)
		}
		if named := strings.Contains(strings.Join(r.Because(), "\n"), "Fv is negative beyond doubt"); named != (c.fv < -3*0.01) {
			t.Errorf("Fc %g, Fv %g ± 0.01: named %v, %q", c.fc, c.fv, named, r.Reasons)
		}
	}
	// each joint is judged by its own friction and speed
	for _, c := range []struct {
		name string
		x    float64
		want Verdict
	}{{"Fc1", 1, Identified}, {"Fc2", -0.2, Rejected}, {"Fc1", -0.2, Rejected}, {"J1", -0.2, Rejected}, {"J2", -0.2, Rejected},
		{"J12", -0.2, Identified}} {
		r := judged(func(r *Result) {
			r.Parameters = append(r.Parameters, plainParameter(c.name, c.x, 0.001))
			r.tops = []float64{0.5, 2}
			r.Correlation = [][]float64{{1, 0}, {0, 1}}
		})
		if r.Verdict != c.want {
			t.Errorf("%s %g: %s %q, want %s", c.name, c.x, r.Verdict, r.Reasons, c.want)
		}
	}
	for _, c := range []struct {
		fv   float64
		want Verdict
	}{{-0.4, Weak}, {-0.7, Rejected}} { // 1 − 0.4·2 and 1 − 0.7·2; neither drives at the speed of joint 1
		r := judged(func(r *Result) {
			r.Parameters = append(r.Parameters, plainParameter("Fc2", 1, 0.01), plainParameter("Fv2", c.fv, 0.01))
			r.tops = []float64{0.5, 2}
			r.Correlation = [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
		})
		if r.Verdict != c.want {
			t.Errorf("joint 2, Fv %g: %s %q, want %s", c.fv, r.Verdict, r.Reasons, c.want)
		}
	}
	// plateaus with the wrong sign of the force
	a := independent.Axis{M: 1, Friction: independent.Friction{Fc: 2, Fs: 3, Vs: 0.02, Sigma2: 3}}
	var recs []*record.Record
	for i, v := range []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2, -0.005, -0.01, -0.02, -0.05, -0.1, -0.2} {
		n := 400
		d := &record.Record{Dt: 1e-3, Piece: string(rune('a' + i)), Velocity: make([]float64, n), Force: make([]float64, n)}
		for k := range n {
			g := a.Friction.Fc + (a.Friction.Fs-a.Friction.Fc)*math.Exp(-(v/0.02)*(v/0.02))
			d.Velocity[k], d.Force[k] = v, -(math.Copysign(g, v) + 3*v + 0.01*math.Sin(float64(37*k*(i+1))))
		}
		recs = append(recs, d)
	}
	r, err := Run(t.Context(), Plan{Methods: Chain{"static"}, Model: axis.Spec{Law: "stribeck-bo-pavelescu"}}, Records{Fit: recs}, nil, nil)
	if err == nil && r.Verdict == Identified {
		t.Errorf("static: %s, %+v", r.Headline(), r.Reasons)
	}
}

// A torque of two constant parts that never turns, as a public motor bench is recorded: friction warms up, so that the slower half
// is explained worse than the faster one. It must not be left out for that: a constant torque would be all that remains, and
// friction with no error at all.
func TestTwoLevelsOfForceOneWay(t *testing.T) {
	for seed := range uint64(draws(4)) {
		const fc, fv, j = 0.012, 1.1e-4, 1.2e-4
		a := independent.Axis{M: j, Friction: independent.Friction{Fc: fc, Sigma2: fv},
			Scale: func(t float64) float64 { return 1 + 0.25*math.Exp(-t/(3+float64(seed))) }}
		sign := 1 - 2*float64(seed%2)
		tr := a.Simulate(independent.Run{Dt: 1e-3, N: 20000, Intersample: independent.Held, Force: func(t float64) float64 {
			if t < 10 {
				return 0.03 * sign
			}
			return 0.04 * sign
		}})
		rec := tr.Record(independent.Sensors{Count: 2 * math.Pi / 10000, Velocity: -1, Seed: seed}, nil)
		none, yes := 0.0, true
		spec := linear.DefaultSpec()
		spec.Terms = []linear.Term{linear.Inertia, linear.Viscous, linear.Coulomb}
		r, err := Run(t.Context(), Plan{
			Methods: Chain{"regress"}, Regress: spec,
			GivenParams: []Given{{Name: "offset", Start: &none, Fixed: &yes}},
		}, Records{Fit: []*record.Record{rec}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]float64{"M": j, "Fv": fv, "Fc": fc} {
			p, ok := r.Param(name)
			if !ok {
				t.Fatalf("seed %d: no %s in %+v", seed, name, r.Parameters)
			}
			if half := (p.CI[1] - p.CI[0]) / 2; math.Abs(want-(p.CI[0]+p.CI[1])/2) > 2*half || p.Worth == string(Identified) &&
				(p.CI[0] > want || p.CI[1] < want) {
				t.Errorf("seed %d: %s %.4g in %.4g … %.4g, true %.4g; %q", seed, name, p.Value, p.CI[0], p.CI[1], want, r.Reasons)
			}
		}
	}
}
