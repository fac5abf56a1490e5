package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/report"
	"hilrig/cmd/simulate"
)

// A problem file as a script sees it: exit code, status, and numbers that hold for the file.
func TestLCPVerb(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file string
		code       int
		status     string
		z          []float64
		says       string
	}{
		{"solved", `{"M": [[2, 1], [1, 2]], "q": [-5, -6]}`, report.OK, "solved", []float64{4. / 3, 7. / 3}, ""},
		{"trivial", `{"M": [[-1]], "q": [0]}`, report.OK, "trivial", []float64{0}, ""},
		{"infeasible", `{"M": [[-1, 0], [0, 1]], "q": [-1, 2]}`, report.Quality, "ray infeasible", nil, "there is no solution"},
		{"feasible without a solution", `{"M": [[0, 1], [0, 0]], "q": [-1, 1]}`, report.Quality, "ray unknown", nil, "there is no solution"},
		{"not square", `{"M": [[1, 2]], "q": [1, 2]}`, report.Invalid, "", nil, "matrix M: 1 rows, want 2"},
		{"empty", `{"M": [], "q": []}`, report.Invalid, "", nil, "q: empty"},
		{"not a number", `{"M": [[NaN]], "q": [1]}`, report.Invalid, "", nil, "want {"},
		{"null", `{"M": [[null]], "q": [1]}`, report.Invalid, "", nil, "null where a number belongs"},
		{"misspelt", `{"m2": [[1]], "q": [1]}`, report.Invalid, "", nil, "m2"},
		{"two problems", `{"M": [[1]], "q": [1]} {"M": [[1]], "q": [1]}`, report.Invalid, "", nil, "one problem a file"},
	} {
		path := filepath.Join(t.TempDir(), "p.json")
		if err := os.WriteFile(path, []byte(c.file), 0o644); err != nil {
			t.Fatal(err)
		}
		out, errs, code := execute(t, "lcp", path)
		if code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%s: exit code %d, want %d with %q: %s", c.name, code, c.code, c.says, errs)
		}
		if c.code == report.Invalid {
			if out != "" {
				t.Errorf("%s: printed %s", c.name, out)
			}
			continue
		}
		var a simulate.LCPAnswer
		if err := json.Unmarshal([]byte(out), &a); err != nil || a.Status != c.status || len(a.Z) != len(c.z) {
			t.Errorf("%s: %v, %s", c.name, err, out)
			continue
		}
		for i, z := range c.z {
			if math.Abs(a.Z[i]-z) > 1e-12 || a.W[i] < -1e-12 || math.Abs(a.W[i]*a.Z[i]) > 1e-12 {
				t.Errorf("%s: z %v, w %v; want z %v", c.name, a.Z, a.W, c.z)
			}
		}
		if c.status == "ray infeasible" && (len(a.Certificate) != 2 || a.Certificate[0] <= 0) {
			t.Errorf("%s: certificate %v", c.name, a.Certificate)
		}
	}
	if _, errs, code := execute(t, "lcp", "no-such.json"); code != report.Invalid || !strings.Contains(errs, "no-such.json") {
		t.Errorf("missing file: %d, %s", code, errs)
	}
}
