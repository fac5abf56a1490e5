package main

import (
	"os"
	"os/exec"
	"path/filepath"
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

// Every key in brackets, in documents and in the comments of the code, is in docs/references.md, which is in order.
func TestReferenceKeysResolve(t *testing.T) {
	list, err := os.ReadFile("../../docs/references.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	last := ""
	for _, m := range regexp.MustCompile(`(?m)^\| \[(\w+)\] \|`).FindAllStringSubmatch(string(list), -1) {
		if known[m[1]] {
			t.Errorf("docs/references.md lists [%s] twice", m[1])
		}
		if strings.ToLower(m[1]) < strings.ToLower(last) {
			t.Errorf("docs/references.md lists [%s] behind [%s]", m[1], last)
		}
		known[m[1]], last = true, m[1]
	}
	out, err := exec.Command("git", "-C", "../..", "ls-files", "*.go", "*.md").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	// letters and two figures of the year, [C95]; what follows is a place in it, [HW96 IV.8], or a remark
	key := regexp.MustCompile(`\[([A-Z][A-Za-z]*[0-9]{2}|EMPS|MCAP)(?:[ ,;][^\]]*)?\]`)
	used := 0
	for _, file := range strings.Fields(string(out)) {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			continue // deleted in the working tree
		}
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasSuffix(file, ".go") { // code has brackets of its own
				_, line, _ = strings.Cut(line, "//")
			}
			for _, m := range key.FindAllStringSubmatch(line, -1) {
				if used++; !known[m[1]] {
					t.Errorf("%s:%d: [%s] is not in docs/references.md", file, i+1, m[1])
				}
			}
		}
	}
	if used < 100 {
		t.Errorf("found only %d keys", used)
	}
}

// Every relative link of the documents leads to a file.
func TestLinksOfTheDocumentsResolve(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files", "*.md").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	link := regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
	seen := 0
	for _, file := range strings.Fields(string(out)) {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			seen++
			if _, err := os.Stat(filepath.Join("../..", filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s: link to %s, which is not there", file, m[1])
			}
		}
	}
	if seen < 20 {
		t.Errorf("found only %d links", seen)
	}
}
