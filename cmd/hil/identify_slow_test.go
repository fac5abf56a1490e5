package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"testing"

	cmdidentify "hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/engine/plant"
	"hilrig/identify"
)

// hits counts how often a value lies in its 95 % interval.
type hits struct {
	in, of    int
	worst, se float64 // errors off, and the widest standard error as a share of the value
}

func (h *hits) add(v, se, truth float64) (off float64) {
	off = (v - truth) / se
	if h.of++; math.Abs(off) <= 1.96 {
		h.in++
	}
	h.worst, h.se = max(h.worst, math.Abs(off)), max(h.se, se/truth)
	return off
}

// sound tells whether at least 18 of 20 are in; of fewer, that none is more than three errors off.
func (h *hits) sound() bool {
	return h.of >= 20 && h.in*20 >= h.of*18 || h.of < 20 && h.worst <= 3
}

// Devices that are slower than the loop, on every drive, whose drives take every command or one a sample: the inertia lies in its
// interval, whatever finds it, offline and live.
func TestIdentifySlowDevices(t *testing.T) {
	t.Parallel()
	motor := motorTruth{R: 1.2, L: 0.6e-3, K: 0.042, J: 7e-5, Sigma0: 11, Sigma1: 0.02, Fv: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5}
	boards := []struct {
		name  string
		board slowBoard
	}{
		{"link, commands as they come", slowBoard{takes: 0.4e-3, way: 0.3e-3, tremble: 0.05e-3, clocked: true}},
		{"a bus, a write a turn", slowBoard{takes: 0.6, once: true, way: 1e-3, tremble: 0.1e-3}},
		{"Modbus", slowBoard{turn: 2e-3, hiccup: 9e-3, way: 1.2e-3, tremble: 0.2e-3, paced: true}},
		{"link, a command a sample", slowBoard{takes: 0.02, once: true, way: 0.3e-3, tremble: 0.05e-3, clocked: true}},
		{"text, commands as they come", slowBoard{takes: 1.2e-3, way: 2e-3, tremble: 0.2e-3}},
		{"text, a command a sample", slowBoard{takes: 0.02, once: true, way: 2e-3, tremble: 0.2e-3}},
		{"link, its voltage told, commands as they come", slowBoard{takes: 0.4e-3, way: 0.3e-3, tremble: 0.05e-3, clocked: true, applied: true}},
		{"text, its voltage told, a command a sample", slowBoard{takes: 0.02, once: true, way: 2e-3, tremble: 0.2e-3, applied: true}},
	}
	drives := []struct {
		name string
		kind plant.DriveKind
		lag  float64
	}{{"voltage", plant.VoltageDrive, 0}, {"current", plant.CurrentDrive, 0.4e-3}, {"torque", plant.EffortDrive, 1.5e-3}}
	methods := []cmdidentify.RunOptions{{}, {Law: "lugre", Methods: identify.Chain{"lm"}}}
	rates, seeds, seconds := []float64{200}, 1, 14.0
	if soak {
		rates, seeds, seconds = []float64{50, 200, 500, 1000}, 20, 25
	} else {
		boards, drives, methods = boards[:3], drives[:2], methods[:1]
	}
	for _, rate := range rates {
		for _, c := range boards {
			for _, drive := range drives {
				if c.board.applied && drive.kind != plant.VoltageDrive {
					continue
				}
				t.Run(fmt.Sprintf("%g Hz, %s, %s", rate, c.name, drive.name), func(t *testing.T) {
					found := make([]hits, len(methods)+1)
					for seed := range uint64(seeds) {
						b := c.board // its plant, firmware and sensors
						b.motor, b.rate, b.drive, b.lag = motor, rate, drive.kind, drive.lag
						b.motor.J *= 1 + 0.1*float64(seed%7)
						run, live := b.record(t, seconds, seed)
						t.Logf("live: J %.5g ± %.2g, truth %.5g, %.1f", live["J"][0], live["J"][1], b.motor.J, found[len(methods)].add(live["J"][0], live["J"][1], b.motor.J))
						for i, o := range methods {
							cfg, recs, own, err := cmdidentify.PlanRun(context.Background(), run, o, report.NewProgress(io.Discard))
							if err != nil {
								t.Fatal(err)
							}
							r, err := identify.Run(context.Background(), cmdidentify.PlanOf(cfg, 0), own.Records(recs), nil, nil)
							if err != nil {
								t.Fatal(err)
							}
							p, _ := r.Param("J")
							ci := r.Interval(p)
							if ci == nil {
								t.Errorf("%v: no interval of J: %s", cfg.Method, r.Verdict)
								continue
							}
							se := (ci[1] - ci[0]) / 2 / 1.96
							off := found[i].add(p.Value, se, b.motor.J)
							t.Logf("%v: J %.5g ± %.2g, truth %.5g, %.1f; %s, %s; %s", cfg.Method, p.Value, se, b.motor.J, off, r.Verdict, p.From, own.Between())
						}
					}
					for i, h := range found {
						name := "live least squares"
						if i < len(methods) {
							name = fmt.Sprintf("%v %s", methods[i].Methods, methods[i].Law)
						}
						t.Logf("in %d of %d, at most %.1f errors off, widest error %.2f %%: %s", h.in, h.of, h.worst, 100*h.se, name)
						if !h.sound() {
							t.Errorf("%s: J in its interval %d times of %d, at most %.1f errors off", name, h.in, h.of, h.worst)
						}
					}
				})
			}
		}
	}
}
