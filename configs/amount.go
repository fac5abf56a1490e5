package configs

import (
	"hilrig/configs/schema"
)

// Amount is a number with or without a unit, whose dimension depends on what another key names. It is kept as it was written; "":
// none.
type Amount string

// DecodeNode takes a number, or one with a unit.
func (a *Amount) DecodeNode(w *schema.Walker, path string, e schema.Entry, _ schema.Field) {
	text, ok := w.Scalar(path, "a number with its unit", e.Place(), e.Value)
	if !ok || text == "" {
		return // "": none, as it is written for one
	}
	if _, _, err := schema.SplitNumber(text); err != nil {
		w.ErrorAt(path, e.Place(), "", "%s: %v", path, err)
		return
	}
	*a = Amount(text)
}

// EmitNode writes what DecodeNode reads, behind the key.
func (a *Amount) EmitNode(e *schema.Emitter, _ int) {
	e.WriteString(" " + schema.QuoteYAML(string(*a)) + "\n")
}

// Shape describes it to editors.
func (*Amount) Shape() *schema.Object {
	return schema.AnyOf(schema.Typed("number"), schema.Typed("string"))
}

// inUnit is the number in a unit; 0 where there is none.
func (a Amount) inUnit(unit string) (float64, error) {
	if a == "" {
		return 0, nil
	}
	return schema.ParseValue(string(a), unit)
}

// difference is the number as a difference of two in a unit: 0.5 degC is half a kelvin.
func (a Amount) difference(unit string) (float64, error) {
	if unit == "degC" {
		unit = "K"
	}
	x, err := a.inUnit(unit)
	if num, own, _ := schema.SplitNumber(string(a)); err == nil && own != "" {
		if u, err := schema.ParseUnit(own); err == nil && u.Offset != 0 {
			return u.Parse(num, true), nil
		}
	}
	return x, err
}
