package device

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"

	"hilrig/hil/rt"
	"hilrig/hil/wire"
)

// Faults of a line, seeded. Every one is put on the bytes between two honest ends; the counters must say exactly what
// was done.

// tape is a stream of measurement frames and where each one begins.
func tape(n int) (frames [][]byte) {
	enc, _ := wire.NewLinkEncoder(sensors)
	for k := range n {
		// values without zero bytes at the ends, so that lost delimiters cannot be hidden
		b, _ := enc.Append(nil, wire.Header{Kind: wire.Measurement, Seq: uint8(k), Time: int64(k+1) * 1e6, FreshFields: 3},
			[]float64{1 + float64(k)*1e-3, 0.5})
		frames = append(frames, b)
	}
	return frames
}

// play writes a stream in seeded pieces and waits until the rig has counted every byte: a poll finds it then.
func (b *bench) play(t *testing.T, rng *rand.Rand, stream []byte) (s Stats) {
	t.Helper()
	var before Stats
	b.Stats(&before)
	for rest := stream; len(rest) > 0; {
		n := min(len(rest), 1+rng.IntN(70))
		if _, err := b.far.Write(rest[:n], time.Second); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	until(t, "all bytes are in", func() bool { b.Stats(&s); return s.Bytes == before.Bytes+uint64(len(stream)) })
	return s
}

func TestLineFaults(t *testing.T) {
	const frames = 200
	for _, c := range []struct {
		name  string
		spoil func(rng *rand.Rand, f [][]byte)
		want  func(s *Stats) bool
		says  string
	}{
		{"nothing", func(*rand.Rand, [][]byte) {}, func(s *Stats) bool { return s.Frames == 200 && s.LostFrames() == 0 && s.Resync == 0 },
			"200 frames"},
		{"a byte dropped in each of 10 frames", func(rng *rand.Rand, f [][]byte) {
			for k := 10; k < 110; k += 10 {
				i := rng.IntN(len(f[k]) - 1) // the delimiter stays
				f[k] = append(f[k][:i:i], f[k][i+1:]...)
			}
		}, func(s *Stats) bool { return s.Frames == 190 && s.Malformed == 10 && s.Gaps == 10 }, "10 bad, 10 gaps"},
		{"10 delimiters dropped", func(rng *rand.Rand, f [][]byte) {
			for k := 10; k < 110; k += 10 {
				f[k] = f[k][:len(f[k])-1]
			}
		}, func(s *Stats) bool { return s.Frames == 180 && s.Malformed+s.Oversize == 10 && s.Gaps == 20 },
			"two frames become one bad one: 10 bad, 20 gaps"},
		{"a bit flipped in each of 10 frames", func(rng *rand.Rand, f [][]byte) {
			for k := 10; k < 110; k += 10 {
				i := rng.IntN(len(f[k]) - 1)
				bit := byte(1) << rng.IntN(8)
				if f[k][i] == bit { // would become a delimiter
					bit = bit<<1 | bit>>7
				}
				f[k][i] ^= bit
			}
		}, func(s *Stats) bool { return s.Frames == 190 && s.Malformed == 10 && s.Gaps == 10 }, "10 bad, 10 gaps"},
		{"10 bytes turned into delimiters", func(rng *rand.Rand, f [][]byte) {
			for k := 10; k < 110; k += 10 {
				f[k][1+rng.IntN(len(f[k])-3)] = 0
			}
		}, func(s *Stats) bool { return s.Frames == 190 && s.Malformed == 20 && s.Gaps == 10 }, "20 bad halves, 10 gaps"},
		{"a byte doubled in each of 10 frames", func(rng *rand.Rand, f [][]byte) {
			for k := 10; k < 110; k += 10 {
				i := rng.IntN(len(f[k]) - 1)
				f[k] = append(f[k][:i+1:i+1], f[k][i:]...)
			}
		}, func(s *Stats) bool { return s.Frames == 190 && s.Malformed == 10 && s.Gaps == 10 }, "10 bad, 10 gaps"},
		{"10 frames doubled", func(_ *rand.Rand, f [][]byte) {
			for k := 10; k < 110; k += 10 {
				f[k] = append(f[k][:len(f[k]):len(f[k])], f[k]...)
			}
		}, func(s *Stats) bool { return s.Frames == 200 && s.Repeats == 10 && s.LostFrames() == 0 }, "10 repeats"},
		{"10 frames lost", func(_ *rand.Rand, f [][]byte) {
			for k := 10; k < 110; k += 10 {
				f[k] = nil
			}
		}, func(s *Stats) bool { return s.Frames == 190 && s.Gaps == 10 && s.Malformed == 0 }, "10 gaps"},
		{"10 bytes of rubbish without a delimiter before each of 10 frames", func(rng *rand.Rand, f [][]byte) {
			for k := 10; k < 110; k += 10 {
				junk := make([]byte, 10)
				for i := range junk {
					junk[i] = 1 + byte(rng.IntN(255))
				}
				f[k] = append(junk, f[k]...)
			}
		}, func(s *Stats) bool { return s.Frames == 190 && s.Malformed+s.Oversize == 10 && s.Gaps == 10 }, "10 bad, 10 gaps"},
		{"1000 bytes without a delimiter before each of 10 frames", func(rng *rand.Rand, f [][]byte) {
			for k := 10; k < 110; k += 10 {
				f[k] = append([]byte(strings.Repeat("U", 1000)), f[k]...)
			}
		}, func(s *Stats) bool { return s.Frames == 190 && s.Oversize == 10 && s.Gaps == 10 && s.Malformed == 0 }, "10 oversize, 10 gaps"},
		{"our own frames echoed 10 times", func(_ *rand.Rand, f [][]byte) {
			enc, _ := wire.NewLinkEncoder(drives)
			for k := 10; k < 110; k += 10 {
				f[k], _ = enc.Append(f[k], wire.Header{Kind: wire.Command, FreshFields: 3}, []float64{1, 1})
			}
		}, func(s *Stats) bool { return s.Frames == 200 && s.Foreign == 10 && s.LostFrames() == 0 }, "10 foreign"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(11, 7))
			f := tape(frames)
			c.spoil(rng, f)
			b := lay(t, false, nil)
			stream := []byte{0}
			for _, p := range f {
				stream = append(stream, p...)
			}
			if s := b.play(t, rng, stream); !c.want(&s) {
				t.Errorf("want %s, got %+v", c.says, s)
			}
		})
	}
}

// A flood of rubbish costs a bounded number of frames and no memory, and the first clean frame after it is believed.
func TestGarbageFlood(t *testing.T) {
	b := lay(t, false, nil)
	rng := rand.New(rand.NewPCG(5, 5))
	junk := make([]byte, 1<<20)
	for i := range junk {
		junk[i] = byte(rng.Uint32())
	}
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	begin := time.Now()
	b.play(t, rng, junk)
	took := time.Since(begin)
	runtime.ReadMemStats(&m1)
	f := tape(3)
	s := b.play(t, rng, append([]byte{0}, append(append(f[0], f[1]...), f[2]...)...))
	// two chunks in 65536 of the right length would pass the CRC
	if s.Frames < 3 || s.Frames > 4 || s.Malformed+s.Oversize < 1000 || s.Resync < 1<<20-50 {
		t.Errorf("%+v", s)
	}
	if n := m1.Mallocs - m0.Mallocs; n > 3000 { // the test's own timers; the rig alone would show 4096 bytes a chunk
		t.Errorf("%d allocations for 1 MB", n)
	}
	t.Logf("1 MB of rubbish in %v, %d chunks refused", took, s.Malformed+s.Oversize)
}

// A host that was away finds a burst: the newest value counts, nothing is replayed, nothing is lost.
func TestStallThenBurst(t *testing.T) {
	b := lay(t, true, nil)
	for k := range 50 {
		b.fw.Send([]float64{float64(k) * 0.01, float64(k) * 0.01})
		time.Sleep(500 * time.Microsecond)
	}
	var s Stats
	var far Stats
	until(t, "the burst is in", func() bool {
		b.fw.Stats(&far)
		b.Stats(&s)
		return far.TxFrames+far.TxDropped == 50 && s.Frames == far.TxFrames
	})
	if fresh := b.poll(); fresh != 7 || b.y[1] != 0.49 {
		t.Errorf("fresh %b, y %v; want the last sample", fresh, b.y)
	}
	if fresh := b.poll(); fresh != 0 {
		t.Errorf("a second poll finds fresh %b: a replay", fresh)
	}
	if s.LostFrames() != 0 || far.TxFrames+far.TxDropped != 50 {
		t.Errorf("%+v, %+v", s, far)
	}
}

// A master that nobody reads: Send costs what it costs otherwise, the timeouts are counted, and Close returns.
func TestUnreadMaster(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	defer slave.Close()
	rig, err := NewRig(Options{Port: slave.Name(), Command: drives, Safe: []float64{0, 0}, TxCPU: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	var s Stats
	var stuck []time.Duration // Sends after the first timeout
	sends := 0
	until(t, "writes time out", func() bool {
		for range 50 {
			begin := time.Now()
			if rig.Send([]float64{1, 1}); s.TxErrors > 0 {
				stuck = append(stuck, time.Since(begin))
			}
			sends++
			time.Sleep(10 * time.Microsecond)
		}
		rig.Stats(&s)
		return s.TxErrors >= 3 && len(stuck) >= 200
	})
	begin := time.Now()
	rig.Close()
	if d := time.Since(begin); d > 2*time.Second {
		t.Errorf("Close took %v", d)
	}
	// had Send waited for the line, every one would have taken the time of a write that times out
	slices.Sort(stuck)
	if m := stuck[len(stuck)/2]; m > defaultWithin/4 {
		t.Errorf("median Send %v with nobody reading", m)
	}
	t.Logf("%d commands; with nobody reading: median %v, longest %v; %d B taken by the kernel, %d timeouts",
		sends, stuck[len(stuck)/2], stuck[len(stuck)-1], s.TxBytes, s.TxErrors)
}

// A device that lies: its clock jumps, its counter stands still, its numbers are none.
func TestLyingDevice(t *testing.T) {
	floats := []wire.Field{{Name: "a", Type: wire.F32, Scale: 1}, {Name: "b", Type: wire.F32, Scale: 1}}
	var clock atomic.Int64 // of the host: a millisecond a frame, however long the test machine takes
	clock.Store(1e12)
	b := lay(t, false, func(o *Options, fo *FirmwareOptions) {
		o.Measure, fo.Send, o.Baud, o.HostTime = floats, floats, 0, clock.Load
	})
	enc, _ := wire.NewLinkEncoder(floats)
	frame := func(seq uint8, dev int64) []byte {
		p, _ := enc.Append(nil, wire.Header{Kind: wire.Measurement, Seq: seq, Time: dev, FreshFields: 3}, []float64{1, 2})
		return p
	}
	rng := rand.New(rand.NewPCG(1, 1))
	send := func(p []byte) {
		clock.Add(1e6)
		b.play(t, rng, p)
	}

	// the clock runs, then jumps by a minute
	dev, seq := int64(0), uint8(0)
	tick := func(n int) {
		for range n {
			seq++
			dev += 1e6
			send(frame(seq, dev))
		}
	}
	tick(300)
	dev += 60e9
	tick(10)
	var s Stats
	if b.Stats(&s); s.ClockJumps != 1 || s.Frames != 310 {
		t.Errorf("after a jump: %+v", s)
	}

	// the same counter again and again is no news
	b.poll()
	for range 5 {
		send(frame(seq, dev))
	}
	if b.Stats(&s); s.Repeats != 5 || b.poll() != 0 {
		t.Errorf("after repeats: %+v", s)
	}

	// the same numbers at the same time of its clock, under a new counter, neither; other numbers are
	again := func(v float64) []byte {
		seq++
		p, _ := enc.Append(nil, wire.Header{Kind: wire.Measurement, Seq: seq, Time: dev, FreshFields: 3}, []float64{1, v})
		return p
	}
	send(again(2))
	if b.Stats(&s); s.Repeats != 6 || b.poll() != 0 {
		t.Errorf("after a repeat under a new counter: %+v", s)
	}
	send(again(2.5))
	if b.Stats(&s); s.Repeats != 6 || b.poll() != 0b111 {
		t.Errorf("after a new number at the same time: %+v", s)
	}

	// a frame that a newer one overtook is not taken, up to 20 ms back; further back the clock was set
	late := func(back int64) []byte {
		seq++
		p, _ := enc.Append(nil, wire.Header{Kind: wire.Measurement, Seq: seq, Time: dev - back, FreshFields: 3}, []float64{9, 9})
		return p
	}
	for _, back := range []int64{1e6, 19.999e6} {
		send(late(back))
	}
	if b.Stats(&s); s.Repeats != 8 || b.poll() != 0 {
		t.Errorf("after overtaken frames: %+v", s)
	}
	send(late(20e6))
	if b.Stats(&s); s.Repeats != 8 || b.poll() != 0b111 || b.y[0] != 9 {
		t.Errorf("after a clock 20 ms back: %+v", s)
	}

	// NaN in one field: it reaches the tick, and the other one as well
	bits, _ := wire.NewLinkEncoder([]wire.Field{{Name: "a", Type: wire.U32, Scale: 1}, {Name: "b", Type: wire.F32, Scale: 1}})
	p, _ := bits.Append(nil, wire.Header{Kind: wire.Measurement, Seq: seq + 1, Time: dev + 1e6, FreshFields: 3}, []float64{0x7fc00000, 3})
	send(p)
	if b.Stats(&s); s.NonFinite != 1 || b.poll() != 0b111 || b.y[0] == b.y[0] || b.y[1] != 3 {
		t.Errorf("after NaN: %v, %+v", b.y, s)
	}
}

// Unplugged and plugged in again a thousand times: counted, and descriptors, threads and goroutines are as at the start.
func TestUnplugReplug(t *testing.T) {
	cycles := 1000
	if testing.Short() {
		cycles = 100
	}
	var mu sync.Mutex
	var far Port
	opens := 0
	open := func() (Port, error) {
		mu.Lock()
		defer mu.Unlock()
		if opens++; opens%3 == 0 { // some tries find the device still gone
			return nil, errors.New("not there yet")
		}
		if far != nil {
			far.Close()
		}
		a, b, err := Pair()
		far = b
		return a, err
	}
	if r, w, err := os.Pipe(); err == nil { // the runtime opens two files of its own for the first of these, and keeps them
		r.Close()
		w.Close()
	}
	files, routines := openFiles(t), runtime.NumGoroutine()
	rig, err := NewRig(Options{Measure: sensors, Command: drives, Safe: []float64{0, 0}, TxCPU: -1, OpenPort: open,
		Backoff: []time.Duration{50 * time.Microsecond}})
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	enc, _ := wire.NewLinkEncoder(sensors)
	p, _ := enc.Append(nil, wire.Header{Kind: wire.Measurement, FreshFields: 3}, []float64{1, 1})
	var s Stats
	for k := range uint64(cycles) {
		mu.Lock()
		far.Write(p, time.Second)
		until(t, "the frame is in", func() bool { rig.Stats(&s); return s.Frames == k+1 })
		far.Close()
		mu.Unlock()
		rig.Send([]float64{1, 1})
		until(t, "it is back", func() bool { rig.Stats(&s); return s.Reconnects == k+1 && s.Connected == 1 })
	}
	if s.Frames != uint64(cycles) || s.LostFrames() != 0 {
		t.Errorf("%+v", s)
	}
	// the age keeps growing while nothing comes
	y := make([]float64, 3)
	rig.Poll(rt.Now(), y)
	was := y[2]
	rig.Poll(rt.Now()+1e9, y)
	if y[2] < was+0.9 {
		t.Errorf("age %v s, then %v s a second later", was, y[2])
	}
	rig.Close()
	far.Close()
	until(t, "everything is given back", func() bool { return openFiles(t) <= files && runtime.NumGoroutine() <= routines })
}

// The same with a real terminal that goes away, a few times: the name stays, the device behind it is another.
func TestUnplugPTY(t *testing.T) {
	link := t.TempDir() + "/port"
	files, routines := openFiles(t), runtime.NumGoroutine()
	master, _, err := OpenPTY(link)
	if err != nil {
		t.Fatal(err)
	}
	rig, err := NewRig(Options{Port: link, Measure: sensors, TxCPU: -1, Backoff: []time.Duration{time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := rig.Start(ctx); err != nil {
		t.Fatal(err)
	}
	enc, _ := wire.NewLinkEncoder(sensors)
	y := make([]float64, 3)
	for k := range 20 {
		p, _ := enc.Append(nil, wire.Header{Kind: wire.Measurement, Seq: uint8(k), FreshFields: 3}, []float64{1, float64(k) / 8})
		master.Write(p, time.Second)
		until(t, "the frame arrives", func() bool { return rig.Poll(rt.Now(), y) != 0 && y[1] == float64(k)/8 })
		master.Close()
		until(t, "it is noticed", func() bool { return !rig.Connected() })
		if master, _, err = OpenPTY(link); err != nil {
			t.Fatal(err)
		}
		until(t, "it is back", rig.Connected)
	}
	// the end of the context ends the line as Close does
	cancel()
	master.Close()
	until(t, "everything is given back", func() bool { return openFiles(t) <= files && runtime.NumGoroutine() <= routines })
	rig.Close()
}

// openFiles counts the descriptors of this process.
func openFiles(t *testing.T) int {
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(d)
}

func BenchmarkRoundTrip(b *testing.B) {
	for _, terminal := range []bool{false, true} {
		b.Run(map[bool]string{false: "socket", true: "pty"}[terminal], func(b *testing.B) {
			r := lay(b, terminal, func(o *Options, _ *FirmwareOptions) { o.Baud = 0 })
			k := 0.0
			for b.Loop() {
				k = 1 - k
				r.fw.Send([]float64{k, 1})
				for r.poll() == 0 || r.y[0] < k-0.1 || r.y[0] > k+0.1 {
					runtime.Gosched()
				}
			}
		})
	}
}

func BenchmarkSend(b *testing.B) {
	r := lay(b, false, nil)
	u := []float64{1, 1}
	b.ReportAllocs()
	for b.Loop() {
		r.Send(u)
	}
}

func BenchmarkPoll(b *testing.B) {
	r := lay(b, false, nil)
	b.ReportAllocs()
	for b.Loop() {
		r.poll()
	}
}
