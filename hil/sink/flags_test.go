package sink

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the flags in docs/reference/errors.md")

// docs/reference/errors.md lists the flags of a row, with their names here and their comments in hil/row.go.
func TestFlagsDocs(t *testing.T) {
	const path, begin, end = "../../docs/reference/errors.md", "<!-- flags: begin -->\n", "<!-- flags: end -->"
	source, err1 := os.ReadFile("../row.go")
	page, err2 := os.ReadFile(path)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	flags := regexp.MustCompile(`(?m)^\t(?:// (.*)\n\t)?Flag[A-Z]\w+(?: +Flags = 1 << iota)?(?: +// (.*))?$`).FindAllStringSubmatch(string(source), -1)
	if len(flags) != len(flagNames) {
		t.Fatalf("%d flags in row.go, %d names", len(flags), len(flagNames))
	}
	var b strings.Builder
	b.WriteString("| bit | name | meaning |\n|---|---|---|\n")
	for i, m := range flags {
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", i, flagNames[i], m[1]+m[2])
	}
	head, rest, ok := strings.Cut(string(page), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has lost its marks", path)
	}
	want := head + begin + b.String() + end + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Errorf("%s is not current: make docs", path)
	}
}
