package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hilrig/cmd/report"
	"hilrig/configs"
)

// runVerb runs one verb and returns what it printed.
func runVerb(c *cobra.Command, args ...string) (out, errOut string, err error) {
	var o, e bytes.Buffer
	c.SetOut(&o)
	c.SetErr(&e)
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	err = c.Execute()
	return o.String(), e.String(), err
}

func TestCheckGoodFile(t *testing.T) {
	out, errOut, err := runVerb(newCheckCmd(), "../../configs/motor.yaml", "../../configs/serial-line.yaml")
	if err != nil || errOut != "" {
		t.Fatal(err, errOut)
	}
	for _, want := range []string{"motor.yaml: ok", "22 bytes per frame (11 of them data), 1000 frames/s, 23.9 % of the line",
		"at most 1.24 ms old",
		"next: hil run ../../configs/motor.yaml\n", "serial-line.yaml --dry-run"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
}

// Files for other verbs are recognised by what they say.
func TestCheckKnowsEveryKindOfFile(t *testing.T) {
	for file, next := range map[string]string{"compare-laws": "hil simulate", "stick-slip": "hil simulate", "emps": "hil identify",
		"pendulum": "hil identify", "motor": "hil run"} {
		out, errOut, err := runVerb(newCheckCmd(), "../../configs/"+file+".yaml")
		if err != nil || errOut != "" || !strings.Contains(out, file+".yaml: ok") || !strings.Contains(out, "next: "+next) {
			t.Errorf("%s: %v %s\n%s", file, err, errOut, out)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("version: 1\nname: x\nplant: {kind: drawn-mass, mass: 1 kg, spring: 1 N/m}\nfriction: lugr\ninput: 1 "+
		"m\nstep: 1 ms\nduration: 1 s\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errOut, err := runVerb(newCheckCmd(), bad); report.ExitCode(err) != report.Invalid ||
		!strings.Contains(errOut, `did you mean "lugre"`) {
		t.Errorf("%v\n%s", err, errOut)
	}
}

func TestCheckBadFiles(t *testing.T) {
	out, errOut, err := runVerb(newCheckCmd(), "../../configs/testdata/unknown_key.bad.yaml", "../../configs/motor.yaml", "none.yaml")
	if report.ExitCode(err) != report.Invalid {
		t.Errorf("exit code %d, want %d", report.ExitCode(err), report.Invalid)
	}
	for _, want := range []string{`hil: ../../configs/testdata/unknown_key.bad.yaml:22:7: unknown key "sgima0" under axes.shaft.friction (did you mean "sigma0"?)`, "\n> 22 |       sgima0: 11 N·m/rad\n", "hil: open none.yaml: no such file"} {
		if !strings.Contains(errOut, want) {
			t.Errorf("lacks %q:\n%s", want, errOut)
		}
	}
	if !strings.Contains(out, "motor.yaml: ok") {
		t.Error("the good file between two bad ones was not reported")
	}
}

func TestConfigVerbs(t *testing.T) {
	schema, _, err := runVerb(newConfigCmd(), "schema")
	if err != nil || !json.Valid([]byte(schema)) {
		t.Errorf("schema: %v, valid JSON: %v", err, json.Valid([]byte(schema)))
	}
	// what show prints is a rig file again, with the hash it names
	show, _, err := runVerb(newConfigCmd(), "show")
	if err != nil {
		t.Fatal(err)
	}
	back, err := configs.LoadBytes("show", []byte(show))
	if err != nil || !strings.Contains(show, back.Hash()) {
		t.Errorf("show: %v, hash %v", err, back.Hash())
	}
	// what example prints is the demo
	example, _, err := runVerb(newConfigCmd(), "example")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte(example), 0o644); err != nil {
		t.Fatal(err)
	}
	mine, err := configs.Load(file)
	if err != nil || mine.Hash() != configs.Demo().Hash() {
		t.Errorf("example: %v", err)
	}
	if _, _, err := runVerb(newConfigCmd(), "show", "../../configs/testdata/tab.bad.yaml"); report.ExitCode(err) != report.Invalid {
		t.Errorf("show of a bad file: exit code %d, want %d", report.ExitCode(err), report.Invalid)
	}
}
