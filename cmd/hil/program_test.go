package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestHintsNameTheProgramAsStarted(t *testing.T) {
	defer func() { startName = "hil" }()
	for _, c := range []struct{ word, hint, want string }{
		{"hil", "next: hil run a.yaml", "next: hil run a.yaml"},
		{"./bin/hil", "next: hil run a.yaml; hil check a.yaml (hil ports lists them)", "next: ./bin/hil run a.yaml; ./bin/hil check a.yaml (./bin/hil ports lists them)"},
		{"/opt/my rig/hil", "hil identify x", "'/opt/my rig/hil' identify x"},
		{"./$hil", "hil run", `'./$hil' run`},
		{"bin/hil", "hil: cannot open runs/hil run.csv of a phil run", "hil: cannot open runs/hil run.csv of a phil run"},
		{"/tmp/go-build1/exe/hil", "hil run", "hil run"},
	} {
		startName = "hil"
		startedAs(c.word)
		if got := asStarted(c.hint); got != c.want {
			t.Errorf("%s: %q, want %q", c.word, got, c.want)
		}
	}
}

// The built program, started by a path: its hints, its help and its errors can be copied.
func TestStartedByAPath(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "hil")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"check", "../../configs/stick-slip.yaml"}, "next: " + bin + " simulate "},
		{[]string{"simulate", "../../configs/stick-slip.yaml"}, "next: " + bin + " simulate "},
		{[]string{"run", "../../configs/stick-slip.yaml"}, "Try:  " + bin + " simulate "},
		{[]string{"laws", "lugree"}, bin + " laws lists them"},
		{[]string{"--help"}, "without hardware:   " + bin + " run "},
		{[]string{"nonsense"}, "See " + bin + " --help."},
	} {
		out, _ := exec.Command(bin, c.args...).CombinedOutput()
		if !strings.Contains(string(out), c.want) {
			t.Errorf("hil %s lacks %q:\n%s", strings.Join(c.args, " "), c.want, out)
		}
	}
}
