package brush

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"hilrig/engine/contact"
)

// Every number and switch of Params is in the table once, and the defaults are accepted.
func TestTableCoversEveryParameter(t *testing.T) {
	p := DefaultParams()
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	seen := map[any]string{}
	keys := map[string]bool{}
	for _, f := range p.Table() {
		var ptr any = f.Ptr
		if f.Flag != nil {
			ptr = f.Flag
			if f.Ptr != nil {
				t.Errorf("%s is both a number and a switch", f.Key)
			}
		}
		if keys[f.Key] || seen[ptr] != "" {
			t.Errorf("%s: twice (%s)", f.Key, seen[ptr])
		}
		keys[f.Key], seen[ptr] = true, f.Key
		if f.Doc == "" || f.Lo > f.Hi {
			t.Errorf("%s: no doc or an empty range", f.Key)
		}
	}
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		if v.Kind() == reflect.Struct {
			for i := range v.NumField() {
				walk(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
			return
		}
		if v.Type() == reflect.TypeFor[*contact.Profile]() || v.Type() == reflect.TypeFor[*Curve]() {
			return // measured, from files
		}
		if v.Kind() == reflect.Array {
			for i := range v.Len() {
				walk(v.Index(i), path)
			}
			return
		}
		if seen[v.Addr().Interface()] == "" {
			t.Errorf("%s is not in the table", path)
		}
	}
	walk(reflect.ValueOf(&p).Elem(), "Params")
}

// Derived quantities of the default brush, worked out by hand.
func TestDerivedValues(t *testing.T) {
	p := DefaultParams()
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"mass (kg)", p.Mass(), 3.54816e-3},                    // 1600·6.3e-3·11e-3·0.032
		{"body resistance (Ω)", p.BodyResistance(), 0.0138528}, // 3e-5·0.032/(6.3e-3·11e-3)
		{"engagement (m)", p.Engagement(), 0.020},
	} {
		if math.Abs(c.got-c.want) > 1e-5*c.want {
			t.Errorf("%s: %g, want %g", c.name, c.got, c.want)
		}
	}
	p.Brush.Length = 0.012
	if g := p.Engagement(); math.Abs(g-0.010) > 1e-12 {
		t.Errorf("engagement of a worn brush %g m, want 0.010", g)
	}
	p.Segment.Factor, p.Material.StiffnessTemperature, p.Material.Temperature = 2, -1e-3, 403
	if a, s := p.Stiffness(); math.Abs(a-1.9e6) > 1 || math.Abs(s-0.35*1.9e6) > 1 {
		t.Errorf("stiffness %g and %g N/m, want 1.9e6 and 6.65e5", a, s)
	}
}

func TestParametersThatDoNotFitAreRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*Params)
		want []string
	}{
		{"negative clearance", func(p *Params) { p.Holder.Clearance = -1e-4 }, []string{"holder.clearance: -0.0001 m"}},
		{"not a number", func(p *Params) { p.Brush.Density = math.NaN() }, []string{"brush.density: NaN"}},
		{"two at once", func(p *Params) { p.Contact.Face.Mu, p.Spring.Arm = -1, 0 }, []string{"contact.face.mu: -1", "spring.arm: 0 m"}},
		{"half a bar", func(p *Params) { p.Commutator.Bars = 22.5 }, []string{"commutator.bars: 22.5, want a whole number"}},
		{"too short for the holder", func(p *Params) { p.Brush.Length = 4e-3 }, []string{"brush.length: 0.004 m", "falls out"}},
		{"far too loose", func(p *Params) { p.Holder.Clearance = 3e-3 }, []string{"holder.clearance", "fall out"}},
		{"holder on a segment", func(p *Params) { p.Holder.CommutatorGap = 5e-4 }, []string{"holder.commutator_gap", "main body"}},
		{"bars of slots only", func(p *Params) { p.Commutator.SlotWidth = 4e-3 }, []string{"commutator.slot_width"}},
		{"vertices too far apart", func(p *Params) { p.Commutator.Spacing = 1e-4 }, []string{"commutator.spacing"}},
	} {
		p := DefaultParams()
		c.set(&p)
		err := p.Validate()
		if err == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", c.name, err, w)
			}
		}
	}
}
