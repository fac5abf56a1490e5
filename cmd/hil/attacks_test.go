//go:build linux && soak

package main

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"hilrig/hil/rt"
)

// TestSoakBoardAttacks plays rarer faults than TestDaemonBoardFaults, with watches as wide as a file can reasonably make them, so that the
// first to act is not the age of a sample, and without declared limits.
func TestSoakBoardAttacks(t *testing.T) {
	quant := func(step float64) func(*boardSample) {
		return func(s *boardSample) { s.angle = math.Floor(s.angle/step) * step }
	}
	var t0 int64 // the board's clock when the fault began
	since := func(do func(s *boardSample, since int64)) func(*boardSample) {
		return func(s *boardSample) {
			if t0 == 0 {
				t0 = s.clock
			}
			do(s, s.clock-t0)
		}
	}
	const rides = "runs on"
	const signs = "wrong direction, frozen position, frozen current, readings disagree, wrong scale" // whichever the phase of the motion shows first
	attacks := []struct {
		name string
		f    boardFault
		want string // causes, one of which is named, or that it runs on
		told string // in the log, if it runs on
	}{
		{"time at twice the rate", boardFault{shape: since(func(s *boardSample, d int64) { s.clock += d })}, rides, "CLOCK"},
		{"time at half the rate", boardFault{shape: since(func(s *boardSample, d int64) { s.clock -= d / 2 })}, "stale sensor", ""},
		{"time stands still", boardFault{shape: since(func(s *boardSample, d int64) { s.clock = t0 })}, "stale sensor", ""},
		{"position in steps of 50 mrad", boardFault{shape: quant(0.05)}, signs + ", estimate", ""},
		{"position in steps of 0.5 rad", boardFault{shape: quant(0.5)}, signs + ", position jump, stale sensor, estimate", ""},
		{"position wraps at 1 rad", boardFault{shape: func(s *boardSample) { s.angle = math.Mod(s.angle, 1) }}, "position jump", ""},
		{"position wraps at 6.55 rad", boardFault{shape: func(s *boardSample) { s.angle = math.Mod(s.angle+40, 6.5536) }}, signs + ", position jump", ""},
		{"position halved", boardFault{shape: func(s *boardSample) { s.angle /= 2 }}, "position jump", ""},
		{"position doubled", boardFault{shape: func(s *boardSample) { s.angle *= 2 }}, "position jump", ""},
		{"position with noise of 20 mrad", boardFault{shape: func(s *boardSample) { s.angle += 0.02 * math.Sin(float64(s.clock%977777)) }}, "estimate", ""},
		{"values frozen, clock runs", boardFault{stuckAngle: true, shape: func(s *boardSample) { s.amps = 0.3 }}, signs, ""},
		{"current stuck at zero", boardFault{shape: func(s *boardSample) { s.amps = 0 }}, "frozen current", ""},
		{"current stuck at 1 A", boardFault{shape: func(s *boardSample) { s.amps = 1 }}, signs, ""},
		{"current a tenth", boardFault{shape: func(s *boardSample) { s.amps /= 10 }}, rides, ""},
		{"current tenfold", boardFault{shape: func(s *boardSample) { s.amps *= 10 }}, signs + ", blocked shaft, model residual, " + rides, ""}, // tenfold is the effort, and what friction does not explain of it
		{"frames in the wrong order", boardFault{swap: true}, rides, ""},
		{"each frame three times", boardFault{thrice: true}, rides, ""},
		{"30 ms late every second", boardFault{kept: 30 * time.Millisecond, every: time.Second}, rides, ""},
		{"80 ms late every second", boardFault{kept: 80 * time.Millisecond, every: time.Second}, rides, ""},
		{"random bytes", boardFault{noise: 0.5}, rides, ""},
		{"echo", boardFault{echo: true}, rides, ""},
		{"does not read", boardFault{deaf: true}, signs, ""},
		{"board begins anew", boardFault{reboot: true}, "link down", ""},
		{"drive holds its last voltage", boardFault{drive: func() func(float64) float64 {
			var held float64
			return func(u float64) float64 {
				if held == 0 {
					held = u
				}
				return held
			}
		}()}, signs, ""},
		{"drive at full voltage", boardFault{drive: func(u float64) float64 { return 24 }}, signs, ""},
		{"drive does nothing", boardFault{drive: func(u float64) float64 { return 0 }}, signs, ""},
		{"drive of 3 V", boardFault{drive: func(u float64) float64 { return max(-3, min(3, u)) }}, rides, ""},
		{"drive turned in motion", boardFault{drive: func(u float64) float64 { return -u }}, signs, ""},
		{"commands 30 ms late", boardFault{slow: 30 * time.Millisecond}, signs + ", " + rides, ""},
	}
	b := startBoard(t, false)
	file := b.file(t, false)
	text, _ := os.ReadFile(file)
	os.WriteFile(file, []byte(strings.NewReplacer("{name: motor.angle", "{stale: 200 ms, name: motor.angle", "{name: motor.current", "{stale: 200 ms, name: motor.current", "selftest_time: 100 ms", "selftest_time: 100 ms, hold_time: 500 ms").Replace(string(text))), 0o644)
	d := startRun(t, file, "--arm", "--no-mqtt", "--no-record")
	if _, ok := b.await(true, 10*time.Second); !ok {
		t.Fatal("never energised")
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			for try := 1; ; try++ {
				b.drive(t, d)
				said := len(d.errs.String())
				b.mu.Lock()
				t0, b.top, b.away = 0, 0, 0
				b.mu.Unlock()
				for strings.HasPrefix(a.name, "position ") && b.near(0.5) { // another scale shows where the position is not zero
					time.Sleep(time.Millisecond)
				}
				start := rt.Now()
				b.fail(a.f)
				for end := time.Now().Add(4 * time.Second); time.Now().Before(end) && !tripText.MatchString(d.errs.String()[said:]); time.Sleep(2 * time.Millisecond) {
				}
				took := time.Duration(rt.Now() - start).Milliseconds()
				b.mu.Lock()
				top, away := b.top, time.Duration(b.away)
				b.mu.Unlock()
				b.fail(boardFault{})
				m := tripText.FindStringSubmatch(d.errs.String()[said:])
				outcome := rides
				if m != nil {
					outcome = m[1]
				}
				ok := containsOne(outcome, strings.Split(a.want, ", ")) && (m != nil || strings.Contains(d.errs.String()[said:], a.told))
				t.Logf("| %-30s | %4d ms, %s | %.1f rad/s | board late by %v", a.name, took, outcome, top, away.Round(time.Millisecond))
				time.Sleep(700 * time.Millisecond)
				if ok {
					break
				}
				if away < 10*time.Millisecond {
					t.Errorf("%s: %s, want %q\n%s", a.name, outcome, a.want, d.errs.String()[said:])
					break
				}
				if try == 5 { // a gap of its own lets a position jump as far as an axis can go in it
					t.Log("not measured: the board starved")
					break
				}
			}
		})
	}
	d.stop()
}

// near tells whether the shaft is within a of zero (rad).
func (b *board) near(a float64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return math.Abs(b.theta) < a
}
