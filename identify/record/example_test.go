package record_test

import (
	"fmt"
	"math"

	"hilrig/identify/record"
)

// A table becomes a record, and the check notices that the speed is in revolutions per minute.
func Example() {
	t := &record.Table{File: "bench.csv", Names: []string{"t", "angle", "speed"}, Columns: make([][]float64, 3)}
	for k := range 2000 {
		s := float64(k) * 1e-3
		t.Columns[0] = append(t.Columns[0], s)
		t.Columns[1] = append(t.Columns[1], math.Sin(5*s)+0.2*math.Sin(23*s))
		t.Columns[2] = append(t.Columns[2], 60/(2*math.Pi)*(5*math.Cos(5*s)+4.6*math.Cos(23*s)))
	}
	pieces, err := record.FromTable(t, record.Mapping{
		Time: record.Column{Name: "t", Unit: "s"}, Position: record.Column{Name: "angle", Unit: "rad"},
		Velocity: record.Column{Name: "speed", Unit: "rad/s"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range record.Check(pieces, record.CheckOptions{Rotary: true}) {
		if f.Severity != record.Note {
			fmt.Printf("%s: %s\n", f.Severity, f.Text)
		}
	}
	// Output:
	// error: velocity, against the slope of the position, is 9.549 times what it should be: a factor of 60/2π, as between revolutions per minute and rad/s
}
