package configs

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"hilrig/configs/schema"
)

// StudyBase is the file to simulate: its path, or its contents.
type StudyBase struct {
	Path   string
	inline *schema.Tree
}

// DecodeNode takes a word for a path and keys and values for the file itself.
func (b *StudyBase) DecodeNode(w *schema.Walker, path string, e schema.Entry, _ schema.Field) {
	if m := w.Mapping(e.Value); m != nil {
		b.inline, _ = w.Tree(path, e.Value, 0)
		return
	}
	if s, ok := e.Value.(*ast.StringNode); ok && s.Value != "" {
		b.Path = s.Value
		return
	}
	w.ErrorAt(path, e.Place(), "", "%s: want the path of a file to simulate, or its keys and values, got %s", path, schema.KindName(e.Value))
}

func (b *StudyBase) Shape() *schema.Object {
	return schema.AnyOf(schema.Typed("string"), schema.Typed("object"))
}

// StudyValue is anything that may stand behind a key of the file to simulate.
type StudyValue struct{ t *schema.Tree }

func (v *StudyValue) DecodeNode(w *schema.Walker, path string, e schema.Entry, _ schema.Field) {
	if t, ok := w.Tree(path, e.Value, 0); ok {
		v.t = t
	}
}

func (v *StudyValue) Shape() *schema.Object {
	return schema.AnyOf(schema.Typed("number"), schema.Typed("string"), schema.Typed("boolean"), schema.Typed("object"), schema.Typed("array"))
}

// Text is the value as it was written.
func (v StudyValue) Text() string {
	if v.t == nil {
		return ""
	}
	return v.t.Line()
}

// StudyPaths are keys of the file to simulate.
type StudyPaths []string

func (p *StudyPaths) DecodeNode(w *schema.Walker, path string, e schema.Entry, _ schema.Field) {
	items := []ast.Node{e.Value}
	if seq, ok := e.Value.(*ast.SequenceNode); ok {
		items = seq.Values
	}
	for _, n := range items {
		s, ok := n.(*ast.StringNode)
		if !ok || s.Value == "" {
			w.ErrorAt(path, schema.NodePlace(n), "", "%s: want a path such as seed, or a list of paths, got %s", path, schema.KindName(n))
			continue
		}
		*p = append(*p, s.Value)
	}
}

func (p *StudyPaths) Shape() *schema.Object {
	return schema.AnyOf(schema.Typed("string"), schema.Typed("array").Set("items", schema.Typed("string")))
}

// StudyNumber is a number of a factor. It is SI if its unit measures something; a share (%, ppm) and degC stay in their unit,
// because a plain number would mean something else where it goes.
type StudyNumber struct {
	Value float64
	Unit  string // "" for a plain number
	dim   schema.Dim
}

// studyNumber reads a number with or without unit.
func studyNumber(s string) (n StudyNumber, err error) {
	num, text, err := schema.SplitNumber(s)
	if err != nil {
		return n, err
	}
	one, _ := schema.ParseUnit("")
	if text == "" {
		n.Value = one.Parse(num, true)
	} else {
		u, err := schema.ParseUnit(text)
		if err != nil {
			return n, err
		}
		if u.Celsius() || u.SI == "" {
			n = StudyNumber{one.Parse(num, true), text, u.Dim}
		} else {
			n = StudyNumber{u.Parse(num, false), u.SI, u.Dim}
		}
	}
	if n.Value-n.Value != 0 {
		return n, fmt.Errorf("%s is beyond all floating-point numbers", s)
	}
	return n, nil
}

// like tells whether two numbers may stand in one range.
func (n StudyNumber) like(o StudyNumber) bool { return n.Unit == o.Unit && n.dim == o.dim }

// StudyRange is what a factor may be.
type StudyRange struct {
	Lo, Hi float64
	Unit   string
}

// DecodeNode takes [low, high] and ±value.
func (g *StudyRange) DecodeNode(w *schema.Walker, path string, e schema.Entry, _ schema.Field) {
	bad := func(format string, args ...any) {
		w.ErrorAt(path, e.Place(), "write [low, high] or ±value", "%s: "+format, append([]any{path}, args...)...)
	}
	if seq, ok := e.Value.(*ast.SequenceNode); ok {
		if len(seq.Values) != 2 {
			bad("want 2 values, got %d", len(seq.Values))
			return
		}
		var ends [2]StudyNumber
		for i, n := range seq.Values {
			s, _, isText := schema.Text(w.Resolve(path, n, 0))
			var err error
			if ends[i], err = studyNumber(s); err != nil || !isText {
				bad("%v", err)
				return
			}
		}
		if !ends[0].like(ends[1]) {
			bad("the ends are in different units, %s and %s", cmp.Or(ends[0].Unit, "a plain number"), cmp.Or(ends[1].Unit, "a plain number"))
			return
		}
		*g = StudyRange{ends[0].Value, ends[1].Value, ends[0].Unit}
		return
	}
	s, _, _ := schema.Text(e.Value)
	if half, ok := schema.CutPlusMinus(s); ok {
		n, err := studyNumber(half)
		if err != nil || n.Value <= 0 {
			bad("want ± and a positive number, got %s", schema.Quote(s))
			return
		}
		*g = StudyRange{-n.Value, n.Value, n.Unit}
		return
	}
	bad("want a range, got %s", schema.KindName(e.Value))
}

func (g *StudyRange) Shape() *schema.Object {
	end := schema.AnyOf(schema.Typed("number"), schema.Typed("string").Set("pattern", schema.NumberPattern))
	return schema.AnyOf(schema.Typed("array").Set("items", end).Set("minItems", 2).Set("maxItems", 2),
		schema.Typed("string").Set("pattern", schema.RangePattern))
}

// readValues finds out whether the values of a factor are numbers.
func (v *StudyVary) readValues(r *schema.Report, at string) {
	v.numbers = nil
	for _, x := range v.Values {
		if x.t == nil || x.t.Kind != schema.ScalarTree {
			return
		}
		n, err := studyNumber(x.t.Text)
		if err != nil {
			v.numbers = nil
			return
		}
		v.numbers = append(v.numbers, n)
		if !n.like(v.numbers[0]) {
			r.KeyErrorf(at+".values", "%s and %s are in different units", v.Values[0].Text(), x.Text())
			return
		}
	}
}

// Numbers are the values of a factor that lists numbers, or whole numbers of a range; nil for a range and for words.
func (v *StudyVary) Numbers() []float64 {
	out := listOf(v.numbers, func(n StudyNumber) float64 { return n.Value })
	if v.Scale == "whole" && len(v.Values) == 0 {
		for x := v.Range.Lo; x <= v.Range.Hi; x++ {
			out = append(out, x)
		}
	}
	return out
}

// Words tells whether the factor is one of words; its numbers are then their places in the list.
func (v *StudyVary) Words() bool { return len(v.Values) > 0 && v.numbers == nil }

// Unit is the unit of the factor.
func (v *StudyVary) Unit() string {
	if len(v.numbers) > 0 {
		return v.numbers[0].Unit
	}
	return v.Range.Unit
}

// Text is a value of the factor as it stands in a table.
func (v *StudyVary) Text(x float64) string {
	if v.Words() {
		return v.Values[int(x)].Text()
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Tree is a value of the factor as it goes into the file.
func (v *StudyVary) tree(x float64) *schema.Tree {
	if v.Words() {
		return v.Values[int(x)].t
	}
	s := v.Text(x)
	if u := v.Unit(); u != "" {
		return &schema.Tree{Kind: schema.ScalarTree, Text: s + " " + u, Quoted: true}
	}
	return schema.Bare(s)
}
