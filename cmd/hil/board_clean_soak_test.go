//go:build linux && soak

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestSoakCleanRuns drives every example rig and every healthy board beside busy programs: nothing trips. It prints what was said.
func TestSoakCleanRuns(t *testing.T) {
	const example, each, wanted = 45 * time.Second, 12 * time.Second, 20 // of the load; more than ten minutes of examples
	var load float64
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Sscan(string(text), &load)
	}
	for range wanted - int(min(wanted, load)) {
		c := exec.Command("sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	}
	var mu sync.Mutex
	var rows []string
	measured := 0
	t.Cleanup(func() {
		slices.Sort(rows)
		t.Logf("\n%s", strings.Join(rows, "\n"))
		if all := len(boardRigs()) + len(oddRigs()); measured < all/2 && len(rows) >= all {
			t.Errorf("%d of %d boards were measured: the others starved", measured, all)
		}
	})
	tell := func(name, what string) {
		mu.Lock()
		defer mu.Unlock()
		rows = append(rows, fmt.Sprintf("%-40s %s", name, what))
	}
	play := func(d *daemonUnderTest, driven bool, long time.Duration) (what, wrong string) {
		time.Sleep(long)
		said, mode := d.errs.String(), d.state()["mode"]
		var codes []string
		for _, m := range regexp.MustCompile(`code=([A-Z_]+)`).FindAllStringSubmatch(said, -1) {
			if !slices.Contains([]string{"MODE", "CORE_UP", "STOP"}, m[1]) && !slices.Contains(codes, m[1]) {
				codes = append(codes, m[1])
			}
		}
		what = fmt.Sprintf("%v %d holds %v", mode, strings.Count(said, "→ hold"), codes)
		if strings.Contains(said, "→ trip") || driven && mode != "run" {
			wrong = said
			what += " TRIPPED " + strings.Join(regexp.MustCompile(`→ trip.*`).FindAllString(said, -1), "; ")
		}
		d.stop()
		return what, wrong
	}
	files, _ := filepath.Glob("../../configs/*.yaml")
	for _, f := range files {
		if text, _ := os.ReadFile(f); strings.Contains(string(text), "port: virtual") {
			t.Run(filepath.Base(f), func(t *testing.T) {
				t.Parallel()
				what, wrong := play(startRun(t, f, "--no-mqtt", "--no-record"), strings.Contains(string(text), "reference:"), example)
				if tell(filepath.Base(f), what); wrong != "" {
					t.Error(wrong)
				}
			})
		}
	}
	for _, r := range append(boardRigs(), oddRigs()...) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if r.wire != "modbus" { // the patience of the example files
				r.extra = map[string]string{"- {name: angle": "- {stale: 50 ms, name: angle", "- {name: current": "- {stale: 50 ms, name: current",
					"selftest_time: 100 ms": "selftest_time: 100 ms, hold_time: 200 ms"}
				if !r.has(chCurrent) {
					delete(r.extra, "- {name: current")
				}
			}
			for try := 1; ; try++ { // a board that starved is a silent one: the rig trips rightly, and nothing is measured
				c, wrong := tryColumn(t, r)
				what := "never energised"
				if wrong == "" {
					what, wrong = play(c.d, true, each)
				} else {
					c.d.stop()
				}
				late := c.b.watched().late
				starved := wrong != "" && late > 20*time.Millisecond
				if starved && try < 3 {
					continue
				}
				if starved {
					tell(r.name, fmt.Sprintf("not measured: the board was late by %v", late))
					return
				}
				tell(r.name, fmt.Sprintf("%s, the board was late by %v", what, late))
				if wrong != "" {
					t.Error(wrong)
				}
				for _, bad := range c.b.violations() {
					t.Error(bad)
				}
				mu.Lock()
				measured++
				mu.Unlock()
				return
			}
		})
	}
}

// oddRigs are healthy, but not as the file says, or near what a limit tells apart.
func oddRigs() (rigs []boardRig) {
	add := func(name, drive, reference string, odd func(r *boardRig), channels ...int) {
		r := newBoardRig(drive+", "+name, drive, "link", drive != "voltage", channels...)
		r.reference = reference
		odd(&r)
		rigs = append(rigs, r)
	}
	const still, slow, sine = "{kind: constant, offset: 0}", "{kind: sine, amplitude: 0.1 rad, frequency: 0.05 Hz}",
		"{kind: sine, amplitude: 3 rad, frequency: 0.5 Hz}"
	for _, drive := range []string{"voltage", "current", "effort"} {
		channels := map[string][]int{"voltage": {chCurrent}, "current": {chCurrent}}[drive]
		load := func(a float64) func(*boardRig) {
			return func(r *boardRig) { r.odd = func(p *boardPlant) { p.load, p.brake = a, true } }
		}
		add("a weight of 3 Fs, held", drive, still, load(0.06), channels...)
		add("a weight of −3 Fs, moved", drive, sine, load(-0.06), channels...)
		add("a weight of 3 Fs, moved slowly", drive, slow, load(0.06), channels...)
		add("friction of 1.4 times the file's", drive, slow, func(r *boardRig) {
			r.odd = func(p *boardPlant) {
				p.coulomb, p.static = 0.021,
					0.0294
			}
		}, channels...)
		add("counts of 10 mrad, moved slowly", drive, slow, func(r *boardRig) { r.count = 0.01 }, channels...)
	}
	add("counts of 10 mrad, moved slowly", "velocity", slow, func(r *boardRig) { r.count = 0.01 })
	add("counts of 1 mrad, moved slowly", "velocity", slow, func(r *boardRig) { r.count = 0.001 })
	return rigs
}

// watched is what happened since the newest fault began.
func (b *board) watched() boardWatch {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.watch
}
