package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/report"
)

// The wrong kind of file given to a verb names the right verb, and does nothing else.
func TestWrongKindOfFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rig, sim, brush, ident, study := "../../configs/serial-line.yaml", "../../configs/stick-slip.yaml", "../../configs/brush.yaml",
		"../../configs/emps.yaml", "../../configs/study/stick-slip.yaml"
	run := exportRun(t)
	odd := write("odd.txt", "t;x;F\n0;1;2\n1;2;3\n")
	result := write("result.json", `{"name": "x", "rig": "motor", "stages": [{}], "verdict": "identified"}`) // of a recording: it names its rig
	picture, page := write("laws.png", "\x89PNG\r\n\x1a\n"+strings.Repeat(":", 7000)), write("run.html", "<!doctype html><html>\x00")
	for _, c := range []struct {
		file, is, next string
		verbs          []string
	}{
		{rig, "describes a rig", "hil run " + rig, []string{"identify", "compare", "simulate", "study", "replay", "export"}},
		{sim, "describes a simulation", "hil simulate " + sim, []string{"run", "rig", "identify", "compare", "study", "replay"}},
		{brush, "describes bodies in contact", "hil simulate " + brush, []string{"run", "identify", "study"}},
		{ident, "describes an identification", "hil identify " + ident, []string{"run", "simulate", "study", "export"}},
		{study, "describes a study", "hil study " + study, []string{"run", "simulate", "identify"}},
		{run, "is a recording", "hil identify " + run, []string{"run", "simulate", "study", "check", "compare"}},
		{filepath.Join(run, "run.mcap"), "is a recording", "hil replay " + run, []string{"simulate", "check"}},
		{odd, "holds columns of numbers: t, x, F", "--columns time=t:s,position=x:m,force=F:N",
			[]string{"run", "simulate", "study", "compare", "check"}},
		{odd, "is no recording", "hil identify " + odd, []string{"replay", "export"}},
		{result, "is a result of hil identify", "hil config apply " + result, []string{"run", "identify", "simulate", "check", "view", "config show"}},
		{rig, "describes a rig", "hil run " + rig, []string{"lcp", "export-model --to c", "config apply"}},
		{picture, "is a picture", "--help", []string{"run", "identify", "simulate", "study", "compare", "check", "import", "replay", "lcp"}},
		{page, "is a page for a browser", "--help", []string{"identify", "view", "import"}},
		{filepath.Join(dir, "odd.tx"), "no such file", "did you mean \"" + odd, []string{"identify", "run", "import", "lcp", "check"}},
		{filepath.Join(dir, "no", "x.yaml"), "no such file", "there is no no in " + dir, []string{"simulate"}},
		{filepath.Join(filepath.Dir(run), "ru"), "no recording there", "hil run makes one", []string{"view", "export -o -", "identify"}},
		{odd, "is no folder", "runs in it", []string{"runs", "runs prune --keep 1GB"}},
		{filepath.Join(dir, "no"), "no such file", "there is no no in", []string{"runs", "runs prune --keep 1GB"}},
	} {
		for _, verb := range c.verbs {
			out, errs, code := execute(t, append(strings.Fields(verb), c.file)...)
			if code != report.Invalid || !strings.Contains(errs, c.is) || !strings.Contains(errs, c.next) || out != "" {
				t.Errorf("hil %s %s: code %d\n%s%s", verb, filepath.Base(c.file), code, out, errs)
			}
		}
	}
	// a file that is what the verb wants, or that nobody can tell, is the verb's own business
	for _, c := range [][]string{{"check", rig}, {"check", sim}, {"check", study}, {"run", write("empty.yaml", ""), "--duration", "1ms"},
		{"compare", result, result}, {"study", "no-such-study"}} {
		if _, errs, _ := execute(t, c...); strings.Contains(errs, "does not take that") {
			t.Errorf("hil %v: %s", c, errs)
		}
	}
}

// The command that a bare table of numbers is answered with works as it stands, but for the units of its columns.
func TestExampleForNumbers(t *testing.T) {
	dir := t.TempDir()
	packed := filepath.Join(dir, "axis.csv.gz")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	plain, err := os.ReadFile(filepath.Join(filepath.Dir(axisRecord(t, 1)), "record.csv"))
	if err != nil {
		t.Fatal(err)
	}
	z.Write(plain)
	z.Close()
	if err := os.WriteFile(packed, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	_, errs, _ := execute(t, "compare", packed)
	_, text, _ := strings.Cut(errs, "\n\nhil ")
	text, _, _ = strings.Cut(text, "\n\n")
	file := filepath.Join(dir, "axis.yaml")
	text = strings.NewReplacer("timestamp:s", "timestamp:ms", "pos:m", "pos:mm", "u:N", "u:V:2.5N/V", "axis.yaml", file).Replace(text)
	if out, errs, code := execute(t, strings.Fields(text)...); code != 0 && code != report.Quality || !strings.Contains(out, "least squares") {
		t.Errorf("code %d\n%s\n%s%s", code, text, out, errs)
	}
	if out, errs, code := execute(t, "check", file); code != report.OK || !strings.Contains(out, "has these columns") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
}
