package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
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

// docs/reference/laws.md is what the program would write now.
func TestLawsDoc(t *testing.T) {
	got := lawsMarkdown(examined(t))
	const path = "../../docs/reference/laws.md"
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
		t.Error("docs/reference/laws.md is out of date: make docs")
	}
}

// What the literature and the equations say about the models of [MOGI] (table 6.5, corrected: only a law with a dwell
// time strengthens at rest; LuGre, modified Dahl and M2 break away at a level that depends on the rate of the force). Table 6.3:
// under PD Coulomb friction neither sticks and slips nor hunts; static friction sticks and slips from some starts and hunts under
// PID; a Stribeck curve decides which starts do.
func TestPhenomenaOfTheChapter(t *testing.T) {
	for law, want := range map[string]map[string]bool{
		"seven-parameter": {"stick_slip_sliding": true, "hunting": false, "presliding": true, "presliding_hysteresis": false,
			"coulomb": true, "viscous": true, "negative_viscous": true, "dwell": true, "memory": true, "stick_slip": true, "stiction": true},
		"state-variable": {"presliding": false, "coulomb": true, "dwell": false, "memory": true},
		"karnopp": {"stick_slip_sliding": false, "hunting": true, "presliding": false, "coulomb": true, "viscous": true,
			"dwell": false, "rate": false, "memory": false, "stick_slip": true, "stiction": true},
		"lugre": {"stick_slip_sliding": true, "hunting": true, "presliding": true, "presliding_hysteresis": true,
			"coulomb": true, "viscous": true, "negative_viscous": true, "dwell": false, "rate": true, "memory": true, "stick_slip": true,
			"minor_loops": false},
		"dahl-modified": {"hunting": true, "presliding": true, "presliding_hysteresis": true, "coulomb": true, "viscous": true,
			"negative_viscous": true, "dwell": false, "rate": true, "memory": true, "passive": true},
		"m2": {"hunting": true, "presliding": true, "presliding_hysteresis": false, "coulomb": true, "viscous": true,
			"negative_viscous": true, "dwell": false, "memory": true, "stick_slip": true},
		"dahl": {"presliding": true, "presliding_hysteresis": true, "coulomb": true, "viscous": false,
			"negative_viscous": false, "stiction": false, "memory": false, "stick_slip": false, "passive": true},
		"gms":                    {"presliding": true, "presliding_hysteresis": true, "minor_loops": true},
		"leuven":                 {"presliding": true, "presliding_hysteresis": true, "minor_loops": true},
		"viscous":                {"stick_slip": false, "stick_slip_sliding": false, "hunting": false},
		"static-coulomb-viscous": {"stick_slip": true, "stick_slip_sliding": false, "hunting": true},
		"stribeck-bo-pavelescu":  {"stick_slip": true, "stick_slip_sliding": true, "hunting": true},
		"coulomb": {"stick_slip_sliding": false, "hunting": false, "presliding": false, "coulomb": true, "viscous": false,
			"negative_viscous": false, "stiction": false, "dwell": false, "memory": false, "stick_slip": false},
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
					if w != p.Present {
						t.Errorf("%s: %v, measured %.4g; want %v (%s)", p.Title, p.Present, p.Value, w, p.Criterion)
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
	if err := PrintLaws(&out, false); err != nil {
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
	if err := json.Unmarshal(out.Bytes(), &d); err != nil || len(d.Parameters) != 9 || d.Parameters[0].RotaryUnit != "N·m/rad" ||
		len(d.Phenomena) < 10 {
		t.Errorf("%v: %s", err, out.String())
	}
}

// examine puts every law of the registry through the experiments, on all processors.
func examine(ctx context.Context) ([][]experiment.Phenomenon, error) {
	laws := friction.Laws()
	shows := make([][]experiment.Phenomenon, len(laws))
	errs := make([]error, len(laws))
	var wg sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, info := range laws {
		wg.Go(func() {
			free <- struct{}{}
			shows[i], errs[i] = experiment.Phenomena(ctx, experiment.Subject{Name: info.Name, Label: info.Title, Law: info.NewLaw(),
				Force: info.Force})
			<-free
		})
	}
	wg.Wait()
	return shows, errors.Join(errs...)
}

// lawsMarkdown is docs/reference/laws.md: written by the program, from the registry and from what the laws did in the experiments.
func lawsMarkdown(shows [][]experiment.Phenomenon) []byte {
	laws := friction.Laws()
	var b bytes.Buffer
	b.WriteString(`# Friction laws

Written by the program (make docs). Every law stands in the registry of engine/friction under its
name; [keys](references.md) such as [MOGI] name the sources, numbers in parentheses are those of its equations. Units are those of a linear
axis; on a rotary axis read N·m for N, rad for m. ` + "`hil laws NAME`" + ` prints the same for one law.

## What they show

Found by experiment with the default parameters, not typed in: each law was pushed, held, drawn and moved, and what it did
compared with a criterion (below the table).

| law |`)
	for _, p := range shows[0] {
		fmt.Fprintf(&b, " %s |", p.Title)
	}
	fmt.Fprintf(&b, "\n|---|%s\n", strings.Repeat("---|", len(shows[0])))
	for i, info := range laws {
		fmt.Fprintf(&b, "| `%s` |", info.Name)
		for _, p := range shows[i] {
			if p.Present {
				b.WriteString(" yes |")
			} else {
				b.WriteString(" – |")
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for _, p := range shows[0] {
		fmt.Fprintf(&b, "- *%s*: %s.\n", p.Title, p.Criterion)
	}
	b.WriteString(`
## Inputs, states and parameters

Table 6.6 of [MOGI] for every law. The output is the friction force; equations, departures from the source and parameters stand below. *Identified by* names the methods
of [hil identify](identify.md) that find its parameters out of a record.

| law | name | equations | source | input | states | identified by |
|---|---|---|---|---|---|---|
`)
	for _, info := range laws {
		d := describeLaw(info)
		var states []string
		for _, s := range d.States {
			states = append(states, strings.TrimSpace(s.Name+" "+bracket(s.Unit)))
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | [%s] | %s | %s | %s |\n", d.Title, d.Name, d.Equations, d.Source, d.Input,
			strings.Join(states, ", "), d.Identify.Join(", "))
	}
	for _, info := range laws {
		d := describeLaw(info)
		fmt.Fprintf(&b, "\n### %s\n\n```\n%s\n```\n\n| parameter | unit | default | range | |\n|---|---|---|---|---|\n", d.Name, d.Text)
		for _, p := range d.Parameters {
			fmt.Fprintf(&b, "| `%s` | %s | %g | %g … %g | %s |\n", p.Name, p.Unit, p.Default, p.Min, p.Max, p.Doc)
		}
		for i, p := range d.Presets {
			if i == 0 {
				fmt.Fprintf(&b, "\n| `defaults` | values | of | source |\n|---|---|---|---|\n")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | [%s] |\n", p.Name, p.text(), p.Title, p.Source)
		}
	}
	return b.Bytes()
}

func bracket(unit string) string {
	if unit == "" {
		return ""
	}
	return "(" + unit + ")"
}
