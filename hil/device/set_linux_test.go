package device

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hilrig/hil/rt"
	"hilrig/hil/wire"
)

// three are three boards on lines of their own, which send a frame whenever asked to, as one set.
type three struct {
	set  *Set
	rigs [3]*Rig
	mu   sync.Mutex
	far  [3]Port
	seq  [3]uint8
	sent [3]uint64
}

func newThree(t *testing.T) *three {
	t.Helper()
	b := &three{}
	var parts []Part
	for i := range b.rigs {
		o := Options{Measure: sensors, Command: drives, Safe: []float64{0, 0}, TxCPU: -1, Backoff: []time.Duration{time.Millisecond}}
		o.OpenPort = func() (Port, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			near, far, err := Pair()
			b.far[i] = far
			return near, err
		}
		var err error
		if b.rigs[i], err = NewRig(o); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, Part{Member: b.rigs[i], Optional: i == 2})
	}
	b.set = setOf(t, 0, parts...)
	if err := b.set.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.set.Close() })
	return b
}

// send puts a frame of board i on its line.
func (b *three) send(i int) {
	enc, _ := wire.NewLinkEncoder(sensors)
	p, _ := enc.Append(nil, wire.Header{Kind: wire.Measurement, Seq: b.seq[i], FreshFields: 3}, []float64{1, float64(b.seq[i]) / 8})
	b.seq[i]++
	b.mu.Lock()
	defer b.mu.Unlock()
	if n, err := b.far[i].Write(p, time.Second); err == nil && n == len(p) {
		b.sent[i]++
	}
}

// One of three is unplugged 200 times, each in turn: the others lose no frame, a required one is told as away and counted, an optional one
// is counted only.
func TestUnplugOneOfThree(t *testing.T) {
	cycles := 200
	if testing.Short() {
		cycles = 20
	}
	for gone := range 3 {
		b := newThree(t)
		var s Stats
		missed := 0
		for k := range uint64(cycles) {
			for i := range 3 {
				b.send(i)
			}
			b.rigs[gone].Stats(&s)
			b.mu.Lock()
			b.far[gone].Close()
			b.mu.Unlock()
			for i := range 3 {
				if i != gone {
					b.send(i)
				}
			}
			until(t, "it is back", func() bool {
				if _, ok := b.set.Connected(); !ok {
					missed++
				}
				b.rigs[gone].Stats(&s)
				return s.Reconnects == k+1 && s.Connected == 1
			})
		}
		for i := range 3 {
			until(t, "all frames are in", func() bool { b.rigs[i].Stats(&s); return i == gone || s.Frames == b.sent[i] })
			if i != gone && (s.Frames != uint64(2*cycles) || s.LostFrames() != 0 || s.Reconnects != 0) {
				t.Errorf("board %d unplugged: board %d lost something: %d of %d frames, %d bad, %d gaps", gone, i, s.Frames, 2*cycles,
					s.Malformed, s.Gaps)
			}
		}
		var want [MaxDevices]uint64
		if gone != 2 {
			want[gone] = uint64(cycles)
		}
		if n := b.set.Reconnects(); n != want {
			t.Errorf("board %d unplugged: reconnects %v", gone, n)
		}
		if gone == 2 && missed > 0 {
			t.Errorf("an optional board was missed %d times", missed)
		}
	}
}

// One port of three is deaf: nobody reads it, and its buffers are full. The safe frames of the others are out within 100 ms all the same,
// and Safe ends.
func TestSafeBesideADeafPort(t *testing.T) {
	b := newThree(t)
	// board 0 reads nothing: commands fill the line
	deadline := time.Now().Add(5 * time.Second)
	for u := []float64{0, 0, 0, 0, 0, 0}; time.Now().Before(deadline); {
		u[0], u[2], u[4] = u[0]+1e-3, 0, 0
		b.rigs[0].Send(u[:2])
		var s Stats
		if b.rigs[0].Stats(&s); s.TxErrors > 0 {
			break
		}
		time.Sleep(20 * time.Microsecond)
	}
	var s Stats
	if b.rigs[0].Stats(&s); s.TxErrors == 0 {
		t.Fatal("the line is not full")
	}
	// the others listen
	var heard [3]atomic.Int64
	dec := make([]wire.Decoder, 3)
	for i := 1; i < 3; i++ {
		dec[i], _ = wire.NewLinkDecoder(drives, wire.Command, wire.Safe)
		go func() {
			buf := make([]byte, 256)
			for {
				n, err := b.far[i].Read(buf)
				if err != nil {
					return
				}
				at := rt.Now()
				for rest := buf[:n]; len(rest) > 0; {
					var f wire.Frame
					used, st := dec[i].Next(rest, &f)
					rest = rest[used:]
					if st == wire.Good && f.Kind == wire.Safe {
						heard[i].CompareAndSwap(0, at)
					}
				}
			}
		}()
	}
	from := rt.Now()
	b.set.Safe()
	took := time.Duration(rt.Now() - from)
	for i := 1; i < 3; i++ {
		until(t, "the safe frame is heard", func() bool { return heard[i].Load() != 0 })
		if after := time.Duration(heard[i].Load() - from); after > 100*time.Millisecond {
			t.Errorf("board %d got its safe frame after %v", i, after)
		} else {
			t.Logf("board %d: %v", i, after)
		}
	}
	if took > time.Second {
		t.Errorf("Safe took %v beside a deaf port", took)
	}
}
