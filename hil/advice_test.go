package hil

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every cause has advice in one line, and the pages and keys that it names are there. docs/reference/errors.md lists all of it.
func TestAdviceDocs(t *testing.T) {
	keys, err := os.ReadFile("../docs/reference/config.md")
	if err != nil {
		t.Fatal(err)
	}
	page := regexp.MustCompile(`docs/([a-z/-]+\.md)`)
	var table strings.Builder
	table.WriteString("| cause | what to do |\n|---|---|\n")
	for c := range causes {
		text := Cause(c).Advice()
		if advice[Cause(c)] != "" {
			fmt.Fprintf(&table, "| %v | %s |\n", Cause(c), page.ReplaceAllString(text, "[$1](../$1)"))
		}
		if text == "" || strings.Contains(text, "\n") || strings.HasSuffix(text, ".") {
			t.Errorf("%v: %q", Cause(c), text)
		}
		for _, path := range page.FindAllString(text, -1) {
			if _, err := os.Stat("../" + path); err != nil {
				t.Errorf("%v: %v", Cause(c), err)
			}
		}
		for _, key := range regexp.MustCompile(`\b[a-z]+_[a-z]+\b`).FindAllString(text, -1) {
			if !strings.Contains(string(keys), "`"+key+"`") {
				t.Errorf("%v: no key %s", Cause(c), key)
			}
		}
	}
	comparePart(t, "../docs/reference/errors.md", "advice", table.String())
	if Cause(250).Advice() == "" {
		t.Error("no advice for a cause that nobody knows")
	}
}
