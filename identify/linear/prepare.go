package linear

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
	"hilrig/identify/filter"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// form is how a linear model meets the data: it makes the rows of a record, a stretch at a time, so that a long record needs
// memory for its rows only.
type form struct {
	columns        []column
	f              *filters
	skip           int     // samples before the first row and after the last one
	reach          int     // samples to either side that a row depends on
	minMovingShare float64 // share of a row that has to be in motion for it to be kept
	joints         bool    // records of two joints take turns
	undriven       bool    // nobody drives: the right-hand side is not a force

	track      func(low filter.Lowpass, rec, from, to int) track                  // of the samples from … to of a record
	sides      func(rec, from, to int, p places, quiet track, moving []bool) rows // quiet has the direction of motion
	prefilters bool                                                               // a force passes the position's low-pass before it is cut
	side       func(x []float64, moving []bool, p places, row []float64)          // a force after that, at the rows of a part
	share      func(moving []bool, at int) float64                                // of a row that is in motion
	// covariance of position, velocity and acceleration in the rows behind a low-pass, for white noise of the position of one; nil: not known
	noise func(after filter.Lowpass) [3][3]float64

	noiseVariance map[int]float64 // of the positions, by record; nil: not asked for yet

	tracks map[trackKey]track // that are wanted again; nil: none
	lock   sync.Mutex         // of tracks
}

// trackKey is what a track is kept by.
type trackKey struct {
	lowpass          *filter.Lowpass
	rec, start, stop int
}

// directionTrack is the track that tells the direction of motion.
func (m *form) directionTrack(rec, from, to int) track {
	return m.cachedTrack(m.f.directionLowpass(), rec, from, to)
}

// cachedTrack is a track, from those that are kept if it is there.
func (m *form) cachedTrack(low *filter.Lowpass, rec, from, to int) track {
	key := trackKey{low, rec, from, to}
	m.lock.Lock()
	of, ok := m.tracks[key]
	m.lock.Unlock()
	if ok {
		return of
	}
	of = m.track(*low, rec, from, to)
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.tracks != nil {
		m.tracks[key] = of
	}
	return of
}

// release gives back the memory of a track that is not kept.
func (m *form) release(of track) {
	if m.tracks == nil && of.giveBack != nil {
		of.giveBack()
	}
}

// track is what moves behind a low-pass: its velocity, and the columns of the terms, for the direction in which way has its sign, which
// may stand in room. nil: a term is not in the equation.
type track struct {
	v        []float64
	column   func(room []float64, t Term, way []float64) []float64
	giveBack func() // its memory, which was borrowed; nil: it was not
}

// changes tells whether a column is of a part of the force that changes while the direction does not.
func (c column) changes() bool { return !c.term.jumpsAtReversal() && c.term != Offset }

// force writes the force by coefficients of the columns to out, or the part of it that changes while the direction does not.
func (m *form) force(out []float64, of track, theta []float64, whole bool) {
	room := filter.Borrow(len(out))
	defer filter.Return(room)
	clear(out)
	for j, c := range m.columns {
		if whole || c.changes() {
			if x := of.column(room, c.term, of.v); x != nil {
				floats.AddScaled(out, theta[j], x)
			}
		}
	}
}

// rows are the columns of a track, filtered and decimated.
func (m *form) rows(of track, p places, way []float64, moving []bool) rows {
	out := rows{w: make([][]float64, len(m.columns)), v: p.of(of.v)}
	room := filter.Borrow(len(of.v))
	defer filter.Return(room)
	for j, c := range m.columns {
		x := of.column(room, c.term, way)
		if x == nil {
			continue
		}
		row := make([]float64, p.n)
		out.w[j] = row
		switch {
		case c.term == Offset && moving == nil: // passes as it is
			copy(row, x)
		case c.term.jumpsAtReversal() && moving != nil:
			m.f.positionLowpass.ZeroPhaseOf(len(x), func(y []float64) { copy(y, x) }, func(y []float64) { m.f.side(y, moving, p, row) })
		default:
			m.f.side(x, moving, p, row)
		}
	}
	return out
}

// column is what is known of a column apart from its numbers.
type column struct {
	term Term
	name string // of its parameter
	unit string
}

// places are the samples of a stretch that rows belong to.
type places struct{ firstSample, rowStep, n int }

func (p places) of(x []float64) []float64 {
	out := make([]float64, p.n)
	for k := range out {
		out[k] = x[p.firstSample+k*p.rowStep]
	}
	return out
}

// rows is what a stretch contributes, its columns in the order of the form.
type rows struct {
	w [][]float64
	y []float64 // nil: the force
	v []float64 // velocity at the rows
}

// regression is an overdetermined system W·θ = y, one row per window or kept sample.
type regression struct {
	spec             Spec
	form             *form
	recs             []*record.Record
	parts            []part
	columns          []column
	w                [][]float64    // a slice per column
	y                []float64      // N or N·m, with the force shifted by lag
	slope            []float64      // dy/dt, where the lag is a parameter
	rate             []float64      // dy/dt, of pushSlope
	z                [][]float64    // instruments, a slice per column; nil: none
	noise            []float64      // total: covariance of the columns' noise, mean over the rows, row-major; nil: columns are exact
	noiseY           float64        // and the variance of that of y, in the same unit
	dt               float64        // s, between rows of the undisturbed grid
	v, q             []float64      // velocity and position at the rows
	reversalDistance []float64      // m or rad, way behind the last reversal at the rows
	rowLowpass       filter.Lowpass // of the rows; nil: none
	smoothed         [][]float64    // by part, the recorded force before it is cut; nil: not made yet
	turns            [][]float64    // by column, the slope at the rows of what changes while the direction does not; nil: not wanted
	fittedRows       []bool         // rows that are fitted …
	slowest          [2]float64     // … of samples at least that fast, by joint
	lag              float64        // s, by which the force acts later than its stamp
	lagWithin        float64        // s, of a lag that none is as good as; 0: that was not looked at, or it is not
	zeroOrderHold    bool           // it keeps its value until the next one
	alternative      *otherwise     // with the other of the two; nil: not looked at
	pieces           []int          // first row of every piece
	pieceRecord      []int          // place of its record
	unit             string         // of y …
	quantity         string         // … and what it is
	omittedRecords   []string       // records that were left out, and why
	doubts           []fit.Reason   // what speaks against the numbers
	single           bool           // all motion is in one direction, and no term is a constant force
}

// part is a stretch with the place of its rows.
type part struct {
	rec, start, stop int
	places
	row           int
	movingSamples []bool // samples of it that count; nil: all
}

// stretchSamples is how many samples are prepared at once. Beyond each end of a stretch as many more are filtered as it takes
// for the filters to forget that end, to 1e-13.
var stretchSamples = 1 << 16

// decimationEdge is the edge of the decimation filter, as a share of half the new sampling rate; customary.
const decimationEdge = 0.8

// filters are the low-passes of a preparation at one sampling rate.
type filters struct {
	dt                            float64        // s, of the samples
	blur                          int            // samples beside slow ones that do not count
	build                         [2]float64     // m or rad, way behind a reversal whose samples do not count, by joint
	positionLowpass, sidesLowpass filter.Lowpass // of the position; of both sides
	halfBandLowpass               filter.Lowpass // of the position in half the band
	noisy                         bool           // the direction of motion is taken from that
	rowLowpass                    filter.Lowpass // of the rows; nil: none
	rowStep                       int            // samples from row to row
	// of both sides, where not every sample is a row; nil: every one is
	decimator *filter.Decimator
}

// directionShare is the band of the position from which the direction of motion is taken where there is noise, as a share of
// that of the fit. Noise turns signs of velocity near a reversal, which shrinks their columns in a way that no noise model of
// the columns describes; it falls with the 1.5th power of the band.
const directionShare = 0.5

// design makes the filters of s for samples every dt (s); noisy: the direction of motion has to be found through noise.
func (s Spec) design(dt float64, noisy bool) (*filters, error) {
	fs := 1 / dt
	if err := s.check(fs); err != nil {
		return nil, err
	}
	smooth := filter.Butterworth(s.Order, s.Cutoff, fs)
	// MATLAB's and SciPy's decimate use the same filter but for its gain
	both, decimator := smooth, (*filter.Decimator)(nil)
	if s.Decimate > 1 {
		both = filter.Chebyshev(8, 0.05, decimationEdge*fs/2/float64(s.Decimate), fs)
		decimator = filter.NewDecimator(both, s.Decimate)
	}
	calm := filter.Butterworth(s.Order, directionShare*s.band(fs), fs)
	return &filters{dt: dt, positionLowpass: smooth, sidesLowpass: both, halfBandLowpass: calm, noisy: noisy, rowStep: s.Decimate,
		decimator: decimator}, nil
}

// sampled are the same low-passes for a record of nearly the same rate: both sides of its equation pass them alike, and what is
// derived from its samples has its own interval dt (s).
func (f *filters) sampled(dt float64) *filters {
	own := *f
	own.dt = dt
	return &own
}

// directionLowpass is the low-pass for what noise of the position must not reach.
func (f *filters) directionLowpass() *filter.Lowpass {
	if f.noisy {
		return &f.halfBandLowpass
	}
	return &f.positionLowpass
}

// of is the track of an axis.
func (f *filters) of(s *Spec, low filter.Lowpass, position []float64) track {
	q, v, a := filter.Borrow(len(position)), filter.Borrow(len(position)), []float64(nil)
	low.VelocityTo(q, v, position, f.dt)
	acceleration := sync.OnceFunc(func() {
		a = filter.Borrow(len(q))
		filter.SecondDerivativeTo(a, q, f.dt)
	})
	return track{v, func(room []float64, t Term, way []float64) []float64 {
		of := v // the other terms know nothing of the acceleration
		if _, own := s.inertial(t); own || t == Inertia {
			acceleration()
			of = a
		}
		return s.column(room, t, q, v, of, way)
	}, func() { filter.Return(q, v, a) }}
}

// side is a part of the equation at the rows, filtered. Where some samples do not count they are cut out before, and after the low-pass of
// the position, which a part that does not come from it has to have had. A row outside is that of the nearest sample.
func (f *filters) side(x []float64, moving []bool, p places, row []float64) {
	if f.decimator != nil && p.rowStep == f.rowStep {
		f.decimator.Rows(x, moving, p.firstSample, row)
		return
	}
	f.sidesLowpass.ZeroPhaseOf(len(x), func(y []float64) {
		copy(y, x)
		for k, m := range moving {
			if !m {
				y[k] = 0
			}
		}
	}, func(y []float64) {
		for k := range row {
			row[k] = y[min(max(p.firstSample+k*p.rowStep, 0), len(y)-1)]
		}
	})
}

// direct is the form by the procedure of [EMPS]:
//
//	position → zero-phase low-pass → differences → columns of the terms
//	columns and force → zero where the motion is slow → the same zero-phase decimation filter → every Decimate-th sample
//
// Treating both sides by one linear operation leaves the coefficients of a linear model as they are; the sign of velocity
// must therefore be taken before, and its filtered column is no longer ±1 near a reversal. Samples of slow motion are cut out
// before the filter, or it would carry what happens there into its neighbours.
func (s Spec) direct(recs []*record.Record, steady bool) (*form, error) {
	m, err := s.start(recs, steady)
	if err != nil {
		return nil, err
	}
	f := m.f
	near := max(1, int(0.4/(s.band(1/f.dt)*f.dt)))
	m.skip = f.rowStep * int(math.Ceil(s.Trim/f.dt/float64(f.rowStep)))
	m.reach = f.positionLowpass.SettlingSamples() + f.sidesLowpass.SettlingSamples() + f.halfBandLowpass.SettlingSamples()
	m.prefilters, m.side = true, f.side
	m.noise = func(after filter.Lowpass) [3][3]float64 {
		own := *f
		own.rowLowpass = after
		return own.noise()
	}
	m.minMovingShare = 0.5
	m.share = func(moving []bool, at int) float64 {
		n, all := 0, 0
		for k := max(at-near, 0); k <= min(at+near, len(moving)-1); k++ {
			n, all = n+indicator(moving[k]), all+1
		}
		return float64(n) / float64(all)
	}
	m.sides = func(rec, from, to int, p places, quiet track, moving []bool) rows {
		of := quiet
		if f.noisy {
			of = m.cachedTrack(&f.positionLowpass, rec, from, to)
			defer m.release(of)
		}
		return m.rows(of, p, quiet.v, moving)
	}
	return m, nil
}

// start checks that the records go together and begins a form with their filters.
func (s Spec) start(recs []*record.Record, steady bool) (*form, error) {
	if len(recs) == 0 {
		return nil, &record.Error{Msg: "no record to fit"}
	}
	first := recs[0]
	for _, d := range recs {
		if err := d.CheckRate(first); err != nil {
			return nil, err
		}
		switch {
		case len(d.Position) == 0:
			return nil, d.Fail(0, "Name the column in data.columns.position.", "the position was not recorded, and the fit needs it")
		case len(d.Position) != len(d.Force):
			return nil, d.Fail(0, "Name both columns.", "%d positions and %d forces: the fit needs both, sample by sample", len(d.Position),
				len(d.Force))
		}
	}
	f, err := s.design(first.Dt, steady)
	if err != nil {
		return nil, err
	}
	m := &form{f: f, track: func(low filter.Lowpass, rec, from, to int) track {
		return f.sampled(recs[rec].Dt).of(&s, low, recs[rec].Position[from:to])
	}}
	for _, t := range s.Terms {
		m.columns = append(m.columns, column{t, s.nameOf(t), s.unitOf(t)})
	}
	return m, nil
}

// count is the number of rows that n samples give, 0 if they are too few for the filters.
func (m *form) count(n int) int {
	if n <= max(m.f.positionLowpass.Padding(), m.f.sidesLowpass.Padding()) {
		return 0
	}
	return max((n-2*m.skip+m.f.rowStep-1)/m.f.rowStep, 0)
}

// stretches cuts the records into parts. Pieces too short for the filters are left out, which is said.
func (s Spec) stretches(recs []*record.Record, m *form) (parts []part, left []string, err error) {
	total, samples, length := 0, 0, 0.0
	for i, d := range recs {
		samples, length = samples+d.Len(), length+float64(d.Len())*d.Dt
		n := m.count(d.Len())
		if n < 2 {
			left = append(left, fmt.Sprintf("%s is left out: %d samples are too few for the filters and the trimming of %.3g s at each end",
				d.Name(), d.Len(), s.Trim))
			continue
		}
		total += n
		margin := m.reach + lagReach + delayTaps
		chunk := max(stretchSamples, 4*margin) / m.f.rowStep
		for k := 0; k < n; k += chunk {
			p := part{rec: i}
			p.rowStep, p.n = m.f.rowStep, min(chunk, n-k)
			at := m.skip + k*p.rowStep
			p.start, p.stop = max(at-margin, 0), min(at+(p.n-1)*p.rowStep+margin+1, d.Len())
			if p.n == n {
				p.start, p.stop = 0, d.Len()
			}
			p.firstSample = at - p.start
			parts = append(parts, p)
		}
	}
	if want := 10 * len(m.columns); total < want {
		return nil, nil, recs[0].Fail(0, fmt.Sprintf("Record longer, sample faster, or lower decimate or trim. If more than %.3g s were "+
			"recorded, the times are in another unit: say which.", length),
			"%d samples leave %d rows after decimation by %d and trimming %.3g s at each end, want at least %d", samples, total, s.Decimate, s.Trim,
			want)
	}
	return parts, left, nil
}

// assemble makes the rows of the parts, all but the right-hand side. Samples slower than cut do not count; rows are kept if
// enough of what they look at is at least as fast as keep. lagged: with what the instrument of the lag is made of.
func (s Spec) assemble(recs []*record.Record, m *form, parts []part, cut, keep [2]float64, lagged bool) (*regression, error) {
	r := &regression{
		spec: s, form: m, recs: recs, parts: slices.Clone(parts), columns: slices.Clone(m.columns), w: make([][]float64, len(m.columns)),
		dt: m.f.dt * float64(m.f.rowStep), unit: s.unit("N"), quantity: "force", slowest: keep,
	}
	if s.Rotary {
		r.quantity = "torque"
	}
	total := 0
	for i := range r.parts {
		p := &r.parts[i]
		if p.row = total; i == 0 || parts[i-1].rec != p.rec ||
			parts[i-1].start+parts[i-1].firstSample+parts[i-1].n*p.rowStep != p.start+p.firstSample {
			r.pieces, r.pieceRecord = append(r.pieces, total), append(r.pieceRecord, p.rec)
		}
		total += p.n
	}
	for j := range r.w {
		r.w[j] = make([]float64, total)
	}
	r.y, r.v, r.q, r.reversalDistance, r.fittedRows = make([]float64, total), make([]float64, total), make([]float64, total),
		make([]float64, total), make([]bool, total)
	if lagged {
		r.turns = make([][]float64, len(r.columns))
		for j, c := range r.columns {
			if c.changes() {
				r.turns[j] = make([]float64, total)
			}
		}
	}
	fit.Parallel(len(parts), func(i int) {
		p := &r.parts[i]
		joint := m.joint(p.rec)
		quiet := m.directionTrack(p.rec, p.start, p.stop)
		since := sinceReversal(quiet.v, m.f.dt, p.start == 0)
		p.movingSamples = movingMask(quiet.v, cut[joint], m.f.blur, since, m.f.build[joint])
		got := m.sides(p.rec, p.start, p.stop, p.places, quiet, p.movingSamples)
		for j, col := range got.w {
			copy(r.w[j][p.row:], col)
		}
		copy(r.y[p.row:], got.y)
		copy(r.v[p.row:], got.v)
		copy(r.q[p.row:], p.of(recs[p.rec].Position[p.start:p.stop]))
		copy(r.reversalDistance[p.row:], p.of(since))
		look := p.movingSamples
		if keep != cut {
			look = movingMask(quiet.v, keep[joint], m.f.blur, since, m.f.build[joint])
		}
		for k := range p.n {
			r.fittedRows[p.row+k] = look == nil || m.share(look, p.firstSample+k*p.rowStep) >= m.minMovingShare
		}
		if lagged {
			r.turn(*p, quiet)
		}
		filter.Return(since)
		m.release(quiet)
	})
	for j, col := range r.w {
		if !numeric.AllFinite(col...) {
			return nil, recs[0].Fail(0, "Check the scale of the data.", "column %s overflows", r.columns[j].term)
		}
	}
	return r, nil
}

// push forms the right-hand side with the force shifted by the lag (s); held: the force keeps its value until the next sample.
// The lag is no parameter then.
func (r *regression) push(lag float64, held bool) {
	r.lag, r.zeroOrderHold, r.slope, r.z = lag, held, nil, nil
	if r.form.undriven {
		return
	}
	r.y = make([]float64, len(r.y))
	r.shifted(func(p part, force []float64) { r.fill(p, force, r.y) })
}

// pushSlope is push with the slope of the right-hand side, which becomes the column of the lag by freeLag.
func (r *regression) pushSlope(lag float64, held bool) {
	r.lag, r.zeroOrderHold, r.slope, r.z = lag, held, nil, nil
	r.y, r.rate = make([]float64, len(r.y)), make([]float64, len(r.y))
	r.shifted(func(p part, force []float64) {
		r.fill(p, force, r.y)
		unfiltered.ZeroPhaseOf(len(force), func(x []float64) { filter.DerivativeTo(x, force, r.form.f.dt) },
			func(x []float64) { r.fill(p, x, r.rate) })
	})
}

// shifted calls f with the recorded force of every part, later by the lag, as it is before it is cut. A low-pass and a lag may change
// places.
func (r *regression) shifted(f func(p part, force []float64)) {
	if r.smoothed == nil {
		r.smoothed = make([][]float64, len(r.parts))
	}
	fit.Parallel(len(r.parts), func(i int) {
		p := r.parts[i]
		if r.smoothed[i] == nil {
			if r.smoothed[i] = r.recs[p.rec].Force[p.start:p.stop]; r.prefilter(p) != nil {
				r.smoothed[i] = r.prefilter(p).ZeroPhase(r.smoothed[i])
			}
		}
		x := r.smoothed[i]
		unfiltered.ZeroPhaseOf(len(x), func(y []float64) { delay(y, x, r.lag/r.recs[p.rec].Dt, r.zeroOrderHold) },
			func(y []float64) { f(p, y) })
	})
}

// unfiltered lends memory.
var unfiltered filter.Lowpass

// prefilter is the low-pass of a force of a part before it is cut; nil: none.
func (r *regression) prefilter(p part) filter.Lowpass {
	if !r.form.prefilters || p.movingSamples == nil {
		return nil
	}
	return r.form.f.positionLowpass
}

// fill puts a force of a part, as it is before it is cut, into its rows of out.
func (r *regression) fill(p part, force []float64, out []float64) {
	r.form.side(force, p.movingSamples, p.places, out[p.row:][:p.n])
}

// fillRaw is fill of a force that set writes, which has passed no low-pass yet.
func (r *regression) fillRaw(p part, set func(force []float64), out []float64) {
	r.prefilter(p).ZeroPhaseOf(p.stop-p.start, set, func(x []float64) { r.fill(p, x, out) })
}

// right is a force at the rows, as the right-hand side has it, which set writes.
func (r *regression) right(set func(p part, force []float64)) []float64 {
	out := make([]float64, len(r.y))
	fit.Parallel(len(r.parts), func(i int) { r.fillRaw(r.parts[i], func(x []float64) { set(r.parts[i], x) }, out) })
	return out
}
