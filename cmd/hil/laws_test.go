package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"hilrig/configs"
	"hilrig/engine/experiment"
	"hilrig/engine/friction"
)

var update = flag.Bool("update", false, "rewrite the generated parts of docs")

// examined are the phenomena of all laws, found once for all tests.
func examined(t *testing.T) [][]experiment.Phenomenon {
	t.Helper()
	shows, err := examineOnce()
	if err != nil {
		t.Fatal(err)
	}
	return shows
}

var examineOnce = sync.OnceValues(func() ([][]experiment.Phenomenon, error) { return examine(context.Background()) })

// docs/laws.md is what the program would write now.
func TestLawsDoc(t *testing.T) {
	got := lawsMarkdown(examined(t))
	const path = "../../docs/laws.md"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Errorf("line %d is %q, want %q", i+1, b[i], a[i])
			}
		}
		t.Error("docs/laws.md is out of date: go test ./cmd/hil -run LawsDoc -update")
	}
}

// What the literature and the equations say about the models of the chapter (table 6.5, corrected: only a law with a dwell
// time strengthens at rest; LuGre, modified Dahl and M2 break away at a level that depends on the rate of the force).
func TestPhenomenaOfTheChapter(t *testing.T) {
	for law, want := range map[string]map[string]bool{
		"seven-parameter": {"presliding": true, "presliding_hysteresis": false, "coulomb": true, "viscous": true, "negative_viscous": true, "dwell": true, "memory": true, "stick_slip": true, "stiction": true},
		"state-variable":  {"presliding": false, "coulomb": true, "dwell": false, "memory": true},
		"karnopp":         {"presliding": false, "coulomb": true, "viscous": true, "dwell": false, "rate": false, "memory": false, "stick_slip": true, "stiction": true},
		"lugre":           {"presliding": true, "presliding_hysteresis": true, "coulomb": true, "viscous": true, "negative_viscous": true, "dwell": false, "rate": true, "memory": true, "stick_slip": true, "minor_loops": false},
		"dahl-modified":   {"presliding": true, "presliding_hysteresis": true, "coulomb": true, "viscous": true, "negative_viscous": true, "dwell": false, "rate": true, "memory": true, "passive": true},
		"m2":              {"presliding": true, "presliding_hysteresis": false, "coulomb": true, "viscous": true, "negative_viscous": true, "dwell": false, "memory": true, "stick_slip": true},
		"dahl":            {"presliding": true, "presliding_hysteresis": true, "coulomb": true, "viscous": false, "negative_viscous": false, "stiction": false, "memory": false, "stick_slip": false, "passive": true},
		"gms":             {"presliding": true, "presliding_hysteresis": true, "minor_loops": true},
		"leuven":          {"presliding": true, "presliding_hysteresis": true, "minor_loops": true},
		"coulomb":         {"presliding": false, "coulomb": true, "viscous": false, "negative_viscous": false, "stiction": false, "dwell": false, "memory": false, "stick_slip": false},
	} {
		t.Run(law, func(t *testing.T) {
			i := slices.Index(configs.LawNames(), law)
			if i < 0 {
				t.Fatal("not in the registry")
			}
			seen := 0
			for _, p := range examined(t)[i] {
				if w, ok := want[p.Key]; ok {
					seen++
					if w != p.Shown {
						t.Errorf("%s: %v, measured %.4g; want %v (%s)", p.Title, p.Shown, p.Value, w, p.Criterion)
					}
				}
			}
			if seen != len(want) {
				t.Errorf("%d of %d phenomena were looked at", seen, len(want))
			}
		})
	}
}

func TestLawsCommand(t *testing.T) {
	var out bytes.Buffer
	if err := printLaws(&out, false); err != nil {
		t.Fatal(err)
	}
	for _, info := range friction.Laws() {
		if !strings.Contains(out.String(), info.Name) {
			t.Errorf("%s is not listed", info.Name)
		}
	}
	out.Reset()
	info, _ := friction.Find("lugre")
	if err := printLaw(context.Background(), &out, info, true); err != nil {
		t.Fatal(err)
	}
	var d lawJSON
	if err := json.Unmarshal(out.Bytes(), &d); err != nil || len(d.Parameters) != 9 || d.Parameters[0].RotaryUnit != "N·m/rad" || len(d.Phenomena) < 10 {
		t.Errorf("%v: %s", err, out.String())
	}
}
