package curve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine/friction"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// truth is a static map that is known.
type truth struct {
	name                   string
	fc, fs, vs, fv, offset float64 // N, N, m/s, N·s/m, N
	slow, fast             float64 // m/s
	noise                  float64 // N
}

var truths = []truth{
	{"bench", 1, 1.5, 0.05, 0.4, 0, 0.005, 1, 0.01},
	{"slide", 20, 26, 0.01, 150, -3.5, 1e-3, 0.3, 0.1},
	{"oiled", 0.31, 0.52, 2e-3, 4, 0.05, 2e-4, 0.1, 0.002},
	{"watch", 2e-6, 2.4e-6, 0.3, 1e-7, 1e-7, 0.03, 10, 1e-8},
}

// steady is the map, by the law of the engine.
func (c truth) steady(v float64) float64 {
	law := &friction.LuGre{Sigma0: 1e5, Sigma2: c.fv, Fc: c.fc, Fs: c.fs, Vs: c.vs}
	return law.SteadyForce(v) + c.offset
}

// points measures n speeds per direction, with noise.
func (c truth) points(n int, seed uint64) []Point {
	rng := rand.New(rand.NewPCG(seed, 11))
	var ps []Point
	for _, s := range []float64{1, -1} {
		for i := range n {
			v := s * c.slow * math.Pow(c.fast/c.slow, float64(i)/float64(n-1))
			ps = append(ps, Point{V: v, F: c.steady(v) + c.noise*rng.NormFloat64(), SE: c.noise})
		}
	}
	return ps
}

// bound is the Cramér–Rao bound of Fc, Fs, vs, Fv, offset: the Fisher matrix of the closed form, written out anew.
func (c truth) bound(ps []Point) *mat.SymDense {
	fisher := mat.NewSymDense(5, nil)
	for _, p := range ps {
		s, x := math.Copysign(1, p.V), math.Abs(p.V)
		e := math.Exp(-x * x / (c.vs * c.vs))
		g := []float64{s * (1 - e), s * e, s * (c.fs - c.fc) * e * 2 * x * x / (c.vs * c.vs * c.vs), p.V, 1}
		fisher.SymRankOne(fisher, 1/(p.SE*p.SE), mat.NewVecDense(5, g))
	}
	// scaled, so that it can be inverted
	d := make([]float64, 5)
	for i := range d {
		d[i] = math.Sqrt(fisher.At(i, i))
	}
	for i := range d {
		for j := i; j < 5; j++ {
			fisher.SetSym(i, j, fisher.At(i, j)/d[i]/d[j])
		}
	}
	var ch mat.Cholesky
	if !ch.Factorize(fisher) {
		panic("singular")
	}
	cov := mat.NewSymDense(5, nil)
	if err := ch.InverseTo(cov); err != nil {
		panic(err)
	}
	for i := range d {
		for j := i; j < 5; j++ {
			cov.SetSym(i, j, cov.At(i, j)/d[i]/d[j])
		}
	}
	return cov
}

var staticOrder = []string{"Fc", "Fs", "vs", "sigma2", "offset"}

func (c truth) values() []float64 { return []float64{c.fc, c.fs, c.vs, c.fv, c.offset} }

func estimate(t testing.TB, s *fit.Solution, name string) float64 {
	t.Helper()
	for _, p := range s.Params {
		if p.Name == name {
			return p.Value
		}
	}
	t.Fatalf("no parameter %s in the solution", name)
	return 0
}

// standardError is that of a free parameter, by inversion of the normal matrix.
func standardError(t testing.TB, s *fit.Solution, name string) float64 {
	t.Helper()
	cov := fit.Covariance(s)
	if cov == nil {
		t.Fatal("singular")
	}
	for c, k := range s.FreeParams {
		if s.Params[k].Name == name {
			return math.Sqrt(cov.At(c, c))
		}
	}
	t.Fatalf("%s is not free", name)
	return 0
}

func refused(s *fit.Solution, name string) bool {
	return slices.ContainsFunc(s.Unidentifiable, func(r fit.Indistinct) bool { return slices.Contains(r.Names, name) })
}

// Estimates scatter around the truth as the Cramér–Rao bound says, for several truths.
func TestStaticReachesTheCramerRaoBound(t *testing.T) {
	const seeds = 40
	for _, c := range truths {
		t.Run(c.name, func(t *testing.T) {
			square := make([]float64, 5)
			for seed := range uint64(seeds) {
				ps := c.points(16, seed)
				cov := c.bound(ps)
				s, err := Static(context.Background(), ps, StaticParams(ps, "lugre", false), StaticOptions{Law: "lugre"}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(s.Unidentifiable) > 0 {
					t.Errorf("seed %d refuses %v", seed, s.Unidentifiable)
				}
				for i, name := range staticOrder {
					sd := math.Sqrt(cov.At(i, i))
					e := (estimate(t, s, name) - c.values()[i]) / sd
					square[i] += e * e / seeds
					if math.Abs(e) > 4 {
						t.Errorf("seed %d: %s is %.1f standard deviations off", seed, name, e)
					}
					if got := standardError(t, s, name); got < 0.5*sd || got > 2*sd {
						t.Errorf("seed %d: %s has the standard error %.3g, the bound is %.3g", seed, name, got, sd)
					}
				}
			}
			// mean square over the seeds: 1 ± 4·√(2/n), wider for what is not linear
			for i, name := range staticOrder {
				if square[i] > 1+4*math.Sqrt(2.0/seeds) || square[i] < 1-3*math.Sqrt(2.0/seeds) {
					t.Errorf("%s scatters by %.2f of the bound", name, math.Sqrt(square[i]))
				}
			}
			t.Logf("mean squares over the bound: %.2f", square)
		})
	}
}

// Without noise every curve gives back what was put in, from starts of its own.
func TestStaticRecoversEveryCurve(t *testing.T) {
	for _, c := range []struct {
		law   string
		curve friction.Stribeck
	}{
		{"stribeck-hess-soom", friction.Stribeck{Curve: friction.HessSoom, Fc: 3, Fs: 5, Vs: 0.02, Fv: 7}},
		{"stribeck-bo-pavelescu", friction.Stribeck{Curve: friction.BoPavelescu, Fc: 3, Fs: 5, Vs: 0.02, Fv: 7, Delta: 0.8}},
		{"stribeck-bo-pavelescu", friction.Stribeck{Curve: friction.BoPavelescu, Fc: 3, Fs: 5, Vs: 0.02, Fv: 7, Delta: 2}},
		{"stribeck-tustin", friction.Stribeck{Curve: friction.Tustin, Fc: 3, Fs: 5, Vs: 0.02, Fv: 7}},
	} {
		t.Run(fmt.Sprint(c.law, c.curve.Delta), func(t *testing.T) {
			var ps []Point
			for _, s := range []float64{1, -1} {
				for i := range 20 {
					v := s * 1e-3 * math.Pow(500, float64(i)/19)
					ps = append(ps, Point{V: v, F: c.curve.SteadyForce(v) + 0.25})
				}
			}
			s, err := Static(context.Background(), ps, StaticParams(ps, c.law, false), StaticOptions{Law: c.law}, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]float64{"Fc": 3, "Fs": 5, "vs": 0.02, "Fv": 7, "offset": 0.25}
			if c.law == "stribeck-bo-pavelescu" {
				want["delta"] = c.curve.Delta
			}
			for name, w := range want {
				if got := estimate(t, s, name); math.Abs(got-w) > 1e-6*w {
					t.Errorf("%s = %.9g, want %g", name, got, w)
				}
			}
		})
	}
}

// Derivatives of the map agree with differences, and its evaluator allocates nothing.
func TestStaticDerivatives(t *testing.T) {
	ps := truths[1].points(9, 1)
	for _, law := range Laws {
		for _, asymmetric := range []bool{false, true} {
			params := StaticParams(ps, law, asymmetric)
			e, err := newStatic(ps, params, StaticOptions{Law: law})
			if err != nil {
				t.Fatal(law, err)
			}
			checkDerivatives(t, law, &e.system)
		}
	}
}

func checkDerivatives(t *testing.T, name string, s *system) {
	t.Helper()
	free, _ := fit.Free(s.params)
	theta := make([]float64, len(free))
	for i, p := range free {
		theta[i] = p.Value * 1.03
	}
	n, m := len(s.y), len(free)
	e := s.evaluator()
	r, up, down := make([]float64, n), make([]float64, n), make([]float64, n)
	columns, _ := e.Columns(theta)
	j := make([][]float64, m)
	for i, c := range columns {
		j[i] = slices.Clone(c)
	}
	scale := 0.0
	for k := range r {
		scale = max(scale, math.Abs(s.y[k]*s.w[k]))
	}
	for i := range theta {
		was := theta[i]
		h := 1e-5 * max(math.Abs(was), 1e-3*free[i].Hi)
		if free[i].Log {
			h = 1e-5 * was
		}
		theta[i] = was + h
		e.Residuals(theta, up)
		theta[i] = was - h
		e.Residuals(theta, down)
		theta[i] = was
		for k := range r {
			d := (up[k] - down[k]) / (2 * h)
			if math.Abs(d-j[i][k])*h > 1e-8*scale*1e-1 {
				t.Errorf("%s: row %d: derivative to %s is %.9g, differences say %.9g", name, k, free[i].Name, j[i][k], d)
				break
			}
		}
	}
	if a := testing.AllocsPerRun(20, func() { e.Residuals(theta, r); e.Columns(theta) }); a != 0 {
		t.Errorf("%s: %.0f allocations per evaluation", name, a)
	}
}

// Levels of each direction are told apart.
func TestStaticPerDirection(t *testing.T) {
	want := map[string]float64{"Fc+": 2, "Fc-": 3, "Fs+": 3, "Fs-": 3.5, "Fv+": 10, "Fv-": 14, "vs": 0.01}
	var ps []Point
	for i := range 15 {
		x := 1e-3 * math.Pow(300, float64(i)/14)
		e := math.Exp(-x / 0.01)
		ps = append(ps, Point{V: x, F: 2 + e + 10*x}, Point{V: -x, F: -(3 + 0.5*e + 14*x)})
	}
	s, err := Static(context.Background(), ps, StaticParams(ps, "stribeck-tustin", true), StaticOptions{Law: "stribeck-tustin"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		if got := estimate(t, s, name); math.Abs(got-w) > 1e-6*w {
			t.Errorf("%s = %.9g, want %g", name, got, w)
		}
	}
}

// What the speeds do not show is refused, with advice; the rest is still right.
func TestStaticRefusesWhatIsNotSeen(t *testing.T) {
	c := truths[0]
	fast := c
	fast.slow = 4 * c.vs // the fall is over
	flat := c
	flat.fs = flat.fc
	for _, d := range []truth{fast, flat} {
		d.noise = 0.003
		for seed := range uint64(5) {
			ps := d.points(14, seed)
			s, err := Static(context.Background(), ps, StaticParams(ps, "lugre", false), StaticOptions{Law: "lugre"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !refused(s, "Fs") || !refused(s, "vs") {
				t.Errorf("slowest %g m/s, Fs %g: Fs = %.3g and vs = %.3g are not refused", d.slow, d.fs, estimate(t, s, "Fs"), estimate(t, s, "vs"))
			}
			if got := estimate(t, s, "Fc"); math.Abs(got-d.fc) > 0.02*d.fc {
				t.Errorf("Fc = %.4g, want %g", got, d.fc)
			}
			if got := estimate(t, s, "sigma2"); math.Abs(got-d.fv) > 0.05*d.fv {
				t.Errorf("sigma2 = %.4g, want %g", got, d.fv)
			}
			for _, r := range s.Unidentifiable {
				if r.Reason == "" || r.Advice == "" {
					t.Errorf("refused without reason or advice: %+v", r)
				}
			}
		}
	}
}

// A drive that does not repeat itself has wider errors than its points say, and they cover the truth.
func TestStaticAddsTheScatterOfTheDrive(t *testing.T) {
	c := truths[1]
	covered, n := 0, 0
	for seed := range uint64(40) {
		ps := c.points(16, seed)
		for i := range ps {
			ps[i].SE = c.noise / 10 // ten times too good
		}
		s, err := Static(context.Background(), ps, StaticParams(ps, "lugre", false), StaticOptions{Law: "lugre"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range staticOrder {
			if math.Abs(estimate(t, s, name)-c.values()[i]) < 2.05*standardError(t, s, name) { // t(27), 95 %
				covered++
			}
			n++
		}
	}
	if share := float64(covered) / float64(n); share < 0.90 || share > 0.99 {
		t.Errorf("intervals of 95 %% cover the truth in %.0f %%", 100*share)
	}
}

// One plateau, or one speed to and fro, is refused in words, whatever the law.
func TestStaticOfOneSpeed(t *testing.T) {
	one := []Point{{V: 0.1, F: 2, SE: 0.1}}
	for _, ps := range [][]Point{one, append(one, Point{V: -0.1, F: -2, SE: 0.1})} {
		for _, law := range Laws {
			_, err := Static(context.Background(), ps, StaticParams(ps, law, false), StaticOptions{Law: law}, nil)
			var de *record.Error
			if !errors.As(err, &de) || de.Hint == "" {
				t.Errorf("%d points, %s: %v", len(ps), law, err)
			}
		}
	}
}

// Bad input is told, with a way on.
func TestStaticTellsBadInput(t *testing.T) {
	good := truths[0].points(12, 1)
	params := StaticParams(good, "lugre", false)
	forward := good[:12]
	var backwards []Point
	for _, p := range good {
		backwards = append(backwards, Point{V: p.V, F: -p.F})
	}
	nan := slices.Clone(good)
	nan[3].F = math.NaN()
	for _, c := range []struct {
		name   string
		points []Point
		params []fit.Param
		law    string
		want   string
	}{
		{"one direction", forward, params, "lugre", "one direction only"},
		{"few speeds", slices.Concat(good[:3], good[:3], good[12:15]), params, "lugre", "different"},
		{"sign", backwards, params, "lugre", "opposite sign"},
		{"nan", nan, params, "lugre", "finite"},
		{"law", good, params, "gms", "no static map"},
		{"name", good, append(slices.Clone(params), fit.Param{}), "lugre", "no parameter"},
		{"half", good, params[:2], "lugre", "belong together"},
	} {
		_, err := Static(context.Background(), c.points, c.params, StaticOptions{Law: c.law}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to say %q", c.name, err, c.want)
			continue
		}
		var de *record.Error
		var pe *fit.ParamError
		if !errors.As(err, &de) && !errors.As(err, &pe) {
			t.Errorf("%s: %T", c.name, err)
		}
		if de != nil && de.Hint == "" && c.name != "nan" {
			t.Errorf("%s: no hint", c.name)
		}
	}
}
