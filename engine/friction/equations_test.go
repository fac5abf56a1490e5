package friction

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write equations.txt from the code")

// typeComments are the comments of all types of this package.
func typeComments(t *testing.T) map[string]string {
	out := map[string]string{}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE && len(g.Specs) == 1 {
				out[g.Specs[0].(*ast.TypeSpec).Name.Name] = g.Doc.Text()
			}
		}
	}
	return out
}

// What `hil laws NAME` prints is what stands in the code, for every law.
func TestEquationsText(t *testing.T) {
	comments, names := typeComments(t), []string{}
	for _, l := range Laws() {
		if name := typeName(l.NewLaw()); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var b strings.Builder
	for _, name := range names {
		b.WriteString("== " + name + "\n" + comments[name])
	}
	if *update {
		if err := os.WriteFile("equations.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if b.String() != equationsText {
		t.Error("equations.txt is not what stands in the code: go test ./engine/friction -run TestEquationsText -update")
	}
	for _, l := range Laws() {
		if text := l.Text(); !*update && (!strings.Contains(text, "=") || strings.Contains(text, "\n== ") ||
			!strings.HasPrefix(text, typeName(l.NewLaw())+" is ") &&
				!strings.HasPrefix(text, typeName(l.NewLaw())+" blends ")) {
			t.Errorf("%s: %q", l.Name, text)
		}
	}
}
