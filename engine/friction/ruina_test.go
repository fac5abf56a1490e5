package friction

import (
	"encoding/json"
	"math"
	"os/exec"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
	"hilrig/engine/peer"
)

// steel is a row of table 6.4 at a coefficient of 0.5 at 1 mm/s under 2 N.
func steel(t testing.TB, name string) *StateVariable {
	t.Helper()
	for _, m := range ToolSteel {
		if m.Name == name {
			p := m.Law(0.5, 1e-3, 2)
			return &p
		}
	}
	t.Fatalf("no material %q", name)
	return nil
}

// A step from v1 to v2 gives A, B and L back by [MOGI] (6.38)–(6.40), and f follows the exponential to 1e-6.
func TestVelocityStepGivesParametersBack(t *testing.T) {
	for _, name := range []string{"dry-steel", "boundary-lubricant"} {
		for _, c := range [][2]float64{{1e-3, 1e-2}, {1e-2, 1e-3}, {5e-3, 7e-3}} {
			p := steel(t, name)
			p.Veps = 1e-12 // (6.36) knows none
			v1, v2 := c[0], c[1]
			z := newZ(p)
			f := func(v float64) float64 { return p.Step(z, Input{V: v}) / p.N0 } // at this instant
			for range 100 {
				p.Step(z, Input{Dt: p.L / v1, V: v1})
			}
			f1, fmax := f(v1), f(v2)
			h := 0.01 * p.L / v2
			// a level and a slope far out, and the exponential between
			var half float64
			curve := []float64{fmax}
			for k := range 4000 {
				p.Step(z, Input{Dt: h, V: v2})
				curve = append(curve, f(v2))
				if k == 99 {
					half = f(v2)
				}
			}
			f2 := f(v2)
			ratio := math.Log(v2 / v1)
			a, b := (fmax-f1)/ratio, (fmax-f2)/ratio
			l := v2 * 100 * h / math.Log((fmax-f2)/(half-f2))
			if math.Abs(a-p.A) > 1e-6 || math.Abs(b-p.B) > 1e-6 || math.Abs(l/p.L-1) > 1e-6 {
				t.Errorf("%s, %g to %g m/s: A = %.8f, B = %.8f, L = %.6g m; want %g, %g, %g", name, v1, v2, a, b, l, p.A, p.B, p.L)
			}
			for k, got := range curve {
				if want := f2 + (fmax-f2)*math.Exp(-v2*float64(k)*h/p.L); math.Abs(got-want) > 1e-9 {
					t.Fatalf("f after %d steps: %.9f, want %.9f", k, got, want)
				}
			}
		}
	}
}

// The steady curve is (6.37), odd, zero at zero, with and without direct effect.
func TestStateVariableSteady(t *testing.T) {
	for _, m := range ToolSteel {
		p := steel(t, m.Name)
		a := max(m.A, 1e-4)
		for _, v := range []float64{1e-5, 1e-3, 0.02, 1} {
			want := 2 * (0.5 + (a-m.B)*math.Log(v/1e-3))
			// vε moves θ by B·vε/v
			if got := p.SteadyForce(v); math.Abs(got-want) > 2*m.B*p.Veps/v+1e-12 || p.SteadyForce(-v) != -got {
				t.Errorf("%s at %g m/s: %.9f N and %.9f N, want ±%.9f N", m.Name, v, got, p.SteadyForce(-v), want)
			}
		}
		// every decade down to rest: rising with v at given θ, bounded slope, no jump
		last := 0.0
		for e := -40.0; e < 2; e += 0.25 {
			f, slope, _ := p.coefficient(math.Pow(10, e), 0)
			if !(f > last) || !(slope > 0) || math.IsInf(slope, 0) {
				t.Fatalf("%s at 1e%g m/s: f = %g after %g, slope %g", m.Name, e, f, last, slope)
			}
			last = f
		}
		if f, _, _ := p.coefficient(0, 0.1); f != 0 {
			t.Errorf("f(0) = %g", f)
		}
	}
}

// The derivative that steers Newton's method against central differences.
func TestStateVariableSlope(t *testing.T) {
	p := steel(t, "dry-steel")
	zn := make([]float64, 1)
	for _, s := range []Scheme{Midpoint, Implicit} {
		for _, v := range []float64{1e-9, -1e-6, 1e-4, -0.01, 0.3} {
			for _, theta := range []float64{-0.05, 0, 0.08} {
				at := func(v float64) float64 {
					f, _ := p.Trial(s, []float64{theta}, zn, Input{Dt: 1e-2, V: v})
					return f
				}
				d := 1e-5 * math.Abs(v)
				want := (at(v+d) - at(v-d)) / (2 * d)
				_, got := p.Trial(s, []float64{theta}, zn, Input{Dt: 1e-2, V: v})
				// differences of numbers near 1 N over d
				if math.Abs(got-want) > 1e-5*math.Abs(want)+1e-14/d {
					t.Errorf("%v, v = %g, θ = %g: slope %g, by differences %g", s, v, theta, got, want)
				}
			}
		}
	}
}

// The force of a step is the mean of the instantaneous force along the exact θ(t), and a step may be split.
func TestStateVariableMean(t *testing.T) {
	p := steel(t, "dry-steel")
	for _, v := range []float64{1e-4, -1e-2, 0.3} {
		const h, theta = 1e-2, 0.03
		to, _ := p.target(v)
		want := gauss(200, func(s float64) float64 {
			f, _, _ := p.coefficient(v, to+(theta-to)*math.Exp(-math.Abs(v)*h*s/p.L))
			return p.N0 * f
		})
		z := []float64{theta}
		got := p.Step(z, Input{Dt: h, V: v})
		zs := []float64{theta}
		for range 10 {
			p.Step(zs, Input{Dt: h / 10, V: v})
		}
		if math.Abs(got-want) > 1e-10 || math.Abs(z[0]-zs[0]) > 1e-14 {
			t.Errorf("v = %g: mean %.12f N, by quadrature %.12f N; θ %.15f, in parts %.15f", v, got, want, z[0], zs[0])
		}
	}
}

// Steady sliding of a mass drawn over a spring loses its stability below kc(V): the growth rates of the linearised motion in
// (stretch, ln v, θ), by differences of the right-hand side, change sign between 0.99 and 1.01 kc.
func TestCriticalStiffness(t *testing.T) {
	const m = 1.0
	for _, n := range []float64{2, 50} {
		for _, v := range []float64{1e-5, 1e-4, 1e-3, 1e-2} {
			p := steel(t, "dry-steel")
			p.Veps = 1e-15
			for _, c := range []struct {
				ratio  float64
				stable bool
			}{{0.99, false}, {1.01, true}} {
				k := c.ratio * p.CriticalStiffness(m, n, v)
				dz := make([]float64, 1)
				rhs := func(y [3]float64) [3]float64 {
					w := math.Exp(y[1])
					f := p.Flow(y[2:], dz, Input{V: w, N: n})
					return [3]float64{v - w, (k*y[0] - f) / (m * w), dz[0]}
				}
				theta, _ := p.target(v)
				f := p.Flow([]float64{theta}, dz, Input{V: v, N: n})
				y0 := [3]float64{f / k, math.Log(v), theta}
				d := [3]float64{1e-4 * n * p.A / k, 1e-4, 1e-4 * p.A} // each changes the force by 1e-4·N·A
				j := mat.NewDense(3, 3, nil)
				for col := range 3 {
					up, down := y0, y0
					up[col] += d[col]
					down[col] -= d[col]
					a, b := rhs(up), rhs(down)
					for row := range 3 {
						j.Set(row, col, (a[row]-b[row])/(2*d[col]))
					}
				}
				var e mat.Eigen
				if !e.Factorize(j, mat.EigenNone) {
					t.Fatal("no eigenvalues")
				}
				worst := math.Inf(-1)
				for _, l := range e.Values(nil) {
					worst = max(worst, real(l))
				}
				if (worst < 0) != c.stable {
					t.Errorf("%g N, %g m/s, %g kc = %.5g N/m: growth rate %g 1/s, want stable %v", n, v, c.ratio, k, worst, c.stable)
				}
			}
		}
	}
	if p := (&StateVariable{Mu0: 0.5, V0: 1e-3, A: 0.01, B: 0.005, L: 1e-5, N0: 2}); p.CriticalStiffness(1, 0, 1e-3) != 0 {
		t.Error("friction that rises with speed has a critical stiffness")
	}
}

// However far a step changes the creep speed, its equation is solved in a few evaluations: two on average, never more than
// six in these motions, for every material and both implicit schemes.
func TestStateVariableEvaluations(t *testing.T) {
	for _, m := range ToolSteel {
		for _, s := range []Scheme{Midpoint, Implicit} {
			for _, load := range []pulled{{k: 100, speed: 0.02, h: 1e-3}, {k: 100, speed: 0.02, h: 1e-4}, {k: 2e3, speed: 1e-3, h: 1e-3},
				{k: 30, speed: -1e-4, con: 0.9, h: 1e-3}} {
				b := newBench(t, steel(t, m.Name), 1, s, &load)
				evals, worst, n := 0, 0, 20000
				for range n {
					r := b.step()
					if r.Status != engine.OK {
						t.Fatalf("%s, %v, %+v: %v", m.Name, s, load, r.Status)
					}
					evals, worst = evals+r.Evals, max(worst, r.Evals)
				}
				if mean := float64(evals) / float64(n); mean > 2.5 || worst > 6 {
					t.Errorf("%s, %v, %+v: %.2f evaluations a step, at most %d", m.Name, s, load, mean, worst)
				}
			}
		}
	}
}

// radau integrates stretch, ln v and θ of the drawn mass.
const radau = `
import json, sys
import numpy as np
from scipy.integrate import solve_ivp
q = json.load(sys.stdin)
mu0, v0, A, B, L, N, eps, M, k, V = (q[n] for n in ("Mu0", "V0", "A", "B", "L", "N0", "Veps", "M", "K", "V"))
def f(v, th):
    y = np.log(v/(2*v0)) + (mu0+th)/A
    return A*(y + np.log(1+np.sqrt(1+np.exp(-2*y)))) if y > 0 else A*np.arcsinh(np.exp(y))
def rhs(t, y):
    v = np.exp(y[1])
    pull = V if t >= q["Jump"] else q["V1"]
    return [pull-v, (k*y[0]-N*f(v, y[2]))/(M*v), -v/L*(y[2]+B*np.log((v+eps)/v0))]
ts, y, out = q["T"], q["Y"], []
t0 = 0.
for a, b in ((0., q["Jump"]), (q["Jump"], ts[-1])):
    if b <= a: continue
    at = [t for t in ts if a < t <= b]
    s = solve_ivp(rhs, (a, b), y, method="Radau", rtol=1e-10, atol=[1e-14, 1e-11, 1e-12], t_eval=sorted(set(at+[b])))
    out += [s.y[:, list(s.t).index(t)].tolist() for t in at]
    y = s.y[:, -1]
print(json.dumps(out))
`

// Stick-slip well below kc, and a step of the drawing speed at a stable stiffness, against SciPy's Radau.
func TestStateVariableAgainstRadau(t *testing.T) {
	peer.Python(t, "scipy")
	for _, c := range []struct {
		name            string
		k, v1, v2, jump float64
		dur, start      float64 // s; start: initial speed over the steady one
		tol             map[float64]float64
	}{
		// two slips with creep below 1 µm/s between them
		{name: "stick-slip", k: 60, v1: 1e-3, v2: 1e-3, dur: 5, start: 0.5, tol: map[float64]float64{1e-3: 5e-7, 1e-4: 5e-9}},
		{name: "velocity step", k: 3000, v1: 2e-4, v2: 1e-3, jump: 0.3, dur: 1, start: 1, tol: map[float64]float64{1e-3: 1e-7, 1e-4: 1e-9}},
	} {
		p := steel(t, "dry-steel")
		theta, _ := p.target(c.v1)
		y0 := []float64{p.SteadyForce(c.v1) / c.k, math.Log(c.v1 * c.start), theta}
		var ts []float64
		for i := 1; i <= 40; i++ {
			ts = append(ts, c.dur*float64(i)/40)
		}
		in, _ := json.Marshal(map[string]any{"Mu0": p.Mu0, "V0": p.V0, "A": p.A, "B": p.B, "L": p.L, "N0": p.N0, "Veps": p.Veps,
			"M": 1, "K": c.k, "V": c.v2, "V1": c.v1, "Jump": c.jump, "T": ts, "Y": y0})
		cmd := exec.Command("/usr/bin/python3", "-c", radau)
		cmd.Stdin = strings.NewReader(string(in))
		text, err := cmd.Output()
		var want [][]float64
		if err == nil {
			err = json.Unmarshal(text, &want)
		}
		if err != nil || len(want) != len(ts) {
			t.Fatalf("%s: radau: %v, %d of %d rows", c.name, err, len(want), len(ts))
		}
		for h, tol := range c.tol {
			b := newBench(t, p, 1, Midpoint, &pulled{h: h})
			b.x[1], b.x[2] = c.v1*c.start, theta
			load := &towed{k: c.k, stretch: y0[0], v1: c.v1, v2: c.v2, jump: c.jump}
			n, worst, slow, fast := int(math.Round(c.dur/h)), 0.0, math.Inf(1), 0.0
			for k := 1; k <= n; k++ {
				r := b.Step(h, b.x, load)
				slow, fast = min(slow, r.W), max(fast, r.W)
				load.t = float64(k) * h
				if i := k * 40 / n; k*40%n == 0 {
					worst = max(worst, math.Abs(load.end(load.t)-b.x[0]-want[i-1][0]))
				}
			}
			t.Logf("%s, h = %g: stretch off by %.3g m, speeds %.3g to %.3g m/s", c.name, h, worst, slow, fast)
			if worst > tol {
				t.Errorf("%s, h = %g: stretch off by %.3g m, want below %g", c.name, h, worst, tol)
			}
		}
	}
}

// towed is a spring whose end changes its speed once.
type towed struct{ k, stretch, v1, v2, jump, t float64 }

func (s *towed) end(t float64) float64 {
	return s.stretch + s.v1*min(t, s.jump) + s.v2*max(0, t-s.jump)
}
func (s *towed) Span(tau, h, x float64) {}
func (s *towed) At(tau, x, v float64) (force, dx, dv float64) {
	return s.k * (s.end(s.t+tau) - x), -s.k, 0
}

// After a slip the contact creeps: friction is the load, in every step, at a coarse step too. Midpoint alone would turn what
// is left of the velocity round in every step for ever.
func TestStateVariableRestsQuietly(t *testing.T) {
	for _, h := range []float64{1e-3, 1e-4} {
		info, _ := Find("state-variable")
		b := newBench(t, info.NewLaw(), 1, Midpoint, &pulled{k: 100, speed: 0.02, h: h})
		rough, rests := 0.0, 0
		for b.s.t < 1.5 {
			v := b.x[1]
			r := b.step()
			if r.Status != engine.OK {
				t.Fatalf("h=%g, t=%g: %v", h, b.s.t, r.Status)
			}
			if b.s.t > 1 && math.Abs(r.W) < 1e-7 && math.Abs(v) < 1e-7 {
				rests++
				rough = max(rough, math.Abs(r.F-r.Load))
			}
		}
		t.Logf("h=%g: %d steps at rest, friction leaves the load by at most %.3g N", h, rests, rough)
		if rests < int(0.02/h) || rough > 1e-3 {
			t.Errorf("h=%g: %d steps at rest, friction off the load by %.3g N", h, rests, rough)
		}
	}
}
