package device

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"hilrig/engine"
)

// dummy is a device whose every number the test says.
type dummy struct {
	meas, cmd  int
	fresh      uint64
	base       float64
	sent       [][]float64
	away       bool
	reconnects uint64
	slow       time.Duration
	began      time.Time
	failing    error
	closed     int
}

func (d *dummy) Signals() (meas, cmd []engine.Signal) {
	for i := range d.meas {
		meas = append(meas, engine.Signal{Name: fmt.Sprint("m", i)})
	}
	return append(meas, engine.Signal{Name: "age", Unit: "s"}), make([]engine.Signal, d.cmd)
}
func (d *dummy) Start(context.Context) error { return d.failing }
func (d *dummy) Poll(now int64, y []float64) uint64 {
	for i := range y {
		y[i] = d.base + float64(i)
	}
	return d.fresh
}
func (d *dummy) Send(u []float64)                     { d.sent = append(d.sent, append([]float64(nil), u...)) }
func (d *dummy) Close() error                         { d.closed++; return d.failing }
func (d *dummy) Pace() (int64, uint64)                { return int64(d.base), 7 }
func (d *dummy) Connected() bool                      { return !d.away }
func (d *dummy) Reconnects() uint64                   { return d.reconnects }
func (d *dummy) Flush()                               {}
func (d *dummy) Confirmation() (Confirmation, uint64) { return Confirmed, uint64(len(d.sent)) }
func (d *dummy) Safe()                                { d.began = time.Now(); time.Sleep(d.slow) }
func (d *dummy) Stats(s *Stats)                       { s.Frames = uint64(d.base) }

func setOf(t *testing.T, paces int, parts ...Part) *Set {
	t.Helper()
	s, err := NewSet(paces, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Whatever the sizes of the members, each signal has its value in its place, and its fresh bit, also across the border of the two words.
func TestSetPutsMembersSideBySide(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var parts []Part
		var all []*dummy
		var values []float64
		var bits []bool
		for left := 128; left > 1 && len(parts) < MaxDevices; {
			n := 1 + rng.IntN(min(64, left)) // with the age
			d := &dummy{meas: n - 1, base: 1000 * float64(len(parts)+1), fresh: rng.Uint64()}
			if n < 64 {
				d.fresh &= 1<<n - 1
			}
			for i := range n {
				values, bits = append(values, d.base+float64(i)), append(bits, d.fresh>>i&1 != 0)
			}
			left -= n
			parts, all = append(parts, Part{Member: d}), append(all, d)
		}
		s := setOf(t, 0, parts...)
		y := make([]float64, len(values))
		fresh := s.Poll(1, y)
		for i, v := range values {
			if y[i] != v || (fresh[i>>6]>>(i&63)&1 != 0) != bits[i] {
				t.Fatalf("signal %d is %g fresh %b, want %g %v", i, y[i], fresh, v, bits[i])
			}
		}
		for i := len(values); i < 128; i++ {
			if fresh[i>>6]>>(i&63)&1 != 0 {
				t.Fatalf("signal %d does not exist and is fresh", i)
			}
		}
		if meas, _ := s.Signals(); len(meas) != len(values) || meas[s.AgeAt(0)].Name != "age" || y[s.AgeAt(len(all)-1)] != values[len(values)-1] {
			t.Fatal("the age is not the last signal of its device")
		}
	}
	if _, err := NewSet(0, Part{Member: &dummy{meas: 63}}, Part{Member: &dummy{meas: 63}}, Part{Member: &dummy{}}); err == nil {
		t.Error("129 measured signals are taken")
	}
	if _, err := NewSet(0); err == nil {
		t.Error("no device is taken")
	}
	if _, err := NewSet(0, make([]Part, MaxDevices+1)...); err == nil {
		t.Error("nine devices are taken")
	}
}

// Commands reach their device, those of a slow one every so many times; a device without commands gets none.
func TestSetSends(t *testing.T) {
	a, b, c := &dummy{cmd: 2}, &dummy{}, &dummy{cmd: 1}
	s := setOf(t, 0, Part{Member: a}, Part{Member: b}, Part{Member: c, SendEvery: 5})
	for k := range 11 {
		s.Send([]float64{float64(k), 10, 20 + float64(k)})
	}
	if len(a.sent) != 11 || a.sent[3][0] != 3 || a.sent[3][1] != 10 || len(a.sent[3]) != 2 || len(b.sent) != 0 {
		t.Errorf("sent %v and %v", a.sent, b.sent)
	}
	if len(c.sent) != 3 || c.sent[0][0] != 20 || c.sent[1][0] != 25 || c.sent[2][0] != 30 {
		t.Errorf("the slow device got %v", c.sent)
	}
}

// A required device that is away is named by its age; an optional one is not. Reconnects of optional ones are not told.
func TestSetKnowsWhoIsAway(t *testing.T) {
	a, b, c := &dummy{meas: 3}, &dummy{meas: 2, away: true, reconnects: 4}, &dummy{meas: 1, reconnects: 9}
	s := setOf(t, 2, Part{Member: a}, Part{Member: b, Optional: true}, Part{Member: c})
	if at, ok := s.Connected(); !ok || at != -1 {
		t.Errorf("an optional device is missed: %d", at)
	}
	if n := s.Reconnects(); n != [MaxDevices]uint64{2: 9} {
		t.Errorf("reconnects %v", n)
	}
	c.away = true
	if at, ok := s.Connected(); ok || at != 8 { // 4 signals of a, 3 of b, then one and its age
		t.Errorf("away: signal %d", at)
	}
	c.base = 77
	if stamp, n := s.Pace(); stamp != 77 || n != 7 {
		t.Errorf("paced by %d, %d", stamp, n)
	}
}

// Safe frames leave side by side: a device whose line hangs delays no other, and all have had theirs when Safe returns.
func TestSetIsSafeSideBySide(t *testing.T) {
	const hang = 200 * time.Millisecond
	var parts []Part
	var all []*dummy
	for i := range 4 {
		d := &dummy{}
		if i < 3 {
			d.slow = hang
		}
		parts, all = append(parts, Part{Member: d}), append(all, d)
	}
	from := time.Now()
	setOf(t, 0, parts...).Safe()
	if took := time.Since(from); took < hang || took > 2*hang {
		t.Errorf("three lines that hang for %v each took %v", hang, took)
	}
	for i, d := range all {
		if d.began.IsZero() || d.began.Sub(from) > hang/2 {
			t.Errorf("device %d had to wait: %v", i, d.began.Sub(from))
		}
	}
}

// A device that cannot start closes those that did, and says so.
func TestSetStarts(t *testing.T) {
	a, b, c := &dummy{}, &dummy{failing: errors.New("no such port")}, &dummy{}
	err := setOf(t, 0, Part{Member: a}, Part{Member: b}, Part{Member: c}).Start(context.Background())
	if err == nil || a.closed != 1 || c.closed != 0 {
		t.Errorf("%v; closed %d and %d times", err, a.closed, c.closed)
	}
}

func TestSetPollAllocatesNothing(t *testing.T) {
	s := setOf(t, 0, Part{Member: &dummy{meas: 40, fresh: 5}}, Part{Member: &dummy{meas: 40, fresh: 9}}, Part{Member: &dummy{meas: 10}})
	y := make([]float64, 93)
	if a := testing.AllocsPerRun(100, func() { s.Poll(1, y); s.Connected(); s.Reconnects() }); a != 0 {
		t.Errorf("%g allocations", a)
	}
}
