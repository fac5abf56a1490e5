package identify

import (
	"fmt"
	"math"
	"slices"

	"hilrig/identify/fit"
	"hilrig/identify/record"
	"hilrig/identify/response"
)

// Response is what stands beside the result of a machine that was fitted to its response: how well each output is explained.
type Response struct {
	Outputs []response.Explained `json:"outputs"`
	Starts  int                  `json:"starts"`  // descents from different values
	Reached int                  `json:"reached"` // of them that ended at the best
}

// ResponseChecks are the records that were not fitted, and how they are explained.
type ResponseChecks struct {
	Info     []record.Info
	Findings []record.Finding
	Solution *fit.Solution
	Outputs  []response.Explained
}

// wrongGains tells what the gains of columns may do to the values: as far as they are known, and of inputs that rest on few levels.
func (r *Result) wrongGains(sol *fit.Solution, b *response.Result) {
	l := fit.NewLinear(sol)
	for i := range b.Gains {
		g, gain, uncertain := &b.Gains[i], 0.0, 0.0
		for _, f := range r.Findings {
			if f.Kind == rounding && f.Channel == g.Name {
				gain = math.Max(gain, f.Value)
			}
		}
		name, moves := fit.Clock, map[string]float64{}
		if g.Name != "" {
			name, uncertain = "gain of "+g.Name, b.Uncertain().Gain
		}
		for k, by := range l.Move(g.Rows) {
			p := &r.Parameters[sol.Searched()[k]]
			p.rounded += gain * math.Abs(by)
			p.givenErr = math.Hypot(p.givenErr, uncertain/100*by)
			moves[p.Name] = by / 100
		}
		if uncertain == 0 {
			r.scaledBy(name, moves)
		}
	}
}

// OfResponse is the result of a machine that was fitted to its response, in the form of all results. v is nil where there is no validation.
func OfResponse(b *response.Result, info []record.Info, findings []record.Finding, v *ResponseChecks, start []fit.Param) (*Result, *Response,
	error) {
	sol := b.Solution
	r := &Result{
		Method: "response of a machine, simulated and compared (output error)", Model: Subject{Law: "machine", Terms: []string{}},
		Chain: Chain{"lm"}, Compute: b.Compute.Seconds(),
		Steps: &Stepping{Scheme: "implicit midpoint", PerSample: b.Steps, Step: b.Step, Shift: b.Shift, Worst: b.Worst, key: "steps"},
	}
	if err := r.fillFrom(sol, noRepetitions, info, findings, b.Warnings, start); err != nil {
		return nil, nil, err
	}
	r.tolerance = r.harm(sol)
	found, possible := fit.Unmodelled(sol, slices.Concat(b.Suspects, b.Forces), r.tolerance)
	if !doHarm(found) { // what is a little beyond chance among few is not among many
		if own, _ := fit.Unmodelled(sol, b.Suspects, r.tolerance); doHarm(own) {
			found = own
		}
	}
	// outputs exclude more drag than rows of a force do: what they leave of it counts, as at a free motion
	r.lacking(append(found, possible...), systematic)
	r.givenNumbers = []fit.GivenNumber{{Name: "gains of inputs and outputs", Uncertainty: b.Uncertain().Gain, Unit: "%"}, {Name: fit.Clock}}
	r.wrongGains(sol, b)
	last := stageOf("lm", sol)
	last.RMS = r.Fit.RMS
	r.Stages = []Stage{last}
	out := &Response{Outputs: b.Outputs, Starts: b.Starts, Reached: b.Reached}
	if v != nil {
		if err := r.validated(v.Solution, v.Info, v.Findings, nil); err != nil {
			return nil, nil, fmt.Errorf("validation: %w", err)
		}
		for j := range v.Outputs {
			out.Outputs[j].Valid = &v.Outputs[j].Percent
		}
	}
	for j, o := range out.Outputs {
		c := channel{name: "output " + o.Name, unit: o.Unit, percent: &out.Outputs[j].Percent, validation: o.Valid, rms: o.RMS,
			noise: &out.Outputs[j].Record}
		if left := 1 - o.Percent/100; left > 0 {
			c.spread = o.RMS / left
		}
		r.channels = append(r.channels, c)
	}
	r.judge()
	return r, out, nil
}

// validated takes in how records that were not fitted are explained.
func (r *Result) validated(s *fit.Solution, info []record.Info, findings []record.Finding, warnings []string) error {
	a, err := fit.Assess(s)
	if err != nil {
		return err
	}
	r.checked = s
	r.Validation = &Validation{Data: info[0], Findings: append([]record.Finding{}, findings...), Fit: a.Fit, Residual: a.Residual,
		Warnings: append([]string{}, warnings...)}
	if len(info) > 1 {
		r.Validation.Records = info
	}
	return nil
}
