package contents

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/report"
	"hilrig/configs"
)

// A robot is shown, and becomes a machine file that loads.
func TestRobot(t *testing.T) {
	source := "../../engine/multibody/robot/testdata/arm.urdf"
	out := filepath.Join(t.TempDir(), "arm.yaml")
	var stdout, stderr bytes.Buffer
	if err := Run(source, Options{outputPath: out}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"URDF arm, 6 bodies, 6.5 kg", "shoulder", "not taken: <collision> of a link (1)", "simulate " + out} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q is not in\n%s", want, stdout.String())
		}
	}
	if c, _, err := configs.LoadMachine(out); err != nil || len(c.Machine.Bodies) != 6 {
		t.Error(err)
	}
	if err := Run(source, Options{outputPath: out}, &stdout, &stderr); report.ExitCode(err) != report.Unavailable {
		t.Errorf("an existing file: %v", err)
	}
	stdout.Reset()
	if err := Run(source, Options{asJSON: true}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	var d robotContents
	if err := json.Unmarshal(stdout.Bytes(), &d); err != nil || math.Abs(d.Mass-6.5) > 1e-12 || d.Bodies[2].Joint != "shoulder" {
		t.Errorf("%v, %+v", err, d)
	}
}

func TestBadRobots(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.urdf")
	if err := os.WriteFile(bad, []byte("<robot><link name='a'/>"), 0o644); err != nil {
		t.Fatal(err)
	}
	source := "../../engine/multibody/robot/testdata/arm.urdf"
	for _, c := range []struct {
		path string
		f    Options
		code int
		want string
	}{
		{bad, Options{}, report.Invalid, "not valid XML"},
		{source, Options{outputPath: "arm.csv"}, report.Usage, ".yaml"},
		{source, Options{rate: "100 Hz"}, report.Usage, "only -o"},
	} {
		var stdout, stderr bytes.Buffer
		if err := Run(c.path, c.f, &stdout, &stderr); report.ExitCode(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, code %d", c.f, err, report.ExitCode(err))
		}
	}
}
