package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A rig fits into ten kilobytes and a thousand keys. The limits keep the YAML parser, whose time grows with the square of
// the number of keys, within a few seconds on hostile files.
const (
	maxBytes = 1 << 20
	maxLines = 10_000
	maxMarks = 6000 // : , [ { and list dashes, also those in comments
)

// ReadFile reads a file of at most maxBytes, so that a large one by mistake does no harm.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err // "open rig.yaml: no such file or directory" says it all
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return nil, fmt.Errorf("%s is a folder; want a YAML file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// Load reads a file into a struct that holds its defaults, then lets check look at the values; name appears in messages. check
// is left out when the text could not be read as keys and values. The error is *Errors and holds every problem.
func Load(name string, data []byte, into any, check func(r *Report)) (warnings []Problem, err error) {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("schema: load into %T, want a pointer to a struct", into))
	}
	r := reportOn(name)
	if root, ok := r.open(data); ok {
		w := reader(r, root)
		if m := w.Mapping(w.Resolve("", root, 0)); m != nil {
			if s, ok := into.(UnitSpeaking); ok {
				r.unit = s.UnitTags(func(path ...string) string { return w.WordAt(m, path...) })
			}
			w.Structure("", m, v.Elem())
			check(r)
		} else {
			r.ErrorAt("", NodePlace(root), "", "want keys and values at the top of the file, got %s", KindName(root))
		}
	}
	return r.result()
}

// open turns the text into a tree and keeps its lines; ok is false when there is nothing to walk.
func (r *Report) open(data []byte) (root ast.Node, ok bool) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !r.readable(data) {
		return nil, false
	}
	r.lines = strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	return r.parse(data)
}

// readable refuses what no YAML parser should see.
func (r *Report) readable(data []byte) bool {
	switch {
	case len(data) > maxBytes:
		r.ErrorAt("", Place{}, "large tables belong into CSV files", "the file has more than %d kB; a configuration has less", maxBytes>>10)
	case bytes.Count(data, []byte("\n")) > maxLines:
		r.ErrorAt("", Place{}, "", "the file has more than %d lines; a configuration has less", maxLines)
	case marks(data) > maxMarks:
		r.ErrorAt("", Place{}, "", "the file has more than %d keys and list entries; a configuration has less", maxMarks)
	case bytes.IndexByte(data, 0) >= 0:
		r.ErrorAt("", Place{line: 1 + bytes.Count(data[:bytes.IndexByte(data, 0)], []byte("\n"))}, "save it as UTF-8",
			"the file contains a zero byte; it is no text, or it is UTF-16")
	case !utf8.Valid(data):
		at := invalidUTF8(data)
		line := 1 + bytes.Count(data[:at], []byte("\n"))
		col := 1 + utf8.RuneCount(data[1+bytes.LastIndexByte(data[:at], '\n'):at])
		r.ErrorAt("", Place{line: line, col: col}, "save the file as UTF-8; is it Latin-1?", "byte 0x%02x is not valid UTF-8", data[at])
	default:
		return true
	}
	return false
}

// marks counts what can make a node of the tree.
func marks(data []byte) (n int) {
	for _, m := range []string{":", ",", "[", "{", "- "} {
		n += bytes.Count(data, []byte(m))
	}
	return n
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		c, n := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}

// parse turns the text into a tree; ok is false when there is nothing to walk.
func (r *Report) parse(data []byte) (root ast.Node, ok bool) {
	// the parser has met few hostile files; a panic in it is reported, not passed on
	defer func() {
		if p := recover(); p != nil {
			r.ErrorAt("", Place{}, "please report this with the file", "the YAML parser broke down: %v", p)
			root, ok = nil, false
		}
	}()
	f, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey()) // repeated keys are reported by the walker, all of them
	if err != nil {
		r.syntax(err)
		return nil, false
	}
	for _, d := range f.Docs {
		if d.Body == nil || d.Body.Type() == ast.DirectiveType || d.Body.Type() == ast.CommentType {
			continue
		}
		if root != nil {
			r.ErrorAt("", NodePlace(d.Body), "", "a second document after ---; a file holds one")
			return nil, false
		}
		root = d.Body
	}
	if root == nil || root.Type() == ast.NullType {
		r.ErrorAt("", Place{}, "hil config example prints a complete one", "the file is empty")
		return nil, false
	}
	return root, true
}

// syntax passes on what the parser says, with its place.
func (r *Report) syntax(err error) {
	var e interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &e) {
		r.ErrorAt("", Place{}, "", "not valid YAML: %v", err)
		return
	}
	hint := ""
	if strings.Contains(e.GetMessage(), "'\t'") {
		hint = "indent with spaces"
	}
	at := Place{}
	if tk := e.GetToken(); tk != nil && tk.Position != nil {
		at = Place{tk.Position.Line, tk.Position.Column}
	}
	r.ErrorAt("", at, hint, "not valid YAML: %s", e.GetMessage())
}
