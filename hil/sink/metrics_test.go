package sink

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hilrig/engine"
	"hilrig/hil"
)

// Quantiles from bins agree with quantiles of the sorted values to one bin, from above, and the maximum is exact.
func TestQuantilesAgreeWithSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	h := newHistogram(lateWidth, lateBins)
	var all []int64
	for range 5000 {
		v := int64(math.Exp(rng.NormFloat64()*1.2) * 20_000) // log-normal about 20 µs
		all = append(all, v)
		h.add(v)
	}
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999, 1} {
		want := float64(all[int(math.Ceil(q*float64(len(all))))-1]) * 1e-3
		if got := h.quantile(q); got < want || got > want+1 {
			t.Errorf("quantile %g: %g µs, sorted %g µs", q, got, want)
		}
	}
	if want := float64(all[len(all)-1]) * 1e-3; h.spread().Max != want {
		t.Errorf("maximum %g, want %g", h.spread().Max, want)
	}
}

func TestHistogramEnds(t *testing.T) {
	h := newHistogram(lateWidth, lateBins)
	if s := h.spread(); !math.IsNaN(s.P50) || !math.IsNaN(s.Max) {
		t.Errorf("empty: %+v", s)
	}
	h.add(-5) // a wake-up before the deadline counts as on time
	h.add(lateWidth * lateBins)
	if h.bins[0] != 1 || h.overflow != 1 || h.quantile(1) != 20000 {
		t.Errorf("bin 0 %d, over %d, q1 %g", h.bins[0], h.overflow, h.quantile(1))
	}
}

func TestMetricsCountByCause(t *testing.T) {
	m := NewMetrics(MetricsOptions{Link: func() map[string]float64 { return map[string]float64{"link_crc": 7, "link_age_ms": math.Inf(1)} }})
	rows := []hil.Row{
		{Flags: hil.FlagLate | hil.FlagLateModel},
		{Flags: hil.FlagSkipped | hil.FlagLateDevice, Skip: 3},
		{Flags: hil.FlagLate | hil.FlagLateHost},
		{Flags: hil.FlagLate | hil.FlagCatchUp},
		{Flags: hil.FlagOverrun},
		{Flags: hil.FlagStale, Mode: hil.Trip},
		{Flags: hil.FlagStale, Mode: hil.Trip},
	}
	for i := range rows {
		rows[i].Seq, rows[i].T = uint64(i+1), int64(i)*1e6
		if i >= 3 {
			rows[i].Seq += 2 // two rows are missing
		}
		m.Add(&rows[i])
	}
	h := m.Health()
	want := Counts{Skipped: 3, CatchUp: 1, OverrunsModel: 1, OverrunsDevice: 1, OverrunsHost: 1, OverrunsUnknown: 1, BusyOverruns: 1,
		Trips: 1, Gaps: 2}
	if h.Counts != want {
		t.Errorf("%+v\nwant %+v", h.Counts, want)
	}
	var j map[string]any
	decode(t, h.AppendJSON(nil), &j)
	if j["flag_stale"] != 2.0 || j["link_crc"] != 7.0 || j["link_age_ms"] != nil || j["mode"] != "trip" || j["overruns_host"] != 1.0 {
		t.Errorf("%v", j)
	}
	if _, there := j["why"]; there {
		t.Errorf("why without a schema: %v", j["why"])
	}
	schema := testSchema()
	m = NewMetrics(MetricsOptions{Schema: &schema})
	m.Add(&hil.Row{Seq: 1, Mode: hil.Trip, Cause: hil.CauseStale, CauseSignal: 2, Value: 0.03, Limit: 0.02})
	h = m.Health()
	decode(t, h.AppendJSON(nil), &j)
	if j["why"] != "stale sensor drive.motor.current: 0.03 s, limit 0.02 s" || j["cause"] != "stale sensor" {
		t.Errorf("why %q, cause %q", j["why"], j["cause"])
	}
	if len(j["late_counts"].([]any)) != len(j["late_edges_us"].([]any))+1 {
		t.Error("one count more than edges is wanted")
	}
	for k, v := range j { // flat, but for the two arrays
		if _, isMap := v.(map[string]any); isMap {
			t.Errorf("%s is an object", k)
		}
	}
}

// The last second stands for itself; the total leaves the warm-up out.
func TestMetricsWindows(t *testing.T) {
	m := NewMetrics(MetricsOptions{WarmUp: 500 * time.Millisecond})
	for i := range 2501 {
		r := hil.Row{Seq: uint64(i + 1), T: int64(i) * 1e6, Lateness: 10_000, BusyTime: 2000}
		switch {
		case i < 500:
			r.Lateness = 5_000_000
		case i >= 1000:
			r.Lateness = 100_000
		}
		m.Add(&r)
	}
	h := m.Health()
	if h.Rate != 1000 || h.Lateness.P50 != 100 || h.Lateness.Max != 100 {
		t.Errorf("last second: %g Hz, late %+v", h.Rate, h.Lateness)
	}
	if h.LatenessTotal.Max != 100 || h.Ticks != 2501 {
		t.Errorf("since start: %+v, %d ticks", h.LatenessTotal, h.Ticks)
	}
	var sum, at100 uint64
	for i, n := range h.Hist {
		sum += n
		if i > 0 && lateEdges[i-1] == 100 {
			at100 = n
		}
	}
	if sum != 2001 || at100 != 1501 {
		t.Errorf("histogram: %d rows, %d at 100 µs", sum, at100)
	}

	s := m.Summary()
	if s.WarmUp != 500 || s.Ticks != 2001 || math.Abs(s.Rate-1000) > 1e-9 || s.Lateness.P50 != 100 || s.BusyTime.P50 != 2 {
		t.Errorf("%+v", s)
	}
	if len(s.Lateness.Hist) != 101 || s.Lateness.Hist[10] != 500 || s.Lateness.Hist[100] != 1501 {
		t.Errorf("histogram of %d bins", len(s.Lateness.Hist))
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
	if _, err := json.Marshal(NewMetrics(MetricsOptions{}).Summary()); err != nil {
		t.Errorf("empty summary: %v", err)
	}
}

// Every model beside the rig has its times, its share of the period, and its levels.
func TestMetricsOfModels(t *testing.T) {
	schema := sideSchema()
	m := NewMetrics(MetricsOptions{Schema: &schema, WarmUp: 500 * time.Millisecond})
	for i := range 2501 {
		r := hil.Row{Seq: uint64(i + 1), T: int64(i) * 1e6}
		r.X[1], r.X[2] = 3e-6, 0   // one
		r.X[4], r.X[5] = 100e-6, 0 // other
		if i >= 2000 && i < 2010 {
			r.X[4], r.X[5] = 20e-6, 1
		}
		if i < 400 {
			r.X[4] = 1e-3
		}
		m.Add(&r)
	}
	var j map[string]any
	h := m.Health()
	decode(t, h.AppendJSON(nil), &j)
	for key, want := range map[string]float64{"one.busy_p50_us": 3, "one.busy_max_us": 3, "one.share": 0.003, "one.level": 0,
		"one.level_changes": 0, "one.cheaper_rows": 0,
		"other.busy_p50_us": 100, "other.busy_p99_us": 100, "other.share": 0.1, "other.level": 0, "other.level_changes": 2,
		"other.cheaper_rows": 10} {
		if got, ok := j[key].(float64); !ok || math.Abs(got-want) > 0.05+1e-12 || want < 1 && math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %g", key, j[key], want)
		}
	}
	s := m.Summary()
	// 1991 rows of 100 µs and 10 of 20 µs after the warm-up
	if len(s.Models) != 2 || s.Models[1].Name != "other" || s.Models[1].BusyTime.Max != 100 ||
		math.Abs(s.Models[1].Share-(1991*0.1+10*0.02)/2001) > 1e-9 || s.Models[1].Changes != 2 {
		t.Errorf("%+v", s.Models)
	}
	// a rig that says nothing any more
	m.newestHostTime = time.Now().Add(-time.Minute)
	h = m.Health()
	decode(t, h.AppendJSON(nil), &j)
	if v, there := j["other.busy_p50_us"]; !there || v != nil || j["other.share"] != nil || j["other.level_changes"] != 2.0 {
		t.Errorf("silent: %v, %v", v, j["other.share"])
	}
}

// sideSchema is a rig with two models beside it.
func sideSchema() hil.Schema {
	s := hil.Schema{Rate: 1000, Meas: hil.Of("drive", engine.Signal{Name: "angle", Unit: "rad"})}
	for _, name := range []string{"one", "other"} {
		of := hil.Of(name, engine.Signal{Name: "busy", Unit: "s"}, engine.Signal{Name: "level"}, engine.Signal{Name: "best"})
		of[0].Role, of[1].Role, of[0].Range = hil.RoleBusy, hil.RoleLevel, [2]float64{0, 150e-6}
		s.Model = append(s.Model, of...)
	}
	return s
}

func TestMetricsAllocateNothing(t *testing.T) {
	schema := sideSchema()
	m := NewMetrics(MetricsOptions{Schema: &schema})
	r := hil.Row{Lateness: 12_345, BusyTime: 3456, Flags: hil.FlagLate | hil.FlagClamped}
	if n := testing.AllocsPerRun(3000, func() { r.Seq++; r.T += 1e6; m.Add(&r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkMetricsAdd(b *testing.B) {
	m := NewMetrics(MetricsOptions{})
	r := hil.Row{Lateness: 12_345, BusyTime: 3456}
	b.ReportAllocs()
	for b.Loop() {
		r.Seq++
		r.T += 1e6
		m.Add(&r)
	}
}
