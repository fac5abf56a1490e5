package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"hilrig/hil"
)

// History reads windows of a run that is still being recorded, thinned for a picture. It looks at the file, so it takes nothing from the
// loop, from the rows' way to the sinks, or from the recorder; what the file does not hold yet, at most a chunk, it does not know. Any
// number of goroutines may ask; one is served at a time.
type History struct {
	path string
	turn chan struct{} // holds one while run is used
	run  *Run          // opened by the first window
}

// Limits of a window.
const (
	historyRows   = 300_000 // read for one: a second of a processor
	HistoryPoints = 20_000  // in the answer
)

// Errors of a window: it was not understood, or there is nothing to read it from.
var (
	ErrWindow    = errors.New("not a window")
	ErrNoHistory = errors.New("no history")
)

// HistoryWindow chooses what is read. StartTime and EndTime are s since 1970, or, if they are not positive, s before the newest row on
// file.
type HistoryWindow struct {
	StartTime, EndTime float64
	Signals            []string
	Points             int // rows in the answer, at most; more are thinned
}

// NewHistory reads the recording at path, which may not hold a row yet.
func NewHistory(path string) *History { return &History{path: path, turn: make(chan struct{}, 1)} }

// Longest is how much of a run with this rate, in Hz, a window can hold, in s.
func (h *History) Longest(rate float64) float64 { return historyRows / rate }

// Close closes the file.
func (h *History) Close() error {
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	if h.run == nil {
		return nil
	}
	return h.run.Close()
}

// Window reads one, as JSON:
//
//	{"first": s, "last": s, "rows": n, "thinned": false, "modes": [{"timestamp": s, "mode": "run"}, …], "timestamp": [s, …], "seq": [n, …],
//	 "signals": {"shaft.est.position": [rad, …], …}}
//
// first and last are the times of the first and the newest row on file; modes are that of the first row and its changes. Where there are
// more rows than points, each of about points/2 equal spans is told by the smallest and the largest value of each signal in it, in the
// order in which they came, at the times of its first and last row, and there is no seq. Rows that are missing are told by one row of null
// between their neighbours, so that nothing is drawn through a gap.
func (h *History) Window(ctx context.Context, q HistoryWindow) ([]byte, error) {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	first, last, err := h.refresh()
	if err != nil {
		return nil, err
	}
	run := h.run
	from, to := stretch(q.StartTime, last), stretch(q.EndTime, last)
	var at []int
	var unknown []string
	for _, name := range q.Signals {
		i := run.Info.Schema.Index(name)
		if i < 0 {
			unknown = append(unknown, strconv.Quote(name))
		}
		at = append(at, i)
	}
	switch rows := (min(to, last) - max(from, first)) * run.Info.Schema.Rate; {
	case unknown != nil:
		return nil, fmt.Errorf("%w: no such signal: %s", ErrWindow, strings.Join(unknown, ", "))
	case q.Points < 2 || q.Points > HistoryPoints:
		return nil, fmt.Errorf("%w: %d points, want 2 to %d", ErrWindow, q.Points, HistoryPoints)
	case !(from < to):
		return nil, fmt.Errorf("%w: from %g to %g, want from < to, in seconds since 1970, or, not positive, before the newest row", ErrWindow,
			q.StartTime, q.EndTime)
	case rows > historyRows:
		return nil, fmt.Errorf("%w: some %.0f rows, at most %d (%.0f s at %g Hz); hil export reads longer ones", ErrWindow, rows, historyRows,
			h.Longest(run.Info.Schema.Rate), run.Info.Schema.Rate)
	}

	t := thin{columns: at, maxRows: q.Points, wall: run.wall, period: 1e9 / run.Info.Schema.Rate,
		span: math.Max(1, 2e9*(min(to, last)-max(from, first))/float64(q.Points))}
	it := run.RowsBetween(int64(math.Round(from*1e9))-run.wall, int64(math.Round(to*1e9))-run.wall)
	var row hil.Row
	for n := 0; it.Next(&row); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t.add(&row)
	}
	if err := it.Err(); err != nil {
		return nil, err
	}
	return t.json(q.Signals, first, last), nil
}

// stretch is a time of a window in s since 1970.
func stretch(t, last float64) float64 {
	if t > 0 {
		return t
	}
	return last + t
}

// refresh looks at what the file has got since, and gives the times of its first and last row, in s since 1970.
func (h *History) refresh() (first, last float64, err error) {
	if h.run != nil {
		mine, err1 := h.run.f.Stat()
		there, err2 := os.Stat(h.path)
		if err1 != nil || err2 != nil || !os.SameFile(mine, there) { // deleted, or begun anew
			h.run.Close()
			h.run = nil
		}
	}
	if h.run == nil {
		if h.run, err = OpenRun(h.path); err != nil {
			return 0, 0, fmt.Errorf("%w: %w", ErrNoHistory, err)
		}
	} else if !h.run.m.indexed {
		st, err := h.run.f.Stat()
		if err == nil {
			err = h.run.m.grow(st.Size())
		}
		if err != nil {
			return 0, 0, fmt.Errorf("%w: %w", ErrNoHistory, err)
		}
	}
	from, to, err := h.run.ends()
	if err != nil {
		return 0, 0, err
	}
	if from == 0 && to == 0 {
		return 0, 0, fmt.Errorf("%w yet: the recording holds no rows", ErrNoHistory)
	}
	return float64(from+h.run.wall) * 1e-9, float64(to+h.run.wall) * 1e-9, nil
}

// thin gathers rows as they are until there are too many, and smallest and largest values of spans besides.
type thin struct {
	columns []int   // of the signals in a row
	maxRows int     // rows as they are, at most
	wall    int64   // ns  time since 1970 minus the loop's clock
	period  float64 // ns  from row to row
	span    float64 // ns

	rows     int
	prev     hil.Row
	modes    []byte // as JSON
	rawRows  table  // all rows, while there are few
	spanRows table  // two rows per span

	span0               int64 // number of the span under way
	firstTime, lastTime int64 // ns  its first and last row; firstTime 0: none
	lo, hi              []float64
	loFirst, hasValue   []bool // the smallest value came first; there is a value
}

// table are rows of some signals; seq 0: a gap, or two extremes.
type table struct {
	t   []int64
	seq []uint64
	x   []float64 // len(at) per row
}

func (b *table) add(t int64, seq uint64, x []float64) {
	b.t, b.seq, b.x = append(b.t, t), append(b.seq, seq), append(b.x, x...)
}

func (t *thin) add(r *hil.Row) {
	x := make([]float64, len(t.columns))
	for j, i := range t.columns {
		x[j] = r.X[i]
	}
	// a gap is one row of nothing
	if t.rows > 0 && (r.Seq != t.prev.Seq+1 || r.Epoch != t.prev.Epoch || float64(r.T-t.prev.T) > 3.5*t.period) {
		t.shut()
		nothing := slices.Repeat([]float64{math.NaN()}, len(x))
		t.rawRows.add((r.T+t.prev.T)/2, 0, nothing)
		t.spanRows.add((r.T+t.prev.T)/2, 0, nothing)
	}
	if t.rows == 0 || r.Mode != t.prev.Mode {
		t.modes = append(appendSeconds(append(t.modes, `,{"timestamp":`...), r.T+t.wall), `,"mode":"`+r.Mode.String()+`"}`...)
	}
	t.prev = *r
	t.rows++
	if t.rows <= t.maxRows {
		t.rawRows.add(r.T, r.Seq, x)
	}
	if k := int64(math.Floor(float64(r.T) / t.span)); t.firstTime == 0 || k != t.span0 {
		t.shut()
		t.span0, t.firstTime = k, r.T
		t.lo, t.hi = slices.Repeat([]float64{math.Inf(1)}, len(x)), slices.Repeat([]float64{math.Inf(-1)}, len(x))
		t.loFirst, t.hasValue = make([]bool, len(x)), make([]bool, len(x))
	}
	t.lastTime = r.T
	for j, v := range x {
		if v != v {
			continue
		}
		t.hasValue[j] = true
		if v > t.hi[j] {
			t.hi[j], t.loFirst[j] = v, true
		}
		if v < t.lo[j] {
			t.lo[j], t.loFirst[j] = v, false
		}
	}
}

// shut ends the span under way.
func (t *thin) shut() {
	if t.firstTime == 0 {
		return
	}
	a, b := slices.Clone(t.hi), slices.Clone(t.lo)
	for j := range a {
		switch {
		case !t.hasValue[j]:
			a[j], b[j] = math.NaN(), math.NaN()
		case t.loFirst[j]:
			a[j], b[j] = b[j], a[j]
		}
	}
	t.spanRows.add(t.firstTime, 0, a)
	if t.lastTime > t.firstTime {
		t.spanRows.add(t.lastTime, 0, b)
	}
	t.firstTime = 0
}

func (t *thin) json(names []string, first, last float64) []byte {
	t.shut()
	of, thinned := &t.rawRows, t.rows > t.maxRows
	if thinned {
		of = &t.spanRows
	}
	b := fmt.Appendf(nil, `{"first":%.6f,"last":%.6f,"rows":%d,"thinned":%t,"modes":[%s],"timestamp":[`, first, last, t.rows, thinned,
		bytes.TrimPrefix(t.modes, []byte(",")))
	list := func(n int, one func(i int)) {
		for i := range n {
			if i > 0 {
				b = append(b, ',')
			}
			one(i)
		}
		b = append(b, ']')
	}
	list(len(of.t), func(i int) { b = appendSeconds(b, of.t[i]+t.wall) })
	if !thinned {
		b = append(b, `,"seq":[`...)
		list(len(of.seq), func(i int) {
			if of.seq[i] == 0 {
				b = append(b, "null"...)
				return
			}
			b = strconv.AppendUint(b, of.seq[i], 10)
		})
	}
	b = append(b, `,"signals":{`...)
	for j, name := range names {
		if j > 0 {
			b = append(b, ',')
		}
		b = append(append(b, quote(name)...), ':', '[')
		list(len(of.t), func(i int) { b = appendNumber(b, of.x[i*len(names)+j]) })
	}
	return append(b, "}}"...)
}
