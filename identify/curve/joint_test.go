package curve

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// rig is a contact in presliding whose numbers are known.
type rig struct {
	truth
	sigma0, sigma1 float64 // N/m, N·s/m
	reach          float64 // share of Fs to which the loop is drawn
	period         float64 // s, of the triangle
	noiseX, noiseU float64 // m, N
	quantum        float64 // m, of the encoder
}

// pull is the force of the triangle that begins at 0: up to the top, to minus it, and so on.
func (c rig) pull(t float64) float64 {
	p := math.Mod(t/c.period+0.25, 1)
	return c.offset + c.reach*c.fs*(1-4*math.Abs(p-0.5))
}

// closed is the rate-free loop from the inverse curve x(u) = x_r − s·(Fs/σ0)·ln((Fs − s·u)/(Fs − s·u_r)), which has the force
// where the package has the displacement.
func (c rig) closed(n int, cycles float64, seed uint64) *record.Record {
	rng := rand.New(rand.NewPCG(seed, 21))
	d := &record.Record{Dt: cycles * c.period / float64(n)}
	top := c.reach * c.fs
	xr, ur, s, next := 0.0, 0.0, 1.0, c.period/4
	at := func(u float64) float64 { return xr - s*c.fs/c.sigma0*math.Log((c.fs-s*u)/(c.fs-s*ur)) }
	for k := range n {
		t := float64(k) * d.Dt
		for t > next {
			xr, ur, s, next = at(s*top), s*top, -s, next+c.period/2
		}
		u := c.pull(t) - c.offset
		c.sample(d, at(u), u+c.offset, rng)
	}
	return d
}

// sample adds a measurement.
func (c rig) sample(d *record.Record, x, u float64, rng *rand.Rand) {
	x += c.noiseX * rng.NormFloat64()
	if c.quantum > 0 {
		x = c.quantum * math.Round(x/c.quantum)
	}
	d.Position, d.Force = append(d.Position, x), append(d.Force, u+c.noiseU*rng.NormFloat64())
}

// moved is the loop of the LuGre model without inertia, with σ1, σ2 and g(v): from u = σ0·z + σ1·ż + σ2·v follows
// v = (u − σ0·z)/(σ1·(1 − σ0·|z|/g) + σ2), integrated by the classical Runge–Kutta method.
func (c rig) moved(n int, cycles float64, seed uint64) *record.Record {
	rng := rand.New(rand.NewPCG(seed, 22))
	d := &record.Record{Dt: cycles * c.period / float64(n)}
	rate := func(t, z float64) (zd, v float64) {
		u := c.pull(t) - c.offset - c.sigma0*z
		s, g := math.Copysign(1, u), c.fs
		for range 4 {
			v = u / (c.sigma1*(1-s*c.sigma0*z/g) + c.fv)
			g = c.fc + (c.fs-c.fc)*math.Exp(-v*v/c.vs/c.vs)
		}
		return v * (1 - s*c.sigma0*z/g), v
	}
	steps := 1 + int(d.Dt/(1.5*c.sigma1/c.sigma0))
	h := d.Dt / float64(steps)
	z, x := 0.0, 0.0
	for k := range n {
		c.sample(d, x, c.pull(float64(k)*d.Dt), rng)
		for i := range steps {
			t := float64(k)*d.Dt + float64(i)*h
			k1, v1 := rate(t, z)
			k2, v2 := rate(t+h/2, z+h/2*k1)
			k3, v3 := rate(t+h/2, z+h/2*k2)
			k4, v4 := rate(t+h, z+h*k3)
			z += h / 6 * (k1 + 2*k2 + 2*k3 + k4)
			x += h / 6 * (v1 + 2*v2 + 2*v3 + v4)
		}
	}
	return d
}

// P95 is the public set; the others are a stiff slide, an oiled contact with an offset, and a soft large one.
var rigs = []rig{
	{truth: truth{"public set", 1, 1.5, 1e-3, 0.4, 0, 1e-4, 0.5, 0.01}, sigma0: 1e5, sigma1: 316, reach: 0.9, period: 200, noiseX: 3e-8,
		noiseU: 2e-3},
	{truth: truth{"slide", 20, 26, 0.01, 150, -3.5, 1e-3, 0.3, 0.1}, sigma0: 2e6, sigma1: 900, reach: 0.8, period: 100, noiseX: 5e-8,
		noiseU: 0.05},
	{truth: truth{"oiled", 0.31, 0.52, 2e-3, 4, 0.05, 2e-4, 0.1, 0.002}, sigma0: 3e4, sigma1: 20, reach: 0.7, period: 100, noiseX: 0,
		noiseU: 1e-3},
	{truth: truth{"bench", 1, 1.5, 0.05, 0.4, 0, 0.005, 1, 0.01}, sigma0: 1e3, sigma1: 3, reach: 0.9, period: 400, noiseX: 2e-6, noiseU: 0},
	{truth: truth{"encoder", 1, 1.5, 1e-3, 0.4, 0, 1e-4, 0.5, 0.01}, sigma0: 1e5, sigma1: 316, reach: 0.9, period: 200, noiseU: 2e-3,
		quantum: 6e-7},
}

func (c rig) joint(t testing.TB, ps []Point, d *record.Record) *fit.Solution {
	t.Helper()
	recs := []*record.Record{d}
	s, err := Joint(context.Background(), ps, recs, JointParams(ps, recs, "lugre", false), JointOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bound is the Cramér–Rao bound of Fc, Fs, vs, sigma2, offset and sigma0 from the map and the loop, with the unknown
// displacements of the reversals and force at the start; derivatives of the loop by differences.
func (c rig) bound(ps []Point, d *record.Record, cycles float64) []float64 {
	turns := int(2*cycles + 0.5)
	n := 9 + turns
	theta := make([]float64, n) // …, σ0, ζ0, offset of the loop, what goes with the rate of the bristle, x_1 …
	theta[7] = c.offset
	copy(theta, append(c.values(), c.sigma0, 0))
	fs, k, top := c.fs, c.sigma0, c.reach*c.fs
	x1 := -fs / k * math.Log(1-top/fs)
	x2 := x1 + fs/k*math.Log((fs+top)/(fs-top))*-1
	for j := range turns {
		theta[9+j] = []float64{x1, x2}[j%2]
	}
	loop := func(p []float64, piece int, x float64) float64 {
		fs, z, from, s := p[1], p[6], 0.0, 1.0
		step := func(to float64) float64 { return s*fs + (z-s*fs)*math.Exp(-s*p[5]*(to-from)/fs) }
		for j := range piece {
			z, from, s = step(p[9+j]), p[9+j], -s
		}
		return step(x) + p[7]
	}
	info := mat.NewSymDense(n, nil)
	add := func(g []float64, variance float64) {
		v := mat.NewVecDense(n, nil)
		for i := range g {
			v.SetVec(i, g[i])
		}
		info.SymRankOne(info, 1/variance, v)
	}
	// parameters scaled to their sizes
	size := func(i int) float64 {
		switch i {
		case 4, 6, 7:
			return c.fs
		case 8:
			return 1 // share of break-away
		}
		if i >= 9 {
			return c.fs / c.sigma0
		}
		return theta[i]
	}
	for _, p := range ps {
		s, x := math.Copysign(1, p.V), math.Abs(p.V)
		e := math.Exp(-x * x / (c.vs * c.vs))
		g := []float64{s * (1 - e), s * e, s * (c.fs - c.fc) * e * 2 * x * x / (c.vs * c.vs * c.vs), p.V, 1}
		for i := range g {
			g[i] *= size(i)
		}
		add(g, c.noise*c.noise)
	}
	slow := make([]float64, n) // the loop is known to be slow, as the method takes it
	slow[8] = 1
	share := bristleTime * 4 * c.reach / c.period // the triangle's rate, as a share of break-away
	add(slow, share*share)
	clean := c
	clean.noiseX, clean.noiseU, clean.quantum = 0, 0, 0
	exact := clean.closed(len(d.Force), cycles, 0)
	nx := math.Hypot(c.noiseX, c.quantum/math.Sqrt(12))
	for i, x := range exact.Position {
		t := float64(i) * d.Dt
		piece := min(turns, int((t+c.period/4)/(c.period/2)))
		g := make([]float64, n)
		for j := range g {
			if j == 8 {
				continue
			}
			h := 1e-5 * size(j)
			p := append([]float64(nil), theta...)
			p[j] += h
			g[j] = loop(p, piece, x)
			p[j] -= 2 * h
			g[j] = (g[j] - loop(p, piece, x)) / (2 * h) * size(j)
		}
		s := 1.0
		if piece%2 == 1 {
			s = -1
		}
		slope := c.sigma0 * (1 - s*(exact.Force[i]-c.offset)/c.fs)
		g[8] = s * c.fs // the triangle loads the bristle at a constant rate
		add(g, c.noiseU*c.noiseU+slope*slope*nx*nx)
	}
	var inv mat.Dense
	if err := inv.Inverse(info); err != nil {
		panic(err)
	}
	sd := make([]float64, 6)
	for i := range sd {
		sd[i] = math.Sqrt(inv.At(i, i)) * size(i)
	}
	return sd
}

var jointOrder = append(append([]string(nil), staticOrder...), "sigma0")

// Map and loop as one experiment: every parameter within four standard deviations of the Cramér–Rao bound, σ0 to 0.5 %, Fs to
// 0.3 %, σ1 refused; for several contacts and kinds of noise.
func TestJointReachesTheCramerRaoBound(t *testing.T) {
	const cycles, seeds = 2, 5
	for _, c := range rigs {
		t.Run(c.name, func(t *testing.T) {
			worst, off := make([]float64, 6), [2]float64{}
			square := make([]float64, 6)
			for seed := range uint64(seeds) {
				ps := c.points(16, seed)
				d := c.closed(2000, cycles, seed)
				sd := c.bound(ps, d, cycles)
				s := c.joint(t, ps, d)
				for i, name := range jointOrder {
					want := append(c.values(), c.sigma0)[i]
					e := (estimate(t, s, name) - want) / sd[i]
					worst[i] = max(worst[i], math.Abs(e))
					square[i] += e * e / seeds
					if se := standardError(t, s, name); se < 0.5*sd[i] || se > 2.5*sd[i] {
						t.Errorf("seed %d: %s has the standard error %.3g, the bound is %.3g", seed, name, se, sd[i])
					}
				}
				off[0] = max(off[0], math.Abs(estimate(t, s, "sigma0")/c.sigma0-1))
				off[1] = max(off[1], math.Abs(estimate(t, s, "Fs")/c.fs-1))
				if !refused(s, "sigma1") {
					t.Errorf("sigma1 is not refused")
				}
				for _, r := range s.Unidentifiable {
					if len(r.Names) != 1 || r.Names[0] != "sigma1" {
						t.Errorf("refused: %+v", r)
					}
				}
			}
			for i, name := range jointOrder {
				if worst[i] > 4 {
					t.Errorf("%s is %.1f standard deviations of the bound off", name, worst[i])
				}
			}
			if off[0] > 0.005 || off[1] > 0.003 {
				t.Errorf("sigma0 off by %.2f %%, Fs by %.2f %%", 100*off[0], 100*off[1])
			}
			t.Logf("worst in deviations of the bound %.1f, mean squares %.2f, sigma0 %.3f %%, Fs %.3f %%", worst, square, 100*off[0], 100*off[1])
		})
	}
}

// The loop of the whole LuGre model, drawn slowly, gives the same; drawn faster, the force of σ1 is noticed.
func TestJointOnTheWholeModel(t *testing.T) {
	for _, c := range rigs {
		for _, faster := range []float64{1, 10} {
			c := c
			c.period /= faster
			worst := [2]float64{}
			var notes []string
			exact := c
			exact.noiseX, exact.noiseU, exact.quantum = 0, 0, 0
			clean := exact.moved(1000, 1.5, 0)
			for seed := range uint64(2) {
				rng := rand.New(rand.NewPCG(seed, 23))
				d := &record.Record{Dt: clean.Dt}
				for k, x := range clean.Position {
					c.sample(d, x, clean.Force[k], rng)
				}
				s := c.joint(t, c.points(16, seed), d)
				worst[0] = max(worst[0], math.Abs(estimate(t, s, "sigma0")/c.sigma0-1))
				worst[1] = max(worst[1], math.Abs(estimate(t, s, "Fs")/c.fs-1))
				if !refused(s, "sigma1") {
					t.Errorf("sigma1 is not refused")
				}
				notes = s.Notes
			}
			t.Logf("%s, period %g s: sigma0 %.3f %%, Fs %.3f %% off; %s", c.name, c.period, 100*worst[0], 100*worst[1], strings.Join(notes, "; "))
			if worst[0] > 0.005 || worst[1] > 0.003 {
				t.Errorf("%s, period %g s: sigma0 %.3f %%, Fs %.3f %% off", c.name, c.period, 100*worst[0], 100*worst[1])
			}
		}
	}
}
