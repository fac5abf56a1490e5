//go:build !linux

package ring

import (
	"fmt"
	"runtime"
)

// CreateMemory needs Linux; elsewhere the channels live on the heap of a single process.
func CreateMemory(name string, _ int) (*Memory, error) {
	return nil, fmt.Errorf("shared memory %s: not supported on %s; run in a single process", name, runtime.GOOS)
}

// OpenMemory needs Linux.
func OpenMemory(fd uintptr, _ int) (*Memory, error) {
	return nil, fmt.Errorf("shared memory: descriptor %d: not supported on %s; run in a single process", fd, runtime.GOOS)
}

// Close does nothing: there is no memory to close.
func (m *Memory) Close() error { return nil }
