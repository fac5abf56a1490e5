package configs

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"hilrig/configs/schema"
	"hilrig/engine/friction"
	"hilrig/estimator"
	"hilrig/hil/axis"
)

// Friction is the friction of an axis, or of the plant of a virtual rig, by any law of the registry: {law: gms, sigma0: …}. Its units
// are those of the axis. Without a law it is not there. Every number of it is the file's: published sets are of no rig.
type Friction struct{ Law }

// DecodeNode reads the law.
func (f *Friction) DecodeNode(w *schema.Walker, path string, e schema.Entry, _ schema.Field) {
	if e.Value.Type() == ast.NullType {
		return
	}
	if l, ok := decodeLaw(w, path, e, ofARig); ok {
		f.Law = l
	}
}

// EmitNode writes what DecodeNode reads, behind the key.
func (f *Friction) EmitNode(e *schema.Emitter, indent int) {
	if f.Model == nil {
		e.WriteString("\n")
		return
	}
	e.WriteByte('\n')
	emitLaw(e, &f.Law, e.UnitOf, indent+2)
}

// emitLaw writes the keys of a law, with units as comments.
func emitLaw(e *schema.Emitter, l *Law, unit func(tag string) string, indent int) {
	pad := strings.Repeat(" ", indent)
	e.WriteString(pad + "law: " + l.Name + "\n")
	if l.Label != l.Name {
		e.WriteString(pad + "label: " + schema.QuoteYAML(l.Label) + "\n")
	}
	section := ""
	for _, p := range l.Model.Params() {
		name, back := strings.CutSuffix(p.Name, friction.Backward)
		if back && section == "" {
			section = "  "
			e.WriteString(pad + "backward:\n")
		}
		line := pad + section + name + ": " + strconv.FormatFloat(p.Value, 'g', -1, 64)
		if u, _, _ := strings.Cut(unit(p.Unit), "|"); u != "" {
			line += " # " + u
		}
		e.WriteString(line + "\n")
	}
}

// Shape describes the law to editors: its name, and numbers by names that depend on it.
func (f *Friction) Shape() *schema.Object {
	number := schema.AnyOf(schema.Typed("number"), schema.Typed("string"))
	props := new(schema.Object).Set("law", schema.Typed("string").Set("enum", LawNames())).Set("label", schema.Typed("string")).
		Set("defaults", schema.Typed("string").Set("enum", publishedSets()))
	sided := new(schema.Object)
	for _, name := range friction.Sided {
		sided.Set(name, number)
	}
	props.Set("backward", schema.Typed("object").Set("properties", sided).Set("additionalProperties", false))
	section := schema.Typed("object").Set("properties", props).Set("required", []string{"law"}).Set("additionalProperties", number)
	return section
}

// publishedSets are the sets of numbers that stand in for parameters which a file leaves out.
func publishedSets() []string {
	names := []string{"public"}
	for _, i := range friction.Laws() {
		names = append(names, presetNames(i)...)
	}
	return names
}

// check looks at what a law says of itself, and whether it is there where it is needed.
func (f *Friction) check(r *schema.Report, path string, needed bool) {
	switch {
	case r.HasProblem(path) || f.Model == nil && !needed:
	case f.Model == nil:
		r.KeyErrorf(path, "is missing: {law: lugre, sigma0: …}; hil laws lists the laws, hil laws NAME their parameters")
	default:
		if fs, fc := f.param("Fs"), f.param("Fc"); fs < fc { // NaN: no such parameter
			r.KeyErrorf(path+".Fs", "%s %[3]s is less than Fc, %[2]s %[3]s; Fs is the total break-away level, not what is added to Fc",
				schema.Short(fs), schema.Short(fc), r.UnitIn("N"))
			return
		}
		f.checkLoad(r, "a rig has none")
		f.advise(r)
	}
}

// checkPlant wants a law that a mass moves under.
func (l *Law) checkPlant(r *schema.Report) {
	_, stick := l.Model.(*friction.TwoSidedStick)
	r.ErrorIf(stick, l.path+".backward", "%s has a stick mode, and moves a mass with one set of parameters for both directions; give the "+
		"plant a law of its own, or one set", l.Name)
}

// StribeckSpeed is the speed (rad/s or m/s) over which the friction falls from break-away; 0: the law knows none.
func (f *Friction) StribeckSpeed() float64 {
	for _, name := range []string{"vs", "v0"} {
		if v := f.param(name); v > 0 && f.Name != "state-variable" { // there it is a reference
			return v
		}
	}
	return 0
}

// viscosity is the damping of the law, its viscous part at 1 rad/s or 1 m/s; 0 without a law.
func (f *Friction) viscosity() float64 {
	if f.Model == nil {
		return 0
	}
	return f.Model.Viscous(1)
}

// sliding is the largest friction of sliding at a speed that is fast for the law, without its offset; 0 without a law.
func (f *Friction) sliding(speed float64) float64 {
	if f.Model == nil {
		return 0
	}
	return f.Model.Levels().Sliding.Max() + f.Model.Viscous(speed)
}

// needsLaw tells whether an axis must have a friction law: its drive has to overcome it.
func (a *Axis) needsLaw() bool { return a.Drive.Kind.Forces() }

// less is the law with its levels lower by d, for what another part of the plant contributes; false: the law does not know its levels
// by name, or would have none left.
func (f *Friction) less(d float64) (Friction, bool) {
	model := friction.Clone(f.Model)
	var theta []float64
	known := false
	for _, p := range model.Params() {
		if name := strings.TrimSuffix(p.Name, friction.Backward); slices.Contains([]string{"Fc", "Fs", "Fs_inf", "Fb"}, name) {
			p.Value, known = p.Value-d, true
		}
		theta = append(theta, p.Value)
	}
	if !known || model.SetParams(theta) != nil {
		return Friction{}, false
	}
	out := *f
	out.Model = model
	return out, true
}

// checkCompensated looks at whether the compensation works with the law.
func (f *Friction) checkCompensated(r *schema.Report, path string, k *axis.CompSpec) {
	at := path + ".kind"
	if k.Kind == axis.CompObserver || k.Kind == axis.CompGain {
		if err := estimator.Yields(f.Model); err != nil {
			r.KeyErrorf(at, "%s: %v", k.Kind, err)
			return
		}
	}
	if _, lugre := f.Model.(*friction.LuGre); !lugre {
		switch {
		case k.Kind == axis.CompLuGre:
			r.KeyErrorf(at, "%s learns three parameters of lugre, and the law is %s%s; want adaptive-gain", k.Kind, f.Name, byDirection(f.Model))
		case k.Kind == axis.CompObserver && k.Gain > 0:
			r.KeyErrorf(path+".gain", "%s 1/s corrects the bristle of lugre, and the law is %s%s; want 0", schema.Short(k.Gain), f.Name,
				byDirection(f.Model))
		}
	}
}

// byDirection says of a law that it has two sets of parameters.
func byDirection(m friction.Model) string {
	if _, sided := m.(*friction.TwoSided); sided {
		return " with numbers of its own backward"
	}
	return ""
}
