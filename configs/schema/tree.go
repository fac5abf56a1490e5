package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Tree is a file as keys, lists and scalars, anchors and merge keys followed: what changes can be laid over. It is not changed
// once made; with shares what stays the same.
type Tree struct {
	Kind   treeKind
	Text   string // of a scalar, as written
	Quoted bool   // a text; otherwise a number, true, null …
	keys   []string
	kids   []*Tree // values of keys, or entries of a list
}

type treeKind uint8

const (
	ScalarTree treeKind = iota
	mapTree
	listTree
)

// Bare is a word or number without quotes.
func Bare(text string) *Tree { return &Tree{Kind: ScalarTree, Text: text} }

// Words is a list of texts.
func Words(list []string) *Tree {
	t := &Tree{Kind: listTree}
	for _, w := range list {
		t.kids = append(t.kids, &Tree{Kind: ScalarTree, Text: w, Quoted: true})
	}
	return t
}

// Word is a text.
func Word(text string) *Tree { return &Tree{Kind: ScalarTree, Text: text, Quoted: true} }

// Tree reads a node, and notes where everything stands.
func (w *Walker) Tree(path string, n ast.Node, depth int) (*Tree, bool) {
	if depth > maxDepth {
		w.ErrorAt(path, NodePlace(n), "", "nested too deeply")
		return nil, false
	}
	if n = w.Resolve(path, n, 0); n == nil {
		return nil, false
	}
	if m := w.Mapping(n); m != nil {
		out, all := &Tree{Kind: mapTree}, true
		for _, e := range w.Entries(path, m, 0) {
			p := Join(path, e.Key)
			w.Mark(p, e.Place())
			kid, ok := w.Tree(p, e.Value, depth+1)
			if !ok {
				all = false
				continue
			}
			out.keys, out.kids = append(out.keys, e.Key), append(out.kids, kid)
		}
		return out, all
	}
	if seq, ok := n.(*ast.SequenceNode); ok {
		out, all := &Tree{Kind: listTree}, true
		for i, item := range seq.Values {
			p := fmt.Sprintf("%s[%d]", path, i)
			w.Mark(p, NodePlace(item))
			kid, ok := w.Tree(p, item, depth+1)
			if !ok {
				all = false
				continue
			}
			out.kids = append(out.kids, kid)
		}
		return out, all
	}
	if n.Type() == ast.NullType {
		if isImplicit(n) {
			return Bare(""), true
		}
		return Bare("null"), true
	}
	s, _, ok := Text(n)
	if !ok {
		w.ErrorAt(path, NodePlace(n), "", "%s: %s cannot be used here", path, KindName(n))
		return nil, false
	}
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return &Tree{Kind: ScalarTree, Text: s, Quoted: true}, true
	}
	return Bare(s), true
}

// ParseTree reads a whole file of keys and values; name appears in messages. The error is *Errors.
func ParseTree(name string, data []byte) (*Tree, error) {
	r := reportOn(name)
	if root, ok := r.open(data); ok {
		if t, ok := reader(r, root).Tree("", root, 0); ok && t.Kind == mapTree {
			return t, nil
		} else if ok {
			r.ErrorAt("", NodePlace(root), "", "want keys and values at the top of the file, got %s", KindName(root))
		}
	}
	_, err := r.result()
	return nil, err
}

// describe names a tree in messages.
func (t *Tree) describe() string {
	switch {
	case t.Kind == listTree:
		return fmt.Sprintf("a list of %d", len(t.kids))
	case t.Kind == mapTree:
		return "a section"
	case t.Text == "" || t.Text == "null":
		return "nothing"
	}
	return Quote(t.Text)
}

// step is one part of a path: a key, or the place in a list.
type step struct {
	key   string
	index int // ≥ 0: in a list
}

// steps cuts a path such as scene.pairs[0].mu.
func steps(path string) ([]step, error) {
	var out []step
	for part := range strings.SplitSeq(path, ".") {
		key, rest, _ := strings.Cut(part, "[")
		if key == "" {
			return nil, fmt.Errorf("%q is no path; write keys with points between them, list entries as key[0]", path)
		}
		out = append(out, step{key, -1})
		for rest != "" {
			digits, after, closed := strings.Cut(rest, "]")
			i, err := strconv.Atoi(digits)
			if !closed || err != nil || i < 0 || after != "" && after[0] != '[' {
				return nil, fmt.Errorf("%q is no path; list entries are written key[0]", path)
			}
			out = append(out, step{"", i})
			rest = strings.TrimPrefix(after, "[")
		}
	}
	return out, nil
}

// At is what stands at path; nil: nothing does.
func (t *Tree) At(path string) *Tree {
	list, err := steps(path)
	if err != nil {
		return nil
	}
	for _, s := range list {
		i := s.index
		if i < 0 {
			i = slices.Index(t.keys, s.key)
		}
		if i < 0 || i >= len(t.kids) {
			return nil
		}
		t = t.kids[i]
	}
	return t
}

// Scalars gives every scalar, with its path, which begins with at.
func (t *Tree) Scalars(at string, to func(path string, s *Tree)) {
	if t.Kind == ScalarTree {
		to(at, t)
	}
	for i, kid := range t.kids {
		if t.Kind == listTree {
			kid.Scalars(fmt.Sprintf("%s[%d]", at, i), to)
		} else {
			kid.Scalars(Join(at, t.keys[i]), to)
		}
	}
}

// WithValue is the tree with another value at path. Keys that are not there are added, whether they are known is the loader's
// business; lists keep their length.
func (t *Tree) WithValue(path string, v *Tree) (*Tree, error) {
	s, err := steps(path)
	if err != nil {
		return nil, err
	}
	return t.putValue(s, "", v)
}

func (t *Tree) putValue(s []step, at string, v *Tree) (*Tree, error) {
	if len(s) == 0 {
		return v, nil
	}
	here := cmp.Or(at, "the file")
	if t.Kind == ScalarTree && (t.Text == "" || t.Text == "null") && !t.Quoted {
		t = &Tree{Kind: mapTree} // an empty section
	}
	out := &Tree{Kind: t.Kind, keys: t.keys, kids: slices.Clone(t.kids)}
	if s[0].index >= 0 {
		switch {
		case t.Kind != listTree:
			return nil, fmt.Errorf("%s is %s, no list", here, t.describe())
		case s[0].index >= len(t.kids):
			return nil, fmt.Errorf("%s is %s; the last entry is %s[%d]", here, t.describe(), at, len(t.kids)-1)
		}
		kid, err := t.kids[s[0].index].putValue(s[1:], fmt.Sprintf("%s[%d]", at, s[0].index), v)
		out.kids[s[0].index] = kid
		return out, err
	}
	switch t.Kind {
	case listTree:
		return nil, fmt.Errorf("%s is %s: say which entry, as in %s[0].%s", here, t.describe(), at, s[0].key)
	case ScalarTree:
		return nil, fmt.Errorf("%s is %s in the file, it has no keys", here, t.describe())
	}
	i := slices.Index(t.keys, s[0].key)
	below := &Tree{Kind: mapTree}
	if i < 0 {
		i = len(t.keys)
		out.keys, out.kids = append(slices.Clone(t.keys), s[0].key), append(out.kids, nil)
		if len(s) > 1 && s[1].index >= 0 {
			return nil, fmt.Errorf("the file has no list %s", Join(at, s[0].key))
		}
	} else {
		below = t.kids[i]
	}
	kid, err := below.putValue(s[1:], Join(at, s[0].key), v)
	out.kids[i] = kid
	return out, err
}

// YAML writes the tree so that the parser reads it as it was.
func (t *Tree) YAML() []byte {
	var b strings.Builder
	t.write(&b, 0)
	return []byte(b.String())
}

func (t *Tree) write(b *strings.Builder, indent int) {
	pad := strings.Repeat(" ", indent)
	for i, kid := range t.kids {
		lead := pad + "-"
		if t.Kind == mapTree {
			lead = pad + QuoteYAML(t.keys[i]) + ":"
		}
		b.WriteString(lead)
		switch {
		case kid.Kind == ScalarTree:
			b.WriteString(kid.scalar() + "\n")
		case len(kid.kids) == 0:
			b.WriteString(map[treeKind]string{mapTree: " {}\n", listTree: " []\n"}[kid.Kind])
		default:
			b.WriteByte('\n')
			kid.write(b, indent+2)
		}
	}
}

// Line is the tree in one line, for people: {a: 1, b: [2 m, 3 m]}.
func (t *Tree) Line() string {
	if t.Kind == ScalarTree {
		return t.Text
	}
	var parts []string
	for i, kid := range t.kids {
		part := kid.Line()
		if t.Kind == mapTree {
			part = t.keys[i] + ": " + part
		}
		parts = append(parts, part)
	}
	text := strings.Join(parts, ", ")
	if t.Kind == mapTree {
		return "{" + text + "}"
	}
	return "[" + text + "]"
}

// scalar is what stands behind a key or a dash.
func (t *Tree) scalar() string {
	switch {
	case t.Quoted:
		return " " + doubleQuote(t.Text)
	case t.Text == "":
		return ""
	}
	return " " + t.Text
}
