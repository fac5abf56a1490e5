package sink

import (
	"math"

	"hilrig/hil"
)

// LiveEstimate is the last recursive estimate of the run, beside the fit.
type LiveEstimate struct {
	Time       float64         `json:"t_s"`     // of its row, after the first one
	Stale      float64         `json:"stale_s"` // the run goes on for so long without one
	Windows    int             `json:"windows"`
	Agrees     bool            `json:"agrees"` // all parameters of the fit, within joint intervals
	Parameters []LiveParameter `json:"parameters"`
}

// LiveParameter is one of its parameters.
type LiveParameter struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	StdErr float64 `json:"std_err"`
	Unit   string  `json:"-"`
	// fit minus live over the root of the sum of both squared errors; null: the fit has no such parameter, or no error of it
	NormalizedDifference *float64 `json:"apart_err"`
}

// NoLive says why a run has no live estimate.
const NoLive = "never had an error: too short a run, or too little motion above estimator.rls.min_velocity"

// LiveRows keep the last recursive estimate of a run. A core that starts again begins without one.
type LiveRows struct {
	parameters                        []hil.Channel
	columns                           []int     // in X: parameters, their standard errors, windows
	x                                 []float64 // there, in the last row with an estimate; nil: none yet
	firstTime, estimateTime, lastTime int64     // ns  of the first row, of the row with the estimate and of the last
	hasRows                           bool      // a row was seen
}

// NewLiveRows keeps the estimates of an axis in rows of this schema.
func NewLiveRows(s *hil.Schema, axis string) *LiveRows {
	l := &LiveRows{}
	for _, role := range []hil.ChannelRole{hil.RoleParameter, hil.RoleStdErr, hil.RoleCount} {
		at, channels := s.FindAll(hil.Estimated, role)
		for i, c := range channels {
			if c.Axis != axis {
				continue
			}
			if l.columns = append(l.columns, at[i]); role == hil.RoleParameter {
				l.parameters = append(l.parameters, c)
			}
		}
	}
	return l
}

// See takes a row.
func (l *LiveRows) See(r *hil.Row) {
	if !l.hasRows {
		l.hasRows, l.firstTime = true, r.T
	}
	l.lastTime = r.T
	n := len(l.parameters)
	if n == 0 {
		return // not estimated
	}
	for _, i := range l.columns[n : 2*n] {
		if !(r.X[i] > 0) || math.IsInf(r.X[i], 0) {
			return
		}
	}
	l.estimateTime, l.x = r.T, l.x[:0]
	for _, i := range l.columns {
		l.x = append(l.x, r.X[i])
	}
}

// Estimate is the last one; nil: there is none.
func (l *LiveRows) Estimate() *LiveEstimate {
	if l.x == nil {
		return nil
	}
	n := len(l.parameters)
	out := &LiveEstimate{Time: float64(l.estimateTime-l.firstTime) * 1e-9, Stale: float64(l.lastTime-l.estimateTime) * 1e-9,
		Windows: int(l.x[2*n])}
	for i, c := range l.parameters {
		out.Parameters = append(out.Parameters, LiveParameter{Name: c.Short(), Value: l.x[i], StdErr: l.x[n+i], Unit: c.Unit})
	}
	return out
}
