package fit

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/peer"

	"gonum.org/v1/gonum/floats"
)

// peer runs a program for Debian's Python on JSON input d and decodes its JSON output; without SciPy the test is skipped.
func scipy(t *testing.T, program string, in, out any) {
	t.Helper()
	peer.Ask(t, "scipy", in, out, "-c", "import json, sys, numpy as np\nfrom scipy import stats, optimize\nd = json.load(sys.stdin)\n"+program)
}

// series is noise of unit variance whose neighbours are correlated by rho; every piece begins afresh.
func series(rng *rand.Rand, n int, rho float64, pieces []int) []float64 {
	e := make([]float64, n)
	for k := range e {
		if e[k] = rng.NormFloat64(); k > 0 && !slices.Contains(pieces, k) {
			e[k] = rho*e[k-1] + math.Sqrt(1-rho*rho)*e[k]
		}
	}
	return e
}

// solved is a solution with random columns of very different size.
func solved(rng *rand.Rand, n int, names ...string) *Solution {
	p := len(names)
	s := &Solution{Residual: make([]float64, n), Measured: make([]float64, n), Jac: make([]float64, n*p), Dt: 1e-3, Unit: "N"}
	for j, name := range names {
		size := math.Pow(10, float64(j%4)*2-3)
		for k := range n {
			s.Jac[k*p+j] = size * (rng.NormFloat64() + 0.5)
		}
		s.Params = append(s.Params, free(name, 1/size, -inf, inf))
		s.FreeParams = append(s.FreeParams, j)
	}
	for k := range n {
		s.Residual[k] = 0.1 * rng.NormFloat64()
		s.Measured[k] = 3 + math.Sin(float64(k)/9) + s.Residual[k]
	}
	return s
}

func assessed(t *testing.T, s *Solution) *Assessment {
	t.Helper()
	a, err := Assess(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(a); err != nil {
		t.Fatal(err)
	}
	return a
}

// Every number again in NumPy and SciPy, by formulas written out: dense inverses, double sums over all pairs of rows.
func TestAgainstNumPy(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []int{0, 130, 400}
	s := solved(rng, 500, "M", "Fv", "Fc", "offset")
	s.Residual, s.Pieces = series(rng, 500, 0.6, pieces), pieces
	for k := range 500 { // scores that remember, too
		s.Jac[4*k+1] = 5 + math.Sin(float64(k)/20)
	}
	s.Input = series(rng, 500, 0.8, nil)
	for k := 5; k < 500; k++ {
		s.Input[k-5] += 0.5 * s.Residual[k]
	}
	a := assessed(t, s)

	var want struct {
		SE, Robust, Quantile []float64
		Corr                 [][]float64
		Cond, Scaled         float64
		Lags                 int
		Percent, Relative    float64
		FPE, AIC, AICc, BIC  float64
		Eff, Q, P, Lag1, T   float64
		Worst, Band          float64
		At                   int
	}
	scipy(t, `
J, e, y, u = (np.array(d[k]) for k in ("J", "e", "y", "u")); n, p = J.shape
piece = np.searchsorted(d["pieces"], np.arange(n), side="right")
same = piece[:, None] == piece[None, :]
dist = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
G = np.linalg.inv(J.T @ J); dof = n - p
cov = G*(e @ e)/dof
L = np.sqrt((J**2).sum(0))
q, R = np.linalg.qr(J/L); g = q*e[:, None]
def acf(x, l): return np.sum(x[l:]*x[:-l]*(piece[l:] == piece[:-l]))/(x @ x)
rho = np.array([acf(c, 1) for c in g.T]); s4 = ((g**2).sum(0)*(1 - rho**2))**2
alpha = np.sum(4*rho**2*s4/(1 - rho)**6/(1 + rho)**2)/np.sum(s4/(1 - rho)**4)
lags = int(1.1447*(alpha*n)**(1/3))
B = np.linalg.inv(R)/L[:, None]
def variances(wide):
    S = np.zeros((p, p))
    for first, last in zip(d["pieces"], d["pieces"][1:] + [n]):
        for t in range(first, last + wide - 1):
            x = slice(max(first, t - wide + 1), min(last, t + 1))
            own, V = np.linalg.eigh(q[x].T @ q[x])
            b = V @ ((V.T @ g[x].sum(0))/np.sqrt(1 - own))
            S += np.outer(b, b)/wide
    return np.diag(B @ S @ B.T)
# what a triangle leaves out falls with its width: where neighbours cancel, two widths tell the limit
wide, narrow = lags + 1, (lags + 1)//2
rob, half = variances(wide), variances(narrow)
limit = rob + (rob - half)*narrow/(wide - narrow)
rob = np.diag(np.where((limit < rob) & (limit > rob/2), limit, rob))
c = G @ J.T; carry = (c**2).sum(1)**2/(c**4).sum(1)
# Ljung-Box with the number of pairs of every lag
pairs = lambda l: np.sum(piece[l:] == piece[:-l])
K = min(40, 270//5)
Q = n*(n + 2)*sum(acf(e, l)**2/pairs(l) for l in range(1, K + 1))
# likelihood by adding up densities
ll = stats.norm.logpdf(e, scale=np.sqrt(np.mean(e**2))).sum()
r1 = acf(e, 1); eff = n*(1 - r1)/(1 + r1)
# cross-correlation
ec, uc = e - e.mean(), u - u.mean()
lags2 = np.arange(-25, 26)
cc = np.array([np.sum(ec[max(l,0):n+min(l,0)]*uc[max(-l,0):n-max(l,0)]*(piece[max(l,0):n+min(l,0)] == piece[max(-l,0):n-max(l,0)])) for l in lags2])/np.sqrt(ec@ec*(uc@uc))
wide = 1
for l in range(1, 270//4):
    if abs(acf(ec, l)) < 2/np.sqrt(n): break
    wide += 2*acf(ec, l)*acf(uc, l)
i = np.argmax(abs(cc))
json.dump(dict(SE=np.sqrt(np.diag(cov)).tolist(), Robust=np.sqrt(np.diag(rob)).tolist(),
  Corr=(cov/np.sqrt(np.outer(np.diag(cov), np.diag(cov)))).tolist(), Cond=np.linalg.cond(J), Scaled=np.linalg.cond(J/L), Lags=lags,
  Percent=100*(1 - np.linalg.norm(e)/np.linalg.norm(y - y.mean())), Relative=100*np.linalg.norm(e)/np.linalg.norm(y),
  FPE=np.mean(e**2)*(1 + p/n)/(1 - p/n), AIC=-2*ll + 2*p, AICc=-2*ll + 2*p + 2*p*(p + 1)/(n - p - 1), BIC=-2*ll + p*np.log(n),
  Eff=-2*ll*eff/n + 2*p + 2*p*(p + 1)/(eff - p - 1), Q=Q, P=stats.chi2.sf(Q, K), Lag1=r1, T=stats.t.ppf(0.975, dof), Quantile=np.polyval([-.5324, .4160, 2.9694, 1.96], (lags + 1)/np.minimum(carry, dof)).tolist(),
  Worst=cc[i], At=int(lags2[i]), Band=2.576*np.sqrt(max(wide, 1)/n)), sys.stdout)`,
		map[string]any{"J": rowsOf(s.Jac, 4), "e": s.Residual, "y": s.Measured, "u": s.Input, "pieces": pieces}, &want)

	near := func(name string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: %v, NumPy %.12g", name, got, want)
		}
	}
	if a.Lags != want.Lags || a.Lags < 3 {
		t.Errorf("bandwidth %d, NumPy %d", a.Lags, want.Lags)
	}
	for j, e := range a.Estimates {
		near("standard error of "+e.Name, e.StdErr, want.SE[j])
		near("robust error of "+e.Name, e.RobustErr, want.Robust[j])
		near("interval of "+e.Name, &e.CI95[1], e.Value+want.T*want.SE[j])
		near("robust interval of "+e.Name, &e.RobustCI95[0], e.Value-want.Quantile[j]*want.Robust[j])
		for i, r := range a.Correlation[j] {
			if math.Abs(r-want.Corr[j][i]) > 1e-9 {
				t.Errorf("correlation %d, %d: %g, NumPy %g", j, i, r, want.Corr[j][i])
			}
		}
	}
	q, w, c := a.Fit, a.Residual.Whiteness, a.Residual.Input
	near("condition", a.Condition, want.Cond)
	near("scaled", a.Scaled, want.Scaled)
	near("fit", q.Percent, want.Percent)
	near("relative error", q.Relative, want.Relative)
	near("FPE", q.FPE, want.FPE)
	near("AIC", q.AIC, want.AIC)
	near("AICc", q.AICc, want.AICc)
	near("BIC", q.BIC, want.BIC)
	near("AICc with effective rows", q.AICcEffective, want.Eff)
	near("Ljung–Box", &w.LjungBox, want.Q)
	near("autocorrelation", &w.Lag1, want.Lag1)
	near("worst cross-correlation", &c.Worst, want.Worst)
	near("band", &c.Band, want.Band)
	if c.WorstLag != want.At || c.WorstLag != 5 || !c.Correlated || w.White || math.Abs(w.PValue-want.P) > 1e-12 {
		t.Errorf("worst lag %d (NumPy %d, put in 5), related %v; white %v, p %g", c.WorstLag, want.At, c.Correlated, w.White, w.PValue)
	}
}

func rowsOf(x []float64, p int) [][]float64 {
	var rows [][]float64
	for c := range slices.Chunk(x, p) {
		rows = append(rows, c)
	}
	return rows
}

// Weighted to a known noise level, neither s² nor Student's distribution comes in, and the likelihood is that of the level.
func TestKnownNoise(t *testing.T) {
	s := solved(rand.New(rand.NewPCG(3, 1)), 12, "M")
	s.NoiseKnown = true
	a := assessed(t, s)
	e := a.Estimates[0]
	if want := 1 / math.Sqrt(floats.Dot(s.Jac, s.Jac)); math.Abs(*e.StdErr/want-1) > 1e-12 ||
		math.Abs((e.CI95[1]-e.Value)/want-1.959964) > 1e-5 {
		t.Errorf("error %g, want %g; interval %v", *e.StdErr, want, *e.CI95)
	}
	if want := floats.Dot(s.Residual, s.Residual) + 12*math.Log(2*math.Pi) + 2; math.Abs(*a.Fit.AIC-want) > 1e-9 {
		t.Errorf("AIC %g, want %g", *a.Fit.AIC, want)
	}
}

// Rows that are no series in time get a robust covariance without lags: White's, with the leverage of every row.
func TestRowsWithoutTime(t *testing.T) {
	s := solved(rand.New(rand.NewPCG(3, 2)), 60, "M")
	s.Dt = 0
	sum, all := 0.0, floats.Dot(s.Jac, s.Jac)
	for k, x := range s.Jac {
		sum += x * x * s.Residual[k] * s.Residual[k] / (1 - x*x/all)
	}
	want := math.Sqrt(sum) / all
	if e := assessed(t, s).Estimates[0]; math.Abs(*e.RobustErr/want-1) > 1e-12 {
		t.Errorf("robust error %g, by hand %g", *e.RobustErr, want)
	}
}

// A parameter of any sign gets θ ± t·s; one searched in its logarithm also θ·exp(±t·s/θ), which stays positive.
func TestLogIntervals(t *testing.T) {
	s := solved(rand.New(rand.NewPCG(4, 4)), 40, "sigma0")
	s.Params[0].Log, s.Params[0].Lo, s.Params[0].Hi = true, 1e-6, 1e12
	a := assessed(t, s)
	e := a.Estimates[0]
	if e.LogCI95[0] <= 0 || math.Abs(math.Sqrt(e.LogCI95[0]*e.LogCI95[1])/e.Value-1) > 1e-9 {
		t.Errorf("interval %v is not multiplicative about %g", *e.LogCI95, e.Value)
	}
	half := (e.CI95[1] - e.CI95[0]) / 2
	if got := e.Value * math.Log(e.LogCI95[1]/e.Value); math.Abs(got/half-1) > 1e-9 {
		t.Errorf("half width in logs %g·θ, in units %g", got, half)
	}
	if a.Estimates[0].Interval(a.Residual.White) != e.LogCI95 {
		t.Error("the interval to go by is not the multiplicative one")
	}
}

func TestAtBound(t *testing.T) {
	for _, c := range []struct {
		v, lo, hi float64
		want      string
	}{
		{1, 1, 5, "lower"}, {5, 1, 5, "upper"}, {2, 1, 5, ""}, {0.4, 0, 1e6, ""}, {0, 0, 1e6, "lower"}, {5, 0, 0, ""},
		{5, -inf, inf, ""}, {0, 0, inf, "lower"}, {0.4, 0, inf, ""}, {-3, -inf, -3, "upper"}, {1e-9, 1e-9, 1, "lower"}, {2e-9, 1e-9, 1, ""},
	} {
		if got := atBound(&Param{Param: engine.Param{Value: c.v, Lo: c.lo, Hi: c.hi}}); got != c.want {
			t.Errorf("%g in %g … %g: %q, want %q", c.v, c.lo, c.hi, got, c.want)
		}
	}
}

// What cannot be judged is refused with the place; nothing becomes NaN.
func TestRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct {
		change func(*Solution)
		want   string
	}{
		{func(s *Solution) { s.Residual[7] = math.NaN() }, "residual NaN in row 7"},
		{func(s *Solution) { s.Residual[7] = 1e200 }, "overflows"},
		{func(s *Solution) { s.Jac[5] = inf }, "with respect to Fc is not finite in row 2"},
		{func(s *Solution) { s.Jac = s.Jac[1:] }, "30 rows × 2"},
		{func(s *Solution) { s.Measured = s.Measured[1:] }, "29 measured"},
		{func(s *Solution) { s.Pieces = []int{0, 9, 9} }, "piece 2"},
		{func(s *Solution) { s.Residual, s.Jac, s.Measured = s.Residual[:2], s.Jac[:4], s.Measured[:2] }, "2 rows cannot"},
	} {
		s := solved(rng, 30, "M", "Fc")
		c.change(s)
		if a, err := Assess(s); err == nil || a != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want …%s…", err, c.want)
		}
	}
}

// A perfect model, a constant measurement, no free parameter, an offset of zero: no number becomes NaN or infinite.
func TestDegenerateStaysFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, change := range []func(*Solution){
		func(s *Solution) { clear(s.Residual) },
		func(s *Solution) { clear(s.Measured) },
		func(s *Solution) { s.Measured = nil },
		func(s *Solution) { clear(s.Jac) },
		func(s *Solution) { s.Params[1].Value = 0 },
		func(s *Solution) { s.FreeParams, s.Jac = nil, nil },
		func(s *Solution) { s.Pieces = []int{0, 1, 2, 3, 4}; s.Input = make([]float64, 30) },
		func(s *Solution) { s.Input, s.Velocity = s.Residual, s.Measured },
		func(s *Solution) { s.Params[0].Value, s.Params[0].Log = 1e-300, true },
	} {
		s := solved(rng, 30, "M", "Fc")
		change(s)
		a := assessed(t, s)
		if len(s.Jac) > 0 && s.Jac[0] == 0 && (a.Estimates[0].StdErr != nil || len(a.Indistinct) != 2) {
			t.Errorf("parameters without effect: %+v", a.Indistinct)
		}
	}
}
