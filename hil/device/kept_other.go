//go:build !linux

package device

import "time"

// Kept is available on Linux only; elsewhere there is one process and nobody to step in for it.
type Kept struct{}

// OpenKept says so.
func OpenKept(name string) (*Kept, error) { return nil, explain(name, errOnlyLinux) }

// Write, Free and Close do nothing.
func (*Kept) Write([]byte, time.Duration) error { return errOnlyLinux }
func (*Kept) Free()                             {}
func (*Kept) Close() error                      { return nil }
