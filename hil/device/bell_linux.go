package device

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bell lets one thread sleep until another one rings, by a private futex. Ringing costs a load when nobody sleeps, and
// one system call that never waits when somebody does.
//
// The sleeper arms the bell, looks once more for work, then sleeps; the ringer leaves the work first and rings then. So
// either the sleeper sees the work or the ringer sees the bell armed.
type bell struct{ armed atomic.Uint32 }

const (
	futexWaitPrivate = 0 | 128
	futexWakePrivate = 1 | 128
)

// ring wakes the sleeper if there is one.
func (b *bell) ring() {
	if b.armed.Load() == 1 && b.armed.CompareAndSwap(1, 0) {
		// raw: the call does not wait, and the scheduler need not hear of it
		syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.armed)), futexWakePrivate, 1, 0, 0, 0)
	}
}

func (b *bell) arm() { b.armed.Store(1) }

// sleep waits until the armed bell is rung, for so many ns at most.
func (b *bell) sleep(most int64) {
	limit := unix.NsecToTimespec(max(0, most))
	syscall.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.armed)), futexWaitPrivate, 1, uintptr(unsafe.Pointer(&limit)), 0, 0)
	runtime.KeepAlive(&limit)
	b.armed.Store(0)
}

func (b *bell) disarm() { b.armed.Store(0) }
