package configs

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/spelling"
)

// Laws are the friction laws of a run, in the order of the file. In the file stands a law, or a list of laws; a law is its
// name, or its name with parameters: {law: lugre, sigma0: 1e5 N/m, …}.
type Laws []Law

// Law is a friction law with its parameters.
type Law struct {
	Name   string          // of the law in the registry
	Label  string          // in tables and figures
	Title  string          // for people
	Model  friction.Model  // with the parameters of the file
	Public []string        // parameters that were left out and are those of the public set [theory §8]
	Preset friction.Preset // whose parameters are Set
	Set    []string        // parameters that were left out and are those of the preset
	Zero   []string        // parameters that were left out and are zero

	path string
}

// param is a parameter by name; NaN if the law has none of it.
func (l *Law) param(name string) float64 {
	if l.Model == nil {
		return math.NaN()
	}
	for _, p := range l.Model.Params() {
		if p.Name == name {
			return p.Value
		}
	}
	return math.NaN()
}

// LawNames lists what the key law may say.
func LawNames() []string {
	return listOf(friction.Laws(), func(i friction.Info) string { return i.Name })
}

// PublicLaw is a law with the numbers of the public set, or an error that says which name was probably meant.
func PublicLaw(name string) (Law, error) {
	info, ok := friction.Find(name)
	if !ok {
		return Law{}, fmt.Errorf("there is no friction law %q (%s)", name,
			spelling.Hint(name, LawNames(), "known: "+strings.Join(LawNames(), ", ")))
	}
	l := Law{Name: info.Name, Label: info.Name, Title: info.Title, Model: info.NewLaw(), path: "friction"}
	l.Public = paramNames(l.Model)
	return l, nil
}

// LawChoices are what a flag may say: a law, or a law and a preset with a colon between them.
func LawChoices() []string {
	var names []string
	for _, i := range friction.Laws() {
		names = append(names, i.Name)
		for _, p := range i.Presets {
			names = append(names, i.Name+":"+p.Name)
		}
	}
	return names
}

// ChosenLaw is PublicLaw for one of LawChoices.
func ChosenLaw(choice string) (Law, error) {
	name, preset, with := strings.Cut(choice, ":")
	l, err := PublicLaw(name)
	if err != nil || !with {
		return l, err
	}
	info, _ := friction.Find(name)
	model, set, ok := info.WithPreset(preset)
	if !ok {
		known := presetNames(info)
		if len(known) == 0 {
			return Law{}, fmt.Errorf("the friction law %s has no presets", name)
		}
		return Law{}, fmt.Errorf("the friction law %s has no preset %q%s, known: %s", name, preset, spelling.DidYouMean(preset, known),
			strings.Join(known, ", "))
	}
	l.Model, l.Label = model, choice
	l.use(set)
	return l, nil
}

// use says that the parameters of a preset are not those of the public set.
func (l *Law) use(p friction.Preset) {
	l.Preset = p
	isSet := func(name string) bool { return p.Find(name) >= 0 }
	l.Set = slices.DeleteFunc(slices.Clone(l.Public), func(name string) bool { return !isSet(name) })
	l.Public = slices.DeleteFunc(l.Public, isSet)
}

// presetNames lists the presets of a law.
func presetNames(i friction.Info) []string {
	return listOf(i.Presets, func(p friction.Preset) string { return p.Name })
}

// paramNames lists the parameters of a law.
func paramNames(l friction.Model) []string {
	return listOf(l.Params(), func(p engine.Param) string { return p.Name })
}

// optional tells whether a parameter of the public set may be left out, and is zero then: it is zero there too.
func optional(p engine.Param) bool { return p.Value == 0 }

// DecodeNode takes a law or a list of laws.
func (ls *Laws) DecodeNode(w *schema.Walker, path string, e schema.Entry, _ schema.Field) {
	ls.decode(w, path, e, toSimulate)
}

func (ls *Laws) decode(w *schema.Walker, path string, e schema.Entry, use lawUse) {
	seq, ok := e.Value.(*ast.SequenceNode)
	if !ok {
		if l, ok := decodeLaw(w, path, e, use); ok {
			*ls = Laws{l}
		}
		return
	}
	out := Laws{}
	for p, item := range w.Items(path, e.Key, seq) {
		if item.Value = w.Resolve(p, item.Value, 0); item.Value == nil {
			continue
		}
		if l, ok := decodeLaw(w, p, item, use); ok {
			out = append(out, l)
		}
	}
	*ls = out
}

// Shape describes laws to editors: a law, or a list of them.
func (ls *Laws) Shape() *schema.Object {
	section := (*Friction)(nil).Shape()
	one := []any{schema.Typed("string").Set("enum", LawNames()), section}
	return new(schema.Object).Set("anyOf", append(one, schema.Typed("array").Set("items", new(schema.Object).Set("anyOf", one))))
}

// lawUse is what a law is there for.
type lawUse uint8

const (
	toSimulate lawUse = iota // published numbers may stand in for those that a file leaves out, on a linear axis
	ofARig                   // they may not
)

// decodeLaw reads the name of a law or a section with name and parameters. What is not ok has been reported.
func decodeLaw(w *schema.Walker, path string, e schema.Entry, use lawUse) (l Law, ok bool) {
	m := w.Mapping(e.Value)
	if m == nil {
		name, ok := w.Scalar(path, "the name of a law or {law: …, parameters}", e.Place(), e.Value)
		if !ok {
			return l, false
		}
		return buildLaw(w, path, e.Place(), name, nil, use)
	}
	given := map[string]schema.Entry{}
	var order []string
	for _, k := range w.Entries(path, m, 0) {
		given[k.Key] = k
		order = append(order, k.Key)
		w.Mark(schema.Join(path, k.Key), k.Place())
	}
	name, at := "", e.KeyPlace
	if k, there := given["law"]; there {
		at = k.Place()
		if k.Value.Type() == ast.NullType {
			w.ErrorAt(path+".law", at, "known: "+strings.Join(LawNames(), ", "), "%s.law has no value", path)
			return l, false
		}
		name, _, _ = schema.Text(k.Value)
	} else if s := spelling.Nearest("law", order); s != "" {
		w.ErrorAt(path+".law", given[s].KeyPlace, `did you mean "law"?`, "unknown key %q under %s", s, path)
		return l, false
	} else {
		w.ErrorAt(path+".law", at, "known: "+strings.Join(LawNames(), ", "), "%s.law is missing: the name of the friction law", path)
		return l, false
	}
	params := make([]schema.Entry, 0, len(order))
	for _, k := range order {
		if k != "law" {
			params = append(params, given[k])
		}
	}
	return buildLaw(w, path, at, name, params, use)
}

// buildLaw makes the law name with the given keys; at is where its name stands.
func buildLaw(w *schema.Walker, path string, at schema.Place, name string, given []schema.Entry, use lawUse) (l Law, ok bool) {
	l, err := PublicLaw(name)
	if err != nil {
		w.ErrorAt(path+".law", at, "", "%s: %v", path, err)
		return l, false
	}
	l.path, l.Public = path, nil
	ps := l.Model.Params()
	known := append([]string{"label", "defaults", "backward"}, paramNames(l.Model)...)
	backward := map[int]float64{} // of theta
	set := map[string]bool{}
	info, _ := friction.Find(name)
	var preset friction.Preset
	public, failed, unclear := false, false, false
	theta := make([]float64, len(ps))
	for _, k := range given {
		key := schema.Join(path, k.Key)
		i := slices.IndexFunc(ps, func(p engine.Param) bool { return p.Name == k.Key })
		value := w.Resolve(key, k.Value, 0)
		s, _, isText := "", false, false
		if value != nil {
			s, _, isText = schema.Text(value)
		}
		switch {
		case i < 0 && !slices.Contains(known, k.Key):
			w.Unknown(path, k, known)
			if near := spelling.Nearest(k.Key, known); near != "" {
				set[near] = true // it is reported as the misspelling
			}
			failed = true
		case value == nil:
			set[k.Key], failed = true, true
		case k.Key == "backward":
			failed = !backwardSide(w, key, k, value, name, ps, backward) || failed
		case !isText || value.Type() == ast.NullType:
			w.ErrorAt(key, k.Place(), "", "%s: want %s, got %s", key, map[bool]string{true: "a number", false: "a word"}[i >= 0],
				schema.KindName(value))
			failed = true
		case k.Key == "label":
			l.Label = s
			if s == "" || len([]rune(s)) > 40 || strings.ContainsAny(s, "\n\r\t") {
				w.ErrorAt(key, k.Place(), "", "%s: %s, want 1 to 40 characters on one line", key, schema.Quote(s))
				failed = true
			}
		case k.Key == "defaults":
			model, chosen, ok := info.WithPreset(s)
			if public = ok || s == "public"; !public {
				known := append([]string{"public"}, presetNames(info)...)
				w.ErrorAt(key, k.Place(), spelling.Hint(s, known, ""), "%s: %s is not one of %s", key, schema.Quote(s), strings.Join(known, ", "))
				failed, unclear = true, true // whether anything is missing
			}
			if ok {
				ps, preset = model.Params(), chosen
			}
		default:
			x, good := lawNumber(w, key, k.Place(), s, ps[i])
			theta[i], set[ps[i].Name], failed = x, true, failed || !good
		}
	}

	// what the file leaves out
	own := ""
	switch {
	case use == ofARig:
		own = "published numbers are those of no rig"
	case w.UnitIn("m") == "rad":
		own = "the public set is one of a linear axis in N and m"
	}
	if public && own != "" {
		w.ErrorAt(path+".defaults", w.PlaceOf(path+".defaults"), "", "%s.defaults: %s; give the parameters of this one", path, own)
		return l, false
	}
	public = public || len(set) == 0 && own == ""
	level := slices.ContainsFunc(ps, func(p engine.Param) bool { return p.Name == "mu" && set[p.Name] }) // mu is one
	var missing []string
	for i, p := range ps {
		switch {
		case set[p.Name]:
		case public:
			theta[i] = p.Value
			l.Public = append(l.Public, p.Name)
		case optional(p), p.Name == "Fc" && level:
			l.Zero = append(l.Zero, p.Name)
		default:
			missing = append(missing, fmt.Sprintf("%s (%s, %s)", p.Name, p.Doc, cmp.Or(w.UnitIn(p.Unit), "a pure number")))
		}
	}
	if len(missing) > 0 && !unclear {
		w.ErrorAt(path+".law", at, cmp.Or(own, "defaults: public takes them from the public set"), "%s: %s lacks %s", path, name,
			strings.Join(missing, "; "))
		return l, false
	}
	if failed {
		return l, false
	}
	l.use(preset)
	if err := l.Model.SetParams(theta); err != nil {
		for _, p := range engine.Problems(err) {
			w.ErrorAt(path+".law", at, "", "%s: %s", path, p.Text)
		}
		return l, false
	}
	if len(backward) == 0 {
		return l, true
	}
	back := info.NewLaw()
	var names []string
	for i, x := range backward {
		theta[i] = x
		names = append(names, ps[i].Name)
	}
	err = back.SetParams(theta)
	if err == nil {
		l.Model, err = friction.NewTwoSided(l.Model, back, names...)
	}
	if err != nil {
		for _, p := range engine.Problems(err) {
			w.ErrorAt(path+".backward", w.PlaceOf(path+".backward"), "", "%s.backward: %s", path, strings.TrimPrefix(p.Text, "backward: "))
		}
	}
	return l, err == nil
}

// backwardSide reads the numbers of a law for v < 0 by their place among its parameters. What is not ok has been reported.
func backwardSide(w *schema.Walker, path string, e schema.Entry, value ast.Node, law string, ps []engine.Param,
	to map[int]float64) (ok bool) {
	m := w.Mapping(value)
	if m == nil {
		w.ErrorAt(path, e.Place(), "", "%s: want levels and viscosity for backward motion, {Fc: …}, got %s", path, schema.KindName(value))
		return false
	}
	names := listOf(ps, func(p engine.Param) string { return p.Name })
	known := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(friction.Sided, name) })
	if len(known) == 0 {
		w.ErrorAt(path, e.Place(), "", "%s: %s has none of %s, which alone may depend on the direction", path, law,
			strings.Join(friction.Sided, ", "))
		return false
	}
	ok = true
	for _, k := range w.Entries(path, m, 0) {
		key := schema.Join(path, k.Key)
		w.Mark(key, k.Place())
		if !slices.Contains(known, k.Key) {
			w.Unknown(path, k, known)
			ok = false
			continue
		}
		i := slices.Index(names, k.Key)
		x, good := 0.0, false
		if v := w.Resolve(key, k.Value, 0); v != nil {
			s, _, _ := schema.Text(v)
			x, good = lawNumber(w, key, k.Place(), s, ps[i])
		}
		to[i], ok = x, ok && good
	}
	return ok
}

// lawNumber reads a parameter, which has to be in its range. What is not ok has been reported.
func lawNumber(w *schema.Walker, path string, at schema.Place, s string, p engine.Param) (x float64, ok bool) {
	x, ok = w.Number(path, at, s, schema.UnitField(p.Unit), reflect.Value{})
	return x, ok && inRange(w, path, at, p, x)
}

// inRange reports a parameter outside its range.
func inRange(w *schema.Walker, path string, at schema.Place, p engine.Param, x float64) bool {
	want := schema.Short(p.Lo) + " to " + schema.Short(p.Hi)
	switch {
	case x >= p.Lo && x <= p.Hi:
		return true
	case p.Lo == 0 && x < 0:
		want = "≥ 0"
	case p.Lo > 0 && p.Lo < 1e-9 && x <= 0:
		want = "> 0"
	}
	unit := schema.UnitSuffix(w.UnitIn(p.Unit))
	w.ErrorAt(path, at, "", "%s: %s%s, want %s%s", path, schema.Short(x), unit, want, unit)
	return false
}

// short3 prints a number for people: three digits.
func short3(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }
