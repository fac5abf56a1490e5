package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/identify"
	"hilrig/cmd/report"
)

// reportOf runs a verb with --report and --output and reads both.
func reportOf(t *testing.T, code int, args ...string) (page string, result []byte) {
	t.Helper()
	dir := t.TempDir()
	file, kept := filepath.Join(dir, "report.html"), filepath.Join(dir, "result.json")
	if out, errs, got := execute(t, append(args, "--report", file, "-o", kept)...); got != code {
		t.Fatalf("exit code %d, want %d\n%s%s", got, code, out, errs)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	result, _ = os.ReadFile(kept)
	return string(data), result
}

// carried is the JSON that a page carries.
func carried(t *testing.T, page string) []byte {
	t.Helper()
	m := regexp.MustCompile(`(?s)<script type="application/json" id="result">(.*?)</script>`).FindStringSubmatch(page)
	if m == nil {
		t.Fatal("the page carries no JSON")
	}
	return []byte(m[1])
}

// plainNumber writes the numbers of pages as Go does.
var plainNumber = strings.NewReplacer("−", "-", "·10", "e", "⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8",
	"⁹", "9")

// cells are the numbers of the cells of a class in the table row of a parameter: the whole ones and what is read.
func cells(t *testing.T, page, parameter, class string) (values []float64, read []string) {
	t.Helper()
	row := regexp.MustCompile(`(?s)<tr data-parameter="` + regexp.QuoteMeta(html.EscapeString(parameter)) + `">.*?</tr>`).FindString(strings.ReplaceAll(page, "&#43;", "+"))
	cell := regexp.MustCompile(`<td class="n ` + class + `"[^>]*>(.*?)</td>`).FindStringSubmatch(row)
	if cell == nil {
		t.Fatalf("%s: no cell %s in %q", parameter, class, row)
	}
	for _, m := range regexp.MustCompile(`<data value="([^"]*)">([^<]*)</data>`).FindAllStringSubmatch(cell[1], -1) {
		x, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		values, read = append(values, x), append(read, plainNumber.Replace(m[2]))
	}
	return values, read
}

// The page says what the JSON says: the whole of it is carried along, and the numbers of the tables are its numbers, rounded as they are
// read.
func TestReportSaysWhatTheJSONSays(t *testing.T) {
	good := axisRecord(t, 1)
	page, result := reportOf(t, report.OK, "identify", good, "--validate", filepath.Join(filepath.Dir(good), "record.csv"), "--bootstrap",
		"0", "--seed", "7")
	var r identify.Identification
	if err := json.Unmarshal(result, &r); err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if json.Compact(&a, carried(t, page)) != nil || json.Compact(&b, result) != nil || a.Len() < 1000 {
		t.Fatalf("%d and %d bytes of JSON", a.Len(), b.Len())
	}
	var one, other any
	_ = json.Unmarshal(a.Bytes(), &one)
	_ = json.Unmarshal(b.Bytes(), &other)
	x, _ := json.Marshal(one)
	y, _ := json.Marshal(other)
	if !bytes.Equal(x, y) {
		t.Error("the page carries another JSON than --output wrote")
	}
	for _, p := range r.Parameters {
		if p.Fixed {
			continue
		}
		want := map[string][]float64{"value": {p.Value}, "error": {*p.Error}, "interval": {p.CI[0], p.CI[1]}}
		for class, w := range want {
			values, read := cells(t, page, p.Name, class)
			if len(values) != len(w) {
				t.Errorf("%s, %s: %v, want %v", p.Name, class, values, w)
				continue
			}
			for i := range w {
				if values[i] != w[i] {
					t.Errorf("%s, %s: %v, the JSON says %v", p.Name, class, values[i], w[i])
				}
				// what is read is the number, rounded to as many digits as are shown
				digits := len(read[i]) - 1 - strings.IndexByte(read[i]+".", '.')
				if read[i] != strconv.FormatFloat(w[i]+0, 'f', max(digits, 0), 64) && !strings.Contains(read[i], "e") {
					t.Errorf("%s, %s: %s is read, the JSON says %v", p.Name, class, read[i], w[i])
				}
			}
		}
	}
	for _, want := range []string{html.EscapeString(report.Readable(r.Headline())), "validation", r.Data.SHA256, `id="seed">7<`, "hil identify", "axis.yaml",
		`<figure data-figure="fit">`, `<figure data-figure="validation">`, `<figure data-figure="residual">`,
		`<figure data-figure="autocorrelation">`, `<figure data-figure="friction">`, `<figure data-figure="correlation">`,
		"convergence of regress: it is solved at once"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.Contains(page, `id="interrupted"`) || strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "NaN") {
		t.Error("the page says it was interrupted, or a value did not fit its place")
	}
	if m := regexp.MustCompile(`(src|href)="[^"]*"|url\(`).FindString(page); m != "" {
		t.Errorf("the page needs another file: %s", m)
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg .*?</svg>`).FindAllString(page, -1) {
		for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err := dec.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%v in %.100s", err, svg)
			}
		}
	}
}

// Files that are there stay, and a folder with figures too, unless --force is given; --plot does not mix with JSON. Nothing of that waits
// for a fit.
func TestReportKeepsFiles(t *testing.T) {
	t.Parallel()
	good := axisRecord(t, 1)
	dir := t.TempDir()
	file, figures := filepath.Join(dir, "report.html"), filepath.Join(dir, "figures")
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"first", nil, report.OK, ""},
		{"again", nil, report.Usage, "report.html exists; --force writes over it"},
		{"figures again", []string{"--report", filepath.Join(dir, "other.html")}, report.Usage,
			"figures holds figures already; --force writes over them"},
		{"forced", []string{"--force"}, report.OK, ""},
		{"no such folder", []string{"--force", "--report", filepath.Join(dir, "none", "r.html")}, report.Unavailable, "cannot write beside"},
		{"plot and json", []string{"--force", "--plot", "--json"}, report.Usage, "leave one out"},
	} {
		_, errs, code := execute(t, append([]string{"identify", good, "--report", file, "--figures", figures}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%s: exit code %d, want %d\n%s", c.name, code, c.code, errs)
		}
	}
	for _, name := range []string{"fit.svg", "fit.pdf", "friction.svg", "friction.pdf", "correlation.pdf"} {
		if st, err := os.Stat(filepath.Join(figures, name)); err != nil || st.Size() < 500 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", ".hil-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	refused := filepath.Join(dir, "refused.html")
	if _, errs, code := execute(t, "identify", good, "--terms", "inertia,coulomb+,coulomb-,offset", "--report",
		refused); code != report.Quality || !strings.Contains(errs, "there is no result to show") {
		t.Errorf("a refusal: exit code %d\n%s", code, errs)
	}
	if _, err := os.Stat(refused); err == nil {
		t.Error("a refusal has a page")
	}
	out, errs, code := execute(t, "identify", good, "--plot")
	if code != report.OK || !strings.Contains(out, "⣿") && !strings.Contains(out, "⠤") || !strings.Contains(out, "friction / N") ||
		!strings.Contains(out, "not drawn: convergence of regress") {
		t.Errorf("--plot: exit code %d\n%s%s", code, out, errs)
	}
}

// Ctrl-C in the middle of an evolution, or of the second of two models, leaves a page that says so at its top.
func TestReportOfWhatWasInterrupted(t *testing.T) {
	t.Parallel()
	endless := "axis: linear\nmodel: {law: lugre, output: position}\naep: {generations: 1000000}\n"
	for _, c := range []struct {
		verb, config string
		says         []string
	}{
		{"identify", endless + "method: [regress, aep]\n", []string{"Interrupted, by Ctrl-C", "interrupted: the best so far, not the optimum"}},
		{"compare", endless + "compare:\n  - {name: straight, method: [regress]}\n  - {name: evolved, method: [aep]}\n",
			[]string{"Interrupted: models without a result", "interrupted before it was fitted", "straight: "}},
	} {
		path := axisRecord(t, 1, "axis: linear\n", c.config)
		file := filepath.Join(t.TempDir(), "report.html")
		var page []byte
		for wait := time.Second; page == nil; wait *= 2 { // longer where the first fit took longer than that
			if wait > 30*time.Second {
				t.Fatalf("%s: no page after an interrupt", c.verb)
			}
			cmd := program(t, c.verb, path, "--report", file)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(wait)
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != report.Interrupted {
				t.Fatalf("%s: exit code %d", c.verb, cmd.ProcessState.ExitCode())
			}
			if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), c.says[1]) {
				page = data
			}
			os.Remove(file)
		}
		head, _, _ := strings.Cut(string(page), "</header>")
		if !strings.Contains(head, c.says[0]) {
			t.Errorf("%s: the top of the page says nothing: %.300s", c.verb, head)
		}
		for _, want := range append(c.says, `<figure data-figure="fit">`, "</html>") {
			if !strings.Contains(string(page), want) {
				t.Errorf("%s: no %q in the page", c.verb, want)
			}
		}
	}
}

// A comparison is ranked as its JSON says, the best model first, and each has its figures.
func TestReportOfAComparison(t *testing.T) {
	t.Parallel()
	path := axisRecord(t, 1, "axis: linear\n", "axis: linear\nmethod: [regress]\ncompare:\n  - {name: plain, terms: [inertia, viscous, "+
		"offset]}\n  - {name: dry & viscous, terms: [inertia, viscous, coulomb, offset]}\n")
	page, result := reportOf(t, report.OK, "compare", path)
	var c identify.Compared
	if err := json.Unmarshal(result, &c); err != nil {
		t.Fatal(err)
	}
	if c.Models[0].Name != "dry & viscous" {
		t.Fatalf("best is %s", c.Models[0].Name)
	}
	at := 0
	for _, m := range c.Models {
		i := strings.Index(page[at:], html.EscapeString(m.Name)+"</td>")
		if i < 0 {
			t.Fatalf("%s is not in the table, or not in its place", m.Name)
		}
		at += i
		if row, _, _ := strings.Cut(page[at:], "</tr>"); !strings.Contains(row, `<data value="`+strconv.FormatFloat(*m.RMS, 'g', -1, 64)+`">`) {
			t.Errorf("%s: no rms %v in %q", m.Name, *m.RMS, row)
		}
	}
	if n := strings.Count(page, `<figure data-figure="friction">`); n != 2 {
		t.Errorf("%d figures of friction", n)
	}
	if !bytes.Contains(carried(t, page), []byte(`"headline"`)) || !strings.Contains(page, html.EscapeString(c.Headline)) {
		t.Error("the ranking in words is missing")
	}
}
