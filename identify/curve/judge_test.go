package curve

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// The common judgement takes the solutions of all four methods and finds the standard errors that the package works with.
func TestSolutionsCanBeJudged(t *testing.T) {
	c := rigs[1]
	ps, d := c.points(16, 2), c.closed(800, 1.5, 2)
	static, err := Static(context.Background(), ps, StaticParams(ps, "lugre", false), StaticOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	law := stepCases[0].law()
	for name, s := range map[string]*fit.Solution{
		"static": static, "presliding": c.presliding(t, LoopOptions{}, d), "joint": c.joint(t, ps, d),
		"velocity-step": solveSteps(t, stepped(law, 5, 1e-2, 0), StepOptions{}, law.V0),
	} {
		a, err := fit.Assess(s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(a.Indistinct) > 0 {
			t.Errorf("%s: cannot be told apart: %+v", name, a.Indistinct)
		}
		for _, e := range a.Estimates {
			free := false
			for _, k := range s.FreeParams {
				free = free || s.Params[k].Name == e.Name
			}
			if !free {
				continue
			}
			if e.StdErr == nil {
				t.Errorf("%s: %s has no standard error", name, e.Name)
				continue
			}
			if want := standardError(t, s, e.Name); !(math.Abs(*e.StdErr-want) < 0.01*want) {
				t.Errorf("%s: %s has the standard error %.4g, in the judgement %.4g", name, e.Name, want, *e.StdErr)
			}
		}
	}
}

// The shape of the pull does not matter: sines, holds at the reversals, a start in the middle, many samples.
func TestLoopsOfOtherShapes(t *testing.T) {
	c := rigs[0]
	for _, shape := range []struct {
		name string
		n    int
		pull func(phase float64) float64 // of the top, over cycles
	}{
		{"sine", 2000, func(p float64) float64 { return math.Sin(2 * math.Pi * p) }},
		{"holds", 2000, func(p float64) float64 { return max(-1, min(1, 1.4*math.Sin(2*math.Pi*p))) }},
		{"cosine", 2000, func(p float64) float64 { return math.Cos(2 * math.Pi * p) }},
		{"growing", 4000, func(p float64) float64 { return (0.4 + 0.3*p) * math.Sin(2*math.Pi*p) }},
		{"many samples", 100000, func(p float64) float64 { return math.Sin(2 * math.Pi * p) }},
	} {
		// exact steps along the inverse branch, reversal by reversal
		d := &record.Record{Dt: 0.1}
		rng := rand.New(rand.NewPCG(7, 41))
		z, x, last := 0.0, 0.0, 0.0
		top := c.reach * c.fs
		for k := range shape.n {
			u := top * shape.pull(2*float64(k)/float64(shape.n))
			if s := math.Copysign(1, u-last); u != last {
				x -= s * c.fs / c.sigma0 * math.Log((c.fs-s*u)/(c.fs-s*z))
				z = u
			}
			last = u
			c.sample(d, x, u, rng)
		}
		ps := c.points(16, 3)
		s := c.joint(t, ps, d)
		for name, w := range map[string][2]float64{"sigma0": {c.sigma0, 0.005}, "Fs": {c.fs, 0.003}} {
			got := estimate(t, s, name)
			if e := got/w[0] - 1; math.Abs(e) > w[1] || math.Abs(got-w[0]) > 4*standardError(t, s, name) {
				t.Errorf("%s: %s is off by %.3f %%, %.1f standard errors", shape.name, name, 100*e, (got-w[0])/standardError(t, s, name))
			}
		}
		t.Logf("%s: sigma0 %.3f %%, Fs %.3f %%, %v reversals, %v", shape.name, 100*(estimate(t, s, "sigma0")/c.sigma0-1),
			100*(estimate(t, s, "Fs")/c.fs-1), s.Extra["reversals"], s.Compute)
	}
}
