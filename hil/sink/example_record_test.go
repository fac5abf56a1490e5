package sink_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"hilrig/engine"
	"hilrig/hil"
	"hilrig/hil/ring"
	"hilrig/hil/sink"
)

// A run is recorded from a ring and read back, row by row.
func ExampleRecorder() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	info := hil.Info{Version: "1.0", Start: time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC), Config: []byte("rig: {name: bench}\n"),
		Schema: hil.Schema{Rig: "bench", Rate: 1000, Meas: hil.Of("drive", engine.Signal{Name: "motor.angle", Unit: "rad"})}}
	rec, err := sink.NewRecorder(dir, info, sink.RecorderOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}

	// three ticks of 1 ms; then the run ends and the recorder takes what is in the ring
	rows := ring.New[hil.Row](16)
	for k := range 3 {
		row := hil.Row{Seq: uint64(k + 1), T: int64(k) * 1e6}
		row.X[0] = 0.25 * float64(k)
		rows.Writer().Push(&row)
	}
	ctx, end := context.WithCancel(context.Background())
	end()
	if err := rec.Run(ctx, rows.Reader()); err != nil {
		fmt.Println(err)
		return
	}

	run, err := sink.OpenRun(rec.Dir())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run.Close()
	err = run.Rows(func(r *hil.Row) error {
		fmt.Println(run.Info.Wall(r.T).Format("15:04:05.000"), r.Seq, r.X[0], run.Info.Schema.Meas[0].Unit)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 08:30:00.000 1 0 rad
	// 08:30:00.001 2 0.25 rad
	// 08:30:00.002 3 0.5 rad
}
