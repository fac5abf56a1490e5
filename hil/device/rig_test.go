package device

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"hilrig/hil"
	"hilrig/hil/protocol"
	"hilrig/hil/rt"
	"hilrig/hil/wire"
)

var (
	_ Member     = (*Rig)(nil)
	_ Member     = (*Firmware)(nil)
	_ hil.Device = (*Set)(nil)
	_ hil.Pacer  = (*Rig)(nil)
)

// Stats lies in shared memory: its size is part of the layout.
const _ = uint(unsafe.Sizeof(Stats{}) - (24*8 + wire.TextLen))

var (
	sensors = []wire.Field{
		{Name: "axis.position", Unit: "rad", Type: wire.I32, Scale: 2 * math.Pi / 65536},
		{Name: "motor.current", Unit: "A", Type: wire.I16, Scale: 0.001},
	}
	drives = []wire.Field{
		{Name: "motor.voltage", Unit: "V", Type: wire.I16, Scale: 0.001},
		{Name: "enable", Unit: "", Type: wire.U8, Scale: 1},
	}
)

// bench is a rig and its firmware on one line.
type bench struct {
	*Rig
	fw       *Firmware
	rig, far Port
	y        []float64 // Poll of the rig
	c        []float64 // Poll of the firmware
}

// lay joins both ends by a socket pair, or by a pseudo-terminal; edit changes the options before.
func lay(t testing.TB, terminal bool, edit func(*Options, *FirmwareOptions)) *bench {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("lines in tests need Linux")
	}
	b := &bench{}
	o := Options{Name: "test", Baud: 921600, Measure: sensors, Command: drives, Safe: []float64{0, 0}, TxCPU: -1}
	fo := FirmwareOptions{Baud: 921600, Recv: drives, Send: sensors}
	if !terminal {
		var err error
		if b.rig, b.far, err = Pair(); err != nil {
			t.Fatal(err)
		}
		o.OpenPort = func() (Port, error) { return b.rig, nil }
		fo.Port = b.far
	}
	if edit != nil {
		edit(&o, &fo)
	}
	var err error
	if b.fw, err = NewFirmware(fo); err != nil {
		t.Fatal(err)
	}
	if terminal {
		o.Port = b.fw.Name()
	}
	if b.Rig, err = NewRig(o); err != nil {
		t.Fatal(err)
	}
	if err := b.fw.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := b.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close(); b.fw.Close() })
	b.y, b.c = make([]float64, len(o.Measure)+1), make([]float64, len(fo.Recv)+1)
	return b
}

// until polls f until it is true, for 5 s at most.
func until(t testing.TB, what string, f func() bool) {
	t.Helper()
	for k, end := 0, time.Now().Add(5*time.Second); !f(); k++ {
		if k < 100 {
			runtime.Gosched() // most things happen at once
			continue
		}
		if time.Sleep(200 * time.Microsecond); time.Now().After(end) {
			t.Fatal("waited 5 s in vain until ", what)
		}
	}
}

// in waits until the rig has taken n frames: a poll finds them from then on.
func (b *bench) in(t testing.TB, n uint64) {
	t.Helper()
	until(t, "the frames are in", func() bool { var s Stats; b.Stats(&s); return s.Frames == n })
}

// settled waits until all that either end sent has been counted at the other.
func (b *bench) settled(t testing.TB) {
	t.Helper()
	until(t, "the line is empty", func() bool {
		var s, far Stats
		b.fw.Stats(&far)
		b.Stats(&s)
		return far.TxBytes == s.Bytes && s.TxBytes == far.Bytes
	})
}

func (b *bench) poll() uint64   { return b.Poll(rt.Now(), b.y) }
func (b *bench) fwPoll() uint64 { return b.fw.Poll(rt.Now(), b.c) }

// One sample out and one command back, over both kinds of line and both protocols.
func TestExchange(t *testing.T) {
	line := &protocol.Line{Checksum: "xor", Time: "t", TimeUnit: 1e-6, TimeBits: 32}
	for _, c := range []struct {
		name     string
		terminal bool
		proto    protocol.Section
	}{
		{"link over a socket pair", false, nil},
		{"link over a pseudo-terminal", true, protocol.Link{}},
		{"lines over a pseudo-terminal", true, line},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := lay(t, c.terminal, func(o *Options, fo *FirmwareOptions) { o.Protocol, fo.Protocol = c.proto, c.proto })
			if meas, cmd := b.Signals(); len(meas) != 3 || meas[2].Name != "age" || meas[2].Unit != "s" || len(cmd) != 2 || meas[0].Unit != "rad" {
				t.Fatalf("signals %v %v", meas, cmd)
			}
			// nothing yet: neither values nor an age
			if fresh := b.poll(); fresh != 0 || slices.ContainsFunc(b.y[:3], func(v float64) bool { return v == v }) {
				t.Fatalf("before the first frame: fresh %b, y %v", fresh, b.y)
			}
			var fresh, sent uint64
			until(t, "a sample arrives", func() bool {
				b.fw.Send([]float64{1.5, -0.25})
				sent++
				time.Sleep(time.Millisecond)
				fresh = b.poll()
				return fresh != 0
			})
			// a tick whose time is before the frame: it woke late, and the age says how much younger the frame is
			y := make([]float64, 3)
			if b.Poll(rt.Now()-5e9, y); y[2] > -0.1 {
				t.Errorf("age %g s at a time five seconds ago, want it negative", y[2])
			}
			if fresh != 7 || math.Abs(b.y[0]-1.5) > math.Pi/65536 || b.y[1] != -0.25 || b.y[2] < 0 || b.y[2] > 5 {
				t.Errorf("fresh %b, y %v", fresh, b.y)
			}
			until(t, "a command arrives", func() bool {
				b.Send([]float64{-3.5, 1})
				time.Sleep(time.Millisecond)
				fresh = b.fwPoll()
				return fresh != 0
			})
			if fresh != 7 || b.c[0] != -3.5 || b.c[1] != 1 {
				t.Errorf("fresh %b, commands %v", fresh, b.c)
			}
			// what is not new is not fresh, but still there
			until(t, "every sample has left", func() bool { var s Stats; b.fw.Stats(&s); return s.TxFrames+s.TxDropped == sent })
			b.settled(t)
			b.poll()
			if fresh = b.poll(); fresh != 0 || b.y[1] != -0.25 {
				t.Errorf("second poll: fresh %b, y %v", fresh, b.y)
			}
			// closing the rig leaves it safe, enable off
			b.Close()
			until(t, "the safe frame arrives", func() bool { b.fwPoll(); return b.c[0] == 0 && b.c[1] == 0 })
			var s Stats
			b.Stats(&s)
			if s.LostFrames() != 0 || s.TxErrors != 0 || s.Frames == 0 || s.TxFrames < 4 || s.Connected != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Nothing that runs in the tick allocates, with both threads at work.
func TestTickAllocs(t *testing.T) {
	b := lay(t, false, nil)
	u, s := []float64{1, 1}, Stats{}
	for range 10 { // threads and buffers exist from here
		b.fw.Send(u)
		b.Send(u)
		time.Sleep(time.Millisecond)
	}
	if n := testing.AllocsPerRun(300, func() {
		b.fw.Send(u)
		b.Send(u)
		b.poll()
		b.fwPoll()
		b.Stats(&s)
		b.Pace()
		b.Flush()
		time.Sleep(50 * time.Microsecond)
	}); n != 0 {
		t.Errorf("%v allocations per tick", n)
	}
}

// Frames that carry a part of the fields refresh those only; fields of two frames between two polls are all fresh.
func TestMultiRate(t *testing.T) {
	b := lay(t, false, nil)
	enc, _ := wire.NewLinkEncoder(sensors)
	put := func(seq uint8, fresh uint64, v ...float64) {
		p, ok := enc.Append(nil, wire.Header{Kind: wire.Measurement, Seq: seq, Time: int64(seq) * 1e6, FreshFields: fresh}, v)
		if !ok {
			t.Fatal("not encoded")
		}
		b.far.Write(p, time.Second)
	}
	put(1, 0b01, 1, 0)
	put(2, 0b10, 0, 2)
	b.in(t, 2)
	if fresh := b.poll(); fresh != 0b111 || math.Abs(b.y[0]-1) > 1e-4 || b.y[1] != 2 {
		t.Errorf("two halves: fresh %b, %v", fresh, b.y)
	}
	put(3, 0b10, 0, 3)
	b.in(t, 3)
	if fresh := b.poll(); fresh != 0b110 || math.Abs(b.y[0]-1) > 1e-4 || b.y[1] != 3 {
		t.Errorf("second half: fresh %b, %v", fresh, b.y)
	}
	// an empty frame says nothing, about no field, so nothing becomes younger
	put(4, 0, 0, 0)
	b.in(t, 4)
	if fresh := b.poll(); fresh != 0 {
		t.Errorf("empty frame: fresh %b", fresh)
	}
	// after Flush, what was there before is old
	put(5, 0b11, 5, 5)
	b.in(t, 5)
	b.Flush()
	if fresh := b.poll(); fresh != 0 || b.y[1] != 5 {
		t.Errorf("after Flush: fresh %b, %v", fresh, b.y)
	}
	// a repeated counter is no news
	put(5, 0b11, 6, 6)
	put(6, 0b11, 7, 7)
	b.in(t, 6)
	var s Stats
	if b.Stats(&s); b.poll() != 0b111 || b.y[1] != 7 || s.Repeats != 1 {
		t.Errorf("after a repeat: %v, %+v", b.y, s)
	}
}

// Dating back: of three frames in one read, each is older than the next by its bytes at 10 bits each.
func TestBackDating(t *testing.T) {
	var clock atomic.Int64
	clock.Store(5e9)
	b := lay(t, false, func(o *Options, _ *FirmwareOptions) { o.Baud, o.HostTime = 10000, clock.Load }) // 1 ms per byte
	enc, _ := wire.NewLinkEncoder(sensors)
	one, _ := enc.Append(nil, wire.Header{Kind: wire.Measurement, Seq: 1, FreshFields: 3}, []float64{1, 1})
	b.far.Write(append(one, make([]byte, 30)...), time.Second) // the frame, then 30 idle bytes
	b.in(t, 1)
	if stamp, _ := b.Pace(); stamp != 5e9-30e6 {
		t.Errorf("stamp %d, want 30 ms before the read at 5 s", stamp)
	}
	if b.Poll(5e9, b.y); math.Abs(b.y[2]-0.030) > 1e-12 {
		t.Errorf("age %v s, want 0.030", b.y[2])
	}
}

// The device's clock is mapped: over a paced line with a drifting clock the drift is found and the stamps are steadier
// than the arrivals can be. Time is synthetic, so this takes no 30 s.
func TestDeviceClockThroughRig(t *testing.T) {
	var clock atomic.Int64
	b := lay(t, false, func(o *Options, _ *FirmwareOptions) { o.HostTime, o.Baud = clock.Load, 0 })
	enc, _ := wire.NewLinkEncoder(sensors)
	var p []byte
	for k := range int64(1500) {
		t0 := 1e9 + k*20e6                // 20 ms between frames, 30 s
		jitter := (k * 7919 % 100) * 3000 // 0 to 297 µs, 0 every 2 s
		clock.Store(t0 + 200e3 + jitter)
		dev := t0 + t0/1e6*120 // 120 ppm fast
		p, _ = enc.Append(p[:0], wire.Header{Kind: wire.Measurement, Seq: uint8(k), Time: dev, FreshFields: 3}, []float64{0, 0})
		b.far.Write(p, time.Second)
		until(t, "the frame is in", func() bool {
			stamp, n := b.Pace()
			if n == uint64(k+1) && k > 700 && math.Abs(float64(stamp-t0-200e3)) > 3e3 {
				t.Fatalf("frame %d stamped %d ns off", k, stamp-t0-200e3)
			}
			return n == uint64(k+1)
		})
	}
	var s Stats
	b.Stats(&s)
	if math.Abs(s.DriftPPM-120) > 0.5 || s.ClockJumps != 0 || s.Residual < 250e3 || s.Residual > 350e3 {
		t.Errorf("drift %.3f ppm, want 120; jumps %d; residual p99 %d ns, want 297000", s.DriftPPM, s.ClockJumps, s.Residual)
	}
}

// Listening only: no byte ever leaves, not by Send, Safe or Close.
func TestDryRun(t *testing.T) {
	b := lay(t, false, func(o *Options, _ *FirmwareOptions) { o.DryRun = true })
	for range 20 {
		b.Send([]float64{1, 1})
		b.Safe()
		b.fw.Send([]float64{1, 1})
		time.Sleep(time.Millisecond)
	}
	until(t, "samples arrive", func() bool { return b.poll() != 0 })
	b.Close()
	time.Sleep(20 * time.Millisecond)
	var s, far Stats
	b.Stats(&s)
	b.fw.Stats(&far)
	if far.Bytes != 0 || s.TxBytes != 0 || s.TxFrames != 0 {
		t.Errorf("%d bytes arrived, %d were sent", far.Bytes, s.TxBytes)
	}
}

// A safe frame overtakes the command that waits, and is the last word of a line that closes under full load.
func TestSafeIsLastWord(t *testing.T) {
	for range 20 {
		b := lay(t, false, nil)
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() { // the tick
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
					b.Send([]float64{12, 1})
				}
			}
		}()
		until(t, "the drive is on", func() bool { b.fwPoll(); return b.c[1] == 1 })
		b.Close()
		close(stop)
		<-done
		b.settled(t)
		if b.fwPoll(); b.c[0] != 0 || b.c[1] != 0 {
			t.Fatalf("after Close the drive has %v", b.c[:2])
		}
	}
}

// A command that is not a number is not sent; the device's own watchdog is then the judge.
func TestNonFiniteCommand(t *testing.T) {
	b := lay(t, false, nil)
	b.Send([]float64{math.NaN(), 1})
	var s Stats
	until(t, "it is counted", func() bool { b.Stats(&s); return s.TxErrors == 1 })
	if b.fw.Stats(&s); s.Bytes != 0 {
		t.Errorf("%d bytes arrived", s.Bytes)
	}
}

// On a slow line the newest command is sent, old ones are skipped and counted, and none waits in the kernel.
func TestNewestCommandWins(t *testing.T) {
	b := lay(t, false, func(o *Options, fo *FirmwareOptions) { o.Baud = 38400 }) // a frame takes about 3.4 ms
	const n = 300
	begin := rt.Now()
	for k := range n {
		b.Send([]float64{float64(k) * 0.001, 0})
		time.Sleep(200 * time.Microsecond)
	}
	until(t, "the last command arrives", func() bool { b.fwPoll(); return math.Abs(b.c[0]-(n-1)*0.001) < 1e-9 })
	var s Stats
	// the frame arrives before its sender counts it
	until(t, "every command is counted", func() bool { b.Stats(&s); return s.TxFrames+s.TxDropped >= n })
	// a frame under way and one that has just begun lie beyond what the line carried
	most := 3840*float64(rt.Now()-begin)*1e-9 + 2*float64(s.TxBytes)/float64(s.TxFrames)
	if s.TxFrames+s.TxDropped != n || float64(s.TxBytes) > most {
		t.Errorf("%d sent and %d skipped of %d; %d bytes, the line carries %.0f", s.TxFrames, s.TxDropped, n, s.TxBytes, most)
	}
}

// A sensor that says nothing is a NaN: its field is not in the frame, the others are, and a frame without any is not sent.
func TestFirmwareLeavesOutWhatIsNotThere(t *testing.T) {
	b := lay(t, false, nil)
	b.fw.Send([]float64{0.25, 0.5})
	b.in(t, 1)
	if got := b.poll(); got != 7 {
		t.Fatalf("fresh %b, want both and the age", got)
	}
	first := b.y[0]
	b.fw.Send([]float64{math.NaN(), 0.75})
	b.in(t, 2)
	if got := b.poll(); got != 6 || b.y[0] != first || math.Abs(b.y[1]-0.75) > 1e-3 {
		t.Errorf("fresh %b, values %v, want the second and the age", got, b.y)
	}
	b.fw.Send([]float64{math.NaN(), math.NaN()})
	b.fw.Send([]float64{1, 1})
	b.in(t, 3)
	if got := b.poll(); got != 7 || math.Abs(b.y[0]-1) > 1e-3 {
		t.Errorf("fresh %b, values %v, want the last sample", got, b.y)
	}
	var st Stats
	if b.Stats(&st); st.Malformed != 0 || st.NonFinite != 0 || st.Gaps != 0 {
		t.Errorf("%+v", st)
	}
}

// The firmware's line is paced: the bytes that leave in a time fit the baud rate, the rest is dropped and counted.
func TestFirmwarePacing(t *testing.T) {
	b := lay(t, false, func(o *Options, fo *FirmwareOptions) { fo.Pace, fo.Baud = true, 38400 })
	begin := rt.Now()
	sent := 0
	for rt.Now()-begin < 200e6 {
		b.fw.Send([]float64{1, 1})
		sent++
		time.Sleep(300 * time.Microsecond)
	}
	took := float64(rt.Now()-begin) * 1e-9
	var far, s Stats
	until(t, "every sample is counted", func() bool { b.fw.Stats(&far); return far.TxFrames+far.TxDropped == uint64(sent) })
	b.settled(t)
	b.Stats(&s)
	if most := took*3840 + 40; float64(far.TxBytes) > most || far.TxBytes == 0 {
		t.Errorf("%d bytes in %.3f s, the line carries %.0f", far.TxBytes, took, most)
	}
	if far.TxDropped == 0 || s.Frames != far.TxFrames || s.Gaps != 0 {
		t.Errorf("%d samples: %d sent, %d dropped, %d received, %d gaps", sent, far.TxFrames, far.TxDropped, s.Frames, s.Gaps)
	}
}

// The firmware's clock drifts as asked and wraps as a u32 does.
func TestFirmwareClock(t *testing.T) {
	var clock atomic.Int64
	b := lay(t, false, func(_ *Options, fo *FirmwareOptions) {
		fo.HostTime, fo.DriftPPM, fo.ClockUs = clock.Load, 250, math.MaxUint32-500
	})
	clock.Store(10e9)
	if got, want := b.fw.Clock(10e9), int64(math.MaxUint32-500)*1000+10e9+2.5e6; got != want {
		t.Errorf("clock %d, want %d", got, want)
	}
}

func TestOptionErrors(t *testing.T) {
	_, err := NewRig(Options{Name: "a", Protocol: &protocol.Line{Separator: "dot"}, Baud: -1})
	for _, want := range []string{"rig a", `separator "dot" is not known`, "baud -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in %v", want, err)
		}
	}
	_, err = NewRig(Options{Measure: make([]wire.Field, 64), Command: drives, Safe: []float64{math.NaN()}})
	for _, want := range []string{"at most 63", "has no name", "safe state: 1 values for 2 commands"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in %v", want, err)
		}
	}
	if _, err = NewRig(Options{Command: drives, Safe: []float64{0, math.Inf(1)}}); err == nil || !strings.Contains(err.Error(), "finite") {
		t.Error(err)
	}
	if _, err = NewFirmware(FirmwareOptions{Pace: true, Recv: drives, Send: sensors}); err == nil || !strings.Contains(err.Error(), "baud") {
		t.Error(err)
	}
	r, err := NewRig(Options{Name: "b", Port: "/dev/ttyNONE", Command: drives, Safe: []float64{0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	if err = r.Start(context.Background()); err == nil || !strings.Contains(err.Error(), "rig b: cannot open /dev/ttyNONE: no such port") {
		t.Error(err)
	}
	r.Close()
}

// The sending thread goes where it is told, or says why not; either way commands pass.
func TestPin(t *testing.T) {
	for cpu, ok := range map[int]bool{0: true, 100000: false} {
		b := lay(t, false, func(o *Options, _ *FirmwareOptions) { o.TxCPU = cpu })
		b.Send([]float64{1, 1})
		until(t, "the command arrives", func() bool { return b.fwPoll() != 0 })
		err := b.PinError()
		if ok && err != nil {
			t.Skip("this host does not let us pin: ", err)
		}
		if !ok && (err == nil || !strings.Contains(err.Error(), "rig test: sending thread: pin to cpu100000")) {
			t.Errorf("cpu %d: %v", cpu, err)
		}
	}
}
