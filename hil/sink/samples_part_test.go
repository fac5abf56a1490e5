package sink

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"hilrig/hil"
)

// A part of a run gives the same samples to the last bit however long the run goes on: the device's raster is found from its rows alone.
func TestSamplesOfAPart(t *testing.T) {
	b := boardRun{rate: 1000, period: 1e-3 * (1 + 2e-5), clocked: true, delay: func(k int) float64 { return 2e-4 + 1e-5*float64(k%7) },
		mode: func(float64) hil.Mode { return hil.Run }}
	part := func(seconds float64, span [2]float64, last float64) (x [][]float64, got [2]float64, err error) {
		t.Helper()
		b.seconds = seconds
		info := benchInfo(1)
		info.Schema, info.Mono = boardSchema(b.rate), 17e9
		rec, err := NewRecorder(t.TempDir(), info, RecorderOptions{})
		if err == nil {
			err = rec.Run(finished(), &rowSlice{rows: b.rows()})
		}
		if err != nil {
			t.Fatal(err)
		}
		run, err := OpenRun(rec.Dir())
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		s := run.Samples(SampleOptions{Period: b.period, Clocked: true})
		if got, err = s.LimitTo(span, last); err != nil {
			t.Fatal(err)
		}
		x, err = s.Columns(context.Background(), []string{SampleTime, "drive.motor.angle"})
		return x, got, err
	}
	short, _, err := part(3, [2]float64{1, 2.5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	long, _, err := part(9, [2]float64{1, 2.5}, 0)
	if err != nil || !reflect.DeepEqual(short, long) {
		t.Errorf("the part of a run of 3 s and of one of 9 s differ: %d and %d samples, %v", len(short[0]), len(long[0]), err)
	}
	for i, at := range long[0] { // the motion at the times of the samples: the first row is at 1 ms
		if !(at > 1-2e-3 && at < 2.5) || math.Abs(long[1][i]-boardAngle(at+1e-3)) > 1e-4 {
			t.Fatalf("sample %d at %.6f s: %.6f rad, want %.6f", i, at, long[1][i], boardAngle(at+1e-3))
		}
	}
	if n := len(long[0]); n < 1495 || n > 1501 {
		t.Errorf("%d samples of 1.5 s at 1 kHz", n)
	}
	for _, c := range []struct {
		span       [2]float64
		last, from float64
		err        string
	}{
		{last: 1, from: 3.998 - 1},
		{last: 100, from: 0},
		{span: [2]float64{3, 0}, from: 3},
		{span: [2]float64{3, 50}, from: 3},
		{span: [2]float64{40, 50}, from: 40, err: "no rows from 40 to 50 s"},
		{span: [2]float64{40, 0}, from: 40, err: "no rows"},
	} {
		x, got, err := part(4, c.span, c.last)
		if math.Abs(got[0]-c.from) > 2e-3 || (err == nil) != (c.err == "") {
			t.Errorf("%+v: the part %v, %v", c, got, err)
			continue
		}
		if err != nil {
			if !errors.Is(err, errNoSamples) || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if first, end := x[0][0], x[0][len(x[0])-1]; math.Abs(first-c.from) > 3e-3 || math.Abs(end-3.998) > 3e-3 {
			t.Errorf("%+v: samples from %g to %g s", c, first, end)
		}
	}
}
