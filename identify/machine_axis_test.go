package identify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/independent"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// Sensors of torque on the link know no rotor: an armature that makes nothing of the torques rejects nothing, late or not.
func TestTorqueOnTheLink(t *testing.T) {
	for seed := range uint64(4) {
		b := newArmBench(seed+40, 2)
		b.n = 5000
		for i := range b.arm.Links {
			b.arm.Links[i].Rotor = 0
		}
		recs := lateBy(1e-3)(b)
		m, err := b.model(nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := fitArm(m, b.spec, recs)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict == Rejected {
			t.Errorf("seed %d: %s: %v", seed, r.Verdict, r.Because())
		}
	}
}

// A joint that moves in one direction gives neither its Coulomb friction nor its offset; the others give theirs.
func TestJointThatMovesOneWay(t *testing.T) {
	b := newArmBench(77, 2)
	b.n, b.wrong = 5000, 1
	recs := armKinds[slices.IndexFunc(armKinds, func(k armKind) bool { return k.name == "one direction" })].make(b)
	m, err := b.model(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := fitArm(m, b.spec, recs)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"l1.Fc": true, "l2.Fc": false, "l2.offset": false} {
		if p, ok := r.Param(name); !ok || (p.Worth == string(Identified)) != want || !want && p.Worth != NotIdentifiable {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if r.Verdict == Identified {
		t.Error("identified")
	}
}

// bothWays fits a record as a machine of one joint and as an axis with the same terms.
func bothWays(t *testing.T, b *armBench, recs [][]*record.Record, more ...linear.Term) (own, other *Result, err, err2 error) {
	t.Helper()
	m, err := b.model(nil)
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{Methods: Chain{"regress"}, Regress: linear.DefaultSpec(), Model: axis.Spec{Rotary: true}, Seed: 1}
	plan.Regress.Rotary = true
	plan.Regress.Terms = append(plan.Regress.Terms, more...) // in another order than the machine has them
	var flat []*record.Record
	for _, d := range recs {
		flat = append(flat, d[0])
	}
	own, err = fitArm(m, b.spec, recs)
	other, err2 = Run(context.Background(), plan, Records{Fit: flat}, nil, nil)
	return own, other, err, err2
}

// sameAs compares a machine with an axis: values to a thousandth of the standard error, verdict, and the codes and parameters of all
// reasons. by are the names of the axis, scale is what one of its unit is of the machine.
func sameAs(t *testing.T, what string, own, other *Result, by map[string]string, scale map[string]float64) {
	t.Helper()
	reasons := func(r *Result) (out []string) {
		for _, x := range r.Reasons {
			names := []string{}
			for _, n := range x.Params {
				names = append(names, cmp.Or(by[n], n))
			}
			slices.Sort(names)
			out = append(out, fmt.Sprint(x.Level, " ", x.Code, " ", names))
		}
		slices.Sort(out)
		return out
	}
	for name, of := range by {
		x, _ := own.Param(name)
		y, _ := other.Param(of)
		if (x == nil) != (y == nil) {
			t.Errorf("%s: only one of machine and axis has %s", what, of)
		}
		if x == nil || y == nil {
			continue
		}
		factor := cmp.Or(scale[name], 1)
		if se := other.Err(y); se == nil || own.Err(x) == nil || math.Abs(x.Value*factor-y.Value) > 1e-3**se ||
			math.Abs(*own.Err(x)*math.Abs(factor)-*se) > 1e-3**se {
			t.Errorf("%s: %s is %.8g ± %.3g as a machine and %.8g ± %.3g as an axis", what, of, x.Value*factor, *own.Err(x), y.Value, *se)
		}
		if x.Worth != y.Worth {
			t.Errorf("%s: %s is %s as a machine and %s as an axis", what, of, x.Worth, y.Worth)
		}
		if (x.CI == nil) != (y.CI == nil) || x.CI != nil && math.Abs((x.CI[1]-x.CI[0])*math.Abs(factor)-(y.CI[1]-y.CI[0])) > 1e-3*(y.CI[1]-y.CI[0]) {
			t.Errorf("%s: %s has the intervals %v and %v", what, of, x.CI, y.CI)
		}
	}
	if a, b := reasons(own), reasons(other); own.Verdict != other.Verdict || !slices.Equal(a, b) {
		t.Errorf("%s: machine %s %q, axis %s %q", what, own.Verdict, a, other.Verdict, b)
	}
}

// bothWaysKinds are the flaws of records that a machine and an axis have to see alike.
var bothWaysKinds = []string{"led", "gain 1.1 the other way", "torque sensor clips", "one direction", "efficiency 0.9",
	"three wild positions", "three wild torques",
	"torque behind a filter of 8 ms", "torque rounded coarsely", "held, half a sample late", "torque 3 ms late", "coarse encoder",
	"wrong sign of torque"}

// asAnAxis tries kinds with seeds of them.
func asAnAxis(t *testing.T, first, seeds uint64, only func(k armKind) bool) {
	by := map[string]string{"l1.izz_R": "J", "l1.Fv": "Fv", "l1.Fc": "Fc", "l1.offset": "offset", "l1.lag": "lag"}
	for _, k := range armKinds {
		for seed := first; seed < first+seeds && only(k); seed++ {
			b := newArmBench(seed, 1)
			b.top, b.n = 3, 4000
			own, other, err, err2 := bothWays(t, b, k.make(b))
			what := fmt.Sprintf("%s, seed %d", k.name, seed)
			if err != nil || err2 != nil {
				if err == nil || err2 == nil || err.Error() != err2.Error() {
					t.Errorf("%s: machine %v, axis %v", what, err, err2)
				}
				continue
			}
			sameAs(t, what, own, other, by, nil)
		}
	}
}

// A machine of one joint and the same record as an axis have the same values, verdict and reasons.
func TestMachineOfOneJointIsAnAxis(t *testing.T) {
	asAnAxis(t, 90, 1, func(k armKind) bool { return slices.Contains(bothWaysKinds, k.name) })
}

// So has one with weight: the sine and the cosine of the angle are the moments of mass times gravity.
func TestPendulumIsAnAxis(t *testing.T) {
	b := newArmBench(93, 1)
	b.top, b.n = 3, 6000
	b.arm.Gravity = independent.Vec{0, -9.81, 0} // the axis lies: sin and cos of the angle
	for _, k := range []string{"led", "gain 1.1 the other way", "torque sensor clips", "drag", "cogging", "torque drifts"} {
		recs := armKinds[slices.IndexFunc(armKinds, func(a armKind) bool { return a.name == k })].make(b)
		own, other, err, err2 := bothWays(t, b, recs, linear.GravityCos, linear.GravitySin)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		sameAs(t, "pendulum, "+k, own, other, map[string]string{"l1.izz_R": "J", "l1.Fv": "Fv", "l1.Fc": "Fc", "l1.offset": "offset",
			"l1.lag": "lag", "l1.mcx": "mgc", "l1.mcy": "mgs"},
			map[string]float64{"l1.mcx": 9.81, "l1.mcy": -9.81})
	}
}

// A gain that is wrong at the only drive scales all parameters: without an uncertainty the result says that its intervals do not hold
// that; with one they are wider by as much as squares add up to.
func TestUncertainGain(t *testing.T) {
	for _, gain := range []float64{0, 20} {
		b := newArmBench(95, 1)
		b.top, b.n = 3, 4000
		recs := gainOf(1.2, 1.2)(b)
		truth, err := b.truth()
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.model(nil)
		if err != nil {
			t.Fatal(err)
		}
		b.spec.Uncertain.Gain = gain
		r, err := fitArm(m, b.spec, recs)
		if err != nil {
			t.Fatal(err)
		}
		says := map[float64]string{0: "The intervals do not hold errors of these numbers", 20: "gains of the torques ±20 %"}[gain]
		if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, says) }) {
			t.Errorf("gain ±%g %%: no %q in %q", gain, says, r.Warnings)
		}
		for _, name := range []string{"l1.Fv", "l1.Fc"} {
			p, _ := r.Param(name)
			if held := p.CI[0] <= truth[name] && truth[name] <= p.CI[1]; held != (gain > 0) {
				t.Errorf("gain ±%g %%: %s is %.4g (%.4g to %.4g), true %.4g", gain, name, p.Value, p.CI[0], p.CI[1], truth[name])
			}
			ci := r.random(p)
			if half, want := (p.CI[1]-p.CI[0])/2, math.Hypot((ci[1]-ci[0])/2+largerMove(p.shownMove)+largerMove(p.possibleMove),
				normal95*gain/100*p.Value); gain > 0 && math.Abs(half-want) > 0.1*want {
				t.Errorf("%s: ±%.4g, want ±%.4g", name, half, want)
			}
		}
	}
}

// A gear efficiency that the model lacks moves friction: no value is identified whose interval misses it.
func TestEfficiencyIsNoFriction(t *testing.T) {
	told := 0
	for seed := range uint64(3) {
		b := newArmBench(seed+60, 2)
		recs := armKinds[slices.IndexFunc(armKinds, func(k armKind) bool { return k.name == "efficiency 0.9" })].make(b)
		truth, err := b.truth()
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.model(nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := fitArm(m, b.spec, recs)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"l1.Fc", "l2.Fc"} {
			p, _ := r.Param(name)
			missed := p.CI == nil || truth[name] < p.CI[0] || truth[name] > p.CI[1]
			if missed && p.Worth == string(Identified) {
				t.Errorf("seed %d: %s is %.4g (%v), true %.4g, identified", seed, name, p.Value, p.CI, truth[name])
			}
		}
		for _, x := range r.Reasons {
			if x.Code == fit.AboveNoise {
				told++
			}
		}
	}
	if told == 0 {
		t.Error("what is left over is not compared with the noise")
	}
}
