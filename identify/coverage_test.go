package identify

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// How often printed 95 % intervals hold the truth, by method and kind of record. The records are integrated here, from the equations alone:
// rigid friction by the closed solution of every thirty-second of a sample, with its reversals found in closed form, bristles by Runge and
// Kutta's method. Mass, friction, motion and noise are drawn anew for every record.

// coverageCase is a method on a kind of record.
type coverageCase struct {
	method, record string
	draws          int  // of the long test
	given          bool // values of the file are off by their stated error, which is no matter of chance
	plan           func(a *mover, r *ride, rng *rand.Rand) Plan
}

func (c *coverageCase) String() string { return c.method + " on " + c.record }

// planned is the plan of the command: regress, or methods with a law.
func planned(law string, methods ...Method) func(*mover, *ride, *rand.Rand) Plan {
	return func(a *mover, r *ride, _ *rand.Rand) Plan {
		p := Plan{Methods: methods, Regress: linear.DefaultSpec(), Seed: 1, Workers: 1, Segments: 10}
		p.Model = axis.Spec{Law: law, Decimate: 1, Hold: axis.Either, Terms: []string{"offset"}}
		if law == "coulomb" {
			p.Model.Terms = append(p.Model.Terms, "viscous")
		}
		return p
	}
}

// changedPlan is a plan with something else in it.
func changedPlan(of func(*mover, *ride, *rand.Rand) Plan, change func(p *Plan, a *mover, r *ride, rng *rand.Rand)) func(*mover, *ride,
	*rand.Rand) Plan {
	return func(a *mover, r *ride, rng *rand.Rand) Plan {
		p := of(a, r, rng)
		change(&p, a, r, rng)
		return p
	}
}

func withForm(form linear.Form) func(*mover, *ride, *rand.Rand) Plan {
	return changedPlan(planned("", regress), func(p *Plan, _ *mover, _ *ride, _ *rand.Rand) { p.Form = form })
}

// inServo compares the command of the known controller.
func inServo(law string) func(*mover, *ride, *rand.Rand) Plan {
	return changedPlan(planned(law, "regress", "lm"), func(p *Plan, _ *mover, r *ride, _ *rand.Rand) {
		p.Model.Drive, p.Model.Output, p.LagFree, p.Model.Hold = axis.Servo, axis.Command, false, axis.Held
		p.Model.Controller = &axis.Controller{Kp: r.kp, Kv: r.kv, Gain: 1, Mean: 2}
	})
}

// coasting knows the mass.
var coasting = changedPlan(planned("coulomb", "lm"), func(p *Plan, a *mover, _ *ride, _ *rand.Rand) {
	m, known := a.m, true
	p.Model.Drive, p.Model.Terms, p.GivenParams = axis.Coast, []string{"viscous"}, []Given{{Name: "M", Start: &m, Fixed: &known}}
})

// priorOf searches a parameter whose value was drawn from its prior, of the given share.
func priorOf(of func(*mover, *ride, *rand.Rand) Plan, name string, share float64, value func(a *mover) float64) func(*mover, *ride,
	*rand.Rand) Plan {
	return changedPlan(of, func(p *Plan, a *mover, _ *ride, rng *rand.Rand) {
		u := share * value(a)
		start := value(a) + u*rng.NormFloat64()
		p.GivenParams = append(p.GivenParams, Given{Name: name, Start: &start, Prior: &u})
	})
}

// givenOf knows a parameter with an error, from which its value was drawn.
func givenOf(of func(*mover, *ride, *rand.Rand) Plan, name string, share float64, value func(a *mover) float64) func(*mover, *ride,
	*rand.Rand) Plan {
	return changedPlan(of, func(p *Plan, a *mover, _ *ride, rng *rand.Rand) {
		u := share * value(a)
		start := value(a) + u*rng.NormFloat64()
		p.GivenParams = slices.DeleteFunc(p.GivenParams, func(g Given) bool { return g.Name == name })
		p.GivenParams = append(p.GivenParams, Given{Name: name, Start: &start, Err: &u})
	})
}

// assumedOf takes a value that nobody measured, up to a half off.
func assumedOf(of func(*mover, *ride, *rand.Rand) Plan, name string, value func(a *mover) float64) func(*mover, *ride, *rand.Rand) Plan {
	return changedPlan(of, func(p *Plan, a *mover, _ *ride, rng *rand.Rand) {
		start := value(a) / (0.5 + rng.Float64())
		p.GivenParams = append(p.GivenParams, Given{Name: name, Start: &start, Assumed: true})
	})
}

// drawnGain has a gain of the force that is drawn from its error.
func drawnGain(of func(*mover, *ride, *rand.Rand) Plan, share float64) func(*mover, *ride, *rand.Rand) Plan {
	return changedPlan(of, func(p *Plan, _ *mover, r *ride, rng *rand.Rand) { p.GainErr, r.gain = share, share*rng.NormFloat64() })
}

func massOf(a *mover) float64   { return a.m }
func fadingOf(a *mover) float64 { return a.vd }

// coastingOnAGuess does not know the mass.
var coastingOnAGuess = assumedOf(changedPlan(coasting, func(p *Plan, _ *mover, _ *ride, _ *rand.Rand) { p.GivenParams = nil }), "M", massOf)

// coastingOnGuesses does not know the viscous friction either, but for its ratio to the mass.
var coastingOnGuesses = changedPlan(coastingOnAGuess, func(p *Plan, a *mover, _ *ride, _ *rand.Rand) {
	viscous := a.fv * *p.GivenParams[0].Start / a.m
	p.GivenParams = append(p.GivenParams, Given{Name: "Fv", Start: &viscous, Assumed: true})
})

// coverageCases are the methods that find parameters of an axis.
var coverageCases = func() (list []coverageCase) {
	for _, kind := range []string{"servo, sines, coarse encoder", "servo, moves with pauses", "force, sines", "force, sines, noisy sensor",
		"force, chirp held",
		"servo, small motion", "servo, presliding 20 µm", "servo, presliding 50 µm", "servo, presliding 100 µm"} {
		for _, form := range []linear.Form{linear.Direct, linear.Weak, linear.Instrumental} {
			list = append(list, coverageCase{"regress, " + string(form), kind, 100, false, withForm(form)})
		}
	}
	for _, kind := range []string{"force, sines", "force, sines, noisy sensor", "force, chirp held"} {
		list = append(list, coverageCase{"regress, lm", kind, 100, false, planned("coulomb", "regress", "lm")})
		list = append(list, coverageCase{"regress, multishoot", kind, 100, false, planned("coulomb", "regress", "multishoot")})
	}
	list = append(list, coverageCase{"regress, lm in the servo", "servo, sines, coarse encoder", 100, false, inServo("coulomb")})
	list = append(list, coverageCase{"lm, coast", "run-down", 100, false, coasting})
	for _, kind := range []string{"contact, force", "contact, servo"} {
		list = append(list, coverageCase{"lugre", kind, 60, false, planned("lugre", "lugre")})
		list = append(list, coverageCase{"lugre, kalman", kind, 60, false, planned("lugre", "lugre", "kalman")})
	}
	list = append(list, coverageCase{"lugre, lm", "contact, force without noise", 60, false, planned("lugre", "lugre", "lm")})
	list = append(list, coverageCase{"lugre, lm", "contact, force", 60, false, planned("lugre", "lugre", "lm")})
	plain := planned("", regress)
	list = append(list, coverageCase{"regress, gain of the force ± 2 %", "servo, sines, coarse encoder", 100, true, drawnGain(plain, 0.02)})
	list = append(list, coverageCase{"regress, prior of M 3 %", "servo, short and noisy", 100, false, priorOf(plain, "M", 0.03, massOf)})
	list = append(list, coverageCase{"regress, prior of M 0.5 %", "servo, short and noisy", 100, false, priorOf(plain, "M", 0.005, massOf)})
	list = append(list, coverageCase{"lm, coast, M ± 3 %", "run-down", 100, true, givenOf(coasting, "M", 0.03, massOf)})
	kalman := planned("lugre", "lugre", "kalman")
	list = append(list, coverageCase{"lugre, kalman, vd ± 20 %", "contact whose damping fades, force", 60, true,
		givenOf(kalman, "vd", 0.2, fadingOf)})
	list = append(list, coverageCase{"lugre, kalman, vd assumed", "contact whose damping fades, force", 60, true,
		assumedOf(kalman, "vd", fadingOf)})
	list = append(list, coverageCase{"lugre, kalman, vd and vs assumed", "contact whose damping fades, force", 60, true,
		assumedOf(assumedOf(kalman, "vd", fadingOf), "vs", func(a *mover) float64 { return a.vs })})
	list = append(list, coverageCase{"lm, coast, M assumed", "run-down", 100, true, coastingOnAGuess})
	list = append(list, coverageCase{"lm, coast, M and Fv assumed, their ratio right", "run-down", 100, true, coastingOnGuesses})
	list = append(list, coverageCase{"presliding-linear", "micro, below break-away", 100, false,
		changedPlan(planned("lugre", "presliding-linear"), func(p *Plan, a *mover, _ *ride, _ *rand.Rand) {
			known := true
			for name, v := range map[string]float64{"sigma2": a.fv, "Fc": a.fc, "Fs": a.fc, "vs": 0.01} { // a small motion does not tell them
				p.GivenParams = append(p.GivenParams, Given{Name: name, Start: &v, Fixed: &known})
			}
		})})
	return list
}()

// coverageCount counts the intervals that hold the truth.
type coverageCount struct {
	held, chance, all map[string]int // printed; of chance alone; all, by parameter
	off, square       map[string]float64
	verdicts          map[Verdict]int
	refused           int
	compute           float64 // s
	why               map[string]int
	shares            [2][]float64 // of the intervals of every record that hold: printed, of chance alone
}

// truths are the parameters of a mover by name.
func (a *mover) truths(dt float64, held bool) map[string]float64 {
	t := map[string]float64{"M": a.m, "Fc": a.fc, "Fv": a.fv, "offset": a.offset, "sigma0": a.s0, "sigma1": a.s1, "sigma2": a.fv, "Fs": a.fs,
		"vs": a.vs, "lag": 0}
	if held {
		t["lag"] = dt / 2
	}
	return t
}

// draw counts one record.
func (n *coverageCount) draw(c *coverageCase, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 20261128))
	a, r := experiments[c.record](rng)
	truth := a.truths(r.dt, r.held || r.reference != nil)
	plan := c.plan(a, r, rng)
	if plan.Methods[len(plan.Methods)-1] != regress {
		delete(truth, "lag")
	}
	res, err := Run(context.Background(), plan, Records{Fit: []*record.Record{r.record(a, rng)}}, nil, nil)
	if err != nil {
		n.refused++
		n.why[short(err.Error())]++
		return
	}
	n.verdicts[res.Verdict]++
	n.compute += res.Compute
	for _, w := range res.Reasons {
		n.why[string(w.Code)+" "+strings.Join(w.Params, " ")]++
	}
	var held [2]float64
	of := 0.0
	for i := range res.Parameters {
		p := &res.Parameters[i]
		want, known := truth[p.Name]
		if p.Fixed || !known {
			continue
		}
		n.all[p.Name]++
		of++
		holds := func(ci *[2]float64) bool { return ci == nil || ci[0] <= want && want <= ci[1] }
		if holds(p.CI) {
			n.held[p.Name]++
			held[0]++
		}
		if holds(res.random(p)) {
			n.chance[p.Name]++
			held[1]++
		}
		if se := res.Err(p); se != nil && *se > 0 {
			e := (p.Value - want) / *se
			n.off[p.Name] += e
			n.square[p.Name] += e * e
		}
	}
	if of > 0 {
		n.shares[0], n.shares[1] = append(n.shares[0], held[0]/of), append(n.shares[1], held[1]/of)
	}
}

// meanOf is a mean over records with its standard error. Intervals of one record depend on each other, so the records are the sample.
func meanOf(shares []float64) (mean, err float64) {
	mean, dev := stat.MeanStdDev(shares, nil)
	return mean, dev / math.Sqrt(float64(len(shares)))
}

// covering draws records of a case.
func covering(t *testing.T, c *coverageCase, draws int) *coverageCount {
	n := &coverageCount{held: map[string]int{}, chance: map[string]int{}, all: map[string]int{}, off: map[string]float64{},
		square: map[string]float64{}, verdicts: map[Verdict]int{}, why: map[string]int{}}
	for seed := range draws {
		n.draw(c, uint64(seed))
	}
	printed, err := meanOf(n.shares[0])
	chance, own := meanOf(n.shares[1])
	t.Logf("%-60s printed %5.1f ± %.1f %%, of chance alone %5.1f ± %.1f %%, %d draws, %v, %d refused, %.2f s each", c, 100*printed, 100*err,
		100*chance, 100*own, draws, n.verdicts, n.refused, n.compute/float64(draws))
	t.Log(n.byParameter())
	t.Log(n.why)
	return n
}

// byParameter is a line with the coverage, the mean error and its scatter in standard errors.
func (n *coverageCount) byParameter() string {
	var names []string
	for name := range n.all {
		names = append(names, name)
	}
	slices.Sort(names)
	out := "   "
	for _, name := range names {
		k := float64(n.all[name])
		mean := n.off[name] / k
		out += fmt.Sprintf("  %s %.0f/%.0f (%+.1f ± %.2f)", name, 100*float64(n.held[name])/k, 100*float64(n.chance[name])/k, mean,
			math.Sqrt(math.Max(0, n.square[name]/k-mean*mean)))
	}
	return out
}

// Where all the motion that sliding friction does not explain would be too much to leave out, and nothing is seen to build up behind
// reversals, as much of the slowest of it is left out as can be. Nothing was, and M was five standard errors off.
func TestSlowRowsAreLeftOutAsFarAsCanBe(t *testing.T) {
	for _, form := range []linear.Form{linear.Direct, linear.Instrumental} {
		rng := rand.New(rand.NewPCG(3, 20261128))
		a, r := experiments["servo, presliding 50 µm"](rng)
		res, err := Run(t.Context(), withForm(form)(a, r, rng), Records{Fit: []*record.Record{r.record(a, rng)}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := res.Param("M")
		if off := math.Abs(p.Value-a.m) / *res.Err(p); off > 3 || res.Fit.Rows > 300 {
			t.Errorf("%s: M %.5g of %.5g, %.1f standard errors off, with %d rows", form, p.Value, a.m, off, res.Fit.Rows)
		}
	}
}

// Noise of the force adds up along a segment as it does along a record, whatever its start: segments that ignored it were off by three of
// their standard errors. Led back along the record, multiple shooting and a single simulation say the same.
func TestMultishootUnderNoiseOfTheForceIsLM(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 20261128))
	a, r := experiments["force, sines, noisy sensor"](rng)
	rec, truth := r.record(a, rng), a.truths(r.dt, false)
	var of [2]*Result
	for i, method := range []Method{"lm", "multishoot"} {
		var err error
		if of[i], err = Run(t.Context(), planned("coulomb", regress, method)(a, r, rng), Records{Fit: []*record.Record{rec}}, nil,
			nil); err != nil {
			t.Fatal(err)
		}
	}
	if of[0].Verdict != of[1].Verdict || of[0].Fit.Rows != of[1].Fit.Rows {
		t.Errorf("lm is %s by %d rows, multishoot %s by %d", of[0].Verdict, of[0].Fit.Rows, of[1].Verdict, of[1].Fit.Rows)
	}
	for _, name := range []string{"M", "Fc", "Fv", "offset"} {
		p, _ := of[0].Param(name)
		q, _ := of[1].Param(name)
		own, other := *of[0].Err(p), *of[1].Err(q)
		if math.Abs(p.Value-q.Value) > 0.1*own || math.Abs(other/own-1) > 0.02 || math.Abs(q.Value-truth[name]) > 4*other {
			t.Errorf("%s %.5g ± %.2g by lm, %.5g ± %.2g by multishoot, truth %.5g", name, p.Value, own, q.Value, other, truth[name])
		}
	}
}

// Few records of some methods: the short form of TestCoverageOfMethodsSoak.
func TestCoverageOfMethods(t *testing.T) {
	for _, name := range []string{
		"regress, direct on servo, sines, coarse encoder", "regress, prior of M 0.5 % on servo, short and noisy",
		"regress, lm on force, chirp held", "lm, coast on run-down",
	} {
		i := slices.IndexFunc(coverageCases, func(c coverageCase) bool { return c.String() == name })
		n := covering(t, &coverageCases[i], 6)
		// 95 % less three standard errors of about 12 intervals that are independent
		if share, _ := meanOf(n.shares[0]); n.refused > 0 || share < 0.76 {
			t.Errorf("%s: %.0f %% of the intervals hold, %d refused", name, 100*share, n.refused)
		}
		for why := range n.why { // the bounds are the program's own
			if strings.HasPrefix(why, string(fit.AtBound)) || strings.HasPrefix(why, string(fit.AboveNoise)) {
				t.Errorf("%s: %s", name, why)
			}
		}
	}
}

// A servo answers to the noise of its encoder, and a filter weighs rows so finely that the smoothed motion around them tells of that noise.
// Clean records of a contact were doubted for a low-pass, backlash or a late force that none has, in five of six; a force that is late in
// truth is still named.
func TestNoiseFedBackToAFilter(t *testing.T) {
	const late = 8 // samples
	identified, named, n := 0, 0, draws(4)
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 20261128))
		a, r := experiments["contact, servo"](rng)
		plan, rec := planned("lugre", "lugre", "kalman")(a, r, rng), r.record(a, rng)
		shifted := *rec
		shifted.Force = append(slices.Repeat([]float64{rec.Force[0]}, late), rec.Force[:len(rec.Force)-late]...)
		for i, d := range []*record.Record{rec, &shifted} {
			res, err := Run(t.Context(), plan, Records{Fit: []*record.Record{d}}, nil, nil)
			switch {
			case i == 0 && err != nil:
				t.Error(err)
			case i == 0 && res.Verdict == Identified:
				identified++
			case i == 1 && (err != nil || res.Verdict != Identified):
				named++
			}
		}
	}
	if identified < n-1 || named < n {
		t.Errorf("%d of %d clean records are identified, %d with a late force are doubted", identified, n, named)
	}
}
