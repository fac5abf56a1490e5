package sink

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/hil"
)

// What a board never sent is said by its name when it is asked for; a sensor that gave no number now and then costs these samples alone;
// JSON and CSV have neither 0 nor a broken number in its place.
func TestAbsentMeasurements(t *testing.T) {
	info := benchInfo(1)
	info.Mono = 17e9
	meas := hil.Of("drive", engine.Signal{Name: "motor.angle", Unit: "rad"}, engine.Signal{Name: "volts", Unit: "V"},
		engine.Signal{Name: "age", Unit: "s"})
	meas[2].Role = hil.RoleAge
	for i := range 2 {
		meas[i].Age = "drive.age"
	}
	info.Schema = hil.Schema{Rig: "bench", Rate: 1000, Meas: meas}
	rec, err := NewRecorder(t.TempDir(), info, RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var rows []hil.Row
	for k := range 400 {
		r := hil.Row{Seq: uint64(k + 1), T: int64(k)*1e6 + 17e9, Mode: hil.Run, Epoch: 1, FreshSignals: hil.Fresh{0b101}}
		r.X[0], r.X[1], r.X[2] = float64(k)*1e-3, math.NaN(), 0.3e-3
		if k%37 == 20 {
			r.X[0] = math.NaN()
		}
		rows = append(rows, r)
	}
	if err := rec.Run(finished(), &rowSlice{rows: rows}); err != nil {
		t.Fatal(err)
	}
	run, err := OpenRun(rec.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	s := run.Samples(SampleOptions{Clocked: true})
	if _, err := s.Columns(context.Background(), []string{SampleTime, "drive.motor.angle", "drive.volts"}); !errors.Is(err, errNoSamples) ||
		!strings.Contains(err.Error(), "the device never sent drive.volts") {
		t.Errorf("never sent: %v", err)
	}
	x, err := s.Columns(context.Background(), []string{SampleTime, "drive.motor.angle"})
	if err != nil || !numeric.AllFinite(x[1]...) {
		t.Fatalf("with some samples that are no number: %v", err)
	}
	for i, at := range x[0] {
		if want := at + 0.3e-3; math.Abs(x[1][i]-want) > 1e-9 {
			t.Fatalf("sample at %g s is %g, want %g", at, x[1][i], want)
		}
	}
	if len(x[0]) < 399 || !strings.Contains(strings.Join(s.Notes(), "; "), "11 samples in which a sensor gave no number are left out") {
		t.Errorf("%d samples; %q", len(x[0]), s.Notes())
	}
	var b strings.Builder
	if _, err := ExportCSV(context.Background(), run, &b, ExportOptions{Channels: []string{"drive.volts", "drive.motor.angle"}}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(b.String(), "\n"); !strings.HasSuffix(lines[2], ",NaN,0") || !strings.HasSuffix(lines[22], ",NaN,NaN") {
		t.Errorf("CSV: %q %q", lines[2], lines[22])
	}
	e, err := newEncoder(&info)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(e.sample(nil, &rows[20])); !strings.Contains(text, `"drive.motor.angle":null,"drive.volts":null,"drive.age":0.0003`) {
		t.Errorf("JSON: %s", text)
	}
}
