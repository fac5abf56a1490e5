package device

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"hilrig/engine"
	"hilrig/hil/protocol"
	"hilrig/hil/ring"
	"hilrig/hil/rt"
	"hilrig/hil/wire"
)

// line is one end of a serial line at work: a receiving and a sending thread, the mailboxes between them and the tick,
// and the life of the port. Rig and Firmware are lines with opposite roles.
type line struct {
	name                   string
	recvFields, sendFields []wire.Field
	maxAges                []int64          // ns  how old each received field may become, 0: by its own intervals; nil: all so
	groups                 []protocol.Group // of what is received
	dec                    wire.Decoder
	enc                    wire.Encoder
	kind                   wire.Kind // of the frames that are sent
	perByte                float64   // ns that a byte takes on the line; 0: not known
	hostTime               func() int64
	openPort               func() (Port, error)
	explain                func(error) error // adds to an error of the first opening what the user can do; nil: nothing
	opened                 func(fd int)      // told of every opening, and with −1 of every closing; nil: nobody is
	waitForPort            bool              // a port that is missing at the start is waited for
	backoff                []time.Duration
	writeTimeout           time.Duration       // for one write
	mute                   bool                // nothing is ever sent
	txCPU                  int                 // processor of the sending thread; −1: any
	safe                   protocol.SafeFrames // sent at the end
	clocked                bool                // map the sender's clock
	device                 func(now int64) int64
	writeAtEnd             bool // frames are written when their last bit would leave, not when the first one would

	turns    []protocol.Turn    // questions; none: the far end speaks by itself
	silence  int64              // ns  between two frames of a line whose ends take turns
	expecter wire.TurnDecoder   // dec, where there are turns
	echoes   wire.EchoDecoder   // dec, where a reply may repeat what was asked
	answers  wire.Responder     // dec, at an end that speaks when it is asked
	streamer wire.StreamDecoder // dec, where the far end is started by turns, or chooses what it sends

	port        atomic.Pointer[conn]
	closing     atomic.Bool
	stopSignal  chan struct{}
	opens       bool // every frame opens with a zero, so that rubbish before it costs no frame
	closeOnce   sync.Once
	startCalled atomic.Bool
	wg          sync.WaitGroup
	unhook      func() bool
	board       board
	pace        pacemaker
	pinErr      atomic.Pointer[error]

	// receiving thread
	frame         wire.Frame
	previousFrame wire.Frame // the one before
	pastFrames    int        // in a row that it overtook
	clock         clockFit
	clockStamp    int64 // ns  when the newest frame with a time was sampled
	setBacks      setBacks
	news          arrival
	expectedTurn  uint64   // the turn that the decoder expects
	reply         []byte   // to a question from the far end
	startedAt     uint64   // number of the newest frame when the far end was found to have begun anew
	replyValues   outgoing // what it is made of

	// tick
	inbox   *ring.Mailbox[arrival]
	got     arrival
	polled  uint64        // frames seen by Poll
	fence   atomic.Uint64 // frames that are too old to be fresh
	mail    outgoing
	sampled int64 // ns  time of the last Poll: what a firmware sends belongs to it

	// tick → sending thread
	outbox   *ring.Mailbox[outgoing]
	bell     bell
	safeGen  atomic.Uint32 // commands of an older generation are overtaken by a safe frame
	frameLen atomic.Uint64 // bytes of the newest frame sent
	wmu      sync.Mutex    // one writer at a time; a safe frame does not wait for it for long

	// sending thread ↔ receiving thread
	turn             atomic.Uint64 // the open turn, see openTurn; 0: none
	turnEnd          atomic.Uint32 // how it ended: Unsent (not yet, or in nothing good), Confirmed or RefusedCommand
	question         atomic.Uint64 // beginning of its question
	restartRequested atomic.Bool   // the far end is to be started again
	heard            atomic.Int64  // ns  when the newest byte came

	replies commandReplies
}

// conn is an open port and what is known about it.
type conn struct {
	Port
	torn atomic.Bool // the last write ended inside a frame
}

// arrival is everything received so far, newest value per field.
type arrival struct {
	N     uint64 // frames
	Stamp int64  // ns  arrival of the newest one
	Field [wire.MaxFields]fieldArrival
	Group [MaxGroups]groupArrival
}

// groupArrival is the newest frame of a group that brought any of its fields.
type groupArrival struct {
	N    uint64 // its number; 0: none yet
	Time int64  // ns  its arrival with the smallest delay, by the device's clock: free of the noise of arrival
}

// fieldArrival is the newest frame that brought a field.
type fieldArrival struct {
	groupArrival
	V        float64
	MaxAge   int64 // ns  older than this the value says nothing about now
	interval int64 // ns  from frame to frame that brings it, the longest of the last few
}

// How long a field without a limit of its own stands for the present: so many of its usual intervals, within bounds; before there is one,
// a while.
const (
	keepIntervals          = 10
	keepShortest, keepMost = int64(1e9), int64(60e9) // ns
	keepFirst              = int64(5e9)              // ns
)

// update takes a value from frame n that arrived at a time (ns); limit (ns) is how old it may become, 0: by its own intervals.
func (f *fieldArrival) update(v float64, n uint64, at, limit int64) {
	f.MaxAge = limit
	if limit == 0 {
		f.MaxAge = keepFirst
		if f.N > 0 {
			since := max(0, at-f.Time)
			f.interval = max(since, f.interval-(f.interval-since)/8)
			f.MaxAge = min(max(keepShortest, keepIntervals*f.interval), keepMost)
		}
	}
	f.V, f.N, f.Time = v, n, at
}

// MaxGroups is how many groups of fields a device has at most.
const MaxGroups = 16

// outgoing is the newest command.
type outgoing struct {
	Num   uint64 // counts Sends
	Stamp int64  // ns
	Leave int64  // ns  when its last bit leaves a paced line
	Gen   uint64
	V     [wire.MaxFields]float64
}

// Ages are the signals that a device adds to its own: the age of each group, s. It is called age, or <group>.age where there are several.
func Ages(groups []protocol.Group) (ages []engine.Signal) {
	for _, g := range groups {
		name := "age"
		if g.Name != "" {
			name = g.Name + ".age"
		}
		ages = append(ages, engine.Signal{Name: name, Unit: "s"})
	}
	return ages
}

const defaultWithin = 20 * time.Millisecond

// defaultBackoff is the time between two tries to open a port that went away; the last one repeats.
var defaultBackoff = []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second}

// init fills in what is the same for both roles.
func (l *line) init(port protocol.PortSpec) {
	if l.hostTime == nil {
		l.hostTime = rt.Now
	}
	if len(l.backoff) == 0 {
		l.backoff = defaultBackoff
	}
	if l.writeTimeout <= 0 {
		l.writeTimeout = defaultWithin
	}
	if port.Baud > 0 {
		l.perByte = float64(port.Bits()) * 1e9 / float64(port.Baud)
	}
	l.clock.wrap = l.dec.Wrap()
	l.board.drift.Store(math.Float64bits(math.NaN()))
	l.inbox = ring.NewMailbox[arrival]()
	l.outbox = ring.NewMailbox[outgoing]()
	l.stopSignal = make(chan struct{})
	l.replies.confirmations, l.replies.num = make([]Confirmation, len(l.turns)), make([]uint64, len(l.turns))
	for k := range l.turns {
		if l.turns[k].Fill != nil && !l.mute {
			l.replies.confirmations[k] = Unsent
		}
	}
	l.replies.publish()
}

// signals names what Poll fills and what Send takes.
func signals(fields []wire.Field) []engine.Signal {
	s := make([]engine.Signal, 0, len(fields)+MaxGroups)
	for _, f := range fields {
		s = append(s, engine.Signal{Name: f.Name, Unit: f.Unit})
	}
	return s
}

// Signals are the received fields and the age of each group (s, age of its newest frame at the time that Poll is given, by the device's
// clock where it has one; negative when it came after that, in a tick that woke late), and the sent fields.
func (l *line) Signals() (meas, cmd []engine.Signal) {
	return append(signals(l.recvFields), Ages(l.groups)...), signals(l.sendFields)
}

// Start opens the port and starts the threads. The first opening must succeed, unless the line is patient; later ones are
// repeated until ctx ends. When ctx ends, the line closes as by Close.
func (l *line) Start(ctx context.Context) error {
	if l.closing.Load() || l.startCalled.Swap(true) {
		return fmt.Errorf("%s: a device starts once", l.name)
	}
	p, err := l.openPort()
	var c *conn
	if err == nil {
		c = l.connect(p)
	} else if l.waitForPort {
		l.board.noteOpenError(err)
	} else {
		if l.explain != nil {
			err = l.explain(err)
		}
		return fmt.Errorf("%s: %w", l.name, err)
	}
	l.wg.Add(1)
	go l.receive(c)
	switch {
	case l.turns != nil: // a dry run asks too
		l.wg.Add(1)
		go l.ask()
	case !l.mute && l.enc != nil:
		l.wg.Add(1)
		go l.transmit()
	}
	l.unhook = context.AfterFunc(ctx, func() { l.stop() })
	return nil
}

// connect makes an open port the line's.
func (l *line) connect(p Port) *conn {
	c := &conn{Port: p}
	if l.opened != nil {
		l.opened(p.Info().FD)
	}
	l.port.Store(c)
	l.board.noteOpenError(nil)
	l.board.connected.Store(1)
	return c
}

// Close sends the safe frame, if the line has one, ends both threads and frees the port. It waits for them: a write
// under way ends at once.
func (l *line) Close() error {
	if l.unhook != nil {
		l.unhook()
	}
	l.stop()
	l.wg.Wait()
	return nil
}

func (l *line) stop() {
	l.closeOnce.Do(func() {
		l.closing.Store(true) // from here Send is deaf
		l.bell.ring()
		l.Safe()
		close(l.stopSignal)
		if c := l.port.Load(); c != nil {
			c.Close()
		}
		l.board.connected.Store(0)
	})
}

// Connected tells whether the port is open. A device that is there but silent shows in age.
func (l *line) Connected() bool { return l.board.connected.Load() != 0 }

// Reconnects counts how often the port was opened again, or a board began anew behind an open one: its counters and its drive may
// have begun anew too.
func (l *line) Reconnects() uint64 { return l.board.reconnects.Load() }

// Stats fills s with the newest numbers. It may be called from any goroutine; it takes no lock and allocates nothing.
func (l *line) Stats(s *Stats) {
	l.board.read(s, l.hostTime())
	s.Confirmation = l.replies.overallConfirmation.Load()
}

// Pace is the host time of the newest frame and the number of frames so far. With a device clock it is the time at which
// the frame would have arrived with the smallest delay, free of the noise of arrival. Any goroutine, no lock.
func (l *line) Pace() (stamp int64, n uint64) { return l.pace.read() }

// PinError tells why the sending thread could not be pinned; nil if it is where it should be, or not asked to.
func (l *line) PinError() error {
	if e := l.pinErr.Load(); e != nil {
		return *e
	}
	return nil
}

// Flush makes everything that has arrived so far count as old: at arming, nothing received before is fresh. It never
// waits; the receiving thread has long emptied the port.
func (l *line) Flush() {
	_, n := l.pace.read()
	l.fence.Store(n)
}

// Poll copies the newest values into y, in the order of Signals, and returns a bit for every field that a frame brought
// since the last Poll; the bit of an age is set if any frame of its group came. NaN is what is not there: a field that never came, or came
// so long ago that it says nothing about now, and the age of a group before its first frame.
func (l *line) Poll(now int64, y []float64) (fresh uint64) {
	n := len(l.recvFields)
	l.sampled = now
	old := max(l.polled, l.fence.Load())
	if l.inbox.Receive(&l.got) {
		l.polled = l.got.N
	} else {
		old = max(old, l.got.N)
	}
	for i := range n {
		f := &l.got.Field[i]
		if y[i] = f.V; f.N > old {
			fresh |= 1 << i
		} else if f.N == 0 || now-f.Time > f.MaxAge {
			y[i] = math.NaN()
		}
	}
	for k := range l.groups {
		g := &l.got.Group[k]
		y[n+k] = math.NaN()
		if g.N > old {
			fresh |= 1 << (n + k)
		}
		if g.N > 0 {
			age := now - g.Time
			if age < 0 && age > -clockNoise {
				age = 0
			}
			y[n+k] = float64(age) * 1e-9
		}
	}
	return fresh
}

// clockNoise is how far a device's clock may be off ours for a moment (ns).
const clockNoise = 200_000

// Safe sends the safe frames three times, past the mailbox and past whoever is writing. A command that waits is dropped;
// one sent afterwards is sent. Any goroutine may call it; it takes at most a few times the write timeout, and the pauses of the frames.
func (l *line) Safe() {
	if len(l.safe.Frames) == 0 || l.mute {
		return
	}
	l.safeGen.Add(1)
	c := l.port.Load()
	if c == nil {
		return
	}
	// wait a little for a frame that is being written, so as not to tear it; then write all the same
	mine := false
	for end := time.Now().Add(l.writeTimeout); !mine && time.Now().Before(end); {
		if mine = l.wmu.TryLock(); !mine {
			time.Sleep(200 * time.Microsecond)
		}
	}
	l.safe.Write(func(b []byte) error { return l.writeBytes(c, b) })
	if mine {
		l.wmu.Unlock()
	}
}

// writeBytes writes a frame within writeTimeout and counts its bytes; after a part of a frame the port counts as torn.
func (l *line) writeBytes(c *conn, b []byte) error {
	n, err := c.Write(b, l.writeTimeout)
	l.board.txBytes.Add(uint64(n))
	if err == nil {
		l.board.txFrames.Add(1)
		c.torn.Store(false)
		return nil
	}
	l.board.txErrors.Add(1)
	if n > 0 {
		c.torn.Store(true)
	}
	if errors.Is(err, ErrUnplugged) && c.Info().Kind != "pty" {
		c.Close() // wakes the receiving thread, which opens anew
	}
	return err
}
