//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const inMotion = 500 * time.Millisecond // from RUN to the fault

var tripText = regexp.MustCompile(`mode (?:run|hold|armed) → trip \((.*?)[;)]`)

// boardOutcome is what came of a fault.
type boardOutcome struct {
	boardWatch
	tripped bool
	cause   string   // of the trip
	events  []string // codes, other than of modes and starts
	said    string   // the log since the fault
	broken  string   // what must not be, whatever the fault
	silent  bool     // the words that belong to the fault were not told
	starved bool
}

func (o *boardOutcome) String() string {
	found := o.cause
	switch {
	case !o.tripped && o.energised == 0:
		found = "not driven"
	case !o.tripped:
		found = "runs on"
	}
	if len(o.events) > 0 {
		found += " [" + strings.Join(o.events, " ") + "]"
	}
	text := fmt.Sprintf("%d ms, %.3g, %s", o.energised.Milliseconds(), o.way, found)
	if o.broken != "" {
		text += " BROKEN: " + o.broken
	}
	if o.starved {
		text += " (starved)"
	}
	return text
}

// boardColumn is a daemon that drives a board.
type boardColumn struct {
	t    *testing.T // of the fault that is played
	home *testing.T // of the daemon
	rig  boardRig
	file string
	b    *board
	d    *daemonUnderTest

	unanswered bool // a question or an order, in this play: the machine is too busy
}

func startColumn(t *testing.T, r boardRig) *boardColumn {
	c, wrong := tryColumn(t, r)
	if wrong != "" {
		t.Fatal(wrong)
	}
	return c
}

// tryColumn starts the daemon and says what is wrong if the drive is not energised within 20 s.
func tryColumn(t *testing.T, r boardRig) (c *boardColumn, wrong string) {
	c = &boardColumn{t: t, home: t, rig: r, b: startBoard(t, r)}
	c.file = r.file(t, c.b.path)
	c.d = startRun(c.home, c.file, "--arm", "--no-mqtt", "--no-record")
	if !c.b.await(true, 20*time.Second) {
		text, _ := os.ReadFile(c.file)
		wrong = fmt.Sprintf("never energised: %v\n%s\n%s", c.d.state(), c.d.errs, text)
	}
	return c, wrong
}

// reach orders what leads to the mode, from wherever the daemon is.
func (c *boardColumn) reach(mode string, within time.Duration) bool {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		switch is := c.mode(); {
		case is == mode:
			return true
		case is == "trip" || is == "estop":
			c.order("reset")
			time.Sleep(20 * time.Millisecond)
		case is == "ready":
			c.order("arm")
		case is == "armed" || is == "hold":
			c.order("run")
		case is == "run":
			c.order("stop")
		}
	}
	return false
}

// energise brings the daemon to RUN, and the axis into motion.
func (c *boardColumn) energise(settle time.Duration) bool {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if c.reach("run", 5*time.Second) && c.b.await(true, time.Second) {
			time.Sleep(settle)
			if c.mode() == "run" {
				return true
			}
		}
		c.rest(0) // a trip on the way may have let it coast out of its travel
	}
	return false
}

var lastID struct {
	sync.Mutex
	n int
}

func uniqueID() string {
	lastID.Lock()
	defer lastID.Unlock()
	lastID.n++
	return fmt.Sprint("b", lastID.n)
}

// request is what the daemon answers; nil: a connection broke, as on a machine that is too busy. A daemon that has ended has failed.
func (c *boardColumn) request(method, path, body string) (m map[string]any) {
	req, _ := http.NewRequest(method, c.d.ready.Page+path, strings.NewReader(body))
	req.Header.Set("X-Hil", "1")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		defer resp.Body.Close()
		err = json.NewDecoder(resp.Body).Decode(&m)
	}
	if err == nil {
		return m
	}
	select {
	case <-c.d.done:
		c.t.Fatalf("the daemon ended: %v\n%s", err, lastLines(c.d.errs.String(), 30))
	case <-time.After(100 * time.Millisecond):
		c.unanswered = true
	}
	return nil
}

func (c *boardColumn) mode() string {
	mode, _ := c.request("GET", "/api/state", "")["mode"].(string)
	return mode
}

func (c *boardColumn) order(name string) {
	c.request("POST", "/api/cmd/"+name, `{"id":"`+uniqueID()+`"}`)
}

// rest takes the energy away, and the axis stands at a place before the next run.
func (c *boardColumn) rest(place float64) {
	c.order("stop")
	c.b.await(false, time.Second)
	time.Sleep(50 * time.Millisecond)
	c.b.mu.Lock()
	zero := c.b.zero // behind a board that began anew the encoder counts from elsewhere
	c.b.mu.Unlock()
	if x, _, _ := c.b.state(); place != 0 || math.Abs(x-zero) > 1.4*c.rig.reach { // the travel of the stage ends at 1.5
		c.b.place(zero + place)
		time.Sleep(100 * time.Millisecond)
	}
}

// play lets the board fail once.
func (c *boardColumn) play(f *boardCase, sign float64) (o boardOutcome) {
	t, b, d := c.t, c.b, c.d
	t.Helper()
	c.rest(0)
	if f.when == "start" {
		return c.playStart(f, sign)
	}
	if !c.energise(inMotion) {
		if !c.unanswered {
			t.Errorf("before %s: not driven again: mode %s\n%s", f.name, c.mode(), lastLines(d.errs.String(), 30))
		}
		d.stop()
		c.d = startRun(c.home, c.file, "--arm", "--no-mqtt", "--no-record")
		d = c.d
		c.energise(inMotion)
	}
	fault, push := f.make(&c.rig, sign), f.push
	if f.geared > 0 && c.rig.slow() {
		push = f.geared
	}
	var said int
	switch f.when {
	case "rest":
		c.rest(-sign * c.rig.reach * f.asked)
		c.reach("armed", 5*time.Second)
		said = d.errs.Len()
		b.fail(fault, push)
		time.Sleep(100 * time.Millisecond)
		c.reach("armed", time.Second) // some are found before
		c.order("run")
		if b.await(true, time.Second) { // the watch counts what is energised only
			b.mu.Lock()
			b.watch.off, b.watch.since = false, b.now()
			b.mu.Unlock()
		}
	default:
		for end := time.Now().Add(6 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if x, v, _ := b.state(); sign*v > 0.3*c.rig.pace && math.Abs(x) > 0.05*c.rig.reach {
				break
			}
		}
		said = d.errs.Len()
		if fault.unplugs {
			b.fail(fault, push)
			b.unplug()
		} else {
			b.fail(fault, push)
		}
	}
	watch := f.long
	if watch == 0 {
		watch = 2 * time.Second
	}
	if f.when == "stop" || f.when == "estop" {
		time.Sleep(20 * time.Millisecond)
		c.order(f.when)
		time.Sleep(watch)
	} else {
		for end := time.Now().Add(watch); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if _, _, on := b.state(); (!on || fault.unplugs) && tripText.MatchString(d.errs.From(said)) {
				break
			}
		}
		time.Sleep(30 * time.Millisecond)
	}
	w := b.heal()
	o.boardWatch, o.starved = w, w.late > 10*time.Millisecond
	o.said = d.errs.From(said)
	if m := tripText.FindStringSubmatch(o.said); m != nil {
		o.tripped, o.cause = true, m[1]
	}
	mode := c.mode()
	if f.when == "stop" || f.when == "estop" {
		o.cause, o.tripped = "mode "+mode, true
		if m := regexp.MustCompile(`→ trip \((.*?)[;)]`).FindStringSubmatch(o.said); m != nil {
			o.cause += ", " + m[1]
		}
	}
	o.events = eventCodes(o.said)
	if fault.unplugs {
		time.Sleep(300 * time.Millisecond)
		b.plug(t)
	}
	// nothing comes back by itself
	if o.tripped && mode != "run" && mode != "hold" && b.await(false, time.Second) && b.await(true, 200*time.Millisecond) {
		o.broken = "energised again by itself"
	}
	if bad := b.violations(); len(bad) > 0 {
		o.broken += fmt.Sprintf(" %d commands beyond what the file allows, the first: %s", len(bad), bad[0])
	}
	return o
}

// playStart lets the board fail from the first frame that the daemon sees of it, and orders what leads to RUN.
func (c *boardColumn) playStart(f *boardCase, sign float64) (o boardOutcome) {
	fault, said := f.make(&c.rig, sign), c.d.errs.Len()
	replug := func(begin func()) {
		c.b.unplug()
		time.Sleep(300 * time.Millisecond)
		begin()
		c.b.plug(c.t)
	}
	replug(func() {
		c.b.fail(fault, 0)
		c.b.mu.Lock()
		c.b.watch.pushed = true // driven at all is too much
		c.b.mu.Unlock()
	})
	c.reach("run", 4*time.Second)
	time.Sleep(time.Second)
	mode := c.mode()
	replug(func() { o.boardWatch = c.b.heal() })
	o.said = c.d.errs.From(said)
	o.cause, o.tripped, o.events = "mode "+mode, o.energised > 0, eventCodes(o.said)
	o.silent = !toldLately(c.d.errs.String(), f.words)
	if bad := c.b.violations(); len(bad) > 0 {
		o.broken = fmt.Sprintf("%d commands beyond what the file allows, the first: %s", len(bad), bad[0])
	}
	return o
}

// toldLately tells whether a log has the words in a line of the last two minutes: most events are told once a minute.
func toldLately(log, words string) bool {
	now, _ := time.Parse(time.TimeOnly, time.Now().Format(time.TimeOnly))
	for _, line := range strings.Split(log, "\n") {
		at, err := time.Parse(time.TimeOnly, line[:min(len(line), 8)])
		if err == nil && strings.Contains(line, words) && (now.Sub(at)+24*time.Hour)%(24*time.Hour) < 2*time.Minute {
			return true
		}
	}
	return false
}

var eventText = regexp.MustCompile(`(?m)\b([A-Z]{3,}(?:_[A-Z]+)*)\b`)

func eventCodes(said string) (codes []string) {
	for _, m := range eventText.FindAllStringSubmatch(said, -1) {
		if c := m[1]; !slices.Contains([]string{"MODE", "INF", "WRN", "ERR", "RUN", "READY", "ARMED", "TRIP", "ESTOP", "HOLD", "SELFTEST",
			"REFUSED", "STOP", "WAITING", "LATE"}, c) && !slices.Contains(codes, c) {
			codes = append(codes, c)
		}
	}
	if n := strings.Count(said, "run → hold"); n > 0 {
		codes = append(codes, fmt.Sprintf("hold×%d", n))
	}
	return codes
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// starvedTicks are ticks left out around a play that make it say nothing of the guard.
const starvedTicks = 3

// skippedTicks are those that the daemon has left out, as it tells once a second.
func (c *boardColumn) skippedTicks() float64 {
	n, _ := c.request("GET", "/api/health", "")["skipped"].(float64)
	return n
}

// playAll plays faults one after the other, in both directions, and hands on a line for each. A play that fails while board or daemon
// starved is played again, three times in all.
func (c *boardColumn) playAll(f boardCase, tell func(fault, rig string, o boardOutcome)) {
	for _, sign := range []float64{1, -1} {
		var o boardOutcome
		for try := 1; ; try++ { // a board that starved says nothing
			c.unanswered = false
			before := c.skippedTicks()
			o = c.play(&f, sign)
			idle := o.energised == 0 && f.when == "" && !o.tripped
			o.starved = o.starved || idle || c.unanswered
			if bad := o.judge(&f, &c.rig); bad != "" && !o.starved {
				time.Sleep(1100 * time.Millisecond)
				if skipped := c.skippedTicks() - before; skipped >= starvedTicks || c.unanswered {
					o.starved = true
					c.t.Logf("%s, %s, %+g: %g ticks left out, %s", f.name, c.rig.name, sign, skipped, bad)
				}
			}
			if !o.starved || try == 3 {
				break
			}
			c.t.Logf("%s, %s, %+g: starved, try %d", f.name, c.rig.name, sign, try)
		}
		c.t.Logf("%s | %s | %s | %s\n%s", f.name, c.rig.name, map[float64]string{1: "+", -1: "−"}[sign], o.String(), o.said)
		tell(f.name, c.rig.name, o)
		if bad := o.judge(&f, &c.rig); bad != "" && !o.starved {
			c.t.Errorf("%s, %s, %+g: %s", f.name, c.rig.name, sign, bad)
		}
	}
}

// TestDaemonBoardFaults plays faults against the built program, with every kind of drive, and prints what finds them, how long the drive
// stays energised after the fault, and how far the axis goes meanwhile. The table of docs/evidence/safety.md comes from here:
//
//	go test -tags soak -timeout 60m -parallel 6 ./cmd/hil -run BoardFaults -v
func TestDaemonBoardFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("drives boards for a quarter of a minute")
	}
	var mu sync.Mutex
	outcomes := map[[2]string][]boardOutcome{} // by fault and rig
	tell := func(fault, rig string, o boardOutcome) {
		mu.Lock()
		defer mu.Unlock()
		outcomes[[2]string{fault, rig}] = append(outcomes[[2]string{fault, rig}], o)
	}
	t.Cleanup(func() { t.Logf("\n%s", boardTables(outcomes)) })
	if !soak { // one rig of each kind, beside each other
		var wg sync.WaitGroup
		for _, r := range boardRigs() {
			if r.always == nil {
				continue
			}
			c := startColumn(t, r)
			wg.Add(1)
			go func() {
				defer wg.Done()
				for _, f := range boardCases() {
					if slices.Contains(r.always, f.name) {
						c.playAll(f, tell)
					}
				}
			}()
		}
		wg.Wait()
		return
	}
	for _, r := range boardRigs() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			c := startColumn(t, r)
			for _, f := range boardCases() {
				if f.only != nil && !f.only(&r) || !r.has(f.needs...) || r.plays != nil && !r.plays(&f) {
					continue
				}
				t.Run(f.name, func(t *testing.T) {
					c.t = t
					c.playAll(f, tell)
				})
			}
			c.t = t
			c.d.stop()
		})
	}
}

// boardTables are the tables of docs/evidence/safety.md: in each cell the longer of both directions.
func boardTables(outcomes map[[2]string][]boardOutcome) string {
	var text strings.Builder
	groups := [][]string{}
	for _, r := range boardRigs() {
		switch n := len(groups); {
		case n == 0 || r.has(chSpeed) != strings.Contains(groups[n-1][0], "all sensors"):
			groups = append(groups, []string{r.name})
		default:
			groups[n-1] = append(groups[n-1], r.name)
		}
	}
	for _, rigs := range groups {
		fmt.Fprintf(&text, "| fault | found as | %s |\n|---|---|%s\n", strings.Join(rigs, " | "), strings.Repeat("---|", len(rigs)))
		for _, f := range boardCases() {
			var cells [][2]string // time and way, cause
			count, found, played := map[string]int{}, "–", false
			for _, rig := range rigs {
				var worst *boardOutcome
				for i, o := range outcomes[[2]string{f.name, rig}] {
					if worst == nil || o.energised > worst.energised {
						worst = &outcomes[[2]string{f.name, rig}][i]
					}
				}
				switch {
				case worst == nil:
					cells = append(cells, [2]string{"–"})
				case worst.starved:
					cells = append(cells, [2]string{"not measured"})
				default:
					numbers, cause := worst.cell(rigNamed(rig), f.when)
					cells, played = append(cells, [2]string{numbers, cause}), true
					if count[cause]++; count[cause] > count[found] {
						found = cause
					}
				}
			}
			row := "| " + f.name + " | " + found
			for _, c := range cells {
				switch numbers, cause := c[0], c[1]; {
				case cause == found && numbers == "":
					row += " | ×"
				case cause == found || cause == "":
					row += " | " + numbers
				default:
					row += " | " + strings.TrimPrefix(numbers+", "+cause, ", ")
				}
			}
			if played {
				text.WriteString(row + " |\n")
			}
		}
		text.WriteString("\n")
	}
	return text.String()
}

func rigNamed(name string) boardRig {
	rigs := boardRigs()
	return rigs[slices.IndexFunc(rigs, func(r boardRig) bool { return r.name == name })]
}

// cell is an outcome in a table: time (ms) and way (rad; of the stage mm), and the cause. A fault is not found where the axis goes further
// than its reference does.
func (o *boardOutcome) cell(r boardRig, when string) (numbers, cause string) {
	name, _, _ := strings.Cut(o.cause, " drive")
	name, _, _ = strings.Cut(name, " shaft.")
	way := fmt.Sprintf("%.2g rad", o.way)
	if r.heavy {
		way = fmt.Sprintf("%.2g mm", o.way*1e3)
	}
	switch {
	case when == "stop", when == "estop", when == "start":
		return "", strings.TrimSpace(name + " " + strings.Join(o.events, " "))
	case !o.tripped && o.energised == 0:
		return "", "is not driven"
	case !o.tripped && o.way > 1.2*r.pace*o.energised.Seconds():
		return "", "not found: " + way + " in " + fmt.Sprintf("%.0f s", o.energised.Seconds())
	case !o.tripped:
		return "", strings.TrimSpace("runs on " + strings.Join(o.events, " "))
	}
	number, _, _ := strings.Cut(way, " ")
	return fmt.Sprintf("%d, %s", o.energised.Milliseconds(), number), name
}

// judge tells what of an outcome should not be. A test machine gets 150 ms, and 2 rad for each quarter of a second.
func (o *boardOutcome) judge(f *boardCase, r *boardRig) string {
	want := strings.Split(f.found, ", ")
	if f.beside != "" && r.has(chCurrent) {
		want = append(want, strings.Split(f.beside, ", ")...)
	}
	rides := slices.Contains(want, "runs on")
	within := max(f.within, 250*time.Millisecond) + 150*time.Millisecond
	if f.slow > 0 && r.slow() {
		within = f.slow + 150*time.Millisecond
	}
	way := 6 + 10*within.Seconds() + 20*max(0, within-400*time.Millisecond).Seconds()
	if r.heavy {
		way = 0.1 + within.Seconds()
	}
	switch {
	case o.broken != "":
		return o.broken
	case f.words != "" && o.silent:
		return fmt.Sprintf("nothing says %q", f.words)
	case f.when == "start" && o.energised > 0 && !rides:
		return fmt.Sprintf("driven for %v", o.energised)
	case f.when == "start":
		return ""
	case f.when == "stop", f.when == "estop":
		return o.judgeOff(f, r)
	case f.when == "rest" && o.energised == 0:
		return "" // seen before it was driven
	case !o.tripped && !rides:
		return fmt.Sprintf("nothing finds it within %v, %.3g rad or m", o.energised, o.way)
	case !o.tripped:
		return ""
	case !slices.Contains(want, "*") && !containsOne(o.cause, want):
		return fmt.Sprintf("the cause named is %q, want one of %q", o.cause, want)
	case !slices.Contains(want, "*") && f.long == 0 && (o.energised > within || o.way > way):
		return fmt.Sprintf("energised for %v and %.3g rad or m, want %v and %.3g at most: %s", o.energised, o.way, within, way, o.cause)
	}
	return ""
}

// judgeOff is about what is said of a drive that is not off.
func (o *boardOutcome) judgeOff(f *boardCase, r *boardRig) string {
	told := strings.Contains(o.said, "NOT_OFF") || strings.Contains(o.said, "device fault")
	if f.when == "stop" && strings.HasSuffix(o.cause, "ready") && told {
		return "the mode is READY while the drive is not off"
	}
	if r.has(chCurrent) && f.found != "runs on" && !told {
		return "nothing is said of a drive that is not off"
	}
	return ""
}
