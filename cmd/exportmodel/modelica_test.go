package exportmodel

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"hilrig/engine/peer"
)

// No compiler of Modelica can be installed here, so the equations of the file are taken out of it as text, put into Python and integrated
// by scipy with the balance of the body.
const modelicaEquations = `
import json, math, re, sys
from scipy.integrate import solve_ivp
q = json.load(sys.stdin)
friction = re.search(r"model Friction.*?end Friction;", q["text"], re.S).group(0)
env = {n: float(x) for n, x in re.findall(r"parameter Real (\w+)\(unit=\"[^\"]*\"\) = (\S+)", friction)}
env.update(exp=math.exp, abs=abs)
body = friction[friction.index("equation"):]
def rule(name):
    e = re.search(r"\n    " + re.escape(name) + r" = (.*?);", body).group(1)
    e = re.sub(r"\(if (.*?) then (\w+) else (\w+)\)", r"(\2 if \1 else \3)", e)
    return compile(e.replace("^", "**").replace("der(z)", "dz"), name, "eval")
g, dz, F = rule("g"), rule("der(z)"), rule("F")
inertia = float(re.search(r"body\((?:J|m)=([^,]*),", q["text"]).group(1))
def u(t): return q["amplitude"] * (math.sin(2 * math.pi * t) + 0.3 * math.sin(14 * math.pi * t))
def rhs(t, y):
    e = dict(env, v=y[1], z=y[2])
    e["g"] = eval(g, e)
    e["dz"] = eval(dz, e)
    return [y[1], (u(t) - eval(F, e)) / inertia, e["dz"]]
at = [(k + 1) * q["every"] for k in range(q["samples"])]
s = solve_ivp(rhs, (0, at[-1]), [0, 0, 0], method="LSODA", t_eval=at, rtol=1e-8, atol=1e-12, max_step=1e-3)
assert s.success, s.message
print(json.dumps(list(s.y[0])))
`

func TestModelicaBristle(t *testing.T) {
	for _, c := range []struct {
		name, law string
		p         map[string]float64
	}{
		{"lugre", "lugre", nil},
		{"by direction, with an offset", "lugre", map[string]float64{"vd": 0, "Fc-": 1.2, "Fs-": 1.3, "sigma2-": 0.5, "offset": 0.2}},
		{"dahl", "dahl", nil},
		{"dahl-modified", "dahl-modified", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := drive{amplitude: 1.9, every: 0.02, samples: 100}
			m := model(t, c.law, c.p)
			text, lost := written(t, Modelica, m)
			if len(lost) > 0 {
				t.Errorf("lost %q", lost)
			}
			checkModelica(t, text)
			var got []float64
			peer.Ask(t, "scipy", map[string]any{"text": text, "every": d.every, "samples": d.samples, "amplitude": d.amplitude}, &got, "-c",
				modelicaEquations)
			want := simulated(t, m, d)
			worst, travel := 0.0, 0.0
			for k := range want {
				worst, travel = max(worst, math.Abs(got[k]-want[k])), max(travel, math.Abs(want[k]))
			}
			t.Logf("off by %.2g of %.3g rad", worst/travel, travel)
			if !(worst <= 1e-6*travel) {
				t.Errorf("off by %g of %g rad", worst, travel)
			}
		})
	}
}

// A rigid contact is a table of the Standard Library: its lines follow the law, and its peak is break-away friction.
func TestModelicaRigid(t *testing.T) {
	for _, law := range []string{"coulomb", "viscous", "static-coulomb-viscous", "stribeck-hess-soom", "stribeck-tustin", "linear-surrogate",
		"karnopp", "seven-parameter", "m2", "state-variable"} {
		m := model(t, law, nil)
		m.Rotary = law != "karnopp"
		text, _ := written(t, Modelica, m)
		checkModelica(t, text)
		found := regexp.MustCompile(`(?s)(tau|f)_pos=\[(.*?)\],\s*peak=(\S+)\)`).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("%s: no table\n%s", law, text)
		}
		var v, f []float64
		for row := range strings.SplitSeq(found[2], ";") {
			var a, b float64
			if _, err := fmt.Sscanf(strings.TrimSpace(row), "%g, %g", &a, &b); err != nil {
				t.Fatalf("%s: row %q: %v", law, row, err)
			}
			v, f = append(v, a), append(f, b)
		}
		var peak float64
		fmt.Sscan(found[3], &peak)
		if want := max(m.Law.Levels().Rest.Forward, 0); law != "state-variable" && math.Abs(peak*f[0]-want) > 1e-6 {
			t.Errorf("%s: break-away %g, the law has %g", law, peak*f[0], want)
		}
		for i := 1; i < len(v); i++ {
			if want := m.Law.SteadyForce(v[i]); math.Abs(f[i]-want) > 1e-6*(1+want) {
				t.Errorf("%s: %g at %g, the law has %g", law, f[i], v[i], want)
			}
		}
	}
}

// checkModelica looks at the frame of the text: what is opened is closed, in order, and every statement ends.
func checkModelica(t *testing.T, text string) {
	t.Helper()
	var open []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		word := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "//") || line == "":
		case strings.HasPrefix(line, "package ") || strings.HasPrefix(line, "model "):
			open = append(open, word[1])
		case strings.HasPrefix(line, "end "):
			if name := strings.TrimSuffix(word[1], ";"); len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("%q closes %v", line, open)
			}
			open = open[:len(open)-1]
		}
	}
	plain := regexp.MustCompile(`(?m)//.*$|"[^"]*"`).ReplaceAllString(text, "")
	for _, pair := range []string{"()", "[]"} {
		if strings.Count(plain, pair[:1]) != strings.Count(plain, pair[1:]) {
			t.Errorf("%s do not match\n%s", pair, text)
		}
	}
	if len(open) > 0 {
		t.Errorf("%v stay open", open)
	}
}
