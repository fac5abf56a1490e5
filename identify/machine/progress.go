package machine

import (
	"context"
	"sync"

	"hilrig/identify/fit"
)

// Work of the stages over that of one round of instrumental variables, as measured with arms of two and three joints.
const (
	columnsWork = 0.1
	timingWork  = 0.4
	halfWork    = 0.3
	lackingWork = 0.5
	usualRounds = 2
)

// progress says how far a fit is, by the work that is done and the work that is usual after it.
type progress struct {
	ctx     context.Context
	watch   fit.Watch
	samples int // of all recordings: one round of instrumental variables simulates them

	lock                           sync.Mutex
	stage                          string
	finished, current, currentDone float64 // work of the stages before, of this one, and what of it is done
	later                          float64 // behind this one
}

// begin says that a stage begins. The error is that of the context.
func (p *progress) begin(stage string, work, later float64) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.finished += p.current
	p.stage, p.current, p.currentDone, p.later = stage, work, 0, later
	p.report()
	return p.ctx.Err()
}

// simulated takes in samples that were simulated side by side.
func (p *progress) simulated(samples int) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.currentDone = min(p.current, p.currentDone+float64(samples)/float64(p.samples))
	p.report()
	return p.ctx.Err()
}

func (p *progress) report() {
	share := (p.finished + p.currentDone) / (p.finished + p.current + p.later)
	p.watch.Report(fit.Progress{Method: "machine", Phase: "work in %", Step: int(100 * share), StepCount: 100, Note: p.stage})
}
