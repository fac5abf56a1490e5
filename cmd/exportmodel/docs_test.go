package exportmodel

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"hilrig/engine/friction"
)

var update = flag.Bool("update", false, "write docs/reference/export-model.md")

// The table of the page is that of the program; make docs renews it.
func TestExportDoc(t *testing.T) {
	const path, begin, end = "../../docs/reference/export-model.md", "<!-- table -->\n", "<!-- end -->"
	var b strings.Builder
	fmt.Fprintf(&b, "| law | %s |\n|---|%s\n", strings.Join(Targets(), " | "), strings.Repeat("---|", len(Targets())))
	var words strings.Builder
	for _, info := range friction.Laws() {
		plain := map[string]float64{}
		if _, fades := friction.Values(info.NewLaw())["vd"]; fades {
			plain["vd"] = 0
		}
		m := model(t, info.Name, plain)
		fmt.Fprintf(&b, "| %s |", info.Name)
		always := contactOf(m.Law).lossTexts
		for _, to := range Targets() {
			a, _ := find(to)
			_, lost, err := a.express(contactOf(m.Law), m.Law, unitsOf(true))
			switch {
			case err != nil:
				fmt.Fprint(&b, " – |")
			case len(lost) > 0:
				fmt.Fprint(&b, " part |")
			default:
				fmt.Fprint(&b, " whole |")
			}
		}
		fmt.Fprintln(&b)
		if len(always) > 0 {
			fmt.Fprintf(&words, "- `%s`: %s.\n", info.Name, strings.Join(always, "; "))
		}
	}
	fmt.Fprintf(&b, "\nThis goes to no target:\n\n%s", words.String())
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(old), begin)
	_, tail, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatal("the page has no place for the table")
	}
	page := []byte(head + begin + "\n" + b.String() + "\n" + end + tail)
	if *update {
		if err := os.WriteFile(path, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !*update && !bytes.Equal(page, old) {
		t.Error("docs/reference/export-model.md is out of date: make docs")
	}
}
