package rt

import (
	"bytes"
	"fmt"
	"os"
)

// process is another process, looked at from outside. A look allocates nothing.
type process struct {
	stat *os.File // its line in /proc; nil: it cannot be seen
	time *os.File // the account of its first thread: time that it ran, ns, …; nil: it cannot be seen
	buf  [256]byte
}

// watchProcess opens the line that the kernel keeps of a process. It stays that of this process when the number is given away again.
func watchProcess(pid int) *process {
	f, _ := os.Open(fmt.Sprintf("/proc/%d/stat", pid)) // without it nothing is ever stopped
	t, _ := os.Open(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, pid))
	return &process{stat: f, time: t}
}

func (p *process) close() {
	p.stat.Close()
	p.time.Close()
}

// state is the letter of the kernel for that of the first thread; 0: it cannot be seen.
func (p *process) state() byte {
	n, _ := p.stat.ReadAt(p.buf[:], 0)
	i := bytes.LastIndexByte(p.buf[:n], ')') // the name before may hold anything
	if i < 0 || i+2 >= n {
		return 0
	}
	return p.buf[i+2]
}

// stopped tells whether a signal (SIGSTOP, SIGTSTP) holds the process. One that waits for a processor, or that a debugger holds, is not.
func (p *process) stopped() bool {
	return p.state() == 'T'
}

// ran is how long its first thread has had a processor, ns, and whether it wants one now.
func (p *process) ran() (ns int64, wants bool) {
	n, _ := p.time.ReadAt(p.buf[:], 0)
	for _, c := range p.buf[:n] {
		if c < '0' || c > '9' {
			break
		}
		ns = ns*10 + int64(c-'0')
	}
	return ns, p.state() == 'R'
}
