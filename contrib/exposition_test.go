package contrib

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// The linter of promtool finds nothing in what a scrape gets, and every number of topic health but the quantiles, for which there are
// histograms, is there as soon as it is known.
func testExposition(t *testing.T, d *runningDaemon, health map[string]bool) {
	slips, err := promlint.New(strings.NewReader(d.get("/metrics"))).Lint()
	if err != nil || len(slips) > 0 {
		t.Errorf("%v %v", slips, err)
	}
	var missing []string
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		if missing = missingMetrics(d.get("/metrics"), health); len(missing) == 0 || time.Now().After(end) {
			break
		}
	}
	for _, m := range missing {
		t.Errorf("of health is not among the metrics: %s", m)
	}
}

// missingMetrics are the keys of health that a scrape does not have, with the metric that is wanted.
func missingMetrics(text string, health map[string]bool) (missing []string) {
	quantile := regexp.MustCompile(`^(total_)?(late|busy)_\w+|timestamp|cause|why|flags$`)
	other := map[string]string{"seq_gaps": "hil_missing_rows_total", "rate_hz": "hil_rate_hertz", "skipped": "hil_skipped_ticks_total",
		"catch_up": "hil_catch_up_ticks_total"}
	for key := range health {
		name := other[key]
		switch own := key; {
		case quantile.MatchString(key):
			continue
		case name != "":
		case strings.HasPrefix(key, "flag_"):
			name = `hil_flagged_rows_total{flag="` + key[len("flag_"):] + `"}`
		case strings.HasPrefix(key, "overruns_"):
			name = `hil_overruns_total{cause="` + key[len("overruns_"):] + `"}`
		default:
			if device, rest, found := strings.Cut(key, "."); found {
				own = "device_" + rest
				name = `{device="` + device + `"}`
			}
			for suffix, unit := range map[string]string{"_us": "_seconds", "_ms": "_seconds", "_ppm": "_ratio"} {
				if base, found := strings.CutSuffix(own, suffix); found {
					own = base + unit
				}
			}
			name = `hil_` + own + `(_total)?` + name
		}
		if !regexp.MustCompile(`(?m)^` + strings.NewReplacer("{", `\{`, "}", `\}`).Replace(name) + `[ {]`).MatchString(text) {
			missing = append(missing, key+", as "+name)
		}
	}
	return missing
}
