package schema_test

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"hilrig/configs/schema"
)

// Every key of every example that comes with the program can be changed and taken out alone: what a YAML decoder makes of the text is what
// was there before, but for that key, and no remark is lost.
func TestEditOfEveryExample(t *testing.T) {
	names, err := filepath.Glob("../*.yaml")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d examples, %v", len(names), err)
	}
	decode := func(text []byte) (top map[string]any) {
		if err := yaml.Unmarshal(text, &top); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return top
	}
	remark := regexp.MustCompile(`(?m)(^|\s)# .*$`)
	tried := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), ": &") { // a change there changes other places
			continue
		}
		whole, remarks := decode(text), remark.FindAllString(string(text), -1)
		var walk func(at map[string]any, path string)
		walk = func(at map[string]any, path string) {
			for _, key := range slices.Sorted(maps.Keys(at)) {
				value := at[key]
				if strings.Contains(key, ".") {
					continue
				}
				key := schema.Join(path, key)
				if below, ok := value.(map[string]any); ok {
					walk(below, key)
				}
				tried++
				for _, set := range []bool{true, false}[tried%2 : tried%2+1] {
					e := schema.NewEdit(text)
					if set {
						e.Set(key, "12345 N", "a remark; "+e.Comment(key))
					} else {
						e.Delete(key)
					}
					got, err := e.Text()
					if err != nil {
						t.Fatalf("%s: %s: %v", name, key, err)
					}
					want := clone(whole)
					section := want
					words := strings.Split(key, ".")
					for _, w := range words[:len(words)-1] {
						section = section[w].(map[string]any)
					}
					last := words[len(words)-1]
					if delete(section, last); set {
						section[last] = "12345 N"
					}
					if len(section) == 0 && len(words) > 1 { // a section without a key has no value
						continue
					}
					if back := decode(got); !reflect.DeepEqual(back, want) {
						t.Fatalf("%s: %s, set %t: %v\nwant %v", name, key, set, back, want)
					}
					if _, section := value.(map[string]any); !set || section {
						continue
					}
					if _, list := value.([]any); list {
						continue
					}
					for _, r := range remarks {
						if !strings.Contains(string(got), strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(r), "#"))) {
							t.Fatalf("%s: %s: the remark %q is lost\n%s", name, key, r, got)
						}
					}
				}
			}
		}
		walk(whole, "")
	}
	if tried < 500 {
		t.Errorf("%d keys", tried)
	}
	t.Logf("%d keys", tried)
}

// clone is a copy of a tree of sections.
func clone(tree map[string]any) map[string]any {
	tree = maps.Clone(tree)
	for key, value := range tree {
		if section, ok := value.(map[string]any); ok {
			tree[key] = clone(section)
		}
	}
	return tree
}

func TestEdit(t *testing.T) {
	set := func(e *schema.Edit) { e.Set("a.b", "7", "new") }
	for _, c := range []struct {
		name, text string
		do         func(e *schema.Edit)
		want       string
	}{
		{"a number", "a:\n  b: 1   # old\n  c: 2\n", set, "a:\n  b: 7  # new\n  c: 2\n"},
		{"a word in quotes", "a:\n  b: \"x # y: z\" # old\n", set, "a:\n  b: 7  # new\n"},
		{"a remark that stays", "a:\n  b: \"x # y: z\" # old # older\n", func(e *schema.Edit) { e.Set("a.b", "7", e.Comment("a.b")) },
			"a:\n  b: 7  # old # older\n"},
		{"a text of several lines", "a:\n  b: |\n    one # two\n    three\n  # remark\n  c: 2\n", set, "a:\n  b: 7  # new\n  # remark\n  c: 2\n"},
		{"a new key", "a:\n  c: 2\n\n  # end\nd: 1\n", set, "a:\n  c: 2\n  b: 7  # new\n\n  # end\nd: 1\n"},
		{"a new section", "d: 1\n", set, "d: 1\na:\n  b: 7  # new\n"},
		{"an empty section", "a:   # remark\nd: 1\n", set, "a:   # remark\n  b: 7  # new\nd: 1\n"},
		{"in braces", "a: {b: 1, c: [1, 2], d: {e: \"x\"}} # remark\n", set, "a:  # remark\n  b: 7  # new\n  c: [1, 2]\n  d: {e: \"x\"}\n"},
		{"in braces of several lines", "a: {b: 1, # one\n    c: 2 # two\n  }\n", set, "a:  # one\n  # two\n  b: 7  # new\n  c: 2\n"},
		{"with an anchor", "a: &k {b: 1}\nc: *k\n", set, "a: &k\n  b: 7  # new\nc: *k\n"},
		{"merged keys", "k: &k\n  b: 1\na:\n  <<: *k\n", set, "k: &k\n  b: 1\na:\n  <<: *k\n  b: 7  # new\n"},
		{"line ends", "a:\r\n  b: 1\r\n", set, "a:\r\n  b: 7  # new\r\n"},
		{"a key in quotes", "'a':\n  \"b\": 1\n", set, "'a':\n  \"b\": 7  # new\n"},
		{"taken out", "a:\n  # one\n  b: # x\n    c: 1\n    # two\n\n  d: 1\n", func(e *schema.Edit) { e.Delete("a.b") },
			"a:\n  # one\n    # two\n\n  d: 1\n"},
		{"what is not there", "a:\n  d: 1\n", func(e *schema.Edit) { e.Delete("a.b") }, "a:\n  d: 1\n"},
	} {
		e := schema.NewEdit([]byte(c.text))
		c.do(e)
		if got, err := e.Text(); err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, c.want)
		}
	}
	for name, text := range map[string]string{"behind an anchor": "k: &k {b: 1}\na: *k\n", "no section": "a: 1\n", "braces": "{a: {b: 1}}\n",
		"broken": "a: [\n", "two": "a: 1\n---\nb: 1\n", "a list": "- a\n"} {
		e := schema.NewEdit([]byte(text))
		set(e)
		if got, err := e.Text(); err == nil || string(got) != text {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// Any text ends in a changed one or an error.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{"a:\n  b: 1 # x\n", "a: {b: 1, c: [1, {d: 2}]} # x\n", "a: &k\n  <<: *k\n", "'a': |\n  b\nb: >\n  c\n",
		"? a\n: b\n", "a:\n- b\n", "a:\n\tb: 1\n", "--- # x\na: !t {b: 1}\n...\n", "a: \"{\n  x\"\n", "%YAML 1.2\n---\na:\n  b:\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := schema.NewEdit([]byte(text))
		e.Keys("a")
		e.Set("a.b", "7", "x")
		e.Delete("a.c.d")
		e.Comment("a.b")
		_, _ = e.Text()
	})
}
