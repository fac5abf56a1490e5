//go:build linux

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hilrig/hil/device"
	"hilrig/hil/rt"
	"hilrig/hil/wire"
)

// board is a motor with its electronics on a pseudo-terminal, written apart from the program's own rig: a winding without inductance, a
// shaft with Coulomb friction, 500 samples a second, and no watchdog of its own: what it is told stays in force. It can be made to
// fail in many ways.
type board struct {
	text bool
	path string

	mu    sync.Mutex
	f     boardFault
	port  device.Port
	on    bool  // the drive is enabled
	at    int64 // ns of rt.Now when that changed last
	volts float64
	theta float64 // rad
	omega float64 // rad/s
	amps  float64
	top   float64 // rad/s  fastest since it was set to 0
	away  int64   // ns     longest time that the board itself was late since then
	later []func(*board)
	done  chan struct{}
	wg    sync.WaitGroup
}

// boardFault is what is wrong with the board; the zero value is nothing.

// boardFault is what is wrong with the board; the zero value is nothing.
type boardFault struct {
	silent, nanAngle, nanCurrent, stuckAngle, repeats, blocked, table bool
	loss                                                              float64       // share of frames that get lost
	burst, every                                                      time.Duration // so long nothing, so often
	clock                                                             time.Duration // added to the board's clock
	wildAngle, wildCurrent                                            float64       // instead of one sample
	turned                                                            bool          // the encoder counts the other way

	shape        func(s *boardSample)    // changes what is sent
	swap, thrice bool                    // frames in pairs the wrong way round, each frame three times
	kept         time.Duration           // … this long at the beginning of every `every`, and sent at once then
	noise        float64                 // random bytes in front of so many frames
	echo         bool                    // commands come back as they are
	deaf         bool                    // does not read its port
	drive        func(u float64) float64 // what the drive makes of its command (V)
	slow         time.Duration           // … so much later
	reboot       bool                    // once: drive off, clock and counter at 0, silent for 0.3 s
}

// boardSample is what a board says.
type boardSample struct {
	clock       int64   // ns
	angle, amps float64 // rad, A
}

const (
	inMotion   = 400 * time.Millisecond // from RUN to the fault
	boardRate  = 500
	boardCount = 1e-4 // rad
)

func startBoard(t *testing.T, text bool) *board {
	t.Helper()
	b := &board{text: text, path: filepath.Join(t.TempDir(), "board"), done: make(chan struct{})}
	b.plug(t)
	rt.Prefer() // a starved board is a silent one
	b.wg.Add(1)
	go b.run()
	t.Cleanup(func() { close(b.done); b.unplug(); b.wg.Wait() })
	return b
}

func (b *board) plug(t *testing.T) {
	t.Helper()
	p, _, err := device.OpenPTY(b.path)
	if err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	b.port, b.on = p, false
	b.mu.Unlock()
	b.wg.Add(1)
	go b.listen(p)
}

func (b *board) unplug() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.port != nil {
		b.port.Close()
	}
	b.port = nil
}

func (b *board) fail(f boardFault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.f = f
}

func (b *board) energised() (on bool, at int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.on, b.at
}

// await waits for the drive to be on or off and tells when that happened; false: it did not.
func (b *board) await(on bool, within time.Duration) (int64, bool) {
	for end := time.Now().Add(within); ; time.Sleep(time.Millisecond) {
		if is, at := b.energised(); is == on {
			return at, true
		} else if time.Now().After(end) {
			return 0, false
		}
	}
}

// listen takes commands.
func (b *board) listen(p device.Port) {
	defer b.wg.Done()
	fields := []wire.Field{{Name: "u", Unit: "V", Type: wire.F32, Scale: 1}, {Name: "e", Type: wire.U8, Scale: 1}}
	var dec wire.Decoder
	if b.text {
		dec, _ = wire.NewLineDecoder(fields, wire.Format{}, wire.Command)
	} else {
		dec, _ = wire.NewLinkDecoder(fields, wire.Command, wire.Safe)
	}
	buf := make([]byte, 1024)
	var f wire.Frame
	for {
		for deaf := true; deaf; {
			b.mu.Lock()
			deaf = b.f.deaf
			b.mu.Unlock()
			if deaf {
				time.Sleep(time.Millisecond)
			}
			select {
			case <-b.done:
				return
			default:
			}
		}
		n, err := p.Read(buf)
		if err != nil && n == 0 {
			if _, gone := err.(interface{ Is(error) bool }); gone || strings.Contains(err.Error(), "closed") {
				return
			}
			select {
			case <-b.done:
				return
			case <-time.After(time.Millisecond): // nobody has the other side open
			}
			continue
		}
		b.mu.Lock()
		echo := b.f.echo
		b.mu.Unlock()
		if echo {
			p.Write(buf[:n], 5*time.Millisecond)
		}
		for rest := buf[:n]; ; {
			k, st := dec.Next(rest, &f)
			if rest = rest[k:]; st == wire.More {
				break
			}
			if st == wire.Good && f.Fresh == 3 {
				volts, on := f.V[0], f.V[1] == 1
				b.mu.Lock()
				if b.f.drive != nil {
					volts = b.f.drive(volts)
				}
				if b.later = append(b.later, func(b *board) {
					if b.volts = volts; on != b.on {
						b.on, b.at = on, rt.Now()
					}
				}); b.f.slow == 0 {
					for _, act := range b.later {
						act(b)
					}
					b.later = b.later[:0]
				} else if n := int(b.f.slow.Seconds() * boardRate); len(b.later) > n {
					b.later[0](b)
					b.later = b.later[1:]
				}
				b.mu.Unlock()
			}
		}
	}
}

// run moves the motor and sends.
func (b *board) run() {
	defer b.wg.Done()
	rng := rand.New(rand.NewPCG(1, 2))
	begin := rt.Now()
	seq := uint8(0)
	var last, waiting []byte
	held, zero := 0.0, 0.0 // rad  what the encoder said last, and where it counts from
	for next := begin; ; next += 1e9 / boardRate {
		select {
		case <-b.done:
			return
		default:
		}
		rt.SleepUntil(next, 0)
		b.mu.Lock()
		b.move(1.0 / boardRate)
		f, port := b.f, b.port
		angle, amps := b.theta, b.amps
		b.f.wildAngle, b.f.wildCurrent = 0, 0
		b.top, b.away = max(b.top, math.Abs(b.omega)), max(b.away, rt.Now()-next)
		if b.f.reboot {
			b.f.reboot, b.on, b.at, zero, begin, waiting = false, false, rt.Now(), angle, next+300e6, nil
		}
		b.mu.Unlock()
		if angle -= zero; next < begin {
			continue
		}
		if !f.stuckAngle {
			held = angle
		}
		angle = held
		now := rt.Now()
		if port == nil || f.silent || rng.Float64() < f.loss || f.every > 0 && time.Duration(now-begin)%f.every < f.burst {
			continue
		}
		if f.turned {
			angle = -angle
		}
		if f.nanAngle {
			angle = math.NaN()
		}
		if f.nanCurrent {
			amps = math.NaN()
		}
		if f.wildAngle != 0 {
			angle = f.wildAngle
		}
		if f.wildCurrent != 0 {
			amps = f.wildCurrent
		}
		sample := boardSample{next - begin + int64(f.clock), angle, amps} // a board reads its clock when it samples
		if f.shape != nil {
			f.shape(&sample)
		}
		seq++
		frame := b.frame(seq, sample.clock, sample.angle, sample.amps, f.table)
		if f.repeats && last != nil {
			frame = last
		}
		switch last = frame; {
		case f.thrice:
			frame = slices.Repeat(frame, 3)
		case f.swap && seq%2 == 1, time.Duration(now-begin)%max(1, f.every) < f.kept:
			waiting = append(waiting, frame...)
			continue
		case f.swap:
			frame, waiting = append(slices.Clone(frame), waiting...), nil
		case waiting != nil:
			frame, waiting = append(waiting, frame...), nil
		}
		if rng.Float64() < f.noise {
			for range 1 + rng.IntN(30) {
				frame = slices.Insert(frame, 0, byte(rng.Uint32()))
			}
		}
		port.Write(frame, 5*time.Millisecond)
	}
}

// frame encodes one sample; other is the table of another firmware, with a number more.
func (b *board) frame(seq uint8, clock int64, angle, amps float64, other bool) []byte {
	counts := math.Round(angle / boardCount)
	if b.text {
		line := fmt.Sprintf("%d,%v,%.4f", uint32(clock/1000), counts, amps)
		if other {
			line += ",7"
		}
		return []byte(strings.ToLower(line) + "\n")
	}
	// floats as their bits, so that NaN gets out
	fields := []wire.Field{{Name: "a", Type: wire.U32, Scale: 1}, {Name: "i", Type: wire.U32, Scale: 1}, {Name: "x", Type: wire.U8, Scale: 1}}
	n := 2
	if other {
		n = 3
	}
	enc, err := wire.NewLinkEncoder(fields[:n])
	if err != nil {
		panic(err)
	}
	raw := func(x float64) float64 { return float64(math.Float32bits(float32(x))) }
	out, _ := enc.Append([]byte{0}, wire.Header{Kind: wire.Measurement, Seq: seq, Time: clock, HasTime: true, Fresh: wire.All(n)}, []float64{raw(counts), raw(amps), 7}[:n])
	return out
}

// move is the physics: u = R·i + drop + K·ω, J·dω/dt = K·i − friction.
func (b *board) move(dt float64) {
	const r, k, j, drop, coulomb, viscous = 1.2, 0.042, 7e-5, 0.6, 0.015, 1.5e-4
	const n = 40
	for range n {
		b.amps = 0
		if over := b.volts - k*b.omega; b.on && math.Abs(over) > drop {
			b.amps = (over - math.Copysign(drop, over)) / r
		}
		if b.f.blocked {
			b.omega = 0
			continue
		}
		torque := k * b.amps
		h := dt / n
		if b.omega == 0 && math.Abs(torque) <= coulomb {
			continue
		}
		dir := b.omega
		if dir == 0 {
			dir = torque
		}
		was := b.omega
		b.omega += h / j * (torque - math.Copysign(coulomb, dir) - viscous*b.omega)
		if was*b.omega < 0 && math.Abs(torque) <= coulomb {
			b.omega = 0
		}
		b.theta += h * b.omega
	}
}

// file is a configuration for the board.
func (b *board) file(t *testing.T, limits bool) string {
	t.Helper()
	kind, line := "f32", ""
	if b.text {
		kind, line = "text", "    protocol: line\n    line: {time: t, time_unit: 1 us, time_bits: 32}\n"
	}
	limited, current := "{}", ""
	if limits {
		limited = "{max_speed: 100 rad/s, max_error: 1 rad, max_current: 10 A, rated_current: 4 A, thermal_time: 2 s}"
		current = ", range: ±20 A"
	}
	text := fmt.Sprintf(`version: 2
rig: {name: board, description: a motor played by a test}
loop: {rate: 500 Hz, beat: 5 s, overrun: {limit: 5 s}}
devices:
  drive:
    port: %s
    baud: 921600
%s    measure:
      - {name: motor.angle, unit: rad, type: %s, scale: %g}
      - {name: motor.current, unit: A, type: %s%s}
    command:
      - {name: voltage, unit: V, type: %s, limit: ±24 V, slew: 20000 V/s, safe: 0 V}
      - {name: enable, type: %s}
axes:
  shaft:
    position: drive.motor.angle
    current: drive.motor.current
    drive: {kind: voltage, command: drive.voltage, enable: drive.enable}
    motor: {R: 1.2, L: 6e-4, K: 0.042, brush_drop: 0.6 V, drop_current: 50 mA, J: 7e-5}
    friction: {law: lugre, sigma0: 11, sigma1: 0.02, sigma2: 1.5e-4, Fc: 0.015, Fs: 0.021, vs: 0.5, vd: 0.3}
    estimator: {position_noise: 0.1 mrad, current_noise: 20 mA, effort_walk: 0.1}
    reference: {kind: sine, amplitude: 3 rad, frequency: 0.5 Hz, fade: 0.3 s}
    control: {kind: pd, kp: 0.1, kd: 4 mN·m·s/rad, limit: 0.4}
    guard: %s
guard: {selftest_time: 100 ms}
web: {commands: true}
`, b.path, line, kind, boardCount, kind, current, kind, map[bool]string{true: "text", false: "u8"}[b.text], limited)
	path := filepath.Join(t.TempDir(), "board.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func containsOne(text string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// drive brings the daemon to RUN, whatever it is in.
func (b *board) drive(t *testing.T, d *daemonUnderTest) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		d.drive(nil)
		if _, ok := b.await(true, time.Second); ok {
			time.Sleep(inMotion)
			if d.state()["mode"] == "run" {
				return
			}
		}
	}
	t.Fatalf("not driven again: %v\n%s", d.state(), d.errs)
}

// replug pulls the cable and puts it back: the daemon trips at once, and a board that comes back de-energised stays so.
func (b *board) replug(t *testing.T, d *daemonUnderTest) string {
	b.drive(t, d)
	said := len(d.errs.String())
	t0 := time.Now()
	b.unplug()
	for d.state()["mode"] != "trip" && time.Since(t0) < 2*time.Second {
		time.Sleep(2 * time.Millisecond)
	}
	took := time.Since(t0)
	time.Sleep(400 * time.Millisecond)
	b.plug(t)
	_, again := b.await(true, 2*time.Second)
	m := tripText.FindStringSubmatch(d.errs.String()[said:])
	if again || m == nil || took > 300*time.Millisecond || !containsOne(m[1], []string{"link down", "stale sensor"}) {
		t.Errorf("unplugged: tripped after %v (%v); energised by the replug: %v", took, m, again)
		return "failed"
	}
	t1 := time.Now()
	b.drive(t, d)
	row := fmt.Sprintf("%d ms, %s, back after %.1f s", took.Milliseconds(), m[1], (time.Since(t1) - inMotion).Seconds())
	t.Logf("%-32s %s", "unplugged", row)
	return row
}
