//go:build !linux

package device

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"go.bug.st/serial"

	"hilrig/hil/protocol"
)

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
