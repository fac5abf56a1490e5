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
	frame := func(late int64) (dated int64) { // a millisecond later; how far before its arrival it is dated
		k++
		r.frame = wire.Frame{Header: wire.Header{Kind: wire.Measurement, HasTime: true, Time: (k*ms + ahead + 1<<40) % r.dec.Wrap(),
			FreshFields: 1}}
		r.frame.V[0] = float64(k)
		if r.repeated() {
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
	for range 10 {
		frame(0)
	}
	// a clock set back: believed up to a second, for as long as it may be the host that was away; beyond that not at all
	for _, c := range []struct{ back, want int64 }{{10_000 * ms, 0}, {900 * ms, 900 * ms}, {1001 * ms, 0}} {
		ahead = -c.back
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
	for range 30 {
		frame(0)
	}
	if d := frame(0); d > 2000 || r.clock.jumps != 1 {
		t.Errorf("after a jump: dated back by %d ns, %d jumps", d, r.clock.jumps)
	}
}
