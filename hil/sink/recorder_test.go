package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"hilrig/hil"
)

// benchRow looks like a row of a running rig: noisy, full-precision numbers. It depends on the sequence number only, so
// that a reader can check what it gets without having the original.
func benchRow(seq uint64, n int) hil.Row {
	row := hil.Row{Seq: seq, T: int64(seq) * 1e6, FreshSignals: hil.Fresh{seq & 7}, Lateness: int32(seq*7919) % 90000,
		BusyTime: 4000 + int32(seq%700),
		Mode:     hil.Run, Cause: hil.CauseCommand, Gen: 1 + uint32(seq/1000), Epoch: 1 + uint16(seq/300)}
	for i := range n {
		row.X[i] = math.Sin(float64(seq)*1e-3*float64(i+1)) * math.Sqrt(float64(i+2))
	}
	if seq%100 == 0 && n > 2 {
		row.X[2] = math.NaN()
	}
	return row
}

// countedRows is a source of n rows, made as they are asked for.
type countedRows struct {
	n, at   uint64
	signals int
	dropped uint64
	gate    func(at uint64) bool // false: none just now
}

func (s *countedRows) Pop(r *hil.Row) bool {
	if s.at >= s.n || s.gate != nil && !s.gate(s.at) {
		return false
	}
	s.at++
	*r = benchRow(s.at, s.signals)
	return true
}

func (s *countedRows) Dropped() uint64 { return s.dropped }

func benchInfo(signals int) hil.Info {
	return hil.Info{Version: "test", ConfigHash: "ab12", Config: []byte("rig:\n  name: bench # σ0\n"), Schema: benchSchema(signals),
		Start: time.Date(2026, 11, 21, 8, 30, 1, 123456789, time.UTC), Mono: 17e9 + 1, DryRun: true, Note: "runs without FIFO"}
}

// finished is a context that has ended: the recorder takes what there is and closes.
func finished() context.Context {
	ctx, end := context.WithCancel(context.Background())
	end()
	return ctx
}

// record makes a run of n rows and returns its folder.
func record(t testing.TB, n, signals int, opt RecorderOptions) string {
	t.Helper()
	rec, err := NewRecorder(t.TempDir(), benchInfo(signals), opt)
	if err != nil {
		t.Fatal(err)
	}
	rec.Params(hil.Params{Gen: 1, V: [hil.MaxParams]float64{0.25, math.Inf(1)}}, []string{"kp", "limit"}, 5)
	rec.Event(hil.Event{Time: time.Unix(1795221000, 5).UTC(), Seq: 3, Level: "info", Code: "MODE", Text: "ready → armed"})
	if err := rec.Run(finished(), &countedRows{n: uint64(n), signals: signals}); err != nil {
		t.Fatal(err)
	}
	if st := rec.Stats(); st.Rows != uint64(n) || st.LostRows != 0 || st.Notes != 0 {
		t.Fatalf("%d rows recorded as %+v", n, st)
	}
	return rec.Dir()
}

// checkRows reads a run and compares every row with what was put in; it returns how many there are.
func checkRows(t testing.TB, run *Run, signals int) uint64 {
	t.Helper()
	var n, prev uint64
	err := run.Rows(func(r *hil.Row) error {
		if r.Seq <= prev {
			return fmt.Errorf("row %d after row %d", r.Seq, prev)
		}
		want := benchRow(r.Seq, signals)
		if !sameBits(r, &want) {
			return fmt.Errorf("row %d read as %+v, want %+v", r.Seq, *r, want)
		}
		n, prev = n+1, r.Seq
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

func TestRecordAndRead(t *testing.T) {
	const rows, signals = 5000, 35
	dir := record(t, rows, signals, RecorderOptions{})
	for _, path := range []string{dir, filepath.Join(dir, "run.mcap")} {
		run, err := OpenRun(path)
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		if n := checkRows(t, run, signals); n != rows {
			t.Errorf("%d rows read, want %d", n, rows)
		}
		if cut, why := run.Truncated(); cut || len(run.Problems()) > 0 {
			t.Errorf("whole run reads as damaged: %s %v", why, run.Problems())
		}
		if want := benchInfo(signals); !reflect.DeepEqual(run.Info, want) {
			t.Errorf("info %+v, want %+v", run.Info, want)
		}
		events, err := run.Events()
		if want := (hil.Event{Time: time.Unix(1795221000, 5).UTC(), Seq: 3, Level: "info", Code: "MODE", Text: "ready → armed"}); err != nil ||
			len(events) != 1 || events[0] != want {
			t.Errorf("events %+v, %v", events, err)
		}
		params, err := run.Params()
		if err != nil || len(params) != 1 || params[0].Gen != 1 || params[0].T != 5 || params[0].V[0] != 0.25 || !math.IsInf(params[0].V[1], 1) {
			t.Errorf("params %+v, %v", params, err)
		}
		clocks, err := run.Clocks()
		if err != nil || len(clocks) == 0 || time.Since(clocks[0].Wall).Abs() > time.Minute {
			t.Errorf("clocks %+v, %v", clocks, err)
		}
	}
	if yaml, err := os.ReadFile(filepath.Join(dir, "run.yaml")); err != nil || string(yaml) != string(benchInfo(1).Config) {
		t.Errorf("run.yaml: %q, %v", yaml, err)
	}
	if base := filepath.Base(dir); base != "2026-11-21T08-30-01Z_bench_dry-run" {
		t.Errorf("folder %s", base)
	}
}

// Rows between two times: the same as filtering all of them, and only the chunks that can hold them are read.
func TestBetween(t *testing.T) {
	dir := record(t, 20000, 8, RecorderOptions{})
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if len(run.m.chunks) < 4 {
		t.Fatalf("only %d chunks", len(run.m.chunks))
	}
	for _, c := range []struct{ from, to, want int64 }{{5e9, 7e9, 2001}, {0, 1e6, 1}, {-1, math.MaxInt64, 20000}, {math.MinInt64, 3e6, 3},
		{30e9, 40e9, 0}} {
		it := run.RowsBetween(c.from, c.to)
		var row hil.Row
		var n int64
		for it.Next(&row) {
			n++
		}
		if it.Err() != nil || n != c.want {
			t.Errorf("%d … %d: %d rows, want %d (%v)", c.from, c.to, n, c.want, it.Err())
		}
	}
}

// Nothing is written over: runs that start in the same second get folders of their own.
func TestRunsNeverShareAFolder(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []string{"2026-11-21T08-30-01Z_a-b-c", "2026-11-21T08-30-01Z_a-b-c-2", "2026-11-21T08-30-01Z_a-b-c-3"} {
		info := benchInfo(2)
		info.Schema.Rig, info.DryRun = "a/b c", false
		rec, err := NewRecorder(dir, info, RecorderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := rec.Run(finished(), &countedRows{n: 1, signals: 2}); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(rec.Dir()) != want {
			t.Errorf("folder %s, want %s", rec.Dir(), want)
		}
	}
}

func TestRecorderSaysWhyItCannotStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := NewRecorder(filepath.Join(file, "runs"), benchInfo(2), RecorderOptions{})
	if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "record.dir") {
		t.Errorf("error %v should name the place and the way out", err)
	}
}

func TestOpenRunSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.mcap")
	if err := os.WriteFile(other, []byte("time,angle\n0,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign.mcap")
	f, err := os.Create(foreign)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newMCAPWriter(f, "somebody else", func(*mcapWriter) {})
	if err != nil || w.finish() != nil {
		t.Fatal(err)
	}
	if _, err := OpenRun(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := OpenRun(dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "run.mcap") {
		t.Errorf("folder without recording: %v", err)
	}
	if _, err := OpenRun(other); !errors.Is(err, errNotMCAP) {
		t.Errorf("CSV: %v", err)
	}
	if _, err := OpenRun(foreign); err == nil || !strings.Contains(err.Error(), "not recorded by hil") {
		t.Errorf("foreign MCAP: %v", err)
	}
}

// Rows the ring dropped are counted and become an event, in the recording too; Run leaves no goroutine behind.
func TestRecorderReportsRingLoss(t *testing.T) {
	before := runtime.NumGoroutine()
	var told []hil.Event
	rec, err := NewRecorder(t.TempDir(), benchInfo(4), RecorderOptions{Event: func(e hil.Event) { told = append(told, e) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.Run(finished(), &countedRows{n: 10, signals: 4, dropped: 37}); err != nil {
		t.Fatal(err)
	}
	if st := rec.Stats(); st.Rows != 10 || st.LostRows != 37 {
		t.Errorf("stats %+v", st)
	}
	if len(told) != 1 || told[0].Code != "RECORD_LOST" || !strings.Contains(told[0].Text, "37 rows") {
		t.Errorf("told %+v", told)
	}
	run, err := OpenRun(rec.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if events, err := run.Events(); err != nil || len(events) != 1 || events[0].Code != "RECORD_LOST" {
		t.Errorf("recorded %+v, %v", events, err)
	}
	rec.Event(hil.Event{}) // after the end: counted, not blocked
	if rec.Stats().Notes != 1 {
		t.Errorf("late event not counted: %+v", rec.Stats())
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

// Events and parameters may come from many goroutines while rows stream; none is lost while the queue has room.
func TestRecorderTakesNotesFromEverywhere(t *testing.T) {
	rec, err := NewRecorder(t.TempDir(), benchInfo(4), RecorderOptions{Chunk: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- rec.Run(ctx, &countedRows{n: 3000, signals: 4}) }()
	part := make(chan bool)
	for g := range 4 {
		go func() {
			for i := range 100 {
				rec.Event(hil.Event{Time: time.Unix(int64(i), 0), Code: fmt.Sprint(g)})
				rec.Params(hil.Params{Gen: uint32(i)}, nil, int64(i))
			}
			part <- true
		}()
	}
	for range 4 {
		<-part
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	run, err := OpenRun(rec.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	events, err1 := run.Events()
	params, err2 := run.Params()
	if err1 != nil || err2 != nil || len(events) != 400 || len(params) != 400 || rec.Stats().Notes != 0 {
		t.Errorf("%d events, %d blocks, %v %v, want 400 each", len(events), len(params), err1, err2)
	}
	if n := checkRows(t, run, 4); n != 3000 {
		t.Errorf("%d rows", n)
	}
}

// BenchmarkRecorder writes rows of 35 signals to disk, all of it: encode, compress, write, sync.
func BenchmarkRecorder(b *testing.B) {
	rec, err := NewRecorder(b.TempDir(), benchInfo(35), RecorderOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := rec.Run(finished(), &cannedRows{n: b.N}); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(rec.Stats().Bytes)/float64(b.N), "B/row")
}

// cannedRows repeats rows made beforehand, so that a benchmark does not measure sines.
type cannedRows struct {
	n, at int
	rows  [512]hil.Row
}

func (s *cannedRows) Pop(r *hil.Row) bool {
	if s.at == 0 {
		for i := range s.rows {
			s.rows[i] = benchRow(uint64(i+1), 35)
		}
	}
	if s.at >= s.n {
		return false
	}
	*r = s.rows[s.at%len(s.rows)]
	s.at++
	r.Seq = uint64(s.at)
	return true
}

func (s *cannedRows) Dropped() uint64 { return 0 }

// The newest run of a folder is none of dry runs, unless there is no other; a recording without a row can be taken back.
func TestFindRunPassesOverDryRuns(t *testing.T) {
	dir := t.TempDir()
	record := func(second int, dry bool) *Recorder {
		info := benchInfo(2)
		info.Start, info.DryRun = time.Date(2026, 11, 21, 8, 30, second, 0, time.UTC), dry
		rec, err := NewRecorder(dir, info, RecorderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	found := func(want *Recorder) {
		t.Helper()
		if file, ok := FindRun(dir); !ok || file != want.Path() {
			t.Errorf("found %s, want %s", file, want.Path())
		}
	}
	first := record(1, true)
	found(first)
	driven := record(2, false)
	record(3, true)
	record(3, true) // …_dry-run-2
	found(driven)
	if err := driven.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(driven.Dir()); !os.IsNotExist(err) {
		t.Error("the folder is still there")
	}
	if file, ok := FindRun(dir); !ok || !strings.HasSuffix(filepath.Dir(file), "_dry-run-2") {
		t.Errorf("found %s", file)
	}
	// what somebody else put there stays
	kept := record(4, false)
	if err := os.WriteFile(filepath.Join(kept.Dir(), "notes.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := kept.Discard(); err == nil {
		t.Error("a folder with a foreign file is gone")
	}
	if _, err := os.Stat(filepath.Join(kept.Dir(), "notes.txt")); err != nil {
		t.Error(err)
	}
}
