package sink

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"hilrig/hil"
)

// lateEdges are the edges of the published lateness histogram, µs: counts[i] holds edges[i-1] ≤ lateness < edges[i],
// the first everything below edges[0], the last everything from 10 ms up.
var lateEdges = [...]int64{1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 7000, 10000}

// stale is the silence after which the last second says nothing about now.
const stale = 2 * time.Second

// Health is one report, once a second on the topic `health`.
type Health struct {
	Time          time.Time
	Ticks         uint64
	Rate          float64 // Hz  in the last whole second of loop time; 0 when rows stopped
	Mode          hil.Mode
	Cause         hil.Cause
	CauseText     string    // the cause with signal, value and limit; "" without a schema
	Flags         hil.Flags // of the newest row
	Lateness      Spread    // µs  last second
	BusyTime      Spread    // µs
	LatenessTotal Spread    // µs  since start, without the warm-up
	BusyTimeTotal Spread    // µs
	Counts        Counts
	FlagRows      [32]uint64                 // rows with each flag
	Hist          [len(lateEdges) + 1]uint64 // lateness since start
	Models        []ModelHealth
	Extra         []Field // counters of the line, of the sinks
}

// Field is a further number of a report.
type Field struct {
	Name  string
	Value float64
}

// Health takes a report.
func (m *Metrics) Health() Health {
	h := m.snapshot()
	add := func(name string, v float64) { h.Extra = append(h.Extra, Field{name, v}) }
	if m.o.Link != nil {
		line := m.o.Link()
		for _, name := range slices.Sorted(maps.Keys(line)) {
			add(name, line[name])
		}
	}
	if m.o.Extra != nil {
		m.o.Extra(add)
	}
	return h
}

func (m *Metrics) snapshot() Health {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := Health{Time: time.Now(), Ticks: m.ticks, Mode: m.newestRow.mode, Cause: m.newestRow.cause, Flags: m.newestRow.flags,
		Counts: m.count, FlagRows: m.flags, LatenessTotal: m.total.lateness.spread(), BusyTimeTotal: m.total.busyTime.spread()}
	if m.o.Schema != nil {
		h.CauseText = (&hil.Row{Cause: h.Cause, CauseSignal: m.newestRow.signal, Value: m.newestRow.value,
			Limit: m.newestRow.limit}).CauseText(m.o.Schema)
	}
	nan := math.NaN()
	h.Lateness, h.BusyTime = Spread{nan, nan, nan, nan}, Spread{nan, nan, nan, nan}
	if m.hasRows && h.Time.Sub(m.newestHostTime) < stale {
		h.Rate, h.Lateness, h.BusyTime = m.rate, m.lastSecond.lateness.spread(), m.lastSecond.busyTime.spread()
	}
	for i := range m.side {
		side := m.side[i].health(m.o.Schema.Rate)
		if h.Rate == 0 {
			side.BusyTime, side.Share = h.BusyTime, nan
		}
		h.Models = append(h.Models, side)
	}
	var before uint64
	for i, edge := range lateEdges {
		n := m.total.lateness.countBelow(edge * 1000)
		h.Hist[i], before = n-before, n
	}
	h.Hist[len(lateEdges)] = m.total.lateness.n - before
	return h
}

// AppendJSON writes the report: flat numbers, the mode, and the two arrays late_edges_us and late_counts.
func (h *Health) AppendJSON(b []byte) []byte {
	b = appendSeconds(append(b, `{"timestamp":`...), h.Time.UnixNano())
	b = fmt.Appendf(b, `,"mode":"%s","cause":"%s"`, h.Mode, h.Cause)
	if h.CauseText != "" {
		b = fmt.Appendf(b, `,"why":%s`, quote(h.CauseText))
	}
	b = appendField(b, "ticks", float64(h.Ticks))
	b = appendField(b, "rate_hz", h.Rate)
	b = appendSpread(b, "late", h.Lateness)
	b = appendSpread(b, "busy", h.BusyTime)
	b = appendSpread(b, "total_late", h.LatenessTotal)
	b = appendSpread(b, "total_busy", h.BusyTimeTotal)
	counts, _ := json.Marshal(h.Counts) // whole numbers: cannot fail
	b = append(append(b, ','), bytes.Trim(counts, "{}")...)
	b = appendField(b, "flags", float64(h.Flags))
	for i, n := range h.FlagRows {
		if n > 0 {
			b = appendField(b, "flag_"+flagName(i), float64(n))
		}
	}
	for i := range h.Models {
		b = h.Models[i].append(b)
	}
	for _, f := range h.Extra {
		b = appendField(b, f.Name, f.Value)
	}
	edges, _ := json.Marshal(lateEdges)
	late, _ := json.Marshal(h.Hist)
	return fmt.Appendf(b, `,"late_edges_us":%s,"late_counts":%s}`, edges, late)
}

func appendField(b []byte, name string, v float64) []byte {
	return appendNumber(fmt.Appendf(b, ",%s:", quote(name)), v)
}

func appendSpread(b []byte, name string, s Spread) []byte {
	b = appendField(b, name+"_p50_us", s.P50)
	b = appendField(b, name+"_p99_us", s.P99)
	b = appendField(b, name+"_p999_us", s.P999)
	return appendField(b, name+"_max_us", s.Max)
}

// flagNames are the flags' names in reports, in the order of their bits.
var flagNames = [...]string{"stale", "range", "non_finite", "diverged", "clamped", "slewed", "thermal", "late", "skipped", "catch_up",
	"overrun", "link_down", "sup_lost", "dry_run", "unprivileged", "trip_in", "late_model", "late_device", "late_host", "unexcited",
	"estimator", "locked", "refused", "jump", "command_refused", "command_lost", "not_off", "latched"}

func flagName(bit int) string {
	if bit < len(flagNames) {
		return flagNames[bit]
	}
	return "bit" + strconv.Itoa(bit)
}

func trailing(f hil.Flags) int { return bits.TrailingZeros32(uint32(f)) }

// Summary is the end of a run in numbers, without the warm-up; `hil latency` compares it with cyclictest.
type Summary struct {
	Ticks    uint64         `json:"ticks"`
	WarmUp   uint64         `json:"warm_up_ticks"`
	Seconds  float64        `json:"seconds"` // of loop time
	Rate     float64        `json:"rate_hz"`
	Lateness SummaryTiming  `json:"late"`
	BusyTime SummaryTiming  `json:"busy"`
	Counts                  // missed ticks by cause
	Models   []ModelSummary `json:"models,omitempty"`
}

// SummaryTiming are the quantiles of one duration and its whole histogram.
type SummaryTiming struct {
	Mean     float64  `json:"mean_us"`
	P50      float64  `json:"p50_us"`
	P90      float64  `json:"p90_us"`
	P99      float64  `json:"p99_us"`
	P999     float64  `json:"p999_us"`
	Max      float64  `json:"max_us"`
	Width    float64  `json:"bin_us"`    // width of a bin
	Hist     []uint64 `json:"histogram"` // counts from 0 up, without the empty end
	Overflow uint64   `json:"over"`      // beyond the last bin that could be counted
}

// Summary sums the run up. All quantiles are zero when nothing was counted after the warm-up.
func (m *Metrics) Summary() Summary {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Summary{Ticks: m.total.ticks, WarmUp: m.warmUpTicks, Counts: m.count,
		Lateness: summarise(&m.total.lateness), BusyTime: summarise(&m.total.busyTime)}
	s.Seconds = float64(m.total.lastTime-m.total.firstTime) * 1e-9
	if s.Seconds > 0 {
		s.Rate = float64(s.Ticks-1) / s.Seconds
	}
	for i := range m.side {
		t := &m.side[i]
		if t.total.n > 0 {
			s.Models = append(s.Models, ModelSummary{t.name, summarise(&t.total), t.total.share(1 / m.o.Schema.Rate), t.changes, t.cheaper})
		}
	}
	return s
}

func summarise(h *histogram) SummaryTiming {
	t := SummaryTiming{Width: float64(h.width) * 1e-3, Overflow: h.overflow}
	if h.n == 0 {
		return t
	}
	t.Mean = h.sum / float64(h.n) * 1e-3
	t.P50, t.P90, t.P99, t.P999 = h.quantile(0.5), h.quantile(0.9), h.quantile(0.99), h.quantile(0.999)
	t.Max = float64(h.max) * 1e-3
	end := len(h.bins)
	for end > 0 && h.bins[end-1] == 0 {
		end--
	}
	t.Hist = append([]uint64(nil), h.bins[:end]...)
	return t
}
