package identify

import (
	"fmt"
	"slices"

	"hilrig/identify/ball"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Ball is what stands beside the result of a ball: every level, and the evidence of slip.
type Ball struct {
	Levels   []ball.Level   `json:"levels"` // from the simplest to the one that is reported, the last
	Moduli   ball.Moduli    `json:"moduli"` // the source's fits of moduli, for comparison only
	Slip     ball.Slip      `json:"slip"`
	Refusals []ball.Refusal `json:"refused"` // parameters that the recording does not tell
	Frames   int            `json:"frames"`
	LeftOut  int            `json:"frames_left_out"` // fewer than three markers in view
	Odd      int            `json:"frames_odd"`      // markers that do not fit the body: left out

	Assumed   []ball.Assumption `json:"assumed"`   // numbers of the file that the result rests on
	Exchanges []ball.Exchange   `json:"exchanged"` // labels that were put right
	Strays    []ball.Stray      `json:"strayed"`   // markers that were left out in a frame

	Noise   float64 `json:"noise_m"`  // of a coordinate of a marker
	TopRoll float64 `json:"roll_max"` // rad/s
	SpinRMS float64 `json:"spin_rms"` // rad/s
}

// rolling is what stands for the law of a ball.
const rolling = "rolling"

// BallOf is that of a result.
func BallOf(b *ball.Result) *Ball {
	return &Ball{Levels: b.Levels, Moduli: b.Moduli, Slip: b.Slip, Refusals: b.Refusals, Frames: b.Frames, LeftOut: b.LeftOut, Odd: b.Odd,
		Assumed:   b.Assumed,
		Exchanges: b.Exchanges, Strays: b.Strays, Noise: b.Noise, TopRoll: b.TopRoll, SpinRMS: b.SpinRMS}
}

// Rolling is the result of a ball in the form of all results: its levels are the stages, its reasons against rolling reject it.
// info and findings are of the recording.
func Rolling(b *ball.Result, info record.Info, findings []record.Finding) (*Result, error) {
	a, err := fit.Assess(b.Solution)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Method: "a ball that rolls, compared with the markers on it", Model: Subject{Law: rolling, Terms: []string{}}, Chain: Chain{},
		Data: info, Findings: append([]record.Finding{}, findings...), Warnings: append([]string{}, b.Warnings...), Compute: b.Compute,
	}
	r.fill(b.Solution, a, nil)
	r.Indistinct, r.doubts, r.negligibleParams = []fit.Indistinct{}, b.Reasons, b.NegligibleParams // the warnings have what is not told apart
	for _, f := range b.Refusals {
		r.unidentified = append(r.unidentified, refused{fit.Indistinct{Names: []string{f.Name}, Reason: f.Reason},
			fmt.Sprintf("%s is not to be used: %s", f.Name, f.Reason)})
	}
	for i := range r.Parameters {
		if p := &r.Parameters[i]; !p.State() {
			p.BetweenErr, p.BetweenCI95 = nil, nil // markers are no repetitions: all share one motion
		}
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
	r.findSuspects(b.MovedSolution, b.Suspects, r.harm(b.Solution))
	for i := range r.Parameters {
		r.Parameters[i].givenErr = b.Spread[r.Parameters[i].Name]
	}
	for i := range b.Assumed {
		if g := b.Assumed[i].Group(); !slices.Contains(r.givenNumbers, g) {
			r.givenNumbers = append(r.givenNumbers, g)
		}
	}
	r.judge()
	return r, nil
}
