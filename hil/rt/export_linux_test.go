package rt

import (
	"fmt"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// What only tests ask for.

// Close ends the watch and returns when its goroutines have ended. It may be called again.
func (l *LifeLine) Close() {
	select {
	case <-l.quit:
	default:
		close(l.quit)
	}
	l.watchers.Wait()
}

// Stop asks for an orderly end (SIGTERM): the core's LifeLine reports Stop.
func (c *Core) Stop() { c.cmd.Process.Signal(syscall.SIGTERM) }

// Unpin undoes one PinThread of the same goroutine.
func Unpin() error {
	set, err := wholeSet()
	if err == nil {
		err = unix.SchedSetaffinity(0, set)
	}
	if err != nil {
		return fmt.Errorf("unpin: %w", err) // the thread stays locked: nobody else shall get a pinned one
	}
	runtime.UnlockOSThread()
	return nil
}
