package linear

import (
	"fmt"
	"math"
	"sync"

	"hilrig/identify/record"
)

// regression is an overdetermined system W·θ = y, one row per kept sample or window.
type regression struct {
	columns  []column
	w        [][]float64 // a slice per column
	y        []float64   // N or N·m
	z        [][]float64 // instruments, a slice per column; nil: none
	noise    []float64   // total: covariance of the columns' noise, mean over the rows, row-major; nil: columns are exact
	noiseY   float64     // and the variance of that of y, in the same unit
	dt       float64     // s, between rows of the undisturbed grid
	v, q     []float64   // velocity and position at the rows: m/s, m or rad/s, rad
	rest     float64     // share of the raw samples within the velocity noise of rest
	pieces   []int       // first row of every piece
	of       []int       // place of its record
	joints   bool        // records of two joints take turns
	unit     string      // of y …
	quantity string      // … and what it is
	left     []string    // records that were left out, and why
}

// column is what is known of a column apart from its numbers.
type column struct {
	term Term
	name string // of its parameter
	unit string
}

// rows is what one piece contributes, its columns in the order of the regression.
type rows struct {
	w, z [][]float64
	y, v []float64 // v: velocity at the rows
	q    []float64 // position at the rows; nil: not known
	full []float64 // velocity at all samples
}

// decimationEdge is the edge of the decimation filter, as a share of half the new sampling rate; customary.
const decimationEdge = 0.8

// filters are the low-passes of a preparation at one sampling rate.
type filters struct {
	dt           float64 // s, of the samples
	smooth, both lowpass // of the position; of both sides
	turn         lowpass // of the position, for the direction of motion; nil: smooth
	every        int     // samples from row to row
	trim         int     // rows left out at each end
}

// design makes the filters of s for samples every dt (s).
func (s Spec) design(dt float64) (*filters, error) {
	fs := 1 / dt
	if err := s.check(fs); err != nil {
		return nil, err
	}
	smooth, err := butterworth(s.Order, s.Cutoff, fs)
	if err != nil {
		return nil, &SpecError{Problems: []string{err.Error()}}
	}
	// MATLAB's and SciPy's decimate use the same filter but for its gain
	both := smooth
	if s.Decimate > 1 {
		if both, err = chebyshev(8, 0.05, decimationEdge*fs/2/float64(s.Decimate), fs); err != nil {
			return nil, &SpecError{Problems: []string{err.Error()}}
		}
	}
	return &filters{dt: dt, smooth: smooth, both: both, every: s.Decimate, trim: int(math.Ceil(s.Trim * fs / float64(s.Decimate)))}, nil
}

// count is the number of rows that n samples give, 0 if they are too few for the filters.
func (f *filters) count(n int) int {
	if n <= max(f.smooth.padding(), f.both.padding()) {
		return 0
	}
	return max((n+f.every-1)/f.every-2*f.trim, 0)
}

// motion is the smoothed position with its derivatives. Velocities that are nothing but rounding are zero.
func (f *filters) motion(position []float64) (q, v, a []float64) {
	q = f.smooth.zeroPhase(position)
	v = derivative(q, f.dt)
	flatten(v, q, f.dt)
	return q, v, derivative(v, f.dt)
}

// directionShare is the band of the position from which forms that expect noise take the direction of motion, as a share of
// that of the fit. Noise turns signs of velocity near a reversal, which shrinks their columns in a way that no noise model of
// the columns describes; it falls with the 1.5th power of the band.
const directionShare = 0.5

// steady says that the direction of motion has to be found through noise.
func (f *filters) steady(s Spec) (err error) {
	f.turn, err = butterworth(s.Order, directionShare*s.band(1/f.dt), 1/f.dt)
	return err
}

// direction has the sign of the velocity v that belongs to the position.
func (f *filters) direction(position, v []float64) []float64 {
	if f.turn == nil || len(position) <= f.turn.padding() {
		return v
	}
	q := f.turn.zeroPhase(position)
	dir := derivative(q, f.dt)
	flatten(dir, q, f.dt)
	return dir
}

// row filters a side of the equation and keeps every n-th sample of it.
func (f *filters) row(x []float64) []float64 { return f.keep(f.both.zeroPhase(x)) }

func (f *filters) keep(x []float64) []float64 {
	out := make([]float64, f.count(len(x)))
	for k := range out {
		out[k] = x[(k+f.trim)*f.every]
	}
	return out
}

// regressors are the filtered columns of the terms at a position, and the velocity at all samples.
func (f *filters) regressors(terms []Term, position []float64) (w [][]float64, v []float64) {
	q, v, a := f.motion(position)
	dir := f.direction(position, v)
	w = make([][]float64, len(terms))
	var wg sync.WaitGroup
	for j, t := range terms {
		wg.Go(func() { w[j] = f.row(t.column(q, v, a, dir)) })
	}
	wg.Wait()
	return w, v
}

// prepare turns records into a regression by the procedure of [EMPS]:
//
//	position → zero-phase low-pass → central differences → columns of the terms
//	columns and force → the same zero-phase decimation filter → every Decimate-th sample → ends trimmed
//
// Filtering both sides by one linear filter leaves the coefficients of a linear model as they are; the sign of velocity
// must therefore be taken before, and its filtered column is no longer ±1 near a reversal.
func prepare(s Spec, recs []*record.Record) (*regression, error) {
	f, err := s.start(recs)
	if err != nil {
		return nil, err
	}
	return assemble(recs, s, s.columns(), f.count, func(d *record.Record) (rows, error) {
		w, v := f.regressors(s.Terms, d.Position)
		return rows{w: w, y: f.row(d.Force), v: f.keep(v), q: f.keep(d.Position), full: v}, nil
	})
}

// sameRate is the share by which sampling intervals of records may differ. A clock that trembles by a hundredth tells the
// interval of a short piece no better; an inertia is off by twice as much.
const sameRate = 1e-4

// start checks that the records go together and designs their filters.
func (s Spec) start(recs []*record.Record) (*filters, error) {
	if len(recs) == 0 {
		return nil, &record.Error{Msg: "no record to fit"}
	}
	first := recs[0]
	for _, d := range recs {
		switch {
		case math.Abs(d.Dt-first.Dt) > sameRate*first.Dt:
			return nil, d.Fail(0, "Resample them to one rate.", "sampled every %.6g s, the first record every %.6g s", d.Dt, first.Dt)
		case len(d.Position) == 0:
			return nil, d.Fail(0, "Name the column in data.columns.position.", "the position was not recorded, and the fit needs it")
		case len(d.Position) != len(d.Force):
			return nil, d.Fail(0, "Name both columns.", "%d positions and %d forces: the fit needs both, sample by sample", len(d.Position), len(d.Force))
		}
	}
	return s.design(first.Dt)
}

// columns are those of the terms of an axis.
func (s Spec) columns() []column {
	c := make([]column, len(s.Terms))
	for j, t := range s.Terms {
		c[j] = column{t, t.symbol(s.Rotary), t.unit(s.Rotary)}
	}
	return c
}

// assemble puts the pieces below each other. Pieces too short for the filters are left out, which is said; count tells the
// rows of n samples, and of makes them.
func assemble(recs []*record.Record, s Spec, columns []column, count func(n int) int, of func(*record.Record) (rows, error)) (*regression, error) {
	r := &regression{columns: columns, w: make([][]float64, len(columns)), dt: recs[0].Dt * float64(s.Decimate), unit: "N", quantity: "force"}
	if s.Rotary {
		r.unit, r.quantity = "N·m", "torque"
	}
	want, all, total := 10*len(columns), 0, 0
	for i, d := range recs {
		n := count(d.Len())
		all += n
		if n < 2 {
			r.left = append(r.left, fmt.Sprintf("%s is left out: %d samples are too few for the filters and the trimming of %.3g s at each end", named(d), d.Len(), s.Trim))
			continue
		}
		p, err := of(d)
		if err != nil {
			return nil, err
		}
		if err := r.add(d, i, s, p); err != nil {
			return nil, err
		}
		r.rest += restShare(d, s, p.full) * float64(d.Len())
		total += d.Len()
	}
	switch {
	case all < want:
		return nil, recs[0].Fail(0, "Record longer, sample faster, or lower decimate or trim.",
			"%d samples leave %d rows after decimation by %d and trimming %.3g s at each end, want at least %d", samples(recs), all, s.Decimate, s.Trim, want)
	case len(r.y) < want:
		return nil, recs[0].Fail(0, "Lower min_velocity.", "only %d rows are faster than min_velocity %g, want at least %d", len(r.y), s.MinVelocity, want)
	}
	r.rest /= float64(total)
	return r, nil
}

// add appends the rows of a piece that are fast enough.
func (r *regression) add(d *record.Record, place int, s Spec, p rows) error {
	first := len(r.y)
	for j := range p.w {
		for _, x := range p.w[j] {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return d.Fail(0, "Check the scale of the data.", "column %s overflows", r.columns[j].term)
			}
		}
	}
	if p.z != nil && r.z == nil {
		r.z = make([][]float64, len(r.w))
	}
	for k, v := range p.v {
		if math.Abs(v) < s.MinVelocity {
			continue
		}
		for j := range r.w {
			r.w[j] = append(r.w[j], p.w[j][k])
			if p.z != nil {
				r.z[j] = append(r.z[j], p.z[j][k])
			}
		}
		r.y, r.v = append(r.y, p.y[k]), append(r.v, v)
		if p.q != nil {
			r.q = append(r.q, p.q[k])
		}
	}
	if len(r.y) > first {
		r.pieces, r.of = append(r.pieces, first), append(r.of, place)
	}
	return nil
}

func samples(recs []*record.Record) int {
	n := 0
	for _, d := range recs {
		n += d.Len()
	}
	return n
}

// named is how a record is called in a message.
func named(d *record.Record) string {
	switch {
	case d.Piece != "":
		return "piece " + d.Piece
	case d.File != "":
		return d.File
	}
	return "a record"
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

// restShare is the share of samples whose velocity lies within three standard deviations of its own quantisation noise:
// the sign of velocity is chance there. A position step p, sampled at fs, has the one-sided density (p²/12)/(fs/2), and
// differentiation up to the cutoff fc turns it into the variance (p²/12)·(2/fs)·4π²·fc³/3.
func restShare(d *record.Record, s Spec, v []float64) float64 {
	p := math.Inf(1)
	for k := 1; k < len(d.Position); k++ {
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
