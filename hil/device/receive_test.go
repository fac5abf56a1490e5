package device

import (
	"testing"

	"hilrig/hil/wire"
)

// How old a frame counts: dated back by the device's clock where that is known and describes the frame, else by its arrival.
func TestArrivalIsDatedBack(t *testing.T) {
	fields := []wire.Field{{Name: "a", Type: wire.F32, Scale: 1}}
	r, err := NewRig(Options{Name: "x", Measure: fields, Command: fields, Safe: []float64{0}})
	if err != nil {
		t.Fatal(err)
	}
	const begin, ms = int64(1e15), int64(1e6)
	k, ahead := int64(0), int64(0)
	next := func() (repeated bool) { // a millisecond later
		k++
		r.frame = wire.Frame{Header: wire.Header{Kind: wire.Measurement, HasTime: true, Time: (k*ms + ahead + 1<<40) % r.dec.Wrap(),
			FreshFields: 1}}
		r.frame.V[0] = float64(k)
		return r.repeated()
	}
	frame := func(late int64) (dated int64) { // how far before its arrival it is dated
		if next() {
			t.Fatal("a new frame counts as a repeat")
		}
		arrived := begin + k*ms + late
		r.accept(arrived)
		return max(arrived, r.news.Stamp) - r.news.Group[0].Time
	}
	// nothing is known of the clock yet
	frame(0)
	if d := frame(ms / 2); d != 0 {
		t.Errorf("the second frame is dated back by %d ns", d)
	}
	for range 400 {
		frame(0)
	}
	if d := frame(3 * ms); d < 3*ms-1000 || d > 3*ms+1000 {
		t.Errorf("3 ms late: dated back by %d ns", d)
	}
	for range 10 { // what arrives together with it is younger
		frame(0)
	}
	// a time that no clock could have is not believed, nor is what follows from the one before it
	ahead = 60_000 * ms
	for n := range 2 {
		if d := frame(0); d != 0 {
			t.Errorf("frame %d of another time: dated back by %d ns", n+1, d)
		}
	}
	ahead = 0
	next()
	for range 10 {
		frame(0)
	}
	// a clock set back: believed up to a second, for as long as it may be the host that was away; beyond that not at all. Its first frame
	// may be a stray one from the past
	for _, c := range []struct{ back, want int64 }{{10_000 * ms, 0}, {900 * ms, 900 * ms}, {1001 * ms, 0}} {
		if ahead = -c.back; !next() {
			t.Errorf("back by %d ms: the first frame counts", c.back/ms)
		}
		if d := frame(0); d < c.want-1000 || d > c.want+1000 {
			t.Errorf("back by %d ms: dated back by %d ns, want %d", c.back/ms, d, c.want)
		}
		ahead = 0
		for range 10 {
			frame(0)
		}
	}
	// and after a real jump all is well again
	ahead = -50 * ms
	next()
	for range 30 {
		frame(0)
	}
	if d := frame(0); d > 2000 || r.clock.jumps != 1 {
		t.Errorf("after a jump: dated back by %d ns, %d jumps", d, r.clock.jumps)
	}
}

// Ages of a clock that is none from its first frame on: one that stands still and one that runs backwards leave every sample as old as the
// first ones, for more than a second too, so they are stale; the time since then is told. A single frame from the past counts as none, and
// nor does one that was overtaken. A clock in whole 10 ms is a clock.
func TestClockThatIsNone(t *testing.T) {
	fields := []wire.Field{{Name: "a", Type: wire.F32, Scale: 1}}
	const begin, ms = int64(1e15), int64(1e6)
	for _, c := range []struct {
		name  string
		clock func(k int64) int64 // ms  of frame k
		stale bool
	}{
		{"stands still", func(int64) int64 { return 5000 }, true},
		{"stands still after 1 s", func(k int64) int64 { return min(k, 1000) }, true},
		{"runs backwards", func(k int64) int64 { return 1e6 - k }, true},
		{"runs backwards by 50 ms a frame", func(k int64) int64 { return 1e6 - 50*k }, true},
		{"wraps after 65 ms", func(k int64) int64 { return k % 65 }, true},
		{"wraps after 10 ms", func(k int64) int64 { return k % 10 }, true},
		{"wraps after 400 ms", func(k int64) int64 { return k % 400 }, true},
		{"set back by 0.3 s twice", func(k int64) int64 { return k - 300*min(2, k/450) }, true},
		{"set back by 0.3 s twice, 0.7 s apart", func(k int64) int64 { return k - 300*min(2, k/700) }, false},
		{"set back by 0.3 s once", func(k int64) int64 { return k - 300*min(1, k/450) }, false},
		{"set back by 0.3 s for three frames", func(k int64) int64 { return k - map[bool]int64{k/3 == 200: 300}[true] }, false},
		{"two frames from the past, three times", func(k int64) int64 { return k - map[bool]int64{k%500 < 2 && k < 1600: 300}[true] }, false},
		{"one frame from the past", func(k int64) int64 { return k - map[bool]int64{k == 2500: 2000}[true] }, false},
		{"one frame from 15 ms before", func(k int64) int64 { return k - map[bool]int64{k == 2500: 15}[true] }, false},
		{"in whole 10 ms", func(k int64) int64 { return k / 10 * 10 }, false},
		{"right", func(k int64) int64 { return k }, false},
	} {
		r, err := NewRig(Options{Name: "x", Measure: fields, Command: fields, Safe: []float64{0}})
		if err != nil {
			t.Fatal(err)
		}
		var s Stats
		y, oldest, youngest, strays := make([]float64, 2), 0.0, 1e9, 0
		for k := range int64(4000) {
			r.frame = wire.Frame{Header: wire.Header{Kind: wire.Measurement, HasTime: true, Time: (c.clock(k)*ms + 1<<50) % r.dec.Wrap(),
				FreshFields: 1}}
			r.frame.V[0] = float64(k)
			if r.repeated() {
				strays++
			} else {
				r.accept(begin + k*ms)
				r.inbox.Publish(&r.news)
			}
			if r.Poll(begin+k*ms, y); k >= 2000 {
				oldest, youngest = max(oldest, y[1]), min(youngest, y[1])
				if !c.stale && y[0] == 2500 && c.clock(2500) < c.clock(2499) {
					t.Errorf("%s: the sample from the past is the newest", c.name)
				}
			}
		}
		r.board.read(&s, begin+4000*ms)
		t.Logf("%s: ages from %.4g to %.4g s, %d strays, stalled for %.3g s", c.name, youngest, oldest, strays, float64(s.ClockStalled)*1e-9)
		// told is after how long it begins anew, if that is why
		wraps := map[string]int64{"wraps after 65 ms": 65, "wraps after 400 ms": 400, "runs backwards by 50 ms a frame": 0, "stands still": 0}
		if want, listed := wraps[c.name]; listed && (s.ClockWrap < (want-1)*ms || s.ClockWrap > (want+1)*ms) {
			t.Errorf("%s: wraps after %d ns, want %d ms", c.name, s.ClockWrap, want)
		}
		if c.stale && (youngest < 0.9 || s.ClockStalled < 900*ms) || !c.stale && (oldest > 0.0105 || s.ClockStalled > 10*ms) {
			t.Errorf("%s: ages from %g to %g s, stalled for %g s", c.name, youngest, oldest, float64(s.ClockStalled)*1e-9)
		}
	}
}
