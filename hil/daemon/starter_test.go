package daemon

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hilrig/hil"
	"hilrig/hil/rt"
)

// startCore is a core by the words of the order ring alone, with a guard of five lines. Its first orders are refused.
type startCore struct {
	mu      sync.Mutex
	mode    hil.Mode
	refused []hil.Refusal // the orders to come; then all are taken
	orders  []string
	times   []time.Time
}

func (c *startCore) run(sh *shared, over <-chan struct{}) {
	orders, rows := sh.orders.Reader(), sh.rows.Writer()
	sh.words.State.Store(coreReady)
	for k := uint64(1); ; k++ {
		select {
		case <-over:
			return
		case <-time.After(time.Millisecond):
		}
		c.mu.Lock()
		row := hil.Row{Seq: k, T: rt.Now(), Epoch: 1}
		if id := sh.words.pressed[1].Swap(0); id != 0 {
			row.Cmd, row.Req, c.mode = id, uint8(hil.ReqStop), hil.Ready
		}
		var o order
		for row.Cmd == 0 && orders.Pop(&o) {
			if !sh.words.waiting[o.Slot].CompareAndSwap(o.ID, 0) {
				continue
			}
			row.Cmd, row.Req = o.ID, uint8(o.Req)
			c.orders, c.times = append(c.orders, hil.Request(o.Req).String()), append(c.times, time.Now())
			if len(c.refused) > 0 {
				row.Res, c.refused = c.refused[0], c.refused[1:]
			}
			switch {
			case row.Res != hil.Taken:
			case hil.Request(o.Req) == hil.ReqArm:
				c.mode = hil.Armed
			case hil.Request(o.Req) == hil.ReqRun:
				c.mode = hil.Run
			}
		}
		row.Mode = c.mode
		c.mu.Unlock()
		rows.Push(&row)
	}
}

// A start that is refused for something that passes is tried again once a second, and told once. One that is refused for good is not, nor
// one behind a trip or a person's stop.
func TestStartIsTriedAgain(t *testing.T) {
	stale := hil.StillWrong(hil.CauseStale)
	for _, c := range []struct {
		name    string
		refused []hil.Refusal
		then    func(s *Supervisor, c *startCore) // after the first refusal
		want    []string
		told    int
		latched time.Duration // in TRIP for so long
	}{
		{"taken", nil, nil, []string{"arm", "run"}, 0, 0},
		{"arm refused twice", []hil.Refusal{stale, hil.WrongMode}, nil, []string{"arm", "arm", "arm", "run"}, 1, 0},
		{"run refused", []hil.Refusal{hil.Taken, stale}, nil, []string{"arm", "run", "run"}, 1, 0},
		{"may not drive", []hil.Refusal{hil.NotAllowed}, nil, []string{"arm"}, 0, 0},
		{"no drive", []hil.Refusal{hil.NoDrive}, nil, []string{"arm"}, 0, 0},
		{"unwatched", []hil.Refusal{hil.Unwatched}, nil, []string{"arm"}, 0, 0},
		{"dry run", []hil.Refusal{hil.DryRunOnly}, nil, []string{"arm"}, 0, 0},
		{"stopped", []hil.Refusal{stale}, func(s *Supervisor, _ *startCore) {
			s.Command(context.Background(), hil.Command{Name: "stop", Source: "web"})
		}, []string{"arm"}, 1, 0},
		{"tripped and reset", []hil.Refusal{stale}, func(_ *Supervisor, c *startCore) {
			c.set(hil.Trip)
			time.Sleep(100 * time.Millisecond)
			c.set(hil.Ready)
		}, []string{"arm"}, 1, 0},
		{"tripped before, and reset", nil, nil, []string{"arm", "run"}, 0, 100 * time.Millisecond},
		{"not ready when it may run", []hil.Refusal{hil.Taken, stale}, func(_ *Supervisor, c *startCore) {
			c.set(hil.SelfTest)
			time.Sleep(1500 * time.Millisecond)
			c.set(hil.Ready)
		}, []string{"arm", "run", "arm", "run"}, 1, 0},
		{"ready again behind a run", nil, func(_ *Supervisor, c *startCore) { c.set(hil.Ready) }, []string{"arm", "run"}, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) { // virtual time: a busy machine is late for nothing
			var mu sync.Mutex
			told := 0
			s := New(testAssembly(), &hil.Info{}, Options{SingleProcess: true, Emit: func(e hil.Event) {
				mu.Lock()
				defer mu.Unlock()
				if strings.Contains(e.Text, "not started yet") {
					told++
				}
			}})
			s.epoch = 1
			core, sh := &startCore{mode: hil.Ready, refused: append([]hil.Refusal(nil), c.refused...)}, heapShared(1000, 1)
			over, done := make(chan struct{}), make(chan string, 1)
			h := &handle{sh: sh, done: done, kill: func() {}, term: func() {}}
			w := sh.orders.Writer()
			s.commands.connect(&coreLink{post: func(o order) bool { return w.Push(&o) }, publish: sh.params.Publish, words: sh.words})
			var wg sync.WaitGroup
			wg.Go(func() { core.run(sh, over) })
			wg.Go(func() { s.pump(context.Background(), h, true) })
			deadline := time.Now().Add(3500 * time.Millisecond)
			if c.latched > 0 {
				core.set(hil.Trip)
				time.Sleep(c.latched)
				core.set(hil.Ready)
			}
			if c.then != nil {
				for len(core.seen()) == 0 && time.Now().Before(deadline) {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(50 * time.Millisecond)
				c.then(s, core)
			}
			for time.Now().Before(deadline) && (core.get() != hil.Run || c.want[len(c.want)-1] != "run") {
				if time.Sleep(10 * time.Millisecond); len(c.want) == 1 && time.Until(deadline) < 2*time.Second {
					break
				}
			}
			done <- "the end"
			close(over)
			wg.Wait()
			if !slices.Equal(core.orders, c.want) || told != c.told {
				t.Errorf("%s: ordered %v, told %d times; want %v, %d", c.name, core.orders, told, c.want, c.told)
			}
			for k := 1; k < len(core.times); k++ {
				if again := core.orders[k] == core.orders[k-1]; again && core.times[k].Sub(core.times[k-1]) < startAgain-10*time.Millisecond {
					t.Errorf("%s: again after %v", c.name, core.times[k].Sub(core.times[k-1]))
				}
			}
		})
	}
}

func (c *startCore) set(m hil.Mode) { c.mu.Lock(); c.mode = m; c.mu.Unlock() }
func (c *startCore) get() hil.Mode  { c.mu.Lock(); defer c.mu.Unlock(); return c.mode }
func (c *startCore) seen() []string { c.mu.Lock(); defer c.mu.Unlock(); return slices.Clone(c.orders) }
