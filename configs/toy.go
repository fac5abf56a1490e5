package configs

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/plant/toys"
	"hilrig/engine/spelling"
)

// Toy is a small system of the registry of toys: its kind, and parameters by name.
type Toy struct {
	Kind   string
	Values map[string]float64
}

// toyNames lists what kind may say.
func toyNames() []string { return listOf(toys.Registry, func(t toys.Info) string { return t.Name }) }

// keys is the table of a kind; what is read goes into values.
func toyKeys(info toys.Info, values []float64) schema.KeyTable {
	var t schema.KeyTable
	for i, p := range info.Params() {
		values[i] = p.Value
		t = append(t, schema.TableKey{Key: p.Name, Unit: p.Unit, Doc: p.Doc, Lo: p.Lo, Hi: p.Hi, Ptr: &values[i]})
	}
	return t
}

// DecodeNode reads the section.
func (c *Toy) DecodeNode(w *schema.Walker, path string, e schema.Entry, _ schema.Field) {
	m := w.Mapping(e.Value)
	if m == nil {
		w.ErrorAt(path, e.Place(), "", "%s: want {kind: …, parameters}, got %s", path, schema.KindName(e.Value))
		return
	}
	c.Kind = w.WordAt(m, "kind")
	info, err := toys.Find(c.Kind)
	if err != nil {
		at := e.Place()
		for _, k := range w.Entries(path, m, 0) {
			if k.Key == "kind" {
				at = k.Place()
			}
		}
		w.ErrorAt(path+".kind", at, spelling.Hint(c.Kind, toyNames(), "known: "+strings.Join(toyNames(), ", ")), "%s.kind: there is no toy %q",
			path, c.Kind)
		return
	}
	values := make([]float64, len(info.Params()))
	table := toyKeys(info, values)
	rest := *m
	rest.Values = nil
	for _, kv := range m.Values {
		if name, ok := schema.KeyText(kv.Key); !ok || name != "kind" {
			rest.Values = append(rest.Values, kv)
		}
	}
	table.Decode(w, path, "", schema.Entry{Key: e.Key, KeyPlace: e.KeyPlace, Value: ast.Node(&rest)})
	c.Values = map[string]float64{}
	for _, k := range table {
		c.Values[k.Key] = *k.Ptr
	}
}

// check lets the toy look at its parameters.
func (c *Toy) check(r *schema.Report) {
	if c.Kind == "" || r.HasProblem("toy") {
		return
	}
	info, err := toys.Find(c.Kind)
	if err != nil {
		return // reported where it stands
	}
	if _, err := info.Make(c.Values); err != nil {
		for _, p := range engine.Problems(err) {
			r.KeyErrorf("toy", "%s", p.Text)
		}
	}
}

// EmitNode writes what DecodeNode reads, behind the key.
func (c *Toy) EmitNode(e *schema.Emitter, indent int) {
	fmt.Fprintf(e, "\n%skind: %s\n", strings.Repeat(" ", indent+2), c.Kind)
	info, err := toys.Find(c.Kind)
	if err != nil {
		return
	}
	values := make([]float64, len(info.Params()))
	table := toyKeys(info, values)
	for i, k := range table {
		if v, ok := c.Values[k.Key]; ok {
			values[i] = v
		}
	}
	table.Emit(e, indent)
}

// Shape describes the section to editors: the kind, and numbers by names that depend on it.
func (c *Toy) Shape() *schema.Object {
	number := schema.AnyOf(schema.Typed("number"), schema.Typed("string"), schema.Typed("object"))
	return schema.Typed("object").Set("properties", new(schema.Object).Set("kind",
		schema.Typed("string").Set("enum", toyNames()))).Set("required", []string{"kind"}).Set("additionalProperties", number)
}
