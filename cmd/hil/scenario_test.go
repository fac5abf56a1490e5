package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/report"
	"hilrig/cmd/simulate"
	"hilrig/engine/experiment"
)

// The figures 6.4 to 6.42 of [MOGI] are all there, well formed and not blank, beside the tables.
func TestScenarioFigures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := simulate.ScenarioOptions{C: experiment.Public(), Scheme: "midpoint", OutputFolder: dir, Formats: []string{"svg"}}
	var out bytes.Buffer
	if err := simulate.Scenario(context.Background(), "all", f, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for n := 4; n <= 42; n++ {
		names, _ := filepath.Glob(filepath.Join(dir, fmt.Sprintf("fig-6.%02d-*.svg", n)))
		if len(names) != 1 {
			t.Errorf("figure 6.%d: files %v, want one", n, names)
			continue
		}
		data, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		paths := 0
		for dec := xml.NewDecoder(bytes.NewReader(data)); ; {
			tok, err := dec.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", names[0], err)
			}
			if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "path" {
				paths++
			}
		}
		if paths < 10 {
			t.Errorf("%s: %d strokes, want axes and curves", names[0], paths)
		}
	}

	// the table for programs holds every number that is printed
	var r struct {
		Outcomes []struct {
			Scenario, Law string
			Metrics       map[string]struct{ Value *float64 }
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil || len(r.Outcomes) != 30 {
		t.Fatalf("metrics.json: %v, %d outcomes, want five laws in six scenarios", err, len(r.Outcomes))
	}
	lines := 1
	for _, o := range r.Outcomes {
		lines += len(o.Metrics)
	}
	file, err := os.Open(filepath.Join(dir, "metrics.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) != lines {
		t.Errorf("metrics.csv: %v, %d lines, want %d", err, len(rows), lines)
	}
	if !strings.Contains(out.String(), "first break-away") || !strings.Contains(out.String(), "Karnopp") {
		t.Errorf("printed:\n%s", out.String())
	}
}

// One law of the user's choice: PNG is a picture with ink, nothing is written over without being told to.
func TestScenarioOfOneLaw(t *testing.T) {
	dir := t.TempDir()
	f := simulate.ScenarioOptions{C: experiment.Public(), Scheme: "midpoint", OutputFolder: dir, Formats: []string{"png"},
		Laws: []string{"elasto-plastic"}}
	if err := simulate.Scenario(context.Background(), "hysteresis", f, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "hysteresis-*.png"))
	if len(names) != 1 {
		t.Fatalf("figures %v", names)
	}
	file, err := os.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	img, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	ink := 0
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if r, g, bl, _ := img.At(x, y).RGBA(); r+g+bl < 3*0xe000 {
				ink++
			}
		}
	}
	if share := float64(ink) / float64(b.Dx()*b.Dy()); share < 0.005 || share > 0.3 {
		t.Errorf("%.2f %% of the picture is ink", 100*share)
	}
	err = simulate.Scenario(context.Background(), "hysteresis", f, io.Discard, io.Discard)
	if report.ExitCode(err) != report.Usage || !strings.Contains(fmt.Sprint(err), "--force") {
		t.Errorf("a second run into the same directory: %v", err)
	}
	f.Force = true
	if err := simulate.Scenario(context.Background(), "hysteresis", f, io.Discard, io.Discard); err != nil {
		t.Errorf("with --force: %v", err)
	}
}

func TestScenarioRefuses(t *testing.T) {
	good := func() simulate.ScenarioOptions {
		return simulate.ScenarioOptions{C: experiment.Public(), Scheme: "midpoint", OutputFolder: t.TempDir(), Formats: []string{"svg"},
			NoFigures: true}
	}
	for _, c := range []struct {
		name, scenario string
		change         func(*simulate.ScenarioOptions)
		code           int
		want           string
	}{
		{"unknown scenario", "stickslip", func(*simulate.ScenarioOptions) {}, report.Usage, `did you mean "stick-slip"?`},
		{"unknown law", "all", func(f *simulate.ScenarioOptions) { f.Laws = []string{"lugr"} }, report.Usage, `did you mean "lugre"?`},
		{"a law twice", "all", func(f *simulate.ScenarioOptions) { f.Laws = []string{"lugre", "lugre"} }, report.Usage, "named twice"},
		{"no step", "all", func(f *simulate.ScenarioOptions) { f.C.Step = 0 }, report.Usage, "--step"},
		{"unknown scheme", "all", func(f *simulate.ScenarioOptions) { f.Scheme = "euler" }, report.Usage, "midpoint"},
		{"a ripple through zero", "all", func(f *simulate.ScenarioOptions) { f.C.Ripple = 0.07 }, report.Usage, "--bias"},
		{"missing file", "all", func(f *simulate.ScenarioOptions) { f.LawsFile = "nowhere.yaml" }, report.Invalid, ""},
		{"a law without its normal load", "all", func(f *simulate.ScenarioOptions) {
			f.LawsFile = simulateFile(t, "compare-laws.yaml", "{law: karnopp, label: Karnopp}", "{law: coulomb, mu: 0.2, Fc: 1 N}", "step: 1 ms",
				"step: 1 ms\nnormal: 10 N")
		}, report.Invalid, "give it as N0"},
		{"a mass too light for the step", "stick-slip", func(f *simulate.ScenarioOptions) { f.C.Mass = 1e-12 }, report.Invalid,
			"would be divided into"},
		{"two sources of laws", "all", func(f *simulate.ScenarioOptions) { f.LawsFile, f.Laws = "x.yaml", []string{"m2"} }, report.Usage,
			"one of them"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := good()
			c.change(&f)
			err := simulate.Scenario(context.Background(), c.scenario, f, io.Discard, io.Discard)
			if report.ExitCode(err) != c.code || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("exit %d: %v; want %d and %q", report.ExitCode(err), err, c.code, c.want)
			}
			if files, _ := os.ReadDir(f.OutputFolder); len(files) > 0 {
				t.Errorf("%d files were written all the same", len(files))
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := simulate.Scenario(ctx, "all", good(), io.Discard, io.Discard); report.ExitCode(err) != report.Interrupted {
		t.Errorf("interrupted: %v", err)
	}
}
