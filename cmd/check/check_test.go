package check

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/report"
)

// Every file that comes with the program can be used; a key that it does not know makes it useless, with line and caret.
func TestFileOfEveryExample(t *testing.T) {
	t.Setenv("LAB_MQTT_PASSWORD", "x")
	names, err := filepath.Glob("../../configs/*.yaml")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d examples, %v", len(names), err)
	}
	for _, name := range names {
		var out, errs bytes.Buffer
		if !File(&out, &errs, name) || !strings.Contains(out.String(), "next: ") {
			t.Errorf("%s: %s%s", name, out.String(), errs.String())
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		broken := filepath.Join(t.TempDir(), filepath.Base(name))
		if err := os.WriteFile(broken, append(text, "\nnonsense: 1\n"...), 0o644); err != nil {
			t.Fatal(err)
		}
		out.Reset()
		errs.Reset()
		if File(&out, &errs, broken) || !strings.Contains(errs.String(), "nonsense") || !strings.Contains(errs.String(), "^") {
			t.Errorf("%s with a key of nonsense: %s%s", name, out.String(), errs.String())
		}
	}
}

// A file given to the wrong verb names the right one.
func TestKindsNameTheVerb(t *testing.T) {
	for _, c := range []struct{ verb, file, next string }{
		{"run", "stick-slip.yaml", "hil simulate"}, {"simulate", "motor.yaml", "hil run"}, {"identify", "motor.yaml", "hil run"},
		{"study", "identify/lugre-kalman.yaml", "hil identify"},
	} {
		name := filepath.Join("../../configs", c.file)
		if err := Kinds(io.Discard, c.verb, []string{name}); report.ExitCode(err) != report.Invalid || !strings.Contains(err.Error(), c.next) {
			t.Errorf("%s %s: %v", c.verb, c.file, err)
		}
	}
	if err := Kinds(io.Discard, "run", []string{"../../configs/motor.yaml"}); err != nil {
		t.Error(err)
	}
}

func TestSchemaOfEveryKind(t *testing.T) {
	for _, kind := range []string{"rig", "simulate", "identify", "study"} {
		var out bytes.Buffer
		if err := Schema(&out, kind); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if err := Schema(&bytes.Buffer{}, "rigs"); report.ExitCode(err) != report.Usage {
		t.Errorf("rigs: %v", err)
	}
}
