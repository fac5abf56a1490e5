package configs

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"hilrig/configs/schema"
	"hilrig/engine/plant/brush"
	"hilrig/engine/plant/toys"
)

// docs/reference/brush.md lists every parameter of the model, docs/reference/contact.md every key and every toy.
func TestContactDocsAreCurrent(t *testing.T) {
	var b strings.Builder
	var figures strings.Builder
	figures.WriteString("| name | unit | meaning |\n|---|---|---|\n")
	for _, f := range new(brush.Stats).Figures() {
		fmt.Fprintf(&figures, "| `%s` | %s | %s |\n", f.Name, f.Unit, strings.ReplaceAll(f.Doc, "|", "\\|"))
	}
	b.WriteString(strings.Replace(head(t, "brush"), "@FIGURES@", figures.String(), 1) + "| key | symbol | unit | default | range | meaning " +
		"|\n|---|---|---|---|---|---|\n")
	p := brush.DefaultParams()
	for _, f := range p.Table() {
		def, span := "", ""
		if f.Flag != nil {
			def = fmt.Sprint(*f.Flag)
		} else {
			def, span = schema.Short(*f.Ptr), fmt.Sprintf("%s … %s", schema.Short(f.Lo), schema.Short(f.Hi))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` | %s | %s |\n", f.Key, strings.ReplaceAll(f.Symbol, "_", "\\_"),
			strings.ReplaceAll(f.Unit, "|", " or "), def, span, strings.ReplaceAll(f.Doc, "|", "\\|"))
	}
	for _, f := range measuredFiles() {
		fmt.Fprintf(&b, "| `%s` |  |  |  |  | %s |\n", f.key, f.doc)
	}
	current(t, "brush.md", b.String())

	b.Reset()
	c := DefaultContactRun()
	c.Scene = new(Scene)
	c.Scene.SetDefaults()
	b.WriteString(head(t, "contact") + Tables(c) + "\n## Toys\n\nKeys of the section `toy` beside `kind`.\n")
	for _, info := range toys.Registry {
		fmt.Fprintf(&b, "\n### %s\n\n%s", info.Name, info.Title)
		if info.Source != "" {
			fmt.Fprintf(&b, " [%s]", info.Source)
		}
		b.WriteString("\n\n| key | unit | default | range | meaning |\n|---|---|---|---|---|\n")
		for _, f := range info.Params() {
			lo, hi := schema.Short(f.Lo), schema.Short(f.Hi)
			switch {
			case math.IsInf(f.Lo, 0):
				lo = "−∞"
			case f.Lo == math.SmallestNonzeroFloat64:
				lo = "> 0"
			}
			if math.IsInf(f.Hi, 0) {
				hi = "∞"
			}
			fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s … %s | %s |\n", f.Name, f.Unit, schema.Short(f.Value), lo, hi, f.Doc)
		}
	}
	current(t, "contact.md", b.String())
}

// head is what a page says before its tables.
func head(t *testing.T, page string) string {
	text, err := os.ReadFile("testdata/" + page + "-head.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// current compares a page of the docs with what the source says, or rewrites it.
func current(t *testing.T, name, want string) {
	t.Helper()
	path := "../docs/reference/" + name
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s is not current (%v): make docs", path, err)
	}
}
