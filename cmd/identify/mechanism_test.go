package identify

import (
	"math"
	"testing"

	"hilrig/identify/machine"
	"hilrig/identify/record"
)

// pieceAt is a piece of a motion known in closed form.
func pieceAt(start, dt float64, n int) *record.Record {
	r := &record.Record{Start: start, Dt: dt, Position: make([]float64, n), Force: make([]float64, n)}
	for k := range n {
		t := start + float64(k)*dt
		r.Position[k], r.Force[k] = math.Sin(9*t), math.Cos(7*t)
	}
	return r
}

// Joints of devices that sample at their own times come to one grid, the finer one, over the times that both have; short rests are left
// out.
func TestAlign(t *testing.T) {
	fast := []*record.Record{pieceAt(0.1003, 1e-3, 900), pieceAt(1.2, 1e-3, 300)} // 0.1003 … 0.9993, 1.2 … 1.499
	slow := []*record.Record{pieceAt(0.05, 2e-3, 400), pieceAt(0.99, 2e-3, 500)}  // 0.05 … 0.848, 0.99 … 1.988
	recs := align([][]*record.Record{fast, slow}, 0)
	if len(recs) != 2 { // from 0.99 to 0.9993 there are ten samples: too few
		t.Fatalf("%d stretches", len(recs))
	}
	for i, want := range [][2]float64{{0.1003, 0.848}, {1.2, 1.499}} {
		rec := recs[i]
		n := rec[0].Len()
		if end := rec[0].Start + float64(n-1)*1e-3; math.Abs(rec[0].Start-want[0]) > 1e-9 || end > want[1]+1e-9 || end < want[1]-1.001e-3 {
			t.Errorf("stretch %d: %g to %g s, want %v", i, rec[0].Start, end, want)
		}
		for _, d := range rec {
			if d.Len() != n || d.Dt != 1e-3 || d.Start != rec[0].Start {
				t.Fatalf("stretch %d: %d samples from %g s every %g s", i, d.Len(), d.Start, d.Dt)
			}
			for k := range n {
				at := d.Start + float64(k)*d.Dt
				if math.Abs(d.Position[k]-math.Sin(9*at)) > 1e-7 || math.Abs(d.Force[k]-math.Cos(7*at)) > 1e-7 {
					t.Fatalf("stretch %d, %g s: %g, %g", i, at, d.Position[k], d.Force[k])
				}
			}
		}
	}
	if got := align([][]*record.Record{{pieceAt(0, 1e-3, 100)}, {pieceAt(1, 1e-3, 100)}}, 0); got != nil {
		t.Errorf("no time in common: %d stretches", len(got))
	}
}

// Joints whose columns have delays of their own lose samples at one end: what all of them have is left.
func TestCommonTime(t *testing.T) {
	rec := machine.Recording{pieceAt(0, 1e-3, 1000), pieceAt(0.004, 1e-3, 996), pieceAt(0, 1e-3, 990)}
	commonTime(rec)
	for _, d := range rec {
		if d.Len() != 986 || len(d.Force) != 986 || math.Abs(d.Start-0.004) > 1e-12 || math.Abs(d.Position[0]-math.Sin(9*0.004)) > 1e-12 {
			t.Errorf("%d samples from %g s, the first %g", d.Len(), d.Start, d.Position[0])
		}
	}
}
