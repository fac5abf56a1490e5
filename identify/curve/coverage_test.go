package curve

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// tally counts the intervals of a method with independent noise, over several experiments.
type tally struct{ held, all int }

// neitherWay wants 93 to 97 % of them to hold the truth: wider ones than need be are wrong as well.
func (c *tally) neitherWay(t *testing.T) {
	t.Helper()
	if c.all == 0 { // none was chosen
		return
	}
	share, chance := float64(c.held)/float64(c.all), 0.0
	t.Logf("%.1f %% of %d intervals with independent noise hold the truth", 100*share, c.all)
	if coverageDraws < 100 { // few draws say it less exactly
		chance = 2 * math.Sqrt(0.95*0.05/float64(c.all))
	}
	if share < 0.93-chance || share > 0.97+chance {
		t.Errorf("%.1f %% of the intervals with independent noise hold the truth, want 93 to 97", 100*share)
	}
}

// coverage counts how often the 95 % intervals of a method, as the result shows them, hold the truth over draws of the noise. A
// refused parameter promises nothing and does not count; half of the draws have to count.
func (c *tally) coverage(t *testing.T, name string, draws int, truth map[string]float64,
	fitted func(t *testing.T, seed uint64) *fit.Solution) {
	t.Run(name, func(t *testing.T) {
		held, all, line := 0, 0, ""
		hits, counts := map[string]int{}, map[string]int{}
		for seed := range uint64(draws) {
			s := fitted(t, seed)
			a, err := fit.Assess(s)
			if err != nil {
				t.Errorf("draw %d: %v", seed, err)
				continue
			}
			for j, e := range a.Estimates {
				want, ok := truth[e.Name]
				if !ok || refused(s, e.Name) {
					continue
				}
				counts[e.Name]++
				if ci := a.Estimates[j].Interval(a.Residual.White); ci != nil && ci[0] <= want && want <= ci[1] {
					hits[e.Name]++
				}
			}
		}
		for p := range truth {
			line += fmt.Sprintf(" %s %d/%d", p, hits[p], counts[p])
			held, all = held+hits[p], all+counts[p]
			// one in a thousand for each if the intervals hold with 95 %
			if n := float64(counts[p]); n < float64(draws)/2 || float64(hits[p]) < 0.95*n-3.1*math.Sqrt(n*0.95*0.05)-0.5 {
				t.Errorf("the interval of %s holds the truth in %d of %d", p, hits[p], counts[p])
			}
		}
		t.Logf("%.1f %% of %d:%s", 100*float64(held)/float64(all), all, line)
		if !strings.Contains(name, "dependent") {
			c.held, c.all = c.held+held, c.all+all
		}
	})
}

// noise is one of several kinds of noise of unit variance.
func noise(kind string, n int, r *rand.Rand) []float64 {
	x := make([]float64, n)
	last := r.NormFloat64()
	for k := range x {
		switch kind {
		case "white":
			x[k] = r.NormFloat64()
		case "dependent": // on its own past, over some ten samples
			const rho = 0.9
			last = rho*last + math.Sqrt(1-rho*rho)*r.NormFloat64()
			x[k] = last
		}
	}
	return x
}

// Loops under an unknown constant force, with position zero anywhere and bristles that are not relaxed: closed form and noise,
// and a mass on LuGre integrated apart.
func TestPreslidingCoverage(t *testing.T) {
	draws := coverageDraws
	var all tally
	defer all.neitherWay(t)
	for i, c := range rigs[:4] {
		for _, kind := range []string{"white", "dependent"} {
			for o, offset := range []float64{0, -4 * c.fs} {
				if draws < 100 && (i%2 == 0) == (kind == "white") {
					continue
				}
				exact := c
				exact.noiseX, exact.noiseU, exact.offset = 0, 0, offset
				whole := exact.closed(1800, 1.8, 0)
				all.coverage(t, fmt.Sprintf("%s, %s noise, offset %g", c.name, kind, offset), draws,
					map[string]float64{"sigma0": c.sigma0, "Fs": c.fs, "offset": offset}, func(t *testing.T, seed uint64) *fit.Solution {
						r := rand.New(rand.NewPCG(seed, 51+uint64(i+10*o)))
						const from = 130 // in the middle of a branch
						x, u := noise(kind, 1800, r), noise(kind, 1800, r)
						d := &record.Record{Dt: whole.Dt}
						for k := from; k < 1800; k++ {
							d.Position = append(d.Position, whole.Position[k]+0.7+max(c.noiseX, 1e-8)*x[k])
							d.Force = append(d.Force, whole.Force[k]+max(c.noiseU, 1e-3*c.fs)*u[k])
						}
						return c.presliding(t, LoopOptions{}, d)
					})
			}
		}
	}
	// M = 2 kg on LuGre, drawn by a slow triangle against gravity
	a := independent.Axis{M: 2, Friction: independent.Friction{Sigma0: 2e4, Sigma1: 200, Sigma2: 1, Fc: 4, Fs: 5, Vs: 0.01},
		Load: func(_, _, _ float64) float64 { return 9 }}
	tr := a.Simulate(independent.Run{Dt: 0.01, N: 4000, Force: func(t float64) float64 {
		p := math.Mod(t/20+0.25, 1)
		return 9 + 4*(1-4*math.Abs(p-0.5))*min(1, 0.5+t/40)
	}})
	all.coverage(t, "LuGre with a mass", draws, map[string]float64{"sigma0": 2e4, "Fs": 5, "offset": 9},
		func(t *testing.T, seed uint64) *fit.Solution {
			d := tr.Record(independent.Sensors{Position: 5e-7, Velocity: -1, Force: 0.02, Seed: seed}, nil)
			d.Position, d.Force = d.Position[1:], d.Force[1:]
			s, err := Presliding(context.Background(), []*record.Record{d}, PreslidingParams([]*record.Record{d}), LoopOptions{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
}

// Static maps as means with standard errors, as a table of means and deviations without a count, with a drive that does not repeat
// itself, of equal weight, and of a contact that strengthens with speed.
func TestStaticCoverage(t *testing.T) {
	var all tally
	defer all.neitherWay(t)
	c := truths[1]
	strengthens := c
	strengthens.fs = 14
	for i, k := range []struct {
		name    string
		truth   truth
		o       StaticOptions
		points  func(p *Point, r *rand.Rand)
		strange bool
	}{
		{"standard errors", c, StaticOptions{}, func(*Point, *rand.Rand) {}, false},
		{"at their word", c, StaticOptions{Strict: true}, func(*Point, *rand.Rand) {}, false},
		{"equal", c, StaticOptions{Equal: true}, func(*Point, *rand.Rand) {}, false},
		{"a table without counts", c, StaticOptions{}, func(p *Point, _ *rand.Rand) { p.SE, p.Loose = 12*p.SE, true }, false},
		{"a drive that does not repeat itself", c, StaticOptions{}, func(p *Point, r *rand.Rand) { p.F += 0.2 * r.NormFloat64() }, false},
		{"Fs below Fc", strengthens, StaticOptions{}, func(*Point, *rand.Rand) {}, true},
	} {
		truth := map[string]float64{}
		for j, name := range staticOrder {
			truth[name] = k.truth.values()[j]
		}
		all.coverage(t, k.name, coverageDraws, truth, func(t *testing.T, seed uint64) *fit.Solution {
			r := rand.New(rand.NewPCG(seed, 71+uint64(i)))
			ps := k.truth.points(16, seed+1000*uint64(i))
			for j := range ps {
				k.points(&ps[j], r)
			}
			s, err := Static(context.Background(), ps, StaticParams(ps, "lugre", false), k.o, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Unidentifiable) > 0 {
				t.Errorf("draw %d: refused %v", seed, s.Unidentifiable)
			}
			if said := len(s.Notes) > 0; said != k.strange {
				t.Errorf("draw %d: %q", seed, s.Notes)
			}
			return s
		})
	}
}

// A map and a loop whose sensor had another zero, with white and with dependent noise.
func TestJointCoverage(t *testing.T) {
	var all tally
	defer all.neitherWay(t)
	for i, c := range rigs[:3] {
		kind := []string{"white", "dependent"}[i%2]
		exact := c
		exact.noiseX, exact.noiseU, exact.offset = 0, 0, 3*c.fs
		clean := exact.closed(1200, 1.8, 0)
		truth := map[string]float64{"sigma0": c.sigma0}
		for j, name := range staticOrder {
			truth[name] = c.values()[j]
		}
		all.coverage(t, fmt.Sprintf("%s, %s noise", c.name, kind), coverageDraws, truth, func(t *testing.T, seed uint64) *fit.Solution {
			r := rand.New(rand.NewPCG(seed, 81+uint64(i)))
			x, u := noise(kind, 1200, r), noise(kind, 1200, r)
			d := &record.Record{Dt: clean.Dt}
			for k := range x {
				d.Position = append(d.Position, clean.Position[k]+max(c.noiseX, 1e-8)*x[k])
				d.Force = append(d.Force, clean.Force[k]+max(c.noiseU, 1e-3*c.fs)*u[k])
			}
			return c.joint(t, c.points(16, seed+500*uint64(i)), d)
		})
	}
}
