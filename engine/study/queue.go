package study

import (
	"slices"
	"sync"
)

// queue hands out tasks, the first first, each when those before it are done.
type queue struct {
	tasks []TaskSpan

	mu    sync.Mutex
	turn  *sync.Cond   // something is done, or all is over
	open  []int        // not handed out
	left  map[int]bool // not done
	ended bool
}

func newQueue(m *Manifest, open []int) *queue {
	q := &queue{tasks: m.Tasks, open: slices.Clone(open), left: map[int]bool{}}
	q.turn = sync.NewCond(&q.mu)
	for _, k := range open {
		q.left[k] = true
	}
	return q
}

// next waits for a task that can be done; ok is false when there is none any more.
func (q *queue) next() (task int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.ended && len(q.open) > 0 {
		at := slices.IndexFunc(q.open, func(k int) bool {
			return !slices.ContainsFunc(q.tasks[k].After, func(b int) bool { return q.left[b] })
		})
		if at == 0 { // as a rule
			task, q.open = q.open[0], q.open[1:]
			return task, true
		}
		if at > 0 {
			task = q.open[at]
			q.open = slices.Delete(q.open, at, at+1)
			return task, true
		}
		q.turn.Wait()
	}
	return 0, false
}

// done says that a task is.
func (q *queue) done(task int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.left, task)
	q.turn.Broadcast()
}

// end lets nobody wait any longer.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.turn.Broadcast()
}
