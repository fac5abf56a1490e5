package hil

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every cause has advice in one line, and the pages and keys that it names are there.
func TestAdvice(t *testing.T) {
	keys, err := os.ReadFile("../docs/reference/config.md")
	if err != nil {
		t.Fatal(err)
	}
	for c := range causes {
		text := Cause(c).Advice()
		if text == "" || strings.Contains(text, "\n") || strings.HasSuffix(text, ".") {
			t.Errorf("%v: %q", Cause(c), text)
		}
		for _, page := range regexp.MustCompile(`docs/[a-z/-]+\.md`).FindAllString(text, -1) {
			if _, err := os.Stat("../" + page); err != nil {
				t.Errorf("%v: %v", Cause(c), err)
			}
		}
		for _, key := range regexp.MustCompile(`\b[a-z]+_[a-z]+\b`).FindAllString(text, -1) {
			if !strings.Contains(string(keys), "`"+key+"`") {
				t.Errorf("%v: no key %s", Cause(c), key)
			}
		}
	}
	if Cause(250).Advice() == "" {
		t.Error("no advice for a cause that nobody knows")
	}
}
