package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Edit changes single keys of a YAML text. What is not changed stays as it is, byte for byte: comments, order, spelling of numbers.
// A section in braces on the way to a changed key is written a key a line. The first error stays, and nothing is changed after it.
type Edit struct {
	lines      []string
	crlf       bool
	err        error
	addedLines int // sections and lines that were made for the key that is looked for
}

// NewEdit begins to change a text.
func NewEdit(text []byte) *Edit {
	s := string(text)
	e := &Edit{crlf: strings.Contains(s, "\r\n")}
	e.lines = strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	return e
}

// Text is what it has become.
func (e *Edit) Text() ([]byte, error) {
	end := "\n"
	if e.crlf {
		end = "\r\n"
	}
	return []byte(strings.Join(e.lines, end)), e.err
}

// Set gives a key, by its path with dots, a value and a comment as they are written in the file. A key that is not there, and sections on
// the way, are added at the end of their section.
func (e *Edit) Set(path, value, comment string) {
	section, key := split(path)
	s, ok := e.section(section)
	if !ok {
		return
	}
	if at, there := s.key(key); there {
		head, _, _ := e.line(at)
		e.replace(at, e.extent(at), head+" "+value+trailingComment(comment))
		return
	}
	e.replace(s.endLine, s.endLine, strings.Repeat(" ", s.indent)+QuoteYAML(key)+": "+value+trailingComment(comment))
}

// Delete takes a key with what stands below it out. Comments on lines of their own stay.
func (e *Edit) Delete(path string) {
	if at, there := e.at(path); there {
		e.replace(at, e.extent(at))
	}
}

// Keys are those of a section, in their order; none if it is not there.
func (e *Edit) Keys(path string) (names []string) {
	if section, key := split(path); path != "" {
		if s, ok := e.section(section); !ok {
			return nil
		} else if _, there := s.key(key); !there {
			return nil
		}
	}
	s, _ := e.section(path)
	for _, m := range s.keys {
		names = append(names, m.name)
	}
	return names
}

// Comment is the one behind a key; "": there is none.
func (e *Edit) Comment(path string) string {
	if at, there := e.at(path); there {
		_, _, comment := e.line(at)
		return comment
	}
	return ""
}

// SetComment gives a key that is there another comment behind it; "": none.
func (e *Edit) SetComment(path, comment string) {
	if at, there := e.at(path); there {
		head, value, _ := e.line(at)
		e.replace(at, at+1, strings.TrimRight(head+" "+value, " ")+trailingComment(comment))
	}
}

// Remark is what stands above a key, on lines of its own that are as deep as it; "": nothing.
func (e *Edit) Remark(path string) string {
	var lines []string
	at, there := e.at(path)
	for k := at - 1; there && k >= 0 && e.isRemark(k, at); k-- {
		_, text := cutComment(e.lines[k])
		lines = append([]string{text}, lines...)
	}
	return strings.Join(lines, " ")
}

// DeleteRemark takes it out.
func (e *Edit) DeleteRemark(path string) {
	at, there := e.at(path)
	for there && at > 0 && e.isRemark(at-1, at) {
		at--
		e.replace(at, at+1)
	}
}

// isRemark tells that a line is a comment alone, as deep as the key on another.
func (e *Edit) isRemark(k, key int) bool {
	text, comment := cutComment(e.lines[k])
	return strings.TrimSpace(text) == "" && comment != "" && indent(e.lines[k]) == indent(e.lines[key])
}

// at is the line of a key.
func (e *Edit) at(path string) (line int, there bool) {
	section, key := split(path)
	s, ok := e.section(section)
	if !ok {
		return 0, false
	}
	return s.key(key)
}

// split cuts a path into section and key.
func split(path string) (section, key string) {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)], path[i+1:]
}

// trailingComment is a comment as it stands behind a value.
func trailingComment(comment string) string {
	if comment == "" {
		return ""
	}
	return "  # " + comment
}

// place is a section of the text, a key a line.
type place struct {
	indent  int // of its keys
	endLine int // line behind the last key
	keys    []struct {
		name string
		line int
	}
}

func (s *place) key(name string) (line int, ok bool) {
	for _, k := range s.keys {
		if k.name == name {
			return k.line, true
		}
	}
	return 0, false
}

// section finds a section, or makes it.
func (e *Edit) section(path string) (s place, ok bool) {
	e.addedLines = 0
	return e.find(path)
}

func (e *Edit) find(path string) (s place, ok bool) {
	if e.addedLines++; e.addedLines > 30 && e.err == nil {
		e.err = fmt.Errorf("%s cannot be made here", path)
	}
	if e.err != nil {
		return s, false
	}
	file, err := parser.ParseBytes([]byte(strings.Join(e.lines, "\n")), 0)
	if err == nil && len(file.Docs) != 1 {
		err = fmt.Errorf("%d documents", len(file.Docs))
	}
	if err != nil {
		e.err = err
		return s, false
	}
	node, at := file.Docs[0].Body, -1
	for rest := path; ; {
		m := mappingOf(node)
		switch {
		case m == nil && (node == nil || node.Type() == ast.NullType) && at >= 0: // a key without a value
			s.indent, s.endLine = indent(e.lines[at])+2, at+1
			s.keys = nil
		case m == nil:
			e.err = fmt.Errorf("%s is no section of this text, or stands behind an anchor: it cannot be changed here", path)
			return s, false
		case m.IsFlowStyle && at < 0:
			e.err = fmt.Errorf("the text is in braces as a whole: it cannot be changed here")
			return s, false
		case m.IsFlowStyle:
			e.unfold(at, m)
			return e.find(path)
		default:
			if s, ok = e.placeOf(m); !ok {
				return s, false
			}
		}
		if rest == "" {
			return s, e.err == nil
		}
		key, below, _ := strings.Cut(rest, ".")
		rest = below
		line, there := s.key(key)
		if !there {
			e.replace(s.endLine, s.endLine, strings.Repeat(" ", s.indent)+QuoteYAML(key)+":")
			return e.find(path)
		}
		for _, v := range m.Values {
			if keyName(v) == key {
				node, at = v.Value, line
			}
		}
	}
}

// mappingOf is the mapping that a node is, behind an anchor of its own too; nil: it is none.
func mappingOf(n ast.Node) *ast.MappingNode {
	if a, ok := n.(*ast.AnchorNode); ok {
		n = a.Value
	}
	m, _ := n.(*ast.MappingNode)
	return m
}

// keyName is a key, "<<" of what is merged.
func keyName(v *ast.MappingValueNode) string {
	if name, ok := KeyText(v.Key); ok {
		return name
	}
	return v.Key.GetToken().Value
}

// placeOf is where the keys of a mapping stand, each at the beginning of a line.
func (e *Edit) placeOf(m *ast.MappingNode) (s place, ok bool) {
	for _, v := range m.Values {
		at := v.Key.GetToken().Position
		if at.Line > len(e.lines) || indent(e.lines[at.Line-1]) != at.Column-1 {
			e.err = fmt.Errorf("line %d: a key that is not at the beginning of its line: it cannot be changed here", at.Line)
			return s, false
		}
		name := keyName(v)
		s.indent = at.Column - 1
		s.keys = append(s.keys, struct {
			name string
			line int
		}{name, at.Line - 1})
		s.endLine = e.extent(at.Line - 1)
	}
	return s, true
}

// unfold writes the mapping in braces behind the key on a line a key a line; comments within go before them.
func (e *Edit) unfold(at int, m *ast.MappingNode) {
	head, value, comment := e.line(at)
	end := e.extent(at)
	if anchor, _, ok := strings.Cut(value, "{"); ok && strings.HasPrefix(anchor, "&") {
		head += " " + strings.TrimSpace(anchor)
	}
	pad := strings.Repeat(" ", indent(e.lines[at])+2)
	out := []string{head + trailingComment(comment)}
	for _, line := range e.lines[at+1 : end] {
		if _, c := cutComment(line); c != "" {
			out = append(out, pad+"# "+c)
		}
	}
	for _, v := range m.Values {
		out = append(out, pad+v.Key.String()+": "+v.Value.String())
	}
	e.replace(at, end, out...)
}

// line takes the line of a key apart: indent and key with its colon, value, comment.
func (e *Edit) line(at int) (head, value, comment string) {
	text, comment := cutComment(e.lines[at])
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'') && strings.TrimSpace(text[:i]) == "":
			quote = c
		case quote == 0 && c == ':' && (i+1 == len(text) || text[i+1] == ' '):
			return text[:i+1], strings.TrimSpace(text[i+1:]), comment
		}
	}
	e.err = fmt.Errorf("line %d: no key with a colon", at+1)
	return text, "", comment
}

// cutComment takes a line and its comment apart.
func cutComment(line string) (text, comment string) {
	quote := byte(0)
	for i := range len(line) {
		switch c := line[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" [{,:", line[i-1]) >= 0):
			quote = c
		case quote == 0 && c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return strings.TrimRight(line[:i], " \t"), strings.TrimSpace(line[i+1:])
		}
	}
	return strings.TrimRight(line, " \t"), ""
}

// extent is the line behind what belongs to the key on a line: deeper lines, without remarks and blank lines at their end.
func (e *Edit) extent(at int) int {
	end, depth := at+1, indent(e.lines[at])
	for k := at + 1; k < len(e.lines); k++ {
		text, _ := cutComment(e.lines[k])
		switch {
		case strings.TrimSpace(text) == "":
		case indent(e.lines[k]) > depth:
			end = k + 1
		default:
			return end
		}
	}
	return end
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// replace puts lines in the place of from … to−1.
func (e *Edit) replace(from, to int, lines ...string) {
	e.lines = slices.Replace(e.lines, from, to, lines...)
}
