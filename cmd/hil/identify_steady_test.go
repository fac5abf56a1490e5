package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/report"
)

// A table of means with their deviation and count is enough for the static map: the law that made it comes back within its
// intervals.
func TestIdentifyTableOfSteadyFriction(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	b.WriteString("speed,mean,sd,n\n# mm/s,N,N,1\n")
	for _, side := range []float64{1, -1} {
		for k := range 24 {
			v := 1e-3 * math.Pow(10, float64(k)/8) // m/s
			f := 2 + 1.5*math.Exp(-math.Pow(v/0.02, 2)) + 6*v
			n := 50 + r.IntN(100)
			const sd = 0.2 // N, of a sample
			fmt.Fprintf(&b, "%.6g,%.6g,%g,%d\n", side*1e3*v, side*(f+sd/math.Sqrt(float64(n))*r.NormFloat64()), sd, n)
		}
	}
	yaml := "version: 1\naxis: linear\nmethod: [static]\nmodel: {law: stribeck-bo-pavelescu}\ndata:\n  file: map.csv\n  steady: true\n " +
		" columns:\n" +
		"    velocity: {name: speed, unit: mm/s}\n    force: {name: mean, unit: N}\n    deviation: {name: sd, unit: N}\n    count: {name: n}\n"
	for name, text := range map[string]string{"map.csv": b.String(), "map.yaml": yaml} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, code := execute(t, "identify", filepath.Join(dir, "map.yaml"), "--json")
	var got struct {
		Parameters []struct {
			Name  string
			Value float64
			CI95  [2]float64 `json:"interval"`
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != report.OK {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, errs)
	}
	want := map[string]float64{"Fc": 2, "Fs": 3.5, "vs": 0.02}
	for _, p := range got.Parameters {
		x, known := want[p.Name]
		half := (p.CI95[1] - p.CI95[0]) / 2
		if known && (math.Abs(p.Value-x) > 2*half || half > 0.1*x) {
			t.Errorf("%s = %g %v, want %g", p.Name, p.Value, p.CI95, x)
		}
		delete(want, p.Name)
	}
	if len(want) > 0 {
		t.Errorf("no %v in %s", want, out)
	}
}
