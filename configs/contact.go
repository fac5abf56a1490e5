package configs

import (
	"strconv"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/friction"
)

// Contact is the friction of the virtual rig by any law of the registry: {law: gms, sigma0: …}. In a rig file every axis
// turns, so its units are N·m and rad. Without a name it is not there, and the numbers of virtual.friction count.
type Contact struct{ Law }

// DecodeNode reads the law.
func (c *Contact) DecodeNode(w *schema.Walker, path string, e schema.Entry, _ schema.Field) {
	if l, ok := decodeLaw(w, path, e); ok {
		c.Law = l
	}
}

// EmitNode writes what DecodeNode reads, behind the key.
func (c *Contact) EmitNode(e *schema.Emitter, indent int) {
	pad := strings.Repeat(" ", indent+2)
	e.WriteString("\n" + pad + "law: " + c.Name + "\n")
	if c.Label != c.Name {
		e.WriteString(pad + "label: " + schema.QuoteYAML(c.Label) + "\n")
	}
	section := ""
	for _, p := range c.Model.Params() {
		name, back := strings.CutSuffix(p.Name, friction.Backward)
		if back && section == "" {
			section = "  "
			e.WriteString(pad + "backward:\n")
		}
		line := pad + section + name + ": " + strconv.FormatFloat(p.Value, 'g', -1, 64)
		if u := e.UnitOf(p.Unit); u != "" {
			line += " # " + u
		}
		e.WriteString(line + "\n")
	}
}

// Shape describes the law to editors: its name, and numbers by names that depend on it.
func (c *Contact) Shape() *schema.Object {
	number := new(schema.Object).Set("anyOf", []any{schema.Typed("number"), schema.Typed("string")})
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
