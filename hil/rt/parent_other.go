//go:build !unix

package rt

// StartedBy is the process whose end ends this one, 0: none.
func StartedBy() int { return 0 }

// Process is another process; here it cannot be watched.
type Process struct{}

func WatchProcess(int) *Process { return &Process{} }
func (*Process) Exited() bool   { return false }
func (*Process) Close()         {}
