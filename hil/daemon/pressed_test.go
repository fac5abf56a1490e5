package daemon

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hilrig/hil"
)

// ticking is a core that takes an order in each of its ticks, as the words of shared.go and pressed.go say it: it knows neither outside nor
// guard. answer completes the row of an order. end ends it.
func ticking(d *commands, publish func(*hil.Params), answer func(*hil.Row)) (end func()) {
	sh := heapShared(1000, 1)
	orders, posts := sh.orders.Reader(), sh.orders.Writer()
	d.connect(&coreLink{post: func(o order) bool { return posts.Push(&o) },
		publish: func(p *hil.Params) { publish(p); sh.words.Prepared.Store(p.Gen) }, words: sh.words})
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			time.Sleep(100 * time.Microsecond)
			var row hil.Row
			for k := range sh.words.pressed {
				if id := sh.words.pressed[k].Swap(0); id != 0 && row.Cmd == 0 {
					row.Cmd, row.Req = id, uint8([]hil.Request{hil.ReqEstop, hil.ReqStop, hil.ReqHold}[k])
					break
				}
			}
			var o order
			for row.Cmd == 0 && orders.Pop(&o) {
				if sh.words.waiting[o.Slot].CompareAndSwap(o.ID, 0) {
					row.Cmd, row.Req = o.ID, uint8(o.Req)
				}
			}
			answer(&row)
			d.onRow(&row)
		}
	}()
	return func() { stop.Store(true); <-done }
}

// A tick at 50 Hz, a hold from everybody all the time, and a full ring: stop and estop are taken in the next tick or the one after, and
// orders of the ring still get their turn.
func TestFloodStopsNothing(t *testing.T) {
	sh := heapShared(50, 1)
	w := sh.orders.Writer()
	link := &coreLink{post: func(o order) bool { return w.Push(&o) }, words: sh.words}
	out := &outside{orders: sh.orders.Reader(), words: sh.words, rig: &setRig{}}
	id := uint32(0)
	send := func(q hil.Request) (uint32, bool) {
		id++
		return id, link.send(order{ID: id, Req: uint32(q)})
	}
	for range 10 * orderRoom {
		send(hil.ReqRun)
	}
	if _, ok := send(hil.ReqRun); ok {
		t.Fatal("the ring is not full")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	runs := 0
	for n := range 2000 {
		for range rng.IntN(5) {
			if _, ok := send(hil.ReqHold); !ok {
				t.Fatal("hold refused")
			}
		}
		send(hil.ReqRun)
		want, ticks := hil.ReqNone, 0
		var pressed uint32
		if n%7 == 0 {
			want, ticks = hil.ReqEstop, 1
		} else if n%5 == 0 {
			want, ticks = hil.ReqStop, 2
		}
		if want != hil.ReqNone {
			var ok bool
			if pressed, ok = send(want); !ok {
				t.Fatalf("%v refused", want)
			}
		}
		taken := want == hil.ReqNone
		for range max(1, ticks) {
			got, q := out.Order()
			if q == hil.ReqRun {
				runs++
			}
			taken = taken || q == want && got == pressed
		}
		if !taken {
			t.Fatalf("%v not taken within %d ticks", want, ticks)
		}
	}
	if runs < 500 {
		t.Errorf("%d orders of the ring were taken in 2000 ticks", runs)
	}
	if n := testing.AllocsPerRun(1000, func() { sh.words.press(order{ID: 1, Req: uint32(hil.ReqHold)}); out.Order() }); n != 0 {
		t.Errorf("%g allocations a tick", n)
	}
}

// Everybody who pressed is answered by the one row, also where the tick took the press of another.
func TestPressedTogether(t *testing.T) {
	d := newCommands(testAssembly())
	end := ticking(d, func(*hil.Params) {}, func(*hil.Row) { time.Sleep(5 * time.Millisecond) })
	defer end()
	var wg sync.WaitGroup
	for k := range 300 {
		wg.Go(func() {
			name := []string{"hold", "stop", "estop"}[k%3]
			if r := d.Do(context.Background(), hil.Command{Name: name}); !r.OK {
				t.Errorf("%s: %+v", name, r)
			}
		})
	}
	wg.Wait()
}

// An order that was answered with a refusal never comes into force, whenever the loop wakes up; one of those that take energy out does, and
// the answer says so.
func TestRefusedStaysRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		late  bool // may still be taken
		says  string
		after time.Duration
	}{{"run", false, "withdrawn", 0}, {"arm", false, "withdrawn", 0}, {"reset", false, "withdrawn", 0}, {"stop", true, "the order stays", 0},
		{"hold", true, "the order stays", 0}, {"estop", true, "the order stays", 0}} {
		d := newCommands(testAssembly())
		sh := heapShared(1000, 1)
		w := sh.orders.Writer()
		d.connect(&coreLink{post: func(o order) bool { return w.Push(&o) }, words: sh.words})
		out := &outside{orders: sh.orders.Reader(), words: sh.words, rig: &setRig{}}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		r := d.Do(ctx, hil.Command{Name: c.name})
		cancel()
		if r.OK || !strings.Contains(r.Error, c.says) {
			t.Errorf("%s: %+v", c.name, r)
		}
		if _, q := out.Order(); (q != hil.ReqNone) != c.late {
			t.Errorf("%s was answered with a refusal, and then the loop took %v", c.name, q)
		}
	}
}

// A tick that takes orders while their senders give up: what was refused was not taken, and what was taken is said to be, except that a
// row that does not come back is told as such.
func TestWithdrawnOrTaken(t *testing.T) {
	d := newCommands(testAssembly())
	var mu sync.Mutex
	taken := map[uint32]bool{}
	rng := rand.New(rand.NewPCG(3, 4))
	end := ticking(d, func(*hil.Params) {}, func(r *hil.Row) {
		mu.Lock()
		taken[r.Cmd] = true
		pause := time.Duration(rng.IntN(2)) * time.Millisecond
		mu.Unlock()
		time.Sleep(pause)
	})
	defer end()
	ok, refused := 0, 0
	for range 500 {
		mu.Lock()
		patience := time.Duration(rng.IntN(1500)) * time.Microsecond
		mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		r := d.Do(ctx, hil.Command{Name: "run"})
		cancel()
		time.Sleep(time.Millisecond)
		d.mu.Lock()
		id := d.nextID
		d.mu.Unlock()
		mu.Lock()
		if r.OK != taken[id] {
			t.Errorf("order %d: %+v, taken %v", id, r, taken[id])
		}
		mu.Unlock()
		if r.OK {
			ok++
		} else {
			refused++
		}
	}
	t.Logf("%d taken, %d withdrawn", ok, refused)
	if ok == 0 || refused == 0 {
		t.Error("nothing was tried")
	}
}

// A person who orders hold, stop or estop before the tick has taken the order of a start: that is never taken, and none is after it. The
// stop with which the daemon ends orders nothing of that kind.
func TestAPersonOverrulesAStart(t *testing.T) {
	for _, c := range []struct{ name, source string }{{"hold", "web"}, {"stop", "mqtt"}, {"estop", "web"}, {"stop", "local"}} {
		synctest.Test(t, func(t *testing.T) {
			d := newCommands(testAssembly())
			sh := heapShared(1000, 1)
			w := sh.orders.Writer()
			d.connect(&coreLink{post: func(o order) bool { return w.Push(&o) }, words: sh.words})
			out := &outside{orders: sh.orders.Reader(), words: sh.words, rig: &setRig{}}
			start := func() {
				go d.Do(context.Background(), hil.Command{Name: "arm", Source: startSource})
				synctest.Wait()
			}
			start()
			go d.Do(context.Background(), hil.Command{Name: c.name, Source: c.source})
			synctest.Wait()
			start()
			if _, q := out.Order(); q.String() != c.name {
				t.Errorf("%s of %s: the tick takes %v first", c.name, c.source, q)
			}
			if _, q := out.Order(); (q == hil.ReqNone) != (c.source != "local") {
				t.Errorf("%s of %s, and then the tick takes %v", c.name, c.source, q)
			}
			time.Sleep(2 * replyTime) // nobody answers them
		})
	}
}

// Only the order of the start is withdrawn: what a person ordered before stays.
func TestOverruledStartLeavesOtherOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newCommands(testAssembly())
		sh := heapShared(1000, 1)
		w := sh.orders.Writer()
		d.connect(&coreLink{post: func(o order) bool { return w.Push(&o) }, words: sh.words})
		for _, c := range []hil.Command{{Name: "reset", Source: "web"}, {Name: "arm", Source: startSource}, {Name: "hold", Source: "mqtt"}} {
			go d.Do(context.Background(), c)
			synctest.Wait()
		}
		out := &outside{orders: sh.orders.Reader(), words: sh.words, rig: &setRig{}}
		for _, want := range []hil.Request{hil.ReqHold, hil.ReqReset, hil.ReqNone} {
			if _, q := out.Order(); q != want {
				t.Errorf("the tick takes %v, want %v", q, want)
			}
		}
		time.Sleep(2 * replyTime) // nobody answers them
	})
}

// A row answers its order, and those who pressed the same before it; nobody else.
func TestWhoIsAnswered(t *testing.T) {
	orders := []hil.Request{hil.ReqArm, hil.ReqStop, hil.ReqHold, hil.ReqStop, hil.ReqStop, hil.ReqArm} // 1 to 6
	for row, others := range map[uint32][]uint32{1: nil, 2: nil, 3: nil, 4: {2}, 5: {2, 4}, 6: nil} {
		d := newCommands(testAssembly())
		for k, q := range orders {
			d.waiting[uint32(k+1)] = waiter{row: make(chan hil.Row, 1), req: q}
		}
		d.onRow(&hil.Row{Cmd: row, Req: uint8(orders[row-1])})
		for id, w := range d.waiting {
			if answered := len(w.row) == 1; answered != (id == row || slices.Contains(others, id)) {
				t.Errorf("row of order %d: order %d (%v) answered %v", row, id, w.req, answered)
			}
		}
	}
}

// A ring that takes nothing more: the order is refused at once, and its slot is free again.
func TestRingThatIsFull(t *testing.T) {
	d, sh := newCommands(testAssembly()), heapShared(1000, 1)
	d.connect(&coreLink{post: func(order) bool { return false }, words: sh.words})
	for range 2 * orderRoom {
		if r := d.Do(context.Background(), hil.Command{Name: "run"}); r.OK || !strings.Contains(r.Error, "wait for the loop already") {
			t.Fatalf("%+v", r)
		}
	}
	for k := range sh.words.waiting {
		if id := sh.words.waiting[k].Load(); id != 0 {
			t.Errorf("order %d still has slot %d", id, k)
		}
	}
}

// An emergency stop while no core runs: the next one begins with it, and nothing else does.
func TestEstopWithoutACore(t *testing.T) {
	d := newCommands(testAssembly())
	latched := 0
	d.latch = func() { latched++ }
	d.disconnect()
	for _, c := range []struct {
		name string
		ok   bool
	}{{"stop", false}, {"hold", false}, {"run", false}, {"estop", true}} {
		if r := d.Do(context.Background(), hil.Command{Name: c.name}); r.OK != c.ok {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	sh := heapShared(1000, 2)
	d.connect(&coreLink{post: func(order) bool { return true }, words: sh.words})
	out := &outside{orders: sh.orders.Reader(), words: sh.words, rig: &setRig{}}
	if _, q := out.Order(); q != hil.ReqEstop || latched != 1 {
		t.Errorf("the next core gets %v, latched %d times", q, latched)
	}
	if _, q := out.Order(); q != hil.ReqNone {
		t.Errorf("and then %v", q)
	}
	d.disconnect()
	sh = heapShared(1000, 3)
	d.connect(&coreLink{post: func(order) bool { return true }, words: sh.words})
	if id, _ := sh.words.released(); id != 0 {
		t.Error("the core after that gets it again")
	}
}

// The strongest press comes first.
func TestPressedOrder(t *testing.T) {
	w := heapShared(1000, 1).words
	for k, q := range []hil.Request{hil.ReqHold, hil.ReqStop, hil.ReqEstop, hil.ReqStop} {
		w.press(order{ID: uint32(k + 1), Req: uint32(q)})
	}
	for _, want := range []uint32{3, 4, 1, 0} {
		if id, _ := w.released(); id != want {
			t.Errorf("released %d, want %d", id, want)
		}
	}
	if w.press(order{ID: 9, Req: uint32(hil.ReqRun)}) {
		t.Error("run has a word of its own")
	}
}

// Orders of the ring have a slot each: the next one is refused until one of them is taken or withdrawn, and each once only.
func TestSlotsOfTheRing(t *testing.T) {
	w := heapShared(1000, 1).words
	var kept []order
	for k := range orderRoom {
		o := order{ID: uint32(k + 1), Req: uint32(hil.ReqRun)}
		if !w.slot(&o) {
			t.Fatalf("order %d of %d has no slot", k+1, orderRoom)
		}
		kept = append(kept, o)
	}
	next := order{ID: 1000}
	if w.slot(&next) {
		t.Fatal("one more than there are slots has one")
	}
	if !w.claim(&kept[3]) || w.claim(&kept[3]) || w.withdraw(kept[3].ID) {
		t.Error("an order is taken once, and not withdrawn after that")
	}
	if !w.slot(&next) || next.Slot != kept[3].Slot || w.claim(&kept[3]) {
		t.Errorf("the slot of the one that was taken: %d, want %d", next.Slot, kept[3].Slot)
	}
	if !w.withdraw(next.ID) || w.withdraw(next.ID) || w.claim(&next) {
		t.Error("an order is withdrawn once, and not taken after that")
	}
}
