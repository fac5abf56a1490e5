package configs

import (
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"hilrig/configs/schema"
	"hilrig/engine/reference"
)

// Signal is a function of time: a plain number, constant for ever, or a generator of engine/reference. Its unit is the one
// of the field that holds it; # in the tags stands for it.
type Signal struct {
	Kind      string     `yaml:"kind" enum:"constant,step,ramp,trapezoid,sine,multisine,chirp,file,levels" doc:"form of the signal"`
	Offset    float64    `yaml:"offset" unit:"#" doc:"added to every kind; the value of a constant"`
	Amplitude float64    `yaml:"amplitude" unit:"#" doc:"step, sine, chirp: amplitude; trapezoid: travel"`
	Frequency float64    `yaml:"frequency" unit:"Hz" want:">=0" doc:"sine; first frequency of a chirp; repetition of step and trapezoid (0: once)"`
	FreqEnd   float64    `yaml:"frequency_end" unit:"Hz" want:">=0" doc:"chirp: last frequency"`
	Sweep     float64    `yaml:"sweep" unit:"s" want:">=0" doc:"chirp: duration of one sweep"`
	Velocity  float64    `yaml:"velocity" unit:"#/s" doc:"ramp, trapezoid: change per second; rate is the same key for a signal that is no position"`
	Rate      float64    `yaml:"rate" unit:"#/s" doc:"ramp, trapezoid: change per second"`
	Accel     float64    `yaml:"acceleration" unit:"#/s²" want:">=0" doc:"trapezoid: change of the rate per second"`
	Tones     []SimTone  `yaml:"tones,omitempty" doc:"multisine: a sum of sines"`
	File      string     `yaml:"file,omitempty" doc:"CSV with columns time_s and position_m or position_rad; relative to this file"`
	Levels    []SimLevel `yaml:"levels,omitempty" doc:"levels: values that are held one after the other"`
	Rise      float64    `yaml:"rise" unit:"s" want:">=0" doc:"levels: time of every change, at the beginning of a hold; 0: jumps"`
	Loop      bool       `yaml:"loop,omitempty" doc:"file, levels: start again at the end"`
	Fade      float64    `yaml:"fade" unit:"s" want:">=0" doc:"smooth start from the initial position, or from zero"`

	gen reference.Generator
}

// SimTone is one sine of a multisine: amplitude·sin(2π·frequency·t + phase).
type SimTone struct {
	Amplitude float64 `yaml:"amplitude" unit:"#" doc:"peak"`
	Frequency float64 `yaml:"frequency" unit:"Hz" want:">0" doc:"of this sine"`
	Phase     float64 `yaml:"phase" unit:"rad" doc:"at the start"`
}

// SimLevel is a value that is held for a time.
type SimLevel struct {
	Value float64 `yaml:"value" unit:"#" doc:"what is held"`
	Hold  float64 `yaml:"hold" unit:"s" want:">=0" doc:"for how long"`
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
	quantity := w.UnitIn(f.Unit)
	outer := w.Units()
	defer w.WithUnits(func(tag string) string {
		switch tag {
		case "#":
			return quantity
		case "#/s":
			return perSecond(quantity)
		case "#/s²":
			return perSecond(perSecond(quantity))
		case "rad": // the phase of a tone, also on a linear axis
			return tag
		}
		return outer(tag)
	})()
	v := reflect.ValueOf(s).Elem()
	if m := w.Mapping(e.Value); m != nil {
		w.Structure(path, m, v)
		return
	}
	text, _, ok := schema.Text(e.Value)
	if !ok || e.Value.Type() == ast.NullType {
		w.ErrorAt(path, e.Place(), "", "%s: want a number or a generator such as {kind: sine, …}, got %s", path, schema.KindName(e.Value))
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
	return new(schema.Object).Set("anyOf", []any{schema.Typed("number"), schema.Typed("string"), section})
}

// perSecond is the unit of a rate of change.
func perSecond(unit string) string {
	if u, ok := strings.CutSuffix(unit, "/s"); ok {
		return u + "/s²"
	}
	if u, ok := strings.CutSuffix(unit, "/s²"); ok {
		return u + "/s³"
	}
	return unit + "/s"
}

// used lists the keys that matter for a kind.
var used = map[string][]string{
	"constant":  {},
	"step":      {"amplitude", "frequency"},
	"ramp":      {"velocity", "rate"},
	"trapezoid": {"amplitude", "frequency", "velocity", "rate", "acceleration"},
	"sine":      {"amplitude", "frequency"},
	"multisine": {"tones"},
	"chirp":     {"amplitude", "frequency", "frequency_end", "sweep"},
	"file":      {"file", "loop"},
	"levels":    {"levels", "rise", "loop"},
}

// check builds the generator. from is where a fade starts.
func (s *Signal) check(r *schema.Report, path, unit string, from float64) {
	if r.Bad(path) {
		return
	}
	if s.Kind == "" {
		r.Errorf(path, "%s.kind is missing: %s", path, strings.Join(reference.Kinds, ", "))
		return
	}
	position := unit == "m" || unit == "rad"
	if s.Kind == "file" && !position {
		r.Errorf(path+".kind", "%s.kind: a file holds positions; here the signal is in %s", path, unit)
		return
	}
	if r.Given(path+".velocity") && r.Given(path+".rate") {
		r.Errorf(path+".rate", "%s.rate: velocity says it already; leave one of them out", path)
		return
	}
	for _, f := range schema.FieldsOf(reflect.TypeFor[Signal]()) {
		free := f.Key == "kind" || f.Key == "offset" || f.Key == "fade"
		if r.Given(path+"."+f.Key) && !free && !slices.Contains(used[s.Kind], f.Key) {
			r.Warnf(path+"."+f.Key, "%s.%s: not used by kind %s", path, f.Key, s.Kind)
		}
	}
	spec := reference.Spec{
		Kind: s.Kind, Offset: s.Offset, Amplitude: s.Amplitude, Frequency: s.Frequency, FreqEnd: s.FreqEnd, Sweep: s.Sweep,
		Velocity: s.Velocity + s.Rate, Accel: s.Accel, File: s.File, Loop: s.Loop, Fade: s.Fade, Rise: s.Rise,
	}
	if position {
		spec.From = from
	}
	for _, t := range s.Tones {
		spec.Tones = append(spec.Tones, reference.Tone{Amplitude: t.Amplitude, Frequency: t.Frequency, Phase: t.Phase})
	}
	for _, l := range s.Levels {
		spec.Levels = append(spec.Levels, reference.Level{Value: l.Value, Hold: l.Hold})
	}
	g, err := reference.New(spec)
	if err == nil {
		s.gen = g
		return
	}
	// the generator speaks of rotary references
	words := strings.NewReplacer("rad/s²", perSecond(perSecond(unit)), "rad/s", perSecond(unit))
	for _, e := range each(err) {
		text := strings.TrimPrefix(e.Error(), "reference.")
		key, _, _ := strings.Cut(text, ":")
		if key == "velocity" && (s.Rate != 0 || !position) {
			key, text = "rate", strings.Replace(text, "velocity", "rate", 1)
		}
		r.Errorf(path+"."+key, "%s.%s", path, words.Replace(text))
	}
}
