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
	columns []column
	f       *filters
	skip    int     // samples before the first row and after the last one
	reach   int     // samples to either side that a row depends on
	whole   float64 // share of a row that has to be in motion for it to be kept
	joints  bool    // records of two joints take turns
	free    bool    // nobody drives: the right-hand side is not a force

	track  func(low filter.Lowpass, rec, from, to int) track                  // of the samples from … to of a record
	sides  func(rec, from, to int, p places, quiet track, moving []bool) rows // quiet has the direction of motion
	before func(x []float64, moving []bool) []float64                         // what is done to a force before it is cut; nil: nothing
	side   func(xs [][]float64, moving []bool, p places, rows [][]float64)    // forces after that, at the rows of a part
	share  func(moving []bool, at int) float64                                // of a row that is in motion
	noise  func(after filter.Lowpass) [3][3]float64                           // covariance of position, velocity and acceleration in the rows behind a low-pass, for white noise of the position of one; nil: not known

	tracks map[trackKey]track // that are wanted again; nil: none
	lock   sync.Mutex         // of tracks
}

// trackKey is what a track is kept by.
type trackKey struct {
	low           *filter.Lowpass
	rec, from, to int
}

// quiet is the track that tells the direction of motion.
func (m *form) quiet(rec, from, to int) track { return m.kept(m.f.quiet(), rec, from, to) }

// kept is a track, from those that are kept if it is there.
func (m *form) kept(low *filter.Lowpass, rec, from, to int) track {
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

// track is what moves behind a low-pass: its velocity, and the columns of the terms, for the direction in which way has its sign.
// nil: a term is not in the equation.
type track struct {
	v      []float64
	column func(t Term, way []float64) []float64
}

// changes tells whether a column is of a part of the force that changes while the direction does not.
func (c column) changes() bool { return !c.term.rough() && c.term != Offset }

// force is the force by coefficients of the columns, or the part of it that changes while the direction does not.
func (m *form) force(of track, theta []float64, whole bool) []float64 {
	out := make([]float64, len(of.v))
	for j, c := range m.columns {
		if x := []float64(nil); whole || c.changes() {
			if x = of.column(c.term, of.v); x != nil {
				floats.AddScaled(out, theta[j], x)
			}
		}
	}
	return out
}

// rows are the columns of a track, filtered and decimated.
func (m *form) rows(of track, p places, way []float64, moving []bool) rows {
	out := rows{w: make([][]float64, len(m.columns)), v: p.of(of.v)}
	var xs, to [][]float64
	for j, c := range m.columns {
		x := of.column(c.term, way)
		if x == nil {
			continue
		}
		if out.w[j] = make([]float64, p.n); c.term == Offset && moving == nil { // passes as it is
			copy(out.w[j], x)
			continue
		}
		if moving != nil && c.term.rough() {
			x = m.f.smooth.ZeroPhase(x)
		}
		xs, to = append(xs, x), append(to, out.w[j])
	}
	m.f.sides(xs, moving, p, to)
	return out
}

// column is what is known of a column apart from its numbers.
type column struct {
	term Term
	name string // of its parameter
	unit string
}

// places are the samples of a stretch that rows belong to.
type places struct{ first, every, n int }

func (p places) of(x []float64) []float64 {
	out := make([]float64, p.n)
	for k := range out {
		out[k] = x[p.first+k*p.every]
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
	spec     Spec
	form     *form
	recs     []*record.Record
	parts    []part
	columns  []column
	w        [][]float64    // a slice per column
	y        []float64      // N or N·m, with the force shifted by lag
	slope    []float64      // dy/dt, where the lag is a parameter
	rate     []float64      // dy/dt, of pushSlope
	z        [][]float64    // instruments, a slice per column; nil: none
	noise    []float64      // total: covariance of the columns' noise, mean over the rows, row-major; nil: columns are exact
	noiseY   float64        // and the variance of that of y, in the same unit
	dt       float64        // s, between rows of the undisturbed grid
	v, q     []float64      // velocity and position at the rows
	since    []float64      // m or rad, way behind the last reversal at the rows
	after    filter.Lowpass // of the rows; nil: none
	smoothed [][]float64    // by part, the recorded force before it is cut; nil: not made yet
	turns    [][]float64    // by column, the slope at the rows of what changes while the direction does not; nil: not made yet
	kept     []bool         // rows that are fitted …
	slowest  [2]float64     // … of samples at least that fast, by joint
	lag      float64        // s, by which the force acts later than its stamp
	held     bool           // it keeps its value until the next one
	other    *otherwise     // with the other of the two; nil: not looked at
	pieces   []int          // first row of every piece
	of       []int          // place of its record
	unit     string         // of y …
	quantity string         // … and what it is
	left     []string       // records that were left out, and why
	doubts   []fit.Reason   // what speaks against the numbers
	single   bool           // all motion is in one direction, and no term is a constant force
}

// part is a stretch with the place of its rows.
type part struct {
	rec, from, to int
	places
	row    int
	moving []bool // samples of it that count; nil: all
}

// stretchSamples is how many samples are prepared at once. Beyond each end of a stretch as many more are filtered as it takes
// for the filters to forget that end, to 1e-13.
var stretchSamples = 1 << 16

// decimationEdge is the edge of the decimation filter, as a share of half the new sampling rate; customary.
const decimationEdge = 0.8

// filters are the low-passes of a preparation at one sampling rate.
type filters struct {
	dt           float64        // s, of the samples
	blur         int            // samples beside slow ones that do not count
	build        [2]float64     // m or rad, way behind a reversal whose samples do not count, by joint
	smooth, both filter.Lowpass // of the position; of both sides
	calm         filter.Lowpass // of the position in half the band
	noisy        bool           // the direction of motion is taken from that
	after        filter.Lowpass // of the rows; nil: none
	every        int            // samples from row to row
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
	both := smooth
	if s.Decimate > 1 {
		both = filter.Chebyshev(8, 0.05, decimationEdge*fs/2/float64(s.Decimate), fs)
	}
	calm := filter.Butterworth(s.Order, directionShare*s.band(fs), fs)
	return &filters{dt: dt, smooth: smooth, both: both, calm: calm, noisy: noisy, every: s.Decimate}, nil
}

// sampled are the same low-passes for a record of nearly the same rate: both sides of its equation pass them alike, and what is
// derived from its samples has its own interval dt (s).
func (f *filters) sampled(dt float64) *filters {
	own := *f
	own.dt = dt
	return &own
}

// motion is the position behind a low-pass, with its derivatives. Velocities that are nothing but rounding of the position are zero, so
// that an axis at rest has no sign of velocity.
func (f *filters) motion(low filter.Lowpass, position []float64) (q, v, a []float64) {
	q = low.ZeroPhase(position)
	v = filter.Derivative(q, f.dt)
	rounding := 16 * 0x1p-52 * numeric.Largest(q) / f.dt
	for k := range v {
		if math.Abs(v[k]) < rounding {
			v[k] = 0
		}
	}
	return q, v, filter.SecondDerivative(q, f.dt)
}

// quiet is the low-pass for what noise of the position must not reach.
func (f *filters) quiet() *filter.Lowpass {
	if f.noisy {
		return &f.calm
	}
	return &f.smooth
}

// of is the track of an axis.
func (f *filters) of(s *Spec, low filter.Lowpass, position []float64) track {
	q, v, a := f.motion(low, position)
	return track{v, func(t Term, way []float64) []float64 { return s.column(t, q, v, a, way) }}
}

// sides are parts of the equation at the rows, filtered. Where some samples do not count they are cut out before, and after the low-pass of
// the position, which those parts that do not come from it have to have had. A row outside is that of the nearest sample.
func (f *filters) sides(xs [][]float64, moving []bool, p places, rows [][]float64) {
	if len(xs) == 0 {
		return
	}
	f.both.ZeroPhaseEach(len(xs), len(xs[0]), func(i int, x []float64) {
		copy(x, xs[i])
		for k, m := range moving {
			if !m {
				x[k] = 0
			}
		}
	}, func(i int, x []float64) {
		for k := range p.n {
			rows[i][k] = x[min(max(p.first+k*p.every, 0), len(x)-1)]
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
	m.skip = f.every * int(math.Ceil(s.Trim/f.dt/float64(f.every)))
	m.reach = f.smooth.Settle() + f.both.Settle() + f.calm.Settle()
	m.before = func(x []float64, moving []bool) []float64 {
		if moving == nil {
			return x
		}
		return f.smooth.ZeroPhase(x)
	}
	m.side = f.sides
	m.noise = func(after filter.Lowpass) [3][3]float64 {
		own := *f
		own.after = after
		return own.noise()
	}
	m.whole = 0.5
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
			of = m.kept(&f.smooth, rec, from, to)
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
			return nil, d.Fail(0, "Name both columns.", "%d positions and %d forces: the fit needs both, sample by sample", len(d.Position), len(d.Force))
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
	if n <= max(m.f.smooth.Padding(), m.f.both.Padding()) {
		return 0
	}
	return max((n-2*m.skip+m.f.every-1)/m.f.every, 0)
}

// stretches cuts the records into parts. Pieces too short for the filters are left out, which is said.
func (s Spec) stretches(recs []*record.Record, m *form) (parts []part, left []string, err error) {
	total, samples, length := 0, 0, 0.0
	for i, d := range recs {
		samples, length = samples+d.Len(), length+float64(d.Len())*d.Dt
		n := m.count(d.Len())
		if n < 2 {
			left = append(left, fmt.Sprintf("%s is left out: %d samples are too few for the filters and the trimming of %.3g s at each end", named(d), d.Len(), s.Trim))
			continue
		}
		total += n
		margin := m.reach + lagReach + delayTaps
		chunk := max(stretchSamples, 4*margin) / m.f.every
		for k := 0; k < n; k += chunk {
			p := part{rec: i}
			p.every, p.n = m.f.every, min(chunk, n-k)
			at := m.skip + k*p.every
			p.from, p.to = max(at-margin, 0), min(at+(p.n-1)*p.every+margin+1, d.Len())
			if p.n == n {
				p.from, p.to = 0, d.Len()
			}
			p.first = at - p.from
			parts = append(parts, p)
		}
	}
	if want := 10 * len(m.columns); total < want {
		return nil, nil, recs[0].Fail(0, fmt.Sprintf("Record longer, sample faster, or lower decimate or trim. If more than %.3g s were recorded, the times are in another unit: say which.", length),
			"%d samples leave %d rows after decimation by %d and trimming %.3g s at each end, want at least %d", samples, total, s.Decimate, s.Trim, want)
	}
	return parts, left, nil
}

// assemble makes the rows of the parts, all but the right-hand side. Samples slower than cut do not count; rows are kept if
// enough of what they look at is at least as fast as keep.
func (s Spec) assemble(recs []*record.Record, m *form, parts []part, cut, keep [2]float64) (*regression, error) {
	r := &regression{
		spec: s, form: m, recs: recs, parts: slices.Clone(parts), columns: slices.Clone(m.columns), w: make([][]float64, len(m.columns)),
		dt: m.f.dt * float64(m.f.every), unit: s.unit("N"), quantity: "force", slowest: keep,
	}
	if s.Rotary {
		r.quantity = "torque"
	}
	total := 0
	for i := range r.parts {
		p := &r.parts[i]
		if p.row = total; i == 0 || parts[i-1].rec != p.rec || parts[i-1].from+parts[i-1].first+parts[i-1].n*p.every != p.from+p.first {
			r.pieces, r.of = append(r.pieces, total), append(r.of, p.rec)
		}
		total += p.n
	}
	for j := range r.w {
		r.w[j] = make([]float64, total)
	}
	r.y, r.v, r.q, r.since, r.kept = make([]float64, total), make([]float64, total), make([]float64, total), make([]float64, total), make([]bool, total)
	fit.Each(len(parts), func(i int) {
		p := &r.parts[i]
		joint := m.joint(p.rec)
		quiet := m.quiet(p.rec, p.from, p.to)
		since := sinceReversal(quiet.v, m.f.dt, p.from == 0)
		p.moving = moving(quiet.v, cut[joint], m.f.blur, since, m.f.build[joint])
		got := m.sides(p.rec, p.from, p.to, p.places, quiet, p.moving)
		for j, col := range got.w {
			copy(r.w[j][p.row:], col)
		}
		copy(r.y[p.row:], got.y)
		copy(r.v[p.row:], got.v)
		copy(r.q[p.row:], p.of(recs[p.rec].Position[p.from:p.to]))
		copy(r.since[p.row:], p.of(since))
		look := moving(quiet.v, keep[joint], m.f.blur, since, m.f.build[joint])
		for k := range p.n {
			r.kept[p.row+k] = look == nil || m.share(look, p.first+k*p.every) >= m.whole
		}
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
	r.lag, r.held, r.slope, r.z = lag, held, nil, nil
	if r.form.free {
		return
	}
	r.y = make([]float64, len(r.y))
	r.shifted(func(p part, force []float64) { r.fill(p, [][]float64{force}, r.y) })
}

// pushSlope is push with the slope of the right-hand side, which becomes the column of the lag by freeLag.
func (r *regression) pushSlope(lag float64, held bool) {
	r.lag, r.held, r.slope, r.z = lag, held, nil, nil
	r.y, r.rate = make([]float64, len(r.y)), make([]float64, len(r.y))
	r.shifted(func(p part, force []float64) {
		r.fill(p, [][]float64{force, filter.Derivative(force, r.form.f.dt)}, r.y, r.rate)
	})
}

// shifted calls f with the recorded force of every part, later by the lag, as it is before it is cut. A low-pass and a lag may change
// places.
func (r *regression) shifted(f func(p part, force []float64)) {
	if r.smoothed == nil {
		r.smoothed = make([][]float64, len(r.parts))
	}
	fit.Each(len(r.parts), func(i int) {
		p := r.parts[i]
		if r.smoothed[i] == nil {
			r.smoothed[i] = r.before(p, r.recs[p.rec].Force[p.from:p.to])
		}
		f(p, Delayed(r.smoothed[i], r.lag/r.recs[p.rec].Dt, r.held))
	})
}

// before is a force of a part as it is before it is cut.
func (r *regression) before(p part, force []float64) []float64 {
	if r.form.before == nil {
		return force
	}
	return r.form.before(force, p.moving)
}

// fill puts forces of a part, as they are before they are cut, into its rows of out.
func (r *regression) fill(p part, forces [][]float64, out ...[]float64) {
	rows := make([][]float64, len(out))
	for i, x := range out {
		rows[i] = x[p.row:][:p.n]
	}
	r.form.side(forces, p.moving, p.places, rows)
}

// right is a force at the rows, as the right-hand side has it.
func (r *regression) right(force func(p part) []float64) []float64 {
	out := make([]float64, len(r.y))
	fit.Each(len(r.parts), func(i int) { r.fill(r.parts[i], [][]float64{r.before(r.parts[i], force(r.parts[i]))}, out) })
	return out
}

// regressor are the columns with that of the lag, if there is one.
func (r *regression) regressor() ([][]float64, []column) {
	if r.slope == nil {
		return r.w, r.columns
	}
	return append(slices.Clip(r.w), r.slope), append(slices.Clip(r.columns), column{Lag, r.spec.nameOf(Lag), "s"})
}

// mapped is what f makes of every column of the regressor and of the instruments, once where both have it.
func (r *regression) mapped(f func([]float64) []float64) (w, z [][]float64) {
	own, _ := r.regressor()
	for _, col := range own {
		w = append(w, f(col))
	}
	for _, col := range r.z {
		if j := place(own, col); j >= 0 {
			z = append(z, w[j])
		} else {
			z = append(z, f(col))
		}
	}
	return w, z
}

// runs calls f with every range of rows that are kept, one after the other within a piece.
func (r *regression) runs(f func(from, to int)) {
	for from := 0; from < len(r.kept); {
		to := from
		for to < len(r.kept) && r.kept[to] {
			to++
		}
		if to > from {
			f(from, to)
		}
		from = to + 1
	}
}

// factor is that of columns and the right-hand side, in the rows that are kept.
func (r *regression) factor(w [][]float64) *numeric.Factor {
	f := numeric.NewFactor(len(w))
	cut := make([][]float64, len(w))
	r.runs(func(from, to int) {
		for j, col := range w {
			cut[j] = col[from:to]
		}
		f.AddColumns(cut, r.y[from:to])
	})
	return f
}

// only is the regression of the rows that are kept, with the lag among its columns. apart: r is left as it is, else its columns
// are used up.
func (r *regression) only(apart bool) *regression {
	out := *r
	n := r.rowsKept()
	pick := func(x []float64) []float64 {
		if n == len(x) {
			return x
		}
		y := x[:0]
		if apart {
			y = make([]float64, 0, n)
		}
		r.runs(func(from, to int) { y = append(y, x[from:to]...) })
		return y
	}
	_, out.columns = r.regressor()
	out.w, out.z = r.mapped(pick)
	out.slope = nil
	out.y, out.v, out.q = pick(r.y), pick(r.v), pick(r.q)
	out.pieces, out.of = nil, nil
	done := 0
	r.eachPiece(func(rec, from, to int) {
		before := done
		for _, keep := range r.kept[from:to] {
			done += indicator(keep)
		}
		if done > before {
			out.pieces, out.of = append(out.pieces, before), append(out.of, rec)
		}
	})
	out.kept = slices.Repeat([]bool{true}, n)
	return &out
}

func indicator(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
