//go:build !linux

package device

import (
	"os"
	"time"
)

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
