package axis

import (
	"context"
	"math"
	"os"
	"testing"

	"hilrig/identify/record"
)

func empsRecord(t testing.TB) *record.Record {
	t.Helper()
	path := "../../../shared/data/emps/emps_estimation.csv.gz"
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no file %s: measured data is not part of the repository", path)
	}
	d, err := record.ReadCSV(path, record.Mapping{
		Time:      record.Column{Name: "time_s", Unit: "s", Scale: 1},
		Position:  record.Column{Name: "position_m", Unit: "m", Scale: 1},
		Force:     record.Column{Name: "command_V", Unit: "V", Scale: 35.15065188248547},
		Reference: record.Column{Name: "reference_m", Unit: "m", Scale: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func empsController() *Controller {
	return &Controller{Kp: 160.18, Kv: 243.45, Limit: 10, Gain: 35.15065188248547, Mean: 2}
}

// The whole procedure from a start far off: what the record supports.
func TestServoClosedLoop(t *testing.T) {
	d := empsRecord(t)
	l, err := NewLoop(Spec{Law: "lugre", Asymmetric: true, Drive: Servo, Output: Command, Controller: empsController(), Decimate: 3}, []*record.Record{d})
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Fit(context.Background(), l.Params(), Search{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rms := math.Sqrt(2 * s.Cost / float64(len(s.Residual))); rms > 2.03 {
		t.Errorf("%.3f N, want at most 2.03 N", rms)
	}
}
