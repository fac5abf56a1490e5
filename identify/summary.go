package identify

import (
	"time"

	"hilrig/identify/fit"
)

// Summary is a result in short, as it is published: docs/reference/mqtt.md describes it.
type Summary struct {
	Law        string           `json:"law"`
	Methods    Chain            `json:"methods"`
	Verdict    Verdict          `json:"verdict"`
	Reasons    []fit.Reason     `json:"reasons"`
	Parameters []SummaryParam   `json:"parameters"`
	Fit        *float64         `json:"fit_percent"`        // null: there is none
	Validation *float64         `json:"validation_percent"` // of a record that was not fitted; null: none was looked at
	Record     SummaryRecord    `json:"record"`
	Indistinct []fit.Indistinct `json:"indistinct"`
	Compute    float64          `json:"compute_s"`
	Acceptable bool             `json:"acceptable"`
	Refusal    string           `json:"refusal"` // why it may not take the place of a running model; "": it may
}

// SummaryParam is one parameter that was searched, or is known and not 0.
type SummaryParam struct {
	Name  string      `json:"name"`
	Unit  string      `json:"unit"`
	Value float64     `json:"value"`
	Error *float64    `json:"se"`
	CI    *[2]float64 `json:"ci95"`
	Worth string      `json:"judgement"`
}

// SummaryRecord is what was fitted.
type SummaryRecord struct {
	File      string  `json:"file"`
	SHA256    string  `json:"sha256"`
	Rows      int     `json:"rows"`
	StartTime float64 `json:"from_s"`
	EndTime   float64 `json:"to_s"`
}

// Summary is the result in short.
func (r *Result) Summary() Summary {
	s := Summary{Law: r.Model.Law, Methods: r.Chain, Verdict: r.Verdict, Reasons: append([]fit.Reason{}, r.Reasons...),
		Parameters: []SummaryParam{},
		Fit:        r.Explained(), Indistinct: r.Indistinct, Compute: r.Compute}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if p.State() || p.Fixed && p.Value == 0 {
			continue
		}
		s.Parameters = append(s.Parameters, SummaryParam{p.Name, p.Unit, p.Value, p.Error, p.CI, p.Worth})
	}
	if v := r.Validation; v != nil {
		s.Validation = v.Fit.Percent
	}
	d := &r.Data
	s.Record = SummaryRecord{File: d.File, SHA256: d.SHA256, Rows: d.Samples, StartTime: d.Start, EndTime: d.Start + d.Duration}
	if len(r.Records) > 0 {
		last := &r.Records[len(r.Records)-1]
		s.Record.Rows, s.Record.EndTime = 0, last.Start+last.Duration
		for _, d := range r.Records {
			s.Record.Rows += d.Samples
		}
	}
	err := r.Acceptable()
	if err == nil {
		_, err = r.Contact()
	}
	if s.Acceptable = err == nil; err != nil {
		s.Refusal = err.Error()
	}
	return s
}

// Status is where an identification is, as it is published.
type Status struct {
	Timestamp float64  `json:"timestamp"` // s since 1970
	State     string   `json:"state"`     // idle, waiting, running, done, failed
	Axis      string   `json:"axis"`
	Trigger   string   `json:"way"` // how it was asked for
	Law       string   `json:"law"`
	Window    *float64 `json:"window_s"` // null: nothing was asked for yet, or no window
	Interval  *float64 `json:"every_s"`
	Where
	Reason string `json:"reason"` // why there is no result; "": there is no reason
}

// Published is a result, as it is published.
type Published struct {
	Timestamp float64 `json:"timestamp"` // s since 1970
	ID        string  `json:"id"`
	Rig       string  `json:"rig"`
	Axis      string  `json:"axis"`
	Trigger   string  `json:"way"`
	Summary
	File    string `json:"file"`    // the result, whole; "": it was not kept
	Command string `json:"command"` // repeats it
}

// Stamp is a time as it is published.
func Stamp(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// Where is where a fit is.
type Where struct {
	Method    string   `json:"method"`
	Phase     string   `json:"phase"`
	Step      int      `json:"step"`
	StepCount int      `json:"of"`   // 0: not known
	BestCost  *float64 `json:"best"` // null: none yet
	Unit      string   `json:"unit"`
}
