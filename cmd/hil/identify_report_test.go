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
		values, read = append(values, x), append(read, strings.ReplaceAll(m[2], "−", "-"))
	}
	return values, read
}

// The page says what the JSON says: the whole of it is carried along, and the numbers of the tables are its numbers, rounded as they are
// read.
func TestReportSaysWhatTheJSONSays(t *testing.T) {
	good := axisRecord(t, 1)
	page, result := reportOf(t, report.OK, "identify", good, "--validate", filepath.Join(filepath.Dir(good), "record.csv"), "--bootstrap", "0", "--seed", "7")
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
	for _, want := range []string{html.EscapeString(r.Headline()), "validation", r.Data.SHA256, `id="seed">7<`, "hil identify", "axis.yaml", `<figure id="fit">`, `<figure id="validation">`, `<figure id="residual">`,
		`<figure id="autocorrelation">`, `<figure id="friction">`, `<figure id="correlation">`, "convergence of regress: it is solved at once"} {
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
		{"figures again", []string{"--report", filepath.Join(dir, "other.html")}, report.Usage, "figures holds figures already; --force writes over them"},
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
	out, errs, code := execute(t, "identify", good, "--plot")
	if code != report.OK || !strings.Contains(out, "⣿") && !strings.Contains(out, "⠤") || !strings.Contains(out, "friction / N") || !strings.Contains(out, "not drawn: convergence of regress") {
		t.Errorf("--plot: exit code %d\n%s%s", code, out, errs)
	}
}
