package identify

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// A value that nobody measured is no known one: where it is wrong, intervals hold the truth or the reason names it, and the table calls
// it assumed.
func TestAssumedValues(t *testing.T) {
	seeds := uint64(1)
	if soak {
		seeds = 6
	}
	for i, methods := range []Chain{{"lugre", "kalman"}, {"lugre", "lm"}} {
		factors := []float64{2, 0.5, 1}
		if !soak { // one each
			factors = factors[i : i+1]
		}
		for _, factor := range factors {
			missed, named := 0, 0
			for seed := range seeds {
				b := newBench(40+seed, 3)
				contact(b)
				b.axis.Friction.Vd = 3 * b.axis.Friction.Vs
				tr := b.record(nil)
				contactPlan(methods...)(b, &tr.plan)
				guess := factor * b.axis.Friction.Vd
				tr.plan.GivenParams = []Given{{Name: "vd", Start: &guess, Assumed: true}}
				o := attempt(kind{}, tr)
				if o.result == nil {
					t.Errorf("%v, factor %g, seed %d: %s", methods, factor, seed, o.reason)
					continue
				}
				vd, _ := o.result.Param("vd")
				p, _ := o.result.Param("sigma1")
				if vd.Worth != Assumed {
					t.Errorf("vd is %s", vd.Worth)
				}
				if slices.ContainsFunc(o.result.Reasons, func(r fit.Reason) bool { return r.Code == "assumed-value" }) {
					named++
				}
				truth := b.axis.Friction.Sigma1
				if p.CI == nil || truth < p.CI[0] || truth > p.CI[1] {
					missed++
					t.Logf("%v, vd %g times the truth, seed %d: sigma1 %.4g for %.4g, %v; %s", methods, factor, seed, p.Value, truth, p.CI, o.verdict)
				}
				if o.wrong != nil {
					t.Errorf("%v, vd %g times the truth, seed %d: wrong with confidence: %v", methods, factor, seed, o.wrong)
				}
			}
			t.Logf("%v, vd %g times the truth: named in %d of %d, sigma1 missed in %d", methods, factor, named, seeds, missed)
		}
	}
}

// Friction of a run-down is in proportion to the inertia. Where that is a guess, the record tells nothing of it, and friction is as wrong
// as the guess: anywhere within half of itself, of which 0.95 is the interval. A step of half the inertia is more than a linear model makes
// up for: taken for what the record tells, it made the intervals up to a hundred times narrower.
func TestFrictionIsAsWrongAsAnAssumedInertia(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 20261130))
	a, r := experiments["run-down"](rng)
	res, err := Run(t.Context(), coastingOnAGuess(a, r, rng), Records{Fit: []*record.Record{r.record(a, rng)}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Fc", "Fv"} {
		p, _ := res.Param(name)
		if half := (p.CI[1] - p.CI[0]) / 2; math.Abs(half-0.475*p.Value) > 0.01*p.Value {
			t.Errorf("%s %.4g ± %.3g, want ± %.3g", name, p.Value, half, 0.475*p.Value)
		}
	}
}

// So are friction and stiffness of any free motion, however quiet its record: a pendulum tells frequencies to a millionth, and what of a
// step of the inertia no linear model makes up for is no knowledge of the inertia.
func TestFreeMotionOnAnAssumedInertia(t *testing.T) {
	for _, k := range slices.Concat(freeKinds, oddFreeKinds) {
		if strings.HasPrefix(k.name, "drawn") || // by a spring, which sets the scale
			!soak && !slices.Contains([]string{"run-down", "pendulum", "spring", "pendulum, little noise", "run-down, fine"}, k.name) {
			continue
		}
		tr := k.trial(7)
		guess, highest := 1.35, 200.0
		tr.plan.GivenParams[0] = Given{Name: "J", Start: &guess, Assumed: true}
		if h := &tr.plan.GivenParams[1]; h.Hi != nil {
			h.Hi = &highest
		}
		if o := attempt(kind{}, tr); o.wrong != nil || k.clean && o.result == nil || o.verdict == Identified {
			t.Errorf("%s: %s, wrong with confidence: %v (%s)", k.name, o.verdict, o.wrong, o.reason)
		}
	}
}

// A model whose damping does not fade says so, and assumes no value: intervals hold what the record shows, not what a fading would do that
// it does not exclude. They were up to sixteen times as wide as chance makes them.
func TestNothingIsAssumedOfWhatAModelLacks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 20261128))
	a, r := experiments["contact, force without noise"](rng)
	res, err := Run(t.Context(), planned("lugre", "lugre", "lm")(a, r, rng), Records{Fit: []*record.Record{r.record(a, rng)}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	truth := a.truths(r.dt, r.held)
	for i := range res.Parameters {
		p := &res.Parameters[i]
		if p.Fixed {
			continue
		}
		if wide, own := p.CI[1]-p.CI[0], res.random(p); wide > 2*(own[1]-own[0]) || strings.Contains(p.IntervalSource, "assumed") {
			t.Errorf("%s: the interval is %.3g wide, %.3g by chance: %s", p.Name, wide, own[1]-own[0], p.IntervalSource)
		}
		if want := truth[p.Name]; math.Abs(p.Value-want) > 4**res.Err(p) {
			t.Errorf("%s: %.5g for %.5g, error %.2g", p.Name, p.Value, want, *res.Err(p))
		}
	}
}

// What is left of the doubt in an assumed value, by closed forms: anywhere within ±1 where the record says nothing, what the record says
// where it knows better, and in between a normal distribution cut off at ±1, of which u² = σ²·(1 − 2·φ(1/σ)/(σ·erf(1/(σ·√2)))).
func TestDoubtLeft(t *testing.T) {
	u := 1 / math.Sqrt(3)
	cut := func(s float64) float64 {
		return s * math.Sqrt(1-2*math.Exp(-0.5/(s*s))/math.Sqrt(2*math.Pi)/(s*math.Erf(1/s/math.Sqrt2)))
	}
	for _, c := range []struct{ best, err, want float64 }{
		{0, math.Inf(1), u}, {5, math.Inf(1), u}, {0, 1e-9, 1e-9}, {0.3, 1e-9, 0.3}, {-0.3, 1e-9, 0.3}, {0, u, cut(u)}, {0, 0.2, cut(0.2)},
		{0.2, 0.1, math.Hypot(0.2, 0.1)}, {-0.2, 0.1, math.Hypot(0.2, 0.1)}, {7, 0.01, 1}, {-7, 0.01, 1},
	} {
		if got := (doubt{c.best, c.err}).cutOff(-1, 1).rms(); math.Abs(got-c.want) > 1e-3*c.want {
			t.Errorf("best %g ± %g: %g is left, want %g", c.best, c.err, got, c.want)
		}
	}
}

// What is left of the doubt in two values together. Where the record tells their sum alone, their difference lies anywhere within 2, and
// each anywhere within 1; a sum of two that nothing is told of exceeds h once in (2 − h)²/4; what the record knows well adds up by squares;
// and an error that shows is not cut off.
func TestDoubtsTogether(t *testing.T) {
	inf, half := math.Inf(1), math.Sqrt(0.5)
	turned, plain := [][]float64{{half, half}, {half, -half}}, [][]float64{{1, 0}, {0, 1}}
	for _, c := range []struct {
		axes      [][]float64
		best, err []float64
		shown     bool // the first
		by        []float64
		want      float64
	}{
		{turned, []float64{0, 0}, []float64{1e-6, inf}, false, []float64{1, -1}, 0.95 * 2},
		{turned, []float64{0, 0}, []float64{1e-6, inf}, false, []float64{0, 3}, 0.95 * 3},
		{turned, []float64{0, 0}, []float64{1e-6, inf}, false, []float64{1, 1}, normal95 * 1e-6 / half},
		{turned, []float64{0, 0}, []float64{inf, inf}, false, []float64{1, 1}, 2 - 2*math.Sqrt(0.05)},
		{turned, []float64{half, 0}, []float64{1e-6, inf}, false, []float64{1, 1}, 1},
		{turned, []float64{0, 0}, []float64{0.05, 0.1}, false, []float64{1, 0}, normal95 * half * math.Hypot(0.05, 0.1)},
		{plain, []float64{0, 0}, []float64{0.1, 0.2}, false, []float64{3, 4}, normal95 * math.Hypot(0.3, 0.8)},
		{plain, []float64{3, 0}, []float64{0.1, inf}, true, []float64{1, 0}, 3 + 0.1*1.6449},
		{plain, []float64{3, 0}, []float64{0.1, inf}, false, []float64{1, 0}, 1},
		{plain, []float64{3, 0}, []float64{0.1, inf}, true, []float64{0, 1}, 0.95},
	} {
		left := leftOf(fit.Factors{Axes: c.axes, Values: c.best, Err: c.err}, []bool{c.shown, false})(c.by)
		if got := left.halfInterval(0); math.Abs(got-c.want) > 0.03*c.want {
			t.Errorf("%v ± %v along %v, shown %v, moves %v: %.4g, want %.4g", c.best, c.err, c.axes, c.shown, c.by, got, c.want)
		}
	}
}

// A run-down tells the ratios of its friction to the inertia alone. With guesses of inertia and viscous friction that agree, the dry
// friction is as wrong as both, though either guess would be known well if the other one was right.
func TestRunDownOnTwoGuesses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 20261130))
	a, r := experiments["run-down"](rng)
	res, err := Run(t.Context(), coastingOnGuesses(a, r, rng), Records{Fit: []*record.Record{r.record(a, rng)}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := res.Param("Fc")
	if half := (p.CI[1] - p.CI[0]) / 2; math.Abs(half-0.475*p.Value) > 0.03*p.Value {
		t.Errorf("Fc %.4g ± %.3g for %.4g, want ± %.3g", p.Value, half, a.fc, 0.475*p.Value)
	}
}

// Half of the interval that a doubt makes beside chance: 0.95 of a largest error that the record says nothing of, 1.96 standard deviations
// of chance, and by draws what both make together.
func TestIntervalOfADoubt(t *testing.T) {
	nothing := doubt{0, math.Inf(1)}
	for _, c := range []struct {
		d              doubt
		move, se, want float64
	}{
		{nothing, 3, 0, 0.95 * 3}, {nothing, -3, 1e-6, 0.95 * 3}, {nothing, 1e-9, 2, normal95 * 2}, {doubt{0, 0.01}, 1, 0, normal95 * 0.01},
		{doubt{0, 0.03}, 1, 0.04, normal95 * 0.05}, {doubt{0.5, 1e-9}, 2, 0, 1},
	} {
		if got := c.d.cutOff(-1, 1).scaled(c.move).halfInterval(c.se); math.Abs(got-c.want) > 0.01*c.want {
			t.Errorf("%v, move %g, error %g: %g, want %g", c.d, c.move, c.se, got, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 20261130))
	for _, se := range []float64{0.1, 0.5, 1, 2} {
		half, within := nothing.cutOff(-1, 1).halfInterval(se), 0
		for range 40000 {
			if math.Abs(2*rng.Float64()-1+se*rng.NormFloat64()) <= half {
				within++
			}
		}
		if share := float64(within) / 40000; math.Abs(share-0.95) > 0.0045 { // four standard errors
			t.Errorf("error %g beside a doubt of 1: ± %.3g holds %.3f", se, half, share)
		}
	}
}
