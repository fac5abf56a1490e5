package experiment

import (
	"context"
	"errors"
	"math"

	"hilrig/engine"
	"hilrig/engine/friction"
)

// Recording says what Record keeps.
type Recording struct {
	Stride    int     // every n-th step; 0: as many as give at most MaxRows rows
	Threshold float64 // m/s  for events; 0: Threshold of the law
	Rest      float64 // s    for events; 0: DefaultRest

	Reached func(t float64) // is told the time of every row; nil: nobody asks
}

// MaxRows bounds the rows of a record with Stride = 0.
const MaxRows = 200_000

// Trace is an experiment in columns. Position and velocity belong to T; W and F are means over the last step and belong to
// TMid.
type Trace struct {
	T, X, V, Input, Drive []float64
	TMid, W, F, Work      []float64
	Amps, Temp            []float64   // motor only
	Z                     [][]float64 // states of the law that tell something, one column each
	States                []engine.Signal
	Stride                int
	Events                []Event
	Summary               Summary
}

// Summary are totals and extremes over every step, kept or not.
type Summary struct {
	Steps        int
	Evals, Parts int // evaluations of the law, parts of steps
	NotConverged int // steps whose equation was solved to the best that the cap allowed
	XMin, XMax   float64
	VMin, VMax   float64 // m/s  of the mean velocity of the steps
	FMin, FMax   float64
	DriveMin     float64
	DriveMax     float64
	Work         float64 // J  against friction
	XEnd, VEnd   float64
}

// DefaultThreshold is the speed (m/s) below which a law counts as resting: a fifth of the speed over which it changes.
func DefaultThreshold(s *Spec) float64 { return s.Law.Stiffness().Speed / 5 }

// Record runs an experiment and keeps it. When it ends early the trace holds what came before, beside the error.
func Record(ctx context.Context, s Spec, r Recording) (*Trace, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	n := int(math.Round(s.Duration / s.Step))
	if r.Stride <= 0 {
		r.Stride = (n + MaxRows - 1) / MaxRows
	}
	if r.Threshold == 0 {
		r.Threshold = DefaultThreshold(&s)
	}
	if r.Rest == 0 {
		r.Rest = DefaultRest
	}
	t := &Trace{Stride: r.Stride, States: friction.Telling(s.Law)}
	t.Z = make([][]float64, len(t.States))
	sum := &t.Summary
	*sum = Summary{XMin: math.Inf(1), XMax: math.Inf(-1), VMin: math.Inf(1), VMax: math.Inf(-1), FMin: math.Inf(1), FMax: math.Inf(-1),
		DriveMin: math.Inf(1), DriveMax: math.Inf(-1)}
	w := Watch{Threshold: r.Threshold, Rest: r.Rest}
	found := func(e Event) { t.Events = append(t.Events, e) }

	err := Run(ctx, s, func(q *Sample) error {
		sum.Steps++
		sum.Evals, sum.Parts, sum.Work, sum.XEnd, sum.VEnd = q.Evals, q.Parts, q.Work, q.X, q.V
		if q.Status == engine.NotConverged {
			sum.NotConverged++
		}
		sum.XMin, sum.XMax = min(sum.XMin, q.X), max(sum.XMax, q.X)
		sum.VMin, sum.VMax = min(sum.VMin, q.W), max(sum.VMax, q.W)
		sum.FMin, sum.FMax = min(sum.FMin, q.F), max(sum.FMax, q.F)
		sum.DriveMin, sum.DriveMax = min(sum.DriveMin, q.Drive), max(sum.DriveMax, q.Drive)
		w.See(q, found)
		if sum.Steps%r.Stride == 0 {
			t.add(q, s.Plant == MotorAxis)
			if r.Reached != nil {
				r.Reached(q.T)
			}
		}
		return nil
	})
	if refused := (*LimitError)(nil); errors.As(err, &refused) {
		return nil, err
	}
	w.End(found)
	return t, err
}

// add keeps a sample.
func (t *Trace) add(q *Sample, motor bool) {
	t.T, t.X, t.V = append(t.T, q.T), append(t.X, q.X), append(t.V, q.V)
	t.Input, t.Drive = append(t.Input, q.Input), append(t.Drive, q.Drive)
	t.TMid, t.W, t.F, t.Work = append(t.TMid, q.TMid), append(t.W, q.W), append(t.F, q.F), append(t.Work, q.Work)
	if motor {
		t.Amps, t.Temp = append(t.Amps, q.Amps), append(t.Temp, q.Temp)
	}
	for i := range t.Z {
		t.Z[i] = append(t.Z[i], q.Z[i])
	}
}
