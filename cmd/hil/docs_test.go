package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hilrig/cmd/report"
	"hilrig/identify/record"
)

// Every event code that the program can emit is explained in docs/reference/errors.md, and none is explained that does not exist.
func TestEventCodesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/reference/errors.md")
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
			t.Errorf("docs/reference/errors.md does not explain %s", c)
		}
	}
	for c := range inDoc {
		if !inCode[c] {
			t.Errorf("docs/reference/errors.md explains %s, which nothing emits", c)
		}
	}
}

// Every verb of the program is in the README, which is short.
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
	if n := strings.Count(string(readme), "\n"); n > 70 {
		t.Errorf("README.md has %d lines, want 70", n)
	}
}

// CHANGELOG.md begins with the version of the program, which the Makefile takes from it, and is short enough to be read.
func TestChangelog(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`^## (\d+)\.(\d+)\.(\d+), (\d{4}-\d\d-\d\d)$`)
	last := ""
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "## ") {
			continue
		}
		m := version.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Errorf("%q: want a version and its day, such as ## 1.2.3, 2026-11-30", line)
			continue
		}
		this := fmt.Sprintf("%s %04s.%04s.%04s", m[4], m[1], m[2], m[3])
		if last != "" && this >= last {
			t.Errorf("%q does not stand above a newer one", line)
		}
		last = this
	}
	if last == "" || len(text) > 12_000 {
		t.Errorf("CHANGELOG.md has %d bytes, want at most 12 000, and a version", len(text))
	}
}

// The records that come with the program are what their commands make.
func TestOwnRecordsAreWhatTheirCommandsMake(t *testing.T) {
	t.Parallel()
	made := record.Mapping{Time: record.Column{Name: "time_s"}, Position: record.Column{Name: "measured_position_m"},
		Force: record.Column{Name: "measured_load_N"}}
	table := record.Mapping{Time: record.Column{Name: "t"}, Position: record.Column{Name: "x", Scale: 1e-3}, Force: record.Column{Name: "F"}}
	for _, c := range []struct {
		rig, kept       string
		mapping         record.Mapping
		position, force float64 // m, N: other processors round otherwise, by a count of the encoder; the table has three digits behind the point
		size            int64
	}{
		{"lugre-kalman-rig.yaml", "data/lugre-kalman.csv.gz", made, 0.62e-6, 1e-8, 300_000},
		{"table-rig.yaml", "data/table.csv", table, 1.1e-6, 0.51e-3, 100_000},
	} {
		path, kept := filepath.Join(t.TempDir(), "made.csv.gz"), identifyExamples+c.kept
		if _, errs, code := execute(t, "simulate", identifyExamples+c.rig, "-o", path); code != report.OK {
			t.Fatal(errs)
		}
		as, err := record.Read(path, made)
		if err != nil {
			t.Fatal(err)
		}
		bs, err := record.Read(kept, c.mapping)
		if err != nil {
			t.Fatal(err)
		}
		a, b := as[0], bs[0]
		if a.Len() != b.Len() {
			t.Fatalf("%s: %d and %d samples", kept, a.Len(), b.Len())
		}
		for k := range a.Position {
			if math.Abs(a.Position[k]-b.Position[k]) > c.position || math.Abs(a.Force[k]-b.Force[k]) > c.force {
				t.Fatalf("sample %d: %g m, %g N is %g m, %g N in %s", k, a.Position[k], a.Force[k], b.Position[k], b.Force[k], kept)
			}
		}
		if st, err := os.Stat(kept); err != nil || st.Size() > c.size {
			t.Errorf("%v, %v", st, err)
		}
	}
}

// Every key in brackets, in documents and in the comments of the code, is in docs/reference/references.md, which is in order.
func TestReferenceKeysResolve(t *testing.T) {
	list, err := os.ReadFile("../../docs/reference/references.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	last := ""
	for _, m := range regexp.MustCompile(`(?m)^\| \[(\w+)\] \|`).FindAllStringSubmatch(string(list), -1) {
		if known[m[1]] {
			t.Errorf("docs/reference/references.md lists [%s] twice", m[1])
		}
		if strings.ToLower(m[1]) < strings.ToLower(last) {
			t.Errorf("docs/reference/references.md lists [%s] behind [%s]", m[1], last)
		}
		known[m[1]], last = true, m[1]
	}
	out, err := exec.Command("git", "-C", "../..", "ls-files", "*.go", "*.md").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	// letters and two figures of the year, [C95]; what follows is a place in it, [HW96 IV.8], or a remark
	key := regexp.MustCompile(`\[([A-Z][A-Za-z]*[0-9]{2}|EMPS|MCAP|MOGI|theory)(?:[ ,;][^\]]*)?\]`)
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
					t.Errorf("%s:%d: [%s] is not in docs/reference/references.md", file, i+1, m[1])
				}
			}
		}
	}
	if used < 100 {
		t.Errorf("found only %d keys", used)
	}
}

// Every relative link of the documents leads to a file, and to a heading of it.
func TestLinksOfTheDocumentsResolve(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files", "*.md").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	link := regexp.MustCompile(`\]\(([^)#:\s]*)(#[^)\s]*)?\)`)
	heading, dropped := regexp.MustCompile(`(?m)^#+ (.*)$`), regexp.MustCompile(`[^\pL\pN _-]`)
	anchors := func(text []byte) map[string]bool {
		has := map[string]bool{"": true}
		for _, h := range heading.FindAllSubmatch(text, -1) {
			has["#"+strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(string(h[1])), ""), " ", "-")] = true
		}
		return has
	}
	seen := 0
	for _, file := range strings.Fields(string(out)) {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			seen++
			page := text
			if m[1] != "" {
				target := filepath.Join("../..", filepath.Dir(file), m[1])
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s: link to %s, which is not there", file, m[1])
					continue
				}
				if m[2] != "" {
					if page, err = os.ReadFile(target); err != nil {
						t.Error(err)
					}
				}
			}
			if !anchors(page)[m[2]] {
				t.Errorf("%s: %s%s is no heading", file, m[1], m[2])
			}
		}
	}
	if seen < 200 {
		t.Errorf("found only %d links", seen)
	}
}

// The index of the documents names every page once, with a line of its own; that of the decisions names every decision.
func TestIndexNamesEveryPage(t *testing.T) {
	for _, c := range []struct{ index, row string }{
		{"../../docs/README.md", `(?m)^\| .+ \| \[%[1]s\]\(%[1]s\) \|$`},
		{"../../docs/adr/README.md", `(?m)^\| \d+\. \[.+\]\(%s\) \| [\d-]+ \| .+ \|$`},
	} {
		index, err := os.ReadFile(c.index)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(c.index)
		pages, err1 := filepath.Glob(dir + "/*.md")
		below, err2 := filepath.Glob(dir + "/*/*.md")
		if pages = append(pages, below...); err1 != nil || err2 != nil || len(pages) < 20 {
			t.Fatalf("%d pages, %v, %v", len(pages), err1, err2)
		}
		for _, path := range pages {
			name, _ := filepath.Rel(dir, path)
			if name == "README.md" || filepath.Dir(name) == "adr" && name != "adr/README.md" {
				continue
			}
			if n := len(regexp.MustCompile(fmt.Sprintf(c.row, name)).FindAll(index, -1)); n != 1 {
				t.Errorf("%s names %s in %d rows, want 1", c.index, name, n)
			}
		}
	}
}

// Pages for users hold no command of a test and no measurement of it: those stand in docs/evidence.
func TestUserPagesHoldNoTestLines(t *testing.T) {
	pages := []string{"../../README.md"}
	for _, kind := range []string{"tutorials", "howto", "reference", "explanation"} {
		more, err := filepath.Glob("../../docs/" + kind + "/*.md")
		if err != nil || len(more) < 5 {
			t.Fatalf("%s: %d pages, %v", kind, len(more), err)
		}
		pages = append(pages, more...)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if strings.Contains(line, "go test") || strings.Contains(line, "-tags soak") || strings.Contains(line, "make soak") {
				t.Errorf("%s: %s", page, line)
			}
		}
	}
}

// Who has one of these questions finds a line with its words in README.md or, one click further, in the index, and the link of the line leads
// to the page.
func TestQuestionsFindTheirPage(t *testing.T) {
	text := ""
	for _, page := range []string{"README.md", "docs/README.md"} {
		read, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		text += string(read)
	}
	if !strings.Contains(text, "(docs/README.md)") {
		t.Error("README.md does not lead to the index")
	}
	for _, c := range []struct{ words, page string }{
		{"choose a motion", "howto/excitation.md"}, {"measure R, L and K", "howto/electric.md"}, {"zero of the current", "howto/electric.md"},
		{"tune", "howto/tune.md"}, {"choose a friction law", "howto/law.md"}, {"verdict", "howto/verdict.md"},
		{"trips, hums or is late", "howto/symptoms.md"}, {"Python, MATLAB", "howto/read-run.md"}, {"install", "howto/install.md"},
		{"start it at boot", "howto/install.md"}, {"two people", "howto/operators.md"}, {"exit code", "reference/errors.md"},
		{"a table of numbers", "tutorials/table.md"}, {"a word means", "glossary.md"},
	} {
		found := false
		for _, line := range strings.Split(text, "\n") {
			found = found || strings.Contains(line, c.words) && strings.Contains(line, c.page+")")
		}
		if !found {
			t.Errorf("no line with %q leads to %s", c.words, c.page)
		}
	}
}

// Every path of docs that stands in sources, messages, examples and pages is there, and so is every file of configs that README.md and the
// tutorials name.
func TestPathsOfDocsExist(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	there := map[string]bool{}
	files := strings.Fields(string(out))
	for _, file := range files {
		for ; file != "."; file = filepath.Dir(file) {
			there[file] = true
		}
	}
	docs := regexp.MustCompile(`(?:^|[^\w/.-]|\.\./)(docs/[\w./-]*\w)`)
	configs := regexp.MustCompile(`\b(configs/[\w./-]*\w)`)
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile("../../" + file)
		if err != nil || !bytes.Contains(text, []byte("docs/")) && !bytes.Contains(text, []byte("configs/")) {
			continue
		}
		paths := docs.FindAllStringSubmatch(string(text), -1)
		if file == "README.md" || strings.HasPrefix(file, "docs/tutorials/") {
			paths = append(paths, configs.FindAllStringSubmatch(string(text), -1)...)
		}
		for _, m := range paths {
			if seen++; !there[m[1]] {
				t.Errorf("%s: %s is not there", file, m[1])
			}
		}
	}
	if seen < 200 {
		t.Errorf("found only %d paths", seen)
	}
}

// An equation number, as [MOGI] (6.44), says nothing by itself: every page and every file that has one names the source that counts so, at
// the first of them.
func TestEquationNumbersNameTheirSource(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files", "*.go", "*.md").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	number := regexp.MustCompile(`(?m)(?:^|[^\pL\d_)\]])\(6\.[1-9]\d?\)`) // [MOGI] is the only source with numbers by chapter; not f(6.5)
	named := regexp.MustCompile(`(?m)\[\w+\] \(6\.[1-9]\d?\)`)
	files := 0
	for _, file := range strings.Fields(string(out)) {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			continue // deleted in the working tree
		}
		first := number.FindIndex(text)
		if first == nil {
			continue
		}
		files++
		if with := named.FindIndex(text); with == nil || with[1] > first[1] {
			t.Errorf("%s: write the key of its source before %s, as in [MOGI] (6.44)", file, text[first[0]:first[1]])
		}
	}
	if files < 20 {
		t.Errorf("only %d files have equation numbers", files)
	}
}
