package study

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"sync"

	"hilrig/engine/failure"
)

// Work does one run: metrics, and a state if other tasks come after its own. It must depend on nothing but the run's number and the
// outcomes of the tasks before, and return soon after ctx has ended.
type Work func(ctx context.Context, run int) (Outcome, error)

// State is how far a study is.
type State struct {
	DoneRuns, FailedRuns, TotalRuns int // runs; DoneRuns counts the failed ones and those of earlier sittings
	NewRuns                         int // runs done in this sitting
}

// Progress is how far the tasks of a folder are.
type Progress struct {
	OpenTasks []int // tasks that are not finished, or whose file is damaged
	Damaged   []int // those among them whose file is damaged
	State
}

// Progress reads the files of all tasks that have one, to the last byte.
func (f *Folder) Progress() (p Progress, err error) {
	p.TotalRuns = f.Manifest.Runs
	done, err := f.tasksWithFile()
	if err != nil {
		return p, err
	}
	for task := range f.Manifest.Tasks {
		if !done[task] {
			p.OpenTasks = append(p.OpenTasks, task)
			continue
		}
		list, err := f.Read(task)
		var foreign *Foreign
		switch {
		case errors.As(err, &foreign):
			p.Damaged = append(p.Damaged, task)
			fallthrough
		case errors.Is(err, fs.ErrNotExist):
			p.OpenTasks = append(p.OpenTasks, task)
		case err != nil:
			return p, err
		}
		p.count(list)
	}
	return p, nil
}

func (p *Progress) count(list []Outcome) {
	p.DoneRuns += len(list)
	for i := range list {
		if list[i].Failure != "" {
			p.FailedRuns++
		}
	}
}

// Outcomes are those of all finished tasks, in the order of the runs: the same for any number of workers, sittings and programs. missing
// are the runs whose tasks are not finished; their outcomes say so.
func (f *Folder) Outcomes() (all []Outcome, missing int, err error) {
	done, err := f.tasksWithFile()
	if err != nil {
		return nil, 0, err
	}
	for task, span := range f.Manifest.Tasks {
		var list []Outcome
		err := error(fs.ErrNotExist)
		if done[task] {
			list, err = f.Read(task)
		}
		var foreign *Foreign
		switch {
		case err == nil:
			all = append(all, list...)
		case errors.Is(err, fs.ErrNotExist) || errors.As(err, &foreign):
			for run := range span.Runs {
				all = append(all, Outcome{Run: span.FirstRun + run, Failure: NotDone})
			}
			missing += span.Runs
		default:
			return nil, 0, err
		}
	}
	return all, missing, nil
}

// NotDone stands in place of the reason of a failed run for one that was not done.
const NotDone = "not done yet"

// Run does the tasks that are open, workers at a time (0: as many as there are processors), each when those before it are done. A run that
// fails or panics is recorded with its reason and is no error here. When ctx ends, the runs under way are given up, the folder holds the
// others, and the error is that of ctx. watch, if any, is called after every run, by one goroutine at a time.
func (f *Folder) Run(ctx context.Context, p Progress, workers int, work Work, watch func(State)) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if watch == nil {
		watch = func(State) {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	var mu sync.Mutex // of the state
	s := p.State
	see := func(o Outcome, fresh bool) {
		mu.Lock()
		defer mu.Unlock()
		s.DoneRuns++
		if fresh {
			s.NewRuns++
		}
		if o.Failure != "" {
			s.FailedRuns++
		}
		watch(s)
	}
	q := newQueue(f.Manifest, p.OpenTasks)
	defer context.AfterFunc(ctx, q.end)()
	var wg sync.WaitGroup
	for range min(workers, len(p.OpenTasks)) {
		wg.Go(func() {
			for {
				k, ok := q.next()
				if !ok {
					return
				}
				if err := f.Do(ctx, k, work, see); err != nil {
					cancel(err) // a study that cannot be remembered is not worth going on
					return
				}
				q.finish(k)
			}
		})
	}
	wg.Wait()
	f.syncNames() // a name that a power cut takes before this is that of a task to be done again
	return context.Cause(ctx)
}

// attempt does one run; ok is false when it was given up because ctx has ended.
func attempt(ctx context.Context, run int, work Work) (o Outcome, ok bool) {
	o = Outcome{Run: run}
	if ctx.Err() != nil {
		return o, false
	}
	defer func() {
		if p := recover(); p != nil {
			o.Metrics, o.State, o.Failure, ok = nil, nil, "panic: "+failure.Of(p).Error(), true
		}
	}()
	got, err := work(ctx, run)
	switch {
	case err != nil && ctx.Err() != nil:
		return o, false
	case err != nil:
		o.Failure = oneLine(err.Error())
	case len(got.Metrics) == 0:
		o.Failure = "the run gave no number"
	default:
		o.Metrics, o.State = got.Metrics, got.State
	}
	return o, true
}

// oneLine keeps the first 500 bytes of a reason, on one line.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return "failed"
	}
	return strings.ToValidUTF8(s[:min(len(s), 500)], "")
}
