package study

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the numbers of the pages of studies")

// checkTable compares the part between the marks of a page with what the study gives, or rewrites it.
func checkTable(t *testing.T, page, table string) {
	t.Helper()
	path := "../../docs/" + page
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "<!-- made from the source by make docs -->\n")
	_, tail, ok2 := strings.Cut(rest, "<!-- end -->")
	if !ok || !ok2 {
		t.Fatalf("%s has lost its marks", path)
	}
	want := head + "<!-- made from the source by make docs -->\n" + table + "<!-- end -->" + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s is not current: make docs", path)
	}
}
