package device

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"hilrig/hil/protocol"
	"hilrig/hil/wire"
)

// FirmwareOptions describe the far end of the line.
type FirmwareOptions struct {
	Link     string // symbolic link to the port; "" none
	Socket   string // path of a Unix socket instead of a pseudo-terminal
	Baud     int
	Pace     bool             // bytes take 10/Baud each: a frame is complete when its last bit would be, and none starts before
	Protocol protocol.Section // nil: the binary link
	Recv     []wire.Field     // the commands it takes
	Send     []wire.Field     // the measurements it sends
	DriftPPM float64          // how much faster than the host's its clock runs
	ClockUs  uint32           // µs  its clock at the start; it wraps at 2³²

	Port     Port         // the line itself, instead of a new pseudo-terminal
	HostTime func() int64 // ns, instead of rt.Now
}

// Firmware is the other end of a rig's line, as a board would drive it: it takes commands, sends measurements stamped
// with its own clock, and drops samples that come faster than the line carries. The loop uses it as its device in the
// plant role, so Signals gives the commands and age as measured, and the measurements as commands.
//
// It keeps one port for good: when the host closes its side, age grows until it is opened again.
type Firmware struct {
	line
	addr       string
	restart    func() []byte
	paced      bool
	lineFreeAt int64 // ns  when the line has carried what was handed over; owned by the tick
}

// NewFirmware makes the pseudo-terminal, if no port is given, and checks the tables.
func NewFirmware(o FirmwareOptions) (*Firmware, error) {
	p, errPlan := plan(o.Protocol, &protocol.Table{Measure: o.Send, Command: o.Recv, Baud: o.Baud, Rate: 1, Loop: 1})
	var errPace error
	if o.Pace && o.Baud <= 0 {
		errPace = fmt.Errorf("pacing needs a baud rate, got %d", o.Baud)
	}
	if err := errors.Join(errPlan, errPace); err != nil {
		return nil, fmt.Errorf("firmware: %w", err)
	}
	far := p.FarEnd()
	port, addr := o.Port, ""
	if port == nil {
		var err error
		if addr = o.Socket; addr != "" {
			port, err = OpenSocket(addr)
		} else {
			port, addr, err = OpenPTY(o.Link)
		}
		if err != nil {
			return nil, fmt.Errorf("firmware: %w", err)
		}
	}
	f := &Firmware{addr: addr, paced: o.Pace, line: line{
		name: "firmware", recvFields: o.Recv, sendFields: o.Send,
		groups: []protocol.Group{{Fields: protocol.Fields(wire.AllFields(len(o.Recv)))}}, dec: far.Decoder, enc: far.Encoder,
		kind: wire.Measurement, hostTime: o.HostTime, txCPU: -1,
		writeTimeout: time.Millisecond, mute: len(o.Send) == 0, opens: far.Opens, writeAtEnd: o.Pace,
	}}
	f.restart = far.Restart
	f.answers, _ = far.Decoder.(wire.Responder)
	var used atomic.Bool
	f.openPort = func() (Port, error) {
		if used.Swap(true) {
			return nil, ErrClosed // its one port broke, and it has no other
		}
		return port, nil
	}
	if !o.Pace {
		p.Port.Baud = 0
	}
	f.init(p.Port)
	f.port.Store(&conn{Port: port}) // so that Close frees it even if Start was never called
	start := f.hostTime()
	f.device = func(now int64) int64 {
		t := float64(now-start) * o.DriftPPM * 1e-6
		return int64(o.ClockUs)*1000 + now - start + int64(t)
	}
	return f, nil
}

// Name is the name under which the host opens the line: the link, that of the pseudo-terminal, or the socket; "" with a given port.
func (f *Firmware) Name() string { return f.addr }

// Clock is the device's clock at the host's time now, in ns, not yet wrapped.
func (f *Firmware) Clock(now int64) int64 { return f.device(now) }

// Write puts bytes on the line between the frames, as they are: rubbish for tests of a bad line. It returns fs.ErrClosed
// after Close.
func (f *Firmware) Write(p []byte) (int, error) {
	c := f.port.Load()
	if c == nil || f.closing.Load() {
		return 0, ErrClosed
	}
	f.wmu.Lock()
	defer f.wmu.Unlock()
	return c.Write(p, f.writeTimeout)
}

// Restart has the far end forget all it was told, as after a power cut, and say so if its protocol does.
func (f *Firmware) Restart() error {
	if f.restart == nil {
		return nil
	}
	if b := f.restart(); len(b) > 0 {
		_, err := f.Write(b)
		return err
	}
	return nil
}

// Send hands one sample to the line. On a paced line that is not free the sample is dropped and counted. Where the far end only
// answers, the sample is what the next answers say.
func (f *Firmware) Send(u []float64) {
	if f.paced && f.enc != nil {
		now := f.hostTime()
		if now < f.lineFreeAt {
			f.board.txDropped.Add(1)
			return
		}
		f.mail.Leave = now + f.frameTime()
		f.lineFreeAt = f.mail.Leave
	}
	f.line.Send(u)
}

// frameTime is what the last frame took on the line, or the longest one before the first.
func (f *Firmware) frameTime() int64 {
	return int64(float64(cmp.Or(f.frameLen.Load(), uint64(f.enc.MaxLen()))) * f.perByte)
}
