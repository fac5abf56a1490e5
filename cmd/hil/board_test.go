//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// board is the electronics of a plant on a pseudo-terminal, written from docs/reference/link.md and docs/reference/protocols.md alone:
// nothing of the program is imported here. It has no watchdog of its own: what it is told stays in force. It keeps every command that it
// receives.
type board struct {
	rig  boardRig
	path string
	rng  *rand.Rand // of the sampling goroutine

	mu       sync.Mutex
	plant    boardPlant
	fault    boardFault
	master   int // descriptors; -1: unplugged
	slave    int
	unread   []byte
	orders   []boardOrder
	pending  []boardOrder // that the drive has not carried out yet
	begin    time.Time
	zero     float64       // where the encoder counts from
	bootedAt time.Duration // of the board's clock
	watch    boardWatch

	// read without the lock: a reader that is kept away while it has the lock would keep the board away
	enabled    atomic.Bool
	at, moving atomic.Uint64

	done chan struct{}
	wg   sync.WaitGroup
}

// boardOrder is a command as it came.
type boardOrder struct {
	at      time.Duration // since the board began
	kind    byte          // 2 command, 3 safe; 0: a line or a register does not tell
	stamp   uint32        // µs, the sender's clock; 0: none
	command float64
	on      bool
}

// boardWatch is what happened since it was set to its beginning.
type boardWatch struct {
	since     time.Duration
	energised time.Duration
	way       float64       // rad or m, gone while energised
	far       float64       // rad or m, largest distance from zero
	fast      float64       // rad/s or m/s
	late      time.Duration // longest time that the board itself was late
	off       bool          // it was de-energised at least once
	push      float64       // × break-away: only time with an effort above it counts
	pushed    bool          // the axis moved, or the effort has been above break-away; what was before that does not count
	offAt     time.Duration // since `since`, when that was the last time
}

// boardSample is what a board measures. What is missing is left out of the frame.
type boardSample struct {
	clock  time.Duration
	value  [len(boardChannels)]float64
	absent [len(boardChannels)]bool
	on     bool // the drive is told to be on
}

// the channels of a board in the order of the frame
const (
	chPosition = iota
	chCurrent
	chSpeed
	chTorque
	chApplied
	chStatus
)

var boardChannels = [...]string{"angle", "current", "speed", "torque", "applied", "status"}

// boardFault is what is wrong with a board; the zero value is nothing.
type boardFault struct {
	sample func(*boardSample) // changes what is measured
	lost   func(n int) bool   // frame n does not leave
	// the board's clock, since the fault began
	clock func(since time.Duration) time.Duration
	// frames for each frame of a healthy board
	pace    float64
	delay   time.Duration             // of every frame on the line
	line    func(frame []byte) []byte // what the line makes of a frame
	swapped bool                      // frames in pairs the wrong way round
	// held back so long in every second, and sent at once then
	burst                                                    time.Duration
	drive                                                    func(u float64, on bool) (float64, bool) // what the drive makes of its command
	slow                                                     time.Duration                            // … so much later
	plant                                                    func(p *boardPlant)                      // at every step
	echo, deaf, refuses, otherTable, reboots, unplugs, quiet bool
}

func startBoard(t *testing.T, r boardRig) *board {
	t.Helper()
	// a thread that is away takes no board with it, nor does a collection that waits for it
	runtime.GOMAXPROCS(max(16, runtime.GOMAXPROCS(0)))
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(512 << 20)
	b := &board{rig: r, path: filepath.Join(t.TempDir(), "board"), rng: rand.New(rand.NewPCG(7, uint64(len(r.name)))), plant: r.plant(),
		begin: time.Now(), done: make(chan struct{})}
	b.plug(t)
	b.wg.Add(1)
	go b.run()
	t.Cleanup(func() { close(b.done); b.wg.Wait(); b.unplug() })
	return b
}

func (b *board) now() time.Duration { return time.Since(b.begin) }

// plug puts the board on a fresh pseudo-terminal behind the old name.
func (b *board) plug(t *testing.T) {
	t.Helper()
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("/dev/pts/%d", number)
	slave, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err == nil {
		_, err = term.MakeRaw(slave)
	}
	if err == nil {
		os.Remove(b.path)
		err = os.Symlink(name, b.path)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.master, b.slave, b.plant.on, b.unread = master, slave, false, nil
}

func (b *board) unplug() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.master >= 0 {
		unix.Close(b.master)
		unix.Close(b.slave)
		os.Remove(b.path)
	}
	b.master = -1
}

// run reads what came, moves the plant and sends what it measures, at the board's rate, in a thread of its own: a starved board is a silent
// one.
func (b *board) run() {
	defer b.wg.Done()
	runtime.LockOSThread()
	unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
	period := time.Duration(float64(time.Second) / b.rig.rate)
	var line boardLine
	for next := b.now(); ; next += period {
		select {
		case <-b.done:
			return
		default:
		}
		for wait := next - b.now(); wait > 0; wait = next - b.now() {
			ts := unix.NsecToTimespec(int64(wait))
			unix.Nanosleep(&ts, nil)
		}
		b.mu.Lock()
		b.watch.late = max(b.watch.late, b.now()-next)
		b.read()
		b.move(period, next)
		if f := &b.fault; f.reboots {
			f.reboots, b.plant.on, b.zero, b.bootedAt = false, false, b.plant.position, next+300*time.Millisecond
		}
		if b.rig.wire != "modbus" {
			b.send(&line, next)
		}
		b.mu.Unlock()
	}
}

// boardLine is what is on its way to the host.
type boardLine struct {
	frames        int
	seq           byte
	due           float64
	swapped, held []byte
	queue         []boardBytes
}

type boardBytes struct {
	at    time.Duration
	bytes []byte
}

// send measures, and puts on the line what is due.
func (b *board) send(l *boardLine, now time.Duration) {
	f := &b.fault
	if l.due++; f.pace != 0 {
		l.due += f.pace - 1
	}
	s := b.measure(now)
	if f.sample != nil {
		f.sample(&s)
	}
	between := time.Duration(0)
	for ; l.due >= 1; l.due-- {
		if between > 0 { // more than one sample in a period: the others were taken later in it
			s.clock += between
			s.value[chPosition] += b.plant.velocity * between.Seconds()
		}
		between = time.Duration(float64(time.Second) / b.rig.rate / max(1, f.pace))
		if l.frames++; f.quiet || now < b.bootedAt || b.master < 0 || f.lost != nil && f.lost(l.frames) {
			continue
		}
		l.seq++
		frame := b.rig.frame(l.seq, &s, f.otherTable)
		if b.rig.wire == "text" {
			frame = b.rig.line(&s, f.otherTable)
		}
		if f.line != nil {
			frame = f.line(frame)
		}
		if !f.swapped { // what waits is not kept for the next fault
			l.swapped = nil
		}
		switch {
		case f.swapped && l.frames%2 == 1:
			l.swapped = frame
			continue
		case f.swapped:
			frame, l.swapped = append(bytes.Clone(frame), l.swapped...), nil
		case f.burst > 0 && (now-b.watch.since)%time.Second < f.burst:
			l.held = append(l.held, frame...)
			continue
		}
		frame, l.held = append(l.held, frame...), nil
		l.queue = append(l.queue, boardBytes{now + f.delay, frame})
	}
	for ; len(l.queue) > 0 && l.queue[0].at <= now; l.queue = l.queue[1:] {
		b.write(l.queue[0].bytes)
	}
}

func (b *board) write(p []byte) {
	if b.master >= 0 {
		unix.Write(b.master, p)
	}
}

// read takes the commands that have come.
func (b *board) read() {
	if b.master < 0 || b.fault.deaf {
		return
	}
	var in [4096]byte
	n, _ := unix.Read(b.master, in[:])
	if n <= 0 {
		return
	}
	if b.fault.echo {
		b.write(in[:n])
	}
	b.unread = append(b.unread, in[:n]...)
	if b.rig.wire == "modbus" {
		b.unread = b.serve(b.unread)
		return
	}
	end := byte(0)
	if b.rig.wire == "text" {
		end = '\n'
	}
	for i := bytes.IndexByte(b.unread, end); i >= 0; i = bytes.IndexByte(b.unread, end) {
		if b.rig.wire == "text" {
			b.takeLine(strings.TrimRight(string(b.unread[:i]), "\r"))
		} else {
			b.takeFrame(b.unread[:i])
		}
		b.unread = b.unread[i+1:]
	}
}

// move is one period of the plant, with what the drive makes of its orders.
func (b *board) move(period, now time.Duration) {
	f, p, w := &b.fault, &b.plant, &b.watch
	for len(b.pending) > 0 && now-b.pending[0].at >= f.slow {
		o := b.pending[0]
		b.pending = b.pending[1:]
		p.command, p.on = o.command, o.on
	}
	kept, on := p.command, p.on
	if f.drive != nil {
		p.command, p.on = f.drive(p.command, p.on)
	}
	p.blocked = false
	if f.plant != nil {
		f.plant(p)
	}
	was, energised := p.position, p.on
	p.step(period.Seconds())
	if p.command, p.on = kept, on; energised {
		push := math.Abs(p.constant * p.current)
		if w.pushed = w.pushed || push > p.static; w.pushed && push >= w.push*p.static {
			w.energised += period
		}
		w.way += math.Abs(p.position - was)
		w.fast = max(w.fast, math.Abs(p.velocity))
		w.offAt = 0
	} else {
		if w.offAt == 0 {
			w.offAt = now - w.since
		}
		w.off = true
	}
	w.far = max(w.far, math.Abs(p.position))
	b.enabled.Store(p.on)
	b.at.Store(math.Float64bits(p.position))
	b.moving.Store(math.Float64bits(p.velocity))
}

// measure is what the sensors say.
func (b *board) measure(now time.Duration) (s boardSample) {
	p, noise := &b.plant, b.rig.noise
	s.clock, s.on = now-b.bootedAt, p.on
	if f := b.fault.clock; f != nil {
		s.clock += f(now-b.watch.since) - (now - b.watch.since)
	}
	s.value[chPosition] = math.Round((p.position-b.zero)/b.rig.count) * b.rig.count
	s.value[chCurrent] = math.Round((p.current+noise[chCurrent]*b.rng.NormFloat64())/1e-3) * 1e-3
	s.value[chSpeed] = p.velocity + noise[chSpeed]*b.rng.NormFloat64()
	s.value[chTorque] = p.constant*p.current + noise[chTorque]*b.rng.NormFloat64()
	if p.on {
		s.value[chApplied] = max(-p.supply, min(p.supply, p.command))
	}
	return s
}

// take notes an order; the plant carries it out at its next step.
func (b *board) take(o boardOrder) {
	o.at = b.now()
	b.orders = append(b.orders, o)
	b.pending = append(b.pending, o)
}

// ---- what the test does to a board

// fail begins a fault, and the watch over what follows: while the effort is above push times the break-away.
func (b *board) fail(f boardFault, push float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault, b.watch = f, boardWatch{since: b.now(), far: math.Abs(b.plant.position), push: push, pushed: b.plant.on}
}

// heal ends the fault and says what happened since it began.
func (b *board) heal() boardWatch {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = boardFault{}
	b.pending = b.pending[max(0, len(b.pending)-1):] // the newest order counts
	return b.watch
}

// state is the place and the speed of the plant, and whether the drive was told to be on.
func (b *board) state() (position, velocity float64, on bool) {
	return math.Float64frombits(b.at.Load()), math.Float64frombits(b.moving.Load()), b.enabled.Load()
}

// place turns the resting axis by hand.
func (b *board) place(position float64) {
	from, _, _ := b.state()
	for k := range 100 {
		b.mu.Lock()
		b.plant.position, b.plant.velocity = from+(position-from)*float64(k+1)/100, 0
		b.mu.Unlock()
		time.Sleep(3 * time.Millisecond)
	}
}

// await waits for the drive to be told to be on or off.
func (b *board) await(on bool, within time.Duration) bool {
	for end := time.Now().Add(within); ; time.Sleep(time.Millisecond) {
		if _, _, is := b.state(); is == on {
			return true
		} else if time.Now().After(end) {
			return false
		}
	}
}

// violations are the commands beyond the limit and the slew of the file, and those of a drive that is off and not safe. A line that skipped
// a tick changes by two ticks; the clock of the sender tells how many there were.
func (b *board) violations() (bad []string) {
	b.mu.Lock()
	orders := b.orders
	b.orders = nil
	b.mu.Unlock()
	limit, slew, tick := b.rig.limit*(1+1e-6), b.rig.slew, 1/b.rig.loop
	for i, o := range orders {
		if math.Abs(o.command) > limit || math.IsNaN(o.command) {
			bad = append(bad, fmt.Sprintf("command %d: %v, limit %v", i, o.command, b.rig.limit))
		}
		if !o.on && o.command != 0 {
			bad = append(bad, fmt.Sprintf("command %d: off at %v", i, o.command))
		}
		if i == 0 || !o.on || !orders[i-1].on || o.stamp == 0 {
			continue
		}
		ticks := math.Round(float64(o.stamp-orders[i-1].stamp) * 1e-6 / tick)
		if change := math.Abs(o.command - orders[i-1].command); change > slew*tick*max(1, ticks)*(1+1e-6) {
			bad = append(bad, fmt.Sprintf("command %d: %v after %v within %v ticks, slew %v", i, o.command, orders[i-1].command, ticks, slew))
		}
	}
	return bad
}
