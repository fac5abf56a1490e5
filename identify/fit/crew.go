package fit

import (
	"context"
	"math"
	"sync/atomic"
)

// crew computes the costs of many members on several processors, each worker with an evaluator of its own. Members are
// dealt out in batches; a cost depends on its member and its limit alone, so who computes it does not matter. Nothing is
// allocated after newCrew.
type crew struct {
	box   unitBox
	hands []*labourer
	batch int

	// the work at hand
	ctx   context.Context
	u     [][]float64
	limit []float64
	cost  []float64
	done  []bool
	next  atomic.Int64

	ready chan struct{}
}

type labourer struct {
	ev    Evaluator
	theta [][]float64
	r     []float64 // residuals, of an evaluator that knows no costs
	begin chan struct{}
}

// newCrew hires workers for n members at most. Close sends them home.
func newCrew(p *Problem, workers, n int) *crew {
	c := &crew{box: p.Params, batch: 1, ready: make(chan struct{}, workers), done: make([]bool, n)}
	workers = max(1, min(workers, n))
	for range workers {
		c.hands = append(c.hands, &labourer{ev: p.New(), begin: make(chan struct{}, 1)})
	}
	if b, ok := c.hands[0].ev.(Batcher); ok {
		// full batches, but no smaller number of them than there are workers
		c.batch = max(1, min(b.Width(), (n+workers-1)/workers))
	}
	for i, h := range c.hands {
		flat := make([]float64, c.batch*len(p.Params))
		for range c.batch {
			h.theta = append(h.theta, flat[:len(p.Params):len(p.Params)])
			flat = flat[len(p.Params):]
		}
		_, batcher := h.ev.(Batcher)
		_, aborter := h.ev.(Aborter)
		if !batcher && !aborter {
			h.r = make([]float64, p.Rows)
		}
		if i > 0 {
			go func() {
				for range h.begin {
					c.work(h)
					c.ready <- struct{}{}
				}
			}()
		}
	}
	return c
}

func (c *crew) close() {
	for _, h := range c.hands[1:] {
		close(h.begin)
	}
}

// evaluate computes cost[i] of the member at u[i], exact unless it is above limit[i]. It is false if ctx ended before
// the last member; done tells who was computed.
func (c *crew) evaluate(ctx context.Context, u [][]float64, limit, cost []float64) bool {
	c.ctx, c.u, c.limit, c.cost = ctx, u, limit, cost
	clear(c.done)
	c.next.Store(0)
	for _, h := range c.hands[1:] {
		h.begin <- struct{}{}
	}
	c.work(c.hands[0])
	for range c.hands[1:] {
		<-c.ready
	}
	for _, ok := range c.done[:len(u)] {
		if !ok {
			return false
		}
	}
	return true
}

// work takes batches until none is left.
func (c *crew) work(h *labourer) {
	for c.ctx.Err() == nil {
		from := int(c.next.Add(int64(c.batch))) - c.batch
		if from >= len(c.u) {
			return
		}
		to := min(from+c.batch, len(c.u))
		for i := from; i < to; i++ {
			c.box.theta(c.u[i], h.theta[i-from])
		}
		switch ev := h.ev.(type) {
		case Batcher:
			ev.Costs(h.theta[:to-from], c.limit[from:to], c.cost[from:to])
		case Aborter:
			c.cost[from] = ev.Cost(h.theta[0], c.limit[from])
		default:
			h.ev.Residuals(h.theta[0], h.r)
			c.cost[from] = squares(h.r)
		}
		for i := from; i < to; i++ {
			// neither NaN nor infinity may win a contest or enter a file
			if !(c.cost[i] < math.MaxFloat64) {
				c.cost[i] = math.MaxFloat64
			}
			c.done[i] = true
		}
	}
}

// squares adds up in the order of the rows, as an Aborter does.
func squares(r []float64) (sum float64) {
	for _, v := range r {
		sum += v * v
	}
	return sum
}
