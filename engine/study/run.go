package study

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Task does one run. It must depend on the run's number alone, and return soon after ctx has ended.
type Task func(ctx context.Context, run int) ([]Metric, error)

// State is how far a study is.
type State struct {
	Done, Failed, Of int // runs; Done counts the failed ones and those of earlier sittings
	Now              int // runs done in this sitting
}

// Run does the runs that the journal does not have, workers at a time (0: as many as there are processors), and returns the
// outcome of all of them in the order of their numbers: the same for any number of workers and sittings, but for Seconds. A
// run that fails or panics is recorded with its reason and is no error here. When ctx ends, the runs under way are given up,
// the journal holds the others, and the error is that of ctx. watch, if any, is called after every run, by one goroutine.
func Run(ctx context.Context, j *Journal, workers int, task Task, watch func(State)) ([]Outcome, error) {
	var open []int
	s := State{Of: j.runs}
	for run := range j.runs {
		o, ok := j.done[run]
		switch {
		case !ok:
			open = append(open, run)
		case o.Failed != "":
			s.Failed++
		}
	}
	s.Done = j.runs - len(open)
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()

	// workers take the next number each; one goroutine, this one, writes
	ended := make(chan Outcome, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, len(open)) {
		wg.Go(func() {
			for inner.Err() == nil {
				k := int(next.Add(1)) - 1
				if k >= len(open) {
					return
				}
				if o, ok := attempt(inner, open[k], task); ok {
					ended <- o
				}
			}
		})
	}
	go func() { wg.Wait(); close(ended) }()
	var broken error
	for o := range ended {
		if broken != nil {
			continue
		}
		if broken = j.add(o); broken != nil {
			cancel() // a study that cannot be remembered is not worth going on
			continue
		}
		s.Done, s.Now = s.Done+1, s.Now+1
		if o.Failed != "" {
			s.Failed++
		}
		if watch != nil {
			watch(s)
		}
	}
	if broken == nil {
		broken = j.sync()
	}
	if broken != nil {
		return nil, broken
	}
	if len(j.done) < j.runs {
		return nil, ctx.Err()
	}
	out := make([]Outcome, j.runs)
	for run := range out {
		out[run] = j.done[run]
	}
	return out, nil
}

// attempt does one run; ok is false when it was given up because ctx has ended.
func attempt(ctx context.Context, run int, task Task) (o Outcome, ok bool) {
	began := time.Now()
	o = Outcome{Run: run}
	defer func() {
		if p := recover(); p != nil {
			o.Metrics, o.Failed, ok = nil, fmt.Sprintf("panic: %v%s", p, origin(debug.Stack())), true
		}
		o.Seconds = time.Since(began).Seconds()
	}()
	m, err := task(ctx, run)
	switch {
	case err != nil && ctx.Err() != nil:
		return o, false
	case err != nil:
		o.Failed = oneLine(err.Error())
	case len(m) == 0:
		o.Failed = "the run gave no number"
	default:
		o.Metrics = m
	}
	return o, true
}

// origin is the line of the source that panicked: the frame above that of panic itself.
func origin(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "panic(") && i+3 < len(lines) {
			at, _, _ := strings.Cut(strings.TrimSpace(lines[i+3]), " +")
			if cut := strings.LastIndex(at, "/"); cut >= 0 {
				at = at[cut+1:]
			}
			return " at " + at
		}
	}
	return ""
}

// oneLine keeps the first 500 bytes of a reason, on one line.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return "failed"
	}
	return strings.ToValidUTF8(s[:min(len(s), 500)], "")
}
