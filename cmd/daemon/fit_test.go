package daemon

import (
	"maps"
	"strings"
	"testing"

	"hilrig/configs"
	"hilrig/engine/friction"
	"hilrig/hil"
	"hilrig/hil/axis"
	"hilrig/identify"
)

// What a result may replace: the same kind of axis, not more than three times apart from what is in force, either way.
func TestHandover(t *testing.T) {
	a := &configs.Demo().Axes[0]
	inForce := axis.SetOf(a.Friction.Model)
	contact := func(edit func(c *identify.Contact)) *identify.Contact {
		c := &identify.Contact{Rotary: true, Law: "lugre", Params: maps.Clone(inForce.Params), Inertia: 7e-5}
		edit(c)
		return c
	}
	scaled := func(by float64) func(c *identify.Contact) {
		return func(c *identify.Contact) {
			for _, name := range []string{"Fc", "Fs"} {
				c.Params[name] *= by
			}
		}
	}
	for _, c := range []struct {
		name string
		in   *axis.Set
		c    *identify.Contact
		err  string
	}{
		{"as it is", inForce, contact(func(*identify.Contact) {}), ""},
		{"an offset, in which the zero of the current sensor is", inForce, contact(func(c *identify.Contact) { c.Params["offset"] = 4e-4 }), ""},
		{"2.9 times the friction", inForce, contact(scaled(2.9)), ""},
		{"3.1 times the friction", inForce, contact(scaled(3.1)), "Coulomb friction would be 0.0465 in place of 0.015"},
		{"a third and a bit", inForce, contact(scaled(0.34)), ""},
		{"less than a third", inForce, contact(scaled(0.32)), "Coulomb friction"},
		{"break-away alone", inForce, contact(func(c *identify.Contact) { c.Params["Fs"] *= 3.1 }), "break-away friction"},
		{"2.9 times the inertia", inForce, contact(func(c *identify.Contact) { c.Inertia *= 2.9 }), ""},
		{"3.1 times the inertia", inForce, contact(func(c *identify.Contact) { c.Inertia *= 3.1 }), "the inertia"},
		{"a third of the inertia less", inForce, contact(func(c *identify.Contact) { c.Inertia /= 3.1 }), "the inertia"},
		{"inertia against an accepted one", &axis.Set{Law: inForce.Law, Params: inForce.Params, Motor: map[string]float64{"J": 2e-4}},
			contact(func(c *identify.Contact) { c.Inertia = 5e-4 }), ""},
		{"no inertia", inForce, contact(func(c *identify.Contact) { c.Inertia = 0 }), ""},
		{"a linear axis", inForce, contact(func(c *identify.Contact) { c.Rotary = false }), "linear axis"},
		{"an axis without a law", nil, contact(func(*identify.Contact) {}), "no friction law"},
		{"numbers of no law", inForce, contact(func(c *identify.Contact) { c.Params["Fc"] = -1 }), "Fc"},
	} {
		set, err := handover(a, c.in, c.c)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
			continue
		}
		if err != nil {
			continue
		}
		if law, err := friction.Build(set.Law, set.Params); err != nil || !maps.Equal(friction.Values(law), c.c.Params) ||
			set.Motor["J"] != c.c.Inertia {
			t.Errorf("%s: %+v %v", c.name, set, err)
		}
		if set.Params["offset"] != 0 {
			t.Errorf("%s: a voltage drive got the zero of its current sensor as an offset: %+v", c.name, set)
		}
		if c.in.Motor != nil && c.in.Motor["J"] != 2e-4 {
			t.Errorf("%s: the model in force was changed", c.name)
		}
	}
}

// What may be asked for.
func TestPlanOfAFit(t *testing.T) {
	f := &fitter{d: &services{cfg: configs.Demo()}}
	for _, c := range []struct {
		name string
		o    hil.Identify
		want string // way: methods, law
		err  string
	}{
		{"nothing said", hil.Identify{}, "lugre: lugre, kalman lugre", ""},
		{"a way", hil.Identify{Axis: "shaft", Procedure: "aep", Law: "gms", Window: 10, Interval: 30}, "aep: aep, lm gms", ""},
		{"methods", hil.Identify{Methods: []string{"regress", "lm"}}, "regress, lm: regress, lm ", ""},
		{"a way and methods", hil.Identify{Procedure: "aep", Methods: []string{"lm"}}, "", "not both"},
		{"no such method", hil.Identify{Methods: []string{"ml"}}, "", `"lm"`},
		{"no such way", hil.Identify{Procedure: "ls"}, "", "least-squares"},
		{"no such law", hil.Identify{Procedure: "aep", Law: "lugree"}, "", "lugre"},
		{"a law that the way does not find", hil.Identify{Procedure: "least-squares", Law: "lugre"}, "", "does not find"},
		{"by direction", hil.Identify{Procedure: "aep", Law: "lugre", Sided: true}, "aep: aep, lm lugre", ""},
		{"by direction, which the way cannot", hil.Identify{Procedure: "lugre", Sided: true}, "", "same in both directions"},
		{"no such axis", hil.Identify{Axis: "wrist"}, "", "shaft"},
		{"too short", hil.Identify{Window: 1.9}, "", "2 to 600"},
		{"too long", hil.Identify{Window: 601}, "", "2 to 600"},
		{"before its time", hil.Identify{Interval: -1}, "", "every_s"},
	} {
		j, err := f.plan(c.o)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
		if err == nil && j.methodName+": "+j.methods.String()+" "+j.law != c.want {
			t.Errorf("%s: %s: %s %s, want %s", c.name, j.methodName, j.methods, j.law, c.want)
		}
	}
}
