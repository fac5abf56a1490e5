package identify

import (
	"fmt"
	"slices"

	"hilrig/identify/fit"
	"hilrig/identify/record"
	"hilrig/identify/response"
)

// Response is what stands beside the result of a machine that was fitted to its response: how well each output is explained.
type Response struct {
	Outputs []ResponseOutput `json:"outputs"`
	Starts  int              `json:"starts"`  // descents from different values
	Reached int              `json:"reached"` // of them that ended at the best
}

// ResponseOutput is an output of the machine.
type ResponseOutput struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Percent float64  `json:"fit_percent"`
	RMS     float64  `json:"rms"`
	Noise   float64  `json:"noise"`        // by which it was weighted
	Record  float64  `json:"record_noise"` // that the record shows from sample to sample
	Valid   *float64 `json:"validation_fit_percent"`
}

// ResponseChecks are the records that were not fitted, and how they are explained.
type ResponseChecks struct {
	Info     []record.Info
	Findings []record.Finding
	Solution *fit.Solution
	Outputs  []response.Explained
}

// OfResponse is the result of a machine that was fitted to its response, in the form of all results. units are those of the outputs; v is nil where there is
// no validation.
func OfResponse(b *response.Result, units []string, info []record.Info, findings []record.Finding, v *ResponseChecks, start []fit.Param) (*Result, *Response, error) {
	a, err := fit.Assess(b.Solution)
	if err != nil {
		return nil, nil, err
	}
	for i := range a.Estimates {
		a.Estimates[i].BetweenErr, a.Estimates[i].BetweenCI95 = nil, nil // the series of several outputs are no repetitions
	}
	sol := b.Solution
	r := &Result{
		Method: "response of a machine, simulated and compared (output error)", Model: Subject{Law: "machine", Terms: []string{}}, Chain: Chain{"lm"},
		Data: info[0], Findings: append([]record.Finding{}, findings...), Warnings: append([]string{}, b.Warnings...), Compute: b.Compute.Seconds(),
		Steps: &Stepping{Scheme: "implicit midpoint", PerSample: b.Steps, Step: b.Step, Shift: b.Shift, Worst: b.Worst, key: "steps"},
	}
	if len(info) > 1 {
		r.Records = info
	}
	r.take(sol, a, start)
	r.Indistinct = append([]fit.Indistinct{}, a.Indistinct...)
	r.findSuspects(sol, b.Suspects, r.harm(sol))
	last := Stage{Method: "lm", Converged: sol.Converged, Reason: sol.Reason, Objective: sol.Objective, Cost: sol.Cost, RMS: r.Fit.RMS, Unit: sol.Unit,
		Iterations: sol.Iterations, Evaluations: sol.Evaluations, Trace: sol.Trace, Compute: sol.Compute.Seconds(), Values: map[string]float64{}, Notes: sol.Notes}
	for _, p := range r.Parameters {
		last.Values[p.Name] = p.Value
	}
	r.Stages = []Stage{last}
	out := &Response{Starts: b.Starts, Reached: b.Reached}
	for j, o := range b.Outputs {
		out.Outputs = append(out.Outputs, ResponseOutput{Name: o.Name, Unit: units[j], Percent: o.Percent, RMS: o.RMS, Noise: o.Noise, Record: o.Record})
	}
	if v != nil {
		va, err := fit.Assess(v.Solution)
		if err != nil {
			return nil, nil, fmt.Errorf("validation: %w", err)
		}
		r.checked = v.Solution
		r.Validation = &Validation{Data: v.Info[0], Findings: append([]record.Finding{}, v.Findings...), Fit: va.Fit, Residual: va.Residual, Warnings: []string{}}
		if len(v.Info) > 1 {
			r.Validation.Records = v.Info
		}
		for j := range v.Outputs {
			out.Outputs[j].Valid = &v.Outputs[j].Percent
		}
	}
	r.judge(out.suspicions())
	r.weaken(out.doubts())
	if lacks := out.lacks(); lacks != nil {
		r.weaken(lacks)
		for i := range r.Parameters {
			if p := &r.Parameters[i]; p.Worth == string(Identified) {
				p.Worth = string(Weak)
			}
		}
	}
	return r, out, nil
}

// suspicions are reasons to reject.
func (o *Response) suspicions() (list []string) {
	for _, j := range o.Outputs {
		switch {
		case j.Percent < poorFit:
			list = append(list, fmt.Sprintf("output %s: fit %.1f %%, below %.0f %%: this machine does not describe it", j.Name, j.Percent, poorFit))
		case j.Valid != nil && *j.Valid < poorFit:
			list = append(list, fmt.Sprintf("output %s: fit %.1f %% on the validation record", j.Name, *j.Valid))
		}
	}
	return list
}

const (
	timesNoise = 5    // what is left over may be this many times the noise of the record: noise that depends on its neighbours hides in part
	leastLeft  = 1e-4 // of the spread of an output: less is rounding, and steps of the simulation
)

// lacks are outputs of which the machine leaves more than noise. Errors of that kind move parameters, and no interval knows by how much.
func (o *Response) lacks() (list []string) {
	for _, j := range o.Outputs {
		if j.RMS > timesNoise*j.Record && j.Percent < 100*(1-leastLeft) {
			list = append(list, fmt.Sprintf("output %s: what is left over, %.3g %s, is more than the noise of the record, about %.2g %s: the machine lacks something, or a number of it that is not searched is wrong; intervals hold no more of that than other reasons name",
				j.Name, j.RMS, j.Unit, j.Record, j.Unit))
		}
	}
	return list
}

// doubts are reasons for a weaker verdict.
func (o *Response) doubts() (list []string) {
	for _, j := range o.Outputs {
		switch {
		case j.Percent >= poorFit && j.Percent < goodFit:
			list = append(list, fmt.Sprintf("output %s: fit %.1f %%, below %.0f %%: something is missing in the machine, or it is mostly noise", j.Name, j.Percent, goodFit))
		case j.Valid != nil && *j.Valid >= poorFit && j.Percent-*j.Valid > validLoss:
			list = append(list, fmt.Sprintf("output %s: the validation record is explained %.1f points worse", j.Name, j.Percent-*j.Valid))
		}
	}
	return list
}

// weaken adds doubts to a verdict.
func (r *Result) weaken(doubts []string) {
	if len(doubts) > 0 && r.Verdict == Identified {
		r.Verdict = Weak
	}
	for _, d := range doubts {
		if !slices.Contains(r.Reasons, d) {
			r.Reasons = append(r.Reasons, d)
		}
	}
}
