package hil

import (
	"context"
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/hil/ring"
	"hilrig/hil/rt"
)

// scripted is a clock that replays a list of (deadline, lateness) and a device that echoes.
type scripted struct {
	t, late []int64
	k       int
	sent    []float64
}

func (s *scripted) Wait() (t, late int64, ok bool) {
	if s.k == len(s.t) {
		return 0, 0, false
	}
	s.k++
	return s.t[s.k-1], s.late[s.k-1], true
}
func (s *scripted) Now() int64 { return s.t[s.k-1] + s.late[s.k-1] + 5000 }

func (s *scripted) Signals() (m, c []engine.Signal) {
	return []engine.Signal{{Name: "y", Unit: "rad"}}, []engine.Signal{{Name: "u", Unit: "V"}}
}
func (s *scripted) Start(context.Context) error { return nil }
func (s *scripted) Poll(now int64, y []float64) Fresh {
	y[0] = float64(now)
	return Fresh{1}
}
func (s *scripted) Send(u []float64) { s.sent = append(s.sent, u[0]) }
func (s *scripted) Close() error     { return nil }

// passing is a role that hands the measurement through.
type passing struct{ orders []Request }

func (*passing) Schema() Schema {
	return Schema{Rig: "test", Rate: 1000, Meas: Of("drive", engine.Signal{Name: "y", Unit: "rad"}),
		Cmd: Of("drive", engine.Signal{Name: "u", Unit: "V"})}
}
func (p *passing) Decide(r *Row, b *Blocks)       { p.orders = append(p.orders, Request(r.Req)) }
func (*passing) Compute(r *Row, b *Blocks)        { b.Cmd[0] = 2 * b.Meas[0] }
func (*passing) Guard(r *Row, b *Blocks)          {}
func (*passing) Prepare(*Params) (*Change, error) { return nil, nil }
func (*passing) Check(*Params) error              { return nil }
func (*passing) Discard()                         {}
func (*passing) FadeComplete() bool               { return true }
func (*passing) Adopt(*Change)                    {}

// hand is an outside driven by the test.
type hand struct {
	flags   Flags
	orders  []Request
	changes []*Change
	rows    []Row
}

func (h *hand) Flags() Flags        { return h.flags }
func (h *hand) Silence() float64    { return 0 }
func (h *hand) AbsentDevice() int   { return -1 }
func (h *hand) PreviousRun() Before { return Before{} }
func (h *hand) Order() (uint32, Request) {
	if len(h.orders) == 0 {
		return 0, ReqNone
	}
	q := h.orders[0]
	h.orders = h.orders[1:]
	return 7, q
}
func (h *hand) Change() *Change {
	if len(h.changes) == 0 {
		return nil
	}
	c := h.changes[0]
	h.changes = h.changes[1:]
	return c
}
func (h *hand) OnRow(r *Row) { h.rows = append(h.rows, *r) }

// One tick after another: the row carries time, sample, command, order; missed deadlines are counted and explained.
func TestLoopRows(t *testing.T) {
	const ms = 1_000_000
	s := &scripted{
		t:    []int64{1 * ms, 2 * ms, 3 * ms, 7 * ms, 8 * ms, 9 * ms},
		late: []int64{10, 20, 3500000, 30, 1200000, 1100000},
	}
	h := &hand{orders: []Request{ReqNone, ReqArm, ReqSet}, changes: []*Change{{Gen: 3}, {Gen: 4}, {Gen: 5}}} // nobody orders the last one
	taps := ring.New[Row](16)
	role := &passing{}
	NewLoop(s, s, h, role, 2, taps.Writer()).Run()

	if len(h.rows) != 6 {
		t.Fatalf("%d rows", len(h.rows))
	}
	for i, r := range h.rows {
		if r.Seq != uint64(i+1) || r.T != s.t[i] || int64(r.Lateness) != s.late[i] || r.BusyTime != 5000 || r.Epoch != 2 ||
			r.Gen != []uint32{3, 3, 4, 4, 4, 4}[i] {
			t.Errorf("row %d: %+v", i, r)
		}
		if r.X[0] != float64(s.t[i]) || r.X[1] != 2*r.X[0] || s.sent[i] != r.X[1] {
			t.Errorf("row %d: y %g u %g sent %g", i, r.X[0], r.X[1], s.sent[i])
		}
		var got Row
		if !taps.Reader().Pop(&got) || !SameRow(&got, &h.rows[i]) {
			t.Errorf("row %d did not reach the tap", i)
		}
	}
	if h.rows[1].Cmd != 7 || h.rows[1].Req != uint8(ReqArm) || role.orders[1] != ReqArm {
		t.Errorf("the order did not arrive: %+v", h.rows[1])
	}
	for i, want := range []struct {
		skip  uint32
		flags Flags
	}{{0, 0}, {0, 0}, {0, FlagLate}, {3, FlagSkipped}, {0, FlagLate}, {0, FlagLate | FlagCatchUp}} {
		if r := h.rows[i]; r.Skip != want.skip || r.Flags != want.flags {
			t.Errorf("row %d: skip %d flags %b, want %d %b", i, r.Skip, r.Flags, want.skip, want.flags)
		}
	}
}

func TestLoopAllocs(t *testing.T) {
	c := &VirtualClock{Period: 1e6, N: 1 << 30}
	h := &quiet{}
	l := NewLoop(c, &deaf{}, h, &passing{}, 1, ring.New[Row](64).Writer())
	if n := testing.AllocsPerRun(1000, func() {
		at, late, _ := c.Wait()
		l.tick(at, late)
	}); n != 0 {
		t.Errorf("%g allocations a tick", n)
	}
}

type quiet struct{}

func (*quiet) Flags() Flags             { return 0 }
func (*quiet) Silence() float64         { return 0 }
func (*quiet) AbsentDevice() int        { return -1 }
func (*quiet) PreviousRun() Before      { return Before{} }
func (*quiet) Order() (uint32, Request) { return 0, ReqNone }
func (*quiet) Change() *Change          { return nil }
func (*quiet) OnRow(*Row)               {}

type deaf struct{ scripted }

func (*deaf) Send([]float64) {}

// Deadlines after a miss: skipped, or repeated up to a number.
func TestAfterMiss(t *testing.T) {
	for _, c := range []struct{ late, catch, want int64 }{
		{-5000, 0, 1000}, {-1, 3, 1000}, {0, 0, 1000}, {999, 0, 1000}, {1000, 0, 2000}, {3500, 0, 4000}, {3500, 5, 1000}, {3500, 2, 2000},
		{7000, 3, 5000},
	} {
		if got := afterMiss(0, c.late, 1000, int(c.catch)); got != c.want {
			t.Errorf("late %d, catch up %d: next deadline %d, want %d", c.late, c.catch, got, c.want)
		}
	}
}

// A device whose clock is 300 ppm fast and whose frames arrive with noise: the deadlines end up lag after the frames.
func TestDeviceClockLocks(t *testing.T) {
	const period, lag = 1_000_000, 300_000
	c := NewDeviceClock(period, 0, 0, lag, Missed{}, nil, nil)
	true0, drift := 123_456.0, 1-300e-6
	noise := uint32(1)
	worst := 0.0
	for k := range 20000 {
		at := c.nextDeadline
		// the newest frame at the deadline
		n := math.Floor((float64(at) - true0) / (period * drift))
		noise = noise*1664525 + 1013904223
		stamp := true0 + n*period*drift + float64(noise%20000)
		c.follow(at, int64(stamp), uint64(max(0, n)))
		if k > 2000 {
			d := float64(at) - (true0 + n*period*drift)
			worst = max(worst, math.Abs(d-lag-10000))
		}
	}
	if worst > 15000 {
		t.Errorf("deadlines wander by %.0f ns about the wanted lag", worst)
	}
}

// A wall clock keeps its raster and tells how late it is; whoever asks it to stop gets no deadline.
func TestWallClock(t *testing.T) {
	const period = 200_000
	for _, asked := range []bool{false, true} {
		n := 0
		stop := func() bool { n++; return n > 5 }
		if !asked {
			stop = nil
		}
		begun := rt.Now()
		first := begun + 1_000_000
		plain, device := NewWallClock(period, 0, first, Missed{}, stop), NewDeviceClock(period, 0, first, 0, Missed{}, silent{}, stop)
		for name, wait := range map[string]func() (int64, int64, bool){"wall": plain.Wait, "device": device.Wait} {
			n = 0
			want := first
			for k := range 5 {
				at, late, ok := wait()
				if now := rt.Now(); !ok || k == 0 && at != want || (at-first)%period != 0 || at < want || late < 0 || at+late < at || at+late > now {
					t.Fatalf("%s clock, deadline %d: %d ns after the first, %d late, %v", name, k, at-first, late, ok)
				}
				want = at + period
			}
			if at, late, ok := wait(); asked && (ok || at != 0 || late != 0) || !asked && !ok {
				t.Errorf("%s clock, asked to stop %v: %d, %d, %v", name, asked, at, late, ok)
			}
		}
		if now := plain.Now(); now < begun || now > begun+60e9 {
			t.Errorf("the clock says %d, begun at %d", now, begun)
		}
	}
}

// silent is a device that sends nothing.
type silent struct{}

func (silent) Pace() (int64, uint64) { return 12345, 0 }

// A device is followed up to 5 % of the period, to both sides; without a new frame the raster stays as it is.
func TestDeviceClockLimits(t *testing.T) {
	const period, lag = 1_000_000, 300_000
	for _, c := range []struct {
		rate  float64 // of the device's period
		locks bool
	}{{0.96, true}, {1.04, true}, {0.93, false}, {1.07, false}} {
		d := NewDeviceClock(period, 0, 0, lag, Missed{}, nil, nil)
		worst, at := 0.0, int64(0)
		for k := range 6000 {
			at, d.nextDeadline = d.nextDeadline, d.nextDeadline+period
			n := math.Floor(float64(at) / (period * c.rate))
			d.follow(at, int64(n*period*c.rate), uint64(n)+7)
			if step := float64(d.nextDeadline - at); step < 0.95*period-1 || step > 1.05*period+1 {
				t.Fatalf("period ×%g: a step of %g", c.rate, step)
			}
			if e := float64(at) - n*period*c.rate - lag; k > 4000 {
				worst = max(worst, min(math.Abs(e), math.Abs(math.Abs(e)-period*c.rate)))
			}
		}
		if locks := worst < 0.05*period; locks != c.locks {
			t.Errorf("period ×%g: deadlines up to %.0f ns from the wanted lag", c.rate, worst)
		}
	}
	for _, frames := range []struct{ before, after uint64 }{{5, 5}, {5, 0}} { // none comes; the count begins at 0 again
		d := NewDeviceClock(period, 0, 0, lag, Missed{}, nil, nil)
		d.follow(0, 0, frames.before)
		for k := range 5 {
			at := d.nextDeadline
			d.follow(at, at-lag/2, frames.after)
			if d.nextDeadline-at != period || d.DeviceLate() != (frames.after == frames.before || k > 0) {
				t.Errorf("%d frames after %d: a step of %d, late %v", frames.after, frames.before, d.nextDeadline-at, d.DeviceLate())
			}
		}
	}
}
