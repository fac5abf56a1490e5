package ball

import "hilrig/identify/fit"

// progress says how far a fit is, in steps of all its descents. Those to come are counted as usual.
type progress struct {
	watch                    fit.Watch
	phase                    string
	finishedSteps, simulated int // in the descents before this one
	later                    int // descents after this one
}

const (
	usualSteps    = 5 // of a descent
	usualDescents = 4 // of γ and of the markers, each a draft first
	usualRounds   = 2 // where numbers of the file are moved
)

// begin says what begins.
func (p *progress) begin(phase, note string) {
	p.phase = phase
	p.report(fit.Progress{Note: note}, usualSteps)
}

// during is the watch of a descent of so many steps at most.
func (p *progress) during(steps int) fit.Watch {
	return func(s fit.Progress) { p.report(s, min(steps, usualSteps)) }
}

func (p *progress) report(s fit.Progress, expected int) {
	s.Method, s.Phase, s.Step, s.Simulated = "shooting", p.phase, s.Step+p.finishedSteps, s.Simulated+p.simulated
	s.StepCount = max(s.Step, p.finishedSteps+expected) + usualSteps*p.later
	p.watch.Report(s)
}

// end counts a descent that ended with s; nil: it failed.
func (p *progress) end(s *fit.Solution) {
	if s != nil {
		p.finishedSteps, p.simulated = p.finishedSteps+s.Iterations, p.simulated+s.Evaluations
	}
	p.later = max(0, p.later-1)
}
