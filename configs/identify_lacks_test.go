package configs

import (
	"strings"
	"testing"
)

// A parameter that the simulated model has not is refused with what it needs, and one that a regression of the same file has is not.
func TestParametersThatTheModelLacks(t *testing.T) {
	const file = `version: 1
axis: rotary
data: {file: a.csv, columns: {time: {name: t, unit: s}, position: {name: x, unit: rad}, force: {name: u, unit: N·m}}}
method: [METHOD]
terms: [inertia, viscous, coulomb, gravity-sin]
model: {law: coulomb, terms: [TERMS], drive: DRIVE}
parameters: {PARAM}
`
	for _, c := range []struct{ method, terms, drive, param, want string }{
		{"lm", "viscous", "force", "mgs: 1", "add gravity-sin to model.terms"},
		{"lm", "viscous, gravity-sin", "force", "mgs: 1", ""},
		{"lm", "viscous", "force", "k: 1", "add stiffness to model.terms"},
		{"lm", "viscous", "force", "kd: 1", "drive: spring"},
		{"lm", "viscous", "force", "offset: 0", ""},
		{"lm", "viscous", "force", "J: {start: 1, error: 0.1}", ""},
		{"lm", "viscous", "force", "J: {start: 1, error: 0.1, max: 2}", "searched between bounds"},
		{"lm", "viscous", "force", "J: {start: 1, error: 0.1, assumed: true}", "leave one of them out"},
		{"lm", "viscous", "force", "Fc: {assumed: true}", "fixed, but at what"},
		{"lm", "viscous", "force", "J: {start: 1, prior: 0.1, max: 2}", ""},
		{"lm", "viscous", "force", "J: {start: 1, prior: 0.1, fixed: true}", "give error in place of prior"},
		{"lm", "viscous", "force", "J: {prior: 0.1}", "of what value"},
		{"lm", "viscous", "force", "J: {start: 1, prior: 0}", "prior"},
	} {
		text := strings.NewReplacer("METHOD", c.method, "TERMS", c.terms, "DRIVE", c.drive, "PARAM", c.param).Replace(file)
		if c.method == "lm" {
			text = strings.Replace(text, "terms: [inertia, viscous, coulomb, gravity-sin]\n", "", 1)
		}
		_, err := ReadIdentify("a.yaml", []byte(text))
		said := ""
		if err != nil {
			said = err.Error()
		}
		if c.want == "" && strings.Contains(said, "parameters.") || c.want != "" && !strings.Contains(said, c.want) {
			t.Errorf("%s with %s: %q, want %q", c.param, c.terms, said, c.want)
		}
	}
}
