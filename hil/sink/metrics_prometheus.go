package sink

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"hilrig/hil"
)

// busyEdges are the edges of the published histogram of busy time, µs.
var busyEdges = [...]int64{1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000}

// prometheusCollector tells Prometheus what the topic `health` tells, in the units and with the names that are usual there: seconds and
// ratios, one metric with a label where `health` has a key for each flag, device and model. A value that is not known is left out.
type prometheusCollector struct {
	metrics *Metrics
	health  func() Health
}

// PrometheusHandler answers a scrape. Each takes a new report of health.
func PrometheusHandler(info *hil.Info, metrics *Metrics, health func() Health) http.Handler {
	registry := prometheus.NewRegistry()
	about := prometheus.NewGauge(prometheus.GaugeOpts{Name: "hil_info", Help: "1; the labels say which program runs beside which rig.",
		ConstLabels: prometheus.Labels{"rig": info.Schema.Rig, "run": info.Run, "version": info.Version, "config_hash": info.ConfigHash}})
	about.Set(1)
	registry.MustRegister(about, prometheusCollector{metrics, health}, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// Describe names nothing beforehand: the metrics depend on devices and models.
func (prometheusCollector) Describe(chan<- *prometheus.Desc) {}

// Collect makes the metrics of one scrape.
func (c prometheusCollector) Collect(to chan<- prometheus.Metric) {
	h := c.health()
	send := func(kind prometheus.ValueType, name, help string, v float64, labels ...string) {
		if v-v == 0 { // finite
			var keys, values []string
			for i := 0; i < len(labels); i += 2 {
				keys, values = append(keys, labels[i]), append(values, labels[i+1])
			}
			to <- prometheus.MustNewConstMetric(prometheus.NewDesc("hil_"+name, help, keys, nil), kind, v, values...)
		}
	}
	gauge := func(name, help string, v float64, labels ...string) {
		send(prometheus.GaugeValue, name, help, v, labels...)
	}
	count := func(name, help string, n uint64, labels ...string) {
		send(prometheus.CounterValue, name+"_total", help, float64(n), labels...)
	}

	gauge("rate_hertz", "Rows in the last whole second; 0 when rows have stopped.", h.Rate)
	for m := hil.Init; m <= hil.Estop; m++ {
		is := 0.0
		if m == h.Mode {
			is = 1
		}
		gauge("mode", "1 for the mode of the rig, 0 for all others.", is, "mode", m.String())
	}
	count("ticks", "Ticks since the start.", h.Ticks)
	var histograms []prometheus.Metric // made under the lock that rows wait for, sent without it
	c.metrics.mu.Lock()
	for _, t := range []struct {
		name, help string
		durations  *histogram
		edges      []int64
	}{
		{"lateness_seconds", "How late ticks woke, since the start.", &c.metrics.total.lateness, lateEdges[:]},
		{"busy_seconds", "How long ticks took, since the start.", &c.metrics.total.busyTime, busyEdges[:]},
	} {
		buckets := map[float64]uint64{}
		for _, edge := range t.edges {
			buckets[float64(edge)/1e6] = t.durations.countBelow(edge * 1000)
		}
		histograms = append(histograms, prometheus.MustNewConstHistogram(prometheus.NewDesc("hil_"+t.name, t.help, nil, nil), t.durations.n,
			t.durations.sum*1e-9, buckets))
	}
	c.metrics.mu.Unlock()
	for _, m := range histograms {
		to <- m
	}
	n := &h.Counts
	count("skipped_ticks", "Ticks that never ran.", n.Skipped)
	count("catch_up_ticks", "Ticks that ran at once after a miss.", n.CatchUp)
	count("busy_overruns", "Ticks that took longer than a period.", n.BusyOverruns)
	for _, o := range []struct {
		cause string
		n     uint64
	}{{"model", n.OverrunsModel}, {"device", n.OverrunsDevice}, {"host", n.OverrunsHost}, {"unknown", n.OverrunsUnknown}} {
		count("overruns", "Late ticks, and ticks after skipped ones, by cause.", o.n, "cause", o.cause)
	}
	count("trips", "Trips of the safety guard.", n.Trips)
	count("missing_rows", "Rows that did not reach the metrics.", n.Gaps)
	count("core_restarts", "Times that the real-time core was started anew.", n.Restarts)
	for i, n := range h.FlagRows {
		if n > 0 {
			count("flagged_rows", "Rows with a flag.", n, "flag", flagName(i))
		}
	}
	for _, m := range h.Models {
		gauge("model_busy_p99_seconds", "What a step of the model took in the last second, 99th percentile.", m.BusyTime.P99*1e-6, "model",
			m.Name)
		gauge("model_share_ratio", "Share of the period that steps of the model took, last second.", m.Share, "model", m.Name)
		gauge("model_level", "How the newest step was done: 0 in full, higher is cheaper.", m.Level, "model", m.Name)
		count("model_level_changes", "Changes of the level.", m.Changes, "model", m.Name)
		count("model_cheaper_rows", "Rows at another level than 0.", m.Cheaper, "model", m.Name)
	}

	// what else `health` has: <key>, or <device>.<key>
	for _, f := range h.Extra {
		key, labels := f.Name, []string(nil)
		if device, own, found := strings.Cut(f.Name, "."); found {
			key, labels = "device_"+own, []string{"device", device}
		}
		kind, name, value := prometheusUnit(key, f.Value)
		send(kind, name, "Key "+strconv.Quote(strings.TrimPrefix(key, "device_"))+" of the topic health.", value, labels...)
	}
}

// prometheusUnit tells what kind of metric a key of `health` is: a duration, a ratio and a state go up and down, all others count.
func prometheusUnit(key string, v float64) (kind prometheus.ValueType, name string, value float64) {
	for _, u := range []struct {
		suffix, unit string
		scale        float64
	}{{"_us", "_seconds", 1e-6}, {"_ms", "_seconds", 1e-3}, {"_ppm", "_ratio", 1e-6}, {"_heap_bytes", "_heap_bytes", 1},
		{"_connected", "_connected", 1}} {
		if base, found := strings.CutSuffix(key, u.suffix); found {
			return prometheus.GaugeValue, base + u.unit, v * u.scale
		}
	}
	return prometheus.CounterValue, key + "_total", v
}
