package identify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/identify/ball"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Ball is what stands beside the result of a ball: every level, and the evidence of slip.
type Ball struct {
	Levels  []ball.Level   `json:"levels"` // from the simplest to the one that is reported, the last
	Moduli  ball.Moduli    `json:"moduli"` // the source's fits of moduli, for comparison only
	Slip    ball.Slip      `json:"slip"`
	Refused []ball.Refusal `json:"refused"` // parameters that the recording does not tell
	Frames  int            `json:"frames"`
	LeftOut int            `json:"frames_left_out"` // fewer than three markers in view
	Odd     int            `json:"frames_odd"`      // markers swapped or moved
	Noise   float64        `json:"noise_m"`         // of a coordinate of a marker
	TopRoll float64        `json:"roll_max"`        // rad/s
	SpinRMS float64        `json:"spin_rms"`        // rad/s
}

// BallOf is that of a result.
func BallOf(b *ball.Result) *Ball {
	return &Ball{b.Levels, b.Moduli, b.Slip, b.Refused, b.Frames, b.LeftOut, b.Odd, b.Noise, b.TopRoll, b.SpinRMS}
}

// Rolling is the result of a ball in the form of all results: its levels are the stages, its reasons against rolling reject it.
// info and findings are of the recording.
func Rolling(b *ball.Result, info record.Info, findings []record.Finding) (*Result, error) {
	a, err := fit.Assess(b.Solution)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Method: "a ball that rolls, compared with the markers on it", Model: Subject{Law: "rolling", Terms: []string{}}, Chain: Chain{}, Verdict: Identified, Reasons: slices.Clone(b.Reasons),
		Data: info, Findings: append([]record.Finding{}, findings...), Warnings: append([]string{}, b.Warnings...), Compute: b.Compute,
	}
	r.take(b.Solution, a, nil)
	r.Indistinct = []fit.Indistinct{} // the warnings have them
	if !b.Accepted {
		r.Verdict = Rejected
	}
	weak := func(format string, args ...any) {
		if r.Verdict == Identified {
			r.Verdict = Weak
		}
		r.Reasons = append(r.Reasons, fmt.Sprintf(format, args...))
	}
	for _, f := range b.Refused {
		weak("%s is not to be used: %s", f.Name, f.Why)
	}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if p.Worth = string(Identified); p.State() {
			p.Error, p.CI = r.Err(p), r.Interval(p)
			continue
		}
		p.BetweenErr, p.BetweenCI95 = nil, nil // markers are no repetitions: all share one motion
		p.Error, p.CI = b.Interval(p.Name)
		above := strings.HasPrefix(p.Name, "I") && p.Name[1] == p.Name[2] || ball.IsFriction(p.Name) // never zero by nature
		switch {
		case slices.ContainsFunc(b.Refused, func(f ball.Refusal) bool { return f.Name == p.Name }) || p.Error == nil:
			p.Worth = "not identifiable"
		case above && *p.Error > weakRelative*math.Abs(p.Value):
			p.Worth = string(Weak)
			weak("%s is known to ±%.0f %% only", p.Name, 100**p.Error/math.Abs(p.Value))
		}
		if p.AtBound != "" {
			weak("%s is on its %s bound, %.4g %s: the bound has the last word, not the data", p.Name, p.AtBound, p.Value, p.Unit)
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
	return r, nil
}
