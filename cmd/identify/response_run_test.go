package identify

import (
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/hil"
	"hilrig/hil/ring"
	"hilrig/hil/sink"
)

// twoBoards is a recording of two-link.yaml whose boards sample by rasters of their own: upper every 1 ms, 0.3 ms behind the ticks, lower
// every 2 ms, 0.9 ms behind every other tick. The angles are curves; the current of upper is a curve, that of lower goes up and down every
// eight of its samples.
func twoBoards(t *testing.T, angle, current func(board int, at float64) float64) (dir string) {
	t.Helper()
	cfg, err := configs.Load("../../configs/two-link.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a, err := daemon.Assemble(cfg, daemon.Handover{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := schema.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := sink.NewRecorder(t.TempDir(), hil.Info{Version: "test", Config: text, Schema: a.Schema,
		Start: time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)}, sink.RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const ticks = 1000
	rows := ring.New[hil.Row](1024)
	for i := 1; i < ticks; i++ {
		at := float64(i) * 1e-3
		r := hil.Row{Seq: uint64(i), T: int64(i) * 1e6, Mode: hil.Run, Epoch: 1}
		for board, name := range []string{"upper", "lower"} {
			sampled := at - 0.3e-3
			if board == 1 {
				sampled = float64(i/2)*2e-3 - 0.9e-3
			}
			q, c := a.Schema.Index(name+".angle"), a.Schema.Index(name+".motor.current")
			if board == 0 || i%2 == 0 {
				hil.SetFresh(&r.FreshSignals, q)
				hil.SetFresh(&r.FreshSignals, c)
			}
			r.X[q], r.X[c] = angle(board, sampled), current(board, sampled)
			r.X[a.Schema.Index(name+".age")] = at - sampled
		}
		rows.Writer().Push(&r)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if err := rec.Run(ended, rows.Reader()); err != nil {
		t.Fatal(err)
	}
	return rec.Dir()
}

// The columns of one recording are at the same times, whatever the rasters of their boards: an angle is on the curve that it was sampled
// from, and what was held stays until its next sample.
func TestResponseOfTwoBoards(t *testing.T) {
	angle := func(board int, at float64) float64 { return math.Sin((9 - 2*float64(board)) * at) }
	level := func(sample float64) float64 { return math.Copysign(1, math.Sin(math.Pi/8*(sample+0.5))) }
	current := func(board int, at float64) float64 {
		if board == 0 {
			return math.Cos(7 * at)
		}
		return level(math.Round((at + 0.9e-3) / 2e-3))
	}
	dir := t.TempDir()
	run := twoBoards(t, angle, current)
	for name, text := range map[string]string{
		"machine.yaml": "version: 1\nmachine:\n  gravity: [0, 0, 0]\n  bodies:\n" +
			"    a: {parent: ground, joint: {kind: revolute, armature: 1 kg·m², effort: 0 N·m}}\n" +
			"    b: {parent: ground, joint: {kind: revolute, armature: 1 kg·m², effort: 0 N·m}}\nduration: 1 s\n",
		"fit.yaml": "version: 1\nmachine: machine.yaml\ndata: {file: " + run + "}\ninputs:\n" +
			"  - {path: machine.bodies.b.joint.effort, column: {name: lower.motor.current, unit: A, gain: 1 N·m/A}}\n" +
			"outputs:\n  - {name: a.q, column: {name: upper.angle, unit: rad}}\n  - {name: b.q, column: {name: lower.angle, unit: rad}}\n" +
			"parameters: [{path: machine.bodies.b.joint.armature, name: J, range: [0.1 kg·m², 9 kg·m²]}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cfg, _, err := configs.LoadResponseFit(filepath.Join(dir, "fit.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	recs, err := readResponses(context.Background(), cfg, cfg.Data.Files(), false, report.NewProgress(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	if len(recs.recordings) != 1 || recs.recordings[0].Len() < 990 || math.Abs(recs.recordings[0].Dt-1e-3) > 1e-6 {
		t.Fatalf("%d recordings, the first of %d samples every %g s", len(recs.recordings), recs.recordings[0].Len(), recs.recordings[0].Dt)
	}
	r, first := recs.recordings[0], recs.info[0].Start+1e-3 // the first row is of 1 ms
	for k := range r.Len() {
		at := first + float64(k)*r.Dt
		for board, q := range r.Outputs {
			if math.Abs(q[k]-angle(board, at)) > 1e-6 {
				t.Fatalf("board %d, %g s: angle %g, want %g", board, at, q[k], angle(board, at))
			}
		}
		if want := level(math.Floor((at+0.9e-3)/2e-3 + 1e-3)); r.Inputs[0][k] != want {
			t.Fatalf("%g s: held current %g, want %g", at, r.Inputs[0][k], want)
		}
	}
}
