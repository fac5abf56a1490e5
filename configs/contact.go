package configs

import (
	"reflect"
	"strconv"
	"strings"

	"hilrig/engine/friction"
)

// Contact is the friction of the virtual rig by any law of the registry: {law: gms, sigma0: …}. In a rig file every axis
// turns, so its units are N·m and rad. Without a name it is not there, and the numbers of virtual.friction count.
type Contact struct{ Law }

// decodeNode reads the law.
func (c *Contact) decodeNode(w *walker, path string, e entry, _ field) {
	if l, ok := decodeLaw(w, path, e); ok {
		c.Law = l
	}
}

// emitNode writes what decodeNode reads, behind the key.
func (c *Contact) emitNode(e *emitter, indent int) {
	pad := strings.Repeat(" ", indent+2)
	e.WriteString("\n" + pad + "law: " + c.Name + "\n")
	if c.Label != c.Name {
		e.WriteString(pad + "label: " + yamlQuote(c.Label) + "\n")
	}
	for _, p := range c.Model.Params() {
		line := pad + p.Name + ": " + strconv.FormatFloat(p.Value, 'g', -1, 64)
		if u := friction.RotaryUnit(p.Unit); u != "" {
			line += " # " + u
		}
		e.WriteString(line + "\n")
	}
}

// shape describes the law to editors: its name, and numbers by names that depend on it.
func (c *Contact) shape() *object {
	number := new(object).set("anyOf", []any{typed("number"), typed("string")})
	props := new(object).set("law", typed("string").set("enum", LawNames())).set("label", typed("string"))
	section := typed("object").set("properties", props).set("required", []string{"law"}).set("additionalProperties", number)
	return section
}

// emitter side of a noder.
type nodeEmitter interface {
	emitNode(e *emitter, indent int)
}

// schema side of a noder.
type shaped interface{ shape() *object }

// asNode gives the interface T of a value whose type reads and writes its node itself.
func asNode[T any](v reflect.Value) (T, bool) {
	var none T
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return none, false
		}
		t, ok := v.Interface().(T)
		return t, ok
	}
	if v.CanAddr() {
		t, ok := v.Addr().Interface().(T)
		return t, ok
	}
	return none, false
}

// units makes the laws of a rig file speak of N·m and rad; every other tag is what it says.
func (c *Config) units(func(path ...string) string) func(string) string { return friction.RotaryUnit }
