package configs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// tree is a file as keys, lists and scalars, anchors and merge keys followed: what changes can be laid over. It is not changed
// once made; with shares what stays the same.
type tree struct {
	kind   treeKind
	text   string // of a scalar, as written
	quoted bool   // a text; otherwise a number, true, null …
	keys   []string
	kids   []*tree // values of keys, or entries of a list
}

type treeKind uint8

const (
	scalarTree treeKind = iota
	mapTree
	listTree
)

func bare(text string) *tree { return &tree{kind: scalarTree, text: text} }

// tree reads a node, and notes where everything stands.
func (w *walker) tree(path string, n ast.Node, depth int) (*tree, bool) {
	if depth > maxDepth {
		w.ErrorAt(path, nodePlace(n), "", "nested too deeply")
		return nil, false
	}
	if n = w.resolve(path, n, 0); n == nil {
		return nil, false
	}
	if m := w.mapping(n); m != nil {
		out, all := &tree{kind: mapTree}, true
		for _, e := range w.entries(path, m, 0) {
			p := join(path, e.key)
			w.Mark(p, e.Place())
			kid, ok := w.tree(p, e.value, depth+1)
			if !ok {
				all = false
				continue
			}
			out.keys, out.kids = append(out.keys, e.key), append(out.kids, kid)
		}
		return out, all
	}
	if seq, ok := n.(*ast.SequenceNode); ok {
		out, all := &tree{kind: listTree}, true
		for i, item := range seq.Values {
			p := fmt.Sprintf("%s[%d]", path, i)
			w.Mark(p, nodePlace(item))
			kid, ok := w.tree(p, item, depth+1)
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
			return bare(""), true
		}
		return bare("null"), true
	}
	s, _, ok := text(n)
	if !ok {
		w.ErrorAt(path, nodePlace(n), "", "%s: %s cannot be used here", path, kindName(n))
		return nil, false
	}
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return &tree{kind: scalarTree, text: s, quoted: true}, true
	}
	return bare(s), true
}

// parseTree reads a whole file of keys and values; name appears in messages. The error is *Errors.
func parseTree(name string, data []byte) (*tree, error) {
	r := &Report{file: name}
	if root, ok := r.open(data); ok {
		if t, ok := reader(r, root).tree("", root, 0); ok && t.kind == mapTree {
			return t, nil
		} else if ok {
			r.ErrorAt("", nodePlace(root), "", "want keys and values at the top of the file, got %s", kindName(root))
		}
	}
	_, err := r.result()
	return nil, err
}

// what names a tree in messages.
func (t *tree) what() string {
	switch {
	case t.kind == listTree:
		return fmt.Sprintf("a list of %d", len(t.kids))
	case t.kind == mapTree:
		return "a section"
	case t.text == "" || t.text == "null":
		return "nothing"
	}
	return quote(t.text)
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

// with is the tree with another value at path. Keys that are not there are added, whether they are known is the loader's
// business; lists keep their length.
func (t *tree) with(path string, v *tree) (*tree, error) {
	s, err := steps(path)
	if err != nil {
		return nil, err
	}
	return t.put(s, "", v)
}

func (t *tree) put(s []step, at string, v *tree) (*tree, error) {
	if len(s) == 0 {
		return v, nil
	}
	here := nameOr(at, "the file")
	if t.kind == scalarTree && (t.text == "" || t.text == "null") && !t.quoted {
		t = &tree{kind: mapTree} // an empty section
	}
	out := &tree{kind: t.kind, keys: t.keys, kids: slices.Clone(t.kids)}
	if s[0].index >= 0 {
		switch {
		case t.kind != listTree:
			return nil, fmt.Errorf("%s is %s, no list", here, t.what())
		case s[0].index >= len(t.kids):
			return nil, fmt.Errorf("%s is %s; the last entry is %s[%d]", here, t.what(), at, len(t.kids)-1)
		}
		kid, err := t.kids[s[0].index].put(s[1:], fmt.Sprintf("%s[%d]", at, s[0].index), v)
		out.kids[s[0].index] = kid
		return out, err
	}
	switch t.kind {
	case listTree:
		return nil, fmt.Errorf("%s is %s: say which entry, as in %s[0].%s", here, t.what(), at, s[0].key)
	case scalarTree:
		return nil, fmt.Errorf("%s is %s in the file, it has no keys", here, t.what())
	}
	i := slices.Index(t.keys, s[0].key)
	below := &tree{kind: mapTree}
	if i < 0 {
		i = len(t.keys)
		out.keys, out.kids = append(slices.Clone(t.keys), s[0].key), append(out.kids, nil)
		if len(s) > 1 && s[1].index >= 0 {
			return nil, fmt.Errorf("the file has no list %s", join(at, s[0].key))
		}
	} else {
		below = t.kids[i]
	}
	kid, err := below.put(s[1:], join(at, s[0].key), v)
	out.kids[i] = kid
	return out, err
}

// yaml writes the tree so that the parser reads it as it was.
func (t *tree) yaml() []byte {
	var b strings.Builder
	t.write(&b, 0)
	return []byte(b.String())
}

func (t *tree) write(b *strings.Builder, indent int) {
	pad := strings.Repeat(" ", indent)
	for i, kid := range t.kids {
		lead := pad + "-"
		if t.kind == mapTree {
			lead = pad + yamlQuote(t.keys[i]) + ":"
		}
		b.WriteString(lead)
		switch {
		case kid.kind == scalarTree:
			b.WriteString(kid.scalar() + "\n")
		case len(kid.kids) == 0:
			b.WriteString(map[treeKind]string{mapTree: " {}\n", listTree: " []\n"}[kid.kind])
		default:
			b.WriteByte('\n')
			kid.write(b, indent+2)
		}
	}
}

// scalar is what stands behind a key or a dash.
func (t *tree) scalar() string {
	switch {
	case t.quoted:
		return " " + doubleQuote(t.text)
	case t.text == "":
		return ""
	}
	return " " + t.text
}
