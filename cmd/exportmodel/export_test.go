package exportmodel

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"hilrig/engine/friction"
	"hilrig/identify/record"
)

// model is an axis with a law of the registry, its default parameters but for some.
func model(t *testing.T, law string, changed map[string]float64) Model {
	t.Helper()
	info, ok := friction.Find(law)
	if !ok {
		t.Fatal("no law", law)
	}
	p := friction.Values(info.NewLaw())
	maps.Copy(p, changed)
	m, err := friction.Build(law, p)
	if err != nil {
		t.Fatal(err)
	}
	e := 0.02
	return Model{Name: "test bench-1", Law: m, Inertia: 0.02, Rotary: true, Source: Source{
		Result: "result.json", Written: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), Program: "development", Method: "lm",
		Verdict: "weakly identified",
		Reasons: []string{"split it: --asymmetric */ /* // <x> \n next"},
		Records: []record.Info{{File: "a/*.csv", SHA256: "547f5d7b", Samples: 100, Duration: 1}},
		Params:  []Param{{"Fc", "N·m", 1, &e, false}, {"Fs", "N·m", 1.5, nil, true}},
	}}
}

// written is the file of a model.
func written(t *testing.T, to Target, m Model) (text string, lost []string) {
	t.Helper()
	var b bytes.Buffer
	lost, err := Write(&b, string(to), m)
	if err != nil {
		t.Fatalf("%s to %s: %v", friction.NameOf(m.Law), to, err)
	}
	return b.String(), lost
}

// A contact has the steady curve of its law; where it has not, the law is one whose loss says so.
func TestContactHasTheSteadyCurve(t *testing.T) {
	for _, info := range friction.Laws() {
		if _, ok := forms[info.Name]; !ok {
			t.Errorf("%s: no form", info.Name)
			continue
		}
		law := info.NewLaw()
		if info.Name == "graphite-brush" { // no heat of its own: the temperature is that of the surroundings
			p := friction.Values(law)
			p["Rth"] = 1e-6
			law, _ = friction.Build(info.Name, p)
		}
		c := contactOf(law)
		for _, v := range []float64{-3, -0.1, -0.01, 1e-4, 0.003, 0.02, 0.05, 0.2, 1, 10} {
			if got, want := c.steadyForce(v), law.SteadyForce(v); math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s: %g N at %g m/s, the law has %g", info.Name, got, v, want)
			}
		}
		for _, l := range c.lossTexts {
			if strings.ContainsAny(l, "{}") {
				t.Errorf("%s: a parameter that the law has not: %s", info.Name, l)
			}
		}
	}
	if len(forms) != len(friction.Laws()) {
		t.Errorf("%d forms, %d laws", len(forms), len(friction.Laws()))
	}
}

// Every law goes to every target or is refused with a reason; what is lost stands in the file, and so does the source.
func TestEveryLawToEveryTarget(t *testing.T) {
	for _, info := range friction.Laws() {
		for _, to := range Targets() {
			var b bytes.Buffer
			lost, err := Write(&b, to, model(t, info.Name, nil))
			if err != nil {
				if b.Len() > 0 || !strings.Contains(err.Error(), info.Name) {
					t.Errorf("%s to %s: %v, %d bytes", info.Name, to, err, b.Len())
				}
				continue
			}
			for _, want := range append(slices.Clone(lost), "547f5d7b", "±", "weakly identified", "2026-11-23") {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%s to %s: the file does not say %q", info.Name, to, want)
				}
			}
		}
	}
}

// What a target cannot express is said; what nothing is left of is refused.
func TestLosses(t *testing.T) {
	for _, c := range []struct {
		to   Target
		law  string
		p    map[string]float64
		want string // in a loss; "": none
		err  string
	}{
		{to: C, law: "lugre"},
		{to: Modelica, law: "lugre"},
		{to: MJCF, law: "lugre", want: "falls with speed (vd = 0.02 rad/s)"},
		{to: MJCF, law: "lugre", p: map[string]float64{"vd": 0}},
		{to: URDF, law: "lugre", want: "the bristle before break-away: 1000 N·m/rad"},
		{to: URDF, law: "lugre", want: "break-away friction 1.5 N·m to the Coulomb friction"},
		{to: BAM, law: "lugre", p: map[string]float64{"offset": 0.3}, want: "constant torque of 0.3 N·m"},
		{to: URDF, law: "static-coulomb-viscous", p: map[string]float64{"delta": 2}, want: "to the power of 2"},
		{to: URDF, law: "viscous", p: map[string]float64{"delta": 2}, err: "linear friction only"},
		{to: BAM, law: "linear-surrogate", err: "root of the speed"},
		{to: MJCF, law: "state-variable", err: "logarithm"},
		{to: MJCF, law: "coulomb", p: map[string]float64{"Fc-": 2}, want: "depends on the direction"},
		{to: C, law: "coulomb", p: map[string]float64{"Fc-": 2}},
		{to: Modelica, law: "coulomb", p: map[string]float64{"Fc-": 2}, want: "depends on the direction"},
		{to: Modelica, law: "lugre", p: map[string]float64{"Fc-": 2}},
		{to: C, law: "coulomb", p: map[string]float64{"mu": 0.2, "N0": 10}, want: "mu = 0.2"},
	} {
		lost, err := Write(&bytes.Buffer{}, string(c.to), model(t, c.law, c.p))
		all := strings.Join(lost, "\n")
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s to %s: error %v, want %q", c.law, c.to, err, c.err)
			}
		case err != nil:
			t.Errorf("%s to %s: %v", c.law, c.to, err)
		case c.want == "" && all != "" || !strings.Contains(all, c.want):
			t.Errorf("%s to %s: lost %q, want %q", c.law, c.to, all, c.want)
		}
	}
	if _, err := Write(&bytes.Buffer{}, "c", model(t, "viscous", map[string]float64{"Fv": 1e-40})); err == nil ||
		err.Error() != "the number 1e-40 does not fit into a float of C" {
		t.Error("a number that a float does not hold:", err)
	}
	if _, err := Write(&bytes.Buffer{}, "sdf", model(t, "coulomb", nil)); err == nil || !strings.Contains(err.Error(), "mjcf") {
		t.Error("an unknown target:", err)
	}
}

// A target with one number for both directions gets the mean.
func TestMeanOfDirections(t *testing.T) {
	m := model(t, "static-coulomb-viscous", map[string]float64{"Fc": 1, "Fs": 1, "Fv": 0.2, "Fc-": 2, "Fs-": 2, "Fv-": 0.6})
	for to, want := range map[Target]string{URDF: `damping="0.4" friction="1.5"`, MJCF: `damping="0.4" frictionloss="1.5"`,
		BAM: `"friction_base": 1.5`} {
		text, lost := written(t, to, m)
		if !strings.Contains(text, want) || !strings.Contains(strings.Join(lost, "\n"), "forward Fc 1, Fs 1 N·m, Fv 0.2") {
			t.Errorf("%s: want %s; lost %q\n%s", to, want, lost, text)
		}
	}
}
