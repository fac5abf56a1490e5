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

	"hilrig/engine/experiment"
)

// The chapter's figures 6.4 to 6.42 are all there, well formed and not blank, beside the tables.
func TestScenarioFigures(t *testing.T) {
	dir := t.TempDir()
	f := scenarioFlags{c: experiment.Public(), scheme: "midpoint", out: dir, formats: []string{"svg"}}
	var out bytes.Buffer
	if err := runScenario(context.Background(), "all", f, &out, io.Discard); err != nil {
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
	f := scenarioFlags{c: experiment.Public(), scheme: "midpoint", out: dir, formats: []string{"png"}, laws: []string{"elasto-plastic"}}
	if err := runScenario(context.Background(), "hysteresis", f, io.Discard, io.Discard); err != nil {
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
	err = runScenario(context.Background(), "hysteresis", f, io.Discard, io.Discard)
	if exitCode(err) != exitUsage || !strings.Contains(fmt.Sprint(err), "--force") {
		t.Errorf("a second run into the same directory: %v", err)
	}
	f.force = true
	if err := runScenario(context.Background(), "hysteresis", f, io.Discard, io.Discard); err != nil {
		t.Errorf("with --force: %v", err)
	}
}

func TestScenarioRefuses(t *testing.T) {
	good := func() scenarioFlags {
		return scenarioFlags{c: experiment.Public(), scheme: "midpoint", out: t.TempDir(), formats: []string{"svg"}, noFigures: true}
	}
	for _, c := range []struct {
		name, scenario string
		change         func(*scenarioFlags)
		code           int
		want           string
	}{
		{"unknown scenario", "stickslip", func(*scenarioFlags) {}, exitUsage, `did you mean "stick-slip"?`},
		{"unknown law", "all", func(f *scenarioFlags) { f.laws = []string{"lugr"} }, exitUsage, `did you mean "lugre"?`},
		{"a law twice", "all", func(f *scenarioFlags) { f.laws = []string{"lugre", "lugre"} }, exitUsage, "named twice"},
		{"no step", "all", func(f *scenarioFlags) { f.c.Step = 0 }, exitUsage, "--step"},
		{"unknown scheme", "all", func(f *scenarioFlags) { f.scheme = "euler" }, exitUsage, "midpoint"},
		{"a ripple through zero", "all", func(f *scenarioFlags) { f.c.Ripple = 0.07 }, exitUsage, "--bias"},
		{"missing file", "all", func(f *scenarioFlags) { f.from = "nowhere.yaml" }, exitInvalid, ""},
		{"a law without its normal load", "all", func(f *scenarioFlags) {
			f.from = simulateFile(t, "compare-laws.yaml", "{law: karnopp, label: Karnopp}", "{law: coulomb, mu: 0.2, Fc: 1 N}", "step: 1 ms", "step: 1 ms\nnormal: 10 N")
		}, exitInvalid, "give it as N0"},
		{"a mass too light for the step", "stick-slip", func(f *scenarioFlags) { f.c.Mass = 1e-12 }, exitInvalid, "would be divided into"},
		{"two sources of laws", "all", func(f *scenarioFlags) { f.from, f.laws = "x.yaml", []string{"m2"} }, exitUsage, "one of them"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := good()
			c.change(&f)
			err := runScenario(context.Background(), c.scenario, f, io.Discard, io.Discard)
			if exitCode(err) != c.code || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("exit %d: %v; want %d and %q", exitCode(err), err, c.code, c.want)
			}
			if files, _ := os.ReadDir(f.out); len(files) > 0 {
				t.Errorf("%d files were written all the same", len(files))
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := runScenario(ctx, "all", good(), io.Discard, io.Discard); exitCode(err) != exitInterrupted {
		t.Errorf("interrupted: %v", err)
	}
}
