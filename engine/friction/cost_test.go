package friction

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

var costs = flag.Bool("costs", false, "measure and print the table of costs")

// What a step costs, as a ratio to what a competent programmer writes first: LuGre and a mass on a spring, scheme A, as a
// loop over local variables with two calls of math.Exp. Both sides of a ratio are timed in one run, turn by turn, and the
// median over the turns is taken, so that a busy machine slows both alike.

// plainLuGre is that first program: n steps of h from rest, the end of the spring k moving at speed. It returns the position
// to keep the compiler from leaving the loop out.
func plainLuGre(p LuGre, m, k, speed, h float64, n int) float64 {
	sigma0, sigma1, sigma2, fc, df, vs := p.Sigma0, p.Sigma1, p.Sigma2, p.Fc, p.Fs-p.Fc, p.Vs
	var t, x, v, z float64
	for range n {
		g := fc + df*math.Exp(-(v/vs)*(v/vs))
		s := 1.0
		if v < 0 {
			s = -1
		}
		e := math.Exp(-sigma0 * math.Abs(v) * h / g)
		zn := s*g/sigma0 + (z-s*g/sigma0)*e
		f := sigma0*zn + sigma1*(zn-z)/h + sigma2*v
		u := k * (speed*t - x)
		v += h * (u - f) / m
		x += h * v
		z = zn
		t += h
	}
	return x
}

// costLaw is the public set with a constant σ1, as in the reference.
func costLaw() LuGre {
	return LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05}
}

// The scene of all costs: stick-slip of 1 kg on 100 N/m pulled at 0.02 m/s, 20 ms of stick for 1 ms of slip, h = 1 ms; the
// imposed motion is v = 0.06 + 0.1·sin ωt, which crosses zero. Two exponentials are due in every step of both.
const (
	costSteps = 4000
	costH     = 1e-3
)

// A turn runs costSteps steps.
type costCase struct {
	name  string
	limit float64 // target of the ratio; 0: none
	turn  func() (evals int)
}

var costSink float64

func costImposed(law Law) func() int {
	z := make([]float64, law.StateDim())
	vs := make([]float64, costSteps)
	for k := range vs {
		vs[k] = 0.06 + 0.1*math.Sin(2*math.Pi*float64(k)/1000)
	}
	return func() int {
		law.Reset(z)
		sum := 0.0
		for _, v := range vs {
			sum += law.Step(z, Input{Dt: costH, V: v, Fa: 20 * v, N: 10, I: 1})
		}
		costSink = sum
		return costSteps
	}
}

func costMass(tb testing.TB, law Model, s Scheme) func() int {
	load := &pulled{k: 100, speed: 0.02, h: costH}
	b := newBench(tb, law, 1, s, load)
	b.N, b.I = 10, 1
	m, x := b.Mass, b.x
	return func() int {
		load.t = 0
		x[0], x[1] = 0, 0
		law.Reset(x[2:])
		evals := 0
		for range costSteps { // not b.step: it copies the result once more, a quarter of the step of a cheap law
			evals += m.Step(costH, x, load).Evals
			load.t += costH
		}
		costSink = x[0]
		return evals
	}
}

// costCases lists what is measured: the four schemes of LuGre, then every law of the registry as it comes.
func costCases(tb testing.TB) []costCase {
	var cs []costCase
	p := costLaw()
	cs = append(cs, costCase{"LuGre, imposed motion", 0.45, costImposed(&p)})
	limits := []float64{2.2, 2.2, 0.75, 0.55}
	for s := Midpoint; s <= ExplicitPade; s++ {
		cs = append(cs, costCase{"LuGre, " + s.String(), limits[s], costMass(tb, &p, s)})
	}
	cheap := map[string]float64{"dahl": 0.25}
	cheapMass := map[string]float64{"seven-parameter": 0.25, "karnopp": 0.25}
	or := func(m map[string]float64, name string) float64 {
		if l, ok := m[name]; ok {
			return l
		}
		return 2.5
	}
	for _, l := range Laws() {
		law := l.NewLaw()
		_, smooth := law.(Smooth)
		_, switched := law.(Switched)
		cs = append(cs, costCase{l.Name + ", imposed", or(cheap, l.Name), costImposed(law)})
		if smooth || switched {
			cs = append(cs, costCase{l.Name + ", mass", or(cheapMass, l.Name), costMass(tb, l.NewLaw(), Midpoint)})
		}
	}
	return cs
}

// costRow is a measured ratio to the reference.
type costRow struct {
	name         string
	ns, ratio    float64 // ns per step, of the reference
	evals, limit float64
}

// measureCosts times every case against the reference, turn by turn.
func measureCosts(tb testing.TB, turns int) (ref float64, rows []costRow) {
	p := costLaw()
	plain := func() float64 {
		t := time.Now()
		costSink = plainLuGre(p, 1, 100, 0.02, costH, costSteps)
		return float64(time.Since(t).Nanoseconds()) / costSteps
	}
	var all []float64
	for _, c := range costCases(tb) {
		var ns, ratio []float64
		evals := c.turn() // warms up
		for range turns {
			a := plain()
			t := time.Now()
			c.turn()
			d := float64(time.Since(t).Nanoseconds()) / costSteps
			b := plain()
			all = append(all, a, b)
			ns, ratio = append(ns, d), append(ratio, 2*d/(a+b))
		}
		rows = append(rows, costRow{c.name, median(ns), median(ratio), float64(evals) / costSteps, c.limit})
	}
	return median(all), rows
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// BenchmarkCost reports the ratio of every case to the reference.
func BenchmarkCost(b *testing.B) {
	ref, rows := measureCosts(b, 31)
	b.Run("reference", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(ref, "ns/step")
	})
	for _, r := range rows {
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(r.ns, "ns/step")
			b.ReportMetric(r.ratio, "ratio")
			b.ReportMetric(r.evals, "evals/step")
		})
	}
}

// TestCostTable prints the table of the documentation: go test ./engine/friction -run TestCostTable -v -args -costs.
func TestCostTable(t *testing.T) {
	if !*costs {
		t.Skip("a measurement: asked for with -costs")
	}
	ref, rows := measureCosts(t, 61)
	fmt.Printf("| step | ns | ratio | target | evaluations |\n|---|---:|---:|---:|---:|\n| reference: LuGre, scheme A, two math.Exp | %.1f "+
		"| 1 | | |\n", ref)
	for _, r := range rows {
		fmt.Printf("| %s | %.1f | %.2f | %.2f | %.2f |\n", r.name, r.ns, r.ratio, r.limit, r.evals)
	}
}

// No step of any law allocates, under imposed motion or on a mass, with any scheme.
func TestCostFree(t *testing.T) {
	free := func(name string, f func()) {
		t.Helper()
		f()
		if n := testing.AllocsPerRun(50, f); n != 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
	for _, l := range Laws() {
		law := l.NewLaw()
		z := make([]float64, law.StateDim())
		law.Reset(z)
		k := 0
		free(l.Name+", imposed", func() {
			k++
			v := 0.06 + 0.1*math.Sin(float64(k))
			costSink = law.Step(z, Input{Dt: costH, V: v, Fa: 20 * v, N: 10, I: 1})
		})
		_, smooth := law.(Smooth)
		_, switched := law.(Switched)
		if !smooth && !switched {
			continue
		}
		for s := Midpoint; s <= ExplicitPade; s++ {
			b := newBench(t, l.NewLaw(), 1, s, &pulled{k: 100, speed: 0.5, h: costH})
			b.N, b.I = 10, 1
			free(l.Name+", "+s.String(), func() {
				b.step()
				b.Substeps(2, costH, b.x, b.s)
			})
		}
	}
}
