package record

import (
	"strings"
	"testing"
)

var levelTable = Mapping{SteadyLevels: true, Velocity: Column{Name: "v", Unit: "mm/s", Scale: 1e-3}, Force: Column{Name: "f"},
	Deviation: Column{Name: "sd", Scale: 2, Optional: true}, Count: Column{Name: "n", Optional: true}}

func TestTableOfSteadyFriction(t *testing.T) {
	text := "v,f,sd,n\n-20,-3,0.4,16\n10,2,0.2,4\n"
	d := pieces(t, text, levelTable)[0]
	if !d.SteadyLevels || d.Len() != 2 || d.Dt != 0 || d.Velocity[0] != -0.02 || d.Force[1] != 2 || d.ForceError[0] != 0.2 ||
		d.ForceError[1] != 0.2 || d.Count[0] != 16 {
		t.Errorf("%+v", d)
	}
	// without a count the deviation is that of the mean, which is said; without both nothing is known
	if d := pieces(t, "v,f,sd\n10,2,0.2\n", levelTable)[0]; d.ForceError[0] != 0.4 ||
		!strings.Contains(strings.Join(d.Warnings, " "), "data.columns.count") {
		t.Errorf("%+v", d)
	}
	if d := pieces(t, "v,f\n10,2\n", levelTable)[0]; d.ForceError != nil || len(d.Warnings) > 0 {
		t.Errorf("%+v", d)
	}
	for bad, says := range map[string]string{
		"v,f\n":               "0 rows of numbers, want at least 1",
		"f,sd\n1,2\n":         `no column "v"`,
		"v,f,sd\n1,1,-1\n":    "want no negative number",
		"v,f,n\n1,1,2.5\n":    "want a whole number from 1",
		"v,f,n\n1,1,0\n":      "want a whole number from 1",
		"v,f\n1,1\n2,NaN\n":   "NaN in column f",
		"v,f,sd\n1,1,inf\n":   "not a usable number",
		"v,f\n1,1\n2,\"a\"\n": "not a number",
	} {
		if _, err := piecesOf(bad, levelTable); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", bad, err, says)
		}
	}
	if _, err := piecesOf("v,f\n1,2\n", Mapping{SteadyLevels: true, Velocity: Column{Name: "v"}}); err == nil ||
		!strings.Contains(err.Error(), "needs the force") {
		t.Errorf("no force: %v", err)
	}
}

func TestLevelsAreJudged(t *testing.T) {
	kinds := func(text string) string {
		var out []string
		for _, f := range Check(pieces(t, text, levelTable), CheckOptions{Static: true}) {
			out = append(out, f.Kind+" "+string(f.Severity))
		}
		return strings.Join(out, ", ")
	}
	for text, want := range map[string]string{
		"v,f\n1,1\n2,2\n3,3\n-1,-1\n":      "levels note",
		"v,f\n1,1\n2,2\n3,3\n":             "one-direction warning, levels note",
		"v,f\n1,-1\n-2,2\n3,-3\n":          "force-sign error, levels note",
		"v,f\n1,1\n-1,-1\n":                "one-speed warning, levels note",
		"v,f\n1,1\n2,1\n3,1\n0,9\n-3,-1\n": "rest warning, levels note",
	} {
		if got := kinds(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
