package fit

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// A pool shares numbered pieces of work among workers, on a processor each. Who does what does not matter: a piece is the same
// for every worker. Nothing is allocated after newPool.
type pool struct {
	do    func(worker, i int)
	hands []func()

	ctx  context.Context
	n    int
	next atomic.Int64
	wg   sync.WaitGroup
}

// newPool has so many workers, for n pieces at most; 0: as many as there are processors.
func newPool(workers, n int, do func(worker, i int)) *pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := &pool{do: do}
	for w := range max(1, min(workers, n)) {
		p.hands = append(p.hands, func() {
			defer p.wg.Done()
			p.work(w)
		})
	}
	return p
}

// run does the pieces 0 … n−1; once ctx is done, no other begins.
func (p *pool) run(ctx context.Context, n int) {
	p.ctx, p.n = ctx, n
	p.next.Store(0)
	others := p.hands[1:min(len(p.hands), max(n, 1))]
	p.wg.Add(len(others))
	for _, hand := range others {
		go hand()
	}
	p.work(0)
	p.wg.Wait()
}

// Each calls f with 0 … n−1, on all processors.
func Each(n int, f func(i int)) {
	newPool(0, n, func(_, i int) { f(i) }).run(context.Background(), n)
}

func (p *pool) work(worker int) {
	for p.ctx.Err() == nil {
		i := int(p.next.Add(1)) - 1
		if i >= p.n {
			return
		}
		p.do(worker, i)
	}
}
