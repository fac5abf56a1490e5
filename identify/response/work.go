package response

import (
	"fmt"
	"math"
	"sync"
	"time"

	"hilrig/identify/fit"
)

// work is what a fit has simulated and has still to simulate, about, in steps of the simulation: by both it tells how long it takes.
type work struct {
	watch        fit.Watch
	lock         sync.Mutex // steps are done side by side
	begin        time.Time
	reportTime   time.Time
	lastProgress fit.Progress

	doneSteps, stageStart float64
	stage, later          float64 // steps that the stage takes, and those behind it
}

const (
	showEvery          = time.Second // while a stage says nothing itself
	expectedIterations = 6           // of a descent
	weighIterations    = 4           // of all descents with other weights
	forceTries         = 2           // to find the size of a force that can be seen
	overrun            = 0.1         // share of what a stage took that it still takes, where it was expected to be over
)

// search is the work of the first descents, iteration that of a part of one, checks that of what comes behind the last.
func (p *problem) search() float64 {
	shares := 1.0
	for _, h := range horizons {
		shares += h
	}
	return expectedIterations * shares * float64(1+p.spec.Starts) * p.iteration()
}

func (p *problem) iteration() float64 { return float64(2*len(p.params)+2) * p.simulation() }

func (p *problem) checks() float64 {
	n := 2 * (2 + len(p.spec.Others) + 3*len(p.spec.Inputs))
	if p.ctx.Err() == nil {
		if m, err := p.spec.Build(fit.Values(p.spec.Params)); err == nil {
			n += len(m.Joints) * forceTries * len(forceKinds)
		}
	}
	return float64(n) * p.simulation()
}

func (p *problem) simulation() float64 { return float64(p.rows / len(p.spec.Outputs) * p.steps) }

// begins says that a stage begins, and what is expected of it and of those behind it.
func (w *work) begins(stage, later float64) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.stageStart, w.stage, w.later = w.doneSteps, stage, later
}

// add takes in steps that were simulated. Where nobody watches w is nil.
func (w *work) add(steps int) {
	if w == nil {
		return
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.doneSteps += float64(steps); time.Since(w.reportTime) >= showEvery {
		w.show(w.lastProgress)
	}
}

// Report is a watch of the stages.
func (w *work) Report(p fit.Progress) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.show(p)
}

func (w *work) show(p fit.Progress) {
	w.lastProgress, w.reportTime = p, time.Now()
	spent := w.doneSteps - w.stageStart
	if p.StepCount > 0 {
		if p.Step > 0 { // starts, one as long as the other
			w.stage = spent / float64(p.Step) * float64(p.StepCount)
		}
		p.Phase, p.StepCount = fmt.Sprintf("%s %d of %d", p.Phase, p.Step, p.StepCount), 0
	}
	left := math.Max(w.stage-spent, overrun*spent) + w.later
	share := w.doneSteps / (w.doneSteps + left)
	if share > 0 {
		p.Note = fmt.Sprintf("%.0f %% of the work is done", 100*share)
		if left := time.Duration(float64(w.reportTime.Sub(w.begin)) * (1/share - 1)); left >= showEvery {
			p.Note += fmt.Sprintf(", about %s left", left.Round(time.Second))
		}
	}
	w.watch.Report(p)
}
