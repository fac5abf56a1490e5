//go:build linux && soak

package main

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	cmdidentify "hilrig/cmd/identify"
)

// A real line to a board with a plant of its own, on a pseudo-terminal: J lies in its interval in at least 18 of 20 runs, offline and live.
// Four runs at a time: the boards have the priority of their threads.
func TestSoakIdentifyLines(t *testing.T) {
	const tones = "{kind: multisine, fade: 1 s, tones: [{amplitude: %g, frequency: %g Hz}, {amplitude: %g, frequency: %g Hz}]}"
	const runs, atOnce = 20, 4
	bus := func(name, drive string, channels ...int) boardRig {
		r := newBoardRig(name, drive, "modbus", true, channels...)
		r.reference = fmt.Sprintf(tones, 1.5, 0.2, 0.2, 0.9)
		r.extra = map[string]string{"timeout: 20 ms, late: 20 ms": "timeout: 400 ms, late: 400 ms",
			"selftest_time: 100 ms": "selftest_time: 100 ms, hold_time: 1 s",
			"estimator: {":          "estimator: {rls: {enabled: true, memory: 120 s, window: 1 s, min_velocity: 0.9}, "}
		for _, c := range r.channels { // the patience of a busy machine
			r.extra["- {name: "+boardChannels[c]] = "- {stale: 500 ms, name: " + boardChannels[c]
		}
		return r
	}
	text := newBoardRig("text, current", "current", "text", true, chCurrent)
	text.rate, text.loop, text.reference = 200, 1000, fmt.Sprintf(tones, 3., 0.4, 0.6, 2.3)
	text.extra = map[string]string{"estimator: {": "estimator: {rls: {enabled: true, memory: 120 s, window: 0.2 s, min_velocity: 1.5}, "}
	for _, c := range []struct {
		rig  boardRig
		long time.Duration
	}{
		{bus("bus, current", "current", chCurrent), 40 * time.Second},
		{bus("bus, voltage", "voltage", chCurrent), 40 * time.Second},
		{bus("bus, voltage, applied", "voltage", chCurrent, chApplied), 40 * time.Second},
		{text, 20 * time.Second},
	} {
		t.Run(c.rig.name, func(t *testing.T) {
			var found [2]hits
			tokens, results := make(chan struct{}, atOnce), make(chan [2][3]float64, runs)
			t.Run("runs", func(t *testing.T) {
				for seed := range runs {
					t.Run(fmt.Sprint(seed), func(t *testing.T) {
						t.Parallel()
						tokens <- struct{}{}
						defer func() { <-tokens }()
						results <- identifyLine(t, c.rig, c.long, seed)
					})
				}
			})
			close(results)
			for x := range results {
				for i := range found {
					found[i].add(x[i][0], x[i][1], x[i][2])
				}
			}
			for i, name := range []string{"offline", "live"} {
				h := found[i]
				t.Logf("%s: in %d of %d, at most %.1f errors off, widest error %.2f %%", name, h.in, h.of, h.worst, 100*h.se)
				if h.of < runs || h.in*20 < h.of*18 {
					t.Errorf("%s: J in its interval %d times of %d", name, h.in, h.of)
				}
			}
		})
	}
}

// identifyLine runs a rig for a while: J, its standard error and the truth, offline and live.
func identifyLine(t *testing.T, r boardRig, long time.Duration, seed int) (found [2][3]float64) {
	truth := r.modelled().mass * (1 + 0.05*float64(seed%7-3))
	r.odd = func(p *boardPlant) { p.mass = truth }
	for c := range r.noise {
		r.noise[c] *= 1 + 1e-6*float64(seed) // the runs differ by their times alone
	}
	b := startBoard(t, r)
	d := startRun(t, r.file(t, b.path), "--arm", "--record", t.TempDir())
	d.awaitMode("run")
	time.Sleep(long)
	d.stop()
	out, errs, _ := execute(t, "identify", d.ready.Run, "--json")
	var o cmdidentify.Identification
	if err := json.Unmarshal([]byte(out), &o); err != nil || o.Result == nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	p, _ := o.Result.Param("J")
	ci := o.Result.Interval(p)
	if ci == nil || o.Run == nil || o.Run.LiveEstimate == nil {
		t.Fatalf("no interval, or no live estimate: %s %v", o.Verdict, o.Reasons)
	}
	found[0] = [3]float64{p.Value, (ci[1] - ci[0]) / 2 / 1.96, truth}
	for _, l := range o.Run.LiveEstimate.Parameters {
		if l.Name == "J" {
			found[1] = [3]float64{l.Value, l.StdErr, truth}
		}
	}
	t.Logf("offline %.5g ± %.2g, live %.5g ± %.2g, truth %.5g: %s %v", found[0][0], found[0][1], found[1][0], found[1][1], truth, o.Verdict,
		o.Reasons)
	return found
}
