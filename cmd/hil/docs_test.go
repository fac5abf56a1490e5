package main

import (
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

// The commands of the README work on a fresh clone: their files are there and sound, and their records are in the repository.
func TestReadmeCommandsAreReady(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	for _, m := range regexp.MustCompile("(?m)(?:^bin/|`)hil (\\w+) +(configs/[^\\s`]+)").FindAllStringSubmatch(string(readme), -1) {
		path := "../../" + m[2]
		if out, errs, code := execute(t, "check", path); code != report.OK {
			t.Errorf("hil %s %s: %s%s", m[1], m[2], out, errs)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range regexp.MustCompile(`\bfile: ([^\s,}]+)`).FindAllStringSubmatch(string(text), -1) {
			records++
			file := filepath.Join(filepath.Dir(m[2]), record[1])
			if exec.Command("git", "-C", "../..", "ls-files", "--error-unmatch", file).Run() != nil {
				t.Errorf("hil %s %s: its record %s is not in the repository", m[1], m[2], file)
			}
		}
	}
	if records < 3 {
		t.Errorf("%d records", records)
	}
}

// The record that comes with the program is what its command makes.
func TestOwnRecordIsWhatItsCommandMakes(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made.csv.gz")
	if _, errs, code := execute(t, "simulate", identifyExamples+"lugre-kalman-rig.yaml", "-o", made); code != report.OK {
		t.Fatal(errs)
	}
	m := record.Mapping{Time: record.Column{Name: "time_s"}, Position: record.Column{Name: "measured_position_m"},
		Force: record.Column{Name: "measured_load_N"}}
	kept := identifyExamples + "data/lugre-kalman.csv.gz"
	as, err := record.Read(made, m)
	if err != nil {
		t.Fatal(err)
	}
	bs, err := record.Read(kept, m)
	if err != nil {
		t.Fatal(err)
	}
	a, b := as[0], bs[0]
	if a.Len() != b.Len() {
		t.Fatalf("%d and %d samples", a.Len(), b.Len())
	}
	for k := range a.Position { // other processors round otherwise: a count of the encoder, a millionth of the noise
		if math.Abs(a.Position[k]-b.Position[k]) > 0.62e-6 || math.Abs(a.Force[k]-b.Force[k]) > 1e-8 {
			t.Fatalf("sample %d: %g m, %g N is %g m, %g N in %s", k, a.Position[k], a.Force[k], b.Position[k], b.Force[k], kept)
		}
	}
	if st, err := os.Stat(kept); err != nil || st.Size() > 300_000 {
		t.Errorf("%v, %v", st, err)
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

// The index of the documents names every page once, with a line of its own.
func TestIndexNamesEveryPage(t *testing.T) {
	index, err := os.ReadFile("../../docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../docs/*/*.md")
	if err != nil || len(pages) < 50 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, path := range pages {
		name := strings.TrimPrefix(path, "../../docs/")
		if n := len(regexp.MustCompile(`(?m)^\| .+ \| \[`+name+`\]\(`+name+`\) \|$`).FindAll(index, -1)); n != 1 && filepath.Dir(name) != "adr" {
			t.Errorf("docs/README.md names %s in %d rows, want 1", name, n)
		}
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
