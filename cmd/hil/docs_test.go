package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Every event code that the program can emit is explained in docs/errors.md, and none is explained that does not exist.
func TestEventCodesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "-C", "../..", "ls-files", "*.go").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	code := regexp.MustCompile(`(?:"(?:info|warn|error)"|level), (?:Code: )?"([A-Z]+(?:_[A-Z]+)*)"|Code: +"([A-Z]+(?:_[A-Z]+)*)"`)
	inCode := map[string]bool{}
	for _, file := range strings.Fields(string(out)) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			continue // deleted in the working tree
		}
		for _, m := range code.FindAllStringSubmatch(string(text), -1) {
			inCode[m[1]+m[2]] = true
		}
	}
	if len(inCode) < 8 {
		t.Fatalf("found only %v", inCode)
	}
	section := strings.Split(strings.Split(string(doc), "## Event codes")[1], "\n## ")[0]
	inDoc := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)`").FindAllStringSubmatch(section, -1) {
		inDoc[m[1]] = true
	}
	for c := range inCode {
		if !inDoc[c] {
			t.Errorf("docs/errors.md does not explain %s", c)
		}
	}
	for c := range inDoc {
		if !inCode[c] {
			t.Errorf("docs/errors.md explains %s, which nothing emits", c)
		}
	}
}

// Every verb of the program is in the README.
func TestVerbsAreInTheReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range newRoot().Commands() {
		if !c.Hidden && !strings.Contains(string(readme), "hil "+c.Name()) {
			t.Errorf("README.md does not mention hil %s", c.Name())
		}
	}
}
