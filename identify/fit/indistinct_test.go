package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// combine overwrites column j of s by Σ w·column + noise.
func combine(s *Solution, rng *rand.Rand, j int, noise float64, w map[int]float64) {
	p := len(s.FreeParams)
	for k := range len(s.Residual) {
		x := noise * rng.NormFloat64()
		for i, c := range w {
			x += c * s.Jac[k*p+i]
		}
		s.Jac[k*p+j] = x
	}
}

// Combinations that were put in are found by name, with their weights in units of the values, and with advice.
func TestFindsCombinations(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	s := solved(rng, 400, "Fc+", "Fc-", "offset", "Fv", "Fv+", "Fv-", "M")
	for i := range s.Params {
		s.Params[i].Value = float64(i + 1)
		combine(s, rng, i, 1, nil)
	}
	combine(s, rng, 2, 0, map[int]float64{0: 1, 1: -1}) // offset = Fc+ − Fc-
	combine(s, rng, 3, 0, map[int]float64{4: 1, 5: 1})  // Fv = Fv+ + Fv-
	a := assessed(t, s)
	if a.Scaled != nil || len(a.Indistinct) != 2 {
		t.Fatalf("condition %v, %+v", a.Scaled, a.Indistinct)
	}
	for _, c := range []struct {
		names   string
		weights map[string]float64 // relative changes that cancel
		advice  string
	}{
		{"Fc+ Fc- offset", map[string]float64{"Fc+": 1. / 1, "Fc-": -1. / 2, "offset": -1. / 3}, "without offset"},
		{"Fv Fv+ Fv-", map[string]float64{"Fv": 1. / 4, "Fv+": -1. / 5, "Fv-": -1. / 6}, "fix one of them"},
	} {
		i := slices.IndexFunc(a.Indistinct, func(x Indistinct) bool { return strings.Join(x.Names, " ") == c.names })
		if i < 0 {
			t.Errorf("no combination of %s in %+v", c.names, a.Indistinct)
			continue
		}
		x, largest := a.Indistinct[i], 0.0
		for _, w := range c.weights {
			largest = math.Max(largest, math.Abs(w))
		}
		for k, name := range x.Names {
			if want := c.weights[name] / largest; math.Abs(x.Weights[k]-want) > 1e-6 {
				t.Errorf("%s: weight of %s is %g, want %g", c.names, name, x.Weights[k], want)
			}
		}
		if x.RelErr != nil || !strings.Contains(x.Advice, c.advice) {
			t.Errorf("%s: relative error %v, advice %q", c.names, x.RelErr, x.Advice)
		}
	}
	for _, e := range a.Estimates {
		if (e.StdErr == nil) != (e.Name != "M") || (e.RobustErr == nil) != (e.Name != "M") {
			t.Errorf("%s: errors %v, %v: only M is known", e.Name, e.StdErr, e.RobustErr)
		}
	}
}

// A condition number above 1e4 is flagged with the strength of the combination; a correlation above 0.98 as well; below
// both nothing is said.
func TestFlagsByConditionAndCorrelation(t *testing.T) {
	for _, c := range []struct {
		noise float64
		want  []string // of the explanation; nil: distinct
	}{
		{1e-6, []string{"of the effect of the best known"}},
		{0.1, []string{"correlated by 0.99"}},
		{0.5, nil},
	} {
		rng := rand.New(rand.NewPCG(6, 2))
		s := solved(rng, 400, "sigma0", "sigma1", "M")
		combine(s, rng, 1, c.noise*1e-3, map[int]float64{0: 1})
		for k := range s.Residual {
			s.Residual[k] *= 1e-4 // small, so that no value is loose by itself
		}
		s.Params[0].Value, s.Params[1].Value = 2, 1
		a := assessed(t, s)
		if len(a.Indistinct) != len(c.want) {
			t.Errorf("noise %g: condition %v, correlation %.4f: %+v", c.noise, *a.Scaled, a.Correlation[0][1], a.Indistinct)
			continue
		}
		for i, w := range c.want {
			x := a.Indistinct[i]
			if strings.Join(x.Names, " ") != "sigma0 sigma1" || !strings.Contains(x.Reason, w) || !strings.Contains(x.Advice, "√(σ0/M)") {
				t.Errorf("noise %g: %+v, want …%s…", c.noise, x, w)
			}
			// column 1 equals column 0: a step of −1 unit of sigma0 and +1 of sigma1, in units of 2 and 1
			if math.Abs(x.Weights[0]+0.5) > 0.05 || x.Weights[1] != 1 || x.RelErr == nil {
				t.Errorf("noise %g: weights %v, want −0.5, 1; relative error %v", c.noise, x.Weights, x.RelErr)
			}
		}
	}
}

// Three estimates tied together are one group, not three pairs.
func TestGroupsCorrelated(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	s := solved(rng, 400, "Fc", "Fs", "vs", "M")
	combine(s, rng, 2, 1e-4, map[int]float64{0: 1, 1: 0.01}) // columns of sizes 1e-3 and 1e-1
	a := assessed(t, s)
	if len(a.Indistinct) != 1 || strings.Join(a.Indistinct[0].Names, " ") != "Fc Fs vs" || !strings.Contains(a.Indistinct[0].Advice, "10·vs") {
		t.Errorf("%+v", a.Indistinct)
	}
}

// A value that is little more than an order of magnitude is said to be one, unless it may have any sign.
func TestLooseValues(t *testing.T) {
	s := solved(rand.New(rand.NewPCG(6, 4)), 400, "sigma1", "offset", "Fc")
	for i, lo := range []float64{0, -10, 0} {
		s.Params[i].Lo, s.Params[i].Hi = lo, 1e9
		s.Params[i].Value = 0.7 * *assessed(t, s).Estimates[i].StdErr
	}
	s.Params[2].Value *= 100
	a := assessed(t, s)
	if len(a.Indistinct) != 1 || a.Indistinct[0].Names[0] != "sigma1" ||
		!strings.Contains(a.Indistinct[0].Reason, "standard error of sigma1 is 14") {
		t.Errorf("%+v", a.Indistinct)
	}
	for i, want := range []bool{true, true, false} {
		if a.Estimates[i].Loose != want {
			t.Errorf("%s loose: %v", a.Estimates[i].Name, a.Estimates[i].Loose)
		}
	}
}

// Names with direction and piece find their advice; the most special advice wins; there is always some.
func TestAdvice(t *testing.T) {
	for _, c := range []struct{ group, want string }{
		{"sigma0 sigma1", "chirp"},
		{"sigma1 sigma2+", "constant velocities"},
		{"Fs vs", "vs/10"},
		{"Fc+ Fs+ Fv+", "two pull speeds"},
		{"Fc Fv dFs_inf vs", "two pull speeds"},
		{"sigma0 zeta", "chirp"},
		{"M k", "several frequencies"},
		{"J k", "several frequencies"},
		{"offset Fc+ Fc-", "without offset"},
		{"Fc- offset", "both directions"},
		{"M lag", "inertia"},
		{"x0[3] v0[3]", "record longer"},
		{"sigma1", "tap"},
		{"p q", "fix one of them"},
		{"q", "known from elsewhere"},
	} {
		if got := advice(strings.Fields(c.group)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want …%s…", c.group, got, c.want)
		}
	}
	for i, x := range experiments {
		if got := advice(strings.Fields(x.names)); got != x.advice {
			t.Errorf("experiment %d (%s) is never reached: %q comes first", i, x.names, got)
		}
	}
}
