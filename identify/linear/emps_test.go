package linear

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/engine/peer"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// empsMapping is what configs/emps.yaml says.
func empsMapping() record.Mapping {
	return record.Mapping{
		Time:     record.Column{Name: "time_s", Unit: "s", Scale: 1},
		Position: record.Column{Name: "position_m", Unit: "m", Scale: 1},
		Force:    record.Column{Name: "command_V", Unit: "V", Scale: 35.15065188248547}, // N/V
	}
}

func recordOf(t testing.TB, file string, m record.Mapping) *record.Record {
	t.Helper()
	recs, err := record.Read(peer.SharedRecord(t, file), m)
	if err != nil {
		t.Fatal(err)
	}
	return recs[0]
}

// published is the procedure of the benchmark: all rows, and the force as it is stamped.
func published() Spec {
	s := DefaultSpec()
	s.MinVelocity, s.Lag = 0, LagFixed
	return s
}

func emps(t testing.TB) *record.Record {
	return recordOf(t, "emps/emps_estimation.csv.gz", empsMapping())
}

// want is a published number with the tolerance it has to be met with, in percent.
type want struct {
	name          string
	value, within float64
}

func compare(t *testing.T, r *Result, wants []want) {
	t.Helper()
	for _, w := range wants {
		i := slices.IndexFunc(r.Estimates, func(e Estimate) bool { return e.Symbol == w.name })
		if i < 0 {
			t.Errorf("no %s in the result", w.name)
			continue
		}
		if e := r.Estimates[i]; math.Abs(e.Value-w.value) > w.within/100*math.Abs(w.value) {
			t.Errorf("%s = %.5g %s, published %.5g: off by %.2f %%, at most %g %%", w.name, e.Value, e.Unit, w.value,
				100*math.Abs(e.Value/w.value-1), w.within)
		}
	}
}

// Published with the data [EMPS]: values, standard errors, condition number, misfit.
func TestEMPSPublished(t *testing.T) {
	r, err := InverseDynamics(emps(t), published())
	if err != nil {
		t.Fatal(err)
	}
	a, err := fit.Assess(r.Solution())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("condition %.3f, relative error %.3f %%, deviation %.3f N, computed in %.1f ms", *a.Condition, *r.Fit.Relative, r.Fit.StdDev,
		1e3*r.Compute)
	compare(t, r, []want{{"M", 95.1089, 0.5}, {"Fv", 203.5034, 0.5}, {"Fc", 20.3935, 0.5}, {"offset", -3.1648, 0.5}})
	for i, se := range []float64{0.1085, 1.1460, 0.1012, 0.0444} {
		if e := r.Estimates[i]; math.Abs(e.StdErr/se-1) > 0.02 {
			t.Errorf("standard error of %s is %.4g, published %.4g", e.Symbol, e.StdErr, se)
		}
	}
	if math.Abs(*a.Condition-25.99) > 0.1 {
		t.Errorf("condition number %.3f, published 25.99", *a.Condition)
	}
	if math.Abs(*r.Fit.Relative-4.08) > 0.06 || math.Abs(r.Fit.StdDev-2.18) > 0.03 {
		t.Errorf("relative error %.3f %%, deviation %.3f N; published 4.08 %%, 2.18 N", *r.Fit.Relative, r.Fit.StdDev)
	}
	// a friction law with four numbers leaves a correlated rest: the honest errors are larger than the published ones
	if r.Estimates[1].RobustErr < 2*r.Estimates[1].StdErr {
		t.Errorf("robust error of Fv %.3g, classical %.3g", r.Estimates[1].RobustErr, r.Estimates[1].StdErr)
	}
}

func TestEMPSAsymmetric(t *testing.T) {
	s, _ := published().Asymmetric()
	r, err := InverseDynamics(emps(t), s)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, r, []want{{"M", 95.1540, 0.2}, {"Fv+", 166.7061, 0.2}, {"Fc+", 20.1440, 0.2}, {"Fv-", 240.4236, 0.2}, {"Fc-", 20.6277, 0.2}})
	if math.Abs(*r.Fit.Relative-3.11) > 0.08 {
		t.Errorf("relative error %.3f %%, published 3.11 %%", *r.Fit.Relative)
	}
}

// Fc+, Fc− and offset together: a least-squares routine returns thousands of newton here. It must be a refusal by name.
func TestEMPSUnidentifiable(t *testing.T) {
	s := DefaultSpec()
	s.Terms = []Term{Inertia, ViscousPlus, ViscousMinus, CoulombPlus, CoulombMinus, Offset}
	r, err := InverseDynamics(emps(t), s)
	var u *Unidentifiable
	if !errors.As(err, &u) || r != nil {
		t.Fatalf("result %v, error %v, want a refusal", r, err)
	}
	if len(u.Combinations) != 1 || joinTerms(u.Combinations[0].Terms) != "coulomb+, coulomb-, offset" {
		t.Errorf("combinations %v, want the one of coulomb+, coulomb-, offset", u.Combinations)
	}
	for i, w := range []float64{1, -1, -1} {
		if math.Abs(u.Combinations[0].Weights[i]-w) > 1e-6 {
			t.Errorf("weights %v, want coulomb+ − coulomb- − offset = 0", u.Combinations[0].Weights)
		}
	}
	if msg := err.Error(); !strings.Contains(msg, "coulomb+ − coulomb- − offset = 0") ||
		!strings.Contains(msg, "Keep coulomb+ and coulomb- without offset") {
		t.Errorf("message: %s", msg)
	}
}

// scipy runs a program for Debian's Python on JSON input and decodes its JSON output; the test is skipped without SciPy.
func scipy(t *testing.T, program string, in, out any) {
	t.Helper()
	peer.Ask(t, "scipy", in, out, "-c", "import json, sys, numpy as np\nfrom scipy import signal\nd = json.load(sys.stdin)\n"+program)
}

// The whole procedure again in SciPy, by another author's filters, decimation and solver.
func TestEMPSAgainstSciPy(t *testing.T) {
	d := emps(t)
	r, err := InverseDynamics(d, published())
	if err != nil {
		t.Fatal(err)
	}
	var peer struct{ Theta, SE []float64 }
	scipy(t, `
q, y, dt = np.array(d["q"]), np.array(d["y"]), d["dt"]
q = signal.filtfilt(*signal.butter(4, 100*2*dt), q)
diff = lambda x: np.concatenate([np.gradient(x, dt)[:3], np.convolve(x, np.array([1, -9, 45, 0, -45, 9, -1])/60/dt, "valid"), np.gradient(x, dt)[-3:]])
v = diff(q); a = diff(v)
w = np.column_stack([a, v, np.sign(v), np.ones(len(q))])
dec = lambda x: signal.decimate(x, 10, ftype="iir", zero_phase=True)[10:-10]
w, y = np.column_stack([dec(c) for c in w.T]), dec(y)
x, rss = np.linalg.lstsq(w, y, rcond=None)[:2]
se = np.sqrt(rss[0]/(len(y)-4)*np.diag(np.linalg.inv(w.T @ w)))
json.dump({"Theta": x.tolist(), "SE": se.tolist()}, sys.stdout)`,
		map[string]any{"q": d.Position, "y": d.Force, "dt": d.Dt}, &peer)
	for i, e := range r.Estimates {
		if math.Abs(e.Value/peer.Theta[i]-1) > 1e-6 || math.Abs(e.StdErr/peer.SE[i]-1) > 1e-5 {
			t.Errorf("%s = %.9g ± %.6g, SciPy %.9g ± %.6g", e.Symbol, e.Value, e.StdErr, peer.Theta[i], peer.SE[i])
		}
	}
}

// A second measured axis: a torque-controlled pendulum. Least squares of others gives J about 0.19 kg·m² and m·g·c 3.6 to
// 4.0 N·m with 93 % fit on the run ddp; on the run pd_sysid the same model explains little, and the verdict must say so.
func TestPendulum(t *testing.T) {
	m := record.Mapping{
		Time:     record.Column{Name: "time_s", Unit: "s", Scale: 1},
		Position: record.Column{Name: "position_rad", Unit: "rad", Scale: 1},
		Force:    record.Column{Name: "torque_Nm", Unit: "N·m", Scale: 1},
	}
	s := Spec{Rotary: true, Terms: []Term{Inertia, Viscous, Coulomb, GravitySin, Offset}, Order: 4, Cutoff: 6, Decimate: 40, Trim: 0.2}
	good := recordOf(t, "dfki_pendulum/ddp.csv.gz", m)
	r, err := InverseDynamics(good, s)
	if err != nil {
		t.Fatal(err)
	}
	if j, g := r.Estimates[0].Value, r.Estimates[3].Value; math.Abs(j-0.19) > 0.015 || g < 3.6 || g > 4.0 || math.Abs(*r.Fit.Percent-93) > 1 {
		t.Errorf("J %.3g kg·m², m·g·c %.3g N·m, fit %.1f %%", j, g, *r.Fit.Percent)
	}

	// the whole band lets quantisation and lag in: the fit at half the cutoff disagrees
	wide := s
	wide.Cutoff, wide.Decimate = 20, 5
	r, err = InverseDynamics(good, wide)
	if err != nil {
		t.Fatal(err)
	}
	if j := r.Estimates[0]; math.Abs(r.HalfCutoff[0]-j.Value) < 0.1*j.Value {
		t.Errorf("J %.3g kg·m² from the wide band, %.3g from half of it", j.Value, r.HalfCutoff[0])
	}
	other, err := r.Explain(recordOf(t, "dfki_pendulum/pd_sysid.csv.gz", m))
	if err != nil {
		t.Fatal(err)
	}
	if f := fit.Percent(other.Measured, other.Residual); f > 50 {
		t.Errorf("another run, with a saturated drive, is explained by %.1f %%", f)
	}
}

func BenchmarkEMPS(b *testing.B) {
	d, s := emps(b), DefaultSpec()
	for b.Loop() {
		if _, err := InverseDynamics(d, s); err != nil {
			b.Fatal(err)
		}
	}
}

// On a record with little noise the forms agree within what half the band changes; where they did not, the data would be at
// fault.
func TestEMPSForms(t *testing.T) {
	d := emps(t)
	direct := fitForm(t, Direct, Options{}, d)
	for form, o := range map[Form]Options{Weak: {}, Instrumental: {}, Total: {NoiseRatio: 5e-8 / math.Sqrt(12) / 2}} { // 50 nm a count, 2 N
		r := fitForm(t, form, o, d)
		for j, e := range r.Estimates {
			t.Logf("%-12s %-6s %8.3f ± %.3f, direct %8.3f ± %.3f", form, e.Symbol, e.Value, e.RobustErr, direct.Estimates[j].Value,
				direct.Estimates[j].RobustErr)
			if w := direct.Estimates[j]; math.Abs(e.Value-w.Value) > 0.03*math.Abs(w.Value)+3*w.RobustErr {
				t.Errorf("%s: %s = %.5g, direct %.5g", form, e.Symbol, e.Value, w.Value)
			}
		}
	}
}

func joinTerms(terms []Term) string { return strings.Join(words(terms), ", ") }
