package configs

import (
	"reflect"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/reference"
)

// Signal is a function of time: a plain number, constant for ever, or a generator of engine/reference. Its unit is the one
// of the field that holds it; # in the tags stands for it.
type Signal struct {
	reference.Spec
	Rate float64 `yaml:"rate" unit:"#/s" doc:"ramp, trapezoid: velocity by another name, for a signal that is no position"`

	gen reference.Generator
}

// Generator is the signal as a function of time, after a check that found nothing wrong.
func (s *Signal) Generator() reference.Generator {
	if s == nil {
		return nil
	}
	return s.gen
}

// DecodeNode takes a number for a constant.
func (s *Signal) DecodeNode(w *schema.Walker, path string, e schema.Entry, f schema.Field) {
	defer w.WithQuantity(f.Unit)()
	v := reflect.ValueOf(s).Elem()
	if m := w.Mapping(e.Value); m != nil {
		w.Structure(path, m, v)
		return
	}
	text, ok := w.Scalar(path, "a number or a generator such as {kind: sine, …}", e.Place(), e.Value)
	if !ok {
		return
	}
	if x, ok := w.Number(path, e.Place(), text, f, v); ok {
		s.Kind, s.Offset = "constant", x
	}
}

// generator is a Signal without its methods, for the schema.
type generator Signal

// Shape describes a signal to editors: a number, or a generator.
func (s *Signal) Shape() *schema.Object {
	section := schema.SchemaOf(reflect.TypeFor[generator](), reflect.ValueOf(generator{}), schema.Field{})
	return schema.AnyOf(schema.Typed("number"), schema.Typed("string"), section)
}

// check builds the generator. from is where a fade starts.
func (s *Signal) check(r *schema.Report, path, unit string, from float64) {
	if r.HasProblem(path) {
		return
	}
	position := unit == "m" || unit == "rad"
	if s.Kind == "file" && !position {
		r.KeyErrorf(path+".kind", "a file holds positions; here the signal is in %s", unit)
		return
	}
	if r.HasKey(path+".velocity") && r.HasKey(path+".rate") {
		r.KeyErrorf(path+".rate", "velocity says it already; leave one of them out")
		return
	}
	spec := s.Spec
	if spec.Velocity += s.Rate; position {
		spec.StartPos = from
	}
	s.gen = checkMotion(r, path, spec, unit)
}

// checkMotion reports what a generator lacks, what it does not use and what makes no sense, and builds it; nil: something is wrong.
// unit is that of its values.
func checkMotion(r *schema.Report, path string, s reference.Spec, unit string) reference.Generator {
	shape, ok := reference.Find(s.Kind)
	if !ok {
		if !r.HasProblem(path + ".kind") {
			r.Errorf(path, "%s.kind is missing: %s", path, strings.Join(s.Kind.Words(), ", "))
		}
		return nil
	}
	v := reflect.ValueOf(s)
	for _, f := range schema.FieldsOf(v.Type()) {
		at, zero := path+"."+f.Key, v.FieldByIndex(f.Index).IsZero()
		if f.Key == "velocity" && unit != "m" && unit != "rad" && !r.HasKey(at) {
			at = path + ".rate"
		}
		i := slices.IndexFunc(shape.Needs, func(n reference.Need) bool { return n.Key == f.Key })
		switch {
		case i >= 0 && zero && !r.HasKey(at) && !r.HasProblem(at):
			r.KeyErrorf(at, "is missing: kind %s needs %s", s.Kind, shape.Needs[i].What)
		case !zero && r.HasKey(at) && !shape.Uses(f.Key):
			r.KeyWarnf(at, "not used by kind %s", s.Kind)
		}
	}
	if r.HasProblem(path) {
		return nil
	}
	g, err := reference.New(s)
	if err == nil {
		return g
	}
	// the generator speaks of an axis that turns
	words := strings.NewReplacer("rad/s²", schema.PerSecond(schema.PerSecond(unit)), "rad/s", schema.PerSecond(unit))
	for _, p := range engine.Problems(err) {
		if p.Path == "velocity" && !r.HasKey(path+".velocity") && r.HasKey(path+".rate") {
			p.Path = "rate"
		}
		p.Text = words.Replace(p.Text)
		r.SectionError(path, p.Path, p.Text)
	}
	return nil
}
