//go:build !linux

package device

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"go.bug.st/serial"

	"hilrig/hil/protocol"
)

var errOnlyLinux = errors.New("needs Linux, this is " + runtime.GOOS)

func openRaw(string, protocol.PortSpec) (Port, error) { return nil, errOnlyLinux }

// OpenPTY is available on Linux only.
func OpenPTY(string) (master Port, name string, err error) { return nil, "", errOnlyLinux }

// OpenSocket is available on Linux only.
func OpenSocket(string) (Port, error) { return nil, errOnlyLinux }

// openPort has no second descriptor here: a write that takes too long is released by dropping what waits in the line.
func openPort(name string, spec protocol.PortSpec) (Port, error) {
	if spec.RS485 {
		return nil, fmt.Errorf("an RS-485 transceiver is switched on Linux only, this is %s; leave modbus.rs485 out where the adapter does it",
			runtime.GOOS)
	}
	lib, err := openLibrary(name, spec)
	if err != nil {
		return nil, err
	}
	return &serialPort{info: Info{Name: name, Kind: "serial", FD: -1}, lib: lib, portWriter: flushWriter{lib}}, nil
}

type flushWriter struct{ lib serial.Port }

// Write writes p; after the deadline the output queue is dropped, which releases the write.
func (w flushWriter) Write(p []byte, within time.Duration) (int, error) {
	var late atomic.Bool
	timer := time.AfterFunc(within, func() {
		late.Store(true)
		w.lib.ResetOutputBuffer()
	})
	defer timer.Stop()
	n, err := w.lib.Write(p)
	switch {
	case late.Load():
		return n, ErrTimeout
	case err != nil:
		return n, unpluggedError(err)
	}
	return n, nil
}

func (w flushWriter) Close() error { return w.lib.ResetOutputBuffer() }

// Kept is available on Linux only; elsewhere there is one process and nobody to step in for it.
type Kept struct{}

// NewKept returns one that never has a port; Expect and Write say that it needs Linux.
func NewKept() *Kept { return &Kept{} }

func (*Kept) Expect() (*os.File, error)              { return nil, errOnlyLinux }
func (*Kept) ReceivePorts()                          {}
func (*Kept) Open(int) bool                          { return false }
func (*Kept) Write(int, []byte, time.Duration) error { return errOnlyLinux }
func (*Kept) Free()                                  {}
func (*Kept) Close()                                 {}

// HandOver does nothing.
func HandOver(uintptr, int) func(int) { return func(int) {} }

// bell lets one thread sleep until another one rings; without futexes, by looking every 200 µs.
type bell struct{ armed atomic.Uint32 }

func (b *bell) ring() { b.armed.Store(0) }
func (b *bell) arm()  { b.armed.Store(1) }

func (b *bell) sleep(most int64) {
	for range 1 + most/200e3 {
		if b.armed.Load() == 0 {
			return
		}
		time.Sleep(200 * time.Microsecond)
	}
	b.armed.Store(0)
}

func (b *bell) disarm() { b.armed.Store(0) }
