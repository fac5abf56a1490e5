package fit

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"hilrig/engine/failure"
)

// crew computes the costs of many members on several processors, each worker with an evaluator of its own. Members are
// dealt out in batches; a cost depends on its member and its limit alone, so who computes it does not matter. Nothing is
// allocated after newCrew.
type crew struct {
	box     unitBox
	workers []labourer
	batch   int
	pool    *pool

	// the work at hand
	u        [][]float64
	limit    []float64
	cost     []float64
	computed []bool
}

type labourer struct {
	ev    Evaluator
	theta [][]float64
	r     []float64 // residuals, of an evaluator that takes no batches
}

// newCrew hires workers for n members at most.
func newCrew(p *Problem, workers, n int) *crew {
	c := &crew{box: p.Params, batch: 1, computed: make([]bool, n)}
	c.pool = newPool(workers, n, c.work)
	c.workers = make([]labourer, len(c.pool.workers))
	for i := range c.workers {
		h := &c.workers[i]
		h.ev = p.NewEvaluator()
		if b, ok := h.ev.(Batcher); ok {
			c.batch = max(1, min(b.Width(), n)) // full ones: a few members take nearly as long as a batch
		} else {
			h.r = make([]float64, p.Rows)
		}
		for range c.batch {
			h.theta = append(h.theta, make([]float64, len(p.Params)))
		}
	}
	return c
}

// evaluate computes cost[i] of the member at u[i], exact unless it is above limit[i]. It is false if ctx ended before
// the last member; done tells who was computed.
func (c *crew) evaluate(ctx context.Context, u [][]float64, limit, cost []float64) bool {
	c.u, c.limit, c.cost = u, limit, cost
	clear(c.computed)
	c.pool.run(ctx, (len(u)+c.batch-1)/c.batch)
	return !slices.Contains(c.computed[:len(u)], false)
}

// work computes a batch.
func (c *crew) work(worker, batch int) {
	h, from := &c.workers[worker], batch*c.batch
	to := min(from+c.batch, len(c.u))
	for i := from; i < to; i++ {
		c.box.theta(c.u[i], h.theta[i-from])
	}
	switch ev := h.ev.(type) {
	case Batcher:
		ev.Costs(h.theta[:to-from], c.limit[from:to], c.cost[from:to])
	case Bounded:
		c.cost[from] = math.Inf(1)
		if _, whole := ev.ResidualsWithin(h.theta[0], h.r, c.limit[from]); whole {
			c.cost[from] = squares(h.r)
		}
	default:
		h.ev.Residuals(h.theta[0], h.r)
		c.cost[from] = squares(h.r)
	}
	for i := from; i < to; i++ {
		// neither NaN nor infinity may win a contest or enter a file
		if !(c.cost[i] < math.MaxFloat64) {
			c.cost[i] = math.MaxFloat64
		}
		c.computed[i] = true
	}
}

// squares adds up in the order of the rows, as a Batcher does.
func squares(r []float64) (sum float64) {
	for _, v := range r {
		sum += v * v
	}
	return sum
}

// A pool shares numbered pieces of work among workers, on a processor each. Who does what does not matter: a piece is the same
// for every worker. Nothing is allocated after newPool.
type pool struct {
	do      func(worker, i int)
	workers []func()

	ctx       context.Context
	n         int
	nextPiece atomic.Int64
	wg        sync.WaitGroup
	slip      atomic.Pointer[failure.Panic] // of a worker
}

// newPool has so many workers, for n pieces at most; 0: as many as there are processors.
func newPool(workers, n int, do func(worker, i int)) *pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := &pool{do: do}
	for w := range max(1, min(workers, n)) {
		p.workers = append(p.workers, func() {
			defer p.wg.Done()
			defer p.catchPanic()
			p.work(w)
		})
	}
	return p
}

// run does the pieces 0 … n−1; once ctx is done, no other begins.
func (p *pool) run(ctx context.Context, n int) {
	p.ctx, p.n = ctx, n
	p.nextPiece.Store(0)
	others := p.workers[1:min(len(p.workers), max(n, 1))]
	p.wg.Add(len(others))
	for _, hand := range others {
		go hand()
	}
	p.workAsCaller()
	p.wg.Wait()
	if slip := p.slip.Swap(nil); slip != nil { // to whoever asked, which no panic of another goroutine reaches
		panic(slip)
	}
}

// workAsCaller is the share of the goroutine that asked, which waits for the others whatever happens.
func (p *pool) workAsCaller() {
	defer p.catchPanic()
	p.work(0)
}

// catchPanic keeps the first panic of a worker. No other piece begins.
func (p *pool) catchPanic() {
	if v := recover(); v != nil {
		p.slip.CompareAndSwap(nil, failure.Of(v))
		p.nextPiece.Store(int64(p.n))
	}
}

// Parallel calls f with 0 … n−1, on all processors.
func Parallel(n int, f func(i int)) { ParallelOn(0, n, f) }

// ParallelOn is Parallel with so many workers; 0: as many as there are processors.
func ParallelOn(workers, n int, f func(i int)) {
	newPool(workers, n, func(_, i int) { f(i) }).run(context.Background(), n)
}

func (p *pool) work(worker int) {
	for p.ctx.Err() == nil {
		i := int(p.nextPiece.Add(1)) - 1
		if i >= p.n {
			return
		}
		p.do(worker, i)
	}
}
