package identify

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/independent"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// stribeck is the steady curve of a record made apart, written here again.
func stribeck(f independent.Friction, v float64) float64 {
	fc, fs, s2 := f.Fc, f.Fs, f.Sigma2
	if f.Split && v < 0 {
		fc, fs, s2 = f.FcBack, f.FsBack, f.Sigma2Back
	}
	return math.Copysign(fc+(fs-fc)*math.Exp(-(v/f.Vs)*(v/f.Vs)), v) + s2*v
}

// frictionRun fits a LuGre contact by direction, with a constant force on it, to a record that was integrated apart.
func frictionRun(t *testing.T) (*Result, independent.Friction) {
	f := independent.Friction{Sigma0: 1e4, Sigma1: 100, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05, Split: true, FcBack: 1.3, FsBack: 1.8,
		Sigma2Back: 0.6}
	ax := &independent.Axis{M: 2, Friction: f, Load: func(_, x, _ float64) float64 { return 3 * x }}
	tr := ax.Simulate(independent.Run{Dt: 1e-3, N: 10000, Force: independent.Sines(3, []float64{2.5, 1.8, 1.2}, []float64{0.7, 1.9, 5.3}),
		Intersample: independent.Held})
	rec := tr.Record(independent.Sensors{Position: 1e-6, Velocity: 2e-4, Seed: 3}, nil)
	k, known := 3.0, true // what is known is taken out of the force too
	plan := Plan{Methods: Chain{"lm"}, Model: axis.Spec{Law: "lugre", Asymmetric: true, Terms: []string{"stiffness"}, Output: axis.Velocity,
		Scheme: friction.Midpoint},
		GivenParams: []Given{{Name: "k", Start: &k, Fixed: &known}}}
	r, err := Run(t.Context(), plan, Records{Fit: []*record.Record{rec}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, f
}

// The friction along a record is the force of the drive without inertia and loads, the known ones too: at speed it is the steady curve
// with which the record was made. The curve of the parameters is that curve, by direction.
func TestFrictionRows(t *testing.T) {
	r, f := frictionRun(t)
	rows := r.FrictionRows()
	if rows == nil || rows.Unit != "N" || len(rows.Position) != len(rows.Velocity) {
		t.Fatalf("no rows of friction: %+v", rows)
	}
	for _, at := range [][2]float64{{0.15, 0.25}, {0.25, 0.4}, {-0.25, -0.15}, {-0.4, -0.25}} {
		var e, m []float64
		for k, v := range rows.Velocity {
			if v > at[0] && v < at[1] {
				e, m = append(e, rows.Force[k]-stribeck(f, v)), append(m, rows.Model[k]-stribeck(f, v))
			}
		}
		if len(e) < 50 {
			t.Fatalf("%d rows between %g and %g m/s", len(e), at[0], at[1])
		}
		if off := numeric.Median(e); math.Abs(off) > 0.03 {
			t.Errorf("%g to %g m/s: measured friction is off by %.3g N", at[0], at[1], off)
		}
		// the model knows no noise of the acceleration
		if off := numeric.RMS(m); off > 0.6*numeric.RMS(e) || off > 0.03 {
			t.Errorf("%g to %g m/s: the friction of the model is %.3g N rms off, the measured one %.3g", at[0], at[1], off, numeric.RMS(e))
		}
	}
	for _, v := range []float64{-0.6, -0.1, -0.02, 0.02, 0.1, 0.6} {
		force, se, ok := r.FrictionAt(v)
		if want := stribeck(f, v); !ok || math.Abs(force-want) > 4*se+1e-3 || !(se > 0) || se > 0.1 {
			t.Errorf("%g m/s: %.4g ± %.2g N, %v, made with %.4g", v, force, se, ok, want)
		}
	}
}

// The error of the curve is the scatter of curves whose parameters are drawn from their covariance.
func TestFrictionErrorIsThatOfDraws(t *testing.T) {
	r, _ := frictionRun(t)
	var names []string
	var mean []float64
	n := len(r.Correlation)
	cov := mat.NewSymDense(n, nil)
	var se []float64
	for i := range r.Parameters {
		if p := &r.Parameters[i]; !p.Fixed {
			names, mean, se = append(names, p.Name), append(mean, p.Value), append(se, *r.Err(p))
		}
	}
	for i := range n {
		for k := range i + 1 {
			cov.SetSym(i, k, r.Correlation[i][k]*se[i]*se[k])
		}
	}
	var c mat.Cholesky
	var lower mat.TriDense
	if !c.Factorize(cov) {
		t.Fatal("no covariance")
	}
	c.LTo(&lower)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, v := range []float64{-0.4, -0.03, 0.03, 0.4} {
		var drawn []float64
		for range 4000 {
			p := map[string]float64{}
			z := mat.NewVecDense(n, nil)
			for i := range n {
				z.SetVec(i, rng.NormFloat64())
			}
			z.MulVec(&lower, z)
			for i, name := range names {
				p[name] = mean[i] + z.AtVec(i)
			}
			side := "+"
			if v < 0 {
				side = "-"
			}
			drawn = append(drawn, stribeck(independent.Friction{Fc: p["Fc"+side], Fs: p["Fc"+side] + p["dFs"], Sigma2: p["sigma2"+side],
				Vs: p["vs"]}, v))
		}
		_, got, _ := r.FrictionAt(v)
		if want := stat.StdDev(drawn, nil); math.Abs(got/want-1) > 0.1 {
			t.Errorf("%g m/s: %.3g N by the delta method, %.3g N by draws", v, got, want)
		}
	}
}

// Of a regression the rows hold the force without inertia and offset, exactly.
func TestFrictionRowsOfRegression(t *testing.T) {
	d := &record.Record{Dt: 1e-3}
	for k := range 12000 {
		sin, cos := math.Sincos(2 * float64(k) * 1e-3)
		x, v, a := 0.2*sin, 0.4*cos, -0.8*sin
		d.Position, d.Force = append(d.Position, x), append(d.Force, 12*a+30*v+math.Copysign(5, v)-1.5)
	}
	spec := linear.DefaultSpec()
	spec.Lag = linear.LagFixed
	r, err := Run(t.Context(), Plan{Methods: Chain{"regress"}, Regress: spec}, Records{Fit: []*record.Record{d}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := r.FrictionRows()
	if rows == nil {
		t.Fatal("none")
	}
	m, _ := r.Param("M")
	offset, _ := r.Param("offset")
	for k, v := range rows.Velocity {
		a := -4 * rows.Position[k] // of the sine
		if want := 30*v + math.Copysign(5, v) + (12-m.Value)*a - 1.5 - offset.Value; math.Abs(v) > 0.3 && math.Abs(rows.Force[k]-want) > 0.02 {
			t.Fatalf("at %g m/s %g N, want %g", v, rows.Force[k], want)
		}
	}
	fc, _ := r.Param("Fc")
	fv, _ := r.Param("Fv")
	if f, _, ok := r.FrictionAt(-0.3); !ok || math.Abs(f+fc.Value+0.3*fv.Value) > 1e-12 {
		t.Errorf("curve %g, %v", f, ok)
	}
	var empty Result
	if empty.FrictionRows() != nil || empty.UnweightedSolution() != nil {
		t.Error("a result from a file has rows")
	}
	if _, _, ok := empty.FrictionAt(1); ok {
		t.Error("a result without parameters has friction")
	}
}

// The costs of a stage lead from the first start to the end, also where the contact was drawn again around what the first descents
// found, because more is left over than noise.
func TestTraceOfSeveralRounds(t *testing.T) {
	ax := &independent.Axis{M: 1, Friction: independent.Friction{Sigma0: 1e4, Sigma1: 100, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05},
		Load: func(t, _, _ float64) float64 { return 0.2 * math.Sin(11*t) }}
	tr := ax.Simulate(independent.Run{Dt: 1e-3, N: 3000, Force: independent.Sines(3, []float64{2.5, 1.8, 1.2}, []float64{0.7, 1.9, 5.3}),
		Intersample: independent.Held})
	rec := tr.Record(independent.Sensors{Position: 1e-6, Velocity: 2e-4, Seed: 3}, nil)
	r, err := Run(t.Context(), Plan{Methods: Chain{"lm"}, Model: axis.Spec{Law: "lugre", Output: axis.Velocity}},
		Records{Fit: []*record.Record{rec}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	st := r.Stages[0]
	starts, _ := st.Extra["starts"].([]fit.Start)
	t.Logf("%d descents, costs %v", len(starts), st.Trace)
	if n := len(st.Trace); n < 8 || st.Trace[0] < 1.05*st.Cost ||
		!slices.IsSortedFunc(st.Trace, func(a, b float64) int { return cmp.Compare(b, a) }) || math.Abs(st.Trace[n-1]/st.Cost-1) > 1e-9 {
		t.Errorf("costs %v to %g", st.Trace, st.Cost)
	}
}
