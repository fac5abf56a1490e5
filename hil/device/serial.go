package device

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.bug.st/serial"

	"hilrig/hil/protocol"
)

// serialPort reads through go.bug.st/serial and writes through out. What it makes good:
//
//   - the library's Close frees the descriptor before its reader has left, so another file could take the number and be
//     read by mistake: here Close first waits for the reader, ReadTimeout at most;
//   - a descriptor of 1024 or more panics in its select: on Linux the raw port is taken there, and Read turns a panic that
//     comes all the same into an error;
//   - unplugging and closing look alike: closed tells them apart.
//
// Modem bits are left alone; a pseudo-terminal has none.
type serialPort struct {
	info       Info
	lib        serial.Port
	portWriter writer
	mu         sync.RWMutex // held shared by Read
	isClosed   atomic.Bool
}

// writer is the direction for which the library has no deadline.
type writer interface {
	Write(p []byte, within time.Duration) (int, error)
	Close() error
}

// libraryMode is how the library opens a port.
func libraryMode(spec protocol.PortSpec) *serial.Mode {
	m := &serial.Mode{BaudRate: spec.Baud, DataBits: 8, Parity: [...]serial.Parity{serial.NoParity, serial.EvenParity,
		serial.OddParity}[spec.Parity]}
	if spec.StopBits == 2 {
		m.StopBits = serial.TwoStopBits
	}
	return m
}

func openLibrary(name string, spec protocol.PortSpec) (serial.Port, error) {
	lib, err := serial.Open(name, libraryMode(spec))
	if err != nil {
		return nil, err
	}
	if err := lib.SetReadTimeout(ReadTimeout); err != nil {
		lib.Close()
		return nil, err
	}
	if err := lib.ResetInputBuffer(); err != nil {
		lib.Close()
		return nil, fmt.Errorf("drop old input: %w", err)
	}
	return lib, nil
}

func (p *serialPort) Info() Info { return p.info }

func (p *serialPort) Read(b []byte) (n int, err error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.isClosed.Load() {
		return 0, ErrClosed
	}
	defer func() {
		if v := recover(); v != nil {
			n, err = 0, fmt.Errorf("read %s: the serial library panicked: %v", p.info.Name, v)
		}
	}()
	if n, err = p.lib.Read(b); err != nil {
		if p.isClosed.Load() {
			return 0, ErrClosed
		}
		return n, unpluggedError(err)
	}
	return n, nil
}

func (p *serialPort) Write(b []byte, within time.Duration) (int, error) {
	if p.isClosed.Load() {
		return 0, ErrClosed
	}
	return p.portWriter.Write(b, within)
}

func (p *serialPort) Flush() error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.isClosed.Load() {
		return ErrClosed
	}
	return p.lib.ResetInputBuffer()
}

func (p *serialPort) Close() error {
	if p.isClosed.Swap(true) {
		return nil
	}
	errOut := p.portWriter.Close() // wakes a blocked Write
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.lib.Close(), errOut)
}
