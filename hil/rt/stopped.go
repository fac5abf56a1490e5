package rt

import (
	"bytes"
	"fmt"
	"os"
)

// process is another process, looked at from outside. A look allocates nothing.
type process struct {
	stat *os.File // its line in /proc; nil: it cannot be seen
	buf  [256]byte
}

// watchProcess opens the line that the kernel keeps of a process. It stays that of this process when the number is given away again.
func watchProcess(pid int) *process {
	f, _ := os.Open(fmt.Sprintf("/proc/%d/stat", pid)) // without it nothing is ever stopped
	return &process{stat: f}
}

// stopped tells whether a signal (SIGSTOP, SIGTSTP) holds the process. One that waits for a processor, or that a debugger holds, is not.
func (p *process) stopped() bool {
	n, _ := p.stat.ReadAt(p.buf[:], 0)
	i := bytes.LastIndexByte(p.buf[:n], ')') // the name before may hold anything
	return i >= 0 && i+2 < n && p.buf[i+2] == 'T'
}
