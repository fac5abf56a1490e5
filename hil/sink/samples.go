package sink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/hil"
)

// Samples is a run in the time of its samples, column by column.
//
// A row of a recording belongs to a tick: it holds the newest sample, which is as old as the age of its device says, or the sample before
// once more. A fit wants samples. So
//
//   - a sample's time is the tick's time minus its age; rows that brought no new sample are left out;
//   - a device samples evenly: samples are put on that raster, which also takes the noise of arrival away. A device with a clock
//     of its own that samples unevenly keeps its times. Where this program asks for the samples, the raster is its own, and begins anew
//     where the thread that asks was kept from it: there the samples follow such jumps, and are as uneven;
//   - up to five missing samples in a row are filled in, by a cubic. A longer gap begins a new piece. Without such a raster
//     nothing is filled in;
//   - a signal of another frame or device than the base has times of its own: here it is that of the sample's time, by a straight
//     line between its own samples, or, where it is sampled faster, their mean over a period. Samples within a gap of the other are left
//     out;
//   - estimated and modelled signals belong to the tick; here they are those of the sample's time, by a straight line;
//   - a command acts from the moment that the tick had computed it: here it is the one that acted at the sample's time;
//   - a change of mode, of the core, or of what drives the axis begins a new piece.
//
// Columns of the row (seq, mode, flags …) are those of the tick that brought the sample.
type Samples struct {
	run                *Run
	opt                SampleOptions
	startTime, endTime float64 // s  after the first row; endTime 0: to the end
	notes              []string
	steps              map[string]float64 // by column

	commandSteps [2][]float64            // times (s after the first row) and values of the command of the options
	heldColumns  map[string][2][]float64 // of all rows, the same of the commands among the columns
	ownSamples   map[string][2][]float64 // times and values of signals of another frame than the base, as sampled
}

// SampleOptions say what the recording does not say by itself. The zero value suits a device that samples once a tick.
type SampleOptions struct {
	Delay    float64 // s  age of a sample beyond that
	Base     string  // signal whose samples these are, where columns come in several frames; "": the first measured one
	Period   float64 // s  from sample to sample; 0: one tick
	Clocked  bool    // ages come from the device's own clock
	Polled   bool    // the device samples when it is asked
	DriveOff bool    // samples while the drive was off, instead of those while it was on
	Command  string  // whose steps are kept for CommandSteps; "": none

	Row   func(r *hil.Row)                 // is shown every row, during the call; nil: nobody
	Watch func(read, size int64, rows int) // is told now and then how many bytes and rows were read; nil: nobody
}

// What a run has besides its signals.
const (
	SampleTime  = "sample.time"  // s after the first row of the run
	SamplePiece = "sample.piece" // counts stretches without a gap
)

const (
	bridge   = 5    // missing samples in a row that are filled in
	uneven   = 0.05 // scatter of a device's own sampling times, in periods, from which it is no raster
	fragment = 20   // samples, below which a piece is left out
)

// Samples reads the run in the time of its samples.
func (r *Run) Samples(opt SampleOptions) *Samples {
	opt.Period = cmp.Or(opt.Period, 1/r.Info.Schema.Rate)
	return &Samples{run: r, opt: opt}
}

// Signals are the columns there are, with their units.
func (s *Samples) Signals() []engine.Signal {
	out := []engine.Signal{{Name: SampleTime, Unit: "s"}, {Name: SamplePiece}}
	for _, f := range rowFields {
		if f.number != nil {
			out = append(out, engine.Signal{Name: f.name, Unit: f.unit})
		}
	}
	return append(out, s.run.Info.Schema.Signals()...)
}

// Notes say what was left out or filled in by the last call of Columns.
func (s *Samples) Notes() []string { return s.notes }

// Step is the step of a quantised column of the last call of Columns, if samples were filled in: among those it does not show. 0: none.
func (s *Samples) Step(name string) float64 { return s.steps[name] }

// SelectCommand chooses the command whose steps are kept, in place of that of the options; "": none.
func (s *Samples) SelectCommand(command string) { s.opt.Command = command }

// CommandSteps are the steps of the command of the options in the part that the last call of Columns read: when each was sent (s after the
// first row of the run), and what it was until the next.
func (s *Samples) CommandSteps() (time, value []float64) { return s.commandSteps[0], s.commandSteps[1] }

// CommandTimes is a column of commands in the last call of Columns: since when (s after the first row) which one acted. nil: another column.
func (s *Samples) CommandTimes(name string) (time, value []float64) {
	return s.heldColumns[name][0], s.heldColumns[name][1]
}

// OwnSamples are the samples of a signal of another frame than the base, in the last call of Columns, at their own times; nil: it was
// sampled with the base.
func (s *Samples) OwnSamples(name string) (time, value []float64) {
	return s.ownSamples[name][0], s.ownSamples[name][1]
}

// requestedColumn is one column that is asked for.
type requestedColumn struct {
	name  string
	kind  byte // 'm'easured, 'o'ther frame, 't'ick, 'c'ommand, 'r'ow, 's'ample time, 'p'iece
	index int  // in X, or of the field
	age   int  // in X, of another frame
}

// LimitTo limits the samples to rows of a part of the run, in seconds after its first row: from span[0] to span[1] (0: to the end), or of
// the last seconds up to the newest row on file. Nothing else is read, so that a part gives the same samples however the run goes on. It
// returns the part.
func (s *Samples) LimitTo(span [2]float64, last float64) ([2]float64, error) {
	first, end, err := s.run.ends()
	if err != nil {
		return span, err
	}
	if last > 0 {
		span = [2]float64{max(0, float64(end-first)*1e-9-last), 0}
	}
	if span[1] == 0 {
		span[1] = float64(end-first) * 1e-9
	}
	s.startTime, s.endTime = span[0], span[1]
	return span, nil
}

// rows are those of the part, and the time of the first row of the run (ns).
func (s *Samples) rows() (it *RowIter, first int64, err error) {
	if first, _, err = s.run.ends(); err != nil {
		return nil, 0, err
	}
	if s.endTime == 0 {
		return s.run.Iter(), first, nil
	}
	return s.run.RowsBetween(first+int64(math.Round(s.startTime*1e9)), first+int64(math.Round(s.endTime*1e9))), first, nil
}

// find resolves names.
func (s *Samples) find(names []string) ([]requestedColumn, error) {
	sch := &s.run.Info.Schema
	nm := len(sch.Meas)
	nt := nm + len(sch.Est) + len(sch.Model)
	var out []requestedColumn
	var unknown []string
	for _, name := range names {
		t := requestedColumn{name: name, index: sch.Index(name)}
		switch {
		case t.index >= nt:
			t.kind = 'c'
		case t.index >= nm:
			t.kind = 't'
		case t.index >= 0:
			t.kind = 'm'
		case name == SampleTime:
			t.kind = 's'
		case name == SamplePiece:
			t.kind = 'p'
		default:
			t.kind = 'r'
			if t.index = slices.IndexFunc(rowFields[:], func(f rowField) bool { return f.name == name && f.number != nil }); t.index < 0 {
				unknown = append(unknown, strconv.Quote(name))
			}
		}
		out = append(out, t)
	}
	if unknown != nil {
		var have []string
		for _, sig := range s.Signals() {
			have = append(have, sig.Name)
		}
		return nil, fmt.Errorf("%w: %s; the run has %s", ErrChannel, strings.Join(unknown, ", "), strings.Join(have, ", "))
	}
	return out, nil
}

// Columns reads the named columns in one pass, in SI as recorded. A sample is a tick that brought all measured signals among them.
func (s *Samples) Columns(ctx context.Context, names []string) ([][]float64, error) {
	cols, err := s.find(names)
	if err != nil {
		return nil, err
	}
	s.notes, s.commandSteps, s.ownSamples, s.heldColumns = nil, [2][]float64{}, map[string][2][]float64{}, map[string][2][]float64{}
	g := gather{command: -1, s: s, cols: cols, columns: make([][]float64, len(cols)), ownTimes: make([][]float64, len(cols))}
	sch := &s.run.Info.Schema
	if s.opt.Command != "" {
		g.command = sch.Index(s.opt.Command)
	}
	age, base := "", ""
	if i := sch.Index(s.opt.Base); i >= 0 && i < len(sch.Meas) && slices.Contains(names, s.opt.Base) {
		age, base = sch.Meas[i].Age, s.opt.Base
	}
	for j := range cols {
		c := &cols[j]
		if c.kind != 'm' {
			continue
		}
		if ch := &sch.Meas[c.index]; base == "" {
			age, base = ch.Age, ch.Name
		} else if ch.Age != "" && ch.Age != age {
			c.kind, c.age = 'o', sch.Index(ch.Age)
			s.notes = append(s.notes, fmt.Sprintf("%s is sampled at other times than %s: it is interpolated, or averaged over a period of the "+
				"latter where it is faster", ch.Name, base))
			continue
		}
		hil.SetFresh(&g.need, c.index)
	}
	if g.age = sch.Index(age); age == "" { // no measurement among them: any frame
		g.age = slices.IndexFunc(sch.Meas, func(c hil.Channel) bool { return c.Role == hil.RoleAge })
	}
	if g.need == (hil.Fresh{}) && g.age >= 0 {
		hil.SetFresh(&g.need, g.age) // any frame
	}
	it, first, err := s.rows()
	if err != nil {
		return nil, err
	}
	g.firstTime = first
	var row hil.Row
	for it.Next(&row) {
		if g.rows%4096 == 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if s.opt.Watch != nil {
				s.opt.Watch(it.pass.chunkOffset, s.run.m.size, g.rows)
			}
		}
		g.row(&row)
	}
	if it.Err() != nil {
		return nil, it.Err()
	}
	for j, c := range cols {
		if c.kind == 'c' {
			s.heldColumns[c.name] = [2][]float64{g.acts, g.columns[j]}
		}
		if c.kind == 'o' {
			s.ownSamples[c.name] = [2][]float64{g.ownTimes[j], g.columns[j]}
			g.dropOutside(j)
		}
	}
	if len(g.time) == 0 {
		return nil, g.nothing()
	}
	out, filled, err := g.onRaster()
	s.steps = nil
	if filled > 0 {
		s.steps = map[string]float64{}
		for j, c := range cols {
			if c.kind == 'm' {
				s.steps[names[j]] = numeric.EncoderStep(g.columns[j])
			}
		}
	}
	return out, err
}

// errNoSamples says that a run holds nothing that can be used.
var errNoSamples = errors.New("no samples")

// gather collects the samples of a run.
type gather struct {
	s    *Samples
	cols []requestedColumn
	need hil.Fresh // bits of a sample
	age  int       // in X; −1: none
	// of the command whose steps are kept, in X; −1: none
	command int

	rows       int       // all so far
	lastRow    hil.Row   // of them
	firstTime  int64     // ns  time of the first row
	driveSince float64   // s   when the drive came into its present state
	tick       []float64 // s   of every row, and
	acts       []float64 // s   from when its command acts; both only where a column needs them

	time        []float64   // s   of the samples
	pieceStarts []int       // first samples of pieces
	columns     [][]float64 // a slice per column: values of samples, or, of what belongs to ticks, of all rows
	ownTimes    [][]float64 // s   of a column of another frame: the times of its samples
	period      float64     // s   of the base
	stale       int         // rows without a new sample
	arrived     hil.Fresh   // measured signals that came at least once
	broken      int         // samples in which something is no number
}

func (g *gather) row(r *hil.Row) {
	t := float64(r.T-g.firstTime) * 1e-9

	// what belongs to the tick
	ticks := false
	for j, c := range g.cols {
		if c.kind == 't' || c.kind == 'c' {
			g.columns[j] = append(g.columns[j], r.X[c.index])
			ticks = true
		}
	}
	if g.command >= 0 {
		g.addCommand(t+float64(r.Lateness)*1e-9+float64(r.BusyTime)*1e-9, numeric.OrZero(r.X[g.command]))
	}
	if ticks {
		g.tick = append(g.tick, t)
		g.acts = append(g.acts, t+float64(r.Lateness)*1e-9+float64(r.BusyTime)*1e-9)
	}
	if g.rows == 0 || r.Mode != g.lastRow.Mode || r.Epoch != g.lastRow.Epoch {
		g.driveSince = t
		if n := len(g.time); n > 0 && (len(g.pieceStarts) == 0 || g.pieceStarts[len(g.pieceStarts)-1] != n) {
			g.pieceStarts = append(g.pieceStarts, n)
		}
	}
	for j, c := range g.cols {
		if at := t - g.s.opt.Delay; c.kind == 'o' && hil.IsFresh(&r.FreshSignals, c.index) && numeric.IsFinite(r.X[c.index]) {
			if at -= r.X[c.age]; len(g.ownTimes[j]) == 0 || at > g.ownTimes[j][len(g.ownTimes[j])-1] {
				g.ownTimes[j], g.columns[j] = append(g.ownTimes[j], at), append(g.columns[j], r.X[c.index])
			}
		}
	}
	g.lastRow = *r
	g.rows++
	if g.s.opt.Row != nil {
		g.s.opt.Row(r)
	}

	g.arrived[0], g.arrived[1] = g.arrived[0]|r.FreshSignals[0], g.arrived[1]|r.FreshSignals[1]
	if r.FreshSignals[0]&g.need[0] != g.need[0] || r.FreshSignals[1]&g.need[1] != g.need[1] {
		g.stale++
		return
	}
	at := t - g.s.opt.Delay
	if g.age >= 0 {
		at -= r.X[g.age]
	}
	if !(at > g.driveSince-1e-9) || r.Mode.Energised() == g.s.opt.DriveOff { // sampled before the drive was as it is now
		return
	}
	for _, c := range g.cols {
		if c.kind == 'm' && !numeric.IsFinite(r.X[c.index]) { // what the sensor says while it is broken is as good as lost
			g.broken++
			return
		}
	}
	g.time = append(g.time, at)
	for j, c := range g.cols {
		switch c.kind {
		case 'm':
			g.columns[j] = append(g.columns[j], r.X[c.index])
		case 'r':
			g.columns[j] = append(g.columns[j], rowFields[c.index].number(r))
		}
	}
}

// addCommand takes in the command of a row, sent at t (s), where it is another one.
func (g *gather) addCommand(t, value float64) {
	to := &g.s.commandSteps
	if n := len(to[1]); n == 0 || to[1][n-1] != value {
		to[0], to[1] = append(to[0], t), append(to[1], value)
	}
}

// dropOutside leaves out the samples at which column j, of another frame, is not known: before its first sample, behind its last, in a long
// gap.
func (g *gather) dropOutside(j int) {
	own := g.ownTimes[j]
	if len(own) < 2 {
		g.time = nil
		return
	}
	d := floats.SubTo(make([]float64, len(own)-1), own[1:], own[:len(own)-1])
	longest := (bridge + 1.5) * numeric.QuantileInPlace(slices.Clone(d), 0.5)
	keep := make([]bool, len(g.time))
	k := 0
	for i, t := range g.time {
		for k+1 < len(own) && own[k+1] < t {
			k++
		}
		half := g.s.opt.Period / 2 // a mean wants both sides
		keep[i] = t >= own[0]+half && t <= own[len(own)-1]-half && k+1 < len(own) && d[k] <= longest
	}
	// pieces begin where they did, and behind what is left out
	place, n := make([]int, len(keep)+1), 0
	var cut []int
	for i, ok := range keep {
		if place[i] = n; ok {
			if i > 0 && !keep[i-1] {
				cut = append(cut, n)
			}
			n++
		}
	}
	place[len(keep)] = n
	for _, at := range g.pieceStarts {
		cut = append(cut, place[at])
	}
	slices.Sort(cut)
	g.pieceStarts = slices.Compact(cut)
	squeeze := func(x []float64) []float64 {
		out := x[:0]
		for i, ok := range keep {
			if ok {
				out = append(out, x[i])
			}
		}
		return out
	}
	g.time = squeeze(g.time)
	for c := range g.columns {
		if g.cols[c].kind == 'm' || g.cols[c].kind == 'r' {
			g.columns[c] = squeeze(g.columns[c])
		}
	}
}

// lookUp gives column j, which belongs to ticks or to another frame, at increasing times.
func (g *gather) lookUp(j int, at []float64) []float64 {
	out := make([]float64, len(at))
	x, from := g.columns[j], g.tick
	switch g.cols[j].kind {
	case 'c':
		from = g.acts
	case 'o':
		from = g.ownTimes[j]
	}
	if g.cols[j].kind == 'o' && g.period > 1.5*periodOf(from, (from[len(from)-1]-from[0])/float64(len(from)-1)) {
		return means(from, x, at, g.period)
	}
	k := max(sort.SearchFloat64s(from, at[0])-1, 0)
	for i, t := range at {
		for k+1 < len(from) && from[k+1] <= t {
			k++
		}
		out[i] = x[k]
		if g.cols[j].kind != 'c' && k+1 < len(x) {
			out[i] += min(max((t-from[k])/(from[k+1]-from[k]), 0), 1) * (x[k+1] - x[k])
		}
	}
	return out
}

// means are those of the straight lines through x, sampled at the times from, over a period around each of the times at: what is faster
// than the period is left out, and nothing is shifted.
func means(from, x, at []float64, period float64) []float64 {
	sum := make([]float64, len(x)) // integral up to each sample
	for k := 1; k < len(x); k++ {
		sum[k] = sum[k-1] + (x[k]+x[k-1])/2*(from[k]-from[k-1])
	}
	integral := func(t float64) float64 {
		t = min(max(t, from[0]), from[len(from)-1])
		k := min(max(sort.SearchFloat64s(from, t)-1, 0), len(from)-2)
		h := t - from[k]
		return sum[k] + h*(x[k]+h/2*(x[k+1]-x[k])/(from[k+1]-from[k]))
	}
	out := make([]float64, len(at))
	for i, t := range at {
		lo, hi := max(t-period/2, from[0]), min(t+period/2, from[len(from)-1])
		out[i] = (integral(hi) - integral(lo)) / (hi - lo)
	}
	return out
}

// nothing says why there is no sample.
func (g *gather) nothing() error {
	var never []string
	for _, c := range g.cols {
		if (c.kind == 'm' || c.kind == 'o') && !hil.IsFresh(&g.arrived, c.index) {
			never = append(never, c.name)
		}
	}
	if never != nil && g.arrived != (hil.Fresh{}) {
		return fmt.Errorf("%w: the device never sent %s; leave it out of what is identified, or out of the file", errNoSamples,
			strings.Join(never, ", "))
	}
	switch {
	case g.rows == 0 && g.s.endTime > 0:
		return fmt.Errorf("%w: the recording holds no rows from %.6g to %.6g s", errNoSamples, g.s.startTime, g.s.endTime)
	case g.rows == 0:
		return fmt.Errorf("%w: the recording holds no rows", errNoSamples)
	case g.stale == g.rows:
		return fmt.Errorf("%w: nothing came from the device", errNoSamples)
	case g.s.opt.DriveOff:
		return fmt.Errorf("%w: the drive was on all the time", errNoSamples)
	}
	if g.s.endTime > 0 {
		return fmt.Errorf("%w: from %.6g to %.6g s the drive was never on (mode run or hold), or no sample came", errNoSamples,
			g.s.startTime, g.s.endTime)
	}
	return fmt.Errorf("%w: the drive was never on (mode run or hold)", errNoSamples)
}

// onRaster puts the samples on the device's raster, piece by piece, and fills short gaps.
func (g *gather) onRaster() (out [][]float64, filled int, err error) {
	period := periodOf(g.time, g.s.opt.Period)
	scatter := scatterOf(g.time, period)
	free := g.s.opt.Clocked && scatter > uneven || g.s.opt.Polled && !g.s.opt.Clocked

	// cut where the mode changed and at long gaps
	var pieces []piece
	samples, lost, gaps, gone := 0, 0, 0, 0.0
	cuts := append(append([]int{0}, g.pieceStarts...), len(g.time))
	for i := range len(cuts) - 1 {
		for lo, hi := cuts[i], 0; lo < cuts[i+1]; lo = hi {
			for hi = lo + 1; hi < cuts[i+1] && g.time[hi]-g.time[hi-1] < (bridge+1.5)*period; hi++ {
			}
			if hi < cuts[i+1] {
				gaps++
				gone += g.time[hi] - g.time[hi-1] - period
			}
			if hi-lo < fragment {
				lost += hi - lo
				continue
			}
			samples += hi - lo
			pieces = append(pieces, newPiece(g, lo, hi, period))
		}
	}
	if len(pieces) == 0 {
		return nil, 0, fmt.Errorf("%w: no %d in a row without a gap of more than %d", errNoSamples, fragment, bridge)
	}

	// one period for all: the slope of parallel straight lines through their times
	sit, sii := 0.0, 0.0
	for _, p := range pieces {
		sit, sii = sit+p.sit, sii+p.sii
	}
	period = sit / sii
	g.period = period
	out = make([][]float64, len(g.cols))
	for i, p := range pieces {
		filled += p.appendTo(out, float64(i+1), period, free)
	}

	note := func(format string, args ...any) { g.s.notes = append(g.s.notes, fmt.Sprintf(format, args...)) }
	if g.broken > 0 {
		note("%d samples in which a sensor gave no number are left out", g.broken)
	}
	if filled > 0 {
		note("%d missing samples (%.2g %%), at most %d in a row, are filled in by a cubic", filled, 100*float64(filled)/float64(samples+filled),
			bridge)
	}
	if gaps > 0 {
		note("%d longer gaps, %.3g s in all, cut the record into pieces", gaps, gone)
	}
	if lost > 0 {
		note("%d samples in stretches shorter than %d are left out", lost, fragment)
	}
	if !free && scatter > uneven {
		note("samples arrive with a scatter of %.0f %% of their period and carry no time of the device: they are taken as even", 100*scatter)
	}
	return out, filled, nil
}

// periodOf is the sampling period (s) near the nominal one: the median of the intervals that are about one period long.
func periodOf(time []float64, nominal float64) float64 {
	var d []float64
	for k := 1; k < len(time); k++ {
		if h := time[k] - time[k-1]; h > 0.5*nominal && h < 1.5*nominal {
			d = append(d, h)
		}
	}
	if len(d) < len(time)/4 || len(d) == 0 {
		return nominal
	}
	return numeric.QuantileInPlace(d, 0.5)
}

// scatterOf is how unevenly samples follow each other: the deviation of an interval from the nearest number of periods, as the
// 90 % quantile, in periods.
func scatterOf(time []float64, period float64) float64 {
	var e []float64
	for k := 1; k < len(time); k++ {
		h := (time[k] - time[k-1]) / period
		e = append(e, math.Abs(h-math.Round(h)))
	}
	if len(e) == 0 {
		return 0
	}
	return numeric.QuantileInPlace(e, 0.9)
}
