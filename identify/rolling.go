package identify

import (
	"fmt"
	"slices"

	"hilrig/identify/ball"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// rolling is what stands for the law of a ball.
const rolling = "rolling"

// Rolling is the result of a ball in the form of all results: its levels are the stages, its reasons against rolling reject it.
// info and findings are of the recording.
func Rolling(b *ball.Result, info record.Info, findings []record.Finding) (*Result, error) {
	r := &Result{Method: "a ball that rolls, compared with the markers on it", Model: Subject{Law: rolling, Terms: []string{}}, Chain: Chain{},
		Compute: b.Compute}
	if err := r.fillFrom(b.Solution, b.Adjust, []record.Info{info}, findings, b.Warnings, nil); err != nil {
		return nil, err
	}
	r.Indistinct, r.doubts, r.negligibleParams = []fit.Indistinct{}, b.Reasons, b.NegligibleParams // the warnings have what is not told apart
	for _, f := range b.Refusals {
		r.unidentified = append(r.unidentified, refused{fit.Indistinct{Names: []string{f.Name}, Reason: f.Reason},
			fmt.Sprintf("%s is not to be used: %s", f.Name, f.Reason)})
	}
	for i := range b.Levels {
		l := &b.Levels[i]
		s := Stage{Method: Method(l.Name), Converged: true, Reason: "solved", RMS: l.RMS, Unit: l.Unit, Values: map[string]float64{}}
		if l.Warning != "" {
			s.Notes = []string{l.Warning}
		}
		for _, v := range l.Values {
			s.Values[v.Name] = v.Value
		}
		if i == len(b.Levels)-1 {
			sol := b.Solution
			s.Converged, s.Reason, s.Objective, s.Cost = sol.Converged, sol.Reason, sol.Objective, sol.Cost
			s.Iterations, s.Evaluations, s.Trace, s.Compute = sol.Iterations, sol.Evaluations, sol.Trace, sol.Compute.Seconds()
		}
		r.Stages = append(r.Stages, s)
	}
	r.findSuspects(b.MovedSolution, b.Suspects, r.harm(b.Solution), systematic) // as of any free motion
	for i := range r.Parameters {
		r.Parameters[i].givenErr = b.Spread[r.Parameters[i].Name]
	}
	for i := range b.Assumed {
		if g := b.Assumed[i].Group(); !slices.Contains(r.givenNumbers, g) {
			r.givenNumbers = append(r.givenNumbers, g)
		}
	}
	for _, s := range b.ExactScales {
		r.givenNumbers = append(r.givenNumbers, fit.GivenNumber{Name: s.Name})
		r.scaledBy(s.Name, s.ParamMoves)
	}
	r.judge()
	return r, nil
}
