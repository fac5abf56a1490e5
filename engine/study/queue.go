package study

import (
	"slices"
	"sync"
)

// queue hands out tasks, the first first, each when those before it are done.
type queue struct {
	tasks []TaskSpan

	mu         sync.Mutex
	turn       *sync.Cond   // something is done, or all is over
	pending    []int        // not handed out
	unfinished map[int]bool // not done
	stopped    bool
}

func newQueue(m *Manifest, open []int) *queue {
	q := &queue{tasks: m.Tasks, pending: slices.Clone(open), unfinished: map[int]bool{}}
	q.turn = sync.NewCond(&q.mu)
	for _, k := range open {
		q.unfinished[k] = true
	}
	return q
}

// next waits for a task that can be done; ok is false when there is none any more.
func (q *queue) next() (task int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.stopped && len(q.pending) > 0 {
		at := slices.IndexFunc(q.pending, func(k int) bool {
			return !slices.ContainsFunc(q.tasks[k].Dependencies, func(b int) bool { return q.unfinished[b] })
		})
		if at == 0 { // as a rule
			task, q.pending = q.pending[0], q.pending[1:]
			return task, true
		}
		if at > 0 {
			task = q.pending[at]
			q.pending = slices.Delete(q.pending, at, at+1)
			return task, true
		}
		q.turn.Wait()
	}
	return 0, false
}

// finish says that a task is.
func (q *queue) finish(task int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.unfinished, task)
	q.turn.Broadcast()
}

// end lets nobody wait any longer.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	q.turn.Broadcast()
}
