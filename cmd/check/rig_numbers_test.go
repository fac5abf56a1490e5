package check

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/configs"
)

// A scale in one unit under the name of another is found; encoders, gears and round numbers are left alone.
func TestMixedUnits(t *testing.T) {
	for _, c := range []struct {
		name   string
		count  float64 // rad, as the file says it
		meant  string
		counts float64
	}{
		{"16 bits", 2 * math.Pi / 65536, "", 0},
		{"2000 counts", 2 * math.Pi / 2000, "", 0},
		{"16 bits behind a gear of 50", 2 * math.Pi / 65536 / 50, "", 0},
		{"0.1 mrad", 1e-4, "", 0},
		{"turns/65536 under deg", 1.0 / 65536 * math.Pi / 180, "turn", 65536},
		{"deg/4096 under rad", 360.0 / 4096, "deg", 4096},
		{"rad/65536 under deg", 2 * math.Pi / 65536 * math.Pi / 180, "rad", 65536},
		{"deg/3600 under turn", 0.1 * 2 * math.Pi, "deg", 3600},
	} {
		if _, meant, counts := mixedUnits(c.count); meant != c.meant || math.Abs(counts-c.counts) > 1e-6*c.counts {
			t.Errorf("%s: %q, %v, want %q, %v", c.name, meant, counts, c.meant, c.counts)
		}
	}
}

// hil check says what follows from the numbers of the demo, and warns of a processor that is not there and of a noise below a count.
func TestKnownOfARig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rig.yaml")
	write := func(changes ...string) *Answer {
		text := strings.NewReplacer(changes...).Replace(string(configs.DemoYAML()))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return Look(file)
	}
	facts := map[string]string{}
	a := write()
	for _, f := range a.Facts {
		facts[f.Label] = f.Text
	}
	for label, want := range map[string]string{"motor": "L/R 0.5 ms, R·J/K² 47.6 ms; a tick is 1 ms", "noise": "a count is 95.8738 µrad",
		"walk": "0.00316228 N·m in a tick and 0.1 N·m in a second; break-away is 0.021 N·m"} {
		if !strings.Contains(facts[label], want) {
			t.Errorf("%s: %q, want %q", label, facts[label], want)
		}
	}
	if !a.OK || len(a.Warnings) > 0 {
		t.Errorf("%+v", a.Warnings)
	}
	for _, c := range [][3]string{{"cpu: -1", "cpu: 1000", "loop.cpu"}, {"scale: 9.587379924285257e-05", "scale: 0.087890625", "a turn is 4096 counts"},
		{"scale: 9.587379924285257e-05", "scale: 2π/65536", ""}} {
		a, said := write(c[0], c[1]), false
		for _, w := range a.Warnings {
			said = said || c[2] == "" || strings.Contains(w.Message, c[2])
		}
		if !a.OK || said != (c[2] != "") {
			t.Errorf("%s: %+v %+v", c[1], a.Problems, a.Warnings)
		}
	}
}
