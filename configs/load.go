package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// Load reads, decodes and checks a rig file. The error is *Errors and holds every problem, or says why the file could not
// be read. Relative paths inside (reference.file, mqtt.ca) come back joined to the folder of the file.
func Load(path string) (*Config, error) {
	c, _, err := Check(path)
	return c, err
}

// Check is Load that also returns the warnings: legal settings worth a thought.
func Check(path string) (c *Config, warnings []Problem, err error) {
	data, err := readFile(path)
	if err != nil {
		return nil, nil, err
	}
	return CheckBytes(path, data)
}

// LoadBytes decodes and checks a rig file that is already in memory; name appears in messages, and its folder is where
// relative paths start.
func LoadBytes(name string, data []byte) (*Config, error) {
	c, _, err := CheckBytes(name, data)
	return c, err
}

// CheckBytes is LoadBytes that also returns the warnings.
func CheckBytes(name string, data []byte) (c *Config, warnings []Problem, err error) {
	c = Default()
	warnings, err = load(name, data, c, func(r *Report) {
		c.complete(r, filepath.Dir(name))
		c.Check(r)
	})
	if err != nil {
		return nil, warnings, err
	}
	return c, warnings, nil
}

// Validate checks a configuration that was changed after loading (flags); there are no places in a file to point at.
func (c *Config) Validate() (problems, warnings []Problem) {
	r := newReport(c.units(nil))
	c.Check(r)
	return r.Problems(), r.Warnings()
}

func readFile(path string) ([]byte, error) {
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

// load reads a file into a struct that holds its defaults, then lets check look at the values; name appears in messages. check
// is left out when the text could not be read as keys and values. The error is *Errors and holds every problem.
func load(name string, data []byte, into any, check func(r *Report)) (warnings []Problem, err error) {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("configs: load into %T, want a pointer to a struct", into))
	}
	r := &Report{file: name}
	if root, ok := r.open(data); ok {
		w := reader(r, root)
		if m := w.mapping(w.resolve("", root, 0)); m != nil {
			if s, ok := into.(speller); ok {
				r.unit = s.units(func(path ...string) string { return w.wordAt(m, path...) })
			}
			w.structure("", m, v.Elem())
			check(r)
		} else {
			r.ErrorAt("", nodePlace(root), "", "want keys and values at the top of the file, got %s", kindName(root))
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
		r.ErrorAt("", place{}, "large tables belong into CSV files", "the file has more than %d kB; a configuration has less", maxBytes>>10)
	case bytes.Count(data, []byte("\n")) > maxLines:
		r.ErrorAt("", place{}, "", "the file has more than %d lines; a configuration has less", maxLines)
	case marks(data) > maxMarks:
		r.ErrorAt("", place{}, "", "the file has more than %d keys and list entries; a configuration has less", maxMarks)
	case bytes.IndexByte(data, 0) >= 0:
		r.ErrorAt("", place{line: 1 + bytes.Count(data[:bytes.IndexByte(data, 0)], []byte("\n"))}, "save it as UTF-8", "the file contains a zero byte; it is no text, or it is UTF-16")
	case !utf8.Valid(data):
		at := invalidUTF8(data)
		line := 1 + bytes.Count(data[:at], []byte("\n"))
		col := 1 + utf8.RuneCount(data[1+bytes.LastIndexByte(data[:at], '\n'):at])
		r.ErrorAt("", place{line: line, col: col}, "save the file as UTF-8; is it Latin-1?", "byte 0x%02x is not valid UTF-8", data[at])
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
			r.ErrorAt("", place{}, "please report this with the file", "the YAML parser broke down: %v", p)
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
			r.ErrorAt("", nodePlace(d.Body), "", "a second document after ---; a file holds one")
			return nil, false
		}
		root = d.Body
	}
	if root == nil || root.Type() == ast.NullType {
		r.ErrorAt("", place{}, "hil config example prints a complete one", "the file is empty")
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
		r.ErrorAt("", place{}, "", "not valid YAML: %v", err)
		return
	}
	hint := ""
	if strings.Contains(e.GetMessage(), "'\t'") {
		hint = "indent with spaces"
	}
	at := place{}
	if tk := e.GetToken(); tk != nil && tk.Position != nil {
		at = place{tk.Position.Line, tk.Position.Column}
	}
	r.ErrorAt("", at, hint, "not valid YAML: %s", e.GetMessage())
}
