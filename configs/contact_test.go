package configs

import (
	"encoding/json"
	"strings"
	"testing"

	"hilrig/configs/schema"
	"hilrig/engine/friction"
)

// demoWith is the demonstration with another law behind the virtual rig.
func demoWith(t *testing.T, law string) []byte {
	t.Helper()
	text := string(DemoYAML())
	if !strings.Contains(text, "\nvirtual:\n") {
		t.Fatal("the demonstration has no virtual section")
	}
	return []byte(strings.Replace(text, "\nvirtual:\n", "\nvirtual:\n  contact: "+law+"\n", 1))
}

const gms = "{law: gms, sigma0: 11 N·m/rad, ratio: 2, elements: 6, C: 1 N·m/s, sigma2: 0.15 mN·m·s/rad, Fc: 15 mN·m, Fs: 21 mN·m, vs: 0.5 rad/s}"

// Any law stands behind the virtual rig, in N·m and rad; what Marshal writes is the same law again.
func TestContact(t *testing.T) {
	c, err := LoadBytes("rig.yaml", demoWith(t, gms))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if c.Virtual.Contact == nil {
			t.Fatal("the law was not taken")
		}
		law, ok := c.Virtual.Contact.Model.(*friction.GMS)
		if !ok || law.Sigma0 != 11 || law.Fs != 0.021 || law.Elements != 6 {
			t.Fatalf("law %T %+v", c.Virtual.Contact.Model, c.Virtual.Contact.Model)
		}
		text, err := c.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if c, err = LoadBytes("again.yaml", text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	if c, err = LoadBytes("rig.yaml", demoWith(t, strings.Replace(gms, "}", ", backward: {Fc: 12 mN·m, sigma2: 0.2 mN·m·s/rad}}", 1))); err != nil {
		t.Fatal(err)
	}
	for range 2 { // levels of their own for backward motion
		law, ok := c.Virtual.Contact.Model.(*friction.TwoSided)
		if !ok {
			t.Fatalf("law %T", c.Virtual.Contact.Model)
		}
		fore, back := law.Sides()
		f, b := fore.(*friction.GMS), back.(*friction.GMS)
		if f.Fc != 0.015 || b.Fc != 0.012 || f.Sigma2 != 0.15e-3 || b.Sigma2 != 0.2e-3 || b.Fs != 0.021 || b.Sigma0 != 11 {
			t.Fatalf("forward %+v, backward %+v", f, b)
		}
		text, err := c.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if c, err = LoadBytes("again.yaml", text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	for _, bad := range []struct{ law, want string }{
		{strings.Replace(gms, "}", ", backward: {sigma0: 12}}", 1), `unknown key "sigma0" under virtual.contact.backward`},
		{strings.Replace(gms, "}", ", backward: {Fc: 12 N}}", 1), "want N·m"},
		{strings.Replace(gms, "}", ", backward: {Fc: 30 mN·m}}", 1), "want at least Fc"},
		{strings.Replace(gms, "}", ", backward: {Fc: -1}}", 1), "backward.Fc: -1 N·m, want > 0"},
		{strings.Replace(gms, "}", ", backward: 12 mN·m}", 1), "want levels and viscosity for backward motion"},
		{"{law: karnopp, Fc: 1, Fs: 2, Fv: 0, backward: {Fc: 2}}", "stick mode"},
		{"{law: bouc-wen, K: 1, beta: 1, gamma: 1, n: 1, backward: {Fc: 2}}", "has none of"},
		{"{law: gsm}", `did you mean "gms"?`},
		{strings.Replace(gms, "N·m/rad", "N/m", 1), "want N·m/rad"},
		{strings.Replace(gms, "Fc: 15 mN·m, ", "", 1), "lacks Fc"},
		{strings.Replace(gms, "Fs:", "Fss:", 1), `did you mean "Fs"?`},
		{"{law: gms, defaults: public}", "linear axis"},
		{"{law: coulomb, Fc: 0 N·m, mu: 0.2}", "needs the normal load, but a rig has none"},
	} {
		if _, err := LoadBytes("rig.yaml", demoWith(t, bad.law)); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v, want %q", bad.law, err, bad.want)
		}
	}
}

// Editors learn from the schema which laws there are.
func TestContactSchema(t *testing.T) {
	text, err := schema.JSON("x", Demo())
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties struct {
			Virtual struct {
				Properties struct {
					Contact struct {
						Properties struct{ Law struct{ Enum []string } }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &s); err != nil || len(s.Properties.Virtual.Properties.Contact.Properties.Law.Enum) != len(friction.Laws()) {
		t.Errorf("%v, laws %v", err, s.Properties.Virtual.Properties.Contact.Properties.Law.Enum)
	}
}
