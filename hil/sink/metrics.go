package sink

import (
	"sync"
	"time"

	"hilrig/hil"
)

// MetricsOptions say what beside the rows enters the health report.
type MetricsOptions struct {
	Schema *hil.Schema                     // for the cause in words, and the models beside the rig; nil: none of these
	WarmUp time.Duration                   // rows of this first stretch count as ticks only, not in the statistics since start
	Link   func() map[string]float64       // counters of the serial line, asked once per report; may be nil
	Extra  func(add func(string, float64)) // further counters, by key; may be nil
}

// Metrics counts how well the loop keeps time: lateness and busy time as histograms, missed ticks by cause, flags, modes.
// Add costs some tens of nanoseconds and allocates nothing; reports are made from a snapshot on the caller's goroutine.
type Metrics struct {
	o MetricsOptions

	mu         sync.Mutex
	total      timing // since start, without the warm-up
	cur        timing // second in progress
	lastSecond timing // last whole second
	side       []modelTimes

	ticks          uint64
	warmUpTicks    uint64 // ticks of the warm-up
	count          Counts
	flags          [32]uint64 // rows with each flag
	newestRow      rowStamp
	hasRows        bool
	firstTime      int64     // ns  loop time of the first row
	edge           int64     // ns  loop time at which the second in progress began
	rate           float64   // Hz  of the last whole second
	newestHostTime time.Time // host time of the newest row
}

// rowStamp is what a report needs of the newest row.
type rowStamp struct {
	seq   uint64
	epoch uint16
	mode  hil.Mode
	flags hil.Flags

	cause        hil.Cause
	signal       uint16
	value, limit float64
}

// timing are both histograms of one stretch of time. Lateness is counted per µs up to 20 ms, as cyclictest does; busy time,
// usually a few µs, per 0.1 µs up to 2 ms.
type timing struct {
	lateness, busyTime  histogram
	ticks               uint64
	firstTime, lastTime int64 // ns  loop time of the first and the last row
}

const (
	lateWidth, lateBins = 1000, 20000
	busyWidth, busyBins = 100, 20000
	second              = int64(time.Second)
)

func newTiming() timing {
	return timing{lateness: newHistogram(lateWidth, lateBins), busyTime: newHistogram(busyWidth, busyBins)}
}

func (w *timing) add(r *hil.Row) {
	if w.ticks == 0 {
		w.firstTime = r.T
	}
	w.ticks++
	w.lastTime = r.T
	w.lateness.add(int64(r.Lateness))
	w.busyTime.add(int64(r.BusyTime))
}

func (w *timing) reset() {
	w.lateness.reset()
	w.busyTime.reset()
	w.ticks, w.firstTime, w.lastTime = 0, 0, 0
}

// Counts are the irregularities since start. An overrun is a row that woke a period late or found ticks skipped before it.
type Counts struct {
	Skipped         uint64 `json:"skipped"`  // ticks that never ran
	CatchUp         uint64 `json:"catch_up"` // ticks that ran at once after a miss
	OverrunsModel   uint64 `json:"overruns_model"`
	OverrunsDevice  uint64 `json:"overruns_device"`
	OverrunsHost    uint64 `json:"overruns_host"`
	OverrunsUnknown uint64 `json:"overruns_unknown"`
	BusyOverruns    uint64 `json:"busy_overruns"` // ticks that took longer than a period
	Trips           uint64 `json:"trips"`         // entries into TRIP
	Gaps            uint64 `json:"seq_gaps"`      // rows missing in what reached the metrics
	Restarts        uint64 `json:"core_restarts"` // changes of the core's incarnation
}

// NewMetrics starts empty.
func NewMetrics(o MetricsOptions) *Metrics {
	return &Metrics{o: o, total: newTiming(), cur: newTiming(), lastSecond: newTiming(), side: newModelTimes(o.Schema)}
}

// Add counts one row. It may be called from one goroutine while others take reports.
func (m *Metrics) Add(r *hil.Row) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.newestHostTime = time.Now()
	if !m.hasRows {
		m.hasRows, m.firstTime, m.edge = true, r.T, r.T
	} else {
		m.follow(r)
	}
	m.newestRow = rowStamp{r.Seq, r.Epoch, r.Mode, r.Flags, r.Cause, r.CauseSignal, r.Value, r.Limit}
	m.ticks++

	// whole seconds: the finished one is kept for the reports, the other is emptied and filled next
	if r.T-m.edge >= second {
		m.rate = float64(m.cur.ticks) / (float64(r.T-m.edge) * 1e-9)
		m.cur, m.lastSecond = m.lastSecond, m.cur
		m.cur.reset()
		for i := range m.side {
			m.side[i].turn()
		}
		m.edge = r.T
	}
	m.cur.add(r)
	warm := r.T-m.firstTime < int64(m.o.WarmUp)
	for i := range m.side {
		m.side[i].add(r, warm)
	}

	for f := r.Flags; f != 0; f &= f - 1 {
		m.flags[trailing(f)]++
	}
	if warm {
		m.warmUpTicks++
		return
	}
	m.total.add(r)
	m.irregular(r)
}

// follow compares a row with the one before.
func (m *Metrics) follow(r *hil.Row) {
	p := m.newestRow
	switch {
	case r.Epoch != p.epoch:
		m.count.Restarts++
	case r.Seq > p.seq+1:
		m.count.Gaps += r.Seq - p.seq - 1
	}
	if r.Mode == hil.Trip && p.mode != hil.Trip {
		m.count.Trips++
	}
}

// irregular counts missed deadlines under the cause the row names.
func (m *Metrics) irregular(r *hil.Row) {
	c := &m.count
	c.Skipped += uint64(r.Skip)
	if r.Flags&hil.FlagCatchUp != 0 {
		c.CatchUp++
	}
	if r.Flags&hil.FlagOverrun != 0 {
		c.BusyOverruns++
	}
	if r.Flags&(hil.FlagLate|hil.FlagSkipped) == 0 {
		return
	}
	switch {
	case r.Flags&hil.FlagLateModel != 0:
		c.OverrunsModel++
	case r.Flags&hil.FlagLateDevice != 0:
		c.OverrunsDevice++
	case r.Flags&hil.FlagLateHost != 0:
		c.OverrunsHost++
	default:
		c.OverrunsUnknown++
	}
}
