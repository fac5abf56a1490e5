package contents

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/report"
	"hilrig/engine"
	"hilrig/engine/peer"
	"hilrig/hil"
	"hilrig/hil/ring"
	"hilrig/hil/sink"
)

// recorded is a run of five ticks of 1 ms, three of them in mode Run.
func recorded(t *testing.T) string {
	t.Helper()
	info := hil.Info{Run: "r1", Version: "1.0", Start: time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC), Config: []byte("rig: {name: bench}\n"),
		Schema: hil.Schema{Rig: "bench", Rate: 1000, Meas: hil.Of("drive", engine.Signal{Name: "motor.angle", Unit: "rad"})}}
	rec, err := sink.NewRecorder(t.TempDir(), info, sink.RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rows := ring.New[hil.Row](16)
	for k := range 5 {
		row := hil.Row{Seq: uint64(k + 1), T: 7e9 + int64(k)*1e6}
		if k >= 2 {
			row.Mode = hil.Run
		}
		rows.Writer().Push(&row)
	}
	ctx, end := context.WithCancel(context.Background())
	end()
	if err := rec.Run(ctx, rows.Reader()); err != nil {
		t.Fatal(err)
	}
	return rec.Dir()
}

func TestImportOfARecording(t *testing.T) {
	dir := recorded(t)
	out, _, err := imported(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"recording of hil run of 2026-11-21T08:30:00Z on rig bench", "5 rows at 1000 Hz, 0.004 s",
		"drive.motor.angle  rad", "next: hil identify"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out, _, err = imported(t, dir, "--json")
	var d runContents
	if err != nil || json.Unmarshal([]byte(out), &d) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if d.Rows != 5 || d.Modes[hil.Run.String()] != 3 || d.Duration != 0.004 ||
		!slices.Contains(d.Signals, column{"drive.motor.angle", "rad"}) || len(d.Doubts) != 0 {
		t.Errorf("%+v", d)
	}
	if _, _, err := imported(t, dir, "-o", "x.csv"); report.ExitCode(err) != report.Usage || !strings.Contains(err.Error(), "hil export") {
		t.Error(err)
	}
}

// The variables of a MAT file that SciPy wrote.
func TestImportOfAMATFile(t *testing.T) {
	python := peer.Python(t, "scipy.io")
	path := filepath.Join(t.TempDir(), "m.mat")
	script := "import numpy, scipy.io, sys; scipy.io.savemat(sys.argv[1], {'t': numpy.arange(5.), 'pos': numpy.ones((5, 3)), 's': {'x': " +
		"numpy.arange(5.)}})"
	if out, err := exec.Command(python, "-c", script, path).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	out, _, err := imported(t, path, "--json")
	var d numbersContents
	if err != nil || json.Unmarshal([]byte(out), &d) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var names []string
	for _, c := range d.Columns {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "t pos(:,1) pos(:,2) pos(:,3) s.x" {
		t.Error(got)
	}
}
