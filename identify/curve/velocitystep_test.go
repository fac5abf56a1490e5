package curve

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/engine/friction"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// speeds of the steps, in units of L per second: ratios up and down.
var stepSpeeds = []float64{1, 3, 1, 10, 2, 20, 5, 0.5, 1}

// stepped imposes the speeds on the law of the engine, each for hold·L of slip, and records its force; begin is where within a
// sample every speed begins.
func stepped(law friction.StateVariable, hold, dt, begin float64) *record.Record {
	d := &record.Record{Dt: dt}
	z := make([]float64, 1)
	law.ResetSliding(z, stepSpeeds[0]*law.L)
	x := 0.0
	for _, s := range stepSpeeds {
		v := s * law.L
		for range int(hold / s / dt) {
			law.Step(z, friction.Input{Dt: begin * dt, V: v, N: law.N0})
			d.Velocity = append(d.Velocity, v)
			d.Position = append(d.Position, x+begin*v*dt)
			d.Force = append(d.Force, law.Step(z, friction.Input{V: v, N: law.N0}))
			d.Load = append(d.Load, law.N0)
			law.Step(z, friction.Input{Dt: (1 - begin) * dt, V: v, N: law.N0})
			x += v * dt
		}
	}
	return d
}

// law has no floor under the speed: the formulas have none.
func (m stepCase) law() friction.StateVariable {
	law := lawOf(m.material, 0.4, 3*m.material.L, 5)
	law.Veps = 1e-15
	return law
}

// lawOf is the state-variable law of a material, with the coefficient mu0 at the speed v0 (m/s) and the normal load n0 (N).
func lawOf(m friction.Material, mu0, v0, n0 float64) friction.StateVariable {
	return friction.StateVariable{Mu0: mu0, V0: v0, A: m.A, B: m.B, L: m.L, N0: n0, Veps: 1e-9}
}

type stepCase struct{ material friction.Material }

var stepCases = []stepCase{{friction.ToolSteel[0]}, {friction.ToolSteel[1]}, {friction.ToolSteel[2]},
	{friction.Material{Name: "granite", A: 0.012, B: 0.009, L: 5e-6}}}

func solveSteps(t testing.TB, d *record.Record, o StepOptions, v0 float64) *fit.Solution {
	t.Helper()
	params := StepParams([]*record.Record{d})
	copyValues(params, map[string]float64{"v0": v0})
	s, err := VelocitySteps(context.Background(), []*record.Record{d}, params, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// imposed is the closed solution under given speeds, each held for hold·L of slip: friction at the instants of the samples of the
// force, lag seconds before they are stamped, the motion as it is; begin is where within a sample the record starts.
func imposed(law friction.StateVariable, speeds []float64, hold, dt, begin, lag float64, position bool) *record.Record {
	d := &record.Record{Dt: dt, File: "closed"}
	at := []float64{0} // s, when each speed begins
	for _, v := range speeds {
		at = append(at, at[len(at)-1]+hold*law.L/v)
	}
	theta, x := make([]float64, len(speeds)), make([]float64, len(speeds)) // at the beginning of each
	rest := func(v float64) float64 { return -law.B * math.Log(v/law.V0) }
	theta[0] = rest(speeds[0])
	for i := 1; i < len(speeds); i++ {
		e := rest(speeds[i-1])
		theta[i] = e + (theta[i-1]-e)*math.Exp(-hold)
		x[i] = x[i-1] + hold*law.L
	}
	when := func(t float64) int {
		i := 0
		for i+1 < len(speeds) && t >= at[i+1] {
			i++
		}
		return i
	}
	for k := 0; ; k++ {
		t := (float64(k) + begin) * dt
		if t >= at[len(at)-1] {
			return d
		}
		i := when(t)
		d.Velocity = append(d.Velocity, speeds[i])
		if position {
			d.Position = append(d.Position, x[i]+speeds[i]*(t-at[i]))
		}
		t -= lag
		i = when(t)
		e := rest(speeds[i])
		now := e + (theta[i]-e)*math.Exp(-speeds[i]*max(t-at[i], 0)/law.L)
		d.Force = append(d.Force, law.N0*(law.Mu0+law.A*math.Log(speeds[i]/law.V0)+now))
		d.Load = append(d.Load, law.N0)
	}
}

// The time stamps of force and velocity lie apart by parts of a sample, or more, and the steps anywhere within one: the intervals
// hold the truth. One step is enough.
func TestStepsCoverage(t *testing.T) {
	var all tally
	defer all.neitherWay(t)
	law := stepCases[0].law()
	many := []float64{1, 3, 1, 10, 2, 20, 5, 0.5, 1}
	for _, c := range []struct {
		lag      float64 // samples
		position bool
		speeds   []float64
		kind     string
	}{
		{0, true, many, "white"}, {0, false, many, "white"}, {0.5, true, many, "white"}, {0.5, false, many, "dependent"},
		{-0.5, false, many, "white"},
		{1, true, many, "dependent"}, {1, false, many, "white"}, {-1, true, many, "white"}, {2, false, many, "white"},
		{0.5, false, []float64{1, 8}, "white"}, {1, true, []float64{8, 2}, "white"},
	} {
		var speeds []float64
		for _, s := range c.speeds {
			speeds = append(speeds, s*law.L)
		}
		draws, truth := coverageDraws, map[string]float64{"A": law.A, "B": law.B, "L": law.L, "mu0": law.Mu0}
		all.coverage(t, fmt.Sprintf("lag %g, position %v, %d steps, %s noise", c.lag, c.position, len(speeds)-1, c.kind), draws,
			truth, func(t *testing.T, seed uint64) *fit.Solution {
				r := rand.New(rand.NewPCG(seed, 61+uint64(10*c.lag)))
				d := imposed(law, speeds, 6, 0.01, r.Float64(), c.lag*0.01, c.position)
				e := noise(c.kind, len(d.Force), r)
				for k := range d.Force {
					d.Force[k] += 2e-4 * law.N0 * e[k]
				}
				s := solveSteps(t, d, StepOptions{}, law.V0)
				if e := s.Extra["lag"].(float64) - c.lag*0.01; c.position && math.Abs(e) > 4*s.Extra["lag_se"].(float64) {
					t.Errorf("draw %d: the lag is off by %.2g samples", seed, e/0.01)
				}
				return s
			})
	}
}

// Without noise A, B, L and mu0 come back to 1e-6, from decays that are cut off as well, with and without a position: without one
// every step is taken to be half-way between two samples, and where it is not the intervals hold that.
func TestStepsGiveBackTheLaw(t *testing.T) {
	for _, c := range stepCases {
		for _, hold := range []float64{2, 7} {
			for i := range 4 {
				position, begin := i%2 == 0, []float64{0, 0.5}[i/2]
				law := c.law()
				law.A = max(law.A, 1e-4) // the least the law takes
				d := stepped(law, hold, 5e-3, begin)
				if !position {
					d.Position = nil
				}
				s := solveSteps(t, d, StepOptions{}, law.V0)
				for name, want := range map[string]float64{"A": law.A, "B": law.B, "L": law.L, "mu0": law.Mu0} {
					tol := 1e-6 * want
					if !position && begin == 0 { // the instants are off by half a sample
						tol += 3 * standardError(t, s, name)
					}
					if got := estimate(t, s, name); math.Abs(got-want) > tol {
						t.Errorf("%s, %g L per speed, position %v, begin %g: %s = %.10g, want %g", c.material.Name, hold, position, begin, name, got, want)
					}
				}
				if len(s.Unidentifiable) > 0 {
					t.Errorf("%s: refused %v", c.material.Name, s.Unidentifiable)
				}
			}
		}
	}
}

// With noise the 95 % intervals cover the truth, and an A of zero is said to be below the noise.
func TestStepsWithNoise(t *testing.T) {
	const seeds = 100
	for _, c := range stepCases {
		law := c.law()
		exact := law
		if law.A == 0 { // the law takes at least 1e-4: taken off below
			exact.A = 1e-4
		}
		clean := stepped(exact, 5, 1e-2, 0)
		hit, below := map[string]int{}, 0
		for seed := range uint64(seeds) {
			rng := rand.New(rand.NewPCG(seed, 31))
			d := &record.Record{Dt: clean.Dt, Velocity: clean.Velocity, Load: clean.Load}
			for k, f := range clean.Force {
				f -= law.N0 * (exact.A - law.A) * math.Log(clean.Velocity[k]/law.V0)
				d.Force = append(d.Force, f+5e-4*law.N0*rng.NormFloat64())
			}
			s := solveSteps(t, d, StepOptions{}, law.V0)
			for name, want := range map[string]float64{"A": law.A, "B": law.B, "L": law.L, "mu0": law.Mu0} {
				if e := estimate(t, s, name) - want; math.Abs(e) < 2*standardError(t, s, name) {
					hit[name]++
				}
			}
			for _, r := range s.Unidentifiable { // these records are also told that their steps are known to one sample
				if slices.Equal(r.Names, []string{"A"}) {
					below++
				}
			}
		}
		t.Logf("%s: covered of %d: %v; A below the noise in %d", c.material.Name, seeds, hit, below)
		for name, n := range hit {
			if n < seeds*85/100 {
				t.Errorf("%s: the interval of %s covers the truth in %d of %d", c.material.Name, name, n, seeds)
			}
		}
		if law.A == 0 && below < seeds*9/10 || law.A > 5e-4 && below > 0 {
			t.Errorf("%s: A is said to be below the noise in %d of %d", c.material.Name, below, seeds)
		}
	}
}

// A machine that yields delays the peak. The extrapolation finds A, B and L all the same when its stiffness is known, and
// not far off when it is not.
func TestStepsOnASoftMachine(t *testing.T) {
	law := stepCases[0].law()
	a, b, l, n := law.A, law.B, law.L, law.N0
	k := 60 * b * n / l
	d := &record.Record{Dt: 2e-3}
	// ḟ·N = k·(vm − v), v from the law, θ̇ = −v/L·(θ + B·ln(v/v0)): classical Runge–Kutta
	slide := func(f, th float64) float64 { return law.V0 * math.Exp((f-law.Mu0-th)/a) }
	rate := func(f, th, vm float64) (df, dth float64) {
		v := slide(f, th)
		return k * (vm - v) / n, -v / l * (th + b*math.Log(v/law.V0))
	}
	th := -b * math.Log(stepSpeeds[0]*l/law.V0)
	f := law.Mu0 + a*math.Log(stepSpeeds[0]*l/law.V0) + th
	for _, s := range stepSpeeds {
		vm := s * l
		for range int(6 / s / d.Dt) {
			d.Velocity, d.Force, d.Load = append(d.Velocity, vm), append(d.Force, f*n), append(d.Load, n)
			const sub = 20
			h := d.Dt / sub
			for range sub {
				f1, t1 := rate(f, th, vm)
				f2, t2 := rate(f+h/2*f1, th+h/2*t1, vm)
				f3, t3 := rate(f+h/2*f2, th+h/2*t2, vm)
				f4, t4 := rate(f+h*f3, th+h*t3, vm)
				f, th = f+h/6*(f1+2*f2+2*f3+f4), th+h/6*(t1+2*t2+2*t3+t4)
			}
		}
	}
	for _, c := range []struct {
		machine, tol float64
	}{{k, 0.005}, {0, 0.1}} {
		s := solveSteps(t, d, StepOptions{Machine: c.machine}, law.V0)
		for name, want := range map[string]float64{"A": a, "B": b, "L": l, "mu0": law.Mu0} {
			got := estimate(t, s, name)
			t.Logf("machine %g: %s off by %.2f %% ± %.2g %%", c.machine, name, 100*(got/want-1), 100*standardError(t, s, name)/want)
			if math.Abs(got-want) > c.tol*want {
				t.Errorf("machine %g: %s = %.4g, want %.4g", c.machine, name, got, want)
			}
		}
		if !slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "yields") }) {
			t.Errorf("nothing is said about the machine: %v", s.Notes)
		}
	}
}

// Records without the level before the step, or without load, are told. One step is enough, and that it shows one ratio is said.
func TestStepsTellBadInput(t *testing.T) {
	law := stepCases[0].law()
	good := stepped(law, 5, 1e-2, 0)
	cut := func(from, to int) *record.Record {
		return &record.Record{Dt: good.Dt, Velocity: good.Velocity[from:to], Force: good.Force[from:to], Load: good.Load[from:to]}
	}
	first := slices.IndexFunc(good.Velocity, func(v float64) bool { return v != good.Velocity[0] })
	second := first + slices.IndexFunc(good.Velocity[first:], func(v float64) bool { return v != good.Velocity[first] })
	noload := cut(0, len(good.Force))
	noload.Load = nil
	params := StepParams([]*record.Record{good})
	free := slices.Clone(params)
	free[1].Fixed = false
	for _, c := range []struct {
		name   string
		d      *record.Record
		params []fit.Param
		want   string
	}{
		{"begins with the step", cut(first, second), params, "level before a step must be in the record"},
		{"no load", noload, params, "no normal load"},
		{"v0 free", good, free, "must be fixed"},
		{"no L", good, params[:4], "L: missing"},
	} {
		_, err := VelocitySteps(context.Background(), []*record.Record{c.d}, c.params, StepOptions{}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to say %q", c.name, err, c.want)
		}
	}
	for _, c := range []struct {
		d    *record.Record
		said bool
	}{{cut(0, second), true}, {good, false}} {
		s, err := VelocitySteps(context.Background(), []*record.Record{c.d}, params, StepOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(s.Notes, "; "), "one ratio of speeds"); said != c.said {
			t.Errorf("%d samples: notes %q", len(c.d.Force), s.Notes)
		}
	}
}
