package rt

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// StartCore starts a core that calls Boot. It is in a process group of its own, so that Ctrl-C reaches the supervisor
// alone, and it learns of this process's end by a signal and by the end of a pipe.
//
// Errors: an impossible spec, a program that cannot be started. What the core says about itself comes through the shared
// memory, its end through Done.
func StartCore(s CoreSpec) (*Core, error) {
	o, err := s.order()
	if err != nil {
		return nil, err
	}
	lifeR, lifeW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start core: life pipe: %w", err)
	}
	path := s.Path
	if path == "" {
		path = "/proc/self/exe"
	}
	cmd := exec.Command(path, s.Args...)
	if s.Path == "" {
		cmd.Args[0] = os.Args[0] // what ps shows
	}
	cmd.Env = coreEnv(os.Environ(), s.Env, o)
	cmd.ExtraFiles = append([]*os.File{s.Memory, lifeR}, s.Extra...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if s.Stdout != nil {
		cmd.Stdout = s.Stdout
	}
	if s.Stderr != nil {
		cmd.Stderr = s.Stderr
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGUSR1}
	if s.user != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: *s.user, Gid: *s.user, NoSetGroups: true}
	}

	c := &Core{cmd: cmd, life: lifeW, done: make(chan Exit, 1)}
	started := make(chan error)
	go c.attend(started)
	err = <-started
	lifeR.Close()
	if err != nil {
		lifeW.Close()
		return nil, fmt.Errorf("start core: %w", err)
	}
	return c, nil
}

// attend starts the core and waits for its end on one thread that is kept for it: the death signal fires when the thread
// ends that forked, even while the process lives on.
func (c *Core) attend(started chan<- error) {
	runtime.LockOSThread()
	// not unlocked: a thread of this priority ends with its goroutine
	at := time.Now()
	// the core may use every processor, whatever KeepOff took from this process
	var mine unix.CPUSet
	if set, err := wholeSet(); err == nil && unix.SchedGetaffinity(0, &mine) == nil && unix.SchedSetaffinity(0, set) == nil {
		defer unix.SchedSetaffinity(0, &mine)
	}
	unix.Setpriority(unix.PRIO_PROCESS, 0, preferred) // this thread's, which a core at ordinary priority inherits
	if err := c.cmd.Start(); err != nil {
		started <- err
		return
	}
	c.PID = c.cmd.Process.Pid
	c.process = watchProcess(c.PID)
	started <- nil
	err := c.cmd.Wait()
	e := exitOf(c.cmd.ProcessState, err)
	e.PID, e.Lived = c.PID, time.Since(at)
	c.life.Close()
	c.process.close()
	c.done <- e
	close(c.done)
}

func exitOf(st *os.ProcessState, err error) Exit {
	var ended *exec.ExitError
	if st == nil || err != nil && !errors.As(err, &ended) {
		return Exit{Err: err}
	}
	e := Exit{Code: st.ExitCode(), User: st.UserTime(), System: st.SystemTime()}
	if w, ok := st.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		e.Signal = w.Signal()
	}
	if r, ok := st.SysUsage().(*syscall.Rusage); ok {
		e.MaxRSS, e.Voluntary, e.Involuntary, e.Faults = int64(r.Maxrss)*1024, int64(r.Nvcsw), int64(r.Nivcsw), int64(r.Majflt)
	}
	return e
}
