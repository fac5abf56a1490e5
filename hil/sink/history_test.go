package sink

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/engine"
	"hilrig/hil"
)

// answer is what a window says, as a client reads it.
type answer struct {
	First, Last float64
	Rows        int
	Thinned     bool
	Modes       []struct {
		Timestamp float64
		Mode      string
	}
	Timestamp []float64
	Seq       []*uint64
	Signals   map[string][]*float64
}

func window(t testing.TB, h *History, q HistoryWindow) answer {
	t.Helper()
	data, err := h.Window(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		t.Fatalf("%v: %.300s", err, data)
	}
	for name, x := range a.Signals {
		if len(x) != len(a.Timestamp) {
			t.Fatalf("%d times, %d values of %s", len(a.Timestamp), len(x), name)
		}
	}
	return a
}

// signalsOf are the signals of benchRow.
func signalsOf(n int) []engine.Signal {
	s := benchSchema(n)
	return s.Signals()
}

// startOf is the time of row 0 of benchRow, s since 1970.
func startOf() float64 {
	in := benchInfo(1)
	return float64(in.Start.UnixNano()-in.Mono) * 1e-9
}

// A window that holds few rows has them as they are: values, times and sequence numbers, from the sine they were made of.
func TestHistoryAsRecorded(t *testing.T) {
	dir := record(t, 5000, 5, RecorderOptions{})
	h := NewHistory(filepath.Join(dir, runFile))
	defer h.Close()
	names := signalsOf(5)
	a := window(t, h, HistoryWindow{StartTime: startOf() + 1.0005, EndTime: startOf() + 1.1005,
		Signals: []string{names[1].Name, names[2].Name}, Points: 500})
	if a.Rows != 100 || a.Thinned || math.Abs(a.First-startOf()-0.001) > 1e-6 || math.Abs(a.Last-startOf()-5) > 1e-6 {
		t.Fatalf("%d rows from %g to %g, thinned %v; want 100 of 0.001 to 5 s", a.Rows, a.First-startOf(), a.Last-startOf(), a.Thinned)
	}
	for i, seq := range a.Seq {
		if seq == nil {
			t.Fatalf("row %d has no number: a gap where none is", i)
		}
		want := math.Sin(float64(*seq)*2e-3) * math.Sqrt(3)
		got := a.Signals[names[1].Name][i]
		if *seq != uint64(1001+i) || math.Abs(a.Timestamp[i]-startOf()-float64(*seq)*1e-3) > 2e-6 || math.Abs(*got-want) > 1e-8 {
			t.Fatalf("row %d: seq %d at %g is %g, want %d, %g", i, *seq, a.Timestamp[i], *got, 1001+i, want)
		}
		if null := a.Signals[names[2].Name][i] == nil; null != (*seq%100 == 0) {
			t.Errorf("row %d: not a number %v", *seq, null)
		}
	}
	// before the newest row
	if a := window(t, h, HistoryWindow{StartTime: -0.0995, EndTime: 0, Signals: []string{names[0].Name}, Points: 500}); a.Rows != 100 ||
		*a.Seq[99] != 5000 {
		t.Errorf("the last 0.1 s are %d rows", a.Rows)
	}
}

// A thinned window keeps every spike, at its place, in no more points than asked for, and is open where rows are missing.
func TestHistoryThinned(t *testing.T) {
	const n = 60000
	src := &rowSlice{}
	rng := rand.New(rand.NewPCG(3, 4))
	spike := map[int]float64{}
	for len(spike) < 40 {
		spike[1+rng.IntN(n)] = 10 + float64(rng.IntN(1e5))*1e-3
	}
	for i := 1; i <= n; i++ {
		r := hil.Row{Seq: uint64(i), T: int64(i) * 1e6, Epoch: 1, Mode: hil.Run}
		if i >= 45000 {
			r.Mode = hil.Hold
		}
		r.X[0], r.X[1] = math.Sin(float64(i)*1e-3), spike[i]
		if i < 30000 || i >= 32000 { // 2 s that never came
			src.rows = append(src.rows, r)
		} else {
			delete(spike, i)
		}
	}
	rec, err := NewRecorder(t.TempDir(), benchInfo(2), RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.Run(finished(), src); err != nil {
		t.Fatal(err)
	}
	h := NewHistory(rec.Path())
	defer h.Close()
	names := signalsOf(2)
	a := window(t, h, HistoryWindow{StartTime: startOf(), EndTime: startOf() + 60.5, Signals: []string{names[0].Name, names[1].Name},
		Points: 1000})
	if !a.Thinned || a.Rows != n-2000 || len(a.Timestamp) > 1010 || len(a.Timestamp) < 900 || a.Seq != nil {
		t.Fatalf("%d rows in %d points, thinned %v", a.Rows, len(a.Timestamp), a.Thinned)
	}
	seen, gaps := map[float64]bool{}, 0
	for i, at := range a.Timestamp {
		if i > 0 && !(at > a.Timestamp[i-1]) {
			t.Fatalf("times do not rise at %d", i)
		}
		x, y := a.Signals[names[0].Name][i], a.Signals[names[1].Name][i]
		if x == nil {
			if gaps++; math.Abs(at-startOf()-31) > 0.01 {
				t.Errorf("open at %g s, want at 31", at-startOf())
			}
			continue
		}
		// the sine moves by at most the length of a span, 2·60/1000 s
		if math.Abs(*x-math.Sin(at-startOf())) > 0.13 {
			t.Errorf("at %g s: %g", at-startOf(), *x)
		}
		seen[math.Round(*y*1e3)] = true
	}
	for i, v := range spike {
		hidden := false // by a higher one of the same span
		for j, w := range spike {
			hidden = hidden || w > v && j != i && math.Abs(float64(i-j)) < 130
		}
		if !seen[math.Round(v*1e3)] && !hidden {
			t.Errorf("the spike of row %d is lost", i)
		}
	}
	if gaps != 1 {
		t.Errorf("%d gaps, want 1", gaps)
	}
	if m := a.Modes; len(m) != 2 || m[0].Mode != "run" || m[1].Mode != "hold" || math.Abs(m[0].Timestamp-a.First) > 2e-6 ||
		math.Abs(m[1].Timestamp-startOf()-45) > 2e-6 {
		t.Errorf("modes %v, want run and, from 45 s, hold", m)
	}
}

// A recording that grows is read as far as it goes, wherever the writer happens to be in a record, and at the end whole.
func TestHistoryGrows(t *testing.T) {
	dir := record(t, 10000, 8, RecorderOptions{})
	whole, err := os.ReadFile(filepath.Join(dir, runFile))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), runFile)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := NewHistory(path)
	defer h.Close()
	rng := rand.New(rand.NewPCG(5, 6))
	rows, grew, at := 0, 0, 0
	for end := len(whole) - 400; at < end; { // the summary comes only when the run is over
		next := min(end, at+1+rng.IntN(30000))
		if _, err := f.Write(whole[at:next]); err != nil {
			t.Fatal(err)
		}
		at = next
		data, err := h.Window(context.Background(), HistoryWindow{StartTime: startOf(), EndTime: startOf() + 60,
			Signals: []string{signalsOf(8)[0].Name}, Points: 20})
		if errors.Is(err, ErrNoHistory) && rows == 0 {
			continue
		}
		if err != nil {
			t.Fatalf("at byte %d of %d: %v", at, len(whole), err)
		}
		var a answer
		if err := json.Unmarshal(data, &a); err != nil {
			t.Fatal(err)
		}
		if a.Rows < rows {
			t.Fatalf("%d rows, after %d", a.Rows, rows)
		}
		if a.Rows > rows {
			grew++
		}
		rows = a.Rows
	}
	if rows != 10000 || grew < 4 {
		t.Errorf("%d rows at the end, grown in %d steps; want 10000", rows, grew)
	}
}

// What cannot be answered is said.
func TestHistoryRefuses(t *testing.T) {
	dir := record(t, 3000, 3, RecorderOptions{})
	h := NewHistory(filepath.Join(dir, runFile))
	defer h.Close()
	name := signalsOf(3)[0].Name
	for says, q := range map[string]HistoryWindow{
		"from < to":              {StartTime: -1, EndTime: -2, Signals: []string{name}, Points: 100},
		"1 points, want 2":       {StartTime: -1, Points: 1},
		"no such signal: \"up\"": {StartTime: -1, Points: 10, Signals: []string{name, "up"}},
		"NaN to 0, want from":    {StartTime: math.NaN(), Points: 10},
	} {
		if _, err := h.Window(context.Background(), q); !errors.Is(err, ErrWindow) || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", q, err, says)
		}
	}
	none := NewHistory(filepath.Join(t.TempDir(), "none.mcap"))
	if _, err := none.Window(context.Background(), HistoryWindow{StartTime: -1, Points: 10}); !errors.Is(err, ErrNoHistory) {
		t.Errorf("without a file: %v", err)
	}
	gone, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	if _, err := h.Window(gone, HistoryWindow{StartTime: -2, Points: 10}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a client that has gone: %v", err)
	}
}

// A window of 30 s at 1 kHz, 50 signals in the row, 12 in the answer.
func BenchmarkHistory(b *testing.B) {
	dir := record(b, 30000, 50, RecorderOptions{Chunk: 500 * time.Millisecond})
	h := NewHistory(filepath.Join(dir, runFile))
	defer h.Close()
	var names []string
	for _, s := range signalsOf(50)[:12] {
		names = append(names, s.Name)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Window(context.Background(), HistoryWindow{StartTime: startOf(), EndTime: startOf() + 60, Signals: names,
			Points: 2000}); err != nil {
			b.Fatal(err)
		}
	}
}
