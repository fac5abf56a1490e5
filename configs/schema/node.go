package schema

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"hilrig/engine/spelling"
)

// collectAnchors remembers every &name of the file.
func (w *Walker) collectAnchors(n ast.Node, depth int) {
	if depth > 4*maxDepth {
		return // what lies deeper is refused by value
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		w.anchors[n.Name.GetToken().Value] = n.Value
		w.collectAnchors(n.Value, depth+1)
	case *ast.MappingNode:
		for _, kv := range n.Values {
			w.collectAnchors(kv, depth+1)
		}
	case *ast.MappingValueNode:
		w.collectAnchors(n.Value, depth+1)
	case *ast.SequenceNode:
		for _, v := range n.Values {
			w.collectAnchors(v, depth+1)
		}
	}
}

// Resolve follows anchors and aliases; nil if that led nowhere, which is reported.
func (w *Walker) Resolve(path string, n ast.Node, depth int) ast.Node {
	if depth > maxDepth {
		w.ErrorAt(path, NodePlace(n), "", "an anchor that refers to itself")
		return nil
	}
	switch t := n.(type) {
	case *ast.AnchorNode:
		return w.Resolve(path, t.Value, depth+1)
	case *ast.AliasNode:
		name := t.Value.GetToken().Value
		target, ok := w.anchors[name]
		if !ok {
			known := slices.Collect(maps.Keys(w.anchors))
			hint := "write &" + name + " where it is defined"
			if s := spelling.Nearest(name, known); s != "" {
				hint = "did you mean *" + s + "?"
			}
			w.ErrorAt(path, NodePlace(n), hint, "*%s refers to nothing", name)
			return nil
		}
		return w.Resolve(path, target, depth+1)
	case *ast.TagNode:
		w.ErrorAt(path, NodePlace(n), "leave it out", "YAML tag %q is not used here", t.GetToken().Value)
		return nil
	}
	return n
}

// Mapping gives keys and values, whichever way the parser holds them; nil for anything else.
func (w *Walker) Mapping(n ast.Node) *ast.MappingNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n
	case *ast.MappingValueNode:
		return &ast.MappingNode{BaseNode: &ast.BaseNode{}, Start: n.Start, Values: []*ast.MappingValueNode{n}}
	}
	return nil
}

// Section gives the keys and values of an entry; nil where it is empty, or is something else, which is reported: want says what should be
// there.
func (w *Walker) Section(path, want string, e Entry) *ast.MappingNode {
	m := w.Mapping(e.Value)
	if m == nil && e.Value.Type() != ast.NullType {
		w.ErrorAt(path, e.Place(), "", "%s: want %s, got %s", path, want, KindName(e.Value))
	}
	return m
}

// Scalar gives the characters of a scalar that is there; anything else is reported and not ok.
func (w *Walker) Scalar(path, want string, at Place, n ast.Node) (s string, ok bool) {
	if s, _, ok = Text(n); !ok || n.Type() == ast.NullType {
		w.ErrorAt(path, at, "", "%s: want %s, got %s", path, want, KindName(n))
		return "", false
	}
	return s, true
}

// Items are the entries of a list with their paths, which are marked.
func (w *Walker) Items(path, key string, seq *ast.SequenceNode) iter.Seq2[string, Entry] {
	return func(yield func(string, Entry) bool) {
		for i, item := range seq.Values {
			p, e := fmt.Sprintf("%s[%d]", path, i), Entry{Key: key, KeyPlace: NodePlace(item), Value: item}
			if w.Mark(p, e.KeyPlace); !yield(p, e) {
				return
			}
		}
	}
}

// KeyText gives a key that is a plain or quoted word.
func KeyText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.NanNode, *ast.InfinityNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// Text gives the characters of a scalar as written; quoted tells a string in quotes or a block from a bare word.
func Text(n ast.Node) (s string, quoted, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		t := n.GetToken().Type
		return n.Value, t == token.SingleQuoteType || t == token.DoubleQuoteType, true
	case *ast.LiteralNode:
		return n.Value.Value, true, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NanNode, *ast.InfinityNode, *ast.NullNode:
		return n.GetToken().Value, false, true
	}
	return "", false, false
}

// isImplicit tells a missing value from a written null.
func isImplicit(n ast.Node) bool { return n.GetToken().Type == token.ImplicitNullType }

// NodePlace is where a node begins.
func NodePlace(n ast.Node) Place {
	if n == nil {
		return Place{}
	}
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return NodePlace(m.Values[0])
	}
	if kv, ok := n.(*ast.MappingValueNode); ok {
		return NodePlace(kv.Key)
	}
	tk := n.GetToken()
	if tk == nil || tk.Position == nil {
		return Place{}
	}
	return Place{tk.Position.Line, tk.Position.Column}
}

// Place points at the value where it is a scalar on the line of its key, else at the key.
func (e Entry) Place() Place {
	if v := NodePlace(e.Value); v.line == e.KeyPlace.line && e.Value.Type() != ast.NullType {
		return v
	}
	return e.KeyPlace
}

// KindName says in words what a node is.
func KindName(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys and values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.AliasNode:
		return "an alias"
	case *ast.MappingKeyNode:
		return "a complex key"
	default:
		if s, _, ok := Text(n); ok {
			return "the word " + Quote(s)
		}
		return n.Type().YAMLName()
	}
}
