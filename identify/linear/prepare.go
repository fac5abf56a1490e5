package linear

import (
	"fmt"
	"math"
	"sync"

	"hilrig/identify/record"
)

// regression is an overdetermined system W·θ = y, one row per kept sample.
type regression struct {
	w    [][]float64 // a slice per column, in the order of the terms
	y    []float64   // N or N·m
	dt   float64     // s, between rows of the undisturbed grid
	v    []float64   // m/s or rad/s at the rows
	rest float64     // share of the raw samples within the velocity noise of rest
}

// decimationEdge is the edge of the decimation filter, as a share of half the new sampling rate; customary.
const decimationEdge = 0.8

// prepare turns a record into a regression by the procedure of [EMPS]:
//
//	position → zero-phase low-pass → central differences → columns of the terms
//	columns and force → the same zero-phase decimation filter → every Decimate-th sample → ends trimmed
//
// Filtering both sides by one linear filter leaves the coefficients of a linear model as they are; the sign of velocity
// must therefore be taken before, and its filtered column is no longer ±1 near a reversal.
func prepare(d *record.Record, s Spec) (*regression, error) {
	fs := 1 / d.Dt
	if err := s.check(fs); err != nil {
		return nil, err
	}
	smooth, err := butterworth(s.Order, s.Cutoff, fs)
	if err != nil {
		return nil, &SpecError{Problems: []string{err.Error()}}
	}

	// the filter of both sides; MATLAB's and SciPy's decimate use the same one but for its gain
	both := smooth
	if s.Decimate > 1 {
		if both, err = chebyshev(8, 0.05, decimationEdge*fs/2/float64(s.Decimate), fs); err != nil {
			return nil, &SpecError{Problems: []string{err.Error()}}
		}
	}
	trim := int(math.Ceil(s.Trim * fs / float64(s.Decimate)))
	rows := (d.Len()+s.Decimate-1)/s.Decimate - 2*trim
	want := 10 * len(s.Terms)
	if pad := max(smooth.padding(), both.padding()); d.Len() <= pad || rows < want {
		return nil, d.Fail(0, "Record longer, sample faster, or lower decimate or trim.",
			"%d samples leave %d rows after decimation by %d and trimming %.3g s at each end, want at least %d", d.Len(), max(rows, 0), s.Decimate, s.Trim, want)
	}

	q := smooth.zeroPhase(d.Position)
	v := derivative(q, d.Dt)
	flatten(v, q, d.Dt)
	a := derivative(v, d.Dt)

	// the columns are independent of each other
	r := &regression{w: make([][]float64, len(s.Terms)), dt: d.Dt * float64(s.Decimate)}
	keep := func(x []float64) []float64 {
		out := make([]float64, rows)
		for k := range out {
			out[k] = x[(k+trim)*s.Decimate]
		}
		return out
	}
	var wg sync.WaitGroup
	for j, t := range s.Terms {
		wg.Go(func() { r.w[j] = keep(both.zeroPhase(t.column(q, v, a))) })
	}
	r.y = keep(both.zeroPhase(d.Force))
	wg.Wait()
	r.v = keep(v)
	r.rest = restShare(d, s, v)
	r.dropSlow(s.MinVelocity)
	if len(r.y) < want {
		return nil, d.Fail(0, "Lower min_velocity.", "only %d rows are faster than min_velocity %g, want at least %d", len(r.y), s.MinVelocity, want)
	}
	for j := range r.w {
		for _, x := range r.w[j] {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, d.Fail(0, "Check the scale of the data.", "column %s overflows", s.Terms[j])
			}
		}
	}
	return r, nil
}

// flatten sets velocities that are nothing but the rounding of q to zero, so that an axis at rest has no sign of velocity.
func flatten(v, q []float64, dt float64) {
	largest := 0.0
	for _, x := range q {
		largest = math.Max(largest, math.Abs(x))
	}
	limit := 16 * 0x1p-52 * largest / dt
	for k := range v {
		if math.Abs(v[k]) < limit {
			v[k] = 0
		}
	}
}

// dropSlow removes the rows slower than limit.
func (r *regression) dropSlow(limit float64) {
	if limit <= 0 {
		return
	}
	n := 0
	for k, v := range r.v {
		if math.Abs(v) < limit {
			continue
		}
		for j := range r.w {
			r.w[j][n] = r.w[j][k]
		}
		r.y[n], r.v[n] = r.y[k], v
		n++
	}
	for j := range r.w {
		r.w[j] = r.w[j][:n]
	}
	r.y, r.v = r.y[:n], r.v[:n]
}

// restShare is the share of samples whose velocity lies within three standard deviations of its own quantisation noise:
// the sign of velocity is chance there. A position step p, sampled at fs, has the one-sided density (p²/12)/(fs/2), and
// differentiation up to the cutoff fc turns it into the variance (p²/12)·(2/fs)·4π²·fc³/3.
func restShare(d *record.Record, s Spec, v []float64) float64 {
	p := math.Inf(1)
	for k := 1; k < d.Len(); k++ {
		if x := math.Abs(d.Position[k] - d.Position[k-1]); x > 0 && x < p {
			p = x
		}
	}
	if math.IsInf(p, 1) {
		return 1 // never moves
	}
	limit := 3 * p * math.Sqrt(2*d.Dt*4*math.Pi*math.Pi*s.Cutoff*s.Cutoff*s.Cutoff/3/12)
	n := 0
	for _, x := range v {
		if math.Abs(x) < limit {
			n++
		}
	}
	return float64(n) / float64(len(v))
}

// restWarning is said when much of the record is noise about rest.
func (r *regression) restWarning() string {
	if r.rest < 0.05 {
		return ""
	}
	return fmt.Sprintf("%.0f %% of the samples are at rest within the resolution of the position: the sign of velocity is chance there and Coulomb friction comes out too small; set min_velocity or record more motion", 100*r.rest)
}
