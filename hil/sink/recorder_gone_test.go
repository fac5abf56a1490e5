package sink

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hilrig/hil"
)

// A recording that is deleted or moved under way is told of, and goes on in a new file that knows the parameters in force. A file of
// somebody else in its place is left alone.
func TestRecordingGone(t *testing.T) {
	for _, c := range []struct {
		name string
		take func(dir string) error // makes the recording vanish
		code string
	}{
		{"file deleted", func(dir string) error { return os.Remove(filepath.Join(dir, "run.mcap")) }, "RECORD_GONE"},
		{"folder deleted", os.RemoveAll, "RECORD_GONE"},
		{"all runs deleted", func(dir string) error { return os.RemoveAll(filepath.Dir(dir)) }, "RECORD_GONE"},
		{"folder moved", func(dir string) error { return os.Rename(dir, dir+"-kept") }, "RECORD_GONE"},
		{"another file in its place", func(dir string) error {
			path := filepath.Join(dir, "run.mcap")
			os.Remove(path)
			return os.WriteFile(path, []byte("mine"), 0o644)
		}, "RECORD_FAILED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			var told []hil.Event
			rec, err := NewRecorder(filepath.Join(t.TempDir(), "runs"), benchInfo(3),
				RecorderOptions{Chunk: 50 * time.Millisecond, Event: func(e hil.Event) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, e)
				}})
			if err != nil {
				t.Fatal(err)
			}
			rec.Params(hil.Params{Gen: 4}, []string{"kp"}, 5)
			var gone atomic.Bool
			rows := &countedRows{n: 600, signals: 3, gate: func(at uint64) bool { return at < 300 || gone.Load() }}
			ctx, end := context.WithCancel(context.Background())
			done := make(chan error, 1)
			step := make(chan struct{})
			go func() { done <- rec.Run(ctx, &gated{rows, step}) }()
			for end := time.Now().Add(5 * time.Second); rec.Stats().Rows < 300; time.Sleep(5 * time.Millisecond) {
				step <- struct{}{}
				if time.Now().After(end) {
					t.Fatal("300 rows were not recorded")
				}
			}
			if err := c.take(rec.Dir()); err != nil {
				t.Fatal(err)
			}
			gone.Store(true)
			close(step)
			time.Sleep(100 * time.Millisecond)
			end()
			err = <-done

			var codes []string
			for _, e := range told {
				codes = append(codes, e.Code)
			}
			if len(codes) != 1 || codes[0] != c.code {
				t.Errorf("told %v, want %s once", codes, c.code)
			}
			if c.code == "RECORD_FAILED" {
				data, _ := os.ReadFile(rec.Path())
				if err == nil || string(data) != "mine" {
					t.Errorf("%v; the file holds %q", err, data)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			read := func(path string) (first, last uint64, gens int) {
				run, err := OpenRun(path)
				if err != nil {
					t.Fatal(err)
				}
				defer run.Close()
				if err := run.Rows(func(r *hil.Row) error {
					if first == 0 {
						first = r.Seq
					}
					last = r.Seq
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				p, err := run.Params()
				if err != nil || len(p) != 1 || p[0].Gen != 4 {
					t.Errorf("parameters %v (%v)", p, err)
				}
				return first, last, len(p)
			}
			if first, last, _ := read(rec.Dir()); first != 301 || last != 600 {
				t.Errorf("the new file holds rows %d to %d, want 301 to 600", first, last)
			}
			if !strings.Contains(c.name, "moved") {
				return
			}
			if first, last, _ := read(rec.Dir() + "-kept"); first != 1 || last != 300 {
				t.Errorf("the moved file holds rows %d to %d, want 1 to 300", first, last)
			}
		})
	}
}

// gated gives rows in steps until step is closed.
type gated struct {
	*countedRows
	step chan struct{}
}

func (g *gated) Pop(r *hil.Row) bool {
	if g.at%10 == 0 {
		select {
		case <-g.step:
		default:
			return false
		}
	}
	return g.countedRows.Pop(r)
}
