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

// slowBoards are devices of so many samples a second (Hz), the ones of the ordinary run first.
func slowBoards(rate float64) []struct {
	name  string
	board slowBoard
} {
	turn := min(2e-3, 0.25/rate)
	return []struct {
		name  string
		board slowBoard
	}{
		{"link, commands as they come", slowBoard{takes: 0.4e-3, way: 0.3e-3, tremble: 0.05e-3, clocked: true}},
		{"a bus, a write a turn", slowBoard{takes: 0.6, once: true, way: 1e-3, tremble: 0.1e-3}},
		{"Modbus", slowBoard{turn: turn, hiccup: min(9e-3, 0.45/rate), way: 0.6 * turn, tremble: 0.1 * turn, paced: true}},
		{"link, a command a sample", slowBoard{takes: 0.02, once: true, way: 0.3e-3, tremble: 0.05e-3, clocked: true}},
		{"text, commands as they come", slowBoard{takes: 1.2e-3, way: 2e-3, tremble: 0.2e-3}},
		{"text, a command a sample", slowBoard{takes: 0.02, once: true, way: 2e-3, tremble: 0.2e-3}},
		{"link, its voltage told, commands as they come", slowBoard{takes: 0.4e-3, way: 0.3e-3, tremble: 0.05e-3, clocked: true, applied: true}},
		{"link, its voltage told, a command a sample", slowBoard{takes: 0.02, once: true, way: 0.3e-3, tremble: 0.05e-3, clocked: true,
			applied: true}},
		{"text, its voltage told, a command a sample", slowBoard{takes: 0.02, once: true, way: 2e-3, tremble: 0.2e-3, applied: true}},
	}
}

// slowDrive is a drive of such a board.
type slowDrive struct {
	name string
	kind plant.DriveKind
	lag  float64
}

var slowDrives = []slowDrive{{"voltage", plant.VoltageDrive, 0}, {"current", plant.CurrentDrive, 0.4e-3},
	{"torque", plant.EffortDrive, 1.5e-3}}

// with is the board with a drive, its rate (Hz) and a load of its own for every seed.
func (b slowBoard) with(drive slowDrive, rate float64, seed uint64) slowBoard {
	b.motor = motorTruth{R: 1.2, L: 0.6e-3, K: 0.042, J: 7e-5, Sigma0: 11, Sigma1: 0.02, Fv: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5}
	b.motor.J *= 1 + 0.1*float64(seed%7)
	b.rate, b.drive, b.lag = rate, drive.kind, drive.lag
	return b
}

// The live least squares of the same devices: inertia and friction lie in their intervals as often as these say, and the intervals are no
// wider than they need be.
func TestSlowDevicesLive(t *testing.T) {
	t.Parallel()
	rates, seeds := []float64{50}, 1
	if soak {
		rates, seeds = []float64{50, 200, 500, 1000}, 20
	}
	names := []string{"J", "Fv", "Fc"}
	all, squares := make([]hits, len(names)), make([]float64, len(names))
	for _, rate := range rates {
		for i, c := range slowBoards(rate) {
			for j, drive := range slowDrives {
				if c.board.applied && drive.kind != plant.VoltageDrive || !soak && !c.board.applied && j != i%len(slowDrives) {
					continue
				}
				cell, square := make([]hits, len(names)), make([]float64, len(names))
				for seed := range seeds {
					b := c.board.with(drive, rate, uint64(seed))
					if !soak {
						b = c.board.with(drive, rate, uint64(3*i+j))
					}
					_, _, live := b.play(t, 25, uint64(3*i+j+100*seed))
					for k, truth := range []float64{b.motor.J, b.motor.Fv, b.motor.Fc} {
						v := live[names[k]]
						off := cell[k].add(v[0], v[1], truth)
						all[k].add(v[0], v[1], truth)
						square[k], squares[k] = square[k]+off*off, squares[k]+off*off
					}
				}
				line := fmt.Sprintf("%4g Hz, %s, %s:", rate, c.name, drive.name)
				for k, h := range cell {
					line += fmt.Sprintf("  %s %d of %d (%.2f), %.1f %%", names[k], h.in, h.of, math.Sqrt(square[k]/float64(h.of)), 100*h.se)
				}
				t.Log(line)
				if h := cell[0]; h.of >= 20 && h.in*20 < h.of*16 || h.worst > 5 {
					t.Errorf("%g Hz, %s, %s: J in its interval %d times of %d, at most %.1f errors off", rate, c.name, drive.name, h.in, h.of, h.worst)
				}
			}
		}
	}
	for k, h := range all {
		rms := math.Sqrt(squares[k] / float64(h.of))
		t.Logf("%s: in %d of %d, rms %.2f errors", names[k], h.in, h.of, rms)
		if h.in*100 < h.of*85 || rms < 0.5 || rms > 1.4 || h.of > 400 && (h.in*100 < h.of*93 || rms < 0.8 || rms > 1.2) {
			t.Errorf("%s: in its interval %d times of %d, %.2f errors off in the mean", names[k], h.in, h.of, rms)
		}
	}
}

// Devices that are slower than the loop, on every drive, whose drives take every command or one a sample: the inertia lies in its
// interval, whatever finds it, offline and live.
func TestIdentifySlowDevices(t *testing.T) {
	t.Parallel()
	boards, drives := slowBoards(200), slowDrives
	methods := []cmdidentify.RunOptions{{}, {Law: "lugre", Methods: identify.Chain{"lm"}},
		{Law: "lugre", Methods: identify.Chain{"lugre", "kalman"}, TailDuration: 20}} // the last as beside the loop
	rates, seeds, seconds := []float64{200}, 1, 14.0
	if soak {
		rates, seeds, seconds = []float64{50, 200, 500, 1000}, 20, 25
	} else {
		boards, drives, methods = boards[:3], drives[:2], methods[:1]
	}
	for _, rate := range rates {
		if soak {
			boards = slowBoards(rate)
		}
		for _, c := range boards {
			for _, drive := range drives {
				if c.board.applied && drive.kind != plant.VoltageDrive {
					continue
				}
				t.Run(fmt.Sprintf("%g Hz, %s, %s", rate, c.name, drive.name), func(t *testing.T) {
					found := make([]hits, len(methods)+1)
					for seed := range uint64(seeds) {
						b := c.board.with(drive, rate, seed)
						run, live := b.record(t, seconds, seed)
						t.Logf("live: J %.5g ± %.2g, truth %.5g, %.1f", live["J"][0], live["J"][1], b.motor.J,
							found[len(methods)].add(live["J"][0], live["J"][1], b.motor.J))
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
							t.Logf("%v: J %.5g ± %.2g, truth %.5g, %.1f; %s, %s; %s", cfg.Method, p.Value, se, b.motor.J, off, r.Verdict, p.IntervalSource,
								own.IntersampleText())
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
