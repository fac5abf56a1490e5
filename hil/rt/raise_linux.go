package rt

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// raisedEnv tells the second incarnation of a raised process what became of the first one's request: the errno, 0: granted.
const raisedEnv = "HIL_RT_RAISED"

// Raise puts this whole process at a real-time priority, as Boot does with a core and for its reasons: it sets the class on one thread
// and executes the program again, with the collector of garbage off. It returns in the second incarnation; refused is why the host did
// not grant it, empty if it did. Call it before anything is opened.
func Raise(priority int) (refused string, err error) {
	runtime.LockOSThread() // the class is that of a thread, which execution makes the only one
	defer runtime.UnlockOSThread()
	if text, ok := os.LookupEnv(raisedEnv); ok {
		os.Unsetenv(raisedEnv)
		if errno, _ := strconv.Atoi(text); errno != 0 {
			return refusedNote(syscall.Errno(errno), priority), nil
		}
		return "", nil
	}
	errno := syscall.Errno(0)
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_FIFO, Priority: uint32(priority)}, 0); err != nil &&
		!errors.As(err, &errno) {
		return "", err
	}
	env := quietEnv(os.Environ(), nil)
	if errno != 0 {
		env = os.Environ() // an ordinary process collects its garbage
	}
	err = syscall.Exec("/proc/self/exe", os.Args, append(env, fmt.Sprintf("%s=%d", raisedEnv, int(errno))))
	return "", fmt.Errorf("execute the program again at real-time priority %d: %w", priority, err)
}

// Lower puts every thread of this process back at ordinary priority, above other ordinary work where that is allowed.
func Lower() error {
	err := eachThread(func(tid int) error { return unix.SchedSetAttr(tid, &unix.SchedAttr{Policy: unix.SCHED_NORMAL}, 0) })
	Prefer()
	return err
}
